/* io: files in and out.  yaml.c is the only file that sees libyaml, store.h the only one that sees HDF5. */
#ifndef COSWEEP_IO_H
#define COSWEEP_IO_H

#include "cosweep/evaluate.h"
#include "cosweep/reduce.h"

/* ---- text in ----------------------------------------------------------------------------------------------------- */

/* The path - is read from standard input, and this is its name in messages. */
#define STANDARD_INPUT "standard input"

/* Read a YAML (or JSON, its subset) file or text into a tree.  Errors name file and line.  Refused: aliases, anchors, tags,
 * several documents, duplicate keys, nesting beyond 32, files beyond 64 MB, bytes that are no UTF-8.  NULL on error. */
struct node *tree_read(const char *path, struct arena *arena, struct errors *errors);
struct node *tree_parse(const char *text, size_t n, const char *name, int first_line, struct arena *arena,
                        struct errors *errors);

/* ---- study ------------------------------------------------------------------------------------------------------- */

enum search { SEARCH_EXHAUSTIVE, SEARCH_PRUNED };

struct limit {
    enum metric metric;
    double value; /* base units; a low-is-better (or neither) metric may not exceed it, a high-is-better not fall below */
};

/* What is kept of the whole population, besides its Pareto set (DESIGN section 2). Exhaustive search only. */
struct population {
    int64_t sample; /* candidates; 0 = none */
    int n_histograms;
    enum metric histogram[MAX_HISTOGRAMS][2];
    bool full; /* every feasible candidate goes into the result */
};
/* What is asked of every row of the Pareto set, and of the population (MODEL section 10). */
enum { N_CURVES = 5 };
extern const enum plan_knob curve_knob[N_CURVES]; /* cp tp pp dp ep */
struct sensitivity {
    bool doubling, elasticity, main_effects;
    int64_t curve[N_CURVES]; /* values of curve_knob[c] up to this; 0 = no curve */
};
/* One machine for all scenarios: the Pareto set over the weighted geometric mean of a metric and others. */
struct joint {
    bool wanted;
    enum metric metric;
    double *weight; /* [n_scenarios], >= 0, sum 1 */
    int n_against;
    enum metric against[MAX_OBJECTIVES - 1];
};

/* A study file, checked, all defaults filled in. Memory is the arena's. */
struct study {
    char name[NAME_CHARS];
    enum depth depth;
    bool two_stage;          /* coarse grids, then finer ones around the front */
    enum search search;
    int n_scenarios;
    struct scenario *scenario;
    struct space space; /* the same for every scenario */
    int n_limits;
    struct limit limit[MAX_LIMITS];
    int n_objectives;
    enum metric objective[MAX_OBJECTIVES];
    struct population population;
    struct sensitivity sensitivity;
    struct joint joint;
    char hardware_base[NAME_CHARS];
    char *effective; /* the study with every value spelt out in base units, YAML that reads back to the same study */
    uint64_t hash;   /* of `effective` */
};
/* Read and check a study.  sets[n_sets] are "key.path=value" overrides (YAML values).  Returns 0 or -1; all errors of the
 * file are reported. */
int study_read(struct study *study, const char *path, const char *const *sets, int n_sets, struct arena *arena,
               struct errors *errors);

/* The same from text, as a result keeps it; `name` stands for the file in messages. */
int study_parse(struct study *study, const char *text, const char *name, struct arena *arena, struct errors *errors);

/* Derive sizes, effective text and hash again after axes have changed.  Returns 0 or -1. */
int study_restate(struct study *study, struct arena *arena, struct errors *errors);

/* The model as a study takes it inline, every fact and every windowed layer, so that it reads back to the same.  `key` as
 * json_open takes it: NULL where it is no member of an object. */
void model_inline_json(struct json *json, const char *key, const struct model *model);

/* One candidate (a line of `evaluate`, or a study narrowed to scalars): all knobs scalar. */
struct candidate {
    struct scenario scenario;
    struct plan plan; /* as given, not pinned */
    struct hardware hardware;
};
/* From a tree with `scenario`, `plan`, `hardware` (DESIGN section 3, evaluate), and an `id` that is the caller's.  Returns 0
 * or -1. */
int candidate_read(struct candidate *candidate, const struct node *tree, const char *file, struct arena *arena,
                   struct errors *errors);
/* Override knobs of a plan ("tp=8,cp=4") or a machine ("pe.flops=16TFLOP/s,links.d2d.topology=ring").  Returns 0 or -1. */
int plan_override(struct plan *plan, const char *list, struct errors *errors);
int hardware_override(struct hardware *hardware, const char *list, struct errors *errors);

/* ---- result ------------------------------------------------------------------------------------------------------ */

/* One Pareto row with all that is stored of it. */
struct result_row {
    candidate_id id;
    int64_t n_equal;
    struct plan plan; /* pinned */
    struct hardware hardware;
    double metric[N_METRICS];
    double weight_bytes, kv_bytes, activation_bytes;
    double stage_s[N_STAGES];         /* seconds of a step's layers and edges: count times time, all kinds together */
    enum bound stage_bound[N_STAGES]; /* of the largest such stage */
};
/* One column of a row as it is stored, listed and named on command lines; in the order of the file. */
struct row_column {
    const char *name, *meaning;
    enum dimension dimension;
    const char *words; /* DIM_CODE: "a|b|c", else "" */
    size_t offset;     /* of the value in a struct result_row */
    bool whole;        /* it is an int64_t there, else a double */
    int n_summed;      /* 1; more: the value is the sum of this many doubles from there */
};
enum { N_ROW_COLUMNS = 2 + N_KNOBS + N_METRICS + 4 };
const struct row_column *row_column(int i);
double row_value(const struct result_row *row, const struct row_column *column);

/* What a scenario keeps besides its Pareto set; counts are 0 and pointers NULL where it was not asked for. */
struct main_effect { /* of one knob on ln latency, per value (MODEL section 10); n 0: the knob is not swept */
    int n;
    const double *value;                  /* [n], base units */
    int64_t *count;                       /* [n] feasible candidates */
    double *min_s, *mean_ln, *variance_ln; /* [n]; NaN where count = 0 */
    double variance_share;                /* of the variance of ln latency that the knob alone explains */
};
struct result_histogram {
    enum metric metric[2];
    int n[2];          /* bins of each, trimmed to what is occupied */
    double *edge[2];   /* [n + 1] */
    int64_t *count;    /* [n[0]][n[1]], row-major */
};
struct result_sample {
    int64_t n;
    candidate_id *id;          /* [n], ascending */
    double *metric[N_METRICS]; /* [n] each */
};
/* Every feasible candidate of a scenario, in order of id, block by block: more than memory holds. */
struct full_block {
    int64_t n;
    candidate_id *id;          /* [n] */
    double *metric[N_METRICS]; /* [n] each */
};
struct full_source {
    int64_t n;        /* candidates in all */
    struct full *full; /* owned by whoever made the source; NULL = not asked for */
    const struct full_block *(*next)(struct full *full); /* borrowed until the next call; NULL after the last */
    bool (*stopped)(void); /* whether it ended before the last because it was told to; NULL = never */
};
enum { N_DOUBLED = 7 };
extern const enum hardware_knob doubled_knob[N_DOUBLED];
struct result_doubling { /* latency before over latency after; [n_rows][N_DOUBLED], row-major */
    double *plan_kept, *plan_chosen;
    candidate_id *chosen_id; /* the plan chosen, on the row's own machine */
};
struct result_curve { /* [n_rows][n], row-major */
    int n;
    double *value;                     /* [n] of the plan knob */
    double *latency_s, *memory_bytes;  /* NaN where refused before `memory` */
    int32_t *reason;                   /* enum reason */
};

struct result_scenario {
    char name[NAME_CHARS], model[NAME_CHARS], phase[16];
    char warnings[MESSAGE_CHARS];
    int64_t n_raw, n_distinct, n_feasible, n_evaluated;
    int64_t n_refused[MAX_REASONS];
    int64_t n_rows;
    struct result_row *row; /* sorted by the objectives */
    struct main_effect effect[N_KNOBS];
    int n_histograms;
    struct result_histogram histogram[MAX_HISTOGRAMS];
    struct result_sample sample;
    struct full_source full;
    struct result_doubling doubling;
    double *elasticity;                 /* [n_rows][N_BOUNDS], row-major: share of the step, sums to 1 */
    struct result_curve curve[N_CURVES]; /* of curve_knob[c] */
    int64_t best;           /* row of the lowest latency, -1 = no rows */
};
/* The joint front (DESIGN section 2, `joint`): machines on which every scenario takes its own best plan. */
struct joint_row {
    struct hardware hardware;
    double mean;                              /* weighted geometric mean of the joint metric */
    double against[MAX_OBJECTIVES - 1];
    struct result_row *choice;                /* [n_scenarios]: the plan each scenario takes, with all its numbers */
};
struct result_joint {
    int64_t n_rows;
    struct joint_row *row;
};
/* A round of two_stage. */
struct result_round {
    int64_t n_machines, n_rows; /* machines of the grid, rows of all fronts */
    double movement;            /* the largest factor, less 1, by which a row is better than every row of the round before */
};

struct performance {
    double wall_s, sweep_s, reduce_s, candidates_per_s, imbalance;
    int n_ranks, n_threads;
};
struct result {
    char study_name[NAME_CHARS], created[32], program[64], revision[64], compiler[128], flags[256], simd[32];
    char *study;            /* effective study, text */
    uint64_t study_hash;
    enum search search;
    int n_objectives;
    enum metric objective[MAX_OBJECTIVES];
    int n_limits;
    struct limit limit[MAX_LIMITS];
    int n_scenarios;
    struct result_scenario *scenario;
    struct joint joint_asked;
    struct result_joint joint;
    int n_rounds; /* of two_stage; 0 otherwise */
    struct result_round *round;
    struct performance performance;
};
/* Write beside `path`, close, sync, rename.  On failure the old file stays and the temporary is gone.  Returns 0 or -1. */
int result_write(const struct result *result, const char *path, struct errors *errors);
/* Whether the file at `path` is HDF5 (a result rather than a study); false where it cannot be read. */
bool result_is(const char *path);
/* Read what result_write wrote, in a child first: a damaged file may crash the HDF5 library, but not us.  Takes at most 64
 * times the file and 32 MB.  Memory is the arena's.  Returns 0 or -1. */
int result_read(struct result *result, const char *path, struct arena *arena, struct errors *errors);
/* The study a result was made from, of which its scenarios and rows must be; `path` is the result's.  Refused where its text
 * was changed.  Returns 0 or -1. */
int result_study(struct study *study, const struct result *result, const char *path, struct arena *arena,
                 struct errors *errors);
/* Where a file is built before it is renamed to `path`; what a process that was killed left there is removed by whoever
 * holds the lock of `path` (of `path` and of its checkpoint). */
void unfinished_name(char name[4096], const char *path);
void unfinished_remove(const char *path);
const char *result_library(void); /* version text of the HDF5 library */

#endif
