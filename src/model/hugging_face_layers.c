/* Which layers are MoE, and which have the sliding window?
 *
 * Every family spells it in its own way.  Each spelling is first turned into one truth per layer; then the pattern of
 * MODEL section 1 that gives the same truths is looked for. */
#include "hugging_face.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define N_EXPERTS        "n_routed_experts num_local_experts num_experts moe_num_experts"
#define N_SHARED_EXPERTS "n_shared_experts num_shared_experts moe_num_shared_experts num_shared_expert"
/* Fields that say which layers are MoE. */
#define MOE_PATTERNS                                                                                                        \
    "mlp_layer_types moe_layer_freq moe_layers mlp_only_layers first_k_dense_replace decoder_sparse_step "                  \
    "interleave_moe_layer_step moe_layer_interval"

/* ---- MoE ---------------------------------------------------------------------------------------------------------- */

static bool list_has(const struct node *list, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    for (const struct node *item = list->first; item != NULL; item = item->next)
        if (item->kind == NODE_TEXT && strcmp(item->text, text) == 0) return true;
    return false;
}

static bool is_word(const struct node *item, const char *a, const char *b, const char *c)
{
    const char *const text = item->kind == NODE_TEXT ? item->text : "";
    return strcmp(text, a) == 0 || strcmp(text, b) == 0 || strcmp(text, c) == 0;
}

/* One item a layer. */
static void read_moe_list(struct reading *reading, const struct node *list, int64_t layers, bool *moe)
{
    if (list->kind != NODE_LIST || list->n_children != layers) {
        reading_refuse(reading, list, "%s: %d entries for %" PRId64 " layers; give one a layer", list->key, list->n_children,
                       layers);
        return;
    }
    int64_t i = 0;
    for (const struct node *item = list->first; item != NULL; item = item->next) {
        moe[i] = is_word(item, "1", "true", "sparse");
        if (!moe[i++] && !is_word(item, "0", "false", "dense"))
            reading_refuse(reading, item, "%s: an entry says neither sparse nor dense; give one of them, or 1 or 0",
                           list->key);
    }
}

/* The list of layers under `name`, each checked, or NULL. */
static const struct node *find_layers(struct reading *reading, const char *name, int64_t layers)
{
    const struct node *const list = field_find(reading, name);
    if (list == NULL) return NULL;
    bool good = list->kind == NODE_LIST;
    for (const struct node *item = good ? list->first : NULL; item != NULL; item = item->next) {
        char *end = NULL;
        const long long layer = item->kind == NODE_TEXT && !item->quoted ? strtoll(item->text, &end, 10) : -1;
        good = good && layer >= 0 && layer < layers && *end == '\0';
    }
    if (!good) reading_refuse(reading, list, "%s: no list of layers from 0 to %" PRId64 "; give one", name, layers - 1);
    return list;
}

/* Llama 4 and Qwen count layers from one, DeepSeek from zero; Ernie gives first and last. */
static void read_moe_layers(struct reading *reading, int64_t layers, bool *moe)
{
    const struct node *const each = field_find(reading, "mlp_layer_types moe_layer_freq");
    const struct node *const listed = find_layers(reading, "moe_layers", layers);
    if (each != NULL && (each->kind == NODE_LIST || strcmp(each->key, "mlp_layer_types") == 0)) {
        read_moe_list(reading, each, layers, moe);
        return;
    }
    const struct node *const dense = find_layers(reading, "mlp_only_layers", layers);
    const int64_t n_dense = field_count(reading, "first_k_dense_replace moe_layer_start_index moe_layer_num_skipped", 0);
    const struct node *const end = field_find(reading, "moe_layer_end_index");
    const bool to_the_end = end == NULL || (end->kind == NODE_TEXT && strcmp(end->text, "-1") == 0);
    const int64_t last = to_the_end ? layers - 1 : field_count(reading, "moe_layer_end_index", 0);
    const int64_t step = field_count(reading, "decoder_sparse_step interleave_moe_layer_step moe_layer_interval", 1);
    const int64_t step_from_0 = field_count(reading, "moe_layer_freq", 1);
    for (int64_t i = 0; i < layers; i++) {
        moe[i] = i >= n_dense && i <= last && step > 0 && (i + 1) % step == 0 && step_from_0 > 0 && i % step_from_0 == 0;
        if (listed != NULL && listed->n_children > 0) moe[i] = list_has(listed, i);
        if (dense != NULL && list_has(dense, i)) moe[i] = false;
    }
}

static bool pattern_is(const bool *moe, int64_t layers, int64_t dense_layers, int64_t period)
{
    for (int64_t i = 0; i < layers; i++)
        if (moe[i] != (i >= dense_layers && (i + 1) % period == 0)) return false;
    return true;
}

static void fit_moe_pattern(struct reading *reading, struct model *model, const bool *moe)
{
    int64_t first = 0;
    while (first < model->layers && !moe[first]) first++;
    for (int64_t period = 1; period <= model->layers; period++)
        for (int64_t dense_layers = 0; dense_layers <= first; dense_layers += first > 0 ? first : 1)
            if (pattern_is(moe, model->layers, dense_layers, period)) {
                model->moe.dense_layers = dense_layers;
                model->moe.period = period;
                return;
            }
    reading_refuse(reading, NULL,
                   "the MoE layers do not follow `after the first n layers, every m-th`, which is all that "
                   "can be represented; give comparable facts inline");
}

static void read_expert_widths(struct reading *reading, struct model *model)
{
    const struct node *const width = field_find(reading, "moe_intermediate_size");
    const bool is_ffn = has_trait(reading, EXPERT_IS_FFN | NESTED);
    if (width == NULL && !is_ffn) {
        reading_refuse(reading, NULL,
                       "moe_intermediate_size: missing, and intermediate_size need not be the width of an "
                       "expert; add it");
        return;
    }
    model->moe.ffn = field_count(reading, is_ffn ? "intermediate_size ffn_hidden_size" : "moe_intermediate_size", 0);
    if (is_family(reading, "llama4_text"))
        model->moe.shared_ffn = model->moe.ffn; /* always one; the code has no field for it */
    model->moe.shared_ffn += field_count(reading, N_SHARED_EXPERTS, 0) *
                             field_count(reading, "moe_shared_expert_intermediate_size", model->moe.ffn);
    model->moe.shared_ffn =
        field_count(reading, "shared_expert_intermediate_size shared_intermediate_size", model->moe.shared_ffn);
}

/* Do experts go with the model_type, and what does its code not read of them? */
static void check_experts(struct reading *reading, int64_t experts)
{
    if (reading->family != NULL && has_trait(reading, MOE) && field_find(reading, N_EXPERTS) == NULL)
        reading_refuse(reading, NULL, "num_experts: missing, and %s has experts; add it by the name that its code reads",
                       reading->family->type);
    if (experts > 0 && !has_trait(reading, MOE)) warn_unread(reading, N_EXPERTS);
    if (reading->family != NULL && has_trait(reading, EXPERT_IS_FFN)) {
        if (field_find(reading, "moe_intermediate_size") != NULL)
            reading_warn(reading, "moe_intermediate_size is not used by %s", reading->family->type);
        if (!is_family(reading, "llama4_text")) warn_unread(reading, MOE_PATTERNS);
        warn_unread(reading, N_SHARED_EXPERTS);
    }
}

void read_moe(struct reading *reading, struct model *model)
{
    bool moe[MAX_LAYERS] = {false};
    const int64_t experts = field_count(reading, N_EXPERTS, 0);
    if (experts == 1 && reading->family != NULL && !has_trait(reading, MOE)) return; /* HunYuan: the dense FFN */
    check_experts(reading, experts);
    if (experts <= 0 || model->layers < 1 || model->layers > MAX_LAYERS) return;
    model->moe.experts = experts;
    model->moe.per_token = field_count(reading, "num_experts_per_tok experts_per_token moe_k moe_top_k moe_topk", 0);
    read_expert_widths(reading, model);
    read_moe_layers(reading, model->layers, moe);
    if (reading->family == NULL && field_find(reading, MOE_PATTERNS) == NULL)
        reading_refuse(reading, NULL,
                       "first_k_dense_replace: missing, and which layers are MoE is not known for this "
                       "model_type; add it");
    if (reading->failed) return;
    fit_moe_pattern(reading, model, moe);

    int64_t n_moe = 0;
    for (int64_t i = 0; i < model->layers; i++) n_moe += moe[i];
    if (n_moe == model->layers) model->ffn = 0;
    if (has_trait(reading, ROUTER_BIAS) || field_truth(reading, "moe_router_enable_expert_bias", false))
        model->extras.other_parameters += (double)(n_moe * experts);
    if (is_family(reading, "qwen2_moe"))
        model->extras.other_parameters += (double)(n_moe * model->hidden); /* the gate of the shared expert */
}

/* ---- window ------------------------------------------------------------------------------------------------------- */

/* `layer_types`: one word a layer.  Returns whether any is windowed. */
static bool read_layer_types(struct reading *reading, const struct node *types, int64_t layers, bool *windowed)
{
    bool any = false;
    int64_t i = 0;
    if (types->kind != NODE_LIST || types->n_children != layers) {
        reading_refuse(reading, types, "layer_types: %d entries for %" PRId64 " layers; give one a layer", types->n_children,
                       layers);
        return false;
    }
    for (const struct node *type = types->first; type != NULL; type = type->next, i++) {
        const char *const word = type->kind == NODE_TEXT ? type->text : "";
        windowed[i] = strcmp(word, "sliding_attention") == 0;
        any = any || windowed[i];
        if (!windowed[i] && strcmp(word, "full_attention") != 0 && strcmp(word, "attention") != 0) {
            reading_refuse(reading, type,
                           "layer_types: `%s` cannot be represented, only full_attention and "
                           "sliding_attention; take a preset or give comparable facts inline",
                           word);
            return false;
        }
    }
    return any;
}

/* Every how many layers is one global?  Exaone's "LLLG" is 4. */
static int64_t read_global_every(struct reading *reading, int rule)
{
    static const char *const names = "sliding_window_pattern _sliding_window_pattern";
    const struct node *const pattern = field_find(reading, names);
    const size_t local = pattern != NULL && pattern->kind == NODE_TEXT ? strspn(pattern->text, "L") : 0;
    return local > 0 && strcmp(pattern->text + local, "G") == 0 ? (int64_t)local + 1 : field_count(reading, names, rule);
}

/* What the type's code does without `layer_types`.  Returns whether any layer is windowed. */
static bool apply_window_rule(struct reading *reading, int rule, int64_t layers, bool *windowed)
{
    const int64_t from = rule == WINDOW_FROM_LAYER ? field_count(reading, "max_window_layers", layers) : 0;
    const int64_t every = rule > 0 ? read_global_every(reading, rule) : 0;
    bool any = false;
    if (rule == WINDOW_UNUSED) {
        if (reading->family == NULL || field_truth(reading, "use_sliding_window", false))
            reading_refuse(reading, field_find(reading, "sliding_window"),
                           "sliding_window: which layers have it is not "
                           "known for this model_type; add layer_types");
        else reading_warn(reading, "sliding_window is not used by %s", reading->family->type);
        return false;
    }
    for (int64_t i = 0; i < layers; i++) {
        windowed[i] = i >= from && (every <= 0 || (i + 1) % every != 0);
        any = any || windowed[i];
    }
    return any;
}

static bool every_nth_is_global(const bool *windowed, int64_t layers, int64_t n)
{
    for (int64_t i = 0; i < layers; i++)
        if (windowed[i] != (n == 0 || (i + 1) % n != 0)) return false;
    return true;
}

const bool *read_window(struct reading *reading, struct model *model, bool *windowed)
{
    const struct node *const types = field_find(reading, "layer_types");
    const int64_t tokens = field_count(reading, "sliding_window", 0);
    if (model->layers < 1 || model->layers > MAX_LAYERS) return NULL;
    /* Llama 4 without the field, which check_fields refuses where it is. */
    if (types == NULL && field_count(reading, "attention_chunk_size", 0) > 0)
        reading_refuse(reading, NULL,
                       "attention_chunk_size: missing, so %s attends within chunks, which cannot be represented; "
                       "take a preset or give comparable facts inline",
                       reading->family->type);
    const int rule = reading->family != NULL ? reading->family->window_rule : WINDOW_UNUSED;
    const bool on = field_truth(reading, "use_sliding_window", rule != WINDOW_FROM_LAYER && rule != WINDOW_SWITCHED);
    const bool any = types != NULL ? read_layer_types(reading, types, model->layers, windowed)
                                   : on && tokens > 0 && apply_window_rule(reading, rule, model->layers, windowed);
    if (!any || !on || reading->failed) return NULL;
    if (tokens <= 0) {
        reading_refuse(reading, types, "sliding_window: missing, but layer_types has windowed layers; add it");
        return NULL;
    }
    model->window.tokens = tokens;
    for (int64_t n = 0; n <= model->layers; n++)
        if (every_nth_is_global(windowed, model->layers, n)) {
            model->window.global_every = n;
            return NULL;
        }
    return windowed;
}
