/* lower: (model, scenario, plan, fabric) -> demand (MODEL sections 3 to 9).  Pure functions; no rates. */
#ifndef COSWEEP_LOWER_H
#define COSWEEP_LOWER_H

#include "cosweep/demand.h"
#include "cosweep/plan.h"

enum { OWN_CACHE = 64 };

/* What lowering keeps between plans of one scenario and fabric; one per thread, on the caller's storage. */
struct lowering {
    const struct scenario *scenario; /* borrowed */
    struct fabric fabric;
    struct { int64_t sequences; double flop, hbm_bytes; } own[OWN_CACHE]; /* by number of sequences, direct-mapped */
};
void lower_init(struct lowering *lowering, const struct scenario *scenario);
/* The fabric of the plans that follow. */
void lower_set_fabric(struct lowering *lowering, const struct fabric *fabric);

/* Fill `demand` for a pinned plan that plan_check accepts.  About 7 kB written, nothing allocated. */
void lower_plan(struct demand *demand, struct lowering *lowering, const struct plan *plan);

/* Only what is allocated: used, pes, cubes, sips and ports of `demand` (MODEL sections 3 and 9). */
void lower_allocation(struct demand *demand, const struct layout *layout, const struct fabric *fabric);

/* Time coefficients of one collective over `group` of `bytes` (MODEL section 4).  Public for tests and explain. */
enum collective_kind { ALL_GATHER, REDUCE_SCATTER, ALL_REDUCE, ALL_TO_ALL };
struct collective lower_collective(enum collective_kind kind, const struct group *group, double bytes,
                                   const struct fabric *fabric, int64_t sips, double wire_bytes[N_LEVELS]);

/* ---- tensors: what the PEs keep, how it is cut, and how much of it is there more than once (MODEL section 8) ----- */

/* X(code, name, meaning) */
#define TENSORS(X)                                                                                                          \
    X(QUERY, "W_Q", "query projection")                                                                                     \
    X(KEY, "W_K", "key projection")                                                                                         \
    X(VALUE, "W_V", "value projection")                                                                                     \
    X(QUERY_DOWN, "W_DQ", "MLA: queries into their rank")                                                                   \
    X(QUERY_UP, "W_UQ", "MLA: queries of the heads out of it")                                                              \
    X(LATENT_DOWN, "W_DKV", "MLA: tokens into the latent that is cached")                                                   \
    X(LATENT_UP, "W_UKV", "MLA: keys and values of the heads out of it")                                                    \
    X(OUTPUT, "W_O", "output projection")                                                                                   \
    X(NORMS, "norms", "the two norms of a layer")                                                                           \
    X(GATE, "W_gate", "FFN: gate")                                                                                          \
    X(UP, "W_up", "FFN: up")                                                                                                \
    X(DOWN, "W_down", "FFN: down")                                                                                          \
    X(ROUTER, "router", "scores of the experts")                                                                            \
    X(EXPERT_GATE, "expert_gate", "routed experts: gate")                                                                   \
    X(EXPERT_UP, "expert_up", "routed experts: up")                                                                         \
    X(EXPERT_DOWN, "expert_down", "routed experts: down")                                                                   \
    X(SHARED_GATE, "shared_gate", "shared experts: gate")                                                                   \
    X(SHARED_UP, "shared_up", "shared experts: up")                                                                         \
    X(SHARED_DOWN, "shared_down", "shared experts: down")                                                                   \
    X(EMBEDDING, "embedding", "token embedding, on the first pipeline stage")                                               \
    X(LM_HEAD, "lm_head", "logits, on the last pipeline stage")                                                             \
    X(KEY_CACHE, "K_cache", "keys of the cached tokens")                                                                    \
    X(VALUE_CACHE, "V_cache", "values of the cached tokens")                                                                \
    X(LATENT_CACHE, "latent_cache", "MLA: latents of the cached tokens")
enum tensor_code {
#define X(code, ...) TENSOR_##code,
    TENSORS(X)
#undef X
        N_TENSORS
};
extern const char *const tensor_name[N_TENSORS];
extern const char *const tensor_meaning[N_TENSORS];

/* Ranks that a side of a tensor is cut over.  X(code, name) */
#define CUTS(X) X(TP, "tp") X(CP, "cp") X(DP, "dp") X(EP, "ep") X(EXPERT_TP, "expert_tp") X(KV_SHARERS, "kv_sharers")
enum cut_ranks {
#define X(code, name) CUT_##code,
    CUTS(X)
#undef X
        N_CUT_RANKS
};
extern const char *const cut_name[N_CUT_RANKS];

enum { MAX_CUTS = 3, MAX_TENSORS = 32 };
struct tensor_side {
    const char *what;   /* of its elements: "hidden", "heads", "tokens" ... */
    double size, share; /* whole; of one PE, rounded up where MODEL rounds */
    int n_cuts;
    struct { enum cut_ranks by; int64_t ways; } cut[MAX_CUTS];
};
/* One tensor of a layer, or of an edge of the model. */
struct tensor {
    enum tensor_code code;
    int64_t window_tokens;    /* caches of windowed layers, else 0 */
    int64_t layers;           /* that have it, in the model; 1 at an edge */
    int64_t fullest_layers;   /* of those on the fullest PE's pipeline stage */
    struct tensor_side stack; /* experts of a layer, sequences of a cache; size 1 elsewhere */
    struct tensor_side rows, columns;
    double copies[3];         /* of every share, over TP, CP and DP; may be a fraction where tp is no multiple of hkv */
    double element_bytes;
    bool is_own;              /* false: a tied LM head kept a second time by the last of several pipeline stages */
};
struct tensors {
    int n;
    struct tensor tensor[MAX_TENSORS];
    int64_t ranks; /* tp * cp * dp: PEs of a pipeline stage */
};
/* The same sizes as lower_plan's: `fullest_layers` shares add up to weight_bytes and kv_bytes of the demand. */
void lower_tensors(struct tensors *tensors, const struct lowering *lowering, const struct plan *plan);
double tensor_bytes(const struct tensor *tensor);       /* of one layer, once */
double tensor_share_bytes(const struct tensor *tensor); /* of one layer on one PE */

/* Why the PEs together keep more than the model has.  X(code, name, of the KV cache, meaning) */
#define WASTES(X)                                                                                                           \
    X(KV_WEIGHTS_BY_TP, "kv_weights_by_tp", false, "K and V projections on several TP ranks of a KV head")                  \
    X(MLA_WEIGHTS_BY_TP, "mla_weights_by_tp", false, "MLA: projections into the latents on every TP rank")                  \
    X(OTHER_WEIGHTS_BY_TP, "other_weights_by_tp", false, "norms, router and shared experts on every TP rank")               \
    X(WEIGHTS_BY_CP, "weights_by_cp", false, "weights on every CP rank")                                                    \
    X(WEIGHTS_BY_DP, "weights_by_dp", false, "weights in every DP replica")                                                 \
    X(WEIGHTS_BY_PP, "weights_by_pp", false, "tied embedding on the last pipeline stage, too")                              \
    X(WEIGHTS_BY_PADDING, "weights_by_padding", false, "weights of sizes that do not divide")                               \
    X(KV_BY_TP, "kv_by_tp", true, "KV cache on TP ranks beyond the KV heads")                                               \
    X(KV_BY_PADDING, "kv_by_padding", true, "KV cache of heads or tokens that do not divide")
enum waste_code {
#define X(code, ...) WASTE_##code,
    WASTES(X)
#undef X
        N_WASTES
};
extern const char *const waste_name[N_WASTES];
extern const bool waste_of_kv[N_WASTES];
extern const char *const waste_meaning[N_WASTES];
/* kept = own + the sum of its wastes, on all PEs together and on the fullest PE (whose own part is the mean of its
 * stage). */
struct kept { double own_bytes, kept_bytes; };
struct waste {
    double machine_bytes[N_WASTES], pe_bytes[N_WASTES];
    struct kept machine_weights, machine_kv, pe_weights, pe_kv;
};
void lower_waste(struct waste *waste, const struct tensors *tensors);

/* ---- symbols and formulas: MODEL.md's letters with their values, and its equations as texts over them ------------ */

/* Every letter of MODEL.md.  X(name, of, dimension, section, meaning) */
#define SYMBOLS(X)                                                                                                          \
    X(L, MODEL, COUNT, "1", "layers")                                                                                       \
    X(H, MODEL, COUNT, "1", "hidden width")                                                                                 \
    X(hq, MODEL, COUNT, "1", "query heads")                                                                                 \
    X(hkv, MODEL, COUNT, "1", "KV heads")                                                                                   \
    X(dh, MODEL, COUNT, "1", "head dimension")                                                                              \
    X(dv, MODEL, COUNT, "1", "value dimension of a head")                                                                   \
    X(F, MODEL, COUNT, "1", "width of the dense FFN")                                                                       \
    X(z, MODEL, COUNT, "1", "matrices before the nonlinearity: 2 if gated, else 1")                                         \
    X(V, MODEL, COUNT, "1", "vocabulary")                                                                                   \
    X(rq, MODEL, COUNT, "1", "MLA: rank of the queries")                                                                    \
    X(rkv, MODEL, COUNT, "1", "MLA: rank of the latent that is cached")                                                     \
    X(dn, MODEL, COUNT, "1", "MLA: dimension of a head without position")                                                   \
    X(dr, MODEL, COUNT, "1", "MLA: rotary dimension of a head")                                                             \
    X(E, MODEL, COUNT, "1", "experts")                                                                                      \
    X(k, MODEL, COUNT, "1", "experts per token")                                                                            \
    X(Fe, MODEL, COUNT, "1", "width of an expert")                                                                          \
    X(Fs, MODEL, COUNT, "1", "width of all shared experts together")                                                        \
    X(W, MODEL, COUNT, "1", "sliding window of this layer kind")                                                            \
    X(T, SCENARIO, COUNT, "1", "new tokens per sequence")                                                                   \
    X(P, SCENARIO, COUNT, "1", "cached tokens per sequence")                                                                \
    X(S, SCENARIO, COUNT, "1", "context: tokens that attention sees")                                                       \
    X(isl, SCENARIO, COUNT, "1", "serve: prompt tokens")                                                                    \
    X(osl, SCENARIO, COUNT, "1", "serve: answer tokens")                                                                    \
    X(chunk, SCENARIO, COUNT, "1", "serve: prompt tokens that a step takes at once")                                        \
    X(wb, SCENARIO, BYTES, "1", "bytes per weight")                                                                         \
    X(kb, SCENARIO, BYTES, "1", "bytes per KV element")                                                                     \
    X(ab, SCENARIO, BYTES, "1", "bytes per activation")                                                                     \
    X(accepted, SCENARIO, NUMBER, "1", "tokens accepted per sequence and step")                                             \
    X(factor, SCENARIO, NUMBER, "1", "MoE imbalance where it is given as a factor")                                         \
    X(Pc, FABRIC, COUNT, "1", "PEs per cube")                                                                               \
    X(Cs, FABRIC, COUNT, "1", "cubes per SIP")                                                                              \
    X(tm, FABRIC, COUNT, "1", "GEMM tile: rows")                                                                            \
    X(tn, FABRIC, COUNT, "1", "GEMM tile: output columns")                                                                  \
    X(tk, FABRIC, COUNT, "1", "GEMM tile: reduction")                                                                       \
    X(q_tile, FABRIC, COUNT, "1", "query rows per pass over the KV cache")                                                  \
    X(tp, PLAN, COUNT, "1", "tensor parallelism")                                                                           \
    X(cp, PLAN, COUNT, "1", "context parallelism")                                                                          \
    X(pp, PLAN, COUNT, "1", "pipeline parallelism")                                                                         \
    X(dp, PLAN, COUNT, "1", "data parallelism")                                                                             \
    X(ep, PLAN, COUNT, "1", "expert parallelism")                                                                           \
    X(batch, PLAN, COUNT, "1", "sequences per DP replica")                                                                  \
    X(b, SIZES, COUNT, "5", "sequences per micro-batch")                                                                    \
    X(m, SIZES, COUNT, "5", "micro-batches")                                                                                \
    X(N, SIZES, NUMBER, "5", "tokens a rank holds")                                                                         \
    X(hg, SIZES, COUNT, "5", "query heads per KV head")                                                                     \
    X(hq_, SIZES, COUNT, "5", "query heads of the fullest rank")                                                            \
    X(hp, SIZES, COUNT, "5", "heads whose projections a rank holds")                                                        \
    X(r, SIZES, COUNT, "5", "ranks that share a KV head")                                                                   \
    X(q, SIZES, COUNT, "5", "TP ranks that split the sequence")                                                             \
    X(kw, SIZES, NUMBER, "5", "cached elements per token")                                                                  \
    X(qh, SIZES, COUNT, "5", "query heads a rank scores")                                                                   \
    X(dqk, SIZES, NUMBER, "5", "dimensions of a score")                                                                     \
    X(dpv, SIZES, NUMBER, "5", "dimensions of a weighted sum")                                                              \
    X(A, SIZES, NUMBER, "5", "query-key pairs of a sequence on one rank")                                                   \
    X(rows, SIZES, COUNT, "5", "KV rows a rank keeps of a sequence")                                                        \
    X(met, SIZES, COUNT, "5", "KV rows a rank meets in one pass")                                                           \
    X(passes, SIZES, COUNT, "5", "passes over the KV rows")                                                                 \
    X(u, SIZES, NUMBER, "5", "reads of a KV row by heads that do not share one")                                            \
    X(X, SIZES, NUMBER, "5", "rows that MLA expands")                                                                       \
    X(D, SIZES, COUNT, "6", "ranks of the FFN group")                                                                       \
    X(ns, SIZES, COUNT, "6", "ranks of it that hold different tokens")                                                      \
    X(G, SIZES, NUMBER, "6", "tokens of the FFN group")                                                                     \
    X(et, SIZES, NUMBER, "6", "ranks that share an expert")                                                                 \
    X(load, SIZES, NUMBER, "6", "token-expert pairs per EP rank")                                                           \
    X(i, SIZES, NUMBER, "6", "imbalance of the experts")                                                                    \
    X(Ec, SIZES, COUNT, "6", "experts of the fullest rank")                                                                 \
    X(Q, SIZES, NUMBER, "6", "pairs of the fullest rank on average")                                                        \
    X(hot, SIZES, NUMBER, "6", "pairs of the slowest rank over Q")                                                          \
    X(Gd, SIZES, NUMBER, "6", "serve: tokens of the FFN group in a step without a chunk of a prompt")                       \
    X(Gc, SIZES, NUMBER, "6", "serve: the same in a step with one")                                                         \
    X(pc, SIZES, NUMBER, "6", "serve: share of the steps that have one")                                                    \
    X(Ea, SIZES, NUMBER, "6", "experts that the slowest rank touches")                                                      \
    X(Y, SIZES, NUMBER, "6", "distinct EP ranks a token goes to")                                                           \
    X(Gs, SIZES, NUMBER, "6", "tokens a rank passes through shared experts")                                                \
    X(Fs_, SIZES, NUMBER, "6", "width of the shared experts on a rank")                                                     \
    X(nl, SIZES, NUMBER, "7", "tokens that need logits")                                                                    \
    X(Rg, RATES, FLOP_PER_S, "1", "GEMM rate of a PE in the compute format")                                                \
    X(Ra, RATES, FLOP_PER_S, "1", "attention rate of a PE, bf16")                                                           \
    X(Rv, RATES, FLOP_PER_S, "1", "vector rate of a PE")                                                                    \
    X(BW, RATES, BYTES_PER_S, "1", "HBM bandwidth of a PE")                                                                 \
    X(b_0, RATES, BYTES_PER_S, "1", "PE link, per direction")                                                               \
    X(b_1, RATES, BYTES_PER_S, "1", "D2D link, per direction")                                                              \
    X(b_2, RATES, BYTES_PER_S, "1", "C2C link, per direction")                                                              \
    X(a_0, RATES, SECONDS, "1", "PE link, per hop")                                                                         \
    X(a_1, RATES, SECONDS, "1", "D2D link, per hop")                                                                        \
    X(a_2, RATES, SECONDS, "1", "C2C link, per hop")                                                                        \
    X(e_gemm, RATES, FRACTION, "1", "attainable share of the GEMM and vector rates")                                        \
    X(e_attn, RATES, FRACTION, "1", "the same in attention")                                                                \
    X(e_hbm, RATES, FRACTION, "1", "attainable share of HBM bandwidth")                                                     \
    X(e_kv, RATES, FRACTION, "1", "the same in attention")                                                                  \
    X(e_link_0, RATES, FRACTION, "1", "attainable share of PE link bandwidth")                                              \
    X(e_link_1, RATES, FRACTION, "1", "attainable share of D2D link bandwidth")                                             \
    X(e_link_2, RATES, FRACTION, "1", "attainable share of C2C link bandwidth")                                             \
    X(o_kernel, RATES, SECONDS, "1", "fixed time of a launched stage")                                                      \
    X(o_attn, RATES, SECONDS, "1", "fixed time of an attention stage")                                                      \
    X(o_coll_0, RATES, SECONDS, "1", "fixed time of a collective inside a cube")                                            \
    X(o_coll_1, RATES, SECONDS, "1", "of one that spans cubes")                                                             \
    X(o_coll_2, RATES, SECONDS, "1", "of one that spans SIPs")                                                              \
    X(o_step, RATES, SECONDS, "1", "fixed time of a forward pass")
enum symbol {
#define X(name, ...) SYMBOL_##name,
    SYMBOLS(X)
#undef X
        N_SYMBOLS
};
/* What symbols belong to.  X(code, heading) */
#define SYMBOL_OWNERS(X)                                                                                                    \
    X(MODEL, "model") X(SCENARIO, "scenario") X(FABRIC, "structure of the machine") X(PLAN, "plan")                         \
    X(SIZES, "sizes on one rank") X(RATES, "rates of the machine")
enum symbol_owner {
#define X(code, heading) OF_##code,
    SYMBOL_OWNERS(X)
#undef X
        N_SYMBOL_OWNERS
};
extern const char *const symbol_owner_name[N_SYMBOL_OWNERS];
struct symbol_facts {
    const char *name;
    enum symbol_owner of;
    enum dimension dimension;
    const char *section; /* of MODEL.md */
    const char *meaning;
};
extern const struct symbol_facts symbol_facts[N_SYMBOLS];

/* What decides which form of an equation holds.  The first is true of every candidate. */
#define TRAITS(X)                                                                                                           \
    X(ALWAYS) X(DECODE) X(PREFILL) X(SERVE) X(NOT_PREFILL)                                                                  \
    X(MLA) X(NOT_MLA) X(QUERY_RANK) X(FULL_QUERIES)                                                                         \
    X(REPLICATE) X(SPLIT_DIM) X(SPLIT_SEQ) X(SPLIT) X(KV_MODES) X(TP_COVERS_KV) X(KV_COVERS_TP)                             \
    X(ATTENTION_TP) X(ATTENTION_TP_CP) X(RING_KV) X(RING_Q) X(REUSED) X(REREAD)                                             \
    X(GLOBAL) X(WINDOWED) X(GROWING) X(CROSSING) X(SATURATED)                                                               \
    X(FFN_TP) X(FFN_TP_CP) X(FFN_TP_CP_DP) X(DENSE) X(MOE) X(SHARED)                                                        \
    X(ALLGATHER) X(ALLTOALL) X(ONE_EP) X(MANY_EP) X(EVEN) X(RANDOM) X(FACTOR) X(CHUNKED)
enum trait {
#define X(code) TRAIT_##code,
    TRAITS(X)
#undef X
        N_TRAITS
};
enum { MAX_CONDITIONS = 3 };

/* Ranks that exchange.  X(code, meaning) */
#define EXCHANGE_RANKS(X)                                                                                                   \
    X(TP, "TP")                                                                                                             \
    X(CP, "CP")                                                                                                             \
    X(PP, "PP")                                                                                                             \
    X(ATTENTION, "the ranks of the output projection")                                                                      \
    X(KV_SHARERS, "the TP ranks that share a KV head")                                                                      \
    X(FFN_SHARDED, "the FFN ranks that hold different tokens")                                                              \
    X(FFN_REPLICATED, "the FFN ranks that hold the same tokens")                                                            \
    X(EXPERT_PARALLEL, "EP")                                                                                                \
    X(EXPERT_TP, "the ranks that share an expert")
enum exchange_ranks {
#define X(code, ...) OVER_##code,
    EXCHANGE_RANKS(X)
#undef X
        N_EXCHANGE_RANKS
};
extern const char *const exchange_ranks_meaning[N_EXCHANGE_RANKS];

/* The symbols of one plan and layer kind. */
struct symbols {
    double value[N_SYMBOLS]; /* NaN: this candidate has no such thing; lower_symbols leaves the rates NaN */
    bool trait[N_TRAITS];
    struct group over[N_EXCHANGE_RANKS]; /* n = 1: nothing to exchange */
};
/* From the very sizes that lower_plan lowers.  The plan is pinned and valid; `kind` is a layer kind of the model, and any
 * kind serves for the edges. */
void lower_symbols(struct symbols *symbols, const struct lowering *lowering, const struct plan *plan, int kind);

enum quantity { QUANTITY_FLOP, QUANTITY_VECTOR_FLOP, QUANTITY_HBM_BYTES, N_QUANTITIES };

/* A term of a stage's quantity; the terms that hold add up to the demand's row. */
struct formula {
    enum stage stage;
    enum quantity quantity;
    unsigned char when[MAX_CONDITIONS]; /* enum trait; all must hold */
    const char *label;                  /* what this term is */
    const char *text;
};
/* A collective or a message of a stage, in the order of the demand's row, where those that cost nothing are left out:
 * one rank, or zero bytes. */
struct exchange {
    int stage;                          /* enum stage; N_STAGES: between pipeline stages */
    unsigned char when[MAX_CONDITIONS];
    bool hop;                           /* a message to the neighbour (ring, pipeline), not a collective */
    enum collective_kind kind;          /* of a collective */
    enum exchange_ranks over;
    const char *label;
    const char *text;                   /* vector bytes V of MODEL section 4 */
};
/* The first that holds after `after`, or of all where it is NULL; NULL = no more.  Whether a layer has the stage at all is
 * the demand's to say. */
const struct formula *formula_next(const struct formula *after, const struct symbols *symbols, enum stage stage,
                                   enum quantity quantity);
const struct exchange *exchange_next(const struct exchange *after, const struct symbols *symbols, int stage);
/* How a symbol follows from others, NULL if it is given, or does not exist for this candidate. */
const char *symbol_definition(const struct symbols *symbols, enum symbol symbol);

/* The value of a text: numbers, symbols, + - * / ( ), and up(x,t) ceil floor min max pow sqrt ln. */
double expression_value(const char *text, const double value[N_SYMBOLS]);
/* The text with values for symbols, at most `chars` - 1 long.  Returns `to`. */
char *expression_substitute(char *to, size_t chars, const char *text, const double value[N_SYMBOLS]);

#endif
