"""The NAB score at every threshold that can be the best: where events are found earlier, and what false alarms cost."""

from libc.math cimport tanh

import numpy as np


def records(const double[::1] scores, const long long[::1] begins, const long long[::1] stops):
    """Points that score more than all before them in their stretch [begin, stop), and the number of their stretch.

    Going down with the threshold, the first alarm of a stretch moves from one of these to the one before.
    """
    cdef Py_ssize_t k, x, count = 0
    cdef double highest = 0
    for k in range(begins.shape[0]):
        count += stops[k] - begins[k]
    positions, stretches = np.empty(count, np.int64), np.empty(count, np.int64)
    cdef long long[::1] position = positions, stretch = stretches
    with nogil:
        count = 0
        for k in range(begins.shape[0]):
            for x in range(begins[k], stops[k]):
                if x == begins[k] or scores[x] > highest:
                    highest = scores[x]
                    position[count] = x
                    stretch[count] = k
                    count += 1
    return positions[:count], stretches[:count]


def false_alarm_costs(
    const int[::1] level, Py_ssize_t levels, const long long[::1] starts, const long long[::1] stops, Py_ssize_t begin
):
    """The weight of the normal points from `begin` on by level: in full, as a count, and in part, after an event."""
    cdef Py_ssize_t n = level.shape[0], events = starts.shape[0], k, x, start, stop
    cdef double width = 1, place
    full, part = np.zeros(levels + 1, np.int64), np.zeros(levels + 1)
    cdef long long[::1] whole = full
    cdef double[::1] partly = part
    with nogil:
        for k in range(events + 1):
            start = stops[k - 1] if k > 0 else 0
            stop = starts[k] if k < events else n
            if k > 0:
                width = max(stops[k - 1] - starts[k - 1] - 1, 1)
            for x in range(max(start, begin), stop):
                if level[x] == levels:
                    continue  # never an alarm
                place = (x - start + 1) / width
                if k > 0 and place <= 3:
                    partly[level[x]] += tanh(2.5 * place)
                else:
                    whole[level[x]] += 1
    return full[:levels], part[:levels]
