"""`te.evaluate`: metrics of one scoring, with notes and warnings; `te.scorer`: a metric as scikit-learn takes it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tsadeval.core.facts import Reason, odd_alarms, points_of
from tsadeval.core.inputs import Scoring
from tsadeval.core.messages import (
    IS_TURNED,
    count_notes,
    interval_notes,
    label_notes,
    upside_down,
    warn_of_alarms,
    warn_of_undefined,
)
from tsadeval.core.metric import Metric, Outcome, Rule, row_of
from tsadeval.core.parameters import Number, check_parameters
from tsadeval.core.results import Grid, MappingResult, Row
from tsadeval.core.selection import AnyMetric, Metrics, select_metric, select_metrics
from tsadeval.core.setting import Missing
from tsadeval.detectors.estimators import anomaly_scores
from tsadeval.errors import InvalidInputError, warn_undefined
from tsadeval.evaluation.baseline import interval_rows, perfect_values, random_values
from tsadeval.scores.scored import has_dates, observe
from tsadeval.thresholds.rules import parse_rule

TWO = Number(2, integer=True)


class Evaluation(MappingResult):
    """Values of metrics on one scoring: a row per metric; as a mapping, metric to value.

    What is shown, and the notes under it, come from the rows alone, whichever way these came about. Of
    `te.StreamingEvaluator` it has `drift`, how far the scores are from the reference, and `unit`, that of times.
    """

    drift: Any = None
    unit: str = ""

    def __init__(
        self, rows: list[Row], *, shown: Sequence[str] = (), notes: Sequence[str] = (), points: Row | None = None
    ) -> None:
        super().__init__(rows, shown=shown or _columns(rows))
        self.about = [*count_notes(rows), *notes]
        self.points = points or {}  # how many points and events the values are made of

    def _grid(self) -> Grid:
        head, *body = super()._grid()
        short = {"random_error": "error", "alarmed_points": "points"}  # so that a line fits the terminal
        return [[short.get(column, column) for column in head], *body]

    def _notes(self) -> list[str]:
        rules = list(dict.fromkeys(row["rule"] for row in self.rows if row.get("rule")))
        notes = label_notes(self.rows)
        if len(rules) == 1 and not notes:
            notes = [f"alarms: {rules[0]}"]
        turned = upside_down(self.rows)
        notes += interval_notes(self.rows)
        return [*notes, *([f"{turned}: {IS_TURNED}"] if turned else []), *self.about]


def _columns(rows: Sequence[Row]) -> list[str]:
    """Return the columns that are worth printing."""
    rules = {row["rule"] for row in rows if row["rule"]}
    shown = ["metric", "value"]
    shown += ["random", "random_error", "perfect"] if any("random" in row for row in rows) else []
    shown += ["low", "high"] if any(row.get("low") is not None for row in rows) else []  # bounds, of a stream
    return shown + ["rule"] * (len(rules) > 1) + ["threshold", "alarms", "alarmed_points"] * bool(rules)


def rows_of_scoring(scoring: Scoring, metrics: Sequence[Metric], rule: Rule) -> list[Row]:
    """Return a row for each metric of one scoring of several; those that fail have a row without a value."""
    return [row_of(metric, metric.attempt(scoring, rule), scoring) for metric in metrics]


def add_baselines(
    rows: list[Row], scoring: Scoring, metrics: Sequence[Metric], rule: Rule, draws: int = 20, random_state: int = 0
) -> None:
    """Add to the row of each metric what an uninformative and a perfect detector would get."""
    by_chance = random_values(metrics, scoring, rule, draws, random_state)
    for row, (random, error), perfect in zip(rows, by_chance, perfect_values(metrics, scoring), strict=True):
        row |= {"random": random, "random_error": error, "perfect": perfect}


def add_intervals(
    rows: list[Row],
    scoring: Scoring,
    metrics: Sequence[Metric],
    rule: Rule,
    level: float,
    draws: int = 200,
    random_state: int = 0,
) -> None:
    """Add to the row of each metric the interval of its value, and why there is none."""
    values = [row["value"] for row in rows]
    found = interval_rows(values, metrics, scoring, rule, level, draws, random_state)
    rows[:] = [{**row, **interval} for row, interval in zip(rows, found, strict=True)]


def evaluate(
    y_true: Any,
    y_score: Any = None,
    metrics: Metrics = "recommended",
    *,
    y_pred: Any = None,
    times: Any = None,
    ignore: Any = None,
    missing: Missing = "skip",
    threshold: str | float | Rule = "best",
    fit: Any = None,
    values: Any = None,
    baseline: bool = False,
    draws: int = 20,
    interval: float | None = None,
    resamples: int = 200,
    random_state: int = 0,
) -> Evaluation:
    """Compute many metrics of one scoring.

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
    missing : {"skip", "error", "ignore", "no alarm", "worst"}, default="skip"
        What to do with scores that are NaN. "skip" leaves these points out as `ignore` does it, so that no gap makes
        one event of two; metrics of scores that cannot leave out points see the others put together. "error" refuses
        them. "ignore" is as "skip", but such metrics are NaN. "no alarm" takes missing scores as lower than all others,
        so that no threshold makes them alarms, and so does "worst", which differs for detectors without any score on a
        series (`te.compare`). The result says how many there are.
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
    draws : int
        Number of shuffles, for the baselines without a formula.
    interval : float, optional
        Level of intervals of the values, such as 0.95: columns `low` and `high`. The events of the series, each with
        its surroundings (up to the middle between two events), are drawn with replacement, and the metric, with its
        rule, is computed on each such series. None with fewer than 5 events, where all resamples have the same value,
        and where the metric is undefined on many (column `no_interval`). docs/coverage.md says how far to trust them.
    resamples, random_state : int
        Number of such series, and the seed of them and of shuffles.

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
    checks = {"draws": TWO, "resamples": TWO, "interval": Number(0, 1, open_low=True, none=True)}
    check_parameters("evaluate", checks, {"draws": draws, "resamples": resamples, "interval": interval})
    chosen = select_metrics(metrics)
    rule = parse_rule(threshold)
    scoring = observe(y_true, y_score, y_pred, times=times, ignore=ignore, missing=missing, fit=fit, values=values)
    rows = [row_of(metric, metric.run(scoring, rule), scoring) for metric in chosen]
    if baseline:
        add_baselines(rows, scoring, chosen, rule, draws, random_state)
    if interval is not None:
        add_intervals(rows, scoring, chosen, rule, interval, resamples, random_state)
    warn_of_undefined(rows)
    warn_of_alarms({"": odd_alarms(rows, scoring.n)})
    return Evaluation(rows, points=points_of(scoring))


class Scorer:
    """A callable `(estimator, X, y) -> float`, higher for better; made by `te.scorer`."""

    def __init__(self, metric: Metric, rule: Rule) -> None:
        self.metric = metric
        self.rule = rule
        self.sign = -1.0 if metric.direction == "lower" else 1.0

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """Return the metric of a fitted estimator's scores for X against the labels y."""
        if y is None:
            raise InvalidInputError("y is missing: the scorer needs labels, 0 for normal and 1 for anomalous points")
        scores = anomaly_scores(estimator, X)
        if scores.ndim != 1 or len(scores) != len(y):
            raise InvalidInputError(
                f"the estimator must give one score for each of the {len(y)} points of y, but gave {scores.shape}"
            )
        scoring = observe(np.asarray(y), scores, times=_times(y, X))
        outcome = self.metric.run(scoring, self.rule)
        if outcome.message is not None:
            warn_undefined(str(self.metric), self._advice(outcome, outcome.message))
        return self.sign * outcome.value

    def _advice(self, outcome: Outcome, message: str) -> str:
        if outcome.reason == Reason.NEEDS_TIMES:
            return "an option is a time: give X or y an index of times (pandas)"
        if outcome.reason == Reason.NO_ANOMALY:
            return f"{message}; choose folds that all have some, e.g. TimeSeriesSplit(n, test_size=...)"
        return message

    def __repr__(self) -> str:
        return f"scorer({str(self.metric)!r}){', negated' if self.sign < 0 else ''}"


def _times(*parts: Any) -> Any:
    """Return the index of times of y or X; None of folds that are shuffled, in which there is no order of time."""
    for part in parts:
        if has_dates(part) and part.index.is_monotonic_increasing and part.index.is_unique:
            return part.index
    return None


def scorer(metric: AnyMetric, *, threshold: str | float | Rule = "best", **options: Any) -> Scorer:
    """Make a scorer of scikit-learn from a metric, for `cross_val_score`, `GridSearchCV` and all that take `scoring=`.

    Estimators are asked for anomaly scores in their own way, so that higher is always more anomalous:

    - outlier detectors of scikit-learn: `-score_samples(X)`, or `-decision_function(X)` where there is no such method;
    - models of PyOD: `decision_function(X)`;
    - detectors of tsadeval: `score(X)`;
    - classifiers: the probability of class 1, `predict_proba(X)[:, 1]`.

    Pipelines and searches are asked as their last step is. Anything else is refused: its sign is not known.

    Parameters
    ----------
    metric : str, function or Metric
        One metric: "vus_pr", "cce(tau=0.4)", or a function `(y_true, y_score) -> float`.
    threshold : str, number or rule, default="best"
        How scores become predictions, for metrics of predictions; as for `te.evaluate`. "best" uses the labels.
    **options
        Of the metric: `te.scorer("vus_pr", window=50)` is `te.scorer("vus_pr(window=50)")`.

    Returns
    -------
    Scorer
        A callable `(estimator, X, y) -> float`. Searches of scikit-learn maximise, so the value of a metric whose
        direction is "lower" is negated. It is NaN, with a warning, where the metric is undefined: a fold without
        an anomaly has no VUS-PR. Where y or X has an index of times (pandas), options of the metric may be durations.

    Examples
    --------
    >>> import numpy as np
    >>> import tsadeval as te
    >>> from sklearn.ensemble import IsolationForest
    >>> from sklearn.model_selection import TimeSeriesSplit, cross_val_score
    >>> X, y = np.random.default_rng(0).normal(size=(300, 2)), np.zeros(300, dtype=int)
    >>> y[[130, 190, 280]] = 1
    >>> X[y == 1] += 8
    >>> forest = IsolationForest(n_estimators=20, random_state=0)
    >>> cross_val_score(forest, X, y, cv=TimeSeriesSplit(3, test_size=60), scoring=te.scorer("auc_roc"))
    array([1., 1., 1.])
    """
    chosen = select_metric(metric)
    return Scorer(chosen.with_options(**options) if options else chosen, parse_rule(threshold))
