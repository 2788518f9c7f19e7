"""Metrics of the order of scores: every threshold and every pair, one at a time."""

from fractions import Fraction
from itertools import combinations, pairwise

from .pointwise import f1


def alarms_at(scores, threshold):
    return [int(s >= threshold) for s in scores]


def thresholds(scores):
    """All distinct scores, the highest first."""
    return sorted(set(scores), reverse=True)


def auc_roc(labels, scores):
    """The share of pairs (anomalous, normal) in the right order; a tie counts one half."""
    anomalous = [s for y, s in zip(labels, scores, strict=True) if y == 1]
    normal = [s for y, s in zip(labels, scores, strict=True) if y == 0]
    if not anomalous or not normal:
        return None
    won = sum(Fraction(int(a > b)) + Fraction(int(a == b), 2) for a in anomalous for b in normal)
    return won / (len(anomalous) * len(normal))


def precision_recall_points(labels, scores):
    """(recall, precision) at every distinct threshold, the highest first, from the point (0, 1)."""
    points = [(Fraction(0), Fraction(1))]
    for threshold in thresholds(scores):
        alarms = alarms_at(scores, threshold)
        tp = sum(p for y, p in zip(labels, alarms, strict=True) if y == 1)
        points.append((Fraction(tp, int(sum(labels))), Fraction(tp, sum(alarms))))
    return points


def auc_pr(labels, scores, interpolation="step"):
    if sum(labels) == 0:
        return None
    points = precision_recall_points(labels, scores)
    area = Fraction(0)
    for (recall0, precision0), (recall1, precision1) in pairwise(points):
        height = precision1 if interpolation == "step" else (precision0 + precision1) / 2
        area += (recall1 - recall0) * height
    return area


def best_f1(labels, scores, beta=1.0):
    if sum(labels) == 0:
        return None
    return max(f1(labels, alarms_at(scores, v), beta) for v in thresholds(scores))


def precision_at_k(labels, scores, k=None):
    """Mean over all ways to choose k points such that none left out scores higher than one chosen."""
    k = int(sum(labels)) if k is None else k
    if k == 0 or k > len(labels):
        return None
    cut = sorted(scores, reverse=True)[k - 1]
    above = [y for y, s in zip(labels, scores, strict=True) if s > cut]
    tied = [y for y, s in zip(labels, scores, strict=True) if s == cut]
    ways = list(combinations(tied, k - len(above)))
    return Fraction(sum(int(sum(above) + sum(way)) for way in ways), k * len(ways))
