/* From a machine's knobs to the columns that the equations read: reciprocal rates with their efficiencies, so that the
 * loop multiplies (MODEL sections 1 and 7). */
#include "cosweep/evaluate.h"

#define X(member) work->member = arena_alloc(arena, (size_t)n, sizeof *work->member);
void work_rates_init(struct work_rates *work, int n, struct arena *arena)
{
    work->n = n;
    WORK_COLUMNS(X)
}
#undef X

#define X(member) wire->member = arena_alloc(arena, (size_t)n, sizeof *wire->member);
void wire_rates_init(struct wire_rates *wire, int n, struct arena *arena)
{
    wire->n = n;
    WIRE_COLUMNS(X)
}
#undef X

#define X(member) store->member = arena_alloc(arena, (size_t)n, sizeof *store->member);
void store_rates_init(struct store_rates *store, int n, struct arena *arena)
{
    store->n = n;
    STORE_COLUMNS(X)
}
#undef X

#define X(member) part.member = all->member + from;
struct work_rates work_rates_part(const struct work_rates *all, int from, int n)
{
    struct work_rates part = {.n = n};
    WORK_COLUMNS(X)
    return part;
}

struct wire_rates wire_rates_part(const struct wire_rates *all, int from, int n)
{
    struct wire_rates part = {.n = n};
    WIRE_COLUMNS(X)
    return part;
}
#undef X

static double dtype_ratio(const struct hardware *h, enum dtype compute)
{
    switch (compute) {
    case DTYPE_FP16: return h->fp16_ratio;
    case DTYPE_FP8: return h->fp8_ratio;
    case DTYPE_INT8: return h->int8_ratio;
    case DTYPE_FP4:
    case DTYPE_NVFP4:
    case DTYPE_MXFP4: return h->fp4_ratio;
    default: return 1.0; /* bf16, and int4 weights, which are multiplied in bf16 */
    }
}

void work_rates_set(struct work_rates *work, int i, const struct hardware *h, enum dtype compute)
{
    const double gemm_flop_per_s = h->flops * dtype_ratio(h, compute);
    work->s_per_gemm_flop[i] = 1.0 / (gemm_flop_per_s * h->gemm_efficiency);
    work->s_per_vector_flop[i] = 1.0 / (h->vector_flops * h->gemm_efficiency);
    work->s_per_hbm_byte[i] = 1.0 / (h->hbm_bandwidth * h->hbm_efficiency);
    work->s_per_attention_flop[i] = 1.0 / (h->flops * h->attention_efficiency);
    work->s_per_attention_vector_flop[i] = 1.0 / (h->vector_flops * h->attention_efficiency);
    work->s_per_kv_byte[i] = 1.0 / (h->hbm_bandwidth * h->kv_efficiency);
    work->kernel_s[i] = h->kernel_overhead;
    work->attention_s[i] = h->attention_overhead;
    work->step_s[i] = h->step_overhead;
    work->s_per_peak_flop[i] = 1.0 / gemm_flop_per_s;
    work->s_per_peak_byte[i] = 1.0 / h->hbm_bandwidth;
    work->j_per_flop[i] = h->flop_energy;
    work->j_per_hbm_byte[i] = h->hbm_byte_energy;
    work->idle_w[i] = h->idle_power;
    work->cost_per_pe[i] = h->pe_cost + h->tflops_cost * (h->flops * 1e-12) + h->tb_per_s_cost * (h->hbm_bandwidth * 1e-12);
}

void wire_rates_set(struct wire_rates *wire, int i, const struct hardware *h)
{
    wire->pe_s_per_byte[i] = 1.0 / (h->pe_bandwidth * h->pe_link_efficiency);
    wire->d2d_s_per_byte[i] = 1.0 / (h->d2d_bandwidth * h->d2d_link_efficiency);
    wire->c2c_s_per_byte[i] = 1.0 / (h->c2c_bandwidth * h->c2c_link_efficiency);
    wire->pe_hop_s[i] = h->pe_latency;
    wire->d2d_hop_s[i] = h->d2d_latency;
    wire->c2c_hop_s[i] = h->c2c_latency;
    wire->pe_collective_s[i] = h->pe_collective_overhead;
    wire->d2d_collective_s[i] = h->d2d_collective_overhead;
    wire->c2c_collective_s[i] = h->c2c_collective_overhead;
    wire->pe_j_per_byte[i] = h->pe_link_byte_energy;
    wire->d2d_j_per_byte[i] = h->d2d_link_byte_energy;
    wire->c2c_j_per_byte[i] = h->c2c_link_byte_energy;
    wire->pe_port_cost[i] = h->pe_link_cost * (h->pe_bandwidth * 1e-9);
    wire->d2d_port_cost[i] = h->d2d_link_cost * (h->d2d_bandwidth * 1e-9);
    wire->c2c_port_cost[i] = h->c2c_link_cost * (h->c2c_bandwidth * 1e-9);
    wire->cube_cost[i] = h->cube_cost;
    wire->sip_cost[i] = h->sip_cost;
}

void store_rates_set(struct store_rates *store, int i, const struct hardware *h)
{
    store->capacity_bytes[i] = h->hbm_capacity;
    store->usable_bytes[i] = h->hbm_capacity * (1.0 - h->reserve_fraction) - h->reserve;
    store->cost_per_pe[i] = h->gb_cost * (h->hbm_capacity * 1e-9);
}
