"""Cells of work: the layout of their rows, and the record of which are done while a chunk is computed.

A cell is one value that is to be computed, named by small plain data; a cell that got its value is a row.
"""

import math
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, get_args, get_type_hints

import numpy as np

from tsadeval.core.facts import grouped
from tsadeval.core.results import Row

if TYPE_CHECKING:  # which need the compiled kernels; scores can be made where there are none
    from tsadeval.core.inputs import Scoring
    from tsadeval.core.metric import Metric, Rule

C = TypeVar("C", bound=tuple[Any, ...])
K = TypeVar("K")
BATCH_SECONDS = 1.0  # rows of a chunk that takes longer are handed on as often

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
    # The rule that was used, which for some metrics is not the one that was asked for; absent in stores of 0.1.0.
    "used": "string",
    "uses_labels": "bool_",
    "origin": "string",
    "reason": "string",
}
_ARROW = {str: "string", int: "int64", float: "float64"}


@dataclass(frozen=True)
class Layout(Generic[C]):
    """The rows of a store.

    `cell` is a named tuple of small plain data: equal cells have equal values, on every machine. `columns` gives
    the Arrow type of every column, those of the cell first; `command` is what fills such a store.
    """

    cell: type[C]
    columns: Mapping[str, str]
    command: str

    @classmethod
    def of(cls, cell: type[C], command: str, **columns: str) -> Self:
        """Return the layout of a cell's fields, by their annotations, and of what is known of every value.

        `columns` are those besides, and those of another type than usual.
        """
        kinds = {name: (*get_args(kind), kind)[0] for name, kind in get_type_hints(cell).items()}  # of "str | None" str
        for name, kind in kinds.items():
            if name not in columns and kind not in _ARROW:
                raise TypeError(f"{cell.__name__}.{name} is {kind.__name__}: a field of a cell is str, int or float")
        own = {name: columns.pop(name, "") or _ARROW[kind] for name, kind in kinds.items()}
        return cls(cell, {**own, **columns, **OUTCOME}, command)

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns that name a cell."""
        return tuple(get_type_hints(self.cell))

    @property
    def required(self) -> tuple[str, ...]:
        """The columns without which a file is no part of the store; others may be missing in older ones."""
        return (*self.fields, "value", "status")


# The cells that share a scoring, and the function that makes it, with what else their rows say of it; without a
# scoring that is all that they say.
Making = tuple[tuple[Any, ...], Callable[[], "tuple[Scoring | None, Row]"]]


@dataclass(frozen=True, eq=False)
class Chunk:
    """Cells that are computed together, with all that a worker needs for them.

    `scorings(chunk)`, a function of a module, gives the scorings of the cells, one by one. Metrics and rules travel as
    objects, by the texts that the cells have of them; `payload` is what `scorings` needs besides. Where a chunk is
    `timed`, `seconds` is that of a metric's public call; else metrics share what they compute, and it is NaN.
    """

    scorings: Callable[["Chunk"], Iterable[Making]]
    cells: tuple[Any, ...]
    metrics: Mapping[str, "Metric"]
    rules: Mapping[str, "Rule"]
    payload: Any = None
    timed: bool = False


@dataclass(frozen=True)
class Working:
    """Yielded before code of the user is called: these cells have an error if it never returns."""

    cells: tuple[Any, ...]


# Yields a row for each cell, in any order, and says before each what it is working on.
Compute = Callable[[Any], Iterable[Row | Working]]


@cache
def versions() -> str:
    """Return what computed a row, for the record."""
    from tsadeval import __version__

    return f"tsadeval {__version__}, numpy {np.__version__}, python {platform.python_version()}"


def group_cells(cells: Iterable[C], key: Callable[[C], K]) -> dict[K, list[C]]:
    """Group cells by a key, in the order in which the keys come."""
    return grouped((key(cell), cell) for cell in cells)


class Ledger:
    """Which cells of a chunk have a row, which are being computed, and which failed if the computation ends early."""

    def __init__(self, chunk: Any) -> None:
        self.chunk = chunk
        self.rows: list[Row] = []
        self._left: dict[Any, None] = dict.fromkeys(chunk.cells)
        self._cell = type(chunk.cells[0])
        self._working: tuple[Any, ...] = ()
        self._since = time.monotonic()

    def record(self, update: Row | Working) -> None:
        """Add a row, or note which cells are being computed now."""
        if isinstance(update, Working):
            self._working = update.cells
            return
        self.rows.append(update)
        self._left.pop(self._cell(*(update[name] for name in self._cell._fields)), None)
        self._working = ()

    def batch(self) -> Iterator[list[Row]]:
        """Yield the rows that have come, and forget them, where a second has passed since the last ones."""
        if self.rows and time.monotonic() - self._since >= BATCH_SECONDS:
            yield self.rows
            self.rows, self._since = [], time.monotonic()

    def break_off(self, message: str) -> list[Any]:
        """Note an error for what was being computed, since the work ended; return chunks of what is left to do."""
        failed = [cell for cell in self._working if cell in self._left]
        if not failed:
            if len(self._left) > 1:  # it is not known which cell it was: each alone will show
                return [replace(self.chunk, cells=(cell,)) for cell in self._left]
            failed = list(self._left)
        lost = {"value": math.nan, "seconds": math.nan, "status": "error", "message": message, "versions": versions()}
        for cell in failed:
            self.rows.append({**cell._asdict(), **lost})
            del self._left[cell]
        return [replace(self.chunk, cells=tuple(self._left))] if self._left else []


def compute_all(compute: Compute, chunk: Any) -> list[Row]:
    """Compute a row for every cell of a chunk here. What user code raises (`sys.exit` too) is an error of its cell."""
    return [row for rows in compute_batches(compute, chunk) for row in rows]


def compute_batches(compute: Compute, chunk: Any) -> Iterator[list[Row]]:
    """Yield the same rows as they come, so that a chunk of minutes is seen to move and what it has is kept."""
    todo = [chunk]
    while todo:
        ledger = Ledger(todo.pop())
        try:
            for update in compute(ledger.chunk):
                ledger.record(update)
                yield from ledger.batch()
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            todo += ledger.break_off(raised(error))
        yield ledger.rows


def raised(error: BaseException) -> str:
    """Return what the row of a cell says of an exception that ended the work."""
    return f"{type(error).__name__}: {error}"
