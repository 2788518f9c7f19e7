"""PATE, the proximity-aware evaluation: alarms near an event count in part, late detection costs.

An event has a zone of `early` points before it and one of `delay` points after it; zones end where another event
or its zone after it begins. At one threshold, with c the middle of the event:

    hits    event points 1; a point x after the event (z - x) / (z - c), z the zone's last point; a point x before
            it (x - z) / (c - z), z the zone's first point, but 0 where no point of the event is predicted
    misses  all L points of an event that is not detected; else, with D the length of the first predicted run in
            the event, a missed point at offset o weighs 1 up to o = D, and beyond
            1 - ((D + 1) o - D (D + 1) / 2) / (L (L - 1) / 2)

Precision = hits / alarms, recall = hits / (hits + misses). PATE is the area under precision against recall, and
PATE-F1 their F for binary predictions, each averaged over pairs of buffer sizes.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tsadeval.metrics._kernels.pate as kernel
from tsadeval.core.binning import levels_of
from tsadeval.core.define import prediction_metric, score_metric, takes_predictions
from tsadeval.core.inputs import Events, Floats, Index, Prediction, Scoring
from tsadeval.core.metric import PRF, f_beta
from tsadeval.core.order import sort
from tsadeval.core.parameters import BETA, PATE_BUFFER_CHECKS, PATE_CHECKS, pate_buffers, recall_weight
from tsadeval.metrics._kernels.ranking import of_runs as gather
from tsadeval.metrics.counting import first_best, scores_of

Levels = NDArray[np.int32]

_REFERENCES = ("Ghorbani et al., PATE: Proximity-Aware Time series anomaly Evaluation, KDD 2024",)


def _near(data: Scoring, early: int, delay: int) -> tuple[Floats, Events]:
    """Return the scores of the events with the widest zones around them, and the events among these points.

    No other points can be hits or misses, and between two events there are as many points as before, or enough for
    both their zones.
    """
    events = data.events
    stops = np.minimum(events.stops + min(delay, data.n), np.append(events.starts[1:], data.n))
    starts = np.maximum(events.starts - min(early, data.n), np.append(0, stops[:-1]))
    lengths = stops - starts
    left_out = starts - np.cumsum(lengths) + lengths
    scores: Floats = gather(data.raw, starts, lengths, 0, 1)
    return scores, Events(events.starts - left_out, events.stops - left_out, len(scores))


def _weights(bins: Levels, levels: int, events: Events) -> tuple[Callable[[int, int], Floats], Floats]:
    """Return hits at every level, of any pair of buffer sizes, and misses, which do not depend on the buffers."""
    found, missed, detected = kernel.misses(bins, events.starts, events.stops, levels)
    return partial(kernel.hits, bins, detected, found, events.starts, events.stops), missed


def _first_alarms(data: Scoring, n_thresholds: int | None, drop_intermediate: bool) -> Index:
    """For every threshold, descending, where the first score that reaches it stands among the ascending scores."""
    ascending = data.sorted
    if drop_intermediate:
        kept: Index = kernel.kept_positions(ascending, sort(scores_of(data, 1)))
    else:
        kept = data.n - data.levels[1][::-1]
    if n_thresholds is None:
        return kept[::-1].astype(np.int64)
    # Percentiles, position by position in whole numbers, so that one that falls on a kept score is that score.
    below, part = np.divmod((len(kept) - 1) * np.arange(n_thresholds), n_thresholds - 1)
    between = part > 0
    positions = kept[below].astype(np.int64)
    if max(-data.low, data.high) < 1e-200:  # so near to the smallest number, sums and products are not exact enough
        ascending = ascending * 2.0**600
    low, high = ascending[positions[between]], ascending[kept[below[between] + 1]]
    share = part[between] / (n_thresholds - 1)
    thresholds = low * (1 - share) + high * share
    # A score that lies below a threshold by no more than rounding reaches it; the kept score below never does.
    rounding = 1e-15 * np.maximum(np.abs(low), np.abs(high))
    reached = np.searchsorted(ascending, thresholds - rounding)
    positions[between] = np.maximum(reached, np.searchsorted(ascending, low, side="right"))
    return np.maximum.accumulate(positions)[::-1]


@score_metric(
    label="PATE",
    summary="Area under a precision-recall curve that credits alarms near events and charges late detection.",
    references=_REFERENCES,
    checks=PATE_CHECKS,
    properties={"affine"},
    needs={"anomaly", "normal"},
    sets={"paper"},
)
def pate(
    data: Scoring,
    *,
    early: int = 100,
    delay: int = 100,
    n_splits: int = 1,
    include_zero: bool = True,
    n_thresholds: int | None = 250,
    drop_intermediate: bool = True,
) -> float:
    """Proximity-aware evaluation (PATE) of anomaly scores.

    The definition is that of the authors' package `PATE` 0.1.1, whose defaults these are: `early` is its
    `e_buffer`, `delay` its `d_buffer`, `n_splits` its `num_splits_MaxBuffer`, `n_thresholds` its
    `num_desired_thresholds` (None is `Big_Data=False`); `include_zero` and `drop_intermediate` are called the
    same. A point of the curve whose recall is below that of the last point kept is left out. Without normal points
    precision would be 1 throughout, whatever the scores: the value is undefined.

    Rounding decides nothing: recalls within 1e-12 are equal, and a percentile that stands on a score is that
    score. In the package it may come to stand a little above it, so that a shift of all scores moves the value
    (with 100 thresholds in 28 of 2,789 published values, by 3e-9 to 1e-7; with ten thresholds often).

    The value depends on the number of thresholds and on the buffer sizes: state them beside it.

    Parameters
    ----------
    early, delay : int, default=100
        Largest sizes of the zone before and of the zone after an event, in points.
    n_splits : int, default=1
        The value is the mean over all pairs of early and delay sizes at 1/n_splits, 2/n_splits, ... of the
        largest sizes, rounded down.
    include_zero : bool, default=True
        Include the size 0 as well: by default the mean is over (0, 0), (0, 100), (100, 0) and (100, 100).
        With `n_splits=1, include_zero=False` it is the one pair (early, delay).
    n_thresholds : int or None, default=250
        Number of thresholds: linear percentiles, evenly spaced from 100 to 0, of the kept distinct scores.
        None for every kept score.
    drop_intermediate : bool, default=True
        Keep only the smallest and the largest score, the scores of anomalous points and, for each of those, the
        next larger score. False keeps all distinct scores.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 0, 1, 1, 1, 0, 0, 0]
    >>> te.metrics.pate(y_true, y_true, early=2, delay=2)
    1.0
    >>> round(te.metrics.pate(y_true, [0, 0, 0, 0, 0, 1, 1, 1, 0, 0], early=2, delay=2), 6)
    0.755417
    """
    first_alarms = _first_alarms(data, n_thresholds, drop_intermediate)
    thresholds, alarms = data.sorted[first_alarms], data.n - first_alarms
    scores, events = _near(data, early, delay)
    hit, missed = _weights(levels_of(scores, thresholds), len(thresholds), events)
    buffers = pate_buffers(data.n, early, delay, n_splits, include_zero)
    return math.fsum(times * kernel.area(hit(*pair), missed, alarms) for *pair, times in buffers)


def _best_pate_f1(data: Scoring, *, early: int, delay: int, n_splits: int, include_zero: bool, beta: float) -> float:
    # Alarms elsewhere only lower the value, so the best threshold is the score of a point of an event or a zone.
    thresholds = np.unique(_near(data, early, delay)[0])[::-1].copy()
    bins = levels_of(data.scores, thresholds)
    alarms = np.cumsum(np.bincount(bins, minlength=len(thresholds)))[: len(thresholds)]
    (hit, missed), weight = _weights(bins, len(thresholds), data.events), recall_weight(beta)
    values = np.zeros(len(thresholds))
    for *pair, times in pate_buffers(data.n, early, delay, n_splits, include_zero):
        hits = hit(*pair)
        values += times * ((1 + weight) * hits / (weight * (hits + missed) + alarms))
    return float(thresholds[first_best(values)])


@takes_predictions({**PATE_BUFFER_CHECKS, "beta": BETA})
def pate_prf(
    data: Prediction,
    *,
    early: int = 100,
    delay: int = 100,
    n_splits: int = 1,
    include_zero: bool = True,
    beta: float = 1.0,
) -> PRF:
    """PATE's precision, recall and F of binary predictions. Definition as for `pate_f1`.

    Each of the three is the mean over the pairs of buffer sizes, so with more than one pair the F is not that of
    the mean precision and recall. Without anomalies precision is NaN as well.

    Parameters
    ----------
    early, delay, n_splits, include_zero
        The pairs of buffer sizes, as for `pate`.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 0, 1, 1, 1, 0, 0, 0]
    >>> y_pred = [0, 0, 0, 0, 0, 1, 1, 1, 0, 0]
    >>> found = te.metrics.pate_prf(y_true, y_pred, early=2, delay=2, n_splits=1, include_zero=False)
    >>> round(found.precision, 6), round(found.recall, 6), round(found.f1, 6)
    (0.777778, 0.7, 0.736842)
    """
    if not data.truth.has(1):
        return PRF(math.nan, math.nan, math.nan)
    if not data.alarms.has(1):
        return PRF(math.nan, 0.0, 0.0)
    hit, missed = _weights(np.subtract(1, data.alarms.mask, dtype=np.int32), 1, data.events)
    alarms, misses = data.predicted.points, float(missed[0])
    means = [0.0, 0.0, 0.0]
    for *pair, times in pate_buffers(data.n, early, delay, n_splits, include_zero):
        hits = float(hit(*pair)[0])
        precision, recall = hits / alarms, hits / (hits + misses)
        for i, value in enumerate((precision, recall, f_beta(precision, recall, beta))):
            means[i] += times * value
    return PRF(*means)


@prediction_metric(
    label="PATE-F1",
    summary="F of a precision and recall that credit alarms near events and charge late detection.",
    references=_REFERENCES,
    zero="nothing is predicted",
    like=pate_prf,
    needs={"anomaly"},
    best=_best_pate_f1,
    stream=None,
)
def pate_f1(data: Prediction, /, **options: Any) -> float:
    """PATE of binary predictions: the mean over pairs of buffer sizes of the F of its precision and recall.

    The definition is that of the authors' package `PATE` 0.1.1 with `binary_scores=True`, which has `beta=1`.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 0, 1, 1, 1, 0, 0, 0]
    >>> round(te.metrics.pate_f1(y_true, [0, 0, 0, 0, 0, 1, 1, 1, 0, 0], early=2, delay=2), 6)
    0.701754
    """
    return pate_prf.compute(data, **options).f1
