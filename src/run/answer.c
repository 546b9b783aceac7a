/* One candidate, all the way from its knobs to its numbers. */
#include "sweep.h"

char *reason_text(char text[48], enum reason reason, const struct limit *limits)
{
    if (reason < REASON_LIMIT) snprintf(text, 48, "%s", reason_name[reason]);
    else snprintf(text, 48, "limit_%s", metric_facts[limits[reason - REASON_LIMIT].metric].name);
    return text;
}

void answer_candidate(struct answer *answer, const struct candidate *candidate, const struct limit *limits, int n_limits)
{
    const struct fabric fabric = fabric_of(&candidate->hardware);
    struct lowering lowering;
    answer->candidate = *candidate;
    struct candidate *const kept = &answer->candidate;
    plan_pin(&kept->plan, &kept->scenario);
    answer->reason = plan_check(&kept->plan, &kept->scenario);
    answer->complete = answer->reason == REASON_NONE;
    if (!answer->complete) return;
    plan_layout(&answer->layout, &kept->plan, &fabric);
    lower_init(&lowering, &kept->scenario);
    lower_set_fabric(&lowering, &fabric);
    lower_plan(&answer->demand, &lowering, &kept->plan);
    explain_candidate(&answer->explanation, &answer->demand, &kept->hardware, kept->scenario.compute);
    if (!answer->explanation.fits) {
        answer->reason = REASON_MEMORY;
        return;
    }
    for (int l = n_limits - 1; l >= 0; l--) /* the first one stays */
        if (limit_breaks(&limits[l], answer->explanation.metric[limits[l].metric]))
            answer->reason = (enum reason)(REASON_LIMIT + l);
}
