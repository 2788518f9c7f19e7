"""TaPR (Hwang et al., CIKM 2019), a point at a time. The decay is summed in 50 digits, so ties at theta are ties."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

from .events import events


@cache
def decay(place, length):
    """Weight of a point of the ambiguous zone: a logistic over the zone, which is stretched to [-6, 6]."""
    if length == 1:
        return Decimal(0)
    z = Decimal(-6) + Decimal(12 * place) / Decimal(length - 1)
    return 1 / (1 + z.exp())


def zone_lengths(truth, wanted):
    """Zones start after their event and stop before the next one, or after the wanted number of points."""
    nexts = [start for start, _ in truth[1:]] + [math.inf]
    return [min(w, following - stop) for (_, stop), w, following in zip(truth, wanted, nexts, strict=True)]


def weight(point, event, zone):
    """What an alarm at this point is worth to this event."""
    start, stop = event
    if start <= point < stop:
        return Decimal(1)
    if stop <= point < stop + zone:
        return decay(point - stop, zone)
    return Decimal(0)


def overlap(event, zone, run):
    """What a run of alarms is worth to an event: overlap score plus subsequent score, as a fraction."""
    with localcontext() as context:
        context.prec = 50
        near = range(max(run[0], event[0]), min(run[1], event[1] + zone))
        total = sum((weight(point, event, zone) for point in near), Decimal(0))
        # Weights that sum to a round number in exact arithmetic do so again after rounding to 40 digits.
        return Fraction(total.quantize(Decimal(10) ** -40))


def reaches(portion, theta):
    """Is the portion, as the nearest double, at least theta? Nothing never is, not even for theta = 0."""
    return portion > 0 and float(portion) >= theta


def tapr(labels, alarms, alpha=0.6, theta=0.8, delta=600):
    """(precision, recall), None for what is undefined."""
    truth, runs = events(labels), events(alarms)
    zones = zone_lengths(truth, [delta] * len(truth))
    table = [[overlap(event, zone, run) for run in runs] for event, zone in zip(truth, zones, strict=True)]
    of_events = [min(Fraction(1), sum(row) / (stop - start)) for row, (start, stop) in zip(table, truth, strict=True)]
    of_runs = [sum(row[r] for row in table) / (stop - start) for r, (start, stop) in enumerate(runs)]

    def score(portions):
        if not portions:
            return None
        detection = sum(reaches(p, theta) for p in portions) / len(portions)
        portion = float(sum(portions) / len(portions))
        return alpha * detection + (1 - alpha) * portion

    return score(of_runs), score(of_events)
