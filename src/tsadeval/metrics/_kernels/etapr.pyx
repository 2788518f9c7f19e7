"""eTaPR's detected events and correct runs: the largest sets of each that justify each other, and the best threshold.

The sweep over all thresholds takes O(log K) for each point, with K events, because of three facts.

1. A run of alarms that overlaps one event only is correct exactly if a large enough part of it lies in that event and
   the event is detected. So for each event the sums over such runs with a large enough part are sufficient.
2. A run that overlaps several events covers all of them but the first and the last completely, so these are detected
   if it is correct. It is called a tying run if a large enough part of it lies in events, detected or not: it makes its
   first and its last event depend on each other. An event is the last one of at most one tying run and the first
   one of at most one other, so events and tying runs form chains.
3. A section of a chain depends on the rest of it in two ways only: whether the tying run before its first event is
   correct, and whether the event after its last tying run is detected. These are four cases, and the results of two
   adjacent sections in each case give those of both together. So a segment tree over the events, in the order of
   time, has the sums over all events and runs at its root. A point that becomes an alarm changes at most five
   leaves, and the nodes above them.
"""

from libc.math cimport sqrt

import numpy as np

from tsadeval.core._memory cimport FETCH
from tsadeval.metrics._kernels.sums cimport Sum, add, value_of_sum
from tsadeval.metrics._kernels.sweeps cimport AHEAD
from tsadeval.metrics._kernels.zones cimport decay


cdef inline bint too_little(long long worth, double most, double theta) noexcept nogil:
    """Nothing is always too little; portions above 1 count as 1, which no theta exceeds."""
    return worth == 0 or worth / most < theta


def prune(
    const long long[::1] event, const long long[::1] run, const long long[::1] amount,
    long long[::1] event_total, long long[::1] run_total,
    const double[::1] event_most, const double[::1] run_most, double theta_r, double theta_p,
):
    """Drop events and runs that overlap too little with what is left, until nothing changes.

    The pairs (event, run, amount) come in the order of time, so those of an event lie together and so do those of
    a run. The totals lose the dropped pairs, and are 0 for what was dropped itself. Dropping only lowers the
    totals of others: whatever the order, the same events and runs remain, and each pair is looked at twice at most.
    """
    cdef Py_ssize_t K = event_total.shape[0], R = run_total.shape[0], pairs = event.shape[0]
    cdef Py_ssize_t waiting = 0, i, j
    cdef long long item
    first_of_event, first_of_run = np.full(K, -1, np.int64), np.full(R, -1, np.int64)
    dropped_, stack_ = np.zeros(K + R, np.uint8), np.empty(K + R, np.int64)
    cdef long long[::1] event_first = first_of_event, run_first = first_of_run, stack = stack_
    cdef unsigned char[::1] dropped = dropped_  # events, then runs
    with nogil:
        for i in range(pairs - 1, -1, -1):
            event_first[event[i]] = i
            run_first[run[i]] = i
        for i in range(K):
            if too_little(event_total[i], event_most[i], theta_r):
                dropped[i] = 1
                stack[waiting] = i
                waiting += 1
        for i in range(R):
            if too_little(run_total[i], run_most[i], theta_p):
                dropped[K + i] = 1
                stack[waiting] = K + i
                waiting += 1
        while waiting > 0:
            waiting -= 1
            item = stack[waiting]
            if item < K:
                event_total[item] = 0
                i = event_first[item]
                while 0 <= i < pairs and event[i] == item:
                    j = run[i]
                    if not dropped[K + j]:
                        run_total[j] -= amount[i]
                        if too_little(run_total[j], run_most[j], theta_p):
                            dropped[K + j] = 1
                            stack[waiting] = K + j
                            waiting += 1
                    i += 1
            else:
                item -= K
                run_total[item] = 0
                i = run_first[item]
                while 0 <= i < pairs and run[i] == item:
                    j = event[i]
                    if not dropped[j]:
                        event_total[j] -= amount[i]
                        if too_little(event_total[j], event_most[j], theta_r):
                            dropped[j] = 1
                            stack[waiting] = j
                            waiting += 1
                    i += 1


cdef struct Cell:
    # A point: what all points before it are worth, the first event that is not over before it (with its zone), and
    # the length of its run of alarms, which is kept up to date at both ends of the run; 0 without alarm.
    long long before
    int event
    int length


cdef struct Event:
    long long start, stop, end  # the zone lies from stop to end
    # Of the runs that overlap no other event and of which a large enough part lies in this one: what they are worth to
    # it, and what they add to precision's numerator if it is detected.
    long long worth
    Sum correct
    bint covered  # whole, by a run that overlaps the events on both sides too
    # The first event of the tying run that has this as its last one (or -1).
    Py_ssize_t first
    # The last event of the tying run that has this as its first one (or -1), and that run: its length, and what it is
    # worth in all, to its first event and to its last one.
    Py_ssize_t last
    long long length, run_worth, to_first, to_last


cdef enum:
    # Bits of the number of a case.
    BEFORE = 1  # the tying run before the section is correct
    AFTER = 2  # the event after the section is detected
    CASES = 4


cdef struct Section:
    # Of a section of a chain, in each of the four cases: the sum of the scores of detected events, and that of
    # correct runs, each times the root of its length.
    double recall[CASES]
    double correct[CASES]
    # One bit for each case: is the first event detected, and is the last tying run correct?
    int first, last


cdef struct State:
    Cell *cells
    Event *events
    Py_ssize_t number, leaves
    Section *tree  # the root is 1, the children of i are 2 i and 2 i + 1
    double unit, theta_p, theta_r
    Sum weight  # of all runs: the roots of their lengths


cdef struct Run:
    # The points first..last and what they are worth: nothing, or they overlap the events from `left` to `right`.
    Py_ssize_t first, last, left, right
    long long worth


cdef inline Run run_of(const State *s, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef Run run = Run(first, last, 0, 0, 0)
    if first > last:
        return run
    run.left, run.right = s.cells[first].event, s.cells[last].event
    if run.right == s.number or s.events[run.right].start > last:
        run.right -= 1
    run.worth = s.cells[last + 1].before - s.cells[first].before
    return run


cdef inline bint falls_short(const State *s, const Run *run) noexcept nogil:
    """Is the part of the run in events too small, even if all of them are detected?"""
    return too_little(run.worth, (run.last - run.first + 1) * s.unit, s.theta_p)


cdef inline double score_of(long long worth, double most) noexcept nogil:
    cdef double portion = worth / most
    return (1 + (portion if portion < 1 else 1)) / 2


cdef void count_run(State *s, const Run *run, int sign) noexcept nogil:
    """Add a run to the sums of its events (sign 1), or take it away (-1)."""
    cdef Py_ssize_t length = run.last - run.first + 1
    cdef Event *left
    cdef Event *right
    if falls_short(s, run):
        return
    left, right = &s.events[run.left], &s.events[run.right]
    if left == right:
        left.worth += sign * run.worth
        add(&left.correct, sign * sqrt(<double>length) * score_of(run.worth, length * s.unit))
    elif sign < 0:
        left.last = right.first = -1
    else:
        left.last, right.first = run.right, run.left
        left.length, left.run_worth = length, run.worth
        left.to_first = s.cells[left.end].before - s.cells[run.first].before
        left.to_last = s.cells[run.last + 1].before - s.cells[right.start].before


cdef void judge(const State *s, Py_ssize_t k, Section *leaf) noexcept nogil:
    """The results of an event with the tying run that it is the first of, if there is one."""
    cdef const Event *event = &s.events[k]
    cdef double most = (event.stop - event.start) * s.unit, run_most = event.length * s.unit
    cdef long long worth, run_worth
    cdef int case
    cdef bint detected, correct, again
    leaf.first = leaf.last = 0
    for case in range(CASES):
        leaf.recall[case] = leaf.correct[case] = 0
        if event.covered:  # counted with its run: the sections on its two sides depend on each other directly
            leaf.first |= (case & AFTER != 0) << case
            leaf.last |= (case & BEFORE != 0) << case
            continue
        if case > 0 and event.first < 0 and event.last < 0:  # nothing before or after matters
            leaf.recall[case], leaf.correct[case] = leaf.recall[0], leaf.correct[0]
            continue
        detected, correct, again = True, event.last >= 0, True
        while again:
            worth = event.worth + (event.to_first if correct else 0)
            if event.first >= 0 and case & BEFORE:
                worth += s.events[event.first].to_last
            again = detected and too_little(worth, most, s.theta_r)
            detected = detected and not again
            run_worth = event.run_worth - (0 if detected else event.to_first) - (0 if case & AFTER else event.to_last)
            if correct and too_little(run_worth, run_most, s.theta_p):
                correct, again = False, True
        if detected:
            leaf.recall[case] = score_of(worth, most)
            leaf.correct[case] = value_of_sum(&event.correct)
        if correct:
            leaf.recall[case] += event.last - k - 1
            leaf.correct[case] += sqrt(<double>event.length) * score_of(run_worth, run_most)
        leaf.first |= detected << case
        leaf.last |= correct << case


cdef void join(const Section *left, const Section *right, Section *both) noexcept nogil:
    """The results of two adjacent sections: the left one's last run and the right one's first event meet.

    The largest sets are wanted, so the event is taken as detected first, and as not detected if that is inconsistent.
    """
    cdef int case, of_left, of_right
    both.first = both.last = 0
    for case in range(CASES):
        of_left = case | AFTER
        of_right = case & AFTER | (left.last >> of_left & 1) * BEFORE
        if not right.first >> of_right & 1:
            of_left = case & BEFORE
            of_right = case & AFTER | (left.last >> of_left & 1) * BEFORE
        both.recall[case] = left.recall[of_left] + right.recall[of_right]
        both.correct[case] = left.correct[of_left] + right.correct[of_right]
        both.first |= (left.first >> of_left & 1) << case
        both.last |= (right.last >> of_right & 1) << case


cdef void update(State *s, Py_ssize_t k) noexcept nogil:
    """Judge an event again, and all sections with it."""
    cdef Py_ssize_t i = s.leaves + k
    judge(s, k, &s.tree[i])
    while i > 1:
        i >>= 1
        join(&s.tree[2 * i], &s.tree[2 * i + 1], &s.tree[i])


cdef void become_alarm(State *s, Py_ssize_t x) noexcept nogil:
    """The point joins the runs on its two sides, and the events that they overlap are judged again."""
    cdef Py_ssize_t left = s.cells[x - 1].length, right = s.cells[x + 1].length, i, j, events = 2
    cdef Py_ssize_t touched[5]
    cdef Event *event
    cdef bint counting, covering
    cdef Run run = run_of(s, x - left, x + right), before, after
    s.cells[x].length = s.cells[x - left].length = s.cells[x + right].length = <int>(left + right + 1)
    add(&s.weight, sqrt(<double>(left + right + 1)))
    if left > 0:
        add(&s.weight, -sqrt(<double>left))
    if right > 0:
        add(&s.weight, -sqrt(<double>right))
    if run.worth == 0:
        return
    # The ends of the run; and where it joins others, their ends, and the event of the point itself.
    touched[0], touched[1] = run.left, run.right
    before, after = run_of(s, x - left, x - 1), run_of(s, x + 1, x + right)
    if before.worth > 0:
        touched[events] = before.right
        events += 1
    if after.worth > 0:
        touched[events] = after.left
        events += 1
    i = s.cells[x].event
    if i < s.number and s.events[i].start <= x:
        touched[events] = i
        events += 1
    counting = not (falls_short(s, &run) and falls_short(s, &before) and falls_short(s, &after))
    if counting:
        count_run(s, &before, -1)
        count_run(s, &after, -1)
        count_run(s, &run, 1)
    for i in range(events):
        j = 0
        while touched[j] != touched[i]:
            j += 1
        if j < i:
            continue  # it has been updated already
        event = &s.events[touched[i]]
        covering = run.left < touched[i] < run.right and not event.covered
        event.covered |= covering
        if counting or covering:
            update(s, touched[i])


cdef void lay_out(
    State *s, Py_ssize_t n, const long long[::1] starts, const long long[::1] stops, const long long[::1] zones,
    long long unit,
) noexcept nogil:
    """All points without alarm, and what each is worth to its event."""
    cdef Py_ssize_t k, x
    cdef long long worth = 0
    cdef Event *event
    for k in range(s.number):
        event = &s.events[k]
        event.start, event.stop, event.end = starts[k], stops[k], min(stops[k] + zones[k], n)
        event.first = event.last = -1
    for k in range(s.leaves):
        judge(s, k, &s.tree[s.leaves + k])
    for k in range(s.leaves - 1, 0, -1):
        join(&s.tree[2 * k], &s.tree[2 * k + 1], &s.tree[k])
    k = 0
    for x in range(n):
        if k < s.number and x >= s.events[k].end:
            k += 1
        s.cells[x] = Cell(worth, <int>k, 0)
        if k < s.number and x >= starts[k]:
            worth += unit if x < stops[k] else decay(x - stops[k], zones[k], unit)
    s.cells[n] = Cell(worth, <int>s.number, 0)


def best_threshold(
    const double[:] levels, const long long[:] order,
    const long long[::1] starts, const long long[::1] stops, const long long[::1] zones,
    double theta_p, double theta_r, double weight, long long unit,
):
    """The v of the best eTaPR F over all alarms `score >= v`, with recall of that weight; the largest v of several.

    `levels` are the scores in descending order, and `order` the points they belong to.
    """
    cdef Py_ssize_t n = levels.shape[0], number = starts.shape[0], leaves = 1, i
    cdef double recall, correct, possible, value, best = -1, best_score = 0
    while leaves < number:
        leaves *= 2
    cdef unsigned char[::1] cells = np.zeros((n + 2) * sizeof(Cell), np.uint8)
    # More events than there are, so that each leaf has one: without alarms they contribute nothing.
    cdef unsigned char[::1] events = np.zeros(leaves * sizeof(Event), np.uint8)
    cdef unsigned char[::1] tree = np.zeros(2 * leaves * sizeof(Section), np.uint8)
    cdef State s = State(
        <Cell *>&cells[0] + 1,  # there is a point without alarm before the first one, too
        <Event *>&events[0], number, leaves, <Section *>&tree[0], unit, theta_p, theta_r, Sum(0, 0),
    )
    with nogil:
        lay_out(&s, n, starts, stops, zones, unit)
        for i in range(n):
            if i + AHEAD < n:
                FETCH(&s.cells[order[i + AHEAD]])
            become_alarm(&s, order[i])
            if i + 1 < n and levels[i + 1] == levels[i]:
                continue
            recall, correct, value = s.tree[1].recall[0], s.tree[1].correct[0], 0
            if recall > 0:
                possible = weight * correct * number + recall * value_of_sum(&s.weight)
                value = (1 + weight) * correct * recall
                if value < best * possible:
                    continue
                value /= possible
            if value > best + 1e-13:  # beyond rounding: of equal values the first, with the largest score, stays
                best = value
                best_score = levels[i]
    return best_score
