"""Point adjustment: alarms inside an event are changed first, then points are counted.

With L the length of an event and h the number of its points that are alarmed, the event counts

    f1_pa        L points found where h >= 1
    f1_pa_k      L points found where h >= 1 and h / L >= k, else h
    f1_pa_delay  L points found where one of its first max_delay + 1 points is alarmed, else none
    reduced_f1   floor(log_3(L + 3)) points, all found where h >= 1, else all missed

Normal points count singly in all of them, so one lucky alarm weighs as much as a long event has points: uninformative
scores get high values. Look at the unadjusted F beside these.

Over all thresholds at once: a point of an event is found at the threshold v where its own score, or the score
that adjusts its event, reaches v. So events are followed down their sorted scores, one step per point.

By neighbourhood (f1_pa_kl, balanced_f1_pa) alarms are widened by some points before, or after, events are adjusted.
There a point counts as alarmed from a certain threshold on: its own score, the highest score around it, or the score
that adjusts its event. So the sweep over all thresholds is that of point-wise F on those values.
"""

from functools import lru_cache
from typing import Any

import numpy as np

import tsadeval.metrics._kernels.point_adjusted as kernel
from tsadeval.core.define import prediction_metric, takes_predictions
from tsadeval.core.inputs import Events, Floats, Index, Prediction, Scoring
from tsadeval.core.metric import PRF
from tsadeval.core.parameters import BETA, F_CHECKS, Check, Flag, Number, OneOf, recall_weight
from tsadeval.metrics.counting import (
    best_of_values,
    borders,
    curve,
    event_maxima,
    f_of_counts,
    matches,
    overlaps,
    owners,
    prf_of_counts,
    widened,
    window_maxima,
)

_XU = (
    "Xu et al., Unsupervised anomaly detection via variational auto-encoder for seasonal KPIs in web applications, "
    "WWW 2018"
)
_KIM = "Kim et al., Towards a rigorous evaluation of time-series anomaly detection, AAAI 2022"
_REN = "Ren et al., Time-series anomaly detection service at Microsoft, KDD 2019"

_POWERS_OF_3 = 3 ** np.arange(40, dtype=np.int64)

_ANY_HIT = np.zeros(1)  # the required share where one hit is enough


def _reduced_lengths(lengths: Index) -> Index:
    """floor(log_3(length + 3)), in whole numbers: the logarithm of floats gets 240 wrong."""
    return np.searchsorted(_POWERS_OF_3, lengths + 3, side="right") - 1


def _early_maxima(data: Scoring, reach: int) -> Floats:
    """Return the highest score of the first `reach` points of each event."""
    events = data.events
    early = Events(events.starts, events.starts + np.minimum(events.lengths, reach), data.n)
    return np.maximum.reduceat(data.scores, borders(early))[::2]


def _best(
    data: Scoring,
    scores: Floats,
    of_event: Index | None = None,
    *,
    worth: Index | None = None,
    shares: Floats = _ANY_HIT,
    strict: bool = False,
    weights: Floats | None = None,
    beta: float,
) -> float:
    """Return the threshold of the best F, given the scores that can find events (by default one for each event)."""
    order = np.argsort(scores)[::-1].copy()
    lengths = data.events.lengths
    scores, sweep = scores[order], curve(data)
    found = scores, order if of_event is None else of_event[order], sweep.false[sweep.places(scores)]
    how = shares, strict, np.ones(1) if weights is None else weights, recall_weight(beta)
    return float(kernel.best_adjusted(*found, lengths, lengths if worth is None else worth, *how))


@takes_predictions(F_CHECKS)
def point_adjusted(data: Prediction, *, beta: float = 1.0) -> PRF:
    """Precision, recall and F after point adjustment: one alarm finds the whole event.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.point_adjusted([1, 1, 1, 0, 0, 1], [0, 1, 0, 0, 1, 0])
    PRF(precision=0.75, recall=0.75, f1=0.75)
    """
    found = int(data.events.lengths[matches(data).hits > 0].sum())
    return prf_of_counts(found, matches(data).false_points, matches(data).anomalous, beta)


@prediction_metric(
    label="F1-PA",
    summary="Point-wise F after point adjustment: one alarm finds the whole event.",
    references=(_XU,),
    like=point_adjusted,
    properties={"mirror", "separable"},
    needs={"anomaly"},
    sets={"paper"},
    best=lambda data, *, beta: _best(data, event_maxima(data), beta=beta),
    zero="no event is found",
)
def f1_pa(data: Prediction, /, **options: Any) -> float:
    """F after point adjustment: an event with an alarm in it counts as alarmed throughout.

    Equals `PointadjustedFScore` of tsadmetrics, and F1-PA of the code published with CCE except where the
    first point of the series is anomalous (that code never adjusts it).

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.f1_pa([1, 1, 1, 0, 0, 1], [0, 1, 0, 0, 1, 0])
    0.75
    """
    return point_adjusted.compute(data, **options).f1


_K_CHECKS: dict[str, Check] = {"strict": Flag(), "beta": BETA}


def _best_pa_k(data: Scoring, shares: Floats, weights: Floats | None, *, strict: bool, beta: float) -> float:
    scores = data.scores[data.truth.mask]
    return _best(data, scores, owners(data.events), shares=shares, strict=strict, weights=weights, beta=beta)


@prediction_metric(
    label="F1-PA%K",
    summary="Point-wise F after adjusting the events of which at least a share k is alarmed.",
    references=(_KIM,),
    checks={"k": Number(0, 1), **_K_CHECKS},
    properties={"mirror", "separable"},
    needs={"anomaly"},
    best=lambda data, *, k, strict, beta: _best_pa_k(data, np.array([float(k)]), None, strict=strict, beta=beta),
    zero="no anomalous point is alarmed",
)
def f1_pa_k(data: Prediction, *, k: float = 0.2, strict: bool = False, beta: float = 1.0) -> float:
    """F after PA%K: an event counts as alarmed throughout only if at least a share k of its points is.

    The points of other events count as they are. Whatever k, an event without an alarm is not found; so k = 0 is
    `f1_pa` and k = 1 is `f1`. Equals `PointadjustedAtKFScore` of tsadmetrics; with `strict=True` the PA%K
    authors' `tadpak`.

    Parameters
    ----------
    k : float, default=0.2
        The share of an event that must be alarmed, as a fraction; tadpak's default.
    strict : bool, default=False
        Ask for more than the share k, not just for k.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [1, 1, 1, 1, 0, 1, 1, 0], [0, 1, 0, 0, 1, 1, 0, 0]
    >>> [round(te.metrics.f1_pa_k(y_true, y_pred, k=k), 4) for k in (0, 0.5, 1)]
    [0.9231, 0.6, 0.4444]
    """
    hits, lengths = matches(data).hits, data.events.lengths
    share = hits / lengths
    found = np.where((hits > 0) & (share > k if strict else share >= k), lengths, hits)
    return prf_of_counts(int(found.sum()), matches(data).false_points, matches(data).anomalous, beta).f1


@lru_cache(maxsize=8)
def _grid(n_values: int, integration: str) -> tuple[Floats, Floats]:
    """Return the required shares and the weights of their F."""
    # Quotients, not multiples of a step: so that 1/3 of an event reaches the share 33/99.
    shares = np.arange(n_values) / (n_values - 1)
    if integration == "mean":
        return shares, np.full(n_values, 1 / n_values)
    weights = np.full(n_values, 1 / (n_values - 1))
    weights[[0, -1]] /= 2
    return shares, weights


@prediction_metric(
    label="PA%K-AUC",
    summary="Area under F1-PA%K over the required share k from 0 to 1.",
    references=(_KIM,),
    checks={"n_values": Number(2, 10_000, integer=True), "integration": OneOf(("mean", "trapezoid")), **_K_CHECKS},
    properties={"mirror", "separable"},
    needs={"anomaly"},
    best=lambda data, *, n_values, integration, strict, beta: _best_pa_k(
        data, *_grid(n_values, integration), strict=strict, beta=beta
    ),
    zero="no anomalous point is alarmed",
)
def pa_k_auc(
    data: Prediction, *, n_values: int = 100, integration: str = "mean", strict: bool = False, beta: float = 1.0
) -> float:
    """Area under `f1_pa_k` over k = 0, ..., 1 in equal steps, at one given prediction.

    Two definitions go by this name. The mean over 100 values of k is PA%K of the code published with CCE, which
    credits events without alarm at k = 0 and rounds its values of k (one third of an event misses 33/99); else
    they are equal. The trapezoid rule over 101 values with `strict=True` is what studies that build on tadpak
    compute.

    Parameters
    ----------
    n_values : int, default=100
        How many values of k, both ends included.
    integration : {"mean", "trapezoid"}, default="mean"
        Plain mean over the values, or the trapezoid rule.
    strict : bool, default=False
        Ask for more than the share k, not just for k.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [1, 1, 1, 1, 0, 1, 1, 0], [0, 1, 0, 0, 1, 1, 0, 0]
    >>> round(te.metrics.pa_k_auc(y_true, y_pred), 4)
    0.603
    >>> round(te.metrics.pa_k_auc(y_true, y_pred, n_values=101, integration="trapezoid", strict=True), 4)
    0.6006
    """
    shares, weights = _grid(n_values, integration)
    met = matches(data)
    hit = met.hits > 0
    hits, lengths = met.hits[hit], data.events.lengths[hit]
    # A quotient of whole numbers is rounded like a decimal fraction is: 7 of 100 reach a share of 0.07.
    reached = np.searchsorted(shares, hits / lengths, side="left" if strict else "right")
    gains = np.bincount(reached, lengths - hits, n_values + 1)
    found = hits.sum() + np.cumsum(gains[::-1])[-2::-1]
    return float((weights * f_of_counts(found, met.false_points, met.anomalous, beta)).sum())


@prediction_metric(
    label="F1-PA delay",
    summary="Point-wise F where an event is found whole if an alarm comes early enough in it, else missed whole.",
    references=(_REN, _XU),
    checks={"max_delay": Number(0, integer=True), "beta": BETA},
    properties={"separable"},
    needs={"anomaly"},
    best=lambda data, *, max_delay, beta: _best(data, _early_maxima(data, min(max_delay, data.n) + 1), beta=beta),
    zero="no event is found in time",
)
def f1_pa_delay(data: Prediction, *, max_delay: int = 7, beta: float = 1.0) -> float:
    """F after delayed point adjustment, the protocol of the AIOps competition on KPIs.

    An event counts as alarmed throughout if one of its first `max_delay` + 1 points is, else as
    missed throughout, whatever alarms come later. The default is that of the competition and of Ren et al. for
    series by the minute (they take 3 by the hour). `DelayThresholdedPointadjustedFScore` of tsadmetrics
    counts points instead of delays: its k is one more than `max_delay`.

    Parameters
    ----------
    max_delay : int, default=7
        The longest delay at which an event still counts as found, in points.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [0, 1, 1, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1, 1, 0]
    >>> [round(te.metrics.f1_pa_delay(y_true, y_pred, max_delay=k), 4) for k in (0, 1)]
    [0.3333, 0.8889]
    """
    events = data.events
    in_time = matches(data).first < events.starts + np.minimum(events.lengths, min(max_delay, data.n) + 1)
    found = int(events.lengths[in_time].sum())
    return prf_of_counts(found, matches(data).false_points, matches(data).anomalous, beta).f1


@prediction_metric(
    label="Reduced-F1",
    summary="F after point adjustment where an event counts for the logarithm of its length.",
    references=(
        "Zhong et al., CCE: Confidence-Consistency Evaluation for Time Series Anomaly Detection, arXiv 2509.01098, "
        "2025",
    ),
    checks=F_CHECKS,
    properties={"mirror", "separable"},
    needs={"anomaly"},
    sets={"paper"},
    best=lambda data, *, beta: _best(data, event_maxima(data), worth=_reduced_lengths(data.events.lengths), beta=beta),
    zero="no event is found",
)
def reduced_f1(data: Prediction, *, beta: float = 1.0) -> float:
    """F after point adjustment, with long events reduced: one of length L counts as floor(log_3(L + 3)) points.

    The points of an event are all found (if one is alarmed) or all missed, and normal points count singly: so a
    long event cannot outweigh many false alarms as it does in `f1_pa`. Equals Reduced-F1 of the code published
    with CCE, except for the logarithm of L = 240 and the like (4 points there, 5 here) and for an event at the
    very start of the series, which that code does not adjust.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.reduced_f1([1, 1, 1, 1, 1, 1, 0, 0, 1], [0, 1, 0, 0, 0, 0, 0, 1, 0])
    0.6666666666666666
    """
    worth = _reduced_lengths(data.events.lengths)
    found = int(worth[matches(data).hits > 0].sum())
    return prf_of_counts(found, matches(data).false_points, int(worth.sum()), beta).f1


def _hits_needed(lengths: Index, k: float) -> Index:
    """Return the fewest hits, at least 1, whose share of the length is at least k (as floats compare it)."""
    needed = np.maximum(np.ceil(k * lengths), 1).astype(np.int64)
    needed -= (needed > 1) & ((needed - 1) / lengths >= k)
    return np.asarray(needed + (needed / lengths < k))


def _best_f1_pa_kl(data: Scoring, *, k: float, reach: int, beta: float) -> float:
    events, anomalous = data.events, data.truth.mask
    scores = data.scores[anomalous]
    starts = np.cumsum(events.lengths) - events.lengths
    descending = np.lexsort((-scores, owners(events)))
    adjusts = scores[descending][starts + _hits_needed(events.lengths, k) - 1]
    nearby = window_maxima(scores, reach, starts)
    found_from = np.maximum(scores, np.minimum(np.repeat(adjusts, events.lengths), nearby))
    return best_of_values(found_from, data.scores[~anomalous], beta)


@prediction_metric(
    label="F1-PA%K-L",
    summary="Point-wise F where, in events of which a share k is alarmed, points near an alarm count as alarmed.",
    references=(
        "Rigas et al., An End-to-End Deep Learning Framework for Fault Detection in Marine Machinery, Sensors 2024",
    ),
    checks={"k": Number(0, 1), "reach": Number(0, integer=True), "beta": BETA},
    properties={"mirror", "separable"},
    needs={"anomaly"},
    best=_best_f1_pa_kl,
    zero="no anomalous point is alarmed",
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

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [0, 1, 1, 1, 1, 1, 0, 1, 1, 0], [0, 1, 0, 0, 1, 1, 0, 0, 0, 1]
    >>> [round(te.metrics.f1_pa_kl(y_true, y_pred, reach=reach), 4) for reach in (0, 1)]
    [0.5455, 0.7692]
    """
    events = data.events
    pieces, hits = overlaps(events, data.predicted), matches(data).hits
    adjusted = (hits > 0) & (hits / events.lengths >= k)
    near = min(reach, data.n) * adjusted[pieces.first]
    starts = np.maximum(pieces.starts - near, events.starts[pieces.first])
    stops = np.minimum(pieces.stops + near, events.stops[pieces.first])
    twice = np.maximum(stops[:-1] - starts[1:], 0)  # only pieces of the same event can reach each other
    found = int(np.sum(stops - starts) - np.sum(twice))
    return prf_of_counts(found, matches(data).false_points, events.points, beta).f1


def _best_balanced_f1_pa(data: Scoring, *, width: int, form: str, beta: float) -> float:
    anomalous = data.truth.mask
    scores = np.where(anomalous, -np.inf, data.scores) if form == "false" else data.scores
    nearby = window_maxima(scores, width)
    found_from = nearby[anomalous]
    if form != "symmetric":
        found_from = np.maximum(found_from, np.repeat(event_maxima(data), data.events.lengths))
    return best_of_values(found_from, nearby[~anomalous], beta)


@prediction_metric(
    label="Balanced F1-PA",
    summary="Point-wise F where detected events are adjusted and every alarm is widened, so that false ones cost more.",
    references=("Bhattacharya et al., Towards Unbiased Evaluation of Time-series Anomaly Detector, 2024",),
    checks={"width": Number(0, integer=True), "form": OneOf(("asymmetric", "symmetric", "false")), "beta": BETA},
    properties={"mirror"},
    needs={"anomaly"},
    best=_best_balanced_f1_pa,
    zero="no anomalous point is reached",
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
    inside = overlaps(events, wide)
    hits = np.bincount(inside.first, inside.stops - inside.starts, len(events)).astype(np.int64)
    false = wide.points - int(hits.sum())
    if form != "symmetric":
        hits = np.where(matches(data).hits > 0, events.lengths, hits)
    return prf_of_counts(int(hits.sum()), false, events.points, beta).f1
