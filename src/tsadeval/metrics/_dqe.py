"""Detection quality evaluation (DQE): every event by itself, with zones near to and far from it.

The definition is in the documentation of `dqe`.
"""

import math

import numpy as np
from numpy.typing import NDArray

import tsadeval.metrics._kernels.dqe as kernel
from tsadeval.core.binning import levels_of
from tsadeval.core.define import prediction_metric, score_metric
from tsadeval.core.inputs import Events, Floats, Index, Prediction, Scoring
from tsadeval.core.parameters import Check, Number
from tsadeval.metrics.counting import first_best, ranges

_LI = (
    "Li et al., DQE: A Semantic-Aware Evaluation Metric for Time Series Anomaly Detection, arXiv 2603.06131, 2026 (the "
    "definition is that of the authors' repository, revision 055c23e)"
)
NEAR: dict[str, Check] = {"near": Number(0, integer=True, none=True)}

_EVENT, _NEAR, _FAR = 0, 1, 2
_KINDS: NDArray[np.int8] = np.array([_FAR, _NEAR, _EVENT, _NEAR, _FAR], np.int8)
_MOST = 2**16 - 1


def near_range(events: Events, near: int | None) -> int:
    """Return the length of the near zones: by default the mean length of events, at most 1/22 of the normal points."""
    if near is not None:
        return min(near, events.n)
    return int(min(events.points / len(events), (events.n - events.points) / 22))


def _borders(events: Events, near: int) -> tuple[Index, Floats]:
    """Borders of five zones an event (far, near, the event, near, far), and the lengths of its two far ones.

    In halves of a point, as two far zones may meet in the middle of one.
    """
    n, starts, stops = events.n, events.starts, events.stops
    late = np.minimum(stops + near, np.append(starts[1:], n))
    early = np.maximum(starts - near, np.concatenate([[0], late[:-1]]))
    middle = late[:-1] + early[1:]
    left, right = np.concatenate([[0], middle]), np.concatenate([middle, [2 * n]])
    borders = np.column_stack([left, 2 * early, 2 * starts, 2 * stops, 2 * late]).ravel()
    return np.append(borders, 2 * n), (2 * early - left + right - 2 * late).astype(np.float64)


def _qualities(events: Events, order: Index, begins: Index, near: int) -> Floats:
    """Return the mean quality of the events at each level j, which adds the points `order[begins[j]:begins[j + 1]]`.

    The points are taken by zone: one that two far zones share is two cells of half its weight.
    """
    borders, far_lengths = _borders(events, near)
    # A far zone may start or end in the middle of a point.
    first, last = borders[:-1] // 2, -(-borders[1:] // 2)
    lengths = np.maximum(last - first, 0)
    zones = np.repeat(np.arange(len(first)), lengths)
    points, owners = ranges(first, lengths), zones // 5
    distances = np.maximum(events.starts[owners] - points - 1, points - events.stops[owners])
    weights = np.full(len(zones), 2)
    cut = np.flatnonzero(points[1:] == points[:-1])
    weights[cut] = weights[cut + 1] = 1
    # The cells of the points in their order, and where those of the points at `begins` begin.
    first = np.flatnonzero(np.append(True, points[1:] != points[:-1]))
    counts = np.diff(first, append=len(points))[order]
    places = np.append(0, np.cumsum(counts))
    cells = np.repeat(first[order], counts)
    cells[np.flatnonzero(cells[1:] == cells[:-1]) + 1] += 1
    about = _KINDS[zones % 5], owners, zones, weights, distances, far_lengths, near
    return np.asarray(kernel.qualities(cells, places[begins], *about) / len(events))


def _best_sdqe(data: Scoring, *, near: int | None) -> float:
    ordered = data.descending
    scores = ordered["score"]
    begins = np.concatenate([[0], np.flatnonzero(scores[1:] != scores[:-1]) + 1, [data.n]])
    order = ordered["position"].astype(np.int64)
    values = _qualities(data.events, order, begins, near_range(data.events, near))
    return float(scores[begins[first_best(values)]])


def _quality(events: Events, alarms: Events, near: int) -> float:
    """Compute the mean quality of events from alarm runs that are cut at the borders of the zones, in half points."""
    borders, far_lengths = _borders(events, near)
    begin, end = 2 * alarms.starts, 2 * alarms.stops
    first = np.searchsorted(borders, begin, side="right") - 1
    counts = np.searchsorted(borders, end) - first
    run, zone = np.repeat(np.arange(len(begin)), counts), ranges(first, counts)
    begin, end = np.maximum(begin[run], borders[zone]), np.minimum(end[run], borders[zone + 1])
    lengths, kind, owner, k = end - begin, _KINDS[zone % 5], zone // 5, len(events)
    hit = np.bincount(owner[(kind == _EVENT) & (lengths > 0)], minlength=k) > 0
    close, far = (kind == _NEAR) & (lengths > 0), kind == _FAR
    near_sum, far_sum, squares = (
        np.bincount(owner[chosen], weights[chosen], minlength=k)
        for chosen, weights in ((close, lengths), (far, lengths), (far, lengths.astype(np.float64) ** 2))
    )
    away = np.where(zone % 5 == 1, borders[zone + 1] - end, begin - borders[zone])[close]
    nearest = np.full(k, 2 * near, np.int64)
    np.minimum.at(nearest, owner[close], away)
    share = far_sum / np.maximum(far_lengths, 1)
    false_alarm = np.where(far_sum > 0, (1 - share) * (squares / np.maximum(far_sum, 1) ** 2), 1.0)
    width = max(near, 1)
    proximity = np.where(
        near_sum > 0,
        (1 - nearest // 2 / width) * (1 - near_sum / (4 * width)),
        (hit & (far_sum == 0)).astype(np.float64),
    )
    return float(np.mean((proximity + hit) / 2 * false_alarm))


@prediction_metric(
    label="SDQE",
    summary="Quality of the detection of every event: captured, near misses, false alarms around it; averaged.",
    references=(_LI,),
    checks=NEAR,
    needs={"anomaly"},
    best=_best_sdqe,
    zero="there is no alarm",
)
def sdqe(data: Prediction, *, near: int | None = None) -> float:
    """Compute the detection quality at one threshold: `dqe` of given alarms.

    Parameters
    ----------
    near : int, default=None
        Points before and after an event in which alarms are near misses; None is the mean length of the events, at
        most 1/22 of the normal points.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.sdqe([0, 0, 0, 0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0, 0, 0, 0, 0], near=2)
    1.0
    >>> te.metrics.sdqe([0, 0, 0, 0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0, 0, 0, 0], near=2)
    0.375
    """
    return _quality(data.events, data.predicted, near_range(data.events, near))


@score_metric(
    label="DQE",
    summary="Quality of the detection of every event, averaged over events and evenly spaced thresholds.",
    references=(_LI,),
    checks={**NEAR, "n_thresholds": Number(1, _MOST, integer=True)},
    properties={"affine"},
    needs={"anomaly"},
    version="r2",
)
def dqe(data: Scoring, *, near: int | None = None, n_thresholds: int = 100) -> float:
    """Compute the detection quality of every event, averaged over events and thresholds.

    Scores are scaled to [0, 1] by their minimum and maximum; thresholds are 1/T, 2/T, ..., 1, and an alarm is a score
    of at least the threshold. Constant scores are 0 everywhere, so they raise no alarm.

    Every event is judged by itself, in the part of the series around it: the event, the near zones of `near` points
    before and after it (not beyond the neighbouring event, and not into its zone after), and the far zones, which share
    what is left between two events equally. With the alarm runs cut at all borders, the quality of an event is (capture
    + near miss) / 2 * false alarm, where capture is 1 if the event has an alarm, else 0; near miss is (1 - x / near) (1
    - d / (2 near)), with x the distance of the nearest alarm in the near zones and d the length of all alarms there (if
    there is none, 1 where the event is captured and the far zones are quiet, else 0); and false alarm is (1 - L / M) Q
    / L², with L the length of the alarms in the far zones, Q the sum of the squares of their lengths and M the length
    of the far zones (1 without alarms there).

    Parameters
    ----------
    near : int, default=None
        Points before and after an event in which alarms are near misses; None is the mean length of the events, at
        most 1/22 of the normal points.
    n_thresholds : int, default=100
        The number of thresholds T.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 0, 1, 1, 0, 0, 0, 0]
    >>> te.metrics.dqe(y_true, [0, 0, 0, 0, 2, 2, 0, 0, 0, 0], near=2)
    1.0
    >>> te.metrics.dqe(y_true, [0, 0, 0, 0, 2, 2, 0, 0, 0, 1], near=2)
    0.6875
    """
    size = 1.0 if math.isfinite(data.high - data.low) else 0.5  # halves of scores whose range is beyond all floats
    spread = size * data.high - size * data.low
    scaled = (size * data.scores - size * data.low) / spread if spread > 0 else np.zeros(data.n)
    # To 12 digits, so that scores on a threshold stay on it whatever their scale.
    thresholds = np.linspace(1, 0, n_thresholds + 1)[:-1].round(12)
    levels = np.asarray(levels_of(scaled.round(12), thresholds))
    order = np.argsort(levels.astype(np.uint16), kind="stable")  # 16 bits are sorted in two passes
    begins = np.append(0, np.cumsum(np.bincount(levels, minlength=n_thresholds)[:n_thresholds]))
    return float(np.mean(_qualities(data.events, order, begins, near_range(data.events, near))))
