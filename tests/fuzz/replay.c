/* Without libFuzzer: every file of the folders given, once through the target: what was found once stays found. */
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static char current[4096]; /* for whoever looks at the core */

static void replay(const char *path)
{
    char *bytes = NULL;
    size_t n = 0;
    FILE *const from = fopen(path, "rb"), *const to = open_memstream(&bytes, &n);
    if (!from || !to) fuzz_fail("%s: cannot be read", path);
    for (int c; (c = getc(from)) != EOF;) putc(c, to);
    fclose(from);
    fclose(to);
    uint8_t *const exact = malloc(n > 0 ? n : 1); /* so that a sanitizer sees the byte after the last */
    if (!exact) abort();
    memcpy(exact, bytes, n);
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
    free(bytes);
}

int main(int argc, char **argv)
{
    int n = 0;
    for (int i = 1; i < argc; i++) {
        DIR *const folder = opendir(argv[i]);
        if (!folder) {
            replay(argv[i]);
            n++;
            continue;
        }
        for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
            if (entry->d_name[0] == '.') continue;
            snprintf(current, sizeof current, "%.2000s/%.2000s", argv[i], entry->d_name);
            fprintf(stderr, "%s\n", current); /* the last one is the culprit */
            replay(current);
            n++;
        }
        closedir(folder);
    }
    fprintf(stderr, "%d inputs\n", n);
    return n > 0 ? 0 : 2;
}
