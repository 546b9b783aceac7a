/* Hints and relaxations are what an evaluation says: each reported change, made again, gives the reported numbers; none that
 * is better is missing; a relaxation makes feasible what a little less does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "random_candidates.h"
#include "run/change.h"

static struct candidate candidate_at_random(void)
{
    static struct random_candidate c;
    struct candidate candidate;
    random_candidate(&c);
    candidate.scenario = c.scenario;
    candidate.plan = c.plan;
    candidate.hardware = c.hardware;
    candidate.hardware.hbm_capacity = 1e15;
    return candidate;
}

static void change(struct candidate *candidate, const struct change *made)
{
    if (made->of == CHANGE_PLAN)
        ((int64_t *)&candidate->plan)[made->knob] = (int64_t)made->after;
    if (made->of == CHANGE_HARDWARE)
        ((double *)&candidate->hardware)[made->knob] = made->after;
}

static void hints_are_evaluated(void **state)
{
    static struct answer before, after;
    (void)state;
    random_state = 61;
    for (int i = 0; i < 200; i++) {
        const struct candidate candidate = candidate_at_random();
        struct hint hint[MAX_HINTS];
        answer_candidate(&before, &candidate, NULL, 0);
        const int n = hints_find(hint, &before, NULL, 0);
        for (int h = 0; h < n; h++) {
            struct candidate other = before.candidate;
            change(&other, &hint[h].change);
            answer_candidate(&after, &other, NULL, 0);
            assert_int_equal(after.reason, REASON_NONE);
            assert_memory_equal(after.explanation.metric, hint[h].metric, sizeof hint[h].metric);
            assert_true(hint[h].metric[METRIC_LATENCY] < before.explanation.metric[METRIC_LATENCY]);
            if (hint[h].is_free)
                assert_true(hint[h].change.of == CHANGE_PLAN &&
                            hint[h].metric[METRIC_COST] <= before.explanation.metric[METRIC_COST] &&
                            hint[h].metric[METRIC_THROUGHPUT] >= before.explanation.metric[METRIC_THROUGHPUT]);
            if (h == 0)
                continue;
            assert_true(hint[h - 1].is_free >= hint[h].is_free);
            assert_true(hint[h - 1].is_free != hint[h].is_free ||
                        hint[h - 1].metric[METRIC_LATENCY] <= hint[h].metric[METRIC_LATENCY]);
        }
    }
}

/* Nothing that is not free and not listed is better than the last of the list. */
static void best_changes_are_listed(void **state)
{
    static struct answer before, after;
    (void)state;
    random_state = 62;
    for (int i = 0; i < 100; i++) {
        const struct candidate candidate = candidate_at_random();
        struct hint hint[MAX_HINTS];
        struct change all[MAX_CHANGES];
        answer_candidate(&before, &candidate, NULL, 0);
        const int n = hints_find(hint, &before, NULL, 0), n_changes = candidate_neighbours(all, &before.candidate);
        const double worst = n == MAX_HINTS ? hint[n - 1].metric[METRIC_LATENCY] : before.explanation.metric[METRIC_LATENCY];
        if (n == MAX_HINTS && hint[n - 1].is_free)
            continue;
        for (int c = 0; c < n_changes; c++) {
            struct candidate other = before.candidate;
            bool listed = false;
            change(&other, &all[c]);
            answer_candidate(&after, &other, NULL, 0);
            for (int h = 0; h < n; h++)
                listed |= hint[h].change.of == all[c].of && hint[h].change.knob == all[c].knob &&
                          hint[h].change.after == all[c].after;
            if (!listed && after.reason == REASON_NONE)
                assert_true(after.explanation.metric[METRIC_LATENCY] >= worst * (1.0 - 1e-6));
        }
    }
}

/* Twice the capacity, half the context's share, or a neighbour in between: a candidate a little too large is made to fit. */
static void capacity_is_relaxed_by_what_is_missing(void **state)
{
    static struct answer answer;
    (void)state;
    random_state = 63;
    for (int i = 0; i < 40; i++) {
        struct candidate candidate = candidate_at_random();
        static struct relaxation found[MAX_RELAXATIONS];
        answer_candidate(&answer, &candidate, NULL, 0);
        const double bytes = answer.demand.weight_bytes + answer.demand.kv_bytes + answer.demand.activation_bytes;
        candidate.plan = answer.candidate.plan;
        candidate.hardware.reserve = 0.0;
        candidate.hardware.reserve_fraction = 0.0;
        candidate.hardware.hbm_capacity = bytes / 1.3;
        answer_candidate(&answer, &candidate, NULL, 0);
        assert_int_equal(answer.reason, REASON_MEMORY);
        const int n = relaxations_find(found, &candidate, 1, NULL, 0);
        assert_true(n > 0);
        bool capacity = n == MAX_RELAXATIONS && found[n - 1].factor <= 1.3;
        for (int r = 0; r < n; r++) {
            answer_candidate(&answer, &found[r].candidate, NULL, 0);
            assert_int_equal(answer.reason, REASON_NONE);
            assert_true(r == 0 || found[r - 1].factor <= found[r].factor);
            if (found[r].change.of != CHANGE_HARDWARE || found[r].change.knob != HW_hbm_capacity)
                continue;
            capacity = true;
            assert_true(found[r].factor >= 1.3 * (1.0 - 1e-9) && found[r].factor < 1.32);
        }
        assert_true(capacity);
    }
}

static void limits_are_relaxed(void **state)
{
    static struct answer answer;
    static struct relaxation found[MAX_RELAXATIONS];
    struct limit limit = {METRIC_PES, 0.0};
    (void)state;
    random_state = 64;
    const struct candidate candidate = candidate_at_random();
    answer_candidate(&answer, &candidate, NULL, 0);
    limit.value = answer.explanation.metric[METRIC_PES] / 1.1;
    answer_candidate(&answer, &candidate, &limit, 1);
    assert_int_equal(answer.reason, REASON_LIMIT);
    const int n = relaxations_find(found, &candidate, 1, &limit, 1);
    bool told = false;
    for (int r = 0; r < n; r++)
        told |= found[r].change.of == CHANGE_LIMIT && found[r].factor >= 1.1 * (1 - 1e-9) && found[r].factor < 1.12;
    assert_true(told || found[n - 1].factor <= 1.1);
}

/* A study whose machines are all too small: its nearest plan is told with what it lacks. */
static void a_study_is_relaxed(void **state)
{
    static const char text[] = "study: small\n"
                               "scenarios: [{name: one, model: llama-3-8b, phase: decode, context: 8k}]\n"
                               "plan: {tp: [1, 2, 4, 8], batch: [1, 8]}\n"
                               "hardware: {base: sip, reserve_fraction: 0, pe: {hbm_capacity: [1 GB, 2 GB]}}\n"
                               "objectives: [latency, cost]\n";
    static struct relaxation found[MAX_RELAXATIONS];
    static struct answer answer;
    static struct study study;
    struct errors errors = {0};
    struct arena arena = {0};
    char path[64];
    (void)state;
    assert_int_equal(study_parse(&study, text, "test", &arena, &errors), 0);
    const int n = relaxations_of_study(found, &study, 0);
    assert_true(n > 0);
    answer_candidate(&answer, &found[0].candidate, study.limit, study.n_limits);
    assert_int_equal(answer.reason, REASON_NONE);
    assert_string_equal(change_path(path, &found[0].change, study.limit), "hardware.pe.hbm_capacity");
    assert_true(found[0].candidate.plan.tp == 8 && found[0].candidate.plan.batch == 1);
    assert_true(found[0].factor > 1.0 &&
                found[0].factor < 1.2); /* 16.06 GB of weights and 1.07 GB of cache over 8 PEs of 2 GB */
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hints_are_evaluated),
        cmocka_unit_test(best_changes_are_listed),
        cmocka_unit_test(capacity_is_relaxed_by_what_is_missing),
        cmocka_unit_test(limits_are_relaxed),
        cmocka_unit_test(a_study_is_relaxed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
