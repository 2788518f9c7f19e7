"""The scores of the two classes apart, and the threshold sweep: normal scores counted between anomalous ones."""

from libc.stdint cimport int32_t, int64_t, uint32_t

import numpy as np

from tsadeval.metrics._kernels.sums cimport Sum, add, value_of_sum

cdef enum:
    # Cells of a grid for each level.
    EACH = 8
    # Levels up to which each score is compared with all of them.
    SOME = 4

ctypedef fused score_t:
    float
    double


cdef extern from "places.h":
    ctypedef struct Grid:
        int32_t *begin
        uint32_t *scores
    ctypedef struct Effort:
        double steps, busy
    enum:
        PIECES
    double WORTH, EASY

    void lay_equal_cells(Grid *grid, const double *levels, int32_t count, int32_t cells, int32_t left_out) noexcept nogil
    void fill(Grid *grid, const double *levels, int32_t count, int32_t cells) noexcept nogil
    void add_gaps(const Grid *grid, int32_t count, int32_t *slots) noexcept nogil
    void lay_pieces(Grid *grid, const double *levels, int32_t count, int32_t cells) noexcept nogil
    Effort effort_of_floats(
        const Grid *grid, const double *levels, int32_t count, const float *s, Py_ssize_t n) noexcept nogil
    Effort effort_of_doubles(
        const Grid *grid, const double *levels, int32_t count, const double *s, Py_ssize_t n) noexcept nogil
    void compare_floats(const float *s, Py_ssize_t n, double level, int64_t *above, int64_t *at) noexcept nogil
    void compare_doubles(const double *s, Py_ssize_t n, double level, int64_t *above, int64_t *at) noexcept nogil
    void place_floats(
        const float *s, Py_ssize_t n, const Grid *grid, const double *levels, int32_t highest, int32_t *slots) noexcept nogil
    void place_doubles(
        const double *s, Py_ssize_t n, const Grid *grid, const double *levels, int32_t highest, int32_t *slots) noexcept nogil


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


def of_runs(const score_t[::1] scores, const long long[::1] starts, const long long[::1] counts, bint first, int step):
    """The scores of every `step`-th run from the first or (`first` 1) the second one on, as they lie."""
    cdef Py_ssize_t k = first, i, at = 0
    while k < starts.shape[0]:
        at += counts[k]
        k += step
    found = np.empty(at)
    cdef double[::1] out = found
    with nogil:
        k, at = first, 0
        while k < starts.shape[0]:
            for i in range(starts[k], starts[k] + counts[k]):
                out[at] = scores[i]
                at += 1
            k += step
    return found


def placed(
    const double[::1] ascending, const score_t[::1] scores, const long long[::1] starts, const long long[::1] counts,
    bint first, bint easy,
):
    """As `curve`, of ascending anomalous scores and of those scores that lie in every other run, in any order.

    `first` is the first of these runs, 0 or 1. The scores are only counted between the anomalous ones. With `easy`,
    None where that takes long: where cells of equal width do not do, or very many are needed.
    """
    cdef Py_ssize_t points = ascending.shape[0], count = 0, cells = 64, i, k
    cdef Effort effort, best
    cdef int64_t higher = 0, equal
    cdef int32_t gap, at, left_out
    cdef Grid grid
    with nogil:
        for i in range(points):
            count += i == 0 or ascending[i] != ascending[i - 1]
    found, above, false = np.empty(count, np.int64), np.zeros(count + 1, np.int64), np.empty(count, np.int64)
    if count == 0:
        return found, above[:0], false
    if easy and count > SOME and 8 * count > scores.shape[0]:
        return None
    cdef long long[::1] tp = found, before = above, fp = false
    # What is large is made once and used again: memory that the system has to find costs more than the work in it.
    cdef double[::1] distinct = np.empty(count if count < points else 0)
    cdef const double[::1] level = distinct if count < points else ascending
    k = 0
    with nogil:
        for i in range(points):
            if i == 0 or ascending[i] != ascending[i - 1]:
                tp[count - 1 - k] = points - i
                if count < points:
                    distinct[k] = ascending[i]
                k += 1
    if count <= SOME:
        for i in range(count):
            higher, equal = 0, 0
            with nogil:
                for k in range(first, starts.shape[0], 2):
                    if score_t is float:
                        compare_floats(&scores[starts[k]], counts[k], level[count - 1 - i], &higher, &equal)
                    else:
                        compare_doubles(&scores[starts[k]], counts[k], level[count - 1 - i], &higher, &equal)
            before[i], fp[i] = higher, higher + equal
        return found, above[:count], false
    while cells < EACH * count and cells < scores.shape[0]:
        cells *= 2
    # Where levels lie too unevenly for equal cells between all of them, the lowest and highest few may be why.
    for left_out in (0, 1 + count // 1024):
        with nogil:
            lay_equal_cells(&grid, &level[0], count, cells, left_out)
            if score_t is float:
                effort = effort_of_floats(&grid, &level[0], count, &scores[0], scores.shape[0])
            else:
                effort = effort_of_doubles(&grid, &level[0], count, &scores[0], scores.shape[0])
        if left_out == 0:
            best = effort
        if effort.steps <= EASY:
            break
    if effort.steps > best.steps:
        effort = best
        lay_equal_cells(&grid, &level[0], count, cells, 0)
    if easy and effort.steps > EASY:
        return None
    cdef bint equal_cells = effort.steps <= WORTH
    cdef Py_ssize_t room = 1 + (cells if equal_cells else 2 * cells + PIECES)
    cdef int32_t[::1] slot = above.view(np.int32), begin = np.empty(room, np.int32)
    cdef uint32_t[::1] in_cell = np.empty(room if effort.busy < 0.5 else 1, np.uint32)
    grid.begin, grid.scores = &begin[0], &in_cell[0] if effort.busy < 0.5 else NULL
    with nogil:
        if equal_cells:
            fill(&grid, &level[0], count, cells)
        else:
            lay_pieces(&grid, &level[0], count, cells)
    with nogil:
        for k in range(first, starts.shape[0], 2):
            if score_t is float:
                place_floats(&scores[starts[k]], counts[k], &grid, &level[0], count - 1, &slot[0])
            else:
                place_doubles(&scores[starts[k]], counts[k], &grid, &level[0], count - 1, &slot[0])
        if grid.scores != NULL:
            add_gaps(&grid, count, &slot[0])
        gap = slot[2 * count]
        for k in range(count - 1, -1, -1):  # each sum takes the place of the two counts of its level
            higher += gap
            gap, at = slot[2 * k], slot[2 * k + 1]
            before[k] = higher
            higher += at
            fp[count - 1 - k] = higher
        for k in range(count // 2):
            before[k], before[count - 1 - k] = before[count - 1 - k], before[k]
    return found, above[:count], false


def maxima_of_runs(const score_t[::1] scores, const long long[::1] starts, const long long[::1] counts, bint first):
    """The largest score of every other run, from the first or (`first` 1) the second one on."""
    cdef Py_ssize_t k, i
    cdef double best
    found = np.empty((starts.shape[0] + 1 - first) // 2)
    cdef double[::1] out = found
    with nogil:
        for k in range(first, starts.shape[0], 2):
            best = scores[starts[k]]
            for i in range(starts[k] + 1, starts[k] + counts[k]):
                best = scores[i] if scores[i] > best else best
            out[k // 2] = best
    return found


def adjusted(
    const double[::1] maxima, const long long[::1] lengths, const double[::1] ascending,
    const long long[::1] found, const long long[::1] above, const long long[::1] false,
):
    """The sweep where an event is found whole from its largest score on: `maxima` descend, with the events' lengths.

    At every distinct one the points found before, the points found from there on, and of the sweep (`ascending` and the
    rest) normal points > v and normal points >= v.
    """
    cdef Py_ssize_t events = maxima.shape[0], points = ascending.shape[0], last = found.shape[0] - 1, k, p = 0, size = 0
    cdef long long total = 0, before = 0
    steps = np.empty((4, events), np.int64)
    cdef long long[:, ::1] to = steps
    with nogil:
        for k in range(events):
            total += lengths[k]
            if k + 1 < events and maxima[k + 1] == maxima[k]:
                continue
            while p < last and ascending[points - found[p]] > maxima[k]:
                p += 1
            to[0, size], to[1, size], to[2, size], to[3, size] = before, total, above[p], false[p]
            before = total
            size += 1
    return steps[:, :size]


def best_f(
    const long long[::1] found, const long long[::1] false, long long found_before, long long false_before,
    double total, double weight,
):
    """The largest F over thresholds, as `f_of_counts` has it."""
    cdef Py_ssize_t k
    cdef double best = 0, points, f
    with nogil:
        for k in range(found.shape[0]):
            points = <double>(found[k] + found_before)
            f = (1 + weight) * points / (weight * total + points + <double>(false[k] + false_before))
            best = max(best, f)
    return best


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
