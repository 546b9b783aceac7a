/* One machine for all scenarios, and the rounds of two_stage:
 *
 *     /joint/                   attributes metric, against, weights; row; hardware knobs, mean, each `against` metric
 *     /joint/scenarios/NAME/    row; id (-1: none is feasible, which only a weight of 0 allows), plan knobs, metrics and
 *                               memory of the plan the scenario takes on that machine
 *     /rounds/                  round; machines, rows, movement */
#include "io/store_get.h"
#include "io/store_put.h"

#include <stdlib.h>

static const char row_meaning[] = "machines of the joint Pareto set";

/* A metric asked for twice is stored once. */
static bool is_repeated(const struct joint *joint, int a)
{
    for (int i = 0; i < a; i++)
        if (joint->against[i] == joint->against[a]) return true;
    return false;
}

/* ---- out ---------------------------------------------------------------------------------------------------------- */

/* Mean and `against` metrics of every machine. */
static void put_merits(struct put *put, hid_t at, const struct result *result, hid_t scale)
{
    const struct joint *const asked = &result->joint_asked;
    const int64_t n = result->joint.n_rows;
    const struct about mean = {"mean",
                               H5T_IEEE_F64LE,
                               H5T_NATIVE_DOUBLE,
                               unit_name(metric_facts[asked->metric].dimension),
                               "weighted geometric mean over the scenarios of the joint metric",
                               ""};
    double *const buffer = put_buffer(put, (size_t)n, sizeof *buffer);
    for (int64_t i = 0; buffer && i < n; i++) buffer[i] = result->joint.row[i].mean;
    put_column(put, at, &mean, n, buffer, scale);
    for (int a = 0; a < asked->n_against && buffer; a++) {
        const struct metric_facts *const metric = &metric_facts[asked->against[a]];
        const struct about about = about_column(metric->name, metric->dimension, H5T_NATIVE_DOUBLE, metric->meaning, "");
        if (is_repeated(asked, a)) continue;
        for (int64_t i = 0; i < n; i++) buffer[i] = result->joint.row[i].against[a];
        put_column(put, at, &about, n, buffer, scale);
    }
    free(buffer);
}

static void put_machines(struct put *put, hid_t at, const struct result *result)
{
    const int64_t n = result->joint.n_rows;
    struct result_row *const rows = put_buffer(put, (size_t)n, sizeof *rows);
    const hid_t scale = put_row_scale(put, at, n, row_meaning);
    for (int64_t i = 0; rows && i < n; i++) rows[i].hardware = result->joint.row[i].hardware;
    put_rows(put, at, rows, n, COLUMN_HARDWARE, COLUMN_METRIC, scale);
    put_merits(put, at, result, scale);
    put_scale_close(put, scale, "row");
    free(rows);
}

/* The machine is the joint row's, and only itself is counted as equal to a choice: neither is stored. */
static void put_choices(struct put *put, hid_t at, const struct result *result, int s)
{
    const int64_t n = result->joint.n_rows;
    struct result_row *const rows = put_buffer(put, (size_t)n, sizeof *rows);
    const hid_t group = put_group(put, at, result->scenario[s].name);
    const hid_t scale = put_row_scale(put, group, n, row_meaning);
    for (int64_t i = 0; rows && i < n; i++) rows[i] = result->joint.row[i].choice[s];
    put_rows(put, group, rows, n, COLUMN_ID, COLUMN_N_EQUAL, scale);
    put_rows(put, group, rows, n, COLUMN_PLAN, COLUMN_HARDWARE, scale);
    put_rows(put, group, rows, n, COLUMN_METRIC, N_ROW_COLUMNS, scale);
    put_scale_close(put, scale, "row");
    put_group_close(put, group, result->scenario[s].name);
    free(rows);
}

void put_joint(struct put *put, hid_t file, const struct result *result)
{
    const struct joint *const asked = &result->joint_asked;
    if (!asked->wanted) return;
    const hid_t group = put_group(put, file, "joint");
    put_metrics(put, group, "metric", 1, &asked->metric);
    put_metrics(put, group, "against", asked->n_against, asked->against);
    put_reals(put, group, "weights", result->n_scenarios, asked->weight);
    put_machines(put, group, result);
    const hid_t scenarios = put_group(put, group, "scenarios");
    for (int s = 0; s < result->n_scenarios && !put->failed; s++) put_choices(put, scenarios, result, s);
    put_group_close(put, scenarios, "scenarios");
    put_group_close(put, group, "joint");
}

void put_rounds(struct put *put, hid_t file, const struct result *result)
{
    const int64_t n = result->n_rounds;
    if (n == 0) return;
    int64_t *const machines = put_buffer(put, (size_t)n, sizeof *machines);
    int64_t *const rows = put_buffer(put, (size_t)n, sizeof *rows);
    double *const movement = put_buffer(put, (size_t)n, sizeof *movement);
    for (int64_t i = 0; i < n && !put->failed; i++) {
        machines[i] = result->round[i].n_machines;
        rows[i] = result->round[i].n_rows;
        movement[i] = result->round[i].movement;
    }
    const struct about round = about_column("round", DIM_COUNT, H5T_NATIVE_INT64, "rounds of depth two_stage", "");
    const struct about about_machines = about_column("machines", DIM_COUNT, H5T_NATIVE_INT64, "machines of the grid", "");
    const struct about about_rows = about_column("rows", DIM_COUNT, H5T_NATIVE_INT64, "rows of all Pareto sets", "");
    const struct about about_movement = about_column("movement", DIM_NUMBER, H5T_NATIVE_DOUBLE,
                                                     "largest factor, less 1, by which a row is better than every row of "
                                                     "the round before",
                                                     "");
    const hid_t group = put_group(put, file, "rounds");
    const hid_t scale = put_scale(put, group, &round, n, NULL);
    put_column(put, group, &about_machines, n, machines, scale);
    put_column(put, group, &about_rows, n, rows, scale);
    put_column(put, group, &about_movement, n, movement, scale);
    put_scale_close(put, scale, "round");
    put_group_close(put, group, "rounds");
    free(movement);
    free(rows);
    free(machines);
}

/* ---- in ----------------------------------------------------------------------------------------------------------- */

static void get_machines(struct get *get, hid_t at, const struct joint *asked, struct result_joint *joint)
{
    const int64_t n = joint->n_rows;
    struct result_row *const rows = get_alloc(get, "row", n + 1, sizeof *rows);
    get_rows(get, at, rows, n, COLUMN_HARDWARE, COLUMN_METRIC);
    const double *const mean = get_sizes(get, at, "mean", n);
    for (int64_t i = 0; i < n && !get->failed; i++) {
        get_row_check(get, &rows[i], i, COLUMN_HARDWARE, COLUMN_METRIC);
        joint->row[i].hardware = rows[i].hardware;
        joint->row[i].mean = mean[i];
    }
    for (int a = 0; a < asked->n_against; a++) {
        const double *const column = get_sizes(get, at, metric_facts[asked->against[a]].name, n);
        for (int64_t i = 0; i < n && !get->failed; i++) joint->row[i].against[a] = column[i];
    }
}

static void get_choices(struct get *get, hid_t at, const struct result *result, int s)
{
    const int64_t n = result->joint.n_rows;
    struct result_row *const rows = get_alloc(get, "row", n + 1, sizeof *rows);
    const hid_t group = get_group(get, at, result->scenario[s].name);
    get_rows(get, group, rows, n, COLUMN_ID, COLUMN_N_EQUAL);
    get_rows(get, group, rows, n, COLUMN_PLAN, COLUMN_HARDWARE);
    get_rows(get, group, rows, n, COLUMN_METRIC, N_ROW_COLUMNS);
    for (int64_t i = 0; i < n && !get->failed; i++) {
        result->joint.row[i].choice[s] = rows[i];
        result->joint.row[i].choice[s].hardware = result->joint.row[i].hardware;
        result->joint.row[i].choice[s].n_equal = rows[i].id >= 0; /* itself */
        if (rows[i].id < 0) continue;
        get_row_check(get, &rows[i], i, COLUMN_PLAN, COLUMN_HARDWARE);
        get_row_check(get, &rows[i], i, COLUMN_METRIC, N_ROW_COLUMNS);
    }
    get_group_close(group);
}

void get_joint(struct get *get, hid_t file, struct result *result)
{
    struct joint *const asked = &result->joint_asked;
    struct result_joint *const joint = &result->joint;
    const size_t n_scenarios = (size_t)result->n_scenarios;
    if (!get_has(get, file, "joint")) return;
    const hid_t group = get_group(get, file, "joint"), scenarios = get_group(get, group, "scenarios");
    asked->wanted = true;
    asked->weight = arena_alloc(get->arena, n_scenarios + 1, sizeof *asked->weight);
    if (!get->failed && get_metrics(get, group, "metric", &asked->metric, 1) != 1) get_refuse(get, "metric", "a metric");
    asked->n_against = get_metrics(get, group, "against", asked->against, MAX_OBJECTIVES - 1);
    get_reals(get, group, "weights", result->n_scenarios, asked->weight);
    joint->n_rows = get_length(get, group, "row", INT64_MAX);
    joint->row = get_alloc(get, "row", joint->n_rows + 1, sizeof *joint->row);
    for (int64_t i = 0; i < joint->n_rows && !get->failed; i++)
        joint->row[i].choice = get_alloc(get, "row", (int64_t)n_scenarios + 1, sizeof *joint->row[i].choice);
    get_machines(get, group, asked, joint);
    for (int s = 0; s < result->n_scenarios && !get->failed; s++) get_choices(get, scenarios, result, s);
    get_group_close(scenarios);
    get_group_close(group);
}

void get_rounds(struct get *get, hid_t file, struct result *result)
{
    if (!get_has(get, file, "rounds")) return;
    const hid_t group = get_group(get, file, "rounds");
    const int64_t n = get_length(get, group, "round", STORE_MAX_ROUNDS);
    const int64_t *const machines = get_whole_column(get, group, "machines", n);
    const int64_t *const rows = get_whole_column(get, group, "rows", n);
    const double *const movement = get_column(get, group, "movement", n);
    result->n_rounds = (int)n;
    result->round = arena_alloc(get->arena, (size_t)n + 1, sizeof *result->round);
    for (int64_t i = 0; i < n && !get->failed; i++)
        result->round[i] = (struct result_round){machines[i], rows[i], movement[i]};
    get_group_close(group);
}
