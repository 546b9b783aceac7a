/* The equations of MODEL sections 4, 7 and 9 on scalars.  The sweep's loops and explain call these and nothing else, so
 * that the two cannot drift apart.  `a > b ? a : b` because compilers vectorise it and refuse fmax. */
#ifndef COSWEEP_EVALUATE_EQUATIONS_H
#define COSWEEP_EVALUATE_EQUATIONS_H

#include "cosweep/evaluate.h"

#define INLINE static inline __attribute__((always_inline))

INLINE double larger(double a, double b)
{
    return a > b ? a : b;
}

INLINE double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* Roofline of one stage, without its fixed time (section 7; section 5 for the fused kernel). */
INLINE double roofline_s(double flop, double vector_flop, double bytes, double s_per_flop, double s_per_vector_flop,
                         double s_per_byte)
{
    return larger(larger(flop * s_per_flop, vector_flop * s_per_vector_flop), bytes * s_per_byte);
}

/* The bytes of a leg at the rates of one machine: the slowest of its level's links and the ports on the way (section 4). */
INLINE double leg_bytes_s(const struct leg *leg, double level_s_per_byte, double pe_s_per_byte, double d2d_s_per_byte)
{
    return larger(larger(leg->load_bytes * level_s_per_byte, leg->pe_port_bytes * pe_s_per_byte),
                  leg->cube_port_bytes * d2d_s_per_byte);
}

INLINE double leg_s(const struct leg *leg, double hop_s, double level_s_per_byte, double pe_s_per_byte,
                    double d2d_s_per_byte)
{
    return leg->hops * hop_s + leg_bytes_s(leg, level_s_per_byte, pe_s_per_byte, d2d_s_per_byte);
}

/* What of a ring hop the chunk of attention does not hide (section 5). */
INLINE double exposed_s(double chunk_s, double hop_s)
{
    return larger(chunk_s, hop_s) - chunk_s;
}

/* ---- section 9 --------------------------------------------------------------------------------------------------- */

INLINE double wire_cost(const struct demand *d, double pe_port, double cube, double d2d_port, double sip, double c2c_port)
{
    return (double)d->pes * (d->ports[0] * pe_port) + (double)d->cubes * (cube + d->ports[1] * d2d_port) +
           (double)d->sips * (sip + d->ports[2] * c2c_port);
}

INLINE double machine_cost(const struct demand *d, double work_cost_per_pe, double wires_cost, double store_cost_per_pe)
{
    return (double)d->pes * (work_cost_per_pe + store_cost_per_pe) + wires_cost;
}

/* What one PE needs at peak rates for the step's own work: all PEs together reach the share peak_s / (pes * step). */
INLINE double peak_s(const struct demand *d, double s_per_peak_flop, double s_per_peak_byte)
{
    return larger(d->own_flop * s_per_peak_flop, d->own_hbm_bytes * s_per_peak_byte);
}

INLINE double memory_bytes(const struct demand *d)
{
    return d->weight_bytes + d->kv_bytes + d->activation_bytes;
}

#endif
