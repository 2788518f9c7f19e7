"""Thresholds: how scores become binary predictions. Explicit always; no metric picks its own.

An alarm is a score strictly above the threshold, everywhere in tsadeval. A best threshold is reported so that
`fixed(threshold)` gives the very same alarms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeGuard

import numpy as np

from tsadeval.core.inputs import Prediction, Scoring, label_runs
from tsadeval.core.metric import Metric, missing, parse_call, parse_metric
from tsadeval.core.parameters import Number, check_parameters
from tsadeval.core.registry import Registry
from tsadeval.errors import InvalidParameterError, warn_undefined

__all__ = ["BestThreshold", "Threshold", "best", "best_threshold", "fixed", "parse_threshold", "quantile"]

# Metrics without an exact sweep are searched on this many thresholds, evenly spaced among the distinct scores.
GRID = 200


class Threshold(Protocol):
    """How the scores of a series become alarms for a metric."""

    def predict(self, data: Scoring, metric: Metric) -> tuple[Prediction, str]:
        """The predictions, and how the threshold was found, as text for the table."""
        ...


def alarms_above(data: Scoring, threshold: float) -> Prediction:
    """The predictions at a threshold; metrics of one call that have it in common share them."""

    def make() -> Prediction:
        return Prediction(data.truth, label_runs(data.scores > threshold, "y_pred"))

    return data.shared(("alarms above", threshold), make)


@dataclass(frozen=True)
class fixed:
    """Alarm where the score is above a given value.

    >>> str(fixed(0.5))
    'fixed(0.5)'
    """

    value: float

    def __post_init__(self) -> None:
        check_parameters("fixed", {"value": Number()}, {"value": self.value})

    def predict(self, data: Scoring, metric: Metric) -> tuple[Prediction, str]:
        """The same alarms for every metric."""
        return alarms_above(data, self.value), str(self)

    def __str__(self) -> str:
        return f"fixed({self.value!r})"


@dataclass(frozen=True)
class quantile:
    """Alarm where the score is above a quantile of all scores (NumPy's linear one, as in the paper's benchmark).

    >>> str(quantile(0.95))
    'quantile(0.95)'
    """

    p: float

    def __post_init__(self) -> None:
        check_parameters("quantile", {"p": Number(0, 1)}, {"p": self.p})

    def predict(self, data: Scoring, metric: Metric) -> tuple[Prediction, str]:
        """The same alarms for every metric."""
        threshold = data.shared(("quantile", self.p), lambda: _linear_quantile(data, self.p))
        return alarms_above(data, threshold), str(self)

    def __str__(self) -> str:
        return f"quantile({self.p!r})"


def _linear_quantile(data: Scoring, p: float) -> float:
    # A sort that is there already, or will be needed, beats a selection of its own.
    return float(np.quantile(data.__dict__.get("sorted", data.scores), p))


@dataclass(frozen=True)
class best:
    """For each metric the threshold that is best for it: an upper bound, chosen with the labels in hand.

    >>> str(best())
    'best'
    """

    def predict(self, data: Scoring, metric: Metric) -> tuple[Prediction, str]:
        """Alarms that differ from metric to metric."""
        found = find_best(metric, data)
        if math.isnan(found.threshold):
            return alarms_above(data, data.high), "best: none"
        how = "best" if found.exact else f"best of {GRID}"
        return alarms_above(data, found.threshold), f"{how}: {found.threshold:.6g}"

    def __str__(self) -> str:
        return "best"


_KINDS: Registry[Callable[..., Threshold]] = Registry("threshold")
_KINDS.add("fixed", fixed)
_KINDS.add("quantile", quantile)
_KINDS.add("best", best)


def parse_threshold(text: str | Threshold) -> Threshold:
    """The threshold that a text like `quantile(0.95)`, `fixed(0.5)` or `best` names.

    >>> parse_threshold("fixed(0.3)")
    fixed(value=0.3)
    """
    if _is_threshold(text):
        return text
    if not isinstance(text, str):
        raise InvalidParameterError(f"threshold must be a text like 'quantile(0.95)', but is {text!r}")
    name, positional, options = parse_call(text)
    try:
        return _KINDS[name](*positional, **options)
    except TypeError:
        form = name if name == "best" else f"{name}(number)"
        raise InvalidParameterError(f"cannot read {text!r}: write {form}") from None


def _is_threshold(value: Any) -> TypeGuard[Threshold]:
    return isinstance(value, (fixed, quantile, best))


class BestThreshold(NamedTuple):
    """The best threshold of a metric (alarm where `score > threshold`), its value there, and was the search exact?"""

    threshold: float
    value: float
    exact: bool


def best_threshold(metric: str | Metric, y_true: Any, y_score: Any) -> BestThreshold:
    """The threshold at which a metric of predictions is best for these scores.

    Exact over all distinct thresholds for the metrics that have a sweep (their record has `best`); the others are
    searched on 200 thresholds, evenly spaced among the distinct scores. `exact` says which it was. Of several best
    thresholds it is the highest, so the fewest alarms. NaN, with a warning, where the metric is undefined.

    Parameters
    ----------
    metric : str or function
        A metric that takes predictions: "f1", "affiliation_f1(beta=2)", `te.metrics.f1`.
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_score : array-like of shape (n,)
        Finite scores, higher for more anomalous.

    Examples
    --------
    >>> import tsadeval as te
    >>> found = te.best_threshold("f1", [0, 0, 1, 1, 0], [0.1, 0.4, 0.8, 0.6, 0.3])
    >>> found.value, 0.4 < found.threshold < 0.6, found.exact
    (1.0, True, True)
    """
    from tsadeval.evaluation.single import select_metrics

    chosen = parse_metric(metric) if isinstance(metric, str) else select_metrics(metric)[0]
    if not isinstance(chosen, Metric):
        raise InvalidParameterError("best_threshold needs a metric of the registry that takes predictions")
    if chosen.kind != "predictions":
        raise InvalidParameterError(f"{chosen.name} takes scores, so it has no threshold; use it as it is")
    found = find_best(chosen, Scoring.of(y_true, y_score))
    if math.isnan(found.value):
        warn_undefined(str(chosen), "it is undefined at every threshold")
    return found


def find_best(metric: Metric, data: Scoring) -> BestThreshold:
    """As `best_threshold`, for checked data."""
    if metric.best is not None and missing(metric.needs - {"alarm"}, data) is None:
        v, value = metric.best(data, **{**metric.parameters, **dict(metric.bound)})
        return BestThreshold(_just_below(v), value, True)
    values = data.levels[0]
    exact = len(values) <= GRID
    if not exact:
        values = values[np.unique(np.linspace(0, len(values) - 1, GRID).astype(np.int64))]
    outcomes = [metric.outcome(data.at_least(v))[0] for v in values]
    worth = np.array(outcomes) if metric.direction == "higher" else -np.array(outcomes)
    if np.isnan(worth).all():
        return BestThreshold(math.nan, math.nan, exact)
    # Values that only rounding sets apart are equal, and of equal ones the highest threshold wins.
    at = int(np.argmax(worth >= np.nanmax(worth) - 1e-13))
    return BestThreshold(_just_below(float(values[at])), outcomes[at], exact)


def _just_below(v: float) -> float:
    """The threshold t with `score > t` exactly where `score >= v`."""
    return float(np.nextafter(v, -np.inf))
