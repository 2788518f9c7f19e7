"""Ranking quality (Spearman, Kendall, ties): how well a metric's values order models whose order is known.

Ties get average ranks, Kendall is tau-b, and the tied pairs are counted. A metric that gives all models the same value
orders nothing: its Spearman and Kendall are 0. `ties="published"` is there for comparison only: it leaves ties to an
unstable sort, as the published code did, so its outcome depends on the NumPy version and the processor (F1 on AccQ gets
0.340 where the sort is vectorised, 0.317 where it happens to be stable), and it rounds to four digits.
"""

from collections import Counter
from itertools import combinations
from typing import Literal, NamedTuple, get_args

import numpy as np

from tsadeval.comparison import statistics
from tsadeval.core.inputs import Floats
from tsadeval.core.parameters import Check, OneOf

Ties = Literal["average", "published"]
Undefined = Literal["worst", "drop models", "drop rankings", "published"]

# Indicator: (short name, is more of it better?).
INDICATORS = {"spearman": ("Sp", True), "kendall": ("Kd", True), "deviation": ("MD", False)}

CHECKS: dict[str, Check] = {"ties": OneOf(get_args(Ties)), "undefined": OneOf(get_args(Undefined))}

# Values that differ by less than this share of the largest are one value: rounding errors order nothing.
SAME = 1e-12


class Quality(NamedTuple):
    """One number per ranking; `ties` is the share of pairs of models with equal values."""

    spearman: Floats
    kendall: Floats
    deviation: Floats
    ties: Floats


def ranking_quality(values: Floats, worth: Floats, *, ties: Ties = "average", drop_models: bool = False) -> Quality:
    """Compute the quality of many rankings of the same models: values by rankings and models, higher for better ones.

    A model without a value has minus infinity, and is then the worst; a ranking with a value that is NaN is NaN, or of
    the other models (`drop_models`). `worth` has the truth: distinct numbers, higher for better models.

    >>> found = ranking_quality(np.array([[0.1, 0.2, 0.3], [0.5, 0.5, 0.5]]), np.array([1.0, 2.0, 3.0]))
    >>> found.spearman.tolist(), found.ties.tolist()
    ([1.0, 0.0], [0.0, 1.0])
    """
    if drop_models:
        return _of_those_left(values, worth, ties)
    truth = statistics.ranks(worth[None])
    usable = ~np.isnan(values).any(axis=1)
    known = np.isfinite(values)
    filled = np.where(known, values, np.where(known, values, np.inf).min(axis=1, keepdims=True, initial=0.0) - 1.0)
    largest = np.abs(filled).max(axis=1, keepdims=True)
    rounded = np.round(filled / np.where(largest == 0, 1.0, largest) / SAME)  # so rounding errors order nothing
    first, second = np.triu_indices(len(worth), 1)
    signs = np.sign(rounded[:, first] - rounded[:, second])
    tied = np.mean(signs == 0, axis=1)
    if ties == "published":
        quality = _published(np.where(known, values, np.nan), truth[0])
    else:
        ranks = statistics.ranks(rounded)
        agreement = signs @ np.sign(worth[first] - worth[second])
        untied = np.count_nonzero(signs, axis=1)
        kendall = agreement / np.sqrt(np.maximum(untied, 1) * len(first))
        spearman = np.nan_to_num(statistics.correlation(ranks, truth)[:, 0])  # 0 without any order
        quality = [spearman, kendall, np.abs(ranks - truth).mean(axis=1)]
    return Quality(*(np.where(usable, found, np.nan) for found in (*quality, tied)))


def _of_those_left(values: Floats, worth: Floats, ties: Ties) -> Quality:
    """Rank the models of each ranking that have a value; NaN where fewer than two have."""
    found = Quality(*np.full((4, len(values)), np.nan))
    left, places = np.unique(~np.isnan(values), axis=0, return_inverse=True)
    for i, models in enumerate(left):
        if models.sum() > 1:
            rows = places.ravel() == i
            for into, part in zip(
                found, ranking_quality(values[rows][:, models], worth[models], ties=ties), strict=True
            ):
                into[rows] = part
    return found


def _published(values: Floats, truth: Floats) -> list[Floats]:
    """Compute the paper's formulas, on ranks from the sort behind pandas' `sort_values(ascending=False)`."""
    models = len(truth)
    places = models - 1 - np.argsort(values[:, ::-1], axis=1, kind="quicksort")[:, ::-1]
    unknown = np.isnan(values)
    for row in np.flatnonzero(unknown.any(axis=1)):  # these come last, as they stand
        known = np.flatnonzero(~unknown[row])[::-1]
        places[row] = [*known[np.argsort(values[row, known], kind="quicksort")][::-1], *np.flatnonzero(unknown[row])]
    ranks = np.empty_like(values)
    np.put_along_axis(ranks, places, np.arange(1.0, models + 1)[None, :], axis=1)
    difference = ranks - truth
    first, second = np.triu_indices(models, 1)
    concordant = np.sign(ranks[:, first] - ranks[:, second]) * np.sign(truth[first] - truth[second])
    spearman = 1 - 6 * (difference**2).sum(axis=1) / (models * (models**2 - 1))
    return [np.round(x, 4) for x in (spearman, concordant.mean(axis=1), np.abs(difference).mean(axis=1))]


def verdict_of(worse: float, better: float) -> Literal["right", "reversed", "tied"]:
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


class WrongPair(NamedTuple):
    """Two cases of one repeat, by their places, what the metric made of them, and how wrong that is."""

    repeat: int
    worse: int
    better: int
    verdict: str
    severity: float


def order_pairs(values: Floats) -> tuple[list[WrongPair], dict[str, int]]:
    """All pairs of models (columns, worst first) that are reversed or tied, the worst first, and the counts of all.

    Where most mistakes are ties, ties come first. Pairs without any value are counted as tied but not listed: there is
    nothing to show.
    """
    known, rows = values[np.isfinite(values)], values.tolist()
    scale = float(np.ptp(known)) or 1.0 if known.size else 1.0
    places = list(combinations(range(values.shape[1]), 2))
    judged = [(i, a, b, verdict_of(row[a], row[b])) for i, row in enumerate(rows) for a, b in places]
    verdicts = Counter(verdict for *_, verdict in judged)
    counts = {"pairs": len(judged), "reversed": verdicts["reversed"], "tied": verdicts["tied"]}
    wrong: list[WrongPair] = []
    for repeat, worse, better, verdict in judged:
        value, other = rows[repeat][worse], rows[repeat][better]
        if verdict != "right" and np.isfinite(value):
            # A value that is undefined counts as one at the other end of the range.
            apart = (value - other) / scale if np.isfinite(other) else 1.0
            severity = 0.0 if verdict == "tied" else apart * (better - worse)
            wrong.append(WrongPair(repeat, worse, better, verdict, severity))
    usual = "tied" if counts["tied"] > counts["reversed"] else "reversed"
    # Of ties those are worst that are farthest apart in truth.
    return sorted(wrong, key=lambda p: (p.verdict != usual, -p.severity, p.worse - p.better)), counts
