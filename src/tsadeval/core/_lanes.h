/* Sums of scores in lanes. In C, because Cython can neither mark a function nor make clones of it.

   The file includes itself, once for each type of scores. */

#ifndef SCORE

#include <stddef.h>

#include "_machine.h"

/* Independent lanes let the compiler use vector instructions without reordering a sum by itself. They are summed in one
   order and nothing is contracted (see setup.py), so all machines give the same digits. */
#define LANES 16

typedef struct {
    double total, squares, low, high;
} Moments;

#define SCORE float
#define ADD_SCORE add_float
#define ADD_SCORES add_floats
#include "_lanes.h"
#undef SCORE
#undef ADD_SCORE
#undef ADD_SCORES

#define SCORE double
#define ADD_SCORE add_double
#define ADD_SCORES add_doubles
#include "_lanes.h"
#undef SCORE
#undef ADD_SCORE
#undef ADD_SCORES

#else

static inline void ADD_SCORE(SCORE score, double first, double *total, double *squares, SCORE *low, SCORE *high) {
    const double difference = score - first;
    *total += difference;
    *squares += difference * difference;
    *low = score < *low ? score : *low;
    *high = score > *high ? score : *high;
}

/* Add the moments of s[:n] about `first`, a score of the same run. */
FOR_EVERY_MACHINE static void ADD_SCORES(const SCORE *s, ptrdiff_t n, double first, Moments *m) {
    double total[LANES], squares[LANES];
    SCORE low[LANES], high[LANES];
    ptrdiff_t i, j;
    for (j = 0; j < LANES; j++) {
        total[j] = squares[j] = 0;
        low[j] = high[j] = (SCORE)first;
    }
    for (i = 0; i + LANES <= n; i += LANES)
        for (j = 0; j < LANES; j++)
            ADD_SCORE(s[i + j], first, &total[j], &squares[j], &low[j], &high[j]);
    for (j = 0; i + j < n; j++)
        ADD_SCORE(s[i + j], first, &total[j], &squares[j], &low[j], &high[j]);
    for (j = 1; j < LANES; j++) {
        total[0] += total[j];
        squares[0] += squares[j];
        low[0] = low[j] < low[0] ? low[j] : low[0];
        high[0] = high[j] > high[0] ? high[j] : high[0];
    }
    m->total += total[0];
    m->squares += squares[0];
    m->low = low[0] < m->low ? low[0] : m->low;
    m->high = high[0] > m->high ? high[0] : m->high;
}

#endif
