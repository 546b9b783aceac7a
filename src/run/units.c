/* A scenario over ranks and threads.
 *
 * Work units go round the ranks like cards (unit u to rank u mod n), and within a rank to whichever thread is free.  No
 * reducer depends on the order, so the result does not depend on ranks or threads. */
#include "units.h"
#include <omp.h>
#include <stdlib.h>

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
    for (int h = 0; h < theirs->n_histograms; h++) {
        histogram_init(&theirs->histogram[h]);
        free(theirs->histogram[h].count);
        theirs->histogram[h].count = ranks_receive(from, &bytes);
    }
    theirs->sample.draw = ranks_receive(from, &bytes);
    theirs->sample.taken = NULL;
    outcome_merge(outcome, theirs);
    outcome_free(theirs);
    free(theirs);
    free(point);
}

void units_collect(struct outcome *outcome, struct ranks ranks)
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
    units_collect(&found, ranks);
    size_t bytes = (size_t)found.pareto.n * sizeof *found.pareto.point;
    struct point *const point = ranks_share(found.pareto.point, &bytes);
    for (size_t i = 0; i < bytes / sizeof *point; i++) pareto_add(seeds, &point[i]);
    pareto_make_bounds(seeds);
    free(point);
    outcome_free(&found);
}

void units_sweep(struct outcome *outcome, struct sweep *sweep, const struct run_options *options, struct ranks ranks, double *busy_s)
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
