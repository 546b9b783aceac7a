/* answer: how the commands that look at single candidates print them. */
#ifndef COSWEEP_CLI_ANSWER_H
#define COSWEEP_CLI_ANSWER_H

#include "cli/cli.h"
#include "cosweep/lower.h"

/* What an answer's object has beside the numbers of DESIGN section 3. */
enum {
    PART_INPUTS = 1,   /* scenario, plan and hardware; else plan alone */
    PART_FORMULAS = 2, /* each stage's equations (cli/formulas.h) */
    PART_TENSORS = 4,  /* tensors, placement, ring, waste */
    PART_HINTS = 8,
};
/* The members of an object that is open; a refusal before `memory` has only `fits` and `reason`, and hints where asked. */
void answer_write_json(struct json *json, const struct answer *answer, const struct study *study, unsigned parts);
/* Tables for people. */
void answer_print(FILE *to, const struct answer *answer, const struct limit *limits);
/* A headline, bold where `to` shows colour; and the layer kind of a row, empty where the model has one kind only or the row
 * is an edge. */
void answer_heading(FILE *to, const char *text);
void answer_kind_text(char text[64], const struct demand *demand, const struct stage_row *row);

/* ---- what the PEs keep, and where the ranks sit (sharding.c, ledger.c, placement.c); of complete answers --------- */

void answer_tensors(struct tensors *tensors, const struct answer *answer);
/* Every tensor as a rectangle with the lines it is cut along. */
void sharding_print(FILE *to, const struct answer *answer);
void waste_print(FILE *to, const struct answer *answer);
/* Members `tensors`, `waste`, `placement`, `ring` of the object that is open. */
void tensors_write_json(struct json *json, const struct answer *answer);
void waste_write_json(struct json *json, const struct answer *answer);
void placement_write_json(struct json *json, const struct answer *answer);
void ring_write_json(struct json *json, const struct answer *answer);

/* ---- what to change (hints.c) ------------------------------------------------------------------------------------ */

void hints_print(FILE *to, const struct answer *answer, const struct study *study);
void hints_write_json(struct json *json, const struct answer *answer, const struct study *study);
/* What would make a candidate feasible; or where every candidate of a scenario is refused, a scenario. */
void relaxations_print(FILE *to, const struct answer *answer, const struct study *study);
void relaxations_of_study_print(FILE *to, const struct study *study, int scenario);

/* ---- which candidate --------------------------------------------------------------------------------------------- */

/* One candidate as command lines name it: of a study, with knobs overridden, or of a row of a result. */
struct choice {
    const char *source, *scenario, *plan, *hardware;
    const char *row; /* "3", "best"; `explain` alone takes "all"; NULL = not given */
    struct texts sets;
};
/* Rows of an option table that fill it, but for `source`. */
#define CHOICE_OPTIONS(choice)                                                                                              \
    {OPTION_TEXT, 'r', "row", "N|best", &(choice).row, "row of the result's Pareto set, from 0"},                           \
        {OPTION_TEXT, 's', "scenario", "NAME", &(choice).scenario, "scenario; the first by default"},                       \
        {OPTION_TEXT,    'p',                                                                                               \
         "plan",         "tp=8,...",                                                                                        \
         &(choice).plan, "knobs of the plan; the first value of the study for the others"},                                 \
        {OPTION_TEXT, 0, "hardware", "KEY=VALUE,...", &(choice).hardware, "knobs of the machine, as pe.flops=16TFLOP/s"},   \
    {                                                                                                                       \
        OPTION_LIST, 0, "set", "KEY=VALUE", &(choice).sets, "override a key of the study; may be repeated"                  \
    }
/* What a choice names: a study, or a result with the study it was made from; and the scenario in it. */
struct chosen {
    struct study study;
    bool is_result;
    struct result result; /* where is_result */
    int scenario;
    int64_t row; /* of the result's scenario; -1 = none */
};
/* Memory is the arena's.  Return 0 or -1. */
int choice_open(struct chosen *chosen, const struct choice *choice, struct arena *arena, struct errors *errors);
int choice_candidate(struct candidate *candidate, struct chosen *chosen, const struct choice *choice, struct errors *errors);
/* Both in one, of a command that needs no more than the candidate and its study. */
int choice_read(struct candidate *candidate, struct study *study, const struct choice *choice, struct arena *arena,
                struct errors *errors);

#endif
