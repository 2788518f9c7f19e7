"""What an audit measures, as pure functions of values: gameability, the level of chance, agreement, rank flips.

Values are those of one metric, higher is better: a mapping from series to a mapping from scorer to value; NaN where a
metric is undefined.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import combinations

import numpy as np

from tsadeval._optional import require
from tsadeval.core.inputs import Floats
from tsadeval.rankeval.quality import ranking_quality

__all__ = [
    *("agreement", "beats_median", "chance", "flip_shares", "flipped_pairs", "gameability", "mean_ranks"),
    *("rank_flips", "reached", "winners"),
]

Values = Mapping[str, Mapping[str, float]]
SHARE = 0.9  # of the best detector's value that counts as reaching it


def _best(values: Mapping[str, float], names: Iterable[str]) -> float:
    known = [values[name] for name in names if name in values and math.isfinite(values[name])]
    return max(known, default=math.nan)


def reached(best: float, other: float, share: float = SHARE) -> bool:
    """Does a value reach a share of the best one? Negative values (costs) reach it within the inverse share."""
    return other >= (share * best if best >= 0 else best / share)


def gameability(
    values: Values, detectors: Iterable[str], adversaries: Iterable[str], share: float = SHARE
) -> tuple[float, dict[str, float]]:
    """The share of series on which the best adversary reaches a share of the best detector, and by how much on each.

    The second is the ratio of the two (their difference where the best detector has no positive value), by series.
    Series on which either is undefined are left out.
    """
    detectors, adversaries = list(detectors), list(adversaries)
    hits, ratios = [], {}
    for series, of_series in values.items():
        best, other = _best(of_series, detectors), _best(of_series, adversaries)
        if math.isnan(best) or math.isnan(other):
            continue
        hits.append(reached(best, other, share))
        ratios[series] = other / best if best > 0 else other - best
    return (float(np.mean(hits)) if hits else math.nan), ratios


def beats_median(values: Values, detectors: Iterable[str], adversaries: Iterable[str]) -> float:
    """The share of series on which the best adversary is above the median detector."""
    detectors, adversaries = list(detectors), list(adversaries)
    hits = []
    for of_series in values.values():
        known = [of_series[name] for name in detectors if math.isfinite(of_series.get(name, math.nan))]
        other = _best(of_series, adversaries)
        if known and not math.isnan(other):
            hits.append(other > np.median(known))
    return float(np.mean(hits)) if hits else math.nan


def chance(values: Values, adversary: str) -> tuple[float, float]:
    """Mean of a random scorer's value over series, and its spread: the distance from the 5 % to the 95 % quantile."""
    found = [of_series[adversary] for of_series in values.values() if adversary in of_series]
    known = np.array([value for value in found if math.isfinite(value)])
    if not known.size:
        return math.nan, math.nan
    low, high = np.quantile(known, [0.05, 0.95])
    return float(known.mean()), float(high - low)


def mean_ranks(values: Values, detectors: Iterable[str]) -> dict[str, float]:
    """The mean rank of each detector over series, 1 for the best; equal values share ranks, undefined ones are last.

    Ranks are counted from 0 to 1 where a series has fewer detectors, and scaled back.
    """
    rankdata = require("scipy.stats", extra="all").rankdata

    names = list(detectors)
    ranks: dict[str, list[float]] = {name: [] for name in names}
    for of_series in values.values():
        present = [name for name in names if name in of_series]
        row = np.array([of_series[name] for name in present])
        if len(present) < 2 or not np.isfinite(row).any():
            continue
        places = rankdata(np.where(np.isfinite(row), -row, np.inf))
        for name, place in zip(present, places, strict=True):
            ranks[name].append(1 + (place - 1) / (len(present) - 1) * (len(names) - 1))
    return {name: float(np.mean(found)) if found else math.nan for name, found in ranks.items()}


def agreement(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Spearman's correlation of the mean ranks of the detectors under two metrics."""
    names = [name for name in one if math.isfinite(one[name]) and math.isfinite(other.get(name, math.nan))]
    if len(names) < 2:
        return math.nan
    truth = np.array([other[name] for name in names])
    if np.ptp(truth) == 0:
        return math.nan
    return float(_spearman(np.array([one[name] for name in names]), truth))


def _spearman(one: Floats, other: Floats) -> float:
    rankdata = require("scipy.stats", extra="all").rankdata

    # `ranking_quality` wants distinct numbers as the truth, which average ranks need not be.
    ranks = rankdata(one), rankdata(other)
    if len(set(ranks[1])) == len(ranks[1]):
        return float(ranking_quality(one, other).spearman[0])
    return float(np.corrcoef(*ranks)[0, 1]) if np.ptp(ranks[0]) else 0.0


def winners(values: Values, detectors: Iterable[str]) -> dict[str, float]:
    """Of each detector the share of series on which it is best; equals share the win."""
    names = list(detectors)
    wins = dict.fromkeys(names, 0.0)
    series = 0
    for of_series in values.values():
        best = _best(of_series, names)
        if math.isnan(best):
            continue
        alike = [name for name in names if of_series.get(name, math.nan) == best]
        series += 1
        for name in alike:
            wins[name] += 1 / len(alike)
    return {name: count / series if series else math.nan for name, count in wins.items()}


def flipped_pairs(one: Values, other: Values, detectors: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
    """By series, the pairs of detectors of which one metric prefers the first and the other metric the second."""
    return {series: [(a, b) for a, b, flipped in pairs if flipped] for series, pairs in _pairs(one, other, detectors)}


def flip_shares(one: Values, other: Values, detectors: Iterable[str]) -> dict[str, float]:
    """By series, the share of pairs of detectors that two metrics put in opposite order."""
    found = _pairs(one, other, detectors)
    return {series: sum(flipped for *_, flipped in pairs) / len(pairs) for series, pairs in found if pairs}


def rank_flips(one: Values, other: Values, detectors: Iterable[str]) -> float:
    """Over series, the mean share of pairs of detectors that two metrics put in opposite order."""
    shares = list(flip_shares(one, other, detectors).values())
    return float(np.mean(shares)) if shares else math.nan


def _pairs(one: Values, other: Values, detectors: Iterable[str]) -> list[tuple[str, list[tuple[str, str, bool]]]]:
    """By series, all pairs of detectors that both metrics rate, with the one first that the first metric prefers."""
    names = list(detectors)
    found = []
    for series, first in one.items():
        second = other.get(series, {})
        pairs = []
        for a, b in combinations(names, 2):
            d = first.get(a, math.nan) - first.get(b, math.nan)
            e = second.get(a, math.nan) - second.get(b, math.nan)
            if not (math.isnan(d) or math.isnan(e)):
                pairs.append((a, b, d * e < 0) if d > 0 else (b, a, d * e < 0))
        found.append((series, pairs))
    return found
