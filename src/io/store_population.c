/* The population of a scenario: main_effects/KNOB/, histogram_A_B/, sample/. */
#include "io/store_get.h"
#include "io/store_put.h"

#include <string.h>

/* ---- main effects (MODEL section 10) ------------------------------------------------------------------------------ */

static void put_effect(struct put *put, hid_t at, const struct knob *knob, const struct main_effect *effect)
{
    const hid_t group = put_group(put, at, knob->name);
    const struct about value = about_column("value", knob->dimension, H5T_NATIVE_DOUBLE, knob->meaning, knob->words);
    const struct about count = about_column("count", DIM_COUNT, H5T_NATIVE_INT64, "feasible candidates of this value", "");
    const struct about min = about_column("min", DIM_SECONDS, H5T_NATIVE_DOUBLE, "lowest latency of this value", "");
    const struct about mean = about_column("mean", DIM_NUMBER, H5T_NATIVE_DOUBLE, "mean of ln(latency / s)", "");
    const struct about variance = about_column("variance", DIM_NUMBER, H5T_NATIVE_DOUBLE, "variance of ln(latency / s)", "");
    const hid_t scale = put_scale(put, group, &value, effect->n, effect->value);
    put_column(put, group, &count, effect->n, effect->count, scale);
    put_column(put, group, &min, effect->n, effect->min_s, scale);
    put_column(put, group, &mean, effect->n, effect->mean_ln, scale);
    put_column(put, group, &variance, effect->n, effect->variance_ln, scale);
    put_reals(put, group, "variance_share", 1, &effect->variance_share);
    put_scale_close(put, scale, "value");
    put_group_close(put, group, knob->name);
}

static void put_effects(struct put *put, hid_t at, const struct result_scenario *scenario)
{
    hid_t group = H5I_INVALID_HID;
    for (int a = 0; a < N_KNOBS && !put->failed; a++) {
        if (scenario->effect[a].n == 0) continue;
        if (group < 0) group = put_group(put, at, "main_effects");
        put_effect(put, group, space_knob(a), &scenario->effect[a]);
    }
    put_group_close(put, group, "main_effects");
}

static void get_effect(struct get *get, hid_t at, const char *name, struct main_effect *effect)
{
    const hid_t group = get_group(get, at, name);
    const int64_t n = get_length(get, group, "value", INT32_MAX);
    effect->n = (int)n;
    effect->value = get_sizes(get, group, "value", n);
    effect->count = get_counts(get, group, "count", n);
    effect->min_s = get_column(get, group, "min", n);
    effect->mean_ln = get_column(get, group, "mean", n);
    effect->variance_ln = get_column(get, group, "variance", n);
    get_reals(get, group, "variance_share", 1, &effect->variance_share);
    get_group_close(group);
}

static void get_effects(struct get *get, hid_t at, struct result_scenario *scenario)
{
    if (!get_has(get, at, "main_effects")) return;
    const hid_t group = get_group(get, at, "main_effects");
    for (int a = 0; a < N_KNOBS; a++)
        if (get_has(get, group, space_knob(a)->name)) get_effect(get, group, space_knob(a)->name, &scenario->effect[a]);
    get_group_close(group);
}

/* ---- histograms --------------------------------------------------------------------------------------------------- */

enum { GROUP_NAME_CHARS = 3 * NAME_CHARS };

static const char *histogram_name(char name[GROUP_NAME_CHARS], const enum metric metric[2])
{
    snprintf(name, GROUP_NAME_CHARS, "histogram_%s_%s", metric_facts[metric[0]].name, metric_facts[metric[1]].name);
    return name;
}

/* Lower edges as the scale `bin_a`, upper edges on it as `upper_a`: a scale has one value per bin.  Returns the scale. */
static hid_t put_bins(struct put *put, hid_t at, char letter, const struct metric_facts *metric, int n, const double *edge)
{
    char lower_name[8], upper_name[16], lower_meaning[2 * NAME_CHARS], upper_meaning[2 * NAME_CHARS];
    snprintf(lower_name, sizeof lower_name, "bin_%c", letter);
    snprintf(upper_name, sizeof upper_name, "upper_%c", letter);
    snprintf(lower_meaning, sizeof lower_meaning, "lower edge of a bin of %s, included", metric->name);
    snprintf(upper_meaning, sizeof upper_meaning, "upper edge of a bin of %s, excluded", metric->name);
    const char *const units = unit_name(metric->dimension);
    const struct about lower = {lower_name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, units, lower_meaning, ""};
    const struct about upper = {upper_name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, units, upper_meaning, ""};
    const hid_t scale = put_scale(put, at, &lower, n, edge);
    put_column(put, at, &upper, n, edge + 1, scale);
    return scale;
}

static void put_histogram(struct put *put, hid_t at, const struct result_histogram *histogram)
{
    char name[GROUP_NAME_CHARS];
    hid_t scales[2];
    const int64_t n[2] = {histogram->n[0], histogram->n[1]};
    const struct about counts = about_column("counts", DIM_COUNT, H5T_NATIVE_INT64, "feasible candidates in a bin", "");
    const hid_t group = put_group(put, at, histogram_name(name, histogram->metric));
    if (group < 0) return;
    put_metrics(put, group, "metrics", 2, histogram->metric);
    for (int d = 0; d < 2; d++)
        scales[d] =
            put_bins(put, group, (char)('a' + d), &metric_facts[histogram->metric[d]], histogram->n[d], histogram->edge[d]);
    put_table(put, group, &counts, n, histogram->count, scales);
    put_scale_close(put, scales[0], "bin_a");
    put_scale_close(put, scales[1], "bin_b");
    put_group_close(put, group, name);
}

/* A pair asked for twice is stored once: a group has its name for itself. */
static bool is_repeated(const struct result_scenario *scenario, int h)
{
    for (int i = 0; i < h; i++)
        if (memcmp(scenario->histogram[i].metric, scenario->histogram[h].metric, sizeof scenario->histogram[h].metric) == 0)
            return true;
    return false;
}

static double *get_edges(struct get *get, hid_t at, const char *lower_name, const char *upper_name, int *n_bins)
{
    const int64_t n = get_length(get, at, lower_name, HISTOGRAM_BINS);
    const double *const lower = get_sizes(get, at, lower_name, n), *const upper = get_sizes(get, at, upper_name, n);
    double *const edge = arena_alloc(get->arena, (size_t)n + 1, sizeof *edge);
    if (n == 0) get_refuse(get, lower_name, "a scale of at least one bin");
    if (get->failed) return NULL;
    memcpy(edge, lower, (size_t)n * sizeof *edge);
    edge[n] = upper[n - 1];
    *n_bins = (int)n;
    return edge;
}

static void get_histogram(struct get *get, hid_t at, const char *name, struct result_histogram *histogram)
{
    const hid_t group = get_group(get, at, name);
    if (!get->failed && get_metrics(get, group, "metrics", histogram->metric, 2) != 2)
        get_refuse(get, name, "a histogram of two metrics");
    histogram->edge[0] = get_edges(get, group, "bin_a", "upper_a", &histogram->n[0]);
    histogram->edge[1] = get_edges(get, group, "bin_b", "upper_b", &histogram->n[1]);
    const int64_t n[2] = {histogram->n[0], histogram->n[1]};
    histogram->count = get_whole_table(get, group, "counts", n);
    for (int64_t a = 0; a < n[0]; a++)
        for (int64_t b = 0; b < n[1] && !get->failed; b++) {
            const int64_t count = histogram->count[a * n[1] + b];
            if (count < 0) get_refuse_number(get, "counts", a, (double)count);
        }
    get_group_close(group);
}

/* Every group histogram_..., in the order of the file. */
static void get_histograms(struct get *get, hid_t at, struct result_scenario *scenario)
{
    H5G_info_t info;
    if (get->failed || !get_check(get, H5Gget_info(at, &info), "histograms")) return;
    for (hsize_t i = 0; i < info.nlinks && !get->failed; i++) {
        char name[GROUP_NAME_CHARS];
        const ssize_t length =
            H5Lget_name_by_idx(at, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);
        if (!get_check(get, length < 0 ? -1 : 0, "histograms") || strncmp(name, "histogram_", 10) != 0) continue;
        if (scenario->n_histograms == MAX_HISTOGRAMS || length >= GROUP_NAME_CHARS)
            get_refuse(get, name, "one of the histograms this program writes");
        else get_histogram(get, at, name, &scenario->histogram[scenario->n_histograms++]);
    }
}

/* ---- sample ------------------------------------------------------------------------------------------------------- */

static void put_sample(struct put *put, hid_t at, const struct result_sample *sample)
{
    const hid_t group = put_group(put, at, "sample");
    const hid_t row = put_row_scale(put, group, sample->n, "candidates drawn from all that are feasible, by id");
    const struct row_column *const id = row_column(COLUMN_ID);
    const struct about about_id = about_column(id->name, id->dimension, H5T_NATIVE_INT64, id->meaning, "");
    put_column(put, group, &about_id, sample->n, sample->id, row);
    for (int m = 0; m < N_METRICS; m++) {
        const struct metric_facts *const metric = &metric_facts[m];
        const struct about about = about_column(metric->name, metric->dimension, H5T_NATIVE_DOUBLE, metric->meaning, "");
        put_column(put, group, &about, sample->n, sample->metric[m], row);
    }
    put_scale_close(put, row, "row");
    put_group_close(put, group, "sample");
}

static void get_sample(struct get *get, hid_t at, struct result_sample *sample)
{
    if (!get_has(get, at, "sample")) return;
    const hid_t group = get_group(get, at, "sample");
    sample->n = get_length(get, group, "row", INT64_MAX);
    sample->id = get_counts(get, group, row_column(COLUMN_ID)->name, sample->n);
    for (int m = 0; m < N_METRICS; m++) sample->metric[m] = get_sizes(get, group, metric_facts[m].name, sample->n);
    get_group_close(group);
}

/* ---- all three ---------------------------------------------------------------------------------------------------- */

void put_population(struct put *put, hid_t at, const struct result_scenario *scenario)
{
    put_effects(put, at, scenario);
    if (scenario->sample.id) put_sample(put, at, &scenario->sample);
    for (int h = 0; h < scenario->n_histograms && !put->failed; h++)
        if (!is_repeated(scenario, h)) put_histogram(put, at, &scenario->histogram[h]);
}

void get_population(struct get *get, hid_t at, struct result_scenario *scenario)
{
    get_effects(get, at, scenario);
    get_sample(get, at, &scenario->sample);
    get_histograms(get, at, scenario);
}
