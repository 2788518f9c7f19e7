"""The network of Donut."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

# A deviation of 0 would make a probability infinite.
_FLOOR = 1e-4


class VariationalAutoencoder(nn.Module):
    """Two layers to the hidden numbers and two back; means and deviations at both ends."""

    def __init__(self, values: int, hidden: int, latent: int) -> None:
        super().__init__()
        self.inward = _layers(values, hidden)
        self.latent_mean = nn.Linear(hidden, latent)
        self.latent_deviation = nn.Linear(hidden, latent)
        self.outward = _layers(latent, hidden)
        self.value_mean = nn.Linear(hidden, values)
        self.value_deviation = nn.Linear(hidden, values)

    def encode(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and deviation of the hidden numbers."""
        inner = self.inward(values)
        return self.latent_mean(inner), functional.softplus(self.latent_deviation(inner)) + _FLOOR

    def decode(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and deviation of the values."""
        inner = self.outward(hidden)
        return self.value_mean(inner), functional.softplus(self.value_deviation(inner)) + _FLOOR


def _layers(values: int, hidden: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(values, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
