/* rounds: a two_stage run ends with the front of its last grid, which an exhaustive run over the same axes finds as well;
 * grids close in on the front and lose nothing they had; what a row says can be asked again from what the result keeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <omp.h>

#include "brute.h"
#include "run/rounds.h"

static struct study_case stages_case = {"stages", {NULL}};
static struct study_case high_case = {"stages", {"objectives=[throughput_per_pe, interactivity, energy_per_token]"}};
static struct study_case limited_case = {
    "stages", {"limits={cost: 1500, latency: 2 ms}", "objectives=[latency, pes, cost]"}};
static struct study_case links_case = {
    "stages", {"hardware.links.d2d.bandwidth=auto", "hardware.pe.flops=[4 TFLOP/s, 1 TFLOP/s]", "plan.tp=[8, 16, 32]"}};

/* ---- rows --------------------------------------------------------------------------------------------------------- */

static void assert_same_rows(const struct result *a, const struct result *b)
{
    for (int s = 0; s < a->n_scenarios; s++) {
        const struct result_scenario *const x = &a->scenario[s], *const y = &b->scenario[s];
        assert_int_equal(x->n_rows, y->n_rows);
        for (int64_t i = 0; i < x->n_rows; i++) {
            assert_int_equal(x->row[i].id, y->row[i].id);
            assert_int_equal(x->row[i].n_equal, y->row[i].n_equal);
            assert_memory_equal(x->row[i].metric, y->row[i].metric, sizeof x->row[i].metric);
            assert_memory_equal(&x->row[i].hardware, &y->row[i].hardware, sizeof x->row[i].hardware);
        }
    }
    assert_int_equal(a->joint.n_rows, b->joint.n_rows);
    for (int64_t i = 0; i < a->joint.n_rows; i++) assert_true(a->joint.row[i].mean == b->joint.row[i].mean);
}

static void objectives_of(double out[MAX_OBJECTIVES], const struct result *result, const struct result_row *row)
{
    for (int d = 0; d < result->n_objectives; d++)
        out[d] = minimised(result->objective[d], row->metric[result->objective[d]]);
}

/* Every old row is still there, or a row is that is at least as good everywhere. */
static void assert_nothing_lost(const struct result *before, const struct result *after)
{
    for (int s = 0; s < before->n_scenarios; s++)
        for (int64_t i = 0; i < before->scenario[s].n_rows; i++) {
            double old[MAX_OBJECTIVES], new[MAX_OBJECTIVES];
            bool matched = false;
            objectives_of(old, before, &before->scenario[s].row[i]);
            for (int64_t j = 0; j < after->scenario[s].n_rows && !matched; j++) {
                objectives_of(new, after, &after->scenario[s].row[j]);
                matched = true;
                for (int d = 0; d < after->n_objectives; d++) matched &= new[d] <= old[d];
            }
            assert_true(matched);
        }
}

/* ---- axes --------------------------------------------------------------------------------------------------------- */

static bool is_used(const struct result *result, int axis, double value)
{
    double of[N_HARDWARE_KNOBS];
    for (int s = 0; s < result->n_scenarios; s++)
        for (int64_t i = 0; i < result->scenario[s].n_rows; i++) {
            memcpy(of, &result->scenario[s].row[i].hardware, sizeof of);
            if (of[axis - N_PLAN_KNOBS] == value) return true;
        }
    return false;
}

static bool has_value(const struct axis_values *axis, double value)
{
    for (int v = 0; v < axis->n; v++)
        if (fabs(axis->value[v] / value - 1.0) < 1e-12) return true;
    return false;
}

/* Used values stay, to the bit; between neighbours of which one is used there is their geometric mean unless they are close;
 * nothing else. */
static void assert_refined(const struct axis_values *new, const struct axis_values *old, int axis,
                           const struct result *result)
{
    int n = 0;
    double *const sorted = arena_alloc(&arena, (size_t)old->n, sizeof *sorted);
    memcpy(sorted, old->value, (size_t)old->n * sizeof *sorted);
    qsort(sorted, (size_t)old->n, sizeof *sorted, compare_doubles);
    for (int v = 0; v < old->n; v++) {
        const bool used = is_used(result, axis, sorted[v]);
        bool kept = false;
        for (int w = 0; w < new->n; w++) kept |= new->value[w] == sorted[v];
        assert_int_equal(kept, used);
        n += used;
        if (v + 1 == old->n || (!used && !is_used(result, axis, sorted[v + 1]))) continue;
        const bool between = has_value(new, sqrt(sorted[v] * sorted[v + 1]));
        if (sorted[v + 1] / sorted[v] > 1.21) assert_true(between);
        n += between;
    }
    assert_int_equal(new->n, n);
}

static void assert_refined_study(const struct study *new, const struct study *old, const struct result *result)
{
    int n_auto = 0;
    for (int a = 0; a < N_KNOBS; a++) {
        const struct axis_values *const axis = &old->space.axis[a];
        n_auto += axis->is_auto;
        assert_int_equal(new->space.axis[a].is_auto, axis->is_auto);
        if (axis->is_auto) {
            assert_refined(&new->space.axis[a], axis, a, result);
            continue;
        }
        assert_int_equal(new->space.axis[a].n, axis->n);
        assert_memory_equal(new->space.axis[a].value, axis->value, (size_t)axis->n * sizeof(double));
    }
    assert_true(n_auto >= 2);
}

/* ---- movement ----------------------------------------------------------------------------------------------------- */

/* By how much the row that moved most is better than whatever there was before, in the objective where it is most so. */
static double movement_of(const struct result *before, const struct result *after)
{
    double most = 1.0;
    for (int s = 0; s < after->n_scenarios; s++)
        for (int64_t i = 0; i < after->scenario[s].n_rows; i++) {
            double nearest = INFINITY;
            for (int64_t j = 0; j < before->scenario[s].n_rows; j++) {
                double factor = 0.0;
                for (int d = 0; d < after->n_objectives; d++) {
                    const enum metric m = after->objective[d];
                    const double x = before->scenario[s].row[j].metric[m], y = after->scenario[s].row[i].metric[m];
                    factor = fmax(factor, metric_facts[m].better == BETTER_HIGH ? y / x : x / y);
                }
                nearest = fmin(nearest, factor);
            }
            most = fmax(most, nearest);
        }
    return most - 1.0;
}

static int64_t rows_of(const struct result *result)
{
    int64_t n = 0;
    for (int s = 0; s < result->n_scenarios; s++) n += result->scenario[s].n_rows;
    return n;
}

/* ---- tests -------------------------------------------------------------------------------------------------------- */

static void final_study(struct study *study, const struct result *result)
{
    assert_int_equal(study_parse(study, result->study, "the study in the result", &arena, &errors), 0);
    assert_false(study->two_stage);
}

/* The first rounds one by one, each an exhaustive run, against what was recorded. */
static void rounds_are_as_recorded(void **state)
{
    struct study study, next;
    struct result result, before, after;
    read_study(&study, *state);
    assert_true(study.two_stage);
    sweep_study(&result, &study);
    study.two_stage = false;
    study.joint.wanted = false;
    assert_true(result.n_rounds >= 2 && result.n_rounds <= MOST_ROUNDS);
    sweep_study(&before, &study);
    for (int r = 0; r < 3 && r < result.n_rounds; r++) {
        assert_int_equal(result.round[r].n_machines, study.space.n_machines);
        assert_int_equal(result.round[r].n_rows, rows_of(&before));
        if (r == 2 || r + 1 == result.n_rounds) break;
        assert_true(round_refine(&next, &study, &before, &arena));
        assert_refined_study(&next, &study, &before);
        assert_int_equal(study_restate(&next, &arena, &errors), 0);
        sweep_study(&after, &next);
        assert_nothing_lost(&before, &after);
        assert_true(fabs(movement_of(&before, &after) - result.round[r + 1].movement) < 1e-12);
        study = next;
        before = after;
    }
    assert_nothing_lost(&before, &result);
}

/* Not before the front rests, or there is nothing left to refine. */
static void assert_ends_in_time(const struct result *result, const struct study *study, const struct study *final)
{
    struct study last = *final, next;
    for (int a = 0; a < N_KNOBS; a++) last.space.axis[a].is_auto = study->space.axis[a].is_auto;
    if (result->n_rounds == MOST_ROUNDS) return;
    if (result->n_rounds > 1 && result->round[result->n_rounds - 1].movement <= ROUND_TOLERANCE) return;
    assert_false(round_refine(&next, &last, result, &arena));
}

static void ends_with_the_front_of_its_last_grid(void **state)
{
    struct study study, final;
    struct result result, again, exhaustive;
    read_study(&study, *state);
    omp_set_num_threads(1);
    sweep_study(&result, &study);
    omp_set_num_threads(3);
    sweep_study(&again, &study);
    assert_same_rows(&result, &again);
    final_study(&final, &result);
    sweep_study(&exhaustive, &final);
    assert_same_rows(&result, &exhaustive);
    assert_true(result.joint.n_rows > 0);
    const struct result_round *const last = &result.round[result.n_rounds - 1];
    assert_int_equal(last->n_machines, final.space.n_machines);
    assert_int_equal(last->n_rows, rows_of(&result));
    assert_true(result.round[0].movement == 0.0);
    assert_ends_in_time(&result, &study, &final);
    for (int r = 1; r < result.n_rounds - 1; r++) assert_true(result.round[r].movement > ROUND_TOLERANCE);
    assert_int_equal(again.n_rounds, result.n_rounds);
    for (int r = 0; r < result.n_rounds; r++) {
        assert_int_equal(again.round[r].n_machines, result.round[r].n_machines);
        assert_true(again.round[r].movement == result.round[r].movement);
    }
}

/* Each row again, from the study in the result and the row's id. */
static void rows_can_be_asked_again(void **state)
{
    static struct answer answer;
    struct study study, final;
    struct result result;
    read_study(&study, *state);
    sweep_study(&result, &study);
    final_study(&final, &result);
    for (int s = 0; s < result.n_scenarios; s++)
        for (int64_t i = 0; i < result.scenario[s].n_rows; i++) {
            const struct result_row *const row = &result.scenario[s].row[i];
            ask(&answer, &final, &final.scenario[s], row->id);
            assert_int_equal(answer.reason, REASON_NONE);
            assert_memory_equal(&answer.candidate.hardware, &row->hardware, sizeof row->hardware);
            assert_memory_equal(&answer.candidate.plan, &row->plan, sizeof row->plan);
            assert_memory_equal(answer.explanation.metric, row->metric, sizeof row->metric);
        }
}

static struct study_case nothing_case = {"stages", {"limits={latency: 1 ns}"}};

static void nothing_feasible_is_one_round(void **state)
{
    struct study study;
    struct result result;
    read_study(&study, *state);
    sweep_study(&result, &study);
    assert_int_equal(result.n_rounds, 1);
    assert_int_equal(rows_of(&result), 0);
    assert_true(result.round[0].movement == 0.0);
}

#define TEST(function, of) {#function " " #of, function, NULL, stop, &of##_case}
#define TESTS(of) \
    TEST(rounds_are_as_recorded, of), TEST(ends_with_the_front_of_its_last_grid, of), TEST(rows_can_be_asked_again, of)

int main(void)
{
    const struct CMUnitTest tests[] = {TESTS(stages), TESTS(high), TESTS(limited), TESTS(links),
                                       TEST(nothing_feasible_is_one_round, nothing)};
    return cmocka_run_group_tests_name("rounds", tests, NULL, NULL);
}
