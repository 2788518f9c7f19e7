"""Metrics that count events, alarm runs or batches of points: event F, composite F, false alarms, and delays.

An event is a maximal run of anomalous points, an alarm run a maximal run of predicted ones. An event is detected
where at least one of its points is predicted; an alarm run is false where none of its points is anomalous. With

    K events, D of them detected, R alarm runs, F of them false, T = R - F that touch an event,

recall is D / K throughout, and the metrics differ in what they call precision.

`detection_delay` counts delays in points; latency- and sparsity-aware F, early detection and timing quality weigh them.
"""

import math
from typing import Any

import numpy as np

from tsadeval.core.define import prediction_metric, takes_predictions
from tsadeval.core.inputs import Events, Floats, Index, Prediction, Scoring
from tsadeval.core.metric import PRF
from tsadeval.core.parameters import BETA, F_CHECKS, Number, OneOf, Span
from tsadeval.errors import UndefinedError
from tsadeval.metrics.counting import (
    STATISTICS,
    UNITS,
    best_mean,
    best_of_values,
    first_inside,
    matches,
    merged,
    prf_of_counts,
    ranges,
    records,
    running_maxima,
)
from tsadeval.metrics.event_sweep import best_composite_f1, best_delay, best_event_f1, best_false_alarms, with_early


def _with_recall(data: Prediction, precision: float, beta: float) -> PRF:
    hits = matches(data).hits
    return PRF.of(precision, int(np.count_nonzero(hits)) / len(hits) if len(hits) else math.nan, beta)


@takes_predictions({**F_CHECKS, "variant": OneOf(("segments", "runs", "discounted"))})
def event(data: Prediction, *, beta: float = 1.0, variant: str = "segments") -> PRF:
    """Precision, recall and F of events. Definitions as for `event_f1`.

    Parameters
    ----------
    variant : {"segments", "runs", "discounted"}, default="segments"
        "segments": detected events / (detected events + false alarm runs), as in Hundman et al. 2018; equals
        `SegmentwiseFScore` of tsadmetrics.
        "runs": precision is the share of alarm runs that touch an event, the mirror image of recall. An event
        found by ten short runs counts ten times in it.
        "discounted": "segments" times the share of normal points without alarm, so that predicting everything does
        not pay (Sehili and Zhang 2023); equals `EventWiseFBeta` of dtaianomaly.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.event([0, 1, 1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 1, 0, 0, 0])
    PRF(precision=0.5, recall=0.5, f1=0.5)
    """
    met = matches(data)
    if met.alarms == 0:
        return _with_recall(data, math.nan, beta)
    if variant == "runs":
        return _with_recall(data, (met.alarms - met.false) / met.alarms, beta)
    detected = int(np.count_nonzero(met.hits))
    precision = detected / (detected + met.false)
    normal = data.judged - data.events.points
    if variant == "discounted" and normal > 0:
        precision *= 1 - met.false_points / normal
    return _with_recall(data, precision, beta)


@prediction_metric(
    label="Event-F1",
    summary="F of the share of events that are detected and the share of detections that are right.",
    references=(
        "Hundman et al., Detecting Spacecraft Anomalies Using LSTMs and Nonparametric Dynamic Thresholding, KDD 2018",
        "Sehili and Zhang, Multivariate Time Series Anomaly Detection: Fancy Algorithms and Flawed Evaluation "
        "Methodology, TPCTC 2023",
    ),
    like=event,
    properties={"mirror", "separable"},
    needs={"anomaly"},
    best=best_event_f1,
    # An alarm everywhere is one run that touches every event.
    trivial_best=lambda options: options["variant"] != "discounted",
    version="r2",
    sets={"recommended"},
    zero="no event is detected",
)
def event_f1(data: Prediction, /, **options: Any) -> float:
    """F of event-wise precision and recall.

    Recall is the share of events with at least one predicted point. "Event F1" is the name of several metrics
    that differ in precision; `variant` chooses. TSB-AD's "Event-based-F1" is `composite_f1` here.

    Predicting every point is one alarm run that touches all events: "runs" and "segments" give it 1. So their
    best value over all thresholds is always 1, and the rule "best" takes them at the threshold of the best point-wise
    F1. "discounted" gives it 0, has a best threshold of its own, and "best" takes it there.

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
    return event.compute(data, **options).f1


@takes_predictions(F_CHECKS)
def composite(data: Prediction, *, beta: float = 1.0) -> PRF:
    """Point-wise precision, event-wise recall and their F, as defined for `composite_f1`.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.composite([0, 1, 1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 1, 0, 0, 0])
    PRF(precision=0.5, recall=0.5, f1=0.5)
    """
    met = matches(data)
    return _with_recall(data, met.found / met.alarmed if met.alarmed else math.nan, beta)


@prediction_metric(
    label="Composite-F1",
    summary="F of point-wise precision and the share of events that are detected.",
    references=(
        "Garg et al., An Evaluation of Anomaly Detection and Diagnosis in Multivariate Time Series, TNNLS 2021",
    ),
    like=composite,
    properties={"mirror", "separable"},
    needs={"anomaly"},
    best=best_composite_f1,
    zero="no event is detected",
)
def composite_f1(data: Prediction, /, **options: Any) -> float:
    """F of the share of predicted points that are anomalous and the share of events that are detected.

    Equals `CompositeFScore` of tsadmetrics, and "Event-based-F1" of TSB-AD unless the last point of the series is
    anomalous: there the published code, and TSB-AD with it, loses that point of the last event.

    Examples
    --------
    >>> import tsadeval as te
    >>> round(te.metrics.composite_f1([0, 1, 1, 1, 0, 0, 0, 0], [0, 1, 0, 1, 0, 1, 0, 0]), 4)
    0.8
    """
    return composite.compute(data, **options).f1


@prediction_metric(
    label="Delay",
    range=(0.0, math.inf),
    summary="Mean number of points from the start of an event to its first alarm.",
    undefined="y_true has no event, or no event is detected (unless missed events count)",
    references=("Zamanzadeh Darban et al., Deep Learning for Time Series Anomaly Detection: A Survey, 2024",),
    checks={"missed": OneOf(("skip", "length")), "unit": OneOf(UNITS), "statistic": OneOf(tuple(STATISTICS))},
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
    met, events = matches(data), data.events
    size, delays = data.setting.elapsed(unit, events.starts, met.first)
    if missed == "skip":
        delays = delays[met.hits > 0]
    if len(delays) == 0:
        raise UndefinedError("no event is detected, so there is no delay to average")
    return float(STATISTICS[statistic](delays)) / size


@prediction_metric(
    label="False alarms",
    range=(0.0, math.inf),
    summary="Alarm runs that touch no event, per 1,000 points of the series.",
    references=(
        "Hundman et al., Detecting Spacecraft Anomalies Using LSTMs and Nonparametric Dynamic Thresholding, KDD 2018 "
        "(the false positives of its segment-wise precision)",
    ),
    checks={"per": Span(0, open_low=True), "early": Span(0, integer=True)},
    properties={"mirror"},
    direction="lower",
    best=best_false_alarms,
    trivial_best=True,
    version="r3",
    sets={"recommended"},
    zero="every alarm run touches an event, or there is none",
)
def false_alarms(data: Prediction, *, per: float | str = 1000, early: int | str = 0) -> float:
    """Count the alarm runs without an anomalous point, per 1,000 points of the series. Lower is better.

    A run counts once, however long it is. With `per="day"` (or any other duration, which needs `te.evaluate(...,
    times=...)`) it is the number of false alarms per day of normal time that was observed (see `te.times`: gaps in the
    data are no quiet time). Points that are not judged do not count.

    Parameters
    ----------
    per : float or duration, default=1000
        Number of points, or time, that the count is scaled to.
    early : int or duration, default=0
        Alarms so shortly before an event are warnings, and not false.

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
    false = matches(with_early(data, early)).false
    if not isinstance(per, str):
        return per * (false / data.judged)  # in this order no number of points is too many
    size, _ = data.setting.positions(per, data.n)
    shares = data.setting.clock.durations
    normal = ~data.truth.mask if data.setting.ignored is None else ~(data.truth.mask | data.setting.ignored)
    time = int(shares[normal].sum())
    if time == 0:
        raise UndefinedError("there is no normal time")
    return false * (size / time)


def _in_batches(runs: Events, batch: int) -> tuple[Index, Index, int]:
    """First and one past the last batch that each run touches, and the number of batches."""
    batch = min(batch, runs.n)
    return runs.starts // batch, (runs.stops - 1) // batch + 1, -(-runs.n // batch)


def _best_latency_sparsity_f1(data: Scoring, *, batch: int, beta: float) -> float:
    size = min(batch, data.n)
    of_batch = np.maximum.reduceat(data.scores, np.arange(0, data.n, size))
    starts, stops, n = _in_batches(data.events, size)
    batches = ranges(starts, stops - starts)
    found_from = running_maxima(of_batch[batches], stops - starts)
    # A batch that holds the end of one event and the start of the next is found by either.
    distinct = np.flatnonzero(np.concatenate([[True], batches[1:] != batches[:-1]]))
    normal = np.ones(n, np.bool_)
    normal[batches] = False
    return best_of_values(np.maximum.reduceat(found_from, distinct), of_batch[normal], beta)


@prediction_metric(
    label="LS-F1",
    summary="F of batches of points, where an event is found from the first of its batches with an alarm on.",
    references=(
        "Abdulaal et al., Practical Approach to Asynchronous Multivariate Time Series Anomaly Detection and "
        "Localization, KDD 2021",
    ),
    checks={"batch": Number(1, integer=True), "beta": BETA},
    needs={"anomaly"},
    best=_best_latency_sparsity_f1,
    zero="no event is found",
)
def latency_sparsity_f1(data: Prediction, *, batch: int = 1, beta: float = 1.0) -> float:
    """Latency- and sparsity-aware F: an event counts as found from its first alarm on, in batches of points.

    The series is cut into batches of `batch` points. A batch with an anomalous point is to be found: it is, from the
    first batch of its event that has an alarm on. A batch without one is falsely alarmed if it has any alarm. So late
    alarms cost recall, and many false alarms close together count once.

    Equals `LatencySparsityawareFScore` of tsadmetrics up to its terms of 1e-5 at `batch=1`, and where at least one
    batch without anomalous points lies between any two events. Elsewhere the published procedure passes the detection
    of an event on to the next one, and skips points after a batch that holds points of two events.

    Parameters
    ----------
    batch : int, default=1
        Points of a batch.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [0, 0, 1, 1, 1, 1, 0, 0], [0, 0, 0, 1, 0, 0, 1, 1]
    >>> te.metrics.latency_sparsity_f1(y_true, y_pred)
    0.6666666666666666
    >>> te.metrics.latency_sparsity_f1(y_true, y_pred, batch=2)
    0.8
    """
    starts, stops, n = _in_batches(data.events, batch)
    alarm_starts, alarm_stops, _ = _in_batches(data.predicted, batch)
    alarmed = merged(alarm_starts, alarm_stops, n)
    labelled = merged(starts, stops, n)
    first = first_inside(alarmed, starts, stops)
    seen = first < stops
    found = merged(first[seen], stops[seen], n)
    false = alarmed.points - alarmed.shared_points(labelled)
    return prf_of_counts(found.points, false, labelled.points, beta).f1


def _windows(events: Events, share: float) -> tuple[Index, Index]:
    """First and last point of the window around the start of each event; all of one length, within the series."""
    length = min(int(max(1, round(share * events.n / len(events)))), events.n)
    first = np.minimum(np.maximum(events.starts - length // 2, 0), events.n - length)
    return first, first + length - 1


@prediction_metric(
    label="Early detection",
    summary="How early in a window around the start of each event the first alarm comes, averaged over events.",
    references=("Buda et al., ADE: An ensemble approach for early anomaly detection, IM 2017",),
    checks={"share": Number(0, 1, open_low=True)},
    needs={"anomaly"},
    trivial_best=True,
    # Alarms at the first point of every window are best, and it can only grow as the threshold falls.
    best=lambda data, *, share: float(data.scores[_windows(data.events, share)[0]].min()),
)
def early_detection_score(data: Prediction, *, share: float = 0.1) -> float:
    """Earliness of the first alarm in a window around the start of each event, averaged over events.

    All windows together are `share` of the series; each is centred on the start of its event. An alarm at the first
    point of the window gets 1, one at the last point 0, like no alarm at all. Alarms everywhere get 1, so look at
    false alarms beside it. Equals `EarlyDetectionScore` of tsadmetrics.

    Parameters
    ----------
    share : float, default=0.1
        Length of all windows as a share of the series.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0] * 24 + [1] * 6 + [0] * 20
    >>> te.metrics.early_detection_score(y_true, [0] * 23 + [1] + [0] * 26)
    0.75
    """
    first, last = _windows(data.events, share)
    alarm = first_inside(data.predicted, first, last + 1)
    width = np.maximum(last - first, 1)
    earliness = np.where(alarm <= last, 1 - (alarm - first) / width, 0.0)
    return float(np.mean(earliness))


def _timing(latency: Floats, before: Index, length: Index, exponent: float) -> Floats:
    """Return the timing quality curve: 0 up to `before` points early, 1 at the start, falling to 0 at the end."""
    early = np.clip((latency + before) / before, 0, 1) ** exponent
    with np.errstate(over="ignore"):  # to infinity, so that the quality becomes 0
        late = 1 / (1 + (np.maximum(latency, 0) / (length - np.maximum(latency, 0))) ** exponent)
    return np.where(latency <= 0, early, late)


def _best_adtqc(data: Scoring, *, exponent: float) -> float:
    """As the threshold falls, the first alarm of an event moves to its start, and then the run grows to the left."""
    events, scores = data.events, data.scores
    lengths, before = events.lengths, _allowances(events)
    # An alarm is the first of its event from its own score down to that of an earlier one: only records count.
    found = records(scores, events.starts, lengths)
    latency = (found.points - events.starts[found.owner]).astype(np.float64)
    quality = _timing(latency, before[found.owner], lengths[found.owner], exponent)
    # To the left of an event no more than its allowance matters, and a run reaches as far as the lowest score lets it.
    reach = np.minimum(before, events.starts)
    left = ranges(events.starts - reach, reach + 1)[::-1]  # each piece from the event's first point on, the last first
    lowest = -running_maxima(-scores[left], (reach + 1)[::-1])
    owner = np.repeat(np.arange(len(events)), reach + 1)[::-1]
    ahead = (left - events.starts[owner]).astype(np.float64)
    early = _timing(ahead, before[owner], lengths[owner], exponent)
    grows = left < events.starts[owner]
    lost = (early - np.concatenate([[0.0], early[:-1]]))[grows]
    v = np.concatenate([scores[found.points], lowest[grows]])
    detects = np.concatenate([found.last, np.zeros(len(lost))])  # the highest record of an event
    return best_mean(v, np.concatenate([found.gained(quality), lost]), detects.astype(np.float64))


def _allowances(events: Events) -> Index:
    """How early an alarm may be: the length of the event, or the distance to the start of the one before."""
    return np.minimum(events.lengths, np.diff(events.starts, prepend=events.starts[0] - events.lengths[0]))


@prediction_metric(
    label="ADTQC",
    summary="Timing quality of the first alarm of every detected event: 1 at its start, less before and after.",
    undefined="no event is detected",
    references=("Kotowski et al., European Space Agency Benchmark for Anomaly Detection in Satellite Telemetry, 2024",),
    checks={"exponent": Number(0, open_low=True)},
    needs={"anomaly"},
    best=_best_adtqc,
    trivial_best=True,
)
def adtqc(data: Prediction, *, exponent: float = math.e) -> float:
    """Anomaly detection timing quality curve of ESA-ADB, averaged over the detected events.

    For a detected event of length L, x is the start of the first alarm run that touches it less the start of the
    event, in points: negative where the alarm came before the event and lasted into it. With a the smaller of L and
    the distance to the start of the event before, quality is ((x + a) / a)^e for -a < x <= 0, 1 / (1 + (x / (L -
    x))^e) for 0 < x < L, and 0 for still earlier alarms. Events that are missed do not count: look at `event_recall`
    beside it. Equals the total of ESA-ADB's ADTQC where an event's time ends with its last point's step.

    Parameters
    ----------
    exponent : float, default=e
        The e above: the larger, the steeper.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.adtqc([0, 0, 1, 1, 1, 1, 0, 0], [0, 0, 0, 0, 1, 0, 0, 1])
    0.5
    """
    events, runs = data.events, data.predicted
    first = np.searchsorted(runs.stops, events.starts, side="right")
    start = np.append(runs.starts, data.n)[first]
    seen = start < events.stops
    if not seen.any():
        raise UndefinedError("no event is detected, so there is no timing to judge")
    before = _allowances(events)
    latency = (start - events.starts)[seen].astype(np.float64)
    return float(np.mean(_timing(latency, before[seen], events.lengths[seen], exponent)))
