/* wanted: what a study asks to be kept besides the Pareto set: population, sensitivity, joint (DESIGN section 2). */
#include "reader.h"
#include <float.h>
#include <inttypes.h>
#include <string.h>

const enum plan_knob curve_knob[N_CURVES] = {PLAN_cp, PLAN_tp, PLAN_pp, PLAN_dp, PLAN_ep};

int reader_metric(const struct reader *reader, const struct node *node, const char *path)
{
    const char *words[N_METRICS];
    for (int i = 0; i < N_METRICS; i++) words[i] = metric_facts[i].name;
    return reader_word(reader, node, path, words, N_METRICS);
}

void wanted_default(struct study *study)
{
    static const struct population population = {
        .sample = 20000,
        .n_histograms = 2,
        .histogram = {{METRIC_LATENCY, METRIC_COST}, {METRIC_LATENCY, METRIC_PES}},
    };
    study->population = population;
    study->sensitivity = (struct sensitivity){true, true, true, {256, 64, 32, 64, 256}};
}

/* ---- population -------------------------------------------------------------------------------------------------- */

static bool histogram_is_there(const struct population *population, int first, int second)
{
    for (int h = 0; h < population->n_histograms; h++)
        if ((int)population->histogram[h][0] == first && (int)population->histogram[h][1] == second) return true;
    return false;
}

static void histograms_read(const struct reader *reader, const struct node *list, struct population *population)
{
    population->n_histograms = 0;
    if (list->kind != NODE_LIST || list->n_children > MAX_HISTOGRAMS) {
        reader_list_error(reader, list, "population.histograms", 0, MAX_HISTOGRAMS, "pairs, as [[latency, cost]]");
        return;
    }
    for (const struct node *pair = list->first; pair; pair = pair->next) {
        if (pair->kind != NODE_LIST || pair->n_children != 2) {
            reader_list_error(reader, pair, "population.histograms", 2, 2, "metrics, as [latency, cost]");
            continue;
        }
        const int first = reader_metric(reader, pair->first, "population.histograms");
        const int second = reader_metric(reader, pair->first->next, "population.histograms");
        if (first < 0 || second < 0) continue;
        if (first == second || histogram_is_there(population, first, second)) {
            reader_error(reader, pair, "population.histograms", "[%s, %s] %s", metric_facts[first].name,
                         metric_facts[second].name,
                         first == second ? "is one metric; give two" : "is given twice; remove one");
            continue;
        }
        enum metric *const histogram = population->histogram[population->n_histograms++];
        histogram[0] = (enum metric)first;
        histogram[1] = (enum metric)second;
    }
}

void population_read(const struct reader *reader, const struct node *node, struct population *population)
{
    static const char *const words[] = {"sample", "histograms", "full"};
    if (reader_map(reader, node, "population", words, 3) != 0 && node->kind != NODE_MAP) return;
    const struct node *const sample = node_find(node, "sample"), *const full = node_find(node, "full");
    const struct node *const histograms = node_find(node, "histograms");
    if (sample) reader_count(reader, sample, "population.sample", 0, 10000000, &population->sample);
    if (histograms) histograms_read(reader, histograms, population);
    if (full) reader_bool(reader, full, "population.full", &population->full);
}

/* ---- sensitivity ------------------------------------------------------------------------------------------------- */

static void curves_read(const struct reader *reader, const struct node *node, int64_t curve[N_CURVES])
{
    const char *words[N_CURVES];
    for (int c = 0; c < N_CURVES; c++) {
        words[c] = plan_knob[curve_knob[c]].path;
        curve[c] = 0;
    }
    if (reader_map(reader, node, "sensitivity.parallelism", words, N_CURVES) != 0 && node->kind != NODE_MAP) return;
    for (int c = 0; c < N_CURVES; c++) {
        const struct node *const limit = node_find(node, words[c]);
        char path[PATH_CHARS];
        path_join(path, "sensitivity.parallelism", words[c]);
        if (limit) reader_count(reader, limit, path, 0, 4096, &curve[c]);
    }
}

void sensitivity_read(const struct reader *reader, const struct node *node, struct sensitivity *sensitivity)
{
    static const char *const words[] = {"doubling", "elasticity", "main_effects", "parallelism"};
    bool *const flags[] = {&sensitivity->doubling, &sensitivity->elasticity, &sensitivity->main_effects};
    if (reader_map(reader, node, "sensitivity", words, 4) != 0 && node->kind != NODE_MAP) return;
    for (int i = 0; i < 3; i++) {
        const struct node *const flag = node_find(node, words[i]);
        char path[PATH_CHARS];
        path_join(path, "sensitivity", words[i]);
        if (flag) reader_bool(reader, flag, path, flags[i]);
    }
    const struct node *const curves = node_find(node, "parallelism");
    if (curves) curves_read(reader, curves, sensitivity->curve);
}

/* ---- joint ------------------------------------------------------------------------------------------------------- */

static void weights_read(const struct reader *reader, const struct node *node, struct study *study)
{
    const int n = study->n_scenarios;
    const char **const words = arena_alloc(reader->arena, (size_t)n + 1, sizeof *words);
    double sum = 0.0;
    int status = 0;
    for (int s = 0; s < n; s++) words[s] = study->scenario[s].name;
    if (reader_map(reader, node, "joint.weights", words, n) != 0) return;
    for (int s = 0; s < study->n_scenarios; s++) {
        const struct node *const weight = node_find(node, study->scenario[s].name);
        char path[PATH_CHARS];
        path_join(path, "joint.weights", study->scenario[s].name);
        study->joint.weight[s] = 0.0;
        if (weight) status |= reader_number(reader, weight, path, DIM_NUMBER, 0, 1e9, &study->joint.weight[s]);
        sum += study->joint.weight[s];
    }
    if (sum <= 0.0 && status == 0) reader_error(reader, node, "joint.weights", "all weights are 0; give one above 0");
    /* A sum of 1 but for rounding is 1, so that what is written reads back. */
    if (sum >= 1.0 - n * DBL_EPSILON && sum <= 1.0 + n * DBL_EPSILON) sum = 1.0;
    for (int s = 0; s < study->n_scenarios && sum > 0.0; s++) {
        const double weight = study->joint.weight[s];
        study->joint.weight[s] /= sum;
        if (weight > 0.0 && study->joint.weight[s] < 1e-12)
            reader_error(reader, node_find(node, study->scenario[s].name), "joint.weights",
                         "the weight of %s is below 1e-12 of the sum; give 0 or more than that", study->scenario[s].name);
    }
}

/* A metric that a better machine makes lower, so that the mean and the set mean something. */
static int joint_metric_read(const struct reader *reader, const struct node *node, const char *path, enum metric *metric)
{
    const int code = reader_metric(reader, node, path);
    if (code < 0) return -1;
    if (metric_facts[code].better != BETTER_LOW)
        return reader_error(reader, node, path, "%s is not better low; give latency, cost, pes, power, ...", node->text);
    *metric = (enum metric)code;
    return 0;
}

void joint_read(const struct reader *reader, const struct node *node, struct study *study)
{
    static const char *const words[] = {"metric", "weights", "against"};
    struct joint *const joint = &study->joint;
    *joint = (struct joint){.wanted = true, .metric = METRIC_LATENCY, .n_against = 1, .against = {METRIC_COST}};
    joint->weight = arena_alloc(reader->arena, (size_t)study->n_scenarios + 1, sizeof *joint->weight);
    for (int s = 0; s < study->n_scenarios; s++) joint->weight[s] = 1.0 / study->n_scenarios;
    if (reader_map(reader, node, "joint", words, 3) != 0 && node->kind != NODE_MAP) return;
    const struct node *const metric = node_find(node, "metric"), *const weights = node_find(node, "weights");
    const struct node *const against = node_find(node, "against");
    if (metric) joint_metric_read(reader, metric, "joint.metric", &joint->metric);
    if (weights) weights_read(reader, weights, study);
    if (!against) return;
    if (against->kind != NODE_LIST || against->n_children < 1 || against->n_children > MAX_OBJECTIVES - 1) {
        reader_list_error(reader, against, "joint.against", 1, MAX_OBJECTIVES - 1, "metrics");
        return;
    }
    joint->n_against = 0;
    for (const struct node *item = against->first; item; item = item->next)
        if (joint_metric_read(reader, item, "joint.against", &joint->against[joint->n_against]) == 0) {
            const enum metric other = joint->against[joint->n_against];
            bool twice = false;
            for (int i = 0; i < joint->n_against; i++) twice = twice || joint->against[i] == other;
            if (other == joint->metric)
                reader_error(reader, item, "joint.against", "%s is the joint metric itself; give another", item->text);
            else if (twice) reader_error(reader, item, "joint.against", "%s is given twice; remove one", item->text);
            else joint->n_against++;
        }
}

/* ---- back to text ------------------------------------------------------------------------------------------------ */

void wanted_write(FILE *to, const struct study *study)
{
    const struct population *const population = &study->population;
    const struct sensitivity *const sensitivity = &study->sensitivity;
    fprintf(to, "population: {sample: %" PRId64 ", histograms: [", population->sample);
    for (int h = 0; h < population->n_histograms; h++)
        fprintf(to, "%s[%s, %s]", h > 0 ? ", " : "", metric_facts[population->histogram[h][0]].name,
                metric_facts[population->histogram[h][1]].name);
    fprintf(to, "], full: %s}\n", population->full ? "true" : "false");
    fprintf(to, "sensitivity: {doubling: %s, elasticity: %s, main_effects: %s, parallelism: {",
            sensitivity->doubling ? "true" : "false", sensitivity->elasticity ? "true" : "false",
            sensitivity->main_effects ? "true" : "false");
    for (int c = 0; c < N_CURVES; c++)
        fprintf(to, "%s%s: %" PRId64, c > 0 ? ", " : "", plan_knob[curve_knob[c]].path, sensitivity->curve[c]);
    fputs("}}\n", to);
    if (!study->joint.wanted) return;
    fprintf(to, "joint: {metric: %s, weights: {", metric_facts[study->joint.metric].name);
    for (int s = 0; s < study->n_scenarios; s++) {
        char text[32];
        fprintf(to, "%s\"%s\": %s", s > 0 ? ", " : "", study->scenario[s].name, number_exact(text, study->joint.weight[s]));
    }
    fputs("}, against: [", to);
    for (int a = 0; a < study->joint.n_against; a++)
        fprintf(to, "%s%s", a > 0 ? ", " : "", metric_facts[study->joint.against[a]].name);
    fputs("]}\n", to);
}
