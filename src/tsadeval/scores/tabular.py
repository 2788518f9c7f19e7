"""Scorings in a table: labels and scores of every group of rows and every column of scores."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np

from tsadeval.core.arrays import anomalous_word
from tsadeval.core.durations import find_zone
from tsadeval.core.messages import named
from tsadeval.core.names import did_you_mean, printable
from tsadeval.core.times import Named, Times, read_times
from tsadeval.errors import InvalidInputError, hint, warn
from tsadeval.scores.companions import Companions
from tsadeval.scores.options import LABEL, SCORE, Options
from tsadeval.scores.scored import Given, LeftOut
from tsadeval.tables.columns import Array, is_numeric, python_values
from tsadeval.tables.files import FoundFile
from tsadeval.tables.one_series import check_one_series
from tsadeval.tables.reading import read_table
from tsadeval.tables.sources import STDIN
from tsadeval.tables.table import POSITIONS, TIMES, Groups, Table, line_of, times_of, zone_of_column

VALUES = {"value", "values"}  # columns of the series itself, which are no scores
SHOWN = 8  # names in a message


class TableScoring(NamedTuple):
    """Labels and scores of one group of rows, and what tells it from the others.

    `keys` are the group's values in the columns `by`; `score` is the column of its scores; `times` and `values` are
    None where no column of these was asked for. Missing scores are NaN.
    """

    keys: dict[str, str]
    score: str
    labels: Array
    scores: Array
    times: Array | None = None
    values: Array | None = None


def scorings(
    table: Table,
    *,
    label: str | None = "label",
    score: str | Sequence[str] = "score",
    by: str | Sequence[str] = (),
    time: str | None = None,
    values: str | None = None,
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
    time, values : str, optional
        Columns of times, and of the series itself, to be given beside labels and scores.
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
    values = table.name(values, "for the values") if values else None
    taken = {*keys, *filter(None, (label, time, values))}
    names = _score_columns(table, [score] if isinstance(score, str) else list(score), taken)
    groups = Groups(table, keys)
    if not one_series:
        check_one_series(groups, {*names, *taken}, time)
    truth = np.zeros(table.n, np.uint8) if label is None else _truth(table, label)
    labels = groups.split(truth, label or "label")
    times = groups.split(times_of(table, time), time) if time else [None] * len(groups.names)
    series = groups.split(table.numbers(values), values) if values else [None] * len(groups.names)

    def scores(name: str) -> list[Array]:
        return groups.split(table.numbers(name), name)

    # Each column is put in order once; one group needs no order, so its columns come one at a time.
    kept = {name: scores(name) for name in names} if len(groups.names) > 1 else {}
    for i, group in enumerate(groups.names):
        for name, asked in names.items():
            own = (kept.get(name) or scores(name))[i]
            yield TableScoring(dict(zip(by, group, strict=True)), asked, labels[i], own, times[i], series[i])


def _truth(table: Table, label: str) -> Array:
    """Return the labels; where they are words, the error says how to make numbers of them."""
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
        have = [one for one in self._names if one in table or (is_pattern(one) and _numeric(table, one, taken))]
        if not have or len(have) == len(self._names):
            self._files += [table.source] * bool(have)
            return self._names
        self._files.append(table.source)
        self._columns |= dict.fromkeys(table.columns)
        for name in self._names:
            if name not in have:
                self._lacking.setdefault(name, []).append(table.source)
        return have

    def absent(self, name: str) -> str:
        """Return what to say of a column that a file lacks."""
        known = [column for column in self._columns if column not in self._names]
        what = "column of numbers matches" if is_pattern(name) else "column"
        return f"no {what} {printable(name)!r} for the scores: {did_you_mean(name, known or self._names, 20)}"

    def check(self) -> None:
        """After the last file: refuse a name that none has, and say which files lack some."""
        for name, files in self._lacking.items():
            if len(files) == len(self._files):
                raise InvalidInputError(
                    f"{files[0] if len(files) == 1 else f'{len(files)} files'}: {self.absent(name)}"
                )
        for name, files in self._lacking.items():
            warn(
                f"{named(files)}: no column {printable(name)!r} for the scores, so no value of {printable(name)} there"
            )


def is_pattern(name: str) -> bool:
    """Return True if a name of columns has wildcards."""
    return any(mark in name for mark in "*?[")


def _score_columns(table: Table, patterns: list[str], taken: set[str]) -> dict[str, str]:
    """Return the columns that names and patterns mean, each once, in the order asked for, and how they were called."""
    found: dict[str, str] = {}
    for pattern in patterns:
        if pattern in table or not is_pattern(pattern):
            if pattern == SCORE and pattern not in table:
                _refuse_default(table, taken)
            found[table.name(pattern, "for the scores")] = pattern
            continue
        numeric = _numeric(table, pattern, taken)
        if not numeric:
            raise InvalidInputError(f"{table.source}: no column of numbers matches {printable(pattern)!r}")
        signal = [name for name in numeric if name.lower() in VALUES]
        if signal and len(signal) < len(numeric):
            warn(
                f"{printable(pattern)!r} leaves out {named(signal)}, by its name the series itself: name it to have it"
            )
            numeric = [name for name in numeric if name not in signal]
        found |= {name: name for name in numeric if name not in found}
    if not found:
        raise InvalidInputError(f"{table.source}: name at least one column of scores")
    return found


def _numeric(table: Table, pattern: str, taken: set[str]) -> list[str]:
    """Columns of numbers that match, are not used otherwise and do not say where in time a row is."""
    used = {*taken, *table.index}
    matching = [name for name in table.columns if fnmatchcase(name, pattern) and name not in used]
    return [name for name in matching if name.lower() not in TIMES | POSITIONS and is_numeric(table.columns[name])]


def _refuse_default(table: Table, taken: set[str]) -> None:
    """There is no column of the default name: say which there are, and how to name them."""
    columns = [name for name in _numeric(table, "*", taken) if name.lower() not in VALUES]
    if not columns:
        return
    more = f" (of {len(columns)}; '*' for all)" * (len(columns) > SHOWN)
    how = hint(f"score={columns[:SHOWN]!r}{more}", f"--score {','.join(map(printable, columns[:SHOWN]))}{more}")
    raise InvalidInputError(
        f"{table.source}: no column {SCORE!r} for the scores; name those that hold scores, here {how}"
    )


def _refuse_no_labels(table: Table) -> None:
    """There is no column of labels by the default name: say which may be meant, and how to name it."""
    binary = [name for name in _numeric(table, "*", set()) if np.isin(table.numbers(name), (0, 1)).all()]
    if binary:
        shown = ", ".join(map(printable, binary[:SHOWN]))
        raise InvalidInputError(
            f"{table.source}: no column {LABEL!r} for the labels; name the one that holds them, in Python y_true= or "
            f"label=, on the command line --label (0 and 1 are in {shown})"
        )


_Keys = tuple[list[str], str]  # what the columns `by` hold, and the column of scores


def path_names(file: FoundFile | None, options: Options, by_folder: bool = False) -> tuple[str, str]:
    """Return the names of series and detector that a file has by its path, of which columns may have taken a part.

    With `by_folder` the first folder is the detector.
    """
    if file is None or file.path == STDIN:
        return "", ""
    if by_folder and file.folder:
        return file.below, file.folder.partition("/")[0]
    parts = {"folder": file.folder, "file": file.stem}
    return "/".join(part for name, part in parts.items() if part and name not in options.columns), ""


@dataclass(frozen=True, eq=False, slots=True)
class TableShard:
    """A table or a file of one, which is read when its scorings are asked for."""

    source: Any
    options: Options
    companions: Companions
    columns: ScoreColumns
    file: FoundFile | None = None
    path_names: tuple[str, str] = ("", "")  # of series and detector, where no column has them

    @property
    def of_file(self) -> dict[str, str]:
        """What `by` may name beside columns: the file's name, and the folder that it lies in."""
        file = self.file
        return {} if file is None or file.path == STDIN else {"file": file.stem, "folder": file.folder}

    @property
    def series(self) -> str | None:
        """The name of the series as far as it is known without reading, so that others of it are read with this one.

        Of files that are a detector each, all may have the same series. None: columns will say it.
        """
        columns = self.options.series_columns
        if self.options.named_by == "file" and any(name not in self.of_file for name in columns):
            return ""
        names = [self.of_file.get(name) for name in columns]
        return None if None in names else "/".join(filter(None, names)) or self.path_names[0]

    def table(self) -> Table:
        """Read the table."""
        return read_table(self.source, text=self.options.columns, max_bytes=self.options.max_bytes)

    def names(self) -> list[_Keys]:
        """Return what the columns `by` hold, and the column of scores, for every scoring."""
        options, table = self.options, self.table()
        given = self._from_path(table)
        by = [table.name(name, "to group by") for name in options.columns if name not in given]
        groups = [{**given, **dict(zip(by, values, strict=True))} for values in Groups(table, by).names]
        columns = options.score
        if any(map(is_pattern, columns)):
            taken = {*by, *(name for name in (options.label, options.time, options.values) if isinstance(name, str))}
            columns = tuple(_score_columns(table, list(columns), taken).values())
        return [([group[name] for name in options.columns], column) for group in groups for column in columns]

    def _from_path(self, table: Table) -> dict[str, str]:
        """Return what the path says in place of columns."""
        return {name: self.of_file[name] for name in self.options.columns if name in self.of_file and name not in table}

    def names_of(self, keys: Mapping[str, str]) -> tuple[str, str]:
        """Return the names of series and detector that the columns `by` give; empty where there are no such columns."""
        by = self.options.named_by
        return "/".join(value for name, value in keys.items() if name != by), keys.get(by or "", "")

    def read(self) -> Iterator[Given | LeftOut]:
        """Every scoring in the table, with its detectors on the same points; what is wrong with one is its own."""
        return self.companions.join(self.parts())

    def parts(self) -> Iterator[Given | LeftOut]:
        """Every scoring as the rows have it; one entry where the table cannot be read."""
        try:
            yield from list(self._scorings(self.table()))
        except (InvalidInputError, OSError) as error:
            yield LeftOut("", "", str(self.source), str(error))

    def _scorings(self, table: Table) -> Iterator[Given | LeftOut]:
        options = self.options
        label = None if self.companions.bring_labels else options.label
        time = options.time if isinstance(options.time, str) else _index_of_times(table, options)
        values = options.values if isinstance(options.values, str) else None
        given = self._from_path(table)
        by = [name for name in options.columns if name not in given]
        scores = self.columns.of(table, {*by, *filter(None, (label, time, values))})
        parts = scorings(
            table, label=label, score=scores, by=by, time=time, values=values, one_series=options.one_series
        )
        several = len(options.score) > 1 or options.score[0] not in table
        seen: set[tuple[str, str]] = set()
        clocks: dict[int, Times] = {}  # columns of scores of one group share their time stamps
        for part in parts:
            keys = {name: given[name] if name in given else part.keys[name] for name in options.columns}
            series, detector = (
                own or of_path for own, of_path in zip(self.names_of(keys), self.path_names, strict=True)
            )
            if several or not detector:
                detector = "/".join(filter(None, [detector, part.score]))
            if (series, detector) in seen:
                raise two_scorings(series, detector, table.source)
            seen.add((series, detector))
            where: dict[str, Any] = {"place": table.source, "column": part.score, "file": self.of_file.get("file", "")}
            one = Given(series, detector, part.labels, part.scores, values=part.values, keys=keys, **where)
            self.companions.ask(one)
            try:
                if part.times is not None and id(part.times) not in clocks:
                    clocks[id(part.times)] = _stamps(table, str(time), part, by, options.tz)
                yield replace(one, times=clocks.get(id(part.times)))
            except InvalidInputError as error:
                yield one.left_out(str(error))


def two_scorings(series: str, detector: str, *places: str) -> InvalidInputError:
    """Build the error of two scorings of the same name."""
    where = " and ".join(dict.fromkeys(filter(None, places)))
    if detector == SCORE and not where:
        return InvalidInputError(f"there are two series named {series!r}: rename one")
    on = f" on series {printable(series)!r}" if series else ""
    return InvalidInputError(
        f"{where}{': ' * bool(where)}there are two scorings of detector {printable(detector)!r}{on}: rename one"
        + ", or add to by= what tells them apart, as a column or 'file'" * bool(where)
    )


def _index_of_times(table: Table, options: Options) -> str | None:
    """Return the index of a data frame of one series, where it holds its times and nothing else was said."""
    if options.time is not None or options.by or len(table.index) != 1:
        return None
    (name,) = table.index
    column = table.columns[name]
    dates = getattr(getattr(column, "dtype", None), "kind", "") == "M"
    return name if dates and column.is_unique and column.is_monotonic_increasing and not column.hasnans else None


def _stamps(table: Table, time: str, part: TableScoring, by: Sequence[str], tz: Any) -> Times:
    """Return the time stamps of a series, checked; messages name the lines of the file."""
    name = table.name(time)
    called = f"column {printable(name)!r}" + (
        f" of {'/'.join(map(printable, part.keys.values()))}" if part.keys else ""
    )
    # Of a column whose type has a time zone the array is in UTC, and does not say so.
    zone = zone_of_column(table, name)
    own = None if zone else tz
    try:
        found = read_times(part.times, name=called, tz=own)
    except InvalidInputError:
        groups = Groups(table, by)
        rows = groups.split(np.arange(table.n), name)[groups.names.index(tuple(part.keys.values()))]
        lines = [line for row in rows.tolist() if (line := line_of(table, row)) is not None]
        found = read_times(part.times, name=Named.of(called, lines or None), tz=own)
    if not zone:
        return found
    return replace(found, kind="dates with a time zone", zone=zone, tz=None if tz is None else find_zone(tz))
