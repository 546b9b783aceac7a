/* JSON lines: what `evaluate` answers and `compare` takes: one candidate a line; blank lines are counted and skipped. */
#ifndef COSWEEP_CLI_JSON_LINES_H
#define COSWEEP_CLI_JSON_LINES_H

#include "cosweep/io.h"

enum { MAX_LINE_BYTES = 1 << 20 };

struct json_lines {
    FILE *from;
    const char *name; /* in messages */
    char *line;       /* the last one, without its end; as much of it as MAX_LINE_BYTES */
    size_t n;         /* its length, which may be larger */
    int number;       /* its number, from 1 */
};
/* `path` is a file, or - for standard input.  Returns 0 or -1. */
int json_lines_open(struct json_lines *lines, const char *path, struct errors *errors);
/* The next line that is not blank; false at the end, and after an error. */
bool json_lines_next(struct json_lines *lines, struct errors *errors);
/* The line as a tree; NULL after an error. */
const struct node *json_lines_parse(const struct json_lines *lines, struct arena *arena, struct errors *errors);
void json_lines_close(struct json_lines *lines);

#endif
