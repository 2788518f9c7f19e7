"""LSTM-AD: a recurrent network that forecasts the next point; large forecast errors are anomalous.

Malhotra, Vig, Shroff, Agarwal: Long Short Term Memory Networks for Anomaly Detection in Time Series, ESANN 2015.

Stacked LSTM layers read the series x(1), x(2), ... and at each step t a linear layer forecasts x(t+1). The network
learns to make the mean squared error of all forecasts in a window small (the first has one point of history, the last
window - 1).

As in the paper: stacked recurrent layers, a forecast at every step. Where we deviate: one step ahead instead of
several; the score is the squared forecast error, as in common implementations, where the paper fits a Gaussian to the
errors of several horizons; two layers of 32 units (the paper's sizes differ by data set). Since every window trains a
forecast at each of its points, an epoch has 5,000 windows at most. A point is scored with at least half a window of
history: windows that overlap by half are read once, and the errors of their second halves count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tsadeval.core.parameters import Number
from tsadeval.detectors.deep import DeepDetector
from tsadeval.detectors.records import detector, option

if TYPE_CHECKING:
    from torch import Tensor, nn


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
    """Forecast errors of a stacked LSTM; see the top of this file."""

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
