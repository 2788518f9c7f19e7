"""Anomaly Transformer: points whose associations in a window are merely local are anomalous.

Xu, Wu, Wang and Long: Anomaly Transformer: Time Series Anomaly Detection with Association Discrepancy, ICLR 2022.

Every layer of a transformer gives each point i of a window two distributions over the window's points: the series
association S_i (the attention) and the prior association P_i (a Gaussian of the distance in time, of learned width
sigma_i). With X a window, R its reconstruction and |.| the mean square:

- D_i = KL(P_i || S_i) + KL(S_i || P_i), mean over heads and layers, is the association discrepancy;
- the minimise phase makes |X - R| + k D small through P, S held fixed; the maximise phase makes |X - R| - k D small
  through S, P held fixed. One step goes down the sum of both gradients;
- the score of point i is |X_i - R_i| times the softmax over the window of -D_i.

As in the published code: windows of 100 points, three layers, 512 units, 8 heads, k = 3, Adam with a learning rate of
1e-4 for two epochs and half of the one before in each further, batches of 256, no dropout; logarithms of p + 1e-4;
sigma = 3^(sigmoid(5 s) + 1e-5) - 1 from the layer's raw output s; in the score, D summed over the layers and
multiplied by a temperature of 50, which the paper's formula does not have.

Windows are scored side by side, each point in one of them, as there: a window's weights sum to one, so a point's weight
says how it compares with the others of that window, and means over windows that overlap would blur it. A last window
that does not fit ends with the series and overlaps the one before, where the published code leaves the rest unscored.
`coverage` asks for more windows over each point.

Where we deviate: early stopping watches |X - R| on a part of the training series (the published code watches
both phases' losses, on the test series); long gradients are cut, as for all networks here; the score is one of each
point and no labels are used to adjust it (the published results count a whole event as found where one of its points
is: point adjustment, which rewards even random scores).

A training step of 256 windows takes about 6 GB; a smaller `batch_size` takes less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tsadeval.core.parameters import Number
from tsadeval.detectors.deep import DeepDetector
from tsadeval.detectors.records import detector, option
from tsadeval.errors import InvalidParameterError

if TYPE_CHECKING:
    from torch import Tensor, nn


@detector(
    name="anomaly_transformer",
    title="A.T.",
    summary="A transformer that compares each point's attention with a learned Gaussian around it.",
    scoring="squared error of its reconstruction, weighted by the softmax of minus its association discrepancy in its "
    "window; windows lie side by side",
    reference="Xu et al., Anomaly Transformer: Time Series Anomaly Detection with Association Discrepancy, ICLR 2022",
    extra="torch",
)
@dataclass(kw_only=True, eq=False, repr=False)
class AnomalyTransformer(DeepDetector):
    """A transformer trained in a minimax of reconstruction and association; the file's top has the equations."""

    epochs: int = option(10, Number(1, integer=True), "at most so many passes over the training windows")
    batch_size: int = option(256, Number(1, integer=True), "batch size in windows")
    learning_rate: float = option(1e-4, Number(0, open_low=True), "Adam learning rate of the first two epochs")
    decay: float = option(0.5, Number(0, 1, open_low=True), "of the learning rate, in each epoch from the third on")
    d_model: int = option(512, Number(1, integer=True), "numbers that describe a point inside; a multiple of n_heads")
    d_ff: int = option(512, Number(1, integer=True), "units of the map between attentions")
    n_heads: int = option(8, Number(1, integer=True), "attentions of a layer")
    n_layers: int = option(3, Number(1, integer=True), "layers")
    dropout: float = option(0.0, Number(0, 0.99), "share of units silenced while training")
    k: float = option(3.0, Number(0), "weight of the association discrepancy beside the reconstruction error")
    temperature: float = option(50.0, Number(0), "of the softmax that weights the errors; 0: errors alone")
    coverage: int = option(1, Number(1, integer=True), "scored windows over each point; 1: side by side")

    static_step = True

    def build(self, columns: int) -> nn.Module:
        """A transformer over the points of a window."""
        from tsadeval.detectors._torch.anomaly_transformer import AnomalyTransformerNetwork

        if self.d_model % self.n_heads:
            raise InvalidParameterError(
                f"{self.record.name}: d_model must be a multiple of n_heads, but is {self.d_model} with {self.n_heads} "
                "heads"
            )
        return AnomalyTransformerNetwork(
            columns, self.window, self.d_model, self.n_heads, self.d_ff, self.n_layers, self.dropout
        )

    def learning_rate_at(self, epoch: int) -> float:
        """Full for two epochs, then a fraction of the one before."""
        return float(self.learning_rate * self.decay ** max(epoch - 2, 0))

    def loss(self, module: Any, batch: Tensor, epoch: int, turn: int) -> Tensor:
        """Both phases in one."""
        from tsadeval.detectors._torch.anomaly_transformer import minimax_loss

        reconstruction, associations = module(batch)
        return minimax_loss(batch, reconstruction, associations, self.k)

    def validation_loss(self, module: Any, batch: Tensor, epoch: int) -> Tensor:
        """The reconstruction error: half the sum of both phases' losses, in which the discrepancies cancel."""
        reconstruction, _ = module(batch)
        error: Tensor = (batch - reconstruction).square().mean()
        return error

    def window_scores(self, module: Any, batch: Tensor) -> Tensor:
        """The weighted errors of every point of the windows."""
        from tsadeval.detectors._torch.anomaly_transformer import anomaly_score

        reconstruction, associations = module(batch)
        return anomaly_score(batch, reconstruction, associations, self.temperature)

    @property
    def scoring_stride(self) -> int:
        """So that `coverage` windows lie over each point."""
        return max(1, self.window // self.coverage)
