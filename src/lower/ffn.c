/* The feed-forward block of one layer kind on one rank: dense, or a mixture of experts (MODEL section 6). */
#include "shares.h"
#include <math.h>

static bool exchanges_all_to_all(const struct shares *s, bool moe_layer)
{
    return moe_layer && s->plan.moe_exchange == MOE_ALLTOALL;
}

/* MODEL section 5 says that axes of size 1 do not count here, but the reference numbers count them: with FFN scope tp_cp_dp
 * and cp = 1 they keep the attention's own all-reduce.  The numbers decide. */
bool sums_merge(const struct shares *s, bool moe_layer)
{
    return s->scenario->model.parallel_block && !exchanges_all_to_all(s, moe_layer) &&
           s->attention_axes == s->replicated_axes;
}

static double stream_bytes(const struct shares *s, double tokens)
{
    return tokens * (double)s->scenario->model.hidden * s->scenario->activation_bytes;
}

static void lower_dispatch(struct demand *demand, const struct shares *s, double n_layers)
{
    demand_add_collective_over(demand, s, ALL_GATHER, s->sharded_axes, stream_bytes(s, s->ffn_tokens), n_layers);
}

static void lower_combine(struct demand *demand, const struct shares *s, double n_layers)
{
    demand_add_collective_over(demand, s, REDUCE_SCATTER, s->sharded_axes, stream_bytes(s, s->ffn_tokens), n_layers);
    demand_add_collective_over(demand, s, ALL_REDUCE, s->replicated_axes,
                               stream_bytes(s, s->ffn_tokens / (double)s->ffn_sharded), n_layers);
}

static void add_activation(struct stage_row *row, const struct shares *s, double elements, double mean_elements)
{
    const double bytes = (s->scenario->model.gated ? 3.0 : 2.0) * s->scenario->activation_bytes;
    row->vector_flop = 4.0 * elements;
    row->hbm_bytes = bytes * elements;
    row->mean_hbm_bytes = bytes * mean_elements;
}

static void lower_dense(struct demand *demand, const struct shares *s, int kind, double n_layers)
{
    const struct model *const model = &s->scenario->model;
    const double hidden = (double)model->hidden, g = s->ffn_tokens, matrices = model->gated ? 2.0 : 1.0;
    const double width = (double)ceil_ratio(model->ffn, s->ffn_ranks);
    demand_add_row(demand, STAGE_DISPATCH, kind);
    lower_dispatch(demand, s, n_layers);
    row_add(demand_add_row(demand, STAGE_GATE_UP, kind), gemm(s, 1.0, g, hidden, matrices * width));
    add_activation(demand_add_row(demand, STAGE_ACTIVATION, kind), s, g * width, g * width);
    row_add(demand_add_row(demand, STAGE_DOWN, kind), gemm(s, 1.0, g, width, hidden));
    demand_add_row(demand, STAGE_COMBINE, kind);
    lower_combine(demand, s, n_layers);
}

/* Experts of a rank that `tokens` of the FFN group touch: MODEL section 6, Ea, without its bounds. */
static double touched(const struct shares *s, double held, double tokens)
{
    const struct model *const model = &s->scenario->model;
    return held * (1.0 - pow(1.0 - (double)model->moe.per_token / (double)model->moe.experts, tokens));
}

/* Sets the experts that the mean rank and the slowest one touch in a step of `tokens`. */
static void touch_experts(double *mean, double *slowest, const struct routing *r, const struct shares *s, double tokens)
{
    *mean = *slowest = touched(s, (double)s->scenario->model.moe.experts / (double)s->plan.ep, tokens);
    if (s->plan.ep > 1) *slowest = smaller(r->held, larger(1.0, touched(s, r->held, tokens * r->hot)));
}

/* Where prompts come in chunks, steps with a chunk and steps without one alternate (beyond MODEL, whose `serve` spreads them
 * evenly).  FLOP and bytes are the same on average, but for this: few steps with long chunks touch fewer experts than all
 * steps with even shares.  Times are those of the mean step, whose FLOP may hide behind its bytes; those of a chunk may
 * not. */
static void share_experts(struct routing *r, const struct shares *s)
{
    const double decoding = (double)(s->b * s->ffn_sharded), prompt = decoding * s->prompt_per_token;
    const double chunk = (double)at_most(s->scenario->prompt_chunk, s->scenario->prompt_tokens);
    r->chunk_share = 1.0;
    if (chunk <= prompt) {
        touch_experts(&r->mean_experts, &r->experts, r, s, s->ffn_tokens);
        return;
    }
    double with_mean, with_slowest, mean, slowest;
    r->chunk_share = prompt / chunk;
    r->chunk_tokens = decoding + chunk;
    r->other_tokens = decoding;
    touch_experts(&with_mean, &with_slowest, r, s, r->chunk_tokens);
    touch_experts(&mean, &slowest, r, s, r->other_tokens);
    r->mean_experts = r->chunk_share * with_mean + (1.0 - r->chunk_share) * mean;
    r->experts = r->chunk_share * with_slowest + (1.0 - r->chunk_share) * slowest;
}

struct routing lower_routing(const struct shares *s)
{
    const struct model *const model = &s->scenario->model;
    const double experts = (double)model->moe.experts, per_token = (double)model->moe.per_token;
    const double ep = (double)s->plan.ep, g = s->ffn_tokens, load = g * per_token / ep;
    const bool all_to_all = exchanges_all_to_all(s, true);
    struct routing r = {.expert_tp = (double)s->ffn_ranks / ep, .imbalance = 1.0, .hot = 1.0};
    if (s->plan.ep > 1 && s->tiles_and_waste) {
        if (s->scenario->imbalance == IMBALANCE_RANDOM) r.imbalance = smaller(ep, 1.0 + sqrt(2.0 * log(ep) / load));
        if (s->scenario->imbalance == IMBALANCE_FACTOR) r.imbalance = smaller(ep, s->scenario->imbalance_factor);
    }
    r.mean_pairs = load;
    r.held = (double)ceil_ratio(model->moe.experts, s->plan.ep);
    r.average = g * per_token * r.held / experts; /* divided once, as tokens are; so are mean_rows */
    if (s->plan.ep > 1) r.hot = larger(r.imbalance, 1.0 / r.average);
    r.pairs = r.average * r.hot;
    share_experts(&r, s);
    r.mean_rows = g * per_token / experts * (experts / ep / r.mean_experts);
    r.targets = ep * (1.0 - pow(1.0 - 1.0 / ep, per_token));
    r.shared_tokens = all_to_all ? g / (double)s->ffn_ranks : g;
    r.shared_width = (double)model->moe.shared_ffn / (all_to_all ? 1.0 : (double)s->ffn_ranks);
    return r;
}

/* The two exchanges of an all-to-all dispatch, which `combine` does again. */
static void lower_all_to_all(struct demand *demand, const struct shares *s, const struct routing *r, double n_layers)
{
    const double ep = (double)s->plan.ep;
    const double sent = larger(1.0, r->imbalance * s->ffn_tokens / (double)s->ffn_ranks);
    struct group ffn, expert_tp, expert_parallel;
    plan_group(&ffn, &s->layout, s->sharded_axes | s->replicated_axes);
    plan_subgroup(&expert_tp, &expert_parallel, &ffn, s->ffn_ranks / s->plan.ep);
    demand_add_collective(demand, s, ALL_TO_ALL, &expert_parallel, stream_bytes(s, sent * r->targets), n_layers);
    demand_add_collective(demand, s, ALL_GATHER, &expert_tp, stream_bytes(s, r->imbalance * s->ffn_tokens * r->targets / ep),
                          n_layers);
}

/* Routed experts and the shared ones; `mean` is added to the row's mean numbers. */
static void add_experts(struct stage_row *row, const struct shares *s, const struct routing *r, bool down)
{
    const struct model *const model = &s->scenario->model;
    const double hidden = (double)model->hidden, matrices = model->gated ? 2.0 : 1.0;
    const double width = (double)model->moe.ffn / r->expert_tp, shared = r->shared_width;
    const double inner = down ? width : hidden, columns = down ? hidden : matrices * width;
    const struct work mean = gemm(s, r->mean_experts, r->mean_rows, inner, columns);
    const struct work slowest = gemm(s, r->experts, r->pairs / r->experts, inner, columns);
    row_add(row, gemm(s, 1.0, r->shared_tokens, down ? shared : hidden, down ? hidden : matrices * shared));
    row->mean_flop += mean.flop;
    row->mean_hbm_bytes += mean.hbm_bytes;
    row->flop += slowest.flop;
    row->hbm_bytes += slowest.hbm_bytes;
}

static void lower_moe(struct demand *demand, const struct shares *s, int kind, double n_layers)
{
    const struct model *const model = &s->scenario->model;
    const struct routing r = lower_routing(s);
    const double width = (double)model->moe.ffn / r.expert_tp, shared = r.shared_tokens * r.shared_width;
    const bool all_to_all = exchanges_all_to_all(s, true);
    row_add(demand_add_row(demand, STAGE_ROUTER, kind),
            gemm(s, 1.0, s->tokens, (double)model->hidden, (double)model->moe.experts));
    demand_add_row(demand, STAGE_DISPATCH, kind);
    if (all_to_all) lower_all_to_all(demand, s, &r, n_layers);
    else lower_dispatch(demand, s, n_layers);
    add_experts(demand_add_row(demand, STAGE_GATE_UP, kind), s, &r, false);
    add_activation(demand_add_row(demand, STAGE_ACTIVATION, kind), s, r.pairs * width + shared,
                   r.mean_pairs * width + shared);
    add_experts(demand_add_row(demand, STAGE_DOWN, kind), s, &r, true);
    demand_add_row(demand, STAGE_COMBINE, kind);
    if (!all_to_all) {
        lower_combine(demand, s, n_layers);
        return;
    }
    lower_all_to_all(demand, s, &r, n_layers);
    demand_add_collective_over(demand, s, ALL_GATHER, s->replicated_axes,
                               stream_bytes(s, s->ffn_tokens / (double)s->ffn_sharded), n_layers);
}

void lower_ffn(struct demand *demand, const struct shares *s, int kind)
{
    const struct model *const model = &s->scenario->model;
    const double n_layers = (double)demand->kind[kind].n_layers;
    if (!model->parallel_block) {
        struct stage_row *const row = demand_add_row(demand, STAGE_FFN_NORM, kind);
        row->vector_flop = 4.0 * s->tokens * (double)model->hidden;
        row_add(row, (struct work){0.0, 2.0 * stream_bytes(s, s->tokens)});
    }
    if (demand->kind[kind].moe) lower_moe(demand, s, kind, n_layers);
    else lower_dense(demand, s, kind, n_layers);
}
