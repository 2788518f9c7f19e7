"""Checks of option values, and the options of metrics that also run on tensors (CCE, PATE, VUS)."""

import inspect
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsadeval.core.durations import span_size
from tsadeval.core.names import did_you_mean, quoted
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
        """Return True if the value is allowed."""
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
        """Return a bound in full where digits matter: a seed of at most 4.29497e+09 helps nobody."""
        return str(int(bound)) if self.integer and math.isfinite(bound) else f"{bound:g}"


@dataclass(frozen=True)
class Span(Number):
    """A number of points, or a duration as text ("30min", "week"), which needs time stamps."""

    def accepts(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return span_size(value) is not None or super().accepts(value)

    def __str__(self) -> str:
        return f"{super().__str__()} (points), or a duration such as '30min'"


@dataclass(frozen=True)
class OneOf:
    """One of a few words (or None)."""

    choices: tuple[Any, ...]

    def accepts(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return any(value is c or (isinstance(value, str) and value == c) for c in self.choices)

    def __str__(self) -> str:
        return "one of " + ", ".join(repr(c) for c in self.choices)


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def accepts(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return isinstance(value, (bool, np.bool_))

    def __str__(self) -> str:
        return "True or False"


@dataclass(frozen=True)
class Pair:
    """Two increasing numbers between two bounds."""

    low: float
    high: float

    def accepts(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        pair = isinstance(value, (tuple, list)) and len(value) == 2
        return pair and all(map(Number(self.low, self.high).accepts, value)) and bool(value[0] < value[1])

    def __str__(self) -> str:
        return f"two increasing numbers between {self.low:g} and {self.high:g}"


Check = Number | OneOf | Flag | Pair


def check_parameters(owner: str, checks: Mapping[str, Check], given: Mapping[str, Any]) -> None:
    """Refuse the first given option that its check does not accept."""
    for name, value in given.items():
        if name in checks and not checks[name].accepts(value):
            raise InvalidParameterError(f"{owner}: {name} must be {checks[name]}, but is {quoted(value)}")


def options_of(source: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the options of a function, public or of checked data, or the fields of a dataclass of options."""
    found = inspect.signature(source).parameters.values()
    return {p.name: p.replace(kind=p.KEYWORD_ONLY) for p in found if p.default is not p.empty}


def refuse_unknown(
    owner: str,
    known: Collection[str],
    given: Iterable[str],
    hints: Mapping[str, str] | None = None,
    error: type[Exception] = InvalidParameterError,
) -> None:
    """Refuse the first option that is not known; `hints` say of some what to do instead."""
    for option in given:
        if option not in known:
            hint = (hints or {}).get(option) or did_you_mean(option, list(known))
            raise error(f"{owner} has no option {option!r}: {hint}")


# Options of metrics stand here because `tsadeval.torch`, which has these metrics too, works without compiled kernels.
BETA = Number(0, open_low=True)
F_CHECKS: dict[str, Check] = {"beta": BETA}


def recall_weight(beta: float) -> float:
    """Return the square of beta, the weight of recall in F. Beyond 1e100 or below 1e-100 F has its limit anyway."""
    return float(min(max(beta, 1e-100), 1e100)) ** 2


AUC_PR_CHECKS: dict[str, Check] = {"interpolation": OneOf(("step", "trapezoid"))}

CCE_CHECKS: dict[str, Check] = {
    "tau": Number(0, 1),
    "constrained": Flag(),
    "event_weight": Number(0, 1),
    "global_weight": Number(0, 1),
    "normalize": OneOf(("minmax", "robust", "rank", "quantile", "published", None)),
    "quantiles": Pair(0, 1),
    "uncertainty": OneOf(("beta", "pointwise", "scaled")),
    "gamma": Number(0, open_low=True),
}


@dataclass(frozen=True)
class CCEOptions:
    """The options of CCE, as its batch, explained and streaming forms and that of tensors share them."""

    tau: float = 0.5
    constrained: bool = False
    event_weight: float = 0.5
    global_weight: float = 0.5
    normalize: str | None = "minmax"
    quantiles: tuple[float, float] = (0.001, 0.999)
    uncertainty: str = "beta"
    gamma: float = 10.0

    @property
    def formula(self) -> tuple[float, bool, str, float]:
        """What judges an event."""
        return self.tau, self.constrained, self.uncertainty, self.gamma


# The power of the rank in CCE's robust normalisation: an outlier is no more than a rank, and scores below the upper
# ones hardly count. Chosen on ten tasks of the suite `hard`, before the other ten were looked at (docs/cce.md).
CCE_ROBUST_POWER = 8

PATE_BUFFER_CHECKS: dict[str, Check] = {
    "early": Number(0, integer=True),
    "delay": Number(0, integer=True),
    "n_splits": Number(1, 1000, integer=True),
    "include_zero": Flag(),
}
PATE_CHECKS: dict[str, Check] = {
    **PATE_BUFFER_CHECKS,
    "n_thresholds": Number(2, 1_000_000, integer=True, none=True),
    "drop_intermediate": Flag(),
}


def pate_buffers(n: int, early: int, delay: int, n_splits: int, include_zero: bool) -> list[tuple[int, int, float]]:
    """Return the pairs of buffer sizes to average over, with weights that add up to 1.

    Sizes are evenly spaced up to the largest, rounded down; beyond n all are alike.
    """
    steps = range(0 if include_zero else 1, int(n_splits) + 1)
    sizes = [Counter(min(int(size) * i // int(n_splits), n) for i in steps) for size in (early, delay)]
    total = sizes[0].total() * sizes[1].total()
    return [(a, b, x * y / total) for a, x in sizes[0].items() for b, y in sizes[1].items()]


@dataclass(frozen=True)
class VUSVariant:
    """What definitions of VUS and Range-AUC differ in."""

    # Weights fall as sqrt(1 - d / w); else along a straight line from 1 to sqrt(1/2) at distance h.
    root: bool
    # Where buffers of two events overlap, weights add up to at most 1; else the larger one counts.
    adding: bool
    # Buffered events count as one where they share a point (0) or at least touch (1), or never (-1).
    merging: int
    # P' has the weight of all buffers; else only of the buffer points with an alarm, so that it grows with N.
    once: bool
    # PR area by trapezoids from precision 1 at recall 0; else by steps, as average precision.
    trapezoid: bool
    # Step between the widths of the volume: with 2, every buffer length h counts once.
    step: int = 1

    def widths(self, widest: int, *, volume: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the widths to average over, ascending, and how often each counts; `widest` alone if no volume."""
        if not volume:
            return np.array([widest]), np.array([1])
        widths = np.arange(0, widest + 1, self.step)
        repeats = np.ones_like(widths)
        if not self.root and self.step == 1:  # a straight slope depends on w // 2 only: two widths at a time
            widths, repeats = widths[::2], 2 * repeats[::2]
            repeats[-1] = 2 - (widest + 1) % 2
        return widths, repeats


VUS_VARIANTS = {
    "vus": VUSVariant(root=True, adding=True, merging=0, once=False, trapezoid=False),
    "range_auc": VUSVariant(root=True, adding=True, merging=1, once=True, trapezoid=True),
    "timeeval": VUSVariant(root=False, adding=False, merging=-1, once=True, trapezoid=True),
    "ff_vus": VUSVariant(root=False, adding=False, merging=0, once=False, trapezoid=False, step=2),
}

_WINDOW = Number(0, 100_000, integer=True)  # the work grows with its square
VUS_TENSOR_CHECKS: dict[str, Check] = {
    "window": _WINDOW,
    "n_thresholds": Number(2, integer=True, none=True),
    "variant": OneOf(tuple(VUS_VARIANTS)),
}
# The period of a series is known where its values are, which tensors of scores do not bring.
VUS_CHECKS: dict[str, Check] = {**VUS_TENSOR_CHECKS, "window": replace(_WINDOW, words=("period",))}
