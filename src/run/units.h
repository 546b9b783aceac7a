/* units: the work units of a scenario, over ranks and threads. */
#ifndef COSWEEP_RUN_UNITS_H
#define COSWEEP_RUN_UNITS_H

#include "progress.h"
#include "sweep.h"

/* This rank's units into `outcome`; adds to *busy_s the time that its threads had work.  Collective. */
void units_sweep(struct outcome *outcome, struct sweep *sweep, const struct run_options *options, struct ranks ranks, double *busy_s);
/* All ranks' outcomes into that of rank 0.  Collective. */
void units_collect(struct outcome *outcome, struct ranks ranks);

#endif
