"""Point adjustment by neighbourhood: alarms are widened by some points before, or after, events are adjusted.

In all of these a point counts as alarmed from a certain threshold on: its own score, the highest score around it, or
the score that adjusts its event. So the sweep over all thresholds is that of point-wise F on those values.
"""

from __future__ import annotations

import numpy as np

from tsadeval.core.define import prediction_metric
from tsadeval.core.events import Events, Index
from tsadeval.core.inputs import Floats, Prediction, Scoring
from tsadeval.core.parameters import BETA, Check, Number, OneOf
from tsadeval.metrics.counting import best_of_values, overlaps, prf_of_counts, widened, window_maxima

__all__ = ["balanced_f1_pa", "f1_pa_kl"]

_UNDEFINED = "y_true has no anomalous point"

KL_CHECKS: dict[str, Check] = {"k": Number(0, 1), "reach": Number(0, integer=True), "beta": BETA}
BALANCED_CHECKS: dict[str, Check] = {
    "width": Number(0, integer=True),
    "form": OneOf(("asymmetric", "symmetric", "false")),
    "beta": BETA,
}


def _of_events(events: Events, per_event: Floats) -> Floats:
    """A value of each event, for each of its points."""
    return np.repeat(per_event, events.lengths)


def _hits_needed(lengths: Index, k: float) -> Index:
    """The smallest number of hits, at least 1, whose share of the length is at least k (as floats compare it)."""
    needed = np.maximum(np.ceil(k * lengths), 1).astype(np.int64)
    needed -= (needed > 1) & ((needed - 1) / lengths >= k)
    return np.asarray(needed + (needed / lengths < k))


def _best_f1_pa_kl(data: Scoring, *, k: float, reach: int, beta: float) -> float:
    events, anomalous = data.events, data.truth.mask
    scores = data.scores[anomalous]
    starts = np.cumsum(events.lengths) - events.lengths
    owner = np.repeat(np.arange(len(events)), events.lengths)
    descending = np.lexsort((-scores, owner))
    adjusts = scores[descending][starts + _hits_needed(events.lengths, k) - 1]
    nearby = window_maxima(scores, reach, starts)
    found_from = np.maximum(scores, np.minimum(_of_events(events, adjusts), nearby))
    return best_of_values(found_from, data.scores[~anomalous], beta)


@prediction_metric(
    label="F1-PA%K-L",
    range=(0.0, 1.0),
    summary="Point-wise F where, in events of which a share k is alarmed, points near an alarm count as alarmed.",
    undefined=_UNDEFINED,
    references=("PA%K-L: Sensors 24 (16), 5310, 2024",),
    checks=KL_CHECKS,
    properties={"mirror", "separable"},
    needs={"anomaly"},
    best=_best_f1_pa_kl,
)
def f1_pa_kl(data: Prediction, *, k: float = 0.5, reach: int = 1, beta: float = 1.0) -> float:
    """F after a point adjustment that is limited in two ways: PA%K-L.

    Only events of which at least the share k is alarmed are adjusted (as in `f1_pa_k`), and in these only the points
    within `reach` points of an alarm inside the event. Equals `PointadjustedAtKLFScore` of tsadmetrics, whose `l` is
    `reach`.

    Parameters
    ----------
    k : float, default=0.5
        The share of an event that must be alarmed.
    reach : int, default=1
        How many points before and after an alarm count as alarmed, within its event.

    Returns
    -------
    float
        0 where no anomalous point is alarmed. NaN, with an `UndefinedMetricWarning`, where there is none.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [0, 1, 1, 1, 1, 1, 0, 1, 1, 0], [0, 1, 0, 0, 1, 1, 0, 0, 0, 1]
    >>> [round(te.metrics.f1_pa_kl(y_true, y_pred, reach=reach), 4) for reach in (0, 1)]
    [0.5455, 0.7692]
    """
    events = data.events
    pieces = overlaps(events, data.predicted)
    lengths = pieces.stops - pieces.starts
    hits = np.bincount(pieces.first, weights=lengths, minlength=len(events)).astype(np.int64)
    adjusted = (hits > 0) & (hits / events.lengths >= k)
    near = min(reach, data.n) * adjusted[pieces.first]
    starts = np.maximum(pieces.starts - near, events.starts[pieces.first])
    stops = np.minimum(pieces.stops + near, events.stops[pieces.first])
    twice = np.maximum(stops[:-1] - starts[1:], 0)  # only pieces of the same event can reach each other
    found = int(np.sum(stops - starts) - np.sum(twice))
    return prf_of_counts(found, data.predicted.points - int(lengths.sum()), events.points, beta).f1


def _best_balanced_f1_pa(data: Scoring, *, width: int, form: str, beta: float) -> float:
    anomalous = data.truth.mask
    scores = np.where(anomalous, -np.inf, data.scores) if form == "false" else data.scores
    nearby = window_maxima(scores, width)
    found_from = nearby[anomalous]
    if form != "symmetric":
        of_runs = np.maximum.reduceat(data.scores, data.truth.starts)
        found_from = np.maximum(found_from, _of_events(data.events, of_runs[1 - data.truth.first :: 2]))
    return best_of_values(found_from, nearby[~anomalous], beta)


@prediction_metric(
    label="Balanced F1-PA",
    range=(0.0, 1.0),
    summary="Point-wise F where detected events are adjusted and every alarm is widened, so that false ones cost more.",
    undefined=_UNDEFINED,
    references=("Bhattacharya et al., Towards Unbiased Evaluation of Time-series Anomaly Detector, 2024",),
    checks=BALANCED_CHECKS,
    properties={"mirror"},
    needs={"anomaly"},
    best=_best_balanced_f1_pa,
)
def balanced_f1_pa(data: Prediction, *, width: int = 2, form: str = "asymmetric", beta: float = 1.0) -> float:
    """F after balanced point adjustment: false alarms are widened as well, so that they weigh more.

    The authors publish two forms. "symmetric" widens every alarm by `width` points on both sides and adjusts nothing
    else. "asymmetric" also counts detected events as alarmed throughout, as `f1_pa` does. "false" is that of
    tsadmetrics: detected events are adjusted, and only false alarms are widened; `BalancedPointadjustedFScore` with
    its `w` equals it at `width` = w / 2, rounded up.

    Parameters
    ----------
    width : int, default=2
        Points by which alarms are widened on each side.
    form : {"asymmetric", "symmetric", "false"}, default="asymmetric"
        What is adjusted and what is widened.

    Returns
    -------
    float
        0 where no anomalous point is reached. NaN, with an `UndefinedMetricWarning`, where there is none.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0]
    >>> forms = ("asymmetric", "symmetric", "false")
    >>> [round(te.metrics.balanced_f1_pa(y_true, y_pred, width=1, form=form), 4) for form in forms]
    [0.8, 0.5, 0.8]
    """
    events, alarms = data.events, data.predicted
    if form == "false":
        outside = overlaps(events.complement(), alarms)
        wide = widened(Events(outside.starts, outside.stops, data.n), width)
    else:
        wide = widened(alarms, width)
    pieces = overlaps(events, wide)
    hits = np.bincount(pieces.first, weights=pieces.stops - pieces.starts, minlength=len(events)).astype(np.int64)
    false = wide.points - int(hits.sum())
    if form != "symmetric":
        detected = overlaps(events, alarms).first
        hits[detected] = events.lengths[detected]
    return prf_of_counts(int(hits.sum()), false, events.points, beta).f1
