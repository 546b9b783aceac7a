/* Does the HDF5 library survive a file?  On damaged bytes it may crash, hang or ask for all memory, and nothing it offers
 * tells beforehand.  So a file is read first by a child that may do no harm: what the child survived, its parent will,
 * within the same bounds. */
#define _DEFAULT_SOURCE /* RLIMIT_AS */
#include "io/store_probe.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

bool store_probing = true;

/* How a library ends that does not survive a file. */
static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU};
enum { N_DEADLY = sizeof deadly / sizeof deadly[0] };

static bool is_deadly(int signal_number)
{
    for (int i = 0; i < N_DEADLY; i++)
        if (deadly[i] == signal_number) return true;
    return false;
}

/* Address space now; the limit is on top of it. */
static rlim_t address_bytes(void)
{
    char line[128];
    unsigned long long pages = 0;
    FILE *const facts = fopen("/proc/self/statm", "r");
    if (facts && fgets(line, sizeof line, facts)) pages = strtoull(line, NULL, 10);
    if (facts) fclose(facts);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* Lower a limit to `value`.  Returns what it was. */
static struct rlimit limit(int resource, rlim_t value)
{
    struct rlimit was = {RLIM_INFINITY, RLIM_INFINITY};
    if (getrlimit(resource, &was) != 0) return was;
    struct rlimit now = was;
    if (now.rlim_max != RLIM_INFINITY && value > now.rlim_max) value = now.rlim_max;
    if (now.rlim_cur != RLIM_INFINITY && value > now.rlim_cur) value = now.rlim_cur;
    now.rlim_cur = value;
    setrlimit(resource, &now);
    return was;
}

static struct rlimit limit_memory(int64_t file_bytes)
{
    const rlim_t now = address_bytes();
    return limit(RLIMIT_AS, now > 0 ? now + PROBE_BYTES + PROBE_TIMES_FILE * (rlim_t)file_bytes : RLIM_INFINITY);
}

_Noreturn static void read_as_child(void (*read)(void *), void *what, int64_t file_bytes)
{
    for (int i = 0; i < N_DEADLY; i++) signal(deadly[i], SIG_DFL);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, PROBE_CPU_S + (rlim_t)(file_bytes / PROBE_BYTES_PER_S));
    limit_memory(file_bytes);
    if (!freopen("/dev/null", "w", stderr)) _exit(1); /* the parent speaks */
    read(what);
    _exit(0);
}

static int probe(const char *path, int64_t file_bytes, void (*read)(void *), void *what, struct errors *errors)
{
    int status;
    fflush(NULL); /* nothing is to be printed twice */
    const pid_t child = fork();
    if (child < 0) return error_add(errors, STATUS_SYSTEM, path, 0, "cannot be read: no new process: %s", strerror(errno));
    if (child == 0) read_as_child(read, what, file_bytes);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return 0; /* someone else takes our children's ends: then there is no telling */
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
    if (WIFSIGNALED(status) && !is_deadly(WTERMSIG(status))) /* from outside: memory ran out, or somebody ended it */
        return error_add(
            errors, STATUS_SYSTEM, path, 0,
            "cannot be read: the process that reads it first was ended by signal %d (%s); give it more memory, or "
            "try again",
            WTERMSIG(status), strsignal(WTERMSIG(status)));
    const char *const how = !WIFSIGNALED(status)          ? "stops"
                            : WTERMSIG(status) == SIGXCPU ? "reads on without an end"
                            : WTERMSIG(status) == SIGABRT ? "aborts, or wants too much memory"
                                                          : "crashes";
    return error_add(errors, STATUS_INPUT, path, 0,
                     "is damaged so that the HDF5 library (%s) %s; take it from a backup, or run the study again",
                     result_library(), how);
}

int store_probe(const char *path, int64_t file_bytes, void (*read)(void *), void *what, struct errors *errors)
{
    if (store_probing && probe(path, file_bytes, read, what, errors) != 0) return -1;
    const struct rlimit was = store_probing ? limit_memory(file_bytes) : (struct rlimit){0};
    read(what);
    if (store_probing) setrlimit(RLIMIT_AS, &was);
    return 0;
}
