/* Rows of a Pareto set: every column, and stage_time(row, stage), stage_bound(row, stage). */
#include "io/store_get.h"
#include "io/store_put.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char row_meaning[] = "rows of the Pareto set, sorted by the objectives";

/* ---- out ---------------------------------------------------------------------------------------------------------- */

static void put_row_column(struct put *put, hid_t at, const struct row_column *column, const struct result_row *rows,
                           int64_t n, double *buffer, hid_t scale)
{
    int64_t *const whole = (int64_t *)(void *)buffer; /* ids do not fit a double */
    for (int64_t i = 0; i < n; i++)
        if (column->whole) memcpy(&whole[i], (const char *)&rows[i] + column->offset, sizeof whole[i]);
        else buffer[i] = row_value(&rows[i], column);
    const struct about about =
        about_column(column->name, column->dimension, column->whole ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, column->meaning,
                     column->words);
    put_column(put, at, &about, n, buffer, scale);
}

void put_rows(struct put *put, hid_t at, const struct result_row *rows, int64_t n, int from, int to, hid_t scale)
{
    double *const buffer = put_buffer(put, (size_t)n, sizeof *buffer);
    for (int i = from; i < to && !put->failed; i++) put_row_column(put, at, row_column(i), rows, n, buffer, scale);
    free(buffer);
}

static void put_stages(struct put *put, hid_t at, const struct result_scenario *scenario, hid_t row)
{
    static const char stage_words[] =
#define X(code, name, ...) "|" name
        STAGES(X)
#undef X
        ,
                      bound_words[] =
#define X(code, name) "|" name
                          BOUNDS(X)
#undef X
        ;
    const int64_t n[2] = {scenario->n_rows, N_STAGES};
    const struct about stage =
        about_column("stage", DIM_CODE, H5T_NATIVE_INT64, "stage of a layer, or edge of a step", stage_words + 1);
    const struct about time =
        about_column("stage_time", DIM_SECONDS, H5T_NATIVE_DOUBLE, "time of a stage in a step, all layers", "");
    const struct about bound =
        about_column("stage_bound", DIM_CODE, H5T_NATIVE_DOUBLE, "what most of a stage's time is bound by", bound_words + 1);
    double *const buffer = put_buffer(put, (size_t)n[0] * N_STAGES, sizeof *buffer);
    const hid_t scales[2] = {row, put_scale(put, at, &stage, N_STAGES, NULL)};
    for (int64_t i = 0; buffer && i < n[0]; i++)
        memcpy(buffer + i * N_STAGES, scenario->row[i].stage_s, sizeof scenario->row[i].stage_s);
    put_table(put, at, &time, n, buffer, scales);
    for (int64_t i = 0; buffer && i < n[0] * N_STAGES; i++)
        buffer[i] = (double)scenario->row[i / N_STAGES].stage_bound[i % N_STAGES];
    put_table(put, at, &bound, n, buffer, scales);
    put_scale_close(put, scales[1], "stage");
    free(buffer);
}

void put_pareto(struct put *put, hid_t at, const struct result_scenario *scenario)
{
    const hid_t group = put_group(put, at, "pareto");
    const hid_t row = put_row_scale(put, group, scenario->n_rows, row_meaning);
    put_rows(put, group, scenario->row, scenario->n_rows, 0, N_ROW_COLUMNS, row);
    put_stages(put, group, scenario, row);
    put_scale_close(put, row, "row");
    put_group_close(put, group, "pareto");
}

/* ---- in ----------------------------------------------------------------------------------------------------------- */

static int n_words(const char *words)
{
    int n = words[0] != '\0';
    for (; *words != '\0'; words++) n += *words == '|';
    return n;
}

static void get_row_column(struct get *get, hid_t at, const struct row_column *column, struct result_row *rows, int64_t n)
{
    const int n_codes = n_words(column->words);
    if (column->n_summed > 1) return; /* its parts are columns too */
    const void *const values =
        column->whole ? (void *)get_whole_column(get, at, column->name, n) : (void *)get_column(get, at, column->name, n);
    for (int64_t i = 0; i < n && !get->failed; i++) {
        memcpy((char *)&rows[i] + column->offset, (const char *)values + i * 8, 8); /* int64_t or double */
        const double value = row_value(&rows[i], column);
        if (n_codes > 0 && !(value >= 0 && value < n_codes)) get_refuse(get, column->name, "a column of known codes");
    }
}

void get_rows(struct get *get, hid_t at, struct result_row *rows, int64_t n, int from, int to)
{
    for (int i = from; i < to && !get->failed; i++) get_row_column(get, at, row_column(i), rows, n);
}

/* A knob of the row within the knob's bounds, all else finite and not below 0. */
void get_row_check(struct get *get, const struct result_row *row, int64_t i, int from, int to)
{
    for (int c = from; c < to && !get->failed; c++) {
        const struct row_column *const column = row_column(c);
        const struct knob *const knob = c >= COLUMN_PLAN && c < COLUMN_METRIC ? space_knob(c - COLUMN_PLAN) : NULL;
        const double value = row_value(row, column);
        if (!isfinite(value) || value < (knob ? knob->low : 0) || (knob && value > knob->high))
            get_refuse_number(get, column->name, i, value);
    }
}

static void get_stages(struct get *get, hid_t at, struct result_scenario *scenario)
{
    const int64_t n[2] = {scenario->n_rows, N_STAGES};
    const double *const time_s = get_sizes_table(get, at, "stage_time", n, false);
    const int32_t *const bound = get_code_table(get, at, "stage_bound", n, N_BOUNDS);
    for (int64_t i = 0; i < n[0] * N_STAGES && !get->failed; i++) {
        scenario->row[i / N_STAGES].stage_s[i % N_STAGES] = time_s[i];
        scenario->row[i / N_STAGES].stage_bound[i % N_STAGES] = (enum bound)bound[i];
    }
}

void get_pareto(struct get *get, hid_t at, struct result_scenario *scenario)
{
    const hid_t group = get_group(get, at, "pareto");
    scenario->n_rows = get_length(get, group, "row", INT64_MAX);
    scenario->row = get_alloc(get, "row", scenario->n_rows + 1, sizeof *scenario->row);
    get_rows(get, group, scenario->row, scenario->n_rows, 0, N_ROW_COLUMNS);
    for (int64_t i = 0; i < scenario->n_rows && !get->failed; i++)
        get_row_check(get, &scenario->row[i], i, 0, N_ROW_COLUMNS);
    get_stages(get, group, scenario);
    get_group_close(group);
}
