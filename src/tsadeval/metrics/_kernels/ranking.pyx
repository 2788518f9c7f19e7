"""The threshold sweep of sorted scores: one merge of the two classes."""

import numpy as np


def curve(const double[::1] anomalous, const double[::1] normal):
    """Counts at every distinct score of an anomalous point, the highest first.

    Both arrays are ascending. Returns (scores v, anomalous points >= v, normal points > v, normal points >= v).
    """
    cdef Py_ssize_t i = anomalous.shape[0], j = normal.shape[0], k = 0
    cdef double v
    values = np.empty(anomalous.shape[0])
    found, above, false = (np.empty(anomalous.shape[0], np.int64) for _ in range(3))
    cdef double[::1] value = values
    cdef long long[::1] tp = found, before = above, fp = false
    with nogil:
        while i > 0:
            v = anomalous[i - 1]
            while i > 0 and anomalous[i - 1] == v:
                i -= 1
            while j > 0 and normal[j - 1] > v:
                j -= 1
            before[k] = normal.shape[0] - j
            while j > 0 and normal[j - 1] == v:
                j -= 1
            value[k] = v
            tp[k] = anomalous.shape[0] - i
            fp[k] = normal.shape[0] - j
            k += 1
    return values[:k], found[:k], above[:k], false[:k]
