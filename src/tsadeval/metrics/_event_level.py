"""Metrics that count events and alarm runs: event F, composite F, detection delay, false alarms.

An event is a maximal run of anomalous points, an alarm run a maximal run of predicted ones. An event is detected
where at least one of its points is predicted; an alarm run is false where none of its points is anomalous. With

    K events, D of them detected, R alarm runs, F of them false, T = R - F that touch an event,

recall is D / K throughout, and the metrics differ in what they call precision.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tsadeval.core.define import prediction_metric, takes_predictions
from tsadeval.core.events import Index
from tsadeval.core.inputs import Prediction
from tsadeval.core.metric import PRF, f_beta
from tsadeval.core.parameters import F_CHECKS, Check, OneOf, Span
from tsadeval.errors import UndefinedError
from tsadeval.metrics.counting import STATISTICS, UNITS, first_inside
from tsadeval.metrics.event_sweep import (
    best_composite_f1,
    best_delay,
    best_event_f1,
    best_false_alarms,
    with_early,
)

__all__ = ["composite", "composite_f1", "detection_delay", "event", "event_f1", "false_alarms"]

EVENT_CHECKS: dict[str, Check] = {**F_CHECKS, "variant": OneOf(("segments", "runs", "discounted"))}


class _Counts(NamedTuple):
    """What the metrics here count on one prediction; `first` is the first alarm in each event (or its stop)."""

    events: int
    detected: int
    runs: int
    false_runs: int
    first: Index


def _counts(data: Prediction) -> _Counts:
    return data.shared(("event_level", "counts"), lambda: _count(data))


def _count(data: Prediction) -> _Counts:
    events, predicted = data.events, data.predicted
    first = np.minimum(first_inside(predicted, events.starts, events.stops), events.stops)
    touched = first_inside(events, predicted.starts, predicted.stops) < predicted.stops
    return _Counts(
        events=len(events),
        detected=int(np.count_nonzero(first < events.stops)),
        runs=len(predicted),
        false_runs=len(predicted) - int(np.count_nonzero(touched)),
        first=first,
    )


def _true_points(data: Prediction) -> int:
    """Count the predicted points that are anomalous."""
    return data.shared(("event_level", "true points"), lambda: data.events.shared_points(data.predicted))


def _prf(precision: float, count: _Counts, beta: float) -> PRF:
    if count.events == 0:
        return PRF(precision, math.nan, math.nan)
    recall = count.detected / count.events
    return PRF(precision, recall, f_beta(precision, recall, beta))


def _event(data: Prediction, beta: float, variant: str) -> PRF:
    count = _counts(data)
    if count.runs == 0:
        return _prf(math.nan, count, beta)
    if variant == "runs":
        return _prf((count.runs - count.false_runs) / count.runs, count, beta)
    precision = count.detected / (count.detected + count.false_runs)
    normal = data.judged - data.events.points
    if variant == "discounted" and normal > 0:
        precision *= 1 - (data.predicted.points - _true_points(data)) / normal
    return _prf(precision, count, beta)


@takes_predictions(EVENT_CHECKS)
def event(data: Prediction, *, beta: float = 1.0, variant: str = "segments") -> PRF:
    """Precision, recall and F of events. Options and definitions as for `event_f1`.

    Precision is NaN where nothing is predicted; recall and F are NaN where y_true has no event.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.event([0, 1, 1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 1, 0, 0, 0])
    PRF(precision=0.5, recall=0.5, f1=0.5)
    """
    return _event(data, beta, variant)


@prediction_metric(
    label="Event-F1",
    range=(0.0, 1.0),
    summary="F of the share of events that are detected and the share of detections that are right.",
    undefined="y_true has no event",
    references=(
        "Hundman et al., Detecting Spacecraft Anomalies Using LSTMs and Nonparametric Dynamic Thresholding, KDD 2018",
        "Sehili and Zhang, Multivariate Time Series Anomaly Detection: Fancy Algorithms and Flawed Evaluation "
        "Methodology, TPCTC 2023",
    ),
    checks=EVENT_CHECKS,
    properties={"mirror", "separable"},
    needs={"anomaly"},
    best=best_event_f1,
    # An alarm everywhere is one run that touches every event.
    trivial_best=lambda options: options["variant"] != "discounted",
    version="r2",
    sets={"recommended"},
)
def event_f1(data: Prediction, *, beta: float = 1.0, variant: str = "segments") -> float:
    """F of event-wise precision and recall.

    Recall is the share of events with at least one predicted point. "Event F1" is the name of several metrics
    that differ in precision; `variant` chooses. TSB-AD's "Event-based-F1" is `composite_f1` here.

    Predicting every point is one alarm run that touches all events: "runs" and "segments" give it 1. So their
    best value over all thresholds is always 1, and the rule "best" takes them at the threshold of the best point-wise
    F1. "discounted" gives it 0, has a best threshold of its own, and "best" takes it there.

    Parameters
    ----------
    variant : {"segments", "runs", "discounted"}, default="segments"
        "segments": detected events / (detected events + false alarm runs), as in Hundman et al. 2018; equals
        `SegmentwiseFScore` of tsadmetrics.
        "runs": precision is the share of alarm runs that touch an event, the mirror image of recall. An event
        found by ten short runs counts ten times in it.
        "discounted": "segments" times the share of normal points without alarm, so that predicting everything does
        not pay (Sehili and Zhang 2023); equals `EventWiseFBeta` of dtaianomaly.

    Returns
    -------
    float
        0 where no event is detected. NaN, with an `UndefinedMetricWarning`, where y_true has no event.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 1, 1, 1, 0, 0, 0, 0]
    >>> y_pred = [0, 1, 0, 1, 0, 1, 0, 0]
    >>> round(te.metrics.event_f1(y_true, y_pred), 4)
    0.6667
    >>> te.metrics.event_f1(y_true, y_pred, variant="runs")
    0.8
    """
    return _event(data, beta, variant).f1


def _composite(data: Prediction, beta: float) -> PRF:
    points = data.predicted.points
    return _prf(_true_points(data) / points if points else math.nan, _counts(data), beta)


@takes_predictions(F_CHECKS)
def composite(data: Prediction, *, beta: float = 1.0) -> PRF:
    """Point-wise precision, event-wise recall and their F, as defined for `composite_f1`.

    Precision is NaN where nothing is predicted; recall and F are NaN where y_true has no event.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.composite([0, 1, 1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 1, 0, 0, 0])
    PRF(precision=0.5, recall=0.5, f1=0.5)
    """
    return _composite(data, beta)


@prediction_metric(
    label="Composite-F1",
    range=(0.0, 1.0),
    summary="F of point-wise precision and the share of events that are detected.",
    undefined="y_true has no event",
    references=(
        "Garg et al., An Evaluation of Anomaly Detection and Diagnosis in Multivariate Time Series, TNNLS 2021",
    ),
    checks=F_CHECKS,
    properties={"mirror", "separable"},
    needs={"anomaly"},
    best=best_composite_f1,
)
def composite_f1(data: Prediction, *, beta: float = 1.0) -> float:
    """F of the share of predicted points that are anomalous and the share of events that are detected.

    Equals `CompositeFScore` of tsadmetrics, and "Event-based-F1" of TSB-AD unless the last point of the series is
    anomalous: there the published code, and TSB-AD with it, loses that point of the last event.

    Returns
    -------
    float
        0 where no event is detected. NaN, with an `UndefinedMetricWarning`, where y_true has no event.

    Examples
    --------
    >>> import tsadeval as te
    >>> round(te.metrics.composite_f1([0, 1, 1, 1, 0, 0, 0, 0], [0, 1, 0, 1, 0, 1, 0, 0]), 4)
    0.8
    """
    return _composite(data, beta).f1


@prediction_metric(
    label="Delay",
    range=(0.0, math.inf),
    summary="Mean number of points from the start of an event to its first alarm.",
    undefined="y_true has no event, or no event is detected (unless missed events count)",
    references=("Zamanzadeh Darban et al., Deep Learning for Time Series Anomaly Detection: A Survey, 2024",),
    checks={
        "missed": OneOf(("skip", "length")),
        "unit": OneOf(UNITS),
        "statistic": OneOf(tuple(STATISTICS)),
    },
    properties={"separable"},
    needs={"anomaly"},
    direction="lower",
    best=best_delay,
    trivial_best=True,
    sets={"recommended"},
)
def detection_delay(data: Prediction, *, missed: str = "skip", unit: str = "points", statistic: str = "mean") -> float:
    """Mean number of points from the start of an event to the first alarm inside it. Lower is better.

    Equals `MeanTimeToDetect` of tsadmetrics where every event is detected. For a missed event that one takes the
    next alarm wherever it is, or counts 0 where there is none.

    Parameters
    ----------
    missed : {"skip", "length"}, default="skip"
        "skip": the mean is over detected events only, so look at recall beside it.
        "length": a missed event counts with its whole length.
    unit : {"points", "s", "min", "h", "day"}, default="points"
        What delays are counted in; units of time need `te.evaluate(..., times=...)`.
    statistic : {"mean", "median", "p90", "max"}, default="mean"
        What is taken of the delays; "p90" is their 90th percentile. For a table of all events see `te.events`.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 1, 1, 1, 0, 1, 1, 0]
    >>> y_pred = [0, 0, 0, 1, 0, 0, 0, 1]
    >>> te.metrics.detection_delay(y_true, y_pred)
    2.0
    >>> te.metrics.detection_delay(y_true, y_pred, missed="length")
    2.0
    """
    first, events = _counts(data).first, data.events
    size, delays = data.setting.elapsed(unit, events.starts, first)
    if missed == "skip":
        delays = delays[first < events.stops]
    if len(delays) == 0:
        raise UndefinedError("no event is detected, so there is no delay to average")
    return float(STATISTICS[statistic](delays)) / size


@prediction_metric(
    label="False alarms",
    range=(0.0, math.inf),
    summary="Alarm runs that touch no event, per 1,000 points of the series.",
    undefined="never",
    references=("Hundman et al., KDD 2018 (the false positives of its segment-wise precision)",),
    checks={"per": Span(0, open_low=True), "early": Span(0, integer=True)},
    properties={"mirror"},
    direction="lower",
    best=best_false_alarms,
    trivial_best=True,
    version="r3",
    sets={"recommended"},
)
def false_alarms(data: Prediction, *, per: float | str = 1000, early: int | str = 0) -> float:
    """Count the alarm runs without an anomalous point, per 1,000 points of the series. Lower is better.

    A run counts once, however long it is. With `per="day"` (or any other duration, which needs `te.evaluate(...,
    times=...)`) it is the number of false alarms per day of normal time. Points that are not judged do not count. Time
    is what was observed: a point stands for the time to the next one, but for no more than 20 median steps, so that
    gaps in the data are no quiet time.

    Parameters
    ----------
    per : float or duration, default=1000
        Number of points, or time, that the count is scaled to.
    early : int or duration, default=0
        Alarms so shortly before an event are warnings, and not false.

    Returns
    -------
    float
        0 where every alarm run touches an event, and where there is no alarm.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [0, 1, 1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 1, 1, 0, 0]
    >>> te.metrics.false_alarms(y_true, y_pred)
    125.0
    >>> times = te.times(range(0, 80, 10), unit="min")
    >>> te.evaluate(y_true, y_pred=y_pred, metrics="false_alarms(per='h')", times=times)["false_alarms(per='h')"]
    1.0
    """
    false = _counts(with_early(data, early)).false_runs
    if not isinstance(per, str):
        return per * (false / data.judged)  # in this order no number of points is too many
    size, _ = data.setting.positions(per, data.n)
    shares = data.setting.clock.durations
    normal = ~data.truth.mask if data.setting.ignored is None else ~(data.truth.mask | data.setting.ignored)
    time = int(shares[normal].sum())
    if time == 0:
        raise UndefinedError("there is no normal time")
    return false * (size / time)
