/* error: what went wrong, kept in order, so that one run reports everything that is wrong with an input. */
#include "cosweep/core.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

enum { WORD_CHARS = 64 }; /* longer words are no typos */

/* One message is one line and harmless to a terminal, whatever the input held. */
static void make_printable(char *text)
{
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == 0x7f) *text = '?';
    }
}

int error_add(struct errors *errors, int code, const char *file, int line, const char *format, ...)
{
    if (errors->n == ERRORS_KEPT) {
        errors->n_dropped++;
        return -1;
    }
    struct error *const error = &errors->item[errors->n++];
    error->code = code;
    error->line = line;
    snprintf(error->file, sizeof error->file, "%s", file ? file : "");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    make_printable(error->file);
    make_printable(error->message);
    return -1;
}

int errors_print(const struct errors *errors, FILE *to)
{
    for (int i = 0; i < errors->n; i++) {
        const struct error *const error = &errors->item[i];
        fputs("cosweep: ", to);
        if (error->file[0]) fprintf(to, "%s:", error->file);
        if (error->line > 0) fprintf(to, "%d:", error->line);
        fprintf(to, "%s%s\n", error->file[0] || error->line > 0 ? " " : "", error->message);
    }
    if (errors->n_dropped > 0) fprintf(to, "cosweep: and %d more\n", errors->n_dropped);
    return errors->n > 0 ? errors->item[0].code : STATUS_DONE;
}

/* Edits (insert, delete, replace, swap of neighbours) from a to b, both shorter than WORD_CHARS; case does not count. */
static int edit_distance(const char *a, int n_a, const char *b, int n_b)
{
    int row[3][WORD_CHARS + 1]; /* the last three rows of the table, row i at i % 3 */
    for (int j = 0; j <= n_b; j++) row[0][j] = j;
    for (int i = 1; i <= n_a; i++) {
        int *const now = row[i % 3];
        const int *const before = row[(i + 2) % 3], *const earlier = row[(i + 1) % 3];
        const int a_now = tolower((unsigned char)a[i - 1]);
        now[0] = i;
        for (int j = 1; j <= n_b; j++) {
            const int b_now = tolower((unsigned char)b[j - 1]);
            int best = before[j - 1] + (a_now != b_now);
            best = before[j] + 1 < best ? before[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            const bool swapped =
                i > 1 && j > 1 && a_now == tolower((unsigned char)b[j - 2]) && b_now == tolower((unsigned char)a[i - 2]);
            if (swapped && earlier[j - 2] + 1 < best) best = earlier[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[n_a % 3][n_b];
}

const char *nearest_word(const char *word, const char *const *words, int n)
{
    const size_t n_word = strlen(word);
    if (n_word == 0 || n_word >= WORD_CHARS) return NULL;
    const char *nearest = NULL;
    int least = WORD_CHARS;
    for (int i = 0; i < n; i++) {
        const size_t n_known = strlen(words[i]);
        if (n_known == 0 || n_known >= WORD_CHARS) continue;
        const int distance = edit_distance(word, (int)n_word, words[i], (int)n_known);
        const int longer = (int)(n_word > n_known ? n_word : n_known);
        const bool same_start = tolower((unsigned char)word[0]) == tolower((unsigned char)words[i][0]);
        /* A third of a word wrong is another word; of two letters the second may be. */
        const int tolerated = longer >= 6 ? longer / 3 : longer > 2 || same_start;
        if (distance <= tolerated && distance < longer && distance < least) {
            least = distance;
            nearest = words[i];
        }
    }
    return nearest;
}
