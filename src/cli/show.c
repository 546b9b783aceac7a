/* `cosweep show`: a result as a summary and a Pareto table, or as CSV or JSON for other programs. */
#include "cli/cli.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *result, *sort, *columns, *scenario;
    int64_t top;
    bool csv, json;
} options;
static const struct option table[] = {
    {ARGUMENT, 0, "RESULT", NULL, &options.result, "result file of `cosweep run`"},
    {OPTION_TEXT, 0, "scenario", "NAME", &options.scenario, "only this scenario"},
    {OPTION_TEXT, 's', "sort", "COLUMN", &options.sort, "best first by this metric, or ascending by a knob"},
    {OPTION_TEXT, 'c', "columns", "LIST", &options.columns,
     "knobs and metrics with commas, or all; default: objectives, latency, pes, what varies"},
    {OPTION_COUNT, 'n', "top", "N", &options.top, "only the first N rows; 100 by default, all with --csv and --json"},
    {OPTION_FLAG, 0, "csv", NULL, &options.csv, "comma-separated values, base units, all digits"},
    {OPTION_FLAG, 0, "json", NULL, &options.json, "one JSON object, base units, all digits"},
    {0},
};

/* ---- order of rows ---------------------------------------------------------------------------------------------- */

/* What qsort's comparison looks at. */
static struct {
    const struct result_row *row;
    const struct row_column *column;
    bool descending;
} sorting;

static int compare_rows(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    const double x = row_value(&sorting.row[left], sorting.column), y = row_value(&sorting.row[right], sorting.column);
    if (x != y) return (x < y) != sorting.descending ? -1 : 1;
    return left < right ? -1 : left > right;
}

/* Row numbers in the order wanted. */
static int64_t *rows_ordered(const struct result_scenario *scenario, const struct row_column *sort, struct arena *arena)
{
    int64_t *const order = arena_alloc(arena, (size_t)scenario->n_rows + 1, sizeof *order);
    for (int64_t i = 0; i < scenario->n_rows; i++) order[i] = i;
    if (!sort) return order;
    const int metric = metric_code(sort->name);
    sorting.row = scenario->row;
    sorting.column = sort;
    sorting.descending = metric >= 0 && metric_facts[metric].better == BETTER_HIGH;
    qsort(order, (size_t)scenario->n_rows, sizeof *order, compare_rows);
    return order;
}

enum { ROWS_FOR_PEOPLE = 100 };

/* Rows to show at most; 0 = all. */
static int64_t top_wanted(void)
{
    return options.top > 0 ? options.top : options.csv || options.json ? 0 : ROWS_FOR_PEOPLE;
}

static int64_t n_wanted(const struct result_scenario *scenario)
{
    const int64_t top = top_wanted();
    return top > 0 && top < scenario->n_rows ? top : scenario->n_rows;
}

/* ---- the three forms -------------------------------------------------------------------------------------------- */

static int n_curves(const struct result_scenario *scenario)
{
    int n = 0;
    for (int c = 0; c < N_CURVES; c++) n += scenario->curve[c].n > 0;
    return n;
}

static int n_effects(const struct result_scenario *scenario)
{
    int n = 0;
    for (int a = 0; a < N_KNOBS; a++) n += scenario->effect[a].n > 0;
    return n;
}

/* "also  doubling, sample (20000), ...": the groups beside the Pareto set, nearly by their names in the file. */
static void also_print(const struct result_scenario *scenario, FILE *to)
{
    const struct {
        const char *name;
        bool there;
        int64_t n;
    } groups[] = {
        {"doubling", scenario->doubling.plan_kept != NULL, 0},
        {"elasticity", scenario->elasticity != NULL, 0},
        {"parallelism", n_curves(scenario) > 0, n_curves(scenario)},
        {"main_effects", n_effects(scenario) > 0, n_effects(scenario)},
        {"sample", scenario->sample.id != NULL, scenario->sample.n},
        {"histograms", scenario->n_histograms > 0, scenario->n_histograms},
    };
    const char *between = "  also        ";
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        if (!groups[g].there) continue;
        fprintf(to, "%s%s", between, groups[g].name);
        if (groups[g].n > 0) fprintf(to, " (%" PRId64 ")", groups[g].n);
        between = ", ";
    }
    if (between[0] == ',') fputc('\n', to);
}

static void text_show(const struct result *result, const struct result_scenario *scenario, const struct shown *shown,
                      const int64_t *order)
{
    const int64_t n = n_wanted(scenario);
    fputc('\n', stdout);
    summary_scenario(result, scenario, stdout);
    also_print(scenario, stdout);
    if (n == 0) return;
    fputc('\n', stdout);
    shown_print(shown, scenario, order, n, stdout);
    if (n < scenario->n_rows) printf("... and %" PRId64 " more; --top N shows N\n", scenario->n_rows - n);
}

static void csv_show(const struct result_scenario *scenario, const struct shown *shown, const int64_t *order)
{
    char text[32];
    for (int64_t i = 0; i < n_wanted(scenario); i++) {
        printf("%s,%" PRId64, scenario->name, order[i]);
        for (int c = 0; c < shown->n; c++) printf(",%s", row_text(text, &scenario->row[order[i]], shown->column[c], true));
        printf("\n");
    }
}

static void json_row(struct json *json, const struct result_row *row, int64_t index, const struct shown *shown)
{
    json_open(json, NULL, '{');
    json_whole(json, "row", index);
    shown_json(json, shown, row);
    json_close(json, '}');
}

static void json_show(struct json *json, const struct result *result, const struct result_scenario *scenario,
                      const struct shown *shown, const int64_t *order)
{
    char name[NAME_CHARS + 8];
    json_open(json, NULL, '{');
    json_text(json, "name", scenario->name);
    json_text(json, "model", scenario->model);
    json_text(json, "phase", scenario->phase);
    json_whole(json, "candidates_raw", scenario->n_raw);
    json_whole(json, "candidates", scenario->n_distinct);
    json_whole(json, "feasible", scenario->n_feasible);
    json_whole(json, "evaluated", scenario->n_evaluated);
    json_open(json, "refused", '{');
    for (int i = REASON_NONE + 1; i < REASON_LIMIT + result->n_limits; i++) {
        const bool limit = i >= REASON_LIMIT;
        snprintf(name, sizeof name, "%s%s", limit ? "limit_" : "",
                 limit ? metric_facts[result->limit[i - REASON_LIMIT].metric].name : reason_name[i]);
        json_whole(json, name, scenario->n_refused[i]);
    }
    json_close(json, '}');
    json_open(json, "rows", '[');
    for (int64_t i = 0; i < n_wanted(scenario); i++) json_row(json, &scenario->row[order[i]], order[i], shown);
    json_close(json, ']');
    json_close(json, '}');
}

static void form_open(struct json *json, const struct result *result, const struct shown *shown)
{
    if (options.csv) {
        printf("scenario,row");
        for (int c = 0; c < shown->n; c++) printf(",%s", shown->column[c]->name);
        printf("\n");
    } else if (options.json) {
        json_open(json, NULL, '{');
        json_text(json, "study", result->study_name);
        json_text(json, "created", result->created);
        json_text(json, "program", result->program);
        json_open(json, "objectives", '[');
        for (int i = 0; i < result->n_objectives; i++) json_text(json, NULL, metric_facts[result->objective[i]].name);
        json_close(json, ']');
        json_open(json, "scenarios", '[');
    } else {
        printf("study %s, %s of %s\n", result->study_name, result->program, result->created);
    }
}

static void form_close(struct json *json, const struct result *result, const struct shown *shown)
{
    struct shown all = {0};
    struct errors none = {0};
    if (!options.json && !options.csv && !options.scenario) joint_print(result, stdout, top_wanted());
    if (!options.json) return;
    json_close(json, ']');
    shown_named(&all, "all", "", &none);
    if (!options.scenario) joint_json(json, result, options.top, options.columns ? shown : &all);
    json_close(json, '}');
    printf("\n");
}

/* ---- the command ------------------------------------------------------------------------------------------------ */

static bool is_wanted(const struct result_scenario *scenario)
{
    return !options.scenario || strcmp(options.scenario, scenario->name) == 0;
}

/* CSV has one heading: what varies in any scenario. */
static int columns_choose(struct shown *shown, const struct result *result, struct errors *errors)
{
    if (options.columns) return shown_named(shown, options.columns, "show: --columns", errors);
    for (int i = 0; i < result->n_scenarios; i++)
        if (is_wanted(&result->scenario[i])) shown_default(shown, result, &result->scenario[i]);
    return 0;
}

static int options_check(struct shown *sort, struct errors *errors)
{
    if (options.csv && options.json)
        return error_add(errors, STATUS_INPUT, NULL, 0, "show: --csv and --json exclude each other; give one");
    if (options.sort && shown_named(sort, options.sort, "show: --sort", errors) != 0) return -1;
    if (sort->n > 1)
        return error_add(errors, STATUS_INPUT, NULL, 0, "show: --sort: `%s` is more than one column; give one",
                         options.sort);
    return 0;
}

static int cmd_show(struct cli *cli)
{
    struct arena arena = {0};
    struct json json = {.to = stdout, .pretty = true};
    struct result result;
    struct shown shown = {0}, sort = {0};
    int code = -1;
    if (options_check(&sort, &cli->errors) != 0 || result_read(&result, options.result, &arena, &cli->errors) != 0 ||
        result_scenario_find(options.scenario, &result, options.result, &arena, &cli->errors) < 0 ||
        columns_choose(&shown, &result, &cli->errors) != 0)
        goto out;
    form_open(&json, &result, &shown);
    for (int i = 0; i < result.n_scenarios; i++) {
        const struct result_scenario *const scenario = &result.scenario[i];
        if (!is_wanted(scenario)) continue;
        if (!options.columns && !options.csv) {
            shown.n = 0;
            shown_default(&shown, &result, scenario);
        }
        const int64_t *const order = rows_ordered(scenario, sort.n > 0 ? sort.column[0] : NULL, &arena);
        if (options.csv) csv_show(scenario, &shown, order);
        else if (options.json) json_show(&json, &result, scenario, &shown, order);
        else text_show(&result, scenario, &shown, order);
    }
    form_close(&json, &result, &shown);
    code = STATUS_DONE;
out:
    arena_free(&arena);
    return code;
}

const struct command command_show = {
    .name = "show",
    .summary = "a result as summary and Pareto table, CSV or JSON",
    .usage = "RESULT [OPTIONS]",
    .examples = "  cosweep show llama70b.h5 --sort cost --top 10\n"
                "  cosweep show llama70b.h5 --columns latency,cost,tp,cp,hbm_bandwidth\n"
                "  cosweep show llama70b.h5 --csv --columns all > rows.csv\n"
                "  cosweep show llama70b.h5 --json | jq '.scenarios[0].rows[0]'\n",
    .options = table,
    .call = cmd_show,
};
