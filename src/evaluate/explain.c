/* One candidate with all its terms: what each second of a stage is bound by (DESIGN section 3, explain). */
#include "equations.h"
#include <assert.h>
#include <string.h>

const char *const bound_name[N_BOUNDS] = {
#define X(code, name) name,
    BOUNDS(X)
#undef X
};

/* One machine's rates, as the equations want them. */
struct rates {
    double hop_s[N_LEVELS], s_per_byte[N_LEVELS], collective_s[N_LEVELS];
};

static const enum bound link_bound[N_LEVELS] = {BOUND_PE_LINK, BOUND_D2D_LINK, BOUND_C2C_LINK};

/* Time of a leg, split: its hops are latency, its bytes belong to the link that is slowest. */
static double split_leg(double part_s[N_BOUNDS], const struct leg *leg, int level, const struct rates *r, double times)
{
    const double own = leg->load_bytes * r->s_per_byte[level], pe = leg->pe_port_bytes * r->s_per_byte[0];
    const double bytes_s = leg_bytes_s(leg, r->s_per_byte[level], r->s_per_byte[0], r->s_per_byte[1]);
    const enum bound link = own >= bytes_s ? link_bound[level] : pe >= bytes_s ? BOUND_PE_LINK : BOUND_D2D_LINK;
    part_s[BOUND_LATENCY] += times * leg->hops * r->hop_s[level];
    part_s[link] += times * bytes_s;
    return leg_s(leg, r->hop_s[level], r->s_per_byte[level], r->s_per_byte[0], r->s_per_byte[1]);
}

static double rate_leg(const struct leg *leg, int level, const struct rates *r)
{
    return leg_s(leg, r->hop_s[level], r->s_per_byte[level], r->s_per_byte[0], r->s_per_byte[1]);
}

static double split_collective(double part_s[N_BOUNDS], const struct collective *c, const struct rates *r)
{
    double total_s = 0.0;
    if (c->top < 0) return 0.0;
    assert(c->top < N_LEVELS);
    for (int l = 0; l <= c->top; l++) {
        const bool one_shot = l == c->top && c->has_one_shot && rate_leg(&c->one_shot, l, r) < rate_leg(&c->leg[l], l, r);
        if (one_shot || c->leg[l].hops > 0.0) total_s += split_leg(part_s, one_shot ? &c->one_shot : &c->leg[l], l, r, 1.0);
    }
    part_s[BOUND_OVERHEAD] += r->collective_s[c->top];
    return total_s + r->collective_s[c->top];
}

/* The leg that makes a hop as slow as it is; -1 = no hop. */
static int slowest_level(const struct hop *hop, const struct rates *r, double *hop_s)
{
    int slowest = -1;
    *hop_s = 0.0;
    for (int l = 0; l <= hop->top; l++) {
        if (!hop->spans[l] || (slowest >= 0 && rate_leg(&hop->leg[l], l, r) <= *hop_s)) continue;
        *hop_s = rate_leg(&hop->leg[l], l, r);
        slowest = l;
    }
    return slowest;
}

/* What a ring exposes, max(chunk, hop) - chunk per hop.  Where the hop is the slower one its parts count in full and the
 * chunk's are taken from `chunk_bound`: so part_s[b] is what the step would gain if bound b were infinitely fast, to first
 * order, which is the elasticity of MODEL section 10. */
static double split_ring(double part_s[N_BOUNDS], struct ring_time *out, const struct ring_row *ring, double chunk_s,
                         enum bound chunk_bound, const struct rates *r)
{
    double hop_s;
    const int level = slowest_level(&ring->hop, r, &hop_s);
    if (level < 0) return 0.0;
    const double exposed = exposed_s(chunk_s, hop_s), fixed_s = ring->n_hops * r->collective_s[ring->hop.top];
    split_leg(part_s, &ring->hop.leg[level], level, r, ring->n_extra + (exposed > 0.0 ? ring->n_hops : 0.0));
    if (exposed > 0.0) part_s[chunk_bound] -= ring->n_hops * chunk_s;
    part_s[BOUND_OVERHEAD] += fixed_s;
    *out = (struct ring_time){.n_hops = ring->n_hops,
                              .n_extra = ring->n_extra,
                              .hop_s = hop_s,
                              .chunk_s = chunk_s,
                              .exposed_s = ring->n_hops * exposed + ring->n_extra * hop_s,
                              .fixed_s = fixed_s};
    return out->exposed_s + fixed_s;
}

static void explain_row(struct stage_time *out, struct ring_time ring[MAX_KINDS], const struct demand *demand,
                        const struct stage_row *row, const struct work_rates *work, const struct rates *r)
{
    const bool attention = stage_engine[row->stage] == ENGINE_ATTENTION;
    const double flop_s = row->flop * (attention ? work->s_per_attention_flop : work->s_per_gemm_flop)[0];
    const double vector_s = row->vector_flop * (attention ? work->s_per_attention_vector_flop : work->s_per_vector_flop)[0];
    const double byte_s = row->hbm_bytes * (attention ? work->s_per_kv_byte : work->s_per_hbm_byte)[0];
    const double roof_s = larger(larger(flop_s, vector_s), byte_s);
    memset(out, 0, sizeof *out);
    const enum bound roof_bound = flop_s >= roof_s ? BOUND_COMPUTE : vector_s >= roof_s ? BOUND_VECTOR : BOUND_MEMORY;
    out->part_s[roof_bound] = roof_s;
    for (int c = 0; c < row->n_collectives; c++)
        out->exchange_s += split_collective(out->part_s, &demand->collective[row->first_collective + c], r);
    if (row->stage == STAGE_ATTENTION && demand->ring[row->part].n_hops > 0.0)
        out->exchange_s += split_ring(out->part_s, &ring[row->part], &demand->ring[row->part],
                                      demand->ring[row->part].chunk * roof_s, roof_bound, r);
    const double fixed_s = !stage_launches[row->stage] ? 0.0 : (attention ? work->attention_s : work->kernel_s)[0];
    out->part_s[BOUND_OVERHEAD] += fixed_s;
    out->time_s = roof_s + out->exchange_s + fixed_s;
    out->bound = BOUND_LATENCY;
    for (int b = 0; b < N_BOUNDS; b++)
        if (out->part_s[b] > out->part_s[out->bound]) out->bound = (enum bound)b;
}

static double split_pipeline_hop(double part_s[N_BOUNDS], const struct demand *demand, const struct rates *r)
{
    double hop_s;
    const int level = slowest_level(&demand->pipeline_hop, r, &hop_s);
    if (level >= 0) {
        const double fixed_s = r->collective_s[demand->pipeline_hop.top];
        split_leg(part_s, &demand->pipeline_hop.leg[level], level, r, 1.0);
        part_s[BOUND_OVERHEAD] += fixed_s;
        hop_s += fixed_s;
    }
    if (demand->pipeline_collective >= 0)
        hop_s += split_collective(part_s, &demand->collective[demand->pipeline_collective], r);
    return hop_s;
}

static double form_s(const struct demand *demand, const struct times *times, int f)
{
    double total_s = times->work_s[f][0] + times->wire_s[f][0];
    for (int k = 0; k < demand->n_kinds; k++)
        if (demand->ring[k].n_hops > 0.0)
            total_s += demand->form[f][k] * demand->ring[k].n_hops * exposed_s(times->chunk_s[k][0], times->hop_s[k][0]);
    return total_s;
}

/* A step is its largest form, a form the weighted sum of its parts: so are the seconds that each bound is answerable for. */
static void share_step(struct explanation *out, const struct demand *demand, const struct times *times,
                       double step_overhead_s, const double hop_part_s[N_BOUNDS])
{
    int largest = 0;
    for (int f = 1; f < demand->n_forms; f++)
        if (form_s(demand, times, f) > form_s(demand, times, largest)) largest = f;
    const double *const weight = demand->form[largest];
    for (int b = 0; b < N_BOUNDS; b++) {
        double bound_s = weight[PART_HOP] * hop_part_s[b] + (b == BOUND_OVERHEAD ? step_overhead_s : 0.0);
        for (int i = 0; i < demand->n_rows; i++) bound_s += weight[demand->row[i].part] * out->stage[i].part_s[b];
        out->share[b] = bound_s / out->step_s;
    }
}

void explain_candidate(struct explanation *out, const struct demand *demand, const struct hardware *hardware,
                       enum dtype compute)
{
    struct arena arena = {0};
    struct work_rates work;
    struct wire_rates wire;
    struct store_rates store;
    struct times times;
    work_rates_init(&work, 1, &arena);
    wire_rates_init(&wire, 1, &arena);
    store_rates_init(&store, 1, &arena);
    times_init(&times, demand->n_forms, 1, 1, &arena);
    work_rates_set(&work, 0, hardware, compute);
    wire_rates_set(&wire, 0, hardware);
    store_rates_set(&store, 0, hardware);
    evaluate_work(&times, demand, &work);
    evaluate_wire(&times, demand, &wire);
    const struct slice slice = {demand, &times, &work, &wire, &store, true, 0, 1};
    evaluate_step(&out->step_s, &slice);
    for (int m = 0; m < N_METRICS; m++) evaluate_metric(&out->metric[m], (enum metric)m, &slice, 0, &out->step_s);
    out->fits = evaluate_fits(demand, &store, 0);

    const struct rates r = {{wire.pe_hop_s[0], wire.d2d_hop_s[0], wire.c2c_hop_s[0]},
                            {wire.pe_s_per_byte[0], wire.d2d_s_per_byte[0], wire.c2c_s_per_byte[0]},
                            {wire.pe_collective_s[0], wire.d2d_collective_s[0], wire.c2c_collective_s[0]}};
    out->layers_s = out->edges_s = 0.0;
    memset(out->ring, 0, sizeof out->ring);
    for (int i = 0; i < demand->n_rows; i++) {
        const struct stage_row *const row = &demand->row[i];
        explain_row(&out->stage[i], out->ring, demand, row, &work, &r);
        if (row->part < MAX_KINDS) out->layers_s += demand->kind[row->part].n_layers * out->stage[i].time_s;
        else out->edges_s += out->stage[i].time_s;
    }
    double hop_part_s[N_BOUNDS] = {0.0};
    out->hop_s = split_pipeline_hop(hop_part_s, demand, &r);
    share_step(out, demand, &times, work.step_s[0], hop_part_s);
    arena_free(&arena);
}
