/* Lines of `cosweep evaluate`: each is answered by one line of JSON that says why it is refused, or holds finite numbers
 * only; and the inputs that an answer repeats give the same answer. */
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static bool may_be_null(const struct node *node)
{
    return node->key && (strcmp(node->key, "reason") == 0 || strcmp(node->key, "id") == 0);
}

static void check_numbers(const struct node *map)
{
    for (const struct node *node = map->first; node; node = node->next) {
        if (node->kind != NODE_TEXT) check_numbers(node);
        else if (!node->quoted && strcmp(node->text, "null") == 0 && !may_be_null(node))
            fuzz_fail("%s is no number", node->key ? node->key : "an element");
    }
}

static void check_again(const char *line)
{
    const char *const end = strstr(line, ", \"fits\": ");
    const char *output;
    if (!end) fuzz_fail("its inputs do not end: %s", line);
    char *const text = strdup(line);
    snprintf(text + (end - line), 3, "}\n");
    const char *const path = fuzz_file(1, text, strlen(text));
    if (fuzz_command(&command_evaluate, 1, &path, &output) != STATUS_DONE) fuzz_fail("refused: %s\n%s", text, output);
    if (strncmp(output, line, strlen(output) - 1) != 0) fuzz_fail("an answer's inputs give another:\n%s\n%s", line, output);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct errors errors;
    const char *output;
    const char *const path = fuzz_file(0, data, n);
    errors.n = errors.n_dropped = 0;
    const int code = fuzz_command(&command_evaluate, 1, &path, &output);
    if (code != STATUS_DONE && code != STATUS_INPUT) fuzz_fail("exit code %d", code);
    char *const all = strdup(output);
    bool bad = *all == '\0';
    for (char *line = all, *end; *line; line = end + 1) {
        struct arena arena = {0};
        end = strchr(line, '\n');
        if (!end) fuzz_fail("half a line: %s", line);
        *end = '\0';
        const struct node *const answer = tree_parse(line, strlen(line), "answer", 1, &arena, &errors);
        if (!answer || answer->kind != NODE_MAP) fuzz_fail("no JSON: %s", line);
        const struct node *const error = node_find(answer, "error"), *const fits = node_find(answer, "fits");
        if (!error == !fits || (error && error->text[0] == '\0')) fuzz_fail("neither answer nor error: %s", line);
        check_numbers(answer);
        if (node_find(answer, "scenario")) check_again(line); /* one that is refused at once repeats nothing */
        bad = bad || error;
        arena_free(&arena);
    }
    if (bad != (code != STATUS_DONE)) fuzz_fail("exit code %d", code);
    free(all);
    return 0;
}
