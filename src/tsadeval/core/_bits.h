/* Labels as one bit each: the pass over them that makes the bits, and what is asked of the bits afterwards.

   In C, because Cython can make no clones of a function for the vector instructions of a machine. The pass takes as long
   as reading the labels does, and one word has the bits of 64 of them, so that all else is quick beside it. Another
   thread may write to the labels meanwhile: whatever the bits are then, all answers are about the same ones. The file
   includes itself, once for each type of labels. */

#ifndef LABEL

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "_machine.h"

#define WORD 64

#if defined(__GNUC__)
#define FIRST_BIT(bits) __builtin_ctzll(bits)
#define COUNT_BITS(bits) __builtin_popcountll(bits)
#define VECTOR 32 /* bytes of labels that are looked at together */
#else
static int COUNT_BITS(uint64_t bits) {
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    return (int)(((bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
}
#define FIRST_BIT(bits) COUNT_BITS(((bits) & (0 - (bits))) - 1)
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BYTES_AS_WORD
#endif

typedef struct {
    ptrdiff_t ones, runs; /* runs of ones */
    int doubtful;         /* is there a label other than 0 and 1? Or the float -0.0, which is as good as 0 */
} Packed;

/* AT is the bit of a label that says which one it is: 1.0 has ones in the bits 52 to 61, -0.0 has the last one alone. */
#define LABEL uint64_t
#define AT 0
#define PACK pack_longs
#include "_bits.h"
#undef AT
#undef PACK

#define AT 52
#define PACK pack_doubles
#include "_bits.h"
#undef LABEL
#undef AT
#undef PACK

#define LABEL uint32_t
#define AT 0
#define PACK pack_ints
#include "_bits.h"
#undef LABEL
#undef PACK

#define LABEL uint8_t
#define BYTES
#define PACK pack_bytes
#include "_bits.h"

/* Write where runs of ones begin and stop. */
FOR_EVERY_MACHINE static void runs_of_ones(const uint64_t *bits, ptrdiff_t n, long long *starts, long long *stops) {
    ptrdiff_t i, k = 0;
    int inside = 0;
    for (i = 0; i * WORD < n; i++) {
        uint64_t left = bits[i];
        if (inside && ~left) {
            stops[k++] = i * WORD + FIRST_BIT(~left);
            left &= left + 1;
            inside = 0;
        }
        while (left && !inside) {
            /* The first of its ones, added to a run, carries to the point behind it. */
            const uint64_t behind = left + (left & (0 - left));
            starts[k] = i * WORD + FIRST_BIT(left);
            inside = behind == 0;
            if (!inside) stops[k++] = i * WORD + FIRST_BIT(behind);
            left &= behind;
        }
    }
    if (inside) stops[k] = n;
}

/* Write how many points of each run of ones others have too, and the first of these, or else the run's stop.

   Returns how many runs of the others have a point in common with any of these. */
FOR_EVERY_MACHINE static ptrdiff_t match_runs(
    const uint64_t *bits, const uint64_t *others, ptrdiff_t n, long long *hits, long long *firsts
) {
    ptrdiff_t i, k = 0, touching = 0;
    uint64_t met = 0;
    int inside = 0;
    for (i = 0; i * WORD < n; i++) {
        const uint64_t own = bits[i], other = others[i], both = own & other, sum = other + both, carried = sum + met;
        uint64_t left = own;
        int from = 0;
        if (!(own | met) && !inside) continue;
        /* A bit in common, added to its run among the others, carries to the point behind it, which is in no run. */
        touching += COUNT_BITS(carried & ~other);
        met = (sum < both) | (carried < sum);
        while (inside || left) {
            uint64_t zeros, part;
            int stop;
            if (!inside) {
                from = FIRST_BIT(left);
                hits[k] = 0;
                firsts[k] = -1;
            }
            zeros = ~own >> from << from;
            stop = zeros ? FIRST_BIT(zeros) : WORD;
            part = (both & ~zeros) >> from << from;
            if (stop < WORD) part &= ((uint64_t)1 << stop) - 1;
            hits[k] += COUNT_BITS(part);
            if (firsts[k] < 0 && (part || stop < WORD)) firsts[k] = i * WORD + (part ? FIRST_BIT(part) : stop);
            inside = stop == WORD;
            if (inside) break;
            left = own >> stop << stop;
            k++;
        }
    }
    if (inside && firsts[k] < 0) firsts[k] = n;
    return touching + (ptrdiff_t)met;
}

/* Write the labels as bytes. */
FOR_EVERY_MACHINE static void unpack(const uint64_t *bits, ptrdiff_t n, uint8_t *labels) {
    ptrdiff_t i = 0;
#ifdef BYTES_AS_WORD
    for (; i + WORD <= n; i += WORD) {
        uint64_t bytes[8];
        int k;
        for (k = 0; k < 8; k++) { /* halves of eight bits move apart, then their halves, then single bits */
            uint64_t eight = bits[i / WORD] >> 8 * k & 0xff;
            eight = (eight | eight << 28) & 0x0000000f0000000fu;
            eight = (eight | eight << 14) & 0x0003000300030003u;
            bytes[k] = (eight | eight << 7) & 0x0101010101010101u;
        }
        memcpy(labels + i, bytes, WORD);
    }
#endif
    for (; i < n; i++) labels[i] = bits[i / WORD] >> i % WORD & 1;
}

#else

/* Write the bits of n labels, and zeros up to the end of the last word. */
FOR_EVERY_MACHINE static Packed PACK(const LABEL *labels, ptrdiff_t n, uint64_t *bits) {
    Packed found = {0, 0, 0};
    LABEL rest[WORD] = {0};
    /* The bits of all labels, and where any of them differs from its own next lower bit. */
    uint64_t seen = 0, uneven = 0, before = 0, carry = 0;
    ptrdiff_t i, k, head = 0;
#if defined(VECTOR) && !defined(BYTES)
    enum { LANES = VECTOR / sizeof(LABEL), PART = 8 * sizeof(LABEL) };
    typedef LABEL Lanes __attribute__((vector_size(VECTOR)));
    typedef LABEL Unaligned __attribute__((vector_size(VECTOR), aligned(1), may_alias));
    Lanes all_seen = {0}, all_uneven = {0};
    /* Large arrays seldom begin where a vector does: a load from two lines of the cache costs more than to move bits. */
    if (n >= WORD && (uintptr_t)labels % sizeof(LABEL) == 0) head = (0 - (uintptr_t)labels) % VECTOR / sizeof(LABEL);
    for (k = 0; k < head; k++) {
        seen |= labels[k];
        uneven |= labels[k] ^ (uint64_t)labels[k] << 1;
        carry |= (uint64_t)(labels[k] >> AT & 1) << k;
    }
    labels += head;
#endif
    for (i = 0; i * WORD < n; i++) {
        const LABEL *here = labels + i * WORD;
        const ptrdiff_t left = n - head - i * WORD;
        uint64_t word = 0;
        if (left < WORD) here = memcpy(rest, here, left > 0 ? left * sizeof(LABEL) : 0);
#if defined(BYTES) && defined(BYTES_AS_WORD)
        for (k = 0; k < WORD; k += 8) {
            uint64_t eight;
            memcpy(&eight, here + k, 8);
            seen |= eight;
            word |= (eight * 0x0102040810204080u >> 56) << k; /* the product has a bit for each byte in its highest one */
        }
#elif defined(VECTOR) && !defined(BYTES)
        ptrdiff_t part;
        for (part = 0; part < WORD; part += PART) {
            Lanes ones = {0};
            LABEL joined = 0;
#pragma GCC unroll 16
            for (k = 0; k < PART / LANES; k++) {
                const Lanes some = ((const Unaligned *)(here + part))[k];
                all_seen |= some;
#if AT
                const Lanes one = some & (LABEL)1 << AT;
                all_uneven |= some ^ some << 1;
                ones |= LANES * k < AT ? one >> (AT - LANES * k) : one << (LANES * k - AT);
#else
                ones |= some << LANES * k;
#endif
            }
#pragma GCC unroll 8
            for (k = 0; k < LANES; k++) joined |= ones[k] << k;
            word |= (uint64_t)joined << part;
        }
#else
        for (k = 0; k < WORD; k++) {
            seen |= here[k];
            uneven |= here[k] ^ (uint64_t)here[k] << 1;
            word |= (uint64_t)(here[k] >> AT & 1) << k;
        }
#endif
        if (left < WORD) word &= left > 0 ? ((uint64_t)1 << left) - 1 : 0;
        if (head) {
            const uint64_t moved = word << head | carry;
            carry = word >> (WORD - head);
            word = moved;
        }
        bits[i] = word;
        found.ones += COUNT_BITS(word);
        found.runs += COUNT_BITS(word & ~(word << 1 | before));
        before = word >> (WORD - 1);
    }
#if defined(VECTOR) && !defined(BYTES)
    for (k = 0; k < LANES; k++) {
        seen |= all_seen[k];
        uneven |= all_uneven[k];
    }
#endif
#if defined(BYTES)
    seen &= 0xfefefefefefefefeu;
#elif AT
    seen = seen >> 62 | (uneven << 2 >> 2 & ~((uint64_t)1 << AT));
#else
    seen >>= 1;
#endif
    (void)uneven;
    found.doubtful = seen != 0;
    return found;
}

#endif
