/* evaluate: a demand against machines (MODEL sections 4, 7, 9).  Knows rates, no transformers.
 *
 * Machines are a grid: work rates x wire rates x stores, each a table of columns.  Work and wire times are taken once per
 * row of their table; a candidate's step is then an outer sum of the two.  The equations are the inline functions of
 * src/evaluate/equations.h; the sweep and explain call the same ones in the same order, so their bits agree. */
#ifndef COSWEEP_EVALUATE_H
#define COSWEEP_EVALUATE_H

#include "cosweep/demand.h"

/* ---- machines as columns ----------------------------------------------------------------------------------------- */

/* Each column is a pointer to n doubles, 64-byte aligned.  X(member, meaning) */
#define WORK_COLUMNS(X)                                                                                                     \
    X(s_per_gemm_flop) X(s_per_vector_flop) X(s_per_hbm_byte)      /* 1/(Rg e_gemm), 1/(Rv e_gemm), 1/(BW e_hbm) */         \
    X(s_per_attention_flop) X(s_per_attention_vector_flop) X(s_per_kv_byte) /* 1/(Ra e_attn), 1/(Rv e_attn), 1/(BW e_kv) */ \
    X(kernel_s) X(attention_s) X(step_s)                                                                                    \
    X(s_per_peak_flop) X(s_per_peak_byte)                          /* 1/Rg, 1/BW */                                         \
    X(j_per_flop) X(j_per_hbm_byte) X(idle_w)                                                                               \
    X(cost_per_pe)                                                 /* c_pe + c_flop TFLOP/s + c_bw TB/s */
#define WIRE_COLUMNS(X)                                                                                                     \
    X(pe_s_per_byte) X(d2d_s_per_byte) X(c2c_s_per_byte)           /* 1/(b_l e_link[l]) */                                  \
    X(pe_hop_s) X(d2d_hop_s) X(c2c_hop_s)                                                                                   \
    X(pe_collective_s) X(d2d_collective_s) X(c2c_collective_s)                                                              \
    X(pe_j_per_byte) X(d2d_j_per_byte) X(c2c_j_per_byte)                                                                    \
    X(pe_port_cost) X(d2d_port_cost) X(c2c_port_cost)              /* c_l GB/s, per port */                                 \
    X(cube_cost) X(sip_cost)
#define STORE_COLUMNS(X)                                                                                                    \
    X(capacity_bytes) X(usable_bytes)                              /* usable: capacity (1 - reserve fraction) - reserve */  \
    X(cost_per_pe)                                                 /* c_cap GB */
#define X(member) double *member;
struct work_rates { int n; WORK_COLUMNS(X) };
struct wire_rates { int n; WIRE_COLUMNS(X) };
struct store_rates { int n; STORE_COLUMNS(X) };
#undef X

/* Allocate columns for n machines in the arena; then fill row i from a machine and the scenario's GEMM dtype. */
void work_rates_init(struct work_rates *work, int n, struct arena *arena);
void wire_rates_init(struct wire_rates *wire, int n, struct arena *arena);
void store_rates_init(struct store_rates *store, int n, struct arena *arena);
void work_rates_set(struct work_rates *work, int i, const struct hardware *hardware, enum dtype compute);
void wire_rates_set(struct wire_rates *wire, int i, const struct hardware *hardware);
void store_rates_set(struct store_rates *store, int i, const struct hardware *hardware);
/* Rows [from, from + n) of a table, on its columns. */
struct work_rates work_rates_part(const struct work_rates *all, int from, int n);
struct wire_rates wire_rates_part(const struct wire_rates *all, int from, int n);

/* ---- metrics (MODEL section 9) ----------------------------------------------------------------------------------- */

enum better { BETTER_LOW, BETTER_HIGH, BETTER_NEITHER };
/* What a metric depends on: what the plan allocates; also the rates of work and wires; also the store row. */
enum metric_of { METRIC_OF_PLAN, METRIC_OF_RATES, METRIC_OF_STORE };
/* What metrics are made of, of one candidate; or, for a box of machines, the end of each term's range that is best for a
 * metric: all at their lowest, but peak_s, capacity_bytes and longest_step_s at their highest. */
struct metric_terms {
    double tokens, latency_per_step;  /* of a step: tokens of all replicas; latency over step, 1 or 1/accepted */
    double pes, cubes, sips, memory_bytes;
    double step_s, longest_step_s;    /* of one candidate the same */
    double active_j, idle_w;          /* energy of a step without idle power; idle power of a PE */
    double peak_s;                    /* what one PE needs for the step's own work at peak rates */
    double cost, capacity_bytes;
};
/* A metric is one row here: its equation over the terms m is also its bound over a box of machines, so it may only get
 * better where a term moves to its best end.  X(code, name, dimension, better, of, equation, meaning) */
#define METRICS(X)                                                                                                          \
    X(LATENCY, "latency", SECONDS, LOW, RATES, m.step_s * m.latency_per_step,                                               \
      "time to first token (prefill) or per output token")                                                                  \
    X(THROUGHPUT, "throughput", TOKENS_PER_S, HIGH, RATES, m.tokens / m.step_s,                                             \
      "tokens per second of all replicas")                                                                                  \
    X(THROUGHPUT_PER_PE, "throughput_per_pe", TOKENS_PER_S, HIGH, RATES, m.tokens / m.pes / m.step_s,                       \
      "throughput over allocated PEs")                                                                                      \
    X(INTERACTIVITY, "interactivity", PER_S, HIGH, RATES, 1.0 / (m.step_s * m.latency_per_step),                            \
      "1 / latency")                                                                                                        \
    X(PES, "pes", COUNT, LOW, PLAN, m.pes,                                                                                  \
      "allocated PEs")                                                                                                      \
    X(CUBES, "cubes", COUNT, LOW, PLAN, m.cubes,                                                                            \
      "allocated cubes")                                                                                                    \
    X(SIPS, "sips", COUNT, LOW, PLAN, m.sips,                                                                               \
      "allocated SIPs")                                                                                                     \
    X(HBM_UTILIZATION, "hbm_utilization", FRACTION, NEITHER, STORE, m.memory_bytes / m.capacity_bytes,                      \
      "memory of the fullest PE over its capacity")                                                                         \
    X(EFFICIENCY, "efficiency", FRACTION, HIGH, RATES, m.peak_s / (m.pes * m.step_s),                                       \
      "share of the machine's roofline the job reaches")                                                                    \
    X(ENERGY_PER_TOKEN, "energy_per_token", JOULES_PER_TOKEN, LOW, RATES,                                                   \
      (m.active_j + m.idle_w * m.pes * m.step_s) / m.tokens,                                                                \
      "energy of a step over its tokens")                                                                                   \
    X(POWER, "power", WATTS, LOW, RATES, m.active_j / m.longest_step_s + m.idle_w * m.pes,                                  \
      "energy of a step over its time")                                                                                     \
    X(COST, "cost", COST, LOW, STORE, m.cost,                                                                               \
      "cost of the allocated machine")                                                                                      \
    X(COST_PER_TOKEN, "cost_per_token", COST_PER_TOKEN, LOW, STORE, m.cost * m.step_s / m.tokens,                           \
      "cost times step time over tokens")
enum metric {
#define X(code, ...) METRIC_##code,
    METRICS(X)
#undef X
        N_METRICS
};
struct metric_facts {
    const char *name;
    enum dimension dimension;
    enum better better;
    enum metric_of of;
    const char *meaning;
};
extern const struct metric_facts metric_facts[N_METRICS];
int metric_code(const char *name); /* -1 if unknown */
static inline bool metric_of_store(enum metric metric)
{
    return metric_facts[metric].of == METRIC_OF_STORE;
}
static inline bool metric_of_plan(enum metric metric)
{
    return metric_facts[metric].of == METRIC_OF_PLAN;
}
/* One that metric_of_plan, of what lower_allocation says. */
double metric_of_allocation(enum metric metric, const struct demand *demand);

/* ---- the sweep's loop -------------------------------------------------------------------------------------------- */

/* A demand's times on every row of the two tables.  Columns of n_work, n_wire doubles, reused from demand to demand. */
struct times {
    double *work_s[MAX_FORMS], *wire_s[MAX_FORMS]; /* step form = work_s[i] + wire_s[j] (+ ring) */
    double *chunk_s[MAX_KINDS], *hop_s[MAX_KINDS]; /* ring of kind k: max(chunk_s[i], hop_s[j]) - chunk_s[i] */
    double *part_s[N_PARTS];                       /* scratch, the longer of n_work and n_wire */
    double *work_j, *wire_j;                       /* energy of a step without idle power */
    double *wire_cost;                             /* cost of cubes, SIPs and links */
};
/* For demands of at most n_forms forms (MAX_FORMS: any). */
void times_init(struct times *times, int n_forms, int n_work, int n_wire, struct arena *arena);
void evaluate_work(struct times *times, const struct demand *demand, const struct work_rates *work);
void evaluate_wire(struct times *times, const struct demand *demand, const struct wire_rates *wire);

/* A run of machines that differ along one table: for the row i of work all rows of wire (along_wire), or for the row j of
 * wire all rows of work.  n is the length of that table. */
struct slice {
    const struct demand *demand;
    const struct times *times;
    const struct work_rates *work;
    const struct wire_rates *wire;
    const struct store_rates *store;
    bool along_wire;
    int fixed; /* i if along_wire, else j */
    int n;
};
/* step_s[n] of a slice. */
void evaluate_step(double *step_s, const struct slice *slice);
/* The step of one machine, row i of work and j of wire: the same bits as in a slice. */
double evaluate_pair(const struct demand *demand, const struct times *times, int i, int j);
/* One metric of a slice with store row k: out[n], from its step_s[n]. */
void evaluate_metric(double *out, enum metric metric, const struct slice *slice, int k, const double *step_s);
/* Cost of what a demand allocates, of rows i, j and k of the tables; needs only lower_allocation's members. */
double evaluate_cost(const struct demand *demand, const struct work_rates *work, int i, const struct wire_rates *wire, int j,
                     const struct store_rates *store, int k);
/* Whether the demand fits store row k (MODEL section 8). */
bool evaluate_fits(const struct demand *demand, const struct store_rates *store, int k);

/* ---- boxes of machines ------------------------------------------------------------------------------------------- */

/* Lowest and highest value over some rows of a table. */
struct extent { double low, high; };
struct work_extents {
    struct extent form_s[MAX_FORMS], chunk_s[MAX_KINDS], energy_j, idle_w, cost_per_pe, s_per_peak_flop, s_per_peak_byte;
};
struct wire_extents { struct extent form_s[MAX_FORMS], hop_s[MAX_KINDS], energy_j, cost; };
struct store_extents { struct extent cost_per_pe, capacity_bytes; };
/* Over rows [from, to) of a table, and over the store rows that fit. */
void bound_work(struct work_extents *out, const struct demand *demand, const struct times *times,
                const struct work_rates *work, int from, int to);
void bound_wire(struct wire_extents *out, const struct demand *demand, const struct times *times, int from, int to);
void bound_store(struct store_extents *out, const struct store_rates *store, const bool *fits);
struct extent bound_step(const struct demand *demand, const struct work_extents *work, const struct wire_extents *wire);
/* Cost of the box's machines. */
struct extent bound_cost(const struct demand *demand, const struct work_extents *work, const struct wire_extents *wire,
                         const struct store_extents *store);
/* Extents of one store row. */
struct store_extents bound_store_row(const struct store_rates *store, int k);
/* What no machine of the box is better than, in the metric's own direction (hbm_utilization: lower than). */
double bound_metric(enum metric metric, const struct demand *demand, const struct work_extents *work,
                    const struct wire_extents *wire, const struct store_extents *store, struct extent step_s);

/* ---- one candidate, explained ------------------------------------------------------------------------------------ */

#define BOUNDS(X)                                                                                                           \
    X(COMPUTE, "compute") X(VECTOR, "vector") X(MEMORY, "memory") X(PE_LINK, "pe_link") X(D2D_LINK, "d2d_link")             \
    X(C2C_LINK, "c2c_link") X(LATENCY, "latency") X(OVERHEAD, "overhead")
enum bound {
#define X(code, name) BOUND_##code,
    BOUNDS(X)
#undef X
        N_BOUNDS
};
extern const char *const bound_name[N_BOUNDS];

struct stage_time {
    double exchange_s, time_s;
    double part_s[N_BOUNDS]; /* time_s split over what each second is bound by */
    enum bound bound;        /* the largest part */
};
/* The ring of context parallelism in one attention stage of a layer kind: a hop is hidden where its chunk takes longer. */
struct ring_time {
    double n_hops, n_extra;              /* as demand->ring; 0 hops = no ring */
    double hop_s, chunk_s;
    double exposed_s, fixed_s;           /* what all hops add to the stage, and their fixed times */
};
struct explanation {
    double step_s, layers_s, edges_s, hop_s;
    struct ring_time ring[MAX_KINDS];
    struct stage_time stage[MAX_STAGE_ROWS]; /* as demand->row */
    double metric[N_METRICS];
    double share[N_BOUNDS]; /* of the step, by what it is bound by: the elasticities of MODEL section 10; they sum to 1 */
    bool fits; /* memory only; limits are the study's */
};
/* Everything about one demand on one machine. */
void explain_candidate(struct explanation *out, const struct demand *demand, const struct hardware *hardware,
                       enum dtype compute);

#endif
