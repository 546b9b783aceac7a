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

#include "cosweep/io.h"

static char folder[] = "/tmp/cosweep-store-XXXXXX";
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

/* Every number differs from every other, so that a swapped column is seen. */
static void row_fill(struct result_row *row, int i)
{
    double next = 1000.0 * i + 0.5;
    row->id = INT64_C(9007199254740993) + i; /* is no double */
    row->n_equal = i + 1;
    row->plan = (struct plan){.tp = 8 + i, .cp = 2, .pp = 3, .dp = 4, .ep = 5, .batch = 6, .tp_placement = 1, .kv_mode = 2};
#define X(member, ...) row->hardware.member = next += 1;
    HARDWARE_KNOBS(X)
#undef X
    row->hardware.allocation = 2;
    row->hardware.gqa_reuse = 1;
    row->hardware.pe_topology = 1;
    row->hardware.d2d_topology = 4;
    row->hardware.c2c_topology = 5;
    row->hardware.pes_per_cube = row->hardware.cubes_per_sip = 4;
    row->hardware.gemm_tile_rows = row->hardware.gemm_tile_columns = row->hardware.gemm_tile_reduction = 16;
    row->hardware.attention_query_tile = 1024;
    for (int m = 0; m < N_METRICS; m++)
        row->metric[m] = next += 1;
    row->metric[METRIC_PES] = row->metric[METRIC_CUBES] = row->metric[METRIC_SIPS] = 32 + i;
    row->weight_bytes = next += 1;
    row->kv_bytes = next += 1;
    row->activation_bytes = next += 1;
    for (int s = 0; s < N_STAGES; s++) {
        row->stage_s[s] = next += 1;
        row->stage_bound[s] = (enum bound)((s + i) % N_BOUNDS);
    }
}

enum { N_TEST_ROWS = 3 };

static void result_fill(struct result *result, struct result_scenario scenario[2], struct result_row *row)
{
    static char study[] = "study: test\nscenarios: []\n";
    *result = (struct result){.study_name = "test", .created = "2000-01-01T00:00:00Z", .program = "cosweep test",
                              .compiler = "cc", .flags = "-O3", .simd = "none", .study = study,
                              .study_hash = UINT64_C(0xfedcba9876543210), .n_objectives = 2,
                              .objective = {METRIC_LATENCY, METRIC_COST}, .n_limits = 1, .limit = {{METRIC_PES, 1024}},
                              .n_scenarios = 2, .scenario = scenario,
                              .performance = {1.5, 1.25, 0.125, 1e9, 1.0625, 4, 8}};
    scenario[0] = (struct result_scenario){.name = "zeta", .model = "m", .phase = "decode", .warnings = "left out a bias",
                                           .n_raw = 100, .n_distinct = 60, .n_feasible = 40, .n_evaluated = 50,
                                           .n_refused = {[REASON_MEMORY] = 13, [REASON_LIMIT] = 7}, .n_rows = N_TEST_ROWS,
                                           .row = row, .best = 1};
    scenario[1] = (struct result_scenario){.name = "alpha", .model = "m", .phase = "prefill", .n_raw = 9, .n_distinct = 9,
                                           .n_refused = {[REASON_MEMORY] = 9}, .best = -1}; /* nothing feasible */
    for (int i = 0; i < N_TEST_ROWS; i++)
        row_fill(&row[i], i);
}

static void written_is_read(void **state)
{
    (void)state;
    static struct result_row row[N_TEST_ROWS];
    static struct result wrote, read;
    static struct errors errors;
    struct result_scenario scenario[2];
    struct arena arena = {0};
    result_fill(&wrote, scenario, row);
    assert_int_equal(result_write(&wrote, path, &errors), 0);
    assert_int_equal(result_read(&read, path, &arena, &errors), 0);
    assert_string_equal(read.study_name, wrote.study_name);
    assert_string_equal(read.study, wrote.study);
    assert_string_equal(read.revision, "");
    assert_true(read.study_hash == wrote.study_hash);
    assert_int_equal(read.n_objectives, 2);
    assert_int_equal(read.objective[1], METRIC_COST);
    assert_int_equal(read.n_limits, 1);
    assert_true(read.limit[0].metric == METRIC_PES && read.limit[0].value == 1024);
    assert_memory_equal(&read.performance, &wrote.performance, sizeof read.performance);
    assert_int_equal(read.n_scenarios, 2);
    for (int s = 0; s < 2; s++) { /* in the order of the study, not of the alphabet */
        const struct result_scenario *const got = &read.scenario[s], *const want = &scenario[s];
        assert_string_equal(got->name, want->name);
        assert_string_equal(got->phase, want->phase);
        assert_string_equal(got->warnings, want->warnings);
        assert_int_equal(got->n_raw, want->n_raw);
        assert_int_equal(got->n_distinct, want->n_distinct);
        assert_int_equal(got->n_feasible, want->n_feasible);
        assert_int_equal(got->n_evaluated, want->n_evaluated);
        assert_memory_equal(got->n_refused, want->n_refused, sizeof got->n_refused);
        assert_int_equal(got->best, want->best);
        assert_int_equal(got->n_rows, want->n_rows);
        for (int64_t i = 0; i < got->n_rows; i++)
            assert_memory_equal(&got->row[i], &want->row[i], sizeof got->row[i]);
    }
    arena_free(&arena);
}

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
    static struct result_row row[N_TEST_ROWS];
    static struct result result;
    static struct errors errors;
    static char one[1 << 20], two[1 << 20];
    struct result_scenario scenario[2];
    result_fill(&result, scenario, row);
    assert_int_equal(result_write(&result, path, &errors), 0);
    sleep(1); /* a time stamp would differ */
    assert_int_equal(result_write(&result, other, &errors), 0);
    const size_t n = file_read(path, one, sizeof one);
    assert_int_equal(n, file_read(other, two, sizeof two));
    assert_memory_equal(one, two, n);
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
    struct result_row *const row = calloc(N_MANY, sizeof *row);
    struct result_scenario scenario[2];
    assert_non_null(row);
    result_fill(&result, scenario, row);
    assert_int_equal(result_write(&result, path, &errors), 0);
    const size_t n = file_read(path, before, sizeof before);
    scenario[0].n_rows = N_MANY;
    assert_int_equal(write_to_full_disk(&result), 0);
    assert_int_equal(n, file_read(path, after, sizeof after));
    assert_memory_equal(before, after, n);
    assert_int_equal(result_write(&result, "/nowhere/at/all.h5", &errors), -1);
    assert_non_null(strstr(errors.item[0].message, "No such file"));
    free(row);
}

/* Any byte may be wrong: an error or a result, never a crash. */
static void damaged_files_are_refused(void **state)
{
    (void)state;
    static struct result_row row[N_TEST_ROWS];
    static struct result result, read;
    static char bytes[1 << 20];
    struct result_scenario scenario[2];
    static struct errors written;
    result_fill(&result, scenario, row);
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
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_is_read),
        cmocka_unit_test(equal_results_are_equal_bytes),
        cmocka_unit_test(failure_keeps_old_file),
        cmocka_unit_test(damaged_files_are_refused),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
