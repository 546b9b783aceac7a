/* Corners of a box of machines: values that no machine of the box undercuts (or, for what is better high, exceeds).
 *
 * Each is the metric's own equation at the extremes of its terms, in the order of the sweep's loop.  Rounding is monotone,
 * so the bound holds to the last bit: a candidate can equal it and never pass it. */
#include "equations.h"
#include <math.h>
#include <string.h>

static void widen(struct extent *extent, const double *column, int from, int to)
{
    double low = column[from], high = column[from];
    for (int i = from + 1; i < to; i++) {
        low = smaller(low, column[i]);
        high = larger(high, column[i]);
    }
    *extent = (struct extent){low, high};
}

void bound_work(struct work_extents *out, const struct demand *demand, const struct times *times,
                const struct work_rates *work, int from, int to)
{
    for (int f = 0; f < demand->n_forms; f++) widen(&out->form_s[f], times->work_s[f], from, to);
    for (int k = 0; k < demand->n_kinds; k++)
        if (demand->ring[k].n_hops > 0.0) widen(&out->chunk_s[k], times->chunk_s[k], from, to);
    widen(&out->energy_j, times->work_j, from, to);
    widen(&out->idle_w, work->idle_w, from, to);
    widen(&out->cost_per_pe, work->cost_per_pe, from, to);
    widen(&out->s_per_peak_flop, work->s_per_peak_flop, from, to);
    widen(&out->s_per_peak_byte, work->s_per_peak_byte, from, to);
}

void bound_wire(struct wire_extents *out, const struct demand *demand, const struct times *times, int from, int to)
{
    for (int f = 0; f < demand->n_forms; f++) widen(&out->form_s[f], times->wire_s[f], from, to);
    for (int k = 0; k < demand->n_kinds; k++)
        if (demand->ring[k].n_hops > 0.0) widen(&out->hop_s[k], times->hop_s[k], from, to);
    widen(&out->energy_j, times->wire_j, from, to);
    widen(&out->cost, times->wire_cost, from, to);
}

void bound_store(struct store_extents *out, const struct store_rates *store, const bool *fits)
{
    *out = (struct store_extents){{INFINITY, -INFINITY}, {INFINITY, -INFINITY}};
    for (int k = 0; k < store->n; k++) {
        if (!fits[k]) continue;
        out->cost_per_pe.low = smaller(out->cost_per_pe.low, store->cost_per_pe[k]);
        out->cost_per_pe.high = larger(out->cost_per_pe.high, store->cost_per_pe[k]);
        out->capacity_bytes.low = smaller(out->capacity_bytes.low, store->capacity_bytes[k]);
        out->capacity_bytes.high = larger(out->capacity_bytes.high, store->capacity_bytes[k]);
    }
}

/* A step's extremes: per form its terms' (the ring's falls with the chunk and grows with the hop), the largest of forms. */
struct extent bound_step(const struct demand *demand, const struct work_extents *work, const struct wire_extents *wire)
{
    struct extent step = {0.0, 0.0};
    for (int f = 0; f < demand->n_forms; f++) {
        double low = work->form_s[f].low + wire->form_s[f].low, high = work->form_s[f].high + wire->form_s[f].high;
        for (int k = 0; k < demand->n_kinds; k++) {
            const double weight = demand->form[f][k] * demand->ring[k].n_hops;
            if (weight == 0.0) continue;
            low += weight * exposed_s(work->chunk_s[k].high, wire->hop_s[k].low);
            high += weight * exposed_s(work->chunk_s[k].low, wire->hop_s[k].high);
        }
        step.low = larger(step.low, low);
        step.high = larger(step.high, high);
    }
    return step;
}

struct store_extents bound_store_row(const struct store_rates *store, int k)
{
    const double cost = store->cost_per_pe[k], capacity = store->capacity_bytes[k];
    return (struct store_extents){{cost, cost}, {capacity, capacity}};
}

struct extent bound_cost(const struct demand *demand, const struct work_extents *work, const struct wire_extents *wire,
                         const struct store_extents *store)
{
    return (struct extent){machine_cost(demand, work->cost_per_pe.low, wire->cost.low, store->cost_per_pe.low),
                           machine_cost(demand, work->cost_per_pe.high, wire->cost.high, store->cost_per_pe.high)};
}

double bound_metric(enum metric metric, const struct demand *d, const struct work_extents *work,
                    const struct wire_extents *wire, const struct store_extents *store, struct extent step_s)
{
    const struct metric_terms m = {
        .tokens = d->tokens,
        .latency_per_step = d->latency_per_step,
        .pes = (double)d->pes,
        .cubes = (double)d->cubes,
        .sips = (double)d->sips,
        .memory_bytes = memory_bytes(d),
        .step_s = step_s.low,
        .longest_step_s = step_s.high,
        .active_j = work->energy_j.low + wire->energy_j.low,
        .idle_w = work->idle_w.low,
        .peak_s = peak_s(d, work->s_per_peak_flop.high, work->s_per_peak_byte.high),
        .cost = bound_cost(d, work, wire, store).low,
        .capacity_bytes = store->capacity_bytes.high,
    };
    switch (metric) {
#define X(code, name, dimension, better, of, equation, meaning)                                                             \
    case METRIC_##code: return equation;
        METRICS(X)
#undef X
    case N_METRICS: break;
    }
    return 0.0;
}
