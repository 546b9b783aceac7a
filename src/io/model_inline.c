/* model_inline: a model written out in a study, read and written by one table of facts (DESIGN section 2, end). */
#include "reader.h"

#include <string.h>

enum fact_kind { FACT_COUNT, FACT_INT, FACT_TRUTH, FACT_REAL };
struct fact {
    const char *group, *name; /* group "" = a member of the model itself */
    enum fact_kind kind;
    bool required;    /* where its group is given */
    size_t offset;    /* in struct model */
    double low, high; /* model_finish knows what one fact asks of another */
};
#define FACT(group, name, kind, required, member, low, high)                                                                \
    {                                                                                                                       \
        group, name, FACT_##kind, required, offsetof(struct model, member), low, high                                       \
    }
static const struct fact facts[] = {
    FACT("", "layers", COUNT, true, layers, 1, MAX_LAYERS),
    FACT("", "hidden", COUNT, true, hidden, 1, MAX_HIDDEN),
    FACT("", "heads", COUNT, true, heads, 1, MAX_HEADS),
    FACT("", "kv_heads", COUNT, false, kv_heads, 1, MAX_HEADS),
    FACT("", "head_dim", COUNT, false, head_dim, 1, MAX_HEADS),
    FACT("", "ffn", COUNT, false, ffn, 0, MAX_WIDTH),
    FACT("", "vocab", COUNT, true, vocab, 1, MAX_WIDTH),
    FACT("", "gated", TRUTH, false, gated, 0, 1),
    FACT("", "tied", TRUTH, false, tied, 0, 1),
    FACT("", "parallel_block", TRUTH, false, parallel_block, 0, 1),
    FACT("mla", "q_rank", COUNT, false, mla.q_rank, 0, MAX_HIDDEN),
    FACT("mla", "kv_rank", COUNT, true, mla.kv_rank, 0, MAX_HIDDEN),
    FACT("mla", "nope_dim", COUNT, true, mla.nope_dim, 1, MAX_HEADS),
    FACT("mla", "rope_dim", COUNT, true, mla.rope_dim, 0, MAX_HEADS),
    FACT("mla", "v_dim", COUNT, true, mla.v_dim, 1, MAX_HEADS),
    FACT("moe", "experts", COUNT, true, moe.experts, 0, MAX_EXPERTS),
    FACT("moe", "per_token", COUNT, true, moe.per_token, 1, MAX_EXPERTS),
    FACT("moe", "ffn", COUNT, true, moe.ffn, 1, MAX_WIDTH),
    FACT("moe", "shared_ffn", COUNT, false, moe.shared_ffn, 0, MAX_WIDTH),
    FACT("moe", "dense_layers", COUNT, false, moe.dense_layers, 0, MAX_LAYERS),
    FACT("moe", "period", COUNT, false, moe.period, 1, MAX_LAYERS),
    FACT("window", "tokens", COUNT, true, window.tokens, 0, MAX_WINDOW_TOKENS),
    FACT("window", "global_every", COUNT, false, window.global_every, 0, MAX_LAYERS),
    FACT("extras", "norms_per_layer", INT, false, extras.norms_per_layer, 0, MAX_HEADS),
    FACT("extras", "norm_bias", TRUTH, false, extras.norm_bias, 0, 1),
    FACT("extras", "qkv_bias", TRUTH, false, extras.qkv_bias, 0, 1),
    FACT("extras", "o_bias", TRUTH, false, extras.o_bias, 0, 1),
    FACT("extras", "ffn_bias", TRUTH, false, extras.ffn_bias, 0, 1),
    FACT("extras", "qk_norm_dims", INT, false, extras.qk_norm_dims, 0, 1 << 30),
    FACT("extras", "learned_positions", COUNT, false, extras.learned_positions, 0, MAX_WINDOW_TOKENS),
    FACT("extras", "other_parameters", REAL, false, extras.other_parameters, 0, 1e15),
};
#undef FACT
enum { N_FACTS = sizeof facts / sizeof facts[0], N_FACT_GROUPS = 5 };
static const char *const groups[N_FACT_GROUPS] = {"", "mla", "moe", "window", "extras"};

/* The layers that have the window, where no period says it. */
static const char windowed_layers[] = "windowed_layers";

static int fact_read(const struct reader *reader, const struct node *node, const char *path, const struct fact *fact,
                     struct model *model)
{
    void *const at = (char *)model + fact->offset;
    int64_t count;
    switch (fact->kind) {
    case FACT_TRUTH: return reader_bool(reader, node, path, at);
    case FACT_REAL: return reader_number(reader, node, path, DIM_NUMBER, fact->low, fact->high, at);
    case FACT_INT:
        if (reader_count(reader, node, path, (int64_t)fact->low, (int64_t)fact->high, &count) != 0) return -1;
        *(int *)at = (int)count;
        return 0;
    default: return reader_count(reader, node, path, (int64_t)fact->low, (int64_t)fact->high, at);
    }
}

/* The facts of one group that is there. */
static int group_read(const struct reader *reader, const struct node *node, const char *path, const char *group,
                      struct model *model)
{
    const char *words[N_FACTS + N_FACT_GROUPS + 1];
    int n = 0, status;
    for (int i = 0; i < N_FACTS; i++)
        if (strcmp(facts[i].group, group) == 0) words[n++] = facts[i].name;
    if (!group[0]) {
        words[n++] = "name";
        for (int i = 1; i < N_FACT_GROUPS; i++) words[n++] = groups[i];
    }
    if (strcmp(group, "window") == 0) words[n++] = windowed_layers;
    status = reader_map(reader, node, path, words, n);
    if (node->kind != NODE_MAP || node->n_children == 0) return status;
    for (int i = 0; i < N_FACTS; i++) {
        const struct node *const child = node_find(node, facts[i].name);
        char member[PATH_CHARS];
        if (strcmp(facts[i].group, group) != 0) continue;
        path_join(member, path, facts[i].name);
        if (child) status |= fact_read(reader, child, member, &facts[i], model);
        else if (facts[i].required) status = reader_error(reader, node, path, "%s is missing; give it", facts[i].name);
    }
    return status;
}

/* Which layers have the window, from a list of their numbers; NULL where there is none. */
static int windowed_read(const struct reader *reader, const struct node *node, const char *path, int64_t layers,
                         bool windowed[MAX_LAYERS])
{
    if (node->kind != NODE_LIST || node->n_children == 0)
        return reader_list_error(reader, node, path, 1, (int)layers, "layers that have the window, the first is 0");
    int status = 0;
    for (const struct node *item = node->first; item; item = item->next) {
        int64_t i;
        if (reader_count(reader, item, path, 0, layers - 1, &i) != 0) status = -1;
        else if (windowed[i]) status = reader_error(reader, item, path, "%.40s is given twice; remove one", item->text);
        else windowed[i] = true;
    }
    return status;
}

static int model_name_read(const struct reader *reader, const struct node *node, const char *path, struct model *model)
{
    const char *const text = node ? reader_text(reader, node, path) : "inline";
    if (!text) return -1;
    if (strlen(text) >= NAME_CHARS)
        return reader_error(reader, node, path, "a name of %zu bytes; give at most %d", strlen(text), NAME_CHARS - 1);
    snprintf(model->name, NAME_CHARS, "%s", text);
    return 0;
}

/* Facts left out that follow from others: as many KV heads as heads, heads that split the hidden width. */
static int derive_facts(const struct reader *reader, const struct node *node, const char *path, struct model *model)
{
    if (!node_find(node, "kv_heads")) model->kv_heads = model->heads;
    if (node_find(node, "head_dim")) return 0;
    if (model->heads < 1 || model->hidden % model->heads != 0)
        return reader_error(reader, node, path, "head_dim is missing and heads do not divide hidden; give it");
    model->head_dim = model->hidden / model->heads;
    return 0;
}

int model_inline_read(const struct reader *reader, const struct node *node, const char *path, struct model *model)
{
    char member[PATH_CHARS], place[PATH_CHARS];
    bool windowed[MAX_LAYERS] = {false};
    memset(model, 0, sizeof *model);
    model->gated = true;
    int status = group_read(reader, node, path, "", model);
    if (node->kind != NODE_MAP || node->n_children == 0) return -1;
    path_join(member, path, "name");
    status |= model_name_read(reader, node_find(node, "name"), member, model);
    for (int i = 1; i < N_FACT_GROUPS; i++) {
        const struct node *const group = node_find(node, groups[i]);
        path_join(member, path, groups[i]);
        if (group) status |= group_read(reader, group, member, groups[i], model);
    }
    if (status != 0 || derive_facts(reader, node, path, model) != 0) return -1;
    const struct node *const list = node_find(node_find(node, "window"), windowed_layers);
    if (list) {
        const int64_t layers = model->layers < MAX_LAYERS ? model->layers : MAX_LAYERS;
        path_join(member, path, "window.windowed_layers");
        if (model->window.global_every > 0)
            return reader_error(reader, list, member, "global_every says already which layers have the window; remove one");
        if (layers < 1 || windowed_read(reader, list, member, layers, windowed) != 0)
            return layers < 1 ? reader_error(reader, node, path, "layers is 0; give at least 1") : -1;
    }
    return model_finish(model, list ? windowed : NULL, reader->errors, reader_file(reader, node, place), reader_line(node));
}

static bool layer_has_window(const struct model *model, int64_t i)
{
    return model->kind[model->layer_kind[i]].window_tokens > 0;
}

/* Whether `global_every` says which layers have the window. */
static bool window_is_periodic(const struct model *model)
{
    const int64_t period = model->window.global_every;
    for (int64_t i = 0; i < model->layers; i++)
        if (layer_has_window(model, i) == (period > 0 && (i + 1) % period == 0)) return false;
    return true;
}

static double fact_value(const struct model *model, const struct fact *fact)
{
    const void *const at = (const char *)model + fact->offset;
    switch (fact->kind) {
    case FACT_TRUTH: return *(const bool *)at;
    case FACT_REAL: return *(const double *)at;
    case FACT_INT: return *(const int *)at;
    default: return (double)*(const int64_t *)at;
    }
}

/* A group is left out where the fact that switches it on is 0; extras where all are. */
static bool group_matters(const struct model *model, const char *group)
{
    if (strcmp(group, "mla") == 0) return model->mla.kv_rank > 0;
    if (strcmp(group, "moe") == 0) return model->moe.experts > 0;
    if (strcmp(group, "window") == 0) return model->window.tokens > 0;
    for (int i = 0; i < N_FACTS; i++)
        if (strcmp(facts[i].group, group) == 0 && fact_value(model, &facts[i]) != 0) return true;
    return false;
}

static void group_write(struct json *json, const struct model *model, const char *group)
{
    for (int i = 0; i < N_FACTS; i++) {
        if (strcmp(facts[i].group, group) != 0) continue;
        const double value = fact_value(model, &facts[i]);
        if (facts[i].kind == FACT_TRUTH) json_bool(json, facts[i].name, value != 0);
        else json_number(json, facts[i].name, value);
    }
    if (strcmp(group, "window") != 0 || window_is_periodic(model)) return;
    json_open(json, windowed_layers, '[');
    for (int64_t i = 0; i < model->layers; i++)
        if (layer_has_window(model, i)) json_number(json, NULL, (double)i);
    json_close(json, ']');
}

void model_inline_json(struct json *json, const char *key, const struct model *model)
{
    json_open(json, key, '{');
    json_text(json, "name", model->name);
    group_write(json, model, "");
    for (int i = 1; i < N_FACT_GROUPS; i++) {
        if (!group_matters(model, groups[i])) continue;
        json_open(json, groups[i], '{');
        group_write(json, model, groups[i]);
        json_close(json, '}');
    }
    json_close(json, '}');
}
