"""Affiliation precision and recall, of one prediction in O(runs) and at every threshold in O(points).

All is exact integer arithmetic until the last division: borders of zones are multiples of 1/2, the places where
integrands bend are multiples of 1/4, so lengths count in halves and integrals in fixed fractions. The largest
number is 16 times the square of the series' length, which 64 bits hold for series of half a billion points.
"""

from libc.math cimport INFINITY, NAN

cdef enum:
    F = 0
    PRECISION = 1
    RECALL = 2

OBJECTIVES = {"f": F, "precision": PRECISION, "recall": RECALL}

ctypedef fused index_t:
    int
    long long


cdef struct Zone:
    # All in halves of a point. `margin` is the smaller distance from the event to the end of the zone.
    long long begin, start, stop, end, margin
    # Of the predictions: their length in halves, 8 times the integral that precision loses, 16 times recall's.
    long long length, lost, missed
    double precision, recall


cdef struct Sum:
    # A sum and all that rounding took from it: adding and taking away does not drift. Read it as high + low.
    double high, low


cdef inline void add(Sum *s, double x) noexcept nogil:
    cdef double total = s.high + x
    cdef double part = total - s.high
    s.low += (s.high - (total - part)) + (x - part)
    s.high = total


cdef Zone zone_of(
    const long long[:] starts, const long long[:] stops, Py_ssize_t k, long long n
) noexcept nogil:
    cdef Zone z
    cdef Py_ssize_t last = starts.shape[0] - 1
    z.begin = stops[k - 1] + starts[k] if k > 0 else 0
    z.end = stops[k] + starts[k + 1] if k < last else 2 * n
    z.start = 2 * starts[k]
    z.stop = 2 * stops[k]
    z.margin = min(z.start - z.begin, z.end - z.stop)
    z.length = z.lost = z.missed = 0
    return z


cdef inline long long far(const Zone *z, long long d) noexcept nogil:
    """8 times the integral over distances in [0, d] from the event of min(distance, margin) + distance + J.

    That, over the zone's length, is the chance that a random time is nearer to the event.
    """
    cdef long long nearer = d * d if d <= z.margin else (2 * d - z.margin) * z.margin
    return d * d + 2 * (z.stop - z.start) * d + nearer


cdef inline long long piece(const Zone *z, long long a, long long b) noexcept nogil:
    """What predicting [a, b) costs the zone's precision."""
    cdef long long cost = 0
    if a < z.start:
        cost += far(z, z.start - a) - (far(z, z.start - b) if b < z.start else 0)
    if b > z.stop:
        cost += far(z, b - z.stop) - (far(z, a - z.stop) if a > z.stop else 0)
    return cost


cdef inline long long away(long long t, long long h) noexcept nogil:
    """The integral over [0, t] of min(2 t, h): the part of the zone nearer to a time than its pivot at distance t."""
    return t * t if 2 * t <= h else h * t - (h / 2) * (h / 2)


cdef inline long long gap(const Zone *z, long long left, long long right) noexcept nogil:
    """What a gap between predictions costs the zone's recall; a pivot that is not inside the zone does not exist."""
    # In quarters of a point from here on: the middle of the gap is a multiple of those.
    cdef long long first = 2 * max(z.start, left), last = 2 * min(z.stop, right), middle, cost = 0
    if first >= last:
        return 0
    if left <= z.begin:
        middle = first
    elif right >= z.end:
        middle = last
    else:
        middle = min(max(left + right, first), last)
    if first < middle:
        cost += away(middle - 2 * left, 2 * (z.end - left)) - away(first - 2 * left, 2 * (z.end - left))
    if middle < last:
        cost += away(2 * right - middle, 2 * (right - z.begin)) - away(2 * right - last, 2 * (right - z.begin))
    return cost


cdef inline void set_precision(Zone *z) noexcept nogil:
    cdef long long whole = 2 * (z.end - z.begin) * z.length
    z.precision = <double>(whole - z.lost) / <double>whole


cdef inline void set_recall(Zone *z) noexcept nogil:
    cdef long long whole = 4 * (z.stop - z.start) * (z.end - z.begin)
    z.recall = <double>(whole - z.missed) / <double>whole


def means(
    const long long[:] starts, const long long[:] stops, const long long[:] from_, const long long[:] until, long long n
):
    """Precision (NaN without predictions) and recall of predicted runs [from_, until), averaged over zones."""
    cdef Py_ssize_t k, r = 0, filled = 0, runs = from_.shape[0], events = starts.shape[0]
    cdef long long a, b, previous
    cdef Sum precision = Sum(0, 0), recall = Sum(0, 0)
    cdef Zone z
    with nogil:
        for k in range(events):
            z = zone_of(starts, stops, k, n)
            previous = z.begin
            while r < runs and 2 * from_[r] < z.end:
                a = max(2 * from_[r], z.begin)
                b = min(2 * until[r], z.end)
                z.length += b - a
                z.lost += piece(&z, a, b)
                z.missed += gap(&z, previous, a)
                previous = b
                if 2 * until[r] > z.end:
                    break  # the next zone has a part of this run too
                r += 1
            if z.length > 0:
                z.missed += gap(&z, previous, z.end)
                filled += 1
                set_precision(&z)
                set_recall(&z)
                add(&precision, z.precision)
                add(&recall, z.recall)
    return (
        (precision.high + precision.low) / filled if filled else NAN,
        (recall.high + recall.low) / events,
    )


cdef struct Goal:
    int objective
    double bias, weight  # of recall in F


cdef inline double reached(const Goal *goal, double precision, double recall) noexcept nogil:
    cdef double above, size, weight = goal.weight
    if goal.objective != F:
        return precision if goal.objective == PRECISION else recall
    above = (precision - goal.bias) / (1 - goal.bias)
    size = above if above > 0 else -above
    if size == 0:
        return 0
    size = (1 + weight) * size * recall / (weight * size + recall)
    return size if above > 0 else -size


cdef inline bint hopeless(const Goal *goal, double precision, double recall, double highest) noexcept nogil:
    """Is F surely below the highest so far? Tells without a division, from means that may be off by rounding."""
    cdef double above = precision - goal.bias, weight = goal.weight, scale = 1 - goal.bias
    if goal.objective != F or highest <= 0:
        return False
    # F = (1 + w) U R / (w U + R) with U = above / scale.
    return (1 + weight) * above * recall < (1 - 1e-9) * highest * (weight * above + scale * recall) or above < 0


cdef inline void remove(
    Zone *z, long long x, long long left, long long right, Sum *precisions, Sum *recalls
) noexcept nogil:
    """Take the point at x (in halves) out of a zone that goes on having others; its neighbours face each other."""
    cdef long long a = max(x, z.begin), b = min(x + 2, z.end), opened
    z.length -= b - a
    z.lost -= piece(z, a, b)
    add(precisions, -z.precision)
    set_precision(z)
    add(precisions, z.precision)
    left = max(left, z.begin)
    right = min(right, z.end)
    if right <= z.start or left >= z.stop:
        return
    opened = gap(z, left, right) - gap(z, left, a) - gap(z, b, right)
    if opened != 0:
        z.missed += opened
        add(recalls, -z.recall)
        set_recall(z)
        add(recalls, z.recall)


def best(
    const double[::1] scores, const long long[::1] ascending, const long long[:] starts, const long long[:] stops,
    index_t[:, ::1] room, str objective, double bias, double recall_weight,
):
    """The largest threshold v at which alarms `score >= v` are best.

    From all points predicted, thresholds rise and points leave: a doubly linked list knows the neighbours that
    a gap opens between. `room` is memory for three numbers a point: left neighbour, right neighbour, zone.
    """
    cdef Py_ssize_t n = scores.shape[0], events = starts.shape[0], filled = events, i = 0, k, x = 0, first
    cdef Goal goal = Goal(OBJECTIVES[objective], bias, recall_weight)
    cdef long long left, right
    cdef double value, highest = -INFINITY, level, precision, recall, best_level = NAN
    cdef double per_filled = 1.0 / events, per_event = 1.0 / events
    cdef Sum precisions = Sum(0, 0), recalls = Sum(0, 0)
    cdef unsigned char[::1] memory = bytearray(events * sizeof(Zone))
    cdef Zone *zones = <Zone *>&memory[0]
    cdef Zone *z
    with nogil:
        for k in range(events):
            z = &zones[k]
            z[0] = zone_of(starts, stops, k, n)
            z.length = z.end - z.begin
            z.lost = piece(z, z.begin, z.end)
            set_precision(z)
            set_recall(z)
            add(&precisions, z.precision)
            add(&recalls, z.recall)
            while 2 * x < z.end:
                room[x, 0] = x - 1
                room[x, 1] = x + 1
                room[x, 2] = k  # the zone of the point's left half
                x += 1
        while i < n:
            level = scores[ascending[i]]
            precision = precisions.high + precisions.low
            recall = recalls.high + recalls.low
            if not hopeless(&goal, precision * per_filled, recall * per_event, highest):
                precision /= filled
                recall /= events
                value = reached(&goal, precision, recall)
                if value >= highest - 1e-13:  # or equal up to rounding: the larger v then
                    highest = max(value, highest)
                    best_level = level
            while i < n and scores[ascending[i]] == level:
                x = ascending[i]
                i += 1
                left = 2 * (<long long>room[x, 0] + 1)
                right = 2 * <long long>room[x, 1]
                if room[x, 0] >= 0:
                    room[room[x, 0], 1] = room[x, 1]
                if room[x, 1] < n:
                    room[room[x, 1], 0] = room[x, 0]
                first = room[x, 2]
                for k in range(first, first + 1 + (zones[first].end == 2 * x + 1)):
                    z = &zones[k]
                    if left <= z.begin and right >= z.end:  # it was the zone's last point
                        add(&precisions, -z.precision)
                        add(&recalls, -z.recall)
                        filled -= 1
                        per_filled = 1.0 / filled if filled else 0
                    else:
                        remove(z, 2 * x, left, right, &precisions, &recalls)
    return best_level
