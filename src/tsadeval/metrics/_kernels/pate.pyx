"""PATE: weights of hits in buffer zones, weights of misses, and the area under the curve.

Level j is the j-th highest threshold. The bin of a point is the number of thresholds above its score, so the
point is predicted at level j exactly when its bin is at most j.
"""

from libc.stdint cimport int32_t

import numpy as np

from tsadeval.metrics._kernels.sums cimport Sum, add, value_of_sum

# Recalls this near are equal: what separates them is rounding, and a recall that falls back drops a point.
cdef double SAME = 1e-12


def kept_positions(const double[::1] ascending, const double[::1] positives):
    """Where the kept distinct scores first stand among the ascending scores.

    Kept are the smallest and largest score, the score of every anomalous point (`positives`, ascending) and the
    next larger one: elsewhere, the number of anomalous points at or above a threshold does not change.
    """
    cdef Py_ssize_t n = ascending.shape[0], m = positives.shape[0], i = 0, q = 0, last = n - 1, count = 1
    cdef double value
    found = np.empty(min(2 * m + 2, n), np.int32)
    cdef int32_t[::1] at = found
    with nogil:
        while last > 0 and ascending[last - 1] == ascending[n - 1]:
            last -= 1
        at[0] = 0
        while q < m:
            value = positives[q]
            # Equal scores, and no bound left out: another thread may have written to the scores since they were sorted.
            while i < n and ascending[i] < value:
                i += 1
            if i < n and at[count - 1] != i:
                at[count] = <int32_t>i
                count += 1
            while i < n and ascending[i] == value:
                i += 1
            while q < m and not positives[q] > value:
                q += 1
            if i < n and at[count - 1] != i:
                at[count] = <int32_t>i
                count += 1
        if at[count - 1] < last:
            at[count] = <int32_t>last
            count += 1
    return found[:count]


cdef inline double forgiven(double length, double first, double run, double missed, double offsets) noexcept nogil:
    """What the weights of an event's missed points lack to 1 each.

    `first` is the first predicted offset and `run` the length of the predicted run that starts there; `missed`
    points with a sum of `offsets` are not predicted. A missed offset o beyond `run` lacks
    ((run + 1) o - run (run + 1) / 2) over length (length - 1) / 2. Which those are follows without looking:
    all before `first` are missed, none in the run is, and all missed ones after it lie beyond `run`, but for
    the very next one where the run starts the event.
    """
    if missed == 0:
        return 0
    if first == 0:
        missed -= 1
        offsets -= run
    else:
        missed -= first
        offsets -= first * (first - 1) / 2
        if run < first - 1:
            missed += first - 1 - run
            offsets += first * (first - 1) / 2 - run * (run + 1) / 2
    return (run + 1) * (offsets - run * missed / 2) / (length * (length - 1) / 2)


def misses(const int32_t[::1] bins, const long long[::1] starts, const long long[::1] stops, Py_ssize_t levels):
    """Of every level the number of predicted event points and the weight of the missed ones.

    And of every event the first level that predicts one of its points.
    """
    cdef Py_ssize_t events = starts.shape[0], k, x, i, j, q, level_stop, base = 0
    cdef long long points = 0, length
    cdef double lacking
    cdef Sum total = Sum(0, 0)
    for k in range(events):
        points += stops[k] - starts[k]
    # Event points in the order of their bins, each with its event: a counting sort, so that the points of one
    # event stand together within a level.
    cdef long long[::1] place = np.zeros(levels + 2, np.int64)
    cdef int32_t[::1] order = np.empty(points, np.int32), owner = np.empty(points, np.int32)
    # The next later event point with a larger bin (or the end of the event), as an offset.
    cdef int32_t[::1] larger = np.empty(points, np.int32)
    cdef long long[::1] first = np.empty(events, np.int64), end = np.empty(events, np.int64)
    cdef long long[::1] bases = np.empty(events, np.int64), hits = np.zeros(events, np.int64)
    cdef long long[::1] offsets = np.zeros(events, np.int64)
    cdef double[::1] lacks = np.zeros(events)
    found_out, weights, first_levels = np.empty(levels, np.int64), np.empty(levels), np.empty(events, np.int32)
    cdef long long[::1] founds = found_out
    cdef double[::1] missed = weights
    cdef int32_t[::1] first_level = first_levels
    with nogil:
        for k in range(events):
            bases[k] = base
            length = stops[k] - starts[k]
            first[k] = end[k] = length
            first_level[k] = <int32_t>levels
            for x in range(starts[k], stops[k]):
                place[bins[x] + 1] += 1
                first_level[k] = min(first_level[k], bins[x])
            for i in range(length - 1, -1, -1):
                q = i + 1
                while q < length and bins[starts[k] + q] <= bins[starts[k] + i]:
                    q = larger[base + q]
                larger[base + i] = <int32_t>q
            base += length
        for j in range(levels + 1):
            place[j + 1] += place[j]
        for k in range(events):
            for x in range(starts[k], stops[k]):
                q = place[bins[x]]
                place[bins[x]] += 1
                order[q] = <int32_t>(x - starts[k])
                owner[q] = <int32_t>k
        q = 0
        for j in range(levels):
            level_stop = place[j]  # moved there while the points were placed
            while q < level_stop:
                k = owner[q]
                while q < level_stop and owner[q] == k:
                    hits[k] += 1
                    offsets[k] += order[q]
                    if order[q] < first[k]:
                        first[k] = end[k] = order[q]
                    q += 1
                length = stops[k] - starts[k]
                # Steps for one `first` go through bins below that of the previous one: O(points) in all.
                while end[k] < length and bins[starts[k] + end[k]] <= j:
                    end[k] = larger[bases[k] + end[k]]
                lacking = forgiven(
                    <double>length, <double>first[k], <double>(end[k] - first[k]), <double>(length - hits[k]),
                    <double>(length * (length - 1) // 2 - offsets[k]))
                add(&total, lacking - lacks[k])
                lacks[k] = lacking
            founds[j] = q
            # Exactly 0 where nothing is missed: recall is then exactly 1.
            missed[j] = (points - q) - value_of_sum(&total) if q < points else 0
    return found_out, weights, first_levels


def hits(
    const int32_t[::1] bins, const int32_t[::1] first_level, const long long[::1] founds,
    const long long[::1] starts, const long long[::1] stops, Py_ssize_t early, Py_ssize_t delay,
):
    """Of every level the weight of the predicted points: event points, and those in the zones of these sizes."""
    cdef Py_ssize_t n = bins.shape[0], levels = founds.shape[0], events = starts.shape[0], k, x, j, low, high = 0
    cdef double rate
    cdef Sum total = Sum(0, 0)
    # The points that no level predicts go to a last bin of their own.
    weights = np.zeros(levels + 1)
    cdef double[::1] weight = weights
    with nogil:
        for k in range(events):
            # Before the event, up to the previous event's zone; it counts from the level that detects the event.
            low = max(high, starts[k] - early)
            if low < starts[k]:
                # Twice the distance from the zone's far end to the middle of the event.
                rate = 2.0 / (starts[k] + stops[k] - 1 - 2 * low)
                for x in range(low + 1, starts[k]):
                    weight[max(bins[x], first_level[k])] += (x - low) * rate
            # After it, up to the next event; whether or not the event is detected.
            high = min(stops[k] + delay, starts[k + 1] if k + 1 < events else n)
            if stops[k] < high:
                rate = 2.0 / (2 * (high - 1) - (starts[k] + stops[k] - 1))
                for x in range(stops[k], high - 1):
                    weight[bins[x]] += (high - 1 - x) * rate
        for j in range(levels):
            add(&total, weight[j])
            weight[j] = founds[j] + value_of_sum(&total)
    return weights[:levels]


def area(const double[::1] hit, const double[::1] missed, const long long[::1] alarms):
    """Under precision against recall from (0, 1), without the points at which recall falls back."""
    cdef double precision, recall, last_precision = 1, last_recall = 0
    cdef Sum total = Sum(0, 0)
    cdef Py_ssize_t j
    for j in range(hit.shape[0]):
        recall = hit[j] / (hit[j] + missed[j])
        if recall >= last_recall - SAME:
            recall = max(recall, last_recall)
            precision = hit[j] / alarms[j]
            add(&total, (recall - last_recall) * (precision + last_precision) / 2)
            last_recall = recall
            last_precision = precision
    return value_of_sum(&total)
