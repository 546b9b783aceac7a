/* What to change about a candidate: the changes of one knob that were evaluated and found to be better, and what is least
 * to relax where nothing is feasible. */
#include "cli/answer.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

static double kept_bytes(const struct demand *d)
{
    return d->weight_bytes + d->kv_bytes + d->activation_bytes;
}

/* "12.3 ms (-38.1%)", or the value alone where there was none before. */
static void set_changed(struct table *table, int row, int column, double before, double after, enum dimension dimension)
{
    char value[32], text[64];
    unit_format(value, after, dimension);
    if (before > 0.0) snprintf(text, sizeof text, "%s (%+.1f%%)", value, 100.0 * (after / before - 1.0));
    else snprintf(text, sizeof text, "%s", value);
    table_set(table, row, column, text);
}

void hints_print(FILE *to, const struct answer *answer, const struct study *study)
{
    static const enum metric shown[] = {METRIC_LATENCY, METRIC_THROUGHPUT, METRIC_COST, METRIC_PES};
    static const char *const headings[] = {"change", "from -> to", "", "latency", "throughput", "cost", "PEs", "memory"};
    struct hint hint[MAX_HINTS];
    const int n = hints_find(hint, answer, study->limit, study->n_limits);
    struct table table;
    answer_heading(to, answer->reason == REASON_NONE ? "Changes of one knob that make it faster (evaluated)"
                                                     : "Changes of one knob that make it fit (evaluated)");
    if (n == 0) {
        fprintf(to, "none\n");
        return;
    }
    table_init(&table, 8);
    for (int c = 0; c < 8; c++) table_column(&table, c, headings[c], c >= 3);
    for (int i = 0; i < n; i++) {
        char path[64], from[32], into[32], text[72];
        const int at = table_row(&table);
        table_set(&table, at, 0, change_path(path, &hint[i].change, study->limit));
        snprintf(text, sizeof text, "%s -> %s", change_value(from, &hint[i].change, hint[i].change.before, study->limit),
                 change_value(into, &hint[i].change, hint[i].change.after, study->limit));
        table_set(&table, at, 1, text);
        table_set(&table, at, 2, hint[i].is_free ? "free" : "");
        for (int m = 0; m < 4; m++)
            set_changed(&table, at, 3 + m, answer->complete ? answer->explanation.metric[shown[m]] : 0.0,
                        hint[i].metric[shown[m]], metric_facts[shown[m]].dimension);
        set_changed(&table, at, 7, answer->complete ? kept_bytes(&answer->demand) : 0.0, hint[i].memory_bytes, DIM_BYTES);
    }
    table_print(&table, to, -1);
    table_free(&table);
}

static void value_write(struct json *json, const char *key, const struct change *change, double value,
                        const struct limit *limits)
{
    const struct knob *const table = change->of == CHANGE_PLAN ? plan_knob : hardware_knob;
    const enum dimension dimension = change->of == CHANGE_LIMIT ? DIM_NUMBER : table[change->knob].dimension;
    char text[32];
    if (dimension == DIM_CODE) json_text(json, key, change_value(text, change, value, limits));
    else if (dimension == DIM_BOOL) json_bool(json, key, value != 0.0);
    else json_number(json, key, value);
}

static void change_write(struct json *json, const struct change *change, const struct limit *limits)
{
    char text[64];
    json_text(json, "knob", change_path(text, change, limits));
    value_write(json, "from", change, change->before, limits);
    value_write(json, "to", change, change->after, limits);
}

static void relaxations_write(struct json *json, const struct answer *answer, const struct study *study)
{
    struct relaxation found[MAX_RELAXATIONS];
    const int n = relaxations_find(found, &answer->candidate, 1, study->limit, study->n_limits);
    json_open(json, "relaxations", '[');
    for (int i = 0; i < n; i++) {
        json_open(json, NULL, '{');
        change_write(json, &found[i].change, study->limit);
        json_number(json, "factor", found[i].factor);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void hints_write_json(struct json *json, const struct answer *answer, const struct study *study)
{
    struct hint hint[MAX_HINTS];
    const int n = hints_find(hint, answer, study->limit, study->n_limits);
    json_open(json, "hints", '[');
    for (int i = 0; i < n; i++) {
        json_open(json, NULL, '{');
        change_write(json, &hint[i].change, study->limit);
        json_bool(json, "free", hint[i].is_free);
        json_number(json, "latency", hint[i].metric[METRIC_LATENCY]);
        json_number(json, "throughput", hint[i].metric[METRIC_THROUGHPUT]);
        json_number(json, "cost", hint[i].metric[METRIC_COST]);
        json_number(json, "pes", hint[i].metric[METRIC_PES]);
        json_number(json, "memory_bytes", hint[i].memory_bytes);
        json_close(json, '}');
    }
    json_close(json, ']');
    if (answer->reason != REASON_NONE) relaxations_write(json, answer, study);
}

/* ---- relaxations ------------------------------------------------------------------------------------------------- */

/* "hardware.pe.hbm_capacity x1.37: 4 GB -> 5.48 GB", and of which plan where there were many. */
static void relaxation_print(FILE *to, const struct relaxation *found, const struct limit *limits, bool with_plan)
{
    const struct plan *const plan = &found->candidate.plan;
    const struct change *const change = &found->change;
    char path[64], from[32], into[32];
    fprintf(to, "  %s", change_path(path, change, limits));
    if (found->factor > 1.0)
        fprintf(to, found->factor < 100.0 ? " %s%.3g" : " %s%.0f", change->after > change->before ? "x" : "/",
                found->factor);
    fprintf(to, ": %s -> %s", change_value(from, change, change->before, limits),
            change_value(into, change, change->after, limits));
    if (with_plan)
        fprintf(to, " (with tp %" PRId64 " cp %" PRId64 " pp %" PRId64 " dp %" PRId64 " ep %" PRId64 " batch %" PRId64 ")",
                plan->tp, plan->cp, plan->pp, plan->dp, plan->ep, plan->batch);
    putc('\n', to);
}

static void found_print(FILE *to, const struct relaxation *found, int n, const struct limit *limits, bool with_plan)
{
    if (n == 0) fprintf(to, "no single knob or limit makes it feasible\n");
    else fprintf(to, "the least that makes it feasible:\n");
    for (int i = 0; i < n; i++) relaxation_print(to, &found[i], limits, with_plan);
}

void relaxations_print(FILE *to, const struct answer *answer, const struct study *study)
{
    struct relaxation found[MAX_RELAXATIONS];
    const int n = relaxations_find(found, &answer->candidate, 1, study->limit, study->n_limits);
    found_print(to, found, n, study->limit, false);
}

void relaxations_of_study_print(FILE *to, const struct study *study, int scenario)
{
    static struct relaxation found[MAX_RELAXATIONS];
    const int n = relaxations_of_study(found, study, scenario);
    fprintf(to, "\nscenario %s: nothing is feasible; ", study->scenario[scenario].name);
    found_print(to, found, n, study->limit, true);
}
