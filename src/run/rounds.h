/* rounds: two_stage, coarse grids first, then finer ones around the rows of the front. */
#ifndef COSWEEP_RUN_ROUNDS_H
#define COSWEEP_RUN_ROUNDS_H

#include "cosweep/run.h"

enum { MOST_ROUNDS = 8 };
#define ROUND_TOLERANCE 0.01 /* rounds end when the front moves by no more than this */

/* The study of the next round: every axis that was `auto` keeps the values that rows of the fronts use and gets those
 * halfway (geometrically) to their neighbours.  Memory is the arena's.  Returns whether any axis has a new value. */
bool round_refine(struct study *next, const struct study *study, const struct result *result, struct arena *arena);
/* How far the fronts moved: the largest factor, less 1, by which a new row is better than every old one in some objective.
 * 0 = each new row is matched by an old one. */
double round_movement(const struct result *before, const struct result *after);

#endif
