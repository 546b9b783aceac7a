/* What changed from one result to the next: rows, best latency, hypervolume, what knobs are worth. */
#include "cosweep/run.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Knobs of the machine that tell two designs apart; qsort's comparison looks at it. */
static bool is_swept[N_HARDWARE_KNOBS];

static void note_swept(const struct study *before, const struct study *after)
{
    for (int i = 0; i < N_HARDWARE_KNOBS; i++)
        is_swept[i] = before->space.axis[N_PLAN_KNOBS + i].n > 1 || after->space.axis[N_PLAN_KNOBS + i].n > 1;
}

static int compare_designs(const struct result_row *a, const struct result_row *b)
{
    const double *const x = (const double *)&a->hardware, *const y = (const double *)&b->hardware;
    const int plans = memcmp(&a->plan, &b->plan, sizeof a->plan);
    for (int i = 0; plans == 0 && i < N_HARDWARE_KNOBS; i++)
        if (is_swept[i] && x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return plans;
}

struct design {
    const struct result_row *row;
    int64_t index;
};

static int compare_rows(const void *a, const void *b)
{
    const struct design *const x = a, *const y = b;
    const int designs = compare_designs(x->row, y->row);
    return designs != 0 ? designs : x->index < y->index ? -1 : x->index > y->index;
}

/* The rows in the order of plan and machine. */
static struct design *rows_sorted(const struct result_scenario *scenario, struct arena *arena)
{
    struct design *const design = arena_alloc(arena, (size_t)scenario->n_rows + 1, sizeof *design);
    for (int64_t i = 0; i < scenario->n_rows; i++) design[i] = (struct design){&scenario->row[i], i};
    qsort(design, (size_t)scenario->n_rows, sizeof *design, compare_rows);
    return design;
}

bool row_moved(const struct result_row *before, const struct result_row *after)
{
    for (int m = 0; m < N_METRICS; m++)
        if (!values_agree(before->metric[m], after->metric[m])) return true;
    return false;
}

static void compare_fronts(struct difference *out, struct arena *arena)
{
    const struct result_scenario *const before = out->before, *const after = out->after;
    const struct design *const old = rows_sorted(before, arena), *const new = rows_sorted(after, arena);
    bool *const known = arena_alloc(arena, (size_t)after->n_rows + 1, sizeof *known);
    out->pair = arena_alloc(arena, (size_t)(before->n_rows + after->n_rows) + 1, sizeof *out->pair);
    for (int64_t i = 0; i < before->n_rows; i++) out->pair[i] = (struct row_pair){i, -1};
    for (int64_t i = 0, j = 0; i < before->n_rows && j < after->n_rows;) {
        const int order = compare_designs(old[i].row, new[j].row);
        if (order == 0) {
            out->pair[old[i].index].after = new[j].index;
            known[new[j].index] = true;
        }
        i += order <= 0;
        j += order >= 0;
    }
    out->n_pairs = before->n_rows;
    for (int64_t i = 0; i < before->n_rows; i++) {
        const int64_t now = out->pair[i].after;
        if (now < 0) out->n_lost++;
        else out->n_moved += row_moved(&before->row[i], &after->row[now]);
    }
    for (int64_t j = 0; j < after->n_rows; j++)
        if (!known[j]) out->pair[out->n_pairs++] = (struct row_pair){-1, j};
    out->n_gained = out->n_pairs - before->n_rows;
}

/* ---- hypervolume ------------------------------------------------------------------------------------------------- */

struct front {
    int64_t n;
    double (*objective)[MAX_OBJECTIVES]; /* minimised */
};

static double minimised(enum metric metric, double value)
{
    return metric_facts[metric].better == BETTER_HIGH ? -value : value;
}

static struct front front_of(const struct result_scenario *scenario, const struct result *result, struct arena *arena)
{
    struct front front = {.n = scenario->n_rows};
    front.objective = arena_alloc(arena, (size_t)scenario->n_rows + 1, sizeof *front.objective);
    for (int64_t i = 0; i < front.n; i++)
        for (int d = 0; d < result->n_objectives; d++)
            front.objective[i][d] = minimised(result->objective[d], scenario->row[i].metric[result->objective[d]]);
    return front;
}

static bool same_objectives(const struct result *a, const struct result *b)
{
    return a->n_objectives == b->n_objectives &&
           memcmp(a->objective, b->objective, (size_t)a->n_objectives * sizeof *a->objective) == 0;
}

static void compare_hypervolumes(struct difference *out, const struct result *before, const struct result *after,
                                 const double *reference, struct arena *arena)
{
    const int n = before->n_objectives;
    const int64_t most = n == 4 ? FOUR_OBJECTIVES_ROWS : INT64_MAX;
    double best[MAX_OBJECTIVES], worst[MAX_OBJECTIVES], box = 1.0;
    out->has_hypervolume = same_objectives(before, after) && out->before->n_rows <= most && out->after->n_rows <= most &&
                           out->before->n_rows + out->after->n_rows > 0;
    if (!out->has_hypervolume) return;
    const struct front front[2] = {front_of(out->before, before, arena), front_of(out->after, after, arena)};
    for (int d = 0; d < n; d++) {
        best[d] = INFINITY;
        worst[d] = -INFINITY;
        for (int f = 0; f < 2; f++)
            for (int64_t i = 0; i < front[f].n; i++) {
                best[d] = fmin(best[d], front[f].objective[i][d]);
                worst[d] = fmax(worst[d], front[f].objective[i][d]);
            }
        if (reference) worst[d] = minimised(before->objective[d], reference[d]);
        out->reference[d] = minimised(before->objective[d], worst[d]);
        box *= worst[d] > best[d] ? worst[d] - best[d] : 0.0;
    }
    for (int f = 0; f < 2; f++) {
        out->hypervolume[f] = hypervolume(front[f].objective, front[f].n, n, worst);
        out->covered[f] = box > 0.0 ? out->hypervolume[f] / box : 0.0;
    }
}

/* ---- what knobs are worth ---------------------------------------------------------------------------------------- */

static int compare_values(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Median of column `column` of a row-major table; NaN where there is no table, or nothing in it. */
static double column_median(const double *table, int64_t n_rows, int n_columns, int column, struct arena *arena)
{
    double *const value = arena_alloc(arena, (size_t)n_rows + 1, sizeof *value);
    int64_t n = 0;
    for (int64_t i = 0; table && i < n_rows; i++)
        if (isfinite(table[i * n_columns + column])) value[n++] = table[i * n_columns + column];
    if (n == 0) return NAN;
    qsort(value, (size_t)n, sizeof *value, compare_values);
    return n % 2 ? value[n / 2] : 0.5 * (value[n / 2 - 1] + value[n / 2]);
}

static void compare_worths(struct difference *out, struct arena *arena)
{
    const struct result_scenario *const side[2] = {out->before, out->after};
    for (int f = 0; f < 2; f++) {
        const struct result_scenario *const s = side[f];
        for (int d = 0; d < N_DOUBLED; d++) {
            out->plan_kept[d][f] = column_median(s->doubling.plan_kept, s->n_rows, N_DOUBLED, d, arena);
            out->plan_chosen[d][f] = column_median(s->doubling.plan_chosen, s->n_rows, N_DOUBLED, d, arena);
        }
        for (int b = 0; b < N_BOUNDS; b++)
            out->elasticity[b][f] = column_median(s->elasticity, s->n_rows, N_BOUNDS, b, arena);
        out->latency_s[f] = s->best >= 0 ? s->row[s->best].metric[METRIC_LATENCY] : NAN;
    }
}

void results_compare(struct difference *out, struct told before, int scenario_before, struct told after, int scenario_after,
                     const double *reference, struct arena *arena)
{
    *out = (struct difference){.before = &before.result->scenario[scenario_before],
                               .after = &after.result->scenario[scenario_after]};
    note_swept(before.study, after.study);
    compare_fronts(out, arena);
    compare_hypervolumes(out, before.result, after.result, reference, arena);
    compare_worths(out, arena);
}
