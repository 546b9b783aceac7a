/* One grid of a study: its scenarios one after the other, what is asked of their Pareto sets, the joint front.  Rank 0
 * collects and looks once more at every row it stores.  The shards of a study are the same, cut and put together again. */
#define _POSIX_C_SOURCE 200809L
#include "grid.h"
#include "joint.h"
#include "keep.h"
#include "provenance.h"
#include "stop.h"
#include "units.h"
#include <assert.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the result -------------------------------------------------------------------------------------------------- */

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
        if (stop_wanted()) continue;
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

/* The ids of the Pareto set, which rank 0 knows (others: NULL), to all; freed by the caller. */
static candidate_id *share_rows(const struct pareto *pareto, int64_t *n_rows)
{
    const int64_t n = pareto ? pareto->n : 0;
    size_t bytes = (size_t)n * sizeof(candidate_id);
    candidate_id *const mine = malloc(bytes + 1);
    if (!mine) out_of_memory();
    for (int64_t i = 0; i < n; i++) mine[i] = pareto->point[i].id;
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

/* ---- one grid ---------------------------------------------------------------------------------------------------- */

struct spent {
    double sweep_s, busy_s;
    int64_t n_evaluated; /* in this time, so without what a checkpoint held; rank 0 */
};

static int64_t count_evaluated(const struct saved *saved)
{
    int64_t n = 0;
    for (int s = 0; s < saved->n_scenarios; s++)
        n += saved->scenario[s].seeds.outcome.n_evaluated + saved->scenario[s].sweep.outcome.n_evaluated;
    return n;
}

/* Finish every scenario of `saved`. Returns as units_run. */
static int sweep_all(struct saved *saved, const struct study *study, const struct run_options *options, struct ranks ranks,
                     struct spent *spent, struct errors *errors)
{
    const double from_s = clock_s();
    const int64_t n_before = ranks.rank == 0 ? count_evaluated(saved) : 0;
    int status = 0;
    for (int i = 0; i < study->n_scenarios && status == 0; i++) {
        struct sweep sweep;
        double busy_s = 0.0;
        sweep_init(&sweep, study, i);
        status = units_run(saved, i, &sweep, options, ranks, &busy_s, errors);
        spent->busy_s += collect_busy(busy_s, ranks);
        sweep_free(&sweep);
    }
    spent->sweep_s += clock_s() - from_s;
    if (ranks.rank == 0) spent->n_evaluated += count_evaluated(saved) - n_before;
    return status;
}

static void keep_scenario(struct result *result, const struct study *study, int index, const struct saved *saved,
                          struct sweep *sweep, struct ranks ranks, struct arena *arena)
{
    struct outcome *const outcome = ranks.rank == 0 ? &saved->scenario[index].sweep.outcome : NULL;
    if (ranks.rank == 0) {
        sample_finish(&outcome->sample);
        fill_scenario(&result->scenario[index], sweep, outcome, arena);
        result->scenario[index].n_evaluated += saved->scenario[index].seeds.outcome.n_evaluated;
    }
    if (!study->sensitivity.doubling) return;
    struct result_doubling none, *const doubling = ranks.rank == 0 ? &result->scenario[index].doubling : &none;
    int64_t n_rows;
    candidate_id *const rows = share_rows(outcome ? &outcome->pareto : NULL, &n_rows);
    keep_doubling(doubling, sweep, rows, n_rows, ranks, arena);
    free(rows);
}

static void run_joint(struct result *result, const struct study *study, const struct sweep *sweep, struct ranks ranks,
                      struct arena *arena)
{
    struct joint_front front = {0};
    joint_run(&front, study, sweep, ranks);
    const bool stopped = stop_agreed();
    if (!stopped) joint_collect(&front, 1 + study->joint.n_against, study->n_scenarios, ranks);
    if (!stopped && ranks.rank == 0) {
        result->joint_asked = study->joint;
        joint_keep(&result->joint, &front, study, arena);
    }
    free(front.point);
}

/* All that a result holds of what was found.  Collective.  Returns 0, or 1 when it was stopped. */
static int keep_all(struct result *result, const struct study *study, const struct saved *saved, struct ranks ranks,
                    struct spent *spent, struct arena *arena)
{
    const double from_s = clock_s();
    const int n_threads = omp_get_max_threads();
    bool stopped = false;
    struct sweep *const sweep = calloc((size_t)study->n_scenarios, sizeof *sweep);
    if (!sweep) out_of_memory();
    if (ranks.rank == 0) fill_study(result, study, arena);
    for (int i = 0; i < study->n_scenarios; i++) {
        sweep_init(&sweep[i], study, i);
        if (!stopped) keep_scenario(result, study, i, saved, &sweep[i], ranks, arena);
        stopped = stopped || stop_agreed();
    }
    if (study->joint.wanted && !stopped) run_joint(result, study, sweep, ranks, arena);
    stopped = stopped || stop_agreed();
    for (int i = 0; i < study->n_scenarios; i++) sweep_free(&sweep[i]);
    free(sweep);
    if (stopped) return 1;
    if (ranks.rank != 0) return 0;
    result->performance = (struct performance){
        .sweep_s = spent->sweep_s,
        .reduce_s = clock_s() - from_s,
        .candidates_per_s = spent->sweep_s > 0.0 ? (double)spent->n_evaluated / spent->sweep_s : 0.0,
        .imbalance = spent->busy_s > 0.0 ? spent->sweep_s * n_threads * ranks.n / spent->busy_s : 1.0,
        .n_ranks = ranks.n,
        .n_threads = n_threads,
    };
    return 0;
}

/* What a checkpoint holds, if there is one and it is wanted and not read yet.  Rank 0 reads; all agree. */
static int load_checkpoint(struct saved *saved, const struct run_options *options, struct ranks ranks, struct errors *errors)
{
    int failed = 0;
    const bool wanted = options->resume && options->checkpoint;
    if (ranks.rank == 0 && wanted && saved->past->checkpoint != PAST_READ) {
        saved->past->checkpoint = PAST_READ; /* later there is one of this run */
        if (access(options->checkpoint, F_OK) == 0) failed = saved_read(saved, options->checkpoint, errors);
    }
    return ranks_first(failed != 0) >= 0 ? -1 : 0;
}

static const double worth_saving_s = 1.0; /* what took less is swept again sooner than read */

/* The whole sweep, unless a checkpoint was written less than age_s ago, or one of a later round holds it (and is not to be
 * lost).  Collective; returns 0 or -1. */
static int save_whole(const struct saved *saved, double age_s, const struct run_options *options, struct ranks ranks,
                      struct errors *errors)
{
    bool failed = false;
    if (ranks.rank == 0 && options->checkpoint && saved->past->checkpoint != PAST_AHEAD &&
        clock_s() - saved->past->written_s >= age_s)
        failed = saved_write(saved, options->checkpoint, errors) != 0;
    return ranks_first(failed) >= 0 ? -1 : 0;
}

int grid_run(struct result *result, const struct study *study, const struct run_options *options, struct saved_past *past,
             struct ranks ranks, struct arena *arena, struct errors *errors)
{
    struct saved saved = {0};
    struct spent spent = {0};
    if (saved_check(study, study->name, errors) != 0) return -1;
    if (ranks.rank == 0) saved_init(&saved, study, past, 1, 1);
    int status = load_checkpoint(&saved, options, ranks, errors);
    if (status == 0) status = sweep_all(&saved, study, options, ranks, &spent, errors);
    if (status == 0 && options->checkpoint_s > 0.0) /* what comes may take longer than what was */
        status = save_whole(&saved, worth_saving_s, options, ranks, errors);
    if (status == 0) {
        status = keep_all(result, study, &saved, ranks, &spent, arena);
        const bool may_stop = status == 1 || study->population.full; /* full: while it is written */
        if (may_stop && save_whole(&saved, 0.0, options, ranks, errors) != 0) status = -1;
    }
    if (status == 0 && ranks.rank == 0 && past->round > 0) saved_remember(&saved);
    if (ranks.rank == 0) saved_free(&saved);
    return status;
}

/* ---- shards ------------------------------------------------------------------------------------------------------ */

int run_shard(const struct study *study, const struct run_options *options, const char *path, struct ranks ranks,
              struct errors *errors)
{
    struct saved saved = {0};
    struct saved_past past = {0};
    struct spent spent = {0};
    if (study->two_stage)
        return error_add(errors, STATUS_INPUT, study->name, 0,
                         "two_stage cannot be cut into shards, since each round needs the whole "
                         "front; use depth: fine with search: pruned");
    if (saved_check(study, study->name, errors) != 0) return -1;
    past_init(&past, study);
    if (ranks.rank == 0) saved_init(&saved, study, &past, options->shard, options->n_shards);
    int status = load_checkpoint(&saved, options, ranks, errors);
    if (status == 0) status = sweep_all(&saved, study, options, ranks, &spent, errors);
    if (status == 0 && ranks.rank == 0) status = saved_write(&saved, path, errors);
    if (ranks.rank == 0) saved_free(&saved);
    past_free(&past);
    return status;
}

bool run_is_part(const char *path, const struct study *study, int shard, int n_shards)
{
    struct arena arena = {0};
    struct errors *const unread = arena_alloc(&arena, 1, sizeof *unread);
    struct study of;
    struct saved_facts facts;
    const bool is = saved_study(path, &of, &facts, &arena, unread) == 0 && facts.asked_hash == study->hash &&
                    facts.shard == shard && facts.n_shards == n_shards;
    arena_free(&arena);
    return is;
}

/* Read the parts, each shard once. */
static int read_parts(struct saved *saved, struct saved_past *past, struct study *study, const char *const *parts,
                      int n_parts, struct arena *arena, struct errors *errors)
{
    const char **given = NULL;
    int n_shards = 0;
    for (int p = 0; p < n_parts; p++) {
        struct study this_study;
        struct saved_facts facts;
        if (saved_study(parts[p], &this_study, &facts, arena, errors) != 0) return -1;
        const int shard = facts.shard, of = facts.n_shards;
        if (p == 0) {
            *study = this_study;
            n_shards = of;
            if (saved_check(study, parts[p], errors) != 0) return -1;
            given = arena_alloc(arena, (size_t)n_shards + 1, sizeof *given);
            past_init(past, study);
            saved_init(saved, study, past, 1, 1);
        }
        if (of != n_shards || this_study.hash != study->hash)
            return error_add(errors, STATUS_INPUT, parts[p], 0,
                             "is shard %d of %d of another study than %s; merge the shards of one run", shard, of, parts[0]);
        if (given[shard])
            return error_add(errors, STATUS_INPUT, parts[p], 0, "is shard %d of %d, which %s is already; give each once",
                             shard, of, given[shard]);
        given[shard] = parts[p];
        if (saved_read(saved, parts[p], errors) != 0) return -1;
    }
    for (int shard = 1; shard <= n_shards; shard++)
        if (!given[shard])
            error_add(errors, STATUS_INPUT, NULL, 0, "shard %d of %d is missing; give the part of every shard", shard,
                      n_shards);
    if (errors->n == 0 && !saved_complete(saved))
        error_add(errors, STATUS_INPUT, NULL, 0, "a part holds a sweep that was stopped; finish it with --resume first");
    return errors->n == 0 ? 0 : -1;
}

int run_merge(struct result *result, struct study *study, const char *const *parts, int n_parts, struct arena *arena,
              struct errors *errors)
{
    const double start_s = clock_s();
    struct saved saved = {0};
    struct saved_past past = {0};
    struct spent spent = {0};
    assert(n_parts > 0);
    int status = read_parts(&saved, &past, study, parts, n_parts, arena, errors);
    if (status == 0) status = keep_all(result, study, &saved, (struct ranks){0, 1}, &spent, arena);
    if (status == 0) result->performance.wall_s = clock_s() - start_s;
    saved_free(&saved);
    past_free(&past);
    return status;
}

void run_watch(double limit_s)
{
    stop_watch(limit_s);
}

const char *run_stop_cause(void)
{
    return stop_cause();
}
