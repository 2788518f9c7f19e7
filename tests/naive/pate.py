"""PATE from its definition, in exact rational arithmetic: no rounding can decide which recalls are equal."""

from fractions import Fraction
from itertools import pairwise
from math import floor

from .events import events


def buffer_sizes(largest, n_splits, include_zero):
    """Evenly spaced sizes up to the largest, rounded down."""
    return [floor(Fraction(largest * i, n_splits)) for i in range(0 if include_zero else 1, n_splits + 1)]


def distance(x, start, stop):
    return sum(abs(x - y) for y in range(start, stop))


def zones(n, found, early, delay):
    """Of every event the first point of the zone before it and the last point of the zone after it."""
    result = []
    last_end = -1
    for k, (start, stop) in enumerate(found):
        next_start = found[k + 1][0] if k + 1 < len(found) else n
        end = min(stop - 1 + delay, next_start - 1)
        result.append((max(0, start - early, last_end + 1), end))
        last_end = end
    return result


def missed_weights(predicted, start, stop):
    """The weights of the missed points of one event."""
    hits = [x for x in range(start, stop) if predicted[x]]
    missed = [x for x in range(start, stop) if not predicted[x]]
    if not hits:
        return [Fraction(1)] * len(missed)
    first_run = 0
    while hits[0] + first_run < stop and predicted[hits[0] + first_run]:
        first_run += 1
    longest = distance(stop - 1, start, stop)
    weights = []
    for x in missed:
        if x <= start + first_run:
            weights.append(Fraction(1))
        else:
            weights.append(1 - Fraction(distance(x, start, start + first_run + 1), longest))
    return weights


def precision_recall(labels, predicted, early, delay):
    """Of one pair of buffer sizes; precision is None where nothing is predicted."""
    found = events(labels)
    true_positives = Fraction(0)
    for (start, stop), (zone_start, zone_end) in zip(found, zones(len(labels), found, early, delay), strict=True):
        detected = any(predicted[start:stop])
        true_positives += sum(predicted[start:stop])
        for x in range(stop, zone_end + 1):
            if predicted[x]:
                true_positives += 1 - Fraction(distance(x, start, stop), distance(zone_end, start, stop))
        for x in range(zone_start, start):
            if predicted[x] and detected:
                true_positives += 1 - Fraction(distance(x, start, stop), distance(zone_start, start, stop))
    false_negatives = sum(w for start, stop in found for w in missed_weights(predicted, start, stop))
    alarms = sum(predicted)
    precision = true_positives / alarms if alarms else None
    return precision, true_positives / (true_positives + false_negatives)


def thresholds(labels, scores, n_thresholds, drop_intermediate):
    """Descending; linear percentiles of the distinct scores at which the number of hits changes."""
    values = [Fraction(float(s)) for s in scores]
    distinct = sorted(set(values))
    hit = {v for v, label in zip(values, labels, strict=True) if label}
    kept = [
        v
        for i, v in enumerate(distinct)
        if not drop_intermediate or i in (0, len(distinct) - 1) or v in hit or distinct[i - 1] in hit
    ]
    if n_thresholds is None:
        return kept[::-1]
    chosen = []
    for j in range(n_thresholds):
        position = Fraction((len(kept) - 1) * (n_thresholds - 1 - j), n_thresholds - 1)
        below = floor(position)
        above = min(below + 1, len(kept) - 1)
        chosen.append(kept[below] + (position - below) * (kept[above] - kept[below]))
    return chosen


def area(points):
    """Under the curve of (precision, recall) from (1, 0); a point whose recall falls back is left out."""
    kept = [(Fraction(1), Fraction(0))]
    for precision, recall in points:
        if recall >= kept[-1][1]:
            kept.append((precision, recall))
    return sum((r1 - r0) * (p0 + p1) / 2 for (p0, r0), (p1, r1) in pairwise(kept))


def pairs(early, delay, n_splits, include_zero):
    return [
        (e, d) for e in buffer_sizes(early, n_splits, include_zero) for d in buffer_sizes(delay, n_splits, include_zero)
    ]


def pate(labels, scores, early=100, delay=100, n_thresholds=250, n_splits=1, include_zero=True, drop_intermediate=True):
    labels = [int(v) for v in labels]
    values = [Fraction(float(s)) for s in scores]
    alarms = []
    for t in thresholds(labels, scores, n_thresholds, drop_intermediate):
        predicted = [v >= t for v in values]
        if not alarms or alarms[-1] != predicted:  # the same point of the curve twice adds nothing
            alarms.append(predicted)
    sizes = pairs(early, delay, n_splits, include_zero)
    areas = {(e, d): area([precision_recall(labels, p, e, d) for p in alarms]) for e, d in set(sizes)}
    return float(sum(areas[pair] for pair in sizes) / len(sizes))


def pate_prf(labels, predicted, early=100, delay=100, n_splits=1, include_zero=True, beta=1.0):
    """Means over the pairs of precision, recall and F; precision is None where nothing is predicted."""
    labels, predicted = [int(v) for v in labels], [int(v) for v in predicted]
    sizes = pairs(early, delay, n_splits, include_zero)
    each = [precision_recall(labels, predicted, e, d) for e, d in sizes]
    recall = float(sum(r for _, r in each) / len(each))
    if not any(predicted):
        return None, recall, 0.0
    square = Fraction(beta) ** 2
    f = [(1 + square) * p * r / (square * p + r) if p and r else 0 for p, r in each]
    return float(sum(p for p, _ in each) / len(each)), recall, float(sum(f) / len(f))
