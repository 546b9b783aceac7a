/* population: main effects, histograms and sample of a study are those of all its candidates asked one by one; the same for
 * any order of work units and any number of threads; the sample is uniform; `full` is all of them in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <omp.h>

#include "brute.h"

static void assert_near(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-9)) fail_msg("%.17g, not %.17g", got, expected);
}

/* ---- main effects ------------------------------------------------------------------------------------------------- */

struct moments { int64_t count; double min_s; long double sum, squares, mean; };

/* Of the feasible candidates with digit `v` of `knob`, or of all where v = -1; in two passes. */
static struct moments moments_of(const struct listing *listing, int knob, int v)
{
    struct moments m = {.min_s = INFINITY};
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < listing->n; i++) {
            const struct listed *const at = &listing->at[i];
            if (at->reason != REASON_NONE || (v >= 0 && at->digit[knob] != v)) continue;
            const double latency_s = at->metric[METRIC_LATENCY];
            const long double l = logl((long double)latency_s);
            if (pass == 1) m.squares += (l - m.mean) * (l - m.mean);
            if (pass == 1) continue;
            m.count++;
            m.sum += l;
            if (latency_s < m.min_s) m.min_s = latency_s;
        }
        if (m.count > 0) m.mean = m.sum / (long double)m.count;
    }
    return m;
}

static void assert_effects_are_brute(const struct result_scenario *result, const struct listing *listing,
                                     const struct study *study)
{
    const struct space *const space = &study->space;
    const struct moments all = moments_of(listing, 0, -1);
    for (int a = 0; a < N_KNOBS; a++) {
        const struct main_effect *const effect = &result->effect[a];
        long double between = 0.0L;
        if (space->axis[a].n < 2) {
            assert_int_equal(effect->n, 0);
            continue;
        }
        assert_int_equal(effect->n, space->axis[a].n);
        for (int v = 0; v < effect->n; v++) {
            const struct moments m = moments_of(listing, a, v);
            assert_true(effect->value[v] == space->axis[a].value[v]);
            assert_int_equal(effect->count[v], m.count);
            if (m.count == 0) {
                assert_true(isnan(effect->min_s[v]) && isnan(effect->mean_ln[v]) && isnan(effect->variance_ln[v]));
                continue;
            }
            assert_true(effect->min_s[v] == m.min_s);
            assert_near(effect->mean_ln[v], (double)m.mean);
            assert_near(effect->variance_ln[v], (double)(m.squares / (long double)m.count));
            between += (long double)m.count * (m.mean - all.mean) * (m.mean - all.mean);
        }
        if (all.count == 0) assert_true(effect->variance_share == 0.0);
        else assert_near(effect->variance_share, (double)(between / all.squares));
    }
}

/* ---- histograms --------------------------------------------------------------------------------------------------- */

static int bin_of(const struct result_histogram *histogram, int d, double value)
{
    for (int b = 0; b < histogram->n[d]; b++)
        if (value >= histogram->edge[d][b] && value < histogram->edge[d][b + 1]) return b;
    fail_msg("%g is in no bin of %s", value, metric_facts[histogram->metric[d]].name);
    return -1;
}

static void assert_edges(const struct result_histogram *histogram, int d)
{
    for (int b = 0; b < histogram->n[d]; b++) {
        const double ratio = histogram->edge[d][b + 1] / histogram->edge[d][b];
        assert_true(ratio > 1.06 && ratio < 1.13); /* eight to an octave */
    }
}

/* Every row and column at the rim holds something. */
static void assert_trimmed(const struct result_histogram *h)
{
    int64_t rim[4] = {0};
    for (int a = 0; a < h->n[0]; a++)
        for (int b = 0; b < h->n[1]; b++) {
            const int64_t count = h->count[a * h->n[1] + b];
            rim[0] += a == 0 ? count : 0;
            rim[1] += a == h->n[0] - 1 ? count : 0;
            rim[2] += b == 0 ? count : 0;
            rim[3] += b == h->n[1] - 1 ? count : 0;
        }
    for (int r = 0; r < 4; r++) assert_true(rim[r] > 0);
}

static void assert_histogram_is_brute(const struct result_histogram *histogram, const struct listing *listing)
{
    const int n = histogram->n[0] * histogram->n[1];
    int64_t *const count = arena_alloc(&arena, (size_t)n, sizeof *count);
    for (int d = 0; d < 2; d++) assert_edges(histogram, d);
    for (int64_t i = 0; i < listing->n; i++) {
        if (listing->at[i].reason != REASON_NONE) continue;
        const double *const metric = listing->at[i].metric;
        count[bin_of(histogram, 0, metric[histogram->metric[0]]) * histogram->n[1] +
              bin_of(histogram, 1, metric[histogram->metric[1]])]++;
    }
    assert_memory_equal(histogram->count, count, (size_t)n * sizeof *count);
    if (listing->n_feasible > 0) assert_trimmed(histogram);
}

/* ---- sample ------------------------------------------------------------------------------------------------------- */

static void assert_sample_is_of(const struct result_sample *sample, const struct listing *listing, int64_t asked)
{
    assert_int_equal(sample->n, asked < listing->n_feasible ? asked : listing->n_feasible);
    for (int64_t i = 0; i < sample->n; i++) {
        const struct listed *const listed = find_listed(listing, sample->id[i]);
        assert_true(i == 0 || sample->id[i] > sample->id[i - 1]);
        assert_non_null(listed);
        assert_int_equal(listed->reason, REASON_NONE);
        for (int m = 0; m < N_METRICS; m++)
            assert_memory_equal(&sample->metric[m][i], &listed->metric[m], sizeof(double));
    }
}

/* ---- full -------------------------------------------------------------------------------------------------------- */

/* Block after block: every feasible candidate in order of id. */
static void assert_full_is(const struct full_source *full, const struct listing *listing)
{
    const struct full_block *block;
    int64_t i = 0;
    assert_int_equal(full->n, listing->n_feasible);
    while ((block = full->next(full->full)))
        for (int64_t b = 0; b < block->n; b++, i++) {
            while (i < listing->n && listing->at[i].reason != REASON_NONE) i++;
            assert_true(i < listing->n);
            assert_int_equal(block->id[b], listing->at[i].id);
            for (int m = 0; m < N_METRICS; m++)
                assert_memory_equal(&block->metric[m][b], &listing->at[i].metric[m], sizeof(double));
        }
    while (i < listing->n && listing->at[i].reason != REASON_NONE) i++;
    assert_int_equal(i, listing->n);
}

/* ---- order -------------------------------------------------------------------------------------------------------- */

static void assert_same_population(const struct result_scenario *a, const struct result_scenario *b)
{
    for (int k = 0; k < N_KNOBS; k++) {
        const size_t n = (size_t)a->effect[k].n;
        assert_int_equal(a->effect[k].n, b->effect[k].n);
        if (n == 0) continue;
        assert_memory_equal(a->effect[k].count, b->effect[k].count, n * sizeof(int64_t));
        assert_memory_equal(a->effect[k].min_s, b->effect[k].min_s, n * sizeof(double));
        assert_memory_equal(a->effect[k].mean_ln, b->effect[k].mean_ln, n * sizeof(double));
        assert_memory_equal(a->effect[k].variance_ln, b->effect[k].variance_ln, n * sizeof(double));
        assert_memory_equal(&a->effect[k].variance_share, &b->effect[k].variance_share, sizeof(double));
    }
    assert_int_equal(a->sample.n, b->sample.n);
    assert_memory_equal(a->sample.id, b->sample.id, (size_t)a->sample.n * sizeof(candidate_id));
}

/* One tile of one lowered index per unit, from both ends to the middle, over three outcomes that are merged. */
static void assert_any_order(const struct result_scenario *result, const struct study *study, int scenario)
{
    static struct worker worker;
    struct sweep sweep;
    struct outcome outcome[3];
    sweep_init(&sweep, study, scenario);
    sweep.units = (struct units){study->space.n_lowered * sweep.n_tiles, 1, sweep.n_tiles, 1};
    const struct outcome_options keeps = study_keeps(sweep.study);
    worker_init(&worker, &sweep);
    for (int o = 0; o < 3; o++) outcome_init(&outcome[o], &keeps);
    for (int64_t u = 0; u < sweep.units.n; u++)
        worker_run(&worker, &outcome[u % 3], u % 2 ? u / 2 : sweep.units.n - 1 - u / 2);
    outcome_merge(&outcome[2], &outcome[0]);
    outcome_merge(&outcome[2], &outcome[1]);
    assert_int_equal(outcome[2].n_distinct, result->n_distinct);
    assert_memory_equal(outcome[2].n_refused, result->n_refused, sizeof result->n_refused);
    sample_finish(&outcome[2].sample);
    assert_int_equal(outcome[2].sample.n, result->sample.n);
    for (int64_t i = 0; i < result->sample.n; i++) assert_int_equal(outcome[2].sample.draw[i].id, result->sample.id[i]);
    for (int k = 0; k < N_KNOBS; k++)
        for (int v = 0; v < result->effect[k].n; v++) {
            double mean, variance;
            const struct tally *const tally = &outcome[2].effects.tally[k][v];
            assert_int_equal(tally->count, result->effect[k].count[v]);
            if (tally->count == 0) continue;
            tally_moments(tally, &mean, &variance);
            assert_true(mean == result->effect[k].mean_ln[v] && variance == result->effect[k].variance_ln[v]);
        }
    for (int o = 0; o < 3; o++) outcome_free(&outcome[o]);
    worker_free(&worker);
    sweep_free(&sweep);
}

/* ---- tests -------------------------------------------------------------------------------------------------------- */

/* Returns how many candidates of the first scenario are feasible. */
static int64_t check_study(struct study *study)
{
    struct result result, again;
    int64_t n_feasible = 0;
    study->population.full = true;
    omp_set_num_threads(1);
    sweep_study(&result, study);
    omp_set_num_threads(3);
    sweep_study(&again, study);
    full_open(&again, study);
    for (int s = 0; s < study->n_scenarios; s++) {
        const struct result_scenario *const scenario = &result.scenario[s];
        struct listing listing;
        list_candidates(&listing, study, s);
        assert_int_equal(scenario->n_feasible, listing.n_feasible);
        assert_effects_are_brute(scenario, &listing, study);
        assert_int_equal(scenario->n_histograms, study->population.n_histograms);
        for (int h = 0; h < scenario->n_histograms; h++) assert_histogram_is_brute(&scenario->histogram[h], &listing);
        assert_sample_is_of(&scenario->sample, &listing, study->population.sample);
        assert_same_population(scenario, &again.scenario[s]);
        assert_any_order(scenario, study, s);
        assert_full_is(&again.scenario[s].full, &listing);
        if (s == 0) n_feasible = listing.n_feasible;
    }
    full_close(&again);
    return n_feasible;
}

static struct study_case decode_case = {"decode", {NULL}}, prefill_case = {"prefill", {NULL}};
static struct study_case serve_case = {"serve", {NULL}};
static struct study_case two_limits_case = {"decode", {"limits={cost: 1000, latency: 200 us}", "population.sample=20"}};
static struct study_case three_limits_case = {"prefill", {"limits={pes: 16, cost_per_token: 0.05, power: 40}"}};
static struct study_case nothing_case = {"decode", {"limits={latency: 1 ns}"}};
static struct study_case all_case = {"serve", {"population.sample=1000000", "limits={interactivity: 100, cost: 5000}"}};
static struct study_case none_case = {"serve", {"population={sample: 0, histograms: []}"}};
/* More rows than a tile has, in either table. */
static struct study_case wire_tiles_case = {
    "grid",
    {"plan={tp: [2, 8, 1024], dp: 1, cp: 1, pp: 1, batch: 2}",
     "hardware.pe={flops: 8 TFLOP/s, hbm_bandwidth: [256 GB/s, 1 TB/s, 2 TB/s], hbm_capacity: [10 MB, 8 GB]}",
     "hardware.links={pe: {bandwidth: {from: 1 GB/s, to: 65 GB/s, step: 30 MB/s}}}", "population.sample=1000"}};
static struct study_case work_tiles_case = {
    "grid",
    {"plan={tp: [1, 2, 64], dp: 2, cp: 1, pp: 1, batch: 2}",
     "hardware.pe={flops: [8 TFLOP/s, 9 TFLOP/s], hbm_bandwidth: {from: 100 GB/s, to: 6500 GB/s, step: 3 GB/s}}",
     "hardware.links={d2d: {bandwidth: [64 GB/s, 300 GB/s]}}", "limits={pes: 64, latency: 200 us, cost: 3000}"}};

static void is_brute_force(void **state)
{
    const struct study_case *const c = *state;
    struct study study;
    read_study(&study, c);
    const int64_t n_feasible = check_study(&study);
    assert_true(c == &nothing_case ? n_feasible == 0 : n_feasible > 100);
}

/* Every metric as the one limit. */
static void each_limit_is_brute_force(void **state)
{
    struct study study;
    struct listing listing;
    int n_cutting = 0;
    read_study(&study, *state);
    list_candidates(&listing, &study, 0);
    for (int m = 0; m < N_METRICS; m++) {
        study.limit[0] = (struct limit){(enum metric)m, middle_limit(&listing, (enum metric)m)};
        study.n_limits = 1;
        const int64_t left = check_study(&study);
        assert_true(left > 0);
        n_cutting += left < listing.n_feasible;
    }
    assert_true(n_cutting >= N_METRICS - 2); /* one of PEs, cubes and SIPs may be the same for all */
}

/* ---- uniform ------------------------------------------------------------------------------------------------------ */

/* Pearson's statistic, for a sample without replacement: seen[n] draws where all[n] could be drawn. */
static double chi_square(const int64_t *seen, const int64_t *all, int n, int *degrees)
{
    int64_t n_seen = 0, n_all = 0;
    double sum = 0.0;
    *degrees = -1;
    for (int v = 0; v < n; v++) n_seen += seen[v], n_all += all[v];
    for (int v = 0; v < n; v++) {
        const double expected = (double)n_seen * (double)all[v] / (double)n_all;
        if (all[v] == 0) continue;
        sum += ((double)seen[v] - expected) * ((double)seen[v] - expected) / expected;
        ++*degrees;
    }
    return sum / (1.0 - (double)n_seen / (double)n_all);
}

/* About one in a million such samples is further off. */
static void assert_uniform(const int64_t *seen, const int64_t *all, int n, const char *over)
{
    int degrees;
    const double statistic = chi_square(seen, all, n, &degrees);
    const double most = degrees + 7.0 * sqrt(2.0 * degrees) + 14.0;
    if (degrees > 0 && statistic > most) fail_msg("chi-square over %s is %g, not below %g", over, statistic, most);
}

static struct study_case grid_case = {"grid", {NULL}};
static struct study_case half_grid_case = {"grid", {"population.sample=57600"}};
static struct study_case limited_grid_case = {"grid", {"limits={latency: 200 us, cost: 3000}"}};
static struct study_case short_work_case = {
    "grid", {"hardware.pe.flops=[1 TFLOP/s]", "hardware.pe.hbm_bandwidth=[64 GB/s, 1 TB/s]", "population.sample=1000"}};

enum { SLOTS = 512 };

/* Of an axis its digit; past the last axis a stretch of ids. */
static int slot_of(const struct listed *listed, int axis, int64_t n_raw)
{
    return axis < N_KNOBS ? listed->digit[axis] : (int)(listed->id * SLOTS / n_raw);
}

static void sample_is_uniform(void **state)
{
    struct study study;
    struct result result;
    struct listing listing;
    read_study(&study, *state);
    const int64_t n_raw = study.space.n_raw;
    sweep_study(&result, &study);
    list_candidates(&listing, &study, 0);
    const struct result_sample *const sample = &result.scenario[0].sample;
    assert_int_equal(result.scenario[0].n_feasible, listing.n_feasible);
    assert_true(listing.n_feasible > sample->n);
    assert_sample_is_of(sample, &listing, study.population.sample);
    for (int a = 0; a <= N_KNOBS; a++) { /* each axis; then slots of ids */
        int64_t seen[SLOTS] = {0}, all[SLOTS] = {0};
        for (int64_t i = 0; i < listing.n; i++) {
            if (listing.at[i].reason != REASON_NONE) continue;
            all[slot_of(&listing.at[i], a, n_raw)]++;
        }
        for (int64_t i = 0; i < sample->n; i++)
            seen[slot_of(find_listed(&listing, sample->id[i]), a, n_raw)]++;
        assert_uniform(seen, all, SLOTS, a < N_KNOBS ? space_knob(a)->name : "ids");
    }
}

#define TEST(function, of) {#function " " #of, function, NULL, stop, &of##_case}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(is_brute_force, decode),
        TEST(is_brute_force, prefill),
        TEST(is_brute_force, serve),
        TEST(is_brute_force, two_limits),
        TEST(is_brute_force, three_limits),
        TEST(is_brute_force, nothing),
        TEST(is_brute_force, all),
        TEST(is_brute_force, none),
        TEST(is_brute_force, wire_tiles),
        TEST(is_brute_force, work_tiles),
        TEST(each_limit_is_brute_force, decode),
        TEST(each_limit_is_brute_force, serve),
        TEST(sample_is_uniform, grid),
        TEST(sample_is_uniform, half_grid),
        TEST(sample_is_uniform, limited_grid),
        TEST(sample_is_uniform, short_work),
    };
    return cmocka_run_group_tests_name("population", tests, NULL, NULL);
}
