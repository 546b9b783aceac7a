/* cosweep compare: candidates side by side, or what changed from one result to the next. */
#define _POSIX_C_SOURCE 200809L
#include "cli/compare.h"
#include "cli/json_lines.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct {
    struct texts what, fail_on;
    const char *scenario, *reference;
    bool results, candidates, csv, json;
} options;

static const struct option table[] = {
    {ARGUMENT_REST, 0, "A B...", NULL, &options.what,
     "RESULT:ROW, RESULT (its best row), STUDY (its first candidate), .json or .jsonl as for evaluate"},
    {OPTION_FLAG, 0, "results", NULL, &options.results,
     "two results as a whole; so, too, where both are given without :ROW"},
    {OPTION_FLAG, 0, "candidates", NULL, &options.candidates, "the best rows of two results instead"},
    {OPTION_TEXT, 's', "scenario", "NAME", &options.scenario, "only this scenario; of candidates the first by default"},
    {OPTION_TEXT, 0, "reference", "A,B,...", &options.reference,
     "reference point of the hypervolume, a value for each objective; the worst of both fronts by default"},
    {OPTION_LIST, 0, "fail-on", "GATE:MOST", &options.fail_on,
     "exit code 1 past worse:1%, latency:2%, hypervolume:1%, rows:3 or rows:10%; may be repeated"},
    {OPTION_FLAG, 0, "csv", NULL, &options.csv, "comma-separated values, base units, all digits"},
    {OPTION_FLAG, 'j', "json", NULL, &options.json, "one JSON object, base units, all digits"},
    {0},
};

/* ---- candidates -------------------------------------------------------------------------------------------------- */

struct contenders {
    int n;
    struct contender *contender[MAX_CONTENDERS];
    struct arena *arena;
    struct errors *errors;
};

static struct contender *contender_add(struct contenders *all, const char *source, const char *row,
                                       const struct study *study)
{
    if (all->n == MAX_CONTENDERS) {
        error_add(all->errors, STATUS_INPUT, source, 0, "more than %d candidates; give fewer", MAX_CONTENDERS);
        return NULL;
    }
    struct contender *const made = arena_alloc(all->arena, 1, sizeof *made);
    snprintf(made->label, sizeof made->label, "%s%s%s", source, row ? ":" : "", row ? row : "");
    made->study = study;
    all->contender[all->n++] = made;
    return made;
}

static void add_tree(struct contenders *all, const char *path, const struct node *tree, int number)
{
    static struct candidate candidate;
    char row[16];
    if (!tree || candidate_read(&candidate, tree, path, all->arena, all->errors) != 0) return;
    snprintf(row, sizeof row, "%d", number);
    struct contender *const made = contender_add(all, path, row, NULL);
    if (made) answer_candidate(&made->answer, &candidate, NULL, 0);
}

/* Lines as `evaluate` takes them; a file in several lines that is one object is one candidate. */
static void add_lines(struct contenders *all, const char *path)
{
    struct json_lines lines;
    const int n_before = all->n;
    if (strcmp(path + strlen(path) - 5, ".json") == 0) {
        add_tree(all, path, tree_read(path, all->arena, all->errors), 1);
        return;
    }
    if (json_lines_open(&lines, path, all->errors) != 0) return;
    while (all->errors->n == 0 && json_lines_next(&lines, all->errors))
        add_tree(all, path, json_lines_parse(&lines, all->arena, all->errors), lines.number);
    if (all->errors->n == 0 && all->n == n_before)
        error_add(all->errors, STATUS_INPUT, path, 0, "no candidates; give one JSON object per line");
    json_lines_close(&lines);
}

static void add_choice(struct contenders *all, const char *source, const char *row)
{
    static struct candidate candidate;
    const struct choice choice = {.source = source, .scenario = options.scenario, .row = row};
    struct study *const study = arena_alloc(all->arena, 1, sizeof *study);
    if (choice_read(&candidate, study, &choice, all->arena, all->errors) != 0) return;
    struct contender *const made = contender_add(all, source, row, study);
    if (made) answer_candidate(&made->answer, &candidate, study->limit, study->n_limits);
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

static void contender_read(struct contenders *all, const char *text)
{
    char *const path = arena_text(all->arena, text), *const colon = strrchr(path, ':');
    if (ends_with(text, ".json") || ends_with(text, ".jsonl")) {
        add_lines(all, text);
        return;
    }
    if (result_is(text)) {
        add_choice(all, text, "best");
        return;
    }
    if (colon) *colon = '\0';
    if (colon && result_is(path)) add_choice(all, path, colon + 1);
    else add_choice(all, text, NULL);
}

static int compare_candidates(enum form form, struct arena *arena, struct errors *errors)
{
    static struct contenders all;
    all = (struct contenders){.arena = arena, .errors = errors};
    for (int i = 0; i < options.what.n; i++) contender_read(&all, options.what.text[i]);
    if (errors->n > 0) return -1;
    if (all.n < 2) return error_add(errors, STATUS_INPUT, NULL, 0, "compare: %d candidate; give two or more", all.n);
    contenders_print(all.contender, all.n, form, stdout);
    return STATUS_DONE;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static int compare_results(enum form form, struct arena *arena, struct errors *errors)
{
    static struct sides sides;
    sides.scenario = options.scenario;
    sides.reference = options.reference;
    for (int i = 0; i < options.fail_on.n; i++) gates_read(&sides, options.fail_on.text[i], errors);
    for (int f = 0; f < 2; f++) {
        sides.path[f] = options.what.text[f];
        if (result_read(&sides.result[f], sides.path[f], arena, errors) == 0)
            result_study(&sides.study[f], &sides.result[f], sides.path[f], arena, errors);
    }
    if (errors->n > 0) return -1;
    return results_print(&sides, form, stdout, errors);
}

/* ---- which of the two -------------------------------------------------------------------------------------------- */

static int options_check(bool results, struct errors *errors)
{
    if (options.csv && options.json)
        return error_add(errors, STATUS_INPUT, NULL, 0, "compare: --csv and --json exclude each other; give one");
    if (options.results && options.candidates)
        return error_add(errors, STATUS_INPUT, NULL, 0, "compare: --results and --candidates exclude each other; give one");
    if (options.what.n < 1)
        return error_add(errors, STATUS_INPUT, NULL, 0,
                         "compare: nothing to compare; give two or more candidates, or two results");
    if (results && options.what.n != 2)
        return error_add(errors, STATUS_INPUT, NULL, 0, "compare: --results: %d given; give two results", options.what.n);
    if (!results && (options.reference || options.fail_on.n > 0))
        return error_add(errors, STATUS_INPUT, NULL, 0, "compare: %s needs two results; give RESULT RESULT",
                         options.reference ? "--reference" : "--fail-on");
    return 0;
}

static int cmd_compare(struct cli *cli)
{
    struct arena arena = {0};
    const enum form form = options.csv ? FORM_CSV : options.json ? FORM_JSON : FORM_TEXT;
    const bool both = options.what.n == 2 && result_is(options.what.text[0]) && result_is(options.what.text[1]);
    const bool results = options.results || (both && !options.candidates);
    int code = -1;
    if (options_check(results, &cli->errors) != 0) goto out;
    code = results ? compare_results(form, &arena, &cli->errors) : compare_candidates(form, &arena, &cli->errors);
out:
    arena_free(&arena);
    return code;
}

const struct command command_compare = {
    .name = "compare",
    .summary = "candidates side by side, or two results: what changed",
    .usage = "A B [...] [--csv|--json] | RESULT RESULT [--fail-on GATE:MOST]... [--reference LIST]",
    .examples = "  cosweep compare llama70b.h5:0 llama70b.h5:12 study.yaml\n"
                "  cosweep compare cases.jsonl --json\n"
                "  cosweep compare last-night.h5 tonight.h5\n"
                "  cosweep compare last-night.h5 tonight.h5 --fail-on worse:1% --fail-on rows:10% || mail -s worse team\n"
                "  cosweep compare a.h5 b.h5 --reference '50 ms,20000'\n",
    .options = table,
    .call = cmd_compare,
};
