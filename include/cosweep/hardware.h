/* hardware: every number that describes a machine, in one table (MODEL section 1, DESIGN section 2).
 *
 * A machine is a vector of doubles, one per row of HARDWARE_KNOBS; each may be an axis of the sweep.  The group says what
 * a knob can change, which is what makes a sweep fast:
 *   STRUCTURE  the demand itself must be lowered again (PE counts, topologies, tiles)
 *   WORK       times of compute and memory inside a PE, overheads, energy and cost of a PE
 *   WIRE       times, energy and cost of links
 *   STORE      capacity: whether it fits, and what the memory costs
 * so that latency = f(work) and g(wire), and a grid of machines is an outer sum. */
#ifndef COSWEEP_HARDWARE_H
#define COSWEEP_HARDWARE_H

#include "cosweep/core.h"
#include "cosweep/model.h"

enum knob_group { GROUP_PLAN, GROUP_STRUCTURE, GROUP_WORK, GROUP_WIRE, GROUP_STORE, N_GROUPS };
enum { N_LEVELS = 3 }; /* 0: PE-PE inside a cube, 1: D2D between cubes of a SIP, 2: C2C between SIPs */
enum topology { TOPOLOGY_FULL, TOPOLOGY_SWITCH, TOPOLOGY_SWITCH_REDUCE, TOPOLOGY_RING, TOPOLOGY_MESH2D, TOPOLOGY_TORUS2D };
enum allocation { ALLOCATION_PE, ALLOCATION_CUBE, ALLOCATION_SIP };

#define TOPOLOGY_WORDS "full|switch|switch_reduce|ring|mesh2d|torus2d"
#define ALLOCATION_WORDS "pe|cube|sip"

/* X(member, study-file path under `hardware`, group, dimension, low, high, code words, meaning)
 * The order is the order of the digits of a candidate's id within a group. */
#define HARDWARE_KNOBS(X)                                                                                                   \
    X(pes_per_cube, "pes_per_cube", STRUCTURE, COUNT, 1, 4096, "", "PEs in a cube")                                         \
    X(cubes_per_sip, "cubes_per_sip", STRUCTURE, COUNT, 1, 4096, "", "cubes in a SIP")                                      \
    X(allocation, "allocation", STRUCTURE, CODE, 0, 2, ALLOCATION_WORDS, "what is paid for: used PEs, whole cubes, SIPs")   \
    X(pe_topology, "links.pe.topology", STRUCTURE, CODE, 0, 5, TOPOLOGY_WORDS, "topology of the PEs of a cube")             \
    X(d2d_topology, "links.d2d.topology", STRUCTURE, CODE, 0, 5, TOPOLOGY_WORDS, "topology of the cubes of a SIP")          \
    X(c2c_topology, "links.c2c.topology", STRUCTURE, CODE, 0, 5, TOPOLOGY_WORDS, "topology of the SIPs")                    \
    X(gemm_tile_rows, "gemm_tile.0", STRUCTURE, COUNT, 1, 65536, "", "GEMM tile: rows")                                     \
    X(gemm_tile_columns, "gemm_tile.1", STRUCTURE, COUNT, 1, 65536, "", "GEMM tile: output columns")                        \
    X(gemm_tile_reduction, "gemm_tile.2", STRUCTURE, COUNT, 1, 65536, "", "GEMM tile: reduction")                           \
    X(attention_query_tile, "attention_query_tile", STRUCTURE, COUNT, 1, 1e6, "", "query rows per pass over the KV cache")  \
    X(gqa_reuse, "gqa_reuse", STRUCTURE, BOOL, 0, 1, "", "query heads of a group share one read of the KV cache")           \
    X(flops, "pe.flops", WORK, FLOP_PER_S, 1e3, 1e24, "", "dense bf16 rate of a PE")                                        \
    X(fp16_ratio, "pe.flops_ratio.fp16", WORK, NUMBER, 1e-3, 1e3, "", "fp16 rate over bf16 rate")                           \
    X(fp8_ratio, "pe.flops_ratio.fp8", WORK, NUMBER, 1e-3, 1e3, "", "fp8 rate over bf16 rate")                              \
    X(int8_ratio, "pe.flops_ratio.int8", WORK, NUMBER, 1e-3, 1e3, "", "int8 rate over bf16 rate")                           \
    X(fp4_ratio, "pe.flops_ratio.fp4", WORK, NUMBER, 1e-3, 1e3, "", "fp4 rate over bf16 rate")                              \
    X(vector_flops, "pe.vector_flops", WORK, FLOP_PER_S, 1e3, 1e24, "", "vector rate of a PE")                              \
    X(hbm_bandwidth, "pe.hbm_bandwidth", WORK, BYTES_PER_S, 1e3, 1e18, "", "HBM bandwidth of a PE")                         \
    X(gemm_efficiency, "efficiency.gemm", WORK, FRACTION, 1e-4, 1, "", "attainable share of the GEMM peak")                 \
    X(attention_efficiency, "efficiency.attention", WORK, FRACTION, 1e-4, 1, "", "attainable share of peak in attention")   \
    X(hbm_efficiency, "efficiency.hbm", WORK, FRACTION, 1e-4, 1, "", "attainable share of HBM bandwidth")                   \
    X(kv_efficiency, "efficiency.kv", WORK, FRACTION, 1e-4, 1, "", "attainable share of HBM bandwidth in attention")        \
    X(kernel_overhead, "overhead.kernel", WORK, SECONDS, 0, 10, "", "fixed time of a launched stage")                       \
    X(attention_overhead, "overhead.attention", WORK, SECONDS, 0, 10, "", "fixed time of an attention stage")               \
    X(step_overhead, "overhead.step", WORK, SECONDS, 0, 10, "", "fixed time of a forward pass")                             \
    X(flop_energy, "energy.flop", WORK, JOULES, 0, 1, "", "energy per FLOP")                                                \
    X(hbm_byte_energy, "energy.hbm_byte", WORK, JOULES, 0, 1, "", "energy per HBM byte")                                    \
    X(idle_power, "energy.idle", WORK, WATTS, 0, 1e6, "", "power of an allocated PE that does nothing")                     \
    X(pe_cost, "cost.pe", WORK, COST, 0, 1e9, "", "cost of a PE without its rates")                                         \
    X(tflops_cost, "cost.tflops", WORK, COST, 0, 1e9, "", "cost per bf16 TFLOP/s")                                          \
    X(tb_per_s_cost, "cost.tb_per_s", WORK, COST, 0, 1e9, "", "cost per TB/s of HBM bandwidth")                             \
    X(pe_bandwidth, "links.pe.bandwidth", WIRE, BYTES_PER_S, 1e3, 1e18, "", "PE link, per direction")                       \
    X(pe_latency, "links.pe.latency", WIRE, SECONDS, 0, 10, "", "PE link, per hop")                                         \
    X(d2d_bandwidth, "links.d2d.bandwidth", WIRE, BYTES_PER_S, 1e3, 1e18, "", "D2D link, per direction")                    \
    X(d2d_latency, "links.d2d.latency", WIRE, SECONDS, 0, 10, "", "D2D link, per hop")                                      \
    X(c2c_bandwidth, "links.c2c.bandwidth", WIRE, BYTES_PER_S, 1e3, 1e18, "", "C2C link, per direction")                    \
    X(c2c_latency, "links.c2c.latency", WIRE, SECONDS, 0, 10, "", "C2C link, per hop")                                      \
    X(pe_link_efficiency, "efficiency.pe_link", WIRE, FRACTION, 1e-4, 1, "", "attainable share of PE link bandwidth")       \
    X(d2d_link_efficiency, "efficiency.d2d_link", WIRE, FRACTION, 1e-4, 1, "", "attainable share of D2D link bandwidth")    \
    X(c2c_link_efficiency, "efficiency.c2c_link", WIRE, FRACTION, 1e-4, 1, "", "attainable share of C2C link bandwidth")    \
    X(pe_collective_overhead, "overhead.pe_collective", WIRE, SECONDS, 0, 10, "", "fixed time of a collective in a cube")   \
    X(d2d_collective_overhead, "overhead.d2d_collective", WIRE, SECONDS, 0, 10, "", "of one that spans cubes")              \
    X(c2c_collective_overhead, "overhead.c2c_collective", WIRE, SECONDS, 0, 10, "", "of one that spans SIPs")               \
    X(pe_link_byte_energy, "energy.pe_link_byte", WIRE, JOULES, 0, 1, "", "energy per byte on a PE link")                   \
    X(d2d_link_byte_energy, "energy.d2d_link_byte", WIRE, JOULES, 0, 1, "", "energy per byte on a D2D link")                \
    X(c2c_link_byte_energy, "energy.c2c_link_byte", WIRE, JOULES, 0, 1, "", "energy per byte on a C2C link")                \
    X(pe_link_cost, "cost.pe_link", WIRE, COST, 0, 1e9, "", "cost per GB/s of a PE link port")                              \
    X(cube_cost, "cost.cube", WIRE, COST, 0, 1e9, "", "cost of a cube without its links")                                   \
    X(d2d_link_cost, "cost.d2d_link", WIRE, COST, 0, 1e9, "", "cost per GB/s of a D2D link port")                           \
    X(sip_cost, "cost.sip", WIRE, COST, 0, 1e9, "", "cost of a SIP without its links")                                      \
    X(c2c_link_cost, "cost.c2c_link", WIRE, COST, 0, 1e9, "", "cost per GB/s of a C2C link port")                           \
    X(hbm_capacity, "pe.hbm_capacity", STORE, BYTES, 1, 1e18, "", "HBM capacity of a PE")                                   \
    X(reserve_fraction, "reserve_fraction", STORE, FRACTION, 0, 0.99, "", "share of capacity kept free")                    \
    X(reserve, "reserve", STORE, BYTES, 0, 1e15, "", "bytes of capacity kept free")                                         \
    X(gb_cost, "cost.gb", STORE, COST, 0, 1e9, "", "cost per GB of HBM")

/* A machine: member `x` is the value of knob HW_x in base units; codes and booleans are whole numbers. */
struct hardware {
#define X(member, ...) double member;
    HARDWARE_KNOBS(X)
#undef X
};
enum hardware_knob {
#define X(member, ...) HW_##member,
    HARDWARE_KNOBS(X)
#undef X
        N_HARDWARE_KNOBS
};
_Static_assert(sizeof(struct hardware) == N_HARDWARE_KNOBS * sizeof(double), "a machine is a vector of knobs");

/* A row of a knob table (hardware here, plan in plan.h): what parser, help, HDF5 and listings are driven by. */
struct knob {
    const char *name;     /* name in results: the member's name */
    const char *path;     /* key in the study file under `hardware` or `plan` */
    enum knob_group group;
    enum dimension dimension;
    double low, high;     /* allowed, inclusive */
    const char *words;    /* DIM_CODE: "a|b|c", code = position */
    const char *meaning;
};
extern const struct knob hardware_knob[N_HARDWARE_KNOBS];

/* The word of code `code`, at most 31 chars, copied to `text`; or the code of a word, -1 if unknown. */
char *knob_word(const struct knob *knob, int code, char text[32]);
int knob_code(const struct knob *knob, const char *word);

/* ---- views for the rooms ------------------------------------------------------------------------------------------ */

/* What lowering needs of a machine: its structure, and no rates (MODEL section 1, "Fabric"). */
struct fabric {
    int64_t pes_per_cube, cubes_per_sip; /* Pc, Cs >= 1 */
    enum topology topology[N_LEVELS];
    enum allocation allocation;
    int64_t tile_rows, tile_columns, tile_reduction; /* GEMM tile tm, tn, tk >= 1 */
    int64_t query_tile;                              /* >= 1 */
    bool gqa_reuse;
};
struct fabric fabric_of(const struct hardware *hardware);

/* ---- presets and grids -------------------------------------------------------------------------------------------- */

struct hardware_preset {
    const char *name, *meaning, *source;
    struct hardware hardware;
};
extern const int n_hardware_presets;
const struct hardware_preset *hardware_preset(int i);
/* Find by name; on failure adds an error that suggests the nearest.  Returns 0 or -1. */
int hardware_by_name(struct hardware *hardware, const char *name, struct errors *errors, const char *file, int line);

enum depth { DEPTH_COARSE, DEPTH_BALANCED, DEPTH_FINE, N_DEPTHS };
/* What `auto` stands for: the knob's grid at this depth, base units, ascending; returns its length, 0 = the knob has
 * none. */
int hardware_grid(enum hardware_knob knob, enum depth depth, const double **values);

#endif
