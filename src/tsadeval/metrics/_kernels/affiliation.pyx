"""Affiliation precision and recall, of one prediction in O(runs) and at every threshold in O(points).

All is exact integer arithmetic until the last division: borders of zones are multiples of 1/2, the places where
integrands bend are multiples of 1/4, so lengths count in halves and integrals in fixed fractions. The largest
number is 16 times the square of a zone's length, which 64 bits hold for zones of 759,250,124 points; the caller
refuses longer ones.
"""

from libc.math cimport INFINITY, NAN

import numpy as np

from tsadeval.core._memory cimport FETCH
from tsadeval.metrics._kernels.sums cimport Sum, add, value_of_sum
from tsadeval.metrics._kernels.sweeps cimport AHEAD, Exact, accumulate, value_of, whole

cdef enum:
    F = 0
    PRECISION = 1
    RECALL = 2

OBJECTIVES = {"f": F, "precision": PRECISION, "recall": RECALL}

cdef struct Zone:
    # All in halves of a point. `margin` is the smaller distance from the event to the end of the zone.
    long long begin, start, stop, end, margin
    # Of the predictions: their length in halves, 8 times the integral that precision loses, 16 times recall's.
    long long length, lost, missed
    double precision, recall


cdef Zone zone_of(
    const long long[:] starts, const long long[:] stops, Py_ssize_t k, long long n
) noexcept nogil:
    cdef Zone z
    cdef Py_ssize_t last = starts.shape[0] - 1
    z.begin = stops[k - 1] + starts[k] if k > 0 else 0
    z.end = stops[k] + starts[k + 1] if k < last else 2 * n
    z.start = 2 * starts[k]
    z.stop = 2 * stops[k]
    z.margin = min(z.start - z.begin, z.end - z.stop)
    z.length = z.lost = z.missed = 0
    return z


cdef inline long long far(const Zone *z, long long d) noexcept nogil:
    """8 times the integral over distances in [0, d] from the event of min(distance, margin) + distance + J.

    That, over the zone's length, is the chance that a random time is nearer to the event.
    """
    cdef long long nearer = d * d if d <= z.margin else (2 * d - z.margin) * z.margin
    return d * d + 2 * (z.stop - z.start) * d + nearer


cdef inline long long piece(const Zone *z, long long a, long long b) noexcept nogil:
    """What predicting [a, b) costs the zone's precision."""
    cdef long long cost = 0
    if a < z.start:
        cost += far(z, z.start - a) - (far(z, z.start - b) if b < z.start else 0)
    if b > z.stop:
        cost += far(z, b - z.stop) - (far(z, a - z.stop) if a > z.stop else 0)
    return cost


cdef inline long long away(long long t, long long h) noexcept nogil:
    """The integral over [0, t] of min(2 t, h): the part of the zone nearer to a time than its pivot at distance t."""
    return t * t if 2 * t <= h else h * t - (h / 2) * (h / 2)


cdef inline long long gap(const Zone *z, long long left, long long right) noexcept nogil:
    """What a gap between predictions costs the zone's recall; a pivot that is not inside the zone does not exist."""
    # In quarters of a point from here on: the middle of the gap is a multiple of those.
    cdef long long first = 2 * max(z.start, left), last = 2 * min(z.stop, right), middle, cost = 0
    if first >= last:
        return 0
    if left <= z.begin:
        middle = first
    elif right >= z.end:
        middle = last
    else:
        middle = min(max(left + right, first), last)
    if first < middle:
        cost += away(middle - 2 * left, 2 * (z.end - left)) - away(first - 2 * left, 2 * (z.end - left))
    if middle < last:
        cost += away(2 * right - middle, 2 * (right - z.begin)) - away(2 * right - last, 2 * (right - z.begin))
    return cost


cdef inline void set_precision(Zone *z) noexcept nogil:
    cdef long long whole = 2 * (z.end - z.begin) * z.length
    z.precision = <double>(whole - z.lost) / <double>whole


cdef inline void set_recall(Zone *z) noexcept nogil:
    cdef long long whole = 4 * (z.stop - z.start) * (z.end - z.begin)
    z.recall = <double>(whole - z.missed) / <double>whole


def means(
    const long long[:] starts, const long long[:] stops, const long long[:] from_, const long long[:] until, long long n
):
    """Precision (NaN without predictions) and recall of predicted runs [from_, until), averaged over zones."""
    cdef Py_ssize_t k, r = 0, filled = 0, runs = from_.shape[0], events = starts.shape[0]
    cdef long long a, b, previous
    cdef Sum precision = Sum(0, 0), recall = Sum(0, 0)
    cdef Zone z
    with nogil:
        for k in range(events):
            z = zone_of(starts, stops, k, n)
            previous = z.begin
            while r < runs and 2 * from_[r] < z.end:
                a = max(2 * from_[r], z.begin)
                b = min(2 * until[r], z.end)
                z.length += b - a
                z.lost += piece(&z, a, b)
                z.missed += gap(&z, previous, a)
                previous = b
                if 2 * until[r] > z.end:
                    break  # the next zone has a part of this run too
                r += 1
            if z.length > 0:
                z.missed += gap(&z, previous, z.end)
                filled += 1
                set_precision(&z)
                set_recall(&z)
                add(&precision, z.precision)
                add(&recall, z.recall)
    return (
        value_of_sum(&precision) / filled if filled else NAN,
        value_of_sum(&recall) / events,
    )


cdef struct Goal:
    int objective
    double bias, weight  # of recall in F


cdef inline double reached(const Goal *goal, double precision, double recall) noexcept nogil:
    cdef double above, size, weight = goal.weight
    if goal.objective != F:
        return precision if goal.objective == PRECISION else recall
    above = (precision - goal.bias) / (1 - goal.bias)
    size = above if above > 0 else -above
    if size == 0:
        return 0
    size = (1 + weight) * size * recall / (weight * size + recall)
    return size if above > 0 else -size


cdef inline bint hopeless(
    const Goal *goal, double precision, double recall, double filled, double highest
) noexcept nogil:
    """Is F surely below the highest so far, with a sum of precisions? Tells without a division."""
    cdef double above = precision - goal.bias * filled, weight = goal.weight, scale = (1 - goal.bias) * filled
    if goal.objective != F or highest <= 0:
        return False
    # F = (1 + w) U R / (w U + R) with U = above / scale.
    return (1 + weight) * above * recall < (1 - 1e-9) * highest * (weight * above + scale * recall) or above < 0


cdef struct Change:
    # What a zone loses more (or less) of precision and of recall when a point becomes an alarm.
    long long lost, missed


cdef struct Point:
    # The change after the points of higher scores, and the zone. Small, because memory is what long series wait for:
    # a whole point loses 4 q or (where the margin ends in it) 4 q - 1, which half of it, rounded down, still tells.
    long long missed
    unsigned int half_lost
    int zone


cdef struct State:
    # Of a zone's alarms as in `Zone`, its precision and recall as whole numbers of 2^-61, and what these are fractions
    # of (precision for a length of 1).
    long long length, lost, missed, precision, recall, per_length, most
    # The point that the zone's end cuts in two (or -1), what its first half changes here, and what the second half of
    # the point that the zone's begin cuts changes here.
    long long cut
    Change at_end, at_begin


cdef inline Change change_at(const Zone *z, Py_ssize_t x, long long left, long long right, bint first) noexcept nogil:
    """The change when the point x becomes an alarm, between alarms that end at `left` and begin at `right`."""
    cdef long long a = max(2 * x, z.begin), b = min(2 * x + 2, z.end), missed = 0
    left = max(left, z.begin)
    right = min(right, z.end)
    if right > z.start and left < z.stop:
        missed = gap(z, left, a) + gap(z, b, right) - (0 if first else gap(z, left, right))
    return Change(piece(z, a, b), missed)


cdef void find_changes(const Zone *z, int k, const double *scores, long long *stack, Point *points,
                       State *state) noexcept nogil:
    """Of every point of a zone the change when it becomes an alarm, in the order of time.

    Alarms already there have higher scores, so the neighbours of a point are the nearest higher scores. The stack has
    the points whose right neighbour is still to come, scores descending. Of equal scores the earlier point comes first.
    """
    cdef Py_ssize_t begin = z.begin >> 1, end = (z.end + 1) >> 1, depth = 0, x, top
    cdef Change change
    for x in range(begin, end + 1):
        while depth > 0 and (x == end or scores[stack[depth - 1]] < scores[x]):
            depth -= 1
            top = stack[depth]
            change = change_at(
                z, top, 2 * (stack[depth - 1] + 1) if depth > 0 else z.begin, 2 * x if x < end else z.end,
                depth == 0 and x == end)
            if 2 * top < z.begin:
                state.at_begin = change
            else:
                points[top] = Point(change.missed, <unsigned int>(change.lost >> 1), k)
                if top == state.cut:
                    state.at_end = change
        if x < end:
            stack[depth] = x
            depth += 1


cdef struct Means:
    Exact precisions, recalls
    Py_ssize_t filled


cdef inline void join(State *z, long long length, long long lost, long long missed, Means *sums) noexcept nogil:
    """A point, or half of one, becomes an alarm: so many halves."""
    cdef long long before = z.precision
    cdef double most = <double>(z.per_length * (z.length + length))
    if missed != 0 or z.length == 0:
        sums.filled += z.length == 0
        z.missed += missed
        accumulate(&sums.recalls, -z.recall)
        z.recall = whole(<double>(z.most - z.missed) / <double>z.most)
        accumulate(&sums.recalls, z.recall)
    z.length += length
    z.lost += lost
    z.precision = whole((most - z.lost) / most)
    accumulate(&sums.precisions, z.precision - before)


def best(
    const double[::1] scores, const double[:] levels, const long long[:] order,
    const long long[:] starts, const long long[:] stops, str objective, double bias, double recall_weight,
):
    """The largest threshold v at which alarms `score >= v` are best.

    `levels` are the scores in descending order, and `order` the points they belong to.
    """
    cdef Py_ssize_t n = scores.shape[0], events = starts.shape[0], i, k
    cdef Goal goal = Goal(OBJECTIVES[objective], bias, recall_weight)
    cdef double value, highest = -INFINITY, precision, recall, best_level = NAN
    cdef Means sums = Means(Exact(0, 0), Exact(0, 0), 0)
    cdef long long[::1] stack = np.empty(n + 1, np.int64)
    cdef unsigned char[::1] memory = np.empty(n * sizeof(Point), np.uint8)
    cdef unsigned char[::1] state_memory = np.zeros(events * sizeof(State), np.uint8)
    cdef Point *points = <Point *>&memory[0]
    cdef State *states = <State *>&state_memory[0]
    cdef State *state
    cdef Point *point
    cdef Zone z
    with nogil:
        for k in range(events):
            z = zone_of(starts, stops, k, n)
            states[k].per_length = 2 * (z.end - z.begin)
            states[k].most = 4 * (z.stop - z.start) * (z.end - z.begin)
            states[k].cut = z.end >> 1 if z.end & 1 else -1
            find_changes(&z, <int>k, &scores[0], &stack[0], points, &states[k])
        for i in range(n):
            if i + AHEAD < n:
                FETCH(&points[order[i + AHEAD]])
                FETCH(&states[points[order[i + AHEAD // 2]].zone])
            point = &points[order[i]]
            state = &states[point.zone]
            if state.cut == order[i]:
                join(state, 1, state.at_end.lost, state.at_end.missed, &sums)
                join(state + 1, 1, state[1].at_begin.lost, state[1].at_begin.missed, &sums)
            else:
                join(state, 2, 2 * <long long>point.half_lost + (point.half_lost & 1), point.missed, &sums)
            if i + 1 < n and levels[i + 1] == levels[i]:
                continue
            precision = value_of(&sums.precisions)
            recall = value_of(&sums.recalls) / events
            if hopeless(&goal, precision, recall, sums.filled, highest):
                continue
            value = reached(&goal, precision / sums.filled, recall)
            if value > highest + 1e-13:  # beyond rounding: of equal values the first, with the largest v, stays
                highest = value
                best_level = levels[i]
    return best_level
