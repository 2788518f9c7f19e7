"""Check that rows which are to be judged as one series do not belong to several, in a table or batch by batch."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from tsadeval.core.names import printable
from tsadeval.errors import InvalidInputError, hint
from tsadeval.tables.columns import Array, codes, kind_of, pair_codes, text_codes
from tsadeval.tables.table import POSITIONS, TIMES, Groups, Table, times_of

# Columns of these names say which detector a row belongs to, or which series.
DETECTORS = frozenset({"detector", "model", "algorithm", "algo", "method"})
SERIES = frozenset({"series", "series_id", "unique_id", "item_id", "dataset", "data_set", "file", "filename"})

# Clocks are set back and loggers write a line twice: a series may repeat as many of its time stamps as this.
REPEATED = 0.01
_NAIVE_DATE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?", re.ASCII)


def check_one_series(groups: Groups, used: Collection[str], time: str | None) -> None:
    """Refuse groups that hold several series, and rows that are not in the order of time.

    A column that is not used otherwise shows it: one that is named as those of series or detectors are, with several
    values, or one of times in which many repeat or go back.
    """
    table = groups.table
    names, stamps = _signs_of(table, used)
    Signs(groups.by, used).look_at_names(groups, names)
    stamps = [time] if time else stamps
    if stamps and _stamps_repeat(groups, stamps):
        others = [name for name in _unused(table, used) if name not in stamps and kind_of(table.columns[name]) != "f"]
        apart = (name for name in others if not _stamps_repeat(Groups(table, [*groups.by, name]), stamps))
        sign = f"time stamps repeat in column {printable(stamps[0])!r}"
        raise _several_series(table.source, groups.by, [*apart][:1], sign)
    if len(stamps) == 1:
        _check_order(groups, stamps[0])


def columns_to_watch(table: Table, used: Collection[str]) -> list[str]:
    """List the columns that show, batch by batch, whether rows belong to one series.

    Of several columns of times none: together, as a date and a time of day, they may increase where each does not.
    """
    names, stamps = _signs_of(table, used)
    return [*names, *(name for name in stamps if len(stamps) == 1 and name not in names)]


class Signs:
    """What columns that name series, detectors or times hold, in each series, over all batches and files."""

    def __init__(self, by: Sequence[str], used: Collection[str]) -> None:
        self._by, self._used = by, used
        self._names: dict[tuple[tuple[str, ...], str], str] = {}
        self._clocks: dict[tuple[tuple[str, ...], str, str], _Clock] = {}

    def look(self, groups: Groups) -> None:
        """Refuse a batch with a name that its series did not have before; take in its times."""
        table = groups.table
        names, stamps = _signs_of(table, [table.name(name) for name in self._used])
        self.look_at_names(groups, names)
        for name in stamps:
            found = _comparable(table, name)
            for series, values in zip(groups.names, [] if found is None else groups.split(found, name), strict=False):
                values = values[values == values]  # without NaN and NaT
                if len(values):
                    self._follow((series, name, values.dtype.kind), _Clock.of(values))

    def look_at_names(self, groups: Groups, columns: Sequence[str]) -> None:
        """Refuse columns with several values in a series."""
        seen: dict[tuple[tuple[str, ...], str, str], None] = {}
        for name in columns:
            if kind_of(groups.table.columns[name]) != "f":  # a detector may be called "model": scores are fractions
                number, texts = text_codes(groups.table.columns[name])
                number, texts = groups.arranged(number, name), [*texts, ""]  # the last one where it is missing
                pairs = pair_codes(groups.numbers(len(number)), number % len(texts))[1]
                seen |= {(groups.names[i], name, texts[j]): None for i, j in pairs}
        self._add_names(seen, groups.table.source)

    def _add_names(self, seen: Iterable[tuple[tuple[str, ...], str, str]], where: str) -> None:
        several = [name for series, name, text in seen if self._names.setdefault((series, name), text) != text]
        if several:
            sign = f"column {printable(several[0])!r} has several values"
            raise _several_series(where, self._by, list(dict.fromkeys(several)), sign)

    def _follow(self, place: tuple[tuple[str, ...], str, str], later: "_Clock") -> None:
        before = self._clocks.get(place)
        self._clocks[place] = later if before is None else before.join(later)

    def merge(self, later: Self, where: str) -> None:
        """Take in what was seen in the rows that follow."""
        self._add_names(((*key, text) for key, text in later._names.items()), where)
        for place, clock in later._clocks.items():
            self._follow(place, clock)

    def finish(self, where: str) -> None:
        """Refuse times that go back or repeat more often than a clock that is set back explains."""
        for (_, name, _), clock in self._clocks.items():
            if clock.late > 1 and clock.late > REPEATED * clock.n:
                sign = f"time stamps in column {printable(name)!r} repeat or go back"
                if name.lower() in POSITIONS:
                    sign = f"the numbers of the rows, in column {printable(name)!r}, repeat or go back"
                raise _several_series(where, self._by, [], sign)


class _Clock(NamedTuple):
    """The times of the rows of a series: how many there are, and how many are not after all before them."""

    n: int
    late: int
    first: Any
    low: Any
    high: Any

    @classmethod
    def of(cls, stamps: Array) -> Self:
        latest = np.maximum.accumulate(stamps)
        late = int(np.count_nonzero(stamps[1:] <= latest[:-1]))
        return cls(len(stamps), late, stamps[0], stamps.min(), latest[-1])

    def join(self, later: "_Clock") -> "_Clock":
        """Take in the rows that follow."""
        new = 0
        if later.high <= self.high:
            new = later.n - later.late
        elif later.low <= self.high:  # of the times of that stretch but the first only the range is known: as if even
            share = float((self.high - later.low) / (later.high - later.low))
            new = max(int(share * (later.n - later.late)), int(later.first <= self.high))
        late = self.late + later.late + new
        return _Clock(self.n + later.n, late, self.first, min(self.low, later.low), max(self.high, later.high))


def _unused(table: Table, used: Collection[str]) -> list[str]:
    return [name for name, column in table.columns.items() if name not in used and getattr(column, "ndim", 1) == 1]


def _signs_of(table: Table, used: Collection[str]) -> tuple[list[str], list[str]]:
    """Find the unused columns that are named as those of series or detectors, and those of times or else positions."""
    unused = _unused(table, used)
    names = [name for name in unused if name.strip().lower() in DETECTORS | SERIES]
    stamps = [name for name in unused if name.lower() in TIMES or kind_of(table.columns[name]) == "M"]
    return names, stamps or [name for name in unused if name.lower() in POSITIONS]


def _several_series(source: str, by: Sequence[str], names: Sequence[str], sign: str) -> InvalidInputError:
    """Make the error where rows of several series would be judged as one."""
    all_of = [*by, *names] or ["series"]
    if by and not names:
        by_what = hint("by=", "--by")
        advice = f"remove rows that stand there twice, or add the column that tells series apart to {by_what}"
    else:
        listed = [printable(name) for name in all_of]
        by_what = hint(f"by={listed}", f"--by {','.join(listed)}")
        advice = f"name the columns that tell them apart, {by_what}"
    anyway = hint("pass one_series=True", "pass --one-series")
    return InvalidInputError(
        f"{source}: {sign}{' within a group' if by else ''}, so these are several series, which must not be judged as "
        f"one: {advice}, or, if they are one, {anyway}"
    )


def _check_order(groups: Groups, name: str) -> None:
    """Refuse times that go back more often than a clock that is set back explains."""
    found = _comparable(groups.table, name)
    if found is None:
        return  # texts, whose order need not be that of time
    stamps = groups.arranged(found, name)
    group = groups.numbers(len(stamps))
    back = np.flatnonzero((stamps[1:] < stamps[:-1]) & (group[1:] == group[:-1])) + 1
    if _are_many(group[back], group):
        series = printable(", ".join(groups.names[group[back[0]]]))
        times = int(np.count_nonzero(group[back] == group[back[0]]))
        raise InvalidInputError(
            f"{groups.table.source}: the rows{series and f' of {series}'} are not in the order of time: column "
            f"{printable(name)!r} goes back {times} times. Sort them by it: the order of points matters to most metrics"
        )


def _stamps_repeat(groups: Groups, names: Sequence[str]) -> bool:
    """Return True if more time stamps of a group repeat than a clock that is set back explains.

    Several columns, as a date and a time of day, tell points apart together.
    """
    columns = [_stamps_of(groups, name) for name in names]
    columns.append(groups.numbers(len(columns[0])))
    if len(names) == 1:
        late = np.flatnonzero((columns[0][1:] <= columns[0][:-1]) & (columns[1][1:] == columns[1][:-1]))
        hour = np.timedelta64(1, "h")
        clocks = columns[0].dtype.kind == "M" and bool(np.all(columns[0][late] - columns[0][late + 1] < hour))
        if not len(late) or (clocks and np.bincount(columns[1][late]).max() == 1):  # clocks went back, once
            return False
    order = np.lexsort(columns)
    again = np.logical_and.reduce([values[order[1:]] == values[order[:-1]] for values in columns])
    return _are_many(columns[-1][order[1:]][again], columns[-1])


def _are_many(some: Array, group: Array) -> bool:
    """Return True if some rows, given by their groups, are more of one than a clock that is set back explains."""
    counts = np.bincount(some)
    return bool(np.any((counts > 1) & (counts > REPEATED * np.bincount(group)[: len(counts)])))


def _comparable(table: Table, name: str) -> Array | None:
    """Return times or numbers of a column as an array in which they can be compared; None for text and the like."""
    if kind_of(table.columns[name]) not in "iufMD":
        return None
    found = times_of(table, name)
    return found if found.dtype.kind in "iufM" else None


def _stamps_of(groups: Groups, name: str) -> Array:
    """Return the times of a column, group by group; of texts other than dates, numbers of the texts."""
    found = _comparable(groups.table, name)
    if found is None:
        numbers, values = codes(groups.table.columns[name])
        dates = _dates_of([*map(str, values)])
        found = numbers.astype(np.float64) if dates is None else dates[numbers]
        found[numbers < 0] = np.nan if dates is None else np.datetime64("NaT")
    return groups.arranged(found, name)


def _dates_of(texts: list[str]) -> Array | None:
    """Return texts as dates, if all are dates without a time zone."""
    try:
        return np.array(texts, "datetime64[us]") if texts and all(map(_NAIVE_DATE.fullmatch, texts)) else None
    except ValueError:  # the 30th of February
        return None
