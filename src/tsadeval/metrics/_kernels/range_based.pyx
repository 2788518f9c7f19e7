"""Range-based precision and recall: of two lists of runs, and of all thresholds by merging runs.

Weights of positions are whole numbers, so sums of them are exact; only a range's reward is rounded. The sums of
rewards lose nothing, so the sweep, which adds and subtracts all along, arrives at the same number as adding up the
runs of one threshold.
"""

import numpy as np

from tsadeval.core._memory cimport FETCH
from tsadeval.metrics._kernels.sums cimport Sum, add, value_of_sum
from tsadeval.metrics._kernels.sweeps cimport AHEAD, Exact, accumulate, value_of, whole

# The words users know.
BIASES = {"flat": 0, "front": 1, "middle": 2, "back": 3}
OBJECTIVES = {"precision": 0, "recall": 1, "f": 2}

cdef enum:
    FLAT = 0
    FRONT = 1
    MIDDLE = 2
    BACK = 3

cdef enum:
    PRECISION = 0
    RECALL = 1

cdef struct Rule:
    double alpha
    int bias
    bint reciprocal


cdef Rule rule_of(double alpha, str bias, bint reciprocal):
    cdef Rule rule
    rule.alpha = alpha
    rule.bias = BIASES[bias]
    rule.reciprocal = reciprocal
    return rule


cdef inline long long first_weights(long long t, long long length, int bias) noexcept nogil:
    """Sum of the weights of the first t positions of a range."""
    if bias == FLAT:
        return t
    if bias == BACK or (bias == MIDDLE and t <= length // 2):
        return t * (t + 1) // 2
    if bias == FRONT:
        return t * length - t * (t - 1) // 2
    # The middle's weights 1, 2, .., 2, 1 add up to this, less those of the positions after t.
    return (length + 1) // 2 * (length // 2 + 1) - (length - t) * (length - t + 1) // 2


cdef inline double reward(long long weight, long long length, long long overlapping, Rule rule) noexcept nogil:
    """What a range earns whose overlaps, with `overlapping` ranges of the other side, weigh so much."""
    cdef double share
    if overlapping == 0:
        return 0
    share = <double> weight / <double> first_weights(length, length, rule.bias)
    if rule.reciprocal:
        share /= overlapping
    return rule.alpha + (1 - rule.alpha) * share


def mean_reward(
    const long long[:] starts, const long long[:] stops,
    const long long[:] other_starts, const long long[:] other_stops,
    double alpha, str bias, bint reciprocal,
):
    """Mean reward of ranges for their overlap with other ranges; both lists sorted and disjoint."""
    cdef Rule rule = rule_of(alpha, bias, reciprocal)
    cdef Py_ssize_t i, j = 0, ranges = starts.shape[0], others = other_starts.shape[0]
    cdef long long weight, overlapping, start, stop, length, low, high
    cdef Sum total = Sum(0, 0)
    with nogil:
        for i in range(ranges):
            start = starts[i]
            stop = stops[i]
            length = stop - start
            weight = overlapping = 0
            while j < others and other_stops[j] <= start:
                j += 1
            while j < others and other_starts[j] < stop:
                low = max(other_starts[j], start) - start
                high = min(other_stops[j], stop) - start
                weight += first_weights(high, length, rule.bias) - first_weights(low, length, rule.bias)
                overlapping += 1
                if other_stops[j] > stop:
                    break  # it may reach into the next range too
                j += 1
            if overlapping > 0:  # most ranges earn nothing
                add(&total, reward(weight, length, overlapping, rule))
    return value_of_sum(&total) / ranges


cdef struct Truth:
    # The events, and of the labelled points before each: how many, and the sum of their positions.
    Py_ssize_t events
    const long long *starts
    const long long *stops
    const long long *counts
    const long long *sums


cdef struct Labelled:
    long long count
    long long positions


cdef inline Labelled labelled_before(const Truth *truth, long long x, long long events) noexcept nogil:
    """Number and sum of positions of the labelled points before x, by when `events` have begun."""
    cdef long long start, points
    if events == 0:
        return Labelled(0, 0)
    start = truth.starts[events - 1]
    points = min(x, truth.stops[events - 1]) - start
    return Labelled(
        truth.counts[events - 1] + points, truth.sums[events - 1] + points * start + points * (points - 1) // 2
    )


cdef struct Point:
    # What runs of alarms earn more (or less) when this point becomes an alarm, after those of higher scores.
    long long change
    # The number of events that have begun by here, then three bits: in an event? alarms to the left, to the right?
    long long place

cdef enum:
    RIGHT = 1
    LEFT = 2
    INSIDE = 4


cdef inline double run_reward(
    const Truth *truth, const Point *at, Py_ssize_t first, Py_ssize_t last, Rule rule
) noexcept nogil:
    """What the predicted run of the points first..last earns."""
    cdef long long begun = at[first].place >> 3, overlapping = (at[last].place >> 3) - begun, weight
    cdef Py_ssize_t turn
    cdef Labelled before, until, middle
    if at[first].place & INSIDE:
        overlapping += 1
    if overlapping == 0:
        return 0
    before = labelled_before(truth, first, begun)
    until = labelled_before(truth, last + 1, at[last].place >> 3)
    if rule.bias == FLAT:
        return reward(until.count - before.count, last - first + 1, overlapping, rule)
    # A point x weighs x - (first - 1) up to the turn, then (last + 1) - x: sums of these need a count and a sum of x.
    middle = before
    if rule.bias == BACK:
        middle = until
    elif rule.bias == MIDDLE:
        turn = first + (last - first + 1) // 2
        middle = labelled_before(truth, turn, at[turn].place >> 3)
    weight = (middle.positions - before.positions) - (first - 1) * (middle.count - before.count)
    weight += (last + 1) * (until.count - middle.count) - (until.positions - middle.positions)
    return reward(weight, last - first + 1, overlapping, rule)


cdef void find_changes(
    const double *scores, Py_ssize_t n, const Truth *truth, Rule rule, long long *stack, Point *points
) noexcept nogil:
    """Of every point the change when it becomes an alarm, in the order of time.

    A point becomes an alarm after those of higher scores, and then joins the runs on its two sides: its run reaches
    to the nearest lower scores. The stack has the points whose run is still open to the right, scores ascending; a
    point there keeps the reward of the run on its left. Of equal scores the later point comes first.
    """
    cdef Py_ssize_t depth = 0, x, top, first, k = 0, events = truth.events
    cdef long long earned, of_right
    for x in range(n + 1):
        of_right = 0  # the reward of the run between the top of the stack and here
        while depth > 0 and (x == n or scores[stack[depth - 1]] > scores[x]):
            depth -= 1
            top = stack[depth]
            first = stack[depth - 1] + 1 if depth > 0 else 0
            earned = whole(run_reward(truth, points, first, x - 1, rule))
            points[top].change = earned - points[top].change - of_right
            points[top].place |= (LEFT if first < top else 0) | (RIGHT if top < x - 1 else 0)
            of_right = earned
        if x < n:
            if k < events and truth.starts[k] == x:
                k += 1
            points[x].change = of_right
            points[x].place = k << 3 | (INSIDE if k > 0 and x < truth.stops[k - 1] else 0)
            stack[depth] = x
            depth += 1


cdef struct Event:
    long long start, length
    # Of its alarms: their weight, the number of runs, and the reward for these.
    long long weight, pieces, earned


cdef inline long long gain(Event *event, Py_ssize_t x, long long place, Rule rule) noexcept nogil:
    """What an event earns more when its point x becomes an alarm."""
    cdef long long earned = event.earned, at = x - event.start
    event.weight += first_weights(at + 1, event.length, rule.bias) - first_weights(at, event.length, rule.bias)
    event.pieces += 1 - (place & LEFT != 0 and at > 0) - (place & RIGHT != 0 and at + 1 < event.length)
    event.earned = whole(reward(event.weight, event.length, event.pieces, rule))
    return event.earned - earned


cdef inline double aim_value(int aim, double precision, double recall, double weight) noexcept nogil:
    if aim == PRECISION:
        return precision
    if aim == RECALL:
        return recall
    if precision == 0 or recall == 0:
        return 0
    return (1 + weight) * precision * recall / (weight * precision + recall)


def best_threshold(
    const double[::1] scores, const double[:] levels, const long long[:] order,
    const long long[::1] starts, const long long[::1] stops,
    double recall_alpha, str recall_bias, double precision_alpha, str precision_bias, bint reciprocal,
    double recall_weight, str objective,
):
    """The v of the best alarms `score >= v`, over all distinct scores v; the largest v of several.

    `levels` are the scores in descending order, and `order` the points they belong to.
    """
    cdef Rule of_event = rule_of(recall_alpha, recall_bias, reciprocal)
    cdef Rule of_run = rule_of(precision_alpha, precision_bias, reciprocal)
    cdef int aim = OBJECTIVES[objective]
    cdef Py_ssize_t n = scores.shape[0], number = starts.shape[0], i, x, k
    cdef long long runs = 0, place
    cdef double recall, value, best = -1, best_score = 0
    cdef Exact run_rewards = Exact(0, 0), event_rewards = Exact(0, 0)
    lengths = np.subtract(stops, starts)
    position_sums = lengths * starts + lengths * (lengths - 1) // 2
    cdef const long long[::1] counts = np.cumsum(lengths) - lengths, sums = np.cumsum(position_sums) - position_sums
    cdef long long[::1] stack = np.empty(n, np.int64), memory = np.empty(2 * n, np.int64)
    cdef long long[:, ::1] states = np.zeros((number + 1, 5), np.int64)
    cdef Point *points = <Point *>&memory[0]
    cdef Event *events = <Event *>&states[0, 0]
    cdef Truth truth = Truth(0, NULL, NULL, NULL, NULL)
    if number:
        truth = Truth(number, &starts[0], &stops[0], &counts[0], &sums[0])
    with nogil:
        for k in range(number):
            events[k].start = starts[k]
            events[k].length = stops[k] - starts[k]
        find_changes(&scores[0], n, &truth, of_run, &stack[0], points)
        for i in range(n):
            if i + AHEAD < n:
                FETCH(&points[order[i + AHEAD]])
            x = order[i]
            place = points[x].place
            runs += 1 - (place & LEFT != 0) - (place & RIGHT != 0)
            accumulate(&run_rewards, points[x].change)
            if place & INSIDE:
                accumulate(&event_rewards, gain(&events[(place >> 3) - 1], x, place, of_event))
            if i + 1 < n and levels[i + 1] == levels[i]:
                continue
            recall = value_of(&event_rewards) / number if number else 0
            value = aim_value(aim, value_of(&run_rewards) / runs, recall, recall_weight)
            if value > best + 1e-13:  # beyond rounding: of equal values the first, with the largest score, stays
                best = value
                best_score = levels[i]
    return best_score
