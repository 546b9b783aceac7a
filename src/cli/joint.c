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

void joint_print(const struct result *result, FILE *to, int64_t top)
{
    const struct result_joint *const joint = &result->joint;
    const struct joint *const asked = &result->joint_asked;
    const int64_t n = top > 0 && top < joint->n_rows ? top : joint->n_rows;
    int knob[N_HARDWARE_KNOBS], n_knobs = 0, column = 0;
    struct table table;
    char text[128];
    if (joint->n_rows == 0) return;
    for (int k = 0; k < N_HARDWARE_KNOBS; k++)
        if (varies(joint, k)) knob[n_knobs++] = k;
    fprintf(to, "\none machine for all: %" PRId64 " rows over the weighted geometric mean of %s", joint->n_rows,
            metric_facts[asked->metric].name);
    for (int a = 0; a < asked->n_against; a++) fprintf(to, ", %s", metric_facts[asked->against[a]].name);
    fprintf(to, "\n\n");
    table_init(&table, 2 + asked->n_against + n_knobs + result->n_scenarios);
    table_column(&table, column++, "row", true);
    table_column(&table, column++, "mean", true);
    for (int a = 0; a < asked->n_against; a++) table_column(&table, column++, metric_facts[asked->against[a]].name, true);
    for (int k = 0; k < n_knobs; k++)
        table_column(&table, column++, hardware_knob[knob[k]].name, hardware_knob[knob[k]].dimension != DIM_CODE);
    for (int s = 0; s < result->n_scenarios; s++) table_column(&table, column++, result->scenario[s].name, false);
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
        for (int s = 0; s < result->n_scenarios; s++) {
            choice_text(text, &row->choice[s], asked->metric);
            table_set(&table, at, column++, text);
        }
    }
    table_print(&table, to, -1);
    table_free(&table);
    if (n < joint->n_rows) fprintf(to, "... and %" PRId64 " more\n", joint->n_rows - n);
}
