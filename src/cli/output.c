/* A result is never replaced by accident, nor written by two runs at once. */
#define _DEFAULT_SOURCE /* flock, realpath */
#include "cli/output.h"
#include "cli/answer.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_NAME_CHARS = 200 }; /* of 255, so that ".checkpoint.PID.unfinished" fits behind it */

int output_check(const char *path, const char *const *inputs, int n, struct errors *errors)
{
    struct stat there, input;
    if (lstat(path, &there) != 0) return 0;
    if (stat(path, &there) != 0)
        return error_add(errors, STATUS_INPUT, path, 0, "is a link to nothing; remove it, or give another --output");
    if (!S_ISREG(there.st_mode))
        return error_add(errors, STATUS_INPUT, path, 0, "is %s, not a plain file; give another --output",
                         S_ISDIR(there.st_mode) ? "a folder" : "a device or pipe");
    for (int i = 0; i < n; i++)
        if (stat(inputs[i], &input) == 0 && input.st_dev == there.st_dev && input.st_ino == there.st_ino)
            return error_add(errors, STATUS_INPUT, path, 0, "is what is read from (%s); give another --output", inputs[i]);
    return 0;
}

int output_place(char place[4096], const char *path, const char *const *inputs, int n, struct errors *errors)
{
    snprintf(place, 4096, "%.4000s", path);
    const char *const slash = strrchr(path, '/'), *const name = slash ? slash + 1 : path;
    if (strlen(name) > MOST_NAME_CHARS || strlen(path) > 4000)
        return error_add(
            errors, STATUS_INPUT, NULL, 0,
            "%.40s...: a name of %zu bytes in a path of %zu is too long; give an --output with at most %d in 4000", name,
            strlen(name), strlen(path), MOST_NAME_CHARS);
    if (strcmp(path, "-") == 0)
        return error_add(errors, STATUS_INPUT, path, 0,
                         "is standard output, which takes no file; give --output a name, ./- for a file called so");
    if (output_check(path, inputs, n, errors) != 0) return -1;
    char *const real = realpath(path, NULL);
    if (real) snprintf(place, 4096, "%.4000s", real);
    free(real);
    return 0;
}

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
                  "holds the result of a different study (%s), or of one whose presets have changed; give another "
                  "--output, or --force to replace it",
                  old.study_name);
    else standing = STANDING_SAME_STUDY;
    arena_free(&arena);
    return standing;
}

static void lock_name(char name[4096], const char *path)
{
    snprintf(name, 4096, "%.4000s.lock", path);
}

/* Some file systems of clusters know no locks. */
static void warn_unlocked(const char *path, int why)
{
    fprintf(stderr, "cosweep: warning: %s: no lock can be had here (%s); see that no other run writes this file\n", path,
            strerror(why));
}

int output_lock(const char *path, struct errors *errors)
{
    char name[4096];
    struct stat held, named;
    lock_name(name, path);
    for (;;) {
        const int lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (lock < 0)
            return error_add(errors, STATUS_SYSTEM, path, 0, "cannot write here: %s; give another file with -o",
                             strerror(errno));
        if (fstat(lock, &held) == 0 && (!S_ISREG(held.st_mode) || held.st_size > 0)) {
            close(lock);
            return error_add(errors, STATUS_INPUT, name, 0,
                             "is there and not empty, so no lock of a run; move it away, or give another --output");
        }
        if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
            if (errno != EWOULDBLOCK) {
                warn_unlocked(path, errno);
                return lock;
            }
            close(lock);
            return error_add(errors, STATUS_INPUT, path, 0,
                             "is being written by another run; wait for it, or give another file with -o");
        }
        /* Another run may have removed the name between the two calls: then the lock is on a file nobody will find. */
        if (stat(name, &named) == 0 && named.st_ino == held.st_ino && named.st_dev == held.st_dev) {
            unfinished_remove(path);
            return lock;
        }
        close(lock);
    }
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

int output_report(const struct result *result, const struct study *study, const char *path, int64_t top)
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
