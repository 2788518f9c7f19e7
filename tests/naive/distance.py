"""Distances between labels and alarms, one point at a time."""

import math

from .events import events
from .tolerance import ones


def nearest(i, others, n):
    return min((abs(i - j) for j in others), default=n)


def temporal_distance(y, p, squared=False):
    power = 2 if squared else 1
    anomalous, alarmed = ones(y), ones(p)
    there = sum(nearest(i, alarmed, len(y)) ** power for i in anomalous)
    return float(there + sum(nearest(i, anomalous, len(y)) ** power for i in alarmed))


def absolute_detection_distance(y, p):
    """None where no anomalous point is alarmed."""
    found = []
    for start, stop in events(y):
        center = (start + stop - 1) / 2
        found += [abs(i - center) / (stop - start) for i in range(start, stop) if p[i]]
    return math.fsum(found) / len(found) if found else None


def weighted_detection_difference(y, p, tolerance=5):
    total = []
    for i in ones(p):
        if y[i]:
            start, stop = next(e for e in events(y) if e[0] <= i < e[1])
            center, width = (start + stop - 1) / 2, max((stop - start) / 2, 1)
            total.append(math.exp(-((i - center) ** 2) / (2 * width**2)))
        else:
            total.append(-min(nearest(i, ones(y), len(y)) / max(tolerance, 1), 1))
    return math.fsum(total)


def average_detection_count(y, p):
    shares = [sum(int(p[i]) for i in range(start, stop)) / (stop - start) for start, stop in events(y)]
    return math.fsum(shares) / len(shares)
