/* Which candidate a command looks at: the first of a study with knobs overridden, or a row of a result. */
#define _POSIX_C_SOURCE 200809L
#include "cli/answer.h"
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static int scenario_find(const char *wanted, const char *const *names, int n, const char *file, struct errors *errors)
{
    if (!wanted) return 0;
    for (int s = 0; s < n; s++)
        if (strcmp(names[s], wanted) == 0) return s;
    const char *const near = nearest_word(wanted, names, n);
    if (near) return error_add(errors, STATUS_INPUT, file, 0, "has no scenario `%s`; did you mean `%s`?", wanted, near);
    return error_add(errors, STATUS_INPUT, file, 0, "has no scenario `%s`; give one of its %d, as `%s`", wanted, n,
                     n > 0 ? names[0] : "");
}

int result_scenario_find(const char *wanted, const struct result *result, const char *file, struct arena *arena,
                         struct errors *errors)
{
    const char **const names = arena_alloc(arena, (size_t)result->n_scenarios + 1, sizeof *names);
    for (int s = 0; s < result->n_scenarios; s++) names[s] = result->scenario[s].name;
    return scenario_find(wanted, names, result->n_scenarios, file, errors);
}

static int find_scenario(const struct study *study, const struct choice *choice, struct arena *arena, struct errors *errors)
{
    const char **const names = arena_alloc(arena, (size_t)study->n_scenarios, sizeof *names);
    for (int s = 0; s < study->n_scenarios; s++) names[s] = study->scenario[s].name;
    return scenario_find(choice->scenario, names, study->n_scenarios, choice->source, errors);
}

/* The row of a result that `--row` names. */
static int find_row(struct chosen *chosen, const struct choice *choice, struct errors *errors)
{
    const struct result_scenario *const rows = &chosen->result.scenario[chosen->scenario];
    const char *why;
    double row;
    if (rows->n_rows == 0)
        return error_add(errors, STATUS_INPUT, choice->source, 0,
                         "has no rows in scenario %s: nothing was feasible; give its "
                         "study, and --plan",
                         rows->name);
    if (strcmp(choice->row, "best") == 0) {
        chosen->row = rows->best;
        return 0;
    }
    if (unit_parse(choice->row, DIM_COUNT, &row, &why) != 0)
        return error_add(errors, STATUS_INPUT, choice->source, 0, "--row: `%s`: %s; give 0 to %" PRId64 ", or best",
                         choice->row, why, rows->n_rows - 1);
    if (row < 0 || row >= (double)rows->n_rows)
        return error_add(errors, STATUS_INPUT, choice->source, 0,
                         "--row %s is beyond the %" PRId64 " rows of scenario %s; give 0 to %" PRId64, choice->row,
                         rows->n_rows, rows->name, rows->n_rows - 1);
    chosen->row = (int64_t)row;
    return 0;
}

int choice_open(struct chosen *chosen, const struct choice *choice, struct arena *arena, struct errors *errors)
{
    chosen->scenario = -1;
    chosen->row = -1;
    chosen->is_result = result_is(choice->source);
    if (strcmp(choice->source, "-") != 0 && access(choice->source, F_OK) != 0)
        return error_add(errors, STATUS_INPUT, choice->source, 0, "cannot be read: %s", strerror(errno));
    if (chosen->is_result && choice->sets.n > 0)
        return error_add(errors, STATUS_INPUT, choice->source, 0,
                         "is a result, and --set changes a study; use --plan and --hardware, or `cosweep export` the row");
    if (chosen->is_result) {
        if (result_read(&chosen->result, choice->source, arena, errors) != 0) return -1;
        if (result_study(&chosen->study, &chosen->result, choice->source, arena, errors) != 0) return -1;
    } else if (choice->row) {
        return error_add(errors, STATUS_INPUT, choice->source, 0,
                         "--row needs a result file; give one, or --plan and --hardware");
    } else if (study_read(&chosen->study, choice->source, choice->sets.text, choice->sets.n, arena, errors) != 0) {
        return -1;
    }
    chosen->scenario = find_scenario(&chosen->study, choice, arena, errors);
    return chosen->scenario < 0 ? -1 : 0;
}

int choice_candidate(struct candidate *candidate, struct chosen *chosen, const struct choice *choice, struct errors *errors)
{
    candidate_id id = 0;
    assert(chosen->scenario >= 0);
    if (chosen->is_result) {
        if (!choice->row)
            return error_add(errors, STATUS_INPUT, choice->source, 0, "is a result; give --row N, from 0, or best");
        if (find_row(chosen, choice, errors) != 0) return -1;
        if (row_verify(&chosen->study, &chosen->result, chosen->scenario, chosen->row, choice->source, errors) != 0)
            return -1;
        id = chosen->result.scenario[chosen->scenario].row[chosen->row].id;
    }
    candidate->scenario = chosen->study.scenario[chosen->scenario];
    space_decode(&chosen->study.space, id, &candidate->plan, &candidate->hardware);
    if (choice->plan) plan_override(&candidate->plan, choice->plan, errors);
    if (choice->hardware) hardware_override(&candidate->hardware, choice->hardware, errors);
    return errors->n > 0 ? -1 : 0;
}

int choice_read(struct candidate *candidate, struct study *study, const struct choice *choice, struct arena *arena,
                struct errors *errors)
{
    struct chosen chosen;
    if (choice_open(&chosen, choice, arena, errors) != 0) return -1;
    if (choice_candidate(candidate, &chosen, choice, errors) != 0) return -1;
    *study = chosen.study;
    return 0;
}
