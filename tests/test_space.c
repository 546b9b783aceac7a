/* space: ids and tuples are inverse, work units cover the space, a space too large is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "cosweep/io.h"

/* Axes of every group, out of order. */
static const char text[] =
    "scenarios: [{phase: decode, context: 100, model: llama-3.1-8b}]\n"
    "plan: {tp: [4, 1, 2], cp: [1, 2], pp: [2, 1], batch: [16, 1, 3], kv_mode: [split_seq, replicate]}\n"
    "hardware:\n"
    "  pes_per_cube: [8, 4]\n"
    "  links: {c2c: {topology: [ring, full]}, pe: {bandwidth: [2 GB/s, 1 GB/s]}, d2d: {latency: [1 us, 2 us]}}\n"
    "  pe: {flops: [3 TFLOP/s, 1 TFLOP/s, 2 TFLOP/s], hbm_capacity: [2 GB, 1 GB]}\n"
    "  energy: {idle: [2 W, 0 W]}\n";

/* An id, its digits, its values and its places in the tables of the sweep name the same candidate. */
static void ids_are_tuples(void **state)
{
    struct arena arena = {0};
    struct errors errors = {0};
    struct study study;
    (void)state;
    assert_int_equal(study_parse(&study, text, "study.yaml", &arena, &errors), 0);
    const struct space *const space = &study.space;
    assert_int_equal(space->n_raw, 3 * 2 * 2 * 3 * 2 * 2 * 2 * 2 * 2 * 3 * 2 * 2);
    for (int64_t id = 0; id < space->n_raw; id++) {
        int digit[N_KNOBS];
        double value[N_KNOBS - N_PLAN_KNOBS], again[N_KNOBS - N_PLAN_KNOBS];
        int64_t knob[N_PLAN_KNOBS];
        struct plan plan, lowered_plan;
        struct hardware hardware, parts;
        space_digits(space, id, digit);
        assert_int_equal(space_encode(space, digit), id);
        space_decode(space, id, &plan, &hardware);
        memcpy(knob, &plan, sizeof knob);
        memcpy(value, &hardware, sizeof value);
        for (int a = 0; a < N_KNOBS; a++)
            assert_true((a < N_PLAN_KNOBS ? (double)knob[a] : value[a - N_PLAN_KNOBS]) == space->axis[a].value[digit[a]]);
        const int64_t n_wire = space->n_group[GROUP_WIRE], n_store = space->n_group[GROUP_STORE];
        space_decode_lowered(space, id / space->n_machines, &lowered_plan, &parts);
        space_decode_group(space, GROUP_WORK, id % space->n_machines / (n_wire * n_store), &parts);
        space_decode_group(space, GROUP_WIRE, id / n_store % n_wire, &parts);
        space_decode_group(space, GROUP_STORE, id % n_store, &parts);
        memcpy(again, &parts, sizeof again);
        assert_memory_equal(&plan, &lowered_plan, sizeof plan);
        assert_memory_equal(value, again, sizeof value);
    }
    arena_free(&arena);
}

/* Every lowered index with every tile is in exactly one unit, which is of a size that can be waited for. */
static void units_cover_the_space(void **state)
{
    static const int64_t lowered[] = {1, 4095, 4096, 4097, 1000000};
    static const int64_t work[] = {1, 976, 2048, 2049, 100000}, wire[] = {1, 977, 4097, 123456, 30000000}, store[] = {1, 7};
    (void)state;
    for (int i = 0; i < 5 * 5 * 5 * 2 * 2; i++) {
        struct space space = {.n_lowered = lowered[i % 5]};
        space.n_group[GROUP_WORK] = work[i / 5 % 5];
        space.n_group[GROUP_WIRE] = wire[i / 25 % 5];
        space.n_group[GROUP_STORE] = store[i / 125 % 2];
        space.n_machines = space.n_group[GROUP_WORK] * space.n_group[GROUP_WIRE] * space.n_group[GROUP_STORE];
        const bool pruned = i / 250;
        const struct units units = space_units(&space, pruned);
        const int64_t n_tiles = space_tiles(&space, GROUP_WORK) * space_tiles(&space, GROUP_WIRE), n = units.n / units.parts;
        assert_true(units.n >= 1 && units.lowered_per_unit >= 1 && units.n == n * units.parts);
        assert_true(n * units.lowered_per_unit >= space.n_lowered && (n - 1) * units.lowered_per_unit < space.n_lowered);
        assert_true(units.parts * units.tiles_per_part >= n_tiles && (units.parts - 1) * units.tiles_per_part < n_tiles);
        assert_true(units.parts == 1 || units.lowered_per_unit == 1);
        if (!pruned) assert_true(units.tiles_per_part * (space.n_machines / n_tiles) <= (int64_t)TILE_ROWS * TILE_ROWS * 7);
    }
}

static void a_space_too_large_is_refused(void **state)
{
    static double value[1000];
    struct errors errors = {0};
    struct space space;
    (void)state;
    for (int a = 0; a < N_KNOBS; a++) space.axis[a] = (struct axis_values){.n = 1, .value = value};
    for (int a = 0; a < 6; a++) space.axis[a].n = 1000;
    assert_int_equal(space_finish(&space, &errors, "study.yaml"), 0);
    assert_true(space.n_raw == 1000000000000000000 && space.n_lowered == space.n_raw && space.n_machines == 1);
    space.axis[PLAN_batch + 1].n = 10; /* 10^19 is above 2^63 */
    assert_int_equal(space_finish(&space, &errors, "study.yaml"), -1);
    assert_int_equal(errors.n, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_tuples),
        cmocka_unit_test(units_cover_the_space),
        cmocka_unit_test(a_space_too_large_is_refused),
    };
    return cmocka_run_group_tests_name("space", tests, NULL, NULL);
}
