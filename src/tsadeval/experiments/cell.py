"""What a run of detectors computes: one value of one metric on the scores of one detector on one data set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tsadeval.engine.cells import OUTCOME, Layout
from tsadeval.experiments.sources import Source
from tsadeval.experiments.specs import Entrant

__all__ = ["LAYOUT", "Cell", "Chunk"]


class Cell(NamedTuple):
    """One value. `checksum` is of the data, so that changed files under an old name are other cells.

    `version` tells apart two states of a metric that is not in the registry; `threshold` is None for metrics that
    take scores; `seed` is None for detectors that take none.
    """

    dataset: str
    checksum: str
    detector: str
    seed: int | None
    metric: str
    version: str
    threshold: str | None


LAYOUT = Layout(
    Cell,
    {
        "dataset": "string",
        "checksum": "string",
        "detector": "string",
        "seed": "int64",
        "metric": "string",
        "version": "string",
        "threshold": "string",
        "fit_seconds": "float64",
        "score_seconds": "float64",
        "device": "string",
        **OUTCOME,
    },
    "tsadeval detect",
)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Cells of one detector on one data set, with all that is needed to compute them.

    `folder` is the store that keeps the scores; `metrics` gives for each name the function to call, or None where
    the name itself says all (registry metrics).
    """

    source: Source
    checksum: str
    entrant: Entrant
    device: str
    folder: Path
    cells: tuple[Cell, ...]
    metrics: dict[str, Callable[..., float] | None]
