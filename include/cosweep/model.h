/* model: facts of a large language model and of the work asked of it (MODEL section 1). Knows no machine. */
#ifndef COSWEEP_MODEL_H
#define COSWEEP_MODEL_H

#include "cosweep/core.h"

enum { MAX_LAYERS = 1024, MAX_KINDS = 4, NAME_CHARS = 64 };
/* Bounds keep every product of facts exact in a double and in 64 bits; real models stay far below. */
enum { MAX_HIDDEN = 1 << 20, MAX_HEADS = 1 << 16, MAX_WIDTH = 1 << 24, MAX_EXPERTS = 1 << 16 };
#define MAX_WINDOW_TOKENS ((int64_t)1 << 40)

/* Layers of one kind cost the same.  `window` 0 = attends to everything. */
struct layer_kind {
    int64_t window_tokens;
    bool moe;
    int n_layers; /* of this kind, in the whole model */
};

/* Only what the parameter count needs and time ignores; all zero where unknown. */
struct model_extras {
    int norms_per_layer;      /* vectors of `hidden` per layer; 0 = 2 */
    bool norm_bias;           /* LayerNorm: each norm has a bias, too */
    bool qkv_bias, o_bias, ffn_bias;
    int qk_norm_dims;         /* parameters of Q and K norms per layer, together */
    int64_t learned_positions; /* rows of a learned position table */
    double other_parameters;  /* anything else, named in the preset's source */
};

/* The architecture.  model_finish() derives the layer list from the facts; every reader of a model calls it once. */
struct model {
    char name[NAME_CHARS];
    int64_t layers, hidden, heads, kv_heads, head_dim; /* >= 1; head_dim >= 1 */
    int64_t ffn;                                       /* dense FFN width; 0 without dense layers */
    int64_t vocab;
    bool gated;          /* three FFN matrices instead of two */
    bool tied;           /* embedding and LM head share a matrix */
    bool parallel_block; /* attention and FFN read the same norm */
    struct {
        int64_t q_rank, kv_rank, nope_dim, rope_dim, v_dim; /* kv_rank 0 = no MLA; q_rank 0 = full-rank queries */
    } mla;
    struct {
        int64_t experts, per_token, ffn, shared_ffn; /* experts 0 = no MoE; shared_ffn: all shared experts together */
        int64_t dense_layers, period;                /* layer i is MoE if i >= dense_layers and (i+1) % period == 0 */
    } moe;
    struct {
        int64_t tokens;       /* 0 = no window */
        int64_t global_every; /* every n-th layer is global; 0 = none */
    } window;
    struct model_extras extras;
    /* derived by model_finish() */
    int n_kinds;
    struct layer_kind kind[MAX_KINDS];      /* in order of first appearance */
    unsigned char layer_kind[MAX_LAYERS];   /* index into kind[], per layer */
};

/* Check the facts and derive the kinds.  `windowed` NULL takes the pattern of `window`; else windowed[i] says whether layer
 * i has the window (Hugging Face `layer_types`).  Errors go to `errors` with `file`:`line`.  Returns 0 or -1. */
int model_finish(struct model *model, const bool *windowed, struct errors *errors, const char *file, int line);

/* Parameters the facts imply, norms and biases included, and those one token uses (embedding lookup not counted twice). */
double model_parameters(const struct model *model);
double model_active_parameters(const struct model *model);

/* ---- presets ------------------------------------------------------------------------------------------------------ */

struct model_preset {
    const char *source;           /* where the facts are from */
    double published_parameters;  /* exact published count, 0 = unknown */
    const char *published_source; /* where that is from, or "" */
    struct model model;           /* not finished */
};
extern const int n_model_presets;
/* Row `i` of the table; the caller copies what it keeps.  Models that MODEL.md cannot represent are not rows. */
const struct model_preset *model_preset(int i);
/* Find by name; on failure adds an error that suggests the nearest.  Finished.  Returns 0 or -1. */
int model_by_name(struct model *model, const char *name, struct errors *errors, const char *file, int line);

/* Read a Hugging Face config (the tree of a config.json).  Refuses by name what MODEL.md cannot represent; what it leaves
 * out but is small goes to `warnings` (text of at most `chars`, may be NULL).  Finished.  Returns 0 or -1. */
int model_from_hugging_face(struct model *model, const struct node *config, struct errors *errors, const char *file,
                            char *warnings, size_t chars);

/* ---- scenario ----------------------------------------------------------------------------------------------------- */

enum phase { PHASE_DECODE, PHASE_PREFILL, PHASE_SERVE };
enum imbalance { IMBALANCE_UNIFORM, IMBALANCE_RANDOM, IMBALANCE_FACTOR };

/* Number formats: X(code, name, bytes per element, default GEMM dtype) */
#define DTYPES(X)                                                                                                           \
    X(BF16, "bf16", 2.0, DTYPE_BF16)                                                                                        \
    X(FP16, "fp16", 2.0, DTYPE_FP16)                                                                                        \
    X(FP8, "fp8", 1.0, DTYPE_FP8)                                                                                           \
    X(INT8, "int8", 1.0, DTYPE_INT8)                                                                                        \
    X(FP4, "fp4", 0.5, DTYPE_FP4)                                                                                           \
    X(NVFP4, "nvfp4", 0.5625, DTYPE_FP4)   /* one FP8 scale per 16 values */                                                \
    X(MXFP4, "mxfp4", 0.53125, DTYPE_FP4)  /* one 8-bit scale per 32 values */                                              \
    X(INT4, "int4", 0.5, DTYPE_BF16)       /* weight-only: dequantised, multiplied in bf16 */
enum dtype {
#define X(code, name, bytes, compute) DTYPE_##code,
    DTYPES(X)
#undef X
        N_DTYPES
};
extern const char *const dtype_name[N_DTYPES];
extern const double dtype_bytes[N_DTYPES];
extern const enum dtype dtype_compute[N_DTYPES];
extern const char *const phase_name[3];

struct scenario {
    char name[NAME_CHARS];
    struct model model; /* finished */
    enum phase phase;
    int64_t new_tokens, past_tokens;      /* decode, prefill: T >= 1 and P >= 0; serve: T = 1 */
    int64_t prompt_tokens, answer_tokens; /* serve: isl, osl >= 1; else 0 */
    int64_t prompt_chunk;                 /* serve: prompt tokens that a step takes at once; 0 = each step its even share */
    double weight_bytes, kv_bytes, activation_bytes; /* per element */
    enum dtype compute;                   /* of GEMMs: BF16 FP16 FP8 INT8 FP4 */
    double accepted_tokens;               /* per sequence and step, 1 <= a <= T */
    enum imbalance imbalance;
    double imbalance_factor;              /* IMBALANCE_FACTOR: >= 1 */
    bool strict;                          /* divisibility: strict */
    char warnings[MESSAGE_CHARS];         /* what the model import left out; empty if nothing */
};

#endif
