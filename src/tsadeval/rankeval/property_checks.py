"""Properties as checks: pairs of small cases that differ in one respect, and how their values must compare.

After the lists of Wagner et al. (arXiv 2510.17562) and of earlier surveys, in our own definitions.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

import numpy as np

from tsadeval.core.events import Events

NORMAL = 100  # normal points that are added where a false alarm must be rare

Levels = tuple[int, ...]  # labels and predictions of 0 and 1; scores may have more levels
Relation = Literal["better", "not worse", "equal"]
Pair = tuple[Levels, Levels]  # labels, and predictions or scores
Variants = Callable[[Levels, Levels], Iterator[Pair]]


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
        """The cases to compare that labels and predictions give rise to: before, after."""
        before = (y, p) if self.start is None else self.start(y, p)
        if before is not None:
            yield from ((before, after) for after in self.variants(*before) if after != before)


def _with(p: Levels, start: int, stop: int, value: int) -> Levels:
    return (*p[:start], *([value] * (stop - start)), *p[stop:])


@cache
def _events(y: Levels) -> tuple[tuple[int, int], ...]:
    found = Events.of(np.array(y, np.int64))
    return tuple(zip(found.starts.tolist(), found.stops.tolist(), strict=True))


def _false_runs(y: Levels, p: Levels) -> list[tuple[int, int]]:
    """Runs of alarms that neither touch an event nor stand next to one."""
    n = len(y)
    return [(a, b) for a, b in _events(p) if not any(y[a:b]) and not (a > 0 and y[a - 1]) and not (b < n and y[b])]


def perfect(y: Levels, p: Levels) -> Iterator[Pair]:
    """Perfect predictions are at least as good as any others."""
    if any(y):
        yield y, y


def more_events(y: Levels, p: Levels) -> Iterator[Pair]:
    """An event without alarm is found whole."""
    for a, b in _events(y):
        if not any(p[a:b]):
            yield y, _with(p, a, b, 1)


def more_of_an_event(y: Levels, p: Levels) -> Iterator[Pair]:
    """The last points of an event that is alarmed from its start to some point are alarmed too."""
    for a, b in _events(y):
        inside = p[a:b]
        length = sum(inside)
        if 0 < length < b - a and all(inside[:length]):
            yield y, _with(p, a, b, 1)


def earlier(y: Levels, p: Levels) -> Iterator[Pair]:
    """The only alarm of an event comes one point earlier."""
    for a, b in _events(y):
        inside = p[a:b]
        if sum(inside) == 1 and not inside[0]:
            at = a + inside.index(1)
            yield y, _with(_with(p, at, at + 1, 0), at - 1, at, 1)


def fewer_false_alarms(y: Levels, p: Levels) -> Iterator[Pair]:
    """A false alarm away from events is gone, while an event is found."""
    if any(a and b for a, b in zip(y, p, strict=True)):
        for a, b in _false_runs(y, p):
            yield y, _with(p, a, b, 0)


def shorter_false_alarms(y: Levels, p: Levels) -> Iterator[Pair]:
    """A false alarm is one point shorter."""
    for a, b in _false_runs(y, p):
        if b - a > 1:
            yield y, _with(p, b - 1, b, 0)


def fewer_episodes(y: Levels, p: Levels) -> Iterator[Pair]:
    """Two false alarms of one point each, with one point between them, become one of two points."""
    runs = _false_runs(y, p)
    for (a, b), (c, d) in itertools.pairwise(runs):
        if b - a == 1 == d - c and c == b + 1:
            yield y, _with(_with(p, c, d, 0), b, b + 1, 1)


def nearer(y: Levels, p: Levels) -> Iterator[Pair]:
    """The only false alarm, of one point after the only event, comes one point nearer to it."""
    events, runs = _events(y), _events(p)
    if len(events) != 1 or not any(a and b for a, b in zip(y, p, strict=True)):
        return
    outside = [(a, b) for a, b in runs if not any(y[a:b])]
    if len(outside) == 1 and len(runs) - len(outside) == sum(any(y[a:b]) for a, b in runs):
        (a, b), (_, stop) = outside[0], events[0]
        if b - a == 1 and a > stop + 1 and all(not p[i] or y[i] for i in range(len(p)) if i != a):
            yield y, _with(_with(p, a, b, 0), a - 1, a, 1)


def any_event(y: Levels, p: Levels) -> Iterator[Pair]:
    """Of two events the other one is found: which of them is long makes no difference."""
    events = _events(y)
    if len(events) == 2 and not any(b and not a for a, b in zip(y, p, strict=True)):
        (a, b), (c, d) = events
        if all(p[a:b]) and not any(p[c:d]) and b - a != d - c:
            yield y, _with(_with(p, a, b, 0), c, d, 1)


def whole(y: Levels, p: Levels) -> Iterator[Pair]:
    """The alarms of an event, the first at its start, stand together."""
    for a, b in _events(y):
        inside = p[a:b]
        count = sum(inside)
        if count > 1 and inside[0] and not all(inside[:count]):
            yield y, _with(_with(p, a, b, 0), a, a + count, 1)


def something(y: Levels, p: Levels) -> Iterator[Pair]:
    """From no alarm at all to one event found whole."""
    if not any(p):
        for a, b in _events(y):
            yield y, _with(p, a, b, 1)


def not_everywhere(y: Levels, p: Levels) -> Iterator[Pair]:
    """From an alarm everywhere to alarms at the events only."""
    if all(p) and 0 < sum(y) < len(y):
        yield y, y


def border(y: Levels, p: Levels) -> Iterator[Pair]:
    """From missing an event of three points or more to alarms of its length that come one point late."""
    n = len(y)
    for a, b in _events(y):
        if b - a >= 3 and b < n and not any(p[a : b + 1]) and not (b + 1 < n and (y[b + 1] or p[b + 1])):
            yield y, _with(p, a + 1, b + 1, 1)


def longer_series(y: Levels, p: Levels) -> Iterator[Pair]:
    """Normal points without alarm are added at the end."""
    if not y[-1] and not p[-1]:
        yield (*y, 0, 0), (*p, 0, 0)


def resampled(y: Levels, p: Levels) -> Iterator[Pair]:
    """Every point is there twice: the same at twice the sampling rate."""
    yield tuple(v for v in y for _ in range(2)), tuple(v for v in p for _ in range(2))


def reversed_time(y: Levels, p: Levels) -> Iterator[Pair]:
    """Time runs backwards."""
    yield y[::-1], p[::-1]


def inside(y: Levels, p: Levels) -> Iterator[Pair]:
    """The only alarm of an event, one point just before or just after it, moves onto it."""
    n = len(y)
    for a, b in _events(y):
        if b - a > 1 and not any(p[a:b]):
            for out, onto in ((a - 1, a), (b, b - 1)):
                alone = 0 <= out < n and p[out] and not (out > 0 and p[out - 1]) and not (out + 1 < n and p[out + 1])
                if alone and sum(y[max(out - 1, 0) : out + 2]) == 1:
                    yield y, _with(_with(p, out, out + 1, 0), onto, onto + 1, 1)


def _in_long_series(y: Levels, p: Levels) -> Pair:
    """With many normal points at the end, so that one false point is a small share of them."""
    return (*y, *[0] * NORMAL), (*p, *[0] * NORMAL)


def noise_point(y: Levels, p: Levels) -> Iterator[Pair]:
    """From one missed event to all events found whole and one false alarm of a single point."""
    events = _events(y)
    if len(events) > 1 and sum(any(p[a:b]) for a, b in events) == len(events) - 1:
        rest = tuple(b and not a for a, b in zip(y, p, strict=True))
        if not any(rest) and all(all(p[a:b]) or not any(p[a:b]) for a, b in events):
            for at in range(len(y) - NORMAL):
                if not any(y[max(at - 1, 0) : at + 2]):
                    yield y, _with(y, at, at + 1, 1)


def redrawn(y: Levels, p: Levels) -> Iterator[Pair]:
    """From no alarm to those of labels whose only event begins or ends one point sooner or later."""
    events, n = _events(y), len(y)
    if len(events) == 1 and not any(p):
        (a, b) = events[0]
        for start, stop in ((a - 1, b), (a + 1, b), (a, b - 1), (a, b + 1)):
            if b - a >= 3 and start >= 0 and stop <= n and stop - start < n:
                yield y, _with(p, start, stop, 1)


def other_labels(y: Levels, p: Levels) -> Iterator[Pair]:
    """The same alarms, everywhere or nowhere, with one more anomalous point at the end of an event."""
    if all(p) or not any(p):
        for _, b in _events(y):
            if b < len(y) and sum(y) + 1 < len(y):
                yield _with(y, b, b + 1, 1), p


def _three_levels(y: Levels, p: Levels) -> Pair | None:
    """Scores of three levels: the last of several alarms is twice as high as the others."""
    if sum(p) < 2 or not any(y):
        return None
    last = len(p) - 1 - p[::-1].index(1)
    return y, _with(p, last, last + 1, 2)


def stretched(y: Levels, p: Levels) -> Iterator[Pair]:
    """The largest score is far larger, which changes no order."""
    yield y, tuple(20 if score == 2 else score for score in p)


def scaled(y: Levels, p: Levels) -> Iterator[Pair]:
    """All scores are three times as high, and one more."""
    yield y, tuple(3 * score + 1 for score in p)


# fmt: off
CHECKS: dict[str, Check] = {check.name: check for check in (
    Check("perfect", "perfect predictions are not worse than any others", "not worse", perfect),
    Check("something", "finding one event is better than no alarm", "better", something),
    Check("not everywhere", "perfect predictions are better than an alarm everywhere", "better", not_everywhere),
    Check("more events", "finding one more event is better", "better", more_events),
    Check("more of an event", "covering the rest of an event is better", "better", more_of_an_event),
    Check("earlier", "an earlier alarm in an event is better", "better", earlier),
    Check("inside", "an alarm at the edge of an event is better than one point before or after it", "better", inside),
    Check("fewer false alarms", "one false alarm less is better", "better", fewer_false_alarms),
    Check("shorter false alarms", "a shorter false alarm is not worse", "not worse", shorter_false_alarms),
    Check("fewer episodes", "two false points in one episode are not worse than in two", "not worse", fewer_episodes),
    Check("nearer", "a false alarm nearer to the event is not worse", "not worse", nearer),
    Check("noise point", "all events and one false point are better than one event missed", "better", noise_point,
          start=_in_long_series),
    Check("any event", "finding the short event is worth as much as the long one", "equal", any_event),
    Check("whole", "one piece is not worse than several, from the start of an event", "not worse", whole),
    Check("border", "alarms one point late are better than none", "better", border),
    Check("redrawn", "alarms of labels drawn one point longer or shorter are better than none", "better", redrawn),
    Check("chance", "an alarm everywhere, or nowhere, is worth the same on other labels", "equal", other_labels),
    Check("longer series", "normal points at the end change nothing", "equal", longer_series, ("separable",)),
    Check("resampled", "twice the sampling rate changes nothing", "equal", resampled),
    Check("mirror", "reversing time changes nothing", "equal", reversed_time, ("mirror",)),
    Check("increasing map", "a largest score ten times as large changes nothing", "equal", stretched,
          ("monotone",), True, _three_levels),
    Check("scaled", "scores on another scale change nothing", "equal", scaled,
          ("affine", "monotone"), True, _three_levels),
)}
# fmt: on
