"""Warnings before events, and what misses, false alarms and delays cost."""

from __future__ import annotations

import math

import numpy as np

from tsadeval.core.define import prediction_metric
from tsadeval.core.durations import UNITS as SIZES
from tsadeval.core.inputs import Prediction, Scoring
from tsadeval.core.parameters import Number, OneOf, Span
from tsadeval.errors import UndefinedError
from tsadeval.metrics.counting import STATISTICS, UNITS, best_mean, first_best, first_inside, ranges, running_maxima
from tsadeval.metrics.event_sweep import at_least, event_steps, with_early

__all__ = ["expected_cost", "lead_time"]

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
    lengths = stops - starts
    points = ranges(starts, lengths)
    highest = running_maxima(data.scores[points], lengths)
    record = np.append(True, data.scores[points[1:]] > highest[:-1])
    record[np.cumsum(lengths) - lengths] = True
    owner = np.repeat(np.arange(len(starts)), lengths)[record]
    edges = data.setting.in_unit(unit, data.n)[1]
    lead = (edges[stops[owner]] - edges[points[record]]).astype(np.float64)
    newest = np.append(owner[1:] != owner[:-1], True)
    gained = lead - np.where(newest, 0.0, np.append(lead[1:], 0.0))
    return best_mean(data.scores[points[record]], gained, newest.astype(np.float64))


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

    A warning is an alarm at most `horizon` before the start of an event, after the end of the event before (not
    directly after it). Events without a warning do not count: `event_recall(early=...)` says how many are found in time
    or warned of.

    Parameters
    ----------
    horizon : int or duration, default=100
        How long before an event an alarm counts as its warning: points, or a duration ("2h") where there are times.
    unit : {"points", "s", "min", "h", "day"}, default="points"
        What the lead is counted in; units of time need `te.evaluate(..., times=...)`.
    statistic : {"mean", "median", "p90", "max"}, default="mean"
        What is taken of the leads; "p90" is their 90th percentile.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where no event has a warning.

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
    size, edges = data.setting.in_unit(unit, data.n)
    return float(STATISTICS[statistic](edges[stops[warned]] - edges[first[warned]])) / size


def _best_expected_cost(data: Scoring, *, miss: float, false_alarm: float, delay_per_hour: float) -> float:
    events, scores, steps = data.events, data.scores, event_steps(data)
    thresholds = [steps.false_down, steps.touching_up, np.array([data.high])]
    records, gained = np.zeros(0), np.zeros(0)
    if delay_per_hour > 0:
        # An event is found earlier at every point that scores more than all before it.
        points = ranges(events.starts, events.lengths)
        highest = running_maxima(scores[points], events.lengths)
        record = np.append(True, scores[points[1:]] > highest[:-1])
        record[np.cumsum(events.lengths) - events.lengths] = True
        owner = np.repeat(np.arange(len(events)), events.lengths)[record]
        stamps = data.setting.clock.stamps
        delay = (stamps[points[record]] - stamps[events.starts[owner]]) / SIZES["h"]
        newest = np.append(owner[1:] != owner[:-1], True)
        records, gained = scores[points[record]], delay - np.where(newest, 0.0, np.append(delay[1:], 0.0))
        thresholds.append(records)
    at = np.sort(np.concatenate(thresholds))
    sweep = steps.at(at)
    cost = float(miss) * (len(events) - sweep.detected) + float(false_alarm) * sweep.false
    if delay_per_hour > 0:
        order = np.argsort(records)
        sums = np.append(0.0, np.cumsum(gained[order][::-1]))
        cost = cost + delay_per_hour * sums[at_least(records[order], at)]
    return float(at[::-1][first_best(-cost[::-1])])


@prediction_metric(
    label="Cost",
    range=(0.0, math.inf),
    summary="Sum of what missed events, false alarm runs and hours of delay cost.",
    undefined="y_true has no event",
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

    Returns
    -------
    float
        The sum over the series. NaN, with an `UndefinedMetricWarning`, where there is no event.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.expected_cost([0, 1, 1, 0, 0, 1, 0], [1, 0, 1, 0, 0, 0, 0], miss=5, false_alarm=2)
    7.0
    """
    events, runs = data.events, data.predicted
    first = first_inside(runs, events.starts, events.stops)
    found = first < events.stops
    false = int(np.count_nonzero(first_inside(events, runs.starts, runs.stops) >= runs.stops))
    cost = float(miss) * int(np.count_nonzero(~found)) + float(false_alarm) * false
    if delay_per_hour > 0:
        stamps = data.setting.clock.stamps
        cost += delay_per_hour * float((stamps[first[found]] - stamps[events.starts[found]]).sum()) / SIZES["h"]
    return float(cost)
