"""Peaks over threshold: a generalised Pareto distribution of the highest scores, and what it says of the next ones.

Siffer et al., Anomaly Detection in Streams with Extreme Value Theory, KDD 2017. With t a high quantile of n scores, the
N excesses over t follow a distribution of shape g and scale s, and a score passes

    z = t + s / g ((n risk / N)^-g - 1)        (t - s log(n risk / N) where g is 0)

with probability `risk`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from tsadeval.core.inputs import Floats
from tsadeval.errors import InvalidInputError

Tail = Literal["pareto", "exponential"]

# Candidates of u = (shape / scale) * (largest excess), which lies above -1; between them the likelihood is smooth.
_CANDIDATES = np.concatenate([-1 + np.geomspace(1e-9, 0.999, 30), np.geomspace(1e-3, 1e6, 30)])
_GOLDEN = (math.sqrt(5) - 1) / 2


class Pareto(NamedTuple):
    """Shape and scale of a generalised Pareto distribution that starts at 0."""

    shape: float
    scale: float

    def quantile(self, exceeding: float) -> float:
        """The value that is exceeded with a given probability.

        >>> Pareto(0.0, 2.0).quantile(math.exp(-1))
        2.0
        """
        if abs(self.shape) < 1e-12:
            return -self.scale * math.log(exceeding)
        return self.scale / self.shape * math.expm1(-self.shape * math.log(exceeding))


def fit_pareto(excesses: Floats, tail: Tail = "pareto") -> Pareto:
    """The most likely distribution of some positive excesses, of shape above -1 (below, no likelihood is the largest).

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
    """Where a function with one maximum in an interval has it, by golden sections, and its value there."""
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


def initial_threshold(ascending: Floats, level: float) -> float:
    """The score above which excesses are taken: of n sorted scores number `level` n, as published."""
    return float(ascending[min(int(level * len(ascending)), len(ascending) - 1)])


def extreme_quantile(start: float, excesses: Floats, n: int, risk: float, tail: Tail = "pareto") -> float:
    """The score that is passed with probability `risk`, given n scores and their excesses over `start`."""
    if len(excesses) == 0:
        raise InvalidInputError(
            f"pot: no score is above {start:.6g}, the start of the tail (the highest scores are equal, or few); "
            "choose a smaller level"
        )
    return start + fit_pareto(excesses, tail).quantile(n * risk / len(excesses))
