/* The screen before an archive: says of a block of candidates, by vector code, which are surely dominated. */
#ifndef COSWEEP_REDUCE_SCREEN_H
#define COSWEEP_REDUCE_SCREEN_H

#include "cosweep/reduce.h"

enum { SCREEN_BLOCK = 512, N_FIXED_PIVOTS = 8, N_PIVOTS = 16, N_BINS = 1024 };

struct screen {
    int n_pivots, next_pivot;
    /* The first N_FIXED_PIVOTS: points of the archive that dominate much; the others: those that dominated a candidate last,
     * since neighbours share their fate. */
    double pivot[N_PIVOTS][MAX_OBJECTIVES];
    /* Two objectives: lowest objective[0] of the archive among points whose objective[1] is not above the lower edge of a
     * bin.  Bins are even in the bit pattern of objective[1], so they are fine where values are small.  Bin 0 is below
     * all. */
    int64_t lowest_key;
    int shift;
    double envelope[N_BINS + 2];
};

/* Derive pivots and bins from the archive's points, sorted by objectives. */
void screen_build(struct screen *screen, const struct point *point, int64_t n, int n_objectives);
/* A point of the archive has just dominated a candidate that passed the screen. */
void screen_note(struct screen *screen, const double objective[MAX_OBJECTIVES]);
/* keep[i] = 0 where candidate i is dominated by a point of the archive, else 1 (it may still be); n <= SCREEN_BLOCK.
 * Returns the number kept. */
int screen_block(const struct screen *screen, int64_t keep[], double *const objective[], int n_objectives, int n);
/* Whether a point of the archive is no worse than `corner` everywhere and better somewhere. */
bool screen_beats(const struct screen *screen, const double corner[], int n_objectives);

#endif
