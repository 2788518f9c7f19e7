"""Durations, units of time and rates: parse them to whole nanoseconds.

Nanoseconds in 64-bit integers are exact, so the unit in which a caller writes a duration cannot change a result.
"""

import math
import re
from datetime import timedelta
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsadeval.core.names import quoted
from tsadeval.errors import InvalidParameterError

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
