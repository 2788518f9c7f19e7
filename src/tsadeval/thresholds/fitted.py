"""Threshold rules without labels, fitted on the scores of a training part (`fit=`) or on the scores themselves.

Peaks over threshold: Siffer et al., Anomaly Detection in Streams with Extreme Value Theory, KDD 2017. With t a high
quantile of n scores, the N excesses over t follow a distribution of shape g and scale s, and a score passes

    z = t + s / g ((n risk / N)^-g - 1)        (t - s log(n risk / N) where g is 0)

with probability `risk`.
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from tsadeval.core.arrays import checked_scores
from tsadeval.core.inputs import Bools, Floats, Scoring
from tsadeval.core.parameters import Check, Number, OneOf, check_parameters
from tsadeval.errors import InvalidInputError
from tsadeval.thresholds.rules import RULES, ThresholdRule

Tail = Literal["pareto", "exponential"]

# Candidates of u = (shape / scale) * (largest excess), which lies above -1; between them the likelihood is smooth.
_CANDIDATES = np.concatenate([-1 + np.geomspace(1e-9, 0.999, 30), np.geomspace(1e-3, 1e6, 30)])
_GOLDEN = (math.sqrt(5) - 1) / 2


class Pareto(NamedTuple):
    """Shape and scale of a generalised Pareto distribution that starts at 0."""

    shape: float
    scale: float

    def quantile(self, exceeding: float) -> float:
        """Return the value that is exceeded with a given probability."""
        if abs(self.shape) < 1e-12:
            return -self.scale * math.log(exceeding)
        return self.scale / self.shape * math.expm1(-self.shape * math.log(exceeding))


def fit_pareto(excesses: Floats, tail: Tail = "pareto") -> Pareto:
    """Fit the likeliest distribution to some positive excesses, of shape above -1 (below, none is the largest).

    For a given ratio of shape and scale both follow in closed form (Grimshaw 1993), so one number is searched: over
    candidates of all sizes first, then between the two around the best.
    """
    highest, mean = float(excesses.max()), float(excesses.mean())
    exponential = Pareto(0.0, mean)
    if tail == "exponential" or highest == float(excesses.min()):
        return exponential
    relative = excesses / highest

    def shape(u: float) -> float:
        return float(np.mean(np.log1p(u * relative)))

    def likelihood(u: float) -> float:
        """Mean log-likelihood, up to a constant."""
        g = shape(u)
        return -math.inf if g <= -1 else -math.log(g / u) - g

    values = [likelihood(u) for u in _CANDIDATES]
    at = int(np.argmax(values))
    low, high = float(_CANDIDATES[max(at - 1, 0)]), float(_CANDIDATES[min(at + 1, len(values) - 1)])
    u, value = _maximum(likelihood, low, high)
    if value <= -math.log(mean / highest):
        return exponential
    return Pareto(shape(u), shape(u) / u * highest)


def _maximum(function: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Find where a function with one maximum in an interval has it, by golden sections, and its value there."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(60):
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(right)
    return (left, at_left) if at_left >= at_right else (right, at_right)


def tail_of(scores: Floats, level: float) -> tuple[float, Floats]:
    """Find the start of the tail, of n sorted scores number `level` n, as published, and the excesses over it."""
    ascending = np.sort(scores)
    start = float(ascending[min(int(level * len(ascending)), len(ascending) - 1)])
    return start, ascending[np.searchsorted(ascending, start, side="right") :] - start


def extreme_quantile(start: float, excesses: Floats, n: int, risk: float, tail: Tail = "pareto") -> float:
    """Return the score that is passed with probability `risk`, given n scores and their excesses over `start`."""
    if len(excesses) == 0:
        raise InvalidInputError(
            f"pot: no score is above {start:.6g}, the start of the tail (the highest scores are equal, or few); "
            "choose a smaller level"
        )
    return start + fit_pareto(excesses, tail).quantile(n * risk / len(excesses))


CHECKS: dict[str, Check] = {
    "risk": Number(0, 1, open_low=True),
    "level": Number(0, 1),
    "depth": Number(0, integer=True),
    "tail": OneOf(("pareto", "exponential")),
}


class Step(NamedTuple):
    """What a chunk of scores gave: the threshold that each score was compared with, and where it was passed."""

    thresholds: Floats
    alarms: Bools


class SPOT:
    """Streaming peaks over threshold (Siffer et al. 2017); with a depth its version for drifting scores, DSPOT.

    Scores below the threshold teach it: those above the start of the tail are new excesses, and the distribution is
    fitted anew. Scores above it are alarms and teach nothing. With `depth`, the mean of that many scores before (alarms
    left out) is subtracted from each score first.

    Parameters
    ----------
    risk : float, default=1e-4
        Probability with which a normal score passes the threshold.
    level : float, default=0.98
        Where the tail starts: a quantile of the scores it is fitted on.
    depth : int, default=0
        Number of scores of the moving average; 0 for none.
    tail : {"pareto", "exponential"}, default="pareto"
        As for the rule `pot`.

    Examples
    --------
    >>> import numpy as np
    >>> from tsadeval.thresholds import SPOT
    >>> rng = np.random.default_rng(0)
    >>> spot = SPOT(risk=1e-3).fit(rng.normal(size=2000))
    >>> step = spot.step([0.3, 9.0, -1.2])
    >>> step.alarms.tolist(), bool(2.5 < step.thresholds[0] < 4.5)
    ([False, True, False], True)
    """

    def __init__(self, risk: float = 1e-4, level: float = 0.98, *, depth: int = 0, tail: Tail = "pareto") -> None:
        check_parameters("SPOT", CHECKS, {"risk": risk, "level": level, "depth": depth, "tail": tail})
        self.risk, self.level, self.depth, self.tail = risk, level, depth, tail
        self._n = 0

    def fit(self, scores: Any) -> Self:
        """Take the first threshold from the scores of a part that comes before the stream."""
        values = checked_scores(scores, "scores")
        self._recent: deque[float] = deque(values[-self.depth :].tolist() if self.depth else (), maxlen=self.depth)
        if self.depth:
            if len(values) <= self.depth:
                raise InvalidInputError(f"SPOT.fit: {len(values)} scores are too few for a depth of {self.depth}")
            # Prefix sums of differences from the first score lose no digits to a large common offset.
            sums = np.concatenate([[0.0], np.cumsum(values - values[0])])
            means = values[0] + (sums[self.depth : -1] - sums[: -self.depth - 1]) / self.depth
            values = values[self.depth :] - means
        self._start, self._excesses = tail_of(values, self.level)
        self._n = len(values)
        self._learn()
        return self

    def _learn(self) -> None:
        self._threshold = extreme_quantile(self._start, self._excesses, self._n, self.risk, self.tail)

    def step(self, scores: Any) -> Step:
        """Compare the next scores, one after the other; chunks of any size give the same result."""
        if self._n == 0:
            raise InvalidInputError("SPOT: call fit with scores of a normal part before step")
        values = checked_scores(scores, "scores")
        thresholds, alarms = np.empty(len(values)), np.zeros(len(values), np.bool_)
        for i, score in enumerate(values.tolist()):
            mean = sum(self._recent) / self.depth if self.depth else 0.0
            value = score - mean
            thresholds[i] = mean + self._threshold
            if value > self._threshold:
                alarms[i] = True
                continue
            self._n += 1
            if value > self._start:
                self._excesses = np.append(self._excesses, value - self._start)
                self._learn()
            if self.depth:
                self._recent.append(score)
        return Step(thresholds, alarms)


class FittedRule(ThresholdRule):
    """A rule whose threshold follows from reference scores alone: those of `fit=`, or the scores themselves.

    A subclass is a frozen dataclass with a method `threshold_from`, and `checks` of its options.
    """

    exchangeable: ClassVar[bool] = True
    # True if it computes with differences and squares of scores, which may be too large for a float.
    squares: ClassVar[bool] = True

    def threshold_from(self, scores: Floats) -> float:
        """Find the threshold that reference scores give."""
        raise NotImplementedError

    def threshold_of(self, data: Scoring) -> float:
        """Find the threshold for the scores of a series."""
        scores = data.reference
        if not self.squares or max(float(scores.max()), -float(scores.min())) < 2.0**400:
            return float(self.threshold_from(scores))
        with np.errstate(over="ignore"):  # a threshold beyond all floats is infinite: no alarm
            return float(np.ldexp(self.threshold_from(np.ldexp(scores, -600)), 600))


@dataclass(frozen=True)
class sigma(FittedRule):
    """Alarm where the score is more than k standard deviations above the mean.

    >>> str(sigma(3.0))
    'sigma(3.0)'
    """

    checks: ClassVar[dict[str, Check]] = {"k": Number(0)}
    k: float = 3.0

    def threshold_from(self, scores: Floats) -> float:
        """Return mean + k population standard deviations."""
        return float(np.mean(scores) + self.k * np.std(scores))


@dataclass(frozen=True)
class mad(FittedRule):
    """Alarm where the score is more than k robust standard deviations above the median.

    The robust one is 1.4826 times the median distance from the median, which a few outliers do not move.

    >>> str(mad(3.5))
    'mad(3.5)'
    """

    checks: ClassVar[dict[str, Check]] = {"k": Number(0)}
    k: float = 3.0

    def threshold_from(self, scores: Floats) -> float:
        """Return median + 1.4826 k median absolute deviations."""
        center = np.median(scores)
        return float(center + 1.4826 * self.k * np.median(np.abs(scores - center)))


@dataclass(frozen=True)
class iqr(FittedRule):
    """Alarm where the score is more than k interquartile ranges above the upper quartile, as in a box plot.

    >>> str(iqr(1.5))
    'iqr(1.5)'
    """

    checks: ClassVar[dict[str, Check]] = {"k": Number(0)}
    k: float = 1.5

    def threshold_from(self, scores: Floats) -> float:
        """Return upper quartile + k interquartile ranges."""
        low, high = np.quantile(scores, [0.25, 0.75])
        return float(high + self.k * (high - low))


@dataclass(frozen=True)
class top(FittedRule):
    """Alarm at the k highest scores; where several tie with the last of them, at all of these.

    >>> str(top(10))
    'top(10)'
    """

    squares: ClassVar[bool] = False
    checks: ClassVar[dict[str, Check]] = {"k": Number(1, integer=True)}
    k: int = 1

    def threshold_from(self, scores: Floats) -> float:
        """Return just below the k-th highest score."""
        k = min(self.k, len(scores))
        return float(np.nextafter(np.partition(scores, len(scores) - k)[len(scores) - k], -np.inf))


@dataclass(frozen=True)
class contamination(FittedRule):
    """Alarm where the score is above that of all but a share p of the reference scores (PyOD's contamination).

    >>> str(contamination(0.05))
    'contamination(0.05)'
    """

    squares: ClassVar[bool] = False
    checks: ClassVar[dict[str, Check]] = {"p": Number(0, 1)}
    p: float = 0.1

    def threshold_from(self, scores: Floats) -> float:
        """Return NumPy's linear quantile at 1 - p."""
        return float(np.quantile(scores, 1 - self.p))


@dataclass(frozen=True)
class pot(FittedRule):
    """Alarm where a score is so high that it is passed with probability `risk` only: peaks over threshold.

    A generalised Pareto distribution is fitted to the excesses over the score at `level`; this is the first step of
    SPOT, without the stream (see `SPOT`). With `tail="exponential"` its shape is fixed at 0, which is more cautious
    where the most likely shape is large: the search for it in the widely copied code of SPOT often ends there.

    >>> str(pot(0.001, 0.98))
    "pot(0.001, 0.98, 'pareto')"
    """

    references: ClassVar[tuple[str, ...]] = (
        "Siffer et al., Anomaly Detection in Streams with Extreme Value Theory, KDD 2017",
    )
    checks: ClassVar[dict[str, Check]] = {name: CHECKS[name] for name in ("risk", "level", "tail")}
    risk: float = 1e-3
    level: float = 0.98
    tail: Tail = "pareto"

    def threshold_from(self, scores: Floats) -> float:
        """Return the extreme quantile."""
        start, excesses = tail_of(np.asarray(scores, np.float64), self.level)
        return extreme_quantile(start, excesses, len(scores), self.risk, self.tail)


@dataclass(frozen=True)
class epsilon(FittedRule):
    """Alarm above the threshold whose removal of the scores above changes mean and deviation most.

    Hundman et al. 2018, as published with MTAD-GAT: of the thresholds mean + z standard deviations, z = 2.5, 3, ...,
    11.5, that of the largest ((decrease of the mean) / mean + (decrease of the deviation) / deviation) / b^penalty,
    with b the number of points within 49 of a score above it. Thresholds that mark half of the points or more are left
    out; the largest score is the threshold where none remains.

    >>> str(epsilon())
    'epsilon(0)'
    """

    exchangeable: ClassVar[bool] = False
    references: ClassVar[tuple[str, ...]] = (
        "Hundman et al., Detecting Spacecraft Anomalies Using LSTMs and Nonparametric Dynamic Thresholding, KDD 2018",
    )
    checks: ClassVar[dict[str, Check]] = {"penalty": Number(0, 2, integer=True)}
    penalty: int = 0

    def threshold_from(self, scores: Floats) -> float:
        """Return the best of 19 thresholds, the last of equals."""
        scores = np.asarray(scores, np.float64)
        mean, deviation = float(scores.mean()), float(scores.std())
        best, found = -np.inf, float(scores.max())
        if mean == 0 or deviation == 0:
            return found
        for z in np.arange(2.5, 12, 0.5):
            threshold = mean + deviation * float(z)
            above = scores >= threshold
            marked = _near(above, 49)
            if not 0 < marked < len(scores) / 2:
                continue
            rest = scores[~above]
            value = ((mean - rest.mean()) / mean + (deviation - rest.std()) / deviation) / float(marked) ** self.penalty
            if value >= best:
                best, found = value, threshold
        return found


def _near(mask: Any, reach: int) -> int:
    """Count the points within `reach` of a marked one."""
    at = np.flatnonzero(mask)
    if len(at) == 0:
        return 0
    gaps = np.minimum(np.diff(at), 2 * reach + 1)  # what each marked point adds to those before it
    return int(gaps.sum() + 1 + min(reach, at[0]) + min(reach, len(mask) - 1 - at[-1]))


for _rule in (contamination, epsilon, iqr, mad, pot, sigma, top):
    RULES.add(_rule.__name__, _rule)
