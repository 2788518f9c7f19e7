"""`choose` and the rule `budget` for a budget of false alarms, and `curve` of a metric over all thresholds."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

import numpy as np

from tsadeval.core.durations import rate_of
from tsadeval.core.facts import Origin
from tsadeval.core.inputs import Floats, Scoring
from tsadeval.core.metric import METRICS, Decision, Metric
from tsadeval.core.parameters import Check, Number, OneOf, Span, check_parameters
from tsadeval.core.results import Result, ResultTable, Row, all_digits, grid_of
from tsadeval.core.selection import AnyMetric
from tsadeval.errors import InvalidInputError
from tsadeval.metrics.event_sweep import at_least, event_steps, with_early
from tsadeval.scores.options import Reading
from tsadeval.thresholds.best import join, judged_levels, of_predictions, read_scorings
from tsadeval.thresholds.pages import best_at, budget_of, by_kind, normal_points, prices_of
from tsadeval.thresholds.rules import RULES

_MANY = 1000  # thresholds at which a metric without a sweep of its own is computed
_SHOWN = 12


class Choice(ResultTable):
    """A threshold under a budget of false alarms, and the trade-off it was chosen from; or one for each detector.

    Of one detector, a row for each threshold of the trade-off. Of several, a row per detector, the best first, and part
    of the data ("chosen on", and "held out" where there is such): `threshold` (infinite where none that finds an event
    keeps the budget, which `message` then says), `events`, `detected`, `false_alarms`, `rate` (of these, in a unit of
    the budget), `median` and `p90` of the delays, and `cost`. The attributes are then those of the best detector.

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
    detector : str
        Of several the best one: that of most events found (or of the lowest cost), then of the fewest false alarms,
        then of the shortest median delay, on the part it was chosen on. "" where there is one only.
    thresholds : dict
        Of several: the threshold of each detector, as `te.compare(thresholds=...)` takes it.
    sentence : str
        Of several: the answer in one sentence, of the part that was held out, where there is one.
    judged : list of dict
        Of several: the rows of the part that was held out, where there is one, else of the one they were chosen on.
    outcomes : Result
        Of several: a row per event, detector and part: whether it was detected, how late, and what is known of its
        incidents.
    """

    threshold: float
    value: float
    false_alarms: int
    detected: int
    detector: str = ""

    def by_kind(self, column: str = "kind") -> Result:
        """Recall, delay and cost of each kind of incident, by detector and part; of a choice of several detectors.

        `column` is any column of the incidents; rows as those of `te.compare(...).by_kind()`.
        """
        if not self.detector:
            raise InvalidInputError("by_kind is of several detectors, or of a choice with per=: te.events has it too")
        return by_kind(self.outcomes.rows, column, prices_of(self.words["cost"]), ("detector", "part"))


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
    at = at[~np.isnan(values[at])]
    chosen = [best_at(metric.sign * values, false, at, lowest=prefer == "lowest")] if len(at) else []
    places = sorted({*shown.tolist(), *chosen})
    rows = [
        {
            "threshold": warned.just_below(float(v[i])) if i else scoring.above_all(),
            "value": float(values[i]),
            "false_alarms": int(false[i]),
            "detected": int(detected[i]),
        }
        for i in places
    ]
    best: Row = {"threshold": math.nan, "value": math.nan, "false_alarms": 0, "detected": 0}
    limit = "any number of" if math.isinf(budget) else f"{budget:.6g}"
    notes = [f"the budget allows {limit} false alarms here"]
    if chosen:
        best = rows[places.index(chosen[0])]
        searched = "all thresholds" if exact else f"{len(rows)} thresholds"
        found = f"{best['detected']} of {len(scoring.events)} events and {best['false_alarms']} false alarms"
        silent = " (no alarm)" * (best["detected"] == best["false_alarms"] == 0)
        notes.insert(0, f"* threshold {all_digits(best['threshold'])}{silent}: {found}; best of {searched}")
    else:
        notes = [f"{metric} has no value at any threshold that keeps the budget: {notes[0]}"]
    step = max(1, math.ceil(len(rows) / _SHOWN))
    some = [row for i, row in enumerate(rows) if i % step == 0 or row is best]
    head = ["threshold", str(metric), "false_alarms", "detected", ""]
    grid = [head, *([*row, "*" * (row[0] == best["threshold"])] for row in grid_of(some, list(best))[1:])]
    about: dict[str, Any] = {"events": len(scoring.events), "asked": asked, "budget": budget, "maximize": str(metric)}
    return Choice(rows, grid=grid, notes=notes, exact=exact, **about, **best)


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


def curve(
    metric: AnyMetric,
    y_true: Any,
    y_score: Any = None,
    *,
    points: int = 500,
    times: Any = None,
    **reading: Unpack[Reading],
) -> ResultTable:
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
    ResultTable
        Rows of threshold, value, alarms and alarmed_points, from no alarm at all to an alarm everywhere; `metric`, and
        `exact`, whether these are all thresholds.

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
    return ResultTable(rows, grid=grid, notes=notes, metric=str(chosen), exact=exact)


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
