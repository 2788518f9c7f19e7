"""Affiliation from Huet, Navarro, Rossi (KDD 2022), section 3, in exact fractions.

A point i is the interval [i, i + 1) of time. The zone of an event is the time that is nearer to it than to any
other event. Within the zone of an event J, with U a uniformly random time of the zone:

    precision = mean over predicted times x of P(distance(U, J) >= distance(x, J)),
    recall    = mean over times y of J       of P(|U - y| >= distance(y, predicted times)).

Both probabilities are linear in x and in y between multiples of 1/4: borders of events and predictions are whole,
borders of zones are multiples of 1/2, and the probabilities bend at these and halfway between two of them. So on
each quarter of a point the integral is its length times the value in its middle, exactly. Times here are counted
in eighths of a point, so that all of these are whole numbers.
"""

from fractions import Fraction
from itertools import pairwise, product
from math import prod

from .events import events

POINT, QUARTER = 8, 2


def intervals(labels):
    """(start, stop) of every event."""
    return [(POINT * start, POINT * stop) for start, stop in events(labels)]


def zones(labels):
    """(zone start, event start, event stop, zone stop) of every event."""
    found = intervals(labels)
    borders = [0, *((stop + start) // 2 for (_, stop), (start, _) in pairwise(found)), POINT * len(labels)]
    return [(borders[k], start, stop, borders[k + 1]) for k, (start, stop) in enumerate(found)]


def quarters(start, stop):
    """The middles of all quarters of a point in [start, stop)."""
    return range(start + QUARTER // 2, stop, QUARTER)


def distance(time, places):
    return min(max(start - time, time - stop, 0) for start, stop in places)


def mean(values):
    return sum(values) / Fraction(len(values))


def zone_precision(zone, predicted):
    """None where nothing is predicted in the zone."""
    begin, start, stop, end = zone

    def chance(x):
        d = distance(x, [(start, stop)])
        if d == 0:
            return Fraction(1)
        farther = max(start - d - begin, 0) + max(end - stop - d, 0)
        return Fraction(farther, end - begin)

    times = [x for a, b in predicted for x in quarters(max(a, begin), min(b, end))]
    return mean([chance(x) for x in times]) if times else None


def zone_recall(zone, predicted):
    begin, start, stop, end = zone
    inside = [(max(a, begin), min(b, end)) for a, b in predicted if max(a, begin) < min(b, end)]
    if not inside:
        return Fraction(0)

    def chance(y):
        d = distance(y, inside)
        farther = max(y - d - begin, 0) + max(end - y - d, 0)
        return Fraction(farther, end - begin)

    return mean([chance(y) for y in quarters(start, stop)])


def precision_recall(labels, predictions):
    """Means over zones; precision only over zones with predictions, None where there is none."""
    predicted = intervals(predictions)
    precisions = [zone_precision(zone, predicted) for zone in zones(labels)]
    defined = [p for p in precisions if p is not None]
    return mean(defined) if defined else None, mean([zone_recall(zone, predicted) for zone in zones(labels)])


def bias(labels):
    """Expected precision of predictions that are uniformly random within each zone: that of predicting it all."""
    return mean([zone_precision(zone, [(0, POINT * len(labels))]) for zone in zones(labels)])


def bias_at_rate(labels, rate):
    """Expected mean over the zones that have alarms, each point being an alarm with probability `rate`.

    Zones are taken as independent, and as of equally weighty points, although two may share a point.
    """
    rate = Fraction(rate)
    all_zones = zones(labels)
    expected = [zone_precision(zone, [(0, POINT * len(labels))]) for zone in all_zones]
    starts = range(0, POINT * len(labels), POINT)
    points = [sum(begin < i + POINT and i < end for i in starts) for begin, _, _, end in all_zones]
    filled = [1 - (1 - rate) ** count for count in points]
    total = chance = Fraction(0)
    for pattern in product([False, True], repeat=len(all_zones)):
        if any(pattern):
            weight = prod(q if full else 1 - q for q, full in zip(filled, pattern, strict=True))
            total += weight * mean([e for e, full in zip(expected, pattern, strict=True) if full])
            chance += weight
    return total / chance


def signed_f(precision, recall, beta=1.0):
    """F of the size of the precision, with its sign."""
    if precision is None or precision == 0 or recall == 0:
        return 0.0
    b = Fraction(beta) ** 2
    f = (1 + b) * abs(precision) * recall / (b * abs(precision) + recall)
    return float(f if precision > 0 else -f)


def rescaled(precision, bias_of_precision):
    """Precision on the scale where the bias is 0 and a perfect one is 1."""
    return None if precision is None else (precision - bias_of_precision) / (1 - bias_of_precision)
