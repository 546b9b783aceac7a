/* evaluate: rooflines, collectives and hops on machines whose times can be worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "cosweep/evaluate.h"
#include "cosweep/lower.h"

static struct arena arena;

static int stop(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static void assert_near(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-12 * fabs(expected))) fail_msg("%.17g, not %.17g", got, expected);
}

/* One unit of everything per second; no hop latency, no fixed times. */
static struct hardware unit_machine(void)
{
    struct hardware h = {0};
    h.flops = h.vector_flops = h.hbm_bandwidth = h.pe_bandwidth = h.d2d_bandwidth = h.c2c_bandwidth = 1.0;
    h.fp8_ratio = h.fp16_ratio = h.int8_ratio = h.fp4_ratio = 1.0;
    h.gemm_efficiency = h.attention_efficiency = h.hbm_efficiency = h.kv_efficiency = 1.0;
    h.pe_link_efficiency = h.d2d_link_efficiency = h.c2c_link_efficiency = 1.0;
    h.hbm_capacity = 1.0;
    return h;
}

static double step_of(const struct demand *demand, const struct hardware *hardware, enum dtype compute)
{
    static struct explanation explanation;
    explain_candidate(&explanation, demand, hardware, compute);
    return explanation.step_s;
}

/* ---- rooflines --------------------------------------------------------------------------------------------------- */

/* Three layers of a GEMM stage and an attention stage. */
static struct demand two_stages(void)
{
    struct demand d = {.n_kinds = 1, .n_rows = 2, .n_forms = 1, .pipeline_collective = -1, .pes = 1, .tokens = 1.0};
    d.kind[0].n_layers = 3;
    d.row[0] = (struct stage_row){.stage = STAGE_QKV_PROJ, .flop = 100.0, .vector_flop = 10.0, .hbm_bytes = 40.0};
    d.row[1] = (struct stage_row){.stage = STAGE_ATTENTION, .flop = 7.0, .vector_flop = 9.0, .hbm_bytes = 8.0};
    d.form[0][0] = 3.0;
    d.latency_per_step = 1.0;
    d.pipeline_hop.top = -1;
    return d;
}

static void the_slowest_resource_counts(void **state)
{
    struct demand d = two_stages();
    struct hardware h = unit_machine();
    (void)state;
    assert_near(step_of(&d, &h, DTYPE_BF16), 3 * (100 + 9));
    h.flops = 4; /* 25 s of GEMM, 1.75 s of attention */
    assert_near(step_of(&d, &h, DTYPE_BF16), 3 * (40 + 9));
    h.fp8_ratio = 2; /* of GEMMs only */
    h.hbm_bandwidth = 8;
    assert_near(step_of(&d, &h, DTYPE_BF16), 3 * (25 + 9));
    assert_near(step_of(&d, &h, DTYPE_FP8), 3 * (12.5 + 9));
    h.vector_flops = 0.5;
    assert_near(step_of(&d, &h, DTYPE_FP8), 3 * (20 + 18));
    d.row[1].flop = 100; /* attention stays in bf16 */
    assert_near(step_of(&d, &h, DTYPE_FP8), 3 * (20 + 25));
}

static void efficiencies_and_fixed_times(void **state)
{
    const struct demand d = two_stages();
    struct hardware h = unit_machine();
    (void)state;
    h.gemm_efficiency = 0.5;
    assert_near(step_of(&d, &h, DTYPE_BF16), 3 * (200 + 9));
    h.attention_efficiency = 0.25; /* 28 s of products, 36 s of softmax */
    assert_near(step_of(&d, &h, DTYPE_BF16), 3 * (200 + 36));
    h.hbm_efficiency = 0.1;
    assert_near(step_of(&d, &h, DTYPE_BF16), 3 * (400 + 36));
    h.kv_efficiency = 0.1;
    assert_near(step_of(&d, &h, DTYPE_BF16), 3 * (400 + 80));
    h.kernel_overhead = 1000;
    h.attention_overhead = 20000;
    h.step_overhead = 1e6;
    assert_near(step_of(&d, &h, DTYPE_BF16), 3 * (400 + 1000 + 80 + 20000) + 1e6);
}

static void the_longest_form_counts(void **state)
{
    struct demand d = two_stages();
    const struct hardware h = unit_machine();
    (void)state;
    d.n_forms = 2;
    d.row[1].part = EDGE_HEAD;
    d.row[1].stage = STAGE_LM_HEAD;
    d.form[0][EDGE_HEAD] = 1.0;      /* 3 * 100 + 9 */
    d.form[1][0] = 2.0;
    d.form[1][EDGE_HEAD] = 12.0;     /* 2 * 100 + 12 * 9 */
    assert_near(step_of(&d, &h, DTYPE_BF16), 309);
    d.form[1][EDGE_HEAD] = 13.0;
    assert_near(step_of(&d, &h, DTYPE_BF16), 317);
}

static void memory_fits_or_not(void **state)
{
    struct demand d = two_stages();
    struct hardware h = unit_machine();
    struct store_rates store;
    (void)state;
    store_rates_init(&store, 1, &arena);
    d.weight_bytes = 60;
    d.kv_bytes = 20;
    d.activation_bytes = 5;
    h.hbm_capacity = 100;
    h.reserve_fraction = 0.125;
    h.reserve = 2.5; /* exactly what it takes */
    store_rates_set(&store, 0, &h);
    assert_true(evaluate_fits(&d, &store, 0));
    d.activation_bytes = 5.0000001;
    assert_false(evaluate_fits(&d, &store, 0));
}

/* ---- collectives ------------------------------------------------------------------------------------------------- */

/* Hand-computed coefficients of n nodes `spacing` apart of a level with `nodes` (MODEL section 4). */
static const struct {
    enum topology topology;
    int64_t nodes, n, spacing;
    double diameter, all_gather, all_reduce, all_to_all;
} shapes[] = {
    {TOPOLOGY_FULL, 8, 8, 1, 1, 1 / 8.0, 2 / 8.0, 1 / 8.0},
    {TOPOLOGY_SWITCH, 8, 8, 1, 1, 7 / 8.0, 14 / 8.0, 7 / 8.0},
    {TOPOLOGY_SWITCH, 8, 2, 4, 1, 1 / 2.0, 1, 1 / 2.0},
    {TOPOLOGY_SWITCH_REDUCE, 8, 8, 1, 1, 7 / 8.0, 9 / 8.0, 7 / 8.0},
    {TOPOLOGY_RING, 8, 8, 1, 4, 7 / 16.0, 7 / 8.0, 1},      /* n/2 hops */
    {TOPOLOGY_RING, 8, 4, 1, 3, 3 / 4.0, 1, 1},             /* half of it is a line */
    {TOPOLOGY_RING, 6, 3, 2, 2, 2 / 3.0, 4 / 3.0, 2 / 3.0}, /* every second node, around */
    {TOPOLOGY_RING, 2, 2, 1, 1, 1 / 2.0, 1, 1 / 2.0},       /* two nodes have one link */
    {TOPOLOGY_MESH2D, 8, 8, 1, 4, 7 / 16.0, 7 / 10.0, 1},   /* 4 x 2 */
    {TOPOLOGY_TORUS2D, 16, 16, 1, 4, 15 / 64.0, 15 / 32.0, 1 / 2.0},
    {TOPOLOGY_TORUS2D, 16, 4, 2, 3, 1 / 2.0, 1, 1},         /* two columns of two, columns two apart */
    {TOPOLOGY_TORUS2D, 7, 7, 1, 3, 3 / 7.0, 6 / 7.0, 6 / 7.0}, /* a prime is a ring */
};

static struct fabric fabric(enum topology pe, enum topology d2d, enum topology c2c, int64_t pes_per_cube,
                            int64_t cubes_per_sip)
{
    return (struct fabric){.pes_per_cube = pes_per_cube,
                           .cubes_per_sip = cubes_per_sip,
                           .topology = {pe, d2d, c2c},
                           .tile_rows = 1,
                           .tile_columns = 1,
                           .tile_reduction = 1,
                           .query_tile = 1,
                           .gqa_reuse = true};
}

static void assert_leg(const struct leg *leg, double hops, double load, double pe_port, double cube_port)
{
    assert_near(leg->hops, hops);
    assert_near(leg->load_bytes, load);
    assert_near(leg->pe_port_bytes, pe_port);
    assert_near(leg->cube_port_bytes, cube_port);
}

static void shapes_of_one_level(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const struct fabric f = fabric(shapes[i].topology, TOPOLOGY_SWITCH, TOPOLOGY_SWITCH, shapes[i].nodes, 1);
        const int64_t n = shapes[i].n;
        const struct group group = {n, {n, 1, 1}, {shapes[i].spacing, 1, 1}, {1, 1, 1}};
        const double bytes = 1000.0, diameter = shapes[i].diameter, out = (double)(n - 1) / (double)n * bytes;
        double wire[N_LEVELS] = {0.0};
        struct collective c = lower_collective(ALL_GATHER, &group, bytes, &f, 1, wire);
        assert_int_equal(c.top, 0);
        assert_false(c.has_one_shot);
        assert_leg(&c.leg[0], diameter, shapes[i].all_gather * bytes, 0, 0);
        assert_near(wire[0], out);
        c = lower_collective(REDUCE_SCATTER, &group, bytes, &f, 1, wire);
        assert_leg(&c.leg[0], diameter, shapes[i].all_gather * bytes, 0, 0);
        c = lower_collective(ALL_REDUCE, &group, bytes, &f, 1, wire);
        assert_true(c.has_one_shot);
        assert_leg(&c.leg[0], 2 * diameter, shapes[i].all_reduce * bytes, 0, 0);
        assert_leg(&c.one_shot, diameter, (double)n * shapes[i].all_gather * bytes, 0, 0);
        assert_near(wire[0], 4 * out);
        c = lower_collective(ALL_TO_ALL, &group, bytes, &f, 1, wire);
        assert_leg(&c.leg[0], diameter, shapes[i].all_to_all * bytes, 0, 0);
        assert_near(wire[0], 5 * out);
    }
}

/* Two PEs of a cube on a switch, two cubes fully linked, two SIPs on a ring; 3 groups share a D2D link, 5 a C2C link. */
static void all_levels_at_once(void **state)
{
    const struct fabric f = fabric(TOPOLOGY_SWITCH, TOPOLOGY_FULL, TOPOLOGY_RING, 4, 2);
    const struct group group = {8, {2, 2, 2}, {1, 1, 1}, {1, 3, 5}};
    double wire[N_LEVELS] = {0.0};
    (void)state;
    struct collective c = lower_collective(ALL_REDUCE, &group, 64, &f, 2, wire);
    assert_int_equal(c.top, 2);
    assert_leg(&c.leg[0], 2, 64, 0, 0);
    assert_leg(&c.leg[1], 2, 192, 32, 0);
    assert_leg(&c.leg[2], 2, 320, 16, 96);
    assert_leg(&c.one_shot, 1, 320, 16, 96);
    assert_true(wire[0] == 64 && wire[1] == 32 && wire[2] == 16);
    c = lower_collective(ALL_GATHER, &group, 64, &f, 2, wire);
    assert_leg(&c.leg[0], 1, 32, 0, 0);
    assert_leg(&c.leg[1], 1, 96, 16, 0);
    assert_leg(&c.leg[2], 1, 160, 8, 48);
    c = lower_collective(ALL_TO_ALL, &group, 64, &f, 2, wire);
    assert_leg(&c.leg[0], 1, 0.5 * 16, 0, 0);             /* 64 * 2/8 */
    assert_leg(&c.leg[1], 1, 0.5 * 3 * 2 * 32, 16, 0);    /* 64 * 4/8 */
    assert_leg(&c.leg[2], 1, 0.5 * 5 * 4 * 64, 32, 192);
    c = lower_collective(ALL_REDUCE, &group, 0, &f, 2, wire);
    assert_int_equal(c.top, -1);
}

/* A level with one node costs nothing, whatever is above it. */
static void levels_of_one_node_are_free(void **state)
{
    const struct fabric f = fabric(TOPOLOGY_SWITCH, TOPOLOGY_SWITCH, TOPOLOGY_RING, 4, 4);
    const struct group cubes = {4, {1, 4, 1}, {1, 1, 1}, {1, 1, 1}}, nobody = {1, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
    (void)state;
    for (int kind = ALL_GATHER; kind <= ALL_TO_ALL; kind++) {
        double wire[N_LEVELS] = {0.0};
        const struct collective c = lower_collective((enum collective_kind)kind, &cubes, 64, &f, 2, wire);
        assert_int_equal(c.top, 1);
        assert_leg(&c.leg[0], 0, 0, 0, 0);
        assert_leg(&c.leg[2], 0, 0, 0, 0);
        assert_true(wire[0] == 0.0 && wire[1] > 0.0 && wire[2] == 0.0);
        assert_int_equal(lower_collective((enum collective_kind)kind, &nobody, 64, &f, 2, wire).top, -1);
    }
}

/* One stage that does nothing but one collective. */
static struct demand exchange(const struct collective *collective)
{
    struct demand d = {.n_kinds = 1, .n_rows = 1, .n_forms = 1, .n_collectives = 1, .pipeline_collective = -1, .pes = 1};
    d.tokens = d.latency_per_step = d.form[0][0] = 1.0;
    d.kind[0].n_layers = 1;
    d.row[0] = (struct stage_row){.stage = STAGE_COMBINE, .n_collectives = 1};
    d.collective[0] = *collective;
    d.pipeline_hop.top = -1;
    return d;
}

static void the_shorter_of_one_and_two_shots(void **state)
{
    const struct collective c = {.top = 1,
                                 .has_one_shot = true,
                                 .leg = {{2, 10, 0, 0}, {2, 100, 30, 0}},
                                 .one_shot = {1, 400, 60, 0}};
    const struct demand d = exchange(&c);
    struct hardware h = unit_machine();
    (void)state;
    assert_near(step_of(&d, &h, DTYPE_BF16), 10 + 100);
    h.d2d_latency = 299;
    assert_near(step_of(&d, &h, DTYPE_BF16), 10 + 598 + 100);
    h.d2d_latency = 301;
    assert_near(step_of(&d, &h, DTYPE_BF16), 10 + 301 + 400);
    h.pe_latency = 1000; /* below the top there is but one way */
    assert_near(step_of(&d, &h, DTYPE_BF16), 2000 + 10 + 301 + 400);
    h.d2d_collective_overhead = 7;
    h.pe_collective_overhead = 5000; /* of the top level only */
    assert_near(step_of(&d, &h, DTYPE_BF16), 2000 + 10 + 301 + 400 + 7);
}

static void the_slowest_port_counts(void **state)
{
    const struct collective c = {.top = 2, .leg = {{0}, {0}, {1, 100, 30, 50}}};
    const struct demand d = exchange(&c);
    struct hardware h = unit_machine();
    (void)state;
    assert_near(step_of(&d, &h, DTYPE_BF16), 100);
    h.c2c_bandwidth = 4;
    assert_near(step_of(&d, &h, DTYPE_BF16), 50);
    h.d2d_bandwidth = 10;
    assert_near(step_of(&d, &h, DTYPE_BF16), 30);
    h.pe_link_efficiency = 0.1;
    assert_near(step_of(&d, &h, DTYPE_BF16), 300);
}

/* A message to the next pipeline stage: the slowest of its levels, once, and the fixed time of the highest. */
static void a_hop_is_its_slowest_level(void **state)
{
    struct demand d = {.n_forms = 1, .pipeline_collective = -1, .pes = 1, .tokens = 1.0, .latency_per_step = 1.0};
    struct hardware h = unit_machine();
    (void)state;
    d.form[0][PART_HOP] = 2.0;
    d.pipeline_hop = (struct hop){2, {true, false, true}, {{1, 10, 0, 0}, {1, 1e9, 0, 0}, {3, 20, 5, 0}}};
    h.c2c_collective_overhead = 0.5;
    assert_near(step_of(&d, &h, DTYPE_BF16), 2 * (20 + 0.5));
    h.pe_latency = 30;
    assert_near(step_of(&d, &h, DTYPE_BF16), 2 * (40 + 0.5));
    h.c2c_latency = 7;
    assert_near(step_of(&d, &h, DTYPE_BF16), 2 * (41 + 0.5));
}

/* A ring exposes of each hop what its chunk of attention does not hide. */
static void chunks_hide_hops(void **state)
{
    struct demand d = two_stages();
    struct hardware h = unit_machine();
    (void)state;
    d.row[1].flop = 80; /* 20 s a chunk of four */
    d.ring[0] = (struct ring_row){3, 0, 0.25, {0, {true}, {{0, 15, 0, 0}}}};
    assert_near(step_of(&d, &h, DTYPE_BF16), 3 * (100 + 80));
    h.pe_bandwidth = 0.5; /* 30 s a hop */
    assert_near(step_of(&d, &h, DTYPE_BF16), 3 * (100 + 80 + 3 * 10));
    d.ring[0].n_extra = 1; /* home again */
    h.pe_collective_overhead = 2;
    assert_near(step_of(&d, &h, DTYPE_BF16), 3 * (100 + 80 + 3 * (10 + 2) + 30));
}

#define TEST(name) cmocka_unit_test_teardown(name, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_slowest_resource_counts), TEST(efficiencies_and_fixed_times),
        TEST(the_longest_form_counts),     TEST(memory_fits_or_not),
        TEST(shapes_of_one_level),         TEST(all_levels_at_once),
        TEST(the_shorter_of_one_and_two_shots), TEST(the_slowest_port_counts),
        TEST(levels_of_one_node_are_free), TEST(a_hop_is_its_slowest_level),  TEST(chunks_hide_hops),
    };
    return cmocka_run_group_tests_name("evaluate", tests, NULL, NULL);
}
