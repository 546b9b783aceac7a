/* cosweep evaluate: one candidate per line in, one answer per line out: the door for other optimizers. */
#include "cli/answer.h"
#include "cli/json_lines.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *cases;
} options;

static const struct option table[] = {
    {ARGUMENT, 0, "CASES", NULL, &options.cases,
     "file of one JSON object per line with scenario, plan, hardware, id; - is standard input"},
    {0},
};

/* The caller's mark of a candidate, text, number or null, as it was given; but a number beyond 2^53 comes back as a text. */
static void id_answer(struct json *json, const struct node *id)
{
    if (!id) return;
    const bool is_number = !id->quoted && id->text[0] != '\0' && strspn(id->text, "0123456789+-.eE") == strlen(id->text);
    char *end = id->text;
    const double number = is_number ? strtod(id->text, &end) : 0.0;
    if (is_number && *end == '\0' && fabs(number) <= 0x1p53) json_number(json, "id", number);
    else if (!id->quoted && strcmp(id->text, "null") == 0) json_number(json, "id", NAN); /* written as null */
    else json_text(json, "id", id->text);
}

/* All messages of a line as one text; those of other files, as of a config.json, with their place. */
static void error_answer(struct json *json, const struct json_lines *lines, const struct errors *errors)
{
    char text[4 * MESSAGE_CHARS];
    size_t at = 0;
    text[0] = '\0';
    for (int i = 0; i < errors->n && at < sizeof text - 1; i++) {
        const struct error *const error = &errors->item[i];
        const bool elsewhere = error->file[0] && strncmp(error->file, lines->name, sizeof error->file - 1) != 0;
        char line[16] = "";
        if (elsewhere && error->line > 0) snprintf(line, sizeof line, "%d:", error->line);
        const int n = snprintf(text + at, sizeof text - at, "%s%s%s%s%s%s", i > 0 ? "; " : "", elsewhere ? error->file : "",
                               elsewhere ? ":" : "", line, elsewhere ? " " : "", error->message);
        at += n > 0 ? (size_t)n : 0;
    }
    json_text(json, "error", text);
    json_number(json, "line", lines->number);
}

/* Answer one line; returns whether it was good. */
static bool evaluate_line(const struct json_lines *lines, FILE *to)
{
    static struct errors errors;
    static struct candidate candidate;
    static struct answer answer;
    struct arena arena = {0};
    struct json json = {.to = to};
    errors.n = errors.n_dropped = 0;
    const struct node *const tree = json_lines_parse(lines, &arena, &errors);
    const struct node *id = node_find(tree, "id");
    if (tree) candidate_read(&candidate, tree, lines->name, &arena, &errors);
    if (id && id->kind != NODE_TEXT) {
        error_add(&errors, STATUS_INPUT, lines->name, id->line, "id: is a %s; give a text or a number",
                  id->kind == NODE_LIST ? "list" : "map");
        id = NULL;
    }
    json_open(&json, NULL, '{');
    id_answer(&json, id);
    if (errors.n == 0) {
        answer_candidate(&answer, &candidate, NULL, 0);
        answer_write_json(&json, &answer, NULL, PART_INPUTS);
    } else {
        error_answer(&json, lines, &errors);
    }
    json_close(&json, '}');
    fputc('\n', to);
    arena_free(&arena);
    return errors.n == 0;
}

static int cmd_evaluate(struct cli *cli)
{
    struct json_lines lines;
    int n_lines = 0, n_bad = 0;
    if (json_lines_open(&lines, options.cases, &cli->errors) != 0) return -1;
    while (!ferror(stdout) && json_lines_next(&lines, &cli->errors)) {
        n_lines++;
        if (!evaluate_line(&lines, stdout)) n_bad++;
        if (lines.from == stdin) fflush(stdout); /* whoever asks line by line waits for the answer */
    }
    if (cli->errors.n == 0 && n_lines == 0)
        error_add(&cli->errors, STATUS_INPUT, lines.name, 0, "no candidates; give one JSON object per line");
    else if (n_bad > 0)
        error_add(&cli->errors, STATUS_INPUT, lines.name, 0, "%d of %d lines are bad; see their \"error\"", n_bad, n_lines);
    json_lines_close(&lines);
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
