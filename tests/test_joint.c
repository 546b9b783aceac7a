/* joint: the front over machines is that of a double loop over machines and numbers of PEs, where every scenario takes its
 * own best plan of at most so many (DESIGN section 2, joint). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <omp.h>

#include "brute.h"

enum { MOST_SCENARIOS = 3 };

struct joint_case { struct study_case of; int64_t fewest_rows; };

/* ---- the double loop ---------------------------------------------------------------------------------------------- */

struct naive_point {
    double objective[MAX_OBJECTIVES]; /* ln of the mean, then what it is held against */
    candidate_id chosen[MOST_SCENARIOS];
    int64_t rest; /* structure and machine: the candidate's id without its plan */
    bool dominated;
};
struct naive {
    const struct study *study;
    struct listing listing[MOST_SCENARIOS];
    const struct listed **by_id[MOST_SCENARIOS]; /* [n_raw] feasible candidates, else NULL */
    int64_t n, n_rest;
    struct naive_point *point;
};

static void naive_list(struct naive *naive, const struct study *study)
{
    *naive = (struct naive){.study = study, .n_rest = study->space.n_raw / study->space.n_group[GROUP_PLAN]};
    for (int s = 0; s < study->n_scenarios; s++) {
        struct listing *const listing = &naive->listing[s];
        list_candidates(listing, study, s);
        naive->by_id[s] = arena_alloc(&arena, (size_t)study->space.n_raw, sizeof *naive->by_id[s]);
        for (int64_t i = 0; i < listing->n; i++)
            if (listing->at[i].reason == REASON_NONE) naive->by_id[s][listing->at[i].id] = &listing->at[i];
    }
}

/* The best plan of scenario `s` on a machine with `pes` PEs; of equals the lowest id. NULL = none. */
static const struct listed *best_plan(const struct naive *naive, int s, int64_t rest, double pes)
{
    const enum metric metric = naive->study->joint.metric;
    const struct listed *best = NULL;
    for (candidate_id id = rest; id < naive->study->space.n_raw; id += naive->n_rest) {
        const struct listed *const at = naive->by_id[s][id];
        if (!at || at->metric[METRIC_PES] > pes) continue;
        if (!best || at->metric[metric] < best->metric[metric]) best = at;
    }
    return best;
}

static bool judge(struct naive_point *out, const struct naive *naive, int64_t rest, double pes)
{
    const struct joint *const joint = &naive->study->joint;
    *out = (struct naive_point){.rest = rest, .objective = {0.0, -INFINITY, -INFINITY, -INFINITY}};
    for (int s = 0; s < naive->study->n_scenarios; s++) {
        const struct listed *const best = best_plan(naive, s, rest, pes);
        out->chosen[s] = best ? best->id : -1;
        if (joint->weight[s] == 0.0) continue;
        if (!best) return false;
        out->objective[0] += joint->weight[s] * log(best->metric[joint->metric]);
        for (int a = 0; a < joint->n_against; a++) {
            const double value = best->metric[joint->against[a]];
            if (value > out->objective[a + 1]) out->objective[a + 1] = value;
        }
    }
    return true;
}

/* Different numbers of PEs that plans of any scenario take on this machine, ascending. */
static int pes_of(double *pes, const struct naive *naive, int64_t rest)
{
    int n = 0, kept = 0;
    for (int s = 0; s < naive->study->n_scenarios; s++)
        for (candidate_id id = rest; id < naive->study->space.n_raw; id += naive->n_rest)
            if (naive->by_id[s][id]) pes[n++] = naive->by_id[s][id]->metric[METRIC_PES];
    qsort(pes, (size_t)n, sizeof *pes, compare_doubles);
    for (int i = 0; i < n; i++)
        if (i == 0 || pes[i] != pes[kept - 1]) pes[kept++] = pes[i];
    return kept;
}

static int compare_points(const void *a, const void *b)
{
    const struct naive_point *const x = a, *const y = b;
    for (int d = 0; d < MAX_OBJECTIVES; d++)
        if (x->objective[d] != y->objective[d]) return x->objective[d] < y->objective[d] ? -1 : 1;
    return (x->rest > y->rest) - (x->rest < y->rest);
}

static void naive_front(struct naive *naive)
{
    const size_t most = (size_t)naive->study->n_scenarios * (size_t)naive->study->space.n_group[GROUP_PLAN];
    double *const pes = arena_alloc(&arena, most, sizeof *pes);
    const int n_objectives = 1 + naive->study->joint.n_against;
    int64_t n = 0, kept = 0;
    struct naive_point *const point = arena_alloc(&arena, (size_t)naive->n_rest * 64, sizeof *point);
    for (int64_t rest = 0; rest < naive->n_rest; rest++) {
        const int n_pes = pes_of(pes, naive, rest);
        assert_true(n_pes <= 64);
        for (int c = 0; c < n_pes; c++) n += judge(&point[n], naive, rest, pes[c]);
    }
    qsort(point, (size_t)n, sizeof *point, compare_points);
    for (int64_t i = 0; i < n; i++) {
        bool left_out = false; /* what dominates it stands before it and is itself kept, or dominated by what is */
        for (int64_t j = 0; j < kept && !left_out; j++)
            left_out = dominates(point[j].objective, point[i].objective, n_objectives) ||
                       memcmp(point[j].objective, point[i].objective, sizeof point->objective) == 0;
        if (!left_out) point[kept++] = point[i];
    }
    naive->n = kept;
    naive->point = point;
}

/* ---- comparison --------------------------------------------------------------------------------------------------- */

static void assert_row(const struct joint_row *row, const struct naive *naive, const struct naive_point *point)
{
    const struct study *const study = naive->study;
    struct plan plan;
    struct hardware hardware;
    space_decode(&study->space, point->rest, &plan, &hardware);
    assert_true(fabs(row->mean / exp(point->objective[0]) - 1.0) <= 1e-12);
    for (int a = 0; a < study->joint.n_against; a++) assert_true(row->against[a] == point->objective[a + 1]);
    assert_memory_equal(&row->hardware, &hardware, sizeof hardware);
    for (int s = 0; s < study->n_scenarios; s++) {
        assert_int_equal(row->choice[s].id, point->chosen[s]);
        if (point->chosen[s] < 0) continue;
        const struct listed *const listed = naive->by_id[s][point->chosen[s]];
        assert_memory_equal(row->choice[s].metric, listed->metric, sizeof listed->metric);
        assert_memory_equal(&row->choice[s].plan, &listed->plan, sizeof listed->plan);
    }
}

static void is_a_double_loop(void **state)
{
    const struct joint_case *const c = *state;
    struct study study;
    struct naive naive;
    read_study(&study, &c->of);
    study.sensitivity = (struct sensitivity){0};
    study.population = (struct population){0};
    assert_true(study.joint.wanted && study.n_scenarios <= MOST_SCENARIOS);
    naive_list(&naive, &study);
    naive_front(&naive);
    for (int threads = 1; threads <= 3; threads += 2) {
        struct result result;
        omp_set_num_threads(threads);
        sweep_study(&result, &study);
        assert_int_equal(result.joint.n_rows, naive.n);
        for (int64_t i = 0; i < naive.n; i++) assert_row(&result.joint.row[i], &naive, &naive.point[i]);
    }
    assert_true(naive.n >= c->fewest_rows);
}

/* ---- tests -------------------------------------------------------------------------------------------------------- */

#define LATENCY_OVER(weights, against) "joint={metric: latency, weights: " weights ", against: " against "}"

static struct joint_case joint_cases[] = {
    {{"prefill", {NULL}}, 3},
    {{"prefill", {LATENCY_OVER("{windowed: 1, dense: 1}", "[pes, power]")}}, 5},
    {{"prefill", {LATENCY_OVER("{windowed: 0, dense: 1}", "[cost]"), "limits={sips: 1}"}}, 2},
    {{"prefill", {"joint={metric: cost_per_token, weights: {windowed: 1, dense: 9}, against: [latency, cubes]}"}}, 3},
    {{"prefill", {LATENCY_OVER("{windowed: 2, dense: 1}", "[cost, energy_per_token, sips]"),
                  "limits={latency: 20 ms, cost: 1500}"}}, 3},
    {{"serve", {NULL}}, 3},
    {{"serve", {LATENCY_OVER("{serve: 1, decode: 5, prompt: 0}", "[pes, power]")}}, 3},
    {{"serve", {LATENCY_OVER("{serve: 0, decode: 0, prompt: 1}", "[cost]"), "limits={pes: 4}"}}, 1},
    {{"serve", {LATENCY_OVER("{serve: 1, decode: 1, prompt: 1}", "[cost]"), "limits={hbm_utilization: 60%, pes: 16}"}}, 2},
    {{"serve", {"joint={metric: energy_per_token, against: [pes]}", "limits={interactivity: 100}"}}, 1},
    {{"serve", {"joint={metric: cost, against: [latency]}"}}, 1}, /* plans of equal cost: the lowest counts */
    {{"prefill", {"joint={metric: pes, against: [power, latency]}"}}, 1},
    {{"decode", {LATENCY_OVER("{decode: 1}", "[cost, pes]")}}, 5},
    {{"decode", {LATENCY_OVER("{decode: 1}", "[cubes, power]"), "limits={cost_per_token: 0.05, throughput: 2000}"}}, 3},
    {{"decode", {LATENCY_OVER("{decode: 1}", "[cost]"), "limits={latency: 1 ns}"}}, 0},
};
enum { N_CASES = sizeof joint_cases / sizeof joint_cases[0] };

int main(void)
{
    struct CMUnitTest tests[N_CASES];
    char name[N_CASES][64];
    for (int i = 0; i < N_CASES; i++) {
        snprintf(name[i], sizeof name[i], "is_a_double_loop %d %s", i, joint_cases[i].of.name);
        tests[i] = (struct CMUnitTest){name[i], is_a_double_loop, NULL, stop, &joint_cases[i]};
    }
    return cmocka_run_group_tests_name("joint", tests, NULL, NULL);
}
