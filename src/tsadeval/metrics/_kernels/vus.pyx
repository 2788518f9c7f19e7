"""Range-AUC at many buffer widths: the zone around events, and the areas under the curves of its points.

The zone is every point that the buffers of the largest width reach; all others only count as alarms. Its points
are kept one after the other without the gaps between, and a place is a position in that order.
"""

from libc.math cimport sqrt

import numpy as np

cdef struct Areas:
    double roc
    double pr


def zone(const double[::1] scores, const long long[:] starts, const long long[:] stops, Py_ssize_t reach):
    """The points at most `reach` away from an event, in time order.

    Returns (scores, nearest, second, places): their scores, their distances to the nearest and to the second
    nearest event (0 inside events, reach + 1 where farther), and the place of the first point of each event.
    """
    cdef Py_ssize_t n = scores.shape[0], events = starts.shape[0], far = reach + 1
    cdef Py_ssize_t k, x, m = 0, begin, end = 0, before, after, left, right, left_next, right_next
    for k in range(events):
        m += min(n, stops[k] + reach) - max(end, starts[k] - reach)
        end = min(n, stops[k] + reach)
    values, first, second = np.empty(m), np.zeros(m, np.int32), np.full(m, far, np.int32)
    places = np.empty(events, np.int64)
    cdef double[::1] value = values
    cdef int[::1] d1 = first, d2 = second
    cdef long long[::1] place = places
    with nogil:
        m = end = 0
        for k in range(events):
            # What comes before this event and is not taken yet, the event, and what follows up to the next one.
            begin = max(end, starts[k] - reach)
            end = min(starts[k + 1] if k + 1 < events else n, stops[k] + reach)
            place[k] = m + starts[k] - begin
            for x in range(begin, end):
                value[m] = scores[x]
                if x < starts[k] or x >= stops[k]:
                    before = k - 1 if x < starts[k] else k
                    after = before + 1
                    left = x - stops[before] + 1 if before >= 0 else far
                    left_next = x - stops[before - 1] + 1 if before >= 1 else far
                    right = starts[after] - x if after < events else far
                    right_next = starts[after + 1] - x if after + 1 < events else far
                    d1[m] = <int>min(left, right)
                    d2[m] = <int>min(far, min(left_next, right) if left < right else min(left, right_next))
                m += 1
    return values, first, second, places


def grouped(const int[::1] keys, Py_ssize_t count):
    """Indices ordered by key (a number below `count`), and where each key begins among them."""
    cdef Py_ssize_t i, j
    begins, indices = np.zeros(count + 1, np.int64), np.empty(keys.shape[0], np.int32)
    cdef long long[::1] begin = begins
    cdef int[::1] index = indices
    with nogil:
        for i in range(keys.shape[0]):
            begin[keys[i]] += 1
        for j in range(1, count + 1):
            begin[j] += begin[j - 1]
        for i in range(keys.shape[0] - 1, -1, -1):
            begin[keys[i]] -= 1
            index[begin[keys[i]]] = <int>i
    return begins, indices


cdef class Groups:
    """Events with their buffers: the places they cover, their first level, and the distance to the next one."""

    cdef long long[::1] left, right, gap
    cdef int[::1] best
    cdef const int[::1] level
    cdef Py_ssize_t number, half
    cdef int merging

    def __init__(self, const long long[:] starts, const long long[:] stops, const long long[::1] places,
                 const int[::1] level, int merging):
        cdef Py_ssize_t k, x
        self.number, self.half, self.merging, self.level = starts.shape[0], 0, merging, level
        self.left, self.right, self.gap = (np.empty(self.number, np.int64) for _ in range(3))
        self.best = np.empty(self.number, np.int32)
        for k in range(self.number):
            self.left[k] = places[k]
            self.right[k] = places[k] + stops[k] - starts[k] - 1
            self.gap[k] = starts[k + 1] - stops[k] + 1 if k + 1 < self.number else 0
            self.best[k] = level[places[k]]
            for x in range(places[k] + 1, self.right[k] + 1):
                self.best[k] = min(self.best[k], level[x])

    cdef void widen(self) noexcept nogil:
        """One more point on both sides; groups that then share a point (merging 0) or touch (1) become one."""
        cdef Py_ssize_t k, kept = 0, last = self.level.shape[0] - 1, left, right
        cdef int best
        self.half += 1
        for k in range(self.number):
            left = max(self.left[k] - 1, 0)
            right = min(self.right[k] + 1, last)
            best = min(self.best[k], min(self.level[left], self.level[right]))
            if kept > 0 and self.merging >= 0 and self.gap[kept - 1] <= 2 * self.half + self.merging:
                kept -= 1
                best = min(best, self.best[kept])
            else:
                self.left[kept] = left
            self.right[kept] = right
            self.best[kept] = best
            self.gap[kept] = self.gap[k]
            kept += 1
        self.number = kept

    cdef void found(self, double[::1] share) noexcept nogil:
        """The share of groups with a predicted point, at every level."""
        cdef Py_ssize_t k
        cdef double number = self.number
        share[:] = 0
        for k in range(self.number):
            share[self.best[k]] += 1
        cumulate(share)
        for k in range(share.shape[0]):
            share[k] /= number


cdef void cumulate(double[::1] values) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(1, values.shape[0]):
        values[j] += values[j - 1]


cdef void slope(double[::1] weight, Py_ssize_t width, bint root) noexcept nogil:
    """The weights of buffer points by distance, at one width."""
    cdef Py_ssize_t d, half = width // 2
    for d in range(weight.shape[0]):
        if d > half:
            weight[d] = 0
        elif root:
            weight[d] = sqrt(1 - d / <double>width) if d > 0 else 1
        else:
            weight[d] = 1 - (1 - sqrt(0.5)) * d / half if d > 0 else 1


cdef void weigh_table(double[::1] out, double[:, ::1] table, double[::1] weight, Py_ssize_t half) noexcept nogil:
    """Add the weights of counted buffer points to their levels, four distances at a time."""
    cdef Py_ssize_t d = 1, j, count = out.shape[0]
    cdef double a, b, c, e
    cdef double *to = &out[0]
    cdef double *row
    half = min(half, table.shape[0] - 1)
    while d + 3 <= half:
        a, b, c, e = weight[d], weight[d + 1], weight[d + 2], weight[d + 3]
        row = &table[d, 0]
        for j in range(count):
            to[j] += (a * row[j] + b * row[j + count]) + (c * row[j + 2 * count] + e * row[j + 3 * count])
        d += 4
    for d in range(d, half + 1):
        a = weight[d]
        row = &table[d, 0]
        for j in range(count):
            to[j] += a * row[j]


cdef void weigh_points(double[::1] out, const int[::1] d1, const int[::1] d2, const long long[::1] begin,
                       double[::1] weight, Py_ssize_t half) noexcept nogil:
    """The same from the distances of single points, ordered by level."""
    cdef Py_ssize_t i, j
    cdef double total
    for j in range(out.shape[0]):
        total = 0
        for i in range(begin[j], begin[j + 1]):
            if d1[i] > 0:
                total += 1 if d2[i] <= half else weight[d1[i]]
        out[j] = total


cdef Areas areas(
    double[::1] inside, double[::1] buffered, double[::1] share, const double[::1] before, const double[::1] alarms,
    double n, bint once, bint trapezoid,
) noexcept nogil:
    """Areas under the ROC and PR curves of one width.

    Of every level: event points and buffer weight predicted, share of groups found, alarms just before it (those
    between two levels are all outside the zone, so recall is constant there) and at it.
    """
    cdef Areas area
    cdef Py_ssize_t j, last = inside.shape[0] - 1
    cdef double positives, hit, recall, fall, precision, old_precision, reached
    cdef double events = inside[last], extra = buffered[last] if once else 0
    cdef double old_hit = 0, old_recall = 0, old_alarms = 0, negatives = n - events - extra / 2
    area.roc = area.pr = 0
    for j in range(last + 1):
        area.roc += (before[j] - old_alarms) / negatives * old_recall
        reached = (before[j] - old_hit) / negatives
        old_precision = old_hit / before[j] if before[j] > 0 else 1
        hit = inside[j] + buffered[j]
        positives = events + (extra if once else buffered[j]) / 2
        negatives = n - positives
        recall = (hit / positives if hit < positives else 1) * share[j]
        fall = (alarms[j] - hit) / negatives
        precision = hit / alarms[j]
        area.roc += (fall - reached) * (recall + old_recall) / 2
        area.pr += (recall - old_recall) * ((precision + old_precision) / 2 if trapezoid else precision)
        old_hit, old_recall, old_alarms = hit, recall, alarms[j]
    area.roc += (n - old_alarms) / negatives * old_recall
    area.roc += (1 - (n - old_hit) / negatives) * (old_recall + 1) / 2
    return area


def volume(
    const long long[:] starts, const long long[:] stops, const long long[::1] places,
    const int[::1] level, const int[::1] nearest, const int[::1] second,
    const double[::1] before, const double[::1] alarms, Py_ssize_t n, Py_ssize_t reach,
    const long long[:] widths, const long long[:] repeats,
    bint root, bint adding, int merging, bint once, bint trapezoid, bint counting,
):
    """Mean areas (ROC, PR) over ascending widths, each counted `repeats` times.

    `before` and `alarms` are the numbers of alarms just before and at each level. `counting` keeps a table of
    counts by distance and level instead of single points: quicker where there are few levels.
    """
    cdef Py_ssize_t count = alarms.shape[0], i, k, half = 0, seen = 0, largest = 0
    cdef double roc = 0, pr = 0, total = 0
    cdef Areas area
    cdef Groups groups = Groups(starts, stops, places, level, merging)
    cdef double[::1] inside = np.zeros(count), full = np.zeros(count), buffered = np.zeros(count)
    cdef double[::1] share = np.zeros(count), weight
    cdef double[:, ::1] table
    cdef const int[::1] d1, d2, order
    cdef const long long[::1] begin
    for i in range(level.shape[0]):
        if nearest[i] == 0:
            inside[level[i]] += 1
        largest = max(largest, nearest[i])
    cumulate(inside)
    weight = np.zeros(largest + 1)
    if counting:
        # Points in the order in which a second event covers them: two buffers always add up to 1.
        begin, order = grouped(second, reach + 2)
        table = np.zeros((largest + 1, count))
        for i in range(level.shape[0]):
            table[nearest[i], level[i]] += 1
    else:
        begin, by_level = grouped(level, count)
        d1 = np.asarray(nearest)[by_level]
        d2 = np.asarray(second)[by_level] if adding else np.full(level.shape[0], reach + 1, np.int32)
    with nogil:
        groups.found(share)
        for k in range(widths.shape[0]):
            half = min(widths[k] // 2, reach)
            while groups.half < half:
                groups.widen()
                if groups.half == half:
                    groups.found(share)
            slope(weight, widths[k], root)
            if counting:
                while adding and seen < begin[half + 1]:
                    i = order[seen]
                    if nearest[i] > 0:
                        table[nearest[i], level[i]] -= 1
                        full[level[i]] += 1
                    seen += 1
                buffered[:] = full
                weigh_table(buffered, table, weight, half)
            else:
                weigh_points(buffered, d1, d2, begin, weight, half)
            cumulate(buffered)
            area = areas(inside, buffered, share, before, alarms, n, once, trapezoid)
            roc += repeats[k] * area.roc
            pr += repeats[k] * area.pr
            total += repeats[k]
    return roc / total, pr / total
