/* grid: a study without rounds. */
#ifndef COSWEEP_RUN_GRID_H
#define COSWEEP_RUN_GRID_H

#include "saved.h"

/* As run_study, of one grid.  A round of two_stage (past->round) is remembered in `past` when it is finished. */
int grid_run(struct result *result, const struct study *study, const struct run_options *options, struct saved_past *past,
             struct ranks ranks, struct arena *arena, struct errors *errors);

#endif
