/* What changed from one result to the next, for people, as CSV and as JSON. */
#include "cli/compare.h"
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- measures ---------------------------------------------------------------------------------------------------- */

/* What is told of every scenario: before, after. */
struct measure {
    char name[64];
    enum dimension dimension;
    double value[2];
};
enum { MAX_MEASURES = 16 + 2 * N_DOUBLED + N_BOUNDS };
struct measures {
    int n;
    struct measure item[MAX_MEASURES];
};

static void add(struct measures *q, const char *prefix, const char *name, enum dimension dimension, double before,
                double after)
{
    struct measure *const item = &q->item[q->n];
    if (isnan(before) && isnan(after)) return;
    snprintf(item->name, sizeof item->name, "%s%s", prefix, name);
    item->dimension = dimension;
    item->value[0] = before;
    item->value[1] = after;
    q->n++;
}

static void measures_of(struct measures *q, const struct difference *d)
{
    q->n = 0;
    add(q, "", "candidates", DIM_COUNT, (double)d->before->n_distinct, (double)d->after->n_distinct);
    add(q, "", "feasible", DIM_COUNT, (double)d->before->n_feasible, (double)d->after->n_feasible);
    add(q, "", "rows", DIM_COUNT, (double)d->before->n_rows, (double)d->after->n_rows);
    add(q, "", "best latency", DIM_SECONDS, d->latency_s[0], d->latency_s[1]);
    if (d->has_hypervolume) {
        add(q, "", "hypervolume", DIM_NUMBER, d->hypervolume[0], d->hypervolume[1]);
        add(q, "", "covered share of the box", DIM_FRACTION, d->covered[0], d->covered[1]);
    }
    for (int k = 0; k < N_DOUBLED; k++)
        add(q, "doubling, plan kept: ", hardware_knob[doubled_knob[k]].name, DIM_NUMBER, d->plan_kept[k][0],
            d->plan_kept[k][1]);
    for (int k = 0; k < N_DOUBLED; k++)
        add(q, "doubling, plan chosen: ", hardware_knob[doubled_knob[k]].name, DIM_NUMBER, d->plan_chosen[k][0],
            d->plan_chosen[k][1]);
    for (int b = 0; b < N_BOUNDS; b++)
        add(q, "elasticity: ", bound_name[b], DIM_FRACTION, d->elasticity[b][0], d->elasticity[b][1]);
}

/* ---- for people -------------------------------------------------------------------------------------------------- */

/* Of what knobs are worth only what changed is told. */
static bool is_news(const struct measure *item)
{
    const double before = item->value[0], after = item->value[1];
    return !strchr(item->name, ':') || fabs(after - before) >= 1e-3;
}

/* "+1.2%" of a value, "+1.2 points" of a share. */
static const char *change_text(char text[32], const struct measure *item)
{
    const double before = item->value[0], after = item->value[1];
    if (before == after) return "same";
    if (isnan(after)) return "gone";
    if (isnan(before) || (before == 0.0 && item->dimension != DIM_FRACTION)) return "new";
    if (item->dimension == DIM_FRACTION) snprintf(text, 32, "%+.2f points", 100.0 * (after - before));
    else snprintf(text, 32, "%+.2f%%", 100.0 * (after / before - 1.0));
    return text;
}

static void measures_print(FILE *to, const struct measures *q)
{
    static const char *const headings[] = {"", "before", "after", "change"};
    struct table table;
    char text[32];
    table_init(&table, 4);
    for (int c = 0; c < 4; c++) table_column(&table, c, headings[c], c > 0);
    for (int i = 0; i < q->n; i++) {
        const struct measure *const item = &q->item[i];
        if (!is_news(item)) continue;
        const int at = table_row(&table);
        table_set(&table, at, 0, item->name);
        for (int f = 0; f < 2; f++)
            table_set(&table, at, 1 + f, isnan(item->value[f]) ? "-" : unit_format(text, item->value[f], item->dimension));
        table_set(&table, at, 3, change_text(text, item));
    }
    table_print(&table, to, -1);
    table_free(&table);
}

static void reference_print(FILE *to, const struct sides *sides, const struct difference *d)
{
    char text[32];
    if (!d->has_hypervolume) {
        fprintf(to, "no hypervolume: the objectives are others, there are no rows, or more than %d over four objectives\n",
                FOUR_OBJECTIVES_ROWS);
        return;
    }
    fprintf(to, "hypervolume below the reference point");
    for (int o = 0; o < sides->result[0].n_objectives; o++) {
        const struct metric_facts *const facts = &metric_facts[sides->result[0].objective[o]];
        fprintf(to, "%s %s %s", o > 0 ? "," : "", facts->name, unit_format(text, d->reference[o], facts->dimension));
    }
    fprintf(to, " (%s)\n", sides->reference ? "as given" : "the worst of both fronts");
}

enum { MOST_LISTED = 10 };
enum fate { FATE_GAINED, FATE_LOST, FATE_MOVED, FATE_SAME, N_FATES };
static const char *const fate_name[N_FATES] = {"gained", "lost", "moved", "same"};

static enum fate fate_of(const struct difference *d, const struct row_pair *pair)
{
    if (pair->before < 0) return FATE_GAINED;
    if (pair->after < 0) return FATE_LOST;
    return row_moved(&d->before->row[pair->before], &d->after->row[pair->after]) ? FATE_MOVED : FATE_SAME;
}

/* The plan, and knobs of the machine that a study sweeps. */
static void design_text(char *text, size_t chars, const struct result_row *row, const struct sides *sides)
{
    assert(row);
    const struct plan *const p = &row->plan;
    int n =
        snprintf(text, chars, "tp %" PRId64 " cp %" PRId64 " pp %" PRId64 " dp %" PRId64 " ep %" PRId64 " batch %" PRId64,
                 p->tp, p->cp, p->pp, p->dp, p->ep, p->batch);
    for (int i = 0; i < N_HARDWARE_KNOBS && n > 0 && (size_t)n < chars; i++) {
        char value[32];
        const struct knob *const knob = &hardware_knob[i];
        const double x = ((const double *)&row->hardware)[i];
        if (sides->study[0].space.axis[N_PLAN_KNOBS + i].n == 1 && sides->study[1].space.axis[N_PLAN_KNOBS + i].n == 1)
            continue;
        n += snprintf(text + n, chars - (size_t)n, ", %s %s", knob->path,
                      knob->dimension == DIM_CODE ? knob_word(knob, (int)x, value) : unit_format(value, x, knob->dimension));
    }
}

static void set_row_number(struct table *table, int at, int column, int64_t row)
{
    char text[32] = "";
    if (row >= 0) snprintf(text, sizeof text, "%" PRId64, row);
    table_set(table, at, column, text);
}

static void pair_set(struct table *table, const struct sides *sides, const struct difference *d, const struct row_pair *pair,
                     enum fate fate)
{
    const struct result_row *const before = pair->before >= 0 ? &d->before->row[pair->before] : NULL;
    const struct result_row *const after = pair->after >= 0 ? &d->after->row[pair->after] : NULL;
    const int n_objectives = sides->result[0].n_objectives, at = table_row(table);
    char from[32], into[32], text[512];
    table_set(table, at, 0, fate_name[fate]);
    set_row_number(table, at, 1, pair->before);
    set_row_number(table, at, 2, pair->after);
    for (int o = 0; o < n_objectives; o++) {
        const enum metric metric = sides->result[0].objective[o];
        if (before) unit_format(from, before->metric[metric], metric_facts[metric].dimension);
        if (after) unit_format(into, after->metric[metric], metric_facts[metric].dimension);
        if (fate == FATE_MOVED && strcmp(from, into) != 0) snprintf(text, sizeof text, "%s -> %s", from, into);
        else snprintf(text, sizeof text, "%s", after ? into : from);
        table_set(table, at, 3 + o, text);
    }
    design_text(text, sizeof text, after ? after : before, sides);
    table_set(table, at, 3 + n_objectives, text);
}

static void rows_print(FILE *to, const struct sides *sides, const struct difference *d)
{
    const int n_objectives = sides->result[0].n_objectives;
    struct table table;
    fprintf(to, "rows: %" PRId64 " gained, %" PRId64 " lost, %" PRId64 " moved, %" PRId64 " the same\n", d->n_gained,
            d->n_lost, d->n_moved, d->before->n_rows - d->n_lost - d->n_moved);
    if (d->n_gained + d->n_lost + d->n_moved == 0) return;
    table_init(&table, 4 + n_objectives);
    table_column(&table, 0, "", false);
    table_column(&table, 1, "row", true);
    table_column(&table, 2, "now", true);
    for (int o = 0; o < n_objectives; o++)
        table_column(&table, 3 + o, metric_facts[sides->result[0].objective[o]].name, true);
    table_column(&table, 3 + n_objectives, "plan and machine", false);
    for (enum fate fate = FATE_GAINED; fate < FATE_SAME; fate++) {
        int n = 0;
        for (int64_t i = 0; i < d->n_pairs && n < MOST_LISTED; i++)
            if (fate_of(d, &d->pair[i]) == fate) pair_set(&table, sides, d, &d->pair[i], fate), n++;
    }
    table_print(&table, to, -1);
    table_free(&table);
    if (d->n_gained > MOST_LISTED || d->n_lost > MOST_LISTED || d->n_moved > MOST_LISTED)
        fprintf(to, "(the first %d of each; --json has all)\n", MOST_LISTED);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void pair_write(struct json *json, const struct row_pair *pair, enum fate fate)
{
    json_open(json, NULL, '{');
    json_text(json, "change", fate_name[fate]);
    json_number(json, "before", pair->before >= 0 ? (double)pair->before : NAN);
    json_number(json, "after", pair->after >= 0 ? (double)pair->after : NAN);
    json_close(json, '}');
}

static void difference_write(struct json *json, const struct sides *sides, const struct difference *d,
                             const struct measures *q)
{
    json_open(json, NULL, '{');
    json_text(json, "name", d->before->name);
    json_number(json, "gained", (double)d->n_gained);
    json_number(json, "lost", (double)d->n_lost);
    json_number(json, "moved", (double)d->n_moved);
    json_open(json, "reference", '{');
    for (int o = 0; d->has_hypervolume && o < sides->result[0].n_objectives; o++)
        json_number(json, metric_facts[sides->result[0].objective[o]].name, d->reference[o]);
    json_close(json, '}');
    json_open(json, "measures", '[');
    for (int i = 0; i < q->n; i++) {
        json_open(json, NULL, '{');
        json_text(json, "name", q->item[i].name);
        json_text(json, "unit", unit_name(q->item[i].dimension));
        json_number(json, "before", q->item[i].value[0]);
        json_number(json, "after", q->item[i].value[1]);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_open(json, "rows", '[');
    for (int64_t i = 0; i < d->n_pairs; i++) pair_write(json, &d->pair[i], fate_of(d, &d->pair[i]));
    json_close(json, ']');
    json_close(json, '}');
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool is_wanted(const struct sides *sides, const char *scenario)
{
    return !sides->scenario || strcmp(sides->scenario, scenario) == 0;
}

static int scenario_named(const struct result *result, const char *name)
{
    for (int s = 0; s < result->n_scenarios; s++)
        if (strcmp(result->scenario[s].name, name) == 0) return s;
    return -1;
}

static int reference_read(double reference[MAX_OBJECTIVES], const struct sides *sides, struct errors *errors)
{
    const struct result *const result = &sides->result[0];
    const char *at = sides->reference;
    int n = 0;
    for (; *at != '\0'; n++, at += *at == ',') {
        char text[64];
        const char *why;
        at += strspn(at, " ");
        const size_t length = strcspn(at, ",");
        snprintf(text, sizeof text, "%.*s", (int)length, at);
        at += length;
        if (n >= result->n_objectives) continue;
        const struct metric_facts *const facts = &metric_facts[result->objective[n]];
        const enum dimension dimension = facts->dimension <= DIM_COST ? facts->dimension : DIM_NUMBER;
        if (unit_parse(text, dimension, &reference[n], &why) != 0)
            return error_add(errors, STATUS_INPUT, NULL, 0, "compare: --reference: %s: `%s`: %s", facts->name, text, why);
        if (reference[n] < 0 || (reference[n] == 0 && facts->better == BETTER_LOW))
            return error_add(errors, STATUS_INPUT, NULL, 0,
                             "compare: --reference: %s: `%s`: no row is below it; give a value above 0", facts->name, text);
    }
    if (n != result->n_objectives)
        return error_add(errors, STATUS_INPUT, NULL, 0,
                         "compare: --reference: %d values for %d objectives; give one for each, in "
                         "the order of the study",
                         n, result->n_objectives);
    return 0;
}

static void head_print(const struct sides *sides, enum form form, struct json *json, FILE *to)
{
    static const char *const side_name[] = {"before", "after"};
    if (form == FORM_CSV) {
        fprintf(to, "scenario,name,unit,before,after\n");
        return;
    }
    if (form == FORM_JSON) json_open(json, NULL, '{');
    for (int f = 0; f < 2; f++) {
        const struct result *const r = &sides->result[f];
        if (form == FORM_TEXT) {
            fprintf(to, "%-7s %s: study %s, %s of %s\n", side_name[f], sides->path[f], r->study_name, r->program,
                    r->created);
            continue;
        }
        json_open(json, side_name[f], '{');
        json_text(json, "file", sides->path[f]);
        json_text(json, "study", r->study_name);
        json_text(json, "program", r->program);
        json_text(json, "created", r->created);
        json_close(json, '}');
    }
    if (form == FORM_TEXT) {
        answer_heading(to, "The studies");
        differences_print(sides, to);
    } else {
        differences_write_json(sides, json);
        json_open(json, "scenarios", '[');
    }
}

static void difference_print(const struct sides *sides, const struct difference *d, enum form form, struct json *json,
                             FILE *to)
{
    static struct measures q;
    char heading[NAME_CHARS + 16], before[32], after[32];
    measures_of(&q, d);
    if (form == FORM_JSON) {
        difference_write(json, sides, d, &q);
        return;
    }
    if (form == FORM_CSV) {
        for (int i = 0; i < q.n; i++)
            fprintf(to, "%s,\"%s\",%s,%s,%s\n", d->before->name, q.item[i].name, unit_name(q.item[i].dimension),
                    isnan(q.item[i].value[0]) ? "" : number_exact(before, q.item[i].value[0]),
                    isnan(q.item[i].value[1]) ? "" : number_exact(after, q.item[i].value[1]));
        return;
    }
    snprintf(heading, sizeof heading, "Scenario %s", d->before->name);
    answer_heading(to, heading);
    measures_print(to, &q);
    reference_print(to, sides, d);
    rows_print(to, sides, d);
}

int results_print(const struct sides *sides, enum form form, FILE *to, struct errors *errors)
{
    struct json json = {.to = to, .pretty = true};
    struct arena arena = {0};
    double reference[MAX_OBJECTIVES];
    if (sides->reference && reference_read(reference, sides, errors) != 0) return -1;
    const int found = result_scenario_find(sides->scenario, &sides->result[0], sides->path[0], &arena, errors);
    arena_free(&arena);
    if (found < 0) return -1;
    head_print(sides, form, &json, to);
    for (int s = 0; s < sides->result[0].n_scenarios; s++) {
        const char *const name = sides->result[0].scenario[s].name;
        const int now = scenario_named(&sides->result[1], name);
        struct difference difference;
        if (!is_wanted(sides, name)) continue;
        if (now < 0) {
            if (form == FORM_TEXT) fprintf(to, "\nscenario %s is only in %s\n", name, sides->path[0]);
            gates_check_missing(sides, name, errors);
            continue;
        }
        results_compare(&difference, (struct told){&sides->result[0], &sides->study[0]}, s,
                        (struct told){&sides->result[1], &sides->study[1]}, now, sides->reference ? reference : NULL,
                        &arena);
        difference_print(sides, &difference, form, &json, to);
        gates_check(sides, &difference, errors);
    }
    for (int s = 0; s < sides->result[1].n_scenarios && form == FORM_TEXT; s++) {
        const char *const name = sides->result[1].scenario[s].name;
        if (is_wanted(sides, name) && scenario_named(&sides->result[0], name) < 0)
            fprintf(to, "\nscenario %s is only in %s\n", name, sides->path[1]);
    }
    if (form == FORM_JSON) {
        json_close(&json, ']');
        json_close(&json, '}');
        fputc('\n', to);
    }
    arena_free(&arena);
    return errors->n > 0 ? -1 : STATUS_DONE;
}
