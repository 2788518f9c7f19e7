"""Does a metric pick the right detector: criteria of a detector on a series, and what choosing by a metric gains."""

import math

import numpy as np

from naive.events import events as runs

WIDTH = 100


def load(y, alarms, width=WIDTH):
    """Length of each run of false alarms in widths, rounded up; down where it continues an alarm inside an event."""
    total = 0
    for start, stop in runs([int(a and not label) for a, label in zip(alarms, y, strict=True)]):
        before = start > 0 and y[start - 1] == 1 and alarms[start - 1]
        after = stop < len(y) and y[stop] == 1 and alarms[stop]
        length = stop - start
        total += length // width if before or after else -(-length // width)
    return total


def found(y, alarms):
    return [any(alarms[start:stop]) for start, stop in runs(y)]


def delay(y, alarms):
    """Mean over events of the share of the event before the first alarm in it; 1 for a missed one."""
    delays = []
    for start, stop in runs(y):
        first = next((i for i in range(start, stop) if alarms[i]), stop)
        delays.append((first - start) / (stop - start))
    return sum(delays) / len(delays)


def falling(scores):
    """No alarm, then the alarms at every distinct score, the highest first."""
    return [[False] * len(scores), *([s >= v for s in scores] for v in sorted(set(scores), reverse=True))]


def within_budget(y, scores, width=WIDTH, points=10_000):
    """The alarms at the lowest threshold before the load first exceeds one for each 10,000 points, rounded up."""
    allowed, best = math.ceil(len(y) / points), None
    for alarms in falling(scores):
        if load(y, alarms, width) > allowed:
            break
        best = alarms
    return best


def events(y, scores, **budget):
    hits = found(y, within_budget(y, scores, **budget))
    return sum(hits) / len(hits)


def early(y, scores, **budget):
    return 1 - delay(y, within_budget(y, scores, **budget))


def cost(y, alarms, ratio=10.0, width=WIDTH):
    hits = found(y, alarms)
    missed = len(hits) - sum(hits)
    return 1 - min(2, (ratio * missed + load(y, alarms, width)) / (ratio * len(hits)))


def points(y, alarms):
    hit = sum(1 for a, label in zip(alarms, y, strict=True) if a and label)
    return 2 * hit / (sum(alarms) + sum(y))


def rare(y, scores):
    """Share of anomalous points alarmed where at most one normal point in a hundred is."""
    normal, best = len(y) - sum(y), 0.0
    for alarms in falling(scores):
        hit = sum(1 for a, label in zip(alarms, y, strict=True) if a and label)
        if sum(alarms) - hit <= normal / 100:
            best = max(best, hit / sum(y))
    return best


def candidates(scores, values, shares):
    """The alarms at each value, and at the lowest score that no more than each share of the points reaches."""
    distinct = sorted(set(scores), reverse=True)
    found = [[s >= v for s in scores] for v in values]
    for share in shares:
        fitting = [v for v in distinct if sum(s >= v for s in scores) <= share * len(scores)]
        found.append([bool(fitting) and s >= fitting[-1] for s in scores])
    return found


def transferred(curves, a, b):
    """The mean on the series b of the first candidate that is best on the series a, and its mean on these."""
    mean = [sum(curves[i][k] for i in a) / len(a) for k in range(len(curves[0]))]
    best = next(k for k, value in enumerate(mean) if value >= max(mean) - 1e-9)
    return sum(curves[i][best] for i in b) / len(b), mean[best]


def gains(m, u):
    """Numerators and denominators of `pair` and `top` in one direction of one set."""
    pairs = [(i, j) for i in range(len(m)) for j in range(i)]
    pair = sum(np.sign(m[i] - m[j]) * (u[i] - u[j]) for i, j in pairs) / len(pairs)
    most = sum(abs(u[i] - u[j]) for i, j in pairs) / len(pairs)
    chosen = [u[i] for i in range(len(m)) if m[i] == max(m)]
    mean = sum(u) / len(u)
    return pair, most, sum(chosen) / len(chosen) - mean, max(u) - mean


def judged(sets):
    """`pair` and `top` of (values, curves) of some sets: of each series and detector a value, and a list of u's."""
    total = [0.0] * 4
    for values, curves in sets:
        even, odd = range(0, len(values), 2), range(1, len(values), 2)
        for a, b in ((even, odd), (odd, even)):
            detectors = range(len(values[0]))
            m = [sum(values[i][d] for i in a) / len(a) for d in detectors]
            u = [transferred([row[d] for row in curves], a, b)[0] for d in detectors]
            total = [x + y for x, y in zip(total, gains(m, u), strict=True)]
    return total[0] / total[1], total[2] / total[3]
