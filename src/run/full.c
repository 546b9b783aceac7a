/* population.full: every feasible candidate with its metrics, in order of id, in blocks that fit in memory.
 *
 * A job is some rows of the work table under one lowered index.  Threads fill a batch of jobs at once, each its own block;
 * the blocks leave in the order of the jobs, so what is written does not depend on threads. */
#include "stop.h"
#include "sweep.h"
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS_PER_THREAD = 16, CANDIDATES_PER_JOB = 65536 };

struct job {
    int64_t lowered;
    int work_from, n_work;
    struct full_block block;
    int64_t capacity;
};

struct full {
    struct sweep sweep;
    struct walk walk;          /* where the next batch begins */
    int next_work;             /* first work row that is not yet a job of walk.lowered */
    int n_jobs, most_jobs, at; /* of the batch; the next to leave */
    struct job *job;
};

/* ---- one job ----------------------------------------------------------------------------------------------------- */

static void grow_block(struct job *job, int64_t capacity)
{
    if (capacity <= job->capacity) return;
    job->capacity = capacity;
    job->block.id = realloc(job->block.id, (size_t)capacity * sizeof *job->block.id);
    if (!job->block.id) out_of_memory();
    for (int m = 0; m < N_METRICS; m++) {
        job->block.metric[m] = realloc(job->block.metric[m], (size_t)capacity * sizeof(double));
        if (!job->block.metric[m]) out_of_memory();
    }
}

static bool keeps_limits(const struct study *study, const struct full_block *block, int64_t at)
{
    for (int l = 0; l < study->n_limits; l++)
        if (limit_breaks(&study->limit[l], block->metric[study->limit[l].metric][at])) return false;
    return true;
}

/* All wire and store rows at one work row.  column[m][k * n + j] is metric m of wire row j at store row k. */
static void fill_row(struct job *job, const struct sweep *sweep, const struct slice *slice, const bool *fits, double *step_s,
                     double *column[N_METRICS])
{
    const int64_t n = slice->n, n_store = sweep->store.n;
    const candidate_id first = (job->lowered * sweep->work.n + job->work_from + slice->fixed) * n * n_store;
    struct full_block *const block = &job->block;
    evaluate_step(step_s, slice);
    for (int k = 0; k < n_store; k++)
        for (int m = 0; m < N_METRICS && fits[k]; m++) evaluate_metric(column[m] + k * n, (enum metric)m, slice, k, step_s);
    for (int64_t j = 0; j < n; j++)
        for (int k = 0; k < n_store; k++) {
            if (!fits[k]) continue;
            block->id[block->n] = first + j * n_store + k;
            for (int m = 0; m < N_METRICS; m++) block->metric[m][block->n] = column[m][k * n + j];
            if (keeps_limits(sweep->study, block, block->n)) block->n++;
        }
}

static void run_job(struct job *job, const struct sweep *sweep)
{
    const struct space *const space = &sweep->study->space;
    const struct work_rates work = work_rates_part(&sweep->work, job->work_from, job->n_work);
    const int64_t per_row = (int64_t)sweep->wire.n * sweep->store.n;
    struct arena arena = {0};
    struct plan plan;
    struct hardware machine;
    struct lowering lowering;
    struct times times;
    struct demand *const demand = arena_alloc(&arena, 1, sizeof *demand);
    bool *const fits = arena_alloc(&arena, (size_t)sweep->store.n, sizeof *fits);
    double *const step_s = arena_alloc(&arena, (size_t)sweep->wire.n, sizeof(double)), *column[N_METRICS];
    for (int m = 0; m < N_METRICS; m++) column[m] = arena_alloc(&arena, (size_t)per_row, sizeof(double));
    space_decode_lowered(space, job->lowered, &plan, &machine);
    plan_pin(&plan, sweep->scenario);
    const struct fabric fabric = fabric_of(&machine);
    lower_init(&lowering, sweep->scenario);
    lower_set_fabric(&lowering, &fabric);
    lower_plan(demand, &lowering, &plan);
    for (int k = 0; k < sweep->store.n; k++) fits[k] = evaluate_fits(demand, &sweep->store, k);
    times_init(&times, demand->n_forms, work.n, sweep->wire.n, &arena);
    evaluate_work(&times, demand, &work);
    evaluate_wire(&times, demand, &sweep->wire);
    grow_block(job, work.n * per_row);
    struct slice slice = {demand, &times, &work, &sweep->wire, &sweep->store, true, 0, sweep->wire.n};
    for (slice.fixed = 0; slice.fixed < work.n; slice.fixed++) fill_row(job, sweep, &slice, fits, step_s, column);
    arena_free(&arena);
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

/* Take the next jobs off the walk; none are left at the end of the space. */
static void take_jobs(struct full *full)
{
    const struct sweep *const sweep = &full->sweep;
    const int64_t per_row = (int64_t)sweep->wire.n * sweep->store.n;
    const int rows = CANDIDATES_PER_JOB / per_row > 1 ? (int)(CANDIDATES_PER_JOB / per_row) : 1;
    full->n_jobs = full->at = 0;
    while (full->n_jobs < full->most_jobs && full->walk.lowered < sweep->study->space.n_lowered) {
        const bool wanted = walk_is_distinct(&full->walk) && plan_check(&full->walk.plan, sweep->scenario) == REASON_NONE;
        const int left = wanted ? sweep->work.n - full->next_work : 0;
        if (left <= 0) {
            walk_next(&full->walk);
            full->next_work = 0;
            continue;
        }
        struct job *const job = &full->job[full->n_jobs++];
        job->lowered = full->walk.lowered;
        job->work_from = full->next_work;
        job->n_work = left < rows ? left : rows;
        job->block.n = 0;
        full->next_work += job->n_work;
    }
}

static const struct full_block *next_block(struct full *full)
{
    for (;;) {
        while (full->at < full->n_jobs) {
            const struct full_block *const block = &full->job[full->at++].block;
            if (block->n > 0) return block;
        }
        take_jobs(full);
        if (full->n_jobs == 0 || stop_wanted()) return NULL;
#pragma omp parallel for schedule(dynamic)
        for (int j = 0; j < full->n_jobs; j++) run_job(&full->job[j], &full->sweep);
    }
}

void full_open(struct result *result, const struct study *study)
{
    for (int s = 0; s < study->n_scenarios && study->population.full; s++) {
        struct full *const full = calloc(1, sizeof *full);
        if (!full) out_of_memory();
        sweep_init(&full->sweep, study, s);
        walk_start(&full->walk, &study->space, full->sweep.scenario, 0);
        full->most_jobs = JOBS_PER_THREAD * omp_get_max_threads();
        full->job = calloc((size_t)full->most_jobs, sizeof *full->job);
        if (!full->job) out_of_memory();
        result->scenario[s].full = (struct full_source){result->scenario[s].n_feasible, full, next_block, stop_wanted};
    }
}

void full_close(struct result *result)
{
    for (int s = 0; s < result->n_scenarios; s++) {
        struct full *const full = result->scenario[s].full.full;
        if (!full) continue;
        for (int j = 0; j < full->most_jobs; j++) {
            free(full->job[j].block.id);
            for (int m = 0; m < N_METRICS; m++) free(full->job[j].block.metric[m]);
        }
        free(full->job);
        sweep_free(&full->sweep);
        free(full);
        result->scenario[s].full = (struct full_source){0};
    }
}
