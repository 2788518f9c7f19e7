"""CCE from the paper's section 3, in exact rational arithmetic up to the exponential."""

import math
from fractions import Fraction

from .events import runs


def normalised(scores, how="minmax", quantiles=(0.001, 0.999)):
    """Scores as fractions in [0, 1]; scores that are all equal count as one half."""
    values = [Fraction(float(s)) for s in scores]
    if how is None:
        return values
    if how in ("rank", "robust"):
        ranks = [Fraction(2 * sum(o < v for o in values) + sum(o == v for o in values) + 1, 2) for v in values]
        values = [(r - 1) / (len(values) - 1) for r in ranks]
        if how == "rank":
            return values
        values = [v**8 for v in values]
    if how == "quantile":
        ordered = sorted(values)
        low, high = (linear_quantile(ordered, Fraction(q)) for q in quantiles)
        values = [min(max(v, low), high) for v in values]
    else:
        low, high = min(values), max(values)
    if low == high:
        return [Fraction(1, 2)] * len(values)
    return [(v - low) / (high - low) for v in values]


def linear_quantile(ordered, q):
    position = q * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def uncertainty_of(values, how, gamma):
    """U of the scores of one event, by the estimator's own definition."""
    g = Fraction(gamma)

    def beta_variance(a, b):
        return a * b / ((a + b) ** 2 * (a + b + 1))

    if how == "pointwise":
        each = [beta_variance(g * v + 1, g * (1 - v) + 1) for v in values]
        return sum(each) / len(each)
    mean = sum(values) / len(values)
    variance = sum((v - mean) ** 2 for v in values) / len(values)
    if variance == 0:
        return Fraction(0)
    strength = mean * (1 - mean) / variance - 1
    alpha, beta = mean * strength, (1 - mean) * strength
    if how == "scaled":
        return beta_variance(g * alpha + 1, g * beta + 1)
    if alpha + beta == 0:  # scores in {0, 1}: the limit, p (1 - p) / (0 + 1)
        return mean * (1 - mean)
    return beta_variance(alpha, beta)


def event_score(values, label, tau, constrained, how, gamma):
    mean = sum(values) / len(values)
    confidence = mean - tau if label == 1 else 1 - tau - mean
    if constrained:
        confidence = max(confidence, 0)
    return float(confidence) * math.exp(-float(uncertainty_of(values, how, gamma)))


def cce(
    labels,
    scores,
    tau=0.5,
    constrained=False,
    event_weight=0.5,
    global_weight=0.5,
    normalize="minmax",
    quantiles=(0.001, 0.999),
    uncertainty="beta",
    gamma=10.0,
):
    values = normalised(scores, normalize, quantiles)
    tau = Fraction(tau)

    def score(points, label):
        return event_score(points, label, tau, constrained, uncertainty, gamma)

    def mean_over_events(label):
        each = [score(values[a:b], label) for a, b, found in runs(labels) if found == label]
        return sum(each) / len(each)

    def pooled(label):
        return score([v for v, found in zip(values, labels, strict=True) if found == label], label)

    event = event_weight * mean_over_events(1) + (1 - event_weight) * mean_over_events(0)
    return event + global_weight * pooled(1) + (1 - global_weight) * pooled(0)
