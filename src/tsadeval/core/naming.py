"""Which metric of a result is meant: by its text, by its record, or by the function that was passed to the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tsadeval.core.metric import Metric, parse_metric
from tsadeval.core.registry import did_you_mean
from tsadeval.errors import InvalidParameterError, UnknownNameError

__all__ = ["find_metric", "metric_text"]


def metric_text(metric: Any) -> str:
    """The text by which results know a metric that is given as a text, a record or a function.

    >>> def mine(y_true, y_score):
    ...     return 0.5
    >>> metric_text(mine), metric_text("auc_roc")
    ('mine', 'auc_roc')
    """
    if isinstance(metric, (str, Metric)):
        return str(metric)
    if not callable(metric):
        raise InvalidParameterError(f"a metric is named by its text, its function or its record, but not by {metric!r}")
    from tsadeval.core.selection import select_metrics  # which knows the functions of the library

    return str(select_metrics(metric)[0])


def find_metric(metric: Any, names: Sequence[str], where: str = "this result") -> str:
    """The one of some names that a caller means.

    It may be written in another way ("VUS-PR"), without the module ("gap" for "mine:gap") or without its options, as
    long as only one of the names can be meant.

    >>> find_metric("gap", ["mine:gap", "vus_pr"]), find_metric("VUS-PR", ["mine:gap", "vus_pr"])
    ('mine:gap', 'vus_pr')
    """
    text = metric_text(metric)
    if text in names:
        return text
    try:
        canonical = str(parse_metric(text))
    except (UnknownNameError, InvalidParameterError):
        canonical = text
    if canonical in names:
        return canonical
    alike = [name for name in names if _bare(name) == _bare(canonical) and "(" not in canonical]
    if len(alike) == 1:
        return alike[0]
    hint = f"name one of {', '.join(alike)}" if alike else did_you_mean(text, list(names))
    raise UnknownNameError(f"no metric {text!r} in {where}: {hint}")


def _bare(name: str) -> str:
    """A name without its options, its rule and its module."""
    return name.partition("(")[0].partition(" at ")[0].rpartition(":")[2]
