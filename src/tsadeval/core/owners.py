"""Whose incidents are these? The columns of a table of incidents that tell the incidents of several series apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tsadeval.core.printable import printable
from tsadeval.core.registry import did_you_mean
from tsadeval.core.text import is_number
from tsadeval.errors import InputWarning, InvalidInputError, UnknownNameError, warn

__all__ = ["SEVERITIES", "owner_columns", "rows_of_key", "values_shown"]


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
