"""Scores of two archives: NAB, and UCR accuracy, whether the highest score is near the event.

The windows of NAB are the events of y_true here. With A_TP, A_FP, A_FN the weights of the profile:

    detected window of length L, first alarm d points before its stop:   + A_TP * tanh(2.5 d / L) / tanh(2.5)
    missed window:                                                        - A_FN
    every predicted normal point, x points after the last point of the
    previous window, whose length is L:                                   - A_FP * tanh(2.5 x / (L - 1))
    the same where x > 3 (L - 1), or before the first window:             - A_FP

NAB writes tanh(2.5 p) as the scaled sigmoid 2 / (1 + exp(-5 p)) - 1. The sum is scaled so that a detector that
finds each window at its first point, without a false alarm, gets 100, and one that never raises an alarm 0.
"""

import math
from collections.abc import Sequence

import numpy as np

import tsadeval.metrics._kernels.nab as kernel
from tsadeval.core import binning
from tsadeval.core.define import prediction_metric, score_metric
from tsadeval.core.inputs import Events, Floats, Index, Prediction, Scoring, inside_any
from tsadeval.core.parameters import Number, OneOf
from tsadeval.errors import UndefinedError
from tsadeval.metrics.counting import first_best, first_inside, records

# A_TP, A_FP and A_FN.
PROFILES = {"standard": (1.0, 0.11, 1.0), "reward_low_fp": (1.0, 0.22, 1.0), "reward_low_fn": (1.0, 0.11, 2.0)}


_PROBATION_ROWS = 5000  # a probation is a share of no more than the first so many rows
_BLOCK = 1 << 16  # false alarms are weighed a block of points at a time: a long series needs no more memory


def _false_alarm_cost(data: Prediction, begin: int) -> float:
    """Sum over predicted normal points from `begin` on of their weight in (0, 1]."""
    events, truth, alarms = data.events, data.truth.mask, data.alarms.mask
    # A window of one point has no width to measure by in NAB (a division by 0): it counts as one of two.
    widths = np.maximum(events.lengths - 1, 1)
    total = 0.0
    for start in range(begin, data.n, _BLOCK):
        block = slice(start, min(start + _BLOCK, data.n))
        at = start + np.flatnonzero(alarms[block] & ~truth[block])
        previous = np.searchsorted(events.stops, at, side="right") - 1
        after = previous >= 0
        position = (at[after] - events.stops[previous[after]] + 1) / widths[previous[after]]
        near = position <= 3
        total += len(at) - np.count_nonzero(near) + float(np.tanh(2.5 * position[near]).sum())
    return total


def _windows(events: Events, probation: float) -> tuple[int, Index, Index]:
    """Return the first point that counts, and starts and stops of the events that are not over before it."""
    begin = math.ceil(min(math.floor(probation * events.n), probation * _PROBATION_ROWS))
    scored = events.stops > begin
    return begin, events.starts[scored], events.stops[scored]


def _rewards(first: Index, starts: Index, stops: Index) -> Floats:
    """Return what a detected window earns by its first alarm, times tanh(2.5)."""
    return np.asarray(np.tanh(2.5 * ((stops - first) / (stops - starts))))


def _best(data: Scoring, *, profile: str, probation: float) -> float:
    """Look where a window is found, or found earlier: the score rises only there, so no other threshold is the best.

    Unless all are worse than few false alarms, and then the largest is.
    """
    reward, cost, miss = PROFILES[profile]
    begin, starts, stops = _windows(data.events, probation)
    if len(starts) == 0:
        return math.nan
    firsts = np.maximum(starts, begin)
    at, of, last = found = records(data.scores, firsts, stops - firsts)
    earned = reward * _rewards(at, starts[of], stops[of]) / math.tanh(2.5)
    # A window is found at its largest score, and found earlier at those before.
    gained = found.gained(earned) + np.where(last, miss, 0.0)
    thresholds = np.unique(np.append(data.scores[at], data.high))[::-1].copy()
    levels = binning.levels_of(data.scores, thresholds)
    full, part = kernel.false_alarm_costs(levels, len(thresholds), data.events.starts, data.events.stops, begin)
    rewards = np.cumsum(np.bincount(levels[at], gained, len(thresholds)))
    values = 100 * (rewards - cost * (np.cumsum(full) + np.cumsum(part))) / ((reward + miss) * len(starts))
    return float(thresholds[first_best(values)])


def _gained(data: Prediction, profile: str, probation: float) -> tuple[float, int]:
    """Return what a series gains over a detector without alarms, and the number of its windows."""
    reward, cost, miss = PROFILES[profile]
    begin, starts, stops = _windows(data.events, probation)
    first = first_inside(data.predicted, np.maximum(starts, begin), stops)
    found = first < stops
    rewards = float(_rewards(first[found], starts[found], stops[found]).sum()) / math.tanh(2.5)
    # The misses' -A_FN each and the base line's -A_FN per window leave A_FN per window that is found.
    gained = reward * rewards + miss * np.count_nonzero(found) - cost * _false_alarm_cost(data, begin)
    return float(gained), len(starts)


def _pooled(series: Sequence[Prediction], *, profile: str, probation: float) -> float:
    """Return the score of a corpus: sums over all series, those without a window included, scaled as for one."""
    reward, _, miss = PROFILES[profile]
    parts = [_gained(data, profile, probation) for data in series]
    windows = sum(count for _, count in parts)
    if windows == 0:
        return math.nan
    return 100 * math.fsum(gained for gained, _ in parts) / ((reward + miss) * windows)


@prediction_metric(
    label="NAB",
    range=(-math.inf, 100.0),
    summary="Rewards early detection in each event and punishes every false alarm; 0 for no alarm, 100 for perfect.",
    undefined="y_true has no event (after the probation, if there is one)",
    references=(
        "Lavin and Ahmad, Evaluating Real-Time Anomaly Detection Algorithms: the Numenta Anomaly Benchmark, ICMLA 2015",
    ),
    checks={"profile": OneOf(tuple(PROFILES)), "probation": Number(0, 1)},
    properties={"separable"},
    needs={"anomaly"},
    best=_best,
    pool=_pooled,
    stream=None,
)
def nab_score(data: Prediction, *, profile: str = "standard", probation: float = 0.0) -> float:
    """Score of the Numenta Anomaly Benchmark, with the events of y_true as its windows.

    Only the first alarm in an event counts, and the earlier the more; every predicted normal point costs, the
    further after an event the more (all of it before the first event). There is no lower bound. NAB's own windows are
    wide, about 10 % of a series in all.

    Equals NAB's own per-file score at `probation=0.15`, once that is normalised as NAB does for the whole corpus,
    and `NabScore` of tsadmetrics at the default options. The micro average of `te.evaluate_many` is NAB's score of a
    corpus, to which series without an event add the cost of their false alarms.

    Parameters
    ----------
    profile : {"standard", "reward_low_fp", "reward_low_fn"}, default="standard"
        The weights of a detection, a false alarm and a miss: (1, 0.11, 1), (1, 0.22, 1) or (1, 0.11, 2).
    probation : float, default=0.0
        Share of the first 5,000 points (or of the series, if shorter) whose alarms are ignored, and events that
        lie within. NAB uses 0.15.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 1, 1, 1, 1, 0, 0, 0]
    >>> te.metrics.nab_score(y_true, y_true)
    100.0
    >>> round(te.metrics.nab_score(y_true, [0, 1, 0, 0, 0, 1, 0, 0, 0, 0]), 4)
    87.4896
    """
    found = _pooled([data], profile=profile, probation=probation)
    if math.isnan(found):
        raise UndefinedError("every event lies in the probation")
    return found


@score_metric(
    label="UCR accuracy",
    summary="1 where the highest score is near an event, else 0; its mean over series is the accuracy of the archive.",
    references=(
        "Wu and Keogh, Current Time Series Anomaly Detection Benchmarks are Flawed and are Creating the Illusion of "
        "Progress, TKDE 2021",
    ),
    checks={"slack": Number(0, integer=True)},
    properties={"affine", "monotone", "mirror"},
    needs={"anomaly"},
)
def ucr_accuracy(data: Scoring, *, slack: int = 100) -> float:
    """Whether the point with the highest score is near an event: the score of the UCR anomaly archive.

    A point is near an event of length L that it is less than max(`slack`, L) points away from. The archive has one
    event a series; with several, near any of them counts. Of several points with the highest score each is as good a
    choice as the others: the value is the share of them that are near. The mean over series (`te.evaluate_many`) is
    the accuracy that papers report.

    Parameters
    ----------
    slack : int, default=100
        The least distance, in points, that is too far.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0] * 200 + [1] * 5 + [0] * 200
    >>> te.metrics.ucr_accuracy(y_true, [0] * 120 + [1] + [0] * 284)
    1.0
    >>> te.metrics.ucr_accuracy(y_true, [0] * 100 + [1] + [0] * 304)
    0.0
    """
    events = data.events
    highest = np.flatnonzero(data.scores == data.high)
    reach = np.maximum(events.lengths, min(slack, data.n)) - 1
    near = inside_any(np.maximum(events.starts - reach, 0), np.minimum(events.stops + reach, data.n), data.n)
    return float(np.mean(near[highest]))
