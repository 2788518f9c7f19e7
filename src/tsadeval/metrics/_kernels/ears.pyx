"""EARS: weights of the points in one pass over time, then one pass over the points by descending score.

Weights of normal points are whole numbers, the distance to the nearest event up to the tolerance, so that the shares
of normal points are exact however many points there are.
"""

from libc.math cimport log, pow, sqrt
from libc.stdlib cimport free, malloc

import numpy as np

from tsadeval.core._memory cimport FETCH
from tsadeval.metrics._kernels.sweeps cimport AHEAD

# Of a normal point `own` is its weight, at least 1, and `trailing` the weight of all points of which it is the trailing
# maximum. Of an anomalous point `own` is 0 and `earliness` its weight in its event. A record is one memory access.
WEIGHT = np.dtype([("own", np.int64), ("earliness", np.float64), ("trailing", np.int64)])

cdef packed struct Weight:
    long long own
    double earliness
    long long trailing

cdef packed struct Point:
    double score
    long long position


cdef struct Sum:
    double total
    double rest


cdef inline void add(Sum *to, double term) noexcept nogil:
    """Compensated addition: `total + rest` is right to the last digit."""
    cdef double s = to.total + term, b = s - to.total
    to.rest += (to.total - (s - b)) + (term - b)
    to.total = s


cdef void weigh_event(Weight *event, Py_ssize_t length, double exponent) noexcept nogil:
    cdef Py_ssize_t i
    cdef double before = 0, reached
    for i in range(length):
        reached = <double>(i + 1) / <double>length
        # The square root is the default, and much cheaper than a power.
        reached = sqrt(reached) if exponent == 0.5 else pow(reached, exponent)
        event[i].own = 0
        event[i].trailing = 0
        event[i].earliness = reached - before
        before = reached


cdef void weigh_run(
    const double *scores, Weight *run, Py_ssize_t length, bint after_event, bint before_event, Py_ssize_t tolerance,
    Py_ssize_t window, Py_ssize_t *suffix,
) noexcept nogil:
    """Weights of a run of normal points.

    The trailing maximum over `window` points is the larger one of two: of the block's points so far, and of those
    points of the block before it that the window still covers (`suffix` holds the position of each of these maxima).
    """
    cdef Py_ssize_t i, block, stop, best, at
    cdef long long weight
    for i in range(length):
        weight = max(tolerance, 1)
        if tolerance > 0 and after_event:
            weight = min(weight, i + 1)
        if tolerance > 0 and before_event:
            weight = min(weight, length - i)
        run[i].own = weight
        run[i].earliness = 0
        run[i].trailing = 0
    block = 0
    while block < length:
        stop = min(block + window, length)
        best = block
        for i in range(block, stop):
            best = i if scores[i] > scores[best] else best
            at = best
            if block > 0 and i + 1 < block + window:  # the window reaches back beyond the block's first point
                at = suffix[i + 1 - block]
                at = at if scores[at] > scores[best] else best
            run[at].trailing += run[i].own
        if stop < length:
            best = stop - 1
            for i in range(stop - 1, block - 1, -1):
                best = i if scores[i] > scores[best] else best
                suffix[i - block] = best
        block = stop


def weigh(
    const double[::1] scores, const long long[::1] starts, const long long[::1] counts, bint label,
    Py_ssize_t tolerance, Py_ssize_t window, double earliness,
):
    """The weight record of every point; `label` is that of the first run, `window` the number of points before."""
    cdef Py_ssize_t runs = starts.shape[0], k, longest = 0
    cdef bint anomalous = label
    for k in range(label, runs, 2):
        longest = max(longest, counts[k])
    window = min(window, longest) + 1
    weights = np.empty(scores.shape[0], WEIGHT)
    cdef Weight[::1] to = weights
    cdef Py_ssize_t *suffix = <Py_ssize_t *>malloc(window * sizeof(Py_ssize_t))
    if suffix == NULL:
        raise MemoryError
    with nogil:
        for k in range(runs):
            if anomalous:
                weigh_event(&to[starts[k]], counts[k], earliness)
            else:
                weigh_run(&scores[starts[k]], &to[starts[k]], counts[k], k > 0, k + 1 < runs, tolerance, window, suffix)
            anomalous = not anomalous
        free(suffix)
    return weights


# What is known of a point once all scores are in order: its rarity, and the two shares of normal points that it is
# made of.
LEVEL = np.dtype([("rarity", np.float64), ("share", np.float64), ("trailing_share", np.float64)])

cdef packed struct Level:
    double rarity
    double share
    double trailing_share


def totals(const Point[::1] points, const Weight[::1] weights, double floor, Level[::1] levels=None):
    """The sum over anomalous points of weight times rarity, and the weighted mean rarity of the normal points.

    `points` descend by score. `levels`, where given, receives the level of every point at its place in time.
    """
    cdef Py_ssize_t n = points.shape[0], i, j, first = 0
    cdef long long total = 0, own, trailing, above = 0, above_trailing = 0
    cdef double per_weight, highest = log((1 + floor) / floor)
    cdef Sum seen, base, group
    cdef Level level
    cdef bint store = levels is not None
    seen.total = seen.rest = base.total = base.rest = 0
    with nogil:
        for i in range(n):
            total += weights[i].own
        per_weight = 0.5 / <double>total
        while first < n:
            own = trailing = 0
            group.total = group.rest = 0
            i = first
            while i < n and not points[i].score < points[first].score:  # equal; NaN (of another thread) goes on too
                if i + AHEAD < n:
                    FETCH(&weights[points[i + AHEAD].position])
                own += weights[points[i].position].own
                trailing += weights[points[i].position].trailing
                add(&group, weights[points[i].position].earliness)
                i += 1
            level.share = <double>(2 * above + own) * per_weight
            level.trailing_share = <double>(2 * above_trailing + trailing) * per_weight
            # The mean of two logarithms, at the cost of one.
            level.rarity = 0.5 / highest * log(
                (1 + floor) / (level.share + floor) * ((1 + floor) / (level.trailing_share + floor))
            )
            add(&seen, (group.total + group.rest) * level.rarity)
            add(&base, <double>own * level.rarity)
            above += own
            above_trailing += trailing
            if store:
                for j in range(first, i):
                    levels[points[j].position] = level
            first = i
    return seen.total + seen.rest, (base.total + base.rest) / <double>total


def charges(
    const Point[::1] points, const Weight[::1] weights, const Level[::1] levels, double floor, double of_anomalous,
    double of_normal,
):
    """To first order, how much the score rises where a normal point's score falls below all others.

    The score changes by `of_anomalous` times the weighted rarity of an anomalous point, and by `of_normal` (negative)
    times the weighted rarity of a normal one. Without the point, shares are smaller at all scores below its own.
    """
    cdef Py_ssize_t n = points.shape[0], i, j, last = n
    cdef double total = 0, below = 0, below_trailing = 0, change, half, half_trailing
    cdef double slope = 0.5 / log((1 + floor) / floor)
    cdef Level level
    cdef Weight weight
    charge = np.zeros(n)
    cdef double[::1] to = charge
    with nogil:
        for i in range(n):
            total += <double>weights[i].own
        while last > 0:  # scores ascend; those that tie take half of each other's part
            half = half_trailing = 0
            i = last
            while i > 0 and not points[i - 1].score > points[last - 1].score:
                i -= 1
                weight = weights[points[i].position]
                level = levels[points[i].position]
                change = of_anomalous * weight.earliness + of_normal * <double>weight.own / total
                half += 0.5 * change * slope / (level.share + floor)
                half_trailing += 0.5 * change * slope / (level.trailing_share + floor)
            for j in range(i, last):
                weight = weights[points[j].position]
                if weight.own:
                    to[points[j].position] = (
                        <double>weight.own / total * (below + half - of_normal * levels[points[j].position].rarity)
                        + <double>weight.trailing / total * (below_trailing + half_trailing)
                    )
            below += 2 * half
            below_trailing += 2 * half_trailing
            last = i
    return charge
