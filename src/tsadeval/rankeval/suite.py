"""StoredResult: the base class of results that are kept in stores; places and failures of metrics as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from tsadeval.core.results import Grid, Result, Row

if TYPE_CHECKING:
    import pandas as pd

Plan = TypeVar("Plan")

DIGITS = 9  # of qualities that are compared


class StoredResult(Result):
    """Values of metrics as a store has them: a row per value. Prints as its table."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def table(self) -> Result:
        """What the values say, as it is printed."""
        raise NotImplementedError

    @property
    def rows(self) -> list[Row]:
        """All values: what names each, the value, threshold, seconds, status, message and versions."""
        return [{str(name): value for name, value in row.items()} for row in self._frame.to_dict("records")]

    def to_frame(self) -> pd.DataFrame:
        """The rows as a DataFrame."""
        return self._frame.copy()

    def _grids(self) -> list[tuple[str, Grid]]:
        return self.table()._grids()

    def _notes(self) -> list[str]:
        return self.table()._notes()

    def __repr__(self) -> str:
        return repr(self.table())


def places_of(values: Sequence[float], whole: Sequence[bool] | None = None) -> list[int | None]:
    """The place of each value, 1 for the highest; equal values share a place, those that are not a number have none.

    Values that differ by rounding errors only are equal. Those that are not `whole` are of a metric that failed on
    something: they move nobody down, and their place is the one that they would have.

    >>> places_of([0.5, 0.9, float("nan"), 0.5])
    [2, 1, None, 2]
    >>> places_of([0.5, 0.9, 0.7], [True, False, True])
    [2, 1, 1]
    """
    ranked = [round(value, DIGITS) for value in values]  # NaN stays NaN, and is above nothing
    others = ranked if whole is None else [value for value, counts in zip(ranked, whole, strict=True) if counts]
    return [None if math.isnan(value) else 1 + sum(other > value for other in others) for value in ranked]


def place_cell(place: int | None, whole: bool) -> int | str:
    """A place as tables show it: in parentheses where a metric failed on something, "-" where it has none."""
    return "-" if place is None else place if whole else f"({place})"


def place_words(place: int | None, rows: int, metrics: int | None = None, *, whole: bool = True) -> str:
    """A place among so many rows, which may be fewer metrics (one has a row for each threshold rule).

    >>> place_words(8, 13, 8)
    'place 8 of 13 rows (8 metrics) in this run'
    >>> place_words(3, 4, whole=False)
    'not placed, it would be at place 3 of 4 in this run'
    """
    if place is None:
        return "no place in this run"
    of = f"{rows}" if metrics in (None, rows) else f"{rows} rows ({metrics} metrics)"
    return f"{'' if whole else 'not placed, it would be at '}place {place} of {of} in this run"


def failure(name: str, words: str, count: int, message: str) -> str:
    """A line that says on how many series a metric has no value, and why on the first of them.

    >>> failure("mine", "failed", 2, "ValueError: no")
    'mine failed on 2 series, first with ValueError: no'
    """
    return f"{name} {words} on {count} series, first with {message}"


def last_plan(plans: Sequence[Plan]) -> Plan:
    """The last plan of a store, with the metrics of all plans that differ from it in nothing else."""
    known: Sequence[Any] = plans
    last = known[-1]
    alike = [plan for plan in known if replace(plan, metrics=()) == replace(last, metrics=())]
    # An edited metric has another version: the newest one is used.
    metrics = {str(metric): metric for plan in alike for metric in plan.metrics}
    whole: Plan = replace(last, metrics=tuple(metrics.values()))
    return whole
