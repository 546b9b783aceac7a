/* properties: what must hold of every candidate, whatever its numbers are; on thousands of random ones over all families,
 * phases and plans.  The seed is fixed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "random_candidates.h"

static const double rounding = 1e-12;

static const struct explanation *explain(const struct demand *demand, const struct hardware *hardware, enum dtype compute)
{
    static struct explanation explanation;
    explain_candidate(&explanation, demand, hardware, compute);
    return &explanation;
}

static void assert_near(double got, double expected)
{
    if (!(fabs(got - expected) <= rounding * fabs(expected))) fail_msg("%.17g, not %.17g", got, expected);
}

/* ---- rates ------------------------------------------------------------------------------------------------------- */

/* Rates are doubled, times halved, by a knob's factor. */
static const struct { enum hardware_knob knob; double factor; } better[] = {
    {HW_flops, 2},          {HW_fp8_ratio, 2},       {HW_vector_flops, 2},       {HW_hbm_bandwidth, 2},
    {HW_pe_bandwidth, 2},   {HW_d2d_bandwidth, 2},   {HW_c2c_bandwidth, 2},      {HW_pe_latency, 0.5},
    {HW_d2d_latency, 0.5},  {HW_c2c_latency, 0.5},   {HW_kernel_overhead, 0.5},  {HW_attention_overhead, 0.5},
    {HW_step_overhead, 0.5}, {HW_pe_collective_overhead, 0.5}, {HW_d2d_collective_overhead, 0.5},
    {HW_c2c_collective_overhead, 0.5}, {HW_gemm_efficiency, 2}, {HW_attention_efficiency, 2}, {HW_hbm_efficiency, 2},
    {HW_kv_efficiency, 2},  {HW_pe_link_efficiency, 2}, {HW_d2d_link_efficiency, 2}, {HW_c2c_link_efficiency, 2},
};
enum { N_BETTER = sizeof better / sizeof better[0] };

static void scale_knob(struct hardware *hardware, enum hardware_knob knob, double factor)
{
    double value[N_HARDWARE_KNOBS];
    memcpy(value, hardware, sizeof value);
    value[knob] *= factor;
    memcpy(hardware, value, sizeof value);
}

static void better_rates_never_hurt(void **state)
{
    static struct random_candidate c;
    int n_faster[N_BETTER] = {0};
    (void)state;
    random_state = 1;
    for (int i = 0; i < 2000; i++) {
        random_candidate(&c);
        c.hardware.step_overhead = 1e-6;
        const double before_s = explain(&c.demand, &c.hardware, c.scenario.compute)->step_s;
        for (int k = 0; k < N_BETTER; k++) {
            struct hardware faster = c.hardware;
            scale_knob(&faster, better[k].knob, better[k].factor);
            const double after_s = explain(&c.demand, &faster, c.scenario.compute)->step_s;
            if (after_s > before_s * (1 + rounding))
                fail_msg("candidate %d: %s: %.17g s becomes %.17g s", i, hardware_knob[better[k].knob].path, before_s,
                         after_s);
            n_faster[k] += after_s < before_s;
        }
    }
    for (int k = 0; k < N_BETTER; k++) /* and each matters somewhere */
        if (n_faster[k] < 50) fail_msg("%s helped %d of 2000", hardware_knob[better[k].knob].path, n_faster[k]);
}

/* All rates doubled and all times halved halve the step, to the bit. */
static void time_scales(void **state)
{
    static const enum hardware_knob rates[] = {HW_flops,         HW_vector_flops,  HW_hbm_bandwidth,
                                               HW_pe_bandwidth,  HW_d2d_bandwidth, HW_c2c_bandwidth};
    static const enum hardware_knob times[] = {
        HW_pe_latency,      HW_d2d_latency,        HW_c2c_latency,
        HW_kernel_overhead, HW_attention_overhead, HW_step_overhead,
        HW_pe_collective_overhead, HW_d2d_collective_overhead, HW_c2c_collective_overhead};
    static struct random_candidate c;
    (void)state;
    random_state = 2;
    for (int i = 0; i < 1000; i++) {
        random_candidate(&c);
        struct hardware faster = c.hardware;
        for (size_t k = 0; k < sizeof rates / sizeof rates[0]; k++) scale_knob(&faster, rates[k], 2);
        for (size_t k = 0; k < sizeof times / sizeof times[0]; k++) scale_knob(&faster, times[k], 0.5);
        const double before_s = explain(&c.demand, &c.hardware, c.scenario.compute)->step_s;
        assert_true(explain(&c.demand, &faster, c.scenario.compute)->step_s == before_s / 2);
    }
}

static void efficiency_is_a_share(void **state)
{
    static struct random_candidate c;
    double highest = 0.0;
    (void)state;
    random_state = 3;
    for (int i = 0; i < 5000; i++) {
        random_candidate(&c);
        if (i % 2) { /* as ideal as a machine can be */
            c.plan = plan_of_ones;
            c.hardware.gemm_efficiency = c.hardware.attention_efficiency = 1.0;
            c.hardware.hbm_efficiency = c.hardware.kv_efficiency = 1.0;
            c.hardware.kernel_overhead = c.hardware.attention_overhead = 0.0;
            c.hardware.pes_per_cube = c.hardware.cubes_per_sip = 1.0;
            lower(&c.demand, &c.scenario, &c.plan, &c.hardware);
        }
        const double efficiency = explain(&c.demand, &c.hardware, c.scenario.compute)->metric[METRIC_EFFICIENCY];
        if (!(efficiency > 0.0 && efficiency <= 1.0 + rounding)) fail_msg("candidate %d: %.17g", i, efficiency);
        highest = efficiency > highest ? efficiency : highest;
    }
    assert_true(highest > 0.95);
}

/* The machine's own work grows as the sequences do, up to the most that a plan may have. */
static void own_work_grows_with_sequences(void **state)
{
    static struct random_candidate c;
    (void)state;
    random_state = 14;
    for (int i = 0; i < 200; i++) {
        random_candidate(&c);
        c.scenario.past_tokens = 1000000000;
        c.plan = plan_of_ones;
        c.plan.batch = 1000000;
        lower(&c.demand, &c.scenario, &c.plan, &c.hardware);
        const double flop = c.demand.own_flop;
        c.plan.dp = 65536;
        lower(&c.demand, &c.scenario, &c.plan, &c.hardware);
        assert_near(c.demand.own_flop, 65536.0 * flop);
    }
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Weights the latency model stores: all parameters but the last norm and MLA's own. */
static double stored_parameters(const struct model *model)
{
    const double mla_norms = (double)(model->layers * (model->mla.q_rank + model->mla.kv_rank));
    return model_parameters(model) - (double)model->hidden - mla_norms;
}

static void every_weight_is_somewhere(void **state)
{
    static struct random_candidate c;
    (void)state;
    random_state = 4;
    for (int i = 0; i < 4000; i++) {
        random_candidate(&c);
        c.plan.pp = 1; /* else the fullest stage stands for all, and it may be full of KV */
        lower(&c.demand, &c.scenario, &c.plan, &c.hardware);
        const double whole = stored_parameters(&c.scenario.model) * c.scenario.weight_bytes;
        const double ranks = (double)(c.plan.tp * c.plan.cp * c.plan.dp);
        if (ranks * c.demand.weight_bytes < whole * (1 - rounding))
            fail_msg("candidate %d: %.17g bytes on %g PEs of %.17g", i, c.demand.weight_bytes, ranks, whole);
        const bool padded = c.scenario.model.heads % c.scenario.model.kv_heads != 0; /* heads beside their KV head */
        if (ranks == 1.0 && !padded) assert_near(c.demand.weight_bytes, whole);
    }
}

/* A dense model all of whose sizes 8 divides, with as many KV heads. */
static void divisible_dense(struct random_candidate *c)
{
    do random_candidate(c);
    while (c->scenario.model.mla.kv_rank > 0 || c->scenario.model.moe.experts > 0);
    struct model *const model = &c->scenario.model;
    model->heads = 32;
    model->kv_heads = PICK_WHOLE(8, 16, 32);
    model->vocab = 32000;
    model->hidden = 4096;
    c->plan.pp = c->plan.cp = c->plan.dp = 1;
    c->plan.tp = PICK_WHOLE(1, 2, 4);
    plan_pin(&c->plan, &c->scenario);
}

static void tp_divides_all_but_norms(void **state)
{
    static struct random_candidate c;
    (void)state;
    random_state = 5;
    for (int i = 0; i < 1000; i++) {
        divisible_dense(&c);
        lower(&c.demand, &c.scenario, &c.plan, &c.hardware);
        const double norms = (double)(c.plan.tp - 1) * 2.0 * (double)(c.scenario.model.hidden * c.scenario.model.layers);
        assert_near((double)c.plan.tp * c.demand.weight_bytes,
                    (stored_parameters(&c.scenario.model) + norms) * c.scenario.weight_bytes);
    }
}

static double total_bytes(const struct demand *demand)
{
    return demand->weight_bytes + demand->kv_bytes + demand->activation_bytes;
}

static void more_tp_never_takes_more_memory(void **state)
{
    static struct random_candidate c;
    (void)state;
    random_state = 6;
    for (int i = 0; i < 1000; i++) {
        double before = INFINITY;
        divisible_dense(&c);
        c.scenario.model.kv_heads = PICK_WHOLE(1, 2, 8, 32);
        const int64_t kv_mode = random_below(3);
        for (c.plan.tp = 1; c.plan.tp <= 32; c.plan.tp *= 2) {
            c.plan.kv_mode = kv_mode;
            plan_pin(&c.plan, &c.scenario);
            lower(&c.demand, &c.scenario, &c.plan, &c.hardware);
            assert_true(total_bytes(&c.demand) <= before);
            before = total_bytes(&c.demand);
        }
    }
}

/* ---- wires ------------------------------------------------------------------------------------------------------- */

static void one_pe_talks_to_nobody(void **state)
{
    static struct random_candidate c;
    (void)state;
    random_state = 7;
    for (int i = 0; i < 1000; i++) {
        random_candidate(&c);
        const int64_t batch = c.plan.batch;
        c.plan = plan_of_ones;
        c.plan.batch = batch;
        lower(&c.demand, &c.scenario, &c.plan, &c.hardware);
        const struct explanation *const e = explain(&c.demand, &c.hardware, c.scenario.compute);
        for (int l = 0; l < N_LEVELS; l++)
            assert_true(c.demand.wire_bytes[l] == 0.0 && c.demand.energy_wire_bytes[l] == 0.0);
        for (int r = 0; r < c.demand.n_rows; r++) assert_true(e->stage[r].exchange_s == 0.0);
        assert_true(e->hop_s == 0.0);
        assert_near(e->step_s, e->layers_s + e->edges_s + c.hardware.step_overhead);
    }
}

static void no_bytes_on_levels_that_nothing_spans(void **state)
{
    static struct random_candidate c;
    int n_idle[N_LEVELS] = {0}, n_busy[N_LEVELS] = {0};
    (void)state;
    random_state = 8;
    for (int i = 0; i < 3000; i++) {
        random_candidate(&c);
        for (int l = 0; l < N_LEVELS; l++) {
            bool spanned = false;
            for (int a = 0; a < N_AXES; a++) spanned |= c.layout.span[a][l] > 1;
            n_idle[l] += !spanned;
            n_busy[l] += c.demand.wire_bytes[l] > 0.0;
            assert_true(spanned || (c.demand.wire_bytes[l] == 0.0 && c.demand.energy_wire_bytes[l] == 0.0));
            assert_true(c.demand.wire_bytes[l] >= 0.0 && isfinite(c.demand.wire_bytes[l]));
        }
    }
    for (int l = 0; l < N_LEVELS; l++) assert_true(n_idle[l] > 100 && n_busy[l] > 100);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* No pipeline stage is done before its layers are, once for each micro-batch; and a token visits all stages. */
static void steps_are_no_shorter_than_their_parts(void **state)
{
    static struct random_candidate c;
    (void)state;
    random_state = 9;
    for (int i = 0; i < 3000; i++) {
        random_candidate(&c);
        const struct model *const model = &c.scenario.model;
        const struct explanation *const e = explain(&c.demand, &c.hardware, c.scenario.compute);
        double kind_s[MAX_KINDS] = {0.0};
        for (int r = 0; r < c.demand.n_rows; r++)
            if (c.demand.row[r].part < MAX_KINDS) kind_s[c.demand.row[r].part] += e->stage[r].time_s;
        const int64_t per_stage = (model->layers + c.plan.pp - 1) / c.plan.pp;
        const int64_t stages = c.plan.pp < c.plan.batch ? c.plan.pp : c.plan.batch;
        const int64_t b = (c.plan.batch + stages - 1) / stages, passes = (c.plan.batch + b - 1) / b;
        for (int64_t from = 0; from < model->layers; from += per_stage) {
            double stage_s = 0.0;
            for (int64_t l = from; l < from + per_stage && l < model->layers; l++) stage_s += kind_s[model->layer_kind[l]];
            assert_true(e->step_s >= (double)passes * stage_s * (1 - rounding));
        }
        assert_true(e->step_s >= (e->layers_s + e->edges_s) * (1 - rounding));
    }
}

static void more_context_never_helps(void **state)
{
    static struct random_candidate c;
    static struct demand longer;
    (void)state;
    random_state = 10;
    for (int i = 0; i < 2000; i++) {
        random_candidate(&c);
        if (c.scenario.phase == PHASE_SERVE) continue;
        c.scenario.past_tokens = 2 * c.scenario.past_tokens + 1;
        lower(&longer, &c.scenario, &c.plan, &c.hardware);
        const double before_s = explain(&c.demand, &c.hardware, c.scenario.compute)->step_s;
        assert_true(explain(&longer, &c.hardware, c.scenario.compute)->step_s >= before_s * (1 - rounding));
        assert_true(longer.weight_bytes + longer.kv_bytes >= c.demand.weight_bytes + c.demand.kv_bytes);
    }
}

/* What else a thread has lowered, and what things are called, changes nothing. */
static void nothing_depends_on_names_or_history(void **state)
{
    static struct random_candidate c;
    static struct lowering lowering;
    static struct demand again;
    double metric[N_METRICS];
    (void)state;
    random_state = 11;
    for (int i = 0; i < 1000; i++) {
        random_candidate(&c);
        memcpy(metric, explain(&c.demand, &c.hardware, c.scenario.compute)->metric, sizeof metric);
        memset(c.scenario.name, 'x', sizeof c.scenario.name - 1);
        memset(c.scenario.model.name, 'y', sizeof c.scenario.model.name - 1);
        const struct fabric fabric = fabric_of(&c.hardware);
        lower_init(&lowering, &c.scenario);
        for (int other = 0; other < 5; other++) {
            const struct plan plan = random_plan(&c.scenario);
            const struct hardware hardware = random_machine();
            const struct fabric other_fabric = fabric_of(&hardware);
            lower_set_fabric(&lowering, &other_fabric);
            lower_plan(&again, &lowering, &plan);
        }
        lower_set_fabric(&lowering, &fabric);
        lower_plan(&again, &lowering, &c.plan);
        assert_memory_equal(metric, explain(&again, &c.hardware, c.scenario.compute)->metric, sizeof metric);
    }
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

/* FLOP of that stage's first row, of the slowest rank and the mean one, in tiles of so many rows. */
static double flop_in_tiles(struct random_candidate *c, enum stage stage, int64_t rows)
{
    c->hardware.gemm_tile_rows = (double)rows;
    lower(&c->demand, &c->scenario, &c->plan, &c->hardware);
    for (int r = 0; r < c->demand.n_rows; r++)
        if (c->demand.row[r].stage == stage) return c->demand.row[r].flop + c->demand.row[r].mean_flop;
    fail_msg("no row of %s", stage_name[stage]);
    return 0.0;
}

/* Tokens of `serve` are fractions whose sum may be a hair above the whole number that it is: no tile is begun for that. */
static void whole_tiles_hold_no_padding(void **state)
{
    static struct random_candidate c;
    (void)state;
    random_state = 12;
    for (int i = 0; i < 5000; i++) {
        do random_candidate(&c);
        while (c.scenario.phase != PHASE_SERVE);
        const int64_t rows = PICK_WHOLE(2, 3, 16, 64), batch = 2 + random_below(300);
        const int64_t tokens = rows * (batch + random_below(99));
        c.plan.pp = 1;
        c.plan.batch = c.scenario.answer_tokens = batch;
        c.scenario.prompt_tokens = tokens - batch;
        const double whole = flop_in_tiles(&c, STAGE_O_PROJ, 1), tiled = flop_in_tiles(&c, STAGE_O_PROJ, rows);
        if (fabs(tiled - whole) > rounding * whole) fail_msg("%d tokens in tiles of %d", (int)tokens, (int)rows);
    }
}

/* Every expert gets a multiple of 64 pairs, or three times as many where it is hot, wherever it is. */
static void whole_tiles_of_experts_hold_no_padding(void **state)
{
    static struct random_candidate c;
    struct errors errors = {0};
    (void)state;
    random_state = 13;
    do random_candidate(&c);
    while (c.scenario.model.moe.experts == 0);
    struct model *const model = &c.scenario.model;
    c.scenario.phase = PHASE_PREFILL;
    c.scenario.past_tokens = 0;
    c.scenario.imbalance_factor = 3.0;
    model->moe.per_token = 2;
    model->moe.dense_layers = 0;
    model->moe.period = 1;
    model->moe.shared_ffn = 0;
    c.plan = plan_of_ones;
    for (int i = 0; i < 2000; i++) {
        model->moe.experts = PICK_WHOLE(60, 64, 96, 160, 384);
        c.scenario.new_tokens = 32 * model->moe.experts * PICK_WHOLE(1, 3, 5, 7, 11);
        c.scenario.imbalance = random_below(2) ? IMBALANCE_UNIFORM : IMBALANCE_FACTOR;
        c.plan.tp = c.plan.ep = 3 + random_below(58);
        if (random_below(5) == 0) c.plan.ep = 1;
        assert_int_equal(model_finish(model, NULL, &errors, "test", 0), 0);
        const double whole = flop_in_tiles(&c, STAGE_GATE_UP, 1);
        assert_near(flop_in_tiles(&c, STAGE_GATE_UP, 64), whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(better_rates_never_hurt),
        cmocka_unit_test(time_scales),
        cmocka_unit_test(efficiency_is_a_share),
        cmocka_unit_test(own_work_grows_with_sequences),
        cmocka_unit_test(every_weight_is_somewhere),
        cmocka_unit_test(tp_divides_all_but_norms),
        cmocka_unit_test(more_tp_never_takes_more_memory),
        cmocka_unit_test(one_pe_talks_to_nobody),
        cmocka_unit_test(no_bytes_on_levels_that_nothing_spans),
        cmocka_unit_test(steps_are_no_shorter_than_their_parts),
        cmocka_unit_test(more_context_never_helps),
        cmocka_unit_test(nothing_depends_on_names_or_history),
        cmocka_unit_test(whole_tiles_hold_no_padding),
        cmocka_unit_test(whole_tiles_of_experts_hold_no_padding),
    };
    return cmocka_run_group_tests_name("properties", tests, NULL, NULL);
}
