"""How soon events are detected, one batch, window and event at a time."""

import math
from fractions import Fraction

from .event_level import f_beta, overlap
from .events import events


def latency_sparsity_f1(y, p, batch=1, beta=1.0):
    n = len(y)
    batches = [range(start, min(start + batch, n)) for start in range(0, n, batch)]
    to_find = {b for b, points in enumerate(batches) if any(y[i] for i in points)}
    alarmed = {b for b, points in enumerate(batches) if any(p[i] for i in points)}
    found = set()
    for start, stop in events(y):
        own = range(start // batch, (stop - 1) // batch + 1)
        first = next((b for b in own if b in alarmed), None)
        if first is not None:
            found |= {b for b in own if b >= first}
    false = alarmed - to_find
    if not found:
        return 0.0
    return f_beta(Fraction(len(found), len(found) + len(false)), Fraction(len(found), len(to_find)), beta)


def early_detection_score(y, p, share=0.1):
    n, starts = len(y), [start for start, _ in events(y)]
    length = min(max(1, round(share * n / len(starts))), n)
    scores = []
    for start in starts:
        first = max(start - length // 2, 0)
        if first + length > n:
            first = n - length
        alarms = [i for i in range(first, first + length) if p[i]]
        if not alarms:
            scores.append(0.0)
        elif length == 1:
            scores.append(1.0)
        else:
            scores.append(1 - (alarms[0] - first) / (length - 1))
    return math.fsum(scores) / len(scores)


def adtqc(y, p, exponent=math.e):
    """None where no event is detected."""
    scores, previous = [], None
    for start, stop in events(y):
        length = stop - start
        before = length if previous is None else min(length, start - previous)
        previous = start
        touching = [run for run in events(p) if overlap(run, (start, stop))]
        if not touching:
            continue
        x = touching[0][0] - start
        if x <= -before:
            scores.append(0.0)
        elif x <= 0:
            scores.append(((x + before) / before) ** exponent)
        else:
            scores.append(1 / (1 + (x / (length - x)) ** exponent))
    return math.fsum(scores) / len(scores) if scores else None
