/* Random candidates over all families, phases and plans, for tests.  The same seed gives the same ones. */
#ifndef COSWEEP_TESTS_RANDOM_CANDIDATES_H
#define COSWEEP_TESTS_RANDOM_CANDIDATES_H

#include "cosweep/evaluate.h"
#include "cosweep/lower.h"

static uint64_t random_state;

/* splitmix64 [Steele, Lea and Flood 2014] */
static uint64_t random_bits(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static int random_below(int n)
{
    return (int)(random_bits() % (uint64_t)n);
}

static double pick_number(const double *value, size_t n)
{
    return value[random_below((int)n)];
}
#define PICK(...) pick_number((const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))
#define PICK_WHOLE(...) ((int64_t)PICK(__VA_ARGS__))

enum family { MHA, GQA, MQA, MLA, N_FAMILIES };

static struct model random_model(enum family family)
{
    struct errors errors = {0};
    struct model m = {.layers = 1 + random_below(40),
                      .hidden = PICK_WHOLE(512, 1024, 3000, 4096),
                      .heads = PICK_WHOLE(8, 12, 16, 24, 32, 71),
                      .head_dim = PICK_WHOLE(64, 80, 128),
                      .ffn = PICK_WHOLE(1024, 4096, 5632, 14336),
                      .vocab = PICK_WHOLE(1000, 32000, 50257),
                      .gated = random_below(4) > 0,
                      .tied = random_below(2),
                      .parallel_block = random_below(3) == 0};
    m.kv_heads = family == MQA ? 1 : family == GQA ? PICK_WHOLE(2, 4, 8) : m.heads;
    if (family == MLA) {
        m.mla.q_rank = PICK_WHOLE(0, 768);
        m.mla.kv_rank = PICK_WHOLE(256, 512);
        m.mla.nope_dim = 128;
        m.mla.rope_dim = PICK_WHOLE(32, 64);
        m.mla.v_dim = PICK_WHOLE(64, 128);
    }
    if (m.layers > 4 && random_below(2)) {
        m.moe.experts = PICK_WHOLE(4, 8, 60, 128);
        m.moe.per_token = PICK_WHOLE(1, 2, 4);
        m.moe.ffn = PICK_WHOLE(768, 1408);
        m.moe.shared_ffn = PICK_WHOLE(0, 0, 1408);
        m.moe.dense_layers = PICK_WHOLE(0, 1, 3);
        m.moe.period = PICK_WHOLE(1, 1, 2);
    }
    if (random_below(3) == 0) {
        m.window.tokens = PICK_WHOLE(100, 1024, 4096);
        m.window.global_every = PICK_WHOLE(0, 2, 6);
    }
    assert_int_equal(model_finish(&m, NULL, &errors, "test", 0), 0);
    return m;
}

static struct scenario random_scenario(void)
{
    struct scenario s = {.phase = (enum phase)random_below(3),
                         .new_tokens = PICK_WHOLE(1, 1, 2, 4),
                         .past_tokens = PICK_WHOLE(0, 127, 1000, 8191, 100000),
                         .weight_bytes = PICK(2, 1, 0.5),
                         .kv_bytes = PICK(2, 1),
                         .activation_bytes = PICK(2, 1),
                         .compute = random_below(2) ? DTYPE_FP8 : DTYPE_BF16,
                         .accepted_tokens = 1.0,
                         .imbalance = (enum imbalance)random_below(3),
                         .imbalance_factor = PICK(1, 1.25, 3)};
    s.model = random_model((enum family)random_below(N_FAMILIES));
    if (s.phase == PHASE_PREFILL) s.new_tokens = PICK_WHOLE(1, 100, 1000, 8192);
    if (s.phase == PHASE_DECODE && s.new_tokens > 1) s.accepted_tokens = 1.5;
    if (s.phase != PHASE_SERVE) return s;
    s.new_tokens = 1;
    s.past_tokens = 0;
    s.prompt_tokens = PICK_WHOLE(1, 512, 4000);
    s.answer_tokens = PICK_WHOLE(1, 100, 1001);
    s.prompt_chunk = PICK_WHOLE(0, 1, 64, 8192);
    return s;
}

/* Any valid plan, pinned. */
static struct plan random_plan(const struct scenario *scenario)
{
    for (;;) {
        struct plan plan = {.tp = PICK_WHOLE(1, 1, 2, 3, 4, 8, 12, 16, 32),
                            .cp = PICK_WHOLE(1, 1, 1, 2, 3, 4, 8),
                            .pp = PICK_WHOLE(1, 1, 1, 2, 3, 4, 8),
                            .dp = PICK_WHOLE(1, 1, 2, 3, 4),
                            .ep = scenario->model.moe.experts > 0 ? PICK_WHOLE(1, 2, 3, 4, 8) : 1,
                            .batch = PICK_WHOLE(1, 2, 3, 8, 32),
                            .tp_placement = random_below(2),
                            .cp_placement = random_below(2),
                            .ring = random_below(2),
                            .kv_mode = random_below(3),
                            .attention_scope = random_below(2),
                            .ffn_scope = random_below(3),
                            .moe_exchange = random_below(2)};
        plan_pin(&plan, scenario);
        if (plan_check(&plan, scenario) == REASON_NONE) return plan;
    }
}

static struct hardware random_machine(void)
{
    struct hardware h = {0};
    struct errors errors = {0};
    assert_int_equal(hardware_by_name(&h, "sip", &errors, "test", 0), 0); /* prices and energies */
    h.pes_per_cube = PICK(1, 2, 4, 6, 8, 72);
    h.cubes_per_sip = PICK(1, 2, 3, 4);
    h.allocation = random_below(3);
    h.pe_topology = random_below(6);
    h.d2d_topology = random_below(6);
    h.c2c_topology = random_below(6);
    h.gemm_tile_rows = PICK(1, 1, 16);
    h.gemm_tile_columns = PICK(1, 1, 128);
    h.gemm_tile_reduction = PICK(1, 1, 64);
    h.attention_query_tile = PICK(1, 128, 1024);
    h.gqa_reuse = random_below(2);
    h.flops = PICK(1e12, 32e12, 989e12);
    h.vector_flops = h.flops / PICK(8, 64, 1000);
    h.hbm_bandwidth = PICK(256e9, 1e12, 8e12);
    h.pe_bandwidth = PICK(1e9, 64e9, 900e9);
    h.d2d_bandwidth = PICK(1e9, 64e9, 900e9);
    h.c2c_bandwidth = PICK(1e9, 64e9, 900e9);
    h.pe_latency = PICK(1e-9, 1e-7, 1e-5);
    h.d2d_latency = PICK(1e-8, 1e-6);
    h.c2c_latency = PICK(1e-7, 1e-5);
    h.gemm_efficiency = PICK(0.5, 0.8, 1);
    h.attention_efficiency = PICK(0.5, 0.8, 1);
    h.hbm_efficiency = PICK(0.5, 0.8, 1);
    h.kv_efficiency = PICK(0.5, 0.8, 1);
    return h;
}

struct random_candidate {
    struct scenario scenario;
    struct plan plan; /* pinned */
    struct hardware hardware;
    struct layout layout;
    struct demand demand;
};

static void lower(struct demand *demand, const struct scenario *scenario, const struct plan *plan,
                  const struct hardware *hardware)
{
    static struct lowering lowering;
    const struct fabric fabric = fabric_of(hardware);
    lower_init(&lowering, scenario);
    lower_set_fabric(&lowering, &fabric);
    lower_plan(demand, &lowering, plan);
}

static void random_candidate(struct random_candidate *c)
{
    c->scenario = random_scenario();
    c->plan = random_plan(&c->scenario);
    c->hardware = random_machine();
    const struct fabric fabric = fabric_of(&c->hardware);
    plan_layout(&c->layout, &c->plan, &fabric);
    lower(&c->demand, &c->scenario, &c->plan, &c->hardware);
}

#endif
