"""Every event by itself: is it detected, how late, with how many alarms; and the alarms that belong to none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tsadeval.core.inputs import Prediction
from tsadeval.core.metric import METRICS, Rule
from tsadeval.core.observed import observe
from tsadeval.core.parameters import OneOf, Span, check_parameters
from tsadeval.core.results import Grid, Result, Row
from tsadeval.core.setting import Missing
from tsadeval.errors import InvalidInputError
from tsadeval.metrics._counting import overlaps
from tsadeval.metrics._event_level import UNITS, first_inside
from tsadeval.metrics._event_sweep import with_early
from tsadeval.thresholds.rules import parse_rule

__all__ = ["EventTable", "events"]


class EventTable(Result):
    """A row per event: start, stop, duration, detected, delay, lead and alarms; `summary` says it in numbers.

    Attributes
    ----------
    summary : dict
        Events, detected and missed ones, mean, median, 90th percentile and maximum of the delays of the detected ones,
        number of alarm runs and of false ones.
    false_alarms : list of dict
        Start, stop and duration of the alarm runs that belong to no event.
    """

    def __init__(self, rows: list[Row], false_alarms: list[Row], summary: dict[str, float], unit: str) -> None:
        super().__init__(rows)
        self.false_alarms = false_alarms
        self.summary = summary
        self.unit = unit

    def _grid(self) -> Grid:
        head = ["start", "stop", "duration", "detected", "delay", "lead", "alarms"]
        return [head, *([_cell(row[column]) for column in head] for row in self.rows)]

    def _notes(self) -> list[str]:
        s, unit = self.summary, self.unit
        found = f"{s['detected']:.0f} of {s['events']:.0f} events detected, {s['missed']:.0f} missed; "
        alarms = f"{s['false_alarms']:.0f} of {s['alarms']:.0f} alarms false"
        if not s["detected"]:
            return [found + alarms]
        numbers = ", ".join(f"{name} {s[name]:.4g}" for name in ("mean", "median", "p90", "max"))
        return [found + alarms, f"delays in {unit}: {numbers}"]


def _cell(value: Any) -> Any:
    return str(value) if isinstance(value, np.datetime64) else value


def events(
    y_true: Any,
    y_score: Any = None,
    *,
    y_pred: Any = None,
    threshold: str | float | Rule = "best(f1)",
    times: Any = None,
    ignore: Any = None,
    missing: Missing = "error",
    fit: Any = None,
    early: int | str = 0,
    unit: str | None = None,
) -> EventTable:
    """Every event by itself: detected or missed, the delay of its first alarm, and how many alarms it got.

    Parameters
    ----------
    y_true, y_score, y_pred, threshold, times, ignore, missing, fit
        As for `evaluate`.
    early : int or duration, default=0
        Alarms so shortly before an event belong to it: it is detected, with a lead instead of a delay.
    unit : {"points", "s", "min", "h", "day"}, optional
        What durations and delays are counted in; by default minutes where there are times, else points.

    Returns
    -------
    EventTable
        A row per event; `summary`, `false_alarms`, `to_frame` and so on.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.events([0, 1, 1, 0, 0, 1, 0, 0], y_pred=[0, 0, 1, 0, 0, 0, 0, 1])
    start  stop  duration  detected   delay  lead  alarms
    -----  ----  --------  --------  ------  ----  ------
        1     3    2.0000      True  1.0000             1
        5     6    1.0000     False                     0
    <BLANKLINE>
    1 of 2 events detected, 1 missed; 1 of 2 alarms false
    delays in points: mean 1, median 1, p90 1, max 1
    """
    check_parameters("events", {"early": Span(0, integer=True)}, {"early": early})
    if unit is not None:
        check_parameters("events", {"unit": OneOf(UNITS)}, {"unit": unit})
    scoring = observe(y_true, y_score, y_pred, times=times, ignore=ignore, missing=missing, fit=fit, in_place=True)
    decision = METRICS["event_recall"].decide(scoring, parse_rule(threshold))
    data = decision.prediction  # type: ignore[union-attr]
    if unit not in (None, "points") and scoring.setting.times is None:
        raise InvalidInputError(f"unit={unit!r} is a unit of time, so times= is needed")
    return event_table(data, early, unit or ("points" if scoring.setting.times is None else "min"))


def event_table(data: Prediction, early: int | str, unit: str) -> EventTable:
    """As `events`, for checked data."""
    found, runs = data.events, data.predicted
    warned = with_early(data, early).events
    size, edges = data.setting.in_unit(unit, data.n)
    first = first_inside(runs, warned.starts, warned.stops)
    detected = first < warned.stops
    delay = (edges[np.minimum(first, data.n)] - edges[found.starts]) / size
    touching = overlaps(warned, runs)
    counts = np.bincount(touching.first, minlength=len(found))
    rows = [
        {
            "start": _place(data, start),
            "stop": _place(data, stop),
            "duration": float(edges[stop] - edges[start]) / size,
            "detected": bool(detected[k]),
            "delay": max(float(delay[k]), 0.0) if detected[k] else None,
            "lead": max(-float(delay[k]), 0.0) if detected[k] and delay[k] < 0 else None,
            "alarms": int(counts[k]),
        }
        for k, (start, stop) in enumerate(zip(found.starts.tolist(), found.stops.tolist(), strict=True))
    ]
    belongs = np.zeros(len(runs), np.bool_)
    belongs[touching.second] = True
    false = [
        {"start": _place(data, a), "stop": _place(data, b), "duration": float(edges[b] - edges[a]) / size}
        for a, b in zip(runs.starts[~belongs].tolist(), runs.stops[~belongs].tolist(), strict=True)
    ]
    late = np.maximum(delay[detected], 0)
    summary = {
        "events": len(found),
        "detected": int(detected.sum()),
        "missed": int((~detected).sum()),
        "mean": float(late.mean()) if len(late) else math.nan,
        "median": float(np.median(late)) if len(late) else math.nan,
        "p90": float(np.quantile(late, 0.9)) if len(late) else math.nan,
        "max": float(late.max()) if len(late) else math.nan,
        "alarms": len(runs),
        "false_alarms": len(false),
    }
    return EventTable(rows, false, summary, unit)


def _place(data: Prediction, position: int) -> Any:
    """Where a point is: its stamp, as it was given, or its number; one past the last is the end of its time."""
    times = data.setting.times
    if times is None:
        return position
    return times.at(position) if position < len(times) else times.moment(int(times.edges[-1]))
