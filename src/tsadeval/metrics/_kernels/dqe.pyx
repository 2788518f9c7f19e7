"""Detection quality of every event at falling thresholds: cells are inserted, and runs of them merge."""

import numpy as np

cdef enum:
    EVENT = 0
    NEAR = 1
    FAR = 2


def qualities(
    const long long[::1] order, const long long[::1] begins, const signed char[::1] kinds, const long long[::1] owners,
    const long long[::1] zones, const long long[::1] weights, const long long[::1] distances,
    const double[::1] far_lengths, double near,
):
    """The sum of the qualities of all events, at each level.

    Cells lie in time order: a cell is a point, or a half of one that belongs to two zones. Each has a kind, the event
    it counts for, a zone (runs end at its borders), a weight in halves of a point, and near events the distance to the
    event. `order[begins[j]:begins[j + 1]]` are the cells that level j adds; `far_lengths` are those of the far zones of
    each event, in halves of a point too.
    """
    cdef Py_ssize_t cells = kinds.shape[0], events = far_lengths.shape[0], levels = begins.shape[0] - 1
    cdef Py_ssize_t j, m, c, k, left, right, touched
    cdef double total = 0, before, quality, false_alarm, proximity
    cdef long long run, old, w
    # For the two ends of every run the other end; -1 where a cell is not alarmed.
    ends, position = np.full(cells, -1, np.int64), np.empty(cells + 1, np.int64)
    cdef long long[::1] other = ends, offset = position
    found, near_duration, far_duration = (np.zeros(events, np.int64) for _ in range(3))
    nearest = np.full(events, -1, np.int64)
    squares, values, totals = np.zeros(events), np.zeros(events), np.empty(levels)
    marks, changed = np.full(events, -1, np.int64), np.empty(events, np.int64)
    cdef long long[::1] hits = found, near_sum = near_duration, far_sum = far_duration, closest = nearest
    cdef double[::1] square = squares, value = values, out = totals
    cdef long long[::1] mark = marks, todo = changed
    with nogil:
        offset[0] = 0
        for c in range(cells):
            offset[c + 1] = offset[c] + weights[c]
        for j in range(levels):
            touched = 0
            for m in range(begins[j], begins[j + 1]):
                c = order[m]
                k = owners[c]
                if mark[k] != j:
                    mark[k] = j
                    todo[touched] = k
                    touched += 1
                w = weights[c]
                if kinds[c] == EVENT:
                    hits[k] += 1
                    continue
                if kinds[c] == NEAR:
                    near_sum[k] += w
                    if closest[k] < 0 or distances[c] < closest[k]:
                        closest[k] = distances[c]
                    continue
                left = right = c
                far_sum[k] += w
                if c > 0 and other[c - 1] >= 0 and zones[c - 1] == zones[c]:
                    left = other[c - 1]
                    old = offset[c] - offset[left]
                    square[k] -= <double> old * <double> old
                if c + 1 < cells and other[c + 1] >= 0 and zones[c + 1] == zones[c]:
                    right = other[c + 1]
                    old = offset[right + 1] - offset[c + 1]
                    square[k] -= <double> old * <double> old
                run = offset[right + 1] - offset[left]
                square[k] += <double> run * <double> run
                other[c] = c
                other[left] = right
                other[right] = left
            for m in range(touched):
                k = todo[m]
                before = value[k]
                false_alarm = 1
                if far_sum[k] > 0:
                    # One less the union of the covered share and of 1 - (sum of squares) / (square of the sum).
                    false_alarm = (1 - far_sum[k] / far_lengths[k]) * (square[k] / (<double> far_sum[k] * <double> far_sum[k]))
                if near_sum[k] > 0:
                    proximity = (1 - closest[k] / near) * (1 - near_sum[k] / (4 * near))
                else:
                    proximity = 1 if hits[k] > 0 and far_sum[k] == 0 else 0
                quality = (proximity + (hits[k] > 0)) / 2 * false_alarm
                value[k] = quality
                total += quality - before
            out[j] = total
    return totals
