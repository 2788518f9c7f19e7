"""The network of USAD."""

from __future__ import annotations

from torch import Tensor, nn


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
