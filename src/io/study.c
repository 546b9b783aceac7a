/* study: the top of a study file: what it holds, and what must be true of it as a whole (DESIGN section 2). */
#include "reader.h"

#include <string.h>

enum { MAX_SCENARIOS = 1000 };

static const char *const study_keys[] = {"study",  "depth",      "search", "scenarios",  "plan",       "hardware",
                                         "limits", "objectives", "joint",  "population", "sensitivity"};
enum { N_STUDY_KEYS = sizeof study_keys / sizeof study_keys[0] };

/* The file's name without folder and suffix. */
static void default_name(char name[NAME_CHARS], const char *path)
{
    const char *const slash = strrchr(path, '/');
    const char *const file = slash ? slash + 1 : path;
    const char *const dot = strrchr(file, '.');
    snprintf(name, NAME_CHARS, "%.*s", dot && dot > file ? (int)(dot - file) : (int)strlen(file), file);
    name_repair(name);
}

static void settings_read(const struct reader *reader, const struct node *root, struct study *study)
{
    static const char *const depths[] = {"coarse", "balanced", "fine", "two_stage"};
    static const char *const searches[] = {"exhaustive", "pruned"};
    const struct node *const name = node_find(root, "study");
    const struct node *const depth = node_find(root, "depth");
    const struct node *const search = node_find(root, "search");
    default_name(study->name, reader->file);
    if (name) reader_name(reader, name, "study", study->name);
    study->depth = DEPTH_BALANCED;
    const int depth_word = depth ? reader_word(reader, depth, "depth", depths, 4) : -1;
    study->two_stage = depth_word == N_DEPTHS;
    if (depth_word >= 0) study->depth = study->two_stage ? DEPTH_COARSE : (enum depth)depth_word;
    study->search = SEARCH_EXHAUSTIVE;
    if (search && reader_word(reader, search, "search", searches, 2) == SEARCH_PRUNED) study->search = SEARCH_PRUNED;
}

static void wanted_read(const struct reader *reader, const struct node *root, struct study *study)
{
    const struct node *const population = node_find(root, "population"), *const joint = node_find(root, "joint");
    const struct node *const sensitivity = node_find(root, "sensitivity");
    wanted_default(study);
    if (population) population_read(reader, population, &study->population);
    if (sensitivity) sensitivity_read(reader, sensitivity, &study->sensitivity);
    if (joint) joint_read(reader, joint, study);
    if (study->search == SEARCH_PRUNED && study->population.full)
        reader_error(reader, population, "population.full",
                     "true, but search: pruned does not see all candidates; use search: exhaustive");
}

static void check_names(const struct reader *reader, const struct study *study, const struct node *list)
{
    const struct node *item = list->first;
    for (int i = 0; item && i < study->n_scenarios; i++, item = item->next)
        for (int j = 0; j < i; j++)
            if (study->scenario[i].name[0] && strcmp(study->scenario[i].name, study->scenario[j].name) == 0) {
                reader_error(reader, item, "scenarios", "%s is the name of two scenarios; give each its own name",
                             study->scenario[i].name);
                break;
            }
}

static void scenarios_read(const struct reader *reader, const struct node *root, struct study *study)
{
    const struct node *const list = node_find(root, "scenarios");
    if (!list) {
        reader_error(reader, root, "scenarios", "missing; give a list of at least one");
        return;
    }
    if (list->kind != NODE_LIST || list->n_children == 0 || list->n_children > MAX_SCENARIOS) {
        reader_error(reader, list, "scenarios", "%s; give a list of 1 to %d, each begins with -",
                     list->kind == NODE_MAP    ? "is a map"
                     : list->kind == NODE_TEXT ? "is no list"
                     : list->n_children == 0   ? "an empty list"
                                               : "a list too long",
                     MAX_SCENARIOS);
        return;
    }
    study->n_scenarios = list->n_children;
    study->scenario = arena_alloc(reader->arena, (size_t)list->n_children, sizeof *study->scenario);
    int i = 0;
    for (const struct node *item = list->first; item; item = item->next, i++) {
        char path[PATH_CHARS];
        snprintf(path, sizeof path, "scenarios.%d", i);
        scenario_read(reader, item, path, &study->scenario[i]);
    }
    check_names(reader, study, list);
}

static double largest(const struct axis_values *axis)
{
    double value = 0;
    for (int i = 0; i < axis->n; i++) value = axis->value[i] > value ? axis->value[i] : value;
    return value;
}

/* Ranks, and what is rounded up from them to whole SIPs, must stay exact in 64 bits. */
static void check_ranks(const struct reader *reader, const struct node *root, const struct space *space)
{
    const struct node *const plan = node_find(root, "plan");
    const double ranks = largest(&space->axis[PLAN_tp]) * largest(&space->axis[PLAN_cp]) * largest(&space->axis[PLAN_pp]) *
                         largest(&space->axis[PLAN_dp]);
    if (ranks > 0x1p40)
        reader_error(reader, plan ? plan : root, "plan", "tp x cp x pp x dp reaches %.3g PEs, above 2^40; lower one of them",
                     ranks);
}

static void limits_read(const struct reader *reader, const struct node *root, struct study *study)
{
    const struct node *const limits = node_find(root, "limits");
    const char *words[N_METRICS];
    if (!limits) return;
    for (int i = 0; i < N_METRICS; i++) words[i] = metric_facts[i].name;
    reader_map(reader, limits, "limits", words, N_METRICS);
    for (const struct node *node = limits->kind == NODE_MAP ? limits->first : NULL; node; node = node->next) {
        const int metric = metric_code(node->key);
        char path[PATH_CHARS];
        double value;
        path_join(path, "limits", node->key);
        if (metric < 0) continue;
        const enum dimension dimension = metric_facts[metric].dimension;
        const double most = dimension == DIM_FRACTION ? 1 : dimension == DIM_COUNT ? 0x1p53 : 1e30;
        if (reader_number(reader, node, path, dimension, 0, most, &value) != 0) continue;
        if (value <= 0)
            reader_error(reader, node, path, "%.40s leaves %s; give a limit above 0", node->text,
                         metric_facts[metric].better == BETTER_HIGH ? "everything" : "nothing");
        else study->limit[study->n_limits++] = (struct limit){(enum metric)metric, value};
    }
}

static void objectives_read(const struct reader *reader, const struct node *root, struct study *study)
{
    const struct node *const list = node_find(root, "objectives");
    study->n_objectives = 2;
    study->objective[0] = METRIC_LATENCY;
    study->objective[1] = METRIC_COST;
    if (!list) return;
    if (list->kind != NODE_LIST || list->n_children < 2 || list->n_children > MAX_OBJECTIVES) {
        reader_list_error(reader, list, "objectives", 2, MAX_OBJECTIVES, "metrics");
        return;
    }
    study->n_objectives = 0;
    for (const struct node *item = list->first; item; item = item->next) {
        const int metric = reader_metric(reader, item, "objectives");
        bool twice = false;
        for (int i = 0; i < study->n_objectives; i++) twice = twice || (int)study->objective[i] == metric;
        if (metric < 0) continue;
        if (twice) reader_error(reader, item, "objectives", "%s is given twice; remove one", item->text);
        else if (metric_facts[metric].better == BETTER_NEITHER)
            reader_error(reader, item, "objectives", "%s is neither better low nor high; limit it instead", item->text);
        else study->objective[study->n_objectives++] = (enum metric)metric;
    }
}

/* By line, as the user will go through the file; errors of other files stay where they are. */
static void sort_errors(struct errors *errors, int first)
{
    for (int i = first + 1; i < errors->n; i++)
        for (int j = i; j > first; j--) {
            struct error *const a = &errors->item[j - 1], *const b = &errors->item[j];
            if (strcmp(a->file, b->file) != 0 || a->line <= b->line) break;
            const struct error swap = *a;
            *a = *b;
            *b = swap;
        }
}

static int study_from_tree(struct study *study, struct node *root, struct reader *reader, int n_sets)
{
    struct errors *const errors = reader->errors;
    const int n_before = errors->n;
    memset(study, 0, sizeof *study);
    if (root->kind != NODE_MAP)
        return error_add(errors, STATUS_INPUT, reader->file, root->line, "is %s, no study; give a map (key: value)",
                         root->kind == NODE_LIST ? "a list" : "a text");
    for (int i = 0; i < n_sets; i++) override_apply(reader, root, i);
    reader_map(reader, root, "", study_keys, N_STUDY_KEYS);
    settings_read(reader, root, study);
    reader->depth = study->depth;
    reader->plan_depth = study->two_stage ? DEPTH_FINE : study->depth; /* plans are cheap, machines are refined */
    scenarios_read(reader, root, study);
    axes_read(reader, &study->space, node_find(root, "plan"), node_find(root, "hardware"), study->hardware_base);
    check_ranks(reader, root, &study->space);
    limits_read(reader, root, study);
    objectives_read(reader, root, study);
    wanted_read(reader, root, study);
    if (space_finish(&study->space, errors, reader->file) == 0 && study->joint.wanted &&
        study->space.n_machines > (INT64_C(1) << 42) / study->space.n_group[GROUP_STRUCTURE])
        reader_error(reader, node_find(root, "joint"), "joint",
                     "the hardware has more than 2^42 machines; give fewer values per knob");
    sort_errors(errors, n_before);
    return errors->n > n_before ? -1 : effective_write(study, reader->arena, errors);
}

int study_read(struct study *study, const char *path, const char *const *sets, int n_sets, struct arena *arena,
               struct errors *errors)
{
    struct reader reader = {.file = strcmp(path, "-") == 0 ? STANDARD_INPUT : path,
                            .arena = arena,
                            .errors = errors,
                            .sets = sets,
                            .sweeps = true};
    struct node *const root = tree_read(path, arena, errors);
    return root ? study_from_tree(study, root, &reader, n_sets) : -1;
}

int study_parse(struct study *study, const char *text, const char *name, struct arena *arena, struct errors *errors)
{
    struct reader reader = {.file = name, .arena = arena, .errors = errors, .sweeps = true};
    struct node *const root = tree_parse(text, strlen(text), name, 1, arena, errors);
    return root ? study_from_tree(study, root, &reader, 0) : -1;
}

int study_restate(struct study *study, struct arena *arena, struct errors *errors)
{
    if (space_finish(&study->space, errors, study->name) != 0) return -1;
    return effective_write(study, arena, errors);
}
