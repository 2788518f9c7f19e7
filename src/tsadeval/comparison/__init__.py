"""Comparison of detectors on one series or on many: values, tables, statistics."""

from tsadeval.comparison.compare import compare
from tsadeval.comparison.comparison import Comparison, dataset_of
from tsadeval.comparison.detector_table import DetectorTable

__all__ = ["Comparison", "DetectorTable", "compare", "dataset_of"]
