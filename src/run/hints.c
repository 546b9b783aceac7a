/* Which single change makes a candidate faster, or makes it fit: every neighbour is evaluated, nothing is guessed. */
#include "change.h"
#include <string.h>

/* Less than this is rounding, not a gain. */
static const double least_gain = 1e-6;

static double total_bytes(const struct demand *d)
{
    return d->weight_bytes + d->kv_bytes + d->activation_bytes;
}

static bool improves(const struct answer *before, const struct answer *after)
{
    if (after->reason != REASON_NONE) return false;
    return before->reason != REASON_NONE ||
           after->explanation.metric[METRIC_LATENCY] < before->explanation.metric[METRIC_LATENCY] * (1.0 - least_gain);
}

static bool is_free(const struct change *change, const struct answer *before, const struct answer *after)
{
    const double *const was = before->explanation.metric, *const is = after->explanation.metric;
    return change->of == CHANGE_PLAN && before->complete && is[METRIC_PES] <= was[METRIC_PES] &&
           is[METRIC_COST] <= was[METRIC_COST] && is[METRIC_THROUGHPUT] >= was[METRIC_THROUGHPUT];
}

static bool comes_before(const struct hint *a, const struct hint *b)
{
    return a->is_free != b->is_free ? a->is_free : a->metric[METRIC_LATENCY] < b->metric[METRIC_LATENCY];
}

/* Into the sorted list; what falls off its end is lost. */
static int insert(struct hint hint[MAX_HINTS], int n, const struct hint *made)
{
    int at = n;
    while (at > 0 && comes_before(made, &hint[at - 1])) at--;
    if (at == MAX_HINTS) return n;
    const int kept = n < MAX_HINTS ? n : MAX_HINTS - 1;
    memmove(&hint[at + 1], &hint[at], (size_t)(kept - at) * sizeof *hint);
    hint[at] = *made;
    return kept + 1;
}

int hints_find(struct hint hint[MAX_HINTS], const struct answer *answer, const struct limit *limits, int n_limits)
{
    struct change change[MAX_CHANGES];
    struct answer after;
    int n = 0;
    const int n_changes = candidate_neighbours(change, &answer->candidate);
    for (int c = 0; c < n_changes; c++) {
        struct candidate candidate = answer->candidate;
        candidate_change(&candidate, &change[c]);
        answer_candidate(&after, &candidate, limits, n_limits);
        if (!improves(answer, &after)) continue;
        struct hint made = {.change = change[c], .is_free = is_free(&change[c], answer, &after)};
        memcpy(made.metric, after.explanation.metric, sizeof made.metric);
        made.memory_bytes = total_bytes(&after.demand);
        n = insert(hint, n, &made);
    }
    return n;
}
