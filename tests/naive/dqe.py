"""Detection quality, one event and one alarm run at a time, in exact fractions."""

from fractions import Fraction

from .events import events


def cut(runs, low, high):
    """The parts of runs inside [low, high)."""
    parts = [(max(a, low), min(b, high)) for a, b in runs]
    return [(a, b) for a, b in parts if a < b]


def sdqe(y, p, near=None):
    n, truth = len(y), events(y)
    if near is None:
        near = int(min(Fraction(sum(map(int, y)), len(truth)), Fraction(n - sum(map(int, y)), 22)))
    near = min(near, n)
    runs = events(p)
    late = [min(stop + near, truth[k + 1][0] if k + 1 < len(truth) else n) for k, (_, stop) in enumerate(truth)]
    early = [max(start - near, late[k - 1] if k else 0) for k, (start, _) in enumerate(truth)]
    middle = [Fraction(late[k] + early[k + 1], 2) for k in range(len(truth) - 1)]
    qualities = []
    for k, (start, stop) in enumerate(truth):
        left = middle[k - 1] if k else 0
        right = middle[k] if k + 1 < len(truth) else n
        captured = bool(cut(runs, start, stop))
        before, after = cut(runs, early[k], start), cut(runs, stop, late[k])
        far = cut(runs, left, early[k]) + cut(runs, late[k], right)
        if before or after:
            x = min([start - b for _, b in before] + [a - stop for a, _ in after])
            d = sum(b - a for a, b in before + after)
            near_miss = (1 - Fraction(x, near)) * (1 - Fraction(d, 2 * near))
        else:
            near_miss = int(captured and not far)
        false_alarm = 1
        if far:
            length = sum(b - a for a, b in far)
            whole = (early[k] - left) + (right - late[k])
            covered = length / Fraction(whole)
            pieces = 1 - sum((b - a) ** 2 for a, b in far) / Fraction(length) ** 2
            false_alarm = 1 - (covered + pieces - covered * pieces)
        qualities.append(Fraction(near_miss + captured, 2) * false_alarm)
    return float(sum(qualities) / len(qualities))


def dqe(y, s, near=None, thresholds=100):
    low, high = min(s), max(s)
    # Scores and thresholds to 12 digits: a score may lie on a threshold, and rounding must not tell.
    scaled = [round((score - low) / (high - low), 12) if high > low else 0.0 for score in s]
    found = 0.0
    for j in range(thresholds):
        t = round(1 - j / thresholds, 12)
        found += sdqe(y, [int(score >= t) for score in scaled], near)
    return found / thresholds
