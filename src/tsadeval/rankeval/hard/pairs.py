"""Pairs of cases that a metric judged wrongly: models in the wrong order, and cases that should be equal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from tsadeval.core.inputs import Floats
from tsadeval.rankeval.quality import SAME

__all__ = ["Pair", "control_pairs", "order_pairs", "verdict_of"]

Verdict = Literal["right", "reversed", "tied", "unequal"]

# A difference of two values that should be equal, in units of the skill, that is worth showing.
LEAST = 0.01


class Pair(NamedTuple):
    """Two cases of one repeat, by their places, what the metric made of them, and how wrong that is."""

    repeat: int
    worse: int
    better: int
    verdict: Verdict
    severity: float


def verdict_of(worse: float, better: float) -> Verdict:
    """Whether two values, higher for better, are in the order of the models; undefined ones rank last.

    >>> verdict_of(0.2, 0.3), verdict_of(0.3, 0.2), verdict_of(0.3, 0.3), verdict_of(0.3, float("nan"))
    ('right', 'reversed', 'tied', 'reversed')
    """
    known = np.isfinite(worse), np.isfinite(better)
    if known != (True, True):
        return "tied" if known[0] == known[1] else "right" if known[1] else "reversed"
    if abs(worse - better) <= SAME * max(abs(worse), abs(better)):
        return "tied"
    return "right" if worse < better else "reversed"


def order_pairs(values: Floats) -> tuple[list[Pair], dict[str, int]]:
    """All pairs of models (columns, worst first) that are reversed or tied, the worst first, and the counts of all.

    Where most mistakes are ties, ties come first. Pairs without any value are counted as tied but not listed: there is
    nothing to show.
    """
    known = values[np.isfinite(values)]
    scale = float(np.ptp(known)) or 1.0 if known.size else 1.0
    wrong: list[Pair] = []
    counts = {"pairs": 0, "reversed": 0, "tied": 0}
    for repeat, row in enumerate(values.tolist()):
        for worse in range(len(row)):
            for better in range(worse + 1, len(row)):
                verdict = verdict_of(row[worse], row[better])
                counts["pairs"] += 1
                if verdict in counts:
                    counts[verdict] += 1
                if verdict == "right" or not np.isfinite(row[worse]):
                    continue
                # A value that is undefined counts as one at the other end of the range.
                apart = (row[worse] - row[better]) / scale if np.isfinite(row[better]) else 1.0
                severity = 0.0 if verdict == "tied" else apart * (better - worse)
                wrong.append(Pair(repeat, worse, better, verdict, severity))
    usual = "tied" if counts["tied"] > counts["reversed"] else "reversed"
    # Of ties those are worst that are farthest apart in truth.
    return sorted(wrong, key=lambda p: (p.verdict != usual, -p.severity, p.worse - p.better)), counts


def control_pairs(values: Floats, names: Sequence[str], only: tuple[int, int] | None = None) -> list[Pair]:
    """Pairs of cases of a control that got different values, the worst first; `only` of these two cases."""
    found: list[Pair] = []
    for repeat, row in enumerate(values):
        for one, other, skill in _comparisons(names, row, only):
            severity = abs(row[one] - row[other]) / skill if skill > 0 else np.nan
            if np.isfinite(severity) and severity > LEAST:
                found.append(Pair(repeat, one, other, "unequal", float(severity)))
    return sorted(found, key=lambda pair: -pair.severity)


def _comparisons(names: Sequence[str], row: Floats, only: tuple[int, int] | None) -> list[tuple[int, int, float]]:
    if "reference" in names:
        reference, random, perfect = (names.index(n) for n in ("reference", "random", "perfect"))
        skill = max(abs(row[reference] - row[random]), 0.05 * abs(row[perfect] - row[random]))
        others = [i for i in range(len(names)) if i not in (reference, random, perfect)]
        return [(reference, i, skill) for i in others if only is None or i == only[1]]
    # Scores without skill: the lowest and the highest of the repeat.
    without = [i for i, name in enumerate(names) if not name.startswith("perfect") and np.isfinite(row[i])]
    if len(without) < 2:
        return []
    best = [row[i] for i, name in enumerate(names) if name.startswith("perfect")]
    skill = abs(float(np.nanmean(best) - np.mean([row[i] for i in without])))
    low, high = only or (min(without, key=lambda i: row[i]), max(without, key=lambda i: row[i]))
    return [(low, high, skill)]
