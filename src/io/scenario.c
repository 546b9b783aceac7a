/* scenario: what is asked of a model, from the file (DESIGN section 2, MODEL section 1 "Scenario"). */
#include "reader.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_TOKENS = 1000000000 };

/* Every key of a scenario and the phases in which it means something. */
enum { IN_DECODE = 1, IN_PREFILL = 2, IN_SERVE = 4, IN_ALL = 7 };
/* clang-format off */
#define SCENARIO_KEYS(X)                                                                                                    \
    X(NAME, "name", IN_ALL)                                                                                                 \
    X(MODEL, "model", IN_ALL)                                                                                               \
    X(PHASE, "phase", IN_ALL)                                                                                               \
    X(NEW_TOKENS, "new_tokens", IN_DECODE | IN_PREFILL)                                                                     \
    X(PAST_TOKENS, "past_tokens", IN_DECODE | IN_PREFILL)                                                                   \
    X(CONTEXT, "context", IN_DECODE)                                                                                        \
    X(PROMPT_TOKENS, "prompt_tokens", IN_SERVE)                                                                             \
    X(ANSWER_TOKENS, "answer_tokens", IN_SERVE)                                                                             \
    X(PROMPT_CHUNK, "prompt_chunk", IN_SERVE)                                                                               \
    X(WEIGHTS, "weights", IN_ALL)                                                                                           \
    X(KV, "kv", IN_ALL)                                                                                                     \
    X(ACTIVATIONS, "activations", IN_ALL)                                                                                   \
    X(COMPUTE, "compute", IN_ALL)                                                                                           \
    X(ACCEPTED_TOKENS, "accepted_tokens", IN_ALL)                                                                           \
    X(MOE_IMBALANCE, "moe_imbalance", IN_ALL)                                                                               \
    X(DIVISIBILITY, "divisibility", IN_ALL)
/* clang-format on */
enum scenario_key {
#define X(code, name, phases) KEY_##code,
    SCENARIO_KEYS(X)
#undef X
        N_KEYS
};
static const char *const key_name[N_KEYS] = {
#define X(code, name, phases) name,
    SCENARIO_KEYS(X)
#undef X
};
static const int key_phases[N_KEYS] = {
#define X(code, name, phases) phases,
    SCENARIO_KEYS(X)
#undef X
};

/* A scenario's map taken apart: where each key stands, NULL where it is left out. */
struct parts {
    const struct reader *reader;
    const struct node *map;
    const char *path;
    const struct node *node[N_KEYS];
    char member[N_KEYS][PATH_CHARS];
};

static int require(const struct parts *parts, enum scenario_key key)
{
    if (parts->node[key]) return 0;
    return reader_error(parts->reader, parts->map, parts->path, "%s is missing; give it", key_name[key]);
}

/* A count that keeps its default where it is left out. */
static int tokens_read(const struct parts *parts, enum scenario_key key, int64_t low, int64_t *value)
{
    if (!parts->node[key]) return 0;
    return reader_count(parts->reader, parts->node[key], parts->member[key], low, MAX_TOKENS, value);
}

/* ---- model ------------------------------------------------------------------------------------------------------ */

/* A path in a study is relative to the study. */
static int model_file_read(const struct parts *parts, const char *path, struct scenario *scenario)
{
    const struct reader *const reader = parts->reader;
    const char *const slash = path[0] == '/' ? NULL : strrchr(reader->file, '/');
    const size_t n_folder = slash ? (size_t)(slash + 1 - reader->file) : 0;
    const size_t n = n_folder + strlen(path) + 1;
    char *const full = arena_alloc(reader->arena, n, 1);
    snprintf(full, n, "%.*s%s", (int)n_folder, reader->file, path);
    const struct node *const config = tree_read(full, reader->arena, reader->errors);
    if (!config)
        return reader_error(reader, parts->node[KEY_MODEL], parts->member[KEY_MODEL],
                            "the model file %.100s cannot be used; give a Hugging Face config.json or a preset", path);
    return model_from_hugging_face(&scenario->model, config, reader->errors, full, scenario->warnings,
                                   sizeof scenario->warnings);
}

static int model_read(const struct parts *parts, struct scenario *scenario)
{
    const struct node *const node = parts->node[KEY_MODEL];
    char place[PATH_CHARS];
    if (require(parts, KEY_MODEL) != 0) return -1;
    if (node->kind == NODE_MAP) return model_inline_read(parts->reader, node, parts->member[KEY_MODEL], &scenario->model);
    if (node->kind == NODE_LIST || node_is_empty(node))
        return reader_error(parts->reader, node, parts->member[KEY_MODEL],
                            "%s; give a preset, the path of a Hugging Face config.json, or a map of facts",
                            node->kind == NODE_LIST ? "is a list" : "has no value");
    const char *const text = node->text;
    const size_t n = strlen(text);
    if (n > 5 && strcmp(text + n - 5, ".json") == 0) return model_file_read(parts, text, scenario);
    return model_by_name(&scenario->model, text, parts->reader->errors, reader_file(parts->reader, node, place),
                         reader_line(node));
}

/* ---- tokens ----------------------------------------------------------------------------------------------------- */

static int decode_read(const struct parts *parts, struct scenario *scenario)
{
    int64_t context = 0;
    scenario->new_tokens = 1;
    int status = tokens_read(parts, KEY_NEW_TOKENS, 1, &scenario->new_tokens);
    status |= tokens_read(parts, KEY_PAST_TOKENS, 0, &scenario->past_tokens);
    status |= tokens_read(parts, KEY_CONTEXT, 1, &context);
    if (!parts->node[KEY_PAST_TOKENS] == !parts->node[KEY_CONTEXT])
        return reader_error(parts->reader, parts->node[KEY_CONTEXT] ? parts->node[KEY_CONTEXT] : parts->map, parts->path,
                            parts->node[KEY_CONTEXT] ? "both past_tokens and context are given; remove one"
                                                     : "past_tokens is missing; give it, or context (past plus new)");
    if (status != 0 || !parts->node[KEY_CONTEXT]) return status;
    if (context < scenario->new_tokens)
        return reader_error(parts->reader, parts->node[KEY_CONTEXT], parts->member[KEY_CONTEXT],
                            "%" PRId64 " is below the %" PRId64 " new tokens it includes; give past plus new", context,
                            scenario->new_tokens);
    scenario->past_tokens = context - scenario->new_tokens;
    return 0;
}

static int prefill_read(const struct parts *parts, struct scenario *scenario)
{
    scenario->new_tokens = 1;
    int status = require(parts, KEY_NEW_TOKENS);
    status |= tokens_read(parts, KEY_NEW_TOKENS, 1, &scenario->new_tokens);
    return status | tokens_read(parts, KEY_PAST_TOKENS, 0, &scenario->past_tokens);
}

static int serve_read(const struct parts *parts, struct scenario *scenario)
{
    scenario->new_tokens = 1;
    int status = require(parts, KEY_PROMPT_TOKENS) | require(parts, KEY_ANSWER_TOKENS);
    status |= tokens_read(parts, KEY_PROMPT_TOKENS, 1, &scenario->prompt_tokens);
    status |= tokens_read(parts, KEY_PROMPT_CHUNK, 0, &scenario->prompt_chunk);
    return status | tokens_read(parts, KEY_ANSWER_TOKENS, 1, &scenario->answer_tokens);
}

/* MODEL section 1: no more tokens can be accepted than were verified. */
static int accepted_read(const struct parts *parts, struct scenario *scenario)
{
    const struct node *const node = parts->node[KEY_ACCEPTED_TOKENS];
    const char *const path = parts->member[KEY_ACCEPTED_TOKENS];
    if (!node) return 0;
    if (reader_number(parts->reader, node, path, DIM_NUMBER, 1, MAX_TOKENS, &scenario->accepted_tokens) != 0) return -1;
    if (scenario->accepted_tokens > (double)scenario->new_tokens)
        return reader_error(parts->reader, node, path, "%.40s is above the %" PRId64 " new tokens of a step; give fewer",
                            node->text, scenario->new_tokens);
    return 0;
}

static int phase_read(const struct parts *parts, struct scenario *scenario)
{
    static const int bit[] = {[PHASE_DECODE] = IN_DECODE, [PHASE_PREFILL] = IN_PREFILL, [PHASE_SERVE] = IN_SERVE};
    if (require(parts, KEY_PHASE) != 0) return -1;
    const int phase = reader_word(parts->reader, parts->node[KEY_PHASE], parts->member[KEY_PHASE], phase_name, 3);
    if (phase < 0) return -1;
    int status = 0;
    scenario->phase = (enum phase)phase;
    for (int i = 0; i < N_KEYS; i++)
        if (parts->node[i] && !(key_phases[i] & bit[phase]))
            status = reader_error(parts->reader, parts->node[i], parts->member[i], "means nothing in phase %s; remove it",
                                  phase_name[phase]);
    status |= phase == PHASE_DECODE    ? decode_read(parts, scenario)
              : phase == PHASE_PREFILL ? prefill_read(parts, scenario)
                                       : serve_read(parts, scenario);
    return status != 0 ? status : accepted_read(parts, scenario);
}

/* ---- number formats --------------------------------------------------------------------------------------------- */

/* Bytes per element: a format's name, or the number itself; `dtype` is set where there is a name. */
static int bytes_read(const struct parts *parts, enum scenario_key key, double *bytes, int *dtype)
{
    const struct node *const node = parts->node[key];
    const char *why;
    double number;
    *dtype = DTYPE_BF16;
    *bytes = dtype_bytes[DTYPE_BF16];
    if (!node) return 0;
    if (node->kind == NODE_TEXT && unit_parse(node->text, DIM_NUMBER, &number, &why) == 0) {
        *dtype = -1;
        return reader_number(parts->reader, node, parts->member[key], DIM_NUMBER, 0.01, 16, bytes);
    }
    *dtype = reader_word(parts->reader, node, parts->member[key], dtype_name, N_DTYPES);
    if (*dtype < 0) return -1;
    *bytes = dtype_bytes[*dtype];
    return 0;
}

/* Formats a GEMM can compute in: those that are their own default. */
static int compute_read(const struct parts *parts, struct scenario *scenario)
{
    const char *words[N_DTYPES];
    int code[N_DTYPES], n = 0;
    for (int i = 0; i < N_DTYPES; i++)
        if ((int)dtype_compute[i] == i) {
            code[n] = i;
            words[n++] = dtype_name[i];
        }
    const int word = reader_word(parts->reader, parts->node[KEY_COMPUTE], parts->member[KEY_COMPUTE], words, n);
    if (word >= 0) scenario->compute = (enum dtype)code[word];
    return word >= 0 ? 0 : -1;
}

static int formats_read(const struct parts *parts, struct scenario *scenario)
{
    int weights, other;
    int status = bytes_read(parts, KEY_WEIGHTS, &scenario->weight_bytes, &weights);
    status |= bytes_read(parts, KEY_KV, &scenario->kv_bytes, &other);
    status |= bytes_read(parts, KEY_ACTIVATIONS, &scenario->activation_bytes, &other);
    if (parts->node[KEY_COMPUTE]) return status | compute_read(parts, scenario);
    if (weights >= 0) scenario->compute = dtype_compute[weights];
    else /* bytes alone: below one, weights are taken for integers that are dequantised */
        scenario->compute = scenario->weight_bytes >= 1 && scenario->weight_bytes < 2 ? DTYPE_FP8 : DTYPE_BF16;
    return status;
}

static int imbalance_read(const struct parts *parts, struct scenario *scenario)
{
    static const char *const words[] = {"uniform", "random"};
    const struct node *const node = parts->node[KEY_MOE_IMBALANCE];
    const char *const path = parts->member[KEY_MOE_IMBALANCE];
    const char *why;
    double number;
    if (!node) return 0;
    if (node->kind == NODE_TEXT && unit_parse(node->text, DIM_NUMBER, &number, &why) == 0) {
        scenario->imbalance = IMBALANCE_FACTOR;
        return reader_number(parts->reader, node, path, DIM_NUMBER, 1, 1e6, &scenario->imbalance_factor);
    }
    const int word = reader_word(parts->reader, node, path, words, 2);
    if (word >= 0) scenario->imbalance = word == 0 ? IMBALANCE_UNIFORM : IMBALANCE_RANDOM;
    return word >= 0 ? 0 : -1;
}

static int divisibility_read(const struct parts *parts, struct scenario *scenario)
{
    static const char *const words[] = {"pad", "strict"};
    if (!parts->node[KEY_DIVISIBILITY]) return 0;
    const int word = reader_word(parts->reader, parts->node[KEY_DIVISIBILITY], parts->member[KEY_DIVISIBILITY], words, 2);
    scenario->strict = word == 1;
    return word >= 0 ? 0 : -1;
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

/* "model-phase", with what a name may not hold replaced. */
static void default_name(struct scenario *scenario)
{
    snprintf(scenario->name, NAME_CHARS, "%.50s-%s", scenario->model.name, phase_name[scenario->phase]);
    name_repair(scenario->name);
}

int scenario_read(const struct reader *reader, const struct node *node, const char *path, struct scenario *scenario)
{
    struct parts parts = {.reader = reader, .map = node, .path = path};
    memset(scenario, 0, sizeof *scenario);
    scenario->accepted_tokens = 1;
    int status = reader_map(reader, node, path, key_name, N_KEYS);
    if (node->kind != NODE_MAP || node->n_children == 0) return -1;
    for (int i = 0; i < N_KEYS; i++) {
        parts.node[i] = node_find(node, key_name[i]);
        path_join(parts.member[i], path, key_name[i]);
    }
    if (parts.node[KEY_NAME]) status |= reader_name(reader, parts.node[KEY_NAME], parts.member[KEY_NAME], scenario->name);
    status |= model_read(&parts, scenario);
    status |= phase_read(&parts, scenario);
    status |= formats_read(&parts, scenario);
    status |= imbalance_read(&parts, scenario);
    status |= divisibility_read(&parts, scenario);
    if (status == 0 && !parts.node[KEY_NAME]) default_name(scenario);
    return status;
}
