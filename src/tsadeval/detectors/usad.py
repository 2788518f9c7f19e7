"""USAD: two autoencoders that share an encoder and are trained against each other.

Audibert, Michiardi, Guyard, Marti, Zuluaga: USAD: UnSupervised Anomaly Detection on Multivariate Time Series,
KDD 2020.

With W a window, A1 and A2 the two autoencoders, |.| the mean square and n the epoch (from 1):

- A1 learns to make |W - A1(W)| / n + (1 - 1/n) |W - A2(A1(W))| small: to reconstruct, and to fool A2;
- A2 learns to make |W - A2(W)| / n - (1 - 1/n) |W - A2(A1(W))| small: to reconstruct, and to tell A1's output from
  real windows;
- the score is alpha |W - A1(W)| + beta |W - A2(A1(W))|, alpha + beta = 1.

As in the paper: columns on 0 ... 1 by the training part, layers of half and a quarter of the input, ReLU, a sigmoid
at the end, alpha = beta. Where we deviate: windows of 100 points as in most benchmarks (the paper has 5 to 12); the
layers have at most 512 and 256 units, so that wide windows stay trainable; a point's score is the mean score of all
windows that cover it; early stopping watches |W - A1(W)|, which means the same in every epoch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tsadeval.core.parameters import Number
from tsadeval.detectors.deep import DeepDetector
from tsadeval.detectors.records import detector, option
from tsadeval.detectors.series import Floats, Scaler

if TYPE_CHECKING:
    from torch import Tensor, nn
    from torch.optim import Optimizer


@detector(
    name="usad",
    title="USAD",
    summary="Two autoencoders with one encoder, trained against each other.",
    scoring="weighted squared errors of a window's reconstruction and of that one's, mean over covering windows",
    reference="Audibert et al., USAD: UnSupervised Anomaly Detection on Multivariate Time Series, KDD 2020",
    extra="torch",
)
@dataclass(kw_only=True, eq=False, repr=False)
class USAD(DeepDetector):
    """Adversarially trained autoencoders; see the top of this file for the equations."""

    epochs: int = option(100, Number(1, integer=True), "at most so many passes over the training windows")
    patience: int = option(10, Number(1, integer=True), "stop after so many epochs without a lower validation loss")
    latent: int = option(10, Number(1, integer=True), "numbers that a window is squeezed into")
    alpha: float = option(0.5, Number(0, 1), "weight of the first autoencoder's error; the rest is beta")

    static_step = True

    def build(self, columns: int) -> nn.Module:
        """An encoder and two decoders of fully connected layers."""
        from tsadeval.detectors._torch.networks import Autoencoders

        return Autoencoders(self.window, columns, self.latent)

    def scaler(self, series: Floats) -> Scaler:
        """To 0 ... 1, where the sigmoids at the end can follow."""
        return Scaler.minmax(series)

    def optimizers(self, module: Any) -> tuple[Optimizer, ...]:
        """One for each autoencoder; both move the encoder."""
        from torch.optim import Adam

        shared = list(module.encoder.parameters())
        decoders = (module.first, module.second)
        return tuple(Adam([*shared, *decoder.parameters()], lr=self.learning_rate) for decoder in decoders)

    def loss(self, module: Any, batch: Tensor, epoch: int, turn: int) -> Tensor:
        """The two losses of the paper."""
        sign = 1 if turn == 0 else -1
        first = module(batch, 0)
        reconstructed = first if turn == 0 else module(batch, 1)
        again = module(first, 1)
        return (_errors(batch, reconstructed) / epoch + sign * (1 - 1 / epoch) * _errors(batch, again)).mean()

    def validation_loss(self, module: Any, batch: Tensor, epoch: int) -> Tensor:
        """How well the first reconstructs: the game against the second has no minimum to wait for."""
        return _errors(batch, module(batch, 0)).mean()

    def window_scores(self, module: Any, batch: Tensor) -> Tensor:
        """The weighted errors of the windows."""
        first = module(batch, 0)
        again = module(first, 1)
        return self.alpha * _errors(batch, first) + (1 - self.alpha) * _errors(batch, again)


def _errors(batch: Tensor, other: Tensor) -> Tensor:
    return (batch - other).square().mean(dim=(1, 2))
