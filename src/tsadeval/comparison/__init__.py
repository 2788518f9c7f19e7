"""Comparison of detectors: tables of values on one series or on many."""

from tsadeval.comparison.api import compare
from tsadeval.comparison.result import Comparison, dataset_of
from tsadeval.comparison.table import DetectorTable

__all__ = ["Comparison", "DetectorTable", "compare", "dataset_of"]
