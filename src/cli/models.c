/* `cosweep models`: the models this program knows, or what it makes of a Hugging Face config, with sources. */
#include "cli/cli.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static struct {
    const char *name;
    bool json;
} options;
static const struct option table[] = {
    {ARGUMENT_OPTIONAL, 0, "NAME", NULL, &options.name, "a preset, or a path to a Hugging Face config.json"},
    {OPTION_FLAG, 0, "json", NULL, &options.json, "the facts as a study file takes them inline, with parameter counts"},
    {0},
};

/* ---- facts, named as a study file names them -------------------------------------------------------------------- */

/* X(section, key, member); sections are "" for the top, or a map of the inline model. */
/* clang-format off */
#define FACTS(X)                                     \
    X("", "layers", layers)                          \
    X("", "hidden", hidden)                          \
    X("", "heads", heads)                            \
    X("", "kv_heads", kv_heads)                      \
    X("", "head_dim", head_dim)                      \
    X("", "ffn", ffn)                                \
    X("", "vocab", vocab)                            \
    X("mla", "q_rank", mla.q_rank)                   \
    X("mla", "kv_rank", mla.kv_rank)                 \
    X("mla", "nope_dim", mla.nope_dim)               \
    X("mla", "rope_dim", mla.rope_dim)               \
    X("mla", "v_dim", mla.v_dim)                     \
    X("moe", "experts", moe.experts)                 \
    X("moe", "per_token", moe.per_token)             \
    X("moe", "ffn", moe.ffn)                         \
    X("moe", "shared_ffn", moe.shared_ffn)           \
    X("moe", "dense_layers", moe.dense_layers)       \
    X("moe", "period", moe.period)                   \
    X("window", "tokens", window.tokens)             \
    X("window", "global_every", window.global_every)
/* clang-format on */
struct fact {
    const char *section, *key;
    size_t offset;
};
static const struct fact facts[] = {
#define X(section, key, member) {section, key, offsetof(struct model, member)},
    FACTS(X)
#undef X
};
enum { N_FACTS = sizeof facts / sizeof facts[0] };

static int64_t fact_value(const struct model *model, const struct fact *fact)
{
    int64_t value;
    memcpy(&value, (const char *)model + fact->offset, sizeof value);
    return value;
}

/* Whether the model has the section at all. */
static bool has_section(const struct model *model, const char *section)
{
    if (strcmp(section, "mla") == 0) return model->mla.kv_rank > 0;
    if (strcmp(section, "moe") == 0) return model->moe.experts > 0;
    return strcmp(section, "window") != 0 || model->window.tokens > 0;
}

/* ---- one model -------------------------------------------------------------------------------------------------- */

struct described {
    struct model model; /* finished */
    const char *source, *published_source;
    double published_parameters; /* 0 = unknown */
    char warnings[MESSAGE_CHARS];
};

static void described_json(struct json *json, const struct described *described)
{
    const struct model *const model = &described->model;
    json_open(json, NULL, '{');
    model_inline_json(json, "model", model);
    json_number(json, "parameters", model_parameters(model));
    json_number(json, "active_parameters", model_active_parameters(model));
    json_number(json, "published_parameters", described->published_parameters > 0 ? described->published_parameters : NAN);
    json_text(json, "source", described->source);
    if (described->warnings[0] != '\0') json_text(json, "warnings", described->warnings);
    json_close(json, '}');
}

static void described_print(const struct described *described)
{
    const struct model *const model = &described->model;
    char text[32];
    printf("%s\n", model->name);
    for (int i = 0; i < N_FACTS; i++)
        if (has_section(model, facts[i].section))
            printf("  %s%s%-*s %" PRId64 "\n", facts[i].section, facts[i].section[0] != '\0' ? "." : "",
                   (int)(18 - strlen(facts[i].section) - (facts[i].section[0] != '\0')), facts[i].key,
                   fact_value(model, &facts[i]));
    printf("  %-18s %s\n  %-18s %s\n  %-18s %s\n", "gated", model->gated ? "true" : "false", "tied",
           model->tied ? "true" : "false", "parallel_block", model->parallel_block ? "true" : "false");
    for (int k = 0; k < model->n_kinds; k++) {
        snprintf(text, sizeof text, ", window %" PRId64, model->kind[k].window_tokens);
        printf("  %-18s %d %s%s\n", k == 0 ? "layer kinds" : "", model->kind[k].n_layers,
               model->kind[k].moe ? "MoE" : "dense", model->kind[k].window_tokens > 0 ? text : "");
    }
    printf("  %-18s %s\n", "parameters", unit_format(text, model_parameters(model), DIM_COUNT));
    printf("  %-18s %s\n", "active per token", unit_format(text, model_active_parameters(model), DIM_COUNT));
    if (described->published_parameters > 0)
        printf("  %-18s %s (%s)\n", "published", unit_format(text, described->published_parameters, DIM_COUNT),
               described->published_source);
    printf("  %-18s %s\n", "source", described->source);
    if (described->warnings[0] != '\0') printf("  %-18s %s\n", "left out", described->warnings);
}

static int preset_describe(struct described *described, int i, struct errors *errors)
{
    const struct model_preset *const preset = model_preset(i);
    described->model = preset->model;
    described->source = preset->source;
    described->published_source = preset->published_source;
    described->published_parameters = preset->published_parameters;
    return model_finish(&described->model, NULL, errors, NULL, 0);
}

static bool is_path(const char *name)
{
    const size_t n = strlen(name);
    return strchr(name, '/') != NULL || (n > 5 && strcmp(name + n - 5, ".json") == 0);
}

static int named_describe(struct described *described, struct arena *arena, struct errors *errors)
{
    struct model found;
    if (is_path(options.name)) {
        const struct node *const config = tree_read(options.name, arena, errors);
        described->source = options.name;
        return !config ? -1
                       : model_from_hugging_face(&described->model, config, errors, options.name, described->warnings,
                                                 sizeof described->warnings);
    }
    if (model_by_name(&found, options.name, errors, NULL, 0) != 0) return -1;
    for (int i = 0; i < n_model_presets; i++)
        if (strcmp(model_preset(i)->model.name, found.name) == 0) return preset_describe(described, i, errors);
    return -1;
}

/* ---- all presets ------------------------------------------------------------------------------------------------ */

static void cell_whole(struct table *list, int row, int column, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    table_set(list, row, column, value > 0 ? text : "-");
}

static void all_print(struct errors *errors)
{
    static const char *const headings[] = {"name",     "parameters", "active", "layers",  "hidden",    "heads",
                                           "kv_heads", "head_dim",   "ffn",    "experts", "per_token", "window"};
    enum { N_HEADINGS = sizeof headings / sizeof headings[0] };
    struct table list;
    table_init(&list, N_HEADINGS);
    for (int c = 0; c < N_HEADINGS; c++) table_column(&list, c, headings[c], c > 0);
    for (int i = 0; i < n_model_presets; i++) {
        struct described described = {0};
        char text[32];
        if (preset_describe(&described, i, errors) != 0) continue;
        const struct model *const model = &described.model;
        const int row = table_row(&list);
        const int64_t whole[] = {model->layers,      model->hidden,        model->heads,
                                 model->kv_heads,    model->head_dim,      model->ffn,
                                 model->moe.experts, model->moe.per_token, model->window.tokens};
        table_set(&list, row, 0, model->name);
        table_set(&list, row, 1, unit_format(text, model_parameters(model), DIM_COUNT));
        table_set(&list, row, 2, unit_format(text, model_active_parameters(model), DIM_COUNT));
        for (int c = 3; c < N_HEADINGS; c++) cell_whole(&list, row, c, whole[c - 3]);
    }
    table_print(&list, stdout, -1);
    table_free(&list);
}

static void all_json(struct json *json, struct errors *errors)
{
    json_open(json, NULL, '[');
    for (int i = 0; i < n_model_presets; i++) {
        struct described described = {0};
        if (preset_describe(&described, i, errors) == 0) described_json(json, &described);
    }
    json_close(json, ']');
}

/* ---- the command ------------------------------------------------------------------------------------------------ */

static int cmd_models(struct cli *cli)
{
    struct json json = {.to = stdout, .pretty = true};
    struct arena arena = {0};
    struct described described = {.published_source = ""};
    if (options.name && named_describe(&described, &arena, &cli->errors) == 0) {
        if (options.json) described_json(&json, &described);
        else described_print(&described);
    } else if (!options.name && options.json) {
        all_json(&json, &cli->errors);
    } else if (!options.name) {
        all_print(&cli->errors);
    }
    if (options.json && cli->errors.n == 0) printf("\n");
    arena_free(&arena);
    return cli->errors.n > 0 ? -1 : STATUS_DONE;
}

const struct command command_models = {
    .name = "models",
    .summary = "models that are known by name, or read from a config.json",
    .usage = "[NAME] [OPTIONS]",
    .examples = "  cosweep models\n"
                "  cosweep models llama-3.1-70b\n"
                "  cosweep models ./my-model/config.json --json\n",
    .options = table,
    .call = cmd_models,
};
