/* layout: where ranks sit, and which ranks communicate over which links; by examples worked out by hand from MODEL
 * section 3. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cosweep/plan.h"

static struct fabric fabric(int64_t pes_per_cube, int64_t cubes_per_sip, enum allocation allocation)
{
    return (struct fabric){.pes_per_cube = pes_per_cube,
                           .cubes_per_sip = cubes_per_sip,
                           .allocation = allocation,
                           .tile_rows = 1,
                           .tile_columns = 1,
                           .tile_reduction = 1,
                           .query_tile = 1};
}

static struct layout lay_out(const struct plan *plan, const struct fabric *fabric)
{
    struct layout layout;
    plan_layout(&layout, plan, fabric);
    return layout;
}

static struct plan degrees(int64_t tp, int64_t cp, int64_t pp, int64_t dp)
{
    return (struct plan){.tp = tp, .cp = cp, .pp = pp, .dp = dp, .ep = 1, .batch = 1};
}

/* The block of TP is grown until it straddles nothing it could fit inside: the stride of what comes next. */
static void blocks_are_packed(void **state)
{
    static const struct { int64_t pes_per_cube, cubes_per_sip, size, packed; } rows[] = {
        {8, 4, 1, 1},    {8, 4, 2, 2},    {8, 4, 3, 4},    {8, 4, 5, 8},    {8, 4, 8, 8},    {8, 4, 9, 16},
        {8, 4, 16, 16},  {8, 4, 17, 32},  {8, 4, 32, 32},  {8, 4, 33, 64},  {8, 4, 100, 128}, {6, 3, 2, 2},
        {6, 3, 3, 3},    {6, 3, 4, 6},    {6, 3, 5, 6},    {6, 3, 7, 18},   {6, 3, 13, 18},  {6, 3, 19, 36},
        {72, 1, 5, 6},   {72, 1, 7, 8},   {72, 1, 10, 12}, {72, 1, 13, 18}, {72, 1, 19, 24}, {72, 1, 37, 72},
        {72, 1, 73, 144}, {1, 1, 5, 5},   {1, 6, 4, 6},    {12, 5, 13, 60}, {7, 2, 2, 7},    {7, 2, 8, 14},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct fabric f = fabric(rows[i].pes_per_cube, rows[i].cubes_per_sip, ALLOCATION_CUBE);
        const struct plan plan = degrees(rows[i].size, 2, 1, 1);
        const int64_t packed = lay_out(&plan, &f).stride[AXIS_CP];
        if (packed != rows[i].packed)
            fail_msg("%d in %d x %d: %d, not %d", (int)rows[i].size, (int)rows[i].pes_per_cube, (int)rows[i].cubes_per_sip,
                     (int)packed, (int)rows[i].packed);
    }
}

static void assert_triple(const int64_t got[N_LEVELS], int64_t a, int64_t b, int64_t c)
{
    if (got[0] != a || got[1] != b || got[2] != c)
        fail_msg("{%d, %d, %d}, not {%d, %d, %d}", (int)got[0], (int)got[1], (int)got[2], (int)a, (int)b, (int)c);
}

static void assert_group(const struct layout *layout, unsigned axes, int64_t n, const int64_t span[3],
                         const int64_t spacing[3], const int64_t sharing[3])
{
    struct group group;
    plan_group(&group, layout, axes);
    assert_int_equal(group.n, n);
    assert_triple(group.span, span[0], span[1], span[2]);
    assert_triple(group.spacing, spacing[0], spacing[1], spacing[2]);
    assert_triple(group.sharing, sharing[0], sharing[1], sharing[2]);
}
#define OF(...) ((const int64_t[]){__VA_ARGS__})

/* TP in half a cube, CP over the cubes of a SIP, PP and DP over SIPs. */
static void even_layout(void **state)
{
    const struct fabric f = fabric(8, 4, ALLOCATION_CUBE);
    struct plan plan = degrees(4, 4, 2, 3);
    (void)state;
    plan.cp_placement = PLACEMENT_CUBE;
    const struct layout l = lay_out(&plan, &f);
    assert_true(l.stride[AXIS_TP] == 1 && l.stride[AXIS_CP] == 8 && l.stride[AXIS_PP] == 32 && l.stride[AXIS_DP] == 64);
    assert_true(l.used == 96 && l.pes == 192 && l.cubes == 24 && l.sips == 6);
    assert_group(&l, AXES_TP, 4, OF(4, 1, 1), OF(1, 1, 1), OF(1, 1, 4));
    assert_group(&l, AXES_CP, 4, OF(1, 4, 1), OF(1, 1, 1), OF(1, 4, 4));
    assert_group(&l, AXES_TP | AXES_CP, 16, OF(4, 4, 1), OF(1, 1, 1), OF(1, 1, 1));
    assert_group(&l, AXES_PP, 2, OF(1, 1, 2), OF(1, 1, 1), OF(1, 4, 16));
    assert_group(&l, AXES_DP, 3, OF(1, 1, 3), OF(1, 1, 2), OF(1, 4, 16));
    assert_group(&l, AXES_PP | AXES_DP, 6, OF(1, 1, 6), OF(1, 1, 1), OF(1, 4, 16));
    assert_group(&l, 0, 1, OF(1, 1, 1), OF(1, 1, 1), OF(1, 4, 16));
}

/* CP of 5 in cubes of 6 whose neighbours are two apart: three in one cube, the rest in the next. */
static void odd_layout(void **state)
{
    const struct fabric f = fabric(6, 3, ALLOCATION_CUBE);
    const struct plan plan = degrees(2, 5, 1, 1);
    (void)state;
    const struct layout l = lay_out(&plan, &f);
    assert_true(l.stride[AXIS_TP] == 1 && l.stride[AXIS_CP] == 2);
    assert_true(l.used == 10 && l.pes == 18 && l.cubes == 3 && l.sips == 1);
    assert_triple(l.span[AXIS_CP], 3, 2, 1);
    assert_triple(l.spacing[AXIS_CP], 2, 1, 1);
    assert_group(&l, AXES_TP, 2, OF(2, 1, 1), OF(1, 1, 1), OF(1, 3, 6));
    assert_group(&l, AXES_CP, 5, OF(3, 2, 1), OF(2, 1, 1), OF(1, 2, 2));
    assert_group(&l, AXES_TP | AXES_CP, 10, OF(6, 2, 1), OF(1, 1, 1), OF(1, 1, 1));
}

/* TP of 40 over three SIPs of 18; CP copies are then three SIPs apart. */
static void layout_over_sips(void **state)
{
    const struct fabric f = fabric(6, 3, ALLOCATION_PE);
    const struct plan plan = degrees(40, 2, 1, 1);
    (void)state;
    const struct layout l = lay_out(&plan, &f);
    assert_true(l.stride[AXIS_CP] == 54 && l.used == 80 && l.pes == 80 && l.cubes == 18 && l.sips == 6);
    assert_group(&l, AXES_TP, 40, OF(6, 3, 3), OF(1, 1, 1), OF(1, 1, 1));
    assert_group(&l, AXES_CP, 2, OF(1, 1, 2), OF(1, 1, 3), OF(1, 6, 18));
}

static void placement_in_cubes(void **state)
{
    const struct fabric f = fabric(8, 4, ALLOCATION_CUBE);
    struct plan plan = degrees(4, 2, 1, 1);
    (void)state;
    plan.tp_placement = PLACEMENT_CUBE; /* CP inside, TP over cubes */
    struct layout l = lay_out(&plan, &f);
    assert_true(l.stride[AXIS_CP] == 1 && l.stride[AXIS_TP] == 8 && l.cubes == 4);
    assert_group(&l, AXES_TP, 4, OF(1, 4, 1), OF(1, 1, 1), OF(1, 2, 2));

    plan = degrees(2, 2, 1, 1); /* both over cubes: CP's neighbours are two cubes apart */
    plan.tp_placement = plan.cp_placement = PLACEMENT_CUBE;
    l = lay_out(&plan, &f);
    assert_true(l.stride[AXIS_TP] == 8 && l.stride[AXIS_CP] == 16);
    assert_group(&l, AXES_CP, 2, OF(1, 2, 1), OF(1, 2, 1), OF(1, 1, 2));
    assert_group(&l, AXES_TP | AXES_CP, 4, OF(1, 4, 1), OF(1, 1, 1), OF(1, 1, 1));

    plan = degrees(1, 2, 3, 1); /* an axis of one rank moves nobody to the next cube */
    plan.tp_placement = PLACEMENT_CUBE;
    l = lay_out(&plan, &f);
    assert_true(l.stride[AXIS_CP] == 1 && l.stride[AXIS_PP] == 2 && l.cubes == 1);
    assert_triple(l.span[AXIS_PP], 3, 1, 1);
    assert_triple(l.spacing[AXIS_PP], 2, 1, 1);
}

static void allocation_rounds_up(void **state)
{
    static const struct { enum allocation allocation; int64_t pes, cubes; } rows[] = {
        {ALLOCATION_PE, 12, 2},
        {ALLOCATION_CUBE, 16, 2},
        {ALLOCATION_SIP, 32, 4},
    };
    const struct plan plan = degrees(3, 1, 4, 1); /* a block of 3 takes 4, so 16 are spanned */
    (void)state;
    for (int i = 0; i < 3; i++) {
        const struct fabric f = fabric(8, 4, rows[i].allocation);
        const struct layout l = lay_out(&plan, &f);
        assert_true(l.used == 12 && l.sips == 1);
        assert_int_equal(l.pes, rows[i].pes);
        assert_int_equal(l.cubes, rows[i].cubes);
    }
}

static void subgroups_take_the_nearest(void **state)
{
    const struct group eight = {8, {4, 2, 1}, {2, 3, 1}, {1, 5, 7}}, twelve = {12, {4, 3, 1}, {1, 1, 1}, {1, 1, 1}};
    const struct group over_sips = {36, {3, 3, 4}, {1, 1, 2}, {1, 2, 2}};
    struct group near, rest;
    (void)state;
    plan_subgroup(&near, &rest, &eight, 2);
    assert_true(near.n == 2 && rest.n == 4);
    assert_triple(near.span, 2, 1, 1);
    assert_triple(near.spacing, 2, 3, 1);
    assert_triple(near.sharing, 1, 5 * 2, 7 * 4);
    assert_triple(rest.span, 2, 2, 1);
    assert_triple(rest.spacing, 4, 3, 1);
    assert_triple(rest.sharing, 1, 5 * 2, 7 * 2);

    plan_subgroup(&near, &rest, &twelve, 6); /* a cube and a half */
    assert_triple(near.span, 4, 2, 1);
    assert_triple(near.sharing, 1, 1, 2);
    assert_triple(rest.span, 1, 2, 1);
    assert_triple(rest.spacing, 4, 2, 1);
    assert_triple(rest.sharing, 1, 4, 8);

    plan_subgroup(&near, &rest, &over_sips, 18); /* two SIPs of four */
    assert_triple(near.span, 3, 3, 2);
    assert_triple(near.sharing, 1, 2, 2);
    assert_triple(rest.span, 1, 1, 2);
    assert_triple(rest.spacing, 3, 3, 4);
    assert_triple(rest.sharing, 1, 6, 18);

    plan_subgroup(&near, &rest, &eight, 1); /* nobody, and everybody */
    assert_true(near.n == 1 && rest.n == 8);
    assert_triple(near.span, 1, 1, 1);
    assert_memory_equal(&rest, &eight, sizeof rest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_packed),    cmocka_unit_test(even_layout),
        cmocka_unit_test(odd_layout),           cmocka_unit_test(layout_over_sips),
        cmocka_unit_test(placement_in_cubes),   cmocka_unit_test(allocation_rounds_up),
        cmocka_unit_test(subgroups_take_the_nearest),
    };
    return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
