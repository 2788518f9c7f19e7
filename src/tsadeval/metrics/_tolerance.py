"""Metrics that forgive small shifts in time: a label and an alarm agree where they are a few points apart.

With A the anomalous points and P the alarmed points, |.| their number, and [X near Y] the points of X that are within
`tolerance` points of a point of Y:

    time-tolerant recall, and total detected in range   |A near P| / |A|
    time-tolerant precision                             |P near A| / |P|
    detection accuracy in range                         |A near P| / (|A near P| + false alarms)

Over all thresholds v: an anomalous point is near an alarm from the highest score around it down. So each of these
counts is the number of some fixed values that are at least v, and one sort of them is the whole sweep.
"""

from __future__ import annotations

import numpy as np

from tsadeval.core.define import prediction_metric, takes_predictions
from tsadeval.core.events import Events
from tsadeval.core.inputs import Floats, Prediction, Scoring
from tsadeval.core.metric import PRF, f_beta
from tsadeval.core.parameters import BETA, Check, OneOf, Span, recall_weight
from tsadeval.metrics.counting import first_best, widened, window_maxima

__all__ = ["detection_accuracy_in_range", "time_tolerant", "time_tolerant_f1", "total_detected_in_range"]

_UNDEFINED = "y_true has no anomalous point"
_SCHARWACHTER = "Scharwächter and Müller, Statistical Evaluation of Anomaly Detectors for Sequences, 2020"
_KOVACS = "Kovács et al., Evaluation metrics for anomaly detection algorithms in time-series, Acta Sapientiae 2019"

POINTS = Span(0, integer=True)
TOLERANT: dict[str, Check] = {"tolerance": POINTS, "beta": BETA}


Tolerance = int | str  # a number of points, or a duration


def _around(data: Prediction | Scoring, runs: Events, tolerance: Tolerance) -> Events:
    """The points within `tolerance` of a run."""
    return (
        widened(runs, *data.setting.positions(tolerance, data.n))
        if isinstance(tolerance, str)
        else widened(runs, tolerance)
    )


def _maxima(data: Scoring, tolerance: Tolerance) -> Floats:
    """The highest score within `tolerance` of each anomalous point."""
    reach, edges = data.setting.positions(tolerance, data.n)
    return window_maxima(data.scores, reach, places=edges[:-1])[data.truth.mask]


def _near(data: Prediction, tolerance: Tolerance) -> int:
    """Number of anomalous points within `tolerance` of an alarm."""
    return data.events.shared_points(_around(data, data.predicted, tolerance))


def _tolerant(data: Prediction, tolerance: Tolerance, beta: float) -> PRF:
    alarmed, anomalous = data.predicted.points, data.events.points
    if anomalous == 0:
        return PRF(0.0 if alarmed else np.nan, np.nan, np.nan)
    precision = data.predicted.shared_points(_around(data, data.events, tolerance)) / alarmed if alarmed else np.nan
    recall = _near(data, tolerance) / anomalous
    return PRF(precision, recall, f_beta(precision, recall, beta))


@takes_predictions(TOLERANT)
def time_tolerant(data: Prediction, *, tolerance: Tolerance = 5, beta: float = 1.0) -> PRF:
    """Precision, recall and F that forgive shifts of up to `tolerance` points. Definitions as for `time_tolerant_f1`.

    Precision is NaN where nothing is predicted; recall and F are NaN where y_true has no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.time_tolerant([0, 0, 1, 1, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 1], tolerance=1)
    PRF(precision=0.5, recall=0.5, f1=0.5)
    """
    return _tolerant(data, tolerance, beta)


def _at_least(ascending: Floats, v: Floats) -> Floats:
    """How many of some values are at least each v, as floats."""
    return len(ascending) - np.searchsorted(ascending, v).astype(np.float64)


def _best_time_tolerant_f1(data: Scoring, *, tolerance: Tolerance, beta: float) -> float:
    weight = recall_weight(beta)
    zone = _around(data, data.events, tolerance).mask()
    detected = np.sort(_maxima(data, tolerance))
    near, far = np.sort(data.scores[zone]), np.sort(data.scores[~zone])
    # Between two scores of points near an event only false alarms are added.
    v = near[np.concatenate([near[1:] != near[:-1], [True]])][::-1]
    right, found = _at_least(near, v), _at_least(detected, v)
    # F of right / alarms and found / all, with one division so that equal values are equal floats.
    alarms = right + _at_least(far, v)
    values = (1 + weight) * right * found / (weight * right * len(detected) + found * alarms)
    return float(v[first_best(values)])


@prediction_metric(
    label="Time-tolerant F1",
    range=(0.0, 1.0),
    summary="Point-wise F where labels and alarms that are at most `tolerance` points apart agree.",
    undefined=_UNDEFINED,
    references=(_SCHARWACHTER, "Sørbø and Ruocco, Navigating the metric maze, DMKD 2024"),
    checks=TOLERANT,
    properties={"mirror"},
    needs={"anomaly"},
    best=_best_time_tolerant_f1,
)
def time_tolerant_f1(data: Prediction, *, tolerance: Tolerance = 5, beta: float = 1.0) -> float:
    """Point-wise F that forgives shifts of up to `tolerance` points.

    Recall is the share of anomalous points with an alarm at most `tolerance` points away, precision the
    share of alarms with an anomalous point at most so far away; 0 is point-wise F. Equals `TimeTolerantFScore`
    of tsadmetrics.

    Parameters
    ----------
    tolerance : int or duration, default=5
        The largest distance at which a label and an alarm agree: points, or a duration ("30min") where there are times.

    Returns
    -------
    float
        0 where no anomalous point is near an alarm. NaN, with an `UndefinedMetricWarning`, where there is none.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [0, 0, 1, 1, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 1]
    >>> [te.metrics.time_tolerant_f1(y_true, y_pred, tolerance=t) for t in (0, 1)]
    [0.0, 0.5]
    """
    return _tolerant(data, tolerance, beta).f1


def _best_total(data: Scoring, *, tolerance: Tolerance) -> float:
    # It can only grow as the threshold falls, so the best is where the last anomalous point comes near an alarm.
    return float(_maxima(data, tolerance).min())


@prediction_metric(
    label="Detected in range",
    range=(0.0, 1.0),
    summary="The share of anomalous points with an alarm at most `tolerance` points away.",
    undefined=_UNDEFINED,
    references=(_KOVACS,),
    checks={"tolerance": POINTS},
    properties={"mirror"},
    needs={"anomaly"},
    best=_best_total,
    trivial_best=True,
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

    Returns
    -------
    float
        0 without alarms. NaN, with an `UndefinedMetricWarning`, where there is no anomalous point.

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
    found, alarms = _at_least(detected, v), _at_least(wrong, v)
    values = found / np.maximum(found + alarms, 1)
    return float(v[first_best(values)])


@prediction_metric(
    label="Accuracy in range",
    range=(0.0, 1.0),
    summary="Anomalous points with an alarm at most `tolerance` points away, as a share of these and the false alarms.",
    undefined="y_true has no anomalous point, or y_pred no alarm",
    references=(_KOVACS,),
    checks={"tolerance": POINTS, "false": OneOf(("far", "all"))},
    properties={"mirror"},
    needs={"anomaly", "alarm"},
    best=_best_accuracy,
    trivial_best=True,
)
def detection_accuracy_in_range(data: Prediction, *, tolerance: Tolerance = 5, false: str = "far") -> float:
    """Detected anomalous points as a share of these and the false alarms, with a tolerance.

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
