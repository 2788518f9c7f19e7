"""From which threshold on a point counts as found, where that depends on the points around it."""

from libc.stdlib cimport free, malloc

import numpy as np


def running_maxima(const double[::1] values, const long long[::1] starts):
    """The highest value so far, counted anew from each of the starts (ascending, the first is 0)."""
    cdef Py_ssize_t i, k, stop, pieces = starts.shape[0]
    found = np.empty(values.shape[0])
    cdef double[::1] out = found
    cdef double highest
    with nogil:
        for k in range(pieces):
            stop = starts[k + 1] if k + 1 < pieces else values.shape[0]
            highest = values[starts[k]]
            for i in range(starts[k], stop):
                if values[i] > highest:
                    highest = values[i]
                out[i] = highest
    return found


def window_maxima(
    const double[::1] values, const long long[::1] starts, const long long[::1] places, long long reach
):
    """The highest value within `reach` of each, where `places` say how far apart values are.

    Windows are cut at the starts of pieces (the first is 0).

    A queue holds the positions that can still become a maximum, in descending order of their values.
    """
    cdef Py_ssize_t i, j, k, stop, head, tail, longest = 0, pieces = starts.shape[0]
    for k in range(pieces):
        stop = starts[k + 1] if k + 1 < pieces else values.shape[0]
        longest = max(longest, stop - starts[k])
    found = np.empty(values.shape[0])
    cdef double[::1] out = found
    cdef Py_ssize_t *queue = <Py_ssize_t *> malloc(max(longest, 1) * sizeof(Py_ssize_t))
    if queue == NULL:
        raise MemoryError()
    with nogil:
        for k in range(pieces):
            stop = starts[k + 1] if k + 1 < pieces else values.shape[0]
            head = tail = 0
            j = starts[k]
            for i in range(starts[k], stop):
                while j < stop and places[j] - places[i] <= reach:
                    while tail > head and values[queue[tail - 1]] <= values[j]:
                        tail -= 1
                    queue[tail] = j
                    tail += 1
                    j += 1
                while places[i] - places[queue[head]] > reach:
                    head += 1
                out[i] = values[queue[head]]
    free(queue)
    return found
