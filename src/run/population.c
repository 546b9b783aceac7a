/* The population of a scenario as a result holds it: moments, trimmed histograms, the sample with its metrics. */
#include "keep.h"
#include "stop.h"
#include <math.h>
#include <string.h>

static void keep_effect(struct main_effect *out, const struct effects *effects, int knob, struct arena *arena)
{
    const struct axis_values *const axis = &effects->space->axis[knob];
    const size_t n = (size_t)axis->n;
    if (axis->n < 2) return;
    out->n = axis->n;
    out->value = axis->value;
    out->count = arena_alloc(arena, n, sizeof *out->count);
    out->min_s = arena_alloc(arena, n, sizeof(double));
    out->mean_ln = arena_alloc(arena, n, sizeof(double));
    out->variance_ln = arena_alloc(arena, n, sizeof(double));
    out->variance_share = effects_variance_share(effects, knob);
    for (int v = 0; v < axis->n; v++) {
        const struct tally *const tally = &effects->tally[knob][v];
        out->count[v] = tally->count;
        out->min_s[v] = out->mean_ln[v] = out->variance_ln[v] = NAN;
        if (tally->count == 0) continue;
        out->min_s[v] = tally->min_s;
        tally_moments(tally, &out->mean_ln[v], &out->variance_ln[v]);
    }
}

/* Bins [low, high) that are occupied along one dimension. */
static void occupied(const int64_t *count, int dimension, int *low, int *high)
{
    *low = HISTOGRAM_BINS;
    *high = 0;
    for (int a = 0; a < HISTOGRAM_BINS; a++)
        for (int b = 0; b < HISTOGRAM_BINS; b++) {
            const int bin = dimension == 0 ? a : b;
            if (count[a * HISTOGRAM_BINS + b] == 0) continue;
            if (bin < *low) *low = bin;
            if (bin + 1 > *high) *high = bin + 1;
        }
    if (*high == 0) *low = 0, *high = 1; /* nothing feasible: one empty bin */
}

static void keep_histogram(struct result_histogram *out, const struct histogram *histogram, const enum metric metric[2],
                           struct arena *arena)
{
    int low[2], high[2];
    memcpy(out->metric, metric, sizeof out->metric);
    for (int d = 0; d < 2; d++) {
        occupied(histogram->count, d, &low[d], &high[d]);
        out->n[d] = high[d] - low[d];
        out->edge[d] = arena_alloc(arena, (size_t)out->n[d] + 1, sizeof(double));
        for (int b = 0; b <= out->n[d]; b++) out->edge[d][b] = histogram_edge(low[d] + b);
    }
    out->count = arena_alloc(arena, (size_t)out->n[0] * (size_t)out->n[1], sizeof *out->count);
    for (int a = 0; a < out->n[0]; a++)
        memcpy(out->count + (size_t)a * (size_t)out->n[1], histogram->count + (size_t)(low[0] + a) * HISTOGRAM_BINS + low[1],
               (size_t)out->n[1] * sizeof *out->count);
}

static void keep_sample(struct result_sample *out, const struct sweep *sweep, const struct sample *sample,
                        struct arena *arena)
{
    out->n = sample->n;
    out->id = arena_alloc(arena, (size_t)sample->n, sizeof *out->id);
    for (int m = 0; m < N_METRICS; m++) out->metric[m] = arena_alloc(arena, (size_t)sample->n, sizeof(double));
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < sample->n; i++) {
        struct result_row row;
        if (stop_wanted()) continue;
        sweep_row(&row, sweep->study, sweep->scenario, sample->draw[i].id);
        out->id[i] = row.id;
        for (int m = 0; m < N_METRICS; m++) out->metric[m][i] = row.metric[m];
    }
}

void keep_population(struct result_scenario *out, const struct sweep *sweep, const struct outcome *outcome,
                     struct arena *arena)
{
    const struct population *const asked = &sweep->study->population;
    if (outcome->effects.all)
        for (int a = 0; a < N_KNOBS; a++) keep_effect(&out->effect[a], &outcome->effects, a, arena);
    out->n_histograms = outcome->n_histograms;
    for (int h = 0; h < outcome->n_histograms; h++)
        keep_histogram(&out->histogram[h], &outcome->histogram[h], asked->histogram[h], arena);
    if (outcome->sample.capacity > 0) keep_sample(&out->sample, sweep, &outcome->sample, arena);
}
