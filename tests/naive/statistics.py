"""Statistics of detectors from their definitions: loops over series, pairs and signs."""

import itertools
import math

import numpy as np


def ranks(row):
    """1 is the largest; equal values share the average of their places."""
    return [sum(other > value for other in row) + (sum(other == value for other in row) + 1) / 2 for value in row]


def anova_of_ranks(table):
    """F of a two-way analysis of variance of ranks, detectors against what series leave over: Iman and Davenport's."""
    found = np.array([ranks(row) for row in table])
    n, k = found.shape
    grand = found.mean()
    detectors = n * ((found.mean(axis=0) - grand) ** 2).sum()
    series = k * ((found.mean(axis=1) - grand) ** 2).sum()
    rest = ((found - grand) ** 2).sum() - detectors - series
    return (detectors / (k - 1)) / (rest / ((k - 1) * (n - 1)))


def wilcoxon_by_signs(differences):
    """The p-value from all 2^n signs of the differences that are not zero."""
    moved = [d for d in differences if d != 0]
    if not moved:
        return 1.0
    places = [len(moved) + 1 - r for r in ranks([abs(d) for d in moved])]
    seen = sum(r for r, d in zip(places, moved, strict=True) if d > 0)
    signs = itertools.product([0, 1], repeat=len(moved))
    sums = [sum(r for r, up in zip(places, ups, strict=True) if up) for ups in signs]
    low = sum(s <= seen + 1e-9 for s in sums) / len(sums)
    high = sum(s >= seen - 1e-9 for s in sums) / len(sums)
    return min(1.0, 2 * min(low, high))


def regions(z, weights, rope):
    """Probability that the mean of two draws of z is below, inside and above the region; on a border half."""
    worse = better = 0.0
    for a, u in zip(z, weights, strict=True):
        for b, v in zip(z, weights, strict=True):
            total = a + b
            better += u * v * (1.0 if total > 2 * rope else 0.5 if total == 2 * rope else 0.0)
            worse += u * v * (1.0 if total < -2 * rope else 0.5 if total == -2 * rope else 0.0)
    return worse, 1 - worse - better, better


def rank_biserial(x, y):
    moved = [a - b for a, b in zip(x, y, strict=True) if a != b]
    if not moved:
        return 0.0
    places = [len(moved) + 1 - r for r in ranks([abs(d) for d in moved])]
    return sum(math.copysign(r, d) for r, d in zip(places, moved, strict=True)) / sum(places)


def tie_groups(mean, same):
    """All sets of neighbours in which no two differ and that are not part of a larger one."""
    order = sorted(range(len(mean)), key=lambda i: mean[i])
    runs = [order[a:b] for a in range(len(order)) for b in range(a + 2, len(order) + 1)]
    alike = [run for run in runs if all(same[i][j] for i in run for j in run)]
    return [run for run in alike if not any(set(run) < set(other) for other in alike)]
