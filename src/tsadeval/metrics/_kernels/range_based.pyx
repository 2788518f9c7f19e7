"""Range-based precision and recall: of two lists of runs, and of all thresholds by merging runs.

Weights of positions are whole numbers, so sums of them are exact; only a range's reward is rounded. Sums of
rewards are kept as two doubles. So the sweep, which adds and subtracts all along, arrives at the same number
as adding up the runs of one threshold.
"""

import numpy as np

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

ctypedef fused index_t:
    int
    long long


cdef struct Rule:
    double alpha
    int bias
    bint reciprocal


cdef struct Sum:
    double high
    double low


cdef inline void add(Sum *total, double value) noexcept nogil:
    """Add without loss: the two doubles hold about 106 bits."""
    cdef double first, part, low
    if value == 0:
        return  # most runs earn nothing
    first = total.high + value
    part = first - total.high
    low = total.low + ((total.high - (first - part)) + (value - part))
    total.high = first + low
    total.low = low - (total.high - first)


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
            add(&total, reward(weight, length, overlapping, rule))
    return total.high / ranges


cdef struct Truth:
    # The events, and of the labelled points before each: how many, and the sum of their positions.
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


cdef inline double run_reward(
    const Truth *truth, const index_t *at, Py_ssize_t first, Py_ssize_t last, Rule rule
) noexcept nogil:
    """What the predicted run of the points first..last earns."""
    cdef long long begun = at[2 * first + 1], overlapping = at[2 * last + 1] - begun, weight
    cdef Py_ssize_t turn
    cdef Labelled before, until, middle
    if begun and first < truth.stops[begun - 1]:
        overlapping += 1
    if overlapping == 0:
        return 0
    before = labelled_before(truth, first, begun)
    until = labelled_before(truth, last + 1, at[2 * last + 1])
    if rule.bias == FLAT:
        return reward(until.count - before.count, last - first + 1, overlapping, rule)
    # A point x weighs x - (first - 1) up to the turn, then (last + 1) - x: sums of these need a count and a sum of x.
    middle = before
    if rule.bias == BACK:
        middle = until
    elif rule.bias == MIDDLE:
        turn = first + (last - first + 1) // 2
        middle = labelled_before(truth, turn, at[2 * turn + 1])
    weight = (middle.positions - before.positions) - (first - 1) * (middle.count - before.count)
    weight += (last + 1) * (until.count - middle.count) - (until.positions - middle.positions)
    return reward(weight, last - first + 1, overlapping, rule)


cdef inline double aim_value(int aim, double precision, double recall, double weight) noexcept nogil:
    if aim == PRECISION:
        return precision
    if aim == RECALL:
        return recall
    if precision == 0 or recall == 0:
        return 0
    return (1 + weight) * precision * recall / (weight * precision + recall)


def best_threshold(
    const double[::1] scores, const long long[:] order, index_t[::1] room,
    const long long[::1] starts, const long long[::1] stops,
    double recall_alpha, str recall_bias, double precision_alpha, str precision_bias, bint reciprocal,
    double recall_weight, str objective,
):
    """The v of the best alarms `score >= v`, over all distinct scores v; the largest v of several.

    `order` lists the points by descending score. They are marked one by one; a marked point joins the runs on
    its two sides. `room` holds two numbers a point, side by side: the other end of the run that the point is an
    end of (-1 while not marked), and the number of events that have begun by then.
    """
    cdef Rule of_event = rule_of(recall_alpha, recall_bias, reciprocal)
    cdef Rule of_run = rule_of(precision_alpha, precision_bias, reciprocal)
    cdef int aim = OBJECTIVES[objective]
    cdef Py_ssize_t n = scores.shape[0], events = starts.shape[0], i, x, first, last, k
    cdef long long start = 0, length = 0, runs = 0
    cdef double precision, recall, value, best = -1, best_score = 0
    cdef Sum run_rewards = Sum(0, 0), event_rewards = Sum(0, 0)
    lengths = np.subtract(stops, starts)
    before = np.cumsum(lengths) - lengths
    position_sums = lengths * starts + lengths * (lengths - 1) // 2
    sums_before = np.cumsum(position_sums) - position_sums
    cdef const long long[::1] counts = before, sums = sums_before
    # Per event: weight of its marked points, number of marked runs in it, and the reward for these.
    cdef long long[::1] weight = np.zeros(events, np.int64), pieces = np.zeros(events, np.int64)
    cdef double[::1] earned = np.zeros(events)
    cdef index_t *at = &room[0]
    cdef Truth truth
    if events:
        truth = Truth(&starts[0], &stops[0], &counts[0], &sums[0])
    with nogil:
        k = 0
        for x in range(n):
            while k < events and starts[k] <= x:
                k += 1
            at[2 * x] = -1
            at[2 * x + 1] = <index_t> k
        for i in range(n):
            x = order[i]
            first = x
            last = x
            runs += 1
            k = at[2 * x + 1] - 1
            if k >= 0 and x >= stops[k]:
                k = -1
            if k >= 0:
                start = starts[k]
                length = stops[k] - start
                weight[k] += first_weights(x - start + 1, length, of_event.bias)
                weight[k] -= first_weights(x - start, length, of_event.bias)
                pieces[k] += 1
            if x > 0 and at[2 * (x - 1)] >= 0:
                first = at[2 * (x - 1)]
                runs -= 1
                add(&run_rewards, -run_reward(&truth, at, first, x - 1, of_run))
                if k >= 0 and x > start:
                    pieces[k] -= 1
            if x + 1 < n and at[2 * (x + 1)] >= 0:
                last = at[2 * (x + 1)]
                runs -= 1
                add(&run_rewards, -run_reward(&truth, at, x + 1, last, of_run))
                if k >= 0 and x + 1 < stops[k]:
                    pieces[k] -= 1
            at[2 * x] = <index_t> x
            at[2 * first] = <index_t> last
            at[2 * last] = <index_t> first
            add(&run_rewards, run_reward(&truth, at, first, last, of_run))
            if k >= 0:
                add(&event_rewards, -earned[k])
                earned[k] = reward(weight[k], length, pieces[k], of_event)
                add(&event_rewards, earned[k])
            if i + 1 < n and scores[order[i + 1]] == scores[x]:
                continue
            precision = run_rewards.high / runs
            recall = event_rewards.high / events if events else 0
            value = aim_value(aim, precision, recall, recall_weight)
            if value > best + 1e-13:  # beyond rounding: of equal values the first, with the largest score, stays
                best = value
                best_score = scores[x]
    return best_score
