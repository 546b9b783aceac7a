/* A study: its scenarios one after the other, what is asked of their Pareto sets, the joint front, and the rounds of
 * two_stage.  Rank 0 collects and looks once more at every row it stores. */
#define _POSIX_C_SOURCE 200809L
#include "cosweep/run.h"
#include "joint.h"
#include "keep.h"
#include "provenance.h"
#include "rounds.h"
#include "units.h"
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* ---- the result ------------------------------------------------------------------------------------------------------------------ */

static void fill_scenario(struct result_scenario *out, const struct sweep *sweep, const struct outcome *outcome,
                          struct arena *arena)
{
    const struct study *const study = sweep->study;
    const struct scenario *const scenario = sweep->scenario;
    const struct pareto *const pareto = &outcome->pareto;
    snprintf(out->name, sizeof out->name, "%s", scenario->name);
    snprintf(out->model, sizeof out->model, "%s", scenario->model.name);
    snprintf(out->phase, sizeof out->phase, "%s", phase_name[scenario->phase]);
    snprintf(out->warnings, sizeof out->warnings, "%s", scenario->warnings);
    out->n_raw = study->space.n_raw;
    out->n_distinct = outcome->n_distinct;
    out->n_feasible = outcome->n_feasible;
    out->n_evaluated = outcome->n_evaluated;
    memcpy(out->n_refused, outcome->n_refused, sizeof out->n_refused);
    out->n_rows = pareto->n;
    out->row = arena_alloc(arena, (size_t)pareto->n, sizeof *out->row);
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < pareto->n; i++) {
        sweep_row(&out->row[i], study, scenario, pareto->point[i].id);
        out->row[i].n_equal = pareto->point[i].n_equal;
    }
    out->best = pareto->n > 0 ? 0 : -1;
    for (int64_t i = 1; i < pareto->n; i++)
        if (out->row[i].metric[METRIC_LATENCY] < out->row[out->best].metric[METRIC_LATENCY]) out->best = i;
    keep_population(out, sweep, outcome, arena);
    if (study->sensitivity.elasticity) keep_elasticities(out, sweep, arena);
    keep_curves(out, sweep, arena);
}

/* The ids of the Pareto set, which rank 0 knows, to all; freed by the caller. */
static candidate_id *share_rows(const struct pareto *pareto, int64_t *n_rows)
{
    size_t bytes = (size_t)pareto->n * sizeof(candidate_id);
    candidate_id *const mine = malloc(bytes + 1);
    if (!mine) abort();
    for (int64_t i = 0; i < pareto->n; i++) mine[i] = pareto->point[i].id;
    candidate_id *const all = ranks_share(mine, &bytes);
    free(mine);
    *n_rows = (int64_t)(bytes / sizeof *all);
    return all;
}

static void fill_study(struct result *result, const struct study *study, struct arena *arena)
{
    memset(result, 0, sizeof *result);
    provenance_fill(result);
    snprintf(result->study_name, sizeof result->study_name, "%s", study->name);
    result->study = arena_text(arena, study->effective);
    result->study_hash = study->hash;
    result->search = study->search;
    result->n_objectives = study->n_objectives;
    memcpy(result->objective, study->objective, sizeof result->objective);
    result->n_limits = study->n_limits;
    memcpy(result->limit, study->limit, sizeof result->limit);
    result->n_scenarios = study->n_scenarios;
    result->scenario = arena_alloc(arena, (size_t)study->n_scenarios, sizeof *result->scenario);
}

/* Time that threads had work over the time they were there. */
static double collect_busy(double busy_s, struct ranks ranks)
{
    size_t bytes;
    if (ranks.rank != 0) {
        ranks_send(&busy_s, sizeof busy_s);
        return busy_s;
    }
    for (int from = 1; from < ranks.n; from++) {
        double *const theirs = ranks_receive(from, &bytes);
        busy_s += *theirs;
        free(theirs);
    }
    return busy_s;
}

/* ---- one grid ---------------------------------------------------------------------------------------------------------------------- */

struct spent { double sweep_s, reduce_s, busy_s, evaluated; };

static void run_scenario(struct result *result, const struct study *study, int index, struct sweep *sweep,
                         const struct run_options *options, struct ranks ranks, struct arena *arena, struct spent *spent)
{
    struct outcome outcome;
    double busy_s = 0.0;
    const double from_s = clock_s();
    const struct outcome_options keeps = sweep_keeps(sweep);
    outcome_init(&outcome, &keeps);
    units_sweep(&outcome, sweep, options, ranks, &busy_s);
    spent->busy_s += collect_busy(busy_s, ranks);
    const double swept_s = clock_s();
    units_collect(&outcome, ranks);
    if (ranks.rank == 0) fill_scenario(&result->scenario[index], sweep, &outcome, arena);
    if (study->sensitivity.doubling) {
        struct result_doubling none, *const doubling = ranks.rank == 0 ? &result->scenario[index].doubling : &none;
        int64_t n_rows;
        candidate_id *const rows = share_rows(&outcome.pareto, &n_rows);
        keep_doubling(doubling, sweep, rows, n_rows, ranks, arena);
        free(rows);
    }
    spent->evaluated += (double)outcome.n_evaluated;
    spent->sweep_s += swept_s - from_s;
    spent->reduce_s += clock_s() - swept_s;
    outcome_free(&outcome);
}

static void run_joint(struct result *result, const struct study *study, const struct sweep *sweep, struct ranks ranks,
                      struct arena *arena)
{
    struct joint_front front = {0};
    joint_run(&front, study, sweep, ranks);
    joint_collect(&front, 1 + study->joint.n_against, study->n_scenarios, ranks);
    if (ranks.rank == 0) {
        result->joint_asked = study->joint;
        joint_keep(&result->joint, &front, study, arena);
    }
    free(front.point);
}

static void run_grid(struct result *result, const struct study *study, const struct run_options *options, struct ranks ranks,
                     struct arena *arena)
{
    const int n_threads = omp_get_max_threads();
    struct spent spent = {0};
    struct sweep *const sweep = calloc((size_t)study->n_scenarios, sizeof *sweep);
    if (!sweep) abort();
    if (ranks.rank == 0) fill_study(result, study, arena);
    for (int i = 0; i < study->n_scenarios; i++) {
        sweep_init(&sweep[i], study, i);
        run_scenario(result, study, i, &sweep[i], options, ranks, arena, &spent);
    }
    if (study->joint.wanted) run_joint(result, study, sweep, ranks, arena);
    for (int i = 0; i < study->n_scenarios; i++) sweep_free(&sweep[i]);
    free(sweep);
    if (ranks.rank != 0) return;
    result->performance = (struct performance){
        .sweep_s = spent.sweep_s,
        .reduce_s = spent.reduce_s,
        .candidates_per_s = spent.evaluated / spent.sweep_s,
        .imbalance = spent.busy_s > 0.0 ? spent.sweep_s * n_threads * ranks.n / spent.busy_s : 1.0,
        .n_ranks = ranks.n,
        .n_threads = n_threads,
    };
}

/* ---- rounds ------------------------------------------------------------------------------------------------------------------------ */

/* The axes that rank 0 refined, to all. */
static void share_axes(struct study *study, struct arena *arena)
{
    for (int a = 0; a < N_KNOBS; a++) {
        struct axis_values *const axis = &study->space.axis[a];
        size_t bytes = (size_t)axis->n * sizeof *axis->value;
        if (!axis->is_auto) continue;
        double *const value = ranks_share(axis->value, &bytes);
        axis->n = (int)(bytes / sizeof *value);
        axis->value = arena_alloc(arena, (size_t)axis->n, sizeof *axis->value);
        memcpy(axis->value, value, bytes);
        free(value);
    }
}

static bool share_flag(bool flag)
{
    size_t bytes = sizeof flag;
    bool *const shared = ranks_share(&flag, &bytes);
    const bool value = *shared;
    free(shared);
    return value;
}

static int run_rounds(struct result *result, const struct study *study, const struct run_options *options, struct ranks ranks,
                      struct arena *arena, struct errors *errors)
{
    struct result_round *const round = arena_alloc(arena, MOST_ROUNDS, sizeof *round);
    struct study current = *study;
    struct result before = {0}, after;
    int n_rounds = 0;
    current.two_stage = false;
    for (bool go_on = true; go_on;) {
        struct study front_only = current; /* a round needs its front, not its population */
        front_only.search = SEARCH_PRUNED;
        front_only.sensitivity = (struct sensitivity){0};
        front_only.population.full = front_only.joint.wanted = false;
        run_grid(&after, &front_only, options, ranks, arena);
        if (ranks.rank == 0) {
            struct result_round *const now = &round[n_rounds];
            now->n_machines = current.space.n_machines;
            now->movement = n_rounds > 0 ? round_movement(&before, &after) : 0.0;
            for (int s = 0; s < after.n_scenarios; s++) now->n_rows += after.scenario[s].n_rows;
            go_on = n_rounds + 1 < MOST_ROUNDS && (n_rounds == 0 || now->movement > ROUND_TOLERANCE);
            struct study next;
            go_on = go_on && round_refine(&next, &current, &after, arena);
            if (go_on) current = next;
            before = after;
        }
        n_rounds++;
        go_on = share_flag(go_on);
        if (!go_on) break;
        share_axes(&current, arena);
        if (study_restate(&current, arena, errors) != 0) return -1;
    }
    run_grid(result, &current, options, ranks, arena);
    result->study_hash = study->hash;
    result->n_rounds = n_rounds;
    result->round = round;
    return 0;
}

int run_study(struct result *result, const struct study *study, const struct run_options *options, struct ranks ranks,
              struct arena *arena, struct errors *errors)
{
    const double start_s = clock_s();
    int status = 0;
    if (study->two_stage) status = run_rounds(result, study, options, ranks, arena, errors);
    else run_grid(result, study, options, ranks, arena);
    if (ranks.rank == 0) result->performance.wall_s = clock_s() - start_s;
    return status;
}
