"""Metrics for operators: events found, alarms that are right, duration of alarms, warnings before events, costs.

An event is a maximal run of anomalous points, an alarm run a maximal run of alarmed points, as in `_event_level`.
"""

import math

import numpy as np

import tsadeval.metrics._kernels.neighbours as kernel
from tsadeval.core.define import prediction_metric
from tsadeval.core.durations import UNITS as SIZES
from tsadeval.core.inputs import Prediction, Scoring
from tsadeval.core.parameters import Check, Number, OneOf, Span
from tsadeval.errors import UndefinedError
from tsadeval.metrics._event_level import event
from tsadeval.metrics.counting import (
    STATISTICS,
    UNITS,
    best_mean,
    cheapest,
    event_maxima,
    false_from,
    first_best,
    first_inside,
    matches,
    overlaps,
    ranges,
    records,
    running_maxima,
)
from tsadeval.metrics.event_sweep import at_least, episodes, event_steps, in_one_unit, swept_events, with_early

_HUNDMAN = "Hundman et al., Detecting Spacecraft Anomalies Using LSTMs and Nonparametric Dynamic Thresholding, KDD 2018"
_KOTOWSKI = "Kotowski et al., European Space Agency Benchmark for Anomaly Detection in Satellite Telemetry, 2024"
EARLY: dict[str, Check] = {"early": Span(0, integer=True)}


@prediction_metric(
    label="Event recall",
    summary="The share of events with at least one alarm.",
    references=(_HUNDMAN,),
    checks=EARLY,
    properties={"mirror", "separable"},
    needs={"anomaly"},
    # It can only grow as the threshold falls: the best is where the last event is found.
    best=lambda data, *, early: float(event_maxima(with_early(data, early)).min()),
    trivial_best=True,
)
def event_recall(data: Prediction, *, early: int | str = 0) -> float:
    """Share of events in which at least one point is alarmed.

    Alarms everywhere get 1, so look at `event_precision`, `false_alarms` or `time_in_alarm` beside it. Equals the
    event-wise recall of ESA-ADB and the recall of `te.metrics.event`.

    Parameters
    ----------
    early : int or duration, default=0
        Alarms so shortly before an event count as well: points, or a duration ("2h") where there are times. They may
        not lie in the event before, or directly after it: at its first point after the end, however long that lasts.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.event_recall([0, 1, 1, 0, 1, 0], [1, 0, 1, 0, 0, 0])
    0.5
    """
    hits = matches(with_early(data, early)).hits
    return np.count_nonzero(hits) / len(hits)


def _best_event_precision(data: Scoring, *, variant: str, early: int | str) -> float:
    data = with_early(data, early)
    thresholds, detected, touching, false = swept_events(data)
    right = touching if variant == "runs" else detected
    values = right / np.maximum(right + false, 1)
    normal = data.n - data.events.points
    if variant == "discounted" and normal > 0:
        values = values * ((normal - false_from(data, thresholds)) / normal)
    return float(thresholds[::-1][first_best(values[::-1])])


@prediction_metric(
    label="Event precision",
    summary="The share of detections that are right: events that are detected against false alarm runs.",
    references=(_HUNDMAN, _KOTOWSKI),
    checks={"variant": OneOf(("segments", "runs", "discounted")), **EARLY},
    properties={"mirror"},
    needs={"alarm"},
    best=_best_event_precision,
    trivial_best=True,
    version="r2",
)
def event_precision(data: Prediction, *, variant: str = "segments", early: int | str = 0) -> float:
    """Share of detections that are right, with events and alarm runs as the things that are counted.

    Parameters
    ----------
    variant : {"segments", "runs", "discounted"}, default="segments"
        As for `event_f1`. "segments": detected events / (detected events + false alarm runs). "runs": the share of
        alarm runs that touch an event. "discounted": "segments" times the share of normal points without alarm; this
        is the event-wise precision of ESA-ADB. With `early`, the points so shortly before an event, alarmed or
        not, belong to it and are not normal.
    early : int or duration, default=0
        Alarms so shortly before an event belong to it, as for `event_recall`.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [0, 1, 1, 1, 0, 0, 0, 0], [0, 1, 0, 1, 0, 1, 0, 0]
    >>> te.metrics.event_precision(y_true, y_pred)
    0.5
    >>> te.metrics.event_precision(y_true, y_pred, variant="discounted")
    0.4
    """
    return event.compute(with_early(data, early), variant=variant).precision


def _best_alarming_precision(data: Scoring) -> float:
    # As the threshold falls, a part of an alarm run inside an event starts at point i from its own score on, until the
    # score before is reached too; at the first point of an event a part starts whatever comes before.
    scores, starts = data.scores, data.events.starts
    rising = np.append(False, scores[1:] > scores[:-1])
    rising[starts] = False
    inside = np.flatnonzero(rising & data.truth.mask)
    appear, vanish = np.sort(np.append(scores[starts], scores[inside])), np.sort(scores[inside - 1])
    maxima = np.sort(event_maxima(data))
    thresholds = np.sort(np.append(maxima, vanish))[::-1]
    parts = at_least(appear, thresholds) - at_least(vanish, thresholds)
    return float(thresholds[first_best(at_least(maxima, thresholds) / np.maximum(parts, 1))])


@prediction_metric(
    label="Alarming precision",
    summary="Detected events as a share of the alarm runs that touch them: 1 where every event has one alarm.",
    undefined="no event is detected",
    references=(_KOTOWSKI,),
    properties={"mirror", "separable"},
    needs={"anomaly"},
    best=_best_alarming_precision,
    trivial_best=True,
)
def alarming_precision(data: Prediction) -> float:
    """Alarming precision of ESA-ADB: one alarm an event is right, each further one is redundant.

    With D detected events and, summed over them, R alarm runs that touch the event, the value is D / R. A run that
    touches two events counts for both. Alarms outside events do not count.

    Examples
    --------
    >>> import tsadeval as te
    >>> round(te.metrics.alarming_precision([0, 1, 1, 1, 0, 1, 0], [0, 1, 0, 1, 0, 1, 1]), 4)
    0.6667
    """
    touched = overlaps(data.events, data.predicted).first
    if len(touched) == 0:
        raise UndefinedError("no event is detected")
    return len(np.unique(touched)) / len(touched)


def _best_alarm_episodes(data: Scoring, *, merge_gap: int | str, min_duration: int | str) -> float:
    order = np.ascontiguousarray(data.descending["position"])
    gap, shortest, begins, ends = in_one_unit(data, merge_gap, min_duration)
    return cheapest(data, kernel.episode_counts(order, begins, ends, gap, shortest))


@prediction_metric(
    label="Alarm episodes",
    range=(0.0, math.inf),
    summary="The number of alarms an operator sees, once alarms close together are one and short ones are left out.",
    references=(_HUNDMAN,),
    zero="there is no alarm",
    checks={"merge_gap": Span(0, integer=True), "min_duration": Span(1, integer=True)},
    properties={"mirror", "separable"},
    direction="lower",
    best=_best_alarm_episodes,
    trivial_best=True,
    version="r3",
)
def alarm_episodes(data: Prediction, *, merge_gap: int | str = 0, min_duration: int | str = 1) -> float:
    """Count the alarm episodes: what an operator has to look at, right or wrong.

    Parameters
    ----------
    merge_gap : int or duration, default=0
        Alarm runs with at most so many quiet points (or so much time) between them are one episode. In time a gap in
        the data is quiet (see `te.times`), and parts a run that goes on over it.
    min_duration : int or duration, default=1
        Episodes that are shorter (after merging) are left out.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [0] * 10, [1, 0, 1, 0, 0, 0, 1, 1, 0, 1]
    >>> te.metrics.alarm_episodes(y_true, y_pred)
    4.0
    >>> te.metrics.alarm_episodes(y_true, y_pred, merge_gap=1)
    2.0
    >>> te.metrics.alarm_episodes(y_true, y_pred, merge_gap=1, min_duration=4)
    1.0
    """
    return float(len(episodes(data, merge_gap, min_duration)))


@prediction_metric(
    label="Time in alarm",
    summary="The share of points that are alarmed.",
    references=("van Rijsbergen, Information Retrieval, 1979 (the alarm rate, TP + FP over all)",),
    properties={"mirror", "exchangeable"},
    direction="lower",
    chance=lambda data: data.predicted.points / data.n,
    best=lambda data: data.high,
    trivial_best=True,
    version="r3",
    zero="there is no alarm",
)
def time_in_alarm(data: Prediction) -> float:
    """Share of the series that is alarmed, right or wrong.

    Where time stamps are given, a point weighs the time that was observed at it (see `te.times`); else all points weigh
    the same.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.time_in_alarm([0, 0, 1, 1], [0, 1, 0, 0])
    0.25
    """
    shares = data.setting.shares
    if shares is None:
        return matches(data).alarmed / data.n
    return float(shares[data.alarms.mask].sum()) / float(shares.sum())


def _best_time_to_recover(data: Scoring, *, unit: str) -> float:
    # An event is detected from its highest score down; its alarm goes on to a point after it from the lowest score on
    # the way there down, starting with the event's last point.
    events, scores = data.events, data.scores
    lengths = np.append(events.starts[1:], data.n) - events.stops + 1
    points = ranges(events.stops - 1, lengths)
    after = np.ones(len(points), np.bool_)
    after[np.cumsum(lengths) - lengths] = False
    goes_on = -running_maxima(-scores[points], lengths)[after]
    _, begins, ends = data.setting.stretches(unit, data.n)
    lasts = (ends - begins)[points[after]].astype(np.float64)
    v = np.concatenate([event_maxima(data), goes_on])
    detected = np.arange(len(v)) < len(events)
    return best_mean(v, np.append(np.zeros(len(events)), lasts), detected.astype(np.float64), lower=True)


@prediction_metric(
    label="Time to recover",
    range=(0.0, math.inf),
    summary="Mean number of points from the end of a detected event until the alarm is off.",
    undefined="no event is detected",
    references=("ISA 18.2, Management of Alarm Systems for the Process Industries (return to normal)",),
    checks={"unit": OneOf(UNITS)},
    properties={"separable"},
    needs={"anomaly"},
    direction="lower",
    best=_best_time_to_recover,
    trivial_best=True,
    version="r2",
)
def time_to_recover(data: Prediction, *, unit: str = "points") -> float:
    """Mean number of points that the alarm goes on after a detected event has ended. Lower is better.

    Only an alarm that is on at the last point of the event goes on. It counts from the point after the event to the
    first one without alarm, or to the next event or the end of the series, where these come first. 0 where the alarm
    was off at the last point, or is at the next. Events that are missed do not count: look at `event_recall` beside it.
    In time, gaps in the data do not count (see `te.times`).

    Parameters
    ----------
    unit : {"points", "s", "min", "h", "day"}, default="points"
        What the time is counted in; units of time need `te.evaluate(..., times=...)`.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.time_to_recover([0, 1, 1, 0, 0, 0, 1, 0], [0, 0, 1, 1, 1, 0, 1, 0])
    1.0
    """
    events, runs = data.events, data.predicted
    seen = matches(data).hits > 0
    if not seen.any():
        raise UndefinedError("no event is detected, so there is nothing to recover from")
    # The run that lasts from inside the event to beyond it, if there is one.
    run = np.searchsorted(runs.stops, events.stops, side="right")
    goes_on = np.append(runs.starts, runs.n)[run] < events.stops
    until = np.minimum(np.append(runs.stops, runs.n)[run], np.append(events.starts[1:], data.n))
    size, late = data.setting.elapsed(unit, events.stops, until, observed=True)
    return float(np.mean(np.where(goes_on, late, 0)[seen])) / size


_FAWCETT = "Fawcett and Provost, Activity monitoring: noticing interesting changes in behavior, KDD 1999"


def _best_lead_time(data: Scoring, *, horizon: int | str, unit: str, statistic: str) -> float:
    """As the threshold falls, the first warning before an event comes from the highest score on earlier and earlier."""
    early = with_early(data, horizon)
    if len(early.events) != len(data.events):
        raise UndefinedError("no event has a point before it")
    starts, stops = early.events.starts, data.events.starts
    has = starts < stops
    starts, stops = starts[has], stops[has]
    if len(starts) == 0:
        return data.high
    found = records(data.scores, starts, stops - starts)
    edges = data.setting.positions(unit, data.n)[1]
    lead = (edges[stops[found.owner]] - edges[found.points]).astype(np.float64)
    return best_mean(data.scores[found.points], found.gained(lead), found.last.astype(np.float64))


@prediction_metric(
    label="Lead time",
    range=(0.0, math.inf),
    summary="Mean number of points from the first alarm before an event, at most a horizon ahead, to its start.",
    undefined="no event has an alarm shortly before it",
    references=(_FAWCETT,),
    checks={"horizon": Span(1, integer=True), "unit": OneOf(UNITS), "statistic": OneOf(tuple(STATISTICS))},
    properties={"separable"},
    needs={"anomaly"},
    best=_best_lead_time,
    trivial_best=True,
)
def lead_time(data: Prediction, *, horizon: int | str = 100, unit: str = "points", statistic: str = "mean") -> float:
    """Time from the first warning to the start of the event it warns of, averaged over events with a warning.

    A warning is an alarm at most `horizon` before the start of an event, but after the first point that follows the
    event before. Events without a warning do not count: `event_recall(early=...)` says how many are found in time
    or warned of.

    Parameters
    ----------
    horizon : int or duration, default=100
        How long before an event an alarm counts as its warning: points, or a duration ("2h") where there are times.
    unit : {"points", "s", "min", "h", "day"}, default="points"
        What the lead is counted in; units of time need `te.evaluate(..., times=...)`.
    statistic : {"mean", "median", "p90", "max"}, default="mean"
        What is taken of the leads; "p90" is their 90th percentile.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.lead_time([0, 0, 0, 0, 1, 1, 0], [0, 1, 0, 1, 0, 0, 0], horizon=3)
    3.0
    >>> te.metrics.lead_time([0, 0, 0, 0, 1, 1, 0], [0, 1, 0, 1, 0, 0, 0], horizon=2)
    1.0
    """
    starts, stops = with_early(data, horizon).events.starts, data.events.starts
    first = first_inside(data.predicted, starts, stops)
    warned = first < stops
    if not warned.any():
        raise UndefinedError("no event has an alarm shortly before it")
    size, edges = data.setting.positions(unit, data.n)
    return float(STATISTICS[statistic](edges[stops[warned]] - edges[first[warned]])) / size


def _best_expected_cost(data: Scoring, *, miss: float, false_alarm: float, delay_per_hour: float) -> float:
    events, scores, steps = data.events, data.scores, event_steps(data)
    thresholds = [steps.false_down, steps.touching_up, np.array([data.high])]
    earlier, gained = np.zeros(0), np.zeros(0)
    if delay_per_hour > 0:
        # An event is found earlier at every point that scores more than all before it.
        found = records(scores, events.starts, events.lengths)
        stamps = data.setting.clock.stamps
        delay = (stamps[found.points] - stamps[events.starts[found.owner]]) / SIZES["h"]
        earlier, gained = scores[found.points], found.gained(delay)
        thresholds.append(earlier)
    at = np.sort(np.concatenate(thresholds))
    sweep = steps.at(at)
    cost = float(miss) * (len(events) - sweep.detected) + float(false_alarm) * sweep.false
    if delay_per_hour > 0:
        order = np.argsort(earlier)
        sums = np.append(0.0, np.cumsum(gained[order][::-1]))
        cost = cost + delay_per_hour * sums[at_least(earlier[order], at)]
    return float(at[::-1][first_best(-cost[::-1])])


@prediction_metric(
    label="Cost",
    range=(0.0, math.inf),
    summary="Sum of what missed events, false alarm runs and hours of delay cost.",
    references=(_FAWCETT,),
    checks={"miss": Number(0), "false_alarm": Number(0), "delay_per_hour": Number(0)},
    properties={"separable"},
    needs={"anomaly"},
    direction="lower",
    best=_best_expected_cost,
    trivial_best=True,
    version="r2",
)
def expected_cost(
    data: Prediction, *, miss: float = 1.0, false_alarm: float = 0.1, delay_per_hour: float = 0.0
) -> float:
    """Cost of the alarms: missed events, false alarm runs, and the delay of the events that are detected.

    An alarm that never ends is one run that touches all events, so it costs nothing: `te.choose_threshold` looks for
    the cheapest threshold at which no more than a given share of the normal points is alarmed.

    Parameters
    ----------
    miss : float, default=1.0
        Cost of an event without an alarm.
    false_alarm : float, default=0.1
        Cost of an alarm run that touches no event.
    delay_per_hour : float, default=0.0
        Cost of every hour from the start of a detected event to its first alarm; needs `te.evaluate(..., times=...)`.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.expected_cost([0, 1, 1, 0, 0, 1, 0], [1, 0, 1, 0, 0, 0, 0], miss=5, false_alarm=2)
    7.0
    """
    events, met = data.events, matches(data)
    found = met.hits > 0
    cost = float(miss) * int(np.count_nonzero(~found)) + float(false_alarm) * met.false
    if delay_per_hour > 0:
        stamps = data.setting.clock.stamps
        cost += delay_per_hour * float((stamps[met.first[found]] - stamps[events.starts[found]]).sum()) / SIZES["h"]
    return float(cost)
