"""POLY: the error of a forecast of a point by a polynomial through the points before it.

Known under this name from Paparrizos et al.: TSB-UAD: An End-to-End Benchmark Suite for Univariate Time-Series Anomaly
Detection, VLDB 2022. A polynomial is fitted by least squares to the window - 1 points before each point, of each column
by itself, and extrapolated by one step. Nothing is learnt but the scale of the columns.

Where we deviate from TSB-UAD: the score is the squared error of the forecast, where they compare windows of forecasts
and of the series by their power spectra.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tsadeval.core.parameters import Number
from tsadeval.detectors.forecast import ForecastDetector
from tsadeval.detectors.records import detector, option
from tsadeval.detectors.series import Floats


@detector(
    name="poly",
    title="POLY",
    summary="Polynomials: points off the polynomial through the points before.",
    scoring="squared error of the extrapolation to a point, mean over columns",
    reference="Paparrizos et al., TSB-UAD: An End-to-End Benchmark Suite, VLDB 2022",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class Poly(ForecastDetector):
    """Squared errors of a polynomial extrapolation."""

    degree: int = option(3, Number(0, 20, integer=True), "of the polynomial; less where a window has too few points")

    def learn(self, rows: Floats) -> Any:
        """The weights of the past points: extrapolation is linear in them, so they are the same for all windows."""
        past = self.points(rows).shape[1] - 1
        at = np.linspace(-1, 1, past) if past > 1 else np.zeros(1)
        ahead = 1 + 2 / max(past - 1, 1)
        legendre = np.polynomial.legendre.legvander
        degree = min(self.degree, past - 1)
        return legendre(np.array([ahead]), degree)[0] @ np.linalg.pinv(legendre(at, degree))

    def forecast(self, past: Floats) -> Floats:
        """The extrapolated points."""
        forecast: Floats = np.einsum("wpc,p->wc", past, self.model_)
        return forecast
