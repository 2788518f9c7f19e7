"""What the published code beside CCE computes in place of two definitions: their faults, written out.

Events are found as half-open, [start, stop), and read as closed, [start, stop]: each is one point too long.
"""

import numpy as np

from .events import events


def range_f1(y_true, y_pred):
    """Range-based F1 with that fault, and a positional bias whose positions count from the start of the series."""
    y, p = (np.asarray(values, bool) for values in (y_true, y_pred))
    recall, precision = _reward(y, p, 0.2), _reward(p, y, 0.0)
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


def _reward(these, others, alpha):
    """The mean reward of the runs of one side."""
    starts, stops = np.array(events(others)).reshape(-1, 2).T
    total, count = 0.0, 0
    for start, stop in events(these):
        position = np.arange(start, stop + 1)
        length = len(position)
        weight = np.where(position <= length / 2, position, length - position + 1)
        hit = others[np.minimum(position, len(others) - 1)] & (position < len(others))
        pieces = np.sum((starts <= stop) & (stops >= start))
        total += alpha * hit.any() + (1 - alpha) * (weight @ hit / weight.sum() / pieces if pieces else 0)
        count += 1
    return total / count if count else 0.0


def vus_roc(y_true, y_score, window=100, n_thresholds=100):
    """VUS-ROC with that fault; the number of positives is that of the labels as they are."""
    y, s = np.asarray(y_true, bool), np.asarray(y_score, float)
    n, runs = len(y), events(y)
    at = -np.sort(-s)[np.linspace(0, n - 1, n_thresholds).astype(int)]
    since = np.searchsorted(-at, -s)  # the first threshold that a point reaches

    def reached(points, weights=None):
        return np.cumsum(np.bincount(since[points], weights, minlength=n_thresholds + 1))[:n_thresholds]

    core = np.zeros(n, bool)
    for start, stop in runs:
        core[start : stop + 1] = True
    everything, in_core = reached(np.ones(n, bool)), reached(core)
    areas = []
    for width in range(2 * window + 1):
        half, weights = width // 2, y.astype(float)
        slope = np.sqrt(1 - np.arange(1, half + 1) / max(width, 1))
        groups = []
        for start, stop in runs:
            after, before = min(half, n - 1 - stop), min(half, start)
            if after > 0:
                weights[stop + 1 : stop + 1 + after] += slope[:after]
            weights[start - before : start] += slope[:before][::-1]
            if groups and start - half <= groups[-1][1]:
                groups[-1][1] = stop + half
            else:
                groups.append([max(start - half, 0), stop + half])
        weights = np.minimum(weights, 1)
        around = ~core & (weights > 0)
        extra = reached(around, weights[around])
        first = np.sort([since[a : b + 1].min() for a, b in groups])
        existence = np.searchsorted(first, np.arange(n_thresholds), side="right") / len(groups)
        hit, positives = in_core + extra, (y.sum() + core.sum() + extra) / 2
        recall = np.concatenate([[0], np.minimum(hit / positives, 1) * existence, [1]])
        false = np.concatenate([[0], (everything - hit) / (n - positives), [1]])
        areas.append(np.diff(false) @ (recall[1:] + recall[:-1]) / 2)
    return float(np.mean(areas))
