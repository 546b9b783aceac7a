/* candidate: one plan on one machine for one scenario, from a tree or from a command line (DESIGN section 3). */
#include "reader.h"

#include <string.h>

/* A point of the space as structs; every axis has one value. */
static void candidate_set(struct candidate *candidate, const struct space *space)
{
    int64_t *const plan = (int64_t *)&candidate->plan;
    double *const hardware = (double *)&candidate->hardware;
    for (int i = 0; i < N_PLAN_KNOBS; i++) plan[i] = (int64_t)space->axis[i].value[0];
    for (int i = 0; i < N_HARDWARE_KNOBS; i++) hardware[i] = space->axis[N_PLAN_KNOBS + i].value[0];
}

/* Ranks, and what is rounded up from them to whole SIPs, must stay exact in 64 bits. */
static int check_ranks(const struct plan *plan, const char *place, int line, struct errors *errors)
{
    const double ranks = (double)plan->tp * (double)plan->cp * (double)plan->pp * (double)plan->dp;
    if (ranks <= 0x1p40) return 0;
    return error_add(errors, STATUS_INPUT, place, line, "plan: tp x cp x pp x dp is %.3g PEs, above 2^40; lower one of them",
                     ranks);
}

int candidate_read(struct candidate *candidate, const struct node *tree, const char *file, struct arena *arena,
                   struct errors *errors)
{
    static const char *const words[] = {"scenario", "plan", "hardware", "id"};
    const int n_before = errors->n;
    const struct reader reader = {.file = file, .arena = arena, .errors = errors, .depth = DEPTH_BALANCED};
    const struct node *const scenario = node_find(tree, "scenario"), *const plan = node_find(tree, "plan");
    struct space space = {0};
    char base[NAME_CHARS];
    memset(candidate, 0, sizeof *candidate);
    if (reader_map(&reader, tree, "", words, 4) != 0 && tree->kind != NODE_MAP) return -1;
    if (scenario) scenario_read(&reader, scenario, "scenario", &candidate->scenario);
    else reader_error(&reader, tree, "scenario", "missing; give it");
    axes_read(&reader, &space, plan, node_find(tree, "hardware"), base);
    candidate_set(candidate, &space);
    check_ranks(&candidate->plan, file, reader_line(plan ? plan : tree), errors);
    return errors->n > n_before ? -1 : 0;
}

/* One "path=value" of a list; returns the knob's row, or -1 after an error. */
static int assignment_read(const struct reader *reader, const struct knob_table *table, char *text, double *value)
{
    const char *words[MAX_WORDS];
    struct node node = {.kind = NODE_TEXT, .key = text, .quoted = true};
    char *const equals = strchr(text, '=');
    if (!equals) return reader_error(reader, &node, "", "\"%.*s\" sets nothing; give KEY=VALUE", SHOWN_CHARS, text);
    *equals = '\0';
    node.text = equals + 1;
    for (int i = 0; i < table->n; i++) {
        words[i] = table->knob[i].path;
        if (strcmp(words[i], text) == 0) return reader_knob(reader, &node, text, &table->knob[i], value) == 0 ? i : -1;
    }
    return reader_unknown_key(reader, &node, text[0] ? text : "\"\"", words, table->n);
}

/* All of a comma-separated list; knob i becomes value[i] where set[i]. */
static int list_read(const char *place, const struct knob_table *table, const char *list, double *value, bool *set,
                     struct errors *errors)
{
    int status = 0;
    const struct reader reader = {.file = place, .errors = errors};
    while (*list) {
        char item[PATH_CHARS];
        const size_t n = strcspn(list, ",");
        double number = 0;
        snprintf(item, sizeof item, "%.*s", (int)(n < PATH_CHARS ? n : PATH_CHARS - 1), list);
        const int knob = assignment_read(&reader, table, item, &number);
        if (knob >= 0 && set[knob]) {
            status = error_add(errors, STATUS_INPUT, place, 0, "%s: given twice; give it once", table->knob[knob].path);
        } else if (knob < 0) {
            status = -1;
        } else {
            value[knob] = number;
            set[knob] = true;
        }
        list += n + (list[n] == ',');
    }
    return status;
}

int plan_override(struct plan *plan, const char *list, struct errors *errors)
{
    double value[N_PLAN_KNOBS];
    bool set[N_PLAN_KNOBS] = {false};
    const int status = list_read("--plan", &plan_table, list, value, set, errors);
    for (int i = 0; i < N_PLAN_KNOBS; i++)
        if (set[i]) ((int64_t *)plan)[i] = (int64_t)value[i];
    return status != 0 ? status : check_ranks(plan, "--plan", 0, errors);
}

int hardware_override(struct hardware *hardware, const char *list, struct errors *errors)
{
    double value[N_HARDWARE_KNOBS];
    bool set[N_HARDWARE_KNOBS] = {false};
    const int status = list_read("--hardware", &hardware_table, list, value, set, errors);
    for (int i = 0; i < N_HARDWARE_KNOBS; i++)
        if (set[i]) ((double *)hardware)[i] = value[i];
    return status;
}
