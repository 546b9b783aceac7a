/* The letters of MODEL.md with their values for one plan and layer kind, taken from the sizes that lowering uses. */
#include "shares.h"
#include <math.h>

const struct symbol_facts symbol_facts[N_SYMBOLS] = {
#define X(name, of, dimension, section, meaning) {#name, OF_##of, DIM_##dimension, section, meaning},
    SYMBOLS(X)
#undef X
};
const char *const symbol_owner_name[N_SYMBOL_OWNERS] = {
#define X(code, heading) heading,
    SYMBOL_OWNERS(X)
#undef X
};
const char *const exchange_ranks_meaning[N_EXCHANGE_RANKS] = {
#define X(code, meaning) meaning,
    EXCHANGE_RANKS(X)
#undef X
};

/* A size that only some models have. */
static double size_if(bool exists, int64_t size)
{
    return exists ? (double)size : NAN;
}

static void model_symbols(double *v, const struct shares *s, const struct layer_kind *kind)
{
    const struct model *const model = &s->scenario->model;
    const bool moe = model->moe.experts > 0;
    v[SYMBOL_L] = (double)model->layers;
    v[SYMBOL_H] = (double)model->hidden;
    v[SYMBOL_hq] = (double)model->heads;
    v[SYMBOL_hkv] = size_if(!s->mla, model->kv_heads);
    v[SYMBOL_dh] = size_if(!s->mla, model->head_dim);
    v[SYMBOL_dv] = (double)(s->mla ? model->mla.v_dim : model->head_dim);
    v[SYMBOL_F] = size_if(model->ffn > 0, model->ffn);
    v[SYMBOL_z] = model->gated ? 2.0 : 1.0;
    v[SYMBOL_V] = (double)model->vocab;
    v[SYMBOL_rq] = size_if(s->mla && model->mla.q_rank > 0, model->mla.q_rank);
    v[SYMBOL_rkv] = size_if(s->mla, model->mla.kv_rank);
    v[SYMBOL_dn] = size_if(s->mla, model->mla.nope_dim);
    v[SYMBOL_dr] = size_if(s->mla, model->mla.rope_dim);
    v[SYMBOL_E] = size_if(moe, model->moe.experts);
    v[SYMBOL_k] = size_if(moe, model->moe.per_token);
    v[SYMBOL_Fe] = size_if(moe, model->moe.ffn);
    v[SYMBOL_Fs] = size_if(moe, model->moe.shared_ffn);
    v[SYMBOL_W] = size_if(kind->window_tokens > 0, kind->window_tokens);
}

static void scenario_symbols(double *v, const struct shares *s)
{
    const struct scenario *const work = s->scenario;
    v[SYMBOL_T] = (double)work->new_tokens;
    v[SYMBOL_P] = size_if(!s->serve, work->past_tokens);
    v[SYMBOL_S] = (double)s->sequence;
    v[SYMBOL_isl] = size_if(s->serve, work->prompt_tokens);
    v[SYMBOL_osl] = size_if(s->serve, work->answer_tokens);
    v[SYMBOL_chunk] = size_if(s->serve && work->prompt_chunk > 0, work->prompt_chunk);
    v[SYMBOL_wb] = work->weight_bytes;
    v[SYMBOL_kb] = work->kv_bytes;
    v[SYMBOL_ab] = work->activation_bytes;
    v[SYMBOL_accepted] = work->accepted_tokens;
    v[SYMBOL_factor] = work->imbalance == IMBALANCE_FACTOR ? work->imbalance_factor : NAN;
}

static void plan_symbols(double *v, const struct shares *s)
{
    const struct fabric *const fabric = s->fabric;
    v[SYMBOL_Pc] = (double)fabric->pes_per_cube;
    v[SYMBOL_Cs] = (double)fabric->cubes_per_sip;
    v[SYMBOL_tm] = (double)fabric->tile_rows;
    v[SYMBOL_tn] = (double)fabric->tile_columns;
    v[SYMBOL_tk] = (double)fabric->tile_reduction;
    v[SYMBOL_q_tile] = (double)fabric->query_tile;
    v[SYMBOL_tp] = (double)s->plan.tp;
    v[SYMBOL_cp] = (double)s->plan.cp;
    v[SYMBOL_pp] = (double)s->plan.pp;
    v[SYMBOL_dp] = (double)s->plan.dp;
    v[SYMBOL_ep] = (double)s->plan.ep;
    v[SYMBOL_batch] = (double)s->plan.batch;
}

static void attention_symbols(double *v, const struct shares *s, int64_t window)
{
    const struct model *const model = &s->scenario->model;
    const struct cache_reads reads = attention_reads(s, window);
    v[SYMBOL_b] = (double)s->b;
    v[SYMBOL_m] = (double)s->m;
    v[SYMBOL_N] = s->tokens;
    v[SYMBOL_nl] = s->logit_tokens;
    v[SYMBOL_hg] = size_if(!s->mla, ceil_ratio(model->heads, model->kv_heads));
    v[SYMBOL_hq_] = (double)s->heads;
    v[SYMBOL_hp] = (double)s->projected;
    v[SYMBOL_r] = (double)s->split;
    v[SYMBOL_q] = (double)s->sequence_split;
    v[SYMBOL_kw] = s->kv_width;
    v[SYMBOL_qh] = (double)s->scored;
    v[SYMBOL_dqk] = s->score_dim;
    v[SYMBOL_dpv] = s->value_dim;
    v[SYMBOL_A] = attention_pairs(s, window);
    v[SYMBOL_rows] = (double)reads.rows;
    v[SYMBOL_met] = size_if(s->prefill, reads.met);
    v[SYMBOL_passes] = size_if(s->prefill, reads.passes);
    v[SYMBOL_u] = reads.again;
    v[SYMBOL_X] = s->mla && s->prefill ? mla_expanded_rows(s) : NAN;
}

static void ffn_symbols(double *v, const struct shares *s, bool moe)
{
    v[SYMBOL_D] = (double)s->ffn_ranks;
    v[SYMBOL_ns] = (double)s->ffn_sharded;
    v[SYMBOL_G] = s->ffn_tokens;
    if (!moe) return;
    const struct routing r = lower_routing(s);
    v[SYMBOL_et] = r.expert_tp;
    v[SYMBOL_load] = r.mean_pairs;
    v[SYMBOL_i] = r.imbalance;
    v[SYMBOL_Ec] = r.held;
    v[SYMBOL_Q] = r.average;
    v[SYMBOL_hot] = r.hot;
    if (r.chunk_share < 1.0) {
        v[SYMBOL_Gd] = r.other_tokens;
        v[SYMBOL_Gc] = r.chunk_tokens;
        v[SYMBOL_pc] = r.chunk_share;
    }
    v[SYMBOL_Ea] = r.experts;
    v[SYMBOL_Y] = r.targets;
    v[SYMBOL_Gs] = r.shared_tokens;
    v[SYMBOL_Fs_] = r.shared_width;
}

/* ---- which form of the equations --------------------------------------------------------------------------------- */

static void attention_traits(bool *is, const struct shares *s, int64_t window)
{
    const struct scenario *const work = s->scenario;
    const struct plan *const plan = &s->plan;
    const int64_t past = s->serve ? 0 : work->past_tokens, added = s->serve ? work->prompt_tokens : work->new_tokens;
    is[TRAIT_ALWAYS] = true;
    is[TRAIT_DECODE] = !s->prefill && !s->serve;
    is[TRAIT_PREFILL] = s->prefill;
    is[TRAIT_SERVE] = s->serve;
    is[TRAIT_NOT_PREFILL] = !s->prefill;
    is[TRAIT_MLA] = s->mla;
    is[TRAIT_NOT_MLA] = !s->mla;
    is[TRAIT_QUERY_RANK] = s->mla && work->model.mla.q_rank > 0;
    is[TRAIT_FULL_QUERIES] = s->mla && work->model.mla.q_rank == 0;
    is[TRAIT_REPLICATE] = !s->mla && plan->kv_mode == KV_REPLICATE;
    is[TRAIT_SPLIT_DIM] = plan->kv_mode == KV_SPLIT_DIM;
    is[TRAIT_SPLIT_SEQ] = plan->kv_mode == KV_SPLIT_SEQ;
    is[TRAIT_SPLIT] = plan->kv_mode != KV_REPLICATE;
    is[TRAIT_KV_MODES] = plan_kv_modes_apply(plan, &work->model);
    is[TRAIT_TP_COVERS_KV] = !s->mla && plan->tp >= work->model.kv_heads;
    is[TRAIT_KV_COVERS_TP] = !s->mla && plan->tp < work->model.kv_heads;
    is[TRAIT_ATTENTION_TP] = plan->attention_scope == ATTENTION_TP;
    is[TRAIT_ATTENTION_TP_CP] = plan->attention_scope == ATTENTION_TP_CP;
    is[TRAIT_RING_KV] = plan->ring == RING_KV;
    is[TRAIT_RING_Q] = plan->ring == RING_Q;
    is[TRAIT_REUSED] = s->fabric->gqa_reuse || (s->mla && s->prefill);
    is[TRAIT_REREAD] = !is[TRAIT_REUSED];
    is[TRAIT_GLOBAL] = window == 0;
    is[TRAIT_WINDOWED] = window > 0;
    is[TRAIT_GROWING] = window == 0 || past + added <= window;
    is[TRAIT_SATURATED] = window > 0 && past >= window;
    is[TRAIT_CROSSING] = !is[TRAIT_GROWING] && !is[TRAIT_SATURATED];
}

static void ffn_traits(bool *is, const struct shares *s, bool moe)
{
    const struct plan *const plan = &s->plan;
    const enum imbalance imbalance = s->scenario->imbalance;
    is[TRAIT_FFN_TP] = plan->ffn_scope == FFN_TP;
    is[TRAIT_FFN_TP_CP] = plan->ffn_scope == FFN_TP_CP;
    is[TRAIT_FFN_TP_CP_DP] = plan->ffn_scope == FFN_TP_CP_DP;
    is[TRAIT_DENSE] = !moe;
    is[TRAIT_MOE] = moe;
    is[TRAIT_SHARED] = moe && s->scenario->model.moe.shared_ffn > 0;
    is[TRAIT_ALLTOALL] = moe && plan->moe_exchange == MOE_ALLTOALL;
    is[TRAIT_ALLGATHER] = !is[TRAIT_ALLTOALL];
    is[TRAIT_ONE_EP] = plan->ep == 1;
    is[TRAIT_MANY_EP] = plan->ep > 1;
    is[TRAIT_EVEN] = plan->ep == 1 || imbalance == IMBALANCE_UNIFORM;
    is[TRAIT_RANDOM] = !is[TRAIT_EVEN] && imbalance == IMBALANCE_RANDOM;
    is[TRAIT_FACTOR] = !is[TRAIT_EVEN] && imbalance == IMBALANCE_FACTOR;
    is[TRAIT_CHUNKED] = moe && lower_routing(s).chunk_share < 1.0;
}

static void exchange_groups(struct group *over, const struct shares *s)
{
    struct group ffn, rest;
    plan_group(&over[OVER_TP], &s->layout, AXES_TP);
    plan_group(&over[OVER_CP], &s->layout, AXES_CP);
    plan_group(&over[OVER_PP], &s->layout, AXES_PP);
    plan_group(&over[OVER_ATTENTION], &s->layout, s->attention_axes);
    plan_subgroup(&over[OVER_KV_SHARERS], &rest, &over[OVER_TP], s->split);
    plan_group(&over[OVER_FFN_SHARDED], &s->layout, s->sharded_axes);
    plan_group(&over[OVER_FFN_REPLICATED], &s->layout, s->replicated_axes);
    plan_group(&ffn, &s->layout, s->sharded_axes | s->replicated_axes);
    plan_subgroup(&over[OVER_EXPERT_TP], &over[OVER_EXPERT_PARALLEL], &ffn, s->ffn_ranks / s->plan.ep);
}

void lower_symbols(struct symbols *symbols, const struct lowering *lowering, const struct plan *plan, int kind)
{
    const struct layer_kind *const layer = &lowering->scenario->model.kind[kind];
    struct shares s;
    lower_shares(&s, lowering, plan, true);
    *symbols = (struct symbols){.trait = {false}};
    for (int i = 0; i < N_SYMBOLS; i++) symbols->value[i] = NAN;
    model_symbols(symbols->value, &s, layer);
    scenario_symbols(symbols->value, &s);
    plan_symbols(symbols->value, &s);
    attention_symbols(symbols->value, &s, layer->window_tokens);
    ffn_symbols(symbols->value, &s, layer->moe);
    attention_traits(symbols->trait, &s, layer->window_tokens);
    ffn_traits(symbols->trait, &s, layer->moe);
    exchange_groups(symbols->over, &s);
}
