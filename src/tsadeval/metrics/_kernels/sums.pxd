"""A sum of doubles that keeps what rounding takes from it, so that long sums of gains and losses do not drift."""


cdef struct Sum:
    double high
    double low


cdef inline void add(Sum *total, double value) noexcept nogil:
    cdef double result = total.high + value
    cdef double part = result - total.high
    total.low += (total.high - (result - part)) + (value - part)  # exact, whichever of the two is larger
    total.high = result


cdef inline double value_of_sum(const Sum *total) noexcept nogil:
    return total.high + total.low
