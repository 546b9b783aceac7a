/* A result is never replaced by accident, nor written by two runs at once. */
#define _DEFAULT_SOURCE /* flock */
#include "cli/output.h"
#include "cli/answer.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum standing output_standing(const char *path, const struct study *study, bool force, struct errors *errors)
{
    struct errors unread = {0};
    struct arena arena = {0};
    struct result old;
    enum standing standing = STANDING_NOTHING;
    if (force || access(path, F_OK) != 0) return standing;
    if (result_read(&old, path, &arena, &unread) != 0)
        error_add(errors, STATUS_INPUT, path, 0,
                  "exists and is no result this version can read; give another --output, "
                  "or --force to replace it");
    else if (old.study_hash != study->hash)
        error_add(errors, STATUS_INPUT, path, 0,
                  "holds the result of a different study (%s); give another --output, or "
                  "--force to replace it",
                  old.study_name);
    else standing = STANDING_SAME_STUDY;
    arena_free(&arena);
    return standing;
}

static void lock_name(char name[4096], const char *path)
{
    snprintf(name, 4096, "%.4000s.lock", path);
}

int output_lock(const char *path, struct errors *errors)
{
    char name[4096];
    lock_name(name, path);
    const int lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock < 0)
        return error_add(errors, STATUS_SYSTEM, path, 0, "cannot write here: %s; give another file with -o",
                         strerror(errno));
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) return lock;
    close(lock);
    return error_add(errors, STATUS_INPUT, path, 0,
                     "is being written by another run; wait for it, or give another file with -o");
}

void output_unlock(int lock, const char *path)
{
    char name[4096];
    if (lock < 0) return;
    lock_name(name, path);
    unlink(name);
    close(lock);
}

int output_write(struct result *result, const struct study *study, const char *path, struct arena *arena,
                 struct errors *errors)
{
    struct study last;
    if (!study->population.full) return result_write(result, path, errors);
    if (study_parse(&last, result->study, "the study that was swept", arena, errors) != 0) return -1;
    full_open(result, &last);
    const int status = result_write(result, path, errors);
    full_close(result);
    return status;
}

int output_report(const struct result *result, const struct study *study, const char *path, int top)
{
    int code = STATUS_NOTHING;
    summary_print(result, stdout, top);
    printf("\nwritten to %s\n", path);
    for (int s = 0; s < result->n_scenarios; s++) {
        if (result->scenario[s].n_feasible > 0) code = STATUS_DONE;
        else relaxations_of_study_print(stdout, study, s);
    }
    return code;
}
