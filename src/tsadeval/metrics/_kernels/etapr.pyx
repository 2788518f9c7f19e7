"""eTaPR's detected events and correct runs: the largest sets of each that justify each other."""

import numpy as np


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
