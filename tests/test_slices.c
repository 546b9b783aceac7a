/* slices: the same bits whichever way a grid of machines is cut, and from explain; and what explain says adds up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "cosweep/evaluate.h"
#include "cosweep/lower.h"

static struct arena arena;

static int stop(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static void assert_near(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-12 * fabs(expected))) fail_msg("%.17g, not %.17g", got, expected);
}

enum { N_WORK = 19, N_WIRE = 13, N_STORE = 2 };

static void demand_of(struct demand *demand, struct scenario *scenario, const char *name, enum phase phase,
                      const struct plan *plan)
{
    static struct lowering lowering;
    struct errors errors = {0};
    *scenario = (struct scenario){.phase = phase,
                                  .new_tokens = phase == PHASE_PREFILL ? 4000 : 1,
                                  .past_tokens = 1000,
                                  .prompt_tokens = 900,
                                  .answer_tokens = 70,
                                  .weight_bytes = 1.0,
                                  .kv_bytes = 2.0,
                                  .activation_bytes = 2.0,
                                  .compute = DTYPE_FP8,
                                  .accepted_tokens = 1.0,
                                  .imbalance = IMBALANCE_RANDOM};
    assert_int_equal(model_by_name(&scenario->model, name, &errors, "test", 0), 0);
    struct plan pinned = *plan;
    plan_pin(&pinned, scenario);
    assert_int_equal(plan_check(&pinned, scenario), REASON_NONE);
    const struct fabric f = {.pes_per_cube = 4,
                             .cubes_per_sip = 4,
                             .topology = {TOPOLOGY_MESH2D, TOPOLOGY_RING, TOPOLOGY_TORUS2D},
                             .tile_rows = 16,
                             .tile_columns = 8,
                             .tile_reduction = 1,
                             .query_tile = 128};
    lower_init(&lowering, scenario);
    lower_set_fabric(&lowering, &f);
    lower_plan(demand, &lowering, &pinned);
}

/* The preset with every rate, price and fixed time of a group times some factor of its own. */
static void vary(struct hardware *hardware, enum knob_group group, int row)
{
    double value[N_HARDWARE_KNOBS];
    memcpy(value, hardware, sizeof value);
    for (int k = 0; k < N_HARDWARE_KNOBS; k++) {
        const double share = fmod((double)(row + 1) * 0.6180339887498949 * (k + 1), 1.0);
        if (hardware_knob[k].group != group) continue;
        value[k] *= hardware_knob[k].dimension == DIM_FRACTION ? 0.5 + 0.5 * share : 0.1 + 3.0 * share;
    }
    memcpy(hardware, value, sizeof value);
}

static struct hardware machine(int i, int j, int k)
{
    struct errors errors = {0};
    struct hardware h;
    assert_int_equal(hardware_by_name(&h, "sip", &errors, "test", 0), 0);
    vary(&h, GROUP_WORK, i);
    vary(&h, GROUP_WIRE, j);
    vary(&h, GROUP_STORE, k);
    return h;
}

static void cut_all_ways(const struct demand *demand, enum dtype compute)
{
    static double along_wire[N_METRICS][N_WORK][N_WIRE], along_work[N_METRICS][N_WORK][N_WIRE];
    static double step_wire[N_WORK][N_WIRE], step_work[N_WORK][N_WIRE];
    struct work_rates work;
    struct wire_rates wire;
    struct store_rates store;
    struct times times;
    work_rates_init(&work, N_WORK, &arena);
    wire_rates_init(&wire, N_WIRE, &arena);
    store_rates_init(&store, N_STORE, &arena);
    times_init(&times, MAX_FORMS, N_WORK, N_WIRE, &arena);
    for (int row = 0; row < N_WORK; row++) { /* the longest table */
        const struct hardware h = machine(row, row, row);
        work_rates_set(&work, row, &h, compute);
        if (row < N_WIRE) wire_rates_set(&wire, row, &h);
        if (row < N_STORE) store_rates_set(&store, row, &h);
    }
    evaluate_work(&times, demand, &work);
    evaluate_wire(&times, demand, &wire);
    for (int k = 0; k < N_STORE; k++) {
        for (int i = 0; i < N_WORK; i++) {
            const struct slice slice = {demand, &times, &work, &wire, &store, true, i, N_WIRE};
            evaluate_step(step_wire[i], &slice);
            for (int m = 0; m < N_METRICS; m++) evaluate_metric(along_wire[m][i], (enum metric)m, &slice, k, step_wire[i]);
        }
        for (int j = 0; j < N_WIRE; j++) {
            double step_s[N_WORK], metric[N_WORK];
            const struct slice slice = {demand, &times, &work, &wire, &store, false, j, N_WORK};
            evaluate_step(step_s, &slice);
            for (int i = 0; i < N_WORK; i++) step_work[i][j] = step_s[i];
            for (int m = 0; m < N_METRICS; m++) {
                evaluate_metric(metric, (enum metric)m, &slice, k, step_s);
                for (int i = 0; i < N_WORK; i++) along_work[m][i][j] = metric[i];
            }
        }
        assert_memory_equal(step_wire, step_work, sizeof step_wire);
        assert_memory_equal(along_wire, along_work, sizeof along_wire);
        for (int i = 0; i < N_WORK; i++)
            for (int j = 0; j < N_WIRE; j++) {
                static struct explanation explanation;
                const struct hardware h = machine(i, j, k);
                explain_candidate(&explanation, demand, &h, compute);
                assert_true(explanation.step_s == step_wire[i][j]);
                for (int m = 0; m < N_METRICS; m++) assert_true(explanation.metric[m] == along_wire[m][i][j]);
                assert_int_equal(explanation.fits, evaluate_fits(demand, &store, k));
            }
    }
}

/* Every second of a stage is bound by something, and stages and hops make the step. */
static void assert_parts_add_up(const struct demand *demand, const struct scenario *scenario, double hops_per_step)
{
    static struct explanation e;
    const struct hardware h = machine(3, 4, 0);
    double layers_s = 0.0, edges_s = 0.0;
    explain_candidate(&e, demand, &h, scenario->compute);
    for (int r = 0; r < demand->n_rows; r++) {
        double sum_s = 0.0;
        for (int b = 0; b < N_BOUNDS; b++) {
            assert_true(e.stage[r].part_s[b] >= 0.0 && e.stage[r].part_s[b] <= e.stage[r].part_s[e.stage[r].bound]);
            sum_s += e.stage[r].part_s[b];
        }
        assert_near(sum_s, e.stage[r].time_s);
        if (demand->row[r].part < MAX_KINDS) layers_s += demand_row_count(demand, &demand->row[r]) * e.stage[r].time_s;
        else edges_s += e.stage[r].time_s;
    }
    assert_near(e.layers_s, layers_s);
    assert_near(e.edges_s, edges_s);
    if (hops_per_step >= 0.0) assert_near(e.step_s, layers_s + edges_s + hops_per_step * e.hop_s + h.step_overhead);
    assert_near(e.metric[METRIC_INTERACTIVITY] * e.metric[METRIC_LATENCY], 1.0);
    assert_near(e.metric[METRIC_THROUGHPUT] * e.step_s, demand->tokens);
    assert_near(e.metric[METRIC_THROUGHPUT_PER_PE] * (double)demand->pes, e.metric[METRIC_THROUGHPUT]);
    assert_near(e.metric[METRIC_POWER] * e.step_s, e.metric[METRIC_ENERGY_PER_TOKEN] * demand->tokens);
    assert_near(e.metric[METRIC_COST_PER_TOKEN] * demand->tokens, e.metric[METRIC_COST] * e.step_s);
}

static void the_same_bits_whichever_way(void **state)
{
    /* `hops`: pipeline hops of a step where no stage waits for another micro-batch, else -1 */
    static const struct { const char *model; enum phase phase; struct plan plan; double hops; } cases[] = {
        {"llama-3.1-8b", PHASE_DECODE, {.tp = 4, .cp = 2, .pp = 1, .dp = 1, .ep = 1, .batch = 8, .cp_placement = 1}, 0},
        {"llama-3.1-8b", PHASE_DECODE, {.tp = 16, .cp = 2, .pp = 2, .dp = 2, .ep = 1, .batch = 1, .kv_mode = 2}, 2},
        {"llama-3.1-8b", PHASE_PREFILL, {.tp = 2, .cp = 8, .pp = 1, .dp = 1, .ep = 1, .batch = 3, .ring = 0}, 0},
        {"gemma-3-4b", PHASE_PREFILL, {.tp = 2, .cp = 3, .pp = 4, .dp = 1, .ep = 1, .batch = 9, .ring = 1}, -1},
        {"gpt-oss-20b", PHASE_DECODE, {.tp = 2, .cp = 2, .pp = 3, .dp = 4, .ep = 4, .batch = 7, .ffn_scope = 2}, -1},
        {"deepseek-v2-lite", PHASE_SERVE,
         {.tp = 4, .cp = 1, .pp = 1, .dp = 4, .ep = 8, .batch = 7, .ffn_scope = 2, .moe_exchange = 1}, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static struct demand demand;
        static struct scenario scenario;
        demand_of(&demand, &scenario, cases[i].model, cases[i].phase, &cases[i].plan);
        cut_all_ways(&demand, scenario.compute);
        assert_parts_add_up(&demand, &scenario, cases[i].hops);
    }
}

#define TEST(name) cmocka_unit_test_teardown(name, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(the_same_bits_whichever_way)};
    return cmocka_run_group_tests_name("slices", tests, NULL, NULL);
}
