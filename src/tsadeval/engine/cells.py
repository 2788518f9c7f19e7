"""Layout: what the rows of a kind of work look like.

A cell is one value that is to be computed, named by small plain data; a cell that got its value is a row.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

import numpy as np

__all__ = ["OUTCOME", "C", "Layout", "versions"]

C = TypeVar("C", bound=tuple[Any, ...])

# What is known of every value, whatever it is a value of, with Arrow types.
OUTCOME = {
    "n": "int64",
    "events": "int64",
    "anomalous": "int64",
    "value": "float64",
    "threshold": "float64",
    "alarms": "int64",
    "alarmed_points": "int64",
    "seconds": "float64",
    "status": "string",
    "message": "string",
    "versions": "string",
}


@dataclass(frozen=True)
class Layout(Generic[C]):
    """The rows of a store.

    `cell` is a named tuple of small plain data: equal cells have equal values, on every machine. `columns` gives
    the Arrow type of every column, those of the cell first; `command` is what fills such a store.
    """

    cell: type[C]
    columns: Mapping[str, str]
    command: str

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns that name a cell."""
        return self.cell._fields  # type: ignore[attr-defined, no-any-return]


@cache
def versions() -> str:
    """What computed a row, for the record."""
    from tsadeval import __version__

    return f"tsadeval {__version__}, numpy {np.__version__}, python {platform.python_version()}"
