"""Metrics of distances between alarms and events, and those that forgive small ones: a few points apart agree.

With A the anomalous points and P the alarmed points, |.| their number, and [X near Y] the points of X that are within
`tolerance` points of a point of Y:

    time-tolerant recall, and total detected in range   |A near P| / |A|
    time-tolerant precision                             |P near A| / |P|
    detection accuracy in range                         |A near P| / (|A near P| + false alarms)

Over all thresholds v: an anomalous point is near an alarm from the highest score around it down. So each of these
counts is the number of some fixed values that are at least v, and one sort of them is the whole sweep.
"""

import math
from typing import Any

import numpy as np

import tsadeval.metrics._kernels.neighbours as kernel
from tsadeval.core.define import prediction_metric, takes_predictions
from tsadeval.core.inputs import Bools, Events, Floats, Index, Prediction, Scoring
from tsadeval.core.metric import PRF
from tsadeval.core.parameters import BETA, Flag, Number, OneOf, Span, recall_weight
from tsadeval.errors import UndefinedError
from tsadeval.metrics.counting import (
    best_mean,
    cheapest,
    first_best,
    level_ends,
    matches,
    overlaps,
    owners,
    ranges,
    widened,
    window_maxima,
)
from tsadeval.metrics.event_sweep import at_least

_KOVACS = "Kovács et al., Evaluation metrics for anomaly detection algorithms in time-series, Acta Sapientiae 2019"
_CEUR = (
    "Gensler and Sick, Novel Criteria to Measure Performance of Time Series Segmentation Techniques, LWA 2014 (CEUR "
    "Workshop Proceedings 1226, paper 31)"
)


def _sum_up(low: Index, high: Index, squared: bool) -> float:
    """Return the sum of u (or of its square) over the whole numbers from low + 1 to high, summed over all pairs."""
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
    """Return the distance of every point to the nearest run."""
    gaps = runs.complement()
    found = np.zeros(runs.n)
    points = ranges(gaps.starts, gaps.lengths)
    left, right = (np.repeat(ends, gaps.lengths) for ends in (gaps.starts, gaps.stops))
    behind, ahead = np.where(left > 0, points - left + 1, runs.n), np.where(right < runs.n, right - points, runs.n)
    found[points] = np.minimum(behind, ahead)
    return found


def _best_temporal_distance(data: Scoring, *, squared: bool) -> float:
    order = np.ascontiguousarray(data.descending["position"])
    there = kernel.distances_left(order, data.truth.mask.view(np.uint8), squared)
    back = _to_nearest(data.events)[order]
    return cheapest(data, there + np.cumsum(back * back if squared else back))


@prediction_metric(
    label="Temporal distance",
    range=(0.0, math.inf),
    summary="Sum of the distances from every anomalous point to the nearest alarm and from every alarm to the nearest "
    "anomalous point.",
    references=(_KOVACS,),
    zero="labels and alarms agree",
    checks={"squared": Flag()},
    properties={"mirror"},
    needs={"anomaly"},
    direction="lower",
    best=_best_temporal_distance,
)
def temporal_distance(data: Prediction, *, squared: bool = False) -> float:
    """Sum of distances, in points, from labels to alarms and from alarms to labels. Lower is better.

    Every anomalous point adds its distance to the nearest alarm, and every alarm its distance to the nearest anomalous
    point; without alarms every anomalous point counts the length of the series. Equals `TemporalDistance` of
    tsadmetrics at `distance=0`; at `distance=1` that one squares the two sums instead of the distances.

    Parameters
    ----------
    squared : bool, default=False
        Square every distance.

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
    points = np.flatnonzero(data.truth.mask)
    away = _off_center(points, owners(events), events)
    return best_mean(data.scores[points], away, np.ones(len(points)), lower=True)


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
    """Return what an alarm at each of some points is worth: a bell curve inside events, a penalty outside."""
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
    order = data.descending["position"]
    sums = np.cumsum(_weights(np.arange(data.n), data.truth.mask, data.events, tolerance)[order])
    last = level_ends(data.descending["score"])
    return float(data.scores[order[last]][first_best(sums[last])])


@prediction_metric(
    label="Weighted difference",
    range=(-math.inf, math.inf),
    summary="Sum over alarms of a bell-shaped reward inside events and a penalty that grows with the distance outside.",
    references=(_KOVACS,),
    checks={"tolerance": Number(0, integer=True)},
    properties={"mirror", "separable"},
    needs={"anomaly"},
    best=_best_weighted_detection_difference,
    stream=None,
    zero="there is no alarm",
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
    summary="The share of an event that is alarmed, averaged over events.",
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
    return float(np.mean(matches(data).hits / data.events.lengths))


POINTS = Span(0, integer=True)


Tolerance = int | str  # a number of points, or a duration


def _around(data: Prediction | Scoring, runs: Events, tolerance: Tolerance) -> Events:
    """Return the points within `tolerance` of a run."""
    if isinstance(tolerance, str):
        return widened(runs, *data.setting.positions(tolerance, data.n))
    return widened(runs, tolerance)


def _maxima(data: Scoring, tolerance: Tolerance) -> Floats:
    """Return the highest score within `tolerance` of each anomalous point."""
    reach, edges = data.setting.positions(tolerance, data.n)
    return window_maxima(data.scores, reach, places=edges[:-1])[data.truth.mask]


def _near(data: Prediction, tolerance: Tolerance) -> int:
    """Count the anomalous points within `tolerance` of an alarm."""
    return data.events.shared_points(_around(data, data.predicted, tolerance))


@takes_predictions({"tolerance": POINTS, "beta": BETA})
def time_tolerant(data: Prediction, *, tolerance: Tolerance = 5, beta: float = 1.0) -> PRF:
    """Precision, recall and F that forgive shifts of up to `tolerance` points. Definitions as for `time_tolerant_f1`.

    Parameters
    ----------
    tolerance : int or duration, default=5
        The largest distance at which a label and an alarm agree: points, or a duration ("30min") where there are times.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.time_tolerant([0, 0, 1, 1, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 1], tolerance=1)
    PRF(precision=0.5, recall=0.5, f1=0.5)
    """
    alarmed, anomalous = data.predicted.points, data.events.points
    right = data.predicted.shared_points(_around(data, data.events, tolerance))
    precision = right / alarmed if alarmed else math.nan
    return PRF.of(precision, _near(data, tolerance) / anomalous if anomalous else math.nan, beta)


def _best_time_tolerant_f1(data: Scoring, *, tolerance: Tolerance, beta: float) -> float:
    weight = recall_weight(beta)
    zone = _around(data, data.events, tolerance).mask()
    detected = np.sort(_maxima(data, tolerance))
    near, far = np.sort(data.scores[zone]), np.sort(data.scores[~zone])
    # Between two scores of points near an event only false alarms are added.
    v = near[np.concatenate([near[1:] != near[:-1], [True]])][::-1]
    right, found = at_least(near, v), at_least(detected, v)
    # F of right / alarms and found / all, with one division so that equal values are equal floats.
    alarms = right + at_least(far, v)
    values = (1 + weight) * right * found / (weight * right * len(detected) + found * alarms)
    return float(v[first_best(values)])


@prediction_metric(
    label="Time-tolerant F1",
    summary="Point-wise F where labels and alarms that are at most `tolerance` points apart agree.",
    references=(
        "Scharwächter and Müller, Statistical Evaluation of Anomaly Detectors for Sequences, 2020",
        "Sørbø and Ruocco, Navigating the metric maze: a taxonomy of evaluation metrics for anomaly detection in time "
        "series, DMKD 2024",
    ),
    like=time_tolerant,
    properties={"mirror"},
    needs={"anomaly"},
    best=_best_time_tolerant_f1,
    zero="no anomalous point is near an alarm",
)
def time_tolerant_f1(data: Prediction, /, **options: Any) -> float:
    """Point-wise F that forgives shifts of up to `tolerance` points.

    Recall is the share of anomalous points with an alarm at most `tolerance` points away, precision the
    share of alarms with an anomalous point at most so far away; 0 is point-wise F. Equals `TimeTolerantFScore`
    of tsadmetrics.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [0, 0, 1, 1, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 1]
    >>> [te.metrics.time_tolerant_f1(y_true, y_pred, tolerance=t) for t in (0, 1)]
    [0.0, 0.5]
    """
    return time_tolerant.compute(data, **options).f1


@prediction_metric(
    label="Detected in range",
    summary="The share of anomalous points with an alarm at most `tolerance` points away.",
    references=(_KOVACS,),
    checks={"tolerance": POINTS},
    properties={"mirror"},
    needs={"anomaly"},
    # It can only grow as the threshold falls, so the best is where the last anomalous point comes near an alarm.
    best=lambda data, *, tolerance: float(_maxima(data, tolerance).min()),
    trivial_best=True,
    zero="there is no alarm",
)
def total_detected_in_range(data: Prediction, *, tolerance: Tolerance = 5) -> float:
    """Share of anomalous points with an alarm at most `tolerance` points away: the recall of `time_tolerant`.

    Alarms everywhere get 1, so look at false alarms or `detection_accuracy_in_range` beside it. Equals
    `TotalDetectedInRange` of tsadmetrics, except near the start of the series, where the window of that one begins
    at the end of the series.

    Parameters
    ----------
    tolerance : int or duration, default=5
        The largest distance at which an anomalous point counts as detected, in points or as a duration.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.total_detected_in_range([0, 0, 1, 1, 0, 0], [0, 1, 0, 0, 0, 0], tolerance=1)
    0.5
    """
    return _near(data, tolerance) / data.events.points


def _best_accuracy(data: Scoring, *, tolerance: Tolerance, false: str) -> float:
    right = data.truth.mask if false == "all" else _around(data, data.events, tolerance).mask()
    detected = np.sort(_maxima(data, tolerance))
    wrong = np.sort(data.scores[~right])
    # It can only grow where a detection is added; the highest threshold is best where all are equally bad.
    v = np.append(detected[np.concatenate([[True], detected[1:] != detected[:-1]])], data.high)[::-1]
    found, alarms = at_least(detected, v), at_least(wrong, v)
    values = found / np.maximum(found + alarms, 1)
    return float(v[first_best(values)])


@prediction_metric(
    label="Accuracy in range",
    summary="Anomalous points with an alarm at most `tolerance` points away, as a share of these and the false alarms.",
    references=(_KOVACS,),
    checks={"tolerance": POINTS, "false": OneOf(("far", "all"))},
    properties={"mirror"},
    needs={"anomaly", "alarm"},
    best=_best_accuracy,
    trivial_best=True,
)
def detection_accuracy_in_range(data: Prediction, *, tolerance: Tolerance = 5, false: str = "far") -> float:
    """Compute detected anomalous points as a share of these and the false alarms, with a tolerance.

    An anomalous point is detected where an alarm is at most `tolerance` points away. `DetectionAccuracyInRange` of
    tsadmetrics says that alarms within the tolerance are not false, but counts them as false: it equals `false="all"`,
    except at the start of the series (see `total_detected_in_range`).

    Parameters
    ----------
    tolerance : int or duration, default=5
        The tolerance, in points or as a duration.
    false : {"far", "all"}, default="far"
        Which alarms are false: those more than `tolerance` points from every event, or all at normal points.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [0, 0, 1, 1, 0, 0], [0, 1, 0, 0, 0, 0]
    >>> te.metrics.detection_accuracy_in_range(y_true, y_pred, tolerance=1)
    1.0
    >>> te.metrics.detection_accuracy_in_range(y_true, y_pred, tolerance=1, false="all")
    0.5
    """
    right = data.events if false == "all" else _around(data, data.events, tolerance)
    found, wrong = _near(data, tolerance), data.predicted.points - data.predicted.shared_points(right)
    return found / (found + wrong)
