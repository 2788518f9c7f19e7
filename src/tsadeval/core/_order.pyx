"""Kernels of an argsort whose cost stays near that of sorting the values alone, however long the series.

`np.argsort` moves through the whole series at random, and beyond the caches each such step waits for memory. So points
are first dealt out to bands of near scores, in one pass, and each band is sorted while it is in the cache. In a
band, a score and its place fit together in one 64-bit key, and keys sort faster than an argsort of the scores.
"""

from libc.limits cimport LLONG_MAX
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

import numpy as np

from tsadeval.core._memory cimport FETCH_TO_WRITE

cdef enum:
    # Bits of a digit: its counts stay in the first-level cache, and so do the ends of its lists.
    BITS = 11
    DIGITS = 6
    # Values that are sorted by their digits at once: they and their copies stay in the second-level cache.
    PART = 1 << 15

POINT = np.dtype([("score", np.float64), ("position", np.int64)])

cdef packed struct Point:
    double score
    long long position


def deal(const double[::1] scores, const int[::1] bands, Py_ssize_t count):
    """The points band by band, those of a band in the order of time, and where each band begins among them."""
    cdef Py_ssize_t n = scores.shape[0], i, to
    # Score and position side by side are one access to memory.
    points = np.empty(n, POINT)
    begins = np.zeros(count + 1, np.int64)
    cdef Point[::1] point = points
    cdef long long[::1] begin = begins
    with nogil:
        for i in range(n):
            begin[bands[i]] += 1
        to = n
        for i in range(count, -1, -1):
            to -= begin[i]
            begin[i] = to
        for i in range(n):
            to = begin[bands[i]]
            begin[bands[i]] = to + 1
            FETCH_TO_WRITE(&point[to + 4])  # the band's next line: by when it is written, it has come
            point[to].score = scores[i]
            point[to].position = i
        for i in range(count, 0, -1):  # each has moved to where the next one begins
            begin[i] = begin[i - 1]
        begin[0] = 0
    return points, begins


cdef inline unsigned long long image(double v) noexcept nogil:
    """A whole number that orders as scores do, from any origin; minus zero has that of zero."""
    cdef long long bits
    v += 0.0
    memcpy(&bits, &v, sizeof(bits))
    return <unsigned long long>(bits if bits >= 0 else bits ^ LLONG_MAX)


def keys_of(const double[:] scores, double lowest, double highest):
    """Keys that ascend as the scores descend, each with the place of its score in its lower bits.

    Scores so far apart that their distances need those bits too lose their last ones.
    """
    cdef Py_ssize_t m = scores.shape[0], i
    cdef unsigned long long high = image(highest), distance = high - image(lowest)
    cdef int bits = 1, lost = 0
    while (m - 1) >> bits:
        bits += 1
    while distance >> lost >> (64 - bits):
        lost += 1
    keys = np.empty(m, np.uint64)
    cdef unsigned long long[::1] key = keys
    with nogil:
        for i in range(m):
            key[i] = ((high - image(scores[i])) >> lost) << bits | <unsigned long long>i
    return keys


def put_in_order(
    const unsigned long long[::1] keys, const double[:] scores, const long long[:] positions, Point[::1] to
):
    """Put the points in the order of their sorted keys; a position is the place, where None. Is it the right order?"""
    cdef Py_ssize_t m = keys.shape[0], i, place
    cdef unsigned long long mask = 2
    cdef bint right = True, whole = positions is None
    cdef double v, last
    while mask < <unsigned long long>m:
        mask *= 2
    mask -= 1
    with nogil:
        last = scores[keys[0] & mask]
        for i in range(m):
            place = keys[i] & mask
            v = scores[place]
            right &= v <= last  # not so where a lost bit would have told
            last = v
            to[i].score = v
            to[i].position = place if whole else positions[place]
    return right


cdef inline unsigned long long key_of(unsigned long long bits, unsigned long long scores) noexcept nogil:
    """A whole number that orders as the score with these bits does, or these bits; `scores` is all ones or 0."""
    return bits ^ ((<unsigned long long>((<long long>bits) >> 63) | <unsigned long long>1 << 63) & scores)


cdef inline unsigned long long bits_of(unsigned long long key, unsigned long long scores) noexcept nogil:
    return key ^ ((<unsigned long long>((<long long>~key) >> 63) | <unsigned long long>1 << 63) & scores)


cdef unsigned long long middle_of(const unsigned long long *values, Py_ssize_t n, unsigned long long scores) noexcept nogil:
    """About the middle one of many values, as a key: the middle one of some."""
    cdef unsigned long long some[31]
    cdef unsigned long long key
    cdef int i, j
    for i in range(31):
        key = key_of(values[i * (n // 31)], scores)
        j = i
        while j > 0 and some[j - 1] > key:
            some[j] = some[j - 1]
            j -= 1
        some[j] = key
    return some[15]


cdef Py_ssize_t part(
    unsigned long long *values, Py_ssize_t n, unsigned long long limit, unsigned long long scores
) noexcept nogil:
    """Put the values whose keys are below the limit in front, and return how many these are. Without a branch to guess."""
    cdef Py_ssize_t i, to = 0
    cdef unsigned long long value
    for i in range(n):
        value = values[i]
        values[i] = values[to]
        values[to] = value
        to += key_of(value, scores) < limit
    return to


cdef void sort_digits(
    unsigned long long *values, Py_ssize_t n, unsigned long long *other, unsigned int *counts, unsigned long long scores
) noexcept nogil:
    """Sort digit by digit, the last first; `other` has room for as many. Digits that all have in common are left out."""
    cdef Py_ssize_t i
    cdef unsigned long long key
    cdef unsigned int count, at
    cdef int digit, shift, d
    cdef unsigned long long *source = values
    cdef unsigned int *begin
    if n == 0:
        return
    memset(counts, 0, DIGITS * (1 << BITS) * sizeof(unsigned int))
    for i in range(n):
        key = key_of(values[i], scores)
        values[i] = key
        counts[key & 2047] += 1
        counts[2048 + (key >> 11 & 2047)] += 1
        counts[2 * 2048 + (key >> 22 & 2047)] += 1
        counts[3 * 2048 + (key >> 33 & 2047)] += 1
        counts[4 * 2048 + (key >> 44 & 2047)] += 1
        counts[5 * 2048 + (key >> 55)] += 1
    for digit in range(DIGITS):
        begin, shift = counts + digit * (1 << BITS), digit * BITS
        if begin[source[0] >> shift & 2047] == <unsigned int>n:
            continue
        at = 0
        for d in range(1 << BITS):
            count = begin[d]
            begin[d] = at
            at += count
        for i in range(n):
            key = source[i]
            d = key >> shift & 2047
            other[begin[d]] = key
            begin[d] += 1
        source, other = other, source
    if scores:
        for i in range(n):
            values[i] = bits_of(source[i], scores)
    elif source != values:
        memcpy(values, source, n * sizeof(key))


cdef int sort_parts(
    unsigned long long *values, Py_ssize_t n, unsigned long long *other, unsigned int *counts,
    unsigned long long scores, int depth,
) except -1 nogil:
    cdef Py_ssize_t cut
    cdef unsigned long long limit
    cdef unsigned long long *larger
    while n > PART and depth > 0:
        limit = middle_of(values, n, scores)
        cut = part(values, n, limit, scores)
        depth -= 1
        if cut:
            sort_parts(values, cut, other, counts, scores, depth)
        else:  # none is lower: those that are equal are in order
            cut = n if limit == <unsigned long long>-1 else part(values, n, limit + 1, scores)
        values += cut
        n -= cut
    if n <= PART:
        sort_digits(values, n, other, counts, scores)
        return 0
    larger = <unsigned long long *>malloc(n * sizeof(limit))
    if larger == NULL:
        with gil:
            raise MemoryError
    sort_digits(values, n, larger, counts, scores)
    free(larger)
    return 0


def sort_by_digits(unsigned long long[::1] values, bint scores):
    """Sort in place: whole numbers, or the bits of scores.

    Values are parted, the lower from the higher, until few enough are left to be sorted by their digits in the
    second-level cache: memory for a part is all that it needs. It takes about as long whatever the order and the ties;
    where some order defeats the parting, a part is sorted as long as it is.
    """
    cdef Py_ssize_t n = values.shape[0]
    cdef int depth = 4
    others, counted = np.empty(min(n, PART), np.uint64), np.empty(DIGITS << BITS, np.uint32)
    cdef unsigned long long[::1] other = others
    cdef unsigned int[::1] counts = counted
    while n >> depth:
        depth += 1
    if n:
        with nogil:
            sort_parts(&values[0], n, &other[0], &counts[0], -1 if scores else 0, depth)
