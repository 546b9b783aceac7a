/* Which plans are the same, and which are valid (MODEL sections 1 and 2). */
#include "cosweep/plan.h"

const struct knob plan_knob[N_PLAN_KNOBS] = {
#define X(member, path, dimension, low, high, words, meaning)                                                               \
    {#member, path, GROUP_PLAN, DIM_##dimension, low, high, words, meaning},
    PLAN_KNOBS(X)
#undef X
};
const char *const reason_name[REASON_LIMIT] = {
#define X(code, name, meaning) name,
    REASONS(X)
#undef X
};
const char *const reason_meaning[REASON_LIMIT] = {
#define X(code, name, meaning) meaning,
    REASONS(X)
#undef X
};
const struct plan plan_of_ones = {.tp = 1, .cp = 1, .pp = 1, .dp = 1, .ep = 1, .batch = 1};

bool plan_kv_modes_apply(const struct plan *plan, const struct model *model)
{
    return model->mla.kv_rank == 0 && plan->tp > model->kv_heads && plan->tp % model->kv_heads == 0;
}

void plan_pin(struct plan *plan, const struct scenario *scenario)
{
    const bool prefill = scenario->phase == PHASE_PREFILL;
    if (plan->tp == 1) plan->tp_placement = PLACEMENT_PE;
    if (plan->cp == 1) plan->cp_placement = PLACEMENT_PE;
    if (!prefill || plan->cp == 1) plan->ring = RING_KV;
    if (!plan_kv_modes_apply(plan, &scenario->model)) plan->kv_mode = KV_REPLICATE;
    if (prefill || plan->cp == 1 || plan->kv_mode != KV_REPLICATE) plan->attention_scope = ATTENTION_TP;
    if (plan->ffn_scope == FFN_TP_CP && plan->cp == 1) plan->ffn_scope = FFN_TP;
    if (plan->ffn_scope == FFN_TP_CP_DP && plan->dp == 1) plan->ffn_scope = FFN_TP;
    if (plan->ep == 1) plan->moe_exchange = MOE_ALLGATHER;
}

/* D of MODEL section 6: the ranks that share one FFN. */
static int64_t ffn_ranks(const struct plan *plan)
{
    return plan->tp * (plan->ffn_scope >= FFN_TP_CP ? plan->cp : 1) * (plan->ffn_scope == FFN_TP_CP_DP ? plan->dp : 1);
}

static bool divides(int64_t divisor, int64_t x)
{
    return x % divisor == 0;
}

/* The `divisibility: strict` rule of MODEL section 2. */
static bool is_divisible(const struct plan *plan, const struct model *model)
{
    const int64_t ranks = ffn_ranks(plan);
    if (!divides(plan->tp, model->heads) || !divides(plan->pp, model->layers)) return false;
    if (model->mla.kv_rank == 0 && !divides(plan->tp, model->kv_heads) && !divides(model->kv_heads, plan->tp)) return false;
    if (!divides(ranks, model->ffn)) return false;
    if (model->moe.experts == 0) return true;
    return divides(plan->ep, model->moe.experts) && divides(ranks, model->moe.ffn * plan->ep);
}

enum reason plan_check(const struct plan *plan, const struct scenario *scenario)
{
    const struct model *const model = &scenario->model;
    const int64_t sequence = scenario->phase == PHASE_PREFILL  ? scenario->new_tokens
                             : scenario->phase == PHASE_DECODE ? scenario->past_tokens + scenario->new_tokens
                                                               : scenario->prompt_tokens + (scenario->answer_tokens + 1) / 2;
    if (plan->tp > model->heads) return REASON_TP_EXCEEDS_HEADS;
    if (plan->pp > model->layers) return REASON_PP_EXCEEDS_LAYERS;
    if (plan->cp > sequence) return REASON_CP_EXCEEDS_SEQUENCE;
    if (plan->ep > 1 && model->moe.experts == 0) return REASON_EP_WITHOUT_EXPERTS;
    if (plan->ep > 1 && plan->ep > model->moe.experts) return REASON_EP_EXCEEDS_EXPERTS;
    if (!divides(plan->ep, ffn_ranks(plan))) return REASON_EP_NOT_IN_FFN_SCOPE;
    if (scenario->strict && !is_divisible(plan, model)) return REASON_NOT_DIVISIBLE;
    return REASON_NONE;
}
