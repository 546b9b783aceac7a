/* model: presets have their published number of parameters, and kinds follow MODEL section 1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cosweep/model.h"

#define assert_contains(text, part)                                                                                         \
    do {                                                                                                                    \
        if (strstr(text, part) == NULL)                                                                                     \
            fail_msg("`%s` does not contain `%s`", text, part);                                                             \
    } while (0)

static bool within(double a, double b, double share)
{
    return a <= b * (1 + share) && a >= b * (1 - share);
}

static struct model preset(const char *name)
{
    static struct errors errors;
    struct model model;
    errors = (struct errors){0};
    if (model_by_name(&model, name, &errors, NULL, 0) != 0)
        fail_msg("%s: %s", name, errors.item[0].message);
    return model;
}

/* ---- presets ------------------------------------------------------------------------------------------------------ */

static void presets_have_their_published_parameters(void **state)
{
    (void)state;
    int n_exact = 0, n_published = 0;
    for (int i = 0; i < n_model_presets; i++) {
        const struct model_preset *const row = model_preset(i);
        const struct model model = preset(row->model.name);
        const double parameters = model_parameters(&model), published = row->published_parameters;
        print_message("%-24s %16.0f published %16.0f\n", model.name, parameters, published);
        assert_true(strlen(row->source) > 0);
        assert_int_equal(published > 0, strlen(row->published_source) > 0);
        assert_true(model_active_parameters(&model) <= parameters);
        n_published += published > 0;
        n_exact += parameters == published;
        if (published > 0 && !within(parameters, published, 1e-4))
            fail_msg("%s: %.0f parameters, published %.0f", model.name, parameters, published);
    }
    assert_true(n_model_presets > 60);
    assert_true(n_published >= 55);
    assert_true(n_exact >= n_published - 5); /* rotary tables stored as weights (2), unused image-token rows (3) */
}

/* Papers and model cards of those without an exact count, and the active parameters of MoE models. */
static void rounded_counts_agree(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double total, active; /* billions; 0 = not compared */
    } card[] = {
        {"bloom-176b", 176.247, 0},     {"command-r", 35, 0},          {"command-r-08-2024", 32.3, 0},
        {"command-r-plus", 104, 0},     {"dbrx", 132, 36},             {"deepseek-v2", 236, 21},
        {"deepseek-v3", 671, 37},       {"glm-4.5", 355, 0},           {"gpt-3-175b", 175, 0},
        {"grok-1", 314, 0},             {"kimi-k2", 0, 32.6},          {"mixtral-8x22b", 0, 39},
        {"mixtral-8x7b", 46.7, 12.9},   {"mpt-30b", 30, 0},            {"mpt-7b", 6.7, 0},
        {"nemotron-4-340b", 341, 0},    {"opt-175b", 175, 0},          {"palm-540b", 540.35, 0},
        {"qwen3-235b-a22b", 0, 22},     {"qwen3-coder-480b-a35b", 0, 35},
    };
    for (size_t i = 0; i < sizeof card / sizeof card[0]; i++) {
        const struct model model = preset(card[i].name);
        if (card[i].total > 0 && !within(model_parameters(&model), card[i].total * 1e9, 0.01))
            fail_msg("%s: %.0f parameters", model.name, model_parameters(&model));
        if (card[i].active > 0 && !within(model_active_parameters(&model), card[i].active * 1e9, 0.02))
            fail_msg("%s: %.0f active", model.name, model_active_parameters(&model));
    }
}

static void unknown_and_impossible_names_are_explained(void **state)
{
    (void)state;
    static struct errors errors;
    struct model model;
    errors = (struct errors){0};
    assert_int_equal(model_by_name(&model, "llama-3.1-70", &errors, "study.yaml", 4), -1);
    assert_int_equal(errors.item[0].code, STATUS_INPUT);
    assert_int_equal(errors.item[0].line, 4);
    assert_contains(errors.item[0].message, "llama-3.1-70b");
    assert_int_equal(model_by_name(&model, "qwen3-next-80b-a3b", &errors, NULL, 0), -1);
    assert_contains(errors.item[1].message, "linear attention");
    assert_int_equal(model_by_name(&model, "", &errors, NULL, 0), -1);
    assert_null(model_preset(-1));
    assert_null(model_preset(n_model_presets));
}

/* ---- kinds -------------------------------------------------------------------------------------------------------- */

static struct model small(void)
{
    return (struct model){.name = "small", .layers = 12, .hidden = 64, .heads = 8, .kv_heads = 2, .head_dim = 8, .ffn = 256,
                          .vocab = 1000, .gated = true};
}

static void kinds_follow_window_and_moe(void **state)
{
    (void)state;
    struct errors errors = {0};
    struct model model = small();
    model.window.tokens = 128;
    model.window.global_every = 3;
    model.moe.experts = 4;
    model.moe.per_token = 2;
    model.moe.ffn = 32;
    model.moe.dense_layers = 2;
    model.moe.period = 2;
    assert_int_equal(model_finish(&model, NULL, &errors, NULL, 0), 0);
    /* layers 0 1 | 2 | 3 | 4 ...: W dense, W dense, global dense, W MoE, W dense, global MoE, then W dense, W MoE, ... */
    static const unsigned char expected[] = {0, 0, 1, 2, 0, 3, 0, 2, 1, 2, 0, 3};
    assert_int_equal(model.n_kinds, 4);
    assert_memory_equal(model.layer_kind, expected, sizeof expected);
    assert_int_equal(model.kind[0].n_layers, 5);
    assert_int_equal(model.kind[0].window_tokens, 128);
    assert_false(model.kind[0].moe);
    assert_int_equal(model.kind[1].n_layers, 2);
    assert_int_equal(model.kind[1].window_tokens, 0);
    assert_int_equal(model.kind[2].n_layers, 3);
    assert_true(model.kind[2].moe);
    assert_int_equal(model.kind[3].n_layers, 2);
    assert_int_equal(model.kind[3].window_tokens, 0);
}

static void explicit_windows_win_over_the_pattern(void **state)
{
    (void)state;
    struct errors errors = {0};
    struct model model = small();
    bool windowed[12] = {[10] = true, [11] = true};
    model.window.tokens = 128;
    model.window.global_every = 2;
    assert_int_equal(model_finish(&model, windowed, &errors, NULL, 0), 0);
    assert_int_equal(model.n_kinds, 2);
    assert_int_equal(model.kind[0].window_tokens, 0);
    assert_int_equal(model.kind[0].n_layers, 10);
    assert_int_equal(model.kind[1].n_layers, 2);
}

static void bad_facts_are_all_reported(void **state)
{
    (void)state;
    static struct errors errors;
    struct model model = small();
    errors = (struct errors){0};
    model.layers = 0;
    model.kv_heads = 9;
    model.window.global_every = 2;
    model.moe.per_token = 2;
    model.mla.q_rank = 16;
    assert_int_equal(model_finish(&model, NULL, &errors, "study.yaml", 7), -1);
    assert_int_equal(errors.n, 5);
    assert_string_equal(errors.item[0].message, "model.layers: 0 is below 1; give a whole number from 1 to 1024");
    assert_string_equal(errors.item[0].file, "study.yaml");
    assert_int_equal(errors.item[0].line, 7);

    errors = (struct errors){0};
    model = small();
    model.ffn = 0;
    assert_int_equal(model_finish(&model, NULL, &errors, NULL, 0), -1);
    assert_contains(errors.item[0].message, "model.ffn");
    model.moe.experts = 4;
    model.moe.per_token = 2;
    model.moe.ffn = 32;
    assert_int_equal(model_finish(&model, NULL, &errors, NULL, 0), 0); /* every layer is MoE */
    model.moe.dense_layers = 12;
    assert_int_equal(model_finish(&model, NULL, &errors, NULL, 0), -1);
    assert_contains(errors.item[1].message, "none of 12 layers is MoE");
}

/* ---- scenario ----------------------------------------------------------------------------------------------------- */

static void number_formats_have_their_sizes(void **state)
{
    (void)state;
    assert_string_equal(dtype_name[DTYPE_MXFP4], "mxfp4");
    assert_true(dtype_bytes[DTYPE_MXFP4] == 4.25 / 8);
    assert_true(dtype_bytes[DTYPE_NVFP4] == 4.5 / 8);
    assert_int_equal(dtype_compute[DTYPE_INT4], DTYPE_BF16);
    assert_int_equal(dtype_compute[DTYPE_NVFP4], DTYPE_FP4);
    assert_string_equal(phase_name[PHASE_SERVE], "serve");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets_have_their_published_parameters),
        cmocka_unit_test(rounded_counts_agree),
        cmocka_unit_test(unknown_and_impossible_names_are_explained),
        cmocka_unit_test(kinds_follow_window_and_moe),
        cmocka_unit_test(explicit_windows_win_over_the_pattern),
        cmocka_unit_test(bad_facts_are_all_reported),
        cmocka_unit_test(number_formats_have_their_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
