"""Comparison of detectors: tables of values on one series or on many."""

from tsadeval.comparison.api import compare
from tsadeval.comparison.result import Comparison, DetectorTable, dataset_of

__all__ = ["Comparison", "DetectorTable", "compare", "dataset_of"]
