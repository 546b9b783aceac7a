/* sweep: one scenario of a study, exhaustively. A sweep is shared by all threads and constant; a worker is one thread's. */
#ifndef COSWEEP_RUN_SWEEP_H
#define COSWEEP_RUN_SWEEP_H

#include "cosweep/run.h"
#include "cosweep/lower.h"

struct sweep {
    const struct study *study;       /* borrowed */
    const struct scenario *scenario; /* borrowed */
    struct units units;
    struct work_rates work; /* all rows of the three groups */
    struct wire_rates wire;
    struct store_rates store;
    struct arena arena;
};
void sweep_init(struct sweep *sweep, const struct study *study, int scenario);
void sweep_free(struct sweep *sweep);

struct worker {
    const struct sweep *sweep;
    struct lowering lowering;
    struct demand demand;
    struct times times;
    double *step_s, *objective[MAX_OBJECTIVES], *limited; /* columns of one slice */
    bool *fits;                                           /* [store rows] */
    struct arena arena;
};
void worker_init(struct worker *worker, const struct sweep *sweep);
void worker_free(struct worker *worker);
/* Every candidate of work unit `unit` into the outcome. */
void worker_run(struct worker *worker, struct outcome *outcome, int64_t unit);

/* Whether a value is past a limit. */
static inline bool limit_breaks(const struct limit *limit, double value)
{
    return metric_facts[limit->metric].better == BETTER_HIGH ? value < limit->value : value > limit->value;
}

/* All that is stored of one candidate. */
void sweep_row(struct result_row *row, const struct study *study, const struct scenario *scenario, candidate_id id);

#endif
