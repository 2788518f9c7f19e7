"""The network of LSTM-AD."""

from __future__ import annotations

from torch import Tensor, nn


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
