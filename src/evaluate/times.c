/* A demand's times on the two tables of rates (MODEL sections 4 and 7): work_s and wire_s of every form of a step.
 *
 *     part_s[p][i]  one layer of kind p, the embedding, the head, the pipeline hop
 *     work_s[f][i] = sum over parts of form[f][p] * part_s[p][i]  (+ o_step), wire_s[f][j] likewise */
#include "equations.h"
#include "cosweep/simd.h"
#include <string.h>

void times_init(struct times *times, int n_forms, int n_work, int n_wire, struct arena *arena)
{
    const size_t work = (size_t)n_work, wire = (size_t)n_wire, longer = work > wire ? work : wire;
    for (int f = 0; f < n_forms; f++) {
        times->work_s[f] = arena_alloc(arena, work, sizeof(double));
        times->wire_s[f] = arena_alloc(arena, wire, sizeof(double));
    }
    for (int k = 0; k < MAX_KINDS; k++) {
        times->chunk_s[k] = arena_alloc(arena, work, sizeof(double));
        times->hop_s[k] = arena_alloc(arena, wire, sizeof(double));
    }
    for (int p = 0; p < N_PARTS; p++) times->part_s[p] = arena_alloc(arena, longer, sizeof(double));
    times->work_j = arena_alloc(arena, work, sizeof(double));
    times->wire_j = arena_alloc(arena, wire, sizeof(double));
    times->wire_cost = arena_alloc(arena, wire, sizeof(double));
}

static void clear_parts(const struct times *times, int n)
{
    for (int p = 0; p < N_PARTS; p++) memset(times->part_s[p], 0, (size_t)n * sizeof(double));
}

/* out[i] = sum over parts of weight[p] * part_s[p][i], in order of parts. */
INLINE void weigh_parts(double *restrict out, const double weight[N_PARTS], double *const part_s[N_PARTS], int n)
{
    memset(out, 0, (size_t)n * sizeof *out);
    for (int p = 0; p < N_PARTS; p++) {
        const double w = weight[p], *restrict const part = part_s[p];
        if (w == 0.0) continue;
        for (int i = 0; i < n; i++) out[i] += w * part[i];
    }
}

/* ---- work -------------------------------------------------------------------------------------------------------- */

INLINE void add_row_work(double *restrict part, const struct stage_row *row, const struct work_rates *work)
{
    const bool attention = stage_engine[row->stage] == ENGINE_ATTENTION;
    const double *restrict const flop = attention ? work->s_per_attention_flop : work->s_per_gemm_flop;
    const double *restrict const vector = attention ? work->s_per_attention_vector_flop : work->s_per_vector_flop;
    const double *restrict const byte = attention ? work->s_per_kv_byte : work->s_per_hbm_byte;
    const double *restrict const fixed = attention ? work->attention_s : work->kernel_s;
    const double f = row->flop, v = row->vector_flop, b = row->hbm_bytes;
    for (int i = 0; i < work->n; i++) part[i] += roofline_s(f, v, b, flop[i], vector[i], byte[i]) + fixed[i];
}

INLINE void set_chunk(double *restrict chunk_s, const struct stage_row *row, double share, const struct work_rates *work)
{
    for (int i = 0; i < work->n; i++)
        chunk_s[i] = share * roofline_s(row->flop, row->vector_flop, row->hbm_bytes, work->s_per_attention_flop[i],
                                        work->s_per_attention_vector_flop[i], work->s_per_kv_byte[i]);
}

SIMD_CLONES void evaluate_work(struct times *times, const struct demand *demand, const struct work_rates *work)
{
    clear_parts(times, work->n);
    for (int r = 0; r < demand->n_rows; r++) {
        const struct stage_row *const row = &demand->row[r];
        if (!stage_launches[row->stage]) continue;
        add_row_work(times->part_s[row->part], row, work);
        if (row->stage == STAGE_ATTENTION && demand->ring[row->part].n_hops > 0.0)
            set_chunk(times->chunk_s[row->part], row, demand->ring[row->part].chunk, work);
    }
    for (int f = 0; f < demand->n_forms; f++) {
        double *restrict const out = times->work_s[f];
        weigh_parts(out, demand->form[f], times->part_s, work->n);
        for (int i = 0; i < work->n; i++) out[i] += work->step_s[i];
    }
    for (int i = 0; i < work->n; i++)
        times->work_j[i] = demand->energy_flop * work->j_per_flop[i] + demand->energy_hbm_bytes * work->j_per_hbm_byte[i];
}

/* ---- wires ------------------------------------------------------------------------------------------------------- */

/* One level's columns of the table. */
struct level_rates {
    const double *hop_s, *s_per_byte, *collective_s;
};

INLINE void level_rates(struct level_rates level[N_LEVELS], const struct wire_rates *wire)
{
    level[0] = (struct level_rates){wire->pe_hop_s, wire->pe_s_per_byte, wire->pe_collective_s};
    level[1] = (struct level_rates){wire->d2d_hop_s, wire->d2d_s_per_byte, wire->d2d_collective_s};
    level[2] = (struct level_rates){wire->c2c_hop_s, wire->c2c_s_per_byte, wire->c2c_collective_s};
}

INLINE void add_collective(double *restrict part, const struct collective *c, const struct level_rates level[N_LEVELS],
                           int n)
{
    const double *restrict const pe = level[0].s_per_byte, *restrict const d2d = level[1].s_per_byte;
    for (int l = 0; l <= c->top; l++) {
        const struct leg leg = c->leg[l], one_shot = c->one_shot;
        const double *restrict const hop = level[l].hop_s, *restrict const byte = level[l].s_per_byte;
        if (l == c->top && c->has_one_shot) {
            for (int j = 0; j < n; j++)
                part[j] +=
                    smaller(leg_s(&leg, hop[j], byte[j], pe[j], d2d[j]), leg_s(&one_shot, hop[j], byte[j], pe[j], d2d[j]));
        } else if (leg.hops > 0.0) {
            for (int j = 0; j < n; j++) part[j] += leg_s(&leg, hop[j], byte[j], pe[j], d2d[j]);
        }
    }
    if (c->top < 0) return;
    const double *restrict const fixed = level[c->top].collective_s;
    for (int j = 0; j < n; j++) part[j] += fixed[j];
}

/* hop_s[j] of a message to a neighbour: the slowest of its legs. */
INLINE void set_hop(double *restrict hop_s, const struct hop *h, const struct level_rates level[N_LEVELS], int n)
{
    const double *restrict const pe = level[0].s_per_byte, *restrict const d2d = level[1].s_per_byte;
    memset(hop_s, 0, (size_t)n * sizeof *hop_s);
    for (int l = 0; l <= h->top; l++) {
        const struct leg leg = h->leg[l];
        const double *restrict const hop = level[l].hop_s, *restrict const byte = level[l].s_per_byte;
        if (!h->spans[l]) continue;
        for (int j = 0; j < n; j++) hop_s[j] = larger(hop_s[j], leg_s(&leg, hop[j], byte[j], pe[j], d2d[j]));
    }
}

/* The part of a ring that no chunk can hide: extra hops and fixed times. */
INLINE void add_ring(double *restrict part, double *restrict hop_s, const struct ring_row *ring,
                     const struct level_rates level[N_LEVELS], int n)
{
    set_hop(hop_s, &ring->hop, level, n);
    if (ring->hop.top < 0) return;
    const double *restrict const fixed = level[ring->hop.top].collective_s;
    for (int j = 0; j < n; j++) part[j] += ring->n_extra * hop_s[j] + ring->n_hops * fixed[j];
}

INLINE void add_pipeline(double *restrict part, const struct demand *demand, const struct level_rates level[N_LEVELS], int n)
{
    const struct hop *const hop = &demand->pipeline_hop;
    set_hop(part, hop, level, n);
    if (hop->top >= 0) {
        const double *restrict const fixed = level[hop->top].collective_s;
        for (int j = 0; j < n; j++) part[j] += fixed[j];
    }
    if (demand->pipeline_collective >= 0) add_collective(part, &demand->collective[demand->pipeline_collective], level, n);
}

SIMD_CLONES void evaluate_wire(struct times *times, const struct demand *demand, const struct wire_rates *wire)
{
    struct level_rates level[N_LEVELS];
    level_rates(level, wire);
    clear_parts(times, wire->n);
    for (int r = 0; r < demand->n_rows; r++) {
        const struct stage_row *const row = &demand->row[r];
        for (int c = 0; c < row->n_collectives; c++)
            add_collective(times->part_s[row->part], &demand->collective[row->first_collective + c], level, wire->n);
        if (row->stage == STAGE_ATTENTION && demand->ring[row->part].n_hops > 0.0)
            add_ring(times->part_s[row->part], times->hop_s[row->part], &demand->ring[row->part], level, wire->n);
    }
    add_pipeline(times->part_s[PART_HOP], demand, level, wire->n);
    for (int f = 0; f < demand->n_forms; f++) weigh_parts(times->wire_s[f], demand->form[f], times->part_s, wire->n);
    for (int j = 0; j < wire->n; j++) {
        times->wire_j[j] = demand->energy_wire_bytes[0] * wire->pe_j_per_byte[j] +
                           demand->energy_wire_bytes[1] * wire->d2d_j_per_byte[j] +
                           demand->energy_wire_bytes[2] * wire->c2c_j_per_byte[j];
        times->wire_cost[j] = wire_cost(demand, wire->pe_port_cost[j], wire->cube_cost[j], wire->d2d_port_cost[j],
                                        wire->sip_cost[j], wire->c2c_port_cost[j]);
    }
}
