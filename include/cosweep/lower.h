/* lower: (model, scenario, plan, fabric) -> demand (MODEL sections 3 to 9).  Pure functions; no rates. */
#ifndef COSWEEP_LOWER_H
#define COSWEEP_LOWER_H

#include "cosweep/demand.h"
#include "cosweep/plan.h"

enum { OWN_CACHE = 64 };

/* What lowering keeps between plans of one scenario and fabric; one per thread, on the caller's storage. */
struct lowering {
    const struct scenario *scenario; /* borrowed */
    struct fabric fabric;
    struct { int64_t sequences; double flop, hbm_bytes; } own[OWN_CACHE]; /* by number of sequences, direct-mapped */
};
void lower_init(struct lowering *lowering, const struct scenario *scenario);
/* The fabric of the plans that follow. */
void lower_set_fabric(struct lowering *lowering, const struct fabric *fabric);

/* Fill `demand` for a pinned plan that plan_check accepts.  About 7 kB written, nothing allocated. */
void lower_plan(struct demand *demand, struct lowering *lowering, const struct plan *plan);

/* Time coefficients of one collective over `group` of `bytes` (MODEL section 4).  Public for tests and explain. */
enum collective_kind { ALL_GATHER, REDUCE_SCATTER, ALL_REDUCE, ALL_TO_ALL };
struct collective lower_collective(enum collective_kind kind, const struct group *group, double bytes,
                                   const struct fabric *fabric, int64_t sips, double wire_bytes[N_LEVELS]);

#endif
