"""`choose_threshold` for a budget of false alarms, `curve` of a metric over all thresholds, of one or many series."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from tsadeval.core.durations import rate_of
from tsadeval.core.inputs import Floats, Scoring
from tsadeval.core.metric import Metric
from tsadeval.core.names import did_you_mean
from tsadeval.core.parameters import Check, Number, OneOf, Span, check_parameters
from tsadeval.core.results import Grid, Result, Row
from tsadeval.core.selection import AnyMetric
from tsadeval.core.setting import Missing, is_spans
from tsadeval.core.times import Times
from tsadeval.errors import InvalidInputError, InvalidParameterError, UnknownNameError, hint
from tsadeval.metrics.event_sweep import at_least, event_steps, swept_events, with_early
from tsadeval.scores.scoring import observe
from tsadeval.thresholds.best import SAME, judged_levels, of_predictions

_MANY = 1000  # thresholds at which a metric without a sweep of its own is computed
_SHOWN = 12


class Choice(Result):
    """A threshold under a budget of false alarms, and the trade-off it was chosen from.

    Attributes
    ----------
    threshold : float
        Alarm where `score > threshold`; NaN where no threshold keeps the budget.
    value : float
        What was maximized, at that threshold.
    false_alarms, detected, events : int
        Number of false alarm runs, of events with an alarm, and of events.
    asked : str
        The budget as it was given.
    budget : float
        How many false alarm runs it allows in this series.
    exact : bool
        Were all thresholds looked at?
    """

    def __init__(self, rows: list[Row], chosen: Row | None, about: Row) -> None:
        super().__init__(rows)
        best = chosen or {"threshold": math.nan, "value": math.nan, "false_alarms": 0, "detected": 0}
        self.threshold: float = best["threshold"]
        self.value: float = best["value"]
        self.false_alarms: int = best["false_alarms"]
        self.detected: int = best["detected"]
        self.events: int = about["events"]
        self.asked: str = about["asked"]
        self.budget: float = about["budget"]
        self.maximize: str = about["maximize"]
        self.exact: bool = about["exact"]

    def _grid(self) -> Grid:
        head = ["threshold", self.maximize, "false_alarms", "detected"]
        step = max(1, math.ceil(len(self.rows) / _SHOWN))
        shown = [row for i, row in enumerate(self.rows) if i % step == 0 or row["threshold"] == self.threshold]
        marks = ["*" if row["threshold"] == self.threshold else "" for row in shown]
        cells = [[row["threshold"], row["value"], row["false_alarms"], row["detected"]] for row in shown]
        return [[*head, ""], *([*row, mark] for row, mark in zip(cells, marks, strict=True))]

    def _notes(self) -> list[str]:
        limit = "any number of" if math.isinf(self.budget) else f"{self.budget:.6g}"
        allowed = f"the budget allows {limit} false alarms here"
        if math.isnan(self.threshold):
            return [f"no threshold keeps the budget: {allowed}"]
        searched = "all thresholds" if self.exact else f"{len(self.rows)} thresholds"
        found = f"{self.detected} of {self.events} events and {self.false_alarms} false alarms"
        return [f"* threshold {self.threshold:.6g}: {found}; best of {searched}", allowed]


CHECKS: dict[str, Check] = {
    "early": Span(0, integer=True),
    "max_time_in_alarm": Number(0, 1),
    "prefer": OneOf(("highest", "lowest")),
}


def choose_threshold(
    y_true: Any,
    y_score: Any,
    *,
    max_false_alarms: str | float | None = None,
    maximize: AnyMetric = "event_recall",
    times: Any = None,
    ignore: Any = None,
    missing: Missing = "error",
    early: int | str = 0,
    max_time_in_alarm: float = 0.5,
    prefer: Literal["highest", "lowest"] = "highest",
) -> Choice:
    """The threshold that is best for a metric among those that keep a budget of false alarms.

    Chosen with the labels, so take it on a validation part and apply it to others with `threshold=choice.threshold`.
    A false alarm is a run of alarms that touches no event. Far down, alarm runs join, and an alarm everywhere is a
    single run that is not false; so a threshold keeps the budget only where all higher ones do as well, and where no
    more than `max_time_in_alarm` of the normal points are alarmed. Of several best thresholds it is that of the fewest
    false alarms, and then the highest, so that most of the budget may be left; `prefer="lowest"` spends it.

    Parameters
    ----------
    y_true, y_score, times, ignore, missing
        As for `evaluate`. Or mappings from the names of several series to theirs (`ignore` may be one list of intervals
        for all), for one threshold that all of them share: events and false alarms are counted over all series.
    max_false_alarms : str or float, default=None
        A rate such as "1/week" or "0.5 per day" of normal time that was observed (gaps in the times do not count, as
        for `false_alarms`), which needs `times`; or a number of false alarm runs in this series. None for any number.
    maximize : str or function, default="event_recall"
        A metric of predictions; of one that is better where it is lower, the least is looked for. Event recall is exact
        over all thresholds, and so is a metric whose best threshold of all keeps the budget. Otherwise the metric is
        computed at up to 1,000 thresholds that do, and at as many between the neighbours of the best of them.
    early : int or duration, default=0
        Alarms so shortly before an event are warnings: they find it and are not false.
    max_time_in_alarm : float, default=0.5
        The largest share of normal points that may be alarmed.
    prefer : {"highest", "lowest"}, default="highest"
        Of several best thresholds, that of the fewest false alarms and then the highest; or the lowest that keeps the
        budget. The lowest has more false alarms here, and finds more of later events that are weaker than these.

    Returns
    -------
    Choice
        `threshold`, `value`, `false_alarms`, `detected`, and the trade-off as `rows`, `to_frame()` and
        `te.plot.trade_off`: of event recall the fewest false alarms for each number of events, of other metrics all
        thresholds that were looked at.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 1, 1, 0, 0, 0, 1, 0, 0]
    >>> y_score = [0.1, 0.5, 0.9, 0.7, 0.2, 0.8, 0.3, 0.4, 0.1, 0.6]
    >>> choice = te.choose_threshold(y_true, y_score, max_false_alarms=1)
    >>> choice.detected, choice.false_alarms, 0.6 <= choice.threshold < 0.9
    (1, 0, True)
    >>> te.choose_threshold(y_true, y_score, max_false_alarms=3, max_time_in_alarm=0.6).detected
    2
    """
    given: dict[str, Any] = {"early": early, "max_time_in_alarm": max_time_in_alarm, "prefer": prefer}
    check_parameters("choose_threshold", CHECKS, given)
    metric = of_predictions(maximize)
    asked = {"times": times, "ignore": ignore, "missing": missing}
    scorings = observe_several(y_true, y_score, **asked) if isinstance(y_true, Mapping) else None
    scoring = observe(y_true, y_score, **asked) if scorings is None else joined(scorings)
    if not scoring.truth.has(1):
        raise InvalidInputError("y_true has no event: choose a threshold on a part that has some")
    if scorings is None or not isinstance(max_false_alarms, str):
        budget = budget_of(max_false_alarms, scoring)
    else:
        budget = math.fsum(budget_of(max_false_alarms, one) for one in scorings)
    return choose(scoring, metric, str(max_false_alarms), budget, **given)


def choose(
    scoring: Scoring,
    metric: Metric,
    asked: str,
    budget: float,
    *,
    early: int | str,
    max_time_in_alarm: float,
    prefer: str,
) -> Choice:
    """As `choose_threshold`, for checked data and a number of false alarms; `asked` is what the caller wrote."""
    warned = with_early(scoring, early)
    by_events = str(metric) == "event_recall"
    # With the lowest threshold, those between two corners of the trade-off count as well.
    counts = _of_events if by_events and prefer == "highest" else _of_levels
    v, detected, false, kept = counts(warned, budget, _lowest(scoring, max_time_in_alarm))
    at, exact = np.flatnonzero(kept), True
    if by_events:
        values = detected / len(warned.events)
    else:
        values, at, exact = _searched(metric, metric.judges(scoring), v, at)
    chosen = _chosen(values, false, at, metric, prefer)
    corners = _corners(detected, false) if by_events else at
    shown = np.union1d(corners, [] if chosen is None else [chosen]).astype(np.int64)
    rows = [_row(scoring, v, values, false, detected, i) for i in shown.tolist()]
    best = None if chosen is None else _row(scoring, v, values, false, detected, chosen)
    about = {
        "events": len(scoring.events),
        "asked": asked,
        "budget": budget,
        "maximize": str(metric),
        "exact": exact,
    }
    return Choice(rows, best, about)


class _Counts(NamedTuple):
    """At falling thresholds: detected events, false alarm runs, and whether the budget is kept there and above."""

    v: Floats
    detected: Any
    false: Any
    kept: Any


def _of_events(data: Scoring, budget: float, lowest: float) -> _Counts:
    """At the thresholds where an event is found or false runs vanish: no other can be the best for event recall."""
    sweep, steps = swept_events(data), event_steps(data)
    v, detected, false = (column[::-1] for column in (sweep.thresholds, sweep.detected, sweep.false))
    # Above a threshold at which false runs vanish there may be more of them than at any threshold of the sweep.
    above = np.nextafter(v, np.inf)
    before = at_least(steps.false_up, above) - at_least(steps.false_down, above)
    kept = np.maximum.accumulate(np.maximum(false, before)) <= budget
    last = np.append(v[1:] != v[:-1], True)  # equal thresholds have equal counts
    last &= v > lowest
    return _Counts(v[last], detected[last], false[last], kept[last])


def _of_levels(data: Scoring, budget: float, lowest: float) -> _Counts:
    """At all distinct scores."""
    v, steps = judged_levels(data), event_steps(data)
    v = v[v > lowest]
    false = at_least(steps.false_up, v) - at_least(steps.false_down, v)
    return _Counts(v, at_least(steps.maxima, v), false, np.maximum.accumulate(false) <= budget)


def _searched(metric: Metric, scoring: Scoring, v: Floats, allowed: Any) -> tuple[Floats, Any, bool]:
    """Values at some of the allowed thresholds, which ones, and whether the best of them all is among those."""
    values = np.full(len(v), math.nan)
    if len(allowed) == 0:
        return values, allowed, True

    def compute(at: Any) -> Any:
        new = at[np.isnan(values[at])]
        values[new] = [metric.value_of(scoring.at_least(float(one)))[0] for one in v[new]]
        return at

    if len(allowed) <= _MANY:
        return values, compute(allowed), True
    at = compute(allowed[_spread(len(allowed))])
    if metric.best is not None:  # the best of all thresholds, if it keeps the budget, needs no search
        top = int(np.searchsorted(-v, -metric.best(scoring, **metric.options)))
        if top <= allowed[-1]:
            return values, compute(np.union1d(at, [top])), True
    if not np.isnan(values[at]).all():
        place = int(np.nanargmax(values[at] if metric.direction == "higher" else -values[at]))
        around = np.arange(at[max(place - 1, 0)], at[min(place + 1, len(at) - 1)] + 1)
        around = around[np.linspace(0, len(around) - 1, min(_MANY, len(around))).astype(np.int64)]
        at = compute(np.union1d(at, around))
    return values, at, False


def _spread(n: int) -> Any:
    """Some of n places: half of them evenly spaced, half more densely towards the first."""
    return np.union1d(
        np.linspace(0, n - 1, _MANY // 2).astype(np.int64), np.geomspace(1, n, _MANY // 2).astype(np.int64) - 1
    )


def _row(scoring: Scoring, v: Floats, values: Floats, false: Any, detected: Any, i: int) -> Row:
    return {
        "threshold": scoring.just_below(float(v[i])),
        "value": float(values[i]),
        "false_alarms": int(false[i]),
        "detected": int(detected[i]),
    }


def _chosen(values: Floats, false: Any, at: Any, metric: Metric, prefer: str) -> int | None:
    """Of the thresholds that keep the budget the best; of equal ones that of fewest false alarms, or the last."""
    at = at[~np.isnan(values[at])]
    if len(at) == 0:
        return None
    worth = values[at] if metric.direction == "higher" else -values[at]
    at = at[worth >= worth.max() - SAME]
    return int(at[-1] if prefer == "lowest" else at[np.argmin(false[at])])


def _corners(detected: Any, false: Any) -> Any:
    """Where the trade-off between events and false alarms has its corners: for each number of events the fewest."""
    if len(detected) == 0:
        return np.zeros(0, np.int64)
    changed = np.flatnonzero(np.append(True, detected[1:] != detected[:-1]))
    return np.array([a + int(np.argmin(false[a:b])) for a, b in zip(changed, [*changed[1:], len(false)], strict=True)])


def _lowest(scoring: Scoring, share: float) -> float:
    """The score that thresholds have to be above, so that no more than a share of the normal points is alarmed."""
    normal = ~scoring.truth.mask
    if scoring.setting.ignored is not None:
        normal &= ~scoring.setting.ignored
    scores = scoring.scores[normal]
    allowed = math.floor(share * len(scores))
    if allowed >= len(scores):
        return -math.inf if scoring.setting.ignored is None else float(scoring.scores.min())
    return float(np.partition(scores, len(scores) - 1 - allowed)[len(scores) - 1 - allowed])


def budget_of(given: str | float | None, scoring: Scoring) -> float:
    """How many false alarms are allowed in this series."""
    if given is None:
        return math.inf
    if isinstance(given, str):
        rate = rate_of(given, "max_false_alarms")
        if scoring.setting.times is None:
            how = hint("so times= is needed", "so name the column of times with --time")
            raise InvalidInputError(f"max_false_alarms={given!r} is a rate, {how}")
        normal = ~scoring.truth.mask
        if scoring.setting.ignored is not None:
            normal &= ~scoring.setting.ignored
        return float(scoring.setting.times.durations[normal].sum()) * rate.per_nanosecond
    if not Number(0).accepts(given):
        raise InvalidParameterError(
            f"max_false_alarms must be a rate such as '1/week' or a number >= 0, but is {given!r}"
        )
    return float(given)


class Curve(Result):
    """The values of a metric at falling thresholds; rows of threshold, value, alarms and alarmed_points."""

    def __init__(self, rows: list[Row], metric: str, exact: bool) -> None:
        super().__init__(rows)
        self.metric = metric
        self.exact = exact

    def _grid(self) -> Grid:
        step = max(1, math.ceil(len(self.rows) / _SHOWN))
        head = ["threshold", self.metric, "alarms", "alarmed_points"]
        return [head, *([r["threshold"], r["value"], r["alarms"], r["alarmed_points"]] for r in self.rows[::step])]

    def _notes(self) -> list[str]:
        what = "all thresholds" if self.exact else "some of all thresholds, evenly spaced, each value exact"
        return [f"{len(self.rows)} rows: {what}"]


def curve(
    metric: AnyMetric,
    y_true: Any,
    y_score: Any,
    *,
    points: int = 500,
    times: Any = None,
    ignore: Any = None,
    missing: Missing = "error",
) -> Curve:
    """The value of a metric of predictions at every threshold, thinned for drawing.

    Parameters
    ----------
    metric : str or function
        A metric of predictions.
    y_true, y_score, times, ignore, missing
        As for `evaluate`.
    points : int, default=500
        Where there are more distinct scores, so many thresholds are taken, evenly spaced among them, and that of the
        best value.

    Returns
    -------
    Curve
        Rows of threshold, value, alarms and alarmed_points, from no alarm at all to an alarm everywhere.

    Examples
    --------
    >>> import tsadeval as te
    >>> found = te.curve("f1", [0, 1, 1, 0], [0.1, 0.9, 0.4, 0.6])
    >>> [round(row["value"], 2) for row in found.rows]
    [0.0, 0.67, 0.5, 0.8, 0.67]
    """
    check_parameters("curve", {"points": Number(2, integer=True)}, {"points": points})
    chosen = of_predictions(metric)
    scoring = chosen.judges(observe(y_true, y_score, times=times, ignore=ignore, missing=missing))
    levels = judged_levels(scoring)
    exact = len(levels) <= points
    if not exact:
        at = np.linspace(0, len(levels) - 1, points).astype(np.int64)
        best = [] if chosen.best is None else [np.searchsorted(-levels, -chosen.best(scoring, **chosen.options))]
        levels = levels[np.unique(np.minimum([*at, *best], len(levels) - 1)).astype(np.int64)]
    thresholds = [scoring.high, *(scoring.just_below(float(v)) for v in levels)]
    return Curve(_curve_rows(chosen, scoring, thresholds), str(chosen), exact)


def _curve_rows(metric: Metric, scoring: Scoring, thresholds: Sequence[float]) -> list[Row]:
    rows = []
    for threshold in thresholds:
        prediction = scoring.above(threshold)
        runs = prediction.predicted
        value = metric.value_of(prediction)[0]
        rows.append({"threshold": threshold, "value": value, "alarms": len(runs), "alarmed_points": runs.points})
    return rows


# Several series as one, for a threshold that all of them share.


def observe_several(y_true: Mapping[Any, Any], y_score: Any, *, times: Any, ignore: Any, missing: Any) -> list[Scoring]:
    """A checked scoring for every series; arguments are mappings with the same names."""
    if not y_true:
        raise InvalidInputError("y_true has no series")
    if not isinstance(y_score, Mapping):
        raise InvalidInputError("y_true has several series, so y_score must be a mapping from their names as well")
    shared = not isinstance(ignore, Mapping) and (ignore is None or is_spans(ignore))
    found = []
    for name, labels in y_true.items():
        try:
            found.append(
                observe(
                    labels,
                    _of(y_score, name, "y_score"),
                    times=None if times is None else _of(times, name, "times"),
                    ignore=ignore if shared else _of(ignore, name, "ignore", optional=True),
                    missing=missing,
                )
            )
        except InvalidInputError as error:
            raise InvalidInputError(f"series {name!r}: {error}") from None
    return found


def _of(given: Any, name: Any, what: str, *, optional: bool = False) -> Any:
    if not isinstance(given, Mapping):
        raise InvalidInputError(f"y_true has several series, so {what} must be a mapping from their names as well")
    if name not in given and not optional:
        hint = did_you_mean(str(name), list(map(str, given)))
        raise UnknownNameError(f"{what} has no series {name!r}: {hint}")
    return given.get(name)


def joined(scorings: list[Scoring]) -> Scoring:
    """The series one after the other, with a point between them that is not judged, so that no run crosses it."""
    if len({one.setting.times is None for one in scorings}) > 1:
        raise InvalidInputError("times must be given for all series, or for none")
    between = [1] * (len(scorings) - 1) + [0]

    def whole(parts: list[Any], fill: Any) -> Any:
        longer = (np.append(part, [fill] * n) for part, n in zip(parts, between, strict=True))
        return np.concatenate(list(longer)).astype(np.result_type(*parts))

    ignored = [np.zeros(one.n, np.bool_) if one.setting.ignored is None else one.setting.ignored for one in scorings]
    return observe(
        whole([one.truth.mask for one in scorings], False),
        whole([one.raw for one in scorings], 0),
        times=None if scorings[0].setting.times is None else _one_clock([one.setting.clock for one in scorings]),
        ignore=whole(ignored, True),
    )


def _one_clock(clocks: list[Times]) -> Times:
    """Stamps that go on from series to series, with one for the point between two of them."""
    stamps, end = [], 0
    for k, clock in enumerate(clocks):
        own = clock.stamps - clock.stamps[0] + end
        end = int(own[-1]) + 2 * clock.step
        stamps.append(own if k == len(clocks) - 1 else np.append(own, end - clock.step))
    whole = np.concatenate(stamps)
    return Times(whole, "numbers", whole, 1)
