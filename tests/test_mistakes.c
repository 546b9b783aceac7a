/* mistakes: what models of LLM serving get wrong, one test each, on public models and machines; every number here is known
 * from outside the model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "cosweep/evaluate.h"
#include "cosweep/lower.h"

/* ---- one model on one machine ------------------------------------------------------------------------------------ */

/* Everything in bf16. */
static struct scenario work(const char *model, enum phase phase, int64_t new_tokens, int64_t past_tokens)
{
    struct errors errors = {0};
    struct scenario scenario = {.phase = phase,
                                .new_tokens = new_tokens,
                                .past_tokens = past_tokens,
                                .weight_bytes = 2.0,
                                .kv_bytes = 2.0,
                                .activation_bytes = 2.0,
                                .compute = DTYPE_BF16,
                                .accepted_tokens = 1.0};
    if (model_by_name(&scenario.model, model, &errors, "test", 0) != 0) fail_msg("no model %s", model);
    return scenario;
}

static struct hardware machine(const char *name)
{
    struct errors errors = {0};
    struct hardware hardware;
    if (hardware_by_name(&hardware, name, &errors, "test", 0) != 0) fail_msg("no machine %s", name);
    return hardware;
}

/* The demand of a plan on nodes of eight H100; valid until the next call. */
static const struct demand *demand_of(const struct scenario *scenario, const struct plan *plan)
{
    static struct lowering lowering;
    static struct demand demand;
    const struct hardware h100 = machine("h100");
    const struct fabric fabric = fabric_of(&h100);
    struct plan pinned = *plan;
    plan_pin(&pinned, scenario);
    assert_int_equal(plan_check(&pinned, scenario), REASON_NONE);
    lower_init(&lowering, scenario);
    lower_set_fabric(&lowering, &fabric);
    lower_plan(&demand, &lowering, &pinned);
    return &demand;
}

static double latency_of(const struct scenario *scenario, const struct plan *plan)
{
    static struct explanation explanation;
    const struct hardware h100 = machine("h100");
    explain_candidate(&explanation, demand_of(scenario, plan), &h100, scenario->compute);
    return explanation.metric[METRIC_LATENCY];
}

/* The first row of a stage in layers with that window and MoE or not; any edge. */
static const struct stage_row *row_of(const struct demand *demand, enum stage stage, int64_t window, bool moe)
{
    for (int r = 0; r < demand->n_rows; r++) {
        const struct stage_row *const row = &demand->row[r];
        if (row->stage != stage) continue;
        if (row->part >= MAX_KINDS) return row;
        if (demand->kind[row->part].window_tokens == window && demand->kind[row->part].moe == moe) return row;
    }
    fail_msg("no row of %s", stage_name[stage]);
    return NULL;
}

static struct plan degrees(int64_t tp, int64_t cp, int64_t pp, int64_t dp)
{
    return (struct plan){.tp = tp, .cp = cp, .pp = pp, .dp = dp, .ep = 1, .batch = 1};
}

static void assert_number(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-12 * fabs(expected))) fail_msg("%.17g, not %.17g", got, expected);
}

/* KV bytes of one token of context on one PE. */
static double kv_bytes_per_token(const char *model, const struct plan *plan)
{
    const struct scenario scenario = work(model, PHASE_DECODE, 1, 8191);
    return demand_of(&scenario, plan)->kv_bytes / 8192.0;
}

/* ---- the cache --------------------------------------------------------------------------------------------------- */

static void gqa_caches_kv_heads_only(void **state)
{
    const struct plan one = degrees(1, 1, 1, 1), eight = degrees(8, 1, 1, 1);
    (void)state;
    assert_number(kv_bytes_per_token("qwen2.5-72b", &one), 327680);
    assert_number(kv_bytes_per_token("llama-3.1-405b", &one), 516096);
    assert_number(kv_bytes_per_token("llama-3.1-405b", &eight), 516096 / 8);
}

static void mla_caches_latents_on_every_rank(void **state)
{
    const struct plan one = degrees(1, 1, 1, 1), eight = degrees(8, 1, 1, 1), context = degrees(8, 4, 1, 1);
    (void)state;
    assert_number(kv_bytes_per_token("deepseek-v3", &one), 70272);
    assert_number(kv_bytes_per_token("deepseek-v3", &eight), 70272); /* TP has no heads to divide */
    assert_number(kv_bytes_per_token("deepseek-v3", &context), 70272 / 4);
}

/* Eight KV heads on sixteen ranks: each head is kept twice, unless a KV mode splits it. */
static void no_rank_holds_half_a_kv_head(void **state)
{
    struct plan plan = degrees(16, 1, 1, 1);
    (void)state;
    assert_number(kv_bytes_per_token("llama-3.1-70b", &plan), 327680 / 8);
    plan.kv_mode = KV_SPLIT_DIM;
    assert_number(kv_bytes_per_token("llama-3.1-70b", &plan), 327680 / 16);
    plan.kv_mode = KV_SPLIT_SEQ;
    assert_number(kv_bytes_per_token("llama-3.1-70b", &plan), 327680 / 16);
    plan = degrees(64, 1, 1, 1);
    assert_number(kv_bytes_per_token("llama-3.1-70b", &plan), 327680 / 8);
}

/* gpt-oss-20b: half of 24 layers see 128 tokens; 2 x 8 KV heads x 64 x 2 bytes a token and layer. */
static void windows_bound_the_cache_and_its_reads(void **state)
{
    const struct scenario scenario = work("gpt-oss-20b", PHASE_DECODE, 1, 131071);
    const struct plan one = degrees(1, 1, 1, 1);
    const struct demand *const demand = demand_of(&scenario, &one);
    const double io = 64 * (64 + 64) * 2;
    (void)state;
    assert_number(demand->kv_bytes, 12 * (128.0 + 131072.0) * 2048);
    assert_number(row_of(demand, STAGE_ATTENTION, 128, true)->hbm_bytes, 128.0 * 2048 + io);
    assert_number(row_of(demand, STAGE_ATTENTION, 0, true)->hbm_bytes, 131072.0 * 2048 + io);
    assert_number(row_of(demand, STAGE_ATTENTION, 128, true)->flop, 2.0 * 64 * (64 + 64) * 128);
}

/* ---- attention and LM head --------------------------------------------------------------------------------------- */

/* 1,000 new tokens after 9,000 cached: every new one sees all cached, and half of the new ones on average. */
static void causality_does_not_halve_the_prefix(void **state)
{
    const struct scenario prefix = work("llama-3.1-8b", PHASE_PREFILL, 1000, 9000);
    const struct scenario fresh = work("llama-3.1-8b", PHASE_PREFILL, 1000, 0);
    const struct plan one = degrees(1, 1, 1, 1);
    const double flop_per_pair = 2.0 * 32 * (128 + 128);
    (void)state;
    assert_number(row_of(demand_of(&prefix, &one), STAGE_ATTENTION, 0, false)->flop, 9500500 * flop_per_pair);
    assert_number(row_of(demand_of(&fresh, &one), STAGE_ATTENTION, 0, false)->flop, 500500 * flop_per_pair);
}

static void prefill_needs_logits_of_the_last_token(void **state)
{
    const struct scenario prefill = work("llama-3.1-8b", PHASE_PREFILL, 4096, 0);
    struct plan plan = degrees(1, 1, 1, 1);
    (void)state;
    assert_number(row_of(demand_of(&prefill, &plan), STAGE_LM_HEAD, 0, false)->flop, 2.0 * 4096 * 128256);
    plan.batch = 3;
    assert_number(row_of(demand_of(&prefill, &plan), STAGE_LM_HEAD, 0, false)->flop, 3 * 2.0 * 4096 * 128256);
}

/* Tied, the matrix is stored once and still read. */
static void a_tied_lm_head_is_multiplied(void **state)
{
    const struct scenario decode = work("llama-3.2-1b", PHASE_DECODE, 1, 100);
    const struct plan one = degrees(1, 1, 1, 1);
    const struct demand *const demand = demand_of(&decode, &one);
    (void)state;
    assert_number(row_of(demand, STAGE_LM_HEAD, 0, false)->flop, 2.0 * 2048 * 128256);
    assert_true(row_of(demand, STAGE_LM_HEAD, 0, false)->hbm_bytes > 2.0 * 2048 * 128256);
    assert_true(fabs(demand->weight_bytes / (2.0 * 1235814400) - 1.0) < 1e-5); /* its published parameters */
}

/* ---- experts ----------------------------------------------------------------------------------------------------- */

/* Routed experts whose gate and up matrices DeepSeek V3 reads in a step of `tokens` for `batch` sequences. */
static double experts_read_by(const struct scenario *scenario, int64_t batch, double tokens)
{
    struct plan plan = degrees(1, 1, 1, 1);
    const double hidden = 7168, columns = 2 * 2048, matrix = hidden * columns * 2, activations = (hidden + columns) * 2;
    plan.batch = batch;
    const double bytes = row_of(demand_of(scenario, &plan), STAGE_GATE_UP, 0, true)->hbm_bytes;
    const double shared = matrix + tokens * activations, routed_activations = 8 * tokens * activations;
    return (bytes - shared - routed_activations) / matrix;
}

static double experts_read(int64_t batch)
{
    const struct scenario scenario = work("deepseek-v3", PHASE_DECODE, 1, 1000);
    return experts_read_by(&scenario, batch, (double)batch);
}

static void one_token_reads_its_own_experts(void **state)
{
    (void)state;
    assert_true(fabs(experts_read(1) - 8.0) < 1e-9);
}

static void many_tokens_read_many_experts(void **state)
{
    (void)state;
    assert_int_equal((int)experts_read(32), 163); /* of 256 */
    assert_true(experts_read(4096) > 255.999 && experts_read(4096) <= 256.0);
}

/* Four sequences with prompts of 8192 tokens and answers of 1024: even shares are 36 tokens a step; whole prompts come in
 * one step of 256, and in the other 255 there are four tokens. */
static void whole_prompts_touch_fewer_experts_than_even_shares(void **state)
{
    struct scenario scenario = work("deepseek-v3", PHASE_SERVE, 1, 0);
    const double miss = 1.0 - 8.0 / 256.0;
    (void)state;
    scenario.prompt_tokens = 8192;
    scenario.answer_tokens = 1024;
    assert_true(fabs(experts_read_by(&scenario, 4, 36) - 256 * (1 - pow(miss, 36))) < 1e-6);
    scenario.prompt_chunk = 1000000;
    assert_true(fabs(experts_read_by(&scenario, 4, 36) - (1 - pow(miss, 8196) + 255 * (1 - pow(miss, 4)))) < 1e-6);
    scenario.prompt_chunk = 2048; /* 4 * 8 tokens of 2048: a step of 64 */
    assert_true(fabs(experts_read_by(&scenario, 4, 36) - 4 * (1 - pow(miss, 2052) + 63 * (1 - pow(miss, 4)))) < 1e-6);
    scenario.prompt_chunk = 32; /* no more than the even share: every step has one */
    assert_true(fabs(experts_read_by(&scenario, 4, 36) - 256 * (1 - pow(miss, 36))) < 1e-6);
}

/* Eight ranks hold Mixtral's 46.7 G parameters once, whatever is expert-parallel and what expert-tensor-parallel: only norms
 * and routers are kept eight times. */
static void experts_are_divided_by_ep_and_expert_tp(void **state)
{
    const struct scenario scenario = work("mixtral-8x7b", PHASE_DECODE, 1, 100);
    const double replicated = 7 * 32 * (4096.0 * 8 + 2 * 4096);
    (void)state;
    for (int64_t ep = 1; ep <= 8; ep *= 2)
        for (int exchange = MOE_ALLGATHER; exchange <= MOE_ALLTOALL; exchange++) {
            struct plan plan = degrees(8, 1, 1, 1);
            plan.ep = ep;
            plan.moe_exchange = exchange;
            const double parameters = 8 * demand_of(&scenario, &plan)->weight_bytes / 2;
            assert_true(fabs(parameters - replicated - 46702792704.0) <= 4096); /* the last norm is not stored */
        }
}

/* DeepSeek V3 on 32 replicas with ep = 32: eight experts of each layer a PE. */
static void experts_are_divided_over_replicas(void **state)
{
    const struct scenario scenario = work("deepseek-v3", PHASE_DECODE, 1, 100);
    struct plan plan = degrees(1, 1, 1, 32);
    (void)state;
    plan.ffn_scope = FFN_TP_CP_DP;
    plan.ep = 32;
    const double wide = demand_of(&scenario, &plan)->weight_bytes;
    plan.ep = 1;
    plan.ffn_scope = FFN_TP;
    const double narrow = demand_of(&scenario, &plan)->weight_bytes;
    const double expert = 3.0 * 7168 * 2048 * 2, shared = expert, dense = 3.0 * 7168 * 18432 * 2;
    assert_number(narrow - wide, 58 * 248 * expert + 58 * shared * 31 / 32 + 3 * dense * 31 / 32);
}

/* ---- data sheets ------------------------------------------------------------------------------------------------- */

static void capacities_are_in_gb_not_gib(void **state)
{
    double bytes;
    const char *why;
    (void)state;
    assert_true(machine("h100").hbm_capacity == 80e9);
    assert_true(machine("h200").hbm_capacity == 141e9);
    assert_int_equal(unit_parse("80 GB", DIM_BYTES, &bytes, &why), 0);
    assert_true(bytes == 80e9);
    assert_int_equal(unit_parse("80 GiB", DIM_BYTES, &bytes, &why), 0);
    assert_true(bytes == 85899345920.0);
}

static void links_are_counted_in_one_direction(void **state)
{
    (void)state;
    assert_true(machine("h100").pe_bandwidth == 450e9);
    assert_true(machine("a100-80").pe_bandwidth == 300e9);
    assert_true(machine("b200").pe_bandwidth == 900e9);
}

static void peaks_are_dense(void **state)
{
    const struct hardware h100 = machine("h100");
    (void)state;
    assert_true(h100.flops == 989.5e12);
    assert_true(h100.flops * h100.fp8_ratio == 1979e12);
    assert_true(machine("a100-80").flops == 312e12);
}

/* ---- parallelism ------------------------------------------------------------------------------------------------- */

/* A message goes round half a ring, and an all-reduce twice. */
static void latency_grows_with_the_ring(void **state)
{
    (void)state;
    for (int64_t n = 4; n <= 64; n *= 2) {
        const struct fabric fabric = {.pes_per_cube = n, .cubes_per_sip = 1, .topology = {TOPOLOGY_RING}};
        const struct group group = {n, {n, 1, 1}, {1, 1, 1}, {1, 1, 1}};
        double wire[N_LEVELS] = {0.0};
        const struct collective gather = lower_collective(ALL_GATHER, &group, 1.0, &fabric, 1, wire);
        const struct collective sum = lower_collective(ALL_REDUCE, &group, 1.0, &fabric, 1, wire);
        assert_true(gather.leg[0].hops == (double)(n / 2));
        assert_true(sum.leg[0].hops == (double)n && sum.one_shot.hops == (double)(n / 2));
    }
}

static void a_pipeline_does_not_speed_up_a_token(void **state)
{
    const struct scenario decode = work("llama-3.1-70b", PHASE_DECODE, 1, 4095);
    const struct scenario prefill = work("llama-3.1-70b", PHASE_PREFILL, 4096, 0);
    const struct plan one = degrees(8, 1, 1, 1);
    const double token_s = latency_of(&decode, &one), prompt_s = latency_of(&prefill, &one);
    (void)state;
    for (int64_t pp = 2; pp <= 16; pp *= 2) {
        struct plan plan = degrees(8, 1, pp, 1);
        assert_true(latency_of(&decode, &plan) > token_s);
        assert_true(latency_of(&prefill, &plan) > prompt_s);
        plan.batch = pp; /* a sequence for each stage: each still visits all of them */
        assert_true(latency_of(&decode, &plan) > token_s);
    }
}

/* A token reads every weight of the model through the HBM of its TP ranks. */
static void a_token_is_no_faster_than_its_weights(void **state)
{
    const struct scenario decode = work("llama-3.1-70b", PHASE_DECODE, 1, 4095);
    const double matrices_bytes = 2 * (70553706496.0 - 128256.0 * 8192);
    (void)state;
    for (int64_t pp = 1; pp <= 4; pp *= 2)
        for (int64_t copies = 1; copies <= 4; copies *= 2) {
            const struct plan context = degrees(8, copies, pp, 1), data = degrees(8, 1, pp, copies);
            assert_true(latency_of(&decode, &context) > matrices_bytes / (8 * 3.35e12));
            assert_true(latency_of(&decode, &data) > matrices_bytes / (8 * 3.35e12));
        }
}

static void cp_and_dp_hold_all_weights(void **state)
{
    const struct scenario decode = work("llama-3.1-70b", PHASE_DECODE, 1, 4095);
    const struct plan one = degrees(8, 1, 1, 1);
    const double weights = demand_of(&decode, &one)->weight_bytes;
    const double gate_up = row_of(demand_of(&decode, &one), STAGE_GATE_UP, 0, false)->hbm_bytes;
    (void)state;
    for (int64_t copies = 2; copies <= 16; copies *= 2) {
        const struct plan plans[] = {degrees(8, copies, 1, 1), degrees(8, 1, 1, copies)};
        for (int i = 0; i < 2; i++) {
            assert_number(demand_of(&decode, &plans[i])->weight_bytes, weights);
            assert_number(row_of(demand_of(&decode, &plans[i]), STAGE_GATE_UP, 0, false)->hbm_bytes, gate_up);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gqa_caches_kv_heads_only),
        cmocka_unit_test(mla_caches_latents_on_every_rank),
        cmocka_unit_test(no_rank_holds_half_a_kv_head),
        cmocka_unit_test(windows_bound_the_cache_and_its_reads),
        cmocka_unit_test(causality_does_not_halve_the_prefix),
        cmocka_unit_test(prefill_needs_logits_of_the_last_token),
        cmocka_unit_test(a_tied_lm_head_is_multiplied),
        cmocka_unit_test(one_token_reads_its_own_experts),
        cmocka_unit_test(many_tokens_read_many_experts),
        cmocka_unit_test(whole_prompts_touch_fewer_experts_than_even_shares),
        cmocka_unit_test(experts_are_divided_by_ep_and_expert_tp),
        cmocka_unit_test(experts_are_divided_over_replicas),
        cmocka_unit_test(capacities_are_in_gb_not_gib),
        cmocka_unit_test(links_are_counted_in_one_direction),
        cmocka_unit_test(peaks_are_dense),
        cmocka_unit_test(latency_grows_with_the_ring),
        cmocka_unit_test(a_pipeline_does_not_speed_up_a_token),
        cmocka_unit_test(a_token_is_no_faster_than_its_weights),
        cmocka_unit_test(cp_and_dp_hold_all_weights),
    };
    return cmocka_run_group_tests_name("mistakes", tests, NULL, NULL);
}
