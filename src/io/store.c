/* What writers and readers of the result file share: quiet, types, words, and the library's own for what went wrong. */
#define _POSIX_C_SOURCE 200809L
#include "io/store.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char *const store_search_name[2] = {[SEARCH_EXHAUSTIVE] = "exhaustive", [SEARCH_PRUNED] = "pruned"};

char *store_reason_words(char words[STORE_WORDS_CHARS], const struct result *result)
{
    size_t length = 0;
    for (int i = 0; i < REASON_LIMIT + result->n_limits; i++)
        length += (size_t)snprintf(words + length, STORE_WORDS_CHARS - length, "%s%s%s", i > 0 ? "|" : "",
                                   i < REASON_LIMIT ? reason_name[i] : "limit_",
                                   i < REASON_LIMIT ? "" : metric_facts[result->limit[i - REASON_LIMIT].metric].name);
    assert(length < STORE_WORDS_CHARS);
    return words;
}

void store_quiet(void)
{
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0); /* of no use here, and an error where a file system has no locks */
    H5dont_atexit(); /* after a full disk the library's own clean-up at exit crashes; we close what we open */
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
    const bool by_system = quoted && strcmp(said, strerror(0)) != 0; /* it says nothing of what is in the file */
    return error_add(errors, code, path, 0, "cannot %s `%s`: %.300s%s", verb, object, said[0] ? said : "unknown cause",
                     code != STATUS_INPUT || by_system ? "" : "; the file is damaged, run its study again");
}

const char *result_library(void)
{
    static char text[48];
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    snprintf(text, sizeof text, "%u.%u.%u", major, minor, release);
    return text;
}
