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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np

from tsadeval.core.events import Events
from tsadeval.core.metric import Metric
from tsadeval.core.results import Grid, Result, Row
from tsadeval.core.selection import Metrics, select_metrics
from tsadeval.errors import UndefinedMetricWarning

__all__ = ["CHECKS", "Check", "PropertyTable", "check_properties"]

SMALL = 6  # points of the longest cases of which all are tried
LONG = 24  # points of random cases
RANDOM_CASES = 400
SAME = 1e-9
# Options that are widths in points, and what they are set to: the usual widths are longer than these series.
WIDTHS = ("window", "early", "delay", "delta", "k_delay")
WIDTH = 2

Sequence01 = tuple[int, ...]
Relation = Literal["better", "not worse", "equal"]
Pair = tuple[Sequence01, Sequence01]  # labels and predictions
Variants = Callable[[Sequence01, Sequence01], Iterator[Pair]]


class Example(NamedTuple):
    """Two cases with their values, in which a property does not hold."""

    before: Pair
    before_value: float
    after: Pair
    after_value: float

    def __str__(self) -> str:
        texts = ["".join(map(str, part)) for part in (*self.before, *self.after)]
        if self.before[0] == self.after[0]:
            return f"labels {texts[0]}: {texts[1]} gets {self.before_value:.3g}, {texts[3]} gets {self.after_value:.3g}"
        return (
            f"labels {texts[0]}, alarms {texts[1]}: {self.before_value:.3g}; "
            f"labels {texts[2]}, alarms {texts[3]}: {self.after_value:.3g}"
        )


@dataclass(frozen=True)
class Check:
    """A property: `variants` gives, for labels and predictions, the cases that must be in `relation` to them.

    `claim` is the claim of a record that says the same of all scores; where a record makes it, the property holds by
    its definition (and the tests of the library check the claim).
    """

    name: str
    sentence: str
    relation: Relation
    variants: Variants = field(repr=False, compare=False)
    claim: str = ""


def _with(p: Sequence01, start: int, stop: int, value: int) -> Sequence01:
    return (*p[:start], *([value] * (stop - start)), *p[stop:])


@cache
def _events(y: Sequence01) -> tuple[tuple[int, int], ...]:
    found = Events.of(np.array(y, np.int64))
    return tuple(zip(found.starts.tolist(), found.stops.tolist(), strict=True))


def _false_runs(y: Sequence01, p: Sequence01) -> list[tuple[int, int]]:
    """Runs of alarms that neither touch an event nor stand next to one."""
    n = len(y)
    return [(a, b) for a, b in _events(p) if not any(y[a:b]) and not (a > 0 and y[a - 1]) and not (b < n and y[b])]


def perfect(y: Sequence01, p: Sequence01) -> Iterator[Pair]:
    """Perfect predictions are at least as good as any others."""
    if any(y):
        yield y, y


def more_events(y: Sequence01, p: Sequence01) -> Iterator[Pair]:
    """An event without alarm is found whole."""
    for a, b in _events(y):
        if not any(p[a:b]):
            yield y, _with(p, a, b, 1)


def more_of_an_event(y: Sequence01, p: Sequence01) -> Iterator[Pair]:
    """The last points of an event that is alarmed from its start to some point are alarmed too."""
    for a, b in _events(y):
        inside = p[a:b]
        length = sum(inside)
        if 0 < length < b - a and all(inside[:length]):
            yield y, _with(p, a, b, 1)


def earlier(y: Sequence01, p: Sequence01) -> Iterator[Pair]:
    """The only alarm of an event comes one point earlier."""
    for a, b in _events(y):
        inside = p[a:b]
        if sum(inside) == 1 and not inside[0]:
            at = a + inside.index(1)
            yield y, _with(_with(p, at, at + 1, 0), at - 1, at, 1)


def fewer_false_alarms(y: Sequence01, p: Sequence01) -> Iterator[Pair]:
    """A false alarm away from events is gone, while an event is found."""
    if any(a and b for a, b in zip(y, p, strict=True)):
        for a, b in _false_runs(y, p):
            yield y, _with(p, a, b, 0)


def shorter_false_alarms(y: Sequence01, p: Sequence01) -> Iterator[Pair]:
    """A false alarm is one point shorter."""
    for a, b in _false_runs(y, p):
        if b - a > 1:
            yield y, _with(p, b - 1, b, 0)


def fewer_episodes(y: Sequence01, p: Sequence01) -> Iterator[Pair]:
    """Two false alarms of one point each, with one point between them, become one of two points."""
    runs = _false_runs(y, p)
    for (a, b), (c, d) in itertools.pairwise(runs):
        if b - a == 1 == d - c and c == b + 1:
            yield y, _with(_with(p, c, d, 0), b, b + 1, 1)


def nearer(y: Sequence01, p: Sequence01) -> Iterator[Pair]:
    """The only false alarm, of one point after the only event, comes one point nearer to it."""
    events, runs = _events(y), _events(p)
    if len(events) != 1 or not any(a and b for a, b in zip(y, p, strict=True)):
        return
    outside = [(a, b) for a, b in runs if not any(y[a:b])]
    if len(outside) == 1 and len(runs) - len(outside) == sum(any(y[a:b]) for a, b in runs):
        (a, b), (_, stop) = outside[0], events[0]
        if b - a == 1 and a > stop + 1 and all(not p[i] or y[i] for i in range(len(p)) if i != a):
            yield y, _with(_with(p, a, b, 0), a - 1, a, 1)


def any_event(y: Sequence01, p: Sequence01) -> Iterator[Pair]:
    """Of two events the other one is found: which of them is long makes no difference."""
    events = _events(y)
    if len(events) == 2 and not any(b and not a for a, b in zip(y, p, strict=True)):
        (a, b), (c, d) = events
        if all(p[a:b]) and not any(p[c:d]) and b - a != d - c:
            yield y, _with(_with(p, a, b, 0), c, d, 1)


def whole(y: Sequence01, p: Sequence01) -> Iterator[Pair]:
    """The alarms of an event, the first at its start, stand together."""
    for a, b in _events(y):
        inside = p[a:b]
        count = sum(inside)
        if count > 1 and inside[0] and not all(inside[:count]):
            yield y, _with(_with(p, a, b, 0), a, a + count, 1)


def something(y: Sequence01, p: Sequence01) -> Iterator[Pair]:
    """From no alarm at all to one event found whole."""
    if not any(p):
        for a, b in _events(y):
            yield y, _with(p, a, b, 1)


def not_everywhere(y: Sequence01, p: Sequence01) -> Iterator[Pair]:
    """From an alarm everywhere to alarms at the events only."""
    if all(p) and 0 < sum(y) < len(y):
        yield y, y


def border(y: Sequence01, p: Sequence01) -> Iterator[Pair]:
    """From missing an event of three points or more to alarms of its length that come one point late."""
    n = len(y)
    for a, b in _events(y):
        if b - a >= 3 and b < n and not any(p[a : b + 1]) and not (b + 1 < n and (y[b + 1] or p[b + 1])):
            yield y, _with(p, a + 1, b + 1, 1)


def longer_series(y: Sequence01, p: Sequence01) -> Iterator[Pair]:
    """Normal points without alarm are added at the end."""
    if not y[-1] and not p[-1]:
        yield (*y, 0, 0), (*p, 0, 0)


def resampled(y: Sequence01, p: Sequence01) -> Iterator[Pair]:
    """Every point is there twice: the same at twice the sampling rate."""
    yield tuple(v for v in y for _ in range(2)), tuple(v for v in p for _ in range(2))


def reversed_time(y: Sequence01, p: Sequence01) -> Iterator[Pair]:
    """Time runs backwards."""
    yield y[::-1], p[::-1]


# fmt: off
CHECKS: dict[str, Check] = {check.name: check for check in (
    Check("perfect", "perfect predictions are not worse than any others", "not worse", perfect),
    Check("something", "finding one event is better than no alarm", "better", something),
    Check("not everywhere", "perfect predictions are better than an alarm everywhere", "better", not_everywhere),
    Check("more events", "finding one more event is better", "better", more_events),
    Check("more of an event", "covering the rest of an event is better", "better", more_of_an_event),
    Check("earlier", "an earlier alarm in an event is better", "better", earlier),
    Check("fewer false alarms", "one false alarm less is better", "better", fewer_false_alarms),
    Check("shorter false alarms", "a shorter false alarm is not worse", "not worse", shorter_false_alarms),
    Check("fewer episodes", "two false points in one episode are not worse than in two", "not worse", fewer_episodes),
    Check("nearer", "a false alarm nearer to the event is not worse", "not worse", nearer),
    Check("any event", "finding the short event is worth as much as the long one", "equal", any_event),
    Check("whole", "one piece is not worse than several, from the start of an event", "not worse", whole),
    Check("border", "alarms one point late are better than none", "better", border),
    Check("longer series", "normal points at the end change nothing", "equal", longer_series, "separable"),
    Check("resampled", "twice the sampling rate changes nothing", "equal", resampled),
    Check("mirror", "reversing time changes nothing", "equal", reversed_time, "mirror"),
)}
# fmt: on


def small(metric: Metric) -> Metric:
    """The metric with widths that fit into short series."""
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
        if random.random() < 0.5:  # alarms that know something
            p = np.where(random.random(LONG) < 0.8, y, p)
        if 0 < y.sum() < LONG:
            found.append((tuple(y.tolist()), tuple(p.tolist())))
    return tuple(found)


class _Values:
    """Values of a metric, each computed once; higher is better, NaN where undefined."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._sign = 1.0 if metric.direction == "higher" else -1.0
        self._known: dict[Pair, float] = {}

    def __call__(self, case: Pair) -> float:
        if case not in self._known:
            y, p = (np.array(part, np.int64) for part in case)
            other: Any = p.astype(np.float64) if self._metric.kind == "scores" else p
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UndefinedMetricWarning)
                self._known[case] = self._sign * self._metric(y, other)
        return self._known[case]

    def shown(self, value: float) -> float:
        """The value as the metric gives it."""
        return self._sign * value


def _holds(relation: Relation, before: float, after: float) -> bool:
    scale = SAME * max(1.0, abs(before), abs(after))
    if relation == "equal":
        return abs(after - before) <= scale
    return after > before + scale if relation == "better" else after >= before - scale


def verdict(metric: Metric, check: Check, values: _Values, cases: Iterable[Pair]) -> Row:
    """Whether a property holds for a metric on these cases: on how many, or the first counterexample."""
    if check.claim and check.claim in metric.properties:
        return {"status": "by definition", "cases": 0, "example": None}
    tried = 0
    for before in cases:
        for after in check.variants(*before):
            if before == after:
                continue
            one, other = values(before), values(after)
            if not (math.isfinite(one) and math.isfinite(other)):
                continue
            tried += 1
            if not _holds(check.relation, one, other):
                example = Example(before, values.shown(one), after, values.shown(other))
                return {"status": "fails", "cases": tried, "example": example}
    return {"status": "holds" if tried else "undefined", "cases": tried, "example": None}


class PropertyTable(Result):
    """Metrics by properties: a row per pair with `status`, the number of `cases`, and the `example` where it fails.

    Status is "by definition", "holds" (on so many cases), "fails", or "undefined" where no case has a value. Prints as
    a table of marks.
    """

    def status(self, metric: str, name: str) -> str:
        """The status of one property of one metric."""
        for row in self.rows:
            if row["metric"] == metric and row["property"] == name:
                return str(row["status"])
        raise KeyError((metric, name))

    def _grid(self) -> Grid:
        marks = {"by definition": "always", "holds": "yes", "fails": "no", "undefined": "-"}
        names = list(dict.fromkeys(row["property"] for row in self.rows))
        body: dict[str, list[Any]] = {}
        for row in self.rows:
            body.setdefault(row["metric"], [row["metric"]]).append(marks[row["status"]])
        return [["metric", *names], *body.values()]


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
