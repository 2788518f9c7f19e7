"""The rows of a table by the values of some of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tsadeval.core.printable import printable
from tsadeval.errors import InvalidInputError
from tsadeval.tables.columns import Array, codes, is_missing, renumbered
from tsadeval.tables.table import Table


class Groups:
    """Groups of rows, in the order in which their first rows appear; within a group the rows keep their order.

    Attributes
    ----------
    by : list of str
        The columns whose values tell the groups apart; none of them: all rows are one group.
    names : list of tuple of str
        Those values, for each group.
    """

    def __init__(self, table: Table, by: Sequence[str]) -> None:
        self.table = table
        self.by = list(by)
        self.names: list[tuple[str, ...]] = [()]
        self._codes: Array | None = None  # the group of each row; None: one group
        for name in by:
            self._split_by(name)

    def _split_by(self, name: str) -> None:
        column = self.table.columns[name]
        if getattr(column, "ndim", 1) != 1:
            raise InvalidInputError(f"{self.table.source}: expected one name a row in column {printable(name)!r}")
        found, values = named(*codes(column))
        missing = np.flatnonzero(found < 0)
        if len(missing):
            raise InvalidInputError(
                f"{self.table.source}: expected a value in every row of column {printable(name)!r}, which groups them, "
                f"found none in row {missing[0] + 1}"
            )
        if self._codes is None:
            self._codes, self.names = found, [(value,) for value in values]
            return
        self._same_length(found, name)
        pairs, found = np.unique(self._codes * len(values) + found, return_inverse=True)
        self._codes, order = renumbered(found, pairs.tolist())
        self.names = [(*self.names[pair // len(values)], values[pair % len(values)]) for pair in order]

    def _same_length(self, values: Array, name: str) -> None:
        if self._codes is not None and len(values) != len(self._codes):
            raise InvalidInputError(
                f"{self.table.source}: column {printable(name)!r} has {len(values)} rows, but column "
                f"{printable(self.by[0])!r} has {len(self._codes)}"
            )

    @cached_property
    def _order(self) -> Array | None:
        """The rows group by group; None where they lie so already."""
        if self._codes is None or not np.any(self._codes[1:] < self._codes[:-1]):
            return None
        return np.argsort(self._codes, kind="stable")

    @cached_property
    def _sizes(self) -> Array:
        return np.empty(0, np.int64) if self._codes is None else np.bincount(self._codes, minlength=len(self.names))

    def arranged(self, values: Array, name: str) -> Array:
        """One value a row, group by group; the name of its column is for the message."""
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim != 1:
            raise InvalidInputError(
                f"{self.table.source}: expected one value a row in {printable(name)!r}, found shape {values.shape}"
            )
        self._same_length(values, name)
        return values if self._order is None else values[self._order]

    def split(self, values: Array, name: str) -> list[Array]:
        """The values of each group."""
        arranged = self.arranged(values, name)
        return [arranged] if self._codes is None else np.split(arranged, np.cumsum(self._sizes)[:-1])

    def numbers(self, n: int) -> Array:
        """The number of its group for each of n rows, group by group."""
        return np.zeros(n, np.int64) if self._codes is None else np.repeat(np.arange(len(self.names)), self._sizes)


def named(found: Array, values: list[Any]) -> tuple[Array, list[str]]:
    """Groups by the text of their values: those of the number 1 and of the text "1" are one, those of NaN are none."""
    seen: dict[str, int] = {}
    new = [-1 if is_missing(value) else seen.setdefault(str(value), len(seen)) for value in values]
    return (found if len(seen) == len(values) else np.array([*new, -1])[found]), list(seen)
