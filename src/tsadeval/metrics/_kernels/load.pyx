"""What is found, and how many false alarms it costs, at every threshold: points are alarmed one by one, highest first."""

import numpy as np


cdef inline long long _cost(
    Py_ssize_t first, Py_ssize_t last, const unsigned char[::1] labels, const unsigned char[::1] on, long long width
) noexcept nogil:
    """The load of a run of false alarms: its length in widths, rounded down where it continues an alarm in an event."""
    cdef bint joined = (first > 0 and labels[first - 1] == 1 and on[first - 1]) or (
        last + 1 < labels.shape[0] and labels[last + 1] == 1 and on[last + 1]
    )
    cdef long long length = last - first + 1
    return length // width if joined else (length + width - 1) // width


def falling(
    const long long[::1] order, const unsigned char[::1] labels, const long long[::1] starts,
    const long long[::1] lengths, long long width,
):
    """After each point of `order` was alarmed: the load, the events found, and the sum of their relative delays.

    A label is 0, 1, or 2 where a point is not judged. `starts` and `lengths` are those of the events; an event that is
    not found counts with a delay of 1.
    """
    cdef Py_ssize_t n = labels.shape[0], events = starts.shape[0], step, i, k, first, last
    cdef long long total = 0, seen = 0
    cdef double late = events
    on_of, far_of = np.zeros(n, np.uint8), np.zeros(n, np.int64)
    event_of, delays = np.zeros(n, np.int64), np.asarray(lengths).copy()
    for k in range(events):
        event_of[starts[k] : starts[k] + lengths[k]] = k
    loads, found, lateness = np.zeros(len(order), np.int64), np.zeros(len(order), np.int64), np.zeros(len(order))
    cdef unsigned char[::1] on = on_of
    cdef long long[::1] far = far_of, owner = event_of, delay = delays, out = loads, hit = found  # far: a run's other end
    cdef double[::1] lates = lateness
    with nogil:
        for step in range(order.shape[0]):
            i = order[step]
            if labels[i] < 2:
                # The runs of false alarms on both sides: they join at a normal point, and touch an event at one of it.
                first = last = -1
                if i > 0 and labels[i - 1] == 0 and on[i - 1]:
                    first = far[i - 1]
                    total -= _cost(first, i - 1, labels, on, width)
                if i + 1 < n and labels[i + 1] == 0 and on[i + 1]:
                    last = far[i + 1]
                    total -= _cost(i + 1, last, labels, on, width)
                on[i] = 1
            if labels[i] == 0:
                first = first if first >= 0 else i
                last = last if last >= 0 else i
                far[first] = last
                far[last] = first
                total += _cost(first, last, labels, on, width)
            elif labels[i] == 1:
                if first >= 0:
                    total += _cost(first, i - 1, labels, on, width)
                if last >= 0:
                    total += _cost(i + 1, last, labels, on, width)
                k = owner[i]
                if i - starts[k] < delay[k]:
                    seen += delay[k] == lengths[k]
                    late -= <double> (delay[k] - (i - starts[k])) / <double> lengths[k]
                    delay[k] = i - starts[k]
            out[step] = total
            hit[step] = seen
            lates[step] = late
    return loads, found, lateness
