"""Selection of metrics: names, sets and functions to `Metric` records; the metric of a result that a name means."""

import os
import sys
from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches
from functools import cache, partial
from importlib.machinery import PathFinder
from typing import Any, TypeVar

from tsadeval.core.metric import METRICS, Metric, parse_metric
from tsadeval.core.names import did_you_mean, import_object, split_names
from tsadeval.errors import InvalidParameterError, UnknownNameError

AnyMetric = str | Metric | Callable[[Any, Any], float]
Metrics = AnyMetric | Iterable[AnyMetric]
V = TypeVar("V")

# Members of sets with options of their own; of the others the record says which sets they belong to. CCE with min-max
# would let one outlier squash all other scores, and compare detectors by their scales.
WITH_OPTIONS = {"recommended": ("cce(normalize='robust')",)}


def metric_sets() -> dict[str, list[Metric]]:
    """Return the named sets: those that records say they belong to, and "all"."""
    metrics = list(METRICS.values())
    sets = {name: [m for m in metrics if name in m.sets] for name in sorted({name for m in metrics for name in m.sets})}
    for name, texts in WITH_OPTIONS.items():
        sets[name] += map(_parse_once, texts)
    # Statistics of a comparison are of its first metric by default: one of scores, where there is such.
    sets["recommended"].sort(key=lambda metric: (metric.kind != "scores", metric.direction == "lower"))
    return {**sets, "all": metrics}


_parse_once = cache(parse_metric)


def select_metrics(metrics: Metrics, paper: Iterable[str] | None = None) -> tuple[Metric, ...]:
    """Return the records that a caller named, each once.

    Texts may hold several names ("cce,f1"), sets ("recommended", "paper", "all"), labels ("VUS-PR") and
    "module:function". `paper` gives the metrics that the word "paper" stands for, where that is not the set of this
    name.
    """
    if isinstance(metrics, (str, Metric)) or callable(metrics) or not isinstance(metrics, Iterable):
        metrics = [metrics]
    if hasattr(metrics, "dtype"):  # of te.curve and te.best_threshold
        raise InvalidParameterError(
            "metrics must be names or functions (y_true, y_score), but is an array; in te.curve and te.best_threshold "
            "the metric comes first, elsewhere after the scores"
        )
    sets = metric_sets()
    if paper is not None:
        sets["paper"] = [parse_metric(text) for text in paper]
    found: dict[str, Metric] = {}
    for one in metrics:
        for metric in _selected(one, sets):
            before = found.setdefault(str(metric), metric)
            if before.function is not metric.function:
                raise InvalidParameterError(f"two different metrics are named {str(metric)!r}: rename one")
    if not found:
        raise InvalidParameterError('metrics is empty: name at least one, or use metrics="all"')
    return tuple(found.values())


def select_metric(metric: AnyMetric) -> Metric:
    """Return the record of the one metric that a caller named."""
    chosen = select_metrics(metric)
    if len(chosen) != 1:
        raise InvalidParameterError(f"expected one metric, but {metric!r} names {len(chosen)}: name one, as in 'cce'")
    return chosen[0]


def _selected(metric: Any, sets: dict[str, list[Metric]]) -> list[Metric]:
    if isinstance(metric, str):
        return [found for text in split_names(metric) for found in _named(text, sets)]
    if isinstance(metric, Metric):
        return [metric]
    if not callable(metric):
        raise InvalidParameterError(f"metrics must be names or functions (y_true, y_score), but one is {metric!r}")
    # A public metric function is its record: tsadeval.metrics.f1 and "f1" mean the same, with options too.
    function, options = metric, {}
    if isinstance(metric, partial) and not metric.args:
        function, options = metric.func, metric.keywords
    record = METRICS.get(getattr(function, "__name__", ""))
    if record is not None and record.function is function:
        return [record.with_options(**options) if options else record]
    return [Metric.from_function(metric)]


def _named(text: str, sets: dict[str, list[Metric]]) -> list[Metric]:
    if text in sets:
        return sets[text]
    if ":" in text.partition("(")[0]:
        return [Metric.from_function(import_object(text, "metric"), text)]
    try:
        return [parse_metric(text)]
    except UnknownNameError:
        hint = _own_function(text, [*sets, *METRICS])
        if "(" in text and not hint:
            raise
        raise UnknownNameError(
            f"unknown metric or set {text!r}: {hint or did_you_mean(text, [*sets, *METRICS])}"
        ) from None


def _own_function(text: str, known: list[str]) -> str:
    """How to write a function of the user's own, where a name looks like one, or like the module of one."""
    name, bracket, options = text.partition("(")
    module, _, function = name.rpartition(".")
    if module:
        return f"write {module}:{function}{bracket}{options} for a function of your own"
    if not name.isidentifier() or get_close_matches(name, known, n=1):
        return ""
    if PathFinder.find_spec(name, [*sys.path, os.getcwd()]) is None:  # where `import_object` looks for it
        return ""
    return f"write {name}:function for a function of your own in the module {name}"


def metric_text(metric: Any) -> str:
    """Return the text by which results know a metric that is given as a text, a record or a function."""
    if isinstance(metric, (str, Metric)):
        return str(metric)
    if not callable(metric):
        raise InvalidParameterError(f"a metric is named by its text, its function or its record, but not by {metric!r}")
    return str(select_metrics(metric)[0])


def find_metric(metric: Any, names: Collection[str], where: str = "this result", kind: str = "metric") -> str:
    """Find the one of some names that a caller means.

    It may be written in another way ("VUS-PR", options in another order), without the module ("gap" for "mine:gap"),
    without the rule ("f1" for "f1 at best") or without its options, as long as only one of the names can be meant.

    >>> find_metric("gap", ["mine:gap", "vus_pr"]), find_metric("VUS-PR", ["mine:gap", "vus_pr"])
    ('mine:gap', 'vus_pr')
    """
    text = metric_text(metric) if callable(metric) else str(metric)
    head, at, rule = text.partition(" at ")
    wanted = _meant(head)
    for name in (text, f"{wanted[2]}{at}{rule}"):
        if name in names:
            return name
    told = 2 if "(" in head else 1  # whether options were given as well
    asked = [name for name in names if not at or name.partition(" at ")[2] == rule]
    alike = [name for name in asked if _meant(name.partition(" at ")[0])[:told] == wanted[:told]]
    if len(alike) == 1:
        return alike[0]
    hint = f"name one of {', '.join(alike)}" if alike else did_you_mean(text, list(names))
    raise UnknownNameError(f"no {kind} {text!r} in {where}: {hint}")


def _meant(text: str) -> tuple[str, Any, str]:
    """Give the name of a metric without its module, all its options, and the text that results have of it."""
    try:
        metric = parse_metric(text)
    except (UnknownNameError, InvalidParameterError):  # a user's function
        name, _, options = text.partition("(")
        return name.rpartition(":")[2], options, text
    return metric.name, metric.options, str(metric)


class ByMetric(dict[str, V]):
    """Something of each metric, found by any way of writing its name, as values are in results."""

    def __missing__(self, metric: Any) -> V:
        return self[find_metric(metric, self)]
