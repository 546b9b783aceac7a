/* cosweep explain: why one candidate takes what it takes: the first of a study with knobs overridden, or a row of a
 * result. */
#include "cli/formulas.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct {
    struct choice choice;
    bool formulas, sharding, hints, json;
} options;

static const struct option table[] = {
    {ARGUMENT, 0, "STUDY|RESULT", NULL, &options.choice.source, "study file, or result file with --row"},
    CHOICE_OPTIONS(options.choice),
    {OPTION_FLAG, 0, "formulas", NULL, &options.formulas, "every equation: as it stands, with numbers, and its result"},
    {OPTION_FLAG, 0, "sharding", NULL, &options.sharding, "every tensor: how it is cut over the ranks (always in JSON)"},
    {OPTION_FLAG, 0, "hints", NULL, &options.hints, "in JSON, too: changes of one knob that make it faster"},
    {OPTION_FLAG, 'j', "json", NULL, &options.json,
     "all numbers as JSON, base units; with --row all or N,N,... a line a row"},
    {0},
};

static unsigned parts_wanted(void)
{
    return PART_TENSORS | (options.formulas ? PART_FORMULAS : 0) | (options.hints ? PART_HINTS : 0);
}

static void json_print(const struct answer *answer, const struct study *study)
{
    struct json json = {.to = stdout, .pretty = true};
    json_open(&json, NULL, '{');
    answer_write_json(&json, answer, study, PART_INPUTS | parts_wanted());
    json_close(&json, '}');
    putchar('\n');
}

static void text_print(const struct answer *answer, const struct study *study)
{
    answer_print(stdout, answer, study->limit);
    if (answer->reason != REASON_NONE) relaxations_print(stdout, answer, study);
    if (answer->complete) waste_print(stdout, answer);
    hints_print(stdout, answer, study);
    if (options.sharding && answer->complete) sharding_print(stdout, answer);
    if (options.formulas && answer->complete) formulas_print(stdout, answer);
}

static int line_print(const struct chosen *chosen, int64_t row, struct errors *errors)
{
    static struct answer answer;
    struct candidate candidate = {.scenario = chosen->study.scenario[chosen->scenario]};
    struct json json = {.to = stdout, .compact = true};
    if (row_verify(&chosen->study, &chosen->result, chosen->scenario, row, options.choice.source, errors) != 0) return -1;
    space_decode(&chosen->study.space, chosen->result.scenario[chosen->scenario].row[row].id, &candidate.plan,
                 &candidate.hardware);
    answer_candidate(&answer, &candidate, chosen->study.limit, chosen->study.n_limits);
    json_open(&json, NULL, '{');
    json_number(&json, "row", (double)row);
    answer_write_json(&json, &answer, &chosen->study, parts_wanted());
    json_close(&json, '}');
    putchar('\n');
    return 0;
}

/* The row that a list goes on with, -1 where it has none; `at` moves behind its comma, to NULL at the end. */
static int64_t next_row(const char **at, int64_t n_rows)
{
    char *end;
    const int64_t row = strtoll(*at, &end, 10);
    if (end == *at || (*end != ',' && *end != '\0') || row < 0 || row >= n_rows) return -1;
    *at = *end == ',' ? end + 1 : NULL;
    return row;
}

/* `--row all --json`, or `--row 0,7,9`: one object a line, without what the rows have in common. */
static int lines_print(const struct chosen *chosen, struct errors *errors)
{
    const int64_t n_rows = chosen->is_result ? chosen->result.scenario[chosen->scenario].n_rows : 0;
    const char *const list = options.choice.row;
    if (!chosen->is_result || !options.json || options.choice.plan || options.choice.hardware)
        return error_add(errors, STATUS_INPUT, options.choice.source, 0,
                         "--row with many rows needs a result, --json, and no --plan or --hardware; give these, or one row");
    if (strcmp(list, "all") == 0) {
        for (int64_t i = 0; i < n_rows && !ferror(stdout); i++)
            if (line_print(chosen, i, errors) != 0) return -1;
        return STATUS_DONE;
    }
    for (const char *at = list; at;) /* all of it before the first line is printed */
        if (next_row(&at, n_rows) < 0)
            return error_add(errors, STATUS_INPUT, options.choice.source, 0,
                             "--row: \"%.20s\" does not begin with one of the %" PRId64
                             " rows of scenario %s; give numbers from 0 with a comma between two",
                             at, n_rows, chosen->result.scenario[chosen->scenario].name);
    for (const char *at = list; at && !ferror(stdout);)
        if (line_print(chosen, next_row(&at, n_rows), errors) != 0) return -1;
    return STATUS_DONE;
}

static int cmd_explain(struct cli *cli)
{
    struct arena arena = {0};
    static struct chosen chosen;
    static struct candidate candidate;
    static struct answer answer;
    const char *const row = options.choice.row;
    const bool lines = row && (strcmp(row, "all") == 0 || strchr(row, ','));
    int code = -1;
    if (choice_open(&chosen, &options.choice, &arena, &cli->errors) != 0) goto out;
    if (lines) {
        code = lines_print(&chosen, &cli->errors);
        goto out;
    }
    if (choice_candidate(&candidate, &chosen, &options.choice, &cli->errors) != 0) goto out;
    answer_candidate(&answer, &candidate, chosen.study.limit, chosen.study.n_limits);
    if (options.json) json_print(&answer, &chosen.study);
    else text_print(&answer, &chosen.study);
    code = STATUS_DONE;
out:
    arena_free(&arena);
    return code;
}

const struct command command_explain = {
    .name = "explain",
    .summary = "why one candidate takes what it takes",
    .usage = "STUDY [--plan LIST] [--hardware LIST] [OPTIONS] | RESULT --row N|best|N,N,...|all [OPTIONS]",
    .examples = "  cosweep explain configs/llama70b-decode-128k.yaml --plan tp=8,cp=16,batch=8\n"
                "  cosweep explain study.yaml --plan tp=8 --hardware pe.flops=16TFLOP/s,links.c2c.topology=ring\n"
                "  cosweep explain study.yaml --formulas\n"
                "  cosweep explain study.yaml --sharding --plan tp=16,cp=4\n"
                "  cosweep explain llama70b-decode-128k.h5 --row 0 --json --hints\n"
                "  cosweep explain llama70b-decode-128k.h5 --row all --json > rows.jsonl\n",
    .options = table,
    .call = cmd_explain,
};
