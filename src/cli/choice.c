/* Which candidate a command looks at: the first of a study with knobs overridden, or a row of a result. */
#include "cli/answer.h"
#include <inttypes.h>
#include <string.h>

static int find_scenario(const struct study *study, const struct choice *choice, struct errors *errors)
{
    const char *names[256];
    int n = 0;
    if (!choice->scenario) return 0;
    for (int s = 0; s < study->n_scenarios; s++) {
        if (strcmp(study->scenario[s].name, choice->scenario) == 0) return s;
        if (n < 256) names[n++] = study->scenario[s].name;
    }
    const char *const near = nearest_word(choice->scenario, names, n);
    return error_add(errors, STATUS_INPUT, choice->source, 0, "has no scenario `%s`; %s `%s`", choice->scenario,
                     near ? "did you mean" : "the first is", near ? near : names[0]);
}

/* The study a result was made from, and the id of the row asked for. */
static int study_of_result(struct study *study, candidate_id *id, const struct choice *choice, struct arena *arena,
                           struct errors *errors)
{
    struct result result;
    if (choice->row < 0)
        return error_add(errors, STATUS_INPUT, choice->source, 0, "is a result; give --row N, from 0");
    if (result_read(&result, choice->source, arena, errors) != 0) return -1;
    if (study_parse(study, result.study, "the study in the result", arena, errors) != 0) return -1;
    const int scenario = find_scenario(study, choice, errors);
    if (scenario < 0) return -1;
    const struct result_scenario *const rows = &result.scenario[scenario];
    if (choice->row >= rows->n_rows)
        return error_add(errors, STATUS_INPUT, choice->source, 0, "--row %" PRId64 " is beyond the %" PRId64
                         " rows of scenario %s; give 0 to %" PRId64, choice->row, rows->n_rows, rows->name,
                         rows->n_rows - 1);
    *id = rows->row[choice->row].id;
    return 0;
}

int choice_read(struct candidate *candidate, struct study *study, const struct choice *choice, struct arena *arena,
                struct errors *errors)
{
    candidate_id id = 0;
    if (result_is(choice->source)) {
        if (study_of_result(study, &id, choice, arena, errors) != 0) return -1;
    } else if (choice->row >= 0) {
        return error_add(errors, STATUS_INPUT, choice->source, 0,
                         "--row needs a result file; give one, or --plan and --hardware");
    } else if (study_read(study, choice->source, choice->sets.text, choice->sets.n, arena, errors) != 0) {
        return -1;
    }
    const int scenario = find_scenario(study, choice, errors);
    if (scenario < 0) return -1;
    candidate->scenario = study->scenario[scenario];
    space_decode(&study->space, id, &candidate->plan, &candidate->hardware);
    if (choice->plan) plan_override(&candidate->plan, choice->plan, errors);
    if (choice->hardware) hardware_override(&candidate->hardware, choice->hardware, errors);
    return errors->n > 0 ? -1 : 0;
}
