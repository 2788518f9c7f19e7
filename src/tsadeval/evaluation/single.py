"""`te.evaluate`: metrics of one pair of labels and scores, with notes and warnings about the values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tsadeval.core.inputs import Prediction, Scoring
from tsadeval.core.metric import BINARY, Metric, Outcome, Rule
from tsadeval.core.parameters import Number, check_parameters
from tsadeval.core.results import Grid, MappingResult, Row
from tsadeval.core.selection import Metrics, select_metrics
from tsadeval.core.setting import Missing
from tsadeval.errors import ThresholdWarning, warn, warn_undefined
from tsadeval.evaluation.baseline import perfect_values, random_values
from tsadeval.scores.scoring import observe
from tsadeval.thresholds.rules import parse_rule


class Evaluation(MappingResult):
    """Values of metrics on one scoring: a row per metric; as a mapping, metric to value."""

    def __init__(
        self, rows: list[Row], *, shown: Sequence[str] = (), notes: Sequence[str] = (), points: Row | None = None
    ) -> None:
        super().__init__(rows, shown=shown)
        self.about = list(notes)
        self.points = points or {}  # how many points and events the values are made of

    def _grid(self) -> Grid:
        head, *body = super()._grid()
        short = {"random_error": "error", "alarmed_points": "points"}  # so that a line fits the terminal
        return [[short.get(column, column) for column in head], *body]

    def _notes(self) -> list[str]:
        rules = list(dict.fromkeys(row["rule"] for row in self.rows if row["rule"]))
        notes = chosen_with_labels(rules)
        if len(rules) == 1 and not notes:
            notes = [f"alarms: {rules[0]}"]
        turned = upside_down(self.rows)
        return [*notes, *([f"{turned}: {IS_TURNED}"] if turned else []), *self.about]


def evaluate(
    y_true: Any,
    y_score: Any = None,
    metrics: Metrics = "recommended",
    *,
    y_pred: Any = None,
    times: Any = None,
    ignore: Any = None,
    missing: Missing = "error",
    threshold: str | float | Rule = "best",
    fit: Any = None,
    values: Any = None,
    baseline: bool = False,
    draws: int = 20,
    random_state: int = 0,
) -> Evaluation:
    """Many metrics of one scoring.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_score : array-like of shape (n,)
        Finite scores, higher for more anomalous. May be left out where `y_pred` is given. Scores that are all 0 or 1
        are predictions, for which no rule looks for a threshold; one that is given, or found on `fit`, holds for them.
    metrics : str, function, or several of these, default="recommended"
        A set ("recommended", "paper", "all"), a metric with or without options ("cce", "cce(tau=0.4)", "VUS-PR",
        "cce,f1"), any function `(y_true, y_score) -> float` or `(y_true, y_pred) -> float`, or "module:function".
    y_pred : array-like of shape (n,), optional
        1 where an alarm is raised: the predictions of the metrics that take these. The threshold is not used then.
    times : array-like of shape (n,), optional
        Time stamps of the points (dates, or numbers of seconds; see `te.times`), regular or not. Options of metrics can
        then be durations, as in "time_tolerant_f1(tolerance='30min')" and "false_alarms(per='week')". The
        DatetimeIndex of a pandas `y_true` is taken without asking.
    ignore : array-like of shape (n,), or intervals of time, optional
        Points that are not judged: a mask, or what `te.labels` takes (needs `times`). They count neither as right nor
        as wrong. Metrics of single points leave them out; for others of predictions they are normal points without
        alarm, so that they part the events on either side; CCE takes the stretches between them as series of their
        own. Metrics of scores that can do none of this are NaN with a warning.
    missing : {"error", "skip", "ignore", "no alarm", "worst"}, default="error"
        What to do with scores that are NaN. "error" refuses them. "skip", the default of `te.compare`, leaves these
        points out as `ignore` does it, so that no gap makes one event of two; metrics of scores that cannot leave out
        points see the others put together. "ignore" is the same, but such metrics are NaN. "no alarm" takes missing
        scores as lower than all others, and so does "worst", which differs for detectors without any score on a series
        (`te.compare`). The result says how many there are.
    threshold : str, number or rule, default="best"
        How scores become predictions for the metrics that take these. "best" is, for each metric, the threshold that is
        best for it, chosen with the labels (metrics for which that is trivial, such as recall, are taken at the best
        point-wise F1); "best(f1)" puts all metrics at the best threshold of one; "budget(2/week)" at the one of
        `choose_threshold(max_false_alarms="2/week")`, with the labels too, and "budget(5)" at that of 5 false alarms; a
        number or "fixed(value)" is a fixed threshold, "quantile(p)" a quantile of the scores. Alarms are scores above
        the threshold. Rules that need no labels: "sigma(k)", "mad(k)", "iqr(k)", "pot(risk)", "epsilon", "top(k)",
        "contamination(p)"; on top of any rule
        "hysteresis(rule, release)" and "sustained(rule, points)".
    fit : array-like, optional
        Scores of a training or validation part, from which rules without labels take their threshold. Without it they
        take it from `y_score` itself.
    values : array-like of shape (n,) or (n, channels), optional
        The series that was scored, for options such as `window="period"`.
    baseline : bool, default=False
        Add what an uninformative detector would get, `random`: the same scores, shuffled, under the same rule. A
        formula where there is one, else the mean over seeded draws, with its standard error `random_error`. And what a
        perfect detector gets, `perfect`: the labels as scores.
    draws, random_state : int
        Number of shuffles and their seed, for the baselines without a formula.

    Returns
    -------
    Evaluation
        A mapping from metric to value that prints as a table, with `rows`, `to_frame`, `to_latex` and `to_json`.

    Examples
    --------
    >>> import tsadeval as te
    >>> result = te.evaluate([0, 0, 0, 1, 1, 0], [0.1, 0.2, 0.1, 0.9, 0.7, 0.3], ["cce", "cce(constrained=True)"])
    >>> round(result["cce"], 4)
    0.7468
    """
    check_parameters("evaluate", {"draws": Number(2, integer=True)}, {"draws": draws})
    chosen = select_metrics(metrics)
    rule = parse_rule(threshold)
    scoring = observe(y_true, y_score, y_pred, times=times, ignore=ignore, missing=missing, fit=fit, values=values)
    rows = [row_of(metric, metric.run(scoring, rule)) for metric in chosen]
    shown = ["metric", "value"]
    if baseline:
        by_chance = random_values(chosen, scoring, rule, draws, random_state)
        at_best = perfect_values(chosen, scoring)
        for row, (random, error), perfect in zip(rows, by_chance, at_best, strict=True):
            row |= {"random": random, "random_error": error, "perfect": perfect}
        shown += ["random", "random_error", "perfect"]
    warn_of_undefined(rows)
    warn_of_alarms({"": odd_alarms(rows, scoring.n)})
    rules = {row["rule"] for row in rows if row["rule"]}
    shown += ["rule"] * (len(rules) > 1) + ["threshold", "alarms", "alarmed_points"] * bool(rules)
    for row in rows:
        row |= counts_of(scoring)
    notes = [*scoring.setting.notes(), *notes_of_gaps(chosen, scoring)]
    return Evaluation(rows, shown=shown, notes=notes, points=points_of(scoring))


def counts_of(scoring: Scoring) -> Row:
    """What a row says of points and scores that were left out, where there are such."""
    setting = scoring.setting
    found = {
        "ignored_points": setting.skipped - setting.unscored,
        "ignored_events": setting.unseen_events,
        "missing_scores": setting.missing,
        "dropped": setting.dropped,
    }
    return {name: count for name, count in found.items() if count}


def points_of(data: Scoring | Prediction) -> Row:
    """How many points there are, and how many points and events that are judged are anomalous."""
    return {"points": data.n, "anomalous_points": data.events.points, "events": len(data.events)}


# Metrics whose value depends on when an event began.
_OF_STARTS = frozenset({"detection_delay", "expected_cost"})


def notes_of_gaps(metrics: Sequence[Metric], data: Scoring) -> list[str]:
    """Where delays are asked for: events may have begun in a gap of the times, where nobody can see it."""
    late = events_after_gaps(data) if any(metric.name in _OF_STARTS for metric in metrics) else 0
    if not late:
        return []
    what = "1 event begins" if late == 1 else f"{late} events begin"
    return [f"{what} right after a gap in the times: delays count from the first point after it"]


def events_after_gaps(data: Scoring | Prediction) -> int:
    """Number of events whose first point comes right after a gap."""
    times = data.setting.times
    return 0 if times is None else int(np.count_nonzero(times.after_gap[data.events.starts]))


def row_of(metric: Metric, outcome: Outcome) -> Row:
    """The outcome of a metric as a row."""
    return {"metric": str(metric), **outcome._asdict()}


# Scores that are low for anomalies are below these, random ones of a few events hardly ever.
_TURNED = {"auc_roc": 0.2, "ears": -0.09}
IS_TURNED = "far worse than random scores; if the scores are low for anomalies, pass their negatives"


def upside_down(rows: Iterable[Row]) -> str:
    """The metrics by which scores are far worse than random ones, as if they were low for anomalies; "" for none.

    >>> upside_down([{"metric": "auc_roc", "value": 0.03}, {"metric": "f1", "value": 0.0}])
    'auc_roc'
    """
    values: dict[str, list[float]] = {}
    for row in rows:
        if row["metric"] in _TURNED:
            values.setdefault(row["metric"], []).append(row["value"])
    return ", ".join(name for name, found in values.items() if finite_mean(found) < _TURNED[name])


def chosen_with_labels(rules: Any) -> list[str]:
    """The note that a result needs where thresholds were chosen with the labels."""
    return [_with_labels(rule) for rule in sorted({*filter(None, rules)}) if rule.startswith(("best", "budget("))]


def _with_labels(rule: str) -> str:
    if rule.startswith("budget("):
        return f"threshold {rule}: that of most events within this budget of false alarms, chosen with the labels"
    if "(" in rule:
        metric = rule.partition("(")[2].rpartition(")")[0]
        return f"threshold {rule}: the one that is best for {metric}, chosen with the labels"
    return f"threshold {rule}: chosen with the labels for each metric, an upper bound"


def warn_of_undefined(rows: Iterable[Row]) -> None:
    """Warn once for each reason why metrics have no value; rows may name a series, and a detector."""
    rows = list(rows)
    detectors: dict[tuple[str, str], set[str]] = {}  # of a metric on a series: who was evaluated there
    for row in rows:
        detectors.setdefault((row.get("series", ""), row["metric"]), set()).add(row.get("detector", ""))
    causes: dict[str, dict[str, dict[str, set[str]]]] = {}  # reason -> metric -> series -> detectors
    for row in rows:
        if row["message"] is not None and row["status"] != "missing":
            places = causes.setdefault(row["message"], {}).setdefault(row["metric"], {})
            places.setdefault(row.get("series", ""), set()).add(row.get("detector", ""))
    for reason, found in causes.items():
        together: dict[tuple[str, ...], list[str]] = {}
        for metric, places in found.items():
            where = []
            for series, who in places.items():
                everyone = who == detectors[series, metric]
                some = ", ".join(sorted(who))
                where.append(series if everyone else f"{series} ({some})" if series else some)
            together.setdefault(tuple(where), []).append(metric)
        for names, metrics in together.items():
            known = list(filter(None, names))
            rest = "; averages are over the other series" if len({row.get("series") for row in rows}) > 1 else ""
            warn_undefined(", ".join(metrics), reason + rest, on=named(known))


def named(names: Sequence[str], most: int = 5) -> str:
    """Names for a message, the first of many.

    >>> named(["a", "b", "c"], 2)
    'a, b, ... (3 in all)'
    """
    return ", ".join(names[:most]) + (f", ... ({len(names)} in all)" if len(names) > most else "")


class OddAlarms(NamedTuple):
    """A rule that raised no alarm at all, or alarmed everywhere."""

    rule: str
    what: str
    advice: str
    threshold: float | None


def odd_alarms(rows: Sequence[Row], n: int) -> OddAlarms | None:
    """The first rule of the rows on one series whose alarms say little; the rule best is a metric's own choice."""
    for row in rows:
        rule = row["rule"]
        if rule is None or rule.split(" of ")[0] in ("best", "given"):
            continue
        best = rule.startswith("best")  # without anomalies, no alarm is right
        if row["alarmed_points"] == n or (row["alarmed_points"] == 0 and not best):
            if best:
                advice = "no threshold tells anomalous from normal points"
            elif rule == BINARY:
                advice = "all scores are equal"
            else:
                advice = 'choose another threshold, or threshold="best"'
            what = "raises no alarm" if row["alarmed_points"] == 0 else "raises an alarm at all points"
            return OddAlarms(rule, what, advice, row["threshold"])
    return None


def warn_of_alarms(odd: Mapping[str, OddAlarms | None]) -> None:
    """Warn once of each rule that raised no alarm at all, or alarmed everywhere, and name the series."""
    together: dict[tuple[str, str, str], dict[str, float | None]] = {}
    for place, found in odd.items():
        if found is not None:
            together.setdefault(found[:3], {})[place] = found.threshold
    for (rule, what, advice), places in together.items():
        known = list(filter(None, places))
        thresholds = set(places.values()) - {None}
        threshold = "".join(f" (threshold {one:.6g})" for one in thresholds) if len(thresholds) == 1 else ""
        on = f" on {named(known)}" if known else ""
        text = f"the rule {rule}{threshold} {what}{on}, so metrics of predictions say little: {advice}"
        warn(text, ThresholdWarning)


def finite_mean(values: Sequence[float]) -> float:
    """The mean of the values that are finite, NaN where there is none."""
    known = [value for value in values if math.isfinite(value)]
    return math.fsum(known) / len(known) if known else math.nan
