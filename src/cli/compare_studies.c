/* In what the studies of two results differ: values of knobs, machine first, and what their scenarios ask. */
#include "cli/compare.h"
#include <inttypes.h>
#include <string.h>

static bool same_values(const struct axis_values *a, const struct axis_values *b)
{
    return a->n == b->n && memcmp(a->value, b->value, (size_t)a->n * sizeof *a->value) == 0;
}

/* Axes in the order that they are told: machine, then plan. */
static int axis_told(int i)
{
    return i < N_HARDWARE_KNOBS ? N_PLAN_KNOBS + i : i - N_HARDWARE_KNOBS;
}

static const char *room_of(int axis)
{
    return axis < N_PLAN_KNOBS ? "plan" : "hardware";
}

enum { MOST_VALUES = 6 }; /* of a knob, spelt out */

/* "256 GB/s", "[256 GB/s, 512 GB/s]", "[102 GB/s, 108 GB/s, ... 512 GB/s], 25 values". */
static void values_print(FILE *to, const struct knob *knob, const struct axis_values *axis)
{
    char text[32];
    fputs(axis->n > 1 ? "[" : "", to);
    for (int i = 0; i < axis->n; i++) {
        const bool skipped = axis->n > MOST_VALUES && i > 1 && i < axis->n - 1;
        if (skipped) {
            fputs(i == 2 ? ", ..." : "", to);
            continue;
        }
        fprintf(to, "%s%s",
                i == 0                                      ? ""
                : axis->n > MOST_VALUES && i == axis->n - 1 ? " "
                                                            : ", ",
                knob->dimension == DIM_CODE ? knob_word(knob, (int)axis->value[i], text)
                                            : unit_format(text, axis->value[i], knob->dimension));
    }
    fputs(axis->n > 1 ? "]" : "", to);
    if (axis->n > MOST_VALUES) fprintf(to, ", %d values", axis->n);
}

static void values_write(struct json *json, const char *key, const struct knob *knob, const struct axis_values *axis)
{
    char text[32];
    json_open(json, key, '[');
    for (int i = 0; i < axis->n; i++) {
        if (knob->dimension == DIM_CODE) json_text(json, NULL, knob_word(knob, (int)axis->value[i], text));
        else json_number(json, NULL, axis->value[i]);
    }
    json_close(json, ']');
}

/* clang-format off */
/* Facts of a scenario as texts.  X(name, format, value) */
#define SCENARIO_FACTS(X)                                 \
    X("model", "%s", s->model.name)                       \
    X("phase", "%s", phase_name[s->phase])                \
    X("new_tokens", "%" PRId64, s->new_tokens)            \
    X("past_tokens", "%" PRId64, s->past_tokens)          \
    X("prompt_tokens", "%" PRId64, s->prompt_tokens)      \
    X("answer_tokens", "%" PRId64, s->answer_tokens)      \
    X("weights", "%g B", s->weight_bytes)                 \
    X("kv", "%g B", s->kv_bytes)                          \
    X("activations", "%g B", s->activation_bytes)         \
    X("compute", "%s", dtype_name[s->compute])            \
    X("accepted_tokens", "%g", s->accepted_tokens)        \
    X("divisibility", "%s", s->strict ? "strict" : "pad") \
    X("prompt_chunk", "%" PRId64, s->prompt_chunk)
/* clang-format on */
#define X(...) +1
enum { N_SCENARIO_FACTS = SCENARIO_FACTS(X) };
#undef X
struct facts {
    const char *name[N_SCENARIO_FACTS];
    char value[N_SCENARIO_FACTS][NAME_CHARS];
};

static void facts_of(struct facts *facts, const struct scenario *s)
{
    int n = 0;
#define X(key, format, fact)                                                                                                \
    facts->name[n] = key;                                                                                                   \
    snprintf(facts->value[n++], NAME_CHARS, format, fact);
    SCENARIO_FACTS(X)
#undef X
}

static const struct scenario *scenario_named(const struct study *study, const char *name)
{
    for (int s = 0; s < study->n_scenarios; s++)
        if (strcmp(study->scenario[s].name, name) == 0) return &study->scenario[s];
    return NULL;
}

/* A fact that differs, to `to` or to `json`; `scenario` NULL = of the study. */
static void fact_tell(const char *scenario, const char *name, const char *before, const char *after, FILE *to,
                      struct json *json)
{
    if (to)
        fprintf(to, "  %s%s%s%s: %s -> %s\n", scenario ? "scenario " : "", scenario ? scenario : "", scenario ? ": " : "",
                name, before, after);
    if (!json) return;
    json_open(json, NULL, '{');
    json_text(json, "scenario", scenario);
    json_text(json, "fact", name);
    json_text(json, "before", before);
    json_text(json, "after", after);
    json_close(json, '}');
}

enum { LIST_CHARS = 512 };

static void objectives_text(char text[LIST_CHARS], const struct study *study)
{
    int n = 0;
    for (int o = 0; o < study->n_objectives; o++)
        n += snprintf(text + n, (size_t)(LIST_CHARS - n), "%s%s", o > 0 ? ", " : "", metric_facts[study->objective[o]].name);
}

static void limits_text(char text[LIST_CHARS], const struct study *study)
{
    int n = snprintf(text, LIST_CHARS, "%s", study->n_limits > 0 ? "" : "none");
    for (int l = 0; l < study->n_limits && n < LIST_CHARS; l++) {
        char value[32];
        const struct metric_facts *const facts = &metric_facts[study->limit[l].metric];
        n += snprintf(text + n, (size_t)(LIST_CHARS - n), "%s%s %s", l > 0 ? ", " : "", facts->name,
                      unit_format(value, study->limit[l].value, facts->dimension));
    }
}

/* What differs of the studies and their scenarios; returns how much. */
static int facts_tell(const struct sides *sides, FILE *to, struct json *json)
{
    static struct facts facts[2];
    char list[2][2][LIST_CHARS];
    int n = 0;
    for (int f = 0; f < 2; f++) {
        objectives_text(list[0][f], &sides->study[f]);
        limits_text(list[1][f], &sides->study[f]);
    }
    for (int k = 0; k < 2; k++)
        if (strcmp(list[k][0], list[k][1]) != 0)
            fact_tell(NULL, k == 0 ? "objectives" : "limits", list[k][0], list[k][1], to, json), n++;
    for (int s = 0; s < sides->study[0].n_scenarios; s++) {
        const struct scenario *const before = &sides->study[0].scenario[s];
        const struct scenario *const after = scenario_named(&sides->study[1], before->name);
        if (!after) continue; /* told with the scenarios */
        facts_of(&facts[0], before);
        facts_of(&facts[1], after);
        for (int f = 0; f < N_SCENARIO_FACTS; f++)
            if (strcmp(facts[0].value[f], facts[1].value[f]) != 0)
                fact_tell(before->name, facts[0].name[f], facts[0].value[f], facts[1].value[f], to, json), n++;
    }
    return n;
}

void differences_print(const struct sides *sides, FILE *to)
{
    const struct space *const before = &sides->study[0].space, *const after = &sides->study[1].space;
    int n = 0;
    for (int i = 0; i < N_KNOBS; i++) {
        const int a = axis_told(i);
        if (same_values(&before->axis[a], &after->axis[a])) continue;
        fprintf(to, "  %s.%s: ", room_of(a), space_knob(a)->path);
        values_print(to, space_knob(a), &before->axis[a]);
        fputs(" -> ", to);
        values_print(to, space_knob(a), &after->axis[a]);
        putc('\n', to);
        n++;
    }
    n += facts_tell(sides, to, NULL);
    if (n == 0)
        fprintf(to, "  the same knobs, limits, objectives and scenarios%s\n",
                sides->result[0].study_hash == sides->result[1].study_hash ? ": the same study" : "");
}

void differences_write_json(const struct sides *sides, struct json *json)
{
    const struct space *const before = &sides->study[0].space, *const after = &sides->study[1].space;
    char path[96];
    json_open(json, "knobs", '[');
    for (int i = 0; i < N_KNOBS; i++) {
        const int a = axis_told(i);
        if (same_values(&before->axis[a], &after->axis[a])) continue;
        json_open(json, NULL, '{');
        snprintf(path, sizeof path, "%s.%s", room_of(a), space_knob(a)->path);
        json_text(json, "knob", path);
        values_write(json, "before", space_knob(a), &before->axis[a]);
        values_write(json, "after", space_knob(a), &after->axis[a]);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_open(json, "facts", '[');
    facts_tell(sides, NULL, json);
    json_close(json, ']');
}
