/* What a row of the Pareto set hangs on: elasticities, and curves over the degrees of parallelism (MODEL section 10). */
#include "keep.h"
#include "stop.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void answer_row(struct answer *answer, const struct sweep *sweep, const struct plan *plan,
                       const struct hardware *hardware)
{
    const struct candidate candidate = {.scenario = *sweep->scenario, .plan = *plan, .hardware = *hardware};
    answer_candidate(answer, &candidate, sweep->study->limit, sweep->study->n_limits);
}

void keep_elasticities(struct result_scenario *out, const struct sweep *sweep, struct arena *arena)
{
    out->elasticity = arena_alloc(arena, (size_t)out->n_rows * N_BOUNDS, sizeof(double));
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t i = 0; i < out->n_rows; i++) {
        static _Thread_local struct answer answer;
        if (stop_wanted()) continue;
        answer_row(&answer, sweep, &out->row[i].plan, &out->row[i].hardware);
        memcpy(out->elasticity + i * N_BOUNDS, answer.explanation.share, sizeof answer.explanation.share);
    }
}

static int compare_values(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* 1, 2, 4, 6, ... up to the limit, and what the rows themselves have. */
static void curve_values(struct result_curve *curve, const struct result_scenario *out, enum plan_knob knob, int64_t limit,
                         struct arena *arena)
{
    const size_t most = (size_t)limit / 2 + 1 + (size_t)out->n_rows;
    double *const value = arena_alloc(arena, most, sizeof *value);
    size_t n = 0;
    int kept = 0;
    value[n++] = 1.0;
    for (int64_t v = 2; v <= limit; v += 2) value[n++] = (double)v;
    for (int64_t i = 0; i < out->n_rows; i++) value[n++] = (double)((const int64_t *)&out->row[i].plan)[knob];
    qsort(value, n, sizeof *value, compare_values);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || value[i] != value[kept - 1]) value[kept++] = value[i];
    curve->n = kept;
    curve->value = value;
}

static void fill_curve(struct result_curve *curve, const struct result_scenario *out, const struct sweep *sweep,
                       enum plan_knob knob)
{
    const int n = curve->n;
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t i = 0; i < out->n_rows; i++)
        for (int v = 0; v < n && !stop_wanted(); v++) {
            static _Thread_local struct answer answer;
            struct plan plan = out->row[i].plan;
            const int64_t at = i * n + v;
            ((int64_t *)&plan)[knob] = (int64_t)curve->value[v];
            answer_row(&answer, sweep, &plan, &out->row[i].hardware);
            const struct demand *const d = &answer.demand;
            curve->reason[at] = (int32_t)answer.reason;
            curve->latency_s[at] = answer.complete ? answer.explanation.metric[METRIC_LATENCY] : NAN;
            curve->memory_bytes[at] = answer.complete ? d->weight_bytes + d->kv_bytes + d->activation_bytes : NAN;
        }
}

void keep_curves(struct result_scenario *out, const struct sweep *sweep, struct arena *arena)
{
    for (int c = 0; c < N_CURVES; c++) {
        struct result_curve *const curve = &out->curve[c];
        const int64_t limit = sweep->study->sensitivity.curve[c];
        if (limit == 0) continue;
        curve_values(curve, out, curve_knob[c], limit, arena);
        const size_t n = (size_t)out->n_rows * (size_t)curve->n;
        curve->latency_s = arena_alloc(arena, n, sizeof(double));
        curve->memory_bytes = arena_alloc(arena, n, sizeof(double));
        curve->reason = arena_alloc(arena, n, sizeof(int32_t));
        fill_curve(curve, out, sweep, curve_knob[c]);
    }
}
