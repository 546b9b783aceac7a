/* A study file: read, counted, and swept where that takes milliseconds. */
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows name candidates of the space, with finite numbers; every candidate is accounted for. */
static void check_scenario(const struct study *study, const struct result_scenario *scenario)
{
    int64_t n = scenario->n_feasible;
    for (int r = 0; r < MAX_REASONS; r++) n += scenario->n_refused[r];
    if (study->search == SEARCH_EXHAUSTIVE && n != scenario->n_distinct)
        fuzz_fail("%s: %lld of %lld candidates are accounted for", scenario->name, (long long)n,
                  (long long)scenario->n_distinct);
    if (scenario->n_distinct < 1 || scenario->n_distinct > study->space.n_raw || scenario->n_rows > scenario->n_feasible ||
        (scenario->n_feasible > 0) != (scenario->n_rows > 0))
        fuzz_fail("%s: counts contradict", scenario->name);
    for (int64_t i = 0; i < scenario->n_rows; i++) {
        if (scenario->row[i].id < 0 || scenario->row[i].id >= study->space.n_raw) fuzz_fail("an id beyond the space");
        fuzz_check_metrics(scenario->row[i].metric);
    }
}

/* What is written is what is read. */
static void check_file(const struct result *result)
{
    static struct errors errors;
    static struct result again;
    char path[FUZZ_PATH_CHARS];
    struct arena arena = {0};
    errors.n = 0;
    fuzz_place(path, "result.h5");
    if (result_write(result, path, &errors) != 0 || result_read(&again, path, &arena, &errors) != 0)
        fuzz_fail("the result: %s", errors.item[0].message);
    for (int s = 0; s < result->n_scenarios; s++) {
        const struct result_scenario *const a = &result->scenario[s], *const b = &again.scenario[s];
        if (strcmp(a->name, b->name) != 0 || a->n_rows != b->n_rows || a->n_feasible != b->n_feasible ||
            memcmp(a->row, b->row, (size_t)a->n_rows * sizeof *a->row) != 0)
            fuzz_fail("scenario %s of the result is read back as another", a->name);
    }
    arena_free(&arena);
}

static void sweep(const struct study *study, struct arena *arena)
{
    static struct errors errors;
    static struct result result;
    const struct run_options options = {.progress = PROGRESS_NONE};
    errors.n = 0;
    if (run_study(&result, study, &options, (struct ranks){0, 1}, arena, &errors) != 0)
        fuzz_fail("an accepted study is not swept: %s", errors.item[0].message);
    for (int s = 0; s < result.n_scenarios; s++) check_scenario(study, &result.scenario[s]);
    if (study->hash % 16 == 0 && !study->population.full) check_file(&result);
}

/* A plain number in the file is the number that is used: nothing is clamped or rounded. */
static void check_scalars(const struct study *study, const struct node *root)
{
    const struct node *const plan = node_find(root, "plan");
    for (int k = 0; plan && k < N_PLAN_KNOBS; k++) {
        const struct node *const node = node_find(plan, plan_knob[k].path);
        if (!node || node->kind != NODE_TEXT || node->text[0] == '\0' ||
            node->text[strspn(node->text, "0123456789")] != '\0')
            continue;
        if (study->space.axis[k].n != 1 || study->space.axis[k].value[0] != strtod(node->text, NULL))
            fuzz_fail("plan.%s: %s becomes %g", plan_knob[k].path, node->text, study->space.axis[k].value[0]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct errors errors;
    struct arena arena = {0};
    struct study study;
    const char *const path = fuzz_file(0, data, n);
    errors.n = errors.n_dropped = 0;
    const int status = study_read(&study, path, NULL, 0, &arena, &errors);
    fuzz_check_errors(&errors, status);
    if (status == 0) {
        fuzz_check_study(&study);
        check_scalars(&study, tree_read(path, &arena, &errors));
        if (study.space.n_lowered < 20000 && study.n_scenarios < 4) {
            fuzz_command(&command_size, 1, &path, NULL);
            fuzz_command(&command_size, 2, (const char *const[]){path, "--json"}, NULL);
        }
        if (fuzz_is_small(&study)) {
            sweep(&study, &arena);
            fuzz_command(&command_explain, 2, (const char *const[]){path, "--json"}, NULL);
        }
    }
    arena_free(&arena);
    return 0;
}
