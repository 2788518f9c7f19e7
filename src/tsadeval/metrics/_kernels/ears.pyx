"""EARS: what is special about points in one pass over time, then one pass over all scores from the highest down.

Weights of normal points are whole numbers, the distance to the nearest event up to the tolerance, so that the shares
of normal points are exact however many points there are. Nearly all points weigh the same, and few are the largest of
their window: only the others are listed, and the sweep meets them between scores that are sorted without their places.
"""

from libc.math cimport log, pow, sqrt
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

import numpy as np

from tsadeval.core._memory cimport FETCH
from tsadeval.metrics._kernels.sweeps cimport AHEAD

# What tells a point from one that weighs `full` and is no trailing maximum. A point of an event lacks all of it, and
# `value` are the bits of its weight in its event; else `value` is the weight of points whose trailing maximum it is, a
# whole number. A point may have two entries.
CHANGE = np.dtype([("position", np.int32), ("lacking", np.int32), ("value", np.int64)])

cdef packed struct Change:
    int position
    int lacking
    long long value

# Of a normal point `own` is its weight, at least 1, and `trailing` the weight of all points of which it is the trailing
# maximum. Of an anomalous point `own` is 0 and `earliness` its weight in its event.
WEIGHT = np.dtype([("own", np.int64), ("earliness", np.float64), ("trailing", np.int64)])

cdef packed struct Weight:
    long long own
    double earliness
    long long trailing

cdef packed struct Point:
    double score
    long long position

ctypedef fused score_t:
    float
    double


cdef struct Sum:
    double total
    double rest


cdef inline void add(Sum *to, double term) noexcept nogil:
    """Compensated addition: `total + rest` is right to the last digit."""
    cdef double s = to.total + term, b = s - to.total
    to.rest += (to.total - (s - b)) + (term - b)
    to.total = s


cdef class Changes:
    """A growing list of changes, of which there will be `most` at most."""

    cdef object kept
    cdef Change *to
    cdef Py_ssize_t size, room, most

    def __init__(self, Py_ssize_t room, Py_ssize_t most):
        self.size, self.room, self.most = 0, 0, most
        self.grow(room)

    cdef int grow(self, Py_ssize_t room) except -1:
        cdef Change[::1] to
        room = min(room, self.most)
        larger = np.empty(room, CHANGE)
        if self.size:
            larger[: self.size] = self.kept
        to = self.kept = larger
        self.to, self.room = &to[0], room
        return 0

    cdef int put(self, Py_ssize_t position, long long lacking, long long value) except -1 nogil:
        if self.size == self.room:
            with gil:
                self.grow(2 * self.room)
        self.to[self.size] = Change(<int>position, <int>lacking, value)
        self.size += 1
        return 0


cdef int weigh_event(Changes found, Py_ssize_t start, Py_ssize_t length, long long full, double exponent) except -1 nogil:
    cdef Py_ssize_t i
    cdef long long bits
    cdef double before = 0, reached, gained
    for i in range(length):
        reached = <double>(i + 1) / <double>length
        # The square root is the default, and much cheaper than a power.
        reached = sqrt(reached) if exponent == 0.5 else pow(reached, exponent)
        gained = reached - before
        memcpy(&bits, &gained, sizeof(bits))
        found.put(start + i, full, bits)
        before = reached
    return 0


cdef inline long long weight_of(
    Py_ssize_t i, Py_ssize_t length, bint after_event, bint before_event, long long full
) noexcept nogil:
    cdef long long weight = full
    if after_event:
        weight = min(weight, i + 1)
    if before_event:
        weight = min(weight, length - i)
    return weight


cdef int weigh_run(
    Changes found, const score_t *scores, Py_ssize_t start, Py_ssize_t length, bint after_event, bint before_event,
    long long full, Py_ssize_t window, int *suffix,
) except -1 nogil:
    """Weights of a run of normal points.

    The trailing maximum over `window` points is the larger one of two: of the block's points so far, and of those
    points of the block before it that the window still covers (`suffix` holds the position of each of these maxima).
    """
    cdef Py_ssize_t i, block = 0, stop, best, at, last = 0
    cdef Py_ssize_t near = min(full - 1, length) if after_event else 0
    cdef Py_ssize_t beyond = max(length - full + 1, near) if before_event else length
    cdef long long reached = 0
    cdef double score, highest
    for i in range(near):
        found.put(start + i, full - weight_of(i, length, after_event, before_event, full), 0)
    for i in range(beyond, length):
        found.put(start + i, full - weight_of(i, length, after_event, before_event, full), 0)
    while block < length:
        stop = min(block + window, length)
        best, highest = block, scores[block]
        for i in range(block, stop):
            score = scores[i]
            if score > highest:
                best, highest = i, score
            at = best
            if block > 0 and i + 1 < block + window:  # the window reaches back beyond the block's first point
                at = suffix[i + 1 - block]
                at = at if scores[at] > highest else best
            if at != last:
                found.put(start + last, 0, reached)
                last, reached = at, 0
            reached += full if near <= i < beyond else weight_of(i, length, after_event, before_event, full)
        if stop < length:
            best, highest = stop - 1, scores[stop - 1]
            for i in range(stop - 1, block - 1, -1):
                score = scores[i]
                if score > highest:
                    best, highest = i, score
                suffix[i - block] = <int>best
        block = stop
    found.put(start + last, 0, reached)
    return 0


def changes(
    const score_t[::1] scores, const long long[::1] starts, const long long[::1] counts, bint label,
    Py_ssize_t tolerance, Py_ssize_t window, double earliness,
):
    """The changes, run by run; `label` is that of the first run, `window` the number of points before."""
    cdef Py_ssize_t runs = starts.shape[0], k, longest = 0, points = 0, normal = 0
    cdef bint anomalous = label, near = tolerance > 0
    cdef long long full = max(tolerance, 1)
    for k in range(runs):
        if (k & 1) == label:
            longest = max(longest, counts[k])
            points += min(counts[k], 2 * full)
            normal += counts[k] + 1
        else:
            points += counts[k]
    window = min(window, longest) + 1
    cdef Changes found = Changes(points + scores.shape[0] // 4 + 64, points + normal)
    cdef int *suffix = <int *>malloc(window * sizeof(int))
    if suffix == NULL:
        raise MemoryError
    try:
        with nogil:
            for k in range(runs):
                if anomalous:
                    weigh_event(found, starts[k], counts[k], full, earliness)
                else:
                    weigh_run(found, &scores[starts[k]], starts[k], counts[k], near and k > 0, near and k + 1 < runs,
                              full, window, suffix)
                anomalous = not anomalous
    finally:
        free(suffix)
    return found.kept[: found.size]


def scores_of(const Change[::1] changes, const score_t[::1] scores):
    """The score of every change."""
    cdef Py_ssize_t i
    found = np.empty(changes.shape[0])
    cdef double[::1] out = found
    with nogil:
        for i in range(changes.shape[0]):
            out[i] = scores[changes[i].position]
    return found


def put_in_order(ordered, const Change[::1] changes, double[::1] scores):
    """Move the sorted scores from `ordered` points to `scores`, and where these were the changes in the same order.

    That takes no more memory, and memory that the system has to find costs more than the work in it.
    """
    cdef Point[::1] points = ordered
    cdef Py_ssize_t n = points.shape[0], i
    cdef Change change
    with nogil:
        for i in range(n):
            if i + AHEAD < n:
                FETCH(&changes[points[i + AHEAD].position])
            scores[i] = points[i].score
            change = changes[points[i].position]
            memcpy(&points[i], &change, sizeof(change))
    return ordered.view(CHANGE)


def spread(const Change[::1] changes, Py_ssize_t n, long long full):
    """The weights of all points."""
    cdef Py_ssize_t i
    cdef Weight *to
    weights = np.zeros(n, WEIGHT)
    weights["own"] = full
    cdef Weight[::1] weight = weights
    with nogil:
        for i in range(changes.shape[0]):
            to = &weight[changes[i].position]
            to.own -= changes[i].lacking
            if changes[i].lacking == full:
                memcpy(&to.earliness, &changes[i].value, sizeof(to.earliness))
            else:
                to.trailing += changes[i].value
    return weights


# What is known of a level once all scores are in order: its rarity, and the two shares of normal points that it is
# made of.
LEVEL = np.dtype([("rarity", np.float64), ("share", np.float64), ("trailing_share", np.float64)])

cdef packed struct Level:
    double rarity
    double share
    double trailing_share


def totals(
    const double[::1] ascending, const double[::1] scores, const Change[::1] changes, long long full, double floor,
    Level[::1] levels,
):
    """The sum over anomalous points of weight times rarity, and the weighted mean rarity of the normal points.

    `scores` are those of the changes, which descend by them. `levels` receives the distinct levels, the highest first, as
    far as it has room.
    """
    cdef Py_ssize_t n = ascending.shape[0], size = changes.shape[0], i = n, j, k, entry = 0, count = 0
    cdef long long total = full * n, own, trailing, above = 0, above_trailing = 0
    cdef double per_weight, score, gained, highest = log((1 + floor) / floor)
    cdef Sum seen, base, group
    cdef Level level
    cdef Py_ssize_t room = levels.shape[0]
    seen.total = seen.rest = base.total = base.rest = 0
    with nogil:
        for k in range(size):
            total -= changes[k].lacking
        per_weight = 0.5 / <double>total
        while i > 0:
            score, j = ascending[i - 1], i
            i -= 1
            while i > 0 and ascending[i - 1] == score:
                i -= 1
            own, trailing = full * (j - i), 0
            group.total = group.rest = 0
            while entry < size and scores[entry] >= score:
                own -= changes[entry].lacking
                if changes[entry].lacking == full:
                    memcpy(&gained, &changes[entry].value, sizeof(gained))
                    add(&group, gained)
                else:
                    trailing += changes[entry].value
                entry += 1
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
            if count < room:
                levels[count] = level
                count += 1
    return seen.total + seen.rest, (base.total + base.rest) / <double>total


def charges(
    const int[::1] places, const Weight[::1] weights, const Level[::1] levels, double floor, double of_anomalous,
    double of_normal,
):
    """To first order, how much the score rises where a normal point's score falls below all others.

    The score changes by `of_anomalous` times the weighted rarity of an anomalous point, and by `of_normal` (negative)
    times the weighted rarity of a normal one. Without the point, shares are smaller at all scores below its own.
    `places` are those of the points among the levels.
    """
    cdef Py_ssize_t n = places.shape[0], i, j
    cdef double total = 0, below = 0, below_trailing = 0, change, half
    cdef double slope = 0.5 / log((1 + floor) / floor)
    cdef Level level
    cdef Weight weight
    charge = np.zeros(n)
    cdef double[::1] to = charge, reached = np.zeros(levels.shape[0]), trailing = np.zeros(levels.shape[0])
    with nogil:
        for i in range(n):
            total += <double>weights[i].own
        for i in range(n - 1, -1, -1):
            weight, level = weights[i], levels[places[i]]
            change = of_anomalous * weight.earliness + of_normal * <double>weight.own / total
            reached[places[i]] += 0.5 * change * slope / (level.share + floor)
            trailing[places[i]] += 0.5 * change * slope / (level.trailing_share + floor)
        for j in range(levels.shape[0] - 1, -1, -1):  # scores ascend; those that tie take half of each other's part
            half = reached[j]
            reached[j] = below + half
            below += 2 * half
            half = trailing[j]
            trailing[j] = below_trailing + half
            below_trailing += 2 * half
        for i in range(n):
            weight, j = weights[i], places[i]
            if weight.own:
                to[i] = (
                    <double>weight.own / total * (reached[j] - of_normal * levels[j].rarity)
                    + <double>weight.trailing / total * trailing[j]
                )
    return charge
