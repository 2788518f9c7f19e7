"""Time stamps, durations and rates: what callers give, checked and converted to whole nanoseconds in one place.

Metrics and kernels count points. Where time stamps are given, the conversion happens here: a point stands for the
time from its stamp to the next one, and a duration such as "30min" is compared with differences of stamps.
Nanoseconds in 64-bit integers are exact, so the unit in which a caller writes a duration cannot change a result.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, timezone
from fractions import Fraction
from functools import cached_property
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tsadeval._optional import require
from tsadeval.core.events import Index
from tsadeval.errors import InvalidInputError, InvalidParameterError

__all__ = ["Rate", "Times", "times"]

Kind = Literal["dates", "dates with a time zone", "numbers"]

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
}
UNITS = {name: size for size, names in _UNITS.items() for name in names}

_PART = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-zµ]+)\s*")
_RATE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(?:/|\bper\b)\s*(.+?)\s*")
_DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)\s*(Z|[+-]\d\d:?\d\d)?)?")
_EPOCH = datetime(1970, 1, 1)
_DATES = (np.datetime64("1677-09-22", "s"), np.datetime64("2262-04-11", "s"))  # what nanoseconds in 64 bits reach


def unit_size(unit: str, name: str = "unit") -> int:
    """Nanoseconds of a unit of time.

    >>> unit_size("min")
    60000000000
    """
    if not isinstance(unit, str) or unit not in UNITS:
        raise InvalidParameterError(
            f"{name} must be a unit of time (ns, us, ms, s, min, h, day or week), but is {unit!r}"
        )
    return UNITS[unit]


def nanoseconds(duration: Any, name: str = "duration") -> int:
    """A duration as whole nanoseconds: "30min", "1h 30min", a timedelta, a Timedelta, or a number of seconds.

    >>> nanoseconds("1h 30min") == nanoseconds(5400) == nanoseconds(timedelta(minutes=90))
    True
    """
    found = _duration(duration)
    if found is None:
        raise InvalidParameterError(
            f"{name} must be a duration such as '30min', '1h 30min', a timedelta or a number of seconds, "
            f"but is {duration!r}"
        )
    if not 0 <= found < 2**63:
        what = "negative" if found < 0 else "longer than 292 years"
        raise InvalidParameterError(f"{name} must be between 0 and 292 years, but {duration!r} is {what}")
    return found


def span_size(span: Any) -> int | None:
    """Nanoseconds of a text that is a duration ("30min") or a unit ("week"); None of anything else.

    >>> span_size("week") == span_size("7 days")
    True
    """
    if not isinstance(span, str):
        return None
    size = UNITS.get(span, _duration(span))
    return size if size is not None and 0 < size < 2**63 else None


def _duration(value: Any) -> int | None:
    """Nanoseconds, or None where the value is no duration."""
    if isinstance(value, str):
        parts = list(_PART.finditer(value))
        whole = bool(parts) and "".join(part.group() for part in parts) == value
        if not whole or any(part.group(2) not in UNITS for part in parts):
            return None
        # Fractions: "0.1s" is exactly 100,000,000 nanoseconds.
        return round(sum(Fraction(part.group(1)) * UNITS[part.group(2)] for part in parts))
    if isinstance(value, np.timedelta64):
        if np.isnat(value):
            return None
        if not _fits(np.array([value])).all():
            return 2**63
        return int(value.astype("timedelta64[ns]").astype(np.int64))
    if isinstance(value, timedelta):
        if value != value:  # NaT of pandas
            return None
        exact = getattr(value, "value", None)  # pandas' Timedelta counts nanoseconds, the base class microseconds
        return int(exact) if exact is not None else _of_timedelta(value)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real) or not math.isfinite(value):
        return None
    return int(value) * SECOND if isinstance(value, Integral) else round(float(value) * SECOND)


def _fits(durations: NDArray[Any]) -> NDArray[np.bool_]:
    """Which durations nanoseconds in 64 bits can hold; NumPy says nothing where they cannot."""
    return np.asarray(np.abs(durations / np.timedelta64(1, "s")) < 2.0**63 / SECOND)


def _of_timedelta(value: timedelta) -> int:
    return ((value.days * 86400 + value.seconds) * 10**6 + value.microseconds) * 1000


class Rate(NamedTuple):
    """So many in so much time.

    >>> rate_of("1/week").per_nanosecond * UNITS["week"]
    1.0
    """

    number: float
    per: int  # nanoseconds

    @property
    def per_nanosecond(self) -> float:
        """How many a nanosecond."""
        return self.number / self.per


def rate_of(text: Any, name: str = "rate") -> Rate:
    """A rate written "1/week", "0.5 per hour" or "3/30min".

    >>> rate_of("3 per 30min")
    Rate(number=3.0, per=1800000000000)
    """
    match = _RATE.fullmatch(text) if isinstance(text, str) else None
    per = None
    if match:
        words = match.group(2)
        per = UNITS.get(words, _duration(words))
    if match is None or not per:
        raise InvalidParameterError(f"{name} must be a rate such as '1/week' or '0.5 per hour', but is {text!r}")
    return Rate(float(match.group(1)), per)


@dataclass(frozen=True, eq=False)
class Times:
    """Checked time stamps of the points of a series: increasing, all different.

    `stamps` are nanoseconds, since 1970 (in UTC where a time zone is known) or since the zero of the numbers given.
    """

    stamps: Index
    kind: Kind
    given: NDArray[Any]
    unit: int = SECOND

    def __len__(self) -> int:
        return len(self.stamps)

    @cached_property
    def step(self) -> int:
        """Median time between two stamps; for a single stamp one unit."""
        if len(self) < 2:
            return self.unit
        steps = np.diff(self.stamps)
        return int(np.partition(steps, len(steps) // 2)[len(steps) // 2])

    @cached_property
    def durations(self) -> Index:
        """Time that each point stands for: up to the next stamp; for the last point the median step."""
        return np.diff(self.stamps, append=self.stamps[-1] + self.step)

    @cached_property
    def edges(self) -> Index:
        """The stamps, and the end of the time that the last point stands for."""
        return np.append(self.stamps, self.stamps[-1] + self.step)

    @property
    def total(self) -> int:
        """Time that all points stand for."""
        return int(self.stamps[-1] - self.stamps[0]) + self.step

    def at_points(self, mask: NDArray[np.bool_]) -> Times:
        """The stamps of some of the points."""
        return Times(self.stamps[mask], self.kind, self.given[mask], self.unit)

    def moment(self, stamp: int) -> Any:
        """A time as the caller writes it: a datetime64, a datetime with time zone UTC, or a number."""
        if self.given.dtype.kind == "m":
            return np.timedelta64(stamp, "ns")
        if self.kind == "numbers":
            number = stamp / self.unit
            return int(number) if self.given.dtype.kind in "iu" and stamp % self.unit == 0 else number
        if self.kind == "dates":
            return np.datetime64(stamp, "ns")
        if stamp % 1000:  # finer than the standard library's datetime
            return require("pandas", extra="all").Timestamp(stamp, tz="UTC")
        return _EPOCH.replace(tzinfo=timezone.utc) + timedelta(microseconds=stamp // 1000)

    def at(self, position: int) -> Any:
        """The stamp of a point as the caller gave it."""
        return (
            self.given[position] if self.kind != "dates with a time zone" else self.moment(int(self.stamps[position]))
        )

    def text(self, stamp: int) -> str:
        """A time for messages."""
        return f"{self.moment(stamp)}".removesuffix(".000000000")

    def __repr__(self) -> str:
        ends = f"{self.text(int(self.stamps[0]))} to {self.text(int(self.stamps[-1]))}"
        return f"Times({len(self)} {self.kind}, {ends})"


def times(values: Any, *, unit: str = "s") -> Times:
    """Time stamps of the points of a series, checked: increasing and all different.

    Wherever `times=` is asked for, dates and numbers of seconds can be given as they are. This function is for
    numbers in another unit.

    Parameters
    ----------
    values : array-like of shape (n,)
        datetime64 or datetime objects, a pandas DatetimeIndex or Series, a polars datetime column, ISO 8601 texts,
        or numbers. Stamps may be irregular.
    unit : str, default="s"
        Unit of numbers: "ns", "us", "ms", "s", "min", "h", "day" or "week".

    Returns
    -------
    Times
        Accepted by every `times=`.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.times([0, 250, 500, 1000], unit="ms")
    Times(4 numbers, 0 to 1000)
    >>> te.times(["2026-01-01 00:00", "2026-01-01 00:05", "2026-01-01 00:05"])
    Traceback (most recent call last):
        ...
    tsadeval.errors.InvalidInputError: times must increase, but row 2 (2026-01-01T00:05:00) repeats row 1; drop one
    """
    return read_times(values, unit=unit)


def read_times(values: Any, *, n: int | None = None, unit: str = "s", name: str = "times") -> Times:
    """Checked stamps of `n` points (of any number where None)."""
    if isinstance(values, Times):
        found = values
    else:
        size = unit_size(unit)
        stamps, kind, given = _stamps(values, size, name)
        found = Times(stamps, kind, given, size)
        if len(stamps) == 0:
            raise InvalidInputError(f"{name} is empty: give one time stamp for each point")
    if n is not None and len(found) != n:
        raise InvalidInputError(
            f"{name} has {len(found)} time stamps, but there are {n} points; give one for each point"
        )
    if found is not values:
        _check_order(found, name)
    return found


def _check_order(found: Times, name: str) -> None:
    later = found.stamps[1:] > found.stamps[:-1]
    if later.all():
        return
    row = int(np.argmin(later)) + 1
    stamp, before = int(found.stamps[row]), int(found.stamps[row - 1])
    if stamp == before:
        problem = f"repeats row {row - 1}; drop one"
    else:
        problem = f"is before row {row - 1} ({found.text(before)}); sort labels, scores and times together first"
    raise InvalidInputError(f"{name} must increase, but row {row} ({found.text(stamp)}) {problem}")


def read_utc(values: NDArray[Any]) -> Times:
    """Checked stamps of dates in UTC, read from a column that says its time zone."""
    return replace(read_times(values), kind="dates with a time zone")


def read_moments(values: Sequence[Any], like: Times, name: str) -> Index:
    """Times in any order, as nanoseconds on the scale of some stamps; `name` is what they are called in messages."""
    stamps, kind, _ = _stamps(values, like.unit, name)
    if len(stamps) and kind != like.kind:
        raise InvalidInputError(
            f"{name} are {kind}, but times are {like.kind}: give both in the same form"
            + ("" if "numbers" in (kind, like.kind) else ", e.g. both in UTC without a time zone")
        )
    return stamps


def _stamps(values: Any, unit: int, name: str) -> tuple[Index, Kind, NDArray[Any]]:
    """Nanoseconds, what kind of stamps they are, and the array as given."""
    dtype = getattr(values, "dtype", None)
    zone = getattr(dtype, "tz", None) or getattr(dtype, "time_zone", None)  # pandas, polars
    try:
        # Of pandas' stamps with a time zone NumPy makes UTC, if asked for dates (and Python objects, if not).
        array = np.asarray(values, dtype="datetime64[ns]") if hasattr(dtype, "tz") else np.asarray(values)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{name} cannot be read as an array ({error}); pass one time stamp per point") from None
    if array.ndim != 1:
        raise InvalidInputError(
            f"{name} must be one-dimensional, one time stamp per point, but has shape {array.shape}"
        )
    if array.dtype.kind == "M":
        return _of_dates(array, name), "dates with a time zone" if zone else "dates", array
    if array.dtype.kind == "m":
        _refuse_missing(np.isnat(array), name)
        _refuse_far(~_fits(array), array, name)
        return array.astype("timedelta64[ns]").astype(np.int64), "numbers", array
    if array.dtype.kind in "iuf":
        return _of_numbers(array, unit, name), "numbers", array
    if array.dtype.kind in "OUT" and array.size:
        return *_of_objects(array.tolist(), name), array
    if array.size == 0:
        return np.zeros(0, np.int64), "dates", array
    raise InvalidInputError(f"{name} must be dates or numbers, but has dtype {array.dtype}")


def _refuse_missing(missing: NDArray[np.bool_], name: str) -> None:
    if missing.any():
        raise InvalidInputError(
            f"{name} is missing in row {int(np.argmax(missing))} ({int(missing.sum())} rows in all)"
        )


def _of_dates(array: NDArray[Any], name: str) -> Index:
    _refuse_missing(np.isnat(array), name)
    if np.datetime_data(array.dtype)[0] != "ns" and array.size:
        _refuse_far((array < _DATES[0]) | (array > _DATES[1]), array, name)
    return array.astype("datetime64[ns]").astype(np.int64)


def _refuse_far(outside: Any, values: Any, name: str) -> None:
    """Refuse what nanoseconds in 64 bits cannot hold."""
    if np.any(outside):
        row = int(np.argmax(outside))
        raise InvalidInputError(
            f"{name}: row {row} ({values[row]}) is not between the years 1677 and 2262 (292 years from 1970)"
        )


def _of_numbers(array: NDArray[Any], unit: int, name: str) -> Index:
    if array.dtype.kind == "f":
        _refuse_missing(~np.isfinite(array), name)
    too_large = np.abs(array.astype(np.float64)) * unit >= 2.0**62
    if too_large.any():
        row = int(np.argmax(too_large))
        raise InvalidInputError(
            f"{name}: row {row} ({array[row]}) is more than 146 years in this unit; "
            "for milliseconds since 1970 pass te.times(values, unit='ms')"
        )
    if array.dtype.kind != "f":
        return array.astype(np.int64) * unit
    # Whole units are exact; only what is left of them is rounded.
    whole = np.floor(array)
    return np.asarray(whole.astype(np.int64) * unit + np.rint((array - whole) * unit).astype(np.int64))


def _of_objects(values: list[Any], name: str) -> tuple[Index, Kind]:
    """ISO 8601 texts, datetimes, dates, pandas' Timestamps, numbers: all of one kind."""
    found = [_moment(value) for value in values]
    for row, (value, moment) in enumerate(zip(values, found, strict=True)):
        if moment is None:
            raise InvalidInputError(
                f"{name}: row {row} is {value!r}; write a date such as '2026-01-31 13:05:00' (ISO 8601), "
                "or pass datetime objects or numbers"
            )
        if moment[1] != found[0][1]:  # type: ignore[index]
            raise InvalidInputError(f"{name}: row {row} ({value!r}) and row 0 ({values[0]!r}) are not of the same kind")
    _refuse_far([not -(2**63) < moment[0] < 2**63 for moment in found if moment], values, name)
    return np.array([moment[0] for moment in found if moment], np.int64), found[0][1]  # type: ignore[index]


def _moment(value: Any) -> tuple[int, Kind] | None:
    """Nanoseconds and kind of a single date, None where it is none."""
    if isinstance(value, str):
        match = _DATE.fullmatch(value.strip())
        if match is None:
            return None
        day, clock, zone = match.groups()
        clock, _, fraction = (clock or "00:00").partition(".")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                seconds = int(np.datetime64(f"{day}T{clock}", "s").astype(np.int64))
        except (ValueError, Warning):
            return None
        # Not as nanoseconds from the start: NumPy says nothing where 64 bits cannot hold them.
        stamp = seconds * SECOND + int(fraction.ljust(9, "0"))
        if zone is None:
            return stamp, "dates"
        minutes = 0 if zone == "Z" else int(f"{zone[0]}1") * (int(zone[1:3]) * 60 + int(zone[-2:]))
        return stamp - minutes * UNITS["min"], "dates with a time zone"
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else (int(_of_dates(np.array([value]), "date")[0]), "dates")
    if isinstance(value, datetime):
        if value != value:  # NaT of pandas
            return None
        kind: Kind = "dates" if value.tzinfo is None else "dates with a time zone"
        try:
            exact = getattr(value, "value", None)  # of pandas' Timestamp, in nanoseconds and UTC
        except OverflowError:
            exact = 2**63
        if exact is not None:
            return int(exact), kind
        naive = value if value.tzinfo is None else value.astimezone(timezone.utc).replace(tzinfo=None)
        return _of_timedelta(naive - _EPOCH), kind
    if isinstance(value, (timedelta, np.timedelta64)):
        duration = _duration(value)
        return None if duration is None else (duration, "numbers")
    if isinstance(value, date):
        return _of_timedelta(datetime(value.year, value.month, value.day) - _EPOCH), "dates"
    return None
