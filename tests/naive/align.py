"""Scores of points from scores of windows, one point and one window at a time."""

import math


def by_points(scores, n, window, stride, how):
    windows = [(j * stride, j * stride + window) for j in range(len(scores))]
    found = []
    for i in range(n):
        if how == "last":
            ended = [j for j, (_, stop) in enumerate(windows) if stop - 1 <= i]
            found.append(scores[ended[-1]] if ended else math.nan)
        else:
            found.append(_reduced([scores[j] for j, (start, stop) in enumerate(windows) if start <= i < stop], how))
    return found


def by_time(scores, stamps, ends, window, how):
    found = []
    for t in stamps:
        if how == "last":
            ended = [s for s, end in zip(scores, ends, strict=True) if t - window < end <= t]
            found.append(ended[-1] if ended else math.nan)
        else:
            found.append(_reduced([s for s, end in zip(scores, ends, strict=True) if end - window < t <= end], how))
    return found


def _reduced(values, how):
    if not values:
        return math.nan
    return max(values) if how == "max" else math.fsum(values) / len(values)
