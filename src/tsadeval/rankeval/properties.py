"""Properties that a metric may have, as executable checks over small cases, with the smallest counterexample.

A property compares two predictions (or labels) that differ in one respect: the second must be better, not worse, or
equal. All labels and predictions of up to `SMALL` points are tried, shortest first, so the first counterexample is the
smallest there is; then random longer ones. Metrics of scores get the predictions as scores of 0 and 1.

Labels and predictions are written as a word with a letter per point: `h` an alarm in an event (a hit), `m` a point of
an event without alarm (missed), `f` a false alarm, `n` a normal point without alarm. A check says which words or parts
of words change, and how. After the lists of Wagner et al. (arXiv 2510.17562) and of earlier surveys, in our own
definitions.
"""

import itertools
import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, NamedTuple

import numpy as np

from tsadeval.core.facts import grouped
from tsadeval.core.metric import Metric
from tsadeval.core.names import check_known
from tsadeval.core.results import Grid, Result, Row
from tsadeval.core.selection import AnyMetric, Metrics, find_metric, select_metrics
from tsadeval.errors import UndefinedMetricWarning, describe_error

SMALL = 6  # points of the longest cases of which all are tried
LONG = 24  # points of random cases
RANDOM_CASES = 400
SAME = 1e-9
# Options that are widths in points, and what they are set to: the usual widths are longer than these series.
WIDTHS = ("window", "early", "delay", "delta", "max_delay", "tolerance", "slack")
WIDTH = 2
NORMAL = 100  # normal points that are added where a false alarm must be rare

Levels = tuple[int, ...]  # labels and predictions of 0 and 1; scores may have more levels
Relation = Literal["better", "not worse", "equal"]
Pair = tuple[Levels, Levels]  # labels, and predictions or scores
Variants = Callable[[Levels, Levels], Iterable[Pair]]
Change = Callable[[str], str]


@dataclass(frozen=True)
class Check:
    """A property: `variants` gives, for labels and predictions, the cases that must be in `relation` to them.

    `start` changes labels and predictions before they are compared with their variants, where a property needs others
    than these. `claims` are claims of a record of which each says the same of all scores; where a record makes one, the
    property holds by its definition (and the tests of the library check the claim). `of_scores` are for metrics of
    scores only.
    """

    name: str
    sentence: str
    relation: Relation
    variants: Variants = field(repr=False, compare=False)
    claims: tuple[str, ...] = ()
    of_scores: bool = False
    start: Callable[[Levels, Levels], Pair | None] | None = field(default=None, repr=False, compare=False)

    def pairs(self, y: Levels, p: Levels) -> Iterator[tuple[Pair, Pair]]:
        """Return the cases to compare that labels and predictions give rise to: before, after."""
        before = (y, p) if self.start is None else self.start(y, p)
        if before is not None:
            yield from ((before, after) for after in self.variants(*before) if after != before)


def changing(*changes: tuple[str, Change], where: str = ".*", others: Change = str) -> Variants:
    """Return what gives a variant for every match of a pattern in words that `where` matches as a whole.

    Matches may overlap, so a pattern says where they begin and end. `others` changes the letters around a match.
    """
    fits = re.compile(where).fullmatch
    found = [(re.compile(f"(?=({pattern}))"), change) for pattern, change in changes]

    def variants(y: Levels, p: Levels) -> Iterator[Pair]:
        word = "".join("nfmh"[2 * a + b] for a, b in zip(y, p, strict=True))
        if not fits(word):
            return
        matches = [(match.span(1), change) for pattern, change in found for match in pattern.finditer(word)]
        for (start, stop), change in sorted(matches, key=lambda one: one[0][0]):
            after = others(word[:start]) + change(word[start:stop]) + others(word[stop:])
            yield tuple(int(letter in "mh") for letter in after), tuple(int(letter in "fh") for letter in after)

    return variants


def to(letters: str, others: str) -> Change:
    """Return the change of letters into others."""
    return lambda word: word.translate(str.maketrans(letters, others))


WHOLE = "^.+"


def event(inside: str) -> str:
    """Return the pattern of an event with these letters."""
    return f"(?<![mh]){inside}(?![mh])"


def false_alarm(inside: str) -> str:
    """Return the pattern of false alarms with these letters, which neither touch an event nor each other."""
    return f"(?<![fmh]){inside}(?![fmh])"


def _swapped(word: str) -> str:
    """Of two events the other one is found, if they differ in length."""
    return to("hm", "mh")(word) if word.count("h") != word.count("m") else word


def _three_levels(y: Levels, p: Levels) -> Pair | None:
    """Scores of three levels: the last of several alarms is twice as high as the others."""
    if sum(p) < 2 or not any(y):
        return None
    last = len(p) - 1 - p[::-1].index(1)
    return y, (*p[:last], 2, *p[last + 1 :])


# fmt: off
CHECKS: dict[str, Check] = {check.name: check for check in (
    Check("perfect", "perfect predictions are not worse than any others", "not worse",
          changing((WHOLE, to("fm", "nh")), where=".*[mh].*")),
    Check("something", "finding one event is better than no alarm", "better",
          changing((event("m+"), to("m", "h")), where="[nm]*")),
    Check("not everywhere", "perfect predictions are better than an alarm everywhere", "better",
          changing((WHOLE, to("f", "n")), where="(?=.*h)[fh]*")),
    Check("more events", "finding one more event is better", "better", changing((event("m+"), to("m", "h")))),
    Check("more of an event", "covering the rest of an event is better", "better",
          changing((event("h+m+"), to("m", "h")))),
    Check("earlier", "an earlier alarm in an event is better", "better",
          changing((event("m+hm*"), lambda word: word.replace("mh", "hm")))),
    Check("inside", "an alarm at the edge of an event is better than one point before or after it", "better",
          changing(("(?<![fmh])fmm+(?![mh])", lambda word: "nh" + word[2:]),
                   ("(?<![mh])m+mf(?![fmh])", lambda word: word[:-2] + "hn"))),
    Check("fewer false alarms", "one false alarm less is better", "better",
          changing((false_alarm("f+"), to("f", "n")), where=".*h.*")),
    Check("shorter false alarms", "a shorter false alarm is not worse", "not worse",
          changing((false_alarm("ff+"), lambda word: word[:-1] + "n"))),
    Check("fewer episodes", "two false points in one episode are not worse than in two", "not worse",
          changing((false_alarm("fnf"), lambda word: "ffn"))),
    Check("nearer", "a false alarm nearer to the event is not worse", "not worse",
          changing(("nf", lambda word: "fn"), where="n*(?=m*h)[mh]+nn+fn*")),
    Check("noise point", "all events and one false point are better than one event missed", "better",
          changing((f"(?<![mh])n(?![mh])(?=.{{{NORMAL}}})", to("n", "f")),
                   where="(?!.*(mh|hm))(?=.*h)[nh]*m+[nh]*", others=to("m", "h")),
          start=lambda y, p: ((*y, *[0] * NORMAL), (*p, *[0] * NORMAL))),  # one false point is a small share of these
    Check("any event", "finding the short event is worth as much as the long one", "equal",
          changing(("(?<!h)h+n+m+", _swapped), where="n*h+n+m+n*")),
    Check("whole", "one piece is not worse than several, from the start of an event", "not worse",
          changing((event("h[mh]*"), lambda word: "".join(sorted(word))))),
    Check("border", "alarms one point late are better than none", "better",
          changing(("(?<![mh])mmm+n(?![fmh])", lambda word: "m" + "h" * (len(word) - 2) + "f"))),
    Check("redrawn", "alarms of labels drawn one point longer or shorter are better than none", "better",
          changing(("(?<=n)nm+|nm+(?=n)", to("nm", "fh")), (event("m+"), lambda word: "m" + "h" * (len(word) - 1)),
                   (event("m+"), lambda word: "h" * (len(word) - 1) + "m"),
                   ("(?<=n)m+n|(?<!m)m+n(?=n)", to("nm", "fh")), where="n*mmm+n*")),
    Check("chance", "an alarm everywhere, or nowhere, is worth the same on other labels", "equal",
          changing(("(?<=[mh])[nf]", to("nf", "mh")), where="(?=.*[nf].*[nf])([nm]*|[fh]*)")),
    Check("longer series", "normal points at the end change nothing", "equal",
          changing(("n$", lambda word: "nnn")), ("separable",)),
    Check("resampled", "twice the sampling rate changes nothing", "equal",
          changing((WHOLE, lambda word: "".join(2 * letter for letter in word)))),
    Check("mirror", "reversing time changes nothing", "equal", changing((WHOLE, lambda word: word[::-1])), ("mirror",)),
    Check("increasing map", "a largest score ten times as large changes nothing", "equal",
          lambda y, p: [(y, tuple(20 if score == 2 else score for score in p))], ("monotone",), True, _three_levels),
    Check("scaled", "scores on another scale change nothing", "equal",
          lambda y, p: [(y, tuple(3 * score + 1 for score in p))], ("affine", "monotone"), True, _three_levels),
)}
# fmt: on


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
    lengths = (itertools.product((0, 1), repeat=n) for n in range(2, most + 1))
    orders = (sorted(every, key=lambda s: (sum(s), s)) for every in lengths)
    return tuple((y, p) for every in orders for y in every if 0 < sum(y) < len(y) for p in every)


@cache
def _random(count: int) -> tuple[Pair, ...]:
    """Longer cases, made of runs so that events and alarms of several points occur."""
    random = np.random.default_rng(0)
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
        self._known: dict[Pair, float] = {}
        self.raised: dict[Pair, str] = {}  # what the metric raised, and on which labels and predictions

    def __call__(self, case: Pair) -> float:
        if case not in self._known:
            y, p = (np.array(part, np.int64) for part in case)
            of_scores = self._metric.kind == "scores"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UndefinedMetricWarning)
                try:
                    self._known[case] = self._metric.sign * self._metric(y, p.astype(np.float64) if of_scores else p)
                except Exception as error:  # a user's function may raise whatever it raises
                    self._known[case] = math.nan
                    second = f"{'scores' if of_scores else 'alarms'} {_written(case[1])}"
                    self.raised[case] = f"{describe_error(error)}, on labels {_written(case[0])} and {second}"
        return self._known[case]


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
            scale, gain = SAME * max(1.0, abs(one), abs(other)), other - one
            if not {"better": gain > scale, "not worse": gain >= -scale, "equal": abs(gain) <= scale}[check.relation]:
                example = Example(before, metric.sign * one, after, metric.sign * other)
                return {"status": "fails", "cases": tried, "example": example, "message": message}
    status = "failed" if message else "holds" if tried else "undefined"
    return {"status": status, "cases": tried, "example": None, "message": message}


SHOWN = 8  # counterexamples under a table


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
        check_known(name, found, "property", "this table")
        return found[name]

    def _grid(self) -> Grid:
        marks = {"by definition": "always", "holds": "yes", "fails": "no", "undefined": "-", "failed": "failed"}
        names = list(dict.fromkeys(row["property"] for row in self.rows))
        body = grouped((row["metric"], marks[row["status"]]) for row in self.rows)
        return [["metric", *names], *([metric, *said] for metric, said in body.items())]

    def _notes(self) -> list[str]:
        """Name the smallest counterexamples, and for each metric that raised: what, on which input, what marks mean."""
        broken = [row for row in self.rows if row["status"] == "fails"]
        found = [f"{row['metric']}, {row['property']}: no, {row['example']}" for row in broken[:SHOWN]]
        if len(broken) > SHOWN:
            found.append(f"{len(broken) - SHOWN} more counterexamples, each the smallest there is, are in `rows`")
        failed = {row["metric"]: row["message"] for row in reversed(self.rows) if row["status"] == "failed"}
        return found + [
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
        values, names = _Values(narrow), {"metric": str(metric), "options": str(narrow)}
        rows += [{**names, "property": check.name, **verdict(narrow, check, values, tried)} for check in chosen]
    return PropertyTable(rows)
