/* What `compare` finds between two results: the hypervolume against a count of cells, rows against pairs made by hand, and
 * the default reference point. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cosweep/run.h"

/* ---- hypervolume ------------------------------------------------------------------------------------------------- */

enum { SIDE = 6, MOST_POINTS = 12 };
static uint64_t random_state = 7;

static int random_below(int n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((random_state >> 33) % (uint64_t)n);
}

/* Coordinates are whole numbers below SIDE: count the unit cells below the reference that some point is below. */
static double count_cells(double (*point)[MAX_OBJECTIVES], int n, int n_objectives, const double reference[])
{
    int cells = 1, covered = 0;
    for (int d = 0; d < n_objectives; d++)
        cells *= SIDE;
    for (int cell = 0; cell < cells; cell++) {
        double corner[MAX_OBJECTIVES];
        bool inside = true, beaten = false;
        for (int d = 0, rest = cell; d < n_objectives; d++, rest /= SIDE)
            corner[d] = rest % SIDE;
        for (int d = 0; d < n_objectives; d++)
            inside &= corner[d] + 1 <= reference[d];
        for (int i = 0; i < n && !beaten; i++) {
            beaten = true;
            for (int d = 0; d < n_objectives; d++)
                beaten &= point[i][d] <= corner[d];
        }
        covered += inside && beaten;
    }
    return covered;
}

static void hypervolume_counts_cells(void **state)
{
    (void)state;
    for (int n_objectives = 2; n_objectives <= 4; n_objectives++)
        for (int round = 0; round < 3000; round++) {
            double point[MOST_POINTS][MAX_OBJECTIVES] = {{0}}, reference[MAX_OBJECTIVES];
            const int n = random_below(MOST_POINTS + 1);
            for (int i = 0; i < n; i++)
                for (int d = 0; d < n_objectives; d++)
                    point[i][d] = random_below(SIDE);
            for (int d = 0; d < n_objectives; d++)
                reference[d] = 1 + random_below(SIDE);
            const double expected = count_cells(point, n, n_objectives, reference),
                         got = hypervolume(point, n, n_objectives, reference);
            if (got != expected)
                fail_msg("%d points, %d objectives: %g, not %g", n, n_objectives, got, expected);
        }
}

static void hypervolume_of_one_point_is_its_box(void **state)
{
    double point[1][MAX_OBJECTIVES] = {{1.0, -2.0, 0.5, 0.25}}, reference[MAX_OBJECTIVES] = {3.0, 1.0, 1.0, 0.75};
    (void)state;
    assert_true(hypervolume(point, 1, 2, reference) == 6.0);
    assert_true(hypervolume(point, 1, 3, reference) == 3.0);
    assert_true(hypervolume(point, 1, 4, reference) == 1.5);
    assert_true(hypervolume(point, 0, 4, reference) == 0.0);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static struct result_row row(int64_t tp, double hbm, double latency_s, double throughput)
{
    struct result_row r = {.plan = plan_of_ones};
    r.plan.tp = tp;
    r.hardware.hbm_bandwidth = hbm;
    r.metric[METRIC_LATENCY] = latency_s;
    r.metric[METRIC_THROUGHPUT] = throughput;
    return r;
}

/* A result of one scenario over latency and throughput. */
struct made {
    struct result result;
    struct result_scenario scenario;
    struct study study;
};

static struct told make(struct made *made, struct result_row *rows, int64_t n, bool sweeps_bandwidth)
{
    memset(made, 0, sizeof *made);
    for (int a = 0; a < N_KNOBS; a++)
        made->study.space.axis[a].n = 1;
    made->study.space.axis[N_PLAN_KNOBS + HW_hbm_bandwidth].n = sweeps_bandwidth ? 2 : 1;
    made->scenario.n_rows = n;
    made->scenario.row = rows;
    made->scenario.best = n > 0 ? 0 : -1;
    made->result.n_objectives = 2;
    made->result.objective[0] = METRIC_LATENCY;
    made->result.objective[1] = METRIC_THROUGHPUT;
    made->result.n_scenarios = 1;
    made->result.scenario = &made->scenario;
    return (struct told){&made->result, &made->study};
}

static void rows_are_matched_by_design(void **state)
{
    static struct made a, b;
    static struct result_row before[4], after[4];
    struct arena arena = {0};
    struct difference d;
    (void)state;
    before[0] = row(8, 1e12, 1.0, 10.0), before[1] = row(4, 1e12, 2.0, 20.0), before[2] = row(2, 1e12, 3.0, 30.0);
    before[3] = row(2, 2e12, 4.0, 40.0);
    after[0] = row(2, 2e12, 0.5, 40.0), after[1] = row(8, 1e12, 1.0, 10.0), after[2] = row(16, 1e12, 3.0, 15.0);
    results_compare(&d, make(&a, before, 4, true), 0, make(&b, after, 3, true), 0, NULL, &arena);
    assert_int_equal(d.n_lost, 2);
    assert_int_equal(d.n_gained, 1);
    assert_int_equal(d.n_moved, 1);
    assert_int_equal(d.n_pairs, 5);
    assert_true(d.pair[0].after == 1 && d.pair[1].after == -1 && d.pair[2].after == -1 && d.pair[3].after == 0);
    assert_true(d.pair[4].before == -1 && d.pair[4].after == 2);
    assert_true(d.latency_s[0] == 1.0 && d.latency_s[1] == 0.5);
    assert_true(isnan(d.plan_kept[0][0]) && isnan(d.elasticity[0][1]));
    arena_free(&arena);
}

/* A knob that neither study sweeps is an assumption, not a choice: the row is the same one, moved. */
static void fixed_knobs_do_not_part_rows(void **state)
{
    static struct made a, b;
    static struct result_row before[1], after[1];
    struct arena arena = {0};
    struct difference d;
    (void)state;
    before[0] = row(8, 1e12, 1.0, 10.0), after[0] = row(8, 2e12, 0.6, 10.0);
    results_compare(&d, make(&a, before, 1, false), 0, make(&b, after, 1, false), 0, NULL, &arena);
    assert_true(d.n_moved == 1 && d.n_lost == 0 && d.n_gained == 0);
    results_compare(&d, make(&a, before, 1, true), 0, make(&b, after, 1, false), 0, NULL, &arena);
    assert_true(d.n_moved == 0 && d.n_lost == 1 && d.n_gained == 1);
    arena_free(&arena);
}

/* Results of two compilers, or of two versions that write an equation otherwise, are the same rows. */
static void last_bits_move_no_row(void **state)
{
    static struct made a, b;
    static struct result_row before[1], after[1];
    struct arena arena = {0};
    struct difference d;
    (void)state;
    before[0] = row(8, 1e12, 1.0, 10.0), after[0] = row(8, 1e12, 1.0 + 4e-16, 10.0 - 4e-15);
    assert_true(before[0].metric[METRIC_LATENCY] != after[0].metric[METRIC_LATENCY]);
    results_compare(&d, make(&a, before, 1, false), 0, make(&b, after, 1, false), 0, NULL, &arena);
    assert_int_equal(d.n_moved, 0);
    after[0].metric[METRIC_LATENCY] = 1.0 + 1e-8;
    results_compare(&d, make(&a, before, 1, false), 0, make(&b, after, 1, false), 0, NULL, &arena);
    assert_int_equal(d.n_moved, 1);
    arena_free(&arena);
}

/* Throughput is better high: the reference is the lowest of it. */
static void reference_is_the_worst_of_both(void **state)
{
    static struct made a, b;
    static struct result_row before[2], after[2];
    const double given[] = {5.0, 0.0};
    struct arena arena = {0};
    struct difference d;
    (void)state;
    before[0] = row(8, 1e12, 1.0, 10.0), before[1] = row(4, 1e12, 2.0, 20.0);
    after[0] = row(8, 1e12, 1.0, 14.0), after[1] = row(4, 1e12, 4.0, 20.0);
    results_compare(&d, make(&a, before, 2, true), 0, make(&b, after, 2, true), 0, NULL, &arena);
    assert_true(d.has_hypervolume && d.reference[0] == 4.0 && d.reference[1] == 10.0);
    assert_true(d.hypervolume[0] == 2.0 * 10.0 && d.hypervolume[1] == 3.0 * 4.0);
    assert_true(fabs(d.covered[0] - 20.0 / 30.0) < 1e-15);
    results_compare(&d, make(&a, before, 2, true), 0, make(&b, after, 2, true), 0, given, &arena);
    assert_true(d.reference[0] == 5.0 && d.hypervolume[0] == 4.0 * 10.0 + 3.0 * 10.0);
    results_compare(&d, make(&a, before, 0, true), 0, make(&b, after, 2, true), 0, given, &arena);
    assert_true(d.hypervolume[0] == 0.0 && d.hypervolume[1] > 0.0 && isnan(d.latency_s[0]));
    b.result.objective[1] = METRIC_COST;
    results_compare(&d, make(&a, before, 2, true), 0, (struct told){&b.result, &b.study}, 0, NULL, &arena);
    assert_false(d.has_hypervolume);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hypervolume_counts_cells),       cmocka_unit_test(hypervolume_of_one_point_is_its_box),
        cmocka_unit_test(rows_are_matched_by_design),     cmocka_unit_test(fixed_knobs_do_not_part_rows),
        cmocka_unit_test(last_bits_move_no_row),          cmocka_unit_test(reference_is_the_worst_of_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
