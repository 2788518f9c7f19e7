"""Threshold rules without labels, fitted on the scores of a training part (`fit=`) or on the scores themselves.

>>> import numpy as np
>>> sigma(3).threshold_from(np.array([0.0, 0.0, 2.0, 2.0]))
4.0
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from tsadeval.core.inputs import Floats, Scoring
from tsadeval.core.parameters import Check, Number, OneOf, check_parameters
from tsadeval.thresholds.extreme_values import Tail, extreme_quantile, tail_of
from tsadeval.thresholds.rules import RULES, ThresholdRule


class FittedRule(ThresholdRule):
    """A rule whose threshold follows from reference scores alone: those of `fit=`, or the scores themselves.

    A subclass is a frozen dataclass with a method `threshold_from`, and `checks` of its options.
    """

    checks: ClassVar[dict[str, Check]] = {}
    exchangeable: ClassVar[bool] = True
    # True if it computes with differences and squares of scores, which may be too large for a float.
    squares: ClassVar[bool] = True

    def __post_init__(self) -> None:
        rule: Any = self  # every rule is a dataclass, but this base of them is not
        given = {one.name: getattr(self, one.name) for one in fields(rule)}
        check_parameters(type(self).__name__, self.checks, given)

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

    checks: ClassVar[dict[str, Check]] = {
        "risk": Number(0, 1, open_low=True),
        "level": Number(0, 1),
        "tail": OneOf(("pareto", "exponential")),
    }
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
