"""Range-AUC and VUS point by point: labels extended by buffers, one threshold and one width at a time."""

import math
from itertools import pairwise

import numpy as np

from .events import events

# What the definitions differ in. slope: the weight of a buffer point at distance d, at width w, h = w // 2.
# overlap: buffers of two events add up (clipped at 1), or the larger one counts. merge: buffered events count as
# one when they share a point, when they touch, or never. positives: with the buffer points that are predicted, or
# with all. pr: steps of the precision reached, or trapezoids that start at precision 1. widths: of the volume.
VARIANTS = {
    "vus": {"slope": "root", "overlap": "add", "merge": "share", "positives": "predicted", "pr": "step", "widths": 1},
    "range_auc": {"slope": "root", "overlap": "add", "merge": "touch", "positives": "all", "pr": "area", "widths": 1},
    "timeeval": {"slope": "line", "overlap": "max", "merge": "never", "positives": "all", "pr": "area", "widths": 1},
    "ff_vus": {
        "slope": "line",
        "overlap": "max",
        "merge": "share",
        "positives": "predicted",
        "pr": "step",
        "widths": 2,
    },
}


def weight(slope, distance, width):
    if distance > width // 2:
        return 0.0
    if slope == "root":
        return math.sqrt(1 - distance / width)
    return 1 - (1 - math.sqrt(1 / 2)) * distance / (width // 2)


def extended(labels, width, slope, overlap):
    """Labels with buffers: 1 inside events, less and less up to width // 2 points before and after them."""
    found = []
    runs = events(labels)
    for i, label in enumerate(labels):
        if label:
            found.append(1.0)
            continue
        each = [weight(slope, start - i if i < start else i - stop + 1, width) for start, stop in runs]
        found.append(min(1.0, sum(each)) if overlap == "add" else max(each))
    return found


def groups(labels, width, merge):
    """Positions of every buffered event, those of merged ones together."""
    n, half = len(labels), width // 2
    found = []
    for start, stop in events(labels):
        group = range(max(start - half, 0), min(stop + half, n))
        near = {"share": 0, "touch": 1, "never": -n}[merge]
        if found and group[0] - found[-1][-1] <= near:
            found[-1] = range(found[-1][0], group[-1] + 1)
        else:
            found.append(group)
    return found


def thresholds(scores, number):
    if number is None:
        return sorted(set(scores), reverse=True)
    ordered = sorted(scores, reverse=True)
    return [ordered[int(i)] for i in np.linspace(0, len(scores) - 1, number)]


def areas(labels, scores, width, number, variant, **other):
    """(area under ROC, area under PR) of one width; `other` changes the variant."""
    how = {**VARIANTS[variant], **other}
    n = len(labels)
    weights = extended(labels, width, how["slope"], how["overlap"])
    merged = groups(labels, width, how["merge"])
    curve = [(0.0, 0.0, 1.0)]
    for threshold in thresholds(scores, number):
        predicted = [s >= threshold for s in scores]
        hit = sum(w for w, p in zip(weights, predicted, strict=True) if p)
        if how["positives"] == "all":
            total = sum(weights)
        else:
            total = sum(w for w, p, y in zip(weights, predicted, labels, strict=True) if p or y)
        positives = (sum(labels) + total) / 2
        existence = sum(any(predicted[i] for i in group) for group in merged) / len(merged)
        recall = min(hit / positives, 1) * existence
        curve.append(((sum(predicted) - hit) / (n - positives), recall, hit / sum(predicted)))
    roc = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise([*curve, (1.0, 1.0, 0.0)]))
    pr = sum((b[1] - a[1]) * (b[2] if how["pr"] == "step" else (a[2] + b[2]) / 2) for a, b in pairwise(curve))
    return float(roc), float(pr)


def range_auc(labels, scores, window=100, n_thresholds=250, variant="range_auc"):
    return areas([int(y) for y in labels], [float(s) for s in scores], window, n_thresholds, variant)


def vus(labels, scores, window=100, n_thresholds=250, variant="vus"):
    labels, scores = [int(y) for y in labels], [float(s) for s in scores]
    each = [
        areas(labels, scores, width, n_thresholds, variant)
        for width in range(0, 2 * window + 1, VARIANTS[variant]["widths"])
    ]
    return tuple(sum(values) / len(each) for values in zip(*each, strict=True))
