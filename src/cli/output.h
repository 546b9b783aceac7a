/* output: the file that run and merge write, and who may write it. */
#ifndef COSWEEP_CLI_OUTPUT_H
#define COSWEEP_CLI_OUTPUT_H

#include "cli/cli.h"

/* Whether a file may be made at `path`: what is there is nothing, or a plain file and none of the inputs[n].  Returns 0 or
 * -1. */
int output_check(const char *path, const char *const *inputs, int n, struct errors *errors);
/* Where a file that is asked for as `path` really goes, links followed; checked as by output_check.  Returns 0 or -1. */
int output_place(char place[4096], const char *path, const char *const *inputs, int n, struct errors *errors);
/* What stands at the path now. A result of another study, or something else, is an error unless `force`. */
enum standing { STANDING_NOTHING, STANDING_SAME_STUDY };
enum standing output_standing(const char *path, const struct study *study, bool force, struct errors *errors);
/* Keep other runs from writing the same result; the lock ends with the process, however it ends.  What killed runs left
 * unfinished there is removed.  Returns a handle, or -1. */
int output_lock(const char *path, struct errors *errors);
void output_unlock(int lock, const char *path);
/* The result, with every feasible candidate where the study asks for them: of the grid that was swept last. */
int output_write(struct result *result, const struct study *study, const char *path, struct arena *arena,
                 struct errors *errors);
/* Summary, where it was written, and what would make something feasible where nothing is.  Returns the exit code. */
int output_report(const struct result *result, const struct study *study, const char *path, int64_t top);

#endif
