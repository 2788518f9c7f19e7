"""TaPR and eTaPR: precision and recall of events and of runs of alarms, with a zone of doubt after each event.

An alarm inside an event is worth 1 to it. The points after an event, up to the next one and at most so many, are
its ambiguous zone: there an alarm is worth 1 / (1 + exp(z)), with z going from -6 at the zone's first point to 6 at
its last. A zone of one point is worth nothing. The end of the series cuts a zone off, but does not shrink it.

The portion of an event is what all alarms are worth to it over its length, at most 1; the portion of a run of
alarms is what it is worth to all events over its length. A portion reaches a threshold if, as a double, it is at
least that; a portion of 0 reaches none.
"""

import math
from typing import Any

import numpy as np

import tsadeval.metrics._kernels.etapr as pruning
import tsadeval.metrics._kernels.tapr as kernel
from tsadeval.core.define import prediction_metric, takes_predictions
from tsadeval.core.inputs import Events, Floats, Index, Prediction, Scoring
from tsadeval.core.metric import PRF
from tsadeval.core.parameters import BETA, Number, recall_weight
from tsadeval.metrics.counting import descent

# Doubles hold every whole number up to here, and no series is longer.
_LONGEST = 2.0**53


def _unit(n: int) -> int:
    """Choose the unit of the kernels, which count weights in 1 / unit: a power of two whose sums fit 64 bits."""
    return 1 << min(40, 62 - n.bit_length())


def _zones(events: Events, wanted: Floats) -> Index:
    """Lengths of the ambiguous zones: as wanted, but never into the next event."""
    lengths = np.minimum(wanted, _LONGEST).astype(np.int64)
    np.minimum(lengths[:-1], events.starts[1:] - events.stops[:-1], out=lengths[:-1])
    lengths[lengths == 1] = 0
    return lengths


def _tapr_zones(events: Events, delta: int) -> Index:
    return _zones(events, np.full(len(events), float(delta)))


def _etapr_zones(events: Events, delta: float) -> Index:
    return _zones(events, np.floor(min(delta, _LONGEST) * events.lengths))


def _overlaps(data: Prediction, zones: Index, unit: int) -> tuple[Index, Index, Index, Index, Index]:
    events, runs = data.events, data.predicted
    found: tuple[Index, Index, Index, Index, Index] = kernel.overlaps(
        events.starts, events.stops, zones, runs.starts, runs.stops, unit
    )
    return found


def _portions(worth: Index, lengths: Index, unit: int) -> Floats:
    return np.minimum(worth / (lengths * float(unit)), 1.0)


@takes_predictions({"alpha": Number(0, 1), "theta": Number(0, 1), "delta": Number(0, integer=True), "beta": BETA})
def tapr(data: Prediction, *, alpha: float = 0.6, theta: float = 0.8, delta: int = 600, beta: float = 1.0) -> PRF:
    """Time-series aware precision (TaP), recall (TaR) and their F.

    Recall is the mean over events of alpha [portion >= theta] + (1 - alpha) portion; precision is the same over
    runs of alarms. The portion of an event is what alarms in it (1 each) and in the `delta` points after it (less
    and less, by a logistic from 0.9975 to 0.0025) are worth over its length, at most 1; that of a run is what its
    points are worth over its length.

    Definition: Hwang et al. 2019. Equal to `eTaPR_pkg.tapr` (and to its copies in `tsadmetrics` and `cce`) with
    their delta smaller by 1, since their zones have delta + 1 points, and where no zone of theirs takes in the
    first point of the next event, which then counts twice (TaP can exceed 1). The authors' first program asks
    for a portion above theta instead of at least theta. Here a portion of 0 never counts as detected; with
    theta = 0 it does there.

    Parameters
    ----------
    alpha : float, default=0.6
        Weight of detection against portion.
    theta : float, default=0.8
        Portion from which an event counts as detected and a run of alarms as correct.
    delta : int, default=600
        Number of points in the ambiguous zone after each event, which stops before the next event. The decay
        spans the zone, so a zone of a single point has none and is worth nothing: 1 is the same as 0.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 1, 1, 1, 1, 0, 0, 0, 0]
    >>> te.metrics.tapr(y_true, [0, 0, 0, 1, 1, 0, 0, 0, 0], theta=0.5, delta=0)
    PRF(precision=1.0, recall=0.8, f1=0.888888888888889)
    >>> round(te.metrics.tapr(y_true, [0, 0, 0, 1, 1, 1, 1, 0, 0], theta=0.5, delta=2).recall, 4)
    0.9
    """
    unit = _unit(data.n)
    *_, of_events, of_runs = _overlaps(data, _tapr_zones(data.events, delta), unit)

    def score(worth: Index, lengths: Index) -> float:
        if len(worth) == 0:
            return math.nan
        portions = _portions(worth, lengths, unit)
        reached = (portions > 0) & (portions >= theta)
        return float(alpha * reached.mean() + (1 - alpha) * portions.mean())

    return PRF.of(score(of_runs, data.predicted.lengths), score(of_events, data.events.lengths), beta)


def _best_tapr_f1(data: Scoring, *, alpha: float, theta: float, delta: int, beta: float) -> float:
    how = _tapr_zones(data.events, delta), alpha, theta, recall_weight(beta), _unit(data.n)
    return float(kernel.best_threshold(data.scores, *descent(data), *how))


@prediction_metric(
    label="TaPR",
    summary="F of time-series aware precision and recall: detection and portion of events, with a decay after them.",
    references=(
        "Hwang et al., Time-Series Aware Precision and Recall for Anomaly Detection: Considering Variety of Detection "
        "Result and Addressing Ambiguous Labeling, CIKM 2019",
    ),
    like=tapr,
    properties={"separable"},
    needs={"anomaly"},
    best=_best_tapr_f1,
    zero="nothing is found",
)
def tapr_f1(data: Prediction, /, **options: Any) -> float:
    """F of time-series aware precision and recall (TaPR). Definition as for `tapr`.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 1, 1, 1, 1, 0, 0, 0, 0]
    >>> round(te.metrics.tapr_f1(y_true, [0, 0, 0, 1, 1, 0, 0, 1, 0], theta=0.5, delta=2), 6)
    0.615385
    """
    return tapr.compute(data, **options).f1


@takes_predictions({"theta_p": Number(0, 1), "theta_r": Number(0, 1), "delta": Number(0), "beta": BETA})
def etapr(data: Prediction, *, theta_p: float = 0.5, theta_r: float = 0.1, delta: float = 0, beta: float = 1.0) -> PRF:
    """Enhanced time-series aware precision (eTaP), recall (eTaR) and their F.

    An event is detected if correct runs of alarms cover at least `theta_r` of it; a run is correct if detected
    events cover at least `theta_p` of it. The two sets define each other: the largest pair that fits is taken,
    which is what remains after dropping events and runs that fall short until nothing changes. A detected event
    scores (1 + portion) / 2, where only correct runs count for its portion, and recall is the mean over events.
    Precision is the same over runs, where only detected events count, weighted by the square root of run length.

    Definition: Hwang et al. 2022. Equal to the authors' `eTaPR_pkg` and to its copies in `faster-etapr`,
    `tsadmetrics` and `cce` for delta = 0 and positive thresholds. With a threshold of 0 they take events and runs
    without any overlap for detected and correct, which is never so here; without alarms they fail or give 0.

    Parameters
    ----------
    theta_p : float, default=0.5
        Portion of a run of alarms that detected events must cover.
    theta_r : float, default=0.1
        Portion of an event that correct runs must cover.
    delta : float, default=0
        Length of the ambiguous zone after each event as a share of the event's length L: floor(delta L) points,
        up to the next event, in which alarms are worth less and less (see `tapr`); a zone of one point is worth
        nothing. `eTaPR_pkg` takes floor(delta (L - 1)) + 1 points, and may take in the next event's first.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 1, 1, 1, 1, 0, 0, 0, 0]
    >>> te.metrics.etapr(y_true, [0, 0, 0, 1, 1, 0, 0, 0, 0])
    PRF(precision=1.0, recall=0.75, f1=0.8571428571428571)
    >>> te.metrics.etapr(y_true, [0, 0, 0, 0, 1, 1, 1, 0, 0])  # a third of the alarms is right: too little
    PRF(precision=0.0, recall=0.0, f1=0.0)
    """
    unit = _unit(data.n)
    events, runs = data.events, data.predicted
    event, run, amount, of_events, of_runs = _overlaps(data, _etapr_zones(events, delta), unit)
    most = (events.lengths * float(unit), runs.lengths * float(unit))
    pruning.prune(event, run, amount, of_events, of_runs, *most, theta_r, theta_p)

    def scores(worth: Index, lengths: Index) -> Floats:
        # What pruning left reaches its threshold.
        portions = _portions(worth, lengths, unit)
        return np.where(portions > 0, (1 + portions) / 2, 0.0)

    recall = precision = math.nan
    if len(events):
        recall = float(scores(of_events, events.lengths).mean())
    if len(runs):
        weights = np.sqrt(runs.lengths)
        precision = float((weights * scores(of_runs, runs.lengths)).sum() / weights.sum())
    return PRF.of(precision, recall, beta)


def _best_etapr_f1(data: Scoring, *, theta_p: float, theta_r: float, delta: float, beta: float) -> float:
    how = _etapr_zones(data.events, delta), theta_p, theta_r, recall_weight(beta), _unit(data.n)
    return float(pruning.best_threshold(*descent(data), *how))


@prediction_metric(
    label="eTaPR",
    summary="F of events detected by correct runs of alarms, and of runs that are correct by detected events.",
    references=(
        "Hwang et al., Do You Know Existing Accuracy Metrics Overrate Time-Series Anomaly Detections?, SAC 2022",
    ),
    like=etapr,
    properties={"mirror", "separable"},
    needs={"anomaly"},
    sets={"paper"},
    best=_best_etapr_f1,
    zero="nothing is found",
)
def etapr_f1(data: Prediction, /, **options: Any) -> float:
    """F of enhanced time-series aware precision and recall (eTaPR). Definition as for `etapr`.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 1, 1, 1, 1, 0, 0, 0, 0]
    >>> round(te.metrics.etapr_f1(y_true, [0, 0, 0, 1, 1, 0, 0, 1, 0]), 6)
    0.6578
    """
    return etapr.compute(data, **options).f1
