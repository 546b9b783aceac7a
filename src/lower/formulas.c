/* The equations of MODEL sections 5 to 7 as texts over its letters, for `explain --formulas` and `glossary`.
 *
 * They stand beside the code that lowers a plan and say the same: tests/test_formulas.c evaluates every text and compares it
 * with the demand.  GEMMs that share a stage are terms of their own, as are the reads and writes of a kernel. */
#include "cosweep/lower.h"
#include <math.h>

#define IF(...)                                                                                                             \
    {                                                                                                                       \
        __VA_ARGS__                                                                                                         \
    }
#define ALWAYS                                                                                                              \
    {                                                                                                                       \
        TRAIT_ALWAYS                                                                                                        \
    }

/* A GEMM of n x inner x columns, or `count` of them: FLOP and HBM bytes.  Sizes that are sums come in parentheses. */
#define GEMM_FLOP(n, inner, columns)  "2*up(" n ",tm)*up(" inner ",tk)*up(" columns ",tn)"
#define GEMM_BYTES(n, inner, columns) inner "*" columns "*wb+" n "*(" inner "+" columns ")*ab"
#define GEMM(stage, when, label, n, inner, columns)                                                                         \
    {STAGE_##stage, QUANTITY_FLOP, when, label, GEMM_FLOP(n, inner, columns)},                                              \
    {                                                                                                                       \
        STAGE_##stage, QUANTITY_HBM_BYTES, when, label, GEMM_BYTES(n, inner, columns)                                       \
    }
#define GEMMS(stage, when, label, count, n, inner, columns)                                                                 \
    {STAGE_##stage, QUANTITY_FLOP, when, label, count "*" GEMM_FLOP(n, inner, columns)},                                    \
    {                                                                                                                       \
        STAGE_##stage, QUANTITY_HBM_BYTES, when, label, count "*(" GEMM_BYTES(n, inner, columns) ")"                        \
    }
#define VECTOR(stage, when, label, text)                                                                                    \
    {                                                                                                                       \
        STAGE_##stage, QUANTITY_VECTOR_FLOP, when, label, text                                                              \
    }
#define BYTES(stage, when, label, text)                                                                                     \
    {                                                                                                                       \
        STAGE_##stage, QUANTITY_HBM_BYTES, when, label, text                                                                \
    }
#define FLOP(stage, when, label, text)                                                                                      \
    {                                                                                                                       \
        STAGE_##stage, QUANTITY_FLOP, when, label, text                                                                     \
    }

/* Conditions as macro arguments: a brace list would fall apart at its commas. */
#define GQA              IF(TRAIT_NOT_MLA)
#define MLA              IF(TRAIT_MLA)
#define MLA_QUERY_RANK   IF(TRAIT_QUERY_RANK)
#define MLA_FULL_QUERIES IF(TRAIT_FULL_QUERIES)
#define MLA_ABSORBED     IF(TRAIT_MLA, TRAIT_NOT_PREFILL)
#define MLA_EXPANDED     IF(TRAIT_MLA, TRAIT_PREFILL)
#define GQA_PREFILL      IF(TRAIT_NOT_MLA, TRAIT_PREFILL)
#define DECODE           IF(TRAIT_DECODE)
#define PREFILL          IF(TRAIT_PREFILL)
#define SERVE            IF(TRAIT_SERVE)
#define NOT_PREFILL      IF(TRAIT_NOT_PREFILL)
#define DENSE            IF(TRAIT_DENSE)
#define MOE              IF(TRAIT_MOE)
#define SHARED           IF(TRAIT_SHARED)

static const struct formula formulas[] = {
    VECTOR(ATTN_NORM, ALWAYS, "norm", "4*N*H"),
    BYTES(ATTN_NORM, ALWAYS, "read and write", "2*N*H*ab"),

    GEMM(QKV_PROJ, GQA, "queries, keys and values", "N", "H", "(hp*dh+kw)"),
    GEMM(QKV_PROJ, MLA_QUERY_RANK, "queries down", "N", "H", "rq"),
    GEMM(QKV_PROJ, MLA_QUERY_RANK, "queries up", "N", "rq", "hp*(dn+dr)"),
    GEMM(QKV_PROJ, MLA_FULL_QUERIES, "queries", "N", "H", "hp*(dn+dr)"),
    GEMM(QKV_PROJ, MLA, "latent to cache", "N", "H", "kw"),
    GEMMS(QKV_PROJ, MLA_ABSORBED, "queries into the latent space, per head", "hp", "N", "dn", "rkv"),
    GEMMS(QKV_PROJ, MLA_ABSORBED, "outputs back from it, per head", "hp", "N", "rkv", "dv"),
    GEMM(QKV_PROJ, MLA_EXPANDED, "latents to keys and values", "X", "rkv", "hp*(dn+dv)"),

    VECTOR(ROPE_KV_APPEND, GQA, "rotation", "6*N*hp*dh"),
    VECTOR(ROPE_KV_APPEND, MLA, "rotation", "6*N*hp*dr"),
    BYTES(ROPE_KV_APPEND, NOT_PREFILL, "append to the cache", "N*kw*kb/(cp*q)"),
    BYTES(ROPE_KV_APPEND, PREFILL, "append to the cache", "N*kw*kb/q"),
    BYTES(ROPE_KV_APPEND, GQA, "queries, read and write", "2*N*hp*dh*ab"),
    BYTES(ROPE_KV_APPEND, MLA, "queries, read and write", "2*N*hp*(dn+dr)*ab"),

    FLOP(ATTENTION, ALWAYS, "scores and weighted sums", "2*b*qh*(dqk+dpv)*A"),
    VECTOR(ATTENTION, ALWAYS, "softmax", "5*b*qh*A"),
    BYTES(ATTENTION, DECODE, "cache", "b*rows*kw*kb*u"),
    BYTES(ATTENTION, GQA_PREFILL, "keys and values, each pass", "b*met*kw*kb*passes*u"),
    BYTES(ATTENTION, MLA_EXPANDED, "keys and values, each pass", "b*met*hq_*(dn+dr+dv)*ab*passes*u"),
    BYTES(ATTENTION, SERVE, "cache", "b*(rows+isl/osl/(cp*q))*kw*kb*u"),
    BYTES(ATTENTION, ALWAYS, "queries in, outputs out", "N*qh*(dqk+dpv)*ab"),

    GEMM(O_PROJ, ALWAYS, "outputs", "N", "hp*dv", "H"),

    VECTOR(FFN_NORM, ALWAYS, "norm", "4*N*H"),
    BYTES(FFN_NORM, ALWAYS, "read and write", "2*N*H*ab"),

    GEMM(ROUTER, ALWAYS, "scores of the experts", "N", "H", "E"),
    GEMM(GATE_UP, DENSE, "gate and up", "G", "H", "z*ceil(F/D)"),
    GEMMS(GATE_UP, MOE, "routed experts", "Ea", "Q*hot/Ea", "H", "z*Fe/et"),
    GEMM(GATE_UP, SHARED, "shared experts", "Gs", "H", "z*Fs_"),
    VECTOR(ACTIVATION, DENSE, "nonlinearity", "4*G*ceil(F/D)"),
    BYTES(ACTIVATION, DENSE, "read and write", "(z+1)*G*ceil(F/D)*ab"),
    VECTOR(ACTIVATION, MOE, "nonlinearity", "4*(Q*hot*Fe/et+Gs*Fs_)"),
    BYTES(ACTIVATION, MOE, "read and write", "(z+1)*(Q*hot*Fe/et+Gs*Fs_)*ab"),
    GEMM(DOWN, DENSE, "down", "G", "ceil(F/D)", "H"),
    GEMMS(DOWN, MOE, "routed experts", "Ea", "Q*hot/Ea", "Fe/et", "H"),
    GEMM(DOWN, SHARED, "shared experts", "Gs", "Fs_", "H"),

    BYTES(EMBED, ALWAYS, "read and write", "2*N*H*ab"),
    VECTOR(FINAL_NORM, ALWAYS, "norm", "4*nl*H"),
    BYTES(FINAL_NORM, ALWAYS, "read and write", "2*nl*H*ab"),
    GEMM(LM_HEAD, ALWAYS, "logits", "nl", "H", "ceil(V/tp)"),
};

/* The two exchanges of an all-to-all dispatch, which `combine` does again. */
#define EXPERTS_ALL_TO_ALL(stage)                                                                                           \
    {                                                                                                                       \
        STAGE_##stage,       IF(TRAIT_ALLTOALL),   false, ALL_TO_ALL, OVER_EXPERT_PARALLEL,                                 \
        "tokens to experts", "max(1,i*G/D)*Y*H*ab"},                                                                        \
    {                                                                                                                       \
        STAGE_##stage, IF(TRAIT_ALLTOALL), false, ALL_GATHER, OVER_EXPERT_TP, "among the ranks of an expert",               \
            "i*G*Y/ep*H*ab"                                                                                                 \
    }

static const struct exchange exchanges[] = {
    {STAGE_ATTENTION, IF(TRAIT_SPLIT_DIM), false, ALL_REDUCE, OVER_KV_SHARERS, "partial scores", "b*qh*A*4"},
    {STAGE_ATTENTION, IF(TRAIT_SPLIT_SEQ), false, ALL_GATHER, OVER_KV_SHARERS, "queries", "N*qh*dh*ab"},
    {STAGE_ATTENTION, IF(TRAIT_SPLIT_SEQ), false, ALL_REDUCE, OVER_KV_SHARERS, "outputs, maxima and sums", "N*qh*(dv+2)*4"},
    {STAGE_ATTENTION, IF(TRAIT_ATTENTION_TP_CP), false, ALL_GATHER, OVER_CP, "queries", "N*qh*dqk*ab"},
    {STAGE_ATTENTION, IF(TRAIT_PREFILL, TRAIT_RING_KV), true, 0, OVER_CP, "ring of keys and values", "b*rows*kw*kb"},
    {STAGE_ATTENTION, IF(TRAIT_PREFILL, TRAIT_RING_Q), true, 0, OVER_CP, "ring of queries and outputs",
     "N*qh*(dqk*ab+(dpv+2)*4)"},
    {STAGE_CP_COMBINE, IF(TRAIT_NOT_PREFILL, TRAIT_ATTENTION_TP), false, ALL_REDUCE, OVER_CP, "outputs, maxima and sums",
     "N*qh*(dpv+2)*4"},
    {STAGE_CP_COMBINE, IF(TRAIT_NOT_PREFILL, TRAIT_ATTENTION_TP_CP), false, REDUCE_SCATTER, OVER_CP,
     "outputs, maxima and sums", "N*qh*(dpv+2)*4"},
    {STAGE_ATTN_ALLREDUCE, ALWAYS, false, ALL_REDUCE, OVER_ATTENTION, "sums of the output projection", "N*H*ab"},
    {STAGE_DISPATCH, IF(TRAIT_ALLGATHER), false, ALL_GATHER, OVER_FFN_SHARDED, "tokens", "G*H*ab"},
    EXPERTS_ALL_TO_ALL(DISPATCH),
    {STAGE_COMBINE, IF(TRAIT_ALLGATHER), false, REDUCE_SCATTER, OVER_FFN_SHARDED, "results to their tokens", "G*H*ab"},
    {STAGE_COMBINE, IF(TRAIT_ALLGATHER), false, ALL_REDUCE, OVER_FFN_REPLICATED, "sums", "G/ns*H*ab"},
    EXPERTS_ALL_TO_ALL(COMBINE),
    {STAGE_COMBINE, IF(TRAIT_ALLTOALL), false, ALL_GATHER, OVER_FFN_REPLICATED, "results", "G/ns*H*ab"},
    {STAGE_EMBED, ALWAYS, false, ALL_REDUCE, OVER_TP, "rows of the embedding", "N*H*ab"},
    {STAGE_LM_HEAD, ALWAYS, false, ALL_GATHER, OVER_TP, "logits", "nl*V*ab"},
    {N_STAGES, ALWAYS, true, 0, OVER_PP, "tokens to the next pipeline stage", "N*H*ab/tp"},
    {N_STAGES, ALWAYS, false, ALL_GATHER, OVER_TP, "tokens", "N*H*ab"},
};

/* The first that holds counts. */
static const struct definition {
    enum symbol symbol;
    unsigned char when[MAX_CONDITIONS];
    const char *text;
} definitions[] = {
    {SYMBOL_S, IF(TRAIT_SERVE), "isl+ceil(osl/2)"},
    {SYMBOL_S, ALWAYS, "P+T"},
    {SYMBOL_b, ALWAYS, "ceil(batch/min(pp,batch))"},
    {SYMBOL_m, ALWAYS, "ceil(batch/b)"},
    {SYMBOL_N, IF(TRAIT_DECODE), "b*T"},
    {SYMBOL_N, IF(TRAIT_PREFILL), "b*ceil(T/cp)"},
    {SYMBOL_N, IF(TRAIT_SERVE), "b*(isl+osl)/osl"},
    {SYMBOL_hg, ALWAYS, "ceil(hq/hkv)"},
    {SYMBOL_hq_, IF(TRAIT_MLA), "ceil(hq/tp)"},
    {SYMBOL_hq_, IF(TRAIT_TP_COVERS_KV), "ceil(hg/floor(tp/hkv))"},
    {SYMBOL_hq_, IF(TRAIT_KV_COVERS_TP), "ceil(hkv/tp)*hg"},
    {SYMBOL_hp, IF(TRAIT_ATTENTION_TP_CP), "ceil(hq_/cp)"},
    {SYMBOL_hp, ALWAYS, "hq_"},
    {SYMBOL_r, IF(TRAIT_KV_MODES), "tp/hkv"},
    {SYMBOL_r, ALWAYS, "1"},
    {SYMBOL_q, IF(TRAIT_SPLIT_SEQ), "r"},
    {SYMBOL_q, ALWAYS, "1"},
    {SYMBOL_kw, IF(TRAIT_MLA), "rkv+dr"},
    {SYMBOL_kw, IF(TRAIT_REPLICATE), "ceil(hkv/tp)*(dh+dv)"},
    {SYMBOL_kw, IF(TRAIT_SPLIT_DIM), "(dh+dv)/r"},
    {SYMBOL_kw, IF(TRAIT_SPLIT_SEQ), "dh+dv"},
    {SYMBOL_qh, IF(TRAIT_SPLIT), "hg"},
    {SYMBOL_qh, ALWAYS, "hq_"},
    {SYMBOL_dqk, IF(TRAIT_MLA, TRAIT_PREFILL), "dn+dr"},
    {SYMBOL_dqk, IF(TRAIT_MLA), "rkv+dr"},
    {SYMBOL_dqk, IF(TRAIT_SPLIT_DIM), "dh/r"},
    {SYMBOL_dqk, ALWAYS, "dh"},
    {SYMBOL_dpv, IF(TRAIT_MLA, TRAIT_NOT_PREFILL), "rkv"},
    {SYMBOL_dpv, IF(TRAIT_SPLIT_DIM), "dv/r"},
    {SYMBOL_dpv, ALWAYS, "dv"},
    {SYMBOL_A, IF(TRAIT_SERVE, TRAIT_GLOBAL), "(S+isl*(isl+1)/2/osl)/(cp*q)"},
    {SYMBOL_A, IF(TRAIT_SERVE, TRAIT_GROWING), "(min(S,W)+isl*(isl+1)/2/osl)/(cp*q)"},
    {SYMBOL_A, IF(TRAIT_SERVE), "(min(S,W)+(W*(W+1)/2+(isl-W)*W)/osl)/(cp*q)"},
    {SYMBOL_A, IF(TRAIT_GROWING), "ceil((T*P+T*(T+1)/2)/(cp*q))"},
    {SYMBOL_A, IF(TRAIT_SATURATED), "ceil(T*W/(cp*q))"},
    {SYMBOL_A, IF(TRAIT_CROSSING), "ceil(((W-P)*P+(W-P)*(W-P+1)/2+(P+T-W)*W)/(cp*q))"},
    {SYMBOL_rows, IF(TRAIT_NOT_PREFILL, TRAIT_WINDOWED), "ceil(min(S,W)/(cp*q))"},
    {SYMBOL_rows, ALWAYS, "ceil(S/(cp*q))"},
    {SYMBOL_met, IF(TRAIT_WINDOWED), "min(cp*rows,ceil((W+q_tile)/q))"},
    {SYMBOL_met, ALWAYS, "cp*rows"},
    {SYMBOL_passes, ALWAYS, "ceil(ceil(T/cp)/q_tile)"},
    {SYMBOL_u, IF(TRAIT_REUSED), "1"},
    {SYMBOL_u, IF(TRAIT_REPLICATE), "qh/ceil(hkv/tp)"},
    {SYMBOL_u, ALWAYS, "qh"},
    {SYMBOL_X, IF(TRAIT_RING_KV), "b*ceil(S/cp)*cp"},
    {SYMBOL_X, ALWAYS, "b*ceil(S/cp)"},
    {SYMBOL_D, IF(TRAIT_FFN_TP), "tp"},
    {SYMBOL_D, IF(TRAIT_FFN_TP_CP), "tp*cp"},
    {SYMBOL_D, IF(TRAIT_FFN_TP_CP_DP), "tp*cp*dp"},
    {SYMBOL_ns, IF(TRAIT_PREFILL, TRAIT_FFN_TP_CP), "cp"},
    {SYMBOL_ns, IF(TRAIT_PREFILL, TRAIT_FFN_TP_CP_DP), "cp*dp"},
    {SYMBOL_ns, IF(TRAIT_FFN_TP_CP_DP), "dp"},
    {SYMBOL_ns, ALWAYS, "1"},
    {SYMBOL_G, ALWAYS, "N*ns"},
    {SYMBOL_et, ALWAYS, "D/ep"},
    {SYMBOL_load, ALWAYS, "G*k/ep"},
    {SYMBOL_i, IF(TRAIT_EVEN), "1"},
    {SYMBOL_i, IF(TRAIT_RANDOM), "min(ep,1+sqrt(2*ln(ep)/load))"},
    {SYMBOL_i, IF(TRAIT_FACTOR), "min(ep,factor)"},
    {SYMBOL_Ec, ALWAYS, "ceil(E/ep)"},
    {SYMBOL_Q, ALWAYS, "G*k*Ec/E"},
    {SYMBOL_hot, IF(TRAIT_ONE_EP), "1"},
    {SYMBOL_hot, ALWAYS, "max(i,1/Q)"},
    {SYMBOL_Gd, ALWAYS, "b*ns"},
    {SYMBOL_Gc, ALWAYS, "Gd+min(chunk,isl)"},
    {SYMBOL_pc, ALWAYS, "Gd*isl/osl/min(chunk,isl)"},
    {SYMBOL_Ea, IF(TRAIT_ONE_EP, TRAIT_CHUNKED), "E*(pc*(1-pow(1-k/E,Gc))+(1-pc)*(1-pow(1-k/E,Gd)))"},
    {SYMBOL_Ea, IF(TRAIT_CHUNKED),
     "pc*min(Ec,max(1,Ec*(1-pow(1-k/E,Gc*hot))))+(1-pc)*min(Ec,max(1,Ec*(1-pow(1-k/E,Gd*hot))))"},
    {SYMBOL_Ea, IF(TRAIT_ONE_EP), "E*(1-pow(1-k/E,G))"},
    {SYMBOL_Ea, ALWAYS, "min(Ec,max(1,Ec*(1-pow(1-k/E,G*hot))))"},
    {SYMBOL_Y, ALWAYS, "ep*(1-pow(1-1/ep,k))"},
    {SYMBOL_Gs, IF(TRAIT_ALLTOALL), "G/D"},
    {SYMBOL_Gs, ALWAYS, "G"},
    {SYMBOL_Fs_, IF(TRAIT_ALLTOALL), "Fs"},
    {SYMBOL_Fs_, ALWAYS, "Fs/D"},
    {SYMBOL_nl, IF(TRAIT_DECODE), "N"},
    {SYMBOL_nl, IF(TRAIT_PREFILL), "b"},
    {SYMBOL_nl, IF(TRAIT_SERVE), "b*(osl+1)/osl"},
};

static bool holds(const struct symbols *symbols, const unsigned char when[MAX_CONDITIONS])
{
    for (int i = 0; i < MAX_CONDITIONS; i++)
        if (!symbols->trait[when[i]]) return false;
    return true;
}

const struct formula *formula_next(const struct formula *after, const struct symbols *symbols, enum stage stage,
                                   enum quantity quantity)
{
    const struct formula *const end = formulas + sizeof formulas / sizeof formulas[0];
    for (const struct formula *f = after ? after + 1 : formulas; f < end; f++)
        if (f->stage == stage && f->quantity == quantity && holds(symbols, f->when)) return f;
    return NULL;
}

const struct exchange *exchange_next(const struct exchange *after, const struct symbols *symbols, int stage)
{
    const struct exchange *const end = exchanges + sizeof exchanges / sizeof exchanges[0];
    for (const struct exchange *e = after ? after + 1 : exchanges; e < end; e++)
        if (e->stage == stage && holds(symbols, e->when)) return e;
    return NULL;
}

const char *symbol_definition(const struct symbols *symbols, enum symbol symbol)
{
    const size_t n = sizeof definitions / sizeof definitions[0];
    if (isnan(symbols->value[symbol])) return NULL;
    for (size_t i = 0; i < n; i++)
        if (definitions[i].symbol == symbol && holds(symbols, definitions[i].when)) return definitions[i].text;
    return NULL;
}
