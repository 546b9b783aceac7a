/* A scenario over ranks and threads.
 *
 * The units that are not finished go round the ranks like cards, and within a rank to whichever thread is free.  No reducer
 * depends on the order, so the result does not depend on ranks, threads or interruptions.  After every batch of units rank
 * 0 decides for all whether to go on, to save, or to save and stop. */
#include "units.h"
#include "stop.h"
#include <assert.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

typedef void unit_work(struct worker *worker, struct outcome *outcome, int64_t unit);

enum action { GO_ON, SAVE, STOP };
static const double longest_batch_s = 1.0;
enum { FIRST_UNITS_PER_THREAD = 32 };

/* What a thread keeps from batch to batch. */
struct thread {
    struct worker worker;
    struct outcome found; /* since it was last collected */
};

/* One pass, on every rank. */
struct work {
    struct saved *saved; /* rank 0 */
    struct pass *pass;   /* rank 0 */
    const struct sweep *sweep;
    unit_work *unit;
    struct outcome_options keeps;
    const struct run_options *options;
    struct ranks ranks;
    struct errors *errors;
    struct meter meter;
    struct thread *thread; /* [n_threads] */
    int n_threads;
    int64_t *todo, n_todo, at, batch;
    double busy_s;
};

/* ---- one batch on this rank -------------------------------------------------------------------------------------- */

/* Units todo[at + rank], todo[at + rank + n], ... of the batch; returns how many of them are finished. */
static int64_t run_batch(struct work *work)
{
    const int n_ranks = work->ranks.n;
    const int64_t *const todo = work->todo + work->at + work->ranks.rank;
    const int64_t left = work->n_todo - work->at, n = left < work->batch ? left : work->batch;
    const int64_t n_mine = (n - work->ranks.rank + n_ranks - 1) / n_ranks;
    int64_t next = 0, done = 0;
#pragma omp parallel num_threads(work->n_threads)
    {
        struct thread *const mine = &work->thread[omp_get_thread_num()];
        const double start_s = clock_s();
        while (stop_reason() == 0) {
            int64_t turn, finished;
#pragma omp atomic capture
            turn = next++;
            if (turn >= n_mine) break;
            work->unit(&mine->worker, &mine->found, todo[turn * n_ranks]);
#pragma omp atomic capture
            finished = ++done;
            if (omp_get_thread_num() == 0) meter_show(&work->meter, work->at + finished * n_ranks, work->n_todo);
        }
        const double spent_s = clock_s() - start_s;
#pragma omp atomic
        work->busy_s += spent_s;
    }
    return done; /* units are taken in order, and one that is taken is finished */
}

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

struct turn {
    int64_t done;
    int stop; /* its reason, 0 = none */
};

static void mark(struct work *work, int rank, int64_t done)
{
    for (int64_t t = 0; t < done; t++) work->pass->finished[work->todo[work->at + rank + t * work->ranks.n]] = 1;
}

/* Who did what of a batch, to rank 0. Returns whether any was told to stop (rank 0). */
static bool report(struct work *work, int64_t done)
{
    if (work->ranks.rank != 0) {
        const struct turn mine = {done, stop_reason()};
        ranks_send(&mine, sizeof mine);
        return mine.stop != 0;
    }
    mark(work, 0, done);
    for (int from = 1; from < work->ranks.n; from++) {
        size_t bytes;
        struct turn *const theirs = ranks_receive(from, &bytes);
        mark(work, from, theirs->done);
        stop_with(theirs->stop);
        free(theirs);
    }
    return stop_reason() != 0;
}

/* Each thread's memory is its own, and first touched by it.  OpenMP may give fewer threads than it promises
 * (OMP_THREAD_LIMIT, OMP_DYNAMIC, OMP_MAX_ACTIVE_LEVELS): from here on it promises what it gave. */
static void threads_init(struct work *work)
{
    omp_set_dynamic(0);
#pragma omp parallel
#pragma omp single
    work->n_threads = omp_get_num_threads();
    omp_set_num_threads(work->n_threads);
    work->thread = malloc((size_t)work->n_threads * sizeof *work->thread);
    if (!work->thread) out_of_memory();
#pragma omp parallel num_threads(work->n_threads)
    {
        struct thread *const mine = &work->thread[omp_get_thread_num()];
        worker_init(&mine->worker, work->sweep);
        outcome_init(&mine->found, &work->keeps);
    }
}

static void threads_free(struct work *work)
{
    for (int t = 0; t < work->n_threads; t++) {
        worker_free(&work->thread[t].worker);
        outcome_free(&work->thread[t].found);
    }
    free(work->thread);
}

/* What every thread of every rank found, into the pass on rank 0; they begin anew. */
static void collect(struct work *work)
{
    struct outcome found;
    outcome_init(&found, &work->keeps);
    for (int t = 0; t < work->n_threads; t++) {
        outcome_merge(&found, &work->thread[t].found);
        outcome_free(&work->thread[t].found);
        outcome_init(&work->thread[t].found, &work->keeps);
    }
    pareto_finish(&found.pareto);
    if (work->ranks.rank != 0) {
        struct bytes bytes = {0};
        outcome_pack(&found, &bytes);
        ranks_send(bytes.data, bytes.n);
        free(bytes.data);
    } else {
        outcome_merge(&work->pass->outcome, &found);
        for (int from = 1; from < work->ranks.n; from++) {
            size_t bytes, at = 0;
            char *const theirs = ranks_receive(from, &bytes);
            if (outcome_unpack(&work->pass->outcome, theirs, bytes, &at) != 0) abort(); /* our own message */
            free(theirs);
        }
        pareto_finish(&work->pass->outcome.pareto);
    }
    outcome_free(&found);
}

struct decision {
    enum action action;
    int64_t batch;
};

/* Rank 0. */
static struct decision decide(const struct work *work, bool stop, double batch_took_s)
{
    const struct run_options *const options = work->options;
    struct decision now = {GO_ON, work->batch};
    const bool saves = options->checkpoint && options->checkpoint_s > 0.0;
    const double batch_s = saves && options->checkpoint_s < longest_batch_s ? options->checkpoint_s : longest_batch_s;
    const double faster = batch_took_s > 0.0 ? batch_s / batch_took_s : 4.0;
    if (faster > 1.25 || faster < 0.8) now.batch = (int64_t)((double)work->batch * (faster < 4.0 ? faster : 4.0)) + 1;
    if (saves && clock_s() - work->saved->past->written_s >= options->checkpoint_s) now.action = SAVE;
    if (stop) now.action = STOP;
    return now;
}

static struct decision share_decision(struct decision decision)
{
    size_t bytes = sizeof decision;
    struct decision *const shared = ranks_share(&decision, &bytes);
    decision = *shared;
    free(shared);
    return decision;
}

/* The units that are not finished, the same list on all ranks. */
static void share_todo(struct work *work, bool all_shards)
{
    const struct pass *const pass = work->pass;
    int64_t *mine = NULL, n = 0;
    if (work->ranks.rank == 0) {
        assert(pass);
        mine = malloc((size_t)pass->n_units * sizeof *mine + 1);
        if (!mine) out_of_memory();
        for (int64_t u = 0; u < pass->n_units; u++)
            if (!pass->finished[u] && (all_shards || saved_owns(work->saved, u))) mine[n++] = u;
    }
    size_t bytes = (size_t)n * sizeof *mine;
    work->todo = ranks_share(mine, &bytes);
    work->n_todo = (int64_t)(bytes / sizeof *work->todo);
    free(mine);
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

static int save(struct work *work)
{
    collect(work);
    int failed = 0;
    if (work->ranks.rank == 0) failed = saved_write(work->saved, work->options->checkpoint, work->errors);
    return ranks_first(failed != 0) >= 0 ? -1 : 0;
}

static int run_pass(struct work *work, bool all_shards)
{
    int status = 0;
    share_todo(work, all_shards);
    threads_init(work);
    const int64_t first = (int64_t)FIRST_UNITS_PER_THREAD * work->n_threads * work->ranks.n;
    work->batch = share_decision((struct decision){GO_ON, first}).batch; /* other ranks may have other numbers of threads */
    for (work->at = 0; work->at < work->n_todo && status == 0;) {
        const double from_s = clock_s();
        const int64_t done = run_batch(work);
        const bool stop = report(work, done);
        const struct decision mine = work->ranks.rank == 0 ? decide(work, stop, clock_s() - from_s) : (struct decision){0};
        const struct decision next = share_decision(mine);
        if (next.action == STOP && work->options->checkpoint) status = save(work) == 0 ? 1 : -1;
        else if (next.action == STOP) status = 1;
        else if (next.action == SAVE && save(work) != 0) status = -1;
        work->at += work->batch;
        work->batch = next.batch;
    }
    if (status == 0) collect(work);
    threads_free(work);
    free(work->todo);
    return status;
}

/* The seeds that rank 0 collected, as bounds, to all. */
static void share_seeds(struct pareto *seeds, const struct pass *pass, int n_objectives)
{
    size_t bytes = pass ? (size_t)pass->outcome.pareto.n * sizeof(struct point) : 0;
    struct point *const point = ranks_share(pass ? pass->outcome.pareto.point : NULL, &bytes);
    pareto_init(seeds, n_objectives);
    for (size_t i = 0; i < bytes / sizeof *point; i++) pareto_add(seeds, &point[i]);
    pareto_make_bounds(seeds);
    free(point);
}

int units_run(struct saved *saved, int scenario, struct sweep *sweep, const struct run_options *options, struct ranks ranks,
              double *busy_s, struct errors *errors)
{
    const struct study *const study = sweep->study;
    struct progress_of *const progress = ranks.rank == 0 ? &saved->scenario[scenario] : NULL;
    struct work work = {.saved = saved, .sweep = sweep, .options = options, .ranks = ranks, .errors = errors};
    struct pareto seeds;
    int status = 0;
    meter_start(&work.meter, ranks.rank == 0 ? options->progress : PROGRESS_NONE, sweep->scenario->name,
                (double)study->space.n_raw / (double)sweep->units.n);
    if (study->search == SEARCH_PRUNED) {
        work.pass = progress ? &progress->seeds : NULL;
        work.unit = worker_seed;
        work.keeps = (struct outcome_options){.n_objectives = study->n_objectives};
        status = run_pass(&work, true);
        share_seeds(&seeds, work.pass, study->n_objectives);
        sweep->seeds = &seeds;
    }
    if (status == 0) {
        work.pass = progress ? &progress->sweep : NULL;
        work.unit = worker_run;
        work.keeps = study_keeps(study);
        status = run_pass(&work, false);
    }
    if (sweep->seeds) pareto_free(&seeds);
    sweep->seeds = NULL;
    meter_stop(&work.meter);
    *busy_s += work.busy_s;
    return status;
}
