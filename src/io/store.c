/* What writer and reader of the result file share: quiet, types, and the library's own words for what went wrong. */
#include "io/store.h"

#include <string.h>

void store_quiet(void)
{
    H5open();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

hid_t store_text_type(void)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

/* The stack's deepest entry says what happened, the others which calls were on the way. */
static herr_t deepest(unsigned n, const H5E_error2_t *entry, void *text)
{
    (void)n;
    snprintf(text, MESSAGE_CHARS, "%s", entry->desc ? entry->desc : "");
    return 0;
}

int store_fail(struct errors *errors, int code, const char *path, const char *verb, const char *object)
{
    char said[MESSAGE_CHARS] = "";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, deepest, said);
    H5Eclear2(H5E_DEFAULT);
    /* "file write failed: time = ..., errno = 28, error message = 'No space left on device', ...": the quoted part. */
    const char *const quoted = strstr(said, "error message = '");
    if (quoted) {
        const char *const from = quoted + strlen("error message = '");
        memmove(said, from, strlen(from) + 1);
        said[strcspn(said, "'")] = '\0';
    }
    return error_add(errors, code, path, 0, "cannot %s `%s`: %.300s", verb, object, said[0] ? said : "unknown cause");
}

const char *result_library(void)
{
    static char text[48];
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    snprintf(text, sizeof text, "%u.%u.%u", major, minor, release);
    return text;
}
