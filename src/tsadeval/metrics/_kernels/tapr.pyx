"""What alarms are worth to events and their ambiguous zones, and TaPR at every threshold.

Weights are whole numbers of 1 / unit, with unit a power of two, and mirror weights of a zone add up to exactly one
unit. So sums are exact in any order, and a share that equals a threshold is seen to equal it.
"""

import numpy as np

from tsadeval.core._memory cimport FETCH
from tsadeval.metrics._kernels.sweeps cimport AHEAD, Exact, accumulate, value_of, whole
from tsadeval.metrics._kernels.zones cimport decay


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


cdef struct Rule:
    double alpha, theta
    long long unit
    int shift  # of the event's number in `Point.place`


cdef inline long long score_of(long long worth, long long length, const Rule *rule) noexcept nogil:
    """What an event or a run of alarms of so many points scores, as a whole number of 2^-61."""
    cdef double portion
    if worth == 0:
        return 0
    portion = worth / (<double>length * rule.unit)
    if portion > 1:
        portion = 1
    return whole((rule.alpha if portion >= rule.theta else 0) + (1 - rule.alpha) * portion)


cdef struct Point:
    # What runs of alarms score more (or less) when this point becomes an alarm, after those of higher scores.
    long long change
    # Its event, what it is worth to it, and two bits: are there alarms to its left, to its right? All fit, because
    # the longer the series, the more events it may have, and the coarser is the unit.
    unsigned long long place

cdef enum:
    RIGHT = 1
    LEFT = 2
    FLAGS = 2  # bits


cdef struct Open:
    # A point whose run is still open to the right, and what all points up to it are worth.
    long long position, worth


cdef struct Event:
    long long start, stop, zone
    # What its alarms are worth, and the score for that.
    long long worth, score


cdef void find_changes(
    const double *scores, Py_ssize_t n, const Event *events, Py_ssize_t number, const Rule *rule,
    Open *stack, Point *points,
) noexcept nogil:
    """Of every point the change when it becomes an alarm, in the order of time.

    A point becomes an alarm after those of higher scores, and then joins the runs on its two sides: its run reaches
    to the nearest lower scores. The stack has the points whose run is still open to the right, scores ascending; a
    point there keeps the score of the run on its left. Of equal scores the later point comes first.
    """
    cdef Py_ssize_t depth = 0, x, top, first, k = 0
    cdef long long score, of_right, worth = 0, before, weight
    for x in range(n + 1):
        of_right = 0  # the score of the run between the top of the stack and here
        while depth > 0 and (x == n or scores[stack[depth - 1].position] > scores[x]):
            depth -= 1
            top = stack[depth].position
            first, before = 0, 0
            if depth > 0:
                first, before = stack[depth - 1].position + 1, stack[depth - 1].worth
            score = score_of(worth - before, x - first, rule)
            points[top].change = score - points[top].change - of_right
            points[top].place |= (LEFT if first < top else 0) | (RIGHT if top < x - 1 else 0)
            of_right = score
        if x < n:
            points[x] = Point(of_right, 0)
            if k < number and x >= events[k].stop + events[k].zone:
                k += 1
            if k < number and x >= events[k].start:
                weight = rule.unit
                if x >= events[k].stop:
                    weight = decay(x - events[k].stop, events[k].zone, rule.unit)
                worth += weight
                points[x].place = <unsigned long long>k << rule.shift | <unsigned long long>weight << FLAGS
            stack[depth] = Open(x, worth)
            depth += 1


def best_threshold(
    const double[::1] scores, const double[:] levels, const long long[:] order,
    const long long[:] starts, const long long[:] stops, const long long[::1] zones,
    double alpha, double theta, double weight, long long unit,
):
    """The v of the best TaPR F over all alarms `score >= v`, with recall of that weight; the largest v of several.

    `levels` are the scores in descending order, and `order` the points they belong to.
    """
    cdef Py_ssize_t n = scores.shape[0], number = starts.shape[0], i, k
    cdef Rule rule = Rule(alpha, theta, unit, int(unit).bit_length() + FLAGS)
    cdef long long runs = 0, before, worth
    cdef unsigned long long mask = (<unsigned long long>1 << rule.shift) - 1
    cdef double precision, recall, value, best = -1, best_score = 0
    cdef Exact of_runs = Exact(0, 0), of_events = Exact(0, 0)
    cdef long long[:, ::1] memory = np.empty((n, 2), np.int64), stack = np.empty((n, 2), np.int64)
    cdef long long[:, ::1] states = np.zeros((number + 1, 5), np.int64)
    cdef Point *points = <Point *>&memory[0, 0]
    cdef Event *events = <Event *>&states[0, 0]
    cdef Point *point
    cdef Event *event
    with nogil:
        for k in range(number):
            events[k] = Event(starts[k], stops[k], zones[k], 0, 0)
        find_changes(&scores[0], n, events, number, &rule, <Open *>&stack[0, 0], points)
        for i in range(n):
            if i + AHEAD < n:
                FETCH(&points[order[i + AHEAD]])
            point = &points[order[i]]
            runs += 1 - (point.place & LEFT != 0) - (point.place & RIGHT != 0)
            accumulate(&of_runs, point.change)
            worth = (point.place & mask) >> FLAGS
            if worth > 0:
                event = &events[point.place >> rule.shift]
                before = event.score
                event.worth += worth
                event.score = score_of(event.worth, event.stop - event.start, &rule)
                accumulate(&of_events, event.score - before)
            if i + 1 < n and levels[i + 1] == levels[i]:
                continue
            precision = value_of(&of_runs)
            recall = value_of(&of_events)
            value = 0
            if precision > 0 and recall > 0:
                value = (1 + weight) * precision * recall / (weight * precision * number + recall * runs)
            # Equal values may differ in their last digits: the first of them, with the largest score, stays.
            if value > best + 1e-13:
                best = value
                best_score = levels[i]
    return best_score
