/* plan: how a model is laid over a machine: degrees of parallelism, placement, variants; whether that is valid; and where
 * its ranks sit (MODEL sections 1 "Plan", 2, 3).  Knows the fabric, no rates. */
#ifndef COSWEEP_PLAN_H
#define COSWEEP_PLAN_H

#include "cosweep/hardware.h"

enum placement { PLACEMENT_PE, PLACEMENT_CUBE };
enum ring { RING_KV, RING_Q };
enum kv_mode { KV_REPLICATE, KV_SPLIT_DIM, KV_SPLIT_SEQ };
enum attention_scope { ATTENTION_TP, ATTENTION_TP_CP };
enum ffn_scope { FFN_TP, FFN_TP_CP, FFN_TP_CP_DP };
enum moe_exchange { MOE_ALLGATHER, MOE_ALLTOALL };

/* X(member, study-file key under `plan`, dimension, low, high, code words, meaning); the order is that of an id's digits. */
#define PLAN_KNOBS(X)                                                                                                       \
    X(tp, "tp", COUNT, 1, 65536, "", "tensor parallelism")                                                                  \
    X(cp, "cp", COUNT, 1, 4194304, "", "context parallelism")                                                               \
    X(pp, "pp", COUNT, 1, 1024, "", "pipeline parallelism")                                                                 \
    X(dp, "dp", COUNT, 1, 65536, "", "data parallelism")                                                                    \
    X(ep, "ep", COUNT, 1, 65536, "", "expert parallelism")                                                                  \
    X(batch, "batch", COUNT, 1, 1000000, "", "sequences per DP replica")                                                    \
    X(tp_placement, "tp_placement", CODE, 0, 1, "pe|cube", "whether TP ranks are PEs of a cube or cubes")                   \
    X(cp_placement, "cp_placement", CODE, 0, 1, "pe|cube", "whether CP ranks are PEs of a cube or cubes")                   \
    X(ring, "ring", CODE, 0, 1, "kv|q", "what the prefill ring passes on")                                                  \
    X(kv_mode, "kv_mode", CODE, 0, 2, "replicate|split_dim|split_seq", "KV cache when TP exceeds the KV heads")             \
    X(attention_scope, "attention_scope", CODE, 0, 1, "tp|tp_cp", "ranks that shard the Q and output projections")          \
    X(ffn_scope, "ffn_scope", CODE, 0, 2, "tp|tp_cp|tp_cp_dp", "ranks that shard the FFN")                                  \
    X(moe_exchange, "moe_exchange", CODE, 0, 1, "allgather|alltoall", "how tokens reach their experts")

struct plan {
#define X(member, ...) int64_t member;
    PLAN_KNOBS(X)
#undef X
};
enum plan_knob {
#define X(member, ...) PLAN_##member,
    PLAN_KNOBS(X)
#undef X
        N_PLAN_KNOBS
};
_Static_assert(sizeof(struct plan) == N_PLAN_KNOBS * sizeof(int64_t), "a plan is a vector of knobs");
extern const struct knob plan_knob[N_PLAN_KNOBS];
extern const struct plan plan_of_ones; /* every degree 1, batch 1, every variant its first value */

/* Set every knob that cannot matter to its first value (MODEL section 1). */
void plan_pin(struct plan *plan, const struct scenario *scenario);

/* Whether KV modes apply: tp > hkv, hkv divides tp, not MLA (MODEL section 1). */
bool plan_kv_modes_apply(const struct plan *plan, const struct model *model);

/* Why a candidate is refused, in the order they are tested (MODEL section 2). X(code, name, meaning) */
#define REASONS(X)                                                                                                          \
    X(NONE, "none", "it is feasible")                                                                                       \
    X(TP_EXCEEDS_HEADS, "tp_exceeds_heads", "tp is larger than the number of query heads")                                  \
    X(PP_EXCEEDS_LAYERS, "pp_exceeds_layers", "pp is larger than the number of layers")                                     \
    X(CP_EXCEEDS_SEQUENCE, "cp_exceeds_sequence", "cp is larger than the sequence it splits")                               \
    X(EP_WITHOUT_EXPERTS, "ep_without_experts", "ep > 1 in a model without experts")                                        \
    X(EP_EXCEEDS_EXPERTS, "ep_exceeds_experts", "ep is larger than the number of experts")                                  \
    X(EP_NOT_IN_FFN_SCOPE, "ep_not_in_ffn_scope", "ep does not divide the ranks of the FFN group")                          \
    X(NOT_DIVISIBLE, "not_divisible", "a size is not divisible and divisibility is strict")                                 \
    X(MEMORY, "memory", "weights, KV cache and activations exceed the usable capacity of a PE")
enum reason {
#define X(code, ...) REASON_##code,
    REASONS(X)
#undef X
        REASON_LIMIT /* + index of the limit in the study: limit_<metric> */
};
extern const char *const reason_name[REASON_LIMIT];
extern const char *const reason_meaning[REASON_LIMIT];

/* The first reason of MODEL section 2 before `memory` that holds, or REASON_NONE.  The plan must be pinned. */
enum reason plan_check(const struct plan *plan, const struct scenario *scenario);

/* ---- layout (MODEL section 3) ------------------------------------------------------------------------------------ */

enum axis { AXIS_TP, AXIS_CP, AXIS_PP, AXIS_DP, N_AXES };
enum { AXES_TP = 1 << AXIS_TP, AXES_CP = 1 << AXIS_CP, AXES_PP = 1 << AXIS_PP, AXES_DP = 1 << AXIS_DP };

struct layout {
    int64_t size[N_AXES], stride[N_AXES]; /* ranks, and PEs between neighbours */
    int64_t span[N_AXES][N_LEVELS];       /* members per cube, cubes, SIPs */
    int64_t spacing[N_AXES][N_LEVELS];    /* PEs, cubes, SIPs between its nodes */
    int64_t used, pes, cubes, sips;       /* used PEs; what is allocated */
};
void plan_layout(struct layout *layout, const struct plan *plan, const struct fabric *fabric);

/* Ranks that communicate: how many nodes per level, how far apart, how many such groups share a link. */
struct group {
    int64_t n;                                    /* ranks; 1 = nothing to exchange */
    int64_t span[N_LEVELS], spacing[N_LEVELS];
    int64_t sharing[N_LEVELS];                    /* g0, g1, g2 */
};
/* The group over a set of axes (AXES_* bits). */
void plan_group(struct group *group, const struct layout *layout, unsigned axes);
/* The m nearest ranks of a group, and the ranks that are left when each such subgroup is one (MODEL section 3, end). */
void plan_subgroup(struct group *nearest, struct group *complement, const struct group *group, int64_t m);

#endif
