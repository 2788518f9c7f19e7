"""The threshold sweep of sorted scores: one merge of the two classes."""

import numpy as np


cdef void merge(const double[::1] anomalous, const double[::1] normal, long long[::1] above) noexcept nogil:
    """Of every anomalous point, the highest first, the number of normal points that score more.

    Which class comes next is a guess at best, so there is no branch to guess wrong: each step goes down one of the two.
    """
    cdef Py_ssize_t i = anomalous.shape[0], j = normal.shape[0], points = i, normals = j
    cdef bint higher
    while i > 0 and j > 0:
        higher = normal[j - 1] > anomalous[i - 1]
        above[points - i] = normals - j  # right at the last step before the next anomalous point
        j -= higher
        i -= not higher
    for i in range(points - i, points):
        above[i] = normals


def curve(const double[::1] anomalous, const double[::1] normal):
    """Counts at every distinct score of an anomalous point, the highest first.

    Both arrays are ascending. Returns (anomalous points >= v, normal points > v, normal points >= v).
    """
    cdef Py_ssize_t points = anomalous.shape[0], normals = normal.shape[0], i, j, k = 0
    cdef double v
    found, above, false = (np.empty(points, np.int64) for _ in range(3))
    cdef long long[::1] tp = found, before = above, fp = false
    with nogil:
        merge(anomalous, normal, before)
        for i in range(points):
            v = anomalous[points - 1 - i]
            if i + 1 < points and anomalous[points - 2 - i] == v:
                continue
            j = before[i]  # the same for all equal scores
            tp[k] = i + 1
            before[k] = j
            while j < normals and normal[normals - 1 - j] == v:
                j += 1
            fp[k] = j
            k += 1
    return found[:k], above[:k], false[:k]
