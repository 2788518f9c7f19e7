"""Reader of incidents (pairs, tables, NAB windows, files) and the columns that assign them to series."""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tsadeval.core.events import Events
from tsadeval.core.names import did_you_mean, is_number, printable
from tsadeval.errors import InputWarning, InvalidInputError, TsadevalError, UnknownNameError, warn

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

    def at_rows(self, rows: Sequence[int]) -> IncidentTable:
        """Some of the incidents."""
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


def read_incidents(incidents: Any, asked: Asked) -> IncidentTable:
    """Incidents from pairs, a table, a mapping of windows or a file."""
    if isinstance(incidents, IncidentTable):
        return incidents
    if isinstance(incidents, Events):
        raise InvalidInputError("incidents are events in points already: use their mask()")
    if isinstance(incidents, (str, Path)):
        return _read_file(Path(incidents), asked)
    if hasattr(incidents, "columns") and hasattr(incidents, "__getitem__"):
        return _read_table({str(c): list(incidents[c]) for c in incidents.columns}, asked, "incidents")
    if isinstance(incidents, Mapping):
        if asked.columns is None and all(isinstance(k, str) for k in incidents) and not is_table(incidents):
            return _read_windows(incidents, asked.key, "incidents")
        return _read_table({str(k): list(v) for k, v in incidents.items()}, asked, "incidents")
    return _read_pairs(incidents, "incidents")


def is_table(incidents: Mapping[Any, Any]) -> bool:
    """Return True if a mapping is a table with columns of starts and stops, not a mapping by series."""
    return any(start in incidents and stop in incidents for start, stop in END_COLUMNS)


def _read_pairs(incidents: Any, name: str, windows: bool = False) -> IncidentTable:
    try:
        given = list(incidents)
        rows = [tuple(row) for row in given]
    except TypeError:
        raise InvalidInputError(
            f"{name} must be pairs (start, stop), a DataFrame, a mapping or a path, but are {type(incidents).__name__}"
        ) from None
    for number, row in enumerate(rows):
        if len(row) != 2 or isinstance(given[number], str):
            raise InvalidInputError(f"{name}: row {number} must be a pair (start, stop), but is {given[number]!r}")
    return IncidentTable([row[0] for row in rows], [row[1] for row in rows], name, windows)


def _read_table(table: dict[str, list[Any]], asked: Asked, name: str, lines: list[int] | None = None) -> IncidentTable:
    wanted = asked.columns
    if wanted is None:
        wanted = next((pair for pair in END_COLUMNS if all(column in table for column in pair)), None)
    if wanted is None or any(column not in table for column in wanted):
        names = " and ".join(wanted or ("start", "stop"))
        raise InvalidInputError(
            f"{name} must have columns {names}, but has {', '.join(table) or 'none'}; pass columns=(start, stop)"
        )
    starts, stops = (table[column] for column in wanted)
    if not isinstance(starts, list) or not isinstance(stops, list) or len(starts) != len(stops):
        raise InvalidInputError(f"{name} must have as many values in {wanted[0]} as in {wanted[1]}, each a list")
    complete = {c: v for c, v in table.items() if isinstance(v, list) and len(v) == len(starts)}
    others = {column: values for column, values in complete.items() if column not in wanted}
    found = IncidentTable(starts, stops, name, columns=wanted, lines=lines, others=others)
    rows = rows_of_key(complete, wanted, asked.key, asked.by, name)
    return found if rows is None else found.at_rows(rows)


def _read_windows(windows: Mapping[str, Any], key: str | None, name: str) -> IncidentTable:
    if key is None:
        if len(windows) != 1:
            raise InvalidInputError(
                f"{name} has windows of {len(windows)} series: say which with key= (on the command line, --by)"
            )
        key = next(iter(windows))
    if key not in windows:
        raise UnknownNameError(f"{name} has no windows of {key!r}: {did_you_mean(key, list(windows))}")
    return _read_pairs(windows[key], f"{name} of {key}", windows=True)


def _read_file(path: Path, asked: Asked) -> IncidentTable:
    if not path.exists():
        raise InvalidInputError(f"there is no file {path}")
    opened: Any = gzip.open if path.suffix == ".gz" else open
    endings = [suffix for suffix in path.suffixes if suffix != ".gz"]
    ending = endings[-1] if endings else ""
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
            if ending == ".json":
                return _read_json(json.load(file), asked, str(path))
            return _read_csv(csv.reader(file, delimiter="\t" if ending == ".tsv" else ","), asked, path)
    except TsadevalError:
        raise
    except (OSError, EOFError, ValueError, RecursionError, csv.Error, zlib.error) as error:
        raise InvalidInputError(f"{path} cannot be read: {error}") from None


def _read_json(found: Any, asked: Asked, name: str) -> IncidentTable:
    if not isinstance(found, dict):
        return _read_pairs(found, name)
    return (
        _read_table(found, asked, name) if asked.columns or is_table(found) else _read_windows(found, asked.key, name)
    )


def _read_csv(reader: Any, asked: Asked, path: Path) -> IncidentTable:
    rows = (row for row in reader if row)
    head: list[str] = next(rows, [])
    table: dict[str, list[Any]] = {column.strip(): [] for column in head}
    lines = []
    for row in rows:
        if len(row) != len(head):
            raise InvalidInputError(
                f"{path}: line {reader.line_num} has {len(row)} cells, but the head has {len(head)}"
            )
        lines.append(reader.line_num)
        for column, cell in zip(table, row, strict=True):
            table[column].append(cell.strip())
    found = _read_table(table, asked, str(path), lines)
    return found._replace(starts=_numbers(found.starts), stops=_numbers(found.stops))


def _numbers(cells: list[str]) -> list[Any]:
    """Cells of a file as numbers, where all of them are: integers if they can, which may be nanoseconds."""
    for kind in (int, float):
        with suppress(ValueError):
            return [kind(cell) for cell in cells]
    return list(cells)


# Assign incidents to series by the columns that name them.


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
_ATTRIBUTES = SEVERITIES | _words(
    "id ticket incident incident_id number label kind type category class status state description summary title name "
    "comment comments note notes text message cause root_cause reason owner team assignee reporter author source url "
    "link tags tag resolution duration detected_by"
)
_SHOWN = 3


def owner_columns(table: Mapping[str, Sequence[Any]], ends: Sequence[str]) -> tuple[list[str], list[str]]:
    """Columns that are named as those of series are and have several values; and others that may tell series apart.

    The latter hold texts of which some, but not all, repeat, and have no name as "severity" or "description".
    """
    named, doubtful = [], []
    for column, given in table.items():
        word = column.strip().lower().replace(" ", "_")
        values = _texts(given)
        different = len(set(values))
        if column in ends or word in _ATTRIBUTES or different < 2:
            continue
        if word in _OWNERS:
            named.append(column)
        elif different < len(values) and not all(map(is_number, values)):
            doubtful.append(column)
    return named, doubtful


def values_shown(values: Sequence[Any]) -> str:
    """Some of the values of a column, and how many there are."""
    found = list(dict.fromkeys(_texts(values)))
    more = f", ... ({len(found)} in all)" if len(found) > _SHOWN else ""
    return ", ".join(map(printable, found[:_SHOWN])) + more


def rows_of_key(
    table: Mapping[str, Sequence[Any]], ends: Sequence[str], key: str | None, by: str | Sequence[str] | None, name: str
) -> list[int] | None:
    """The rows of one series; None for all of them, where no column tells several series apart or `by` is empty."""
    if by is not None and not isinstance(by, str):
        if len(by):
            raise InvalidInputError(f"by must be the name of one column, or () for none, but is {by!r}")
        return None
    if isinstance(by, str) and by not in table:
        raise UnknownNameError(f"{name} has no column {printable(by)!r}: {did_you_mean(by, list(table))}")
    named, doubtful = owner_columns(table, ends)
    if key is None:
        _refuse_several(table, [by] if isinstance(by, str) else named, doubtful, name)
        return None
    key = str(key)  # series may have numbers
    tried = [by] if isinstance(by, str) else [*named, *doubtful]
    tried = tried or [column for column in table if column not in ends]
    for column in tried:
        found = [row for row, value in enumerate(table[column]) if str(value).strip() == key]
        if found:
            return found
    known = list(dict.fromkeys(value for column in tried for value in _texts(table[column])))
    raise UnknownNameError(
        f"{name} has no incidents of {printable(key)!r}: {did_you_mean(key, known)} (a series without any has labels "
        "of 0: pass [])"
    )


def _refuse_several(table: Mapping[str, Sequence[Any]], named: list[str], doubtful: list[str], name: str) -> None:
    for column in [*named, *doubtful][:1]:
        values = values_shown(table[column])
        first = next(iter(_texts(table[column])), "")
        what = f"{name}: column {printable(column)!r} has several values ({values})"
        way = f"take those of one with key={first!r}, or pass by=() where all belong to these time stamps"
        if column in named:
            raise InvalidInputError(f"{what}, so these are incidents of several series: {way}")
        warn(f"{what}: if it tells series apart, {way}", InputWarning)


def _texts(values: Sequence[Any]) -> list[str]:
    """The values that are there, as text."""
    return [text for value in values if value is not None and value == value and (text := str(value).strip())]
