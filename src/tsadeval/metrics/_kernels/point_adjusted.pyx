"""The best F after point adjustment, over all thresholds and for many required shares at once."""

import numpy as np


def best_adjusted(
    const double[::1] scores, const long long[::1] events, const long long[::1] falses,
    const long long[::1] lengths, const long long[::1] worth,
    const double[::1] shares, bint strict, const double[::1] weights, double recall_weight,
):
    """The v of the best weighted mean, over the required shares, of F at the alarms `score >= v`.

    `scores` are those of the points that can find an event, descending, `events` the events they belong to and `falses`
    how many normal points score as much or more. An event of which at least a required share is hit
    (more than it, where strict) counts for its `worth`; else for its hits. The shares ascend.
    """
    cdef Py_ssize_t i = 0, j, k, e, reached, n_shares = shares.shape[0]
    cdef double v, share, gain, false, total = 0, value, best = -1, best_at = 0
    hits_of, reached_by = np.zeros(lengths.shape[0], np.int64), np.zeros(lengths.shape[0], np.int64)
    counts = np.zeros(n_shares)
    cdef long long[::1] hits = hits_of, adjusted = reached_by
    cdef double[::1] tp = counts  # whole numbers, as double so that the divisions need no conversion
    for k in range(worth.shape[0]):
        total += worth[k]
    with nogil:
        while i < scores.shape[0]:
            v = scores[i]
            while i < scores.shape[0] and not scores[i] < v:  # equal; NaN, which another thread may write, goes on too
                e = events[i]
                hits[e] += 1
                share = <double> hits[e] / <double> lengths[e]
                reached = adjusted[e]
                while reached < n_shares and (shares[reached] < share or (shares[reached] == share and not strict)):
                    reached += 1
                gain = worth[e] - (hits[e] - 1)
                for j in range(adjusted[e], reached):
                    tp[j] += gain
                for j in range(reached, n_shares):
                    tp[j] += 1
                adjusted[e] = reached
                i += 1
            false = falses[i - 1]
            # The smallest share finds the most, so no mean is above its F: most thresholds need no more than that.
            value = (1 + recall_weight) * tp[0] / (recall_weight * total + tp[0] + false)
            if value < best:
                continue
            value = 0
            for j in range(n_shares):
                value += weights[j] * ((1 + recall_weight) * tp[j] / (recall_weight * total + tp[j] + false))
            if value > best + 1e-13:  # beyond rounding: of equal values the first, with the largest v, stays
                best = value
                best_at = v
    return best_at
