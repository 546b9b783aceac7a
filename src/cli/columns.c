/* Which columns of a Pareto set are shown, and how a value reads. */
#include "cli/cli.h"

#include <inttypes.h>
#include <string.h>

static void shown_add(struct shown *shown, const struct row_column *column)
{
    for (int i = 0; i < shown->n; i++)
        if (shown->column[i] == column) return;
    shown->column[shown->n++] = column;
}

static const struct row_column *column_named(const char *name)
{
    for (int i = 0; i < N_ROW_COLUMNS; i++)
        if (strcmp(row_column(i)->name, name) == 0) return row_column(i);
    return NULL;
}

static bool varies(const struct result_scenario *scenario, const struct row_column *column)
{
    for (int64_t i = 1; i < scenario->n_rows; i++)
        if (row_value(&scenario->row[i], column) != row_value(&scenario->row[0], column)) return true;
    return false;
}

void shown_default(struct shown *shown, const struct result *result, const struct result_scenario *scenario)
{
    for (int i = 0; i < result->n_objectives; i++) shown_add(shown, column_named(metric_facts[result->objective[i]].name));
    shown_add(shown, column_named(metric_facts[METRIC_LATENCY].name));
    shown_add(shown, column_named(metric_facts[METRIC_PES].name));
    for (int i = 0; i < N_PLAN_KNOBS; i++)
        if (varies(scenario, column_named(plan_knob[i].name))) shown_add(shown, column_named(plan_knob[i].name));
    for (int i = 0; i < N_HARDWARE_KNOBS; i++)
        if (varies(scenario, column_named(hardware_knob[i].name))) shown_add(shown, column_named(hardware_knob[i].name));
}

static int unknown_column(const char *name, const char *place, struct errors *errors)
{
    const char *names[N_ROW_COLUMNS];
    for (int i = 0; i < N_ROW_COLUMNS; i++) names[i] = row_column(i)->name;
    const char *const near = nearest_word(name, names, N_ROW_COLUMNS);
    if (near) return error_add(errors, STATUS_INPUT, NULL, 0, "%s: no column `%s`; did you mean `%s`?", place, name, near);
    return error_add(errors, STATUS_INPUT, NULL, 0,
                     "%s: no column `%s`; give knobs, metrics, id, n_equal, weights_bytes, "
                     "kv_bytes, activation_bytes, total_bytes, or all",
                     place, name);
}

int shown_named(struct shown *shown, const char *list, const char *place, struct errors *errors)
{
    const int n_errors = errors->n;
    shown->n = 0;
    if (strcmp(list, "all") == 0) {
        for (int i = 0; i < N_ROW_COLUMNS; i++) shown_add(shown, row_column(i));
        return 0;
    }
    for (const char *at = list; *at != '\0'; at += *at == ',') {
        char name[NAME_CHARS];
        const size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        const struct row_column *const column = column_named(name);
        if (column) shown_add(shown, column);
        else unknown_column(name, place, errors);
        at += length;
    }
    if (shown->n == 0 && errors->n == n_errors)
        error_add(errors, STATUS_INPUT, NULL, 0, "%s: names no column; give some, as latency,cost,tp", place);
    return errors->n > n_errors ? -1 : 0;
}

static char *code_text(char text[32], int code, const char *words)
{
    for (; code > 0; code--) words += strcspn(words, "|") + 1;
    snprintf(text, 32, "%.*s", (int)strcspn(words, "|"), words);
    return text;
}

char *row_text(char text[32], const struct result_row *row, const struct row_column *column, bool raw)
{
    const double value = row_value(row, column);
    int64_t whole = 0;
    if (column->dimension == DIM_CODE) return code_text(text, (int)value, column->words);
    if (column->whole) {
        memcpy(&whole, (const char *)row + column->offset, sizeof whole); /* an id may not fit a double */
        snprintf(text, 32, "%" PRId64, whole);
        return text;
    }
    if (raw && column->dimension != DIM_BOOL) return number_exact(text, value);
    return unit_format(text, value, column->dimension);
}

void shown_print(const struct shown *shown, const struct result_scenario *scenario, const int64_t *order, int64_t n,
                 FILE *to)
{
    struct table table;
    char text[32];
    int marked = -1;
    table_init(&table, shown->n + 1);
    table_column(&table, 0, "row", true);
    for (int c = 0; c < shown->n; c++)
        table_column(&table, c + 1, shown->column[c]->name, shown->column[c]->dimension != DIM_CODE);
    for (int64_t i = 0; i < n; i++) {
        const int64_t index = order ? order[i] : i;
        const int at = table_row(&table);
        snprintf(text, sizeof text, "%" PRId64, index);
        table_set(&table, at, 0, text);
        for (int c = 0; c < shown->n; c++)
            table_set(&table, at, c + 1, row_text(text, &scenario->row[index], shown->column[c], false));
        marked = index == scenario->best ? at : marked;
    }
    table_print(&table, to, marked);
    table_free(&table);
}

static int64_t row_whole(const struct result_row *row, const struct row_column *column)
{
    int64_t whole;
    memcpy(&whole, (const char *)row + column->offset, sizeof whole);
    return whole;
}

void shown_json(struct json *json, const struct shown *shown, const struct result_row *row)
{
    char text[32];
    for (int c = 0; c < shown->n; c++) {
        const struct row_column *const column = shown->column[c];
        if (column->dimension == DIM_CODE) json_text(json, column->name, row_text(text, row, column, true));
        else if (column->dimension == DIM_BOOL) json_bool(json, column->name, row_value(row, column) != 0);
        else if (column->whole) json_whole(json, column->name, row_whole(row, column));
        else json_number(json, column->name, row_value(row, column));
    }
}
