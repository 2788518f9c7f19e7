"""A foundation model as a detector: its forecast errors are the scores, and nothing is trained.

    python examples/foundation.py google/timesfm-2.0-500m-pytorch        # from the Hugging Face hub, or from a folder
    python examples/foundation.py ./my-hub-folder forecaster             # from a folder with a hubconf.py (torch.hub)

The first needs `pip install transformers`. Both print the AUC-ROC on a wave with planted anomalies.
"""

import sys
from pathlib import Path

import numpy as np
import torch

import tsadeval as te


class OneColumnAtATime(torch.nn.Module):
    """A module of one-column series, (series, points) -> (series, steps), for windows of several columns."""

    def __init__(self, forecast: torch.nn.Module, steps: int = 1) -> None:
        super().__init__()
        self.forecast = forecast
        self.steps = steps

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        windows, points, columns = batch.shape
        ahead = self.forecast(batch.permute(0, 2, 1).reshape(windows * columns, points))[:, : self.steps]
        return ahead.reshape(windows, columns, -1).permute(0, 2, 1)


class TimesFM(torch.nn.Module):
    """TimesFM of transformers, as a module of tensors."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, series: torch.Tensor) -> torch.Tensor:
        return self.model(past_values=list(series), freq=[0] * len(series)).mean_predictions


def from_transformers(path: str) -> torch.nn.Module:
    """A model of the Hugging Face hub, or of a folder that `save_pretrained` wrote."""
    from transformers import TimesFmModelForPrediction

    return OneColumnAtATime(TimesFM(TimesFmModelForPrediction.from_pretrained(path)))


def from_torch_hub(repository: str, name: str) -> torch.nn.Module:
    """A model that the hubconf.py of a GitHub repository ("owner/name"), or of a folder, gives."""
    source = "local" if Path(repository).is_dir() else "github"
    return OneColumnAtATime(torch.hub.load(repository, name, source=source))


def main(path: str, name: str = "", window: int = 96) -> float:
    module = from_torch_hub(path, name) if name else from_transformers(path)
    detector = te.detectors.wrap(module, window=window, output="forecast")
    time = np.arange(2 * window + 600)
    wave = np.sin(time / 5)
    labels = (time >= 400) & (time < 420)
    wave[labels] += np.random.default_rng(0).normal(size=20)
    found = te.metrics.auc_roc(labels, detector.fit(wave[:300]).score(wave))
    print(f"AUC-ROC of {path}: {found:.4f}")
    return found


if __name__ == "__main__":
    main(*sys.argv[1:3])
