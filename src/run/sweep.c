/* The exhaustive sweep of a work unit: plans on the outside, each lowered once; the grid of machines on the inside, in
 * tiles whose times stay in the cache, one slice of a tile at a time. */
#include "sweep.h"
#include <math.h>
#include <string.h>

enum { TILE_ROWS = 2048 }; /* rows of the work or wire table that one tile takes */

static int shorter(int64_t a, int64_t b)
{
    return (int)(a < b ? a : b);
}

void sweep_init(struct sweep *sweep, const struct study *study, int scenario)
{
    const struct space *const space = &study->space;
    struct hardware machine = {0};
    struct plan unused;
    *sweep = (struct sweep){.study = study, .scenario = &study->scenario[scenario], .units = space_units(space)};
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

void worker_init(struct worker *worker, const struct sweep *sweep)
{
    const int n_work = shorter(sweep->work.n, TILE_ROWS), n_wire = shorter(sweep->wire.n, TILE_ROWS);
    const size_t longest = (size_t)(n_work > n_wire ? n_work : n_wire);
    memset(worker, 0, sizeof *worker);
    worker->sweep = sweep;
    lower_init(&worker->lowering, sweep->scenario);
    times_init(&worker->times, n_work, n_wire, &worker->arena);
    worker->step_s = arena_alloc(&worker->arena, longest, sizeof(double));
    worker->limited = arena_alloc(&worker->arena, longest, sizeof(double));
    for (int d = 0; d < sweep->study->n_objectives; d++)
        worker->objective[d] = arena_alloc(&worker->arena, longest, sizeof(double));
    worker->fits = arena_alloc(&worker->arena, (size_t)sweep->store.n, sizeof(bool));
}

void worker_free(struct worker *worker)
{
    arena_free(&worker->arena);
}

/* ---- tiles --------------------------------------------------------------------------------------------------------------- */

#define X(member) tile.member = all->member + from;
static struct work_rates work_tile(const struct work_rates *all, int from)
{
    struct work_rates tile = {.n = shorter(all->n - from, TILE_ROWS)};
    WORK_COLUMNS(X)
    return tile;
}

static struct wire_rates wire_tile(const struct wire_rates *all, int from)
{
    struct wire_rates tile = {.n = shorter(all->n - from, TILE_ROWS)};
    WIRE_COLUMNS(X)
    return tile;
}
#undef X

/* ---- one slice of one plan ------------------------------------------------------------------------------------------------- */

/* Ids of a slice with store row k: candidate x has first + x * step. */
struct ids { candidate_id first; int64_t step; };

static struct ids slice_ids(const struct sweep *sweep, int64_t lowered, int64_t work_from, int64_t wire_from,
                            const struct slice *slice, int k)
{
    const int64_t n_work = sweep->work.n, n_wire = sweep->wire.n, n_store = sweep->store.n;
    const int64_t i = work_from + (slice->along_wire ? slice->fixed : 0), j = wire_from + (slice->along_wire ? 0 : slice->fixed);
    return (struct ids){((lowered * n_work + i) * n_wire + j) * n_store + k, slice->along_wire ? n_store : n_wire * n_store};
}

/* Count what breaks a limit, the first in the study's order, and mark it with a step of NaN.  Returns how many are left. */
static int apply_limits(struct worker *worker, struct outcome *outcome, const struct slice *slice, int k, double *step_s)
{
    const struct study *const study = worker->sweep->study;
    int left = slice->n;
    for (int l = 0; l < study->n_limits && left > 0; l++) {
        const struct limit *const limit = &study->limit[l];
        evaluate_metric(worker->limited, limit->metric, slice, k, step_s);
        for (int x = 0; x < slice->n; x++) {
            if (step_s[x] != step_s[x] || !limit_breaks(limit, worker->limited[x])) continue;
            step_s[x] = NAN;
            outcome->n_refused[REASON_LIMIT + l]++;
            left--;
        }
    }
    return left;
}

static void minimise(double *column, int n, enum metric metric)
{
    if (metric_facts[metric].better == BETTER_HIGH)
        for (int x = 0; x < n; x++) column[x] = -column[x];
}

static void run_slice(struct worker *worker, struct outcome *outcome, const struct slice *slice, int64_t lowered,
                      int64_t work_from, int64_t wire_from)
{
    const struct study *const study = worker->sweep->study;
    double *const step_s = worker->step_s;
    evaluate_step(step_s, slice);
    for (int k = 0; k < worker->sweep->store.n; k++) {
        if (!worker->fits[k]) continue;
        int left = slice->n;
        if (study->n_limits > 0) {
            evaluate_step(step_s, slice); /* limits mark what they refuse */
            left = apply_limits(worker, outcome, slice, k, step_s);
        }
        outcome->n_evaluated += slice->n;
        outcome->n_feasible += left;
        if (left == 0) continue;
        const struct ids ids = slice_ids(worker->sweep, lowered, work_from, wire_from, slice, k);
        for (int d = 0; d < study->n_objectives; d++) {
            evaluate_metric(worker->objective[d], study->objective[d], slice, k, step_s);
            minimise(worker->objective[d], slice->n, study->objective[d]);
            if (left == slice->n) continue;
            for (int x = 0; x < slice->n; x++)
                if (step_s[x] != step_s[x]) worker->objective[d][x] = NAN;
        }
        pareto_add_block(&outcome->pareto, worker->objective, slice->n, ids.first, ids.step);
    }
}

/* ---- one plan ---------------------------------------------------------------------------------------------------------------- */

/* Whether a limit that no rate can change (PEs, cubes, SIPs) refuses the whole plan before any other limit could. */
static int limit_of_plan(const struct study *study, const struct demand *demand)
{
    for (int l = 0; l < study->n_limits; l++) {
        double value;
        switch (study->limit[l].metric) {
        case METRIC_PES: value = (double)demand->pes; break;
        case METRIC_CUBES: value = (double)demand->cubes; break;
        case METRIC_SIPS: value = (double)demand->sips; break;
        default: return -1;
        }
        if (limit_breaks(&study->limit[l], value)) return l;
    }
    return -1;
}

static void run_machines(struct worker *worker, struct outcome *outcome, int64_t lowered)
{
    const struct sweep *const sweep = worker->sweep;
    const struct demand *const demand = &worker->demand;
    const int64_t rates = (int64_t)sweep->work.n * sweep->wire.n;
    int64_t n_fitting = 0;
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
    for (int wire_from = 0; wire_from < sweep->wire.n; wire_from += TILE_ROWS) {
        const struct wire_rates wire = wire_tile(&sweep->wire, wire_from);
        evaluate_wire(&worker->times, demand, &wire);
        for (int work_from = 0; work_from < sweep->work.n; work_from += TILE_ROWS) {
            const struct work_rates work = work_tile(&sweep->work, work_from);
            evaluate_work(&worker->times, demand, &work);
            struct slice slice = {demand, &worker->times, &work, &wire, &sweep->store, wire.n >= work.n, 0, 0};
            slice.n = slice.along_wire ? wire.n : work.n;
            for (slice.fixed = 0; slice.fixed < (slice.along_wire ? work.n : wire.n); slice.fixed++)
                run_slice(worker, outcome, &slice, lowered, work_from, wire_from);
        }
    }
}

void worker_run(struct worker *worker, struct outcome *outcome, int64_t unit)
{
    const struct sweep *const sweep = worker->sweep;
    const struct space *const space = &sweep->study->space;
    const int64_t from = unit * sweep->units.lowered_per_unit, to = from + sweep->units.lowered_per_unit;
    for (int64_t lowered = from; lowered < to && lowered < space->n_lowered; lowered++) {
        struct plan plan;
        struct hardware machine;
        if (!space_distinct(space, sweep->scenario, lowered, &plan, &machine)) continue;
        outcome->n_distinct += space->n_machines;
        const enum reason reason = plan_check(&plan, sweep->scenario);
        if (reason != REASON_NONE) {
            outcome->n_refused[reason] += space->n_machines;
            continue;
        }
        const struct fabric fabric = fabric_of(&machine);
        lower_set_fabric(&worker->lowering, &fabric);
        lower_plan(&worker->demand, &worker->lowering, &plan);
        run_machines(worker, outcome, lowered);
    }
}

/* ---- one candidate again ------------------------------------------------------------------------------------------------------- */

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
