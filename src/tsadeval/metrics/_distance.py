"""Distances between alarms and events: how far apart they are, and how much of an event is alarmed, and where."""

from __future__ import annotations

import math

import numpy as np

import tsadeval.metrics._kernels.neighbours as kernel
from tsadeval.core.define import prediction_metric
from tsadeval.core.events import Events, Index
from tsadeval.core.inputs import Bools, Floats, Prediction, Scoring
from tsadeval.core.parameters import Flag, Number
from tsadeval.errors import UndefinedError
from tsadeval.metrics.counting import first_best, overlaps, ranges

__all__ = [
    "absolute_detection_distance",
    "average_detection_count",
    "temporal_distance",
    "weighted_detection_difference",
]

_KOVACS = "Kovács et al., Evaluation metrics for anomaly detection algorithms in time-series, Acta Sapientiae 2019"
_CEUR = "CEUR Workshop Proceedings, volume 1226, paper 31, 2014"


def _sum_up(low: Index, high: Index, squared: bool) -> float:
    """The sum of u (or of its square) over the whole numbers from low + 1 to high, summed over all pairs."""
    p, d = low.astype(np.float64), np.maximum(high - low, 0).astype(np.float64)
    if squared:
        return float(np.sum(d * (p * p + p * (d + 1) + (d + 1) * (2 * d + 1) / 6)))
    return float(np.sum(d * p + d * (d + 1) / 2))


def _distances(points: Events, runs: Events, squared: bool) -> float:
    """Sum, over the points of some runs, of the distance to the nearest point of other runs (n where there is none).

    In a gap between two runs the distance grows up to the middle and falls from there on, so every stretch of points
    within a gap has a closed sum.
    """
    n = points.n
    if len(runs) == 0:
        return float(points.points) * float(n) ** (2 if squared else 1)
    gaps = runs.complement()
    _, gap, starts, stops = overlaps(points, gaps)
    left, right = gaps.starts[gap], gaps.stops[gap]
    # From the middle on the run to the right is nearer; at the ends of the series there is one neighbour only.
    middle = np.where(left == 0, left, np.where(right == n, right, (left + right + 1) // 2))
    first_half, second_half = np.minimum(stops, middle), np.maximum(starts, middle)
    return _sum_up(starts - left, first_half - left, squared) + _sum_up(right - stops, right - second_half, squared)


def _to_nearest(runs: Events) -> Floats:
    """The distance of every point to the nearest run."""
    gaps = runs.complement()
    found = np.zeros(runs.n)
    points = ranges(gaps.starts, gaps.lengths)
    left, right = (np.repeat(ends, gaps.lengths) for ends in (gaps.starts, gaps.stops))
    behind, ahead = np.where(left > 0, points - left + 1, runs.n), np.where(right < runs.n, right - points, runs.n)
    found[points] = np.minimum(behind, ahead)
    return found


def _best_temporal_distance(data: Scoring, *, squared: bool) -> float:
    ordered = data.descending
    order, scores = np.ascontiguousarray(ordered["position"]), ordered["score"]
    there = kernel.distances_left(order, data.truth.mask.view(np.uint8), squared)
    back = _to_nearest(data.events)[order]
    total = there + np.cumsum(back * back if squared else back)
    last = np.append(np.flatnonzero(scores[1:] != scores[:-1]), data.n - 1)
    return float(scores[last][np.argmin(total[last])])


@prediction_metric(
    label="Temporal distance",
    range=(0.0, math.inf),
    summary="Sum of the distances from every anomalous point to the nearest alarm and from every alarm to the nearest "
    "anomalous point.",
    undefined="y_true has no anomalous point",
    references=(_KOVACS,),
    checks={"squared": Flag()},
    properties={"mirror"},
    needs={"anomaly"},
    direction="lower",
    best=_best_temporal_distance,
)
def temporal_distance(data: Prediction, *, squared: bool = False) -> float:
    """Sum of distances, in points, from labels to alarms and from alarms to labels. Lower is better.

    Every anomalous point adds its distance to the nearest alarm, and every alarm its distance to the nearest anomalous
    point. Equals `TemporalDistance` of tsadmetrics at `distance=0`; at `distance=1` that one squares the two sums
    instead of the distances.

    Parameters
    ----------
    squared : bool, default=False
        Square every distance.

    Returns
    -------
    float
        0 where labels and alarms agree. Without alarms every anomalous point counts the length of the series. NaN,
        with an `UndefinedMetricWarning`, where there is no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.temporal_distance([0, 0, 1, 1, 0, 0], [1, 0, 1, 0, 0, 0])
    3.0
    """
    events, alarms = data.events, data.predicted
    return _distances(events, alarms, squared) + (_distances(alarms, events, squared) if len(alarms) else 0.0)


def _off_center(points: Index, event: Index, events: Events) -> Floats:
    """Distance of points from the centre of their event, as a share of its length."""
    twice = np.abs(2 * points - (events.starts + events.stops - 1)[event])
    return np.asarray(twice / (2 * events.lengths[event]))


def _best_absolute_detection_distance(data: Scoring) -> float:
    events = data.events
    points, event = np.flatnonzero(data.truth.mask), np.repeat(np.arange(len(events)), events.lengths)
    v, sums, counts = _sums_from(data.scores[points], _off_center(points, event, events))
    return float(v[first_best(-sums / counts)])


def _sums_from(scores: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Distinct scores v, descending, and the sum of the weights and the number of points that score at least v."""
    order = np.argsort(scores)[::-1]
    scores, sums = scores[order], np.cumsum(weights[order])
    last = np.append(np.flatnonzero(scores[1:] != scores[:-1]), len(scores) - 1)
    return scores[last], sums[last], (last + 1).astype(np.float64)


@prediction_metric(
    label="Detection distance",
    range=(0.0, 0.5),
    summary="Mean distance of alarms inside events from the centre of their event, as a share of its length.",
    undefined="no anomalous point is alarmed",
    references=(_CEUR,),
    properties={"mirror", "separable"},
    needs={"anomaly"},
    direction="lower",
    best=_best_absolute_detection_distance,
    trivial_best=True,
    stream=None,
)
def absolute_detection_distance(data: Prediction) -> float:
    """Mean distance of correct alarms from the centre of their event, as a share of the event's length.

    Lower is better: alarms in the middle of events get 0, alarms spread evenly over them about 1/4. Alarms outside
    events do not count. Equals `AbsoluteDetectionDistance` of tsadmetrics for events of odd length; for even ones that
    one rounds the centre down, so that mirrored data gets another value, and without a correct alarm it gives 0.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.absolute_detection_distance([0, 1, 1, 1, 1, 0], [0, 1, 1, 0, 0, 1])
    0.25
    """
    points = np.flatnonzero(data.alarms.mask & data.truth.mask)
    if len(points) == 0:
        raise UndefinedError("no anomalous point is alarmed")
    event = np.searchsorted(data.events.stops, points, side="right")
    return float(np.mean(_off_center(points, event, data.events)))


def _weights(points: Index, anomalous: Bools, events: Events, tolerance: int) -> Floats:
    """What an alarm at each of some points is worth: a bell curve inside events, a penalty outside."""
    after = np.searchsorted(events.starts, points, side="right")
    event = np.maximum(after - 1, 0)
    center = (events.starts + events.stops - 1) / 2
    width = np.maximum(events.lengths / 2, 1)
    bell = np.exp(-0.5 * ((points - center[event]) / width[event]) ** 2)
    # An event behind and one ahead; at the ends of the series one of them is as far as can be.
    behind = np.where(after > 0, points - (events.stops[event] - 1), events.n)
    ahead = np.append(events.starts, 2 * events.n)[after] - points
    penalty = np.minimum(np.minimum(behind, ahead) / max(float(tolerance), 1.0), 1.0)
    return np.where(anomalous, bell, -penalty)


def _best_weighted_detection_difference(data: Scoring, *, tolerance: int) -> float:
    weights = _weights(np.arange(data.n), data.truth.mask, data.events, tolerance)
    v, sums, _ = _sums_from(data.scores, weights)
    return float(v[first_best(sums)])


@prediction_metric(
    label="Weighted difference",
    range=(-math.inf, math.inf),
    summary="Sum over alarms of a bell-shaped reward inside events and a penalty that grows with the distance outside.",
    undefined="y_true has no anomalous point",
    references=(_KOVACS,),
    checks={"tolerance": Number(0, integer=True)},
    properties={"mirror", "separable"},
    needs={"anomaly"},
    best=_best_weighted_detection_difference,
    stream=None,
)
def weighted_detection_difference(data: Prediction, *, tolerance: int = 5) -> float:
    """Rewards of alarms inside events less penalties of alarms outside.

    An alarm at distance x from the centre of its event of length L earns exp(-x² / (2 w²)) with w = max(L / 2, 1); one
    at distance d from the nearest event costs min(d / tolerance, 1). Equals `WeightedDetectionDifference` of
    tsadmetrics. Values of series of different length cannot be compared.

    Parameters
    ----------
    tolerance : int, default=5
        Distance in points from which on a false alarm costs 1; 0 is the same as 1.

    Returns
    -------
    float
        0 without alarms. NaN, with an `UndefinedMetricWarning`, where there is no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> round(te.metrics.weighted_detection_difference([0, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 0]), 4)
    1.6007
    """
    points = np.flatnonzero(data.alarms.mask)
    return float(np.sum(_weights(points, data.truth.mask[points], data.events, tolerance)))


@prediction_metric(
    label="Detection count",
    range=(0.0, 1.0),
    summary="The share of an event that is alarmed, averaged over events.",
    undefined="y_true has no event",
    references=(_CEUR,),
    properties={"mirror", "separable"},
    needs={"anomaly"},
    # It can only grow as the threshold falls: the best is where all of all events is alarmed.
    best=lambda data: float(data.scores[data.truth.mask].min()),
    trivial_best=True,
)
def average_detection_count(data: Prediction) -> float:
    """Share of the points of an event that are alarmed, averaged over events: point-wise recall, event by event.

    Alarms everywhere get 1, so look at precision beside it. Equals `AverageDetectionCount` of tsadmetrics.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.average_detection_count([0, 1, 1, 0, 1, 0], [0, 1, 0, 0, 1, 1])
    0.75
    """
    pieces = overlaps(data.events, data.predicted)
    hits = np.bincount(pieces.first, weights=pieces.stops - pieces.starts, minlength=len(data.events))
    return float(np.mean(hits / data.events.lengths))
