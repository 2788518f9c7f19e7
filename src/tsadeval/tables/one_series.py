"""Checks that rows which are to be judged as one series do not belong to several."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from tsadeval._optional import require
from tsadeval.core.names import printable
from tsadeval.errors import InvalidInputError
from tsadeval.tables.columns import Array, codes, is_arrow, is_fraction, memory_of, numbers
from tsadeval.tables.table import POSITIONS, TIMES, Groups, Table, named

# Columns of these names say which detector a row belongs to, or which series.
DETECTORS = frozenset({"detector", "model", "algorithm", "algo", "method"})
SERIES = frozenset({"series", "series_id", "unique_id", "item_id", "dataset", "data_set", "file", "filename"})

# Clocks are set back and loggers write a line twice: a series may repeat as many of its time stamps as this.
REPEATED = 0.01


def check_one_series(groups: Groups, used: Collection[str], time: str | None) -> None:
    """Refuse groups that hold several series, and rows that are not in the order of time.

    A column that is not used otherwise shows it: one that is named as those of series or detectors are, with several
    values, or one of times in which many repeat or go back.
    """
    table = groups.table
    names, stamps = _signs_of(table, used)
    several = [name for name in names if not is_fraction(table.columns[name]) and _differs(groups, name)]
    if several:
        raise several_series(table.source, groups.by, several, f"column {printable(several[0])!r} has several values")
    stamps = [time] if time else stamps
    if stamps and _stamps_repeat(groups, stamps):
        others = [name for name in _unused(table, used) if name not in stamps and not is_fraction(table.columns[name])]
        apart = (name for name in others if not _stamps_repeat(Groups(table, [*groups.by, name]), stamps))
        sign = f"time stamps repeat in column {printable(stamps[0])!r}"
        raise several_series(table.source, groups.by, [*apart][:1], sign)
    if len(stamps) == 1:
        _check_order(groups, stamps[0])


def _unused(table: Table, used: Collection[str]) -> list[str]:
    return [name for name, column in table.columns.items() if name not in used and getattr(column, "ndim", 1) == 1]


def _signs_of(table: Table, used: Collection[str]) -> tuple[list[str], list[str]]:
    """The unused columns that are named as those of series or detectors are, and those of times or else positions."""
    unused = _unused(table, used)
    names = [name for name in unused if name.strip().lower() in DETECTORS | SERIES]
    stamps = [name for name in unused if _is_stamp(table, name)]
    return names, stamps or [name for name in unused if name.lower() in POSITIONS]


def columns_to_watch(table: Table, used: Collection[str]) -> list[str]:
    """The columns that show, batch by batch, whether rows belong to one series.

    Of several columns of times none: together, as a date and a time of day, they may increase where each does not.
    """
    names, stamps = _signs_of(table, used)
    return [*names, *(name for name in stamps if len(stamps) == 1 and name not in names)]


def _check_order(groups: Groups, name: str) -> None:
    """Refuse times that go back more often than a clock that is set back explains."""
    if _comparable(groups.table.columns[name]) is None:
        return  # texts, whose order need not be that of time
    stamps = _stamps_of(groups, name)
    group = groups.numbers(len(stamps))
    back = np.flatnonzero((stamps[1:] < stamps[:-1]) & (group[1:] == group[:-1])) + 1
    late = np.bincount(group[back], minlength=max(len(groups.names), 1))
    if np.any((late > 1) & (late > REPEATED * np.bincount(group, minlength=len(late)))):
        where = f" of {printable(', '.join(groups.names[group[back[0]]]))}" if groups.names[group[back[0]]] else ""
        raise InvalidInputError(
            f"{groups.table.source}: the rows{where} are not in the order of time: column {printable(name)!r} goes "
            f"back {int(late[group[back[0]]])} times. Sort them by it: the order of points matters to most metrics"
        )


def _stamps_repeat(groups: Groups, stamps: Sequence[str]) -> bool:
    return _repeat(_joint([_stamps_of(groups, name) for name in stamps]), groups)


def several_series(source: str, by: Sequence[str], names: Sequence[str], sign: str) -> InvalidInputError:
    """What to say where rows of several series would be judged as one."""
    all_of = [*by, *names] or ["series"]
    if by and not names:
        advice = "remove rows that stand there twice, or add the column that tells series apart to by= (--by)"
    else:
        listed = [printable(name) for name in all_of]
        advice = f"name the columns that tell them apart, by={listed} (--by {','.join(listed)})"
    return InvalidInputError(
        f"{source}: {sign}{' within a group' if by else ''}, so these are several series, which must not be judged as "
        f"one: {advice}, or, if they are one, pass one_series=True (tsadeval score --one-series; to te.compare, arrays)"
    )


def _differs(groups: Groups, name: str) -> bool:
    """Return True if a column has several values in one group."""
    found = groups.arranged(codes(groups.table.columns[name])[0], name)
    group = groups.numbers(len(found))
    return bool(np.any((found[1:] != found[:-1]) & (group[1:] == group[:-1])))


def _is_stamp(table: Table, name: str) -> bool:
    column = table.columns[name]
    if name.lower() in TIMES:
        return True
    if is_arrow(column):
        return bool(require("pyarrow.types", extra="all").is_timestamp(column.type))
    return getattr(column.dtype, "kind", "") == "M"


def _comparable(column: Any) -> Array | None:
    """Times or numbers of a column as an array in which they can be compared; None for text and the like."""
    if is_arrow(column):
        types = require("pyarrow.types", extra="all")
        if types.is_timestamp(column.type) and not column.null_count:
            return memory_of(column.cast("int64"))
        if types.is_timestamp(column.type) or types.is_date(column.type):
            return np.asarray(column)
        is_number = types.is_integer(column.type) or types.is_floating(column.type)
        return numbers(column, "", "") if is_number else None
    return np.asarray(column) if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufM" else None


def _stamps_of(groups: Groups, name: str) -> Array:
    """The times of a column, group by group; of texts, numbers that are equal where the texts are."""
    column = groups.table.columns[name]
    found = _comparable(column)
    if found is None:
        found = codes(column)[0].astype(np.float64)
        found[found < 0] = np.nan
    return groups.arranged(found, name)


def _joint(parts: list[Array]) -> Array:
    """Numbers that are equal where all parts are: a date and a time of day tell points apart together."""
    found = parts[0]
    for part in parts[1:]:
        first, second = (np.unique(values, return_inverse=True)[1] for values in (found, part))
        found = first * (second.max(initial=0) + 1) + second
    return found


def _repeat(stamps: Array, groups: Groups) -> bool:
    """Return True if more time stamps of a group repeat than a clock that is set back explains."""
    group = groups.numbers(len(stamps))
    if not np.any((stamps[1:] <= stamps[:-1]) & (group[1:] == group[:-1])):
        return False
    order = np.lexsort((stamps, group))
    stamps, group = stamps[order], group[order]
    again = (stamps[1:] == stamps[:-1]) & (group[1:] == group[:-1])
    repeated = np.bincount(group[1:][again], minlength=len(groups.names))
    return bool(np.any((repeated > 1) & (repeated > REPEATED * np.bincount(group, minlength=len(groups.names)))))


# Signs that rows which are read in batches, as one series or one for each group, belong to several series.


class Signs:
    """What columns that name series, detectors or times hold, in each series, over all batches and files."""

    def __init__(self, by: str | None, used: Collection[str]) -> None:
        self._by, self._used = by, used
        self._names: dict[tuple[str, str], str] = {}
        self._clocks: dict[tuple[str, str, str], _Clock] = {}

    def look(self, table: Table) -> None:
        """Refuse a batch with a name that its series did not have before; take in its times."""
        names, stamps = _signs_of(table, [table.name(name) for name in self._used])
        if not names and not stamps:
            return
        group, groups = (None, [""]) if self._by is None else named(*codes(table.columns[self._by]))
        for name in stamps:
            self._time(name, table.columns[name], group, groups)
        for name in names:
            if is_fraction(table.columns[name]):  # a detector may well be called "model": scores are fractions
                continue
            number, values = codes(table.columns[name])
            pairs = (number + 1) if group is None else group * (len(values) + 1) + number + 1
            for pair in np.unique(pairs).tolist():
                series, value = divmod(pair, len(values) + 1)
                self._add((groups[series], name), str(values[value - 1]) if value else "", table.source)

    def _add(self, key: tuple[str, str], value: str, where: str) -> None:
        if self._names.setdefault(key, value) != value:
            raise self._several(where, key[1:], f"column {printable(key[1])!r} has several values")

    def _several(self, where: str, names: Collection[str], sign: str) -> InvalidInputError:
        return several_series(where, [] if self._by is None else [self._by], list(names), sign)

    def _time(self, name: str, column: Any, group: Array | None, groups: list[str]) -> None:
        stamps = _comparable(column)
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
                if name.lower() in POSITIONS:
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


def _apart(stamps: Array, group: Array | None, groups: list[str]) -> Iterator[tuple[str, Array]]:
    if group is None:
        yield groups[0], stamps
        return
    order = np.argsort(group, kind="stable")
    borders = np.searchsorted(group[order], np.arange(len(groups) + 1))
    for i, series in enumerate(groups):
        yield series, stamps[order[borders[i] : borders[i + 1]]]
