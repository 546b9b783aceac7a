/* Everything one scenario keeps of its candidates. */
#include "cosweep/reduce.h"

void outcome_init(struct outcome *outcome, int n_objectives)
{
    *outcome = (struct outcome){0};
    pareto_init(&outcome->pareto, n_objectives);
}

void outcome_free(struct outcome *outcome)
{
    pareto_free(&outcome->pareto);
}

void outcome_merge(struct outcome *into, const struct outcome *from)
{
    into->n_distinct += from->n_distinct;
    into->n_feasible += from->n_feasible;
    into->n_evaluated += from->n_evaluated;
    for (int r = 0; r < MAX_REASONS; r++) into->n_refused[r] += from->n_refused[r];
    pareto_merge(&into->pareto, &from->pareto);
}
