"""SPOT and DSPOT: a threshold that learns from the stream of scores, without labels."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import numpy as np

from tsadeval.core.checking import checked_scores
from tsadeval.core.inputs import Bools, Floats
from tsadeval.core.parameters import Check, Number, OneOf, check_parameters
from tsadeval.errors import InvalidInputError
from tsadeval.thresholds.pareto import Tail, extreme_quantile, initial_threshold

__all__ = ["SPOT", "Step"]

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

    def fit(self, scores: Any) -> SPOT:
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
        ascending = np.sort(values)
        self._start = initial_threshold(ascending, self.level)
        above = ascending[np.searchsorted(ascending, self._start, side="right") :] - self._start
        self._excesses = np.empty(max(2 * len(above), 64))
        self._excesses[: len(above)] = above
        self._peaks, self._n = len(above), len(values)
        self._learn()
        return self

    def _learn(self) -> None:
        peaks = self._excesses[: self._peaks]
        self._threshold = extreme_quantile(self._start, peaks, self._n, self.risk, self.tail)

    def _add(self, excess: float) -> None:
        if self._peaks == len(self._excesses):
            self._excesses = np.concatenate([self._excesses, np.empty(self._peaks)])
        self._excesses[self._peaks] = excess
        self._peaks += 1

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
                self._add(value - self._start)
                self._learn()
            if self.depth:
                self._recent.append(score)
        return Step(thresholds, alarms)
