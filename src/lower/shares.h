/* What the files of this room share: the sizes one rank of a plan sees, and how a demand grows row by row. */
#ifndef COSWEEP_LOWER_SHARES_H
#define COSWEEP_LOWER_SHARES_H

#include "cosweep/lower.h"

static inline int64_t ceil_ratio(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static inline int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* Sizes on one rank, in the symbols of MODEL sections 5 and 6.  Whole numbers that divide by rounding up are int64_t. */
struct shares {
    const struct scenario *scenario;
    const struct fabric *fabric;
    struct plan plan;
    struct layout layout;
    bool prefill, serve, mla;
    bool tiles_and_waste; /* false for the "own" work of MODEL section 9: GEMM tile 1, GQA reuse, uniform routing */
    int64_t b, m;         /* sequences per micro-batch, micro-batches */
    int64_t sequence;     /* S of the attention */
    double tokens;        /* N: tokens this rank holds */
    double logit_tokens;  /* nl */
    double prompt_per_token; /* serve: isl / osl, else 0 */
    int64_t heads;        /* hq_: query heads of the fullest rank */
    int64_t projected;    /* hp: heads whose projections a rank holds */
    int64_t scored;       /* qh: query heads it scores */
    int64_t cached_heads; /* ceil(hkv/tp) in `replicate`, else 1: heads that share a read without GQA reuse */
    int64_t split;        /* r: ranks that share a KV head, else 1 */
    int64_t sequence_split; /* q: r in split_seq, else 1 */
    double kv_width;      /* kw: cached elements per token */
    double score_dim, value_dim; /* dqk, dpv */
    unsigned attention_axes; /* ranks of the Q and output projections */
    unsigned sharded_axes, replicated_axes; /* of the FFN group */
    int64_t ffn_ranks, ffn_sharded;         /* D, ns */
    double ffn_tokens;                      /* G */
};

void lower_shares(struct shares *shares, const struct lowering *lowering, const struct plan *plan, bool tiles_and_waste);

/* The layers' window, or "infinity", as a bound on a number of rows. */
static inline int64_t windowed(int64_t rows, int64_t window)
{
    return window > 0 ? at_most(rows, window) : rows;
}

/* ---- a demand grows by rows, a row by work and collectives ------------------------------------------------------- */

struct stage_row *demand_add_row(struct demand *demand, enum stage stage, int part);
/* `count` GEMMs of n x inner x columns (MODEL section 5): FLOP and HBM bytes; none if a dimension is zero. */
struct work { double flop, hbm_bytes; };
struct work gemm(const struct shares *shares, double count, double n, double inner, double columns);
void row_add(struct stage_row *row, struct work work);
/* A collective of the newest row over a group; its wire bytes count `n_layers` times. */
void demand_add_collective(struct demand *demand, const struct shares *shares, enum collective_kind kind,
                           const struct group *group, double bytes, double n_layers);
void demand_add_collective_over(struct demand *demand, const struct shares *shares, enum collective_kind kind,
                                unsigned axes, double bytes, double n_layers);
/* A message of `bytes` to the neighbour along an axis. */
struct hop lower_hop(const struct shares *shares, enum axis axis, double bytes);

/* ---- what formulas share with the rows (symbols of MODEL sections 5 and 6) --------------------------------------- */

/* Rows of the KV cache that the fused kernel reads of a sequence. */
struct cache_reads {
    int64_t rows;   /* kept by this rank */
    int64_t met;    /* prefill: met in one pass, else 0 */
    int64_t passes; /* prefill: passes over them, else 1 */
    double again;   /* u: reads of a row by heads that do not share one */
};
struct cache_reads attention_reads(const struct shares *shares, int64_t window);
int64_t attention_rows(const struct shares *shares, int64_t window); /* `rows` alone */
double attention_pairs(const struct shares *shares, int64_t window); /* A: query-key pairs of one sequence scored here */
double mla_expanded_rows(const struct shares *shares);               /* X: prefill, all rows that this rank scores */

/* Token-expert pairs and experts touched, on the slowest rank and on the mean one. */
struct routing {
    double expert_tp;      /* et = D / ep */
    double imbalance;      /* i */
    double held;           /* Ec: experts of the fullest rank */
    double average, hot;   /* Q pairs on average there; the slowest gets `hot` times that */
    double chunk_share;    /* pc: steps that carry a chunk of a prompt, 1 where each carries its even share */
    double chunk_tokens, other_tokens; /* Gc, Gd: G in such a step and in the others, where pc < 1 */
    double pairs, experts; /* Q * hot on Ea experts */
    double mean_pairs, mean_experts; /* load, and the experts it touches */
    double mean_rows;      /* mean_pairs / mean_experts */
    double targets;        /* Y: distinct EP ranks a token goes to */
    double shared_tokens, shared_width; /* Gs, Fs_ */
};
struct routing lower_routing(const struct shares *shares);

/* ---- parts of a demand ------------------------------------------------------------------------------------------- */

void lower_attention(struct demand *demand, const struct shares *shares, int kind); /* MODEL section 5 */
void lower_ffn(struct demand *demand, const struct shares *shares, int kind);       /* MODEL section 6 */
void lower_memory(struct demand *demand, const struct shares *shares);              /* MODEL section 8 */
/* The pipeline stage whose PEs keep most weights and KV cache, the first of equals, and what they keep. */
int64_t lower_fullest_stage(const struct shares *shares, double *weight_bytes, double *kv_bytes);
/* Cached tokens of a sequence that a layer with this window keeps, on all ranks together. */
int64_t cached_tokens(const struct shares *shares, int64_t window);
/* Whether a parallel block's attention sum is left to `combine` (MODEL section 5, end). */
bool sums_merge(const struct shares *shares, bool moe_layer);

/* Layers [*from, *to) of pipeline stage `stage` (MODEL section 7). */
static inline void stage_layers(const struct shares *shares, int64_t stage, int64_t *from, int64_t *to)
{
    const int64_t layers = shares->scenario->model.layers, per_stage = ceil_ratio(layers, shares->plan.pp);
    *from = at_most(stage * per_stage, layers);
    *to = at_most((stage + 1) * per_stage, layers);
}

#endif
