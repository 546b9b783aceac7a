/* cli: the program around the library.  A command is one file and one line of COMMANDS.
 *
 * The file of command `x` holds, in this order: its options as a static struct and a table of `struct option` whose targets
 * point into it; its work; `static int cmd_x(struct cli *cli)`; and `const struct command command_x`.  main() parses the
 * options into the targets before it calls cmd_x, so a command sees checked values only:
 *
 *     static struct { const char *study, *output; struct texts sets; bool force; double limit_s; } options;
 *     static const struct option table[] = {
 *         {ARGUMENT, 0, "STUDY", NULL, &options.study, "study file (YAML)"},
 *         {OPTION_TEXT, 'o', "output", "FILE", &options.output, "result file; NAME.h5 by default"},
 *         {OPTION_LIST, 0, "set", "KEY=VALUE", &options.sets, "override a key of the study"},
 *         {OPTION_FLAG, 0, "force", NULL, &options.force, "overwrite a result"},
 *         {OPTION_SECONDS, 0, "time-limit", "T", &options.limit_s, "stop after this long"},
 *         {0},
 *     };
 */
#ifndef COSWEEP_CLI_H
#define COSWEEP_CLI_H

#include "cosweep/run.h"

#define PROGRAM "cosweep"

/* In the order of the help.  X(name): `command_name` is in src/cli/name.c. */
#define COMMANDS(X)                                                                                                         \
    X(run) X(size) X(evaluate) X(explain) X(show) X(compare) X(export) X(merge) X(models) X(hardware) X(glossary)

/* ---- options ---------------------------------------------------------------------------------------------------- */

enum option_kind {
    OPTION_END,      /* the row that ends a table */
    OPTION_FLAG,     /* bool: set to true */
    OPTION_TEXT,     /* const char *: borrowed from argv, not empty */
    OPTION_LIST,     /* struct texts: may be given many times */
    OPTION_COUNT,    /* int64_t: a whole number >= 0, "20k" allowed */
    OPTION_SECONDS,  /* double: > 0, "60s", "5 min", "2h"; a plain number is seconds */
    OPTION_CHOICE,   /* int: position in `value`, which is "auto|bar|none" */
    ARGUMENT,        /* const char *: the next positional argument, required */
    ARGUMENT_OPTIONAL, /* const char *: left as it is where not given */
    ARGUMENT_REST,   /* struct texts: all that follow; last of the arguments */
};
enum { MAX_TEXTS = 256 };
struct texts { int n; const char *text[MAX_TEXTS]; }; /* borrowed from argv */

struct option {
    enum option_kind kind;
    char letter;         /* short form, 0 = none */
    const char *name;    /* long form without dashes; of an argument its name in the usage line */
    const char *value;   /* what follows, for the help; OPTION_CHOICE: the words */
    void *target;        /* of the type above; holds the default before parsing */
    const char *meaning; /* one line; names the default where there is one */
};

/* Options of a command line (argv[0] is skipped) into the table's targets.  `--opt VALUE`, `--opt=VALUE`, `-o VALUE`,
 * `-oVALUE`; "--" ends the options.  `help` is set at -h or --help, and then nothing else is checked.  Returns 0 or -1. */
int options_parse(const struct option *table, const char *command, int argc, char **argv, bool *help,
                  struct errors *errors);
/* The table as aligned text. */
void options_print(const struct option *table, FILE *to);

/* ---- commands --------------------------------------------------------------------------------------------------- */

/* What main() hands a command.  Only `run` is collective; the others are called on rank 0 only. */
struct cli {
    struct ranks ranks;
    struct errors errors; /* printed by main() when the command has returned, by the rank that speaks */
    int speaker;          /* a rank: 0, or of a collective command the first that met an error */
};
struct command {
    const char *name;
    const char *summary;  /* one line, lower case, no full stop */
    const char *usage;    /* what follows `cosweep NAME` */
    const char *examples; /* whole lines, each a command line, with two spaces before it */
    const struct option *options;
    bool collective;
    /* Returns an exit code (enum status), or -1: that of the first error. With errors it may not return STATUS_DONE. */
    int (*call)(struct cli *cli);
};
#define X(name) extern const struct command command_##name;
COMMANDS(X)
#undef X

/* ---- printing --------------------------------------------------------------------------------------------------- */

/* A table of text cells that is aligned when printed: columns[0..n) of rows.  Numbers (right) are aligned right. */
struct table {
    struct arena arena;
    int n_columns, n_rows, capacity;
    const char **heading; /* [n_columns] */
    bool *right;          /* [n_columns] */
    char **cell;          /* [n_rows][n_columns], row-major */
};
void table_init(struct table *table, int n_columns);
void table_column(struct table *table, int column, const char *heading, bool right);
int table_row(struct table *table);                                        /* a new row of empty cells; its index */
void table_set(struct table *table, int row, int column, const char *text); /* copied */
/* `marked` is a row printed bold where `to` shows colour, -1 = none. */
void table_print(const struct table *table, FILE *to, int marked);
void table_free(struct table *table);

/* Whether to print colour: a terminal, not "dumb", and no NO_COLOR. */
bool colour_wanted(FILE *to);

/* What a result says, for people: counts, refusals, best and the first `top` rows of each Pareto set (0 = all). */
void summary_print(const struct result *result, FILE *to, int64_t top);
/* The first `top` rows of the joint front (0 = all); nothing where there is none. */
void joint_print(const struct result *result, FILE *to, int64_t top);
/* The same of one scenario, without its rows. */
void summary_scenario(const struct result *result, const struct result_scenario *scenario, FILE *to);

/* Which columns a Pareto table shows (src/cli/columns.c): pointers to rows of row_column(). */
struct shown { int n; const struct row_column *column[N_ROW_COLUMNS]; };
/* Adds those a reader needs first: objectives, latency, pes, and the knobs that vary in `scenario`. */
void shown_default(struct shown *shown, const struct result *result, const struct result_scenario *scenario);
/* Comma-separated names, or "all".  Returns 0, or -1 with an error that suggests the nearest. */
int shown_named(struct shown *shown, const char *list, const char *place, struct errors *errors);
/* The value as text: scaled with a unit for people, or raw in base units; codes are words in both.  Returns `text`. */
char *row_text(char text[32], const struct result_row *row, const struct row_column *column, bool raw);
/* The number of the scenario `wanted` of the result at `file`, 0 where that is NULL; -1 and an error where there is none. */
int result_scenario_find(const char *wanted, const struct result *result, const char *file, struct arena *arena,
                         struct errors *errors);
/* The columns of a row as members of the object that is open. */
void shown_json(struct json *json, const struct shown *shown, const struct result_row *row);
/* The joint front as the member "joint": the first `top` rows (0 = all), each scenario's choice in the columns shown. */
void joint_json(struct json *json, const struct result *result, int64_t top, const struct shown *shown);
/* The Pareto table of a scenario: rows order[0..n), or the first n in the order of the file where `order` is NULL. */
void shown_print(const struct shown *shown, const struct result_scenario *scenario, const int64_t *order, int64_t n,
                 FILE *to);

#endif
