/* two_stage (DESIGN section 2): what the next round looks at, and how far the last one moved the front. */
#include "rounds.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double finest_ratio = 1.05; /* values nearer than this are one value to any architect */
static const int64_t most_group_rows =
    1 << 16; /* of a round's work or wire table: beyond, a round costs more than it finds */

static int compare_values(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static bool is_used(const struct result *result, int axis, double value)
{
    for (int s = 0; s < result->n_scenarios; s++)
        for (int64_t i = 0; i < result->scenario[s].n_rows; i++)
            if (((const double *)&result->scenario[s].row[i].hardware)[axis - N_PLAN_KNOBS] == value) return true;
    return false;
}

/* Halfway between two values, whole where the knob counts; 0 = too near to be worth it. */
static double halfway(double a, double b, const struct knob *knob)
{
    const double middle = sqrt(a * b);
    const double value = knob->dimension == DIM_COUNT ? floor(middle + 0.5) : middle;
    return value > a * finest_ratio && value * finest_ratio < b ? value : 0.0;
}

static bool refine_axis(struct axis_values *next, const struct axis_values *axis, int knob, const struct result *result,
                        struct arena *arena)
{
    const int n = axis->n;
    double *const sorted = arena_alloc(arena, (size_t)n, sizeof *sorted);
    double *const value = arena_alloc(arena, 2 * (size_t)n + 1, sizeof *value);
    int kept = 0;
    bool is_new = false;
    memcpy(sorted, axis->value, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_values);
    for (int v = 0; v < n; v++) {
        const bool used = is_used(result, knob, sorted[v]), next_used = v + 1 < n && is_used(result, knob, sorted[v + 1]);
        if (used) value[kept++] = sorted[v];
        const double between = (used || next_used) && v + 1 < n ? halfway(sorted[v], sorted[v + 1], space_knob(knob)) : 0.0;
        if (between == 0.0) continue;
        value[kept++] = between;
        is_new = true;
    }
    if (kept == 0) return false; /* no row at all: the axis stays */
    *next = (struct axis_values){.n = kept, .value = value, .is_auto = true};
    return is_new;
}

bool round_refine(struct study *next, const struct study *study, const struct result *result, struct arena *arena)
{
    bool any = false;
    *next = *study;
    for (int a = N_PLAN_KNOBS; a < N_KNOBS; a++)
        if (study->space.axis[a].is_auto) any |= refine_axis(&next->space.axis[a], &study->space.axis[a], a, result, arena);
    for (int g = GROUP_WORK; g <= GROUP_STORE && any; g++) {
        int64_t rows = 1;
        for (int a = N_PLAN_KNOBS; a < N_KNOBS && rows <= most_group_rows; a++)
            if (space_knob(a)->group == (enum knob_group)g) rows *= next->space.axis[a].n;
        any = rows <= most_group_rows;
    }
    return any;
}

/* The factor by which `row` is better than `old` where it is most so; at most 1 where `old` is as good everywhere. */
static double advantage(const struct result_row *row, const struct result_row *old, const struct result *result)
{
    double factor = 0.0;
    for (int d = 0; d < result->n_objectives; d++) {
        const enum metric metric = result->objective[d];
        const double a = row->metric[metric], b = old->metric[metric];
        const double better = metric_facts[metric].better == BETTER_HIGH ? a / b : b / a;
        if (better > factor) factor = better;
    }
    return factor;
}

double round_movement(const struct result *before, const struct result *after)
{
    double moved = 1.0;
    for (int s = 0; s < after->n_scenarios; s++)
        for (int64_t i = 0; i < after->scenario[s].n_rows; i++) {
            double least = before->scenario[s].n_rows > 0 ? INFINITY : 1.0;
            for (int64_t j = 0; j < before->scenario[s].n_rows; j++) {
                const double factor = advantage(&after->scenario[s].row[i], &before->scenario[s].row[j], after);
                if (factor < least) least = factor;
            }
            if (least > moved) moved = least;
        }
    return moved - 1.0;
}
