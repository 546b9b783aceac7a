/* What does a Hugging Face config.json say in the terms of MODEL section 1?
 *
 * The config is recognised by its model_type; what the type's code does without saying so is a row of hugging_face.def.
 * Nested configs (a text decoder beside a vision tower) are read for the decoder alone. */
#include "hugging_face.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Products of two stay within 64 bits until model_finish has looked at them. */
enum { MAX_COUNT = 1 << 30 };
#define KV_HEADS "num_key_value_heads num_kv_heads n_head_kv kv_n_heads"

/* ---- fields ------------------------------------------------------------------------------------------------------- */

void reading_refuse(struct reading *reading, const struct node *node, const char *format, ...)
{
    char text[MESSAGE_CHARS];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    reading->failed = true;
    error_add(reading->errors, STATUS_INPUT, reading->file, node != NULL ? node->line : reading->config->line, "%s", text);
}

void reading_warn(struct reading *reading, const char *format, ...)
{
    const size_t used = reading->warnings != NULL ? strlen(reading->warnings) : 0;
    if (reading->warnings == NULL || used + 3 >= reading->chars) return;
    va_list arguments;
    va_start(arguments, format);
    char *const to = reading->warnings + used;
    const size_t gap = used > 0 ? 2 : 0;
    memcpy(to, "; ", gap);
    vsnprintf(to + gap, reading->chars - used - gap, format, arguments);
    va_end(arguments);
}

bool has_trait(const struct reading *reading, int trait)
{
    return reading->family != NULL && (reading->family->traits & trait) != 0;
}

bool is_family(const struct reading *reading, const char *type)
{
    return reading->family != NULL && strcmp(reading->family->type, type) == 0;
}

bool field_is_null(const struct node *node)
{
    return node->kind == NODE_TEXT && !node->quoted &&
           (node->text[0] == '\0' || strcmp(node->text, "null") == 0 || strcmp(node->text, "~") == 0);
}

static const struct node *find_in(const struct node *map, const char *names)
{
    if (map == NULL || map->kind != NODE_MAP) return NULL;
    while (*names != '\0') {
        const size_t n = strcspn(names, " ");
        for (const struct node *node = map->first; node != NULL; node = node->next)
            if (strncmp(node->key, names, n) == 0 && node->key[n] == '\0' && !field_is_null(node)) return node;
        names += n + strspn(names + n, " ");
    }
    return NULL;
}

const struct node *field_find(const struct reading *reading, const char *names)
{
    const struct node *node = find_in(reading->config, names);
    if (node == NULL && has_trait(reading, NESTED)) node = find_in(node_find(reading->config, "attn_config"), names);
    if (node == NULL && has_trait(reading, NESTED)) node = find_in(node_find(reading->config, "ffn_config"), names);
    return node;
}

/* The item that all of a list are, else the list. */
static const struct node *find_common(const struct node *list)
{
    for (const struct node *item = list->first; item != NULL; item = item->next)
        if (item->kind != NODE_TEXT || strcmp(item->text, list->first->text) != 0) return list;
    return list->first != NULL ? list->first : list;
}

int64_t field_count(struct reading *reading, const char *names, int64_t fallback)
{
    const struct node *node = field_find(reading, names);
    if (node == NULL) return default_count(reading, names, fallback);
    check_synonyms(reading, names, node);
    if (node->kind == NODE_LIST && has_trait(reading, PER_LAYER)) node = find_common(node);
    char *end = NULL;
    errno = 0;
    const long long value = node->kind == NODE_TEXT ? strtoll(node->text, &end, 10) : 0;
    if (node->kind == NODE_TEXT && node->quoted) {
        reading_refuse(reading, node, "%s: \"%.60s\" is a text, no whole number; remove the quotes", node->key, node->text);
        return fallback;
    }
    if (node->kind != NODE_TEXT || end == node->text || *end != '\0' || errno != 0 || value < 0 || value > MAX_COUNT) {
        reading_refuse(reading, node, "%s: `%s` is no whole number from 0 to %d; give one", node->key,
                       node->kind == NODE_TEXT ? node->text : "a list or map", MAX_COUNT);
        return fallback;
    }
    return value;
}

bool field_truth(struct reading *reading, const char *names, bool fallback)
{
    const struct node *const node = field_find(reading, names);
    if (node == NULL) return fallback;
    const bool is_text = node->kind == NODE_TEXT, yes = is_text && strcmp(node->text, "true") == 0;
    if (is_text && node->quoted)
        reading_refuse(reading, node, "%s: \"%.60s\" is a text, neither true nor false; remove the quotes", node->key,
                       node->text);
    else if (!yes && (!is_text || strcmp(node->text, "false") != 0))
        reading_refuse(reading, node, "%s: `%.60s` is neither true nor false; give one", node->key,
                       node->kind == NODE_TEXT ? node->text : "a list or map");
    return yes;
}

/* A count that the model cannot do without. */
static int64_t required_count(struct reading *reading, const char *names, int64_t fallback)
{
    if (field_find(reading, names) != NULL || default_count(reading, names, fallback) > 0)
        return field_count(reading, names, fallback);
    reading_refuse(reading, NULL, "%.*s: missing, and model_type says nothing of it; add it", (int)strcspn(names, " "),
                   names);
    return 0;
}

/* ---- shape -------------------------------------------------------------------------------------------------------- */

static int64_t read_kv_heads(struct reading *reading, int64_t heads)
{
    const bool falcon = is_family(reading, "falcon");
    /* Before its second architecture Falcon ignored num_kv_heads: one head, or as many as queries. */
    if ((falcon && !field_truth(reading, "new_decoder_architecture", false)) || is_family(reading, "gpt_bigcode"))
        return field_truth(reading, "multi_query", true) ? 1 : heads;
    if (reading->family == NULL) return required_count(reading, "num_key_value_heads num_kv_heads", 0);
    const struct node *const type = field_find(reading, "attn_type"); /* MPT */
    if (type != NULL && type->kind == NODE_TEXT && strcmp(type->text, "multiquery_attention") == 0) return 1;
    return field_count(reading, KV_HEADS, heads);
}

static int64_t read_head_dim(struct reading *reading, const struct model *model)
{
    if (model->mla.kv_rank > 0) return model->mla.nope_dim + model->mla.rope_dim;
    const int64_t given = field_count(reading, "head_dim attention_head_dim", 0);
    if (given > 0 || model->heads < 1) return given;
    if (model->hidden % model->heads != 0)
        reading_refuse(reading, NULL,
                       "head_dim: missing, and %" PRId64 " heads do not divide hidden_size %" PRId64 "; add it",
                       model->heads, model->hidden);
    return model->hidden / model->heads;
}

static void read_mla(struct reading *reading, struct model *model)
{
    const bool latent = field_truth(reading, "use_mla", true);
    model->mla.kv_rank = latent ? field_count(reading, "kv_lora_rank", 0) : 0;
    if (model->mla.kv_rank > 0 && !has_trait(reading, LATENT)) warn_unread(reading, "kv_lora_rank");
    if (model->mla.kv_rank == 0) {
        const struct node *const value_dim = field_find(reading, "v_head_dim");
        if (value_dim != NULL && field_count(reading, "v_head_dim", 0) != field_count(reading, "head_dim", 0))
            reading_refuse(reading, value_dim,
                           "v_head_dim: values of another size than keys cannot be represented without "
                           "MLA (kv_lora_rank); give comparable facts inline");
        return;
    }
    model->mla.q_rank = field_count(reading, "q_lora_rank", 0);
    model->mla.nope_dim = required_count(reading, "qk_nope_head_dim", 0);
    model->mla.rope_dim = required_count(reading, "qk_rope_head_dim", 0);
    model->mla.v_dim = required_count(reading, "v_head_dim", 0);
}

static int64_t read_ffn(struct reading *reading, const struct model *model)
{
    if (is_family(reading, "mpt") && field_find(reading, "ffn_hidden_size") == NULL)
        return field_count(reading, "expansion_ratio", 4) * model->hidden;
    if (is_family(reading, "llama4_text")) /* beside it, intermediate_size is an expert's */
        return required_count(reading, "intermediate_size_mlp", 0);
    if (has_trait(reading, HYBRID)) return required_count(reading, "shared_intermediate_size", 0);
    return required_count(reading, "intermediate_size ffn_dim n_inner ffn_hidden_size",
                          has_trait(reading, FFN_IS_FOUR) ? 4 * model->hidden : 0);
}

static void check_activation(struct reading *reading)
{
    const struct node *const act = field_find(reading, "hidden_act hidden_activation activation_function");
    if (act != NULL && (act->kind != NODE_TEXT || !isalpha((unsigned char)act->text[0])))
        reading_refuse(reading, act, "%s: `%.60s` names no function; give its name, as silu or gelu", act->key,
                       act->kind == NODE_TEXT ? act->text : "a list or map");
}

/* Whether the head is the embedding's matrix: the text decoder says so, else the file, else the type. */
static bool read_tied(struct reading *reading)
{
    static const char *const name = "tie_word_embeddings";
    const struct node *const inner = find_in(reading->config, name), *const outer = find_in(reading->outer, name);
    const bool outer_tied =
        outer != NULL ? outer->text != NULL && strcmp(outer->text, "true") == 0 : has_trait(reading, TIED);
    if (inner != NULL && outer != NULL && inner->text != NULL && outer->text != NULL &&
        strcmp(inner->text, outer->text) != 0)
        reading_warn(reading, "%s is %s of the text decoder, %s of the file: the former is taken", name, inner->text,
                     outer->text);
    if (reading->family == NULL && field_find(reading, name) == NULL && outer == NULL)
        reading_refuse(reading, NULL, "%s: missing, and this model_type is not known; add it", name);
    return field_truth(reading, name, outer_tied);
}

/* What tells a gated FFN and a parallel block is mostly the type, sometimes a field. */
static void read_block(struct reading *reading, struct model *model)
{
    const struct node *const ffn_type = field_find(reading, "ffn_type");
    model->gated = has_trait(reading, GATED) ||
                   (ffn_type != NULL && ffn_type->kind == NODE_TEXT && strstr(ffn_type->text, "glu") != NULL); /* MPT */
    model->parallel_block = has_trait(reading, PARALLEL);
    check_activation(reading);
    if (is_family(reading, "falcon"))
        model->parallel_block =
            field_truth(reading, "parallel_attn", true) || field_truth(reading, "new_decoder_architecture", false);
    if (is_family(reading, "gpt_neox") || is_family(reading, "stablelm"))
        model->parallel_block = field_truth(reading, "use_parallel_residual", model->parallel_block);
    if (reading->family != NULL) return;
    const struct node *const act = field_find(reading, "hidden_act hidden_activation");
    if (act == NULL || act->kind != NODE_TEXT || (strcmp(act->text, "silu") != 0 && strcmp(act->text, "swish") != 0))
        reading_refuse(reading, act,
                       "hidden_act: this model_type is not known and only silu tells that the FFN is gated; give the facts "
                       "inline");
    model->gated = true;
}

/* ---- parameters that cost no time --------------------------------------------------------------------------------- */

static void read_extras(struct reading *reading, struct model *model)
{
    struct model_extras *const extras = &model->extras;
    const bool attention_bias = field_truth(reading, "attention_bias qkv_bias use_qkv_bias", false);
    const bool falcon_bias = is_family(reading, "falcon") && field_truth(reading, "bias", false);
    const bool all_bias = has_trait(reading, ALL_BIAS) && field_truth(reading, "use_bias enable_bias", true);
    const bool qk_norm_asked = field_truth(reading, "use_qk_norm qk_norm qk_layernorm", false);
    const bool qk_norm = !has_trait(reading, NORM_BY_FIELD) || qk_norm_asked;
    const bool two_norms = is_family(reading, "falcon") && field_truth(reading, "new_decoder_architecture", false) &&
                           field_count(reading, "num_ln_in_parallel_attn", 2) == 2;

    extras->norms_per_layer = has_trait(reading, FOUR_NORMS) ? 4 : has_trait(reading, ONE_NORM) && !two_norms ? 1 : 2;
    if (is_family(reading, "falcon") && !model->parallel_block) extras->norms_per_layer = 2;
    if (is_family(reading, "stablelm") && model->parallel_block) extras->norms_per_layer = 1;
    extras->norm_bias = has_trait(reading, NORM_BIAS);
    extras->qkv_bias = (has_trait(reading, QKV_BIAS) && all_bias) || falcon_bias ||
                       (has_trait(reading, BIAS_BY_FIELD | QKV_BY_FIELD) && attention_bias);
    extras->o_bias =
        (has_trait(reading, O_BIAS) && all_bias) || falcon_bias || (has_trait(reading, BIAS_BY_FIELD) && attention_bias);
    extras->ffn_bias = (has_trait(reading, FFN_BIAS) && all_bias) || falcon_bias || field_truth(reading, "mlp_bias", false);
    if (qk_norm && has_trait(reading, HEAD_NORM)) extras->qk_norm_dims = (int)(2 * model->head_dim);
    if (qk_norm && has_trait(reading, FULL_NORM))
        extras->qk_norm_dims = (int)((model->heads + model->kv_heads) * model->head_dim);
    if (has_trait(reading, POSITIONS))
        extras->learned_positions =
            field_count(reading, "n_positions max_position_embeddings", 0) + (is_family(reading, "opt") ? 2 : 0);
    if (qk_norm_asked && extras->qk_norm_dims == 0) reading_warn(reading, "norms of Q and K are left out");
    if (is_family(reading, "gptj") || is_family(reading, "phi") || field_truth(reading, "lm_head_bias", false))
        extras->other_parameters += (double)model->vocab;                                     /* biases of the head */
    if (is_family(reading, "apertus")) extras->other_parameters += 2 * (double)model->layers; /* of its activation */
    if (has_trait(reading, SINKS)) extras->other_parameters += (double)(model->layers * model->heads);
    if (is_family(reading, "bloom"))
        extras->other_parameters += 2 * (double)model->hidden; /* the norm after the embedding */
}

static void warn_of_the_rest(struct reading *reading)
{
    const struct node *quantization = field_find(reading, "quantization_config");
    if (quantization == NULL) quantization = find_in(reading->outer, "quantization_config");
    if (reading->family == NULL)
        reading_warn(reading, "model_type is not known: read as a plain gated decoder, from its fields alone");
    if (field_count(reading, "num_nextn_predict_layers num_mtp_modules", 0) > 0)
        reading_warn(reading, "multi-token-prediction layers are left out");
    if (find_in(reading->outer, "vision_config audio_config visual thinker_config") != NULL)
        reading_warn(reading, "only the text decoder is modelled, not the vision or audio tower");
    if (!field_truth(reading, "is_causal", true)) reading_warn(reading, "attention is modelled as causal");
    if (has_trait(reading, SINKS)) reading_warn(reading, "attention sinks cost no time here");
    if (is_family(reading, "gpt_neox") && field_truth(reading, "use_parallel_residual", true))
        reading_warn(reading, "the parallel block's second norm costs no time here");
    if (quantization != NULL && quantization->kind == NODE_MAP) {
        const struct node *const method = find_in(quantization, "quant_method");
        reading_warn(reading, "the checkpoint is quantised (%s): say so by `weights` of the scenario",
                     method != NULL && method->kind == NODE_TEXT ? method->text : "method not named");
    }
    const struct node *const embedded = field_find(reading, "word_embed_proj_dim");
    if (embedded != NULL && field_count(reading, "word_embed_proj_dim", 0) != field_count(reading, "hidden_size", 0))
        reading_refuse(reading, embedded,
                       "word_embed_proj_dim: an embedding of another width than hidden_size cannot be "
                       "represented; give comparable facts inline");
}

/* ---- the whole ---------------------------------------------------------------------------------------------------- */

static const char *text_of(const struct node *map, const char *key)
{
    const struct node *const node = find_in(map, key);
    return node != NULL && node->kind == NODE_TEXT ? node->text : "";
}

/* The decoder's config: the file's, or the one nested in it. */
static const struct node *find_decoder(const struct node *outer)
{
    const struct node *const thinker = find_in(outer, "thinker_config"); /* Qwen Omni */
    const struct node *const inner = find_in(thinker != NULL ? thinker : outer, "text_config llm_config language_config");
    return inner != NULL && inner->kind == NODE_MAP && inner->n_children > 0 ? inner : outer;
}

static bool is_all_attention(const struct node *config)
{
    const struct node *const types = find_in(config, "layer_types");
    bool all = types != NULL && types->kind == NODE_LIST && types->n_children > 0;
    for (const struct node *type = all ? types->first : NULL; type != NULL; type = type->next)
        all = all && type->kind == NODE_TEXT && strcmp(type->text, "attention") == 0;
    return all;
}

static int find_family(struct reading *reading)
{
    const struct node *const given = find_in(reading->config, "model_type");
    const char *const outer_type = text_of(reading->outer, "model_type");
    const char *const inner_type = text_of(reading->config, "model_type");
    const char *const type = refused_type(outer_type) != NULL || inner_type[0] == '\0' ? outer_type : inner_type;
    const char *const reason = refused_type(type);
    if (given != NULL && (given->kind != NODE_TEXT || !isalpha((unsigned char)given->text[0]))) {
        reading_refuse(reading, given, "model_type: `%.60s` is no name; give that of the model's code, as llama",
                       given->kind == NODE_TEXT ? given->text : "a list or map");
        return -1;
    }
    if (type[0] == '\0') {
        reading_refuse(reading, NULL, "model_type: missing, so this is no Hugging Face config; add it");
        return -1;
    }
    reading->family = family_find(type);
    if (reason != NULL && !(has_trait(reading, HYBRID) && is_all_attention(reading->config))) {
        reading_refuse(reading, find_in(type == outer_type ? reading->outer : reading->config, "model_type"),
                       "model_type: `%s` cannot be represented: it %s; take a preset or give comparable facts inline", type,
                       reason);
        return -1;
    }
    return 0;
}

/* `org/name` and paths lose all but the name; a long one is cut between characters. */
static void read_name(const struct reading *reading, char name[NAME_CHARS])
{
    const char *given = text_of(reading->outer, "_name_or_path");
    const char *const slash = strrchr(given, '/');
    if (slash != NULL) given = slash + 1;
    if (given[0] == '\0') given = text_of(reading->outer, "model_type");
    if (given[0] == '\0') given = text_of(reading->config, "model_type"); /* there: find_family found it */
    size_t n = strlen(given) < NAME_CHARS ? strlen(given) : NAME_CHARS - 1;
    while (n > 0 && ((unsigned char)given[n] & 0xc0) == 0x80) n--; /* inside a character of UTF-8 */
    snprintf(name, NAME_CHARS, "%.*s", (int)n, given);
}

int model_from_hugging_face(struct model *model, const struct node *config, struct errors *errors, const char *file,
                            char *warnings, size_t chars)
{
    struct reading reading = {
        .config = config, .outer = config, .errors = errors, .file = file, .warnings = warnings, .chars = chars};
    bool windowed[MAX_LAYERS];
    *model = (struct model){0};
    if (warnings != NULL && chars > 0) warnings[0] = '\0';
    if (config->kind != NODE_MAP)
        return error_add(errors, STATUS_INPUT, file, config->line, "no Hugging Face config: give an object with model_type");
    reading.config = find_decoder(config);
    if (find_family(&reading) != 0) return -1;
    check_fields(&reading);
    if (reading.failed) return -1; /* whatever else is wrong, this model cannot be had */

    read_name(&reading, model->name);
    model->layers = required_count(&reading, "num_hidden_layers n_layer n_layers num_layers", 0);
    model->hidden =
        required_count(&reading, is_family(&reading, "bloom") ? "n_embed hidden_size" : "hidden_size n_embd d_model", 0);
    model->heads = required_count(&reading, "num_attention_heads n_head n_heads", 0);
    model->kv_heads = read_kv_heads(&reading, model->heads);
    read_mla(&reading, model);
    if (model->mla.kv_rank == 0 && model->kv_heads > 0 && model->heads % model->kv_heads != 0)
        reading_refuse(&reading, field_find(&reading, KV_HEADS),
                       "num_key_value_heads: %" PRId64 " does not divide the %" PRId64
                       " heads of num_attention_heads; give a divisor of it",
                       model->kv_heads, model->heads);
    model->vocab = required_count(&reading, "vocab_size", 0);
    model->head_dim = read_head_dim(&reading, model);
    model->ffn = read_ffn(&reading, model);
    read_block(&reading, model);
    model->tied = read_tied(&reading);
    read_extras(&reading, model);
    read_moe(&reading, model);
    const bool *const pattern = read_window(&reading, model, windowed);
    warn_of_the_rest(&reading);
    warn_of_unknown(&reading);
    return reading.failed ? -1 : model_finish(model, pattern, errors, file, config->line);
}
