"""Networks of Donut, LSTM-AD and USAD, and the embedding that Anomaly Transformer and TimesNet share."""

from __future__ import annotations

import math

import torch
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


# Embedding shared by AnomalyTransformer and TimesNet: values of the points of a window, and their positions.


def positions(window: int, d_model: int) -> Tensor:
    """Sines and cosines of each position at geometrically spaced frequencies, (window, d_model)."""
    frequency = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    angle = torch.arange(window).unsqueeze(1) * frequency
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :d_model]


class Embedding(nn.Module):
    """Each point with its two neighbours (the window's ends meet), mapped to `d_model` numbers, plus its position."""

    position: Tensor

    def __init__(self, n_columns: int, window: int, d_model: int, dropout: float) -> None:
        super().__init__()
        self.value = nn.Conv1d(n_columns, d_model, 3, padding=1, padding_mode="circular", bias=False)
        nn.init.kaiming_normal_(self.value.weight, mode="fan_in", nonlinearity="leaky_relu")
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("position", positions(window, d_model), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, window, columns) to (batch, window, d_model)."""
        embedded: Tensor = self.dropout(self.value(x.transpose(1, 2)).transpose(1, 2) + self.position)
        return embedded


# The network of LSTM-AD.


class Forecaster(nn.Module):
    """Stacked LSTM layers; at each step a forecast of the next point."""

    def __init__(self, columns: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.memory = nn.LSTM(columns, hidden, num_layers=layers, batch_first=True)
        self.forecast = nn.Linear(hidden, columns)

    def forward(self, points: Tensor) -> Tensor:
        """What is expected after each point of (batch, points, columns)."""
        states, _ = self.memory(points)
        expected: Tensor = self.forecast(states)
        return expected


# The network of USAD.


class Autoencoders(nn.Module):
    """One encoder, two decoders, all of three fully connected layers."""

    def __init__(self, window: int, columns: int, latent: int) -> None:
        super().__init__()
        whole = window * columns
        half, quarter = max(1, min(whole // 2, 512)), max(1, min(whole // 4, 256))
        self.encoder = nn.Sequential(
            nn.Linear(whole, half),
            nn.ReLU(),
            nn.Linear(half, quarter),
            nn.ReLU(),
            nn.Linear(quarter, latent),
            nn.ReLU(),
        )
        self.first = _decoder(latent, quarter, half, whole)
        self.second = _decoder(latent, quarter, half, whole)

    def forward(self, batch: Tensor, which: int) -> Tensor:
        """The windows as autoencoder 0 or 1 reconstructs them."""
        decoder = self.first if which == 0 else self.second
        reconstructed: Tensor = decoder(self.encoder(batch.flatten(start_dim=1)))
        return reconstructed.view(batch.shape)


def _decoder(latent: int, quarter: int, half: int, whole: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(latent, quarter), nn.ReLU(), nn.Linear(quarter, half), nn.ReLU(), nn.Linear(half, whole), nn.Sigmoid()
    )
