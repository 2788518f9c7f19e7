"""Range-AUC at many buffer widths: the zone around events, and the areas under the curves of its points.

The zone is every point that the buffers of the largest width reach; all others only count as alarms. Its points
are kept one after the other without the gaps between, and a place is a position in that order.
"""

from libc.math cimport sqrt

import numpy as np

cdef enum:
    # Independent sums let the compiler use vector instructions without reordering a sum by itself.
    LANES = 8

cdef struct Areas:
    double roc
    double pr


ctypedef fused score_t:
    float
    double


cdef Py_ssize_t measure(
    Py_ssize_t begin, Py_ssize_t end, const long long *last, const long long *first, int far,
    const score_t *scores, double *values, int *nearest, int *second,
) noexcept nogil:
    """Distances of points in a gap: `last` has the last points of the two events before, `first` the first after."""
    cdef Py_ssize_t i, x
    cdef long long left, right, other
    for i in range(end - begin):
        x = begin + i
        left, right = x - last[0], first[0] - x
        other = min(max(left, right), min(x - last[1], first[1] - x))
        values[i] = scores[x]
        nearest[i] = <int>min(left, right)
        second[i] = <int>min(other, far)
    return max(end - begin, 0)


cdef class Zone:
    """The points at most `reach` away from an event, in time order: their scores and their distances.

    Distances are those to the nearest and to the second nearest event (0 inside events, reach + 1 where farther).
    """

    cdef readonly object scores
    cdef const int[::1] nearest, second
    cdef const long long[:] starts, stops  # of the events, as positions
    cdef const long long[::1] places  # of the first points of the events
    cdef Py_ssize_t n, reach

    def __init__(self, scores, const long long[:] starts, const long long[:] stops, Py_ssize_t reach):
        self.starts, self.stops, self.n, self.reach = starts, stops, len(scores), reach
        self.scores, self.nearest, self.second, self.places = distances(scores, starts, stops, reach)


def distances(const score_t[::1] scores, const long long[:] starts, const long long[:] stops, Py_ssize_t reach):
    """What a `Zone` is made of: scores, nearest, second, places."""
    cdef Py_ssize_t n = scores.shape[0], events = starts.shape[0], k, x, m = 0, end = 0
    cdef long long last[2]
    cdef long long first[2]
    for k in range(events):
        m += min(n, stops[k] + reach) - max(end, starts[k] - reach)
        end = min(n, stops[k] + reach)
    values, nearest, second = np.empty(m), np.empty(m, np.int32), np.empty(m, np.int32)
    places = np.empty(events, np.int64)
    cdef double[::1] value = values
    cdef int[::1] d1 = nearest, d2 = second
    cdef long long[::1] place = places
    with nogil:
        m = 0
        for k in range(events + 1):
            # The gap before event k: what is near the event before, then what is near this one.
            last[0] = stops[k - 1] - 1 if k > 0 else -reach - 1
            last[1] = stops[k - 2] - 1 if k > 1 else -reach - 1
            first[0] = starts[k] if k < events else n + reach
            first[1] = starts[k + 1] if k + 1 < events else n + reach
            end = 0
            if k > 0:
                end = min(last[0] + 1 + reach, min(first[0], n))
                m += measure(last[0] + 1, end, last, first, reach + 1,
                             &scores[0], &value[0] + m, &d1[0] + m, &d2[0] + m)
            if k == events:
                break
            m += measure(max(end, first[0] - reach), first[0], last, first, reach + 1,
                         &scores[0], &value[0] + m, &d1[0] + m, &d2[0] + m)
            place[k] = m
            for x in range(starts[k], stops[k]):
                value[m] = scores[x]
                d1[m], d2[m] = 0, reach + 1
                m += 1
    return values, nearest, second, places


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

    def __init__(self, Zone zone, const int[::1] level, int merging):
        cdef Py_ssize_t k, x
        cdef const long long[:] starts = zone.starts, stops = zone.stops
        cdef const long long[::1] places = zone.places
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

    cdef void found(self, double[::1] counts) noexcept nogil:
        """The number of groups with a predicted point, at every level."""
        cdef Py_ssize_t k
        counts[:] = 0
        for k in range(self.number):
            counts[self.best[k]] += 1
        cumulate(counts)


cdef void cumulate(double[::1] values) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(1, values.shape[0]):
        values[j] += values[j - 1]


cdef void slope(double[::1] weight, Py_ssize_t width, bint root) noexcept nogil:
    """The weights of buffer points by distance; then 1, for those that two buffers cover. Events are no buffer."""
    cdef Py_ssize_t d, half = width // 2, last = weight.shape[0] - 1
    weight[:] = 0
    for d in range(1, min(half, last - 1) + 1):
        weight[d] = sqrt(1 - d / <double>width) if root else 1 - (1 - sqrt(0.5)) * d / half
    weight[last] = 1


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
    """The weight up to each level, from the distances of single points ordered by level."""
    cdef Py_ssize_t i, j, last = weight.shape[0] - 1
    cdef double total = 0
    for j in range(out.shape[0]):
        for i in range(begin[j], begin[j + 1]):
            total += weight[last if d2[i] <= half else d1[i]]
        out[j] = total


cdef inline double roc_step(Py_ssize_t i, const double *alarms, const double *before, const double *hit,
                            const double *inverse, const double *recall) noexcept nogil:
    """Twice the area added by level i: a rectangle up to the alarms before it, then a trapezoid."""
    cdef double old = inverse[i - 1], flat = 2 * (before[i] - alarms[i - 1]) * old * recall[i - 1]
    cdef double width = (alarms[i] - hit[i]) * inverse[i] - (before[i] - hit[i - 1]) * old
    return flat + width * (recall[i] + recall[i - 1])


cdef inline double pr_step(Py_ssize_t i, const double *hit, const double *recall, const double *per_alarm,
                           const double *per_before, double sloped) noexcept nogil:
    """Twice the area added by level i: a trapezoid where `sloped` is 1, a rectangle where it is 0."""
    return (recall[i] - recall[i - 1]) * (
        (2 - sloped) * hit[i] * per_alarm[i] + sloped * hit[i - 1] * per_before[i])


cdef Areas areas(
    double[::1] inside, double[::1] buffered, double[::1] share, const double[::1] before, const double[::1] alarms,
    double[:, ::1] scratch, double n, bint once, bint trapezoid,
) noexcept nogil:
    """Areas under the ROC and PR curves of one width.

    Of every level: event points and buffer weight predicted, share of groups found, alarms just before it (those
    between two levels are all outside the zone, so recall is constant there) and at it. The first two rows of
    `scratch` are to work in; the others hold 1 / before and 1 / alarms.
    """
    cdef Areas area
    cdef Py_ssize_t count = inside.shape[0], j = 1, i, k
    cdef double growing = 0 if once else 0.5, sloped = 1 if trapezoid else 0
    cdef double fixed = inside[count - 1] + (buffered[count - 1] / 2 if once else 0)
    cdef double roc[LANES]
    cdef double pr[LANES]
    cdef double part, old
    cdef double *recall = &scratch[0, 0]
    cdef double *inverse = &scratch[1, 0]
    cdef const double *per_before = &scratch[2, 0]
    cdef const double *per_alarm = &scratch[3, 0]
    cdef const double *within = &inside[0]
    cdef const double *found = &share[0]
    cdef const double *earlier = &before[0]
    cdef const double *now = &alarms[0]
    cdef double *hit = &buffered[0]
    for i in range(count):
        part = fixed + growing * hit[i]
        inverse[i] = 1 / (n - part)
        hit[i] += within[i]
        part = hit[i] / part
        recall[i] = (part if part < 1 else 1) * found[i]
    for k in range(LANES):
        roc[k] = 0
        pr[k] = 0
    old = earlier[0] / (n - fixed)
    roc[0] = ((now[0] - hit[0]) * inverse[0] - old) * recall[0]
    part = hit[0] * per_alarm[0]
    old = part
    if trapezoid:  # from precision 1, or from 0 where alarms outside the zone come first
        old = 1.0 if earlier[0] == 0 else 0.0
    pr[0] = recall[0] * (part + old)
    while j + LANES <= count:
        for k in range(LANES):
            roc[k] += roc_step(j + k, now, earlier, hit, inverse, recall)
            pr[k] += pr_step(j + k, hit, recall, per_alarm, per_before, sloped)
        j += LANES
    for k in range(count - j):
        roc[k] += roc_step(j + k, now, earlier, hit, inverse, recall)
        pr[k] += pr_step(j + k, hit, recall, per_alarm, per_before, sloped)
    area.roc = 0
    area.pr = 0
    for k in range(LANES):
        area.roc += roc[k] / 2
        area.pr += pr[k] / 2
    i = count - 1
    area.roc += (n - now[i]) * inverse[i] * recall[i]
    area.roc += (1 - (n - hit[i]) * inverse[i]) * (recall[i] + 1) / 2
    return area


cdef struct Rule:
    # What definitions differ in: see `Variant` of the metrics.
    bint root, adding, once, trapezoid
    int merging


cdef class Sweep:
    """One width after the other, ascending: what is predicted up to each level.

    `inside` are event points, `buffered` the weight of buffer points, `found` groups with a predicted point. `level`
    is that of each point of the zone, below `count`. `counting` keeps a table of counts by distance and level instead
    of single points: quicker where there are few levels.
    """

    cdef Groups groups
    cdef Rule rule
    cdef bint counting
    cdef double[::1] inside, buffered, found, full, weight
    cdef double[:, ::1] table
    cdef const int[::1] level, nearest, d1, d2, order
    cdef const long long[::1] begin
    cdef Py_ssize_t reach, seen

    def __init__(self, Zone zone, const int[::1] level, Py_ssize_t count, Rule rule, bint counting):
        cdef Py_ssize_t i, largest = 0
        cdef const int[::1] nearest = zone.nearest
        self.groups, self.rule, self.counting = Groups(zone, level, rule.merging), rule, counting
        self.level, self.nearest, self.reach, self.seen = level, nearest, zone.reach, 0
        self.inside, self.buffered, self.found, self.full = (np.zeros(count) for _ in range(4))
        for i in range(level.shape[0]):
            self.inside[level[i]] += nearest[i] == 0
            largest = max(largest, nearest[i])
        cumulate(self.inside)
        self.weight = np.zeros(largest + 2)
        if counting:
            # Points in the order in which a second event covers them: two buffers always add up to 1.
            self.begin, self.order = grouped(zone.second, self.reach + 2)
            self.table = np.zeros((largest + 1, count))
            for i in range(level.shape[0]):
                self.table[nearest[i], level[i]] += 1
        else:
            self.begin, by_level = grouped(level, count)
            self.d1 = np.asarray(nearest)[by_level]
            far = np.full(level.shape[0], self.reach + 1, np.int32)
            self.d2 = np.asarray(zone.second)[by_level] if rule.adding else far
        self.groups.found(self.found)

    cdef void widen(self, Py_ssize_t width) noexcept nogil:
        cdef Py_ssize_t i, half = min(width // 2, self.reach)
        while self.groups.half < half:
            self.groups.widen()
            if self.groups.half == half:
                self.groups.found(self.found)
        slope(self.weight, width, self.rule.root)
        if not self.counting:
            weigh_points(self.buffered, self.d1, self.d2, self.begin, self.weight, half)
            return
        while self.rule.adding and self.seen < self.begin[half + 1]:
            i = self.order[self.seen]
            if self.nearest[i] > 0:
                self.table[self.nearest[i], self.level[i]] -= 1
                self.full[self.level[i]] += 1
            self.seen += 1
        self.buffered[:] = self.full
        weigh_table(self.buffered, self.table, self.weight, half)
        cumulate(self.buffered)


cdef double[:, ::1] inverses(const double[::1] before, const double[::1] alarms):
    """What `areas` works in: see there."""
    cdef Py_ssize_t i
    cdef double[:, ::1] scratch = np.empty((4, alarms.shape[0]))
    for i in range(alarms.shape[0]):
        scratch[2, i] = 1 / before[i] if before[i] > 0 else 0
        scratch[3, i] = 1 / alarms[i]
    return scratch


def volume(
    Zone zone, const int[::1] level, const double[::1] before, const double[::1] alarms,
    const long long[:] widths, const long long[:] repeats, Rule rule, bint counting, double n,
):
    """Mean areas (ROC, PR) over ascending widths, each counted `repeats` times.

    `before` and `alarms` are the numbers of alarms just before and at each level; `rule` is a dict; `n` is the number
    of points of the series. For the others see `Sweep`.
    """
    cdef Py_ssize_t count = alarms.shape[0], i, k
    cdef double roc = 0, pr = 0, total = 0
    cdef Areas area
    cdef Sweep sweep = Sweep(zone, level, count, rule, counting)
    cdef double[::1] share = np.empty(count)
    cdef double[:, ::1] scratch = inverses(before, alarms)
    with nogil:
        for k in range(widths.shape[0]):
            sweep.widen(widths[k])
            for i in range(count):
                share[i] = sweep.found[i] / sweep.groups.number
            area = areas(sweep.inside, sweep.buffered, share, before, alarms, scratch, n, rule.once, rule.trapezoid)
            roc += repeats[k] * area.roc
            pr += repeats[k] * area.pr
            total += repeats[k]
    return roc / total, pr / total


def gather(Zone zone, const int[::1] level, Py_ssize_t count, const long long[:] widths, Rule rule, bint counting):
    """What is predicted up to each level at each width: (inside, buffered, found, groups), which add up over zones."""
    cdef Py_ssize_t k
    cdef Sweep sweep = Sweep(zone, level, count, rule, counting)
    buffered, found = np.empty((2, widths.shape[0], count))
    groups = np.empty(widths.shape[0])
    cdef double[:, ::1] weights = buffered, finds = found
    cdef double[::1] number = groups
    with nogil:
        for k in range(widths.shape[0]):
            sweep.widen(widths[k])
            weights[k, :] = sweep.buffered
            finds[k, :] = sweep.found
            number[k] = sweep.groups.number
    return np.asarray(sweep.inside), buffered, found, groups


def mean_areas(
    double[::1] inside, double[:, ::1] buffered, double[:, ::1] found, const double[::1] groups,
    const double[::1] before, const double[::1] alarms, const long long[:] repeats, Rule rule, double n,
):
    """As `volume`, from what was gathered; `buffered` and `found` are overwritten."""
    cdef Py_ssize_t count = alarms.shape[0], i, k
    cdef double roc = 0, pr = 0, total = 0
    cdef Areas area
    cdef double[:, ::1] scratch = inverses(before, alarms)
    with nogil:
        for k in range(repeats.shape[0]):
            for i in range(count):
                found[k, i] /= groups[k]
            area = areas(inside, buffered[k], found[k], before, alarms, scratch, n, rule.once, rule.trapezoid)
            roc += repeats[k] * area.roc
            pr += repeats[k] * area.pr
            total += repeats[k]
    return roc / total, pr / total
