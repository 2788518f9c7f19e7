"""Sweeps that need, for every alarm that the falling threshold adds, the alarms next to it.

Backwards a sweep is easy: from all points alarmed, the lowest is taken out of a linked list, which then names its
neighbours.
"""

import numpy as np

cdef struct Truth:
    # Of the anomalous points in front of each position: their number, the sum of their positions, and of the squares.
    # The last two may wrap around; differences of them are right all the same while they fit 64 bits.
    const unsigned long long *count
    const unsigned long long *first
    const unsigned long long *second
    long long n
    bint squared


cdef double to_one(const Truth *truth, long long low, long long high, long long alarm) noexcept nogil:
    """The sum of the distances of the anomalous points in [low, high) to an alarm on one side of them."""
    if low >= high:
        return 0
    cdef unsigned long long c = truth.count[high] - truth.count[low], s = truth.first[high] - truth.first[low], exact
    cdef double far = max(alarm - low, high - 1 - alarm)
    if c == 0:
        return 0
    if not truth.squared:
        exact = s - <unsigned long long> alarm * c
        return <double> exact if alarm < low else <double> (0 - exact)
    exact = truth.second[high] - truth.second[low] - 2 * <unsigned long long> alarm * s
    exact += <unsigned long long> alarm * <unsigned long long> alarm * c
    # Where the sum may pass 64 bits, a bound will do: such a threshold is not the best.
    return <double> exact if far * far * <double> c < 9e18 else far * far * <double> c


cdef double between(const Truth *truth, long long left, long long right) noexcept nogil:
    """The sum of the distances of the anomalous points between two alarms (-1 and n where there is none)."""
    cdef long long middle
    if left < 0 and right >= truth.n:
        return <double> truth.count[truth.n] * (<double> truth.n * truth.n if truth.squared else <double> truth.n)
    if left < 0:
        return to_one(truth, 0, right, right)
    if right >= truth.n:
        return to_one(truth, left + 1, truth.n, left)
    middle = (left + right) // 2
    return to_one(truth, left + 1, middle + 1, left) + to_one(truth, middle + 1, right, right)


def distances_left(const long long[::1] order, const unsigned char[::1] anomalous, bint squared):
    """Sum of the distances of all anomalous points to the nearest alarm, once the first 1, 2, ... of `order` are."""
    cdef Py_ssize_t n = order.shape[0], i, k
    cdef long long x, left, right
    count, first, second = (np.zeros(n + 1, np.uint64) for _ in range(3))
    cdef unsigned long long[::1] c = count, f = first, s = second
    before, after, found = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    cdef long long[::1] previous = before, following = after
    cdef double[::1] out = found
    cdef Truth truth
    cdef double total = 0
    with nogil:
        for i in range(n):
            c[i + 1] = c[i] + anomalous[i]
            f[i + 1] = f[i] + (<unsigned long long> i if anomalous[i] else 0)
            s[i + 1] = s[i] + (<unsigned long long> i * <unsigned long long> i if anomalous[i] else 0)
            previous[i], following[i] = i - 1, i + 1
        truth.count, truth.first, truth.second, truth.n, truth.squared = &c[0], &f[0], &s[0], n, squared
        for k in range(n - 1, -1, -1):
            out[k] = total
            x = order[k]
            left, right = previous[x], following[x]
            if left >= 0:
                following[left] = right
            if right < n:
                previous[right] = left
            total += between(&truth, left, right) - between(&truth, left, x) - between(&truth, x, right)
    return found


def episode_counts(
    const long long[::1] order, const long long[::1] begins, const long long[::1] ends, double gap, double shortest
):
    """The number of episodes once the first 1, 2, ... of `order` are alarmed; point i lasts from begins[i] to ends[i].

    Alarms that are quiet for at most `gap` between them are one episode; those shorter than `shortest`, what is quiet
    inside included, do not count.
    """
    cdef Py_ssize_t n = order.shape[0], i, k
    cdef long long x, left, right, low, high, total = 0
    before, after, other = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    lefts, rights, found = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    cdef long long[::1] previous = before, following = after, end = other, l = lefts, r = rights, out = found
    with nogil:
        for i in range(n):
            previous[i], following[i] = i - 1, i + 1
        for k in range(n - 1, -1, -1):
            x = order[k]
            left, right = previous[x], following[x]
            l[k], r[k] = left, right
            if left >= 0:
                following[left] = right
            if right < n:
                previous[right] = left
        # At the two ends of an episode, `end` has the other one.
        for k in range(n):
            x = order[k]
            low = high = x
            end[x] = x
            if l[k] >= 0 and r[k] < n and begins[r[k]] - ends[l[k]] <= gap:
                out[k] = total  # inside an episode, which stays as it is
                continue
            if l[k] >= 0 and begins[x] - ends[l[k]] <= gap:
                low = end[l[k]]
                total -= ends[l[k]] - begins[low] >= shortest
            if r[k] < n and begins[r[k]] - ends[x] <= gap:
                high = end[r[k]]
                total -= ends[high] - begins[r[k]] >= shortest
            total += ends[high] - begins[low] >= shortest
            end[low] = high
            end[high] = low
            out[k] = total
    return found


cdef inline long long root_of(long long[::1] parent, long long x) noexcept nogil:
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


def false_episodes(
    const long long[::1] order,
    const unsigned char[::1] anomalous,
    const long long[::1] begins,
    const long long[::1] ends,
    double gap,
):
    """The number of episodes without an anomalous point once the first 1, 2, ... of `order` are alarmed.

    As for `episode_counts`, but `order` may lack points, which never alarm.
    """
    cdef Py_ssize_t n = anomalous.shape[0], m = order.shape[0], i, k, side
    cdef long long x, left, right, one, other, total = 0
    before, after, roots = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    lefts, rights, found = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64)
    alarmed, right_ones = np.zeros(n, np.uint8), np.zeros(n, np.uint8)
    cdef long long[::1] previous = before, following = after, parent = roots, l = lefts, r = rights, out = found
    cdef unsigned char[::1] there = alarmed, touching = right_ones
    with nogil:
        for k in range(m):
            there[order[k]] = 1
        left = -1
        for i in range(n):  # a list of the points that alarm at last
            previous[i], following[i], parent[i] = left, n, i
            if there[i]:
                if left >= 0:
                    following[left] = i
                left = i
        for k in range(m - 1, -1, -1):
            x = order[k]
            left, right = previous[x], following[x]
            l[k], r[k] = left, right
            if left >= 0:
                following[left] = right
            if right < n:
                previous[right] = left
        for k in range(m):
            x = order[k]
            touching[x] = anomalous[x]
            total += not anomalous[x]
            for side in range(2):
                if side == 0:
                    if l[k] < 0 or begins[x] - ends[l[k]] > gap:
                        continue
                    other = root_of(parent, l[k])
                else:
                    if r[k] >= n or begins[r[k]] - ends[x] > gap:
                        continue
                    other = root_of(parent, r[k])
                one = root_of(parent, x)
                if one == other:
                    continue
                total -= (not touching[one]) + (not touching[other])
                parent[one] = other
                touching[other] |= touching[one]
                total += not touching[other]
            out[k] = total
    return found
