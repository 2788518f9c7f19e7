"""Properties as checks: pairs of small cases that differ in one respect, and how their values must compare.

Labels and predictions are written as a word with a letter per point: `h` an alarm in an event (a hit), `m` a point of
an event without alarm (missed), `f` a false alarm, `n` a normal point without alarm. A check says which words or parts
of words change, and how. After the lists of Wagner et al. (arXiv 2510.17562) and of earlier surveys, in our own
definitions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

NORMAL = 100  # normal points that are added where a false alarm must be rare

Levels = tuple[int, ...]  # labels and predictions of 0 and 1; scores may have more levels
Relation = Literal["better", "not worse", "equal"]
Pair = tuple[Levels, Levels]  # labels, and predictions or scores
Variants = Callable[[Levels, Levels], Iterator[Pair]]
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


def _in_long_series(y: Levels, p: Levels) -> Pair:
    """With many normal points at the end, so that one false point is a small share of them."""
    return (*y, *[0] * NORMAL), (*p, *[0] * NORMAL)


def _three_levels(y: Levels, p: Levels) -> Pair | None:
    """Scores of three levels: the last of several alarms is twice as high as the others."""
    if sum(p) < 2 or not any(y):
        return None
    last = len(p) - 1 - p[::-1].index(1)
    return y, (*p[:last], 2, *p[last + 1 :])


def stretched(y: Levels, p: Levels) -> Iterator[Pair]:
    """Make the largest score far larger, which changes no order."""
    yield y, tuple(20 if score == 2 else score for score in p)


def scaled(y: Levels, p: Levels) -> Iterator[Pair]:
    """All scores are three times as high, and one more."""
    yield y, tuple(3 * score + 1 for score in p)


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
          start=_in_long_series),
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
    Check("increasing map", "a largest score ten times as large changes nothing", "equal", stretched,
          ("monotone",), True, _three_levels),
    Check("scaled", "scores on another scale change nothing", "equal", scaled,
          ("affine", "monotone"), True, _three_levels),
)}
# fmt: on
