/* reduce: what is kept of the candidates.  Each reducer is init, add, merge; no result depends on the order. */
#ifndef COSWEEP_REDUCE_H
#define COSWEEP_REDUCE_H

#include "cosweep/space.h"

enum { MAX_OBJECTIVES = 4 };

/* ---- Pareto archive ------------------------------------------------------------------------------------------------------ */

/* A point, all objectives minimised (a metric that is better high is negated), no NaN, no infinity, no -0. */
struct point {
    double objective[MAX_OBJECTIVES];
    candidate_id id;  /* the lowest of its equals */
    int64_t n_equal;  /* candidates with exactly these objectives, itself included */
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
void pareto_add_block(struct pareto *pareto, double *const objective[], int n, candidate_id first_id, int64_t id_step);
void pareto_merge(struct pareto *into, const struct pareto *from);
/* Take in what still waits: only then are `point` and `n` the Pareto set. */
void pareto_finish(struct pareto *pareto);

/* ---- everything one scenario keeps ------------------------------------------------------------------------------------------ */

enum { MAX_LIMITS = 16, MAX_REASONS = REASON_LIMIT + MAX_LIMITS };

struct outcome {
    int64_t n_distinct, n_feasible, n_evaluated;
    int64_t n_refused[MAX_REASONS]; /* by enum reason; REASON_LIMIT + l = limit l of the study */
    struct pareto pareto;
};
void outcome_init(struct outcome *outcome, int n_objectives);
void outcome_free(struct outcome *outcome);
void outcome_merge(struct outcome *into, const struct outcome *from);

#endif
