"""Scorings in a table: labels and scores of every group of rows and every column of scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np

from tsadeval.core.arrays import anomalous_word
from tsadeval.core.names import printable
from tsadeval.errors import InvalidInputError, hint, warn
from tsadeval.tables.columns import Array, is_numeric, python_values
from tsadeval.tables.one_series import check_one_series
from tsadeval.tables.table import POSITIONS, TIMES, Groups, Table, nearest, times_of

DEFAULT, LABEL = "score", "label"  # the columns of scores and labels where none is named
VALUES = {"value", "values"}  # columns of the series itself, which are no scores
SHOWN = 8  # names in a message


class TableScoring(NamedTuple):
    """Labels and scores of one group of rows, and what tells it from the others.

    `keys` are the group's values in the columns `by`; `score` is the column of its scores; `times` is None where no
    column of times was asked for. Missing scores are NaN.
    """

    keys: dict[str, str]
    score: str
    labels: Array
    scores: Array
    times: Array | None = None


def scorings(
    table: Table,
    *,
    label: str | None = "label",
    score: str | Sequence[str] = "score",
    by: str | Sequence[str] = (),
    time: str | None = None,
    one_series: bool = False,
) -> Iterator[TableScoring]:
    """Labels and scores of every group of rows and every column of scores.

    Parameters
    ----------
    table : Table
        Of `read_table`. Wide tables have a column of scores for each detector; long ones have one column of scores,
        and columns that say to which series and detector a row belongs.
    label : str, optional
        The column of labels; None where these come from elsewhere: then all are 0.
    score : str or sequence of str
        The columns of scores; patterns as "lof_*" mean all numeric columns that match and are not used otherwise.
    by : str or sequence of str
        The columns whose values tell groups apart. Groups come in the order of their first rows, which need not lie
        together; within a group the rows keep their order.
    time : str, optional
        A column of times to be given beside labels and scores.
    one_series : bool
        True does not look for signs that a group holds several series (see Raises).

    Raises
    ------
    InvalidInputError
        Where a column is not there, or does not hold numbers; where a group holds several series, as time stamps
        that repeat or several values in a column named "series", "detector", "model" or "file" show.

    Examples
    --------
    >>> from tsadeval.tables import read_table, scorings
    >>> table = read_table({"series": ["a", "b", "a"], "label": [0, 1, 1], "score": [0.1, 0.5, 0.7]})
    >>> for part in scorings(table, by="series"):
    ...     print(part.keys, part.labels, part.scores)
    {'series': 'a'} [0 1] [0.1 0.7]
    {'series': 'b'} [1] [0.5]
    """
    by = [by] if isinstance(by, str) else list(by)
    keys = [table.name(name, "to group by") for name in by]
    if label == LABEL and label not in table:
        _refuse_no_labels(table)
    label = table.name(label, "for the labels") if label is not None else None
    time = table.name(time, "for the times") if time else None
    taken = {*keys, *filter(None, (label, time))}
    names = _score_columns(table, [score] if isinstance(score, str) else list(score), taken)
    groups = Groups(table, keys)
    if not one_series:
        check_one_series(groups, {*names, *taken}, time)
    truth = np.zeros(table.n, np.uint8) if label is None else _truth(table, label)
    labels = groups.split(truth, label or "label")
    times = groups.split(times_of(table, time), time) if time else [None] * len(groups.names)

    def scores(name: str) -> list[Array]:
        return groups.split(table.numbers(name), name)

    # Each column is put in order once; one group needs no order, so its columns come one at a time.
    kept = {name: scores(name) for name in names} if len(groups.names) > 1 else {}
    for i, group in enumerate(groups.names):
        for name in names:
            values = (kept.get(name) or scores(name))[i]
            yield TableScoring(dict(zip(by, group, strict=True)), name, labels[i], values, times[i])


def _truth(table: Table, label: str) -> Array:
    """The labels; where they are words, the error says how to make numbers of them."""
    try:
        return table.numbers(label)
    except InvalidInputError as error:
        word = anomalous_word(python_values(table.columns[label]))
        if word is None:
            raise
        what = f"labels are 0 and 1, so say which value is anomalous, e.g. (table[{label!r}] == {word!r}).astype(int)"
        raise InvalidInputError(f"{error}; {printable(what)}") from None


class ScoreColumns:
    """Names and patterns of the columns of scores in many files, of which not every file need have all."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(names)
        self._lacking: dict[str, list[str]] = {}  # name -> files
        self._files: list[str] = []
        self._columns: dict[str, None] = {}  # of the files that lack some

    def of(self, table: Table, taken: set[str]) -> list[str]:
        """Those that a table has; all, where it has none, so that reading it is refused with a reason."""
        have = [name for name in self._names if _is_there(table, name, taken)]
        if not have or len(have) == len(self._names):
            self._files += [table.source] * bool(have)
            return self._names
        self._files.append(table.source)
        self._columns |= dict.fromkeys(table.columns)
        for name in self._names:
            if name not in have:
                self._lacking.setdefault(name, []).append(table.source)
        return have

    def check(self) -> None:
        """After the last file: refuse a name that none has, and say which files lack some."""
        for name, files in self._lacking.items():
            if len(files) == len(self._files):
                where = files[0] if len(files) == 1 else f"{len(files)} files"
                what = "column of numbers matches" if _is_pattern(name) else "column"
                known = [column for column in self._columns if column not in self._names]
                raise InvalidInputError(
                    f"{where}: no {what} {printable(name)!r} for the scores: {nearest(name, known or self._names)}"
                )
        for name, files in self._lacking.items():
            shown = ", ".join(files[:5]) + (f", ... ({len(files)} files)" if len(files) > 5 else "")
            warn(f"{shown}: no column {printable(name)!r} for the scores, so no value of {printable(name)} there")


def _is_pattern(name: str) -> bool:
    return any(mark in name for mark in "*?[")


def _is_there(table: Table, name: str, taken: set[str]) -> bool:
    return name in table or (_is_pattern(name) and bool(_numeric(table, name, taken)))


def _score_columns(table: Table, patterns: list[str], taken: set[str]) -> list[str]:
    """The columns that the names and patterns mean, each once, in the order asked for."""
    found: dict[str, None] = {}
    for pattern in patterns:
        if pattern in table or not _is_pattern(pattern):
            if pattern == DEFAULT and pattern not in table:
                _refuse_default(table, taken)
            found[table.name(pattern, "for the scores")] = None
            continue
        numeric = _numeric(table, pattern, taken)
        if not numeric:
            raise InvalidInputError(f"{table.source}: no column of numbers matches {printable(pattern)!r}")
        found |= dict.fromkeys(numeric)
    if not found:
        raise InvalidInputError(f"{table.source}: name at least one column of scores")
    return list(found)


def _numeric(table: Table, pattern: str, taken: set[str]) -> list[str]:
    """Columns of numbers that match, are not used otherwise and do not say where in time a row is."""
    matching = [name for name in table.columns if fnmatchcase(name, pattern) and name not in taken]
    return [name for name in matching if not _is_position(table, name) and is_numeric(table.columns[name])]


def _refuse_default(table: Table, taken: set[str]) -> None:
    """There is no column of the default name: say which there are, and how to name them."""
    columns = [name for name in _numeric(table, "*", taken) if name.lower() not in VALUES]
    if not columns:
        return
    shown, more = ",".join(map(printable, columns[:SHOWN])), f" (of {len(columns)})" if len(columns) > SHOWN else ""
    how = hint(f"y_score={columns[:SHOWN]!r}{more}", f"--score {shown}{more}")
    raise InvalidInputError(
        f"{table.source}: no column {DEFAULT!r} for the scores; name those that hold scores, here {how}"
    )


def _refuse_no_labels(table: Table) -> None:
    """There is no column of labels by the default name: say which may be meant, and how to name it."""
    binary = [name for name in _numeric(table, "*", set()) if _is_binary(table, name)]
    if binary:
        shown = ", ".join(map(printable, binary[:SHOWN]))
        raise InvalidInputError(
            f"{table.source}: no column {LABEL!r} for the labels; name the one that holds them, in Python y_true= or "
            f"label=, on the command line --label (0 and 1 are in {shown})"
        )


def _is_binary(table: Table, name: str) -> bool:
    values = table.numbers(name)
    return bool(np.isin(values, (0, 1)).all())


def _is_position(table: Table, name: str) -> bool:
    """Return True if a column holds times or row numbers."""
    return name.lower() in TIMES | POSITIONS or name in table.index
