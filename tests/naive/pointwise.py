"""Point-wise counts and what follows from them, one point at a time, in exact fractions; None where undefined."""

import math
from fractions import Fraction


def counts(labels, alarms):
    """True positives, false positives, false negatives, true negatives."""
    pairs = [(int(y), int(p)) for y, p in zip(labels, alarms, strict=True)]
    return tuple(sum(pair == kind for pair in pairs) for kind in ((1, 1), (0, 1), (1, 0), (0, 0)))


def ratio(part, whole):
    return None if whole == 0 else Fraction(part) / Fraction(whole)


def f_of(tp, fp, fn, beta=1.0):
    """The F of precision and recall: 0 where nothing is found, None where there is nothing to find."""
    if tp + fn == 0:
        return None
    if tp == 0:
        return Fraction(0)
    precision, recall, square = ratio(tp, tp + fp), ratio(tp, tp + fn), Fraction(beta) ** 2
    return (1 + square) * precision * recall / (square * precision + recall)


def precision(labels, alarms):
    tp, fp, _, _ = counts(labels, alarms)
    return ratio(tp, tp + fp)


def recall(labels, alarms):
    tp, _, fn, _ = counts(labels, alarms)
    return ratio(tp, tp + fn)


def f1(labels, alarms, beta=1.0):
    tp, fp, fn, _ = counts(labels, alarms)
    return f_of(tp, fp, fn, beta)


def accuracy(labels, alarms):
    tp, _, _, tn = counts(labels, alarms)
    return ratio(tp + tn, len(labels))


def balanced_accuracy(labels, alarms):
    tp, fp, fn, tn = counts(labels, alarms)
    if tp + fn == 0 or fp + tn == 0:
        return None
    return (ratio(tp, tp + fn) + ratio(tn, fp + tn)) / 2


def mcc(labels, alarms):
    tp, fp, fn, tn = counts(labels, alarms)
    margins = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return None if margins == 0 else (tp * tn - fp * fn) / math.sqrt(margins)
