"""EARS from its definition: every share of normal points is counted anew for every score."""

import math
from fractions import Fraction
from statistics import median

from .events import events


def default_tolerance(labels):
    """Twice the median length of the events: a whole number."""
    return int(2 * Fraction(median([stop - start for start, stop in events(labels)])))


def distance_weights(labels, tolerance):
    """Of every normal point min(1, distance to the nearest event / tolerance), as fractions that sum to 1."""
    anomalous = [i for i, label in enumerate(labels) if label]
    weights = {}
    for i, label in enumerate(labels):
        if not label:
            distance = min(abs(i - j) for j in anomalous)
            weights[i] = min(Fraction(1), Fraction(distance, tolerance)) if tolerance else Fraction(1)
    total = sum(weights.values())
    return {i: weight / total for i, weight in weights.items()}


def trailing_largest(labels, scores, window):
    """Of every normal point the largest score over itself and `window` points before it in the same normal run."""
    largest = {}
    for start, stop in events(labels, 0):
        for i in range(start, stop):
            largest[i] = max(scores[max(start, i - window) : i + 1])
    return largest


def parts(labels, scores, tolerance=None, floor=0.01, earliness=0.5, windows=None):
    """B, and E of every event; `windows` are (0, tolerance) unless given."""
    labels, scores = [int(v) for v in labels], [float(s) for s in scores]
    tolerance = default_tolerance(labels) if tolerance is None else int(tolerance)
    weights = distance_weights(labels, tolerance)
    levels = [trailing_largest(labels, scores, w) for w in (windows or (0, tolerance))]

    def share(level, x):
        """Weighted share of the normal points at or above x, ties half."""
        above = sum((w for i, w in weights.items() if level[i] > x), Fraction(0))
        tied = sum((w for i, w in weights.items() if level[i] == x), Fraction(0))
        return float(above + tied / 2)

    rarities = {}

    def rarity(x):
        if x not in rarities:
            logs = [math.log((1 + floor) / (share(level, x) + floor)) for level in levels]
            rarities[x] = sum(logs) / len(logs) / math.log((1 + floor) / floor)
        return rarities[x]

    base = math.fsum(float(w) * rarity(scores[i]) for i, w in weights.items())
    seen = []
    for start, stop in events(labels):
        length = stop - start
        terms = [
            ((i / length) ** earliness - ((i - 1) / length) ** earliness) * rarity(scores[start + i - 1])
            for i in range(1, length + 1)
        ]
        seen.append(math.fsum(terms))
    return base, seen


def ears(labels, scores, **options):
    base, seen = parts(labels, scores, **options)
    return (math.fsum(seen) / len(seen) - base) / (1 - base)
