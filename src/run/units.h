/* units: the work units of a scenario, over ranks and threads, with checkpoints on the way. */
#ifndef COSWEEP_RUN_UNITS_H
#define COSWEEP_RUN_UNITS_H

#include "progress.h"
#include "saved.h"

/* Finish what is not finished of one scenario.  Collective; `saved` counts on rank 0 only.  Adds to *busy_s the time that
 * this rank's threads had work.  Returns 0; 1 when it was stopped, with the checkpoint saved; -1 when that failed. */
int units_run(struct saved *saved, int scenario, struct sweep *sweep, const struct run_options *options, struct ranks ranks,
              double *busy_s, struct errors *errors);

#endif
