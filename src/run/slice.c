/* The inner loop: a tile of machines under one demand, slice by slice.
 *
 * A slice is one row of the shorter table with all rows of the longer.  Its steps are taken once; store rows share them.
 * What depends on neither is taken once per slice, the rest once per store row. */
#include "sweep.h"
#include <math.h>
#include <string.h>

/* What a box of machines can be at best and at worst. */
struct corners {
    struct work_extents work;
    struct wire_extents wire;
    struct store_extents store; /* all store rows that fit */
};

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static const double *column(struct worker *worker, enum metric metric, const struct slice *slice, int k)
{
    struct columns *const columns = &worker->columns;
    if (!columns->has_value[metric]) evaluate_metric(columns->value[metric], metric, slice, k, worker->step_s);
    columns->has_value[metric] = true;
    return columns->value[metric];
}

static const int32_t *bins(struct worker *worker, enum metric metric, const struct slice *slice, int k)
{
    struct columns *const columns = &worker->columns;
    if (!columns->has_bin[metric]) histogram_bins(columns->bin[metric], column(worker, metric, slice, k), slice->n);
    columns->has_bin[metric] = true;
    return columns->bin[metric];
}

/* Forget the columns of the last slice, or only those of its last store row. */
static void forget(struct columns *columns, bool only_of_store)
{
    for (int m = 0; m < N_METRICS; m++)
        if (!only_of_store || metric_of_store((enum metric)m))
            columns->has_value[m] = columns->has_bin[m] = columns->has_runs[m] = false;
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

/* Count what breaks a limit, the first in the study's order, and mark it with a step of NaN.  Returns how many are left. */
static int apply_limits(struct worker *worker, struct outcome *outcome, const struct slice *slice, const struct tile *tile)
{
    const struct study *const study = worker->sweep->study;
    double *const step_s = worker->step_s;
    int left = slice->n;
    for (int l = 0; l < study->n_limits && left > 0; l++) {
        const struct limit *const limit = &study->limit[l];
        const double *const value = column(worker, limit->metric, slice, tile->store_from);
        for (int x = 0; x < slice->n; x++) {
            if (step_s[x] != step_s[x] || !limit_breaks(limit, value[x])) continue;
            step_s[x] = NAN;
            outcome->n_refused[REASON_LIMIT + l] += tile->n_fitting;
            left--;
        }
    }
    if (left < slice->n) forget(&worker->columns, false);
    return left;
}

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

/* Ids of a slice with store row k: candidate x has first + x * step. */
struct ids {
    candidate_id first;
    int64_t step;
};

static struct ids slice_ids(const struct sweep *sweep, const struct tile *tile, const struct slice *slice, int k)
{
    const int64_t n_work = sweep->work.n, n_wire = sweep->wire.n, n_store = sweep->store.n;
    const int64_t i = tile->work_from + (slice->along_wire ? slice->fixed : 0);
    const int64_t j = tile->wire_from + (slice->along_wire ? 0 : slice->fixed);
    return (struct ids){((tile->lowered * n_work + i) * n_wire + j) * n_store + k,
                        slice->along_wire ? n_store : n_wire * n_store};
}

static double minimised(enum metric metric, double value)
{
    return metric_facts[metric].better == BETTER_HIGH ? -value : value;
}

static void add_to_front(struct worker *worker, const struct slice *slice, int k, int left, struct ids ids)
{
    const struct study *const study = worker->sweep->study;
    double *objective[MAX_OBJECTIVES];
    for (int d = 0; d < study->n_objectives; d++) {
        const enum metric metric = study->objective[d];
        const double *const value = column(worker, metric, slice, k);
        objective[d] = worker->columns.value[metric];
        if (metric_facts[metric].better != BETTER_HIGH && left == slice->n) continue;
        objective[d] = worker->minimised[d];
        for (int x = 0; x < slice->n; x++)
            objective[d][x] = worker->step_s[x] == worker->step_s[x] ? minimised(metric, value[x]) : NAN;
    }
    pareto_add_block(worker->archive, objective, slice->n, ids.first, ids.step);
}

/* What limits refused is in no bin. */
static void mask_bins(struct worker *worker, enum metric metric, int n)
{
    for (int x = 0; x < n; x++)
        if (worker->step_s[x] != worker->step_s[x]) worker->columns.bin[metric][x] = -1;
}

/* The one bin that all of a slice falls into, -1 if it is not known to be one.  Costs along a slice differ little. */
static int32_t single_bin(enum metric metric, const struct demand *demand, const struct corners *box,
                          const struct store_extents *store)
{
    if (metric_of_plan(metric)) return histogram_bin(metric_of_allocation(metric, demand));
    if (metric != METRIC_COST) return -1;
    const struct extent cost = bound_cost(demand, &box->work, &box->wire, store);
    const int32_t low = histogram_bin(cost.low);
    return low == histogram_bin(cost.high) ? low : -1;
}

/* One store row, or all that fit (weight) where neither metric depends on it.  The metric that store rows share is counted
 * once per slice; where the other one falls into one bin only the counts are added. */
static void add_to_histogram(struct worker *worker, struct histogram *histogram, int h, const struct slice *slice, int k,
                             int left, int64_t weight, const struct corners *box, const struct store_extents *store)
{
    const enum metric first = worker->sweep->study->population.histogram[h][0];
    const enum metric second = worker->sweep->study->population.histogram[h][1];
    const bool first_shared = !metric_of_store(first) && !metric_of_plan(first);
    const enum metric shared = first_shared ? first : second, other = first_shared ? second : first;
    const int32_t single = metric_of_store(shared) ? -1 : single_bin(other, &worker->demand, box, store);
    const int32_t *const shared_bin = bins(worker, shared, slice, k);
    if (left < slice->n) mask_bins(worker, shared, slice->n);
    if (single < 0) {
        const int32_t *const other_bin = bins(worker, other, slice, k);
        if (left < slice->n) mask_bins(worker, other, slice->n);
        histogram_add(histogram, first_shared ? shared_bin : other_bin, first_shared ? other_bin : shared_bin, slice->n,
                      weight);
        return;
    }
    if (!worker->columns.has_runs[shared]) histogram_runs(worker->columns.runs[shared], shared_bin, slice->n);
    worker->columns.has_runs[shared] = true;
    histogram_add_runs(histogram, worker->columns.runs[shared], first_shared, single, weight);
}

static bool histogram_of_store(const struct study *study, int h)
{
    return metric_of_store(study->population.histogram[h][0]) || metric_of_store(study->population.histogram[h][1]);
}

/* ---- corners ----------------------------------------------------------------------------------------------------- */

/* Whether the archive beats whatever is in a box, so that none of it can be in the Pareto set. */
static bool is_beaten(const struct worker *worker, const struct corners *box, const struct store_extents *store)
{
    const struct study *const study = worker->sweep->study;
    const struct demand *const demand = &worker->demand;
    const struct extent step_s = bound_step(demand, &box->work, &box->wire);
    double corner[MAX_OBJECTIVES];
    for (int d = 0; d < study->n_objectives; d++)
        corner[d] =
            minimised(study->objective[d], bound_metric(study->objective[d], demand, &box->work, &box->wire, store, step_s));
    return pareto_beats(worker->archive, corner, worker->sweep->seeds != NULL);
}

/* The candidates of a slice and the store rows that fit are one group of the sample: place = x + n * (which of those
 * rows). */
static void add_to_sample(struct worker *worker, struct outcome *outcome, const struct tile *tile, const struct slice *slice)
{
    struct sample_group group;
    int64_t place;
    const candidate_id first = slice_ids(worker->sweep, tile, slice, tile->store_from).first;
    if (!sample_group_start(&group, &outcome->sample, first, slice->n * tile->n_fitting)) return;
    while (sample_group_next(&group, &outcome->sample, &place)) {
        const int64_t x = place % slice->n;
        int64_t before = place / slice->n;
        int k = tile->store_from;
        while (!worker->fits[k] || before-- > 0) k++;
        const struct ids ids = slice_ids(worker->sweep, tile, slice, k);
        if (worker->step_s[x] == worker->step_s[x]) sample_keep(&outcome->sample, group.order, ids.first + x * ids.step);
    }
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

/* `box` holds the slice's corners with all store rows that fit. */
static void run_slice(struct worker *worker, struct outcome *outcome, const struct tile *tile, const struct slice *slice,
                      const struct corners *box)
{
    const bool beaten = is_beaten(worker, box, &box->store);
    if (beaten && worker->sweep->seeds) return; /* pruned */
    forget(&worker->columns, false);
    evaluate_step(worker->step_s, slice);
    outcome->n_evaluated += slice->n * tile->n_fitting;
    const int left = worker->sweep->study->n_limits > 0 ? apply_limits(worker, outcome, slice, tile) : slice->n;
    outcome->n_feasible += left * tile->n_fitting;
    if (left == 0) return;
    if (outcome->effects.all) {
        const double *const latency_s = column(worker, METRIC_LATENCY, slice, tile->store_from);
        strip_add(slice->along_wire ? &worker->wire_strip : &worker->work_strip,
                  slice->along_wire ? &worker->work_strip : &worker->wire_strip, slice->fixed, latency_s, slice->n,
                  left == slice->n);
    }
    for (int h = 0; h < outcome->n_histograms; h++)
        if (!histogram_of_store(worker->sweep->study, h))
            add_to_histogram(worker, &outcome->histogram[h], h, slice, tile->store_from, left, tile->n_fitting, box,
                             &box->store);
    if (outcome->sample.capacity > 0) add_to_sample(worker, outcome, tile, slice);
    for (int k = tile->store_from; k < tile->store_to; k++) {
        if (!worker->fits[k]) continue;
        const struct store_extents store = bound_store_row(slice->store, k);
        forget(&worker->columns, true);
        for (int h = 0; h < outcome->n_histograms; h++)
            if (histogram_of_store(worker->sweep->study, h))
                add_to_histogram(worker, &outcome->histogram[h], h, slice, k, left, 1, box, &store);
        if (!beaten && !is_beaten(worker, box, &store))
            add_to_front(worker, slice, k, left, slice_ids(worker->sweep, tile, slice, k));
    }
}

static struct slice first_slice(const struct worker *worker, const struct tile *tile, bool along_wire)
{
    return (struct slice){
        .demand = &worker->demand,
        .times = &worker->times,
        .work = &tile->work,
        .wire = &tile->wire,
        .store = &worker->sweep->store,
        .along_wire = along_wire,
        .n = along_wire ? tile->wire.n : tile->work.n,
    };
}

static void bound_tile(struct corners *box, const struct worker *worker, const struct tile *tile)
{
    bound_work(&box->work, &worker->demand, &worker->times, &tile->work, 0, tile->work.n);
    bound_wire(&box->wire, &worker->demand, &worker->times, 0, tile->wire.n);
    bound_store(&box->store, &worker->sweep->store, worker->fits);
}

/* Narrow one side of a tile's corners to the row that a slice holds fixed. */
static void bound_row(struct corners *box, const struct worker *worker, const struct tile *tile, const struct slice *slice)
{
    if (slice->along_wire)
        bound_work(&box->work, &worker->demand, &worker->times, &tile->work, slice->fixed, slice->fixed + 1);
    else bound_wire(&box->wire, &worker->demand, &worker->times, slice->fixed, slice->fixed + 1);
}

/* The strips of a tile to the rows of the tables, its sum to the plan's knobs. */
static void fold_strips(struct worker *worker, struct outcome *outcome, const struct tile *tile)
{
    const struct space *const space = &worker->sweep->study->space;
    struct tally all = {.min_s = INFINITY};
    int64_t index = tile->lowered;
    for (int i = 0; i < tile->work.n; i++) {
        const struct tally once = strip_tally(&worker->work_strip, i, 1);
        const struct tally row = strip_tally(&worker->work_strip, i, tile->n_fitting);
        tally_merge(&worker->work_tally[tile->work_from + i], &row);
        tally_merge(&all, &once);
    }
    for (int j = 0; j < tile->wire.n; j++) {
        const struct tally row = strip_tally(&worker->wire_strip, j, tile->n_fitting);
        tally_merge(&worker->wire_tally[tile->wire_from + j], &row);
    }
    for (int k = tile->store_from; k < tile->store_to; k++)
        if (worker->fits[k]) tally_merge(&worker->store_tally[k], &all);
    all.count *= tile->n_fitting;
    all.sum_ln *= tile->n_fitting;
    all.sum_squared_ln *= tile->n_fitting;
    for (int a = space->first_axis[GROUP_WORK] - 1; a >= 0; a--) {
        tally_merge(&outcome->effects.tally[a][index % space->axis[a].n], &all);
        index /= space->axis[a].n;
    }
}

void tile_run(struct worker *worker, struct outcome *outcome, const struct tile *tile)
{
    struct corners box;
    const bool effects = outcome->effects.all != NULL;
    bound_tile(&box, worker, tile);
    if (worker->sweep->seeds && is_beaten(worker, &box, &box.store)) return;
    if (effects) {
        strip_clear(&worker->work_strip, tile->work.n);
        strip_clear(&worker->wire_strip, tile->wire.n);
    }
    struct slice slice = first_slice(worker, tile, tile->wire.n >= tile->work.n);
    const int n_slices = slice.along_wire ? tile->work.n : tile->wire.n;
    for (slice.fixed = 0; slice.fixed < n_slices; slice.fixed++) {
        bound_row(&box, worker, tile, &slice);
        run_slice(worker, outcome, tile, &slice, &box);
    }
    if (effects) fold_strips(worker, outcome, tile);
}

/* ---- seeds ------------------------------------------------------------------------------------------------------- */

static int lowest_row(const double *column, int n)
{
    int lowest = 0;
    for (int i = 1; i < n; i++)
        if (column[i] < column[lowest]) lowest = i;
    return lowest;
}

static void seed_slice(struct worker *worker, struct outcome *outcome, const struct tile *tile, bool along_wire, int fixed)
{
    struct corners box;
    struct slice slice = first_slice(worker, tile, along_wire);
    slice.fixed = fixed;
    bound_tile(&box, worker, tile);
    bound_row(&box, worker, tile, &slice);
    run_slice(worker, outcome, tile, &slice, &box);
}

/* Store rows differ in cost only, once they fit: the cheapest is enough. */
static struct tile cheapest_store(const struct worker *worker, const struct tile *tile)
{
    const struct store_rates *const store = &worker->sweep->store;
    struct tile one = *tile;
    int cheapest = -1;
    for (int k = tile->store_from; k < tile->store_to; k++)
        if (worker->fits[k] && (cheapest < 0 || store->cost_per_pe[k] < store->cost_per_pe[cheapest])) cheapest = k;
    one.store_from = cheapest;
    one.store_to = cheapest + 1;
    one.n_fitting = 1;
    return one;
}

void tile_seed(struct worker *worker, struct outcome *outcome, const struct tile *all)
{
    const struct tile one = cheapest_store(worker, all), *const tile = &one;
    const struct times *const times = &worker->times;
    const int fast_work = lowest_row(times->work_s[0], tile->work.n),
              cheap_work = lowest_row(tile->work.cost_per_pe, tile->work.n);
    const int fast_wire = lowest_row(times->wire_s[0], tile->wire.n),
              cheap_wire = lowest_row(times->wire_cost, tile->wire.n);
    seed_slice(worker, outcome, tile, true, fast_work);
    seed_slice(worker, outcome, tile, true, cheap_work);
    seed_slice(worker, outcome, tile, false, fast_wire);
    seed_slice(worker, outcome, tile, false, cheap_wire);
}
