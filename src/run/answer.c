/* One candidate, all the way from its knobs to its numbers. */
#include "sweep.h"

#include <inttypes.h>
#include <math.h>

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

bool values_agree(double stored, double found)
{
    return stored == found || fabs(stored - found) <= 1e-9 * fabs(found);
}

int row_verify(const struct study *study, const struct result *result, int scenario, int64_t row, const char *path,
               struct errors *errors)
{
    const struct result_row *const stored = &result->scenario[scenario].row[row];
    struct result_row found;
    sweep_row(&found, study, &study->scenario[scenario], stored->id);
    for (int c = 2; c < N_ROW_COLUMNS; c++) { /* behind id and n_equal */
        const struct row_column *const column = row_column(c);
        char left[32], right[32];
        if (values_agree(row_value(stored, column), row_value(&found, column))) continue;
        return error_add(errors, STATUS_INPUT, path, 0,
                         "`%s` is %s in row %" PRId64 " of %s, but the row's id gives %s; the file was changed or is of "
                         "another version (%s): run the study again",
                         column->name, number_exact(left, row_value(stored, column)), row, result->scenario[scenario].name,
                         number_exact(right, row_value(&found, column)), result->program);
    }
    return 0;
}
