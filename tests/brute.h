/* Brute force for tests: every candidate of a study asked by itself, and the studies of tests/data/studies. */
#ifndef COSWEEP_TESTS_BRUTE_H
#define COSWEEP_TESTS_BRUTE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/sweep.h"

static struct arena arena;
static struct errors errors;

static inline int stop(void **state)
{
    (void)state;
    arena_free(&arena);
    memset(&errors, 0, sizeof errors);
    return 0;
}

/* ---- studies ------------------------------------------------------------------------------------------------------ */

enum { MAX_SETS = 4 };
/* tests/data/studies/NAME.yaml with up to MAX_SETS overrides; NULL ends them. */
struct study_case { const char *name, *set[MAX_SETS]; };

static inline void read_study(struct study *study, const struct study_case *c)
{
    char path[512];
    int n = 0;
    while (n < MAX_SETS && c->set[n]) n++;
    snprintf(path, sizeof path, SOURCE_DIR "/tests/data/studies/%s.yaml", c->name);
    const int status = study_read(study, path, c->set, n, &arena, &errors);
    errors_print(&errors, stderr);
    assert_int_equal(status, 0);
}

static inline void sweep_study(struct result *result, const struct study *study)
{
    const struct run_options options = {.progress = PROGRESS_NONE};
    assert_int_equal(run_study(result, study, &options, (struct ranks){0, 1}, &arena, &errors), 0);
    assert_int_equal(result->n_scenarios, study->n_scenarios);
}

/* ---- all candidates ----------------------------------------------------------------------------------------------- */

struct listed {
    candidate_id id;
    enum reason reason; /* limits included */
    int16_t digit[N_KNOBS];
    struct plan plan; /* pinned */
    double metric[N_METRICS];
};
struct listing {
    int64_t n, n_feasible;
    struct listed *at; /* [n] distinct candidates, ascending by id; the arena's */
};

/* first[p] = the lowest plan index that pins to the same plan as p. */
static inline void first_of_equals(int64_t *first, const struct study *study, const struct scenario *scenario)
{
    const int64_t n = study->space.n_group[GROUP_PLAN], n_rest = study->space.n_raw / n;
    struct plan *const plan = arena_alloc(&arena, (size_t)n, sizeof *plan);
    struct hardware unused;
    for (int64_t p = 0; p < n; p++) {
        space_decode(&study->space, p * n_rest, &plan[p], &unused);
        plan_pin(&plan[p], scenario);
        first[p] = 0;
        while (memcmp(&plan[first[p]], &plan[p], sizeof *plan) != 0) first[p]++;
    }
}

static inline void ask(struct answer *answer, const struct study *study, const struct scenario *scenario, candidate_id id)
{
    static struct candidate candidate;
    candidate.scenario = *scenario;
    space_decode(&study->space, id, &candidate.plan, &candidate.hardware);
    answer_candidate(answer, &candidate, study->limit, study->n_limits);
}

static inline void list_candidates(struct listing *out, const struct study *study, int scenario)
{
    static struct answer answer;
    const struct scenario *const asked = &study->scenario[scenario];
    const int64_t n_plans = study->space.n_group[GROUP_PLAN], n_rest = study->space.n_raw / n_plans;
    int64_t *const first = arena_alloc(&arena, (size_t)n_plans, sizeof *first);
    int digit[N_KNOBS];
    first_of_equals(first, study, asked);
    *out = (struct listing){.at = arena_alloc(&arena, (size_t)study->space.n_raw, sizeof *out->at)};
    for (candidate_id id = 0; id < study->space.n_raw; id++) {
        if (first[id / n_rest] != id / n_rest) continue;
        ask(&answer, study, asked, id);
        struct listed *const listed = &out->at[out->n++];
        *listed = (struct listed){.id = id, .reason = answer.reason, .plan = answer.candidate.plan};
        space_digits(&study->space, id, digit);
        for (int a = 0; a < N_KNOBS; a++) listed->digit[a] = (int16_t)digit[a];
        if (answer.complete) memcpy(listed->metric, answer.explanation.metric, sizeof listed->metric);
        out->n_feasible += answer.reason == REASON_NONE;
    }
}

static inline int compare_listed(const void *a, const void *b)
{
    const struct listed *const x = a, *const y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* NULL = no such distinct candidate. */
static inline const struct listed *find_listed(const struct listing *listing, candidate_id id)
{
    const struct listed key = {.id = id};
    return bsearch(&key, listing->at, (size_t)listing->n, sizeof key, compare_listed);
}

static inline int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A limit that keeps about half of what is feasible, and not all unless all are equal. */
static inline double middle_limit(const struct listing *listing, enum metric metric)
{
    double *const value = arena_alloc(&arena, (size_t)listing->n_feasible + 1, sizeof *value);
    const bool high = metric_facts[metric].better == BETTER_HIGH;
    int64_t n = 0, at;
    for (int64_t i = 0; i < listing->n; i++)
        if (listing->at[i].reason == REASON_NONE) value[n++] = listing->at[i].metric[metric];
    qsort(value, (size_t)n, sizeof *value, compare_doubles);
    at = n / 2;
    while (high && at < n - 1 && value[at] == value[0]) at++;
    while (!high && at > 0 && value[at] == value[n - 1]) at--;
    return value[at];
}

/* ---- dominance ---------------------------------------------------------------------------------------------------- */

static inline double minimised(enum metric metric, double value)
{
    return metric_facts[metric].better == BETTER_HIGH ? -value : value;
}

/* Nowhere worse, somewhere better; all minimised. */
static inline bool dominates(const double *a, const double *b, int n)
{
    bool better = false;
    for (int d = 0; d < n; d++) {
        if (a[d] > b[d]) return false;
        better |= a[d] < b[d];
    }
    return better;
}

#endif
