"""What RankEval computes: one value of one metric on one drawn series."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from tsadeval.core.events import Events
from tsadeval.engine.cells import OUTCOME, Layout
from tsadeval.rankeval.generators import Stream

__all__ = ["LAYOUT", "Cell", "Chunk"]


class Cell(NamedTuple):
    """One value of one metric on one series.

    `version` tells apart two states of a metric that is not in the registry; `threshold` is None for metrics that
    take scores; `seed` is None where the stream has seeds of its own.
    """

    case: str
    generator: str
    q: float
    p: float | None
    sigma: float
    repeat: int
    stream: Stream
    seed: int | None
    metric: str
    version: str
    threshold: str | None


LAYOUT = Layout(
    Cell,
    {
        "case": "string",
        "generator": "string",
        "q": "float64",
        "p": "float64",
        "sigma": "float64",
        "repeat": "int32",
        "stream": "string",
        "seed": "int64",
        "metric": "string",
        "version": "string",
        "threshold": "string",
        **OUTCOME,
    },
    "tsadeval rankeval run",
)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Cells of one case that travel together, with all that a far machine needs to compute them.

    `metrics` gives for each name the function to call, or None where the name itself says all (registry metrics).
    """

    events: Events
    cells: tuple[Cell, ...]
    metrics: dict[str, Callable[..., float] | None]
