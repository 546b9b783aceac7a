/* core: numbers read and print in their units, errors stay one line each, memory is aligned and zeroed, JSON is JSON. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cosweep/core.h"

enum { N_DIMENSIONS = DIM_FLOP + 1 };

static void numbers_carry_units(void **state)
{
    static const struct {
        const char *text;
        enum dimension dimension;
        double value;
    } row[] = {
        {"8", DIM_COUNT, 8},
        {"128k", DIM_COUNT, 128000},
        {"128Ki", DIM_COUNT, 131072},
        {"0.5k", DIM_COUNT, 500},
        {"1e3", DIM_COUNT, 1000},
        {"-0", DIM_COUNT, 0},
        {".5", DIM_NUMBER, 0.5},
        {"5%", DIM_FRACTION, 0.05},
        {"4.5 GB", DIM_BYTES, 4.5e9},
        {"80 GiB", DIM_BYTES, 80.0 * 1024 * 1024 * 1024},
        {"80GiB", DIM_BYTES, 80.0 * 1024 * 1024 * 1024},
        {"3.35 TB/s", DIM_BYTES_PER_S, 3.35e12},
        {"8 TFLOP/s", DIM_FLOP_PER_S, 8e12},
        {"1.5e-3 PFLOP/s", DIM_FLOP_PER_S, 1.5e12},
        {"20 ns", DIM_SECONDS, 20e-9},
        {"0.7 us", DIM_SECONDS, 0.7e-6},
        {"2 min", DIM_SECONDS, 120},
        {"1.5h", DIM_SECONDS, 5400},
        {"31 pJ", DIM_JOULES, 31e-12},
        {"0.36 pJ", DIM_JOULES, 0.36e-12},
        {"700 W", DIM_WATTS, 700},
        {"12.5", DIM_COST, 12.5},
        {"yes", DIM_BOOL, 1},
        {"false", DIM_BOOL, 0},
        {"5 mJ/token", DIM_JOULES_PER_TOKEN, 5e-3},
        {"10 ktokens/s", DIM_TOKENS_PER_S, 1e4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        double value = NAN;
        const char *why;
        if (unit_parse(row[i].text, row[i].dimension, &value, &why) != 0 || value != row[i].value || signbit(value))
            fail_msg("%s is read as %.17g", row[i].text, value);
    }
}

static void other_text_is_refused(void **state)
{
    static const struct {
        const char *text;
        enum dimension dimension;
    } row[] = {
        {"", DIM_COUNT},
        {" ", DIM_NUMBER},
        {"-", DIM_NUMBER},
        {".", DIM_NUMBER},
        {"e5", DIM_NUMBER},
        {"1e", DIM_NUMBER},
        {"nan", DIM_NUMBER},
        {"inf", DIM_NUMBER},
        {"1e999", DIM_NUMBER},
        {"0x10", DIM_NUMBER},
        {"8abc", DIM_COUNT},
        {"1.5", DIM_COUNT},
        {"1e20", DIM_COUNT},
        {"1_000", DIM_COUNT},
        {"1,5", DIM_NUMBER},
        {"4 GB", DIM_FLOP_PER_S},
        {"4 GB/s", DIM_BYTES},
        {"4 mB", DIM_BYTES},
        {"4 MS", DIM_SECONDS},
        {"4 m", DIM_SECONDS},
        {"4 k", DIM_COST},
        {"maybe", DIM_BOOL},
        {"1", DIM_CODE},
        {"5 %%", DIM_FRACTION},
        {"--5", DIM_NUMBER},
        {"1e99999999999999999999 GB", DIM_BYTES},
        {"1111111111111111111111111111111111111111111111111111111111111111111111111111111111111111", DIM_NUMBER},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        double value;
        const char *why = NULL;
        if (unit_parse(row[i].text, row[i].dimension, &value, &why) == 0)
            fail_msg("\"%s\" is read as %.17g", row[i].text, value);
        assert_non_null(why);
    }
}

static void people_read_three_to_four_digits(void **state)
{
    static const struct {
        double value;
        enum dimension dimension;
        const char *text;
    } row[] = {
        {0, DIM_SECONDS, "0 s"},
        {0.0123456, DIM_SECONDS, "12.35 ms"},
        {20e-9, DIM_SECONDS, "20 ns"},
        {4.5e9, DIM_BYTES, "4.5 GB"},
        {999.99e9, DIM_BYTES, "1 TB"},
        {131072, DIM_COUNT, "131072"},
        {12345678, DIM_COUNT, "12.35 M"},
        {0.05, DIM_FRACTION, "5%"},
        {3.35e12, DIM_BYTES_PER_S, "3.35 TB/s"},
        {1, DIM_BOOL, "true"},
        {2.295, DIM_COST, "2.295"},
        {INFINITY, DIM_SECONDS, "inf"},
    };
    char text[32];
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        assert_string_equal(unit_format(text, row[i].value, row[i].dimension), row[i].text);
}

/* Property: what is printed with a unit reads back to within its digits, over all magnitudes and dimensions with units. */
static void printed_numbers_read_back(void **state)
{
    (void)state;
    for (int d = 0; d < N_DIMENSIONS; d++) {
        if (d == DIM_BOOL || d == DIM_CODE || d == DIM_COST_PER_TOKEN)
            continue;
        for (int power = d == DIM_COUNT ? 3 : -14; power < 15; power++) {
            const double value = 1.2341 * pow(10, power);
            double back = NAN;
            const char *why;
            char text[32];
            unit_format(text, value, (enum dimension)d);
            assert_true(strlen(text) < 32);
            assert_true(unit_name((enum dimension)d)[0] != '\0');
            const enum dimension as = d == DIM_COUNT ? DIM_NUMBER : (enum dimension)d; /* 1.234 k need not be whole */
            if (unit_parse(text, as, &back, &why) != 0 || !(fabs(back - value) <= 2e-3 * value))
                fail_msg("%.17g is printed as %s and read as %.17g", value, text, back);
        }
    }
}

static void exact_numbers_keep_their_bits(void **state)
{
    static const double value[] = {0, 1, 0.1, 1.0 / 3, 4.5e9, 0x1p53, 5e-324, 1.7976931348623157e308, 0.36e-12, 20e-9};
    (void)state;
    for (size_t i = 0; i < sizeof value / sizeof value[0]; i++) {
        char text[32];
        assert_true(strtod(number_exact(text, value[i]), NULL) == value[i]);
    }
    char text[32];
    assert_string_equal(number_exact(text, 0.1), "0.1");
}

static void typos_find_their_word(void **state)
{
    static const char *const words[] = {"tp", "cp", "hbm_bandwidth", "hbm_capacity", "latency", "llama-3.1-70b"};
    (void)state;
    assert_string_equal(nearest_word("hbm_bandwith", words, 6), "hbm_bandwidth");
    assert_string_equal(nearest_word("latnecy", words, 6), "latency");
    assert_string_equal(nearest_word("Latency", words, 6), "latency");
    assert_string_equal(nearest_word("llama-70b", words, 6), "llama-3.1-70b");
    assert_string_equal(nearest_word("tpp", words, 6), "tp");
    assert_null(nearest_word("", words, 6));
    assert_null(nearest_word("colour", words, 6));
    assert_null(nearest_word("x", words, 0));
    char giant[5000];
    memset(giant, 'a', sizeof giant - 1);
    giant[sizeof giant - 1] = '\0';
    assert_null(nearest_word(giant, words, 6));
}

/* What a stream function wrote, in `text`. */
static void print_errors(const struct errors *errors, char *text, size_t n)
{
    FILE *const to = fmemopen(text, n, "w");
    assert_non_null(to);
    errors_print(errors, to);
    fclose(to);
}

static void errors_are_one_line_each(void **state)
{
    static struct errors errors;
    static char text[32 * 1024];
    (void)state;
    assert_int_equal(errors_print(&errors, stderr), STATUS_DONE);
    assert_int_equal(error_add(&errors, STATUS_INPUT, "a.yaml", 3, "%s", "two\nlines\x1b[31m"), -1);
    error_add(&errors, STATUS_SYSTEM, NULL, 0, "no place");
    error_add(&errors, STATUS_INPUT, "a.yaml", 0, "whole file");
    print_errors(&errors, text, sizeof text);
    assert_string_equal(text, "cosweep: a.yaml:3: two?lines?[31m\ncosweep: no place\ncosweep: a.yaml: whole file\n");
    for (int i = 0; i < 2 * ERRORS_KEPT; i++)
        error_add(&errors, STATUS_INPUT, "a.yaml", i, "%01000d", i);
    assert_int_equal(errors.n, ERRORS_KEPT);
    assert_int_equal(errors.n_dropped, ERRORS_KEPT + 3);
    print_errors(&errors, text, sizeof text);
    assert_non_null(strstr(text, "cosweep: and 43 more\n"));
    assert_int_equal(errors.item[0].code, STATUS_INPUT);
}

static void arena_memory_is_aligned_and_zero(void **state)
{
    struct arena arena = {0};
    (void)state;
    for (size_t n = 0; n < 300000; n = n * 2 + 1) {
        unsigned char *const bytes = arena_alloc(&arena, n, 1);
        assert_int_equal((uintptr_t)bytes % 64, 0);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(bytes[i], 0);
        memset(bytes, 0xff, n);
    }
    char *const kept = arena_text(&arena, "kept");
    for (int i = 0; i < 1000; i++)
        arena_alloc(&arena, 1000, 1);
    assert_string_equal(kept, "kept");
    arena_free(&arena);
    assert_null(arena.block);
    arena_free(&arena);
}

static void tree_finds_members(void **state)
{
    struct node leaf = {.kind = NODE_TEXT, .key = "b", .text = "1"};
    struct node first = {.kind = NODE_TEXT, .key = "a", .text = "0", .next = &leaf};
    struct node map = {.kind = NODE_MAP, .n_children = 2, .first = &first};
    (void)state;
    assert_ptr_equal(node_find(&map, "b"), &leaf);
    assert_null(node_find(&map, "c"));
    assert_null(node_find(NULL, "a"));
    assert_null(node_find(&leaf, "a"));
}

static void json_writes(FILE *to, bool pretty)
{
    struct json json = {.to = to, .pretty = pretty};
    json_open(&json, NULL, '{');
    json_text(&json, "text", "quote \" slash \\ line \n bell \a \xc3\xa9 bad \xff");
    json_text(&json, "none", NULL);
    json_number(&json, "third", 1.0 / 3);
    json_number(&json, "whole", 8);
    json_whole(&json, "id", INT64_C(9007199254740993)); /* is no double */
    json_number(&json, "nan", NAN);
    json_open(&json, "list", '[');
    json_bool(&json, NULL, true);
    json_open(&json, NULL, '{');
    json_close(&json, '}');
    json_close(&json, ']');
    json_close(&json, '}');
}

static void json_is_json(void **state)
{
    char text[1024];
    (void)state;
    FILE *to = fmemopen(text, sizeof text, "w");
    json_writes(to, false);
    fclose(to);
    assert_string_equal(text,
                        "{\"text\": \"quote \\\" slash \\\\ line \\n bell \\u0007 \xc3\xa9 bad \\ufffd\", \"none\": null, "
                        "\"third\": 0.3333333333333333, \"whole\": 8, \"id\": 9007199254740993, "
                        "\"nan\": null, \"list\": [true, {}]}");
    to = fmemopen(text, sizeof text, "w");
    json_writes(to, true);
    fclose(to);
    assert_non_null(strstr(text, "\n  \"whole\": 8,\n"));
    assert_non_null(strstr(text, "\n  \"list\": [\n    true,\n    {}\n  ]\n}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_carry_units),
        cmocka_unit_test(other_text_is_refused),
        cmocka_unit_test(people_read_three_to_four_digits),
        cmocka_unit_test(printed_numbers_read_back),
        cmocka_unit_test(exact_numbers_keep_their_bits),
        cmocka_unit_test(typos_find_their_word),
        cmocka_unit_test(errors_are_one_line_each),
        cmocka_unit_test(arena_memory_is_aligned_and_zero),
        cmocka_unit_test(tree_finds_members),
        cmocka_unit_test(json_is_json),
    };
    return cmocka_run_group_tests_name("core", tests, NULL, NULL);
}
