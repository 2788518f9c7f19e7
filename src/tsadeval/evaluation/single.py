"""Metrics of one scoring: inputs are checked once, and what metrics have in common is computed once."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from typing import Any

from tsadeval.core.inputs import Prediction, Scoring
from tsadeval.core.metric import METRICS, Metric, parse_metric
from tsadeval.core.parameters import Number, check_parameters
from tsadeval.core.registry import did_you_mean
from tsadeval.core.results import Result, Row
from tsadeval.errors import InvalidParameterError, UnknownNameError, warn_undefined
from tsadeval.evaluation.baseline import perfect_values, random_values
from tsadeval.thresholds.rules import Threshold, parse_threshold

__all__ = ["evaluate", "select_metrics"]

Guest = Callable[[Any, Any], float]
AnyMetric = str | Metric | Guest


def metric_sets() -> dict[str, list[Metric]]:
    """The named sets: those that records say they belong to, and "all"."""
    names = sorted({name for metric in METRICS.values() for name in metric.sets})
    sets = {name: [m for m in METRICS.values() if name in m.sets] for name in names}
    return {**sets, "all": list(METRICS.values())}


def select_metrics(metrics: AnyMetric | Iterable[AnyMetric]) -> list[Metric | Guest]:
    """Records and functions for whatever the caller named: a set, a metric, a function, or several of these."""
    if isinstance(metrics, (str, Metric)) or callable(metrics):
        metrics = [metrics]
    sets = metric_sets()
    chosen: list[Metric | Guest] = []
    for metric in metrics:
        if isinstance(metric, str):
            chosen += _named(metric, sets)
        elif isinstance(metric, Metric) or callable(metric):
            # A public metric function is its record: tsadeval.metrics.f1 and "f1" mean the same.
            record = METRICS.get(getattr(metric, "__name__", ""))
            chosen.append(record if record is not None and record.function is metric else metric)
        else:
            raise InvalidParameterError(f"metrics must be names or functions (y_true, y_score), but one is {metric!r}")
    if not chosen:
        raise InvalidParameterError('metrics is empty: name at least one, or use metrics="all"')
    return chosen


def _named(text: str, sets: dict[str, list[Metric]]) -> list[Metric]:
    if text in sets:
        return sets[text]
    try:
        return [parse_metric(text)]
    except UnknownNameError:
        if "(" in text:
            raise
        known = [*sets, *METRICS]
        raise UnknownNameError(f"unknown metric or set {text!r}: {did_you_mean(text, known)}") from None


def evaluate(
    y_true: Any,
    y_score: Any,
    metrics: AnyMetric | Iterable[AnyMetric] = "all",
    *,
    threshold: str | Threshold = "quantile(0.95)",
    baseline: bool = False,
    draws: int = 20,
    seed: int = 0,
) -> Result:
    """Many metrics of one scoring.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_score : array-like of shape (n,)
        Finite scores, higher for more anomalous.
    metrics : str, function, or several of these, default="all"
        A set ("paper", "all"), a metric with or without options ("cce", "cce(tau=0.4)"), or any function
        `(y_true, y_score) -> float`.
    threshold : str, default="quantile(0.95)"
        How scores become predictions for the metrics that take these: "quantile(p)" or "fixed(value)", alarms
        where the score is above it; or "best", for each metric the threshold that is best for it.
    baseline : bool, default=False
        Add what a detector that knows nothing would get, `random`: the same scores, shuffled, under the same
        threshold. A formula where there is one, else the mean over seeded draws, with its standard error
        `random_error`. And what a detector that knows everything gets, `perfect`: the labels as scores.
    draws, seed : int
        For the baselines without a formula.

    Returns
    -------
    Result
        A mapping from metric to value that prints as a table, with `to_frame`, `to_latex` and `to_json`.

    Examples
    --------
    >>> import tsadeval as te
    >>> result = te.evaluate([0, 0, 0, 1, 1, 0], [0.1, 0.2, 0.1, 0.9, 0.7, 0.3], ["cce", "cce(constrained=True)"])
    >>> round(result["cce"], 4)
    0.7468
    """
    check_parameters("evaluate", {"draws": Number(2, integer=True)}, {"draws": draws})
    chosen = select_metrics(metrics)
    rule = parse_threshold(threshold)
    scoring = Scoring.of(y_true, y_score)
    rows = evaluate_checked(chosen, scoring, rule)
    shown = ["metric", "value"]
    if baseline:
        by_chance = random_values(chosen, scoring, rule, _value_of, draws, seed)
        at_best = perfect_values(chosen, scoring, _value_of)
        for row, (random, error), perfect in zip(rows, by_chance, at_best, strict=True):
            row |= {"random": random, "random_error": error, "perfect": perfect}
        shown += ["random", "random_error", "perfect"]
    for row in rows:
        if row["message"] is not None:
            warn_undefined(row["metric"], row["message"])
    if any(row["threshold"] for row in rows):
        shown.append("threshold")
    return Result(rows, shown=shown)


def evaluate_checked(metrics: list[Metric | Guest], scoring: Scoring, rule: Threshold) -> list[Row]:
    """A row for each metric of checked data."""
    return [_row(metric, scoring, rule) for metric in metrics]


def _row(metric: Metric | Guest, scoring: Scoring, rule: Threshold) -> Row:
    start = time.perf_counter()
    how = reason = None
    if isinstance(metric, Metric):
        data: Scoring | Prediction = scoring
        if metric.kind == "predictions":
            data, how = rule.predict(scoring, metric)
        value, reason = metric.outcome(data)
    else:
        value = _value_of(metric, scoring)
    return {
        "metric": name_of(metric),
        "value": value,
        "threshold": how,
        "seconds": time.perf_counter() - start,
        "status": "undefined" if math.isnan(value) else "ok",
        "message": reason,
    }


def name_of(metric: Metric | Guest) -> str:
    """The text that stands for a metric in tables."""
    return str(metric) if isinstance(metric, Metric) else getattr(metric, "__name__", repr(metric))


def _value_of(function: Guest, scoring: Scoring) -> float:
    # A guest gets arrays it may change: ours are the caller's own memory.
    value = function(scoring.truth.mask.astype("int64"), scoring.scores.copy())
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidParameterError(
            f"metric {name_of(function)} must return one number, but returned {value!r}"
        ) from None
