/* hardware: the knob table is sound, every preset lies within it, and the mistakes that data sheets invite are not made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cosweep/hardware.h"

static double value_of(const struct hardware *hardware, enum hardware_knob knob)
{
    double vector[N_HARDWARE_KNOBS];
    memcpy(vector, hardware, sizeof vector);
    return vector[knob];
}

static bool near(double a, double b)
{
    const double difference = a > b ? a - b : b - a;
    return difference <= 1e-9 * (a > b ? a : b);
}

static struct hardware machine(const char *name)
{
    struct errors errors = {0};
    struct hardware hardware = {0};
    if (hardware_by_name(&hardware, name, &errors, NULL, 0) != 0)
        fail_msg("no preset '%s'", name);
    return hardware;
}

static int n_words(const char *words)
{
    int n = words[0] != '\0';
    for (; *words != '\0'; words++)
        n += *words == '|';
    return n;
}

static void test_table_is_sound(void **state)
{
    (void)state;
    for (int i = 0; i < N_HARDWARE_KNOBS; i++) {
        const struct knob *knob = &hardware_knob[i];
        assert_true(knob->low < knob->high);
        assert_true(strlen(knob->meaning) > 0 && strlen(knob->path) > 0);
        assert_true(knob->group > GROUP_PLAN && knob->group < N_GROUPS);
        assert_int_equal(knob->dimension == DIM_CODE, knob->words[0] != '\0');
        if (knob->dimension == DIM_CODE)
            assert_int_equal(n_words(knob->words), (int)knob->high + 1);
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(knob->name, hardware_knob[j].name);
            assert_string_not_equal(knob->path, hardware_knob[j].path);
        }
    }
}

static void test_words_and_codes(void **state)
{
    (void)state;
    char text[32];
    for (int i = 0; i < N_HARDWARE_KNOBS; i++)
        for (int code = 0; code < n_words(hardware_knob[i].words); code++)
            assert_int_equal(knob_code(&hardware_knob[i], knob_word(&hardware_knob[i], code, text)), code);
    const struct knob *topology = &hardware_knob[HW_c2c_topology];
    assert_int_equal(knob_code(topology, "switch"), TOPOLOGY_SWITCH);
    assert_int_equal(knob_code(topology, "switch_reduce"), TOPOLOGY_SWITCH_REDUCE);
    assert_int_equal(knob_code(topology, "torus2d"), TOPOLOGY_TORUS2D);
    const char *const unknown[] = {"", "switc", "switch_", "torus2d|", "ring|mesh2d", "full|", "TORUS2D"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        assert_int_equal(knob_code(topology, unknown[i]), -1);
    assert_int_equal(knob_code(&hardware_knob[HW_flops], "full"), -1);
    assert_string_equal(knob_word(topology, -1, text), "");
    assert_string_equal(knob_word(topology, 6, text), "");
    assert_string_equal(knob_word(&hardware_knob[HW_flops], 0, text), "");
}

static void test_presets_are_within_bounds(void **state)
{
    (void)state;
    for (int i = 0; i < n_hardware_presets; i++) {
        const struct hardware_preset *preset = hardware_preset(i);
        assert_true(strlen(preset->meaning) > 20 && strlen(preset->source) > 20);
        for (int knob = 0; knob < N_HARDWARE_KNOBS; knob++) {
            const double value = value_of(&preset->hardware, knob);
            const struct knob *row = &hardware_knob[knob];
            if (!(value >= row->low && value <= row->high))
                fail_msg("%s: %s: %g is outside %g to %g", preset->name, row->name, value, row->low, row->high);
            if (row->dimension == DIM_COUNT || row->dimension == DIM_CODE || row->dimension == DIM_BOOL)
                assert_true(value == (double)(int64_t)value);
        }
        for (int j = 0; j < i; j++)
            assert_string_not_equal(preset->name, hardware_preset(j)->name);
    }
}

static void test_presets_by_name(void **state)
{
    (void)state;
    static const char *const promised[] = {"sip",    "a100-40", "a100-80", "h100",    "h200",     "h800",     "b200",
                                           "b300",   "gb200",   "l40s",    "mi300x",  "mi325x",   "mi355x",   "tpu-v4",
                                           "tpu-v5e", "tpu-v5p", "tpu-v6e", "gaudi2", "gaudi3",   "trainium2"};
    for (size_t i = 0; i < sizeof promised / sizeof promised[0]; i++)
        assert_true(machine(promised[i]).flops > 0);
    struct errors errors = {0};
    struct hardware hardware = {.flops = 1};
    assert_int_equal(hardware_by_name(&hardware, "h10O", &errors, "study.yaml", 7), -1);
    assert_int_equal(hardware_by_name(&hardware, "abacus", &errors, "study.yaml", 8), -1);
    assert_int_equal(errors.n, 2);
    assert_int_equal(errors.item[0].code, STATUS_INPUT);
    assert_int_equal(errors.item[0].line, 7);
    assert_non_null(strstr(errors.item[0].message, "h100"));
    assert_non_null(strstr(errors.item[1].message, "abacus"));
    assert_true(hardware.flops == 1);
}

/* The brief of the design: what a PE, a cube and a SIP are. */
static void test_sip(void **state)
{
    (void)state;
    const struct hardware sip = machine("sip");
    const struct fabric fabric = fabric_of(&sip);
    assert_int_equal(fabric.pes_per_cube, 8);
    assert_int_equal(fabric.cubes_per_sip, 4);
    assert_int_equal(fabric.topology[0], TOPOLOGY_SWITCH);
    assert_int_equal(fabric.topology[1], TOPOLOGY_MESH2D);
    assert_int_equal(fabric.topology[2], TOPOLOGY_TORUS2D);
    assert_int_equal(fabric.allocation, ALLOCATION_CUBE);
    assert_int_equal(fabric.query_tile, 1024);
    assert_true(fabric.gqa_reuse && fabric.tile_rows == 1 && fabric.tile_columns == 1 && fabric.tile_reduction == 1);
    assert_true(near(sip.pes_per_cube * sip.cubes_per_sip * sip.hbm_capacity, 144e9));
    assert_true(near(sip.hbm_bandwidth, 256e9) && near(sip.flops, 8e12) && near(sip.vector_flops, 0.5e12));
    assert_true(near(sip.pe_bandwidth, 256e9) && near(sip.d2d_bandwidth, 512e9) && near(sip.c2c_bandwidth, 200e9));
    assert_true(near(sip.pe_latency, 10e-9) && near(sip.d2d_latency, 20e-9) && near(sip.c2c_latency, 500e-9));
    assert_true(sip.fp8_ratio == 2 && sip.int8_ratio == 2 && sip.fp4_ratio == 4);
}

static void test_fabric_follows_the_machine(void **state)
{
    (void)state;
    struct hardware hardware = machine("sip");
    hardware.pes_per_cube = 6;
    hardware.gemm_tile_columns = 128;
    hardware.gqa_reuse = 0;
    hardware.c2c_topology = TOPOLOGY_RING;
    hardware.allocation = ALLOCATION_SIP;
    const struct fabric fabric = fabric_of(&hardware);
    assert_int_equal(fabric.pes_per_cube, 6);
    assert_int_equal(fabric.tile_columns, 128);
    assert_int_equal(fabric.topology[2], TOPOLOGY_RING);
    assert_int_equal(fabric.allocation, ALLOCATION_SIP);
    assert_false(fabric.gqa_reuse);
}

/* Sparse peaks, both-ways bandwidths, GiB for GB, a node's network for a GPU's: each was found in some published table. */
static void test_known_mistakes(void **state)
{
    (void)state;
    const struct hardware h100 = machine("h100"), l40s = machine("l40s"), trainium2 = machine("trainium2");
    assert_true(near(h100.flops * h100.fp8_ratio, 1979e12));  /* 3958 is with sparsity */
    assert_true(near(h100.pe_bandwidth, 450e9));              /* 900 is both ways */
    assert_true(near(h100.c2c_bandwidth, 400e9));             /* 8 GPUs share the node's eight 400 Gb/s ports */
    assert_true(near(machine("a100-80").flops, 312e12));      /* 624 is with sparsity */
    assert_true(machine("a100-80").fp8_ratio == 1);           /* no fp8 units */
    assert_true(near(machine("a100-40").hbm_bandwidth, 1555e9));
    assert_true(near(machine("h200").hbm_capacity, 141e9));   /* 151.4e9 takes GB for GiB */
    assert_true(near(machine("h800").pe_bandwidth, 200e9));   /* not the 450 of the H100 */
    assert_true(near(l40s.flops * l40s.fp8_ratio, 733e12));   /* 1466 is with sparsity */
    assert_true(near(l40s.pe_bandwidth, 32e9));               /* PCIe 4 x16, no NVLink */
    assert_true(near(machine("gb200").flops, 2500e12));       /* 4500 and 5000 are fp8 or sparse */
    assert_true(near(machine("gb200").pes_per_cube, 72));
    assert_true(near(machine("b200").pe_bandwidth, 900e9));
    assert_true(near(machine("mi300x").pe_bandwidth, 64e9));  /* one of seven links, not 448 on a switch */
    assert_int_equal(fabric_of(&(struct hardware){.pe_topology = machine("mi300x").pe_topology}).topology[0], TOPOLOGY_FULL);
    assert_true(near(trainium2.hbm_capacity, 96 * 1073741824.0));
    assert_true(near(machine("gaudi3").fp8_ratio, 1));        /* fp8 is no faster than bf16 there */
    assert_true(near(machine("tpu-v4").pe_bandwidth * 4, 300e9)); /* six links of 50 on four ports */
    assert_true(near(machine("tpu-v5e").pe_bandwidth, 50e9)); /* 400 GB/s is four links, both ways */
}

/* Fitted constants drift when a fit is repeated; outside of this they are no GPU's. */
static void test_measured_machines_are_plausible(void **state)
{
    (void)state;
    static const char *const measured[] = {"a100-80", "h100", "h200", "b200", "gb200", "l40s"};
    for (size_t i = 0; i < sizeof measured / sizeof measured[0]; i++) {
        const struct hardware gpu = machine(measured[i]);
        assert_true(gpu.hbm_efficiency > 0.6 && gpu.hbm_efficiency < 0.95);
        assert_true(gpu.kv_efficiency > 0.6 && gpu.kv_efficiency < 0.95);
        assert_true(gpu.gemm_efficiency > 0.4 && gpu.gemm_efficiency < 0.9);
        assert_true(gpu.attention_efficiency > 0.3 && gpu.attention_efficiency < 0.8);
        assert_true(gpu.kernel_overhead > 0 && gpu.kernel_overhead < 10e-6);
        assert_true(gpu.attention_overhead > gpu.kernel_overhead && gpu.attention_overhead < 20e-6);
        const double small_all_reduce_s = gpu.pe_latency + gpu.pe_collective_overhead;
        assert_true(small_all_reduce_s > 2e-6 && small_all_reduce_s < 10e-6);
    }
    assert_true(machine("a100-40").gemm_efficiency == machine("a100-80").gemm_efficiency);
}

static void test_grids(void **state)
{
    (void)state;
    const struct hardware sip = machine("sip");
    static const struct {
        enum hardware_knob knob;
        double low, high;
    } range[] = {
        {HW_hbm_capacity, 2e9, 12e9},    {HW_hbm_bandwidth, 102e9, 1024e9}, {HW_flops, 4e12, 64e12},
        {HW_pe_bandwidth, 64e9, 1024e9}, {HW_d2d_bandwidth, 128e9, 2048e9}, {HW_c2c_bandwidth, 50e9, 400e9},
    };
    for (size_t i = 0; i < sizeof range / sizeof range[0]; i++) {
        int shorter = 0;
        for (enum depth depth = 0; depth < N_DEPTHS; depth++) {
            const double *values = NULL;
            const int n = hardware_grid(range[i].knob, depth, &values);
            assert_true(n > shorter);
            shorter = n;
            bool holds_sip = false;
            for (int j = 0; j < n; j++) {
                assert_true(j == 0 || values[j] > values[j - 1]);
                holds_sip = holds_sip || near(values[j], value_of(&sip, range[i].knob));
            }
            assert_true(holds_sip);
            assert_true(near(values[0], range[i].low) && values[n - 1] <= range[i].high);
        }
    }
    const double *values = &range[0].low;
    assert_int_equal(hardware_grid(HW_idle_power, DEPTH_FINE, &values), 0);
    assert_null(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_is_sound),
        cmocka_unit_test(test_words_and_codes),
        cmocka_unit_test(test_presets_are_within_bounds),
        cmocka_unit_test(test_presets_by_name),
        cmocka_unit_test(test_sip),
        cmocka_unit_test(test_fabric_follows_the_machine),
        cmocka_unit_test(test_known_mistakes),
        cmocka_unit_test(test_measured_machines_are_plausible),
        cmocka_unit_test(test_grids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
