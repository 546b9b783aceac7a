/* The attention block of one layer kind on one rank (MODEL section 5). */
#include "shares.h"

/* Query-key pairs of T new tokens after P cached ones under window W: sum over i = 1..T of min(W, P+i). */
static int64_t causal_pairs(int64_t new_tokens, int64_t past_tokens, int64_t window)
{
    const int64_t t = new_tokens, p = past_tokens;
    if (window == 0 || p + t <= window) return t * p + (t * (t + 1)) / 2;
    if (p >= window) return t * window;
    const int64_t growing = window - p; /* the first tokens see fewer rows than the window */
    return growing * p + (growing * (growing + 1)) / 2 + (t - growing) * window;
}

double attention_pairs(const struct shares *s, int64_t window)
{
    const struct scenario *const work = s->scenario;
    const int64_t ranks = s->plan.cp * s->sequence_split;
    if (!s->serve) return (double)ceil_ratio(causal_pairs(work->new_tokens, work->past_tokens, window), ranks);
    const double decode = (double)windowed(s->sequence, window);
    const double prompt = (double)causal_pairs(work->prompt_tokens, 0, window) / (double)work->answer_tokens;
    return (decode + prompt) / (double)ranks;
}

int64_t attention_rows(const struct shares *s, int64_t window)
{
    const int64_t ranks = s->plan.cp * s->sequence_split;
    return ceil_ratio(s->prefill ? s->sequence : windowed(s->sequence, window), ranks);
}

struct cache_reads attention_reads(const struct shares *s, int64_t window)
{
    const bool reuse = s->fabric->gqa_reuse || !s->tiles_and_waste;
    struct cache_reads reads = {.rows = attention_rows(s, window), .passes = 1, .again = 1.0};
    if (!reuse && !(s->prefill && s->mla)) reads.again = (double)s->scored / (double)s->cached_heads;
    if (!s->prefill) return reads;
    reads.met = s->plan.cp * reads.rows;
    if (window > 0) reads.met = at_most(reads.met, ceil_ratio(window + s->fabric->query_tile, s->sequence_split));
    reads.passes = ceil_ratio(ceil_ratio(s->scenario->new_tokens, s->plan.cp), s->fabric->query_tile);
    return reads;
}

/* R of MODEL section 5: HBM bytes of the fused kernel. */
static double attention_bytes(const struct shares *s, int64_t window)
{
    const struct scenario *const work = s->scenario;
    const struct model *const model = &work->model;
    const struct cache_reads reads = attention_reads(s, window);
    const double b = (double)s->b, rows = (double)reads.rows, again = reads.again;
    const double io = s->tokens * (double)s->scored * (s->score_dim + s->value_dim) * work->activation_bytes;
    if (!s->prefill) {
        const double ranks = (double)(s->plan.cp * s->sequence_split);
        const double all_rows = s->serve ? rows + s->prompt_per_token / ranks : rows;
        return b * all_rows * s->kv_width * work->kv_bytes * again + io;
    }
    const int64_t expanded = s->heads * (model->mla.nope_dim + model->mla.rope_dim + model->mla.v_dim);
    const double row_bytes = s->mla ? (double)expanded * work->activation_bytes : s->kv_width * work->kv_bytes * again;
    return b * (double)reads.met * row_bytes * (double)reads.passes + io;
}

double mla_expanded_rows(const struct shares *s)
{
    return (double)s->b * (double)ceil_ratio(s->sequence, s->plan.cp) * (s->plan.ring == RING_KV ? (double)s->plan.cp : 1.0);
}

static void lower_projections(struct demand *demand, const struct shares *s, int kind)
{
    const struct model *const model = &s->scenario->model;
    const double hidden = (double)model->hidden, heads = (double)s->projected, n = s->tokens;
    struct stage_row *const row = demand_add_row(demand, STAGE_QKV_PROJ, kind);
    if (!s->mla) {
        row_add(row, gemm(s, 1.0, n, hidden, heads * (double)model->head_dim + s->kv_width));
        return;
    }
    const double nope = (double)model->mla.nope_dim, query = nope + (double)model->mla.rope_dim;
    const double q_rank = (double)model->mla.q_rank, kv_rank = (double)model->mla.kv_rank, value = (double)model->mla.v_dim;
    row_add(row, gemm(s, 1.0, n, hidden, model->mla.q_rank > 0 ? q_rank : heads * query));
    if (model->mla.q_rank > 0) row_add(row, gemm(s, 1.0, n, q_rank, heads * query));
    row_add(row, gemm(s, 1.0, n, hidden, s->kv_width));
    if (s->prefill) { /* expanded: every row that this rank scores */
        row_add(row, gemm(s, 1.0, mla_expanded_rows(s), kv_rank, heads * (nope + value)));
    } else { /* absorbed: per head, queries into the latent space and outputs back */
        row_add(row, gemm(s, heads, n, nope, kv_rank));
        row_add(row, gemm(s, heads, n, kv_rank, value));
    }
}

static void lower_rope(struct demand *demand, const struct shares *s, int kind)
{
    const struct scenario *const work = s->scenario;
    const struct model *const model = &work->model;
    const double heads = (double)s->projected, n = s->tokens;
    const int64_t rotated = s->mla ? model->mla.rope_dim : model->head_dim;
    const int64_t moved = s->mla ? model->mla.nope_dim + model->mla.rope_dim : model->head_dim;
    const double ranks = (double)((s->prefill ? 1 : s->plan.cp) * s->sequence_split);
    struct stage_row *const row = demand_add_row(demand, STAGE_ROPE_KV_APPEND, kind);
    row->vector_flop = 6.0 * n * heads * (double)rotated;
    row_add(row, (struct work){0.0, n * s->kv_width * work->kv_bytes / ranks +
                                        2.0 * n * heads * (double)moved * work->activation_bytes});
}

/* The exchanges among the ranks that share a KV head, and of queries over CP. */
static void lower_query_exchanges(struct demand *demand, const struct shares *s, double pairs, double n_layers)
{
    const struct model *const model = &s->scenario->model;
    const double queries = s->tokens * (double)s->scored, activation = s->scenario->activation_bytes;
    if (s->plan.kv_mode != KV_REPLICATE) {
        struct group tp, sharers, rest;
        plan_group(&tp, &s->layout, AXES_TP);
        plan_subgroup(&sharers, &rest, &tp, s->split);
        if (s->plan.kv_mode == KV_SPLIT_DIM) {
            const double scores = (double)s->b * (double)s->scored * pairs;
            demand_add_collective(demand, s, ALL_REDUCE, &sharers, scores * 4.0, n_layers);
        } else {
            const double partial = queries * ((double)model->head_dim + 2.0) * 4.0;
            demand_add_collective(demand, s, ALL_GATHER, &sharers, queries * (double)model->head_dim * activation, n_layers);
            demand_add_collective(demand, s, ALL_REDUCE, &sharers, partial, n_layers);
        }
    }
    if (s->plan.attention_scope == ATTENTION_TP_CP)
        demand_add_collective_over(demand, s, ALL_GATHER, AXES_CP, queries * s->score_dim * activation, n_layers);
}

/* Prefill over cp ranks: chunks of keys and values, or of queries with their running sums, go round. */
static void lower_ring(struct demand *demand, const struct shares *s, int kind, double n_layers)
{
    const struct scenario *const work = s->scenario;
    const double hops = (double)(s->plan.cp - 1), window_rows = (double)attention_rows(s, demand->kind[kind].window_tokens);
    const double queries = s->tokens * (double)s->scored;
    const bool passes_kv = s->plan.ring == RING_KV;
    const double bytes = passes_kv ? (double)s->b * window_rows * s->kv_width * work->kv_bytes
                                   : queries * (s->score_dim * work->activation_bytes + (s->value_dim + 2.0) * 4.0);
    struct ring_row *const ring = &demand->ring[kind];
    ring->n_hops = hops;
    ring->n_extra = passes_kv ? 0.0 : 1.0;
    ring->chunk = 1.0 / (double)s->plan.cp;
    ring->hop = lower_hop(s, AXIS_CP, bytes);
    if (ring->hop.top >= 0) demand->wire_bytes[ring->hop.top] += n_layers * (hops + ring->n_extra) * bytes;
}

void lower_attention(struct demand *demand, const struct shares *s, int kind)
{
    const struct scenario *const work = s->scenario;
    const struct model *const model = &work->model;
    const struct layer_kind *const layer = &demand->kind[kind];
    const double hidden = (double)model->hidden, n = s->tokens, n_layers = (double)layer->n_layers;
    const double pairs = attention_pairs(s, layer->window_tokens), scored = (double)s->b * (double)s->scored * pairs;
    const double stream = n * hidden * work->activation_bytes;
    struct stage_row *row = demand_add_row(demand, STAGE_ATTN_NORM, kind);
    row->vector_flop = 4.0 * n * hidden;
    row_add(row, (struct work){0.0, 2.0 * stream});

    lower_projections(demand, s, kind);
    lower_rope(demand, s, kind);

    row = demand_add_row(demand, STAGE_ATTENTION, kind);
    row_add(row, (struct work){2.0 * scored * (s->score_dim + s->value_dim), attention_bytes(s, layer->window_tokens)});
    row->vector_flop = 5.0 * scored;
    lower_query_exchanges(demand, s, pairs, n_layers);
    if (s->prefill && s->plan.cp > 1) lower_ring(demand, s, kind, n_layers);

    demand_add_row(demand, STAGE_CP_COMBINE, kind);
    if (!s->prefill && s->plan.cp > 1)
        demand_add_collective_over(demand, s, s->plan.attention_scope == ATTENTION_TP_CP ? REDUCE_SCATTER : ALL_REDUCE,
                                   AXES_CP, n * (double)s->scored * (s->value_dim + 2.0) * 4.0, n_layers);

    row = demand_add_row(demand, STAGE_O_PROJ, kind);
    const int64_t value = s->mla ? model->mla.v_dim : model->head_dim;
    row_add(row, gemm(s, 1.0, n, (double)(s->projected * value), hidden));

    if (sums_merge(s, layer->moe)) return;
    demand_add_row(demand, STAGE_ATTN_ALLREDUCE, kind);
    demand_add_collective_over(demand, s, ALL_REDUCE, s->attention_axes, stream, n_layers);
}
