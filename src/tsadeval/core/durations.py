"""Durations, units of time, rates and time zones: whole nanoseconds, naive times as UTC, the hour that comes twice."""

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from fractions import Fraction
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tsadeval.core.events import Index
from tsadeval.core.names import did_you_mean, printable, quoted
from tsadeval.errors import InvalidInputError, InvalidParameterError

SECOND = 1_000_000_000
_UNITS = {
    SECOND // 10**9: ("ns", "nanosecond", "nanoseconds"),
    SECOND // 10**6: ("us", "µs", "microsecond", "microseconds"),
    SECOND // 10**3: ("ms", "millisecond", "milliseconds"),
    SECOND: ("s", "sec", "second", "seconds"),
    60 * SECOND: ("min", "minute", "minutes"),
    3600 * SECOND: ("h", "hour", "hours"),
    86400 * SECOND: ("d", "D", "day", "days"),
    7 * 86400 * SECOND: ("w", "W", "week", "weeks"),
    365 * 86400 * SECOND: ("year", "years"),
}
UNITS = {name: size for size, names in _UNITS.items() for name in names}

_PART = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-zµ]+)\s*")
_LONGEST = 100  # letters of a duration: longer ones take long to search, and Python refuses to read their digits
_RATE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(?:/|\bper\b)\s*(.+?)\s*")


def unit_size(unit: str) -> int:
    """Nanoseconds of a unit of time."""
    if not isinstance(unit, str) or unit not in UNITS:
        raise InvalidParameterError(
            f"unit must be a unit of time (ns, us, ms, s, min, h, day, week or year), but is {quoted(unit)}"
        )
    return UNITS[unit]


def nanoseconds(duration: Any, name: str = "duration") -> int:
    """Return a duration as whole nanoseconds: "30min", "1h 30min", a timedelta, a Timedelta, or a number of seconds."""
    found = read_duration(duration)
    if found is None:
        raise InvalidParameterError(
            f"{name} must be a duration such as '30min', '1h 30min', a timedelta or a number of seconds, "
            f"but is {quoted(duration)}"
        )
    if not 0 <= found < 2**63:
        what = "negative" if found < 0 else "longer than 292 years"
        raise InvalidParameterError(f"{name} must be between 0 and 292 years, but {quoted(duration)} is {what}")
    return found


def span_size(span: Any) -> int | None:
    """Nanoseconds of a text that is a duration ("30min") or a unit ("week"); None of anything else."""
    if not isinstance(span, str):
        return None
    size = UNITS.get(span, read_duration(span))
    return size if size is not None and 0 < size < 2**63 else None


def read_duration(value: Any) -> int | None:
    """Nanoseconds, or None where the value is no duration."""
    if isinstance(value, str):
        if len(value) > _LONGEST:
            return None
        parts = list(_PART.finditer(value))
        whole = bool(parts) and "".join(part.group() for part in parts) == value
        if not whole or any(part.group(2) not in UNITS for part in parts):
            return None
        # Fractions: "0.1s" is exactly 100,000,000 nanoseconds.
        return round(sum(Fraction(part.group(1)) * UNITS[part.group(2)] for part in parts))
    if isinstance(value, (np.timedelta64, timedelta)) and value != value:  # NaT of NumPy and pandas
        return None
    if isinstance(value, np.timedelta64):
        return int(value.astype("timedelta64[ns]").astype(np.int64)) if fits(value) else 2**63
    if isinstance(value, timedelta):
        exact = getattr(value, "value", None)  # pandas' Timedelta counts nanoseconds, the base class microseconds
        return int(exact) if exact is not None else timedelta_size(value)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        return None
    if isinstance(value, Integral):
        return int(value) * SECOND
    return round(float(value) * SECOND) if math.isfinite(value) else None


def duration_text(size: int) -> str:
    """Return a duration as people say it, in its two largest units.

    >>> [duration_text(nanoseconds(one)) for one in ("14min", "26h 10s", "90s", "1.5s", "0s")]
    ['14 min', '1 d 2 h', '1 min 30 s', '1.5 s', '0 s']
    """
    at = next((i for i, name in enumerate(_SHOWN) if size >= UNITS[name]), _SHOWN.index("s"))
    count, rest = divmod(size, UNITS[_SHOWN[at]])
    if UNITS[_SHOWN[at]] <= SECOND:
        return f"{size / UNITS[_SHOWN[at]]:.3g} {_SHOWN[at]}"
    smaller = rest // UNITS[_SHOWN[at + 1]]
    return f"{count} {_SHOWN[at]}" + (f" {smaller} {_SHOWN[at + 1]}" if smaller else "")


_SHOWN = ("d", "h", "min", "s", "ms", "us", "ns")


def fits(durations: NDArray[Any] | np.timedelta64) -> NDArray[np.bool_]:
    """Which durations nanoseconds in 64 bits can hold; NumPy says nothing where they cannot."""
    return np.asarray(np.abs(durations / np.timedelta64(1, "s")) < 2.0**63 / SECOND)


def timedelta_size(value: timedelta) -> int:
    """Nanoseconds of a duration of the standard library."""
    return ((value.days * 86400 + value.seconds) * 10**6 + value.microseconds) * 1000


def rate_of(text: Any, name: str = "rate") -> float:
    """Read a rate written "1/week", "0.5 per hour" or "3/30min", as how many a nanosecond."""
    match = _RATE.fullmatch(text) if isinstance(text, str) else None
    per = span_size(match.group(2)) if match else None
    if match is None or per is None:
        raise InvalidParameterError(f"{name} must be a rate such as '1/week' or '0.5 per hour', but is {quoted(text)}")
    return float(match.group(1)) / per


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


OFFSET = re.compile(r"[+-](\d\d):?(\d\d)$", re.ASCII)


def type_of(values: Any) -> Any:
    """Return the type of the values of a column, which arrays of Arrow do not call dtype; None where it has none."""
    return getattr(values, "dtype", getattr(values, "type", None))


def zone_of(dtype: Any) -> str:
    """Return the time zone that a type of pandas, polars or Arrow names, "" for none."""
    zone = str(getattr(dtype, "tz", None) or getattr(dtype, "time_zone", None) or "")
    offset = OFFSET.search(zone)
    if offset is not None and (offset[1] > "23" or offset[2] > "59"):
        raise InvalidInputError(f"there is no time zone {printable(zone)!r}: offsets are less than 24 hours")
    return zone
