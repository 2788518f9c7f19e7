/* Where labels change. In C, because Cython can make no clones of a function for the vector instructions of a machine.

   Without branches for the labels: whether the next one is another is a guess where runs are short. The file includes
   itself, once for each type of labels. */

#ifndef LABEL

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "_machine.h"

#define SPAN 64 /* labels that are compared in one go */

#if defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FIRST_BIT(bits) __builtin_ctzll(bits)
#endif

#define LABEL unsigned char
#define CHANGES changes_of_bytes
#include "_changes.h"
#undef LABEL
#undef CHANGES

#define LABEL int
#define CHANGES changes_of_ints
#include "_changes.h"
#undef LABEL
#undef CHANGES

#define LABEL long long
#define CHANGES changes_of_longs
#include "_changes.h"
#undef LABEL
#undef CHANGES

#define LABEL double
#define CHANGES changes_of_doubles
#include "_changes.h"
#undef LABEL
#undef CHANGES

#else

/* Write the positions in [*from, n) whose label differs from the one before, until fewer than SPAN of `room` are left.

   *from is at least 1, and where to go on afterwards. Returns how many positions were written. */
FOR_EVERY_MACHINE static ptrdiff_t CHANGES(const LABEL *y, ptrdiff_t *from, ptrdiff_t n, long long *out, ptrdiff_t room) {
    ptrdiff_t i = *from, k = 0, j, w;
    while (i < n && k + SPAN <= room) {
        uint8_t differs[SPAN] = {0};
        const ptrdiff_t count = n - i < SPAN ? n - i : SPAN;
        const LABEL *here = y + i;
        uint64_t words[SPAN / 8], any = 0;
        if (count == SPAN)
            for (j = 0; j < SPAN; j++) differs[j] = here[j] != here[j - 1];
        else
            for (j = 0; j < count; j++) differs[j] = here[j] != here[j - 1];
        memcpy(words, differs, SPAN);
        for (w = 0; w < SPAN / 8; w++) any |= words[w];
        if (any) {
#ifdef FIRST_BIT
            uint64_t bits = 0; /* one for each label: the product has a bit for each byte in its highest byte */
            for (w = 0; w < SPAN / 8; w++) bits |= (words[w] * 0x0102040810204080u >> 56) << 8 * w;
            for (; bits; bits &= bits - 1) out[k++] = i + FIRST_BIT(bits);
#else
            for (j = 0; j < count; j++) {
                out[k] = i + j;
                k += differs[j];
            }
#endif
        }
        i += count;
    }
    *from = i;
    return k;
}

#endif
