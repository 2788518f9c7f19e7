"""Detectors that forecast the last point of a window from those before it: AR and POLY."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tsadeval.core.parameters import Number
from tsadeval.detectors.records import detector, option
from tsadeval.detectors.series import Floats
from tsadeval.detectors.windowed import WindowedDetector


@dataclass(kw_only=True, eq=False, repr=False)
class ForecastDetector(WindowedDetector):
    """A detector whose score is the squared error of a linear forecast, mean over columns.

    A subclass writes `learn` and `forecast`. Points before the end of the first window get the score of its last point.
    """

    window: int | None = option(
        None,
        Number(2, integer=True, none=True),
        "points a window, of which the last is forecast; None: 100 for one column, 10 for several",
    )

    # The weights of an autoregression grow with the square of the columns, so windows of several are short.
    of_several = 10

    def forecast(self, past: Floats) -> Floats:
        """Forecast the next points (windows, columns) after the past ones (windows, window - 1, columns)."""
        raise NotImplementedError

    def judge(self, rows: Floats) -> Floats:
        """Compute the errors of the last points."""
        points = self.points(rows)
        return np.asarray(np.square(self.forecast(points[:, :-1]) - points[:, -1]).mean(axis=1, keepdims=True))

    def points(self, rows: Floats) -> Floats:
        """Rows as windows of points by columns."""
        return rows.reshape(len(rows), -1, self.columns_)

    def _fit(self, series: Floats) -> None:
        self.columns_ = series.shape[1]
        super()._fit(series)


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
    """AR: the error of a linear forecast of a point from the points before it, learnt by least squares.

    Hill, Minsker: Anomaly Detection in Streaming Environmental Sensor Data: A Data-Driven Modeling Approach,
    Environmental Modelling and Software 2010, put a threshold on the error of an autoregressive forecast; here the
    score is the squared error. The forecast of each column is linear in all columns of the window - 1 points before
    (a vector autoregression) with an intercept; of the many solutions for a degenerate training part the shortest
    is taken.
    """

    def learn(self, rows: Floats) -> Any:
        """Fit the weights of the past values, and the intercepts in the last row."""
        points = self.points(rows)
        # Shares of singular values below this are noise of rounding: they would make weights of millions.
        return np.linalg.lstsq(_with_one(points[:, :-1]), points[:, -1], rcond=1e-10)[0]

    def forecast(self, past: Floats) -> Floats:
        """Past values times weights."""
        return np.asarray(_with_one(past) @ self.model_)


def _with_one(past: Floats) -> Floats:
    return np.hstack([past.reshape(len(past), -1), np.ones((len(past), 1))])


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
    """POLY: the error of a forecast of a point by a polynomial through the points before it.

    Known under this name from Paparrizos et al.: TSB-UAD: An End-to-End Benchmark Suite for Univariate Time-Series
    Anomaly Detection, VLDB 2022. A polynomial is fitted by least squares to the window - 1 points before each
    point, of each column by itself, and extrapolated by one step. Nothing is learnt but the scale of the columns.

    Where we deviate from TSB-UAD: the score is the squared error of the forecast, where they compare windows of
    forecasts and of the series by their power spectra.
    """

    degree: int = option(3, Number(0, 20, integer=True), "of the polynomial; less where a window has too few points")

    def learn(self, rows: Floats) -> Any:
        """Compute the weights of the past points: extrapolation is linear, so they are the same for all windows."""
        past = self.points(rows).shape[1] - 1
        at = np.linspace(-1, 1, past) if past > 1 else np.zeros(1)
        ahead = 1 + 2 / max(past - 1, 1)
        legendre = np.polynomial.legendre.legvander
        degree = min(self.degree, past - 1)
        return legendre(np.array([ahead]), degree)[0] @ np.linalg.pinv(legendre(at, degree))

    def forecast(self, past: Floats) -> Floats:
        """Extrapolate by one point."""
        return np.asarray(np.einsum("wpc,p->wc", past, self.model_))
