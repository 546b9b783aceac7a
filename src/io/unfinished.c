/* Files are built beside their place, as PATH.PID.unfinished, and renamed when they are whole.  A process that is killed
 * leaves one behind; whoever next holds the lock of the place removes it. */
#define _POSIX_C_SOURCE 200809L
#include "cosweep/io.h"
#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char ending[] = ".unfinished";

void unfinished_name(char name[4096], const char *path)
{
    snprintf(name, 4096, "%.4000s.%ld%s", path, (long)getpid(), ending);
}

/* Whether `name` is `base`, perhaps ".checkpoint", a dot, digits and the ending. */
static bool is_unfinished(const char *name, const char *base)
{
    static const char checkpoint[] = ".checkpoint";
    const size_t n_base = strlen(base);
    if (strncmp(name, base, n_base) != 0) return false;
    name += n_base;
    if (strncmp(name, checkpoint, sizeof checkpoint - 1) == 0) name += sizeof checkpoint - 1;
    if (*name++ != '.') return false;
    const size_t n_digits = strspn(name, "0123456789");
    return n_digits > 0 && strcmp(name + n_digits, ending) == 0;
}

void unfinished_remove(const char *path)
{
    char folder_of[4096], name_of[4096];
    snprintf(folder_of, sizeof folder_of, "%s", path);
    snprintf(name_of, sizeof name_of, "%s", path);
    const char *const base = basename(name_of);
    DIR *const folder = opendir(dirname(folder_of));
    if (!folder) return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        struct stat facts;
        if (!is_unfinished(entry->d_name, base)) continue;
        if (fstatat(dirfd(folder), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(facts.st_mode)) continue;
        unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
}
