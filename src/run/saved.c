/* What a sweep has found so far, in memory. */
#include "saved.h"
#include "progress.h"
#include <inttypes.h>
#include <stdlib.h>

/* A byte each, in memory and in the file. */
static const int64_t most_units = INT64_C(1) << 28;

void past_init(struct saved_past *past, const struct study *asked)
{
    *past = (struct saved_past){.asked_hash = asked->hash, .written_s = clock_s()};
}

void past_free(struct saved_past *past)
{
    free(past->rounds.data);
}

static void pass_init(struct pass *pass, int64_t n_units, const struct outcome_options *keeps)
{
    *pass = (struct pass){.n_units = n_units, .finished = calloc((size_t)n_units + 1, 1)};
    if (!pass->finished) out_of_memory();
    outcome_init(&pass->outcome, keeps);
}

static void pass_free(struct pass *pass)
{
    free(pass->finished);
    outcome_free(&pass->outcome);
}

int saved_check(const struct study *study, const char *file, struct errors *errors)
{
    const int64_t n_units = study_units(study).n, n_passes = study->search == SEARCH_PRUNED ? 2 : 1;
    if (n_units <= most_units / n_passes / study->n_scenarios) return 0;
    return error_add(errors, STATUS_INPUT, file, 0,
                     "the sweep of %" PRId64 " plans and structures in %d scenarios has more than %" PRId64
                     " units of work to keep account of; give fewer values per knob",
                     study->space.n_lowered, study->n_scenarios, most_units);
}

void saved_init(struct saved *saved, const struct study *study, struct saved_past *past, int shard, int n_shards)
{
    const struct outcome_options seeds = {.n_objectives = study->n_objectives}, keeps = study_keeps(study);
    const int64_t n_units = study_units(study).n;
    *saved = (struct saved){
        .study = study, .past = past, .shard = shard, .n_shards = n_shards, .n_scenarios = study->n_scenarios};
    saved->scenario = calloc((size_t)study->n_scenarios, sizeof *saved->scenario);
    if (!saved->scenario) out_of_memory();
    for (int s = 0; s < study->n_scenarios; s++) {
        pass_init(&saved->scenario[s].seeds, study->search == SEARCH_PRUNED ? n_units : 0, &seeds);
        pass_init(&saved->scenario[s].sweep, n_units, &keeps);
    }
}

void saved_free(struct saved *saved)
{
    for (int s = 0; s < saved->n_scenarios; s++) {
        pass_free(&saved->scenario[s].seeds);
        pass_free(&saved->scenario[s].sweep);
    }
    free(saved->scenario);
    *saved = (struct saved){0};
}

int64_t saved_count(const struct saved *saved, int64_t *n_units)
{
    int64_t n = 0;
    *n_units = 0;
    for (int s = 0; s < saved->n_scenarios; s++)
        for (int64_t u = 0; u < saved->scenario[s].sweep.n_units; u++) {
            if (!saved_owns(saved, u)) continue;
            *n_units += 1;
            n += saved->scenario[s].sweep.finished[u];
        }
    return n;
}

bool saved_complete(const struct saved *saved)
{
    int64_t n_units;
    return saved_count(saved, &n_units) == n_units;
}
