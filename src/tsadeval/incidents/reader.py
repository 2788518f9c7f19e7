"""Reader of incidents (pairs, tables, NAB windows, files) and the columns that assign them to series."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from tsadeval.core.durations import type_of
from tsadeval.core.events import Events
from tsadeval.core.messages import named
from tsadeval.core.names import did_you_mean, is_number, printable
from tsadeval.errors import InputWarning, InvalidInputError, UnknownNameError, hint, warn
from tsadeval.tables.columns import NULLS, is_missing, python_values
from tsadeval.tables.reading import read_table
from tsadeval.tables.sources import read_source, size_limit, user_path
from tsadeval.tables.table import line_of, moments_of

# Names under which the two ends are found in tables, in this order.
END_COLUMNS = (("start", "stop"), ("start", "end"), ("begin", "end"), ("StartTime", "EndTime"))


class IncidentTable(NamedTuple):
    """Starts and stops of incidents as they were given, and how to name them in messages."""

    starts: list[Any]
    stops: list[Any]
    name: str = "incidents"
    windows: bool = False  # of the Numenta benchmark, whose ends are inclusive
    columns: tuple[str, str] = ("start", "stop")
    lines: Sequence[int] | None = None  # where they are in a file
    others: Mapping[str, Sequence[Any]] = {}  # the other columns

    def place(self, row: int) -> str:
        """Where an incident is, for messages."""
        return f"row {row}" if self.lines is None else f"line {self.lines[row]}"

    def places(self, rows: Sequence[int]) -> str:
        """Where the first three of some incidents are, and how many more there are."""
        return ", ".join(map(self.place, rows[:3])) + f" and {len(rows) - 3} more" * (len(rows) > 3)

    def at_rows(self, rows: Sequence[int]) -> Self:
        """Return some of the incidents."""
        return self._replace(
            starts=[self.starts[row] for row in rows],
            stops=[self.stops[row] for row in rows],
            lines=None if self.lines is None else [self.lines[row] for row in rows],
            others={name: [values[row] for row in rows] for name, values in self.others.items()},
        )


class Asked(NamedTuple):
    """Which incidents of a table, and in which columns its ends are."""

    key: str | None = None
    columns: tuple[str, str] | None = None
    by: str | Sequence[str] | None = None
    name: str = "incidents"  # what messages call those that are in no file


def read_incidents(incidents: Any, asked: Asked) -> IncidentTable:
    """Read incidents from pairs, a table, a mapping of windows or a file."""
    if isinstance(incidents, IncidentTable):
        return incidents
    if isinstance(incidents, Events):
        raise InvalidInputError("incidents are events in points already: use their mask()")
    if isinstance(incidents, (str, Path)) and is_json(incidents):
        return _of_json(read_json(incidents), asked, printable(incidents))
    if isinstance(incidents, (str, Path)) or hasattr(incidents, "columns"):
        return _of_series(_read_table(incidents, asked.columns, asked.name), asked)
    return _of_json(incidents, asked, asked.name)


def is_json(path: str | Path) -> bool:
    """Tell by its name whether a file holds pairs, columns or windows as json."""
    return str(path).lower().removesuffix(".gz").endswith(".json")


def _read_table(source: Any, columns: tuple[str, str] | None, name: str) -> IncidentTable:
    """Read all intervals of a file, data frame or mapping of columns; columns of a text file stay text ("01")."""
    if isinstance(source, Mapping):
        some = {str(c): v for c, v in source.items() if isinstance(v, Iterable) and not isinstance(v, str)}
        source = {c: list(v) if type_of(v) is None else v for c, v in some.items()}
    table = read_table(source, text=None, empty=True)
    name = table.source if isinstance(source, (str, Path)) else name
    ends = _ends(table.columns, columns, name)
    starts, stops = (_numbers(moments_of(table, column)) for column in ends)
    if len(starts) != len(stops):
        raise InvalidInputError(f"{name} must have as many values in {ends[0]} as in {ends[1]}")
    values = {column: python_values(found) for column, found in table.columns.items() if column not in ends}
    others = {column: found for column, found in values.items() if len(found) == len(starts)}
    first = line_of(table, 0)
    lines = None if first is None else range(first, first + len(starts))
    return IncidentTable(starts, stops, name, columns=ends, lines=lines, others=others)


def _ends(table: Mapping[str, Any], wanted: tuple[str, str] | None, name: str) -> tuple[str, str]:
    """Find the columns of starts and stops."""
    ends = wanted or next((pair for pair in END_COLUMNS if all(column in table for column in pair)), None)
    if ends is None or any(column not in table for column in ends):
        names, found = " and ".join(ends or ("start", "stop")), ", ".join(map(printable, table)) or "none"
        how = hint("pass columns=(start, stop)", "rename them")
        raise InvalidInputError(f"{name}: expected columns {names}, found {found}; {how}")
    return ends


def is_table(incidents: Mapping[Any, Any]) -> bool:
    """Return True if a mapping is a table with columns of starts and stops, not a mapping by series."""
    return any(start in incidents and stop in incidents for start, stop in END_COLUMNS)


def _read_pairs(incidents: Any, name: str, windows: bool = False) -> IncidentTable:
    try:
        rows = [row if isinstance(row, str) else tuple(row) for row in incidents]
    except TypeError:
        raise InvalidInputError(
            f"{name} must be pairs (start, stop), a DataFrame, a mapping or a path, but are {type(incidents).__name__}"
        ) from None
    for number, row in enumerate(rows):
        if len(row) != 2 or isinstance(row, str):
            raise InvalidInputError(f"{name}: row {number} must be a pair (start, stop), but is {row!r}")
    return IncidentTable([row[0] for row in rows], [row[1] for row in rows], name, windows)


def read_windows(windows: Mapping[str, Any], key: str | None, name: str) -> IncidentTable:
    """Read the windows of one series, as the Numenta benchmark has them; of a single series it need not be named."""
    if key is None:
        if len(windows) != 1:
            how = hint("key=", "--by")
            raise InvalidInputError(f"{name} has windows of {len(windows)} series: say which with {how}")
        key = next(iter(windows))
    if key not in windows:
        raise UnknownNameError(f"{name} has no windows of {key!r}: {did_you_mean(key, list(windows))}")
    return _read_pairs(windows[key], f"{name} of {key}", windows=True)


def read_json(path: str | Path) -> Any:
    """Read a json file within the limits of size."""
    content = read_source(user_path(path), size_limit())
    try:
        return json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{printable(path)} cannot be read: {error}") from None


def _of_json(found: Any, asked: Asked, name: str) -> IncidentTable:
    """Read incidents from pairs, or from a mapping of columns or windows."""
    if not isinstance(found, Mapping):
        return _read_pairs(found, name)
    windows = asked.columns is None and all(isinstance(k, str) for k in found) and not is_table(found)
    if windows:
        return read_windows(found, asked.key, name)
    return _of_series(_read_table(found, asked.columns, name), asked)


def _numbers(cells: list[Any]) -> list[Any]:
    """Read cells of a file as numbers, where all of them are: integers if they can, which may be nanoseconds."""
    if all(isinstance(cell, str) for cell in cells):
        for kind in (int, float):
            with suppress(ValueError):
                return [kind(cell) if cell.strip() else None for cell in cells]
    return cells


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Columns of these names say to which series, machine or place an incident belongs.
_OWNERS = _words(
    "series series_id unique_id item_id server servername host hostname node machine machine_id device device_id "
    "sensor sensor_id instance pod container asset asset_id turbine pump engine entity station site line plant cluster "
    "vm channel file filename dataset"
)
# Columns of these names describe an incident, whatever the number of their values.
SEVERITIES = _words("severity priority impact level urgency criticality")
KINDS = _words("kind type category")
_ATTRIBUTES = (
    SEVERITIES
    | KINDS
    | _words(
        "id ticket incident incident_id number label class status state description summary title "
        "name comment comments note notes text message cause root_cause reason owner team assignee reporter author "
        "source url link tags tag resolution duration detected_by"
    )
)
_SHOWN = 3


def _word(column: str) -> str:
    return column.strip().lower().replace(" ", "_")


FOR_ALL = ""  # the owner of incidents of all series


def owner_text(value: Any) -> str:
    """Return the name of the series that an incident belongs to; none, or "*", is all of them."""
    return FOR_ALL if is_missing(value) or str(value).strip() in {*NULLS, "*"} else str(value).strip()


def owner_columns(table: Mapping[str, Sequence[Any]], ends: Sequence[str]) -> tuple[list[str], list[str]]:
    """Columns that are named as those of series are and have several values; and others that may tell series apart.

    The latter hold texts of which some, but not all, repeat, and have no name as "severity" or "description".
    """
    certain, doubtful = [], []
    for column, given in table.items():
        word = _word(column)
        values = [text for text in _texts(given) if text != "*"]
        different = len(set(values))
        if column in ends or word in _ATTRIBUTES or different < 2:
            continue
        if word in _OWNERS:
            certain.append(column)
        elif different < len(values) and not all(map(is_number, values)):
            doubtful.append(column)
    return certain, doubtful


def doubt_owners(
    table: Mapping[str, Sequence[Any]], certain: list[str], doubtful: list[str], name: str, way: Callable[[str], str]
) -> list[str]:
    """Refuse intervals if a column certainly tells several series apart, and return what to say if one only may.

    `way` says of a column what to do.
    """
    for column in [*certain, *doubtful][:1]:
        values = named(list(dict.fromkeys(map(printable, _texts(table[column])))), _SHOWN)
        what = f"{name}: column {printable(column)!r} has several values ({values})"
        if column in certain:
            raise InvalidInputError(f"{what}, so these are intervals of several series: {way(column)}")
        return [f"{what}; all of them hold here: if it tells series apart, {way(column)}"]
    return []


def _of_series(incidents: IncidentTable, asked: Asked) -> IncidentTable:
    """Take those of the series that is asked for; all where no column tells several series apart or `by` is empty."""
    by, name, ends = asked.by, incidents.name, incidents.columns
    if by is not None and not isinstance(by, str):
        if len(by):
            raise InvalidInputError(f"by must be the name of one column, or () for none, but is {by!r}")
        return incidents
    table = {ends[0]: incidents.starts, ends[1]: incidents.stops, **incidents.others}
    if by is not None and by not in table:
        raise UnknownNameError(f"{name} has no column {printable(by)!r}: {did_you_mean(by, list(table))}")
    certain, doubtful = owner_columns(table, ends) if by is None else ([by], [])
    if asked.key is None:

        def way(column: str) -> str:
            first = next(iter(_texts(table[column])))
            return f"take those of one with key={first!r}, or pass by=() where all belong to these time stamps"

        for line in doubt_owners(table, certain, doubtful, name, way):
            warn(line, InputWarning)
        return incidents
    key = str(asked.key)  # series may have numbers
    tried = [*certain, *doubtful] or list(incidents.others)
    for column in tried:
        texts = list(map(owner_text, table[column]))
        if key in texts:
            return incidents.at_rows([row for row, text in enumerate(texts) if text in (key, FOR_ALL)])
    known = list(dict.fromkeys(value for column in tried for value in _texts(table[column])))
    owners = [column for column in table if column == by or _word(column) in _OWNERS]
    if not owners:
        raise UnknownNameError(f"{name} has no incidents of {printable(key)!r}: {did_you_mean(key, known)}")
    what = f"{name} has no incidents of {printable(key)!r} alone, so its labels are 0 but for those of all series"
    warn(f"{what}: {did_you_mean(key, known)}", InputWarning)
    rows = [row for row, value in enumerate(table[owners[0]]) if owner_text(value) == FOR_ALL]
    return incidents.at_rows(rows)


def _texts(values: Sequence[Any]) -> list[str]:
    """Return the values that are there, as text."""
    return [text for value in values if value is not None and value == value and (text := str(value).strip())]
