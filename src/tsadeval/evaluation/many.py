"""Many series at once: each by itself, their average (macro), and all as one (micro)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from tsadeval.core.inputs import Prediction, Scoring
from tsadeval.core.metric import Metric
from tsadeval.core.results import Result, Row
from tsadeval.errors import InvalidInputError, UndefinedMetricWarning, warn_undefined
from tsadeval.evaluation.single import AnyMetric, Guest, evaluate_checked, name_of, select_metrics
from tsadeval.thresholds.rules import Threshold, best, parse_threshold

__all__ = ["SeriesResult", "evaluate_many"]


class SeriesResult(Result):
    """Values of many series: a row per series and metric; as a mapping, metric to macro average.

    Attributes
    ----------
    macro, micro : dict
        Metric to average over the series on which it is defined, and to the value of all series pooled (NaN
        where pooling has no meaning for the metric).
    defined : dict
        Metric to the number of series on which it is defined.
    """

    def __init__(self, rows: list[Row], names: list[str], micro: dict[str, float]) -> None:
        super().__init__(rows)
        self._names = names
        by_metric = {name: np.array([row["value"] for row in rows if row["metric"] == name]) for name in names}
        self.defined = {name: int(np.isfinite(values).sum()) for name, values in by_metric.items()}
        self.macro = {
            name: float(values[np.isfinite(values)].mean()) if self.defined[name] else math.nan
            for name, values in by_metric.items()
        }
        self.micro = micro

    def __getitem__(self, name: str) -> float:
        return Result([{"metric": n, "value": self.macro[n]} for n in self._names])[name]

    def __contains__(self, name: object) -> bool:
        return name in self.macro

    def __iter__(self) -> Any:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def table(self) -> list[list[Any]]:
        """A row per series, a column per metric; the aggregates last."""
        values: dict[str, dict[str, float]] = {}
        for row in self.rows:
            values.setdefault(row["series"], {})[row["metric"]] = row["value"]
        values |= {"macro": self.macro, "micro": self.micro}
        body = [[series, *(found[name] for name in self._names)] for series, found in values.items()]
        return [["series", *self._names], *body]


def evaluate_many(
    series: Iterable[tuple[str, Any, Any]],
    metrics: AnyMetric | Iterable[AnyMetric] = "all",
    *,
    threshold: str | Threshold = "quantile(0.95)",
) -> SeriesResult:
    """Metrics of many series, one by one, averaged and pooled.

    *Macro* is the mean over the series on which a metric is defined; `defined` says how many those are. *Micro*
    pools all points of all series. It exists for metrics that do not look at the order of points (their record says
    "exchangeable") and for those of predictions in which a quiet normal point between two series changes nothing
    ("separable"), so that no event runs from one series into the next; for all others, and with threshold "best", it
    is NaN.

    Parameters
    ----------
    series : iterable of (name, y_true, y_score)
        Any iterable, read once. Names must differ.
    metrics, threshold
        As for `evaluate`; the threshold is found for each series by itself.

    Examples
    --------
    >>> import tsadeval as te
    >>> a = ("a", [0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.9, 0.8, 0.1, 0.3])
    >>> b = ("b", [0, 1, 0, 0, 0, 0], [0.3, 0.2, 0.1, 0.4, 0.1, 0.2])
    >>> te.evaluate_many([a, b], ["cce", "f1"], threshold="fixed(0.5)")
    series      cce      f1
    ------  -------  ------
    a        0.8380  1.0000
    b       -0.1301  0.0000
    macro    0.3540  0.5000
    micro       nan  0.8000
    """
    chosen = select_metrics(metrics)
    rule = parse_threshold(threshold)
    names = [name_of(metric) for metric in chosen]
    pools = {name: _Pool() for name, metric in zip(names, chosen, strict=True) if _can_pool(metric, rule)}
    rows: list[Row] = []
    seen: set[str] = set()
    for entry in series:
        name, y_true, y_score = _checked_entry(entry, seen)
        try:
            scoring = Scoring.of(y_true, y_score)
        except InvalidInputError as error:
            raise InvalidInputError(f"series {name!r}: {error}" if name else str(error)) from None
        for metric, row in zip(chosen, evaluate_checked(chosen, scoring, rule), strict=True):
            rows.append({"series": name, **row})
            if row["metric"] in pools and isinstance(metric, Metric):
                pools[row["metric"]].add(metric, scoring, rule)
    if not rows:
        raise InvalidInputError("series is empty: there is nothing to judge")
    undefined = [row for row in rows if row["message"] is not None]
    for name in dict.fromkeys(row["metric"] for row in undefined):
        where = [row["series"] for row in undefined if row["metric"] == name]
        shown = ", ".join(where[:5]) + (f", ... ({len(where)} in all)" if len(where) > 5 else "")
        warn_undefined(name, f"on {shown}; its macro average is over the other series")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # said above, series by series
        micro = {n: pools[n].value(m) if n in pools else math.nan for n, m in zip(names, chosen, strict=True)}
    return SeriesResult(rows, names, micro)


def _checked_entry(entry: Any, seen: set[str]) -> tuple[str, Any, Any]:
    try:
        name, y_true, y_score = entry
    except (TypeError, ValueError):
        raise InvalidInputError("series must give (name, y_true, y_score) each time") from None
    if name in seen:
        raise InvalidInputError(f"there are two series named {name!r}")
    seen.add(name)
    return str(name), y_true, y_score


def _can_pool(metric: Metric | Guest, rule: Threshold) -> bool:
    if not isinstance(metric, Metric) or (metric.kind == "predictions" and isinstance(rule, best)):
        return False
    return "exchangeable" in metric.properties or (metric.kind == "predictions" and "separable" in metric.properties)


class _Pool:
    """The points of all series so far, as one metric wants to see them."""

    def __init__(self) -> None:
        self.labels: list[Any] = []
        self.others: list[Any] = []

    def add(self, metric: Metric, scoring: Scoring, rule: Threshold) -> None:
        if metric.kind == "predictions":
            other: Any = rule.predict(scoring, metric)[0].alarms.mask
            if "separable" in metric.properties:
                self.labels.append(np.zeros(1, np.bool_))
                self.others.append(np.zeros(1, np.bool_))
        else:
            other = scoring.scores
        self.labels.append(scoring.truth.mask)
        self.others.append(other)

    def value(self, metric: Metric | Guest) -> float:
        data: type[Prediction] | type[Scoring] = Scoring
        if isinstance(metric, Metric) and metric.kind == "predictions":
            data = Prediction
        pooled = data.of(np.concatenate(self.labels), np.concatenate(self.others))
        return metric.outcome(pooled)[0] if isinstance(metric, Metric) else math.nan
