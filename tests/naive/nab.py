"""The NAB score, point by point, with the sigmoid as the paper writes it."""

import math

from .events import events

WEIGHTS = {  # of a detection, a false alarm and a miss
    "standard": (1.0, 0.11, 1.0),
    "reward_low_fp": (1.0, 0.22, 1.0),
    "reward_low_fn": (1.0, 0.11, 2.0),
}


def scaled_sigmoid(position):
    """+0.987 at the left edge of a window (-1), 0 just past its right edge, -1 beyond three widths."""
    return -1.0 if position > 3 else 2 / (1 + math.exp(5 * position)) - 1


def nab_score(y, p, profile="standard", probation=0.0):
    """None where no window is scored."""
    hit, false_alarm, miss = WEIGHTS[profile]
    skipped = min(math.floor(probation * len(y)), probation * 5000)
    windows = events(y)
    scored = [w for w in windows if w[1] - 1 >= skipped]
    if not scored:
        return None
    total = 0.0
    for start, stop in scored:
        rewards = [
            hit * scaled_sigmoid(-(stop - i) / (stop - start)) / scaled_sigmoid(-1)
            for i in range(start, stop)
            if p[i] and i >= skipped
        ]
        total += max(rewards, default=-miss)
    for i in range(len(y)):
        if p[i] and not y[i] and i >= skipped:
            before = [w for w in windows if w[1] <= i]
            position = math.inf
            if before:
                start, stop = before[-1]
                position = (i - (stop - 1)) / max(stop - start - 1, 1)
            total += false_alarm * scaled_sigmoid(position)
    nothing, everything = -miss * len(scored), hit * len(scored)
    return 100 * (total - nothing) / (everything - nothing)
