/* Count scores between sorted levels, without sorting them. In C, because Cython can make no clones of a function.

   A grid of cells over the levels tells which few of them a score has to be compared with. The cell of a score never
   falls as the score grows, not even where arithmetic rounds, so the counts are exact whatever the grid: it only decides
   how long a search is. Most cells have no level, and scores in them are but counted. Cells of equal width are the
   quickest. Where they leave many levels to some cell, those but for the lowest and the highest few levels may do
   (outliers); else (heavy tails) cells follow the bits of the scores: the first ones lead to a piece, which has equal
   cells of its own.

   The file includes itself, once for each type of scores. */

#ifndef SCORE

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../../core/_machine.h"

#define PIECES 1024
#define WORTH 0.6 /* steps of a search that cost as much as finding a piece first, */
#define EASY 0.25 /* and as much as a vectorised sort, with a merge */
#define BUSY 0x80000000u
#define LOOKED 256 /* scores looked at for an estimate */
#define NEAR 131072 /* cells up to which they stay in the second-level cache */
#define AT_ONCE 256 /* scores whose cells are found in one go: they stay in the first-level cache */

typedef struct {
    uint64_t low; /* key of its first level */
    int32_t offset, last; /* its first cell, and how many more it has */
    int32_t shift; /* of keys to cells */
} Piece;

typedef struct {
    double low, scale, last; /* of equal cells, for scores that are halved */
    uint64_t low_key;
    int32_t shift, pieces, cells; /* no pieces: equal cells */
    Piece piece[PIECES];
    int32_t *begin; /* of every cell: how many levels lie in cells before it */
    uint32_t *scores; /* of every cell: how many scores, and BUSY where it has a level; or NULL, where most are busy */
} Grid;

typedef struct {
    double steps, busy; /* of a score, on average: steps of a search in its cell, and levels there or none */
} Effort;

/* A whole number that orders as scores do; minus zero has that of zero. */
static inline uint64_t key_of(double score) {
    int64_t bits;
    score += 0.0;
    memcpy(&bits, &score, sizeof bits);
    return (uint64_t)bits ^ ((uint64_t)(bits >> 63) | (uint64_t)1 << 63);
}

static inline int32_t equal_cell(double score, const Grid *g) {
    /* Halves, because the distance of two finite numbers may not be finite. */
    double place = (score * 0.5 - g->low) * g->scale;
    place = place > 0 ? place : 0; /* so is what is no number */
    place = place < g->last ? place : g->last;
    return (int32_t)place;
}

/* (key - low) >> shift, between 0 and last. By masks: a branch would be a guess. */
static inline int32_t cell_from(uint64_t key, uint64_t low, int32_t shift, int32_t last) {
    const uint64_t place = ((key - low) & -(uint64_t)(key > low)) >> shift, within = -(uint64_t)(place < (uint64_t)last);
    return (int32_t)((place & within) | ((uint64_t)last & ~within));
}

static inline int32_t piece_at(uint64_t key, const Grid *g) {
    return cell_from(key, g->low_key, g->shift, g->pieces - 1);
}

static inline int32_t cell_by_key(double score, const Grid *g) {
    const uint64_t key = key_of(score);
    const Piece *p = &g->piece[piece_at(key, g)];
    return p->offset + cell_from(key, p->low, p->shift, p->last);
}

static inline int32_t cell_of(double score, const Grid *g) {
    return g->pieces ? cell_by_key(score, g) : equal_cell(score, g);
}

static int shift_for(uint64_t width, uint64_t last) {
    int shift = 0;
    while (width >> shift > last) shift++;
    return shift;
}

static void fill(Grid *g, const double *levels, int32_t count, int32_t cells) {
    int32_t i, before = 0;
    memset(g->begin, 0, (cells + 1) * sizeof *g->begin);
    for (i = 0; i < count; i++) g->begin[cell_of(levels[i], g)]++;
    for (i = 0; i <= cells; i++) {
        const int32_t here = g->begin[i];
        if (g->scores) g->scores[i] = here ? BUSY : 0;
        g->begin[i] = before;
        before += here;
    }
    g->cells = cells;
}

/* Equal cells between the levels but for the `left_out` lowest and highest ones; not filled yet. */
static void lay_equal_cells(Grid *g, const double *levels, int32_t count, int32_t cells, int32_t left_out) {
    g->pieces = 0;
    g->low = levels[left_out] * 0.5;
    g->scale = cells / (levels[count - 1 - left_out] * 0.5 - g->low);
    if (!(g->scale - g->scale == 0)) g->scale = 0; /* not finite: one cell for all */
    g->last = cells - 1;
}

/* How many levels lie in cells up to this one. */
static int32_t levels_up_to(int32_t cell, const Grid *g, const double *levels, int32_t count) {
    int32_t first = 0, half;
    while (count > 0) {
        half = (count + 1) / 2;
        first += cell_of(levels[first + half - 1], g) <= cell ? half : 0;
        count -= half;
    }
    return first;
}

/* Add what was only counted in cells to the gap before the next level. */
static void add_gaps(const Grid *g, int32_t count, int32_t *slots) {
    uint32_t gap = 0;
    int32_t i;
    for (i = 0; i < g->cells; i++) {
        if (g->scores[i] & BUSY) {
            slots[2 * g->begin[i]] += gap;
            gap = 0;
        } else {
            gap += g->scores[i];
        }
    }
    slots[2 * count] += gap;
}

/* Lay at most twice so many cells, and PIECES more. */
static void lay_pieces(Grid *g, const double *levels, int32_t count, int32_t cells) {
    const int32_t each = cells / count;
    int32_t p, first = 0, next, used = 0, here;
    g->low_key = key_of(levels[0]);
    g->shift = shift_for(key_of(levels[count - 1]) - g->low_key, PIECES - 1);
    g->pieces = PIECES;
    for (p = 0; p < PIECES; p++) {
        next = first;
        while (next < count && piece_at(key_of(levels[next]), g) <= p) next++;
        here = 1;
        while (next - first > 1 && here < (next - first) * each) here *= 2;
        g->piece[p].low = first < next ? key_of(levels[first]) : 0;
        g->piece[p].shift = first < next ? shift_for(key_of(levels[next - 1]) - g->piece[p].low, here - 1) : 0;
        g->piece[p].offset = used;
        g->piece[p].last = here - 1;
        used += here;
        first = next;
    }
    fill(g, levels, count, used);
}

#define SCORE float
#define COMPARE compare_floats
#define EFFORT effort_of_floats
#define CELLS_OF cells_of_floats
#define PLACE place_floats
#include "places.h"
#undef SCORE
#undef COMPARE
#undef EFFORT
#undef CELLS_OF
#undef PLACE

#define SCORE double
#define COMPARE compare_doubles
#define EFFORT effort_of_doubles
#define CELLS_OF cells_of_doubles
#define PLACE place_doubles
#include "places.h"
#undef SCORE
#undef COMPARE
#undef EFFORT
#undef CELLS_OF
#undef PLACE

#else

/* How long scores take, on average over some of them, with cells that need not be filled yet. */
static Effort EFFORT(const Grid *g, const double *levels, int32_t count, const SCORE *s, ptrdiff_t n) {
    const ptrdiff_t some = n / 256 + 16 < LOOKED ? n / 256 + 16 : LOOKED, looked = n < some ? n : some;
    Effort effort = {0, 0};
    ptrdiff_t i;
    for (i = 0; i < looked; i++) {
        const int32_t cell = cell_of(s[i * (n / looked)], g);
        int32_t left = levels_up_to(cell, g, levels, count) - levels_up_to(cell - 1, g, levels, count);
        effort.busy += left > 0;
        for (; left > 1; left /= 2) effort.steps++;
    }
    effort.steps /= looked;
    effort.busy /= looked;
    return effort;
}

/* Add how many of s[:n] are above a level, and at it: without a table, the quickest where there are few levels. */
FOR_EVERY_MACHINE static void COMPARE(const SCORE *s, ptrdiff_t n, double level, int64_t *above, int64_t *at) {
    ptrdiff_t from, i;
    for (from = 0; from < n; from += AT_ONCE) {
        const ptrdiff_t end = n - from < AT_ONCE ? n : from + AT_ONCE;
        int32_t higher = 0, equal = 0;
        for (i = from; i < end; i++) {
            higher += s[i] > level;
            equal += s[i] == level;
        }
        *above += higher;
        *at += equal;
    }
}

FOR_EVERY_MACHINE static void CELLS_OF(const SCORE *s, ptrdiff_t n, const Grid *g, int32_t *cells) {
    ptrdiff_t i;
    for (i = 0; i < n; i++) cells[i] = equal_cell(s[i], g);
}

/* Count s[:n]: slots[2 j] those between levels j - 1 and j, slots[2 j + 1] those at level j.

   `highest` is the number of the last level. What a score needs of memory is asked for a block of them at once: it is known
   before the first branch is guessed. */
static void PLACE(
    const SCORE *s, ptrdiff_t n, const Grid *g, const double *levels, int32_t highest, int32_t *slots) {
    int32_t cells[AT_ONCE], first[AT_ONCE], sizes[AT_ONCE];
    SCORE listed[AT_ONCE];
    ptrdiff_t from, i;
    for (from = 0; from < n; from += AT_ONCE) {
        ptrdiff_t count = n - from < AT_ONCE ? n - from : AT_ONCE;
        if (g->pieces)
            for (i = 0; i < count; i++) cells[i] = cell_by_key(s[from + i], g);
        else
            CELLS_OF(s + from, count, g, cells);
        const SCORE *scores = s + from;
        if (g->scores) { /* all are counted in their cells, and those where a level is are listed: without a branch */
            ptrdiff_t to = 0;
            if (g->cells > NEAR)
                for (i = 0; i < count; i++) FETCH_TO_WRITE(&g->scores[cells[i]]);
            for (i = 0; i < count; i++) {
                const int32_t cell = cells[i];
                const uint32_t before = g->scores[cell]++;
                cells[to] = cell;
                listed[to] = scores[i];
                to += before >> 31;
            }
            scores = listed;
            count = to;
        }
        for (i = 0; i < count; i++) {
            const int32_t *begin = &g->begin[cells[i]];
            first[i] = begin[0];
            sizes[i] = begin[1] - begin[0];
            FETCH(&levels[first[i]]);
            FETCH(&slots[2 * first[i]]);
        }
        for (i = 0; i < count; i++) {
            const double score = scores[i];
            int32_t at = first[i], size = sizes[i];
            while (size > 1) { /* rare; as many steps whatever the score */
                const int32_t half = size / 2;
                at += levels[at + half - 1] < score ? half : 0;
                size -= half;
            }
            /* No branch where a cell has one level or none: which of them is a guess at best. */
            const double level = levels[at < highest ? at : highest];
            slots[2 * at + size * (2 * (level < score) + (level == score))]++;
        }
    }
}

#endif
