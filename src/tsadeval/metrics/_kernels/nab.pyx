"""The NAB score at every threshold that can be the best: where events are found earlier, and what false alarms cost."""

from libc.math cimport tanh

import numpy as np


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
