/* The result file: what is written is read back, equal results are equal bytes, a failure keeps the old file, and a file
 * that is something else is refused with a message. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "result_example.h"

static char folder[] = "./cosweep-store-XXXXXX";
static char path[64], other[64];

static int folder_make(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/a.h5", folder);
    snprintf(other, sizeof other, "%s/b.h5", folder);
    return 0;
}

static int folder_remove(void **state)
{
    (void)state;
    unlink(path);
    unlink(other);
    return rmdir(folder); /* fails if a temporary was left */
}

/* ---- what is written is read ------------------------------------------------------------------------------------- */

/* n values of a column to the bit, NaN included; none where it was not written. */
#define SAME(member, n)                                                                                                     \
    do {                                                                                                                    \
        assert_true((got->member != NULL) == (want->member != NULL));                                                       \
        if (want->member)                                                                                                   \
            assert_memory_equal(got->member, want->member, (size_t)(n) * sizeof *want->member);                             \
    } while (0)

static void same_sensitivity(const struct result_scenario *got, const struct result_scenario *want)
{
    const int64_t n_rows = want->n_rows;
    SAME(doubling.plan_kept, n_rows * N_DOUBLED);
    SAME(doubling.plan_chosen, n_rows * N_DOUBLED);
    SAME(doubling.chosen_id, n_rows * N_DOUBLED);
    SAME(elasticity, n_rows * N_BOUNDS);
    for (int c = 0; c < N_CURVES; c++) {
        const int n = want->curve[c].n;
        assert_int_equal(got->curve[c].n, n);
        SAME(curve[c].value, n);
        SAME(curve[c].latency_s, n_rows * n);
        SAME(curve[c].memory_bytes, n_rows * n);
        SAME(curve[c].reason, n_rows * n);
    }
}

static void same_population(const struct result_scenario *got, const struct result_scenario *want)
{
    for (int a = 0; a < N_KNOBS; a++) {
        const int n = want->effect[a].n;
        assert_int_equal(got->effect[a].n, n);
        assert_true(got->effect[a].variance_share == want->effect[a].variance_share);
        SAME(effect[a].value, n);
        SAME(effect[a].count, n);
        SAME(effect[a].min_s, n);
        SAME(effect[a].mean_ln, n);
        SAME(effect[a].variance_ln, n);
    }
    assert_int_equal(got->n_histograms, want->n_histograms);
    for (int h = 0; h < want->n_histograms; h++) {
        const int *const n = want->histogram[h].n;
        assert_memory_equal(got->histogram[h].metric, want->histogram[h].metric, sizeof want->histogram[h].metric);
        assert_memory_equal(got->histogram[h].n, n, sizeof want->histogram[h].n);
        SAME(histogram[h].edge[0], n[0] + 1);
        SAME(histogram[h].edge[1], n[1] + 1);
        SAME(histogram[h].count, n[0] * n[1]);
    }
    assert_int_equal(got->sample.n, want->sample.n);
    SAME(sample.id, want->sample.n);
    for (int m = 0; m < N_METRICS; m++)
        SAME(sample.metric[m], want->sample.n);
}

static void same_scenario(const struct result_scenario *got, const struct result_scenario *want)
{
    assert_string_equal(got->name, want->name);
    assert_string_equal(got->model, want->model);
    assert_string_equal(got->phase, want->phase);
    assert_string_equal(got->warnings, want->warnings);
    assert_int_equal(got->n_raw, want->n_raw);
    assert_int_equal(got->n_distinct, want->n_distinct);
    assert_int_equal(got->n_feasible, want->n_feasible);
    assert_int_equal(got->n_evaluated, want->n_evaluated);
    assert_memory_equal(got->n_refused, want->n_refused, sizeof got->n_refused);
    assert_int_equal(got->best, want->best);
    assert_int_equal(got->n_rows, want->n_rows);
    SAME(row, want->n_rows);
    same_sensitivity(got, want);
    same_population(got, want);
}

/* The plan's stages are no part of a joint choice. */
static void same_joint(const struct result *got, const struct result *want)
{
    assert_int_equal(got->joint_asked.wanted, want->joint_asked.wanted);
    assert_int_equal(got->joint_asked.metric, want->joint_asked.metric);
    assert_int_equal(got->joint_asked.n_against, want->joint_asked.n_against);
    assert_memory_equal(got->joint_asked.against, want->joint_asked.against, sizeof want->joint_asked.against);
    SAME(joint_asked.weight, want->n_scenarios);
    assert_int_equal(got->joint.n_rows, want->joint.n_rows);
    for (int64_t r = 0; r < want->joint.n_rows; r++) {
        const struct joint_row *const mine = &got->joint.row[r], *const theirs = &want->joint.row[r];
        assert_memory_equal(&mine->hardware, &theirs->hardware, sizeof mine->hardware);
        assert_true(mine->mean == theirs->mean);
        assert_memory_equal(mine->against, theirs->against, sizeof mine->against);
        for (int s = 0; s < want->n_scenarios; s++)
            assert_memory_equal(&mine->choice[s], &theirs->choice[s], offsetof(struct result_row, stage_s));
    }
}

static void same_result(const struct result *got, const struct result *want)
{
    assert_string_equal(got->study_name, want->study_name);
    assert_string_equal(got->created, want->created);
    assert_string_equal(got->study, want->study);
    assert_string_equal(got->revision, "");
    assert_true(got->study_hash == want->study_hash);
    assert_int_equal(got->search, want->search);
    assert_int_equal(got->n_objectives, want->n_objectives);
    assert_memory_equal(got->objective, want->objective, sizeof got->objective);
    assert_int_equal(got->n_limits, want->n_limits);
    assert_true(got->limit[0].metric == METRIC_PES && got->limit[0].value == 1024);
    assert_memory_equal(&got->performance, &want->performance, sizeof got->performance);
    assert_int_equal(got->n_scenarios, want->n_scenarios);
    for (int s = 0; s < want->n_scenarios; s++) /* in the order of the study, not of the alphabet */
        same_scenario(&got->scenario[s], &want->scenario[s]);
    same_joint(got, want);
    assert_int_equal(got->n_rounds, want->n_rounds);
    SAME(round, want->n_rounds);
}

static void round_trip(const struct result *wrote)
{
    static struct result read;
    static struct errors errors;
    struct arena arena = {0};
    assert_int_equal(result_write(wrote, path, &errors), 0);
    assert_int_equal(result_read(&read, path, &arena, &errors), 0);
    same_result(&read, wrote);
    arena_free(&arena);
}

static void written_is_read(void **state)
{
    (void)state;
    static struct result result;
    struct arena arena = {0};
    example_fill(&result, &arena);
    round_trip(&result);
    example_joint(&result, 0, &arena); /* asked for, and no machine runs all scenarios */
    result.search = SEARCH_EXHAUSTIVE;
    result.n_rounds = 0;
    result.round = NULL;
    round_trip(&result);
    result.joint_asked = (struct joint){0};
    result.joint = (struct result_joint){0};
    result.n_scenarios = 1;
    round_trip(&result);
    arena_free(&arena);
}

/* A study may ask for the same thing twice; a file holds it once. */
static void repeated_is_stored_once(void **state)
{
    (void)state;
    static struct result result, read;
    static struct errors errors;
    struct arena arena = {0};
    example_fill(&result, &arena);
    result.scenario[0].histogram[1] = result.scenario[0].histogram[0];
    result.joint_asked.against[1] = result.joint_asked.against[0];
    assert_int_equal(result_write(&result, path, &errors), 0);
    assert_int_equal(result_read(&read, path, &arena, &errors), 0);
    assert_int_equal(read.scenario[0].n_histograms, 1);
    assert_true(read.joint.row[1].against[1] == result.joint.row[1].against[0]);
    arena_free(&arena);
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static size_t file_read(const char *name, char *bytes, size_t most)
{
    FILE *const file = fopen(name, "rb");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, most, file);
    fclose(file);
    return n;
}

static void equal_results_are_equal_bytes(void **state)
{
    (void)state;
    static struct result result;
    static struct errors errors;
    static char one[1 << 20], two[1 << 20];
    struct arena arena = {0};
    example_fill(&result, &arena);
    assert_int_equal(result_write(&result, path, &errors), 0);
    sleep(1); /* a time stamp would differ */
    assert_int_equal(result_write(&result, other, &errors), 0);
    const size_t n = file_read(path, one, sizeof one);
    assert_int_equal(n, file_read(other, two, sizeof two));
    assert_true(n < sizeof one);
    assert_memory_equal(one, two, n);
    arena_free(&arena);
}

/* In a child whose files may not grow beyond 64 kB, as on a full disk. */
static int write_to_full_disk(const struct result *result)
{
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
        static struct errors errors;
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){65536, 65536});
        const int failed = result_write(result, path, &errors);
        _exit(failed && errors.n == 1 && errors.item[0].code == STATUS_SYSTEM ? 0 : 1);
    }
    waitpid(child, &status, 0);
    return status;
}

static void failure_keeps_old_file(void **state)
{
    (void)state;
    static struct result result;
    static struct errors errors;
    static char before[1 << 20], after[1 << 20];
    enum { N_MANY = 1000 };
    struct arena arena = {0};
    example_fill(&result, &arena);
    assert_int_equal(result_write(&result, path, &errors), 0);
    const size_t n = file_read(path, before, sizeof before);
    result.scenario[2].n_rows = N_MANY;
    result.scenario[2].row = arena_alloc(&arena, N_MANY, sizeof(struct result_row));
    assert_int_equal(write_to_full_disk(&result), 0);
    assert_int_equal(n, file_read(path, after, sizeof after));
    assert_memory_equal(before, after, n);
    assert_int_equal(result_write(&result, "/nowhere/at/all.h5", &errors), -1);
    assert_non_null(strstr(errors.item[0].message, "No such file"));
    arena_free(&arena);
}

/* A file cut off anywhere is an error, never a crash. */
static void damaged_files_are_refused(void **state)
{
    (void)state;
    static struct result result, read;
    static char bytes[1 << 20];
    static struct errors written;
    struct arena example = {0};
    example_fill(&result, &example);
    assert_int_equal(result_write(&result, path, &written), 0);
    const size_t n = file_read(path, bytes, sizeof bytes);
    for (size_t length = 0; length < n; length += n / 7 + 1) {
        static struct errors errors;
        struct arena arena = {0};
        errors.n = 0;
        FILE *const file = fopen(other, "wb");
        fwrite(bytes, 1, length, file);
        fclose(file);
        assert_int_equal(result_read(&read, other, &arena, &errors), -1);
        assert_int_equal(errors.n, 1);
        assert_int_equal(errors.item[0].code, STATUS_INPUT);
        arena_free(&arena);
    }
    arena_free(&example);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_is_read),
        cmocka_unit_test(repeated_is_stored_once),
        cmocka_unit_test(equal_results_are_equal_bytes),
        cmocka_unit_test(failure_keeps_old_file),
        cmocka_unit_test(damaged_files_are_refused),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
