/* axis: the values of the knobs under `plan` and `hardware` (DESIGN section 2), by the knob tables and nothing else.
 *
 * A knob's path is its place in the file: "links.d2d.topology" is a member of a map of a map, "gemm_tile.0" the first of a
 * list. */
#include "reader.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRID_VALUES = 64 }; /* no grid is longer */

const struct knob_table plan_table = {plan_knob, N_PLAN_KNOBS, 0, NULL};
const struct knob_table hardware_table = {hardware_knob, N_HARDWARE_KNOBS, N_PLAN_KNOBS, "base"};

static const struct knob *axis_knob(int axis)
{
    return axis < N_PLAN_KNOBS ? &plan_knob[axis] : &hardware_knob[axis - N_PLAN_KNOBS];
}

/* Values as they come, each with the node to blame. */
struct list {
    int n;
    double *value; /* [MAX_AXIS_VALUES] */
    const struct node **node;
};

static int list_add(const struct reader *reader, struct list *list, double value, const struct node *node, const char *path)
{
    if (list->n == MAX_AXIS_VALUES)
        return reader_error(reader, node, path, "more than %d values; give fewer", MAX_AXIS_VALUES);
    list->value[list->n] = value;
    list->node[list->n++] = node;
    return 0;
}

/* The range's value i; `to` itself where it is met within rounding. */
static double range_value(double from, double to, double factor, double step, int i)
{
    const double value = factor > 0 ? from * pow(factor, i) : from + i * step;
    return fabs(value - to) <= 1e-9 * fabs(to) ? to : value;
}

static int range_expand(const struct reader *reader, const struct node *node, const char *path, const struct knob *knob,
                        const double bound[2], double factor, double step, struct list *list)
{
    const double from = bound[0], to = bound[1];
    char text[32];
    for (int i = 0;; i++) {
        const double value = range_value(from, to, factor, step, i);
        if (value > to) return 0;
        if (knob->dimension == DIM_COUNT && value != floor(value))
            return reader_error(reader, node, path, "the range meets %s, which is no whole number; change factor or step",
                                number_exact(text, value));
        if (i == MAX_AXIS_VALUES || (i > 0 && value <= list->value[list->n - 1]))
            return reader_error(reader, node, path, "a range of more than %d values; give a larger factor or step",
                                MAX_AXIS_VALUES);
        list_add(reader, list, value, node, path);
    }
}

/* {from, to, factor} or {from, to, step} */
static int range_read(const struct reader *reader, const struct node *node, const char *path, const struct knob *knob,
                      struct list *list)
{
    static const char *const words[] = {"from", "to", "factor", "step"};
    char member[4][PATH_CHARS];
    const struct node *part[4];
    double value[4] = {0, 0, 0, 0};
    if (knob->dimension == DIM_CODE || knob->dimension == DIM_BOOL)
        return reader_error(reader, node, path, "is a map, but words have no range; give a list");
    if (reader_map(reader, node, path, words, 4) != 0) return -1;
    for (int i = 0; i < 4; i++) {
        path_join(member[i], path, words[i]);
        part[i] = node_find(node, words[i]);
    }
    if (!part[0] || !part[1] || !part[2] == !part[3])
        return reader_error(reader, node, path, "a range with %s; give from, to and one of factor and step",
                            !part[0]   ? "no from"
                            : !part[1] ? "no to"
                            : part[2]  ? "both factor and step"
                                       : "neither factor nor step");
    int status = reader_knob(reader, part[0], member[0], knob, &value[0]);
    status |= reader_knob(reader, part[1], member[1], knob, &value[1]);
    if (part[2]) status |= reader_number(reader, part[2], member[2], DIM_NUMBER, 1, 1e9, &value[2]);
    else
        status |= reader_number(reader, part[3], member[3], knob->dimension, knob->dimension == DIM_COUNT ? 1 : 0,
                                knob->high, &value[3]);
    if (status != 0) return -1;
    if (part[2] && value[2] <= 1)
        return reader_error(reader, part[2], member[2], "%.*s never ends; give a factor above 1", SHOWN_CHARS,
                            part[2]->text);
    if (part[3] && value[3] <= 0)
        return reader_error(reader, part[3], member[3], "%.*s never ends; give a step above 0", SHOWN_CHARS, part[3]->text);
    if (part[2] && value[0] <= 0)
        return reader_error(reader, part[0], member[0], "0 times a factor never ends; give a start above 0 or a step");
    if (value[0] > value[1])
        return reader_error(reader, node, path, "from %.40s is above to %.40s; swap them", part[0]->text, part[1]->text);
    return range_expand(reader, node, path, knob, value, value[2], value[3], list);
}

static int auto_read(const struct reader *reader, const struct node *node, const char *path, int knob, struct list *list)
{
    double own[32];
    const double *grid = own;
    const int n = knob < N_PLAN_KNOBS ? plan_grid((enum plan_knob)knob, reader->plan_depth, own)
                                      : hardware_grid((enum hardware_knob)(knob - N_PLAN_KNOBS), reader->depth, &grid);
    if (n == 0) return reader_error(reader, node, path, "auto: this knob has no grid; give its values");
    assert(n <= GRID_VALUES);
    for (int i = 0; i < n; i++) list_add(reader, list, grid[i], node, path);
    return 0;
}

static int items_read(const struct reader *reader, const struct node *node, const char *path, const struct knob *knob,
                      struct list *list)
{
    int status = 0;
    if (node->n_children == 0)
        return reader_error(reader, node, path, "an empty list; give at least one value, or remove the line");
    for (const struct node *item = node->first; item; item = item->next) {
        double value;
        if (reader_knob(reader, item, path, knob, &value) != 0) status = -1;
        else if (list_add(reader, list, value, item, path) != 0) return -1;
    }
    return status;
}

struct ranked {
    double value;
    int position;
};

static int by_value(const void *a, const void *b)
{
    const struct ranked *const x = a, *const y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

static int check_duplicates(const struct reader *reader, const char *path, const struct list *list)
{
    int status = 0;
    assert(list->n > 0);
    struct ranked *const ranked = malloc((size_t)list->n * sizeof *ranked);
    if (!ranked) return error_add(reader->errors, STATUS_SYSTEM, NULL, 0, "out of memory");
    for (int i = 0; i < list->n; i++) ranked[i] = (struct ranked){list->value[i], i};
    qsort(ranked, (size_t)list->n, sizeof *ranked, by_value);
    for (int i = 1; i < list->n; i++)
        if (ranked[i].value == ranked[i - 1].value) {
            const struct node *const node = list->node[ranked[i].position];
            status = reader_error(reader, node, path, "%.*s is given twice; remove one", SHOWN_CHARS,
                                  node->kind == NODE_TEXT ? node->text : "a value");
        }
    free(ranked);
    return status;
}

int axis_read(const struct reader *reader, const struct node *node, const char *path, int knob, struct axis_values *axis)
{
    const struct knob *const facts = axis_knob(knob);
    const bool is_auto = node->kind == NODE_TEXT && !node->quoted && strcmp(node->text, "auto") == 0;
    if (!reader->sweeps && (is_auto || node->kind != NODE_TEXT))
        return reader_error(reader, node, path, "%s; give one value",
                            is_auto                   ? "auto stands for several values"
                            : node->kind == NODE_LIST ? "is a list"
                                                      : "is a map");
    const size_t capacity = node->kind == NODE_TEXT ? GRID_VALUES : MAX_AXIS_VALUES;
    struct list list = {0, malloc(capacity * sizeof *list.value), malloc(capacity * sizeof *list.node)};
    int status = -1;
    if (!list.value || !list.node) error_add(reader->errors, STATUS_SYSTEM, NULL, 0, "out of memory");
    else if (is_auto) status = auto_read(reader, node, path, knob, &list);
    else if (node->kind == NODE_MAP) status = range_read(reader, node, path, facts, &list);
    else if (node->kind == NODE_LIST) status = items_read(reader, node, path, facts, &list);
    else {
        status = reader_knob(reader, node, path, facts, &list.value[0]);
        list.node[0] = node;
        list.n = 1;
    }
    if (status == 0) status = check_duplicates(reader, path, &list);
    if (status == 0) {
        axis->n = list.n;
        axis->is_auto = is_auto;
        axis->value = arena_alloc(reader->arena, (size_t)list.n, sizeof *axis->value);
        memcpy(axis->value, list.value, (size_t)list.n * sizeof *axis->value);
    }
    free(list.value);
    free(list.node);
    return status;
}

int knob_keys(const struct knob_table *table, const char *prefix, char (*key)[32])
{
    int n = 0;
    for (int i = 0; i < table->n; i++) {
        const char *const path = table->knob[i].path;
        if (strncmp(path, prefix, strlen(prefix)) != 0) continue;
        snprintf(key[n], sizeof key[n], "%.*s", (int)strcspn(path + strlen(prefix), "."), path + strlen(prefix));
        bool known = false;
        for (int j = 0; j < n; j++) known = known || strcmp(key[j], key[n]) == 0;
        if (!known) n++;
    }
    return n;
}

static void level_read(const struct reader *reader, const struct knob_table *table, struct space *space,
                       const struct node *node, const char *path, const char *prefix);

/* A member that is a knob, or holds some. */
static void member_read(const struct reader *reader, const struct knob_table *table, struct space *space,
                        const struct node *node, const char *path, const char *inner)
{
    for (int i = 0; i < table->n; i++)
        if (strcmp(table->knob[i].path, inner) == 0) {
            const int axis = table->first_axis + i;
            axis_read(reader, node, path, axis, &space->axis[axis]);
            return;
        }
    char prefix[PATH_CHARS];
    snprintf(prefix, sizeof prefix, "%.180s.", inner);
    level_read(reader, table, space, node, path, prefix);
}

/* A list whose places are knobs, each of one value: gemm_tile. */
static void places_read(const struct reader *reader, const struct knob_table *table, struct space *space,
                        const struct node *node, const char *path, const char *prefix, int n)
{
    struct reader scalars = *reader;
    scalars.sweeps = false;
    if (node->kind != NODE_LIST || node->n_children != n) {
        reader_list_error(reader, node, path, n, n, "whole numbers");
        return;
    }
    int i = 0;
    for (const struct node *item = node->first; item; item = item->next, i++) {
        char key[16], member[PATH_CHARS], inner[PATH_CHARS];
        snprintf(key, sizeof key, "%d", i);
        path_join(member, path, key);
        snprintf(inner, sizeof inner, "%.160s%s", prefix, key);
        member_read(&scalars, table, space, item, member, inner);
    }
}

static void level_read(const struct reader *reader, const struct knob_table *table, struct space *space,
                       const struct node *node, const char *path, const char *prefix)
{
    char key[MAX_WORDS][32];
    const char *words[MAX_WORDS];
    const int n = knob_keys(table, prefix, key);
    if (strcmp(key[0], "0") == 0) {
        places_read(reader, table, space, node, path, prefix, n);
        return;
    }
    for (int i = 0; i < n; i++) words[i] = key[i];
    words[n] = table->extra;
    reader_map(reader, node, path, words,
               n + (!prefix[0] && table->extra)); /* names the unknown ones; the others are read all the same */
    if (node->kind != NODE_MAP) return;
    for (int i = 0; i < n; i++) {
        const struct node *const child = node_find(node, words[i]);
        if (!child) continue;
        char member[PATH_CHARS], inner[PATH_CHARS];
        path_join(member, path, words[i]);
        snprintf(inner, sizeof inner, "%.100s%s", prefix, words[i]);
        member_read(reader, table, space, child, member, inner);
    }
}

/* `plan: {}` says that nothing differs from the defaults; `plan:` alone is a forgotten value. */
static bool is_empty_map(const struct node *node)
{
    return node->kind == NODE_MAP && node->n_children == 0;
}

void axes_read(const struct reader *reader, struct space *space, const struct node *plan, const struct node *hardware,
               char base[NAME_CHARS])
{
    const struct node *const base_node = node_find(hardware, "base");
    struct hardware preset = {0};
    char place[PATH_CHARS];
    snprintf(base, NAME_CHARS, "sip");
    if (base_node && reader_name(reader, base_node, "hardware.base", base) == 0)
        hardware_by_name(&preset, base, reader->errors, reader_file(reader, base_node, place), reader_line(base_node));
    else hardware_by_name(&preset, "sip", reader->errors, reader->file, 0);
    for (int i = 0; i < N_KNOBS; i++) {
        const bool is_plan = i < N_PLAN_KNOBS;
        space->axis[i].n = 1;
        space->axis[i].value = arena_alloc(reader->arena, 1, sizeof(double));
        space->axis[i].value[0] =
            is_plan ? (double)((const int64_t *)&plan_of_ones)[i] : ((const double *)&preset)[i - N_PLAN_KNOBS];
    }
    if (plan && !is_empty_map(plan)) level_read(reader, &plan_table, space, plan, "plan", "");
    if (hardware && !is_empty_map(hardware)) level_read(reader, &hardware_table, space, hardware, "hardware", "");
}
