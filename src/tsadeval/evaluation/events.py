"""Table of events: whether each is detected, how late and with how many alarms; and the false alarms."""

import math
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from tsadeval.core.durations import UNITS as SIZES
from tsadeval.core.facts import counts_of, events_after_gaps, grouped, points_of
from tsadeval.core.inputs import Prediction
from tsadeval.core.messages import count_notes
from tsadeval.core.metric import Rule
from tsadeval.core.names import check_known
from tsadeval.core.parameters import OneOf, Span, check_parameters
from tsadeval.core.results import Grid, Result, Row
from tsadeval.core.selection import AnyMetric
from tsadeval.core.setting import Missing
from tsadeval.core.times import read_times
from tsadeval.errors import InvalidInputError, hint
from tsadeval.incidents.placement import EVENT_COLUMNS, Began, began_of
from tsadeval.incidents.reader import KINDS, SEVERITIES, Asked
from tsadeval.metrics.counting import STATISTICS, UNITS, overlaps
from tsadeval.metrics.event_sweep import with_early
from tsadeval.scores.options import Options, Reading
from tsadeval.scores.scored import Given, observe
from tsadeval.scores.scores import as_scores
from tsadeval.thresholds.best import of_one_detector
from tsadeval.thresholds.pages import alarms_of, by_kind, end_of, event_rows, place_of, prices_of
from tsadeval.thresholds.rules import parse_rule


class EventTable(Result):
    """A row per event: start, stop, duration, detected, delay, lead and alarms; `summary` says it in numbers.

    Where incidents were given, their other columns (severity, ticket and so on) are in the rows as well.

    Attributes
    ----------
    summary : dict
        Events, detected and missed ones, mean, median, 90th percentile and maximum of the delays of the detected ones,
        number of alarm runs and of false ones.
    false_alarms : list of dict
        Start, stop and duration of the alarm runs that belong to no event.
    """

    def __init__(
        self,
        rows: list[Row],
        false_alarms: list[Row],
        summary: dict[str, float],
        unit: str,
        *,
        notes: Sequence[str] = (),
        points: Row | None = None,
    ) -> None:
        super().__init__(rows)
        self.false_alarms = false_alarms
        self.summary = summary
        self.unit = unit
        self.points = points or {}  # how many points and events there are
        self._about = list(notes)

    def detected_by(self, column: str) -> dict[str, tuple[int, int]]:
        """For each value of a column of the incidents, such as "severity": how many events are detected, of how many.

        Examples
        --------
        >>> import tsadeval as te
        >>> incidents = {"start": [1, 5, 8], "stop": [3, 6, 9], "severity": ["high", "low", "high"]}
        >>> y_true, y_pred = te.labels(incidents, range(10)), [0, 1, 0, 0, 0, 1, 0, 0, 0, 0]
        >>> te.events(y_true, y_pred=y_pred, times=range(10), incidents=incidents).detected_by("severity")
        {'high': (1, 2), 'low': (1, 1)}
        """
        return detected_by(self.rows, column)

    def by_kind(self, column: str = "kind", *, cost: AnyMetric = "expected_cost") -> Result:
        """Recall, delay (in minutes, or points) and cost of the events by a column of the incidents.

        Examples
        --------
        >>> import tsadeval as te
        >>> incidents = {"start": [60, 300, 480], "stop": [180, 360, 540], "kind": ["disk", "net", "disk"]}
        >>> times = range(0, 600, 60)
        >>> y_true, y_pred = te.labels(incidents, times), [0, 0, 1, 0, 0, 1, 0, 0, 0, 0]
        >>> te.events(y_true, y_pred=y_pred, times=times, incidents=incidents).by_kind()
        kind  events  detected  recall  median     p90    cost
        ----  ------  --------  ------  ------  ------  ------
        disk       2         1  0.5000  1.0000  1.0000  1.0000
        net        1         1  1.0000  0.0000  0.0000  0.0000
        """
        size = 1.0 if self.unit == "points" else SIZES[self.unit] / SIZES["min"]
        rows = [{**row, "delay": row["delay"] and row["delay"] * size} for row in self.rows]
        return by_kind(rows, column, prices_of(cost))

    def _grid(self) -> Grid:
        head = list(self.rows[0] if self.rows else EVENT_COLUMNS)
        return [head, *([_cell(row[column]) for column in head] for row in self.rows)]

    def _notes(self) -> list[str]:
        return [*summed_up([self]), *self._about]


def detected_by(rows: Sequence[Row], column: str) -> dict[str, tuple[int, int]]:
    """For each value of a column: how many events are detected, of how many."""
    check_known(column, dict.fromkeys(name for row in rows for name in row), "column", "this result")
    groups = grouped((str(row.get(column)), row["detected"]) for row in rows)
    return {value: (sum(detected), len(detected)) for value, detected in groups.items()}


def summed_up(tables: Sequence[EventTable]) -> list[str]:
    """Return what several tables say together: events and alarms, delays, and events by severity."""
    total = {name: sum(table.summary[name] for table in tables) for name in ("events", "detected", "missed")}
    alarms, false = (sum(table.summary[name] for table in tables) for name in ("alarms", "false_alarms"))
    lines = [
        f"{total['detected']:.0f} of {total['events']:.0f} events detected, {total['missed']:.0f} missed; "
        f"{false:.0f} of {alarms:.0f} alarms false"
    ]
    rows = [row for table in tables for row in table.rows]
    delays = [row["delay"] for row in rows if row["delay"] is not None]
    if delays:
        numbers = ", ".join(f"{name} {value:.4g}" for name, value in _statistics(np.array(delays)).items())
        lines.append(f"delays in {tables[0].unit}: {numbers}")
    for column in dict.fromkeys(name for row in rows for name in row if name.lower() in SEVERITIES | KINDS):
        parts = (f"{value} {found} of {events}" for value, (found, events) in detected_by(rows, column).items())
        lines.append(f"detected by {column}: {', '.join(parts)}")
    return lines


def _statistics(delays: Any) -> dict[str, float]:
    return {name: float(of(delays)) if len(delays) else math.nan for name, of in STATISTICS.items()}


def _cell(value: Any) -> Any:
    return str(value) if isinstance(value, np.datetime64) else value


def events(
    y_true: Any,
    y_score: Any = None,
    *,
    y_pred: Any = None,
    threshold: str | float | Rule = "best(f1)",
    times: Any = None,
    early: int | str = 0,
    unit: str | None = None,
    key: str | None = None,
    **reading: Unpack[Reading],
) -> EventTable:
    """List every event by itself: detected or missed, the delay of its first alarm, and how many alarms it got.

    Parameters
    ----------
    y_true, y_score, y_pred, threshold, times
        As for `evaluate`. Or `te.Scores` of one series and one detector alone, or whatever `te.Scores` takes.
    early : int or duration, default=0
        Alarms so shortly before an event belong to it: it is detected, with a lead instead of a delay.
    unit : {"points", "s", "min", "h", "day"}, optional
        What durations and delays are counted in; by default minutes where there are times, else points.
    key : str, optional
        The series whose `incidents` these are, as for `te.labels`.
    **reading
        Options of `te.Scores`: `ignore`, `missing`, `fit` and others. `incidents` (and `by`) beside arrays is what
        `te.labels` made `y_true` from; needs `times`. Rows then have the other columns of the incidents, and start,
        duration and delay count from the moment at which an incident began. Without it they count from its first
        point, which comes late where the incident began in a gap of the data.

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
    if times is not None:
        reading["time"] = times
    alone = y_score is None and y_pred is None
    given, missing = _of_one_series(y_true, reading) if alone else _of_arrays(y_true, y_score, reading)
    setting = {"times": given.times, "ignore": given.ignore, "fit": given.fit, "missing": missing}
    scoring = observe(given.y_true, given.y_score, y_pred, in_place=True, **setting)
    data, timed = alarms_of(scoring, parse_rule(threshold)), scoring.setting.times is not None
    if unit not in (None, "points") and not timed:
        raise InvalidInputError(f"unit={unit!r} is a unit of time, so times= is needed")
    if given.incidents is not None and not timed:
        raise InvalidInputError("incidents= are intervals of time, so times= is needed")
    asked = Asked(key, None, reading.get("by"))
    began = None if given.incidents is None else began_of(given.incidents, asked, data.events, data.setting.clock)
    return event_table(data, early, unit or ("min" if timed else "points"), began)


def _of_arrays(y_true: Any, y_score: Any, reading: Reading) -> tuple[Given, Missing]:
    options = Options.of(reading)
    times = options.time if options.time is None else read_times(options.time, tz=options.tz)
    known = {"times": times, "ignore": options.ignore, "fit": options.fit, "incidents": options.incidents}
    return Given("", "", y_true, y_score, **known), options.missing


def _of_one_series(source: Any, reading: Reading) -> tuple[Given, Missing]:
    scores = as_scores(source, **reading)
    found = of_one_detector(scores)
    if len(found) > 1:
        raise InvalidInputError(f"there are {len(found)} series: take one, as in scores[{found[0].series!r}]")
    return found[0].given, scores.missing


def _gap_notes(data: Prediction, began: Began | None, size: float, unit: str) -> list[str]:
    """Say which events began in a gap of the data, or may have."""
    if began is None:
        count = events_after_gaps(data)
        how = hint("pass incidents= for", "--incidents says")
        return [
            f"{count} of the events begin right after a gap in the times, and delays count from their first points: "
            f"{how} when they began"
        ] * bool(count)
    waited = data.setting.clock.stamps[data.events.starts] - began.onsets
    late = waited[waited > data.setting.clock.step]
    if unit == "points" or not len(late):
        return []
    what = "1 event began" if len(late) == 1 else f"{len(late)} events began"
    longest = float(late.max()) / size
    return [f"{what} in a gap of the data, up to {longest:.6g} {unit} before the first point: delays count from there"]


def event_table(data: Prediction, early: int | str, unit: str, began: Began | None = None) -> EventTable:
    """As `events`, for checked data."""
    runs, (size, edges) = data.predicted, data.setting.positions(unit, data.n)
    rows = event_rows(data, early, unit, began)
    lasting = edges if unit == "points" else data.setting.clock.observed
    belongs = np.zeros(len(runs), np.bool_)
    belongs[overlaps(with_early(data, early).events, runs).second] = True
    false = [
        {"start": place_of(data, a), "stop": end_of(data, b), "duration": float(lasting[b] - lasting[a]) / size}
        for a, b in zip(runs.starts[~belongs].tolist(), runs.stops[~belongs].tolist(), strict=True)
    ]
    late = np.array([row["delay"] for row in rows if row["detected"]])
    summary = {
        "events": len(rows),
        "detected": len(late),
        "missed": len(rows) - len(late),
        **_statistics(late),
        "alarms": len(runs),
        "false_alarms": len(false),
    }
    notes = [*count_notes([counts_of(data)]), *_gap_notes(data, began, size, unit)]
    return EventTable(rows, false, summary, unit, notes=notes, points=points_of(data))
