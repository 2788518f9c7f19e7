"""Squared difference: how far each point is from the one before.

One of the one-line detectors of Wu, Keogh: Current Time Series Anomaly Detection Benchmarks are Flawed and are Creating
the Illusion of Progress, TKDE 2021: what these find needs no model. Nothing is learnt but the scale of the columns. The
first point gets the score of the second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tsadeval.detectors.base import Detector
from tsadeval.detectors.records import detector
from tsadeval.detectors.scaling import Scaler
from tsadeval.detectors.series import Floats


@detector(
    name="squared_difference",
    title="SquaredDiff",
    summary="One-liner: the squared difference to the point before.",
    scoring="squared difference to the point before, mean over columns",
    reference="Wu and Keogh, Current Time Series Anomaly Detection Benchmarks are Flawed, TKDE 2021",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class SquaredDifference(Detector):
    """Squared difference to the point before."""

    def span(self, columns: int) -> int:
        """A point and the one before."""
        return 2

    def _fit(self, series: Floats) -> None:
        self.scaler_ = Scaler.standard(series)

    def _score(self, series: Floats) -> Floats:
        steps = np.square(np.diff(self.scaler_(series), axis=0)).mean(axis=1)
        return np.append(steps[0], steps)
