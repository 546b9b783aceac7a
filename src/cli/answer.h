/* answer: how the commands that look at single candidates print them. */
#ifndef COSWEEP_CLI_ANSWER_H
#define COSWEEP_CLI_ANSWER_H

#include "cli/cli.h"

/* One object with the members of DESIGN section 3; a refusal before `memory` has only `fits` and `reason`. */
void answer_write_json(struct json *json, const struct answer *answer, const struct limit *limits);
/* The same with each stage's equations (cli/formulas.h). */
void answer_write_json_formulas(struct json *json, const struct answer *answer, const struct limit *limits);
/* Tables for people. */
void answer_print(FILE *to, const struct answer *answer, const struct limit *limits);
/* A headline, bold where `to` shows colour; and the layer kind of a row, empty where the model has one kind only or the row
 * is an edge. */
void answer_heading(FILE *to, const char *text);
void answer_kind_text(char text[64], const struct demand *demand, const struct stage_row *row);

/* ---- which candidate -------------------------------------------------------------------------------------------------- */

/* One candidate as command lines name it: of a study, with knobs overridden, or of a row of a result. */
struct choice {
    const char *source, *scenario, *plan, *hardware;
    struct texts sets;
    int64_t row; /* -1 = not given */
};
/* Rows of an option table that fill it, but for `source`. */
#define CHOICE_OPTIONS(choice)                                                                                              \
    {OPTION_COUNT, 'r', "row", "N", &(choice).row, "row of the result's Pareto set, from 0"},                               \
    {OPTION_TEXT, 's', "scenario", "NAME", &(choice).scenario, "scenario; the first by default"},                           \
    {OPTION_TEXT, 'p', "plan", "tp=8,...", &(choice).plan,                                                                  \
     "knobs of the plan; the first value of the study for the others"},                                                     \
    {OPTION_TEXT, 0, "hardware", "KEY=VALUE,...", &(choice).hardware, "knobs of the machine, as pe.flops=16TFLOP/s"},       \
    {OPTION_LIST, 0, "set", "KEY=VALUE", &(choice).sets, "override a key of the study; may be repeated"}
/* Reads the study, too; memory is the arena's.  Returns 0 or -1. */
int choice_read(struct candidate *candidate, struct study *study, const struct choice *choice, struct arena *arena,
                struct errors *errors);

#endif
