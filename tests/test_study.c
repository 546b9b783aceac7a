/* study: what a study file says is what is swept; the effective study reads back to itself; no bytes crash the reader.
 * Refusals have transcripts of their own (bad.sh). */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cosweep/io.h"

static struct arena arena;
static struct errors errors;
static char path[64];

static int start(void **state)
{
    (void)state;
    memset(&errors, 0, sizeof errors);
    snprintf(path, sizeof path, "./cosweep-study-XXXXXX");
    const int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int stop(void **state)
{
    (void)state;
    arena_free(&arena);
    return unlink(path);
}

static int read_text(struct study *study, const char *text, const char *const *sets, int n_sets)
{
    FILE *const to = fopen(path, "w");
    assert_non_null(to);
    fputs(text, to);
    fclose(to);
    return study_read(study, path, sets, n_sets, &arena, &errors);
}

static void must_read(struct study *study, const char *text)
{
    if (read_text(study, text, NULL, 0) != 0) {
        errors_print(&errors, stderr);
        fail_msg("refused");
    }
}

static const struct axis_values *hardware_axis(const struct study *study, enum hardware_knob knob)
{
    return &study->space.axis[N_PLAN_KNOBS + knob];
}

static void assert_axis(const struct axis_values *axis, int n, const double *value)
{
    assert_int_equal(axis->n, n);
    for (int i = 0; i < n; i++)
        if (axis->value[i] != value[i])
            fail_msg("value %d is %.17g, not %.17g", i, axis->value[i], value[i]);
}

#define SCENARIO "scenarios: [{model: llama-3.1-8b, phase: decode, context: 4096}]\n"

static void defaults_are_filled_in(void **state)
{
    struct study study;
    struct hardware sip;
    (void)state;
    must_read(&study, SCENARIO);
    const struct scenario *const scenario = &study.scenario[0];
    assert_int_equal(study.n_scenarios, 1);
    assert_string_equal(scenario->name, "llama-3.1-8b-decode");
    assert_int_equal(scenario->new_tokens, 1);
    assert_int_equal(scenario->past_tokens, 4095);
    assert_true(scenario->weight_bytes == 2 && scenario->kv_bytes == 2 && scenario->activation_bytes == 2);
    assert_true(scenario->accepted_tokens == 1 && scenario->imbalance == IMBALANCE_UNIFORM && !scenario->strict);
    assert_int_equal(scenario->compute, DTYPE_BF16);
    assert_int_equal(study.depth, DEPTH_BALANCED);
    assert_int_equal(study.n_objectives, 2);
    assert_int_equal(study.objective[0], METRIC_LATENCY);
    assert_int_equal(study.objective[1], METRIC_COST);
    assert_int_equal(study.n_limits, 0);
    assert_int_equal(study.space.n_raw, 1);
    assert_string_equal(study.hardware_base, "sip");
    assert_int_equal(hardware_by_name(&sip, "sip", &errors, NULL, 0), 0);
    double value[N_HARDWARE_KNOBS];
    memcpy(value, &sip, sizeof value);
    for (int i = 0; i < N_HARDWARE_KNOBS; i++)
        assert_axis(hardware_axis(&study, (enum hardware_knob)i), 1, &value[i]);
    for (int i = 0; i < N_PLAN_KNOBS; i++)
        assert_true(study.space.axis[i].n == 1 && study.space.axis[i].value[0] == (i <= PLAN_batch));
}

static void knobs_take_lists_ranges_and_grids(void **state)
{
    struct study study;
    (void)state;
    must_read(&study,
              SCENARIO "depth: coarse\n"
                       "plan: {tp: {from: 1, to: 64, factor: 4}, cp: auto, batch: [32, 1, 8], kv_mode: auto, ring: q}\n"
                       "hardware:\n"
                       "  pe: {flops: [4 TFLOP/s, 16 TFLOP/s], hbm_bandwidth: auto}\n"
                       "  links: {c2c: {topology: [ring, torus2d], latency: {from: 100 ns, to: 300 ns, step: 100 ns}}}\n"
                       "  overhead: {kernel: {from: 0.1 us, to: 1 us, factor: 3}}\n"
                       "  gqa_reuse: [true, false]\n"
                       "  gemm_tile: [16, 32, 64]\n");
    assert_axis(&study.space.axis[PLAN_tp], 4, (const double[]){1, 4, 16, 64});
    assert_axis(&study.space.axis[PLAN_cp], 4, (const double[]){1, 4, 16, 64});
    assert_axis(&study.space.axis[PLAN_batch], 3, (const double[]){32, 1, 8});
    assert_axis(&study.space.axis[PLAN_kv_mode], 3, (const double[]){KV_REPLICATE, KV_SPLIT_DIM, KV_SPLIT_SEQ});
    assert_axis(&study.space.axis[PLAN_ring], 1, (const double[]){RING_Q});
    assert_axis(hardware_axis(&study, HW_flops), 2, (const double[]){4e12, 16e12});
    assert_axis(hardware_axis(&study, HW_c2c_topology), 2, (const double[]){TOPOLOGY_RING, TOPOLOGY_TORUS2D});
    assert_axis(hardware_axis(&study, HW_gqa_reuse), 2, (const double[]){1, 0});
    assert_axis(hardware_axis(&study, HW_gemm_tile_rows), 1, (const double[]){16});
    assert_axis(hardware_axis(&study, HW_gemm_tile_reduction), 1, (const double[]){64});
    const double *grid;
    const int n = hardware_grid(HW_hbm_bandwidth, DEPTH_COARSE, &grid);
    assert_axis(hardware_axis(&study, HW_hbm_bandwidth), n, grid);
    const struct axis_values *const latency = hardware_axis(&study, HW_c2c_latency);
    assert_int_equal(latency->n, 3);
    assert_true(latency->value[0] == 100e-9 && latency->value[2] == 300e-9); /* both ends, to the bit */
    assert_int_equal(hardware_axis(&study, HW_kernel_overhead)->n, 3);       /* 0.1, 0.3, 0.9: the end is not met */
}

static void every_knob_has_a_place(void **state)
{
    (void)state;
    for (int i = 0; i < N_KNOBS; i++) {
        struct study study;
        const struct knob *const knob = space_knob(i);
        char set[128], word[32];
        const char *const sets[] = {set};
        if (strncmp(knob->path, "gemm_tile", 9) == 0)
            continue;
        if (knob->dimension == DIM_CODE)
            knob_word(knob, (int)knob->high, word);
        else if (knob->dimension == DIM_BOOL)
            snprintf(word, sizeof word, "true");
        else
            snprintf(word, sizeof word, "%.17g", knob->high);
        snprintf(set, sizeof set, "%s.%s=%s", i < N_PLAN_KNOBS ? "plan" : "hardware", knob->path, word);
        if (read_text(&study, SCENARIO, sets, 1) != 0)
            fail_msg("%s is refused: %s", set, errors.item[0].message);
        assert_true(study.space.axis[i].n == 1 && study.space.axis[i].value[0] == knob->high);
    }
}

static void models_come_inline_too(void **state)
{
    struct study study;
    (void)state;
    must_read(
        &study,
        "scenarios:\n"
        "  - name: moe\n"
        "    model: {name: tiny, layers: 6, hidden: 64, heads: 4, kv_heads: 2, ffn: 128, vocab: 100, tied: true,\n"
        "            moe: {experts: 8, per_token: 2, ffn: 32, dense_layers: 2}, window: {tokens: 16, global_every: 3}}\n"
        "    phase: serve\n"
        "    prompt_tokens: 1k\n"
        "    answer_tokens: 100\n"
        "    weights: 1\n"
        "  - name: irregular\n"
        "    model: {layers: 4, hidden: 64, heads: 4, ffn: 9, vocab: 10, window: {tokens: 8, windowed_layers: [0, 3]}}\n"
        "    phase: prefill\n"
        "    new_tokens: 4\n"
        "    weights: int4\n");
    const struct scenario *const moe = &study.scenario[0], *const irregular = &study.scenario[1];
    assert_int_equal(moe->model.head_dim, 16);
    assert_int_equal(moe->model.n_kinds, 3);
    assert_int_equal(moe->compute, DTYPE_FP8);
    assert_int_equal(moe->prompt_tokens, 1000);
    assert_int_equal(irregular->model.kv_heads, 4);
    assert_int_equal(irregular->model.kind[0].n_layers, 2);
    assert_memory_equal(irregular->model.layer_kind, ((const unsigned char[]){0, 1, 1, 0}), 4);
    assert_int_equal(irregular->compute, DTYPE_BF16);
    assert_true(irregular->weight_bytes == 0.5);
}

static void overrides_reach_every_key(void **state)
{
    static const char *const sets[] = {"hardware.pe.flops=16TFLOP/s",
                                       "plan.tp=[1, 2]",
                                       "scenarios.a.b.kv=fp8",
                                       "scenarios.1.weights=0.5",
                                       "limits.pes=64",
                                       "objectives=[latency, pes, cost]",
                                       "plan.cp={from: 1, to: 4, factor: 2}",
                                       "study=other"};
    struct study study;
    (void)state;
    assert_int_equal(read_text(&study,
                               "scenarios:\n"
                               "  - {name: a.b, model: llama-3.1-8b, phase: decode, context: 4096}\n"
                               "  - {name: a, model: llama-3.1-8b, phase: decode, context: 4096}\n",
                               sets, 8),
                     0);
    assert_axis(hardware_axis(&study, HW_flops), 1, (const double[]){16e12});
    assert_axis(&study.space.axis[PLAN_tp], 2, (const double[]){1, 2});
    assert_axis(&study.space.axis[PLAN_cp], 3, (const double[]){1, 2, 4});
    assert_true(study.scenario[0].kv_bytes == 1 && study.scenario[1].kv_bytes == 2 && study.scenario[1].weight_bytes == 0.5);
    assert_int_equal(study.n_objectives, 3);
    assert_true(study.n_limits == 1 && study.limit[0].metric == METRIC_PES && study.limit[0].value == 64);
    assert_string_equal(study.name, "other");
}

static void assert_same_study(const struct study *a, const struct study *b)
{
    assert_string_equal(a->effective, b->effective);
    assert_true(a->hash == b->hash);
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->hardware_base, b->hardware_base);
    assert_int_equal(a->depth, b->depth);
    assert_int_equal(a->n_scenarios, b->n_scenarios);
    for (int i = 0; i < a->n_scenarios; i++) {
        struct scenario x = a->scenario[i], y = b->scenario[i];
        memset(x.warnings, 0, sizeof x.warnings); /* of the import; a comment in the effective study */
        memset(y.warnings, 0, sizeof y.warnings);
        assert_string_equal(x.name, y.name);
        assert_string_equal(x.model.name, y.model.name);
        memcpy(x.name, y.name, sizeof x.name); /* bytes behind a name's end do not count */
        memcpy(x.model.name, y.model.name, sizeof x.name);
        assert_memory_equal(&x, &y, sizeof x);
    }
    for (int i = 0; i < N_KNOBS; i++)
        assert_axis(&a->space.axis[i], b->space.axis[i].n, b->space.axis[i].value);
    assert_int_equal(a->n_limits, b->n_limits);
    for (int i = 0; i < a->n_limits; i++)
        assert_true(a->limit[i].metric == b->limit[i].metric && a->limit[i].value == b->limit[i].value);
    assert_int_equal(a->n_objectives, b->n_objectives);
    assert_memory_equal(a->objective, b->objective, sizeof a->objective);
}

static void effective_study_reads_back(void **state)
{
    static char text[32 * 1024];
    struct study study, back;
    (void)state;
    size_t n =
        (size_t)snprintf(text, sizeof text,
                         "study: round-trip\ndepth: fine\n"
                         "plan: {tp: auto, kv_mode: auto, batch: {from: 1, to: 1000, factor: 10}}\n"
                         "hardware: {base: sip, pe: {hbm_bandwidth: auto, flops: [1.1 TFLOP/s, 0.3 TFLOP/s]},\n"
                         "           energy: {flop: 0.37 pJ}, gemm_tile: [2, 3, 4]}\n"
                         "limits: {latency: 33.3 ms, hbm_utilization: 95%%, throughput: 10}\n"
                         "objectives: [energy_per_token, latency, power, cost_per_token]\n"
                         "scenarios:\n"
                         "  - {name: odd, phase: prefill, new_tokens: 7, past_tokens: 9, weights: nvfp4, kv: 0.3, \n"
                         "     moe_imbalance: 1.7, divisibility: strict, model: {name: 'a \"b\" \xc3\xa9', layers: 4, \n"
                         "     hidden: 64, heads: 4, ffn: 9, vocab: 10, window: {tokens: 8, windowed_layers: [1, 3]},\n"
                         "     extras: {qkv_bias: true, other_parameters: 12}}}\n");
    for (int i = 0; i < n_model_presets; i++) /* every preset, in the three phases by turns */
        n +=
            (size_t)snprintf(text + n, sizeof text - n, "  - {name: s%d, model: '%s', %s}\n", i, model_preset(i)->model.name,
                             i % 3 == 0   ? "phase: decode, new_tokens: 4, accepted_tokens: 2.5, context: 4096"
                             : i % 3 == 1 ? "phase: prefill, new_tokens: 4096, moe_imbalance: random"
                                          : "phase: serve, prompt_tokens: 4096, answer_tokens: 128, weights: int4");
    assert_true(n < sizeof text);
    must_read(&study, text);
    must_read(&back, study.effective);
    assert_same_study(&study, &back);
}

/* A model of the Hugging Face kind, beside the study; a path in a study is relative to it. */
static void imported_model_reads_back(void **state)
{
    struct study study, back;
    char config[80], text[256];
    (void)state;
    snprintf(config, sizeof config, "%s.json", path);
    FILE *const to = fopen(config, "w");
    assert_non_null(to);
    fputs("{\"architectures\": [\"LlamaForCausalLM\"], \"model_type\": \"llama\", \"hidden_size\": 4096, "
          "\"intermediate_size\": 14336, \"num_hidden_layers\": 32, \"num_attention_heads\": 32, \"hidden_act\": \"silu\", "
          "\"num_key_value_heads\": 8, \"vocab_size\": 128256, \"tie_word_embeddings\": false, \"rope_scaling\": null}\n",
          to);
    fclose(to);
    snprintf(text, sizeof text, "scenarios: [{model: '%s', phase: decode, context: 4096, name: hf}]\n",
             strrchr(config, '/') + 1);
    must_read(&study, text);
    unlink(config);
    assert_int_equal(study.scenario[0].model.layers, 32);
    assert_int_equal(study.scenario[0].model.kv_heads, 8);
    must_read(&back, study.effective);
    snprintf(back.name, sizeof back.name, "%s", study.name);
    assert_same_study(&study, &back);
}

static void candidates_are_scalar_studies(void **state)
{
    static const char good[] =
        "{\"scenario\": {\"model\": {\"name\": \"m\", \"layers\": 61, \"hidden\": 7168, \"heads\": 128, \"kv_heads\": 128, "
        "\"head_dim\": 128, \"ffn\": 18432, \"vocab\": 129280, \"gated\": true, \"mla\": {\"q_rank\": 1536, \"kv_rank\": "
        "512, "
        "\"nope_dim\": 128, \"rope_dim\": 64, \"v_dim\": 128}}, \"phase\": \"decode\", \"weights\": 1.0, \"kv\": 2.0, "
        "\"compute\": \"fp8\", \"moe_imbalance\": 1.25, \"accepted_tokens\": 1.0, \"new_tokens\": 1, \"past_tokens\": "
        "32768}, "
        "\"plan\": {\"tp\": 64, \"ring\": \"q\", \"ffn_scope\": \"tp_cp\"}, \"hardware\": {\"base\": \"sip\", "
        "\"pes_per_cube\": 6, "
        "\"pe\": {\"flops\": \"32 TFLOP/s\", \"hbm_capacity\": 24000000000.0}, \"gemm_tile\": [1, 16, 1], "
        "\"links\": {\"pe\": {\"latency\": 5e-07, \"topology\": \"torus2d\"}}, \"gqa_reuse\": false}}";
    static const char *const bad[] = {
        "{\"scenario\": {\"model\": \"llama-3.1-8b\", \"phase\": \"decode\", \"context\": 10}, \"plan\": {\"tp\": [1, 2]}}",
        "{\"scenario\": {\"model\": \"llama-3.1-8b\", \"phase\": \"decode\", \"context\": 9}, \"plan\": {\"tp\": \"auto\"}}",
        "{\"plan\": {\"tp\": 1}}",
        "[1]",
        "3",
        "{}",
        "{\"scenario\": 3}",
    };
    struct candidate candidate;
    (void)state;
    const struct node *tree = tree_parse(good, sizeof good - 1, "line", 7, &arena, &errors);
    assert_non_null(tree);
    assert_int_equal(candidate_read(&candidate, tree, "line", &arena, &errors), 0);
    assert_int_equal(candidate.plan.tp, 64);
    assert_int_equal(candidate.plan.cp, 1);
    assert_int_equal(candidate.plan.ring, RING_Q);
    assert_int_equal(candidate.plan.ffn_scope, FFN_TP_CP);
    assert_true(candidate.hardware.flops == 32e12 && candidate.hardware.gemm_tile_columns == 16);
    assert_true(candidate.hardware.pe_topology == TOPOLOGY_TORUS2D && candidate.hardware.gqa_reuse == 0);
    assert_int_equal(candidate.scenario.compute, DTYPE_FP8);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tree = tree_parse(bad[i], strlen(bad[i]), "line", 7, &arena, &errors);
        assert_non_null(tree);
        const int n_before = errors.n;
        assert_int_equal(candidate_read(&candidate, tree, "line", &arena, &errors), -1);
        assert_true(errors.n > n_before && errors.item[n_before].line == 7);
    }
}

static void command_lines_set_knobs(void **state)
{
    struct plan plan = plan_of_ones;
    struct hardware hardware = {0};
    (void)state;
    assert_int_equal(plan_override(&plan, "tp=8,kv_mode=split_seq", &errors), 0);
    assert_true(plan.tp == 8 && plan.cp == 1 && plan.kv_mode == KV_SPLIT_SEQ);
    assert_int_equal(hardware_override(&hardware, "pe.flops=16TFLOP/s,links.d2d.topology=ring,gemm_tile.1=16", &errors), 0);
    assert_true(hardware.flops == 16e12 && hardware.d2d_topology == TOPOLOGY_RING && hardware.gemm_tile_columns == 16);
    assert_int_equal(errors.n, 0);
    assert_int_equal(plan_override(&plan, "tp=0,qp=4,cp", &errors), -1);
    assert_int_equal(errors.n, 3);
    assert_true(plan.tp == 8);
    assert_int_equal(hardware_override(&hardware, "pe.flop=1", &errors), -1);
    assert_string_equal(errors.item[3].message, "pe.flop: unknown key; did you mean pe.flops?");
}

/* A study with more scenarios than anything has knobs, and a weight for each: what is written of it is read back. */
static void many_scenarios_read_back(void **state)
{
    enum { N = 300, LINE = 120 };
    char *const text = calloc(N + 1, LINE);
    (void)state;
    for (int weighed = 0; weighed < 2; weighed++) {
        struct study study, again;
        size_t at = (size_t)sprintf(text, "scenarios:\n");
        for (int s = 0; s < N; s++)
            at += (size_t)sprintf(text + at, "  - {name: s%d, model: llama-3.1-8b, phase: decode, context: %d}\n", s, s + 1);
        at += (size_t)sprintf(text + at, "joint:\n  against: [cost]\n");
        if (weighed) at += (size_t)sprintf(text + at, "  weights:\n");
        for (int s = 0; s < N && weighed; s++) at += (size_t)sprintf(text + at, "    s%d: 0.%d\n", s, s % 7 + 1);
        assert_int_equal(read_text(&study, text, NULL, 0), 0);
        assert_int_equal(study_parse(&again, study.effective, "effective", &arena, &errors), 0);
        assert_int_equal(again.n_scenarios, N);
        for (int s = 0; s < N; s++) assert_true(again.joint.weight[s] == study.joint.weight[s]);
        assert_true(again.hash == study.hash);
    }
    free(text);
}

/* Property: cut anywhere, or with any byte changed, a study is read or refused with a message, never worse. */
static void no_bytes_crash(void **state)
{
    static const char text[] = "scenarios:\n  - {name: \"a\", model: {layers: 4, hidden: 64, heads: 4, ffn: 9, vocab: 10},\n"
                               "     phase: decode, context: 4Ki, weights: fp8}\n"
                               "plan: {tp: {from: 1, to: 8, factor: 2}, cp: auto, kv_mode: [replicate, split_dim]}\n"
                               "hardware:\n  pe: {flops: 4 TFLOP/s}\n  gemm_tile: [1, 2, 3]\nlimits: {pes: 10}\n";
    static const char bytes[] = "{}[]:,-&*!|>'\"%@`#?\n\t \\0~.\xff\xc3\x01";
    uint64_t random = 88172645463325252u;
    (void)state;
    for (int i = 0; i < 3000; i++) {
        static char copy[sizeof text];
        struct study study;
        memcpy(copy, text, sizeof text);
        for (int edit = 0; edit < 1 + i % 3; edit++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17; /* xorshift64 [Marsaglia 2003] */
            copy[random % (sizeof text - 1)] = bytes[(random >> 32) % (sizeof bytes - 1)];
        }
        if (i % 5 == 0)
            copy[random % sizeof text] = '\0';
        memset(&errors, 0, sizeof errors);
        const int status = read_text(&study, copy, NULL, 0);
        assert_int_equal(status != 0, errors.n > 0);
        arena_free(&arena);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(defaults_are_filled_in),    TEST(knobs_take_lists_ranges_and_grids),
        TEST(every_knob_has_a_place),    TEST(models_come_inline_too),
        TEST(overrides_reach_every_key), TEST(effective_study_reads_back),
        TEST(imported_model_reads_back), TEST(candidates_are_scalar_studies),
        TEST(command_lines_set_knobs),   TEST(no_bytes_crash),
        TEST(many_scenarios_read_back),
    };
    return cmocka_run_group_tests_name("study", tests, NULL, NULL);
}
