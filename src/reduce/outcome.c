/* Everything one scenario keeps of its candidates. */
#include "cosweep/reduce.h"

void outcome_init(struct outcome *outcome, const struct outcome_options *options)
{
    *outcome = (struct outcome){.n_histograms = options->n_histograms};
    pareto_init(&outcome->pareto, options->n_objectives);
    if (options->effects_of) effects_init(&outcome->effects, options->effects_of);
    for (int h = 0; h < options->n_histograms; h++) histogram_init(&outcome->histogram[h]);
    sample_init(&outcome->sample, options->n_sample);
}

void outcome_free(struct outcome *outcome)
{
    pareto_free(&outcome->pareto);
    effects_free(&outcome->effects);
    for (int h = 0; h < outcome->n_histograms; h++) histogram_free(&outcome->histogram[h]);
    sample_free(&outcome->sample);
}

void outcome_merge(struct outcome *into, const struct outcome *from)
{
    into->n_distinct += from->n_distinct;
    into->n_feasible += from->n_feasible;
    into->n_evaluated += from->n_evaluated;
    for (int r = 0; r < MAX_REASONS; r++) into->n_refused[r] += from->n_refused[r];
    pareto_merge(&into->pareto, &from->pareto);
    if (into->effects.all) effects_merge(&into->effects, &from->effects);
    for (int h = 0; h < into->n_histograms; h++) histogram_merge(&into->histogram[h], &from->histogram[h]);
    sample_merge(&into->sample, &from->sample);
}
