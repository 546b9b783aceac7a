/* cosweep evaluate: one candidate per line in, one answer per line out: the door for other optimizers. */
#define _POSIX_C_SOURCE 200809L
#include "cli/answer.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *cases;
} options;

static const struct option table[] = {
    {ARGUMENT, 0, "CASES", NULL, &options.cases,
     "file of one JSON object per line with scenario, plan, hardware; - is stdin"},
    {0},
};

enum { MAX_LINE_BYTES = 1 << 20 };

/* All messages of a line as one text. */
static void error_answer(struct json *json, const struct errors *errors)
{
    char text[4 * MESSAGE_CHARS];
    size_t at = 0;
    text[0] = '\0';
    for (int i = 0; i < errors->n && at < sizeof text - 1; i++) {
        const int n = snprintf(text + at, sizeof text - at, "%s%s", i > 0 ? "; " : "", errors->item[i].message);
        at += n > 0 ? (size_t)n : 0;
    }
    json_open(json, NULL, '{');
    json_text(json, "error", text);
    json_close(json, '}');
}

static bool is_blank(const char *line)
{
    return line[strspn(line, " \t\r\n")] == '\0';
}

/* Answer one line; returns whether it was good. */
static bool evaluate_line(const char *line, size_t n, int number, const char *name, FILE *to)
{
    static struct errors errors;
    static struct candidate candidate;
    static struct answer answer;
    struct arena arena = {0};
    struct json json = {.to = to};
    const struct node *tree = NULL;
    errors.n = errors.n_dropped = 0;
    if (n > MAX_LINE_BYTES)
        error_add(&errors, STATUS_INPUT, name, number, "a line of %zu bytes is above %d; give one candidate per line", n,
                  MAX_LINE_BYTES);
    else tree = tree_parse(line, n, name, number, &arena, &errors);
    const bool good = tree && candidate_read(&candidate, tree, name, &arena, &errors) == 0;
    if (good) {
        answer_candidate(&answer, &candidate, NULL, 0);
        json_open(&json, NULL, '{');
        answer_write_json(&json, &answer, NULL, PART_INPUTS);
        json_close(&json, '}');
    } else {
        error_answer(&json, &errors);
    }
    fputc('\n', to);
    arena_free(&arena);
    return good;
}

static int cmd_evaluate(struct cli *cli)
{
    const bool from_stdin = strcmp(options.cases, "-") == 0;
    FILE *const from = from_stdin ? stdin : fopen(options.cases, "r");
    const char *const name = from_stdin ? "standard input" : options.cases;
    char *line = NULL;
    size_t capacity = 0;
    int n_lines = 0, n_bad = 0;
    ssize_t n;
    if (!from) return error_add(&cli->errors, STATUS_INPUT, name, 0, "cannot be read: %s", strerror(errno));
    errno = 0;
    for (int number = 1; (n = getline(&line, &capacity, from)) >= 0; number++) {
        if (is_blank(line)) continue;
        n_lines++;
        if (!evaluate_line(line, (size_t)n, number, name, stdout)) n_bad++;
        if (from_stdin) fflush(stdout); /* whoever asks line by line waits for the answer */
        if (ferror(stdout)) break;
    }
    const bool failed = ferror(from);
    if (failed) error_add(&cli->errors, STATUS_INPUT, name, 0, "cannot be read: %s", strerror(errno));
    else if (n_lines == 0) error_add(&cli->errors, STATUS_INPUT, name, 0, "no candidates; give one JSON object per line");
    else if (n_bad > 0)
        error_add(&cli->errors, STATUS_INPUT, name, 0, "%d of %d lines are bad; see their \"error\"", n_bad, n_lines);
    free(line);
    if (!from_stdin) fclose(from);
    return cli->errors.n > 0 ? -1 : STATUS_DONE;
}

const struct command command_evaluate = {
    .name = "evaluate",
    .summary = "answer candidates given as JSON lines",
    .usage = "CASES",
    .examples = "  cosweep evaluate cases.jsonl > answers.jsonl\n"
                "  echo '{\"scenario\": {\"model\": \"llama-3.1-70b\", \"phase\": \"decode\", \"context\": \"128k\"},\n"
                "         \"plan\": {\"tp\": 8, \"cp\": 8}, \"hardware\": {\"base\": \"sip\"}}' | tr -d '\\n' | cosweep "
                "evaluate -\n",
    .options = table,
    .call = cmd_evaluate,
};
