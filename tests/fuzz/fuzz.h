/* fuzz: what the targets share.  A target is a file with LLVMFuzzerTestOneInput: it gives bytes to the code that a command
 * runs on a user's file, and calls fuzz_fail where the answer is wrong though nothing crashed.
 *
 * libFuzzer drives a target in build type Fuzz (scripts/fuzz.sh); in every other build replay.c gives it the files of its
 * corpus, once each, as a test. */
#ifndef COSWEEP_TESTS_FUZZ_H
#define COSWEEP_TESTS_FUZZ_H

#include "cli/cli.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A file in a folder of this process, removed at its end. */
enum { FUZZ_FILES = 2, FUZZ_PATH_CHARS = 384 };
char *fuzz_place(char path[FUZZ_PATH_CHARS], const char *name);
/* Bytes as such a file; its path.  It is there until the next call with the same `which`. */
const char *fuzz_file(int which, const void *data, size_t n);

/* Run a command with the arguments a[n]; its exit code.  What it prints is kept until the next call; NULL: not wanted. */
int fuzz_command(const struct command *command, int n, const char *const *a, const char **output);

/* The property that does not hold, then abort. */
_Noreturn void fuzz_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Messages must be there after a failure, and none after a success. */
void fuzz_check_errors(const struct errors *errors, int status);
/* The text of a study reads back to the same study. */
void fuzz_check_study(const struct study *study);
/* Every number of a candidate is finite and what it is. */
void fuzz_check_metrics(const double metric[N_METRICS]);
/* Whether a study is swept within some milliseconds. */
bool fuzz_is_small(const struct study *study);

/* Bytes taken from the front of the input; zeros where it has ended. */
struct fuzz_input {
    const uint8_t *data;
    size_t n;
};
uint64_t fuzz_take(struct fuzz_input *input, int n_bytes); /* at most 8, little-endian */

#endif
