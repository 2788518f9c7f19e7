"""What an alarm in the ambiguous zone after an event is worth, in TaPR and eTaPR."""

from libc.math cimport exp, llround


cdef inline long long decay(long long place, long long length, long long unit) noexcept nogil:
    """Weight of a point of a zone: a logistic over the zone stretched to [-6, 6].

    It is a whole number of 1 / unit, and the weights of mirror points add up to exactly one unit.
    """
    if 2 * place == length - 1:
        return unit // 2
    if 2 * place > length - 1:
        return unit - llround(unit / (1 + exp(-6 + 12 * (<double>(length - 1 - place) / (length - 1)))))
    return llround(unit / (1 + exp(-6 + 12 * (<double>place / (length - 1)))))
