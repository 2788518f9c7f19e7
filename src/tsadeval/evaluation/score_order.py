"""Metrics of the order of all scores: exact from sorted scores, or between two bounds from counts in bins.

A bin holds points whose scores are neighbours. Whatever their order inside the bin, the value lies between that of the
best and that of the worst such order; both have a formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import tsadeval.metrics._kernels.ranking as kernel
from tsadeval.core.events import Index
from tsadeval.core.metric import Metric
from tsadeval.evaluation.external_sort import Spill, Stretch, stretches
from tsadeval.metrics.counting import f_of_counts


class Interval(NamedTuple):
    """Where a value lies for sure."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The number that is at most half the width of the interval away from the value."""
        return (self.low + self.high) / 2


class _Step(NamedTuple):
    """The sweep over the distinct anomalous scores of a stretch, the highest first, counted from the top of all."""

    stretch: Stretch
    found: Index
    gained: Index
    above: Index
    false: Index


def _sweep(anomalous: Spill, normal: Spill) -> Iterator[_Step]:
    for part in stretches(anomalous, normal):
        if part.tied is None:
            found, above, false = kernel.curve(part.anomalous, part.normal)
        else:  # one level, if any anomalous point has it
            found, above, false = (
                np.array([x] if part.tied[0] else [], np.int64) for x in (part.tied[0], 0, part.tied[1])
            )
        gained = np.diff(found, prepend=0)
        yield _Step(
            part,
            found + part.anomalous_above,
            gained,
            above + part.normal_above,
            false + part.normal_above,
        )


def exactly(metric: Metric, normal: Spill, anomalous: Spill) -> tuple[float, str | None]:
    """The value from all scores of both classes, or why there is none."""
    reason = undefined(metric, anomalous.n, normal.n)
    if reason is not None:
        return math.nan, reason
    return _EXACT[metric.name](_sweep(anomalous, normal), anomalous.n, normal.n, **metric.options), None


def between(metric: Metric, anomalous: Index, normal: Index) -> Interval | str:
    """The interval from the points of each class in bins, the highest scores first; or why there is none."""
    points, others = int(anomalous.sum()), int(normal.sum())
    reason = undefined(metric, points, others)
    if reason is not None:
        return reason
    higher = np.cumsum(anomalous) - anomalous, np.cumsum(normal) - normal
    found: Interval = _BOUNDS[metric.name](_Bins(anomalous, normal, *higher), points, others, **metric.options)
    return found


def undefined(metric: Metric, anomalous: int, normal: int) -> str | None:
    """Why a metric has no value on so many points of each class."""
    if "anomaly" in metric.needs and anomalous == 0:
        return "y_true has no anomalous point (no 1)"
    if "normal" in metric.needs and normal == 0:
        return "y_true has no normal point (no 0)"
    if metric.name != "precision_at_k":
        return None
    k = metric.options["k"]
    if k is None and anomalous == 0:
        return "y_true has no anomalous point (no 1), so k is 0; give k"
    n = anomalous + normal
    return f"k is {k}, but there are only {n} points" if k is not None and k > n else None


def _auc_roc(steps: Iterator[_Step], anomalous: int, normal: int) -> float:
    lost = 0  # twice the pairs in the wrong order, as a whole number of any size
    for step in steps:
        above = step.stretch.normal_above
        local = kernel.pairs_lost(np.cumsum(step.gained), step.above - above, step.false - above)
        lost += int(local) + 2 * above * int(step.gained.sum())
    return (2 * anomalous * normal - lost) / (2 * anomalous * normal)


def _auc_pr(steps: Iterator[_Step], anomalous: int, normal: int, *, interpolation: str) -> float:
    sums = []
    for step in steps:
        end = step.found / (step.found + step.false)
        if interpolation == "step":
            sums.append(float(np.sum(step.gained * end)))
            continue
        before = step.found - step.gained
        alarms = before + step.above
        start = np.divide(before, alarms, out=np.ones(len(before)), where=alarms > 0)
        sums.append(float(np.sum(step.gained * (start + end))) / 2)
    return math.fsum(sums) / anomalous


def _best_f1(steps: Iterator[_Step], anomalous: int, normal: int, *, beta: float) -> float:
    return max(float(f_of_counts(step.found, step.false, anomalous, beta).max()) for step in steps if len(step.found))


def _precision_at_k(steps: Iterator[_Step], anomalous: int, normal: int, *, k: int | None) -> float:
    k = anomalous if k is None else k
    for step in steps:
        part = step.stretch
        left = k - part.anomalous_above - part.normal_above  # so many of this stretch belong to the k
        if part.tied is not None and left <= sum(part.tied):
            return (part.anomalous_above + left * part.tied[0] / sum(part.tied)) / k
        if left > len(part.anomalous) + len(part.normal):
            continue
        both = np.concatenate([part.anomalous, part.normal])
        cut = np.partition(both, len(both) - left)[len(both) - left]
        above = [int(np.count_nonzero(scores > cut)) for scores in (part.anomalous, part.normal)]
        tied = [int(np.count_nonzero(scores == cut)) for scores in (part.anomalous, part.normal)]
        expected = (left - sum(above)) * tied[0] / sum(tied)
        return (part.anomalous_above + above[0] + expected) / k
    raise AssertionError("k is more than the number of points")


class _Bins(NamedTuple):
    """Points of each class in bins, the highest scores first, and how many score higher than each bin."""

    anomalous: Index
    normal: Index
    found: Index
    false: Index


def _bounds_auc_roc(bins: _Bins, anomalous: int, normal: int) -> Interval:
    # In floats as wide as the machine has: products of two counts of 1e12 points pass 64 bits.
    gained, pairs = bins.anomalous.astype(np.longdouble), np.longdouble(anomalous) * np.longdouble(normal)
    lost, doubtful = np.sum(gained * bins.false), np.sum(gained * bins.normal)
    return Interval(*(float(1 - lower / pairs) for lower in (lost + doubtful, lost)))


def _bounds_auc_pr(bins: _Bins, anomalous: int, normal: int, *, interpolation: str) -> Interval:
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
    return Interval(*(float(min(max(np.sum(x) / anomalous, 0.0), 1.0)) for x in (low, high)))


def _precision(found: Any, false: Any) -> Any:
    alarms = found + false
    return np.divide(found, alarms, out=np.ones(len(alarms)), where=alarms > 0)  # 1 before the first alarm


def _integral(found: Any, gained: Any, false: Any) -> Any:
    """The integral of x / (x + false) from `found` on, `gained` wide."""
    return gained - false * np.log1p(gained / np.maximum(found + false, 1))


def _bounds_best_f1(bins: _Bins, anomalous: int, normal: int, *, beta: float) -> Interval:
    found = bins.found + bins.anomalous
    ends = f_of_counts(found, bins.false + bins.normal, anomalous, beta)
    return Interval(float(ends.max()), float(f_of_counts(found, bins.false, anomalous, beta).max()))


def _bounds_precision_at_k(bins: _Bins, anomalous: int, normal: int, *, k: int | None) -> Interval:
    k = anomalous if k is None else k
    last = int(np.searchsorted(bins.found + bins.false + bins.anomalous + bins.normal, k))
    found, points, others = (int(x[last]) for x in (bins.found, bins.anomalous, bins.normal))
    left = k - found - int(bins.false[last])
    return Interval((found + max(left - others, 0)) / k, (found + min(left, points)) / k)


_EXACT: dict[str, Callable[..., float]] = {
    "auc_roc": _auc_roc,
    "auc_pr": _auc_pr,
    "best_f1": _best_f1,
    "precision_at_k": _precision_at_k,
}
_BOUNDS: dict[str, Callable[..., Interval]] = {
    "auc_roc": _bounds_auc_roc,
    "auc_pr": _bounds_auc_pr,
    "best_f1": _bounds_best_f1,
    "precision_at_k": _bounds_precision_at_k,
}
