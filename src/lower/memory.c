/* What the fullest PE holds (MODEL section 8). */
#include "shares.h"

static double attention_weights(const struct shares *s)
{
    const struct model *const model = &s->scenario->model;
    const double hidden = (double)model->hidden, heads = (double)s->projected;
    if (!s->mla) {
        const double dim = (double)model->head_dim;
        return hidden * (heads * dim + s->kv_width) + heads * dim * hidden;
    }
    const double q_rank = (double)model->mla.q_rank, kv_rank = (double)model->mla.kv_rank, value = (double)model->mla.v_dim;
    const double nope = (double)model->mla.nope_dim, query = heads * (nope + (double)model->mla.rope_dim);
    const double queries = model->mla.q_rank > 0 ? hidden * q_rank + q_rank * query : hidden * query;
    return queries + hidden * s->kv_width + kv_rank * heads * (nope + value) + heads * value * hidden;
}

static double ffn_weights(const struct shares *s, bool moe)
{
    const struct model *const model = &s->scenario->model;
    const double hidden = (double)model->hidden, matrices = model->gated ? 3.0 : 2.0, ranks = (double)s->ffn_ranks;
    if (!moe) return matrices * hidden * (double)ceil_ratio(model->ffn, s->ffn_ranks);
    const double held = (double)(ceil_ratio(model->moe.experts, s->plan.ep) * s->plan.ep);
    const double shared = (double)model->moe.shared_ffn / (s->plan.moe_exchange == MOE_ALLTOALL ? 1.0 : ranks);
    return hidden * (double)model->moe.experts + held * matrices * hidden * (double)model->moe.ffn / ranks +
           matrices * hidden * shared;
}

static double kv_elements(const struct shares *s, int64_t window)
{
    const struct scenario *const work = s->scenario;
    const int64_t longest = s->serve ? work->prompt_tokens + work->answer_tokens : s->sequence;
    const int64_t rows = ceil_ratio(windowed(longest, window), s->plan.cp * s->sequence_split);
    return (double)s->plan.batch * (double)rows * s->kv_width;
}

static double activation_elements(const struct shares *s)
{
    const struct model *const model = &s->scenario->model;
    const double hidden = (double)model->hidden, n = s->tokens, g = s->ffn_tokens, ranks = (double)s->ffn_ranks;
    const double query = s->mla ? s->score_dim : (double)model->head_dim;
    const double dense = (double)ceil_ratio(model->ffn, s->ffn_ranks);
    const double routed = (double)(model->moe.ffn * model->moe.per_token) / ranks;
    const double attention = n * ((double)s->heads * query + s->kv_width);
    const double ffn = (g > n ? 2.0 * g * hidden : 0.0) + g * (model->gated ? 2.0 : 1.0) * larger(dense, routed);
    const double logits = s->logit_tokens * (double)model->vocab;
    return 2.0 * n * hidden + larger(attention, larger(ffn, logits));
}

void lower_memory(struct demand *demand, const struct shares *s)
{
    const struct scenario *const work = s->scenario;
    const struct model *const model = &work->model;
    const double embedding = (double)ceil_ratio(model->vocab, s->plan.tp) * (double)model->hidden;
    const double attention = attention_weights(s) + 2.0 * (double)model->hidden;
    double weights_of[MAX_KINDS], kv_of[MAX_KINDS], fullest = -1.0;
    for (int k = 0; k < demand->n_kinds; k++) {
        weights_of[k] = attention + ffn_weights(s, demand->kind[k].moe);
        kv_of[k] = kv_elements(s, demand->kind[k].window_tokens);
    }
    for (int64_t stage = 0; stage < s->plan.pp; stage++) {
        const bool first = stage == 0, last = stage == s->plan.pp - 1;
        double weights = first ? embedding : 0.0, kv = 0.0;
        int64_t from, to;
        if (last && !(model->tied && first)) weights += embedding;
        stage_layers(s, stage, &from, &to);
        for (int64_t i = from; i < to; i++) {
            weights += weights_of[model->layer_kind[i]];
            kv += kv_of[model->layer_kind[i]];
        }
        if (weights * work->weight_bytes + kv * work->kv_bytes <= fullest) continue;
        demand->weight_bytes = weights * work->weight_bytes;
        demand->kv_bytes = kv * work->kv_bytes;
        fullest = demand->weight_bytes + demand->kv_bytes;
    }
    demand->activation_bytes = work->activation_bytes * activation_elements(s);
}
