"""The Anomaly Transformer's network, its loss and its score.

Each point of a window looks at the others twice: through attention (the series association S) and through a
Gaussian of the distance in time whose width it learns (the prior association P). A rare point finds little of its
kind elsewhere in the window, so its S stays near its P: a small discrepancy between the two marks it.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tsadeval.detectors._torch.networks import Embedding

# Added inside the logarithms. The tails of a narrow Gaussian are exactly zero in single precision; without this the
# divergence would be infinite there, and long before that it would drown the reconstruction error in training.
TINY = 1e-4

# The two associations of one layer, (batch, heads, window, window) each; their rows sum to one.
Associations = tuple[Tensor, Tensor]


def widths(raw: Tensor) -> Tensor:
    """The Gaussians' sigma from the layer's raw outputs: positive, at most about 2 points."""
    return torch.pow(3.0, torch.sigmoid(5.0 * raw) + 1e-5) - 1.0


def prior_association(sigma: Tensor, squared_distance: Tensor) -> Tensor:
    """Gaussians of the distance, each row divided by its sum (so their common factor cancels)."""
    # A point's distance to itself is zero, so no row is all zeros, however narrow the Gaussian.
    return torch.softmax(-squared_distance / (2.0 * sigma.square().unsqueeze(-1)), dim=-1)


def association_discrepancy(prior: Tensor, series: Tensor) -> Tensor:
    """KL(P || S) + KL(S || P) of each point, mean over the heads: (batch, window)."""
    divergence = (prior - series) * (torch.log(prior + TINY) - torch.log(series + TINY))
    return divergence.sum(dim=-1).mean(dim=1)


def minimax_loss(x: Tensor, reconstruction: Tensor, layers: list[Associations], weight: float) -> Tensor:
    """A loss whose one backward pass gives the summed gradients of the paper's two phases.

    The minimise phase, `error + weight * discrepancy(P, S fixed)`, draws P to S; the maximise phase,
    `error - weight * discrepancy(P fixed, S)`, drives S from P. The two discrepancies are equal in value, so one is
    enough if the gradient that enters S is negated: `2 S.detach() - S` equals S and does that.
    """
    discrepancies = [association_discrepancy(prior, 2.0 * series.detach() - series) for prior, series in layers]
    error = (x - reconstruction).square().mean()
    return 2.0 * error + weight * torch.stack(discrepancies).mean()


def anomaly_score(x: Tensor, reconstruction: Tensor, layers: list[Associations], temperature: float) -> Tensor:
    """Reconstruction error of each point times the softmax of minus its discrepancy over the window."""
    error = (x - reconstruction).square().mean(dim=-1)
    discrepancy = torch.stack([association_discrepancy(prior, series) for prior, series in layers]).sum(dim=0)
    # In double precision, for at the usual temperature most weights of a window are below what single precision holds:
    # they would all be zero, and their points tied.
    return torch.softmax(-temperature * discrepancy.double(), dim=-1) * error


class AnomalyAttention(nn.Module):
    """Attention that also returns its series association and the learned Gaussian beside it."""

    squared_distance: Tensor

    def __init__(self, window: int, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.sigma = nn.Linear(d_model, n_heads)
        self.out = nn.Linear(d_model, d_model)
        place = torch.arange(window, dtype=torch.float32)
        self.register_buffer("squared_distance", (place[:, None] - place).square(), persistent=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Associations]:
        """(batch, window, d_model) to the same, with (prior, series)."""
        query, key, value = (self._heads(layer(x)) for layer in (self.query, self.key, self.value))
        series = torch.softmax(query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5, dim=-1)
        prior = prior_association(widths(self.sigma(x).transpose(1, 2)), self.squared_distance)
        mixed = (series @ value).transpose(1, 2).flatten(2)
        return self.out(mixed), (prior, series)

    def _heads(self, x: Tensor) -> Tensor:
        return x.reshape(*x.shape[:2], self.n_heads, -1).transpose(1, 2)


class EncoderLayer(nn.Module):
    """Attention, then two maps point by point; each is added to its input and normalised."""

    def __init__(self, window: int, d_model: int, n_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.attention = AnomalyAttention(window, d_model, n_heads)
        self.forward_map = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.GELU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model), nn.Dropout(dropout)
        )
        self.first_norm = nn.LayerNorm(d_model)
        self.second_norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> tuple[Tensor, Associations]:
        """(batch, window, d_model) to the same, with (prior, series)."""
        attended, associations = self.attention(x)
        x = self.first_norm(x + self.dropout(attended))
        return self.second_norm(x + self.forward_map(x)), associations


class AnomalyTransformerNetwork(nn.Module):
    """Reconstructs windows and tells the associations of every layer."""

    def __init__(
        self, n_columns: int, window: int, d_model: int, n_heads: int, d_ff: int, n_layers: int, dropout: float
    ) -> None:
        super().__init__()
        self.embedding = Embedding(n_columns, window, d_model, dropout)
        self.layers = nn.ModuleList(EncoderLayer(window, d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)
        self.projection = nn.Linear(d_model, n_columns)

    def forward(self, x: Tensor) -> tuple[Tensor, list[Associations]]:
        """(batch, window, columns) to its reconstruction, with (prior, series) of each layer."""
        hidden, associations = self.embedding(x), []
        for layer in self.layers:
            hidden, found = layer(hidden)
            associations.append(found)
        return self.projection(self.norm(hidden)), associations
