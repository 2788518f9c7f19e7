"""Time stamps: check them and convert them to whole nanoseconds.

Metrics and kernels count points. Where time stamps are given, the conversion happens here: a point stands for the
time from its stamp to the next one, and a duration such as "30min" is compared with differences of stamps.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tsadeval._optional import require
from tsadeval.core.durations import (
    HOUR,
    OFFSET,
    SECOND,
    UNITS,
    Readings,
    find_zone,
    fits,
    in_order,
    read_duration,
    refuse_missing_hour,
    timedelta_size,
    type_of,
    unit_size,
    zone_of,
)
from tsadeval.core.events import Index
from tsadeval.errors import InvalidInputError, hint

Kind = Literal["dates", "dates with a time zone", "numbers"]

# Day, clock, fraction of a second and zone, with or without signs between the digits (ISO 8601). A day without a clock
# needs them: eight digits are as well a number.
_DATE = re.compile(
    r"(\d{4}-\d\d-\d\d|\d{8}(?=T))(?:[T ](\d\d:?\d\d(?::?\d\d(?:\.(\d{1,9}))?)?)\s*(Z|[+-]\d\d(?::?[0-5]\d)?)?)?",
    re.ASCII,
)
# A point stands for at most so many median steps: where the next stamp comes later, nothing was observed in between.
LONGEST = 20
_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True, eq=False)
class Times:
    """Checked time stamps of the points of a series: increasing, all different.

    `stamps` are nanoseconds, since 1970 (in UTC where a time zone is known) or since the zero of the numbers given.
    """

    stamps: Index
    kind: Kind
    given: NDArray[Any]
    unit: int = SECOND
    zone: str = ""  # name of the time zone in which moments are shown, where the stamps came with one
    tz: tzinfo | None = None  # of naive times that are laid beside these stamps

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
        """Time that was observed at each point: up to the next stamp, for the last point the median step.

        After a gap (a step of more than 20 median steps) nothing is known of what happened in it: the point before it
        stands for 20 median steps.
        """
        return np.minimum(np.diff(self.stamps, append=self.stamps[-1] + self.step), longest(self.step))

    @cached_property
    def ends(self) -> Index:
        """Where the time that was observed at each point ends: at the next stamp, or before it at a gap."""
        return np.asarray(self.stamps + self.durations)

    @cached_property
    def observed(self) -> Index:
        """The time that was observed before each point, and all of it; differences are durations without gaps."""
        return np.append(0, np.cumsum(self.ends - self.stamps))

    @cached_property
    def after_gap(self) -> NDArray[np.bool_]:
        """The points before which there is a gap."""
        return np.append(False, np.diff(self.stamps) > longest(self.step))

    @cached_property
    def edges(self) -> Index:
        """The stamps, and the end of the time that the last point stands for."""
        return np.append(self.stamps, self.stamps[-1] + self.step)

    @property
    def total(self) -> int:
        """Time that all points stand for."""
        return int(self.durations.sum())

    def at_points(self, mask: NDArray[np.bool_] | slice) -> "Times":
        """Return the stamps of some of the points."""
        return replace(self, stamps=self.stamps[mask], given=self.given[mask])

    def moment(self, stamp: int) -> Any:
        """Return a time as the caller writes it: a datetime64, a datetime in the time zone of the stamps, or a number.

        The zone is UTC where it has no name, or one that this machine does not know.
        """
        if self.given.dtype.kind == "m":
            return np.timedelta64(stamp, "ns")
        if self.kind == "numbers":
            number = stamp / self.unit
            return int(number) if self.given.dtype.kind in "iu" and stamp % self.unit == 0 else number
        if self.kind == "dates":
            return np.datetime64(stamp, "ns")
        if stamp % 1000:  # finer than the standard library's datetime
            return require("pandas", extra="all").Timestamp(stamp, tz="UTC").tz_convert(self._place)
        return (_EPOCH.replace(tzinfo=UTC) + timedelta(microseconds=stamp // 1000)).astimezone(self._place)

    @cached_property
    def _place(self) -> tzinfo:
        try:
            return find_zone(self.zone or "UTC")
        except InvalidInputError:  # no data of zones
            return UTC

    def at(self, position: int) -> Any:
        """Return the stamp of a point as the caller gave it."""
        return (
            self.given[position] if self.kind != "dates with a time zone" else self.moment(int(self.stamps[position]))
        )

    def text(self, stamp: int) -> str:
        """Return a time for messages."""
        return f"{self.moment(stamp)}".removesuffix(".000000000")

    def __repr__(self) -> str:
        ends = f"{self.text(int(self.stamps[0]))} to {self.text(int(self.stamps[-1]))}"
        return f"Times({len(self)} {self.kind}, {ends})"


def longest(step: int) -> int:
    """Return the longest time that a point can stand for, where the median step is this one."""
    return min(LONGEST * step, 2**63 - 1)


def times(values: Any, *, unit: str = "s", tz: Any = None) -> Times:
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
    tz : str or tzinfo, optional
        The time zone of dates without one, such as "Europe/Berlin", here and in all that is laid beside these stamps
        (incidents, ignored spans). The hour that comes twice where clocks go back is told by the order of the stamps.

    Notes
    -----
    A point stands for the time up to the next stamp, but for no more than 20 median steps: a longer step is a gap, in
    which nothing was observed. The median step is the median of the differences of neighbouring stamps, the larger of
    the two middle ones where their number is even; the last point stands for one. So rates, shares and durations
    (`false_alarms`, `time_in_alarm`, `time_to_recover`, those of `te.events`) are of observed time, and an episode of
    `alarm_episodes` ends at a gap that its `merge_gap`, a duration, does not bridge. Where points are counted, as in
    the number of alarms, the points on both sides of a gap are neighbours. Delays, leads and options such as `early`
    and `tolerance` are differences of two stamps.

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
    return read_times(values, unit=unit, tz=tz)


def read_times(values: Any, *, n: int | None = None, unit: str = "s", name: str = "times", tz: Any = None) -> Times:
    """Check the stamps of `n` points (of any number where None); `tz` is the zone of those that have none."""
    if isinstance(values, Times):
        found = values
    else:
        size, zone = unit_size(unit), None if tz is None else find_zone(tz)
        stamps, naive, given = _stamps(values, size, name, mixed=zone is not None)
        kind, shown = naive.kind, zone_of(type_of(values))
        if zone is not None and naive.rows.any():
            stamps[naive.rows] = in_order(stamps[naive.rows], zone, name, partial(_places, name))
            kind, shown = "dates with a time zone", str(zone)
        elif kind == "dates with a time zone" and not shown:
            shown = _common_offset(given) or ("" if zone is None else str(zone))
        found = Times(stamps, kind, given, size, shown, zone)
        if len(stamps) == 0:
            raise InvalidInputError(f"{name} is empty: give one time stamp for each point")
    if n is not None and len(found) != n:
        raise InvalidInputError(
            f"{name} has {len(found)} time stamps, but there are {n} points; give one for each point"
        )
    if found is not values:
        _check_order(found, name)
    return found


def _common_offset(given: NDArray[Any]) -> str:
    """Return the zone or offset that the first and the last of some texts or datetimes share; "" for none."""
    ends = {_offset_of(value) for value in (given[:1].tolist() + given[-1:].tolist())}
    return ends.pop() if len(ends) == 1 else ""


def _offset_of(value: Any) -> str:
    if isinstance(value, str):
        offset = OFFSET.search(value)
        return offset[0] if offset else "UTC"
    return str(getattr(value, "tzinfo", "") or "")


def _check_order(found: Times, name: str) -> None:
    later = found.stamps[1:] > found.stamps[:-1]
    if later.all():
        return
    row = int(np.argmin(later)) + 1
    steps = np.diff(found.stamps)
    back, step = steps[~later], int(np.median(steps[later])) if later.any() else 0
    days, hours = np.divmod(found.stamps[1:][~later], UNITS["d"])
    at_night = (hours < 4 * HOUR) & (days % 7 == 3)  # of a Sunday, as nearly all zones have it
    back_by_hour = (np.abs(HOUR + back - step) <= step) & (back <= 0) & at_night
    # In other nights, or by half an hour, the step has to fit exactly, in spring or autumn.
    months = found.stamps[1:][~later].astype("M8[ns]").astype("M8[M]").astype(np.int64) % 12 + 1
    season = ((hours + 2 * HOUR) % UNITS["d"] < 6 * HOUR) & np.isin(months, [2, 3, 4, 9, 10, 11])
    exact = (back < 0) & np.isin(back, [step - HOUR, step - HOUR // 2]) & season
    if found.kind == "dates" and (back_by_hour | exact).all() and len(back) <= max(1, len(steps) // 100):
        how = hint("give tz=, such as tz='Europe/Berlin'", "give --tz, such as --tz Europe/Berlin")
        raise InvalidInputError(
            f"{name}: clocks went back at {_place(name, row)} ({found.text(int(found.stamps[row]))}): {how}, or write "
            "offsets"
        )
    stamp, before = int(found.stamps[row]), int(found.stamps[row - 1])
    if stamp == before:
        problem = f"repeats {_place(name, row - 1)}; drop one"
    else:
        other = f"{_place(name, row - 1)} ({found.text(before)})"
        problem = f"is before {other}; sort labels, scores and times together first"
    raise InvalidInputError(f"{name} must increase, but {_place(name, row)} ({found.text(stamp)}) {problem}")


class Named(str):
    """What times are called in messages, and where each of them is in its file."""

    lines: Sequence[int] | None = None

    @classmethod
    def of(cls, name: str, lines: Sequence[int] | None) -> Self:
        """Return a name with the lines of the file."""
        found = cls(name)
        found.lines = lines
        return found


def _places(name: str, rows: Any) -> str:
    """Name the first three of some places, and how many there are."""
    shown = ", ".join(_place(name, int(row)) for row in rows[:3])
    return shown + f" and {len(rows) - 3} more" * (len(rows) > 3)


def _place(name: str, row: int) -> str:
    """Where a time is, for messages."""
    lines = getattr(name, "lines", None)
    return f"row {row}" if lines is None else f"line {lines[row]}"


def read_moments(values: Sequence[Any], like: Times, name: str, *, second: bool = False) -> Index:
    """Read times in any order as nanoseconds on the scale of some stamps; `name` is for messages.

    Of the hour that comes twice where clocks go back the first one is taken, or the `second`.
    """
    stamps, naive, _ = _stamps(values, like.unit, name, mixed=like.tz is not None)
    kind = naive.kind
    if like.tz is not None and like.kind == "dates with a time zone" and naive.rows.any():
        found = Readings.of(stamps[naive.rows], like.tz)
        refuse_missing_hour(found, like.tz, name, partial(_places, name))
        stamps[naive.rows] = found.second if second else found.first
        kind = like.kind
    if len(stamps) and kind != like.kind:
        also = hint(" or give tz=, the zone of those without", " or give --tz, the zone of those without")
        also = "" if "numbers" in (kind, like.kind) else f", as 2026-01-31 13:05+01:00,{also}"
        raise InvalidInputError(f"{name} are {kind}, but times are {like.kind}: give both in the same form{also}")
    return stamps


class _Naive(NamedTuple):
    """What kind of stamps there are, and which of them are dates without a time zone."""

    kind: Kind
    rows: NDArray[np.bool_]


def _stamps(values: Any, unit: int, name: str, *, mixed: bool = False) -> tuple[Index, _Naive, NDArray[Any]]:
    """Nanoseconds, what kind of stamps they are, and the array as given; `mixed`, some may have a zone and some not."""
    array = _array_of(values, name)
    if array.dtype.kind in "OUT" and array.size:
        stamps, naive = _of_objects(array.tolist(), name, mixed=mixed)
        return stamps, naive, array
    kind: Kind = "numbers"
    if array.dtype.kind in "mM":
        stamps = _of_dates(array, name)
        if array.dtype.kind == "M":
            kind = "dates with a time zone" if zone_of(type_of(values)) else "dates"
    elif array.size == 0:
        stamps, kind = np.zeros(0, np.int64), "dates"
    elif array.dtype.kind in "iuf":
        stamps = _of_numbers(array, unit, name)
    else:
        raise InvalidInputError(f"{name} must be dates or numbers, but has dtype {array.dtype}")
    return stamps, _Naive(kind, np.full(len(array), kind == "dates")), array


def _array_of(values: Any, name: str) -> NDArray[Any]:
    dtype = type_of(values)
    try:
        # Of pandas' stamps with a time zone NumPy makes UTC, if asked for dates (and Python objects, if not).
        kind = f"datetime64[{getattr(dtype, 'unit', 'ns')}]" if hasattr(dtype, "tz") else None
        array = np.asarray(values, dtype=kind)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{name} cannot be read as an array ({error}); pass one time stamp per point") from None
    if array.ndim != 1:
        raise InvalidInputError(
            f"{name} must be one-dimensional, one time stamp per point, but has shape {array.shape}"
        )
    return array


def _refuse_missing(missing: NDArray[np.bool_], name: str) -> None:
    if missing.any():
        raise InvalidInputError(
            f"{name} is missing in {_place(name, int(np.argmax(missing)))} ({int(missing.sum())} rows in all)"
        )


def _of_dates(array: NDArray[Any], name: str) -> Index:
    """Nanoseconds of dates since 1970, or of durations."""
    _refuse_missing(np.isnat(array), name)
    if np.datetime_data(array.dtype)[0] != "ns":
        _refuse_far(~fits(array - np.zeros_like(array)), array, name)
    return array.astype(f"{array.dtype.kind}8[ns]").astype(np.int64)


def _refuse_far(outside: Any, values: Any, name: str) -> None:
    """Refuse what nanoseconds in 64 bits cannot hold."""
    if np.any(outside):
        row = int(np.argmax(outside))
        raise InvalidInputError(
            f"{name}: {_place(name, row)} ({values[row]}) is not between the years 1677 and 2262 (292 years from 1970)"
        )


def _of_numbers(array: NDArray[Any], unit: int, name: str) -> Index:
    if array.dtype.kind == "f":
        _refuse_missing(~np.isfinite(array), name)
    too_large = np.abs(array.astype(np.float64)) * unit >= 2.0**62
    if too_large.any():
        row = int(np.argmax(too_large))
        raise InvalidInputError(
            f"{name}: {_place(name, row)} ({array[row]}) is more than 146 years in this unit; "
            + hint("for milliseconds since 1970 pass te.times(values, unit='ms')", "write seconds, or dates")
        )
    if array.dtype.kind != "f":
        return array.astype(np.int64) * unit
    # Whole units are exact; only what is left of them is rounded.
    whole = np.floor(array)
    return np.asarray(whole.astype(np.int64) * unit + np.rint((array - whole) * unit).astype(np.int64))


def _of_objects(values: list[Any], name: str, *, mixed: bool) -> tuple[Index, _Naive]:
    """ISO 8601 texts, datetimes, dates, pandas' Timestamps, numbers: all of one kind."""
    found: list[tuple[int, Kind]] = []
    for row, value in enumerate(values):
        moment = _moment(value)
        if moment is None:
            how = hint("or pass datetime objects or numbers", "or numbers of seconds")
            raise InvalidInputError(
                f"{name}: {_place(name, row)} is {value!r}; write a date such as '2026-01-31 13:05:00' (ISO 8601), "
                f"{how}"
            )
        found.append(moment)
    kinds = {kind: row for row, (_, kind) in reversed(list(enumerate(found)))}
    if len(kinds) > 1 and not (mixed and "numbers" not in kinds):
        row, first = (sorted(kinds.values()))[1], values[0]
        how = hint(": give tz=, the zone of those without", ": give --tz, the zone of those without")
        raise InvalidInputError(
            f"{name}: {_place(name, row)} ({values[row]!r}) and {_place(name, 0)} ({first!r}) are not of the same kind"
            + how * ("numbers" not in kinds)
        )
    _refuse_far([not -(2**63) < stamp < 2**63 for stamp, _ in found], values, name)
    kind = "dates with a time zone" if len(kinds) > 1 else found[0][1]
    return np.array([stamp for stamp, _ in found], np.int64), _Naive(kind, np.array([k == "dates" for _, k in found]))


def _moment(value: Any) -> tuple[int, Kind] | None:
    """Nanoseconds and kind of a single date, None where it is none."""
    fraction = ""
    if isinstance(value, str):
        match = _DATE.fullmatch(value.strip())
        if match is None:
            return None
        day, clock, fraction, zone = match.groups("")
        try:
            value = datetime.fromisoformat(f"{day}T{clock.partition('.')[0] or '00'}{zone}")
        except ValueError:
            return None
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
        since = value - _EPOCH.replace(tzinfo=None if value.tzinfo is None else UTC)
        return timedelta_size(since) + int(fraction.ljust(9, "0")), kind
    if isinstance(value, (timedelta, np.timedelta64)):
        duration = read_duration(value)
        return None if duration is None else (duration, "numbers")
    if isinstance(value, date):
        return timedelta_size(datetime(value.year, value.month, value.day) - _EPOCH), "dates"
    return None
