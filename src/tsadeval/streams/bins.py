"""Points of each class counted in bins of neighbouring scores, and the bounds that metrics of their order have.

Whatever the order of the points inside a bin, the value lies between that of the best and that of the worst such order;
both have a formula.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Self, cast

import numpy as np

from tsadeval.core.binning import bins_of, count_by_score
from tsadeval.core.events import Index
from tsadeval.core.facts import Fact, Reason
from tsadeval.core.inputs import Floats, Scoring
from tsadeval.core.metric import Metric, missing
from tsadeval.errors import UndefinedError
from tsadeval.metrics.counting import f_of_counts, places_at_top

_BINS = 2**22  # 64 MB; 14 bits of a score besides its size (exponent) are told apart


class Bounds(NamedTuple):
    """Where a value lies for sure."""

    low: float
    high: float

    def found(self) -> tuple[float, None, float, float]:
        """Return the middle, which is at most half the width away from the value, no reason, and the bounds."""
        return (self.low + self.high) / 2, None, *self


class ScoreBins:
    """Points of each class in bins of neighbouring scores: an interval for the value, in constant memory."""

    exact = False

    def __init__(self) -> None:
        self._bins = np.zeros((2, _BINS), np.int64)
        self._highest, self._at_highest = -np.inf, 0

    def update(self, data: Scoring) -> None:
        """Take in the points that follow."""
        highest = float(data.raw.max())
        if highest >= self._highest:
            self._tell(highest, int(np.count_nonzero(data.raw == highest)))
        count_by_score(data.raw, data.truth.starts, data.truth.counts, data.truth.first, self._bins)

    def _tell(self, score: float, points: int) -> None:
        if score >= self._highest:
            self._at_highest = points + self._at_highest * (score == self._highest)
            self._highest = score

    def merge(self, later: Self) -> None:
        """Take in the state of the stretch that follows."""
        self._bins = self._bins + later._bins  # arrays from other processes may be read-only
        self._tell(later._highest, later._at_highest)

    def value(self, metric: Metric) -> tuple[Any, ...]:
        """Return the middle and the bounds of a metric, or why there is no value."""
        try:
            lacking = missing(metric.needs, cast(Any, self))
            if lacking is not None:
                return float("nan"), lacking
            used = np.flatnonzero(self._bins.any(axis=0))[::-1]
            normal, anomalous = self._bins[:, used]
            bins = _ByBin(anomalous, normal, np.cumsum(anomalous) - anomalous, np.cumsum(normal) - normal)
            return _BOUNDS[metric.name](bins, int(anomalous.sum()), int(normal.sum()), **metric.options).found()
        except UndefinedError as error:
            return float("nan"), Fact(Reason(error.reason), str(error))

    @property
    def truth(self) -> Self:
        """The labels, of which only the number of each is known."""
        return self

    def has(self, label: int) -> bool:
        """Return True if any point has this label."""
        return bool(self._bins[label].any())

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self._bins.sum())

    def _above(self) -> Floats:
        """Points in each bin and in higher ones, from the highest down. The highest score has one of its own."""
        counts = np.append(self._bins.sum(axis=0), self._at_highest)
        counts[bins_of(np.array([self._highest]), _BINS)] -= self._at_highest
        return np.cumsum(counts[::-1]).astype(np.float64)

    @property
    def highest(self) -> float:
        """The bin of the highest score."""
        return float(_BINS)

    def at_ranks(self, ranks: Index) -> tuple[Floats, Floats]:
        """Return the bins at ascending ranks, and how many points are in them and in higher ones."""
        above = self._above()
        at = np.searchsorted(above, ranks, "right")
        return (_BINS - at).astype(np.float64), above[at]

    def counts_above(self, scores: Floats) -> tuple[Floats, Floats]:
        """How many points are in higher bins than each of some, and how many in these or in higher ones."""
        above = np.append([0, 0], self._above())
        at = _BINS + 2 - scores.astype(np.int64)
        return above[at - 1], above[at]

    def places(self, scores: Any) -> Floats:
        """Return the bins of scores."""
        return np.where(scores == self._highest, float(_BINS), bins_of(scores, _BINS))

    def __getstate__(self) -> dict[str, Any]:
        # Most bins are empty, so those that are not travel with their places.
        used = np.flatnonzero(self._bins.any(axis=0))
        return {"used": used, "counts": self._bins[:, used], "highest": (self._highest, self._at_highest)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        ScoreBins.__init__(self)
        self._bins[:, state["used"]] = state["counts"]
        self._tell(*state["highest"])


class _ByBin(NamedTuple):
    """Points of each class in bins, the highest scores first, and how many score higher than each bin."""

    anomalous: Index
    normal: Index
    found: Index
    false: Index


def _auc_roc(bins: _ByBin, anomalous: int, normal: int) -> Bounds:
    # In floats as wide as the machine has: products of two counts of 1e12 points pass 64 bits.
    gained, pairs = bins.anomalous.astype(np.longdouble), np.longdouble(anomalous) * np.longdouble(normal)
    lost, doubtful = np.sum(gained * bins.false), np.sum(gained * bins.normal)
    return Bounds(*(float(1 - lower / pairs) for lower in (lost + doubtful, lost)))


def _auc_pr(bins: _ByBin, anomalous: int, normal: int, *, interpolation: str) -> Bounds:
    """Precision at x anomalous points found is x / (x + c): in a bin, c is at least `few` and at most `many`.

    It grows with x and is concave. So a sum over steps is at least the integral; one over trapezoids is at most the
    integral, and at least the one trapezoid from the first to the last x of the bin.
    """
    gained, found = bins.anomalous.astype(np.float64), bins.found.astype(np.float64)
    few = bins.false.astype(np.float64)
    many = few + bins.normal
    if interpolation == "step":
        low, high = _integral(found, gained, many), gained * _precision(found + gained, few)
    else:
        low = gained * (_precision(found, many) + _precision(found + gained, many)) / 2
        high = _integral(found, gained, few)
    return Bounds(*(float(min(max(np.sum(x) / anomalous, 0.0), 1.0)) for x in (low, high)))


def _precision(found: Any, false: Any) -> Any:
    alarms = found + false
    return np.divide(found, alarms, out=np.ones(len(alarms)), where=alarms > 0)  # 1 before the first alarm


def _integral(found: Any, gained: Any, false: Any) -> Any:
    """Return the integral of x / (x + false) from `found` on, `gained` wide."""
    return gained - false * np.log1p(gained / np.maximum(found + false, 1))


def _best_f1(bins: _ByBin, anomalous: int, normal: int, *, beta: float) -> Bounds:
    found = bins.found + bins.anomalous
    ends = f_of_counts(found, bins.false + bins.normal, anomalous, beta)
    return Bounds(float(ends.max()), float(f_of_counts(found, bins.false, anomalous, beta).max()))


def _precision_at_k(bins: _ByBin, anomalous: int, normal: int, *, k: int | None) -> Bounds:
    k = places_at_top(k, anomalous, anomalous + normal)
    last = int(np.searchsorted(bins.found + bins.false + bins.anomalous + bins.normal, k))
    found, points, others = (int(x[last]) for x in (bins.found, bins.anomalous, bins.normal))
    left = k - found - int(bins.false[last])
    return Bounds((found + max(left - others, 0)) / k, (found + min(left, points)) / k)


_BOUNDS: dict[str, Callable[..., Bounds]] = {
    "auc_roc": _auc_roc,
    "auc_pr": _auc_pr,
    "best_f1": _best_f1,
    "precision_at_k": _precision_at_k,
}
