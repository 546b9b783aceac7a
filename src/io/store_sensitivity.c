/* What the rows of a Pareto set hang on (MODEL section 10): doubling/, elasticity/, parallelism/KNOB/. */
#include "io/store_get.h"
#include "io/store_put.h"

#include <string.h>

static const char row_meaning[] = "rows of the Pareto set, as in pareto/";

/* ---- doubling ----------------------------------------------------------------------------------------------------- */

static void put_doubling(struct put *put, hid_t at, const struct result_scenario *scenario)
{
    const struct result_doubling *const doubling = &scenario->doubling;
    const int64_t n[2] = {scenario->n_rows, N_DOUBLED};
    char words[N_DOUBLED * NAME_CHARS] = "";
    for (int k = 0; k < N_DOUBLED; k++)
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", k > 0 ? "|" : "",
                 hardware_knob[doubled_knob[k]].name);
    const struct about knob = about_column("knob", DIM_CODE, H5T_NATIVE_INT64, "the knob that is doubled", words);
    const struct about kept = about_column("plan_kept", DIM_NUMBER, H5T_NATIVE_DOUBLE,
                                           "latency before over latency after, with the plan kept", "");
    const struct about chosen = about_column("plan_chosen", DIM_NUMBER, H5T_NATIVE_DOUBLE,
                                             "latency before over latency after, with the best plan of no more PEs", "");
    const struct about id = about_column("chosen_id", DIM_COUNT, H5T_NATIVE_INT64,
                                         "candidate: the plan chosen, on the row's own machine; -1 = none", "");
    const hid_t group = put_group(put, at, "doubling");
    const hid_t scales[2] = {put_row_scale(put, group, scenario->n_rows, row_meaning),
                             put_scale(put, group, &knob, N_DOUBLED, NULL)};
    put_table(put, group, &kept, n, doubling->plan_kept, scales);
    put_table(put, group, &chosen, n, doubling->plan_chosen, scales);
    put_table(put, group, &id, n, doubling->chosen_id, scales);
    put_scale_close(put, scales[0], "row");
    put_scale_close(put, scales[1], "knob");
    put_group_close(put, group, "doubling");
}

static void get_doubling(struct get *get, hid_t at, struct result_scenario *scenario)
{
    const int64_t n[2] = {scenario->n_rows, N_DOUBLED};
    const hid_t group = get_group(get, at, "doubling");
    scenario->doubling.plan_kept = get_sizes_table(get, group, "plan_kept", n, true);
    scenario->doubling.plan_chosen = get_sizes_table(get, group, "plan_chosen", n, true);
    scenario->doubling.chosen_id = get_whole_table(get, group, "chosen_id", n);
    get_group_close(group);
}

/* ---- elasticity --------------------------------------------------------------------------------------------------- */

static void put_elasticity(struct put *put, hid_t at, const struct result_scenario *scenario)
{
    static const char bound_words[] =
#define X(code, name) "|" name
        BOUNDS(X)
#undef X
        ;
    const int64_t n[2] = {scenario->n_rows, N_BOUNDS};
    const struct about resource =
        about_column("resource", DIM_CODE, H5T_NATIVE_INT64, "what time is bound by", bound_words + 1);
    const struct about share =
        about_column("share", DIM_FRACTION, H5T_NATIVE_DOUBLE, "share of the step bound by a resource; a row sums to 1", "");
    const hid_t group = put_group(put, at, "elasticity");
    const hid_t scales[2] = {put_row_scale(put, group, scenario->n_rows, row_meaning),
                             put_scale(put, group, &resource, N_BOUNDS, NULL)};
    put_table(put, group, &share, n, scenario->elasticity, scales);
    put_scale_close(put, scales[0], "row");
    put_scale_close(put, scales[1], "resource");
    put_group_close(put, group, "elasticity");
}

static void get_elasticity(struct get *get, hid_t at, struct result_scenario *scenario)
{
    const int64_t n[2] = {scenario->n_rows, N_BOUNDS};
    const hid_t group = get_group(get, at, "elasticity");
    scenario->elasticity = get_sizes_table(get, group, "share", n, false);
    get_group_close(group);
}

/* ---- parallelism ------------------------------------------------------------------------------------------------- */

static void put_curve(struct put *put, hid_t at, const struct knob *knob, const struct result_curve *curve, int64_t n_rows,
                      const char *reason_words)
{
    const int64_t n[2] = {n_rows, curve->n};
    const struct about value = about_column("value", knob->dimension, H5T_NATIVE_DOUBLE, knob->meaning, knob->words);
    const struct about latency = about_column("latency", DIM_SECONDS, H5T_NATIVE_DOUBLE,
                                              "latency with this value, all else held; NaN where refused before memory", "");
    const struct about memory = about_column("memory", DIM_BYTES, H5T_NATIVE_DOUBLE,
                                             "memory of the fullest PE; NaN where refused before memory", "");
    const struct about reason = about_column("reason", DIM_CODE, H5T_NATIVE_INT32, "why it is refused", reason_words);
    const hid_t group = put_group(put, at, knob->name);
    const hid_t scales[2] = {put_row_scale(put, group, n_rows, row_meaning),
                             put_scale(put, group, &value, curve->n, curve->value)};
    put_table(put, group, &latency, n, curve->latency_s, scales);
    put_table(put, group, &memory, n, curve->memory_bytes, scales);
    put_table(put, group, &reason, n, curve->reason, scales);
    put_scale_close(put, scales[0], "row");
    put_scale_close(put, scales[1], "value");
    put_group_close(put, group, knob->name);
}

static void put_curves(struct put *put, hid_t at, const struct result *result, const struct result_scenario *scenario)
{
    char words[STORE_WORDS_CHARS];
    hid_t group = H5I_INVALID_HID;
    store_reason_words(words, result);
    for (int c = 0; c < N_CURVES && !put->failed; c++) {
        if (scenario->curve[c].n == 0) continue;
        if (group < 0) group = put_group(put, at, "parallelism");
        put_curve(put, group, &plan_knob[curve_knob[c]], &scenario->curve[c], scenario->n_rows, words);
    }
    put_group_close(put, group, "parallelism");
}

static void get_curve(struct get *get, hid_t at, const char *name, struct result_curve *curve, int64_t n_rows, int n_reasons)
{
    const hid_t group = get_group(get, at, name);
    const int64_t n[2] = {n_rows, get_length(get, group, "value", INT32_MAX)};
    curve->n = (int)n[1];
    curve->value = get_sizes(get, group, "value", n[1]);
    curve->latency_s = get_sizes_table(get, group, "latency", n, true);
    curve->memory_bytes = get_sizes_table(get, group, "memory", n, true);
    curve->reason = get_code_table(get, group, "reason", n, n_reasons);
    get_group_close(group);
}

static void get_curves(struct get *get, hid_t at, const struct result *result, struct result_scenario *scenario)
{
    const hid_t group = get_group(get, at, "parallelism");
    for (int c = 0; c < N_CURVES; c++) {
        const char *const name = plan_knob[curve_knob[c]].name;
        if (!get->failed && get_has(get, group, name))
            get_curve(get, group, name, &scenario->curve[c], scenario->n_rows, REASON_LIMIT + result->n_limits);
    }
    get_group_close(group);
}

/* ---- all three ---------------------------------------------------------------------------------------------------- */

void put_sensitivity(struct put *put, hid_t at, const struct result *result, const struct result_scenario *scenario)
{
    if (scenario->doubling.plan_kept) put_doubling(put, at, scenario);
    if (scenario->elasticity) put_elasticity(put, at, scenario);
    put_curves(put, at, result, scenario);
}

void get_sensitivity(struct get *get, hid_t at, const struct result *result, struct result_scenario *scenario)
{
    if (get_has(get, at, "doubling")) get_doubling(get, at, scenario);
    if (get_has(get, at, "elasticity")) get_elasticity(get, at, scenario);
    if (get_has(get, at, "parallelism")) get_curves(get, at, result, scenario);
}
