"""Detectors that forecast a point from those before it: AR, POLY and LSTM-AD."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tsadeval.core.parameters import Number
from tsadeval.detectors.base import DeepDetector
from tsadeval.detectors.records import detector, option
from tsadeval.detectors.series import Floats
from tsadeval.detectors.windowed import WindowedDetector

if TYPE_CHECKING:
    from torch import Tensor, nn


@dataclass(kw_only=True, eq=False, repr=False)
class ForecastDetector(WindowedDetector):
    """A detector whose score is the squared error of a linear forecast of a window's last point, mean over columns.

    A subclass writes `learn` and `forecast`. Points before the end of the first window get the score of its last point.
    """

    window: int | None = option(
        None,
        Number(2, integer=True, none=True),
        "points a window, of which the last is forecast; None: 100 for one column, 10 for several",
    )

    # The weights of an autoregression grow with the square of the columns, so windows of several are short.
    of_several = 10

    @abstractmethod
    def forecast(self, past: Floats) -> Floats:
        """Forecast the next points (windows, columns) after the past ones (windows, window - 1, columns)."""

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


@detector(
    name="lstm_ad",
    title="LSTMAD",
    summary="A recurrent network that forecasts the next point.",
    scoring="squared error of the forecast of a point, mean over columns",
    reference="Malhotra et al., Long Short Term Memory Networks for Anomaly Detection in Time Series, ESANN 2015",
    extra="torch",
)
@dataclass(kw_only=True, eq=False, repr=False)
class LSTMAD(DeepDetector):
    """LSTM-AD: a recurrent network that forecasts the next point; large forecast errors are anomalous.

    Malhotra, Vig, Shroff, Agarwal: Long Short Term Memory Networks for Anomaly Detection in Time Series, ESANN 2015.

    Stacked LSTM layers read the series x(1), x(2), ... and at each step t a linear layer forecasts x(t+1). The network
    learns to make the mean squared error of all forecasts in a window small (the first has one point of history, the
    last window - 1).

    As in the paper: stacked recurrent layers, a forecast at every step. Where we deviate: one step ahead instead of
    several; the score is the squared forecast error, as in common implementations, where the paper fits a Gaussian to
    the errors of several horizons; two layers of 32 units (the paper's sizes differ by data set). Since every window
    trains a forecast at each of its points, an epoch has 5,000 windows at most. A point is scored with at least half a
    window of history: windows that overlap by half are read once, and the errors of their second halves count.
    """

    batch_size: int = option(64, Number(1, integer=True), "batch size in windows")
    max_windows: int | None = option(
        5_000, Number(1, integer=True, none=True), "windows an epoch, drawn anew for each; None: all"
    )
    hidden: int = option(32, Number(1, integer=True), "units of a recurrent layer")
    layers: int = option(2, Number(1, integer=True), "recurrent layers, one on the other")

    static_step = True

    def build(self, columns: int) -> nn.Module:
        """Recurrent layers and a linear one that reads the forecast off them."""
        from tsadeval.detectors._torch.networks import Forecaster

        return Forecaster(columns, self.hidden, self.layers)

    def loss(self, module: Any, batch: Tensor, epoch: int, turn: int) -> Tensor:
        """Return the mean squared forecast error."""
        return self._errors(module, batch).mean()

    def window_scores(self, module: Any, batch: Tensor) -> Tensor:
        """Return the errors of the points that have at least half a window of history."""
        return self._errors(module, batch)[:, -self.scoring_stride :].mean(dim=2)

    @property
    def scoring_stride(self) -> int:
        """Half a window."""
        return self.window // 2

    def _errors(self, module: Any, batch: Tensor) -> Tensor:
        forecast: Tensor = module(batch[:, :-1])
        return (forecast - batch[:, 1:]).square()
