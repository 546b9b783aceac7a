/* The joint front as a table: the machine's knobs that vary, the mean, what it is held against, each scenario's choice. */
#include "cli/cli.h"
#include <inttypes.h>

static double knob_of(const struct joint_row *row, int knob)
{
    return ((const double *)&row->hardware)[knob];
}

static bool varies(const struct result_joint *joint, int knob)
{
    for (int64_t i = 1; i < joint->n_rows; i++)
        if (knob_of(&joint->row[i], knob) != knob_of(&joint->row[0], knob)) return true;
    return false;
}

/* Knobs of the machine in which the rows differ; returns how many. */
static int varying_knobs(int knob[N_HARDWARE_KNOBS], const struct result_joint *joint)
{
    int n = 0;
    for (int k = 0; k < N_HARDWARE_KNOBS; k++)
        if (varies(joint, k)) knob[n++] = k;
    return n;
}

static int64_t n_shown(const struct result_joint *joint, int64_t top)
{
    return top > 0 && top < joint->n_rows ? top : joint->n_rows;
}

static void knob_text(char text[32], const struct knob *knob, double value)
{
    if (knob->dimension == DIM_CODE) knob_word(knob, (int)value, text);
    else unit_format(text, value, knob->dimension);
}

/* "2.98 ms tp 64 cp 16 pp 1 dp 1 ep 1 batch 1" */
static void choice_text(char text[128], const struct result_row *row, enum metric metric)
{
    char value[32];
    if (row->id < 0) {
        snprintf(text, 128, "-");
        return;
    }
    const struct plan *const plan = &row->plan;
    snprintf(text, 128, "%s tp %" PRId64 " cp %" PRId64 " pp %" PRId64 " dp %" PRId64 " ep %" PRId64 " batch %" PRId64,
             unit_format(value, row->metric[metric], metric_facts[metric].dimension), plan->tp, plan->cp, plan->pp, plan->dp,
             plan->ep, plan->batch);
}

enum { PLANS_SHOWN = 8 }; /* of the scenarios, in columns */

void joint_print(const struct result *result, FILE *to, int64_t top)
{
    const struct result_joint *const joint = &result->joint;
    const struct joint *const asked = &result->joint_asked;
    const int64_t n = n_shown(joint, top);
    const int n_plans = result->n_scenarios < PLANS_SHOWN ? result->n_scenarios : PLANS_SHOWN;
    int knob[N_HARDWARE_KNOBS], column = 0;
    struct table table;
    char text[128];
    if (joint->n_rows == 0) return;
    const int n_knobs = varying_knobs(knob, joint);
    fprintf(to, "\none machine for all: %" PRId64 " rows over the weighted geometric mean of %s", joint->n_rows,
            metric_facts[asked->metric].name);
    for (int a = 0; a < asked->n_against; a++) fprintf(to, ", %s", metric_facts[asked->against[a]].name);
    fprintf(to, "\n\n");
    table_init(&table, 2 + asked->n_against + n_knobs + n_plans);
    table_column(&table, column++, "row", true);
    table_column(&table, column++, "mean", true);
    for (int a = 0; a < asked->n_against; a++) table_column(&table, column++, metric_facts[asked->against[a]].name, true);
    for (int k = 0; k < n_knobs; k++)
        table_column(&table, column++, hardware_knob[knob[k]].name, hardware_knob[knob[k]].dimension != DIM_CODE);
    for (int s = 0; s < n_plans; s++) table_column(&table, column++, result->scenario[s].name, false);
    for (int64_t i = 0; i < n; i++) {
        const struct joint_row *const row = &joint->row[i];
        const int at = table_row(&table);
        column = 0;
        snprintf(text, sizeof text, "%" PRId64, i);
        table_set(&table, at, column++, text);
        table_set(&table, at, column++, unit_format(text, row->mean, metric_facts[asked->metric].dimension));
        for (int a = 0; a < asked->n_against; a++)
            table_set(&table, at, column++, unit_format(text, row->against[a], metric_facts[asked->against[a]].dimension));
        for (int k = 0; k < n_knobs; k++) {
            knob_text(text, &hardware_knob[knob[k]], knob_of(row, knob[k]));
            table_set(&table, at, column++, text);
        }
        for (int s = 0; s < n_plans; s++) {
            choice_text(text, &row->choice[s], asked->metric);
            table_set(&table, at, column++, text);
        }
    }
    table_print(&table, to, -1);
    table_free(&table);
    if (n < joint->n_rows) fprintf(to, "... and %" PRId64 " more\n", joint->n_rows - n);
    if (n_plans < result->n_scenarios)
        fprintf(to, "the plans of %d more scenarios: `cosweep show --json`\n", result->n_scenarios - n_plans);
}

void joint_json(struct json *json, const struct result *result, int64_t top, const struct shown *shown)
{
    const struct result_joint *const joint = &result->joint;
    const struct joint *const asked = &result->joint_asked;
    int knob[N_HARDWARE_KNOBS];
    char text[32];
    if (!asked->wanted) return;
    const int n_knobs = varying_knobs(knob, joint);
    json_open(json, "joint", '{');
    json_text(json, "metric", metric_facts[asked->metric].name);
    json_open(json, "rows", '[');
    for (int64_t i = 0; i < n_shown(joint, top); i++) {
        const struct joint_row *const row = &joint->row[i];
        json_open(json, NULL, '{');
        json_whole(json, "row", i);
        json_number(json, "mean", row->mean);
        for (int a = 0; a < asked->n_against; a++) json_number(json, metric_facts[asked->against[a]].name, row->against[a]);
        for (int k = 0; k < n_knobs; k++) {
            const struct knob *const of = &hardware_knob[knob[k]];
            const double value = knob_of(row, knob[k]);
            if (of->dimension == DIM_CODE) json_text(json, of->name, knob_word(of, (int)value, text));
            else json_number(json, of->name, value);
        }
        json_open(json, "choices", '{');
        for (int s = 0; s < result->n_scenarios; s++) {
            if (row->choice[s].id < 0) continue;
            json_open(json, result->scenario[s].name, '{');
            shown_json(json, shown, &row->choice[s]);
            json_close(json, '}');
        }
        json_close(json, '}');
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}
