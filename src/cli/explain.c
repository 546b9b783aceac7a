/* cosweep explain: why one candidate takes what it takes: the first of a study with knobs overridden, or a row of a result. */
#define _POSIX_C_SOURCE 200809L
#include "cli/answer.h"
#include <inttypes.h>
#include <string.h>

static struct {
    const char *source, *scenario, *plan, *hardware;
    struct texts sets;
    int64_t row;
    bool json;
} options = {.row = -1};

static const struct option table[] = {
    {ARGUMENT, 0, "STUDY|RESULT", NULL, &options.source, "study file, or result file with --row"},
    {OPTION_COUNT, 'r', "row", "N", &options.row, "row of the result's Pareto set, from 0"},
    {OPTION_TEXT, 's', "scenario", "NAME", &options.scenario, "scenario; the first by default"},
    {OPTION_TEXT, 'p', "plan", "tp=8,...", &options.plan, "knobs of the plan; the first value of the study for the others"},
    {OPTION_TEXT, 0, "hardware", "KEY=VALUE,...", &options.hardware, "knobs of the machine, as pe.flops=16TFLOP/s"},
    {OPTION_LIST, 0, "set", "KEY=VALUE", &options.sets, "override a key of the study; may be repeated"},
    {OPTION_FLAG, 'j', "json", NULL, &options.json, "all numbers as JSON, base units"},
    {0},
};

static int find_scenario(const struct study *study, struct errors *errors)
{
    const char *names[256];
    int n = 0;
    if (!options.scenario) return 0;
    for (int s = 0; s < study->n_scenarios; s++) {
        if (strcmp(study->scenario[s].name, options.scenario) == 0) return s;
        if (n < 256) names[n++] = study->scenario[s].name;
    }
    const char *const near = nearest_word(options.scenario, names, n);
    return error_add(errors, STATUS_INPUT, options.source, 0, "has no scenario `%s`; %s `%s`", options.scenario,
                     near ? "did you mean" : "the first is", near ? near : names[0]);
}

/* The study a result was made from, and the id of the row asked for. */
static int study_of_result(struct study *study, candidate_id *id, struct arena *arena, struct errors *errors)
{
    struct result result;
    if (options.row < 0)
        return error_add(errors, STATUS_INPUT, options.source, 0, "is a result; give --row N, from 0");
    if (result_read(&result, options.source, arena, errors) != 0) return -1;
    if (study_parse(study, result.study, "the study in the result", arena, errors) != 0) return -1;
    const int scenario = find_scenario(study, errors);
    if (scenario < 0) return -1;
    const struct result_scenario *const rows = &result.scenario[scenario];
    if (options.row >= rows->n_rows)
        return error_add(errors, STATUS_INPUT, options.source, 0, "--row %" PRId64 " is beyond the %" PRId64
                         " rows of scenario %s; give 0 to %" PRId64, options.row, rows->n_rows, rows->name, rows->n_rows - 1);
    *id = rows->row[options.row].id;
    return 0;
}

static int cmd_explain(struct cli *cli)
{
    struct arena arena = {0};
    struct study study;
    static struct candidate candidate;
    static struct answer answer;
    candidate_id id = 0;
    int code = -1;
    if (result_is(options.source)) {
        if (study_of_result(&study, &id, &arena, &cli->errors) != 0) goto out;
    } else if (options.row >= 0) {
        error_add(&cli->errors, STATUS_INPUT, options.source, 0, "--row needs a result file; give one, or --plan and --hardware");
        goto out;
    } else if (study_read(&study, options.source, options.sets.text, options.sets.n, &arena, &cli->errors) != 0) {
        goto out;
    }
    const int scenario = find_scenario(&study, &cli->errors);
    if (scenario < 0) goto out;
    candidate.scenario = study.scenario[scenario];
    space_decode(&study.space, id, &candidate.plan, &candidate.hardware);
    if (options.plan) plan_override(&candidate.plan, options.plan, &cli->errors);
    if (options.hardware) hardware_override(&candidate.hardware, options.hardware, &cli->errors);
    if (cli->errors.n > 0) goto out;
    answer_candidate(&answer, &candidate, study.limit, study.n_limits);
    if (options.json) {
        struct json json = {.to = stdout, .pretty = true};
        answer_write_json(&json, &answer, study.limit);
        putchar('\n');
    } else {
        answer_print(stdout, &answer, study.limit);
    }
    code = STATUS_DONE;
out:
    arena_free(&arena);
    return code;
}

const struct command command_explain = {
    .name = "explain",
    .summary = "why one candidate takes what it takes",
    .usage = "STUDY [--plan LIST] [--hardware LIST] | RESULT --row N",
    .examples = "  cosweep explain configs/llama70b-decode-128k.yaml --plan tp=8,cp=16,batch=8\n"
                "  cosweep explain study.yaml --plan tp=8 --hardware pe.flops=16TFLOP/s,links.c2c.topology=ring\n"
                "  cosweep explain llama70b-decode-128k.h5 --row 0 --json\n",
    .options = table,
    .call = cmd_explain,
};
