"""Moving variance: the variance of the points around each point.

One of the one-line detectors of Wu, Keogh: Current Time Series Anomaly Detection Benchmarks are Flawed and are Creating
the Illusion of Progress, TKDE 2021: what these find needs no model. Nothing is learnt but the scale of the columns. The
points of half a window at either end get the score of the nearest point with a whole window.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tsadeval.core.parameters import Number
from tsadeval.detectors.base import Detector
from tsadeval.detectors.records import detector, option
from tsadeval.detectors.scaling import Scaler
from tsadeval.detectors.series import Floats
from tsadeval.detectors.windows import batch_size, windows


@detector(
    name="moving_variance",
    title="MovingVar",
    summary="One-liner: the variance of the points around a point.",
    scoring="variance of the window centred on a point, mean over columns",
    reference="Wu and Keogh, Current Time Series Anomaly Detection Benchmarks are Flawed, TKDE 2021",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class MovingVariance(Detector):
    """Variance of a moving window."""

    window: int = option(10, Number(2, integer=True), "points a window")

    def span(self, columns: int) -> int:
        """One window."""
        return self.window

    def _fit(self, series: Floats) -> None:
        self.scaler_ = Scaler.standard(series)

    def _score(self, series: Floats) -> Floats:
        cut = windows(self.scaler_(series), self.window)
        step = batch_size(self.window, series.shape[1])
        of_windows = [cut[at : at + step].var(axis=1).mean(axis=1) for at in range(0, len(cut), step)]
        before = self.window // 2
        return np.pad(np.concatenate(of_windows), (before, self.window - 1 - before), mode="edge")
