/* A result with everything a result may hold, for tests of the file: every number differs from every other, so that a
 * swapped column is seen.
 *
 *     scenario 0 "zeta"    three rows, everything asked for
 *     scenario 1 "alpha"   everything asked for, nothing feasible
 *     scenario 2 "beta"    one row, nothing asked for */
#ifndef COSWEEP_TESTS_RESULT_EXAMPLE_H
#define COSWEEP_TESTS_RESULT_EXAMPLE_H

#include <math.h>
#include <string.h>

#include "cosweep/io.h"

enum { EXAMPLE_SCENARIOS = 3, EXAMPLE_ROWS = 3, EXAMPLE_CURVE = 4, EXAMPLE_SAMPLE = 5, EXAMPLE_ROUNDS = 2 };

static inline void example_row(struct result_row *row, int i)
{
    double next = 1000.0 * i + 0.5;
    row->id = INT64_C(9007199254740993) + i; /* is no double */
    row->n_equal = i + 1;
    row->plan = (struct plan){.tp = 8 + i, .cp = 2, .pp = 3, .dp = 4, .ep = 5, .batch = 6, .tp_placement = 1, .kv_mode = 2};
#define X(member, path, group, dimension, low, high, ...) /* each another, within the knob's bounds */                      \
    row->hardware.member = (low) + ((high) - (double)(low)) * (next += 1) / 1e6;
    HARDWARE_KNOBS(X)
#undef X
    row->hardware.allocation = 2;
    row->hardware.gqa_reuse = 1;
    row->hardware.pe_topology = 1;
    row->hardware.d2d_topology = 4;
    row->hardware.c2c_topology = 5;
    row->hardware.pes_per_cube = row->hardware.cubes_per_sip = 4;
    row->hardware.gemm_tile_rows = row->hardware.gemm_tile_columns = row->hardware.gemm_tile_reduction = 16;
    row->hardware.attention_query_tile = 1024;
    for (int m = 0; m < N_METRICS; m++)
        row->metric[m] = next += 1;
    row->metric[METRIC_PES] = row->metric[METRIC_CUBES] = row->metric[METRIC_SIPS] = 32 + i;
    row->weight_bytes = next += 1;
    row->kv_bytes = next += 1;
    row->activation_bytes = next += 1;
    for (int s = 0; s < N_STAGES; s++) {
        row->stage_s[s] = next += 1;
        row->stage_bound[s] = (enum bound)((s + i) % N_BOUNDS);
    }
}

/* n numbers from `first` on, and whole ones beyond what a double holds. */
static inline double *example_numbers(struct arena *arena, int64_t n, double first)
{
    double *const numbers = arena_alloc(arena, (size_t)n, sizeof *numbers);
    for (int64_t i = 0; i < n; i++)
        numbers[i] = first + (double)i;
    return numbers;
}

static inline int64_t *example_wholes(struct arena *arena, int64_t n, int64_t first)
{
    int64_t *const wholes = arena_alloc(arena, (size_t)n, sizeof *wholes);
    for (int64_t i = 0; i < n; i++)
        wholes[i] = INT64_C(9007199254740993) + first + i;
    return wholes;
}

static inline void example_population(struct result_scenario *scenario, int64_t n_sample, struct arena *arena)
{
    static const enum metric pairs[2][2] = {{METRIC_LATENCY, METRIC_COST}, {METRIC_PES, METRIC_PES}};
    static const int knobs[] = {PLAN_tp, PLAN_kv_mode, N_PLAN_KNOBS + HW_c2c_topology, N_PLAN_KNOBS + HW_flops};
    for (int k = 0; k < 4; k++) {
        struct main_effect *const effect = &scenario->effect[knobs[k]];
        *effect = (struct main_effect){2, example_numbers(arena, 2, k), example_wholes(arena, 2, 10 * k),
                                       example_numbers(arena, 2, 0.1 + k), example_numbers(arena, 2, 0.2 + k),
                                       example_numbers(arena, 2, 0.3 + k), 0.0625 * (k + 1)};
        effect->min_s[1] = effect->mean_ln[1] = effect->variance_ln[1] = NAN;
    }
    scenario->n_histograms = 2;
    for (int h = 0; h < 2; h++) {
        struct result_histogram *const histogram = &scenario->histogram[h];
        *histogram = (struct result_histogram){
            {pairs[h][0], pairs[h][1]}, {2 + h, 3}, {example_numbers(arena, 3 + h, 20.5), example_numbers(arena, 4, 30.5)},
            example_wholes(arena, (2 + h) * 3, 40)};
    }
    scenario->sample.n = n_sample;
    scenario->sample.id = example_wholes(arena, n_sample, 100);
    for (int m = 0; m < N_METRICS; m++)
        scenario->sample.metric[m] = example_numbers(arena, n_sample, 50.0 * m);
}

static inline void example_sensitivity(struct result_scenario *scenario, struct arena *arena)
{
    const int64_t n = scenario->n_rows;
    scenario->doubling = (struct result_doubling){example_numbers(arena, n * N_DOUBLED, 1.25),
                                                  example_numbers(arena, n * N_DOUBLED, 1.5),
                                                  example_wholes(arena, n * N_DOUBLED, 200)};
    scenario->elasticity = example_numbers(arena, n * N_BOUNDS, 0.25);
    for (int c = 0; c < N_CURVES; c++) {
        struct result_curve *const curve = &scenario->curve[c];
        if (c == 2)
            continue; /* not asked for */
        curve->n = EXAMPLE_CURVE + c;
        curve->value = example_numbers(arena, curve->n, 1);
        curve->latency_s = example_numbers(arena, n * curve->n, 0.125 + 100.0 * c);
        curve->memory_bytes = example_numbers(arena, n * curve->n, 0.75 + 100.0 * c);
        curve->reason = arena_alloc(arena, (size_t)(n * curve->n), sizeof *curve->reason);
        for (int64_t i = 0; i < n * curve->n; i++)
            curve->reason[i] = (int32_t)((i + c) % (REASON_LIMIT + 1));
        if (n > 0)
            curve->latency_s[0] = curve->memory_bytes[0] = NAN;
    }
}

static inline void example_joint(struct result *result, int64_t n_rows, struct arena *arena)
{
    result->joint_asked = (struct joint){true, METRIC_COST_PER_TOKEN, example_numbers(arena, EXAMPLE_SCENARIOS, 0.25), 2,
                                         {METRIC_PES, METRIC_POWER}};
    result->joint = (struct result_joint){n_rows, arena_alloc(arena, (size_t)n_rows, sizeof(struct joint_row))};
    for (int r = 0; r < n_rows; r++) {
        struct joint_row *const row = &result->joint.row[r];
        row->choice = arena_alloc(arena, EXAMPLE_SCENARIOS, sizeof *row->choice);
        for (int s = 0; s < EXAMPLE_SCENARIOS; s++) {
            example_row(&row->choice[s], 10 * r + s);
            row->hardware = row->choice[s].hardware;
            row->choice[s].n_equal = 1;
        }
        for (int s = 0; s < EXAMPLE_SCENARIOS; s++)
            row->choice[s].hardware = row->hardware;
        row->mean = 0.5 + r;
        row->against[0] = 64 + r;
        row->against[1] = 700.5 + r;
    }
}

/* Memory is the arena's and static. */
static inline void example_fill(struct result *result, struct arena *arena)
{
    static char study[] = "study: test\nscenarios: []\n";
    struct result_scenario *const scenario = arena_alloc(arena, EXAMPLE_SCENARIOS, sizeof *scenario);
    struct result_row *const row = arena_alloc(arena, EXAMPLE_ROWS, sizeof *row);
    *result = (struct result){.study_name = "test", .created = "2000-01-01T00:00:00Z", .program = "cosweep test",
                              .compiler = "cc", .flags = "-O3", .simd = "none", .study = study, .search = SEARCH_PRUNED,
                              .study_hash = UINT64_C(0xfedcba9876543210), .n_objectives = 2,
                              .objective = {METRIC_LATENCY, METRIC_COST}, .n_limits = 1, .limit = {{METRIC_PES, 1024}},
                              .n_scenarios = EXAMPLE_SCENARIOS, .scenario = scenario,
                              .performance = {1.5, 1.25, 0.125, 1e9, 1.0625, 4, 8}};
    scenario[0] = (struct result_scenario){.name = "zeta", .model = "m", .phase = "decode", .warnings = "left out a bias",
                                           .n_raw = 100, .n_distinct = 60, .n_feasible = 30, .n_evaluated = 50,
                                           .n_refused = {[REASON_MEMORY] = 13, [REASON_LIMIT] = 7}, .n_rows = EXAMPLE_ROWS,
                                           .row = row, .best = 1};
    scenario[1] = (struct result_scenario){.name = "alpha", .model = "m", .phase = "prefill", .n_raw = 9, .n_distinct = 9,
                                           .n_refused = {[REASON_MEMORY] = 9}, .row = row, .best = -1};
    scenario[2] = (struct result_scenario){.name = "beta", .model = "m", .phase = "serve", .n_raw = 1, .n_distinct = 1,
                                           .n_feasible = 1, .n_evaluated = 1, .n_rows = 1, .row = row};
    for (int i = 0; i < EXAMPLE_ROWS; i++)
        example_row(&row[i], i);
    for (int s = 0; s < 2; s++) {
        example_sensitivity(&scenario[s], arena);
        example_population(&scenario[s], s == 0 ? EXAMPLE_SAMPLE : 0, arena);
    }
    example_joint(result, 2, arena);
    result->n_rounds = EXAMPLE_ROUNDS;
    result->round = arena_alloc(arena, EXAMPLE_ROUNDS, sizeof *result->round);
    for (int r = 0; r < EXAMPLE_ROUNDS; r++)
        result->round[r] = (struct result_round){10 + r, 20 + r, 0.5 + r};
}

#endif
