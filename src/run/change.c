/* What a candidate's neighbours are, and how a change of one knob reads. */
#include "change.h"
#include <assert.h>
#include <math.h>
#include <string.h>

const struct knob *change_knob(const struct change *change)
{
    return change->of == CHANGE_PLAN ? &plan_knob[change->knob] : &hardware_knob[change->knob];
}

bool knob_is_price(const struct knob *knob)
{
    return knob->dimension == DIM_COST || knob->dimension == DIM_JOULES || knob->dimension == DIM_WATTS;
}

int knob_words(const struct knob *knob)
{
    int n = 1;
    if (knob->dimension == DIM_BOOL) return 2;
    if (knob->dimension != DIM_CODE) return 0;
    for (const char *at = knob->words; *at; at++) n += *at == '|';
    return n;
}

double candidate_value(const struct candidate *candidate, enum change_of of, int knob)
{
    return of == CHANGE_PLAN ? (double)((const int64_t *)&candidate->plan)[knob]
                             : ((const double *)&candidate->hardware)[knob];
}

void candidate_change(struct candidate *candidate, const struct change *change)
{
    if (change->of == CHANGE_PLAN) ((int64_t *)&candidate->plan)[change->knob] = (int64_t)change->after;
    if (change->of == CHANGE_HARDWARE) ((double *)&candidate->hardware)[change->knob] = change->after;
}

char *change_path(char text[64], const struct change *change, const struct limit *limits)
{
    static const char *const room[] = {"plan", "hardware", "limits"};
    const char *const path =
        change->of == CHANGE_LIMIT ? metric_facts[limits[change->knob].metric].name : change_knob(change)->path;
    snprintf(text, 64, "%s.%s", room[change->of], path);
    return text;
}

char *change_value(char text[32], const struct change *change, double value, const struct limit *limits)
{
    if (change->of == CHANGE_LIMIT) return unit_format(text, value, metric_facts[limits[change->knob].metric].dimension);
    const struct knob *const knob = change_knob(change);
    return knob->dimension == DIM_CODE ? knob_word(knob, (int)value, text) : unit_format(text, value, knob->dimension);
}

static int add_neighbour(struct change *change, int n, struct change made)
{
    const struct knob *const knob = change_knob(&made);
    if (made.after < knob->low) made.after = knob->low;
    if (made.after > knob->high) made.after = knob->high;
    if (made.after == made.before) return n;
    assert(n < MAX_CHANGES);
    change[n] = made;
    return n + 1;
}

int candidate_neighbours(struct change change[MAX_CHANGES], const struct candidate *candidate)
{
    int n = 0;
    for (int i = 0; i < N_KNOBS; i++) {
        const bool plan = i < N_PLAN_KNOBS;
        struct change made = {plan ? CHANGE_PLAN : CHANGE_HARDWARE, plan ? i : i - N_PLAN_KNOBS, 0.0, 0.0};
        const struct knob *const knob = change_knob(&made);
        const int n_words = knob_words(knob);
        if (knob_is_price(knob)) continue;
        made.before = candidate_value(candidate, made.of, made.knob);
        for (int w = 0; w < n_words; w++) {
            made.after = (double)w;
            n = add_neighbour(change, n, made);
        }
        if (n_words > 0) continue;
        made.after = 2.0 * made.before;
        n = add_neighbour(change, n, made);
        made.after = knob->dimension == DIM_COUNT ? floor(made.before / 2.0) : made.before / 2.0;
        n = add_neighbour(change, n, made);
    }
    return n;
}
