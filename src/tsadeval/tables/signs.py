"""Signs that rows which are read in batches, as one series or one for each group, belong to several series."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from tsadeval.core.printable import printable
from tsadeval.errors import InvalidInputError
from tsadeval.tables.columns import Array, codes, is_arrow, is_fraction
from tsadeval.tables.groups import named
from tsadeval.tables.one_series import REPEATED, several_series, telling
from tsadeval.tables.table import POSITIONS, TIMES

__all__ = ["Signs", "columns_to_watch"]


def columns_to_watch(names: Iterable[str], dated: Collection[str], used: Collection[Any]) -> list[str]:
    """The columns that show whether rows belong to one series.

    These are columns that are named as those of series or detectors are, and the one that says when a row was measured
    (by its name or, of those `dated`, by its type) or else numbers the rows. Of several such none: together, as a date
    and a time of day, they may increase where each of them does not.
    """
    unused = [name for name in names if name not in used]
    found = telling(unused)
    stamps = [name for name in unused if name.lower() in TIMES or name in dated]
    stamps = stamps or [name for name in unused if name.lower() in POSITIONS or not name]
    return [*found, *(name for name in stamps if len(stamps) == 1 and name not in found)]


class Signs:
    """What columns that name series, detectors or times hold, in each series, over all batches and files."""

    def __init__(self, by: str | None, used: Collection[Any]) -> None:
        self._by, self._used = by, used
        self._names: dict[tuple[str, str], str] = {}
        self._clocks: dict[tuple[str, str, str], _Clock] = {}

    def look(self, columns: Mapping[str, Any], where: str) -> None:
        """Refuse a batch with a name that its series did not have before; take in its times."""
        watched = [name for name in columns if name not in self._used]
        names = telling(watched)
        group, groups = (None, [""]) if self._by is None else named(*codes(columns[self._by]))
        for name in watched:
            if name not in names:
                self._time(name, columns[name], group, groups)
            elif not is_fraction(columns[name]):  # a detector may well be called "model": scores are fractions
                number, values = codes(columns[name])
                pairs = (number + 1) if group is None else group * (len(values) + 1) + number + 1
                for pair in np.unique(pairs).tolist():
                    series, value = divmod(pair, len(values) + 1)
                    self._add((groups[series], name), str(values[value - 1]) if value else "", where)

    def _add(self, key: tuple[str, str], value: str, where: str) -> None:
        if self._names.setdefault(key, value) != value:
            raise self._several(where, key[1:], f"column {printable(key[1])!r} has several values")

    def _several(self, where: str, names: Collection[str], sign: str) -> InvalidInputError:
        return several_series(where, [] if self._by is None else [self._by], list(names), sign)

    def _time(self, name: str, column: Any, group: Array | None, groups: list[str]) -> None:
        stamps = _stamps(column)
        if stamps is None:
            return
        for series, values in _apart(stamps, group, groups):
            values = values[values == values]  # without NaN and NaT
            if len(values):
                clock = self._clocks.setdefault((series, name, values.dtype.kind), _Clock())
                clock.follow(_Clock.of(values))

    def merge(self, later: Signs, where: str) -> None:
        """Take in what was seen in the rows that follow."""
        for key, value in later._names.items():
            self._add(key, value, where)
        for place, clock in later._clocks.items():
            self._clocks.setdefault(place, _Clock()).follow(clock)

    def finish(self, where: str) -> None:
        """Refuse times that go back or repeat more often than a clock that is set back explains."""
        for (_, name, _), clock in self._clocks.items():
            if clock.late > 1 and clock.late > REPEATED * clock.n:
                sign = f"time stamps in column {printable(name)!r} repeat or go back"
                if name.lower() in POSITIONS or not name:
                    sign = f"the numbers of the rows, in column {printable(name)!r}, repeat or go back"
                raise self._several(where, [], sign)


@dataclass
class _Clock:
    """The times of the rows of a series: how many there are, and how many are not after all before them."""

    n: int = 0
    late: int = 0
    first: Any = None
    low: Any = None
    high: Any = None

    @classmethod
    def of(cls, stamps: Array) -> _Clock:
        latest = np.maximum.accumulate(stamps)
        late = int(np.count_nonzero(stamps[1:] <= latest[:-1]))
        return cls(len(stamps), late, stamps[0], stamps.min(), latest[-1])

    def follow(self, later: _Clock) -> None:
        """Take in the rows that follow."""
        if not self.n:
            self.n, self.late, self.first, self.low, self.high = astuple(later)
            return
        self.late += later.late
        if later.high <= self.high:
            self.late += later.n - later.late
        elif later.low <= self.high:  # of the times of that stretch but the first only the range is known: as if even
            share = float((self.high - later.low) / (later.high - later.low))
            self.late += max(int(share * (later.n - later.late)), int(later.first <= self.high))
        self.n += later.n
        self.low, self.high = min(self.low, later.low), max(self.high, later.high)


def _stamps(column: Any) -> Array | None:
    """Times or numbers that can be compared; None of text, whose order says nothing."""
    if is_arrow(column):
        if str(column.type) not in ("null", "bool") and not str(column.type).startswith("dictionary"):
            column = column.to_numpy(zero_copy_only=False)
    elif not isinstance(column, np.ndarray):
        column = column.to_numpy()
    return column if isinstance(column, np.ndarray) and column.dtype.kind in "iufM" and column.ndim == 1 else None


def _apart(stamps: Array, group: Array | None, groups: list[str]) -> Iterator[tuple[str, Array]]:
    if group is None:
        yield groups[0], stamps
        return
    order = np.argsort(group, kind="stable")
    borders = np.searchsorted(group[order], np.arange(len(groups) + 1))
    for i, series in enumerate(groups):
        yield series, stamps[order[borders[i] : borders[i + 1]]]
