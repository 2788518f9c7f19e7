"""Range-based precision and recall (Tatbul et al., NeurIPS 2018), point by point, in exact rational arithmetic."""

from fractions import Fraction

from .events import events


def delta(bias, position, length):
    """Weight of a position (from 1) in a range: the positional bias functions of the paper's figure 2."""
    if bias == "flat":
        return 1
    if bias == "front":
        return length - position + 1
    if bias == "back":
        return position
    return position if 2 * position <= length else length - position + 1  # middle


def omega(this, overlap, bias):
    """The share of a range's weight that an overlap (a set of points) has."""
    start, stop = this
    length = stop - start
    mine = total = 0
    for position in range(1, length + 1):
        weight = delta(bias, position, length)
        total += weight
        if start + position - 1 in overlap:
            mine += weight
    return Fraction(mine, total)


def gamma(cardinality, overlapping):
    """The factor for a range that several ranges of the other side overlap."""
    return Fraction(1, overlapping) if overlapping > 1 and cardinality == "reciprocal" else 1


def reward(this, others, alpha, bias, cardinality):
    """What one range earns: the paper's equations for one real (or one predicted) range."""
    overlaps = [set(range(*this)) & set(range(*other)) for other in others]
    overlaps = [o for o in overlaps if o]
    existence = 1 if overlaps else 0
    overlap = gamma(cardinality, len(overlaps)) * sum(omega(this, o, bias) for o in overlaps)
    return alpha * existence + (1 - alpha) * overlap


def mean_reward(ranges, others, alpha, bias, cardinality):
    alpha = Fraction(alpha)
    return sum(reward(r, others, alpha, bias, cardinality) for r in ranges) / len(ranges)


def range_recall(y_true, y_pred, alpha=0.2, bias="flat", cardinality="reciprocal"):
    return float(mean_reward(events(y_true), events(y_pred), alpha, bias, cardinality))


def range_precision(y_true, y_pred, alpha=0.0, bias="flat", cardinality="reciprocal"):
    return float(mean_reward(events(y_pred), events(y_true), alpha, bias, cardinality))


def range_f1(
    y_true, y_pred, alpha=0.2, precision_alpha=0.0, bias="flat", precision_bias=None, cardinality="reciprocal", beta=1.0
):
    if not events(y_pred):
        return 0.0  # recall is 0
    recall = mean_reward(events(y_true), events(y_pred), alpha, bias, cardinality)
    precision = mean_reward(events(y_pred), events(y_true), precision_alpha, precision_bias or bias, cardinality)
    if recall == 0 or precision == 0:
        return 0.0
    square = Fraction(beta) ** 2
    return float((1 + square) * precision * recall / (square * precision + recall))


def best_range_f1(y_true, scores, **options):
    """(v, value): the largest v with the best F of the alarms `score >= v`, by trying each."""
    tried = [(range_f1(y_true, [int(s >= v) for s in scores], **options), v) for v in set(scores)]
    value, threshold = max(tried)
    return threshold, value
