/* demand: what a plan asks of a machine, as coefficients on the rates; data only (DESIGN section 1).
 *
 * Left of it code knows transformers and no rates; right of it code knows rates and no transformers.  With the machine's
 * reciprocal rates r (seconds per unit) MODEL section 7 becomes
 *
 *     stage work     = max(flop * r_flop, vector_flop * r_vector, bytes * r_byte) + overhead        "work" rates only
 *     stage exchange = sum of collectives, each a sum of legs hops*latency + max(load*r, port*r..)  "wire" rates only
 *     step           = max over forms of  sum_k layers_k*(work_k + exchange_k + ring_k) + edges + hops
 *
 * where only ring_k = max(attention chunk, ring hop) - attention chunk couples the two. */
#ifndef COSWEEP_DEMAND_H
#define COSWEEP_DEMAND_H

#include "cosweep/hardware.h"

/* Stages of a layer in the order of MODEL sections 5 to 7. X(code, name, engine, launches work, meaning) */
#define STAGES(X)                                                                                                           \
    X(ATTN_NORM, "attn_norm", GEMM, 1, "norm before attention")                                                             \
    X(QKV_PROJ, "qkv_proj", GEMM, 1, "query, key and value projections")                                                    \
    X(ROPE_KV_APPEND, "rope_kv_append", GEMM, 1, "rotary embedding, append to the KV cache")                                \
    X(ATTENTION, "attention", ATTENTION, 1, "fused scores, softmax and weighted sum")                                       \
    X(CP_COMBINE, "cp_combine", GEMM, 0, "merge of partial outputs over context parallelism")                               \
    X(O_PROJ, "o_proj", GEMM, 1, "output projection")                                                                       \
    X(ATTN_ALLREDUCE, "attn_allreduce", GEMM, 0, "sum of the output projection over its ranks")                             \
    X(FFN_NORM, "ffn_norm", GEMM, 1, "norm before the FFN")                                                                 \
    X(ROUTER, "router", GEMM, 1, "scores of the experts")                                                                   \
    X(DISPATCH, "dispatch", GEMM, 0, "tokens to the ranks of the FFN")                                                      \
    X(GATE_UP, "gate_up", GEMM, 1, "gate and up projections")                                                               \
    X(ACTIVATION, "activation", GEMM, 1, "nonlinearity")                                                                    \
    X(DOWN, "down", GEMM, 1, "down projection")                                                                             \
    X(COMBINE, "combine", GEMM, 0, "results of the FFN back to their tokens")                                               \
    X(EMBED, "embed", GEMM, 1, "token embedding")                                                                           \
    X(FINAL_NORM, "final_norm", GEMM, 1, "norm before the LM head")                                                         \
    X(LM_HEAD, "lm_head", GEMM, 1, "logits")
enum stage {
#define X(code, ...) STAGE_##code,
    STAGES(X)
#undef X
        N_STAGES
};
enum engine { ENGINE_GEMM, ENGINE_ATTENTION };
extern const char *const stage_name[N_STAGES];
extern const char *const stage_meaning[N_STAGES];
extern const enum engine stage_engine[N_STAGES];
extern const bool stage_launches[N_STAGES];

/* One level's time of a collective or hop (MODEL section 4, t_l): hops * latency_l + the largest of
 * load on level l's links, `pe_port` bytes through a PE's ports, `cube_port` bytes through a cube's ports. */
struct leg {
    double hops;
    double load_bytes;      /* on level l, already times coefficient and sharing */
    double pe_port_bytes;   /* over the number of ports of a PE; 0 at level 0 */
    double cube_port_bytes; /* over the number of ports of a cube; 0 below level 2 */
};
struct collective {
    int top;                  /* highest level it spans: its fixed time counts; -1 = it costs nothing */
    bool has_one_shot;        /* an all-reduce: at the top level the smaller of leg[top] and one_shot */
    struct leg leg[N_LEVELS]; /* zero where it spans nothing */
    struct leg one_shot;
};
/* A message to a neighbour: the slowest of its legs. top -1 = no hop. */
struct hop {
    int top;
    bool spans[N_LEVELS];
    struct leg leg[N_LEVELS];
};

enum {
    MAX_STAGE_ROWS = 14 * MAX_KINDS + 3,
    MAX_COLLECTIVES = 12 * MAX_KINDS + 4,
    MAX_FORMS = 136, /* more than there are mixes of MAX_KINDS kinds in the pipeline stages of MAX_LAYERS layers */
    EDGE_EMBED = MAX_KINDS, /* parts of a step after the layer kinds: embed; final_norm and lm_head; pipeline hop */
    EDGE_HEAD,
    PART_HOP,
    N_PARTS
};

/* Per PE and micro-batch. */
struct stage_row {
    enum stage stage;
    int part;                         /* layer kind, EDGE_EMBED or EDGE_HEAD */
    double flop, vector_flop, hbm_bytes;
    double mean_flop, mean_hbm_bytes; /* of the mean rank, for energy; equal unless experts are uneven */
    int first_collective, n_collectives;
};

/* Ring of context parallelism in prefill: exposes n_hops * (max(chunk, hop) - chunk) + n_extra * hop + n_hops * o_coll. */
struct ring_row {
    double n_hops, n_extra; /* 0 hops = no ring */
    double chunk;           /* share of the attention kernel's time that hides one hop, 1/cp */
    struct hop hop;
};

struct demand {
    int n_kinds;
    struct layer_kind kind[MAX_KINDS];
    int n_rows, n_collectives;
    struct stage_row row[MAX_STAGE_ROWS];          /* in order of print: kinds, then edges */
    struct collective collective[MAX_COLLECTIVES]; /* of rows, in order; then the pipeline's own all-gather */
    struct ring_row ring[MAX_KINDS];
    struct hop pipeline_hop;                       /* hop of pp, then o_coll of its top level and: */
    int pipeline_collective;                       /* index in collective[], -1 if pp = 1 */

    /* step = max over forms of sum of weight[part] * time[part], + o_step (MODEL section 7) */
    int n_forms;
    double form[MAX_FORMS][N_PARTS];

    double tokens;                 /* a step yields, all replicas (MODEL section 9, throughput) */
    double latency_per_step;       /* latency = step * this: 1, or 1/accepted */

    double weight_bytes, kv_bytes, activation_bytes; /* fullest PE (MODEL section 8) */
    int64_t used, pes, cubes, sips;                  /* MODEL section 3 */
    double ports[N_LEVELS];                          /* deg of MODEL section 9, cost */

    /* energy of a step = energy_flop * j_flop + energy_hbm_bytes * j_hbm + energy_wire_bytes[l] * j_l + idle */
    double energy_flop, energy_hbm_bytes, energy_wire_bytes[N_LEVELS];
    double wire_bytes[N_LEVELS];   /* MODEL section 9: per PE and micro-batch pass */
    double own_flop, own_hbm_bytes; /* of the same work on one perfect PE (MODEL section 9, efficiency) */
};

/* How often a step meets this row: the layers of its kind over all pipeline stages, or once. */
static inline double demand_row_count(const struct demand *demand, const struct stage_row *row)
{
    return row->part < MAX_KINDS ? (double)demand->kind[row->part].n_layers : 1.0;
}

#endif
