"""Point adjustment: change the alarms inside the events first, then count points."""

from fractions import Fraction
from itertools import pairwise

from .events import events
from .pointwise import counts, f_of


def adjusted(labels, alarms, found):
    """The alarms with the events that are found (start, stop) alarmed throughout."""
    changed = [int(p) for p in alarms]
    for start, stop in events(labels):
        if found(start, stop):
            changed[start:stop] = [1] * (stop - start)
    return changed


def f_after(labels, alarms, beta):
    tp, fp, fn, _ = counts(labels, alarms)
    return f_of(tp, fp, fn, beta)


def point_adjusted(labels, alarms):
    """The adjusted alarms of the plain protocol: one alarm finds the whole event."""
    return adjusted(labels, alarms, lambda start, stop: sum(alarms[start:stop]) >= 1)


def f1_pa(labels, alarms, beta=1.0):
    return f_after(labels, point_adjusted(labels, alarms), beta)


def f1_pa_k(labels, alarms, k=0.2, strict=False, beta=1.0):
    def found(start, stop):
        hits = int(sum(alarms[start:stop]))
        share = Fraction(hits, stop - start)
        # A share like 7/100 must meet k = 0.07, whose nearest float is a little more than that.
        same = hits / (stop - start) == k
        return hits >= 1 and ((same and not strict) or (share > Fraction(k) and not same))

    return f_after(labels, adjusted(labels, alarms, found), beta)


def pa_k_auc(labels, alarms, n_values=100, integration="mean", strict=False, beta=1.0):
    grid = [i / (n_values - 1) for i in range(n_values)]
    values = [f1_pa_k(labels, alarms, k, strict, beta) for k in grid]
    if None in values:
        return None
    if integration == "mean":
        return sum(values) / n_values
    return sum((a + b) / 2 for a, b in pairwise(values)) / (n_values - 1)


def f1_pa_delay(labels, alarms, max_delay=7, beta=1.0):
    changed = [int(p) for p in alarms]
    for start, stop in events(labels):
        in_time = any(alarms[i] for i in range(start, min(start + max_delay + 1, stop)))
        changed[start:stop] = [int(in_time)] * (stop - start)
    return f_after(labels, changed, beta)


def reduced_length(length):
    """floor(log_3(length + 3)) by counting."""
    power = 0
    while 3 ** (power + 1) <= length + 3:
        power += 1
    return power


def reduced_f1(labels, alarms, beta=1.0):
    """A shorter series: each event with its reduced length, all found or all missed, and the normal points."""
    short_labels, short_alarms = [], []
    for start, stop in events(labels):
        length = reduced_length(stop - start)
        short_labels += [1] * length
        short_alarms += [int(any(alarms[start:stop]))] * length
    for y, p in zip(labels, alarms, strict=True):
        if y == 0:
            short_labels.append(0)
            short_alarms.append(int(p))
    return f_after(short_labels, short_alarms, beta)
