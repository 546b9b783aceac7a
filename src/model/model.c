/* What do the facts of a model imply: is every one in range, which kinds of layers are there, how many parameters?
 *
 * Kinds are MODEL section 1.  Parameters are those a checkpoint of the text decoder holds, so that they can be held against
 * published counts; they are more than the weights of MODEL section 8 by biases, small norms and learned positions. */
#include "cosweep/model.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

struct place {
    struct errors *errors;
    const char *file;
    int line;
};

static int check_range(const struct place *place, const char *fact, int64_t value, int64_t low, int64_t high)
{
    if (value >= low && value <= high) return 0;
    return error_add(place->errors, STATUS_INPUT, place->file, place->line,
                     "model.%s: %" PRId64 " is %s %" PRId64 "; give a whole number from %" PRId64 " to %" PRId64, fact,
                     value, value < low ? "below" : "above", value < low ? low : high, low, high);
}

static int check_block(const struct model *model, const struct place *place)
{
    int result = 0;
    result |= check_range(place, "layers", model->layers, 1, MAX_LAYERS);
    result |= check_range(place, "hidden", model->hidden, 1, MAX_HIDDEN);
    result |= check_range(place, "heads", model->heads, 1, MAX_HEADS);
    if (model->heads >= 1 && model->heads <= MAX_HEADS)
        result |= check_range(place, "kv_heads", model->kv_heads, 1, model->heads);
    result |= check_range(place, "head_dim", model->head_dim, 1, MAX_HEADS);
    result |= check_range(place, "ffn", model->ffn, 0, MAX_WIDTH);
    result |= check_range(place, "vocab", model->vocab, 1, MAX_WIDTH);
    return result;
}

static int check_mla(const struct model *model, const struct place *place)
{
    int result = check_range(place, "mla.kv_rank", model->mla.kv_rank, 0, MAX_HIDDEN);
    if (model->mla.kv_rank == 0) {
        if (model->mla.q_rank != 0 || model->mla.nope_dim != 0 || model->mla.rope_dim != 0 || model->mla.v_dim != 0)
            result = error_add(place->errors, STATUS_INPUT, place->file, place->line,
                               "model.mla.kv_rank: 0 means no MLA, yet other mla facts are given; give the rank of the "
                               "cached latent, or leave out `mla`");
        return result;
    }
    result |= check_range(place, "mla.q_rank", model->mla.q_rank, 0, MAX_HIDDEN);
    result |= check_range(place, "mla.nope_dim", model->mla.nope_dim, 1, MAX_HEADS);
    result |= check_range(place, "mla.rope_dim", model->mla.rope_dim, 0, MAX_HEADS);
    result |= check_range(place, "mla.v_dim", model->mla.v_dim, 1, MAX_HEADS);
    return result;
}

static int check_moe(const struct model *model, const struct place *place)
{
    int result = check_range(place, "moe.experts", model->moe.experts, 0, MAX_EXPERTS);
    if (model->moe.experts == 0) {
        if (model->moe.per_token != 0 || model->moe.ffn != 0 || model->moe.shared_ffn != 0 || model->moe.dense_layers != 0)
            result = error_add(place->errors, STATUS_INPUT, place->file, place->line,
                               "model.moe.experts: 0 means no MoE, yet other moe facts are given; give the number of "
                               "routed experts, or leave out `moe`");
        return result;
    }
    if (result == 0) result |= check_range(place, "moe.per_token", model->moe.per_token, 1, model->moe.experts);
    result |= check_range(place, "moe.ffn", model->moe.ffn, 1, MAX_WIDTH);
    result |= check_range(place, "moe.shared_ffn", model->moe.shared_ffn, 0, MAX_WIDTH);
    result |= check_range(place, "moe.dense_layers", model->moe.dense_layers, 0, MAX_LAYERS);
    result |= check_range(place, "moe.period", model->moe.period, 1, MAX_LAYERS);
    return result;
}

static int check_window(const struct model *model, const bool *windowed, const struct place *place)
{
    int result = check_range(place, "window.tokens", model->window.tokens, 0, MAX_WINDOW_TOKENS);
    result |= check_range(place, "window.global_every", model->window.global_every, 0, MAX_LAYERS);
    if (model->window.tokens == 0 && (model->window.global_every > 0 || windowed != NULL))
        result = error_add(place->errors, STATUS_INPUT, place->file, place->line,
                           "model.window.tokens: 0 means no window, yet a pattern of windowed layers is given; give the "
                           "window in tokens, or leave out the pattern");
    return result;
}

static bool layer_is_moe(const struct model *model, int64_t i)
{
    return model->moe.experts > 0 && i >= model->moe.dense_layers && (i + 1) % model->moe.period == 0;
}

static bool layer_is_windowed(const struct model *model, const bool *windowed, int64_t i)
{
    if (model->window.tokens == 0) return false;
    if (windowed != NULL) return windowed[i];
    return model->window.global_every == 0 || (i + 1) % model->window.global_every != 0;
}

/* MODEL section 1: a short list of (kind, count), in order of first appearance. */
static void derive_kinds(struct model *model, const bool *windowed)
{
    model->n_kinds = 0;
    memset(model->kind, 0, sizeof model->kind);
    for (int64_t i = 0; i < model->layers; i++) {
        const int64_t window_tokens = layer_is_windowed(model, windowed, i) ? model->window.tokens : 0;
        const bool moe = layer_is_moe(model, i);
        int kind = 0;
        while (kind < model->n_kinds && (model->kind[kind].window_tokens != window_tokens || model->kind[kind].moe != moe))
            kind++;
        assert(kind < MAX_KINDS);
        if (kind == model->n_kinds)
            model->kind[model->n_kinds++] = (struct layer_kind){.window_tokens = window_tokens, .moe = moe};
        model->kind[kind].n_layers++;
        model->layer_kind[i] = (unsigned char)kind;
    }
}

static int64_t count_layers(const struct model *model, bool moe)
{
    int64_t n = 0;
    for (int kind = 0; kind < model->n_kinds; kind++) n += model->kind[kind].moe == moe ? model->kind[kind].n_layers : 0;
    return n;
}

int model_finish(struct model *model, const bool *windowed, struct errors *errors, const char *file, int line)
{
    const struct place place = {errors, file, line};
    if (model->moe.period == 0) model->moe.period = 1; /* left out: every layer after the dense ones */
    int result = check_block(model, &place);
    result |= check_mla(model, &place);
    result |= check_moe(model, &place);
    result |= check_window(model, windowed, &place);
    if (result != 0) return -1;
    derive_kinds(model, windowed);
    if (model->moe.experts > 0 && count_layers(model, true) == 0)
        return error_add(errors, STATUS_INPUT, file, line,
                         "model.moe: with dense_layers %" PRId64 " and period %" PRId64 " none of %" PRId64
                         " layers is MoE; lower them, or leave out `moe`",
                         model->moe.dense_layers, model->moe.period, model->layers);
    if (model->ffn == 0 && count_layers(model, false) > 0)
        return error_add(errors, STATUS_INPUT, file, line,
                         "model.ffn: 0, but %" PRId64 " of %" PRId64 " layers are dense; give the width of the dense FFN",
                         count_layers(model, false), model->layers);
    return 0;
}

/* Weights and biases of one FFN of width `width`: a dense layer's, or an expert's. */
static double ffn_parameters(const struct model *model, double width)
{
    const double n_in = model->gated ? 2 : 1;
    const double hidden = (double)model->hidden;
    return (n_in + 1) * hidden * width + (model->extras.ffn_bias ? n_in * width + hidden : 0);
}

static double attention_parameters(const struct model *model)
{
    const double hidden = (double)model->hidden, heads = (double)model->heads;
    double n = (double)model->extras.qk_norm_dims + (model->extras.o_bias ? hidden : 0);
    if (model->mla.kv_rank > 0) {
        const double q_rank = (double)model->mla.q_rank, kv_rank = (double)model->mla.kv_rank;
        const double nope = (double)model->mla.nope_dim, rope = (double)model->mla.rope_dim, v = (double)model->mla.v_dim;
        n += q_rank > 0 ? hidden * q_rank + q_rank /* its norm */ + q_rank * heads * (nope + rope)
                        : hidden * heads * (nope + rope);
        n += hidden * (kv_rank + rope) + kv_rank /* its norm */ + kv_rank * heads * (nope + v) + heads * v * hidden;
        n += model->extras.qkv_bias ? q_rank + kv_rank + rope : 0;
        return n;
    }
    const double qkv = (heads + 2 * (double)model->kv_heads) * (double)model->head_dim;
    return n + hidden * qkv + (model->extras.qkv_bias ? qkv : 0) + heads * (double)model->head_dim * hidden;
}

/* All parameters when each MoE layer holds n_experts routed ones beside its shared ones and the whole router. */
static double count_parameters(const struct model *model, int64_t n_experts)
{
    const double hidden = (double)model->hidden;
    const double norm = hidden * (model->extras.norm_bias ? 2 : 1);
    const double n_norms = model->extras.norms_per_layer > 0 ? model->extras.norms_per_layer : 2;
    const double dense = (double)count_layers(model, false), moe = (double)count_layers(model, true);
    const double shared = model->moe.shared_ffn > 0 ? ffn_parameters(model, (double)model->moe.shared_ffn) : 0;

    double n = (double)model->layers * (attention_parameters(model) + n_norms * norm) + norm;
    n += dense > 0 ? dense * ffn_parameters(model, (double)model->ffn) : 0;
    n += moe > 0 ? moe * (hidden * (double)model->moe.experts + shared +
                          (double)n_experts * ffn_parameters(model, (double)model->moe.ffn))
                 : 0;
    n += (double)model->vocab * hidden * (model->tied ? 1 : 2);
    n += (double)model->extras.learned_positions * hidden;
    return n + model->extras.other_parameters;
}

double model_parameters(const struct model *model)
{
    return count_parameters(model, model->moe.experts);
}

double model_active_parameters(const struct model *model)
{
    return count_parameters(model, model->moe.per_token);
}
