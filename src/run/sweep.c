/* The sweep of a work unit: plans on the outside, each lowered once; the grid of machines on the inside, in tiles whose
 * times stay in the cache (slice.c).  A plan that meets many machines is shared among units by tiles. */
#include "sweep.h"
#include <math.h>
#include <string.h>

static int shorter(int64_t a, int64_t b)
{
    return (int)(a < b ? a : b);
}

/* ---- shared ------------------------------------------------------------------------------------------------------ */

void sweep_init(struct sweep *sweep, const struct study *study, int scenario)
{
    const struct space *const space = &study->space;
    struct hardware machine = {0};
    struct plan unused;
    *sweep = (struct sweep){.study = study, .scenario = &study->scenario[scenario], .units = study_units(study)};
    sweep->n_work_tiles = space_tiles(space, GROUP_WORK);
    sweep->n_tiles = sweep->n_work_tiles * space_tiles(space, GROUP_WIRE);
    space_decode(space, 0, &unused, &machine);
    work_rates_init(&sweep->work, (int)space->n_group[GROUP_WORK], &sweep->arena);
    wire_rates_init(&sweep->wire, (int)space->n_group[GROUP_WIRE], &sweep->arena);
    store_rates_init(&sweep->store, (int)space->n_group[GROUP_STORE], &sweep->arena);
    for (int i = 0; i < sweep->work.n; i++) {
        space_decode_group(space, GROUP_WORK, i, &machine);
        work_rates_set(&sweep->work, i, &machine, sweep->scenario->compute);
    }
    for (int j = 0; j < sweep->wire.n; j++) {
        space_decode_group(space, GROUP_WIRE, j, &machine);
        wire_rates_set(&sweep->wire, j, &machine);
    }
    for (int k = 0; k < sweep->store.n; k++) {
        space_decode_group(space, GROUP_STORE, k, &machine);
        store_rates_set(&sweep->store, k, &machine);
    }
}

void sweep_free(struct sweep *sweep)
{
    arena_free(&sweep->arena);
}

struct units study_units(const struct study *study)
{
    return space_units(&study->space, study->search == SEARCH_PRUNED);
}

struct outcome_options study_keeps(const struct study *study)
{
    const bool population = study->search == SEARCH_EXHAUSTIVE;
    return (struct outcome_options){
        .n_objectives = study->n_objectives,
        .effects_of = population && study->sensitivity.main_effects ? &study->space : NULL,
        .n_histograms = population ? study->population.n_histograms : 0,
        .n_sample = population ? study->population.sample : 0,
    };
}

/* ---- per thread -------------------------------------------------------------------------------------------------- */

void worker_init(struct worker *worker, const struct sweep *sweep)
{
    const int n_work = shorter(sweep->work.n, TILE_ROWS), n_wire = shorter(sweep->wire.n, TILE_ROWS);
    const size_t longest = (size_t)(n_work > n_wire ? n_work : n_wire);
    struct arena *const arena = &worker->arena;
    memset(worker, 0, sizeof *worker);
    worker->sweep = sweep;
    lower_init(&worker->lowering, sweep->scenario);
    times_init(&worker->times, MAX_FORMS, n_work, n_wire, arena);
    worker->step_s = arena_alloc(arena, longest, sizeof(double));
    for (int d = 0; d < sweep->study->n_objectives; d++) worker->minimised[d] = arena_alloc(arena, longest, sizeof(double));
    for (int m = 0; m < N_METRICS; m++) {
        worker->columns.value[m] = arena_alloc(arena, longest, sizeof(double));
        worker->columns.bin[m] = arena_alloc(arena, longest, sizeof(int32_t));
        worker->columns.runs[m] = arena_alloc(arena, 1, sizeof(struct runs));
    }
    worker->fits = arena_alloc(arena, (size_t)sweep->store.n, sizeof(bool));
    if (study_keeps(sweep->study).effects_of) {
        strip_init(&worker->work_strip, n_work, arena);
        strip_init(&worker->wire_strip, n_wire, arena);
        worker->work_tally = arena_alloc(arena, (size_t)sweep->work.n, sizeof(struct tally));
        worker->wire_tally = arena_alloc(arena, (size_t)sweep->wire.n, sizeof(struct tally));
        worker->store_tally = arena_alloc(arena, (size_t)sweep->store.n, sizeof(struct tally));
    }
}

void worker_free(struct worker *worker)
{
    pareto_free(&worker->unit_archive);
    arena_free(&worker->arena);
}

/* ---- shares ------------------------------------------------------------------------------------------------------ */

/* Lowered indices and tiles [from, to) of a unit. */
struct share {
    int64_t lowered_from, lowered_to, tile_from, tile_to;
};

static struct share share_of(const struct sweep *sweep, int64_t unit)
{
    const struct units *const units = &sweep->units;
    struct share share = {.lowered_from = unit / units->parts * units->lowered_per_unit,
                          .tile_from = unit % units->parts * units->tiles_per_part};
    share.lowered_to = share.lowered_from + units->lowered_per_unit;
    share.tile_to = share.tile_from + units->tiles_per_part;
    if (share.lowered_to > sweep->study->space.n_lowered) share.lowered_to = sweep->study->space.n_lowered;
    if (share.tile_to > sweep->n_tiles) share.tile_to = sweep->n_tiles;
    return share;
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

/* Limits that depend on the store row tell the store rows apart: then each is a tile of its own. */
static bool limits_tell_stores_apart(const struct study *study)
{
    for (int l = 0; l < study->n_limits; l++)
        if (metric_of_store(study->limit[l].metric)) return true;
    return false;
}

static void run_stores(struct worker *worker, struct outcome *outcome, struct tile *tile, int64_t n_fitting,
                       void (*run)(struct worker *, struct outcome *, const struct tile *))
{
    const int n_store = worker->sweep->store.n;
    if (!limits_tell_stores_apart(worker->sweep->study)) {
        tile->store_from = 0;
        tile->store_to = n_store;
        tile->n_fitting = n_fitting;
        run(worker, outcome, tile);
        return;
    }
    tile->n_fitting = 1;
    for (int k = 0; k < n_store; k++) {
        if (!worker->fits[k]) continue;
        tile->store_from = k;
        tile->store_to = k + 1;
        run(worker, outcome, tile);
    }
}

/* Whether a limit that no rate can change (PEs, cubes, SIPs) refuses the whole plan before any other limit could. */
static int limit_of_plan(const struct study *study, const struct demand *demand)
{
    for (int l = 0; l < study->n_limits; l++) {
        const enum metric metric = study->limit[l].metric;
        if (!metric_of_plan(metric)) return -1;
        if (limit_breaks(&study->limit[l], metric_of_allocation(metric, demand))) return l;
    }
    return -1;
}

/* A unit's share of a plan's machines.  What all of them have in common is counted with the first. */
static void run_machines(struct worker *worker, struct outcome *outcome, int64_t lowered, const struct share *share,
                         void (*run)(struct worker *, struct outcome *, const struct tile *))
{
    const struct sweep *const sweep = worker->sweep;
    const struct demand *const demand = &worker->demand;
    const int64_t rates = share->tile_from == 0 ? (int64_t)sweep->work.n * sweep->wire.n : 0;
    int64_t n_fitting = 0, wire_from = -1;
    for (int k = 0; k < sweep->store.n; k++) {
        worker->fits[k] = evaluate_fits(demand, &sweep->store, k);
        n_fitting += worker->fits[k];
    }
    outcome->n_refused[REASON_MEMORY] += (sweep->store.n - n_fitting) * rates;
    if (n_fitting == 0) return;
    const int limit = limit_of_plan(sweep->study, demand);
    if (limit >= 0) {
        outcome->n_refused[REASON_LIMIT + limit] += n_fitting * rates;
        return;
    }
    for (int64_t t = share->tile_from; t < share->tile_to; t++) {
        struct tile tile = {.lowered = lowered};
        tile.work_from = (int)(t % sweep->n_work_tiles) * TILE_ROWS;
        tile.wire_from = (int)(t / sweep->n_work_tiles) * TILE_ROWS;
        tile.work = work_rates_part(&sweep->work, tile.work_from, shorter(sweep->work.n - tile.work_from, TILE_ROWS));
        tile.wire = wire_rates_part(&sweep->wire, tile.wire_from, shorter(sweep->wire.n - tile.wire_from, TILE_ROWS));
        if (tile.wire_from != wire_from) evaluate_wire(&worker->times, demand, &tile.wire);
        wire_from = tile.wire_from;
        evaluate_work(&worker->times, demand, &tile.work);
        run_stores(worker, outcome, &tile, n_fitting, run);
    }
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

/* Rows [from, to) of a table. */
struct rows {
    int from, to;
};

static struct rows rows_of_tiles(int64_t from, int64_t to, int n)
{
    return (struct rows){(int)(from * TILE_ROWS), shorter(to * TILE_ROWS, n)};
}

/* The wire rows that the tiles touch, and the work rows: all, unless the tiles are of one row of tiles. */
static struct rows wire_rows(const struct sweep *sweep, const struct share *share)
{
    return rows_of_tiles(share->tile_from / sweep->n_work_tiles, (share->tile_to - 1) / sweep->n_work_tiles + 1,
                         sweep->wire.n);
}

static struct rows work_rows(const struct sweep *sweep, const struct share *share)
{
    const int64_t from = share->tile_from % sweep->n_work_tiles, to = from + share->tile_to - share->tile_from;
    return to <= sweep->n_work_tiles ? rows_of_tiles(from, to, sweep->work.n) : (struct rows){0, sweep->work.n};
}

static void clear_tallies(struct tally *tally, struct rows rows)
{
    for (int i = rows.from; i < rows.to; i++) tally[i] = (struct tally){.min_s = INFINITY};
}

/* Rows of one table's tallies to the knobs of its group. */
static void fold_tallies(struct effects *effects, const struct tally *tally, struct rows rows, enum knob_group group)
{
    const struct space *const space = effects->space;
    for (int row = rows.from; row < rows.to; row++) {
        if (tally[row].count == 0) continue;
        int64_t index = row;
        for (int a = space->first_axis[group + 1] - 1; a >= space->first_axis[group]; a--) {
            tally_merge(&effects->tally[a][index % space->axis[a].n], &tally[row]);
            index /= space->axis[a].n;
        }
    }
}

static void run_share(struct worker *worker, struct outcome *outcome, const struct share *share,
                      void (*run)(struct worker *, struct outcome *, const struct tile *))
{
    const struct sweep *const sweep = worker->sweep;
    const struct space *const space = &sweep->study->space;
    const int64_t n_machines = share->tile_from == 0 ? space->n_machines : 0; /* counted with the first part */
    struct walk walk;
    walk_start(&walk, space, sweep->scenario, share->lowered_from);
    for (; walk.lowered < share->lowered_to; walk_next(&walk)) {
        if (!walk_is_distinct(&walk)) continue;
        outcome->n_distinct += n_machines;
        const enum reason reason = plan_check(&walk.plan, sweep->scenario);
        if (reason != REASON_NONE) {
            outcome->n_refused[reason] += n_machines;
            continue;
        }
        const struct fabric fabric = fabric_of(&walk.machine);
        lower_set_fabric(&worker->lowering, &fabric);
        lower_plan(&worker->demand, &worker->lowering, &walk.plan);
        run_machines(worker, outcome, walk.lowered, share, run);
    }
}

void worker_run(struct worker *worker, struct outcome *outcome, int64_t unit)
{
    const struct sweep *const sweep = worker->sweep;
    const bool effects = outcome->effects.all != NULL;
    const struct share share = share_of(sweep, unit);
    const struct rows work = work_rows(sweep, &share), wire = wire_rows(sweep, &share), store = {0, sweep->store.n};
    if (effects) {
        clear_tallies(worker->work_tally, work);
        clear_tallies(worker->wire_tally, wire);
        clear_tallies(worker->store_tally, store);
    }
    worker->archive = &outcome->pareto;
    if (sweep->seeds) { /* what is cut may depend on this unit and the seeds only */
        pareto_copy_again(&worker->unit_archive, sweep->seeds);
        worker->archive = &worker->unit_archive;
    }
    run_share(worker, outcome, &share, tile_run);
    if (sweep->seeds) pareto_merge(&outcome->pareto, &worker->unit_archive); /* what waits in it is sorted there */
    if (!effects) return;
    fold_tallies(&outcome->effects, worker->work_tally, work, GROUP_WORK);
    fold_tallies(&outcome->effects, worker->wire_tally, wire, GROUP_WIRE);
    fold_tallies(&outcome->effects, worker->store_tally, store, GROUP_STORE);
}

void worker_seed(struct worker *worker, struct outcome *outcome, int64_t unit)
{
    const struct share share = share_of(worker->sweep, unit);
    worker->archive = &outcome->pareto;
    run_share(worker, outcome, &share, tile_seed);
}

/* ---- one row ----------------------------------------------------------------------------------------------------- */

void sweep_row(struct result_row *row, const struct study *study, const struct scenario *scenario, candidate_id id)
{
    static _Thread_local struct answer answer;
    struct candidate candidate = {.scenario = *scenario};
    double longest_s[N_STAGES] = {0.0};
    space_decode(&study->space, id, &candidate.plan, &candidate.hardware);
    answer_candidate(&answer, &candidate, NULL, 0);
    const struct demand *const demand = &answer.demand;
    *row = (struct result_row){
        .id = id,
        .plan = answer.candidate.plan,
        .hardware = answer.candidate.hardware,
        .weight_bytes = demand->weight_bytes,
        .kv_bytes = demand->kv_bytes,
        .activation_bytes = demand->activation_bytes,
    };
    memcpy(row->metric, answer.explanation.metric, sizeof row->metric);
    for (int r = 0; r < demand->n_rows; r++) {
        const enum stage stage = demand->row[r].stage;
        const double total_s = demand_row_count(demand, &demand->row[r]) * answer.explanation.stage[r].time_s;
        row->stage_s[stage] += total_s;
        if (total_s < longest_s[stage]) continue;
        longest_s[stage] = total_s;
        row->stage_bound[stage] = answer.explanation.stage[r].bound;
    }
}
