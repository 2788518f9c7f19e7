"""AR: the error of a linear forecast of a point from the points before it, learnt by least squares.

Hill, Minsker: Anomaly Detection in Streaming Environmental Sensor Data: A Data-Driven Modeling Approach, Environmental
Modelling and Software 2010, put a threshold on the error of an autoregressive forecast; here the score is the squared
error. The forecast of each column is linear in all columns of the window - 1 points before (a vector autoregression)
with an intercept; of the many solutions for a degenerate training part the shortest is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tsadeval.detectors.forecast import ForecastDetector
from tsadeval.detectors.records import detector
from tsadeval.detectors.series import Floats


@detector(
    name="ar",
    title="AR",
    summary="Autoregression: points that a linear forecast from the points before does not expect.",
    scoring="squared error of the forecast of a point, mean over columns",
    reference="Hill and Minsker, Anomaly Detection in Streaming Environmental Sensor Data, EMS 2010",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class AR(ForecastDetector):
    """Squared errors of an autoregressive forecast."""

    def learn(self, rows: Floats) -> Any:
        """The weights of the past values, and the intercepts in the last row."""
        points = self.points(rows)
        # Shares of singular values below this are noise of rounding: they would make weights of millions.
        return np.linalg.lstsq(_with_one(points[:, :-1]), points[:, -1], rcond=1e-10)[0]

    def forecast(self, past: Floats) -> Floats:
        """Past values times weights."""
        forecast: Floats = _with_one(past) @ self.model_
        return forecast


def _with_one(past: Floats) -> Floats:
    return np.hstack([past.reshape(len(past), -1), np.ones((len(past), 1))])
