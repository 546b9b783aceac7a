/* cosweep explain: why one candidate takes what it takes: the first of a study with knobs overridden, or a row of a
 * result. */
#include "cli/formulas.h"

static struct {
    struct choice choice;
    bool formulas, json;
} options = {.choice.row = -1};

static const struct option table[] = {
    {ARGUMENT, 0, "STUDY|RESULT", NULL, &options.choice.source, "study file, or result file with --row"},
    CHOICE_OPTIONS(options.choice),
    {OPTION_FLAG, 0, "formulas", NULL, &options.formulas, "every equation: as it stands, with numbers, and its result"},
    {OPTION_FLAG, 'j', "json", NULL, &options.json, "all numbers as JSON, base units"},
    {0},
};

static void json_print(const struct answer *answer, const struct limit *limits)
{
    struct json json = {.to = stdout, .pretty = true};
    if (options.formulas) answer_write_json_formulas(&json, answer, limits);
    else answer_write_json(&json, answer, limits);
    putchar('\n');
}

static int cmd_explain(struct cli *cli)
{
    struct arena arena = {0};
    struct study study;
    static struct candidate candidate;
    static struct answer answer;
    int code = -1;
    if (choice_read(&candidate, &study, &options.choice, &arena, &cli->errors) != 0) goto out;
    answer_candidate(&answer, &candidate, study.limit, study.n_limits);
    if (options.json) {
        json_print(&answer, study.limit);
    } else {
        answer_print(stdout, &answer, study.limit);
        if (options.formulas && answer.complete) formulas_print(stdout, &answer);
    }
    code = STATUS_DONE;
out:
    arena_free(&arena);
    return code;
}

const struct command command_explain = {
    .name = "explain",
    .summary = "why one candidate takes what it takes",
    .usage = "STUDY [--plan LIST] [--hardware LIST] [--formulas] | RESULT --row N",
    .examples = "  cosweep explain configs/llama70b-decode-128k.yaml --plan tp=8,cp=16,batch=8\n"
                "  cosweep explain study.yaml --plan tp=8 --hardware pe.flops=16TFLOP/s,links.c2c.topology=ring\n"
                "  cosweep explain study.yaml --formulas\n"
                "  cosweep explain llama70b-decode-128k.h5 --row 0 --json\n",
    .options = table,
    .call = cmd_explain,
};
