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

int64_t cached_tokens(const struct shares *s, int64_t window)
{
    const struct scenario *const work = s->scenario;
    return windowed(s->serve ? work->prompt_tokens + work->answer_tokens : s->sequence, window);
}

static double kv_elements(const struct shares *s, int64_t window)
{
    const int64_t rows = ceil_ratio(cached_tokens(s, window), s->plan.cp * s->sequence_split);
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

/* Elements that every layer of stage `stage` keeps, and the stage's edges. */
struct stage_elements {
    double weights, kv;
};

static struct stage_elements stage_elements(const struct shares *s, int64_t stage,
                                            const struct stage_elements layer[MAX_KINDS])
{
    const struct model *const model = &s->scenario->model;
    const bool first = stage == 0, last = stage == s->plan.pp - 1;
    const double embedding = (double)ceil_ratio(model->vocab, s->plan.tp) * (double)model->hidden;
    struct stage_elements held = {.weights = first ? embedding : 0.0};
    int64_t from, to;
    if (last && !(model->tied && first)) held.weights += embedding;
    stage_layers(s, stage, &from, &to);
    for (int64_t i = from; i < to; i++) {
        held.weights += layer[model->layer_kind[i]].weights;
        held.kv += layer[model->layer_kind[i]].kv;
    }
    return held;
}

int64_t lower_fullest_stage(const struct shares *s, double *weight_bytes, double *kv_bytes)
{
    const struct scenario *const work = s->scenario;
    const struct model *const model = &work->model;
    const double attention = attention_weights(s) + 2.0 * (double)model->hidden;
    struct stage_elements layer[MAX_KINDS];
    int64_t fullest = 0;
    *weight_bytes = *kv_bytes = 0.0;
    for (int k = 0; k < model->n_kinds; k++) {
        layer[k].weights = attention + ffn_weights(s, model->kind[k].moe);
        layer[k].kv = kv_elements(s, model->kind[k].window_tokens);
    }
    for (int64_t stage = 0; stage < s->plan.pp; stage++) {
        const struct stage_elements held = stage_elements(s, stage, layer);
        const double weights = held.weights * work->weight_bytes, kv = held.kv * work->kv_bytes;
        if (stage > 0 && weights + kv <= *weight_bytes + *kv_bytes) continue;
        *weight_bytes = weights;
        *kv_bytes = kv;
        fullest = stage;
    }
    return fullest;
}

void lower_memory(struct demand *demand, const struct shares *s)
{
    lower_fullest_stage(s, &demand->weight_bytes, &demand->kv_bytes);
    demand->activation_bytes = s->scenario->activation_bytes * activation_elements(s);
}
