"""Levels of scores: how many thresholds lie above each score.

A grid of equal cells over the thresholds tells at once which few of them a score has to be compared with. The
cell of a value is monotone in the value even in floating point, so the answer is exact.
"""

from libc.math cimport isfinite

import numpy as np

cdef enum:
    FEWEST = 4096


cdef inline Py_ssize_t cell_of(double value, double low, double scale, Py_ssize_t cells) noexcept nogil:
    # Halves, because the distance of two finite numbers may not be finite.
    cdef double place = (value * 0.5 - low) * scale
    if place <= 0:
        return 0
    return <Py_ssize_t>place if place < cells else cells - 1


def levels_of(const double[::1] scores, const double[::1] thresholds):
    """For every score the number of thresholds strictly above it, as int32; `thresholds` descend.

    So a score is at least thresholds[j] exactly where its level is at most j.
    """
    cdef Py_ssize_t n = scores.shape[0], count = thresholds.shape[0], i, cell, first, last, size, half
    cdef Py_ssize_t cells = FEWEST
    while cells < count:
        cells *= 2
    cdef double value, low = thresholds[count - 1] * 0.5
    cdef double scale = cells / (thresholds[0] * 0.5 - low) if thresholds[0] * 0.5 > low else 0
    if not isfinite(scale):  # thresholds that are all but equal: one cell for all, and a binary search in it
        scale = 0
    levels = np.empty(n, np.int32)
    begins = np.zeros(cells + 1, np.int32)
    cdef int[::1] out = levels, begin = begins
    with nogil:
        # begin[c]: how many thresholds lie in cells above c, so those of cell c are begin[c] to begin[c - 1].
        for i in range(count):
            begin[cell_of(thresholds[i], low, scale, cells)] += 1
        last = 0
        for i in range(cells, -1, -1):
            first = last
            last += begin[i]
            begin[i] = <int>first
        for i in range(n):
            value = scores[i]
            cell = cell_of(value, low, scale, cells)
            first = begin[cell]
            size = (begin[cell - 1] if cell > 0 else count) - first
            # As many steps whatever the score: where many thresholds share a cell, a branch would be a guess.
            while size > 0:
                half = (size + 1) >> 1
                first += half * (thresholds[first + half - 1] > value)
                size -= half
            out[i] = <int>first
    return levels


ctypedef fused Score:
    float
    double

cdef union Word:
    float number
    unsigned int bits


cdef inline unsigned int ordered_bits(Score score) noexcept nogil:
    """The bits of the nearest single-precision number, such that larger numbers have larger ones."""
    cdef Word word
    word.number = <float>score + <float>0.0  # one zero only
    return word.bits ^ (0xFFFFFFFFu if word.bits >> 31 else 0x80000000u)


cdef int shift_of(Py_ssize_t bins) noexcept:
    cdef int shift = 32
    while bins > 1:
        bins >>= 1
        shift -= 1
    return shift


def bins_of(const Score[::1] scores, Py_ssize_t bins):
    """The bin of every score, among so many as `count_by_score` counts in."""
    cdef Py_ssize_t i
    cdef int shift = shift_of(bins)
    found = np.empty(scores.shape[0], np.int64)
    cdef long long[::1] out = found
    with nogil:
        for i in range(scores.shape[0]):
            out[i] = ordered_bits(scores[i]) >> shift
    return found


def count_by_score(
    const Score[::1] scores, const long long[::1] starts, const long long[::1] counts, bint label,
    long long[:, ::1] bins,
):
    """Add the points of each class to bins of neighbouring scores, the lowest first; `label` is that of the first run.

    A bin is a range of single-precision numbers, in the order of their bits: 2**k bins tell apart the first k bits.
    """
    cdef Py_ssize_t k, i
    cdef int shift = shift_of(bins.shape[1])
    cdef long long *row
    with nogil:
        for k in range(starts.shape[0]):
            row = &bins[(k + label) & 1, 0]
            for i in range(starts[k], starts[k] + counts[k]):
                row[ordered_bits(scores[i]) >> shift] += 1
