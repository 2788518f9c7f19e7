"""Donut: a variational autoencoder of windows, trained so that missing points do not disturb it.

Xu, Chen, Zhao, Li, Bu, Li, Liu, Zhao, Pei, Feng, Chen, Wang, Qiao: Unsupervised Anomaly Detection via Variational
Auto-Encoder for Seasonal KPIs in Web Applications, WWW 2018.

An encoder q(z | x) gives mean and deviation of a few hidden numbers z, a decoder p(x | z) mean and deviation of every
value of the window. While training, a random share of the values is set to 0 (the mean), as if missing. With a = 0
for those values and 1 for the others, and b the mean of a, the network learns to make the modified ELBO large:

    E_q [ sum of a(w) log p(x(w) | z)  +  b log p(z)  -  log q(z | x) ]

The score is - E_q [ log p(x | z) ] (the paper's "reconstruction probability"), the mean over samples of z.

As in the paper: two hidden layers of 100 units, deviations by softplus plus a small floor, 1 % of the values injected
as missing, a weight decay of 1e-3, batches of 256. Where we deviate: windows of 100 points (120 in the paper); windows
of several columns are flattened (the paper has one column); a point's score is the mean over all values of all windows
that cover it, not its own in the one window that it ends (chosen on UCR 125 and 154, where it is the better one); 16
samples of z instead of 1,024; values that are missing in the data are not imputed by Markov chains, since a series here
has none; early stopping instead of a schedule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tsadeval.core.parameters import Number
from tsadeval.detectors.deep import DeepDetector
from tsadeval.detectors.records import detector, option

if TYPE_CHECKING:
    from torch import Tensor, nn
    from torch.optim import Optimizer


@detector(
    name="donut",
    title="Donut",
    summary="A variational autoencoder of windows that shrugs off missing points.",
    scoring="negative log-probability of a window given its hidden numbers, mean over covering windows",
    reference="Xu et al., Unsupervised Anomaly Detection via Variational Auto-Encoder for Seasonal KPIs in Web "
    "Applications, WWW 2018",
    extra="torch",
)
@dataclass(kw_only=True, eq=False, repr=False)
class Donut(DeepDetector):
    """Reconstruction probability of a variational autoencoder; see the top of this file for the equations."""

    batch_size: int = option(256, Number(1, integer=True), "batch size in windows")
    hidden: int = option(100, Number(1, integer=True), "units of a layer")
    latent: int = option(8, Number(1, integer=True), "hidden numbers of a window")
    missing: float = option(0.01, Number(0, 0.5), "share of the values that training pretends are missing")
    samples: int = option(16, Number(1, integer=True), "draws of the hidden numbers for a score")

    static_step = True

    def build(self, columns: int) -> nn.Module:
        """Encoder and decoder of fully connected layers."""
        from tsadeval.detectors._torch.networks import VariationalAutoencoder

        return VariationalAutoencoder(self.window * columns, self.hidden, self.latent)

    def optimizers(self, module: Any) -> tuple[Optimizer, ...]:
        """Adam with the paper's weight decay."""
        from torch.optim import Adam

        return (Adam(module.parameters(), lr=self.learning_rate, weight_decay=1e-3),)

    def loss(self, module: Any, batch: Tensor, epoch: int, turn: int) -> Tensor:
        """Minus the modified ELBO, by one sample of z for each window."""
        import torch

        values = batch.flatten(start_dim=1)
        share = self.missing if module.training else 0.0
        there = (torch.rand(values.shape, device=values.device) >= share).to(values.dtype)
        mean, deviation = module.encode(values * there)
        noise = torch.randn_like(mean)
        hidden = mean + deviation * noise
        reconstructed = (there * _log_normal(values * there, *module.decode(hidden))).sum(dim=1)
        prior = _log_normal(hidden, torch.zeros_like(mean), torch.ones_like(mean)).sum(dim=1)
        posterior = _log_normal(hidden, mean, deviation).sum(dim=1)
        return -(reconstructed + there.mean(dim=1) * prior - posterior).mean()

    def window_scores(self, module: Any, batch: Tensor) -> Tensor:
        """Minus the mean log-probability of the values of each window."""
        import torch

        values = batch.flatten(start_dim=1)
        mean, deviation = module.encode(values)
        total = torch.zeros_like(values)
        for _ in range(self.samples):
            total += _log_normal(values, *module.decode(mean + deviation * torch.randn_like(mean)))
        return -total.mean(dim=1) / self.samples


def _log_normal(value: Tensor, mean: Tensor, deviation: Tensor) -> Tensor:
    return -0.5 * ((value - mean) / deviation).square() - deviation.log() - 0.5 * math.log(2 * math.pi)
