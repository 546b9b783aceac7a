/* A study over ranks and threads.
 *
 * Work units go round the ranks like cards (unit u to rank u mod n), and within a rank to whichever thread is free.  No
 * reducer depends on the order, so the result does not depend on ranks or threads.  Rank 0 collects and looks once more at
 * every row it stores. */
#define _POSIX_C_SOURCE 200809L
#include "cosweep/run.h"
#include "keep.h"
#include "progress.h"
#include "provenance.h"
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* ---- one scenario on this rank ------------------------------------------------------------------------------------------------ */

typedef void unit_work(struct worker *worker, struct outcome *outcome, int64_t unit);

/* Every unit of this rank by `work` into `outcome`; adds to *busy_s what the threads spent. */
static void sweep_units(struct outcome *outcome, const struct sweep *sweep, const struct outcome_options *keeps, unit_work *work,
                        struct meter *meter, struct ranks ranks, double *busy_s)
{
    const int64_t n_mine = (sweep->units.n - ranks.rank + ranks.n - 1) / ranks.n;
    int64_t next = 0, done = 0, covered = 0;
#pragma omp parallel
    {
        struct worker *const worker = malloc(sizeof *worker);
        struct outcome mine;
        if (!worker) abort();
        worker_init(worker, sweep);
        outcome_init(&mine, keeps);
        const double start_s = clock_s();
        for (;;) {
            int64_t turn, finished, candidates;
            const int64_t before = mine.n_distinct;
#pragma omp atomic capture
            turn = next++;
            if (turn >= n_mine) break;
            work(worker, &mine, ranks.rank + turn * ranks.n);
#pragma omp atomic capture
            finished = ++done;
#pragma omp atomic capture
            candidates = covered += mine.n_distinct - before;
            if (omp_get_thread_num() == 0) meter_show(meter, finished, n_mine, (double)candidates * ranks.n);
        }
        const double spent_s = clock_s() - start_s;
#pragma omp critical
        {
            outcome_merge(outcome, &mine);
            *busy_s += spent_s;
        }
        outcome_free(&mine);
        worker_free(worker);
        free(worker);
    }
    pareto_finish(&outcome->pareto);
}

/* ---- ranks to rank 0, and back ------------------------------------------------------------------------------------------------- */

/* An outcome's parts in the order they travel. */
static void send_outcome(const struct outcome *outcome)
{
    const size_t bins = (size_t)HISTOGRAM_BINS * HISTOGRAM_BINS * sizeof *outcome->histogram[0].count;
    ranks_send(outcome, sizeof *outcome);
    ranks_send(outcome->pareto.point, (size_t)outcome->pareto.n * sizeof *outcome->pareto.point);
    ranks_send(outcome->effects.all, (size_t)outcome->effects.n_all * sizeof *outcome->effects.all);
    for (int h = 0; h < outcome->n_histograms; h++) ranks_send(outcome->histogram[h].count, bins);
    ranks_send(outcome->sample.draw, (size_t)outcome->sample.n * sizeof *outcome->sample.draw);
}

/* Add what rank `from` sends.  The pointers inside the struct it sends mean nothing here: its parts follow. */
static void receive_outcome(struct outcome *outcome, int from)
{
    size_t bytes;
    struct outcome *const theirs = ranks_receive(from, &bytes);
    struct point *const point = ranks_receive(from, &bytes);
    const int64_t n_points = theirs->pareto.n;
    pareto_init(&theirs->pareto, outcome->pareto.n_objectives);
    for (int64_t i = 0; i < n_points; i++) pareto_add(&theirs->pareto, &point[i]);
    theirs->effects.all = ranks_receive(from, &bytes);
    for (int h = 0; h < theirs->n_histograms; h++) theirs->histogram[h].count = ranks_receive(from, &bytes);
    theirs->sample.draw = ranks_receive(from, &bytes);
    outcome_merge(outcome, theirs);
    outcome_free(theirs);
    free(theirs);
    free(point);
}

static void collect(struct outcome *outcome, const struct ranks ranks)
{
    if (ranks.rank != 0) {
        send_outcome(outcome);
        return;
    }
    for (int from = 1; from < ranks.n; from++) receive_outcome(outcome, from);
    pareto_finish(&outcome->pareto);
    sample_finish(&outcome->sample);
}

/* search: pruned.  A first pass over all plans finds good candidates; all ranks hold their boxes against the same ones, so
 * that what is cut depends on the study only. */
static void find_seeds(struct pareto *seeds, const struct sweep *sweep, struct meter *meter, struct ranks ranks, double *busy_s,
                       int64_t *n_evaluated)
{
    const struct outcome_options keeps = {.n_objectives = sweep->study->n_objectives};
    struct outcome found;
    outcome_init(&found, &keeps);
    sweep_units(&found, sweep, &keeps, worker_seed, meter, ranks, busy_s);
    *n_evaluated = found.n_evaluated; /* of this rank */
    collect(&found, ranks);
    size_t bytes = (size_t)found.pareto.n * sizeof *found.pareto.point;
    struct point *const point = ranks_share(found.pareto.point, &bytes);
    for (size_t i = 0; i < bytes / sizeof *point; i++) pareto_add(seeds, &point[i]);
    pareto_finish(seeds);
    free(point);
    outcome_free(&found);
}

static void sweep_scenario(struct outcome *outcome, struct sweep *sweep, const struct run_options *options, struct ranks ranks,
                           double *busy_s)
{
    const struct outcome_options keeps = sweep_keeps(sweep);
    struct pareto seeds;
    struct meter meter;
    int64_t n_seeded = 0;
    meter_start(&meter, ranks.rank == 0 ? options->progress : PROGRESS_NONE, sweep->scenario->name);
    pareto_init(&seeds, keeps.n_objectives);
    if (sweep->study->search == SEARCH_PRUNED) {
        find_seeds(&seeds, sweep, &meter, ranks, busy_s, &n_seeded);
        sweep->seeds = &seeds;
    }
    sweep_units(outcome, sweep, &keeps, worker_run, &meter, ranks, busy_s);
    outcome->n_evaluated += n_seeded;
    sweep->seeds = NULL;
    pareto_free(&seeds);
    meter_stop(&meter);
}

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

int run_study(struct result *result, const struct study *study, const struct run_options *options, struct ranks ranks,
              struct arena *arena, struct errors *errors)
{
    const double start_s = clock_s();
    double sweep_s = 0.0, reduce_s = 0.0, busy_s = 0.0, evaluated = 0.0;
    (void)errors;
    if (ranks.rank == 0) fill_study(result, study, arena);
    for (int i = 0; i < study->n_scenarios; i++) {
        struct sweep sweep;
        struct outcome outcome;
        double this_busy_s = 0.0;
        const double from_s = clock_s();
        sweep_init(&sweep, study, i);
        const struct outcome_options keeps = sweep_keeps(&sweep);
        outcome_init(&outcome, &keeps);
        sweep_scenario(&outcome, &sweep, options, ranks, &this_busy_s);
        busy_s += collect_busy(this_busy_s, ranks);
        const double swept_s = clock_s();
        collect(&outcome, ranks);
        if (ranks.rank == 0) fill_scenario(&result->scenario[i], &sweep, &outcome, arena);
        if (study->sensitivity.doubling) {
            struct result_doubling none, *const doubling = ranks.rank == 0 ? &result->scenario[i].doubling : &none;
            int64_t n_rows;
            candidate_id *const rows = share_rows(&outcome.pareto, &n_rows);
            keep_doubling(doubling, &sweep, rows, n_rows, ranks, arena);
            free(rows);
        }
        evaluated += (double)outcome.n_evaluated;
        sweep_s += swept_s - from_s;
        reduce_s += clock_s() - swept_s;
        outcome_free(&outcome);
        sweep_free(&sweep);
    }
    if (ranks.rank != 0) return 0;
    const int n_threads = omp_get_max_threads();
    result->performance = (struct performance){
        .wall_s = clock_s() - start_s,
        .sweep_s = sweep_s,
        .reduce_s = reduce_s,
        .candidates_per_s = evaluated / sweep_s,
        .imbalance = busy_s > 0.0 ? sweep_s * n_threads * ranks.n / busy_s : 1.0,
        .n_ranks = ranks.n,
        .n_threads = n_threads,
    };
    return 0;
}
