/* keep: from what a sweep found to what a result holds.  All memory is the arena's.  When it is told to stop (stop.h) the
 * rest is left out and none of it is to be believed. */
#ifndef COSWEEP_RUN_KEEP_H
#define COSWEEP_RUN_KEEP_H

#include "sweep.h"

/* Population of an outcome (population.c). */
void keep_population(struct result_scenario *out, const struct sweep *sweep, const struct outcome *outcome,
                     struct arena *arena);

/* Elasticities and curves of every row (sensitivity.c). */
void keep_elasticities(struct result_scenario *out, const struct sweep *sweep, struct arena *arena);
void keep_curves(struct result_scenario *out, const struct sweep *sweep, struct arena *arena);
/* What doubling is worth (doubling.c).  Collective: plans go round the ranks; rows[n] are the ids of the Pareto set, the
 * same on all.  Rank 0 fills `out`. */
void keep_doubling(struct result_doubling *out, const struct sweep *sweep, const candidate_id *rows, int64_t n_rows,
                   struct ranks ranks, struct arena *arena);

#endif
