"""HBOS: how rare the values of a window are, each by a histogram of its own.

Goldstein, Dengel: Histogram-Based Outlier Score (HBOS): A Fast Unsupervised Anomaly Detection Algorithm, KI 2012. Each
of the window times columns values has a histogram of equally wide bins over the range of the training windows, with a
highest bin of height 1. The score of a window is the sum of log2(1 / (height + alpha)) over its values; alpha keeps
empty bins, and values outside the range, finite (the paper does not say what they count).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tsadeval.core.parameters import Number
from tsadeval.detectors.records import detector, option
from tsadeval.detectors.series import Floats
from tsadeval.detectors.windowed import WindowedDetector


@detector(
    name="hbos",
    title="HBOS",
    summary="Histograms: windows whose values are rare, each by itself.",
    scoring="sum of log2(1 / (histogram height + alpha)) over the values of a window, mean over covering windows",
    reference="Goldstein and Dengel, Histogram-Based Outlier Score (HBOS), KI 2012",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class HBOS(WindowedDetector):
    """Histogram-based outlier score of windows."""

    bins: int = option(10, Number(1, integer=True), "bins of a histogram")
    alpha: float = option(0.1, Number(0, open_low=True), "added to every height, so that empty bins are finite")

    def learn(self, rows: Floats) -> Any:
        """Lower ends, widths and heights of the bins of every value."""
        low = rows.min(axis=0)
        width = (rows.max(axis=0) - low) / self.bins
        width[width == 0] = 1.0  # a constant value fills the first bin
        places = np.minimum((rows - low) / width, self.bins - 1).astype(np.int64)
        cells = places + np.arange(rows.shape[1]) * self.bins
        counts = np.bincount(cells.ravel(), minlength=rows.shape[1] * self.bins).reshape(rows.shape[1], self.bins)
        return low, width, counts / counts.max(axis=1, keepdims=True)

    def judge(self, rows: Floats) -> Floats:
        """The sums over all values of each window."""
        low, width, heights = self.model_
        places = (rows - low) / width
        # The highest training value belongs to the last bin; rounding must not put it outside.
        outside = (places < 0) | (places > self.bins * (1 + 1e-12))
        inside = np.clip(places, 0, self.bins - 1).astype(np.int64)
        height = np.where(outside, 0.0, heights[np.arange(rows.shape[1]), inside])
        scores: Floats = -np.log2(height + self.alpha).sum(axis=1)
        return scores
