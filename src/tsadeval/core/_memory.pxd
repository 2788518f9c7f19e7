"""Ask for memory ahead of its use, where the compiler knows how; a hint, without which all works the same."""

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define FETCH(address) __builtin_prefetch(address)
    #define FETCH_TO_WRITE(address) __builtin_prefetch(address, 1)
    #else
    #define FETCH(address) ((void)(address))
    #define FETCH_TO_WRITE(address) ((void)(address))
    #endif
    """
    void FETCH(const void *address) noexcept nogil
    void FETCH_TO_WRITE(const void *address) noexcept nogil
