"""DeepDetector: the base class of detectors that train a network.

This file and those of the detectors import torch nowhere at the top, so that all of them can be listed, described
and parsed without it. Their networks are in `_torch/`, together with the one training loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from tsadeval._optional import require
from tsadeval.core.parameters import Flag, Number, OneOf
from tsadeval.detectors.base import Detector
from tsadeval.detectors.records import option
from tsadeval.detectors.series import Floats, Scaler

if TYPE_CHECKING:
    from torch import Tensor, nn
    from torch.optim import Optimizer


@dataclass(kw_only=True, eq=False, repr=False)
class DeepDetector(Detector):
    """A detector that trains a network on windows of the training part.

    A subclass writes `build`, `loss` and `window_scores`; the other methods have defaults that fit most networks. All
    of them get batches of scaled windows, (batch, window, columns), float32, on the device of the network.
    """

    window: int = option(100, Number(2, integer=True), "points that the network sees at once")
    epochs: int = option(50, Number(1, integer=True), "at most so many passes over the training windows")
    patience: int = option(3, Number(1, integer=True), "stop after so many epochs without a lower validation loss")
    batch_size: int = option(128, Number(1, integer=True), "batch size in windows")
    learning_rate: float = option(1e-3, Number(0, open_low=True), "Adam learning rate")
    max_windows: int | None = option(
        20_000, Number(1, integer=True, none=True), "windows an epoch, drawn anew for each; None: all"
    )
    device: str = option("auto", OneOf(("auto", "cpu", "cuda")), "where it runs; auto: on the GPU where there is one")
    random_state: int = option(
        0, Number(0, 2**32 - 1, integer=True), "seed of the weights, the order of windows, noise"
    )
    progress: bool = option(False, Flag(), "show a bar while training")

    # True if a training step is always the same sequence of operations, whatever their results. Then a GPU records
    # and replays it, which takes a fraction of the time of a small network's step; `loss` gets the epoch as a tensor.
    static_step: ClassVar[bool] = False

    def build(self, columns: int) -> nn.Module:
        """Build a new network for a series of so many columns. Runs with torch's generator seeded."""
        raise NotImplementedError

    def loss(self, module: Any, batch: Tensor, epoch: int, turn: int) -> Tensor:
        """Compute what the optimizer number `turn` makes smaller, a mean over the batch; epochs count from 1."""
        raise NotImplementedError

    def window_scores(self, module: Any, batch: Tensor) -> Tensor:
        """Scores of windows, without gradients: (batch,) for whole windows or (batch, k) for their last k points."""
        raise NotImplementedError

    def scaler(self, series: Floats) -> Scaler:
        """How columns are scaled, from the training part."""
        return Scaler.standard(series)

    def optimizers(self, module: Any) -> tuple[Optimizer, ...]:
        """One optimizer for each loss."""
        from torch.optim import Adam

        return (Adam(module.parameters(), lr=self.learning_rate),)

    def learning_rate_at(self, epoch: int) -> float:
        """Return the learning rate of an epoch (from 1)."""
        return self.learning_rate

    def train_step(self, module: Any, optimizers: tuple[Optimizer, ...], batch: Tensor, epoch: int) -> Tensor:
        """Learn from one batch: each optimizer takes one step down its own loss. Returns the first loss, detached."""
        from tsadeval.detectors._torch.training import descend

        losses = []
        for turn, optimizer in enumerate(optimizers):
            losses.append(self.loss(module, batch, epoch, turn))
            descend(optimizer, losses[-1])
        return losses[0].detach()

    def validation_loss(self, module: Any, batch: Tensor, epoch: int) -> Tensor:
        """Compute what early stopping watches, in evaluation mode and without gradients."""
        return self.loss(module, batch, epoch, 0)

    @property
    def scoring_stride(self) -> int:
        """Points from one scored window to the next."""
        return 1

    def _fit(self, series: Floats) -> None:
        require("torch", extra="torch")
        from tsadeval.detectors._torch.training import train

        scaler = self.scaler(series)
        self.module_, self.history_ = train(self, scaler(series))
        self.scaler_ = scaler

    def _score(self, series: Floats) -> Floats:
        from tsadeval.detectors._torch.training import score

        return score(self, self.module_, self.scaler_(series))
