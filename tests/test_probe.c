/* io/store_probe: what becomes of a child that reads a file on which the library fails. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/store_probe.h"

static void comes_through(void *count)
{
    ++*(int *)count; /* the child's own */
}

static void crashes(void *unused)
{
    (void)unused;
    raise(SIGSEGV);
}

static void aborts(void *unused)
{
    (void)unused;
    abort();
}

static void leaves(void *unused)
{
    (void)unused;
    _exit(3);
}

/* More than is allowed: the program's own answer to no memory is to abort. */
static void takes_memory(void *unused)
{
    void *volatile block = malloc((size_t)PROBE_BYTES * 8);
    (void)unused;
    if (!block) abort();
    free(block);
}

/* As the HDF5 library, which reports that it got none. */
static void wants_memory(void *got)
{
    void *volatile block = malloc((size_t)PROBE_BYTES * 8);
    *(int *)got = block != NULL;
    free(block);
}

static void reads_on(void *unused)
{
    (void)unused;
    raise(SIGXCPU); /* what the limit sends */
}

static void is_killed(void *unused)
{
    (void)unused;
    raise(SIGKILL); /* as the kernel does where memory runs out */
}

/* That says nothing about the file. */
static void test_probe_that_is_killed_blames_no_file(void **state)
{
    static struct errors errors;
    (void)state;
    assert_int_equal(store_probe("x.h5", 1000, is_killed, NULL, &errors), -1);
    assert_int_equal(errors.item[0].code, STATUS_SYSTEM);
    assert_non_null(strstr(errors.item[0].message, "signal 9"));
    assert_null(strstr(errors.item[0].message, "damaged"));
}

static void check(void (*read)(void *), const char *how)
{
    static struct errors errors;
    errors.n = 0;
    assert_int_equal(store_probe("x.h5", 1000, read, NULL, &errors), -1);
    assert_int_equal(errors.n, 1);
    assert_int_equal(errors.item[0].code, STATUS_INPUT);
    assert_string_equal(errors.item[0].file, "x.h5");
    assert_non_null(strstr(errors.item[0].message, how));
}

static void test_probe_survives(void **state)
{
    static struct errors errors;
    int count = 0;
    (void)state;
    assert_int_equal(store_probe("x.h5", 1000, comes_through, &count, &errors), 0);
    assert_int_equal(errors.n, 0);
    assert_int_equal(count, 1); /* the child's own did not count */
}

static void test_probe_tells_how_it_failed(void **state)
{
    (void)state;
    check(crashes, "crashes");
    check(aborts, "aborts");
    check(leaves, "stops");
    check(reads_on, "without an end");
}

static void test_probe_limits_memory(void **state)
{
    (void)state;
    check(takes_memory, "is damaged"); /* a sanitizer ends the child in its own way */
}

/* A child that reports it and lives on does not have its parent try without bounds; afterwards there are none. */
static void test_probe_limits_the_parent(void **state)
{
    static struct errors errors;
    int got = -1;
    (void)state;
    assert_int_equal(store_probe("x.h5", 1000, wants_memory, &got, &errors), 0);
    assert_int_equal(got, 0);
    wants_memory(&got);
    assert_int_equal(got, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probe_survives),
        cmocka_unit_test(test_probe_tells_how_it_failed),
        cmocka_unit_test(test_probe_that_is_killed_blames_no_file),
        cmocka_unit_test(test_probe_limits_memory),
        cmocka_unit_test(test_probe_limits_the_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
