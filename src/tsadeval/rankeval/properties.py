"""Properties that a metric may have, as executable checks over small cases, with the smallest counterexample.

A property compares two predictions (or labels) that differ in one respect: the second must be better, not worse, or
equal. All labels and predictions of up to `SMALL` points are tried, shortest first, so the first counterexample is the
smallest there is; then random longer ones. Metrics of scores get the predictions as scores of 0 and 1. After the
lists of Wagner et al. (arXiv 2510.17562) and of earlier surveys, in our own definitions.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from tsadeval.core.metric import Metric
from tsadeval.core.names import did_you_mean
from tsadeval.core.results import Grid, Result, Row
from tsadeval.core.selection import AnyMetric, Metrics, find_metric, select_metrics
from tsadeval.engine.compute import error_row
from tsadeval.errors import UndefinedMetricWarning, UnknownNameError
from tsadeval.rankeval.property_checks import CHECKS, Check, Pair, Relation

SMALL = 6  # points of the longest cases of which all are tried
LONG = 24  # points of random cases
RANDOM_CASES = 400
SAME = 1e-9
# Options that are widths in points, and what they are set to: the usual widths are longer than these series.
WIDTHS = ("window", "early", "delay", "delta", "max_delay", "tolerance", "slack")
WIDTH = 2


def _written(values: tuple[int, ...]) -> str:
    """Digits in a row; many zeros at the end are counted."""
    text = ("" if max(values) < 10 else " ").join(map(str, values))
    short = text.rstrip("0")
    zeros = len(text) - len(short)
    return f"{short}0..0 ({zeros} zeros)" if zeros > LONG else text


class Example(NamedTuple):
    """Two cases with their values, in which a property does not hold."""

    before: Pair
    before_value: float
    after: Pair
    after_value: float

    def __str__(self) -> str:
        texts = [_written(part) for part in (*self.before, *self.after)]
        if self.before[0] == self.after[0]:
            return f"labels {texts[0]}: {texts[1]} gets {self.before_value:.3g}, {texts[3]} gets {self.after_value:.3g}"
        return (
            f"labels {texts[0]}, alarms {texts[1]}: {self.before_value:.3g}; "
            f"labels {texts[2]}, alarms {texts[3]}: {self.after_value:.3g}"
        )


def small(metric: Metric) -> Metric:
    """Return the metric with widths that fit into short series."""
    bound = dict(metric.bound)
    narrow = {
        name: WIDTH
        for name, default in metric.parameters.items()
        if name in WIDTHS and name not in bound and isinstance(default, int) and default > WIDTH
    }
    return metric.with_options(**narrow) if narrow else metric


@cache
def _exhaustive(most: int) -> tuple[Pair, ...]:
    """All labels with both classes and all predictions, the shortest first, then those with the fewest ones."""
    found = []
    for n in range(2, most + 1):
        every = sorted(itertools.product((0, 1), repeat=n), key=lambda s: (sum(s), s))
        found += [(y, p) for y in every if 0 < sum(y) < n for p in every]
    return tuple(found)


@cache
def _random(count: int, seed: int = 0) -> tuple[Pair, ...]:
    """Longer cases, made of runs so that events and alarms of several points occur."""
    random = np.random.default_rng(seed)
    found: list[Pair] = []
    while len(found) < count:
        y, p = (np.repeat(random.permutation([0, 1] * 8), random.integers(1, 6, 16))[:LONG] for _ in range(2))
        if random.random() < 0.5:  # alarms that depend on the labels
            p = np.where(random.random(LONG) < 0.8, y, p)
        if 0 < y.sum() < LONG:
            found.append((tuple(y.tolist()), tuple(p.tolist())))
    return tuple(found)


class _Values:
    """Values of a metric, each computed once; higher is better, NaN where undefined or where the metric raised."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self.sign = 1.0 if metric.direction == "higher" else -1.0
        self._known: dict[Pair, float] = {}
        self.raised: dict[Pair, str] = {}  # what the metric raised, and on which labels and predictions

    def __call__(self, case: Pair) -> float:
        if case not in self._known:
            y, p = (np.array(part, np.int64) for part in case)
            of_scores = self._metric.kind == "scores"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UndefinedMetricWarning)
                try:
                    self._known[case] = self.sign * self._metric(y, p.astype(np.float64) if of_scores else p)
                except Exception as error:  # a user's function may raise whatever it raises
                    self._known[case] = math.nan
                    second = f"{'scores' if of_scores else 'alarms'} {_written(case[1])}"
                    self.raised[case] = f"{error_row(error)['message']}, on labels {_written(case[0])} and {second}"
        return self._known[case]


def _holds(relation: Relation, before: float, after: float) -> bool:
    scale = SAME * max(1.0, abs(before), abs(after))
    if relation == "equal":
        return abs(after - before) <= scale
    return after > before + scale if relation == "better" else after >= before - scale


def verdict(metric: Metric, check: Check, values: _Values, cases: Iterable[Pair]) -> Row:
    """Whether a property holds for a metric on these cases: on how many, or the first counterexample.

    Where the metric raised on some and there is no counterexample on the others, it has "failed", with the message.
    """
    if any(claim in metric.properties for claim in check.claims):
        return {"status": "by definition", "cases": 0, "example": None, "message": None}
    tried, message = 0, None
    for case in cases if metric.kind == "scores" or not check.of_scores else ():
        for before, after in check.pairs(*case):
            one, other = values(before), values(after)
            if not (math.isfinite(one) and math.isfinite(other)):
                message = message or values.raised.get(before) or values.raised.get(after)
                continue
            tried += 1
            if not _holds(check.relation, one, other):
                example = Example(before, values.sign * one, after, values.sign * other)
                return {"status": "fails", "cases": tried, "example": example, "message": message}
    status = "failed" if message else "holds" if tried else "undefined"
    return {"status": status, "cases": tried, "example": None, "message": message}


class PropertyTable(Result):
    """Metrics by properties: a row per pair with `status`, the number of `cases`, and the `example` where it fails.

    Status is "by definition", "holds" (on so many cases), "fails", "undefined" where no case has a value, or "failed"
    where the metric raised an error on some case and no other case is a counterexample: then `message` says what it
    raised and on which labels and scores, and `cases` on how many others the property holds. Prints as a table of
    marks.
    """

    def status(self, metric: AnyMetric, name: str) -> str:
        """Return the status of one property of one metric."""
        metric = find_metric(metric, list(dict.fromkeys(row["metric"] for row in self.rows)), "this table")
        found = {row["property"]: str(row["status"]) for row in self.rows if row["metric"] == metric}
        if name not in found:
            raise UnknownNameError(f"no property {name!r} in this table: {did_you_mean(name, list(found))}")
        return found[name]

    def _grid(self) -> Grid:
        marks = {"by definition": "always", "holds": "yes", "fails": "no", "undefined": "-", "failed": "failed"}
        names = list(dict.fromkeys(row["property"] for row in self.rows))
        body: dict[str, list[Any]] = {}
        for row in self.rows:
            body.setdefault(row["metric"], [row["metric"]]).append(marks[row["status"]])
        return [["metric", *names], *body.values()]

    def _notes(self) -> list[str]:
        """For each metric that raised: what, on which input, and what its marks mean then."""
        failed = {row["metric"]: row["message"] for row in reversed(self.rows) if row["status"] == "failed"}
        return [
            f"{name} failed: {failed[name]}. Where it says failed, no case that has a value is a counterexample; "
            "`rows` has the number of these cases and the message"
            for name in dict.fromkeys(row["metric"] for row in self.rows)
            if name in failed
        ]


def check_properties(
    metrics: Metrics = "all", checks: Iterable[str] | None = None, *, longest: int = SMALL, cases: int = RANDOM_CASES
) -> PropertyTable:
    """Check properties of metrics on all small cases and on random longer ones.

    Parameters
    ----------
    metrics : str, function, or several of these, default="all"
        As for `te.evaluate`. Options that are widths in points are set to 2, unless given.
    checks : sequence of str
        Names of properties; all by default.
    longest : int, default=6
        All labels and predictions of up to so many points are tried.
    cases : int, default=400
        Random cases of 24 points beside these.

    Returns
    -------
    PropertyTable
        A metric that raises an error on some case is marked "failed" where no other case is a counterexample, with the
        error and the case under the table; all other properties and metrics are checked.

    Examples
    --------
    >>> import tsadeval as te
    >>> table = te.rankeval.check_properties(["recall", "f1_pa"], ["earlier", "fewer false alarms"], longest=4)
    >>> table.status("f1_pa", "earlier"), table.status("f1_pa", "fewer false alarms")
    ('fails', 'holds')
    >>> print(table.rows[0]["example"])
    labels 011: 001 gets 0.5, 010 gets 0.5
    """
    chosen = [CHECKS[name] for name in checks] if checks is not None else list(CHECKS.values())
    tried = (*_exhaustive(longest), *_random(cases))
    rows: list[Row] = []
    for metric in select_metrics(metrics):
        narrow = small(metric)
        values = _Values(narrow)
        for check in chosen:
            found = verdict(narrow, check, values, tried)
            rows.append({"metric": str(metric), "options": str(narrow), "property": check.name, **found})
    return PropertyTable(rows)
