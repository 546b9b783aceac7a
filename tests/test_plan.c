/* plan: which plans are the same, which are valid, and why not; by examples from MODEL sections 1 and 2.  Where ranks sit
 * is test_layout.c's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cosweep/plan.h"

/* ---- pinning (MODEL section 1) ----------------------------------------------------------------------------------- */

enum kind { DENSE, MLA, MOE };

/* 12 heads, 4 KV heads, 4 layers. */
static struct scenario scenario(enum phase phase, enum kind kind)
{
    struct errors errors = {0};
    struct scenario s = {.phase = phase, .new_tokens = 1, .past_tokens = 9, .prompt_tokens = 3, .answer_tokens = 5};
    s.model = (struct model){.layers = 4, .hidden = 64, .heads = 12, .kv_heads = 4, .head_dim = 16, .ffn = 48, .vocab = 10};
    if (phase == PHASE_PREFILL) {
        s.new_tokens = 5;
        s.past_tokens = 5;
    }
    if (kind == MLA) {
        s.model.mla.kv_rank = 32;
        s.model.mla.nope_dim = s.model.mla.v_dim = 16;
        s.model.mla.rope_dim = 8;
    }
    if (kind == MOE) {
        s.model.moe.experts = 6;
        s.model.moe.per_token = 2;
        s.model.moe.ffn = 8;
        s.model.moe.dense_layers = 1;
    }
    assert_int_equal(model_finish(&s.model, NULL, &errors, "test", 0), 0);
    return s;
}

/* Every variant at its last value, degrees as given: then what pinning leaves.  Order of the expected variants: placement
 * of TP and CP, ring, KV mode, attention scope, FFN scope, MoE exchange. */
static const struct pinning {
    enum phase phase;
    enum kind kind;
    int64_t tp, cp, dp, ep, kv_mode, ffn_scope;
    int64_t expected[7];
} pinnings[] = {
    /* nothing to place, to ring, to split or to scope */
    {PHASE_DECODE, DENSE, 1, 1, 1, 1, KV_SPLIT_SEQ, FFN_TP_CP_DP, {0, 0, 0, 0, 0, 0, 0}},
    /* placement matters with ranks to place */
    {PHASE_DECODE, DENSE, 2, 1, 1, 1, KV_SPLIT_SEQ, FFN_TP_CP, {1, 0, 0, 0, 0, 0, 0}},
    /* CP brings its placement, the attention scope and FFN scope tp_cp; the ring is prefill's */
    {PHASE_DECODE, DENSE, 1, 2, 1, 1, KV_SPLIT_SEQ, FFN_TP_CP, {0, 1, 0, 0, 1, 1, 0}},
    {PHASE_SERVE, DENSE, 1, 2, 1, 1, KV_SPLIT_SEQ, FFN_TP_CP, {0, 1, 0, 0, 1, 1, 0}},
    {PHASE_PREFILL, DENSE, 1, 2, 1, 1, KV_SPLIT_SEQ, FFN_TP_CP, {0, 1, 1, 0, 0, 1, 0}},
    {PHASE_PREFILL, DENSE, 2, 1, 1, 1, KV_SPLIT_SEQ, FFN_TP_CP, {1, 0, 0, 0, 0, 0, 0}},
    /* KV modes: tp above 4 KV heads, and a multiple of them, and not MLA; they exclude attention scope tp_cp */
    {PHASE_DECODE, DENSE, 4, 2, 1, 1, KV_SPLIT_SEQ, FFN_TP, {1, 1, 0, 0, 1, 0, 0}},
    {PHASE_DECODE, DENSE, 6, 2, 1, 1, KV_SPLIT_SEQ, FFN_TP, {1, 1, 0, 0, 1, 0, 0}},
    {PHASE_DECODE, DENSE, 8, 2, 1, 1, KV_SPLIT_SEQ, FFN_TP, {1, 1, 0, 2, 0, 0, 0}},
    {PHASE_DECODE, DENSE, 8, 2, 1, 1, KV_SPLIT_DIM, FFN_TP, {1, 1, 0, 1, 0, 0, 0}},
    {PHASE_DECODE, DENSE, 8, 2, 1, 1, KV_REPLICATE, FFN_TP, {1, 1, 0, 0, 1, 0, 0}},
    {PHASE_DECODE, MLA, 8, 2, 1, 1, KV_SPLIT_SEQ, FFN_TP, {1, 1, 0, 0, 1, 0, 0}},
    {PHASE_PREFILL, DENSE, 8, 2, 1, 1, KV_SPLIT_SEQ, FFN_TP, {1, 1, 1, 2, 0, 0, 0}},
    /* FFN scopes: tp_cp needs CP, tp_cp_dp needs DP, with or without CP */
    {PHASE_DECODE, DENSE, 2, 1, 2, 1, KV_REPLICATE, FFN_TP_CP, {1, 0, 0, 0, 0, 0, 0}},
    {PHASE_DECODE, DENSE, 2, 1, 2, 1, KV_REPLICATE, FFN_TP_CP_DP, {1, 0, 0, 0, 0, 2, 0}},
    {PHASE_DECODE, DENSE, 2, 2, 1, 1, KV_REPLICATE, FFN_TP_CP_DP, {1, 1, 0, 0, 1, 0, 0}},
    /* the exchange matters with ranks to exchange between */
    {PHASE_DECODE, MOE, 2, 1, 1, 2, KV_REPLICATE, FFN_TP, {1, 0, 0, 0, 0, 0, 1}},
    {PHASE_DECODE, MOE, 2, 1, 1, 1, KV_REPLICATE, FFN_TP, {1, 0, 0, 0, 0, 0, 0}},
};

static void knobs_that_cannot_matter_are_pinned(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pinnings / sizeof pinnings[0]; i++) {
        const struct pinning *const p = &pinnings[i];
        const struct scenario s = scenario(p->phase, p->kind);
        struct plan plan = {.tp = p->tp, .cp = p->cp, .pp = 1, .dp = p->dp, .ep = p->ep, .batch = 1};
        plan.tp_placement = plan.cp_placement = PLACEMENT_CUBE;
        plan.ring = RING_Q;
        plan.kv_mode = p->kv_mode;
        plan.attention_scope = ATTENTION_TP_CP;
        plan.ffn_scope = p->ffn_scope;
        plan.moe_exchange = MOE_ALLTOALL;
        plan_pin(&plan, &s);
        const int64_t variants[] = {plan.tp_placement,    plan.cp_placement, plan.ring,        plan.kv_mode,
                                    plan.attention_scope, plan.ffn_scope,    plan.moe_exchange};
        for (int k = 0; k < 7; k++)
            if (variants[k] != p->expected[k])
                fail_msg("row %zu: variant %d is %d, not %d", i, k, (int)variants[k], (int)p->expected[k]);
        assert_true(plan.tp == p->tp && plan.cp == p->cp && plan.dp == p->dp && plan.ep == p->ep);
        const struct plan once = plan;
        plan_pin(&plan, &s);
        assert_memory_equal(&plan, &once, sizeof plan);
    }
}

/* ---- validity (MODEL section 2) ---------------------------------------------------------------------------------- */

static enum reason check(struct plan plan, const struct scenario *s)
{
    plan_pin(&plan, s);
    return plan_check(&plan, s);
}

/* A plan that breaks every rule is refused by the first; mended there, by the next. */
static void reasons_come_in_order(void **state)
{
    struct scenario moe = scenario(PHASE_DECODE, MOE), dense = scenario(PHASE_DECODE, DENSE);
    struct plan plan = {.tp = 13, .cp = 11, .pp = 5, .dp = 1, .ep = 7, .batch = 1};
    (void)state;
    moe.strict = true;
    assert_int_equal(check(plan, &moe), REASON_TP_EXCEEDS_HEADS);
    plan.tp = 12;
    assert_int_equal(check(plan, &moe), REASON_PP_EXCEEDS_LAYERS);
    plan.pp = 3;
    assert_int_equal(check(plan, &moe), REASON_CP_EXCEEDS_SEQUENCE);
    plan.cp = 10;
    assert_int_equal(check(plan, &moe), REASON_EP_EXCEEDS_EXPERTS);
    assert_int_equal(check(plan, &dense), REASON_EP_WITHOUT_EXPERTS);
    plan.ep = 5;
    assert_int_equal(check(plan, &moe), REASON_EP_NOT_IN_FFN_SCOPE);
    assert_int_equal(check(plan, &dense), REASON_EP_WITHOUT_EXPERTS);
    plan.ep = 6;
    assert_int_equal(check(plan, &moe), REASON_NOT_DIVISIBLE); /* 3 does not divide 4 layers */
    moe.strict = false;
    assert_int_equal(check(plan, &moe), REASON_NONE);
}

static void sequences_bound_cp(void **state)
{
    const struct scenario decode = scenario(PHASE_DECODE, DENSE), prefill = scenario(PHASE_PREFILL, DENSE);
    const struct scenario serve = scenario(PHASE_SERVE, DENSE);
    struct plan plan = plan_of_ones;
    (void)state;
    plan.cp = 10; /* 9 cached and the new one */
    assert_int_equal(check(plan, &decode), REASON_NONE);
    plan.cp = 11;
    assert_int_equal(check(plan, &decode), REASON_CP_EXCEEDS_SEQUENCE);
    plan.cp = 5; /* the new tokens alone */
    assert_int_equal(check(plan, &prefill), REASON_NONE);
    plan.cp = 6; /* 3 of the prompt and half of 5 answered, rounded up */
    assert_int_equal(check(plan, &prefill), REASON_CP_EXCEEDS_SEQUENCE);
    assert_int_equal(check(plan, &serve), REASON_NONE);
    plan.cp = 7;
    assert_int_equal(check(plan, &serve), REASON_CP_EXCEEDS_SEQUENCE);
}

/* EP takes ranks of the FFN group: tp, tp cp or tp cp dp. */
static void ep_divides_the_ffn_group(void **state)
{
    const struct scenario moe = scenario(PHASE_DECODE, MOE);
    struct plan plan = {.tp = 2, .cp = 3, .pp = 1, .dp = 2, .ep = 3, .batch = 1};
    (void)state;
    assert_int_equal(check(plan, &moe), REASON_EP_NOT_IN_FFN_SCOPE);
    plan.ffn_scope = FFN_TP_CP;
    assert_int_equal(check(plan, &moe), REASON_NONE);
    plan.ep = 4;
    assert_int_equal(check(plan, &moe), REASON_EP_NOT_IN_FFN_SCOPE);
    plan.ffn_scope = FFN_TP_CP_DP;
    assert_int_equal(check(plan, &moe), REASON_NONE);
}

static void strict_divides(void **state)
{
    static const struct {
        enum kind kind;
        int64_t tp, pp, cp, ep;
        enum reason reason;
    } rows[] = {
        {DENSE, 3, 1, 1, 1, REASON_NOT_DIVISIBLE}, /* 12 heads, but 3 and 4 KV heads divide neither way */
        {DENSE, 6, 1, 1, 1, REASON_NOT_DIVISIBLE}, /* nor 6 */
        {MLA, 6, 1, 1, 1, REASON_NONE},            /* MLA has no KV heads to divide */
        {DENSE, 2, 1, 1, 1, REASON_NONE},          /* 2 divides 4 */
        {DENSE, 12, 1, 1, 1, REASON_NONE},         /* 4 divides 12 */
        {DENSE, 5, 1, 1, 1, REASON_NOT_DIVISIBLE}, /* 5 does not divide 12 heads */
        {MLA, 8, 1, 1, 1, REASON_NOT_DIVISIBLE},   /* nor 8 */
        {DENSE, 1, 3, 1, 1, REASON_NOT_DIVISIBLE}, /* 4 layers */
        {DENSE, 1, 2, 1, 1, REASON_NONE},
        {DENSE, 4, 1, 3, 1, REASON_NONE},          /* 12 ranks share an FFN of 48 */
        {DENSE, 4, 1, 5, 1, REASON_NOT_DIVISIBLE}, /* 20 do not */
        {MOE, 4, 1, 1, 4, REASON_NOT_DIVISIBLE},   /* 6 experts on 4 */
        {MOE, 4, 1, 1, 2, REASON_NONE},
        {MOE, 4, 1, 3, 1, REASON_NOT_DIVISIBLE},   /* 12 ranks share experts of 8 */
        {MOE, 4, 1, 3, 3, REASON_NONE},            /* 4 share each, of 3 times 8 */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct scenario s = scenario(PHASE_DECODE, rows[i].kind);
        const struct plan plan = {.tp = rows[i].tp,
                                  .cp = rows[i].cp,
                                  .pp = rows[i].pp,
                                  .dp = 1,
                                  .ep = rows[i].ep,
                                  .batch = 1,
                                  .ffn_scope = FFN_TP_CP};
        assert_int_equal(check(plan, &s), REASON_NONE); /* padded */
        s.strict = true;
        if (check(plan, &s) != rows[i].reason) fail_msg("row %zu: %s", i, reason_name[check(plan, &s)]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knobs_that_cannot_matter_are_pinned), cmocka_unit_test(reasons_come_in_order),
        cmocka_unit_test(sequences_bound_cp),                  cmocka_unit_test(ep_divides_the_ffn_group),
        cmocka_unit_test(strict_divides),
    };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
