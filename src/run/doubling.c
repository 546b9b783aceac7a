/* What doubling a rate is worth (MODEL section 10): latency before over latency after, for every row of the Pareto set,
 * with the plan kept and with the plan chosen again from the whole plan space.
 *
 * Rows share most of their rates, so the doubled machines of all rows are a few rows of a work and a wire table.  Every
 * plan is lowered once and held against all pairs of them. */
#include "keep.h"
#include "stop.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const enum hardware_knob doubled_knob[N_DOUBLED] = {HW_flops,        HW_vector_flops,  HW_hbm_bandwidth, HW_hbm_capacity,
                                                    HW_pe_bandwidth, HW_d2d_bandwidth, HW_c2c_bandwidth};
enum { PLANS_PER_TURN = 64 };
enum { ROWS_AT_ONCE = 1 << 16 }; /* 18 MB of contests a thread */

/* A row of the Pareto set under one doubled knob. */
struct contest {
    int work, wire;           /* rows of the tables */
    double usable_bytes, pes; /* what a plan may take */
    double best_s;            /* lowest latency so far */
    int64_t best_lowered;     /* its plan and structure, -1 = none yet */
};
struct contests {
    const struct sweep *sweep;
    int64_t structure; /* all rows here have this one */
    int64_t n_rows;
    const candidate_id *row; /* [n_rows] */
    struct contest *contest; /* [n_rows][N_DOUBLED], row-major */
    struct work_rates work;
    struct wire_rates wire;
};

/* ---- tables of doubled machines ---------------------------------------------------------------------------------- */

static void double_knob(struct hardware *hardware, enum hardware_knob knob)
{
    ((double *)hardware)[knob] *= 2.0;
}

static int compare_indices(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static int64_t machine_index(const struct sweep *sweep, candidate_id id, enum knob_group group)
{
    const int64_t store = sweep->store.n, wire = sweep->wire.n, work = sweep->work.n;
    return group == GROUP_STORE ? id % store : group == GROUP_WIRE ? id / store % wire : id / store / wire % work;
}

/* The different values of a group's index among the rows, ascending; returns how many. */
static int distinct_indices(int64_t *index, const struct contests *c, enum knob_group group)
{
    int kept = 0;
    for (int64_t r = 0; r < c->n_rows; r++) index[r] = machine_index(c->sweep, c->row[r], group);
    qsort(index, (size_t)c->n_rows, sizeof *index, compare_indices);
    for (int64_t r = 0; r < c->n_rows; r++)
        if (r == 0 || index[r] != index[kept - 1]) index[kept++] = index[r];
    return kept;
}

static int slot_of(const int64_t *index, int n, int64_t value)
{
    const int64_t *const at = bsearch(&value, index, (size_t)n, sizeof *index, compare_indices);
    return (int)(at - index);
}

/* Variant 0 of a table row is the machine as it is; variant v doubles the v-th knob of that group in doubled_knob. */
static int variant_of(int doubled, enum knob_group group)
{
    int v = 0;
    if (hardware_knob[doubled_knob[doubled]].group != group) return 0;
    for (int d = 0; d <= doubled; d++) v += hardware_knob[doubled_knob[d]].group == group;
    return v;
}

static void fill_tables(struct contests *c, struct arena *arena)
{
    enum { VARIANTS = 4 };
    const struct sweep *const sweep = c->sweep;
    int64_t *const work_index = arena_alloc(arena, (size_t)c->n_rows, sizeof *work_index);
    int64_t *const wire_index = arena_alloc(arena, (size_t)c->n_rows, sizeof *wire_index);
    const int n_work = distinct_indices(work_index, c, GROUP_WORK), n_wire = distinct_indices(wire_index, c, GROUP_WIRE);
    work_rates_init(&c->work, n_work * VARIANTS, arena);
    wire_rates_init(&c->wire, n_wire * VARIANTS, arena);
    for (int64_t r = 0; r < c->n_rows; r++) {
        const int work = slot_of(work_index, n_work, machine_index(sweep, c->row[r], GROUP_WORK)) * VARIANTS;
        const int wire = slot_of(wire_index, n_wire, machine_index(sweep, c->row[r], GROUP_WIRE)) * VARIANTS;
        struct plan plan;
        struct hardware machine;
        space_decode(&sweep->study->space, c->row[r], &plan, &machine);
        work_rates_set(&c->work, work, &machine, sweep->scenario->compute);
        wire_rates_set(&c->wire, wire, &machine);
        for (int k = 0; k < N_DOUBLED; k++) {
            struct hardware doubled = machine;
            struct contest *const contest = &c->contest[r * N_DOUBLED + k];
            double_knob(&doubled, doubled_knob[k]);
            contest->work = work + variant_of(k, GROUP_WORK);
            contest->wire = wire + variant_of(k, GROUP_WIRE);
            contest->usable_bytes = doubled.hbm_capacity * (1.0 - doubled.reserve_fraction) - doubled.reserve;
            work_rates_set(&c->work, contest->work, &doubled, sweep->scenario->compute);
            wire_rates_set(&c->wire, contest->wire, &doubled);
        }
    }
}

/* ---- plans ------------------------------------------------------------------------------------------------------- */

static bool keeps_limits(const struct contests *c, int64_t r, int k, const struct plan *plan)
{
    static _Thread_local struct answer answer;
    const struct study *const study = c->sweep->study;
    struct candidate candidate = {.scenario = *c->sweep->scenario};
    if (study->n_limits == 0) return true;
    space_decode(&study->space, c->row[r], &candidate.plan, &candidate.hardware);
    candidate.plan = *plan;
    double_knob(&candidate.hardware, doubled_knob[k]);
    answer_candidate(&answer, &candidate, study->limit, study->n_limits);
    return answer.reason == REASON_NONE;
}

static void hold_plan(const struct contests *c, struct contest *contest, const struct demand *demand,
                      const struct times *times, int64_t lowered, const struct plan *plan)
{
    const double bytes = demand->weight_bytes + demand->kv_bytes + demand->activation_bytes, pes = (double)demand->pes;
    for (int64_t i = 0; i < c->n_rows * N_DOUBLED; i++) {
        struct contest *const at = &contest[i];
        if (pes > at->pes || bytes > at->usable_bytes) continue;
        const double latency_s = evaluate_pair(demand, times, at->work, at->wire) * demand->latency_per_step;
        if (latency_s > at->best_s || (latency_s == at->best_s && lowered >= at->best_lowered)) continue;
        if (!keeps_limits(c, i / N_DOUBLED, (int)(i % N_DOUBLED), plan)) continue;
        at->best_s = latency_s;
        at->best_lowered = lowered;
    }
}

static void merge_contests(struct contest *into, const struct contest *from, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (from[i].best_s > into[i].best_s) continue;
        if (from[i].best_s == into[i].best_s && from[i].best_lowered >= into[i].best_lowered) continue;
        into[i].best_s = from[i].best_s;
        into[i].best_lowered = from[i].best_lowered;
    }
}

/* One thread's share of this rank's plans. */
static void hold_plans(const struct contests *c, struct contest *contest, int64_t *next, struct ranks ranks)
{
    const struct space *const space = &c->sweep->study->space;
    const int64_t n_plans = space->n_group[GROUP_PLAN], n_turns = (n_plans + PLANS_PER_TURN - 1) / PLANS_PER_TURN;
    struct arena arena = {0};
    struct lowering lowering;
    struct times times;
    struct demand *const demand = arena_alloc(&arena, 1, sizeof *demand);
    times_init(&times, MAX_FORMS, c->work.n, c->wire.n, &arena);
    lower_init(&lowering, c->sweep->scenario);
    for (;;) {
        int64_t turn;
#pragma omp atomic capture
        turn = (*next)++;
        turn = turn * ranks.n + ranks.rank;
        if (turn >= n_turns) break;
        for (int64_t p = turn * PLANS_PER_TURN; p < (turn + 1) * PLANS_PER_TURN && p < n_plans; p++) {
            if (stop_wanted()) break;
            const int64_t lowered = p * space->n_group[GROUP_STRUCTURE] + c->structure;
            struct plan plan;
            struct hardware machine;
            if (!space_distinct(space, c->sweep->scenario, lowered, &plan, &machine)) continue;
            if (plan_check(&plan, c->sweep->scenario) != REASON_NONE) continue;
            const struct fabric fabric = fabric_of(&machine);
            lower_set_fabric(&lowering, &fabric);
            lower_plan(demand, &lowering, &plan);
            evaluate_work(&times, demand, &c->work);
            evaluate_wire(&times, demand, &c->wire);
            hold_plan(c, contest, demand, &times, lowered, &plan);
        }
    }
    arena_free(&arena);
}

static void run_contests(struct contests *c, struct ranks ranks)
{
    const int64_t n = c->n_rows * N_DOUBLED;
    int64_t next = 0;
#pragma omp parallel
    {
        struct contest *const mine = malloc((size_t)n * sizeof *mine);
        if (!mine) out_of_memory();
        memcpy(mine, c->contest, (size_t)n * sizeof *mine);
        hold_plans(c, mine, &next, ranks);
#pragma omp critical
        merge_contests(c->contest, mine, n);
        free(mine);
    }
    if (ranks.rank != 0) {
        ranks_send(c->contest, (size_t)n * sizeof *c->contest);
        return;
    }
    for (int from = 1; from < ranks.n; from++) {
        size_t bytes;
        struct contest *const theirs = ranks_receive(from, &bytes);
        merge_contests(c->contest, theirs, n);
        free(theirs);
    }
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static double latency_of(const struct sweep *sweep, const struct plan *plan, const struct hardware *hardware)
{
    static _Thread_local struct answer answer;
    const struct candidate candidate = {.scenario = *sweep->scenario, .plan = *plan, .hardware = *hardware};
    answer_candidate(&answer, &candidate, NULL, 0);
    return answer.explanation.metric[METRIC_LATENCY];
}

/* Rows with the structure of row `first` and their places, in order. */
static int64_t same_structure(candidate_id *group, int64_t *place, const candidate_id *rows, int64_t n_rows,
                              int64_t structure, const struct space *space)
{
    int64_t n = 0;
    for (int64_t r = 0; r < n_rows; r++) {
        if (rows[r] / space->n_machines % space->n_group[GROUP_STRUCTURE] != structure) continue;
        place[n] = r;
        group[n++] = rows[r];
    }
    return n;
}

static void hold_structure(struct result_doubling *out, const struct sweep *sweep, const candidate_id *group,
                           const int64_t *place, int64_t n, int64_t structure, struct ranks ranks)
{
    const struct space *const space = &sweep->study->space;
    struct arena arena = {0};
    struct contests c = {.sweep = sweep, .structure = structure, .n_rows = n, .row = group};
    c.contest = arena_alloc(&arena, (size_t)n * N_DOUBLED, sizeof *c.contest);
    fill_tables(&c, &arena);
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t r = 0; r < n; r++) {
        struct result_row row;
        sweep_row(&row, sweep->study, sweep->scenario, group[r]);
        for (int k = 0; k < N_DOUBLED; k++) {
            struct contest *const contest = &c.contest[r * N_DOUBLED + k];
            contest->pes = row.metric[METRIC_PES];
            contest->best_s = INFINITY;
            contest->best_lowered = INT64_MAX;
        }
    }
    run_contests(&c, ranks);
    if (ranks.rank != 0) goto out;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t r = 0; r < n; r++) {
        struct result_row row;
        if (stop_wanted()) continue;
        sweep_row(&row, sweep->study, sweep->scenario, group[r]);
        for (int k = 0; k < N_DOUBLED; k++) {
            const struct contest *const contest = &c.contest[r * N_DOUBLED + k];
            const int64_t at = place[r] * N_DOUBLED + k;
            struct hardware doubled = row.hardware;
            double_knob(&doubled, doubled_knob[k]);
            out->plan_kept[at] = row.metric[METRIC_LATENCY] / latency_of(sweep, &row.plan, &doubled);
            out->plan_chosen[at] = row.metric[METRIC_LATENCY] / contest->best_s;
            out->chosen_id[at] =
                contest->best_s < INFINITY ? contest->best_lowered * space->n_machines + group[r] % space->n_machines : -1;
        }
    }
out:
    arena_free(&arena);
}

void keep_doubling(struct result_doubling *out, const struct sweep *sweep, const candidate_id *rows, int64_t n_rows,
                   struct ranks ranks, struct arena *arena)
{
    const struct space *const space = &sweep->study->space;
    const size_t n = (size_t)n_rows * N_DOUBLED;
    candidate_id *const group = arena_alloc(arena, (size_t)n_rows, sizeof *group);
    int64_t *const place = arena_alloc(arena, (size_t)n_rows, sizeof *place);
    if (ranks.rank == 0) {
        out->plan_kept = arena_alloc(arena, n, sizeof(double));
        out->plan_chosen = arena_alloc(arena, n, sizeof(double));
        out->chosen_id = arena_alloc(arena, n, sizeof(candidate_id));
    }
    for (int64_t s = 0; s < space->n_group[GROUP_STRUCTURE]; s++) {
        const int64_t n_group = same_structure(group, place, rows, n_rows, s, space);
        for (int64_t from = 0; from < n_group; from += ROWS_AT_ONCE) {
            const int64_t left = n_group - from;
            hold_structure(out, sweep, group + from, place + from, left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE, s, ranks);
        }
    }
}
