/* reduce: what is kept of the candidates.  Each reducer is init, add, merge; no result depends on the order. */
#ifndef COSWEEP_REDUCE_H
#define COSWEEP_REDUCE_H

#include "cosweep/space.h"

enum { MAX_OBJECTIVES = 4 };

/* ---- Pareto archive ---------------------------------------------------------------------------------------------- */

/* A point, all objectives minimised (a metric that is better high is negated), no NaN, no infinity, no -0. */
struct point {
    double objective[MAX_OBJECTIVES];
    candidate_id id;  /* the lowest of its equals */
    int64_t n_equal;  /* candidates with exactly these objectives, itself included; 0: no candidate, only a bound that
                         beats others, which pareto_merge leaves behind */
};
/* The exact Pareto set of the points added so far (kept as an antichain, ordered by objectives), with a screen before it
 * that discards nearly all dominated points by vector code. */
struct pareto {
    int n_objectives;
    int64_t n, capacity;
    struct point *point; /* owned, sorted by objective[0], then [1], ... */
    struct pareto_state *state; /* owned: the screen, and what waits to be sorted in */
};
void pareto_init(struct pareto *pareto, int n_objectives);
void pareto_free(struct pareto *pareto);
void pareto_add(struct pareto *pareto, const struct point *point);
/* A block of candidates in columns objective[d][n], already minimised; candidate i has id first_id + i*id_step.  A candidate
 * with an objective that is NaN or infinite is no candidate. */
/* Whether a point of the archive is at least as good as `corner` everywhere and better somewhere: then so it is to every
 * candidate that is nowhere better than `corner`.  Unless `thorough` only the screen is asked: it is quick, and may say no
 * where yes is true. */
bool pareto_beats(const struct pareto *pareto, const double corner[], bool thorough);
void pareto_add_block(struct pareto *pareto, double *const objective[], int n, candidate_id first_id, int64_t id_step);
void pareto_merge(struct pareto *into, const struct pareto *from);
/* Turn all points into bounds (n_equal 0): whatever they beat is dropped, what equals them stays. */
void pareto_make_bounds(struct pareto *pareto);
/* A copy of an archive in which nothing waits. */
void pareto_copy(struct pareto *into, const struct pareto *from);
/* The same into a zeroed archive, or an earlier copy that was added to: then cheaper where nothing was taken in. */
void pareto_copy_again(struct pareto *copy, const struct pareto *from);
/* Take in what still waits: only then are `point` and `n` the Pareto set. */
void pareto_finish(struct pareto *pareto);

/* ---- hypervolume ------------------------------------------------------------------------------------------------- */

/* What the points (minimised, any order, dominated ones welcome) cover of the space below `reference`; those not below it
 * in every objective count nothing.  Exact for 2 to 4 objectives; n log n steps, n*n log n for 4. */
double hypervolume(double (*objective)[MAX_OBJECTIVES], int64_t n, int n_objectives, const double reference[]);

/* ---- main effects (MODEL section 10) ----------------------------------------------------------------------------- */

/* Sums are whole numbers of 2^-40, so that they depend on no order: they add exactly. */
__extension__ typedef __int128 wide;
struct tally {
    int64_t count;
    double min_s;                  /* lowest latency, INFINITY where count = 0 */
    wide sum_ln, sum_squared_ln;   /* of ln(latency / s), in units of 2^-40 */
};
/* One tally per value of every knob. */
struct effects {
    const struct space *space; /* borrowed */
    struct tally *tally[N_KNOBS]; /* [axis n], owned by `all` */
    struct tally *all;
    int64_t n_all;
};
void effects_init(struct effects *effects, const struct space *space);
void effects_free(struct effects *effects);
void effects_merge(struct effects *into, const struct effects *from);
void tally_merge(struct tally *into, const struct tally *from);
/* Mean and variance of ln latency; 0 where count = 0. */
void tally_moments(const struct tally *tally, double *mean, double *variance);
/* The share of the variance of ln latency that a knob alone explains: between values over total, in [0, 1]. */
double effects_variance_share(const struct effects *effects, int knob);

/* Tallies of the rows of one table while one demand is evaluated: columns, so that the loop vectorises. */
struct strip {
    int n;
    int64_t *count, *sum_ln, *sum_squared_ln; /* [n] */
    double *min_s;                            /* [n] */
};
void strip_init(struct strip *strip, int n, struct arena *arena);
void strip_clear(struct strip *strip, int n);
/* latency_s[n] of a slice: each to its row of `varying`, and all to row `fixed` of `other`. NaN is no candidate;
 * all_alive says that there is none. */
void strip_add(struct strip *varying, struct strip *other, int fixed, const double *latency_s, int n, bool all_alive);
/* A strip's row as a tally, each candidate counted `weight` times. */
struct tally strip_tally(const struct strip *strip, int row, int64_t weight);

/* ---- histograms -------------------------------------------------------------------------------------------------- */

/* Eight bins per factor of two, even in the bit pattern, from 2^-40 to 2^40; what is outside goes to the first or last. */
enum { HISTOGRAM_BINS = 640 };
struct histogram {
    int64_t *count; /* [HISTOGRAM_BINS][HISTOGRAM_BINS], row-major: first metric, second metric; owned */
    int64_t *more;  /* the same again: counts that histogram_merge adds to another's `count` */
    unsigned char occupied[HISTOGRAM_BINS]; /* rows that may hold something */
};
void histogram_init(struct histogram *histogram);
void histogram_free(struct histogram *histogram);
void histogram_merge(struct histogram *into, const struct histogram *from);
/* Bin of each value; -1 for NaN. */
void histogram_bins(int32_t *bin, const double *value, int n);
void histogram_add(struct histogram *histogram, const int32_t *first, const int32_t *second, int n, int64_t weight);
/* The same in two steps, for a slice whose one bin repeats: how often each bin of the other metric occurs, then these. */
struct runs { int n; int32_t bin[HISTOGRAM_BINS], count[HISTOGRAM_BINS]; };
void histogram_runs(struct runs *runs, const int32_t *bin, int n);
int32_t histogram_bin(double value); /* of one value */
/* Bins of `runs` are of the first metric, or of the second. */
void histogram_add_runs(struct histogram *histogram, const struct runs *runs, bool of_first, int32_t other, int64_t weight);
/* Lower edge of a bin; bin HISTOGRAM_BINS is the upper edge of the last. */
double histogram_edge(int bin);

/* ---- sample ------------------------------------------------------------------------------------------------------ */

/* A uniform sample of what is added, without replacement: every candidate has a random number that depends on its id and the
 * space only; the lowest stay. */
struct draw { double order; candidate_id id; };
struct sample {
    int64_t n, capacity;
    struct draw *draw;       /* heap, highest first; owned */
    int64_t *taken, n_room;  /* places of the group at hand; owned */
};
void sample_init(struct sample *sample, int64_t capacity);
void sample_free(struct sample *sample);
void sample_merge(struct sample *into, const struct sample *from);
/* A group of n candidates, named by the id of its first: its random numbers in ascending order, each with the place it falls
 * on, as long as they may get in.  The caller keeps the candidate there, if there is one. */
struct sample_group {
    uint64_t seed;
    int64_t n;
    double order;           /* random number of the last draw */
    int64_t n_taken;        /* places drawn before are the sample's, ascending */
};
bool sample_group_start(struct sample_group *group, const struct sample *sample, candidate_id first_id, int64_t n);
bool sample_group_next(struct sample_group *group, struct sample *sample, int64_t *place);
void sample_keep(struct sample *sample, double order, candidate_id id);
/* Order the draws by id. */
void sample_finish(struct sample *sample);

/* ---- everything one scenario keeps ------------------------------------------------------------------------------- */

enum { MAX_LIMITS = 16, MAX_REASONS = REASON_LIMIT + MAX_LIMITS, MAX_HISTOGRAMS = 8 };

struct outcome {
    int64_t n_distinct, n_feasible, n_evaluated;
    int64_t n_refused[MAX_REASONS]; /* by enum reason; REASON_LIMIT + l = limit l of the study */
    struct pareto pareto;
    struct effects effects; /* `all` NULL: not kept */
    int n_histograms;
    struct histogram histogram[MAX_HISTOGRAMS];
    struct sample sample; /* capacity 0: not kept */
};
struct outcome_options {
    int n_objectives;
    const struct space *effects_of; /* NULL = no main effects */
    int n_histograms;
    int64_t n_sample;
};
void outcome_init(struct outcome *outcome, const struct outcome_options *options);
void outcome_free(struct outcome *outcome);
void outcome_merge(struct outcome *into, const struct outcome *from);

/* ---- travel ------------------------------------------------------------------------------------------------------ */

/* Bytes that grow: how an outcome goes to another rank or into a file on the same type of machine.  Zero-initialise. */
struct bytes { size_t n, capacity; char *data; /* owned */ };
void bytes_add(struct bytes *bytes, const void *data, size_t n);
/* All of an outcome whose archive is finished. */
void outcome_pack(const struct outcome *outcome, struct bytes *bytes);
/* Merge a packed outcome, bytes [*at, n), into one of the same options; *at moves past it.  Returns -1 if the bytes are
 * none. */
int outcome_unpack(struct outcome *into, const char *data, size_t n, size_t *at);

#endif
