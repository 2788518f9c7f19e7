"""Kernel that reads labels (and scores) once: labels as bits, runs of equal labels, their moments, the extremes.

A pass is the validator too. Labels other than 0 and 1 have other bits than these; where scores are read as well, all
labels inside a run equal the run's first one, so only run starts have to be looked at; and a score that is not finite
makes the run's sum not finite. So checked input costs no more than read input.
"""

from cpython.buffer cimport PyBUF_CONTIG_RO, PyBUF_FORMAT, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset, strchr

import numpy as np

ctypedef unsigned char uchar

ctypedef fused label_t:
    uchar
    int
    long long
    double

ctypedef fused score_t:
    float
    double

cdef enum:
    # Labels and scores of one block fit in the first-level cache: each array comes from memory once.
    BLOCK = 512
    # Labels that are compared at once in a long run.
    MANY = 64


cdef extern from "_bits.h":
    ctypedef struct Packed:
        Py_ssize_t ones
        Py_ssize_t runs
        bint doubtful

    Packed pack_bytes(const uint8_t *labels, Py_ssize_t n, uint64_t *bits) noexcept nogil
    Packed pack_ints(const uint32_t *labels, Py_ssize_t n, uint64_t *bits) noexcept nogil
    Packed pack_longs(const uint64_t *labels, Py_ssize_t n, uint64_t *bits) noexcept nogil
    Packed pack_doubles(const uint64_t *labels, Py_ssize_t n, uint64_t *bits) noexcept nogil
    void runs_of_ones(const uint64_t *bits, Py_ssize_t n, long long *starts, long long *stops) noexcept nogil
    Py_ssize_t match_runs(
        const uint64_t *bits, const uint64_t *others, Py_ssize_t n, long long *hits, long long *firsts) noexcept nogil
    void unpack(const uint64_t *bits, Py_ssize_t n, uint8_t *labels) noexcept nogil

cdef extern from "_lanes.h":
    enum:
        LANES

    ctypedef struct Moments:
        double total
        double squares
        double low
        double high

    void add_floats(const float *s, Py_ssize_t n, double first, Moments *m) noexcept nogil
    void add_doubles(const double *s, Py_ssize_t n, double first, Moments *m) noexcept nogil


cdef Py_ssize_t same_until(const label_t *y, Py_ssize_t i, Py_ssize_t stop, label_t value) noexcept nogil:
    """First position in [i, stop) whose label differs from value, or stop."""
    cdef label_t bits
    cdef int differs
    cdef Py_ssize_t j
    while i + LANES <= stop:
        # Exclusive or, where there is one: baseline vector instructions cannot compare 64-bit integers.
        if label_t is double:
            differs = 0
            for j in range(LANES):
                differs |= y[i + j] != value
        else:
            bits = 0
            for j in range(LANES):
                bits |= y[i + j] ^ value
            differs = bits != 0
        if differs:
            break
        i += LANES
        # All are equal where each equals the next, and the C library compares memory faster than loops of ours do.
        while i + MANY <= stop and memcmp(&y[i - 1], &y[i], MANY * sizeof(label_t)) == 0:
            i += MANY
    while i < stop and y[i] == value:
        i += 1
    return i


cdef void add_scores(const score_t *s, Py_ssize_t n, double first, Moments *m) noexcept nogil:
    """Add the moments of s[:n] about `first`, a score of the same run: nothing is lost to a large offset."""
    cdef double value, difference
    cdef Py_ssize_t j
    if n < LANES:
        # Single points and short events may be many: setting up the lanes would cost more than their scores do.
        for j in range(n):
            value = s[j]
            difference = value - first
            m.total += difference
            m.squares += difference * difference
            m.low = value if value < m.low else m.low
            m.high = value if value > m.high else m.high
    elif score_t is float:
        add_floats(s, n, first, m)
    else:
        add_doubles(s, n, first, m)


def grow(array):
    larger = np.empty(2 * len(array), array.dtype)
    larger[: len(array)] = array
    return larger


cdef Py_ssize_t first_wrong(const label_t *y, Py_ssize_t n) noexcept nogil:
    """Position of the first label other than 0 and 1, or -1."""
    cdef label_t label
    cdef Py_ssize_t i
    for i in range(n):
        memcpy(&label, &y[i], sizeof(label_t))  # which may lie anywhere
        if label != 0 and label != 1:
            return i
    return -1


cdef class Bits:
    """Labels of one bit each, from one pass over an array; `wrong` is the position of the first that is none, or -1."""

    cdef uint64_t *words
    cdef readonly Py_ssize_t n, ones, runs, wrong

    def __cinit__(self, labels):
        cdef Py_buffer given
        cdef Packed found
        PyObject_GetBuffer(labels, &given, PyBUF_CONTIG_RO | PyBUF_FORMAT)
        try:
            self.n = given.len // given.itemsize
            self.words = <uint64_t *> PyMem_Malloc((self.n // 64 + 1) * sizeof(uint64_t))
            if self.words == NULL:
                raise MemoryError
            self.words[self.n // 64] = 0  # without labels, nothing else is written
            self.wrong = -1
            with nogil:
                if given.itemsize == 1:
                    found = pack_bytes(<const uint8_t *> given.buf, self.n, self.words)
                    if found.doubtful:
                        self.wrong = first_wrong(<const uchar *> given.buf, self.n)
                elif given.itemsize == 4:
                    found = pack_ints(<const uint32_t *> given.buf, self.n, self.words)
                    if found.doubtful:
                        self.wrong = first_wrong(<const int *> given.buf, self.n)
                elif strchr(given.format, c"d") != NULL:  # "=d" where they are not aligned
                    found = pack_doubles(<const uint64_t *> given.buf, self.n, self.words)
                    if found.doubtful:
                        self.wrong = first_wrong(<const double *> given.buf, self.n)
                else:
                    found = pack_longs(<const uint64_t *> given.buf, self.n, self.words)
                    if found.doubtful:
                        self.wrong = first_wrong(<const long long *> given.buf, self.n)
            self.ones, self.runs = found.ones, found.runs
        finally:
            PyBuffer_Release(&given)

    def __dealloc__(self):
        PyMem_Free(self.words)

    def __reduce__(self):
        return Bits, (self.labels(),)

    @property
    def first(self):
        """The first label."""
        return self.words[0] & 1

    def labels(self):
        """The labels, of one byte each."""
        found = np.empty(self.n, np.uint8)
        cdef uint8_t[::1] out = found
        with nogil:
            unpack(self.words, self.n, &out[0])
        return found

    def events(self):
        """Where runs of ones begin and stop, and the number of points."""
        starts, stops = np.empty(self.runs, np.int64), np.empty(self.runs, np.int64)
        cdef long long[::1] begin = starts, end = stops
        with nogil:
            runs_of_ones(self.words, self.n, &begin[0], &end[0])
        return starts, stops, self.n

    def starts(self):
        """Where runs of equal labels begin."""
        cdef Py_ssize_t k = 0, r
        cdef long long[::1] begin, end, at
        begin, end, _ = self.events()
        # Between runs of ones there is one of zeros, and at either end, unless they begin or stop there.
        found = np.empty(2 * self.runs + 1, np.int64)
        at = found
        if not self.words[0] & 1:
            at[0] = 0
            k = 1
        for r in range(self.runs):
            at[k], at[k + 1] = begin[r], end[r]
            k += 2
        return found[: k - (self.runs > 0 and end[self.runs - 1] == self.n)]

    def matched(self, Bits alarms):
        """How events meet alarms, as the function `matched` says it of runs."""
        cdef Py_ssize_t touching, k
        cdef long long total = 0
        if alarms.n != self.n:
            raise ValueError("labels and alarms of different lengths")
        hits, firsts = np.empty(self.runs, np.int64), np.empty(self.runs, np.int64)
        cdef long long[::1] of_event = hits, at = firsts
        with nogil:
            touching = match_runs(self.words, alarms.words, self.n, &of_event[0], &at[0])
            for k in range(self.runs):
                total += of_event[k]
        return hits, firsts, self.ones, total, alarms.ones, alarms.runs, alarms.runs - touching


def scan(const label_t[::1] y, const score_t[::1] s):
    """Runs of equal labels: starts, lengths, mean (measured from s[0]) and sum of squares about the mean.

    Returns (starts, counts, means, m2, low, high, finite, bad): `finite` is False where a score is not finite,
    or where finite scores are so large that their sums overflow (the caller tells which); `bad` is the position
    of the first label other than 0 and 1, or -1.
    """
    cdef Py_ssize_t n = y.shape[0], i = 0, k = 0, stop, block
    cdef label_t value
    cdef double first, origin = s[0], check = 0
    cdef Moments m
    starts, counts = np.empty(256, np.int64), np.empty(256, np.int64)
    means, m2 = np.empty(256), np.empty(256)
    cdef long long[::1] at = starts, count = counts
    cdef double[::1] mean = means, square = m2
    m.low = origin
    m.high = origin
    while i < n:
        if k == at.shape[0]:
            starts, counts, means, m2 = grow(starts), grow(counts), grow(means), grow(m2)
            at, count, mean, square = starts, counts, means, m2
        with nogil:
            while i < n and k < at.shape[0]:
                value = y[i]
                if value != 0 and value != 1:
                    break
                at[k] = i
                # Sums about the run's own first score: a constant run gets a spread of exactly 0.
                first = s[i]
                m.total = 0
                m.squares = 0
                while True:
                    block = i + BLOCK if i + BLOCK < n else n
                    stop = same_until(&y[0], max(i, at[k] + 1), block, value)
                    add_scores(&s[i], stop - i, first, &m)
                    i = stop
                    if stop < block or stop == n:
                        break
                count[k] = i - at[k]
                mean[k] = (first - origin) + m.total / count[k]
                square[k] = m.squares - m.total * (m.total / count[k])
                if square[k] < 0:
                    square[k] = 0
                check += 0 * m.total + 0 * square[k]  # NaN from here on if either is not finite
                k += 1
        if i < n and y[i] != 0 and y[i] != 1:
            return starts[:k], counts[:k], means[:k], m2[:k], m.low, m.high, check == 0, i
    return starts[:k], counts[:k], means[:k], m2[:k], m.low, m.high, check == 0, -1


def mask_of(const long long[::1] starts, Py_ssize_t n, int first):
    """Labels of one byte, from the starts of their runs; the first run has the label `first`."""
    labels = np.empty(n, np.uint8)
    cdef unsigned char[::1] out = labels
    cdef Py_ssize_t k, stop, count = starts.shape[0]
    with nogil:
        for k in range(count):
            stop = starts[k + 1] if k + 1 < count else n
            memset(&out[starts[k]], first ^ (k & 1), stop - starts[k])
    return labels


def matched(
    const long long[::1] starts, const long long[::1] counts, bint first,
    const long long[::1] others, const long long[::1] lengths, bint other_first,
):
    """How events meet alarms, from the runs of labels and of predictions; the first of all runs has the label `first`.

    Returns (points of each event that are alarmed, first of them or the event's stop, anomalous points, those of them
    that are alarmed, alarmed points, runs of alarms, those that touch no event).
    """
    cdef Py_ssize_t k, j = not other_first, runs = others.shape[0], e = 0, touching = 0, last = -1
    cdef long long begin, stop, low, high, total = 0, alarmed = 0, hit, first_alarm, anomalous = 0
    events = (starts.shape[0] + first) // 2
    hits, firsts = np.empty(events, np.int64), np.empty(events, np.int64)
    cdef long long[::1] of_event = hits, at = firsts
    with nogil:
        for k in range(not other_first, runs, 2):
            alarmed += lengths[k]
        for k in range(not first, starts.shape[0], 2):
            begin, stop, hit = starts[k], starts[k] + counts[k], 0
            first_alarm = stop
            while j < runs and others[j] + lengths[j] <= begin:
                j += 2
            while j < runs and others[j] < stop:
                low, high = max(others[j], begin), min(others[j] + lengths[j], stop)
                first_alarm = min(first_alarm, low)
                hit += high - low
                touching += j != last
                last = j
                if others[j] + lengths[j] > stop:
                    break
                j += 2
            of_event[e], at[e] = hit, first_alarm
            total += hit
            anomalous += counts[k]
            e += 1
    alarms = (runs + other_first) // 2
    return hits, firsts, anomalous, total, alarmed, alarms, alarms - touching


def shared_points(
    const long long[::1] starts, const long long[::1] stops, const long long[::1] others, const long long[::1] ends
):
    """How many points two lists of sorted, disjoint runs have in common."""
    cdef Py_ssize_t i = 0, j = 0
    cdef long long low, high, total = 0
    with nogil:
        while i < starts.shape[0] and j < others.shape[0]:
            low = max(starts[i], others[j])
            high = min(stops[i], ends[j])
            if low < high:
                total += high - low
            if stops[i] < ends[j]:
                i += 1
            else:
                j += 1
    return total
