"""The scores of the two classes apart, and the threshold sweep once they are sorted: one merge."""

from libc.string cimport memcpy

import numpy as np

from tsadeval.metrics._kernels.sums cimport Sum, add, value_of_sum


def split(const double[::1] scores, const long long[::1] starts, const long long[::1] counts, bint label):
    """The scores of the anomalous and of the normal points, as they lie; `label` is that of the first run.

    Labels come in runs, and a run is copied as a whole: a mask would be asked at every point.
    """
    cdef Py_ssize_t k, runs = starts.shape[0], points = 0
    for k in range(not label, runs, 2):
        points += counts[k]
    anomalous, normal = np.empty(points), np.empty(scores.shape[0] - points)
    cdef double[::1] first = anomalous if label else normal, second = normal if label else anomalous
    cdef double *to[2]
    to[0] = &first[0] if first.shape[0] else NULL
    to[1] = &second[0] if second.shape[0] else NULL
    with nogil:
        for k in range(runs):
            memcpy(to[k & 1], &scores[starts[k]], counts[k] * sizeof(double))
            to[k & 1] += counts[k]
    return anomalous, normal


cdef void merge(const double[::1] anomalous, const double[::1] normal, long long[::1] above) noexcept nogil:
    """Of every anomalous point, the highest first, the number of normal points that score more.

    Which class comes next is a guess at best, so there is no branch to guess wrong: each step takes one of the two. A
    step waits for the one before, so two go on at once, down from the top and up from the bottom.
    """
    cdef Py_ssize_t points = anomalous.shape[0], normals = normal.shape[0], m, step
    cdef Py_ssize_t i = points, j = normals, low_i = 0, low_j = 0
    cdef bint higher, lower
    while True:
        # Together they take at most all that is left of either class: they cannot meet, and nothing runs out.
        m = min(i - low_i, j - low_j) // 2
        if m == 0:
            break
        for step in range(m):
            higher = normal[j - 1] > anomalous[i - 1]
            above[points - i] = normals - j  # right at the last step before the next anomalous point
            j -= higher
            i -= not higher
            lower = normal[low_j] <= anomalous[low_i]
            above[points - 1 - low_i] = normals - low_j
            low_j += lower
            low_i += not lower
    while i > low_i and j > low_j:
        higher = normal[j - 1] > anomalous[i - 1]
        above[points - i] = normals - j
        j -= higher
        i -= not higher
    for i in range(points - i, points - low_i):
        above[i] = normals - low_j


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


def pairs_lost(const long long[::1] found, const long long[::1] above, const long long[::1] false):
    """Twice the number of pairs of the two classes in the wrong order, a tie counting one half: exact.

    It fits 64 bits up to 3e9 points.
    """
    cdef Py_ssize_t k
    cdef long long lost = 0, before = 0
    with nogil:
        for k in range(found.shape[0]):
            lost += (found[k] - before) * (above[k] + false[k])
            before = found[k]
    return lost


def precision_steps(const long long[::1] found, const long long[::1] false):
    """The sum over thresholds of the anomalous points gained times the precision there."""
    cdef Py_ssize_t k
    cdef long long before = 0
    cdef Sum total = Sum(0, 0)
    with nogil:
        for k in range(found.shape[0]):
            add(&total, <double>((found[k] - before) * found[k]) / <double>(found[k] + false[k]))
            before = found[k]
    return value_of_sum(&total)
