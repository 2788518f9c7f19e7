"""What the sweeps over all thresholds share.

A sweep has two passes. In the order of time, a stack finds for every point what changes when it becomes an alarm; the
points it looks at are near each other in memory. Then the changes are added up in the order of the scores. That
order goes through memory at random, but the next points are known, so their changes are asked for ahead.
"""

cdef enum:
    # How many points ahead changes are asked for.
    AHEAD = 24
    # Bits of the lower of a sum's two words.
    SPLIT = 30


cdef struct Exact:
    # A sum of whole numbers of 2^-61, in two words. Nothing is rounded: adding and taking away never drifts.
    long long high
    long long low


cdef inline long long whole(double share) noexcept nogil:
    """A share from 0 to 1 as a whole number; the difference of one and two others still fits in 64 bits."""
    return <long long>(share * 2305843009213693952.0)


cdef inline void accumulate(Exact *total, long long change) noexcept nogil:
    total.high += change >> SPLIT
    total.low += change & ((1 << SPLIT) - 1)


cdef inline double value_of(const Exact *total) noexcept nogil:
    return total.high * (1.0 / 2147483648.0) + total.low * (1.0 / 2305843009213693952.0)
