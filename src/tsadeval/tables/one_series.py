"""Signs that rows which are to be judged as one series belong to several."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from tsadeval._optional import require
from tsadeval.core.printable import printable
from tsadeval.errors import InvalidInputError
from tsadeval.tables.columns import Array, codes, is_arrow, is_fraction
from tsadeval.tables.groups import Groups
from tsadeval.tables.table import POSITIONS, TIMES, Table

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
    unused = [name for name, column in table.columns.items() if name not in used and getattr(column, "ndim", 1) == 1]
    # A detector may well be called "model": scores are fractions, names are not.
    several = [name for name in telling(unused) if not is_fraction(table.columns[name]) and _differs(groups, name)]
    if several:
        raise _several(groups, several, f"column {printable(several[0])!r} has several values")
    stamps = [time] if time else [name for name in unused if _is_stamp(table, name)]
    stamps = stamps or [name for name in unused if name.lower() in POSITIONS]
    if stamps and _stamps_repeat(groups, stamps):
        others = [name for name in unused if name not in stamps and not is_fraction(table.columns[name])]
        apart = (name for name in others if not _stamps_repeat(Groups(table, [*groups.by, name]), stamps))
        raise _several(groups, [*apart][:1], f"time stamps repeat in column {printable(stamps[0])!r}")
    if len(stamps) == 1:
        _check_order(groups, stamps[0])


def _check_order(groups: Groups, name: str) -> None:
    """Refuse times that go back more often than a clock that is set back explains."""
    column = groups.table.columns[name]
    if not is_arrow(column) and not (isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufM"):
        return  # texts, whose order need not be that of time
    stamps = groups.arranged(_comparable(groups.table, name), name)
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
    return _repeat(_joint([groups.arranged(_comparable(groups.table, n), n) for n in stamps]), groups)


def telling(names: Iterable[str]) -> list[str]:
    """The columns that are named as those of series or detectors are."""
    return [name for name in names if name.strip().lower() in DETECTORS | SERIES]


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


def _several(groups: Groups, names: Sequence[str], sign: str) -> InvalidInputError:
    return several_series(groups.table.source, groups.by, names, sign)


def _differs(groups: Groups, name: str) -> bool:
    """Has a column several values in one group?"""
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


def _comparable(table: Table, name: str) -> Array:
    """Times as numbers that are equal where the times are, NaN where missing."""
    column = table.columns[name]
    if is_arrow(column):
        if require("pyarrow.types", extra="all").is_timestamp(column.type) and not column.null_count:
            return np.asarray(column.cast("int64"))
    elif isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufM":
        return np.asarray(column)
    found = codes(column)[0].astype(np.float64)
    found[found < 0] = np.nan
    return found


def _joint(parts: list[Array]) -> Array:
    """Numbers that are equal where all parts are: a date and a time of day tell points apart together."""
    found = parts[0]
    for part in parts[1:]:
        first, second = (np.unique(values, return_inverse=True)[1] for values in (found, part))
        found = first * (second.max(initial=0) + 1) + second
    return found


def _repeat(stamps: Array, groups: Groups) -> bool:
    """Do more time stamps of a group repeat than a clock that is set back explains?"""
    group = groups.numbers(len(stamps))
    if not np.any((stamps[1:] <= stamps[:-1]) & (group[1:] == group[:-1])):
        return False
    order = np.lexsort((stamps, group))
    stamps, group = stamps[order], group[order]
    again = (stamps[1:] == stamps[:-1]) & (group[1:] == group[:-1])
    repeated = np.bincount(group[1:][again], minlength=len(groups.names))
    return bool(np.any((repeated > 1) & (repeated > REPEATED * np.bincount(group, minlength=len(groups.names)))))
