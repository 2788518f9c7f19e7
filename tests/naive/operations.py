"""What operators ask of a detector, one event and one alarm run at a time."""

from fractions import Fraction
from itertools import pairwise

from .event_level import detected_events, overlap
from .events import events


def event_recall(y, p):
    return float(Fraction(len(detected_events(y, p)), len(events(y))))


def alarming_precision(y, p):
    """None where no event is detected."""
    detected = detected_events(y, p)
    runs = sum(overlap(e, run) for e in detected for run in events(p))
    return float(Fraction(len(detected), runs)) if detected else None


def alarm_episodes(y, p, merge_gap=0, min_duration=1):
    found = []
    for start, stop in events(p):
        if found and start - found[-1][1] <= merge_gap:
            found[-1] = (found[-1][0], stop)
        else:
            found.append((start, stop))
    return float(sum(stop - start >= min_duration for start, stop in found))


def time_in_alarm(y, p):
    return float(Fraction(int(sum(p)), len(p)))


def time_to_recover(y, p):
    """None where no event is detected."""
    times = []
    for _, stop in detected_events(y, p):
        i = stop
        while p[stop - 1] and i < len(y) and p[i] and not y[i]:
            i += 1
        times.append(i - stop)
    return float(Fraction(sum(times), len(times))) if times else None


def channel_aware(y_true, y_pred, beta):
    """(precision, recall, F) of two matrices, each averaged over the events."""
    found = []
    for start, stop in events([int(any(row)) for row in y_true]):
        columns = range(len(y_true[0]))
        affected = {c for c in columns if any(y_true[i][c] for i in range(start, stop))}
        alarmed = {c for c in columns if any(y_pred[i][c] for i in range(start, stop))}
        right = len(affected & alarmed)
        precision = right / len(alarmed) if alarmed else 0.0
        recall = right / len(affected)
        weight = beta**2
        f = (1 + weight) * precision * recall / (weight * precision + recall) if right else 0.0
        found.append((precision, recall, f))
    return tuple(sum(part) / len(found) for part in zip(*found, strict=True))


def ucr_accuracy(y, s, slack=100):
    top = [i for i, score in enumerate(s) if score == max(s)]
    near = [
        any(start - max(slack, stop - start) < i < stop - 1 + max(slack, stop - start) for start, stop in events(y))
        or any(start <= i < stop for start, stop in events(y))
        for i in top
    ]
    return sum(near) / len(top)


def adjusted_areas(y, s, interpolation="step"):
    """(area under ROC, area under precision-recall) after point adjustment, threshold by threshold."""
    total, normal = sum(map(int, y)), len(y) - sum(map(int, y))
    curve = [(0, 0)]
    for v in sorted(set(s), reverse=True):
        found = sum(stop - start for start, stop in events(y) if max(s[start:stop]) >= v)
        curve.append((found, sum(1 for label, score in zip(y, s, strict=True) if not label and score >= v)))
    pairs = list(pairwise(curve))
    roc = sum((b[1] - a[1]) * (a[0] + b[0]) / 2 for a, b in pairs) / (total * normal) if normal else None

    def precision(found, false):
        return found / (found + false) if found + false else 1.0

    if interpolation == "step":
        pr = sum((b[0] - a[0]) * precision(*b) for a, b in pairs) / total
    else:
        pr = sum((b[0] - a[0]) * (precision(*a) + precision(*b)) / 2 for a, b in pairs) / total
    return roc, pr
