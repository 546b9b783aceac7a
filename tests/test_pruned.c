/* pruned: a pruned search stores the same rows to the bit as an exhaustive one and asks far fewer candidates; and what it
 * stands on: no machine of a box is better than the box's corner, which is met where the box is one machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "brute.h"
#include "random_candidates.h"

/* ---- the same rows ------------------------------------------------------------------------------------------------ */

static void assert_same_row(const struct result_row *a, const struct result_row *b)
{
    assert_int_equal(a->id, b->id);
    assert_int_equal(a->n_equal, b->n_equal);
    for (int c = 0; c < N_ROW_COLUMNS; c++) {
        const double x = row_value(a, row_column(c)), y = row_value(b, row_column(c));
        assert_memory_equal(&x, &y, sizeof x);
    }
    assert_memory_equal(a->stage_s, b->stage_s, sizeof a->stage_s);
    assert_memory_equal(a->stage_bound, b->stage_bound, sizeof a->stage_bound);
}

/* Returns the candidates an exhaustive search asks over those a pruned one does. */
static double check_study(const struct study *study, int64_t *n_rows)
{
    struct study exhaustive = *study, pruned = *study;
    struct result a, b;
    int64_t asked = 0, left = 0;
    exhaustive.search = SEARCH_EXHAUSTIVE;
    pruned.search = SEARCH_PRUNED;
    sweep_study(&a, &exhaustive);
    sweep_study(&b, &pruned);
    *n_rows = 0;
    for (int s = 0; s < study->n_scenarios; s++) {
        const struct result_scenario *const x = &a.scenario[s], *const y = &b.scenario[s];
        assert_int_equal(x->n_rows, y->n_rows);
        assert_int_equal(x->n_distinct, y->n_distinct);
        assert_int_equal(x->best, y->best);
        for (int64_t i = 0; i < x->n_rows; i++) assert_same_row(&x->row[i], &y->row[i]);
        asked += x->n_evaluated;
        left += y->n_evaluated;
        *n_rows += x->n_rows;
    }
    return (double)asked / (double)left;
}

#define WIDE_LINKS "hardware.links.pe.bandwidth={from: 1 GB/s, to: 1024 GB/s, factor: 2}"
#define WIDE_NEIGHBOURS "hardware.links.d2d.bandwidth={from: 1 GB/s, to: 1024 GB/s, factor: 2}"
#define WIDE_BYTES "hardware.pe.hbm_bandwidth={from: 16 GB/s, to: 8192 GB/s, factor: 2}"
#define WIDE_RATES "hardware.pe.flops={from: 1 TFLOP/s, to: 512 TFLOP/s, factor: 2}"
#define PRICES "hardware.cost.tb_per_s=[10, 20, 50, 100, 200, 500]"
#define ENERGIES "hardware.energy.hbm_byte={from: 5 pJ, to: 50 pJ, step: 5 pJ}"

/* Each with the factor by which a pruned search asks fewer candidates at least; 0 = the study is too small to tell. */
static const struct pruned_case { struct study_case of; double least; int64_t fewest_rows; } pruned_cases[] = {
    {{"decode", {NULL}}, 0, 5},
    {{"decode", {"objectives=[latency, cost, energy_per_token]", "limits={latency: 1 ms, pes: 24, power: 60}"}}, 0, 5},
    {{"decode", {"objectives=[pes, cost_per_token]"}}, 0, 1},
    {{"decode", {"objectives=[efficiency, latency]", ENERGIES}}, 0, 3},
    {{"decode", {"objectives=[power, latency, cost]", "limits={hbm_utilization: 75%, cost: 1000}"}}, 0, 5},
    {{"prefill", {NULL}}, 0, 5},
    {{"prefill", {"objectives=[latency, pes, throughput, power]"}}, 0, 10},
    {{"prefill", {"objectives=[energy_per_token, interactivity]", WIDE_RATES}}, 0, 2},
    {{"prefill", {"objectives=[cost_per_token, power, efficiency]", "limits={sips: 2, throughput_per_pe: 1000}"}}, 0, 3},
    {{"prefill", {"objectives=[latency, cubes, sips]", WIDE_LINKS}}, 0, 2},
    {{"serve", {NULL}}, 0, 3},
    {{"serve", {"objectives=[throughput, cost_per_token, energy_per_token, power]"}}, 0, 5},
    {{"serve", {"objectives=[efficiency, pes]", "limits={interactivity: 500, efficiency: 1%}"}}, 0, 2},
    {{"serve", {"objectives=[cost, throughput]", PRICES}}, 0, 3},
    {{"serve", {"objectives=[energy_per_token, latency, cost]", ENERGIES, "hardware.energy.idle=[0, 1, 2, 4]"}}, 0, 5},
    {{"grid", {NULL}}, 0, 10},
    {{"grid", {WIDE_NEIGHBOURS, WIDE_LINKS, WIDE_RATES, WIDE_BYTES}}, 10, 10},
    {{"grid", {"objectives=[throughput_per_pe, interactivity]", "limits={cost: 3000}", WIDE_LINKS, WIDE_RATES}}, 10, 2},
    {{"grid", {"objectives=[latency, cost, energy_per_token]", ENERGIES, WIDE_LINKS}}, 0, 10},
    {{"grid", {"objectives=[efficiency, cost]", WIDE_LINKS, WIDE_RATES, "limits={latency: 200 us}"}}, 5, 2},
    {{"grid", {"objectives=[cost_per_token, power]", PRICES, WIDE_RATES, WIDE_LINKS}}, 0, 2},
    {{"grid", {"objectives=[latency, cost_per_token, pes]", WIDE_RATES, WIDE_LINKS, "limits={hbm_utilization: 4%}"}}, 10, 2},
    {{"grid", {"limits={latency: 1 ns}"}}, 0, 0},
};

static void rows_are_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pruned_cases / sizeof pruned_cases[0]; i++) {
        const struct pruned_case *const c = &pruned_cases[i];
        struct study study;
        int64_t n_rows;
        read_study(&study, &c->of);
        study.sensitivity = (struct sensitivity){0};
        study.population = (struct population){0};
        study.joint.wanted = false;
        const double factor = check_study(&study, &n_rows);
        if (factor < c->least) fail_msg("%s, case %zu: only %.1f times fewer", c->of.name, i, factor);
        assert_true(n_rows >= c->fewest_rows);
        arena_free(&arena);
    }
}

/* ---- corners ------------------------------------------------------------------------------------------------------ */

enum { N_WORK = 7, N_WIRE = 6, N_STORE = 3, N_STEPS = N_WORK * N_WIRE };

struct machines {
    struct demand demand;
    struct work_rates work;
    struct wire_rates wire;
    struct store_rates store;
    struct times times;
};

/* Every rate, price and fixed time of a machine times a factor of its own. */
static struct hardware scattered(const struct hardware *of)
{
    double value[N_HARDWARE_KNOBS];
    struct hardware out;
    memcpy(value, of, sizeof value);
    for (int k = 0; k < N_HARDWARE_KNOBS; k++) {
        if (hardware_knob[k].group == GROUP_STRUCTURE) continue;
        value[k] *= hardware_knob[k].dimension == DIM_FRACTION ? PICK(0.3, 0.7, 1) : PICK(0, 0.03, 0.5, 1, 1, 3, 40);
        if (value[k] < hardware_knob[k].low) value[k] = ((const double *)of)[k];
    }
    memcpy(&out, value, sizeof out);
    return out;
}

static void scatter(struct machines *m, const struct random_candidate *c)
{
    m->demand = c->demand;
    for (int row = 0; row < N_WORK; row++) { /* the longest table */
        const struct hardware hardware = scattered(&c->hardware);
        work_rates_set(&m->work, row, &hardware, c->scenario.compute);
        if (row < N_WIRE) wire_rates_set(&m->wire, row, &hardware);
        if (row < N_STORE) store_rates_set(&m->store, row, &hardware);
    }
    evaluate_work(&m->times, &m->demand, &m->work);
    evaluate_wire(&m->times, &m->demand, &m->wire);
}

struct box { int work_from, work_to, wire_from, wire_to; bool fits[N_STORE]; };

static struct box random_box(bool is_one_machine)
{
    struct box box = {.work_from = random_below(N_WORK), .wire_from = random_below(N_WIRE)};
    const int store = random_below(N_STORE);
    box.work_to = is_one_machine ? box.work_from + 1 : box.work_from + 1 + random_below(N_WORK - box.work_from);
    box.wire_to = is_one_machine ? box.wire_from + 1 : box.wire_from + 1 + random_below(N_WIRE - box.wire_from);
    for (int k = 0; k < N_STORE; k++) box.fits[k] = k == store || (!is_one_machine && random_below(2));
    return box;
}

static void assert_bound(enum metric metric, double value, double bound, bool is_one_machine)
{
    const bool holds = metric_facts[metric].better == BETTER_HIGH ? value <= bound : value >= bound;
    if (!holds) fail_msg("%s: %.17g is better than the bound %.17g", metric_facts[metric].name, value, bound);
    if (!is_one_machine || value == bound) return;
    if (metric != METRIC_POWER || !(fabs(value / bound - 1.0) < 1e-12)) /* which keeps a margin for its rounding */
        fail_msg("%s of one machine: %.17g, bound %.17g", metric_facts[metric].name, value, bound);
}

static void hold_box(const struct machines *m, const struct box *box, bool is_one_machine)
{
    static struct work_extents work;
    static struct wire_extents wire;
    struct store_extents store;
    bound_work(&work, &m->demand, &m->times, &m->work, box->work_from, box->work_to);
    bound_wire(&wire, &m->demand, &m->times, box->wire_from, box->wire_to);
    bound_store(&store, &m->store, box->fits);
    const struct extent step = bound_step(&m->demand, &work, &wire);
    for (int i = box->work_from; i < box->work_to; i++) {
        double step_s[N_WIRE], value[N_WIRE];
        const struct slice slice = {&m->demand, &m->times, &m->work, &m->wire, &m->store, true, i, N_WIRE};
        evaluate_step(step_s, &slice);
        for (int metric = 0; metric < N_METRICS; metric++) {
            const double bound = bound_metric((enum metric)metric, &m->demand, &work, &wire, &store, step);
            for (int k = 0; k < N_STORE; k++) {
                if (!box->fits[k]) continue;
                evaluate_metric(value, (enum metric)metric, &slice, k, step_s);
                for (int j = box->wire_from; j < box->wire_to; j++)
                    assert_bound((enum metric)metric, value[j], bound, is_one_machine);
            }
        }
        for (int j = box->wire_from; j < box->wire_to; j++) assert_true(step_s[j] >= step.low && step_s[j] <= step.high);
    }
}

static void no_machine_passes_a_corner(void **state)
{
    static struct random_candidate c;
    static struct machines m;
    (void)state;
    int n_rings = 0;
    random_state = 7;
    work_rates_init(&m.work, N_WORK, &arena);
    wire_rates_init(&m.wire, N_WIRE, &arena);
    store_rates_init(&m.store, N_STORE, &arena);
    times_init(&m.times, MAX_FORMS, N_WORK, N_WIRE, &arena);
    for (int i = 0; i < 3000; i++) {
        random_candidate(&c);
        scatter(&m, &c);
        n_rings += m.demand.ring[0].n_hops > 0.0;
        for (int b = 0; b < 8; b++) {
            const struct box box = random_box(b >= 6);
            hold_box(&m, &box, b >= 6);
        }
    }
    assert_true(n_rings > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(rows_are_the_same, stop),
        cmocka_unit_test_teardown(no_machine_passes_a_corner, stop),
    };
    return cmocka_run_group_tests_name("pruned", tests, NULL, NULL);
}
