"""Time zones: naive times as UTC, and the hour that comes twice where clocks go back."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tsadeval.core.durations import UNITS, timedelta_size
from tsadeval.core.events import Index
from tsadeval.core.names import did_you_mean, printable
from tsadeval.errors import InvalidInputError, InvalidParameterError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HOUR, _DAY = UNITS["h"], UNITS["d"]


def find_zone(given: Any) -> tzinfo:
    """Return the time zone of a name ("Europe/Berlin"), an offset ("+02:00"), or a tzinfo as it is."""
    from zoneinfo import ZoneInfo, available_timezones  # looks for files when it is imported

    if isinstance(given, tzinfo):
        return given
    text = str(given)
    try:
        if text.removeprefix("UTC")[:1] in ("+", "-"):
            return datetime.fromisoformat(f"2000-01-01T00:00{text.removeprefix('UTC')}").tzinfo or UTC
        return UTC if text in ("Z", "UTC") else ZoneInfo(text)
    except (ValueError, OSError, KeyError):  # of names that are no file's, or of no zone
        near = did_you_mean(text, sorted(available_timezones()), 3)
        raise InvalidParameterError(
            f"tz must be a time zone such as Europe/Berlin, not {printable(text)!r}: {near}"
        ) from None


class Readings(NamedTuple):
    """Naive times as UTC, in nanoseconds: before and after clocks went back, which differ in the hour that is twice."""

    first: Index
    second: Index
    fold: Index  # the number of the change of clocks
    missing: Any  # which times are skipped where clocks go forward

    @classmethod
    def of(cls, naive: Index, zone: tzinfo) -> "Readings":
        """Read times in the time of a place."""
        at, offsets = (
            _changes(zone, int(naive.min()), int(naive.max())) if len(naive) else (naive, np.zeros(1, np.int64))
        )
        first = np.searchsorted(at + offsets[:-1], naive, side="right")
        second = np.searchsorted(at + offsets[1:], naive, side="right")
        return cls(naive - offsets[first], naive - offsets[second], first, second < first)


def _changes(zone: tzinfo, low: int, high: int) -> tuple[Index, Index]:
    """Return when the offset of a zone changes, in UTC, and the offsets before, between and after these moments."""

    def offset(seconds: int) -> int:
        found = (_EPOCH + timedelta(seconds=seconds)).astimezone(zone).utcoffset()
        return timedelta_size(found or timedelta(0))

    day = _DAY // UNITS["s"]
    days = range((low // _DAY - 2) * day, (high // _DAY + 4) * day, day)
    found = [offset(days[0])]
    at = []
    for before, after in pairwise(days):
        last = offset(after)
        if last != found[-1]:
            while after - before > 1:
                middle = (before + after) // 2
                before, after = (middle, after) if offset(middle) == found[-1] else (before, middle)
            at.append(after * UNITS["s"])
            found.append(last)
    return np.array(at, np.int64), np.array(found, np.int64)


def in_order(naive: Index, zone: tzinfo, name: str, place: Callable[[Any], str]) -> Index:
    """Return the times of the points of a series as UTC; their order says which of two hours it is, else an error.

    Where a time does not go on within the hour, the second one begins; of data that begin or end in it, or that have a
    gap on one side, it is the one that goes on without a gap.
    """
    found = Readings.of(naive, zone)
    refuse_missing_hour(found, zone, name, place)
    utc, twice = found.first.copy(), found.first != found.second
    steps = np.diff(naive)
    step = np.median(steps[steps > 0]) if np.any(steps > 0) else 0
    for fold in np.unique(found.fold[twice]).tolist():
        rows = np.flatnonzero(twice & (found.fold == fold))
        again = np.flatnonzero(np.diff(naive[rows]) <= 0)
        goes_on = [
            a >= 0 and b < len(naive) and naive[b] - naive[a] <= 2 * step
            for a, b in ((rows[0] - 1, rows[0]), (rows[-1], rows[-1] + 1))
        ]
        if len(again):
            rows = rows[again[0] + 1 :]
        elif goes_on == [True, False]:
            continue
        elif goes_on != [False, True]:
            raise doubled(name, place([rows[0]]), zone)
        utc[rows] = found.second[rows]
    return utc


def refuse_missing_hour(found: Readings, zone: tzinfo, name: str, place: Callable[[Any], str]) -> None:
    """Refuse times at which no clock of the zone stood."""
    rows = np.flatnonzero(found.missing)
    if len(rows):
        raise InvalidInputError(
            f"{name}: {place(rows)} is an hour that {zone} skips, where clocks went forward: give the zone of the times"
        )


def doubled(name: str, where: str, zone: Any) -> InvalidInputError:
    """Make the error of a time in the hour that comes twice."""
    return InvalidInputError(
        f"{name}: {where} comes twice in {zone}, where clocks went back: give offsets, such as 2025-10-26 02:30+01:00"
    )
