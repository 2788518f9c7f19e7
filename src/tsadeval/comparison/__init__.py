"""Comparison of detectors on one series or on many: values, tables, statistics."""

from tsadeval.comparison.compare import compare
from tsadeval.comparison.comparison import Comparison
from tsadeval.comparison.detector_table import DetectorTable
from tsadeval.comparison.inference import dataset_of

__all__ = ["Comparison", "DetectorTable", "compare", "dataset_of"]
