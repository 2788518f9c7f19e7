"""What alarms are worth to events and their ambiguous zones, and TaPR at every threshold.

Weights are whole numbers of 1 / unit, with unit a power of two, and mirror weights of a zone add up to exactly one
unit. So sums are exact in any order, and a share that equals a threshold is seen to equal it.
"""

from libc.math cimport exp, llround

import numpy as np


cdef inline long long decay(long long place, long long length, long long unit) noexcept nogil:
    """Weight of a point of a zone: a logistic over the zone stretched to [-6, 6]."""
    if 2 * place == length - 1:
        return unit // 2
    if 2 * place > length - 1:
        return unit - decay(length - 1 - place, length, unit)
    return llround(unit / (1 + exp(-6 + 12 * (<double>place / (length - 1)))))


cdef long long decays(long long first, long long last, long long length, long long unit) noexcept nogil:
    """Sum of the weights of a zone's points first..last - 1; those of the whole zone are worth half its length."""
    cdef long long total = 0, place
    if 2 * (last - first) <= length:
        for place in range(first, last):
            total += decay(place, length, unit)
        return total
    total = length * (unit // 2)
    for place in range(first):
        total -= decay(place, length, unit)
    for place in range(last, length):
        total -= decay(place, length, unit)
    return total


def overlaps(
    const long long[:] starts, const long long[:] stops, const long long[::1] zones,
    const long long[:] run_starts, const long long[:] run_stops, long long unit,
):
    """All pairs of an event (with its zone) and a run of alarms that overlap, in the order of time.

    Returns the pairs' events, runs and worth, and the worth of each event's row and of each run's column. Events
    with their zones are disjoint, and so are runs: there are fewer pairs than events and runs.
    """
    cdef Py_ssize_t k = 0, r = 0, found = 0, K = starts.shape[0], R = run_starts.shape[0]
    cdef long long low, high, reach, worth
    events, runs, amounts = (np.empty(K + R, np.int64) for _ in range(3))
    event_totals, run_totals = np.zeros(K, np.int64), np.zeros(R, np.int64)
    cdef long long[::1] event = events, run = runs, amount = amounts
    cdef long long[::1] event_total = event_totals, run_total = run_totals
    with nogil:
        while k < K and r < R:
            reach = stops[k] + zones[k]
            low = max(starts[k], run_starts[r])
            high = min(reach, run_stops[r])
            if low < high:
                worth = 0
                if low < stops[k]:
                    worth = (min(high, stops[k]) - low) * unit
                if high > stops[k]:
                    worth += decays(max(low, stops[k]) - stops[k], high - stops[k], zones[k], unit)
                event[found] = k
                run[found] = r
                amount[found] = worth
                event_total[k] += worth
                run_total[r] += worth
                found += 1
            if reach <= run_stops[r]:
                k += 1
            else:
                r += 1
    return events[:found], runs[:found], amounts[:found], event_totals, run_totals


cdef struct Sum:
    double high
    double low


cdef inline void add(Sum *total, double value) noexcept nogil:
    """Add a value and keep what rounding takes away: millions of changes leave no trace."""
    cdef double s = total.high + value, b = s - total.high
    total.low += (total.high - (s - b)) + (value - b)
    total.high = s


# Events or runs: the sum of their portions, and how many portions reach theta.
cdef struct Side:
    Sum portions
    long long reached
    long long count


cdef inline void put(Side *side, long long worth, double most, double theta, int sign) noexcept nogil:
    """Add (or with sign -1 remove) one event or run that is worth so much of at most `most`."""
    cdef double portion
    side.count += sign
    if worth > 0:
        portion = worth / most
        if portion > 1:
            portion = 1
        add(&side.portions, sign * portion)
        if portion >= theta:
            side.reached += sign


cdef inline double score(Side *side, double alpha) noexcept nogil:
    """Precision or recall times the number of runs or events."""
    return alpha * side.reached + (1 - alpha) * (side.portions.high + side.portions.low)


def best_threshold(
    const long long[:] order, const double[::1] scores,
    const long long[:] starts, const long long[:] stops, const long long[::1] zones,
    double alpha, double theta, double weight, long long unit,
):
    """The v of the best TaPR F over all alarms `score >= v`, with recall of that weight; the largest v of several.

    Points become alarms by descending score. Each changes one event, and joins up to two runs to one: a run's two
    borders know each other, so every step costs the same.
    """
    cdef Py_ssize_t n = scores.shape[0], K = starts.shape[0], i, x, k, left, right
    cdef long long place, worth
    cdef Side event, run
    cdef double precision, recall, value, best = -1, best_score = 0
    before_, border_ = np.zeros(n + 1, np.int64), np.full(n, -1, np.int64)
    owner_, event_worth_ = np.full(n, -1, np.int32), np.zeros(K, np.int64)
    cdef long long[::1] before = before_, border = border_, event_worth = event_worth_
    cdef int[::1] owner = owner_
    event.portions.high = event.portions.low = run.portions.high = run.portions.low = 0
    event.reached = run.reached = run.count = 0
    event.count = K
    with nogil:
        for k in range(K):
            for x in range(starts[k], stops[k]):
                before[x + 1] = unit
                owner[x] = <int>k
            for x in range(stops[k], min(stops[k] + zones[k], n)):
                before[x + 1] = decay(x - stops[k], zones[k], unit)
                owner[x] = <int>k
        for x in range(n):
            before[x + 1] += before[x]
        for i in range(n):
            x = order[i]
            left = right = x
            if x > 0 and border[x - 1] >= 0:
                left = border[x - 1]
                put(&run, before[x] - before[left], <double>(x - left) * unit, theta, -1)
            if x + 1 < n and border[x + 1] >= 0:
                right = border[x + 1]
                put(&run, before[right + 1] - before[x + 1], <double>(right - x) * unit, theta, -1)
            border[left] = right
            border[right] = left
            put(&run, before[right + 1] - before[left], <double>(right + 1 - left) * unit, theta, 1)
            k = owner[x]
            if k >= 0:
                put(&event, event_worth[k], <double>(stops[k] - starts[k]) * unit, theta, -1)
                event_worth[k] += before[x + 1] - before[x]
                put(&event, event_worth[k], <double>(stops[k] - starts[k]) * unit, theta, 1)
            if i + 1 < n and scores[order[i + 1]] == scores[x]:
                continue
            precision = score(&run, alpha)
            recall = score(&event, alpha)
            value = 0
            if precision > 0 and recall > 0:
                value = (1 + weight) * precision * recall / (weight * precision * event.count + recall * run.count)
            # Equal values may differ in their last digits: the first of them, with the largest score, stays.
            if value > best + 1e-13:
                best = value
                best_score = scores[x]
    return best_score
