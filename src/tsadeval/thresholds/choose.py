"""`choose` and the rule `budget` for a budget of false alarms, and `curve` of a metric over all thresholds."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

import numpy as np

from tsadeval.core.durations import rate_of
from tsadeval.core.facts import Origin
from tsadeval.core.inputs import Bools, Floats, Prediction, Scoring
from tsadeval.core.metric import METRICS, Decision, Metric
from tsadeval.core.parameters import Check, Number, OneOf, Span, check_parameters
from tsadeval.core.results import Grid, Result, ResultTable, Row, all_digits, grid_of
from tsadeval.core.selection import AnyMetric
from tsadeval.errors import InvalidInputError, InvalidParameterError, hint
from tsadeval.metrics.counting import SAME
from tsadeval.metrics.event_sweep import at_least, event_steps, with_early
from tsadeval.scores.options import Reading
from tsadeval.thresholds.best import join, judged_levels, of_predictions, read_scorings
from tsadeval.thresholds.rules import RULES

_MANY = 1000  # thresholds at which a metric without a sweep of its own is computed
_SHOWN = 12


class Choice(Result):
    """A threshold under a budget of false alarms, and the trade-off it was chosen from.

    Attributes
    ----------
    threshold : float
        Alarm where `score > threshold`: the highest score where no alarm is best; NaN where nothing has a value.
    value : float
        What was maximized, at that threshold.
    false_alarms, detected, events : int
        Number of false alarm runs, of events with an alarm, and of events.
    asked : str
        The budget as it was given.
    budget : float
        How many false alarm runs it allows in this series.
    exact : bool
        Whether all thresholds were looked at.
    """

    threshold: float
    value: float
    false_alarms: int
    detected: int

    def __init__(
        self, rows: list[Row], chosen: Row | None, *, events: int, asked: str, budget: float, maximize: str, exact: bool
    ) -> None:
        super().__init__(rows)
        vars(self).update(chosen or {"threshold": math.nan, "value": math.nan, "false_alarms": 0, "detected": 0})
        self.events, self.asked, self.budget = events, asked, budget
        self.maximize, self.exact = maximize, exact

    def _grid(self) -> Grid:
        head = ["threshold", self.maximize, "false_alarms", "detected"]
        step = max(1, math.ceil(len(self.rows) / _SHOWN))
        shown = [row for i, row in enumerate(self.rows) if i % step == 0 or row["threshold"] == self.threshold]
        cells = grid_of(shown, list(self.rows[0]))[1:] if shown else []
        return [[*head, ""], *([*row, "*" * (row[0] == self.threshold)] for row in cells)]

    def _notes(self) -> list[str]:
        limit = "any number of" if math.isinf(self.budget) else f"{self.budget:.6g}"
        allowed = f"the budget allows {limit} false alarms here"
        if math.isnan(self.threshold):
            return [f"{self.maximize} has no value at any threshold that keeps the budget: {allowed}"]
        searched = "all thresholds" if self.exact else f"{len(self.rows)} thresholds"
        found = f"{self.detected} of {self.events} events and {self.false_alarms} false alarms"
        silent = " (no alarm)" * (self.detected == self.false_alarms == 0)
        return [f"* threshold {all_digits(self.threshold)}{silent}: {found}; best of {searched}", allowed]


CHECKS: dict[str, Check] = {
    "early": Span(0, integer=True),
    "max_time_in_alarm": Number(0, 1),
    "prefer": OneOf(("highest", "lowest")),
}


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
    """Choose as `choose_threshold` does, for checked data; `asked` is the budget as the caller wrote it."""
    warned = with_early(scoring, early)
    steps, v = event_steps(warned), judged_levels(warned)
    v = np.append(math.inf, v[v > _lowest(scoring, max_time_in_alarm)])  # first no alarm at all
    detected = at_least(steps.maxima, v)
    false = at_least(steps.false_up, v) - at_least(steps.false_down, v)
    at, exact = np.flatnonzero(np.maximum.accumulate(false) <= budget), True
    if str(metric) == "event_recall":
        values, shown = detected / len(warned.events), _corners(detected, false)
    else:
        values, at, exact = _searched(metric, metric.judges(scoring), v, at)
        shown = at
    chosen = _chosen(values, false, at, metric, prefer)
    rows = {
        i: {
            "threshold": warned.just_below(float(v[i])) if i else scoring.above_all(),
            "value": float(values[i]),
            "false_alarms": int(false[i]),
            "detected": int(detected[i]),
        }
        for i in sorted({*shown.tolist(), *chosen})
    }
    best = rows[chosen[0]] if chosen else None
    about: dict[str, Any] = {"events": len(scoring.events), "asked": asked, "budget": budget}
    return Choice(list(rows.values()), best, **about, maximize=str(metric), exact=exact)


def _searched(metric: Metric, scoring: Scoring, v: Floats, allowed: Any) -> tuple[Floats, Any, bool]:
    """Compute values at some of the allowed thresholds, which ones, and whether the best of them all is among those."""
    values = np.full(len(v), math.nan)

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
    """Take some of n places: half of them evenly spaced, half more densely towards the first."""
    return np.union1d(
        np.linspace(0, n - 1, _MANY // 2).astype(np.int64), np.geomspace(1, n, _MANY // 2).astype(np.int64) - 1
    )


def _chosen(values: Floats, false: Any, at: Any, metric: Metric, prefer: str) -> list[int]:
    """Find, of the thresholds that keep the budget the best; of equal ones that of fewest false alarms, or the last."""
    at = at[~np.isnan(values[at])]
    if len(at) == 0:
        return []
    worth = values[at] if metric.direction == "higher" else -values[at]
    at = at[worth >= worth.max() - SAME]
    return [int(at[-1] if prefer == "lowest" else at[np.argmin(false[at])])]


def _corners(detected: Any, false: Any) -> Any:
    """Find where the trade-off between events and false alarms has corners: the fewest for each number of events."""
    order = np.lexsort((false, detected))  # stable: of equally few the highest threshold
    return order[np.unique(detected[order], return_index=True)[1]]


def _lowest(scoring: Scoring, share: float) -> float:
    """Find the score that thresholds have to be above, so that no more than a share of the normal points is alarmed."""
    scores = scoring.scores[normal_points(scoring)]
    allowed = math.floor(share * len(scores))
    if allowed >= len(scores):
        return -math.inf if scoring.setting.ignored is None else float(scoring.scores.min())
    return float(np.partition(scores, len(scores) - 1 - allowed)[len(scores) - 1 - allowed])


def normal_points(scoring: Scoring | Prediction) -> Bools:
    """Return the normal points that are judged."""
    ignored = scoring.setting.ignored
    return ~scoring.truth.mask if ignored is None else ~(scoring.truth.mask | ignored)


def budget_of(given: str | float | None, scoring: Scoring) -> float:
    """Compute how many false alarms are allowed in this series."""
    if given is None:
        return math.inf
    if isinstance(given, str):
        rate = rate_of(given, "max_false_alarms")
        if scoring.setting.times is None:
            how = hint("so times= is needed", "so name the column of times with --time")
            raise InvalidInputError(f"max_false_alarms={given!r} is a rate, {how}")
        return float(scoring.setting.times.durations[normal_points(scoring)].sum()) * rate
    if not Number(0).accepts(given):
        raise InvalidParameterError(
            f"max_false_alarms must be a rate such as '1/week' or a number >= 0, but is {given!r}"
        )
    return float(given)


class Curve(ResultTable):
    """The values of a metric at falling thresholds; rows of threshold, value, alarms and alarmed_points."""

    metric: str
    exact: bool


def curve(
    metric: AnyMetric,
    y_true: Any,
    y_score: Any = None,
    *,
    points: int = 500,
    times: Any = None,
    **reading: Unpack[Reading],
) -> Curve:
    """Compute the value of a metric of predictions at every threshold, thinned for drawing.

    Parameters
    ----------
    metric : str or function
        A metric of predictions.
    y_true, y_score, times
        As for `choose_threshold`: arrays, mappings of those of several series, or `te.Scores` of one detector.
    points : int, default=500
        Where there are more distinct scores, so many thresholds are taken, evenly spaced among them, and that of the
        best value.
    **reading
        Options of `te.Scores`, such as `ignore` and `missing`.

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
    scoring = chosen.judges(join(read_scorings(y_true, y_score, times, reading)))
    levels = judged_levels(scoring)
    exact = len(levels) <= points
    if not exact:
        at = np.linspace(0, len(levels) - 1, points).astype(np.int64)
        best = [] if chosen.best is None else [np.searchsorted(-levels, -chosen.best(scoring, **chosen.options))]
        levels = levels[np.unique(np.minimum([*at, *best], len(levels) - 1)).astype(np.int64)]
    rows = []
    for threshold in (scoring.high, *(scoring.just_below(float(v)) for v in levels)):
        prediction = scoring.above(threshold)
        runs, value = prediction.predicted, chosen.value_of(prediction)[0]
        rows.append({"threshold": threshold, "value": value, "alarms": len(runs), "alarmed_points": runs.points})
    head, shown = ["threshold", str(chosen), "alarms", "alarmed_points"], rows[:: math.ceil(len(rows) / _SHOWN)]
    what = "all thresholds" if exact else "some of all thresholds, evenly spaced, each value exact"
    grid, notes = [head, *grid_of(shown, list(rows[0]))[1:]], [f"{len(rows)} rows: {what}"]
    return Curve(rows, grid=grid, notes=notes, metric=str(chosen), exact=exact)


@dataclass(frozen=True)
class budget:
    """Alarm above the threshold that finds most events within a budget of false alarms, as `te.choose_threshold` does.

    `max_false_alarms` is a rate, "2/week", which needs `times=`, or a number of false alarm runs in the series. Chosen
    with the labels of the series itself; scores of 0 and 1 keep it, too. Without events, and where no other threshold
    keeps the budget, there is no alarm.

    >>> str(budget("2/week")), str(budget(5, "lowest"))
    ('budget(2/week)', 'budget(5, lowest)')
    """

    literal: ClassVar[bool] = True
    uses_labels: ClassVar[bool] = True
    origin: ClassVar[Origin] = Origin.BUDGET

    max_false_alarms: str | float
    prefer: str = "highest"

    def __post_init__(self) -> None:
        check_parameters("budget", CHECKS, {"prefer": self.prefer})
        if isinstance(self.max_false_alarms, str):
            rate_of(self.max_false_alarms, "budget: max_false_alarms")
        else:
            check_parameters("budget", {"max_false_alarms": Number(0)}, {"max_false_alarms": self.max_false_alarms})

    def decide(self, data: Scoring, metric: Metric) -> Decision:
        """Raise the same alarms for every metric."""
        threshold = data.shared(("threshold of", str(self)), lambda: self._threshold(data))
        return Decision(data.above(threshold), str(self), threshold, None, True, self.origin)

    def _threshold(self, data: Scoring) -> float:
        allowed = budget_of(self.max_false_alarms, data)
        if not data.truth.has(1):
            return data.high
        about: dict[str, Any] = {"early": 0, "max_time_in_alarm": 0.5, "prefer": self.prefer}
        found = choose(data, METRICS["event_recall"], str(self.max_false_alarms), allowed, **about).threshold
        return data.high if math.isnan(found) else found

    def __str__(self) -> str:
        return f"budget({self.max_false_alarms}{', lowest' * (self.prefer == 'lowest')})"


RULES.add("budget", budget)
