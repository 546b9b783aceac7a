/* sensitivity: elasticities are finite differences, doublings and curves what asking every plan by itself says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <omp.h>

#include "brute.h"
#include "random_candidates.h"

/* ---- elasticities ------------------------------------------------------------------------------------------------- */

/* The knobs that a share of the step answers for: rates, or times that grow with it. */
enum { MAX_SCALED = 6 };
static const struct scaled { bool is_time; int n; enum hardware_knob knob[MAX_SCALED]; } scaled[N_BOUNDS] = {
    [BOUND_COMPUTE] = {false, 1, {HW_flops}},
    [BOUND_VECTOR] = {false, 1, {HW_vector_flops}},
    [BOUND_MEMORY] = {false, 1, {HW_hbm_bandwidth}},
    [BOUND_PE_LINK] = {false, 1, {HW_pe_bandwidth}},
    [BOUND_D2D_LINK] = {false, 1, {HW_d2d_bandwidth}},
    [BOUND_C2C_LINK] = {false, 1, {HW_c2c_bandwidth}},
    [BOUND_LATENCY] = {true, 3, {HW_pe_latency, HW_d2d_latency, HW_c2c_latency}},
    [BOUND_OVERHEAD] = {true, 6, {HW_kernel_overhead, HW_attention_overhead, HW_step_overhead, HW_pe_collective_overhead,
                                  HW_d2d_collective_overhead, HW_c2c_collective_overhead}},
};

static double ln_step(const struct demand *demand, const struct hardware *hardware, enum dtype compute,
                      const struct scaled *by, double factor)
{
    static struct explanation explanation;
    double value[N_HARDWARE_KNOBS];
    struct hardware changed;
    memcpy(value, hardware, sizeof value);
    for (int k = 0; k < by->n; k++) value[by->knob[k]] *= factor;
    memcpy(&changed, value, sizeof changed);
    explain_candidate(&explanation, demand, &changed, compute);
    return log(explanation.step_s);
}

/* d ln step / d ln knob from above and from below; for rates, less. */
static void slopes(double slope[2], const struct demand *demand, const struct hardware *hardware, enum dtype compute,
                   int bound)
{
    const double sign = scaled[bound].is_time ? 1.0 : -1.0, here = ln_step(demand, hardware, compute, &scaled[bound], 1.0);
    for (int side = 0; side < 2; side++) {
        const double h = side == 0 ? 1e-6 : -1e-6;
        slope[side] = sign * (ln_step(demand, hardware, compute, &scaled[bound], 1.0 + h) - here) / log(1.0 + h);
    }
}

/* Returns how many of the shares could not be tested, since a term changes its bound right there. */
static int hold_shares(const double share[N_BOUNDS], const struct demand *demand, const struct hardware *hardware,
                       enum dtype compute)
{
    double sum = 0.0;
    int n_kinks = 0;
    for (int b = 0; b < N_BOUNDS; b++) {
        double slope[2];
        sum += share[b];
        slopes(slope, demand, hardware, compute, b);
        if (fabs(slope[0] - slope[1]) > 1e-3) n_kinks++;
        else if (!(fabs(share[b] - slope[0]) <= 1e-3)) fail_msg("%s: share %g, slope %g", bound_name[b], share[b], slope[0]);
    }
    if (!(fabs(sum - 1.0) <= 1e-12)) fail_msg("shares sum to %.17g", sum);
    return n_kinks;
}

/* No two rates at a round ratio: such machines sit on kinks. */
static struct hardware unround(const struct hardware *hardware)
{
    double value[N_HARDWARE_KNOBS];
    struct hardware out;
    memcpy(value, hardware, sizeof value);
    for (int k = 0; k < N_HARDWARE_KNOBS; k++)
        if (hardware_knob[k].group == GROUP_WORK || hardware_knob[k].group == GROUP_WIRE)
            value[k] *= 0.9 + 0.1 * (double)random_below(1000003) / 1000003.0;
    memcpy(&out, value, sizeof out);
    return out;
}

static void shares_are_slopes(void **state)
{
    enum { CANDIDATES = 3000 };
    static struct random_candidate c;
    static struct explanation explanation;
    int n_kinks = 0, n_exposed = 0, n_seen[N_BOUNDS] = {0};
    (void)state;
    random_state = 11;
    for (int i = 0; i < CANDIDATES; i++) {
        random_candidate(&c);
        c.hardware.step_overhead = PICK(0, 1e-5, 1e-3);
        c.hardware = unround(&c.hardware);
        explain_candidate(&explanation, &c.demand, &c.hardware, c.scenario.compute);
        n_kinks += hold_shares(explanation.share, &c.demand, &c.hardware, c.scenario.compute);
        for (int b = 0; b < N_BOUNDS; b++) n_seen[b] += explanation.share[b] > 0.05;
        for (int k = 0; k < c.demand.n_kinds; k++) n_exposed += c.demand.ring[k].n_hops > 0.0 && c.demand.n_forms > 1;
    }
    for (int b = 0; b < N_BOUNDS; b++) assert_true(n_seen[b] > 20);
    assert_true(n_exposed > 20);
    assert_true(n_kinks < CANDIDATES / 20);
}

static void assert_elasticities(const struct result_scenario *result, const struct study *study,
                                const struct scenario *scenario)
{
    static struct answer answer;
    for (int64_t i = 0; i < result->n_rows; i++) {
        ask(&answer, study, scenario, result->row[i].id);
        const double *const share = result->elasticity + i * N_BOUNDS;
        assert_memory_equal(share, answer.explanation.share, sizeof answer.explanation.share);
        hold_shares(share, &answer.demand, &answer.candidate.hardware, scenario->compute);
    }
}

/* ---- doubling ----------------------------------------------------------------------------------------------------- */

static const enum hardware_knob knobs[N_DOUBLED] = {HW_flops,        HW_vector_flops,  HW_hbm_bandwidth, HW_hbm_capacity,
                                                    HW_pe_bandwidth, HW_d2d_bandwidth, HW_c2c_bandwidth};

static struct hardware doubled(const struct hardware *hardware, int k)
{
    double value[N_HARDWARE_KNOBS];
    struct hardware out;
    memcpy(value, hardware, sizeof value);
    value[knobs[k]] *= 2.0;
    memcpy(&out, value, sizeof out);
    return out;
}

static enum reason ask_plan(struct answer *answer, const struct study *study, const struct scenario *scenario,
                            const struct plan *plan, const struct hardware *hardware)
{
    static struct candidate candidate;
    candidate = (struct candidate){*scenario, *plan, *hardware};
    answer_candidate(answer, &candidate, study->limit, study->n_limits);
    return answer->reason;
}

struct choice { double latency_s; candidate_id id; };

static struct choice best_plan(const struct result_row *row, int k, const struct study *study,
                               const struct scenario *scenario, const int64_t *first)
{
    static struct answer answer;
    const int64_t n_plans = study->space.n_group[GROUP_PLAN], n_rest = study->space.n_raw / n_plans;
    const struct hardware machine = doubled(&row->hardware, k);
    struct choice best = {INFINITY, -1};
    for (int64_t p = 0; p < n_plans; p++) {
        const candidate_id id = p * n_rest + row->id % n_rest;
        struct plan plan;
        struct hardware unused;
        if (first[p] != p) continue;
        space_decode(&study->space, id, &plan, &unused);
        if (ask_plan(&answer, study, scenario, &plan, &machine) != REASON_NONE) continue;
        const double *const metric = answer.explanation.metric;
        if (metric[METRIC_PES] > row->metric[METRIC_PES] || metric[METRIC_LATENCY] >= best.latency_s) continue;
        best = (struct choice){metric[METRIC_LATENCY], id};
    }
    return best;
}

/* Returns the doublings for which another plan is better than the row's. */
static int assert_doublings(const struct result_scenario *result, const struct study *study, const struct scenario *scenario)
{
    static struct answer answer;
    int64_t *const first = arena_alloc(&arena, (size_t)study->space.n_group[GROUP_PLAN], sizeof *first);
    int n_other = 0;
    first_of_equals(first, study, scenario);
    for (int64_t i = 0; i < result->n_rows; i++)
        for (int k = 0; k < N_DOUBLED; k++) {
            const struct result_row *const row = &result->row[i];
            const double kept = result->doubling.plan_kept[i * N_DOUBLED + k];
            const double chosen = result->doubling.plan_chosen[i * N_DOUBLED + k];
            const struct hardware machine = doubled(&row->hardware, k);
            const bool breaks = ask_plan(&answer, study, scenario, &row->plan, &machine) != REASON_NONE;
            assert_true(kept == row->metric[METRIC_LATENCY] / answer.explanation.metric[METRIC_LATENCY]);
            const struct choice best = best_plan(row, k, study, scenario, first);
            assert_int_equal(result->doubling.chosen_id[i * N_DOUBLED + k], best.id);
            if (best.id < 0) assert_true(!(chosen > 0.0));
            else assert_true(chosen == row->metric[METRIC_LATENCY] / best.latency_s);
            assert_true(breaks || chosen >= kept);
            n_other += chosen > kept;
        }
    return n_other;
}

/* ---- curves ------------------------------------------------------------------------------------------------------- */

static const enum plan_knob degrees[N_CURVES] = {PLAN_cp, PLAN_tp, PLAN_pp, PLAN_dp, PLAN_ep};

static int64_t degree_of(const struct plan *plan, int c)
{
    int64_t value[N_PLAN_KNOBS];
    memcpy(value, plan, sizeof value);
    return value[degrees[c]];
}

/* 1, 2, 4, 6, ... up to the limit and the rows' own, ascending. */
static void assert_values(const struct result_curve *curve, const struct result_scenario *result, int c, int64_t limit)
{
    enum { MOST = 1024 };
    bool has[MOST] = {[1] = true};
    int n = 0;
    for (int64_t v = 2; v <= limit; v += 2) has[v] = true;
    for (int64_t i = 0; i < result->n_rows; i++) has[degree_of(&result->row[i].plan, c)] = true;
    for (int v = 0; v < MOST; v++) {
        if (!has[v]) continue;
        assert_true(n < curve->n && curve->value[n] == (double)v);
        n++;
    }
    assert_int_equal(curve->n, n);
}

static void assert_point(const struct result_curve *curve, const struct result_row *row, int64_t at, int c,
                         const struct study *study, const struct scenario *scenario)
{
    static struct answer answer;
    int64_t value[N_PLAN_KNOBS];
    struct plan plan;
    memcpy(value, &row->plan, sizeof value);
    value[degrees[c]] = (int64_t)curve->value[at % curve->n];
    memcpy(&plan, value, sizeof plan);
    assert_int_equal(curve->reason[at], ask_plan(&answer, study, scenario, &plan, &row->hardware));
    if (!answer.complete) {
        assert_true(isnan(curve->latency_s[at]) && isnan(curve->memory_bytes[at]));
        return;
    }
    const double bytes = answer.demand.weight_bytes + answer.demand.kv_bytes + answer.demand.activation_bytes;
    assert_true(curve->latency_s[at] == answer.explanation.metric[METRIC_LATENCY]);
    assert_true(curve->memory_bytes[at] == bytes);
    if (value[degrees[c]] != degree_of(&row->plan, c)) return;
    assert_true(curve->reason[at] == REASON_NONE && curve->latency_s[at] == row->metric[METRIC_LATENCY]);
}

static void assert_curves(const struct result_scenario *result, const struct study *study, const struct scenario *scenario)
{
    for (int c = 0; c < N_CURVES; c++) {
        const struct result_curve *const curve = &result->curve[c];
        if (study->sensitivity.curve[c] == 0) {
            assert_int_equal(curve->n, 0);
            continue;
        }
        assert_values(curve, result, c, study->sensitivity.curve[c]);
        for (int64_t at = 0; at < result->n_rows * curve->n; at++)
            assert_point(curve, &result->row[at / curve->n], at, c, study, scenario);
    }
}

/* ---- tests -------------------------------------------------------------------------------------------------------- */

static void assert_same_doublings(const struct result_scenario *a, const struct result_scenario *b)
{
    const size_t n = (size_t)a->n_rows * N_DOUBLED;
    assert_memory_equal(a->doubling.plan_kept, b->doubling.plan_kept, n * sizeof(double));
    assert_memory_equal(a->doubling.plan_chosen, b->doubling.plan_chosen, n * sizeof(double));
    assert_memory_equal(a->doubling.chosen_id, b->doubling.chosen_id, n * sizeof(candidate_id));
}

static struct study_case decode_case = {"decode", {NULL}}, prefill_case = {"prefill", {NULL}};
static struct study_case serve_case = {"serve", {NULL}};
static struct study_case dear_case = {"decode", {"limits={cost: 800, power: 60}", "search=pruned"}};
static struct study_case full_case = {"serve", {"limits={hbm_utilization: 40%, pes: 8, cost: 700}"}};
static struct study_case two_case = {
    "prefill", {"limits={latency: 20 ms, sips: 1}", "objectives=[latency, pes, energy_per_token]"}};

static void is_brute_force(void **state)
{
    struct study study;
    struct result one, three;
    int n_other = 0;
    int64_t n_rows = 0;
    read_study(&study, *state);
    omp_set_num_threads(1);
    sweep_study(&one, &study);
    omp_set_num_threads(3);
    sweep_study(&three, &study);
    for (int s = 0; s < study.n_scenarios; s++) {
        const struct result_scenario *const result = &one.scenario[s];
        assert_elasticities(result, &study, &study.scenario[s]);
        n_other += assert_doublings(result, &study, &study.scenario[s]);
        assert_same_doublings(result, &three.scenario[s]);
        assert_curves(result, &study, &study.scenario[s]);
        n_rows += result->n_rows;
    }
    assert_true(n_rows >= 5);
    assert_true(n_other > 0);
}

#define TEST(of) {"is_brute_force " #of, is_brute_force, NULL, stop, &of##_case}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shares_are_slopes), TEST(decode), TEST(prefill), TEST(serve),
                                       TEST(dear), TEST(full), TEST(two)};
    return cmocka_run_group_tests_name("sensitivity", tests, NULL, NULL);
}
