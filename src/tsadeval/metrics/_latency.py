"""Metrics of how soon an event is detected: latency- and sparsity-aware F, early detection, timing quality.

`detection_delay` and `f1_pa_delay` count delays in points; these weigh them.
"""

from __future__ import annotations

import math

import numpy as np

from tsadeval.core.define import prediction_metric
from tsadeval.core.events import Events, Index
from tsadeval.core.inputs import Floats, Prediction, Scoring
from tsadeval.core.parameters import BETA, Number
from tsadeval.errors import UndefinedError
from tsadeval.metrics.counting import (
    best_mean,
    best_of_values,
    first_inside,
    merged,
    prf_of_counts,
    ranges,
    records,
    running_maxima,
)

__all__ = ["adtqc", "early_detection_score", "latency_sparsity_f1"]


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
    range=(0.0, 1.0),
    summary="F of batches of points, where an event is found from the first of its batches with an alarm on.",
    undefined="y_true has no anomalous point",
    references=(
        "Abdulaal et al., Practical Approach to Asynchronous Multivariate Time Series Anomaly Detection and "
        "Localization, KDD 2021",
    ),
    checks={"batch": Number(1, integer=True), "beta": BETA},
    needs={"anomaly"},
    best=_best_latency_sparsity_f1,
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

    Returns
    -------
    float
        0 where no event is found. NaN, with an `UndefinedMetricWarning`, where there is no anomalous point.

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
    range=(0.0, 1.0),
    summary="How early in a window around the start of each event the first alarm comes, averaged over events.",
    undefined="y_true has no event",
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
    range=(0.0, 1.0),
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
