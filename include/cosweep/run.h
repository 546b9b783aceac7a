/* run: a study over ranks and threads.  mpi.c is the only file that sees MPI. */
#ifndef COSWEEP_RUN_H
#define COSWEEP_RUN_H

#include "cosweep/io.h"

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

/* Without a launcher there is one rank and MPI is not started.  All are collective but ranks_abort. */
struct ranks { int rank, n; };
struct ranks ranks_start(int *argc, char ***argv);
void ranks_stop(void);
void ranks_abort(int code);
const char *ranks_library(void); /* version text of the MPI library */
/* To rank 0, point to point; a receiver frees what it gets. */
void ranks_send(const void *data, size_t bytes);
void *ranks_receive(int from, size_t *bytes);
/* From rank 0 to all: `data` and `bytes` count on rank 0; others get a copy, which they free.  Collective. */
void *ranks_share(const void *data, size_t *bytes);

/* The lowest rank for which `bad` is true, -1 if none.  Collective: the same on all. */
int ranks_first(bool bad);

/* ---- one candidate ----------------------------------------------------------------------------------------------- */

/* A candidate, pinned, checked, lowered and evaluated: the same numbers, bit for bit, as in a sweep. */
struct answer {
    struct candidate candidate; /* the plan is pinned */
    enum reason reason;         /* REASON_LIMIT + l: limit l */
    bool complete;              /* what follows is filled: all but for a refusal before `memory` (DESIGN section 3) */
    struct demand demand;
    struct layout layout;
    struct explanation explanation;
};
void answer_candidate(struct answer *answer, const struct candidate *candidate, const struct limit *limits, int n_limits);
/* The same number, but for last bits: another compiler sums in another order, another version writes an equation
 * otherwise. */
bool values_agree(double stored, double found);
/* A row of a result against what its id gives now: a number that was changed, or that another version of the program found,
 * is an error that names both.  Returns 0 or -1. */
int row_verify(const struct study *study, const struct result *result, int scenario, int64_t row, const char *path,
               struct errors *errors);
/* "memory", "limit_latency", ... at most 47 chars, to `text`; returns it. */
char *reason_text(char text[48], enum reason reason, const struct limit *limits);

/* ---- what one change gives --------------------------------------------------------------------------------------- */

/* One knob of a candidate's plan or machine with another value, or a limit of the study. */
enum change_of { CHANGE_PLAN, CHANGE_HARDWARE, CHANGE_LIMIT };
struct change {
    enum change_of of;
    int knob; /* enum plan_knob, enum hardware_knob, or index of the limit */
    double before, after;
};
/* The name of what changes ("plan.tp", "hardware.pe.flops", "limits.latency"), and one of its values for people. */
char *change_path(char text[64], const struct change *change, const struct limit *limits);
char *change_value(char text[32], const struct change *change, double value, const struct limit *limits);

/* A change of one knob to a neighbour (twice, half, another word) that makes a candidate faster, or makes it fit. */
struct hint {
    struct change change;
    bool is_free; /* a plan that takes no more PEs, costs no more and yields no fewer tokens */
    double metric[N_METRICS];
    double memory_bytes;
};
enum { MAX_HINTS = 8 };
/* The best, free ones first, then by latency.  Returns how many. */
int hints_find(struct hint hint[MAX_HINTS], const struct answer *answer, const struct limit *limits, int n_limits);

/* The smallest change of one knob or limit that makes something feasible; `factor` >= 1 says by how much, 1 for a word. */
struct relaxation {
    struct change change;
    double factor;
    struct candidate candidate; /* as it is then */
};
enum { MAX_RELAXATIONS = 3 };
/* Of candidates none of which is feasible; the smallest first.  Returns how many. */
int relaxations_find(struct relaxation out[MAX_RELAXATIONS], const struct candidate *candidates, int n,
                     const struct limit *limits, int n_limits);
/* Of a scenario of a study without feasible candidates: from those of a sample of its space that are nearest to it. */
int relaxations_of_study(struct relaxation out[MAX_RELAXATIONS], const struct study *study, int scenario);

/* ---- two results ------------------------------------------------------------------------------------------------- */

/* Rows of two Pareto sets with the same plan on the same machine: ids do not count, nor do knobs of the machine that neither
 * study sweeps. */
struct row_pair { int64_t before, after; }; /* row numbers; -1 = lost, gained */
enum { FOUR_OBJECTIVES_ROWS = 20000 }; /* a larger front's hypervolume over four objectives takes too long to be computed */
struct difference {
    const struct result_scenario *before, *after;
    int64_t n_pairs, n_gained, n_lost, n_moved; /* moved: some metric is another, beyond last bits */
    struct row_pair *pair; /* [n_pairs], in the order of the fronts: of `before`, then gained */
    double latency_s[2];   /* lowest, NaN without rows */
    bool has_hypervolume;  /* the same objectives, and not too many rows */
    double reference[MAX_OBJECTIVES]; /* as metrics are; by default the worst of both fronts */
    double hypervolume[2];            /* product of the objectives' units */
    double covered[2];                /* the same as a share of the box from the best of both fronts to the reference */
    /* medians over rows; NaN: not kept */
    double plan_kept[N_DOUBLED][2], plan_chosen[N_DOUBLED][2], elasticity[N_BOUNDS][2];
};
/* A result with its study. */
struct told { const struct result *result; const struct study *study; };
/* A scenario of two results, whose objectives are those of `before`; reference NULL = the default.  Memory is the
 * arena's. */
void results_compare(struct difference *out, struct told before, int scenario_before, struct told after, int scenario_after,
                     const double *reference, struct arena *arena);
bool row_moved(const struct result_row *before, const struct result_row *after);

/* ---- the sweep --------------------------------------------------------------------------------------------------- */

enum { MOST_SHARDS = 100000 };
enum progress { PROGRESS_AUTO, PROGRESS_BAR, PROGRESS_LOG, PROGRESS_NONE };
struct run_options {
    enum progress progress;
    const char *checkpoint;   /* file to save to, or NULL */
    double checkpoint_s;      /* so often; 0 = only when stopped */
    bool resume;              /* go on from that file where it exists */
    int shard, n_shards;      /* from 1; 0 of 0 = all */
};
/* Sweep every scenario.  Collective.  On rank 0 `result` is filled (memory: arena); on others untouched.  Returns 0; 1 when
 * a signal or the time limit stopped it, with the checkpoint saved if there is to be one; -1 on an error. */
int run_study(struct result *result, const struct study *study, const struct run_options *options, struct ranks ranks,
              struct arena *arena, struct errors *errors);

/* Sweep a shard, into a part file at `path`.  Collective; returns as run_study. */
int run_shard(const struct study *study, const struct run_options *options, const char *path, struct ranks ranks,
              struct errors *errors);
/* Whether the file at `path` is a part of this study and shard. */
bool run_is_part(const char *path, const struct study *study, int shard, int n_shards);
/* One result from the parts of all shards, at least one: each exactly once, all of one study.  `study` is filled.  Returns 0
 * or -1. */
int run_merge(struct result *result, struct study *study, const char *const *parts, int n_parts, struct arena *arena,
              struct errors *errors);

/* Catch signals, and stop in time before a limit (0 = none); what it was, for a message. */
void run_watch(double limit_s);
const char *run_stop_cause(void);

/* Give every scenario of `result` its full source where the study asks for one (population.full); rank 0 only.  `study` must
 * be the one of the last round and outlive the sources.  full_close frees them. */
void full_open(struct result *result, const struct study *study);
void full_close(struct result *result);

#endif
