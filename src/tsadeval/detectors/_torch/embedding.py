"""Embedding shared by AnomalyTransformer and TimesNet: values of the points of a window, and their positions."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


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
