/* JSON lines: one value a line, whatever is behind the name: a line is held to a length, and one without end is not read to
 * its end. */
#define _POSIX_C_SOURCE 200809L
#include "cli/json_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_SKIPPED_BYTES = 64 << 20 };

int json_lines_open(struct json_lines *lines, const char *path, struct errors *errors)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    struct stat facts;
    *lines = (struct json_lines){.from = is_stdin ? stdin : fopen(path, "r"),
                                 .name = is_stdin ? STANDARD_INPUT : path,
                                 .line = malloc(MAX_LINE_BYTES + 2)};
    if (!lines->from) error_add(errors, STATUS_INPUT, path, 0, "cannot be read: %s", strerror(errno));
    else if (!lines->line) error_add(errors, STATUS_SYSTEM, path, 0, "out of memory");
    else if (fstat(fileno(lines->from), &facts) == 0 && S_ISDIR(facts.st_mode))
        error_add(errors, STATUS_INPUT, path, 0, "is a folder; give a file");
    else return 0;
    json_lines_close(lines);
    return -1;
}

/* One line into the buffer, as far as it goes there; `*n` is its length without its end.  False at the end of the file. */
static bool take_line(struct json_lines *lines, size_t *n)
{
    int c;
    *n = 0;
    while ((c = getc(lines->from)) != EOF && c != '\n' && *n < MAX_SKIPPED_BYTES) {
        if (*n <= MAX_LINE_BYTES) lines->line[*n] = (char)c;
        *n += 1;
    }
    lines->line[*n <= MAX_LINE_BYTES ? *n : MAX_LINE_BYTES] = '\0';
    return *n > 0 || c == '\n';
}

static bool is_blank(const char *line, size_t n)
{
    return strspn(line, " \t\r") == n;
}

bool json_lines_next(struct json_lines *lines, struct errors *errors)
{
    size_t n;
    errno = 0;
    do {
        if (!take_line(lines, &n)) {
            if (ferror(lines->from)) error_add(errors, STATUS_INPUT, lines->name, 0, "cannot be read: %s", strerror(errno));
            return false;
        }
        lines->number++;
    } while (is_blank(lines->line, n));
    lines->n = n;
    if (n < MAX_SKIPPED_BYTES) return true;
    error_add(errors, STATUS_INPUT, lines->name, lines->number, "a line of more than 64 MB; give one JSON object a line");
    return false;
}

const struct node *json_lines_parse(const struct json_lines *lines, struct arena *arena, struct errors *errors)
{
    if (lines->n <= MAX_LINE_BYTES) return tree_parse(lines->line, lines->n, lines->name, lines->number, arena, errors);
    error_add(errors, STATUS_INPUT, lines->name, lines->number, "a line of %zu bytes is above %d; give one candidate a line",
              lines->n, MAX_LINE_BYTES);
    return NULL;
}

void json_lines_close(struct json_lines *lines)
{
    free(lines->line);
    if (lines->from && lines->from != stdin) fclose(lines->from);
    *lines = (struct json_lines){0};
}
