"""What an option of a metric may be: records that check a value, describe themselves and name bad values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from tsadeval.core.durations import span_size
from tsadeval.errors import InvalidParameterError


@dataclass(frozen=True)
class Number:
    """A finite number between two bounds; `open_low` excludes the lower one; `none` admits None too."""

    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    integer: bool = False
    none: bool = False
    words: tuple[str, ...] = ()  # texts that stand for a number

    def accepts(self, value: Any) -> bool:
        """Is the value allowed?"""
        if value is None:
            return self.none
        if isinstance(value, str) and value in self.words:
            return True
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral if self.integer else Real):
            return False
        try:
            number = float(value)
        except OverflowError:  # a whole number beyond all floats
            return False
        inside = self.low <= number <= self.high and not (self.open_low and number == self.low)
        return math.isfinite(number) and inside

    def __str__(self) -> str:
        kind = "an integer" if self.integer else "a number"
        low, high = self._text(self.low), self._text(self.high)
        if math.isfinite(self.low) and math.isfinite(self.high):
            kind += f" in {'(' if self.open_low else '['}{low}, {high}]"
        elif math.isfinite(self.low):
            kind += f" {'>' if self.open_low else '>='} {low}"
        elif math.isfinite(self.high):
            kind += f" <= {high}"
        return " or ".join([kind, *map(repr, self.words), *["None"] * self.none])

    def _text(self, bound: float) -> str:
        """A bound in full where digits matter: a seed of at most 4.29497e+09 helps nobody."""
        return str(int(bound)) if self.integer and math.isfinite(bound) else f"{bound:g}"

    def bad(self) -> list[Any]:
        """Values that must be refused: the common tests feed them to every metric."""
        values: list[Any] = ["high", math.nan, math.inf, True, [1.0]]
        if math.isfinite(self.low):
            values += [self.low - 1] + ([self.low] if self.open_low else [])
        if math.isfinite(self.high):
            values += [self.high + 1]
        if self.integer:
            values += [1.5, 10**400]
        return values if self.none else [*values, None]


@dataclass(frozen=True)
class Span(Number):
    """A number of points, or a duration as text ("30min", "week"), which needs time stamps."""

    def accepts(self, value: Any) -> bool:
        """Is the value allowed?"""
        return span_size(value) is not None or super().accepts(value)

    def __str__(self) -> str:
        return f"{super().__str__()} (points), or a duration such as '30min'"


@dataclass(frozen=True)
class OneOf:
    """One of a few words (or None)."""

    choices: tuple[Any, ...]

    def accepts(self, value: Any) -> bool:
        """Is the value allowed?"""
        return any(value is c or (isinstance(value, str) and value == c) for c in self.choices)

    def __str__(self) -> str:
        return "one of " + ", ".join(repr(c) for c in self.choices)

    def bad(self) -> list[Any]:
        """Values that must be refused."""
        return ["no such choice", 3, 0.5]


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def accepts(self, value: Any) -> bool:
        """Is the value allowed?"""
        return isinstance(value, (bool, np.bool_))

    def __str__(self) -> str:
        return "True or False"

    def bad(self) -> list[Any]:
        """Values that must be refused."""
        return ["yes", 1, None]


@dataclass(frozen=True)
class Pair:
    """Two increasing numbers between two bounds."""

    low: float
    high: float

    def accepts(self, value: Any) -> bool:
        """Is the value allowed?"""
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            return False
        number = Number(self.low, self.high)
        return number.accepts(value[0]) and number.accepts(value[1]) and value[0] < value[1]

    def __str__(self) -> str:
        return f"two increasing numbers between {self.low:g} and {self.high:g}"

    def bad(self) -> list[Any]:
        """Values that must be refused."""
        return [0.5, (0.9, 0.1), (self.low - 1, self.high), (self.low,), "ab", (math.nan, self.high)]


Check = Number | OneOf | Flag | Pair


def check_parameters(owner: str, checks: dict[str, Check], given: dict[str, Any]) -> None:
    """Refuse the first given option that its check does not accept."""
    for name, value in given.items():
        if name in checks and not checks[name].accepts(value):
            raise InvalidParameterError(f"{owner}: {name} must be {checks[name]}, but is {value!r}")
