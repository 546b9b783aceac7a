/* sweep: one scenario of a study. A sweep is shared by all threads and constant; a worker is one thread's. */
#ifndef COSWEEP_RUN_SWEEP_H
#define COSWEEP_RUN_SWEEP_H

#include "cosweep/lower.h"
#include "cosweep/run.h"

struct sweep {
    const struct study *study;       /* borrowed */
    const struct scenario *scenario; /* borrowed */
    struct units units;
    int64_t n_work_tiles, n_tiles; /* of a plan: along the work table, and all */
    struct work_rates work; /* all rows of the three groups */
    struct wire_rates wire;
    struct store_rates store;
    const struct pareto *seeds; /* search: pruned: points that boxes are held against; else NULL */
    struct arena arena;
};
void sweep_init(struct sweep *sweep, const struct study *study, int scenario);
void sweep_free(struct sweep *sweep);
/* How each of its scenarios is cut; the same for all. */
struct units study_units(const struct study *study);
/* What an outcome of a scenario of this study keeps. */
struct outcome_options study_keeps(const struct study *study);

/* Columns of the slice at hand, each computed when first asked for. */
struct columns {
    double *value[N_METRICS];
    int32_t *bin[N_METRICS];
    struct runs *runs[N_METRICS];
    bool has_value[N_METRICS], has_bin[N_METRICS], has_runs[N_METRICS];
};

struct worker {
    const struct sweep *sweep;
    struct lowering lowering;
    struct demand demand;
    struct times times;
    bool *fits; /* [store rows] */
    double *step_s, *minimised[MAX_OBJECTIVES];
    struct columns columns;
    struct strip work_strip, wire_strip; /* rows of the tile at hand */
    struct tally *work_tally, *wire_tally, *store_tally; /* rows of the tables, for the unit at hand */
    struct pareto *archive; /* where candidates go: the outcome's, or in a pruned search the unit's own */
    struct pareto unit_archive;
    struct arena arena;
};
void worker_init(struct worker *worker, const struct sweep *sweep);
void worker_free(struct worker *worker);
/* Every candidate of work unit `unit` into the outcome. */
void worker_run(struct worker *worker, struct outcome *outcome, int64_t unit);
/* search: pruned, before the sweep: a few good candidates of every plan of the unit, Pareto set only. */
void worker_seed(struct worker *worker, struct outcome *outcome, int64_t unit);

/* ---- one tile (slice.c) ------------------------------------------------------------------------------------------ */

/* A tile of the grid of machines under one demand: rows of the work and wire tables, and store rows [store_from,
 * store_to). */
struct tile {
    int64_t lowered;
    int work_from, wire_from; /* first rows in the whole tables */
    struct work_rates work;
    struct wire_rates wire;
    int store_from, store_to;
    int64_t n_fitting; /* of those store rows */
};
void tile_run(struct worker *worker, struct outcome *outcome, const struct tile *tile);
/* Single slices of a tile that tend to be good: the fastest and the cheapest row of each table with all of the other. */
void tile_seed(struct worker *worker, struct outcome *outcome, const struct tile *all);

/* Whether a value is past a limit. */
static inline bool limit_breaks(const struct limit *limit, double value)
{
    return metric_facts[limit->metric].better == BETTER_HIGH ? value < limit->value : value > limit->value;
}

/* All that is stored of one candidate. */
void sweep_row(struct result_row *row, const struct study *study, const struct scenario *scenario, candidate_id id);

#endif
