"""Cell: one value that is to be computed, named by small plain data. A cell that got its value is a row."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from tsadeval.core.events import Events

__all__ = ["Cell", "Chunk", "versions"]


class Cell(NamedTuple):
    """One value of one metric on one series. Equal cells have equal values, on every machine.

    `version` tells apart two states of a metric that is not in the registry; `threshold` is None for metrics that
    take scores; `seed` is None where the stream has seeds of its own.
    """

    case: str
    generator: str
    q: float
    p: float | None
    sigma: float
    repeat: int
    stream: str
    seed: int | None
    metric: str
    version: str
    threshold: str | None


@dataclass(frozen=True, eq=False)
class Chunk:
    """Cells of one case that travel together, with all that a far machine needs to compute them.

    `metrics` gives for each name the function to call, or None where the name itself says all (registry metrics).
    """

    events: Events
    cells: tuple[Cell, ...]
    metrics: dict[str, Callable[..., float] | None]


@cache
def versions() -> str:
    """What computed a row, for the record."""
    from tsadeval import __version__

    return f"tsadeval {__version__}, numpy {np.__version__}, python {platform.python_version()}"
