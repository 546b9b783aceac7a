/* Steps and metrics of a slice of the grid: the outer sum of work and wire times (MODEL sections 7 and 9). */
#include "equations.h"
#include "cosweep/simd.h"
#include <string.h>

const struct metric_facts metric_facts[N_METRICS] = {
#define X(code, name, dimension, better, of, equation, meaning)                                                             \
    {name, DIM_##dimension, BETTER_##better, METRIC_OF_##of, meaning},
    METRICS(X)
#undef X
};

int metric_code(const char *name)
{
    for (int m = 0; m < N_METRICS; m++)
        if (strcmp(metric_facts[m].name, name) == 0) return m;
    return -1;
}

bool evaluate_fits(const struct demand *demand, const struct store_rates *store, int k)
{
    return memory_bytes(demand) <= store->usable_bytes[k];
}

double evaluate_cost(const struct demand *demand, const struct work_rates *work, int i, const struct wire_rates *wire, int j,
                     const struct store_rates *store, int k)
{
    const double wires = wire_cost(demand, wire->pe_port_cost[j], wire->cube_cost[j], wire->d2d_port_cost[j],
                                   wire->sip_cost[j], wire->c2c_port_cost[j]);
    return machine_cost(demand, work->cost_per_pe[i], wires, store->cost_per_pe[k]);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

enum { CHUNK = 256 }; /* machines whose forms fit the first-level cache together */

/* Time of form f of machines [from, from + n) along the slice. */
INLINE void form_times(double *restrict form_s, const struct slice *s, int f, int from, int n)
{
    const struct times *const times = s->times;
    const double fixed = s->along_wire ? times->work_s[f][s->fixed] : times->wire_s[f][s->fixed];
    const double *restrict const varying = (s->along_wire ? times->wire_s[f] : times->work_s[f]) + from;
    for (int x = 0; x < n; x++) form_s[x] = fixed + varying[x];
    for (int k = 0; k < s->demand->n_kinds; k++) {
        const double weight = s->demand->form[f][k] * s->demand->ring[k].n_hops;
        if (weight == 0.0) continue;
        if (s->along_wire) {
            const double chunk_s = times->chunk_s[k][s->fixed], *restrict const hop_s = times->hop_s[k] + from;
            for (int x = 0; x < n; x++) form_s[x] += weight * exposed_s(chunk_s, hop_s[x]);
        } else {
            const double hop_s = times->hop_s[k][s->fixed], *restrict const chunk_s = times->chunk_s[k] + from;
            for (int x = 0; x < n; x++) form_s[x] += weight * exposed_s(chunk_s[x], hop_s);
        }
    }
}

SIMD_CLONES void evaluate_step(double *restrict step_s, const struct slice *slice)
{
    double form_s[CHUNK];
    for (int from = 0; from < slice->n; from += CHUNK) {
        const int n = slice->n - from < CHUNK ? slice->n - from : CHUNK;
        double *restrict const out = step_s + from;
        form_times(out, slice, 0, from, n);
        for (int f = 1; f < slice->demand->n_forms; f++) {
            form_times(form_s, slice, f, from, n);
            for (int x = 0; x < n; x++) out[x] = larger(out[x], form_s[x]);
        }
    }
}

double evaluate_pair(const struct demand *demand, const struct times *times, int i, int j)
{
    double step_s = 0.0;
    for (int f = 0; f < demand->n_forms; f++) {
        double form_s = times->work_s[f][i] + times->wire_s[f][j];
        for (int k = 0; k < demand->n_kinds; k++) {
            const double weight = demand->form[f][k] * demand->ring[k].n_hops;
            if (weight != 0.0) form_s += weight * exposed_s(times->chunk_s[k][i], times->hop_s[k][j]);
        }
        step_s = larger(step_s, form_s);
    }
    return step_s;
}

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

/* Row x of a slice with store row k. */
INLINE struct metric_terms terms_at(const struct slice *s, bool along_wire, int x, int k, double step_s)
{
    const struct demand *const d = s->demand;
    const int i = along_wire ? s->fixed : x, j = along_wire ? x : s->fixed;
    return (struct metric_terms){
        .tokens = d->tokens,
        .latency_per_step = d->latency_per_step,
        .pes = (double)d->pes,
        .cubes = (double)d->cubes,
        .sips = (double)d->sips,
        .memory_bytes = memory_bytes(d),
        .step_s = step_s,
        .longest_step_s = step_s,
        .active_j = s->times->work_j[i] + s->times->wire_j[j],
        .idle_w = s->work->idle_w[i],
        .peak_s = peak_s(d, s->work->s_per_peak_flop[i], s->work->s_per_peak_byte[i]),
        .cost = machine_cost(d, s->work->cost_per_pe[i], s->times->wire_cost[j], s->store->cost_per_pe[k]),
        .capacity_bytes = s->store->capacity_bytes[k],
    };
}

/* `metric` and `along_wire` are known where this is inlined: each loop reads the columns that its equation needs, one table
 * contiguously. */
INLINE void metric_along(double *restrict out, enum metric metric, const struct slice *s, bool along_wire, int k,
                         const double *restrict step_s)
{
    switch (metric) {
#define X(code, name, dimension, better, of, equation, meaning)                                                             \
    case METRIC_##code:                                                                                                     \
        for (int x = 0; x < s->n; x++) {                                                                                    \
            const struct metric_terms m = terms_at(s, along_wire, x, k, step_s[x]);                                         \
            out[x] = equation;                                                                                              \
        }                                                                                                                   \
        break;
        METRICS(X)
#undef X
    case N_METRICS: break;
    }
}

SIMD_CLONES void evaluate_metric(double *restrict out, enum metric metric, const struct slice *slice, int k,
                                 const double *restrict step_s)
{
    if (slice->along_wire) metric_along(out, metric, slice, true, k, step_s);
    else metric_along(out, metric, slice, false, k, step_s);
}

double metric_of_allocation(enum metric metric, const struct demand *demand)
{
    const struct metric_terms m = {.pes = (double)demand->pes, .cubes = (double)demand->cubes, .sips = (double)demand->sips};
    switch (metric) {
#define X(code, name, dimension, better, of, equation, meaning)                                                             \
    case METRIC_##code: return METRIC_OF_##of == METRIC_OF_PLAN ? (equation) : 0.0;
        METRICS(X)
#undef X
    case N_METRICS: break;
    }
    return 0.0;
}
