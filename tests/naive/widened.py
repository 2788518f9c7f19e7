"""Point adjustment by neighbourhood, one point at a time."""

from fractions import Fraction

from .event_level import f_beta
from .events import events
from .tolerance import ones


def f_of(y, adjusted, beta):
    anomalous, alarmed = set(ones(y)), set(adjusted)
    right = len(anomalous & alarmed)
    if not right:
        return 0.0
    return f_beta(Fraction(right, len(alarmed)), Fraction(right, len(anomalous)), beta)


def around(points, width, n):
    return {j for i in points for j in range(max(i - width, 0), min(i + width + 1, n))}


def f1_pa_kl(y, p, k=0.5, reach=1, beta=1.0):
    adjusted = set(ones(p))
    for start, stop in events(y):
        hits = [i for i in range(start, stop) if p[i]]
        if hits and len(hits) / (stop - start) >= k:
            adjusted |= {i for i in range(start, stop) if any(abs(i - j) <= reach for j in hits)}
    return f_of(y, adjusted, beta)


def balanced_f1_pa(y, p, width=2, form="asymmetric", beta=1.0):
    alarms = ones(p)
    false = [i for i in alarms if not y[i]]
    adjusted = set(alarms) | around(false if form == "false" else alarms, width, len(y))
    if form != "symmetric":
        for start, stop in events(y):
            if any(p[i] for i in range(start, stop)):
                adjusted |= set(range(start, stop))
    elif width == 0:
        adjusted = set(alarms)
    return f_of(y, adjusted, beta)
