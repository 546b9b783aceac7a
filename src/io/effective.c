/* effective: a study with everything spelt out, which reads back to the same study, and its fingerprint. */
#define _POSIX_C_SOURCE 200809L
#include "reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const depth_word[N_DEPTHS] = {
    [DEPTH_COARSE] = "coarse", [DEPTH_BALANCED] = "balanced", [DEPTH_FINE] = "fine"};

static void write_value(FILE *to, const struct knob *knob, double value)
{
    char text[32];
    if (knob->dimension == DIM_CODE) fputs(knob_word(knob, (int)value, text), to);
    else if (knob->dimension == DIM_BOOL) fputs(value != 0 ? "true" : "false", to);
    else fputs(number_exact(text, value), to);
}

/* `auto` stays where two_stage will refine it: what it stands for is no part of the study. */
static void write_axis(FILE *to, const struct knob *knob, const struct axis_values *axis, bool two_stage)
{
    if (two_stage && axis->is_auto) {
        fputs("auto", to);
        return;
    }
    fputs(axis->n > 1 ? "[" : "", to);
    for (int i = 0; i < axis->n; i++) {
        fputs(i > 0 ? ", " : "", to);
        write_value(to, knob, axis->value[i]);
    }
    fputs(axis->n > 1 ? "]" : "", to);
}

/* The knobs below `prefix`, one key a line, lists of places in one line. */
static void write_level(FILE *to, const struct knob_table *table, const struct study *study, const char *prefix, int indent)
{
    char key[MAX_WORDS][32], path[PATH_CHARS];
    const int n = knob_keys(table, prefix, key);
    const bool places = strcmp(key[0], "0") == 0;
    fputs(places ? " [" : prefix[0] ? "\n" : "", to);
    for (int i = 0; i < n; i++) {
        int knob = 0;
        snprintf(path, sizeof path, "%.100s%s", prefix, key[i]);
        while (knob < table->n && strcmp(table->knob[knob].path, path) != 0) knob++;
        if (places) fputs(i > 0 ? ", " : "", to);
        else fprintf(to, "%*s%s:", indent, "", key[i]);
        if (knob < table->n) {
            fputs(places ? "" : " ", to);
            write_axis(to, &table->knob[knob], &study->space.axis[table->first_axis + knob], study->two_stage);
            fputs(places ? "" : "\n", to);
        } else {
            snprintf(path, sizeof path, "%.100s%s.", prefix, key[i]);
            write_level(to, table, study, path, indent + 2);
        }
    }
    fputs(places ? "]\n" : "", to);
}

static void write_number(FILE *to, const char *key, double value)
{
    char text[32];
    fprintf(to, "    %s: %s\n", key, number_exact(text, value));
}

static void write_tokens(FILE *to, const struct scenario *scenario)
{
    if (scenario->phase != PHASE_SERVE) {
        fprintf(to, "    new_tokens: %" PRId64 "\n    past_tokens: %" PRId64 "\n", scenario->new_tokens,
                scenario->past_tokens);
        return;
    }
    fprintf(to, "    prompt_tokens: %" PRId64 "\n    answer_tokens: %" PRId64 "\n", scenario->prompt_tokens,
            scenario->answer_tokens);
    if (scenario->prompt_chunk > 0) fprintf(to, "    prompt_chunk: %" PRId64 "\n", scenario->prompt_chunk);
}

static void write_scenario(FILE *to, const struct scenario *scenario)
{
    if (scenario->warnings[0]) {
        fputs("  # ", to);
        for (const char *c = scenario->warnings; *c; c++) putc(*c == '\n' ? ' ' : *c, to);
        putc('\n', to);
    }
    fprintf(to, "  - name: \"%s\"\n    model: ", scenario->name);
    model_inline_json(&(struct json){.to = to}, NULL, &scenario->model);
    fprintf(to, "\n    phase: %s\n", phase_name[scenario->phase]);
    write_tokens(to, scenario);
    write_number(to, "weights", scenario->weight_bytes);
    write_number(to, "kv", scenario->kv_bytes);
    write_number(to, "activations", scenario->activation_bytes);
    fprintf(to, "    compute: %s\n", dtype_name[scenario->compute]);
    write_number(to, "accepted_tokens", scenario->accepted_tokens);
    if (scenario->imbalance == IMBALANCE_FACTOR) write_number(to, "moe_imbalance", scenario->imbalance_factor);
    else fprintf(to, "    moe_imbalance: %s\n", scenario->imbalance == IMBALANCE_UNIFORM ? "uniform" : "random");
    fprintf(to, "    divisibility: %s\n", scenario->strict ? "strict" : "pad");
}

static void write_study(FILE *to, const struct study *study)
{
    char text[32];
    fprintf(to, "study: \"%s\"\ndepth: %s\nsearch: %s\nscenarios:\n", study->name,
            study->two_stage ? "two_stage" : depth_word[study->depth],
            study->search == SEARCH_PRUNED ? "pruned" : "exhaustive");
    for (int i = 0; i < study->n_scenarios; i++) write_scenario(to, &study->scenario[i]);
    fputs("plan:\n", to);
    write_level(to, &plan_table, study, "", 2);
    fprintf(to, "hardware:\n  base: \"%s\"\n", study->hardware_base);
    write_level(to, &hardware_table, study, "", 2);
    fputs(study->n_limits > 0 ? "limits:\n" : "", to);
    for (int i = 0; i < study->n_limits; i++)
        fprintf(to, "  %s: %s\n", metric_facts[study->limit[i].metric].name, number_exact(text, study->limit[i].value));
    fputs("objectives: [", to);
    for (int i = 0; i < study->n_objectives; i++)
        fprintf(to, "%s%s", i > 0 ? ", " : "", metric_facts[study->objective[i]].name);
    fputs("]\n", to);
    wanted_write(to, study);
}

/* FNV-1a, 64 bits [Fowler, Noll, Vo; IETF draft-eastlake-fnv]. */
uint64_t study_fingerprint(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

int effective_write(struct study *study, struct arena *arena, struct errors *errors)
{
    char *text = NULL;
    size_t n;
    FILE *const to = open_memstream(&text, &n);
    if (to) write_study(to, study);
    if (!to || fclose(to) != 0) {
        free(text);
        return error_add(errors, STATUS_SYSTEM, NULL, 0, "out of memory");
    }
    study->effective = arena_text(arena, text);
    study->hash = study_fingerprint(text);
    free(text);
    return 0;
}
