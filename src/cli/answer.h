/* answer: how the commands that look at single candidates print them. */
#ifndef COSWEEP_CLI_ANSWER_H
#define COSWEEP_CLI_ANSWER_H

#include "cli/cli.h"

/* One object with the members of DESIGN section 3; a refusal before `memory` has only `fits` and `reason`. */
void answer_write_json(struct json *json, const struct answer *answer, const struct limit *limits);
/* Tables for people. */
void answer_print(FILE *to, const struct answer *answer, const struct limit *limits);

#endif
