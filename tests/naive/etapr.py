"""eTaPR (Hwang et al., SAC 2022): overlaps as a full table, pruned until nothing changes."""

import math
from fractions import Fraction

from .events import events
from .tapr import overlap, reaches, zone_lengths


def etapr(labels, alarms, theta_p=0.5, theta_r=0.1, delta=0, wanted=None):
    """(precision, recall), None for what is undefined. `wanted` overrides the lengths of the zones."""
    truth, runs = events(labels), events(alarms)
    if wanted is None:
        wanted = [math.floor(delta * (stop - start)) for start, stop in truth]
    zones = zone_lengths(truth, wanted)
    table = [[overlap(event, zone, run) for run in runs] for event, zone in zip(truth, zones, strict=True)]

    def portion_of_event(a):
        start, stop = truth[a]
        return min(Fraction(1), Fraction(sum(table[a])) / (stop - start))

    def portion_of_run(p):
        start, stop = runs[p]
        return Fraction(sum(row[p] for row in table)) / (stop - start)

    while True:
        changed = False
        for a in range(len(truth)):
            if any(table[a]) and not reaches(portion_of_event(a), theta_r):
                table[a] = [Fraction(0)] * len(runs)
                changed = True
        for p in range(len(runs)):
            if any(row[p] for row in table) and not reaches(portion_of_run(p), theta_p):
                for row in table:
                    row[p] = Fraction(0)
                changed = True
        if not changed:
            break

    def score(portion, theta):
        return (1 + float(portion)) / 2 if reaches(portion, theta) else 0.0

    recall = precision = None
    if truth:
        recall = sum(score(portion_of_event(a), theta_r) for a in range(len(truth))) / len(truth)
    if runs:
        weights = [math.sqrt(stop - start) for start, stop in runs]
        scores = [score(portion_of_run(p), theta_p) for p in range(len(runs))]
        precision = sum(w * s for w, s in zip(weights, scores, strict=True)) / sum(weights)
    return precision, recall
