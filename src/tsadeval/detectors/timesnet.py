"""TimesNet: a window, folded along its periods into pictures, is reconstructed by two-dimensional convolutions.

Wu, Hu, Liu, Zhou, Wang and Long: TimesNet: Temporal 2D-Variation Modeling for General Time Series Analysis, ICLR 2023.

With X the points of a window of T points inside a block, one vector each:

- A_f is the amplitude of frequency f, mean over the vectors' entries, f = 1 ... T/2; the top_k strongest frequencies
  give the periods ceil(T / f);
- for each of them X, filled up with zeros, is laid out as rows of one period, passes two inception blocks (means of
  convolutions of sizes 1, 3, 5, ... with a GELU between) and is laid back out in time;
- the block gives X plus the sum of these, weighted by the softmax of their amplitudes.

Each window is brought to mean 0 and deviation 1 before, and back after. The score of a point is the mean square of its
reconstruction error, mean over the scored windows that cover it: `coverage` many (ten by default, a tenth of all; the
published code scores all windows and judges each by itself).

As in the published code: windows of 100 points, 64 units inside and in the convolutions, two blocks, three periods, six
kernels, dropout of 0.1, Adam with a learning rate of 1e-4 for two epochs and half of the one before in each further,
batches of 128. These sizes are among those that it uses; it has others for each data set.

Where we deviate: periods are those of each window, rounded up, as the paper writes (the published code takes them from
the mean of the batch, rounded down, so that a score depends on the windows that happen to be scored with it); each
block has its own normalisation behind it; periods whose weight is below the rounding of a float are skipped; long
gradients are cut, as for all networks here. The published results are of points adjusted by the labels, which rewards
even random scores; ours are not adjusted.
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
    name="timesnet",
    title="TimesNet",
    summary="Convolutions over windows that are folded along their own periods.",
    scoring="squared error of its reconstruction, mean over covering windows",
    reference="Wu et al., TimesNet: Temporal 2D-Variation Modeling for General Time Series Analysis, ICLR 2023",
    extra="torch",
)
@dataclass(kw_only=True, eq=False, repr=False)
class TimesNet(DeepDetector):
    """Reconstruction through the periods of each window; the file's top has the equations."""

    epochs: int = option(10, Number(1, integer=True), "at most so many passes over the training windows")
    learning_rate: float = option(1e-4, Number(0, open_low=True), "Adam learning rate of the first two epochs")
    decay: float = option(0.5, Number(0, 1, open_low=True), "of the learning rate, in each epoch from the third on")
    d_model: int = option(64, Number(1, integer=True), "numbers that describe a point inside")
    d_ff: int = option(64, Number(1, integer=True), "channels between the two inception blocks")
    n_layers: int = option(2, Number(1, integer=True), "blocks")
    top_k: int = option(3, Number(1, integer=True), "periods of a window; at most half as many as it has points")
    num_kernels: int = option(6, Number(1, integer=True), "convolutions of an inception block")
    dropout: float = option(0.1, Number(0, 0.99), "share of units silenced while training")
    coverage: int = option(10, Number(1, integer=True), "scored windows over each point; 1: side by side")

    static_step = True  # where there are kernels for it

    def build(self, columns: int) -> nn.Module:
        """Blocks of convolutions over folded windows."""
        from tsadeval.detectors._torch.timesnet import TimesNetNetwork

        if self.top_k > self.window // 2:
            raise InvalidParameterError(
                f"{self.record.name}: top_k must be at most half the window, but is {self.top_k} with a window of "
                f"{self.window}, which has only {self.window // 2} frequencies"
            )
        return TimesNetNetwork(
            columns,
            self.window,
            d_model=self.d_model,
            d_ff=self.d_ff,
            n_layers=self.n_layers,
            top_k=self.top_k,
            num_kernels=self.num_kernels,
            dropout=self.dropout,
        )

    def learning_rate_at(self, epoch: int) -> float:
        """Full for two epochs, then a fraction of the one before."""
        return float(self.learning_rate * self.decay ** max(epoch - 2, 0))

    def loss(self, module: Any, batch: Tensor, epoch: int, turn: int) -> Tensor:
        """The reconstruction error."""
        return self.window_scores(module, batch).mean()

    def window_scores(self, module: Any, batch: Tensor) -> Tensor:
        """The squared errors of every point of the windows, mean over the columns."""
        error: Tensor = (batch - module(batch)).square().mean(dim=2)
        return error

    @property
    def scoring_stride(self) -> int:
        """So that `coverage` windows lie over each point."""
        return max(1, self.window // self.coverage)
