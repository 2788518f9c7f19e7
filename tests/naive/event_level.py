"""Event-level counts, one event, one run and one threshold at a time, in exact fractions."""

from fractions import Fraction

from .events import events


def overlap(a, b):
    return max(a[0], b[0]) < min(a[1], b[1])


def f_beta(precision, recall, beta):
    """The F of two fractions; 0 where nothing is found."""
    if not precision or not recall:
        return 0.0
    weight = Fraction(beta) ** 2
    return float((1 + weight) * precision * recall / (weight * precision + recall))


def detected_events(y, p):
    return [e for e in events(y) if any(overlap(e, run) for run in events(p))]


def false_runs(y, p):
    return [run for run in events(p) if not any(overlap(e, run) for e in events(y))]


def event(y, p, beta=1.0, variant="segments"):
    """(precision, recall, F); precision is None where it is undefined."""
    true, alarms = events(y), events(p)
    found, wrong = len(detected_events(y, p)), len(false_runs(y, p))
    recall = Fraction(found, len(true))
    if not alarms:
        return None, recall, 0.0
    right = len(alarms) - wrong if variant == "runs" else found
    precision = Fraction(right, right + wrong)
    if variant == "discounted" and 0 in list(y):
        normal = [i for i, label in enumerate(y) if label == 0]
        precision *= 1 - Fraction(sum(int(p[i]) for i in normal), len(normal))
    return precision, recall, f_beta(precision, recall, beta)


def composite(y, p, beta=1.0):
    """(precision, recall, F); precision is None where it is undefined."""
    recall = Fraction(len(detected_events(y, p)), len(events(y)))
    alarms = [i for i, alarm in enumerate(p) if alarm]
    if not alarms:
        return None, recall, 0.0
    precision = Fraction(sum(int(y[i]) for i in alarms), len(alarms))
    return precision, recall, f_beta(precision, recall, beta)


def detection_delay(y, p, missed="skip"):
    """Mean delay in points, or None where there is none."""
    delays = []
    for start, stop in events(y):
        alarms = [i for i in range(start, stop) if p[i]]
        if alarms:
            delays.append(alarms[0] - start)
        elif missed == "length":
            delays.append(stop - start)
    return float(Fraction(sum(delays), len(delays))) if delays else None


def false_alarms(y, p, per=1000):
    return float(Fraction(len(false_runs(y, p)), len(y)) * Fraction(per))
