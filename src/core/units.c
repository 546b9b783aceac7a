/* units: numbers as people write them, to base units and back.
 *
 *     "3.35 TB/s" = number, prefix, base: a prefix moves the decimal exponent before the digits are read, so that
 *     "20 ns" and "2e-8" are the same double. */
#include "cosweep/core.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_CHARS = 64 };

struct prefix {
    const char *name;
    int exponent;  /* of ten */
    double factor; /* binary prefixes */
};
static const struct prefix prefixes[] = {
    {"", 0, 1},       {"k", 3, 1},       {"M", 6, 1},       {"G", 9, 1},       {"T", 12, 1},      {"P", 15, 1},
    {"E", 18, 1},     {"m", -3, 1},      {"u", -6, 1},      {"n", -9, 1},      {"p", -12, 1},     {"f", -15, 1},
    {"Ki", 0, 1024.}, {"Mi", 0, 0x1p20}, {"Gi", 0, 0x1p30}, {"Ti", 0, 0x1p40}, {"Pi", 0, 0x1p50},
};
enum { N_PREFIXES = sizeof prefixes / sizeof prefixes[0] };

/* Units that take no prefix. */
struct special {
    enum dimension dimension;
    const char *name;
    int exponent;
    double factor;
};
static const struct special specials[] = {
    {DIM_SECONDS, "min", 0, 60},
    {DIM_SECONDS, "h", 0, 3600},
    {DIM_FRACTION, "%", -2, 1},
};
enum { N_SPECIALS = sizeof specials / sizeof specials[0] };

/* One row per dimension: what may follow a number, what the number is called in files, and what to tell who errs. */
static const struct {
    const char *base;      /* suffix after the prefix */
    const char *prefixes;  /* allowed, between spaces */
    const char *up, *down; /* prefixes for printing large and small numbers, ascending */
    const char *name;      /* base unit */
    const char *why;
} units[] = {
    [DIM_COUNT] = {"", " k M G T P E Ki Mi Gi Ti ", "kMGTPE", "", "1",
                   "is no whole number; k, M, G, Ki, Mi and Gi may follow"},
    [DIM_NUMBER] = {"", " k M G T P E Ki Mi Gi Ti ", "kMGTPE", "", "1", "is no number; k, M, G, Ki, Mi and Gi may follow"},
    [DIM_FRACTION] = {"", " ", "", "", "1", "is no fraction; write 0.05 or 5%"},
    [DIM_BYTES] = {"B", " k M G T P E Ki Mi Gi Ti Pi ", "kMGTPE", "", "bytes",
                   "is no size; use B, kB, MB, GB, TB, KiB, MiB, GiB or TiB"},
    [DIM_BYTES_PER_S] = {"B/s", " k M G T P E Ki Mi Gi Ti Pi ", "kMGTPE", "", "bytes/s",
                         "is no bandwidth; use B/s, kB/s, MB/s, GB/s, TB/s or GiB/s"},
    [DIM_FLOP_PER_S] = {"FLOP/s", " k M G T P E ", "kMGTPE", "", "FLOP/s",
                        "is no rate; use FLOP/s, MFLOP/s, GFLOP/s, TFLOP/s or PFLOP/s"},
    [DIM_SECONDS] = {"s", " f p n u m ", "", "munpf", "s", "is no time; use s, ms, us, ns, ps, min or h"},
    [DIM_JOULES] = {"J", " m u n p f k M ", "kM", "munpf", "J", "is no energy; use J, mJ, uJ, nJ, pJ or fJ"},
    [DIM_WATTS] = {"W", " f p n u m k M G ", "kMG", "munpf", "W", "is no power; use W, mW, kW or MW"},
    [DIM_COST] = {"", " ", "", "", "USD", "is no number; cost is a plain number"},
    [DIM_BOOL] = {"", " ", "", "", "1", "is neither true nor false; give one"},
    [DIM_CODE] = {"", " ", "", "", "1", "is no number"},
    [DIM_COST_PER_TOKEN] = {"", " ", "", "munpf", "USD s/token", "is no number; cost per token is a plain number"},
    [DIM_JOULES_PER_TOKEN] = {"J/token", " f p n u m k M ", "kM", "munpf", "J/token",
                              "is no energy per token; use J/token, mJ/token or uJ/token"},
    [DIM_TOKENS_PER_S] = {"tokens/s", " k M G T ", "kMGT", "", "tokens/s",
                          "is no rate; use tokens/s, ktokens/s or Mtokens/s"},
    [DIM_PER_S] = {"/s", " k M G T ", "kMGT", "", "1/s", "is no rate; use /s"},
    [DIM_FLOP] = {"FLOP", " k M G T P E ", "kMGTPE", "", "FLOP", "is no work; use FLOP, GFLOP or TFLOP"},
};

/* The prefix of length n at `suffix` if the dimension allows it, else NULL. */
static const struct prefix *find_prefix(const char *suffix, size_t n, enum dimension dimension)
{
    char spaced[8];
    if (n > 2) return NULL;
    snprintf(spaced, sizeof spaced, " %.*s ", (int)n, suffix);
    if (n > 0 && !strstr(units[dimension].prefixes, spaced)) return NULL;
    for (int i = 0; i < N_PREFIXES; i++)
        if (strlen(prefixes[i].name) == n && strncmp(prefixes[i].name, suffix, n) == 0) return &prefixes[i];
    return NULL;
}

/* What a suffix multiplies by: 10^exponent * factor.  False if the dimension has no such suffix. */
static bool suffix_scale(const char *suffix, enum dimension dimension, int *exponent, double *factor)
{
    for (int i = 0; i < N_SPECIALS; i++)
        if (specials[i].dimension == dimension && strcmp(specials[i].name, suffix) == 0) {
            *exponent = specials[i].exponent;
            *factor = specials[i].factor;
            return true;
        }
    const size_t n = strlen(suffix), n_base = strlen(units[dimension].base);
    if (n == 0) { /* base units */
        *exponent = 0;
        *factor = 1;
        return true;
    }
    if (n < n_base || strcmp(suffix + n - n_base, units[dimension].base) != 0) return false;
    const struct prefix *const prefix = find_prefix(suffix, n - n_base, dimension);
    if (!prefix) return false;
    *exponent = prefix->exponent;
    *factor = prefix->factor;
    return true;
}

/* Split "-1.5e3 GB" into digits "-1.5", exponent 3 and suffix "GB"; false if it does not start with a number. */
static bool split_number(const char *text, char digits[NUMBER_CHARS], int *exponent, const char **suffix)
{
    const char *c = text;
    c += *c == '+' || *c == '-';
    int n_digits = 0;
    for (bool point = false; isdigit((unsigned char)*c) || (*c == '.' && !point); c++) {
        point = point || *c == '.';
        n_digits += *c != '.';
    }
    if (n_digits == 0 || c - text >= NUMBER_CHARS - 16) return false;
    snprintf(digits, NUMBER_CHARS - 16, "%.*s", (int)(c - text), text);
    *exponent = 0;
    const char *const e = c + 1 + (*c && (c[1] == '+' || c[1] == '-'));
    if ((*c == 'e' || *c == 'E') && isdigit((unsigned char)*e)) {
        char *end;
        const long power = strtol(c + 1, &end, 10);
        *exponent = power > 9999 ? 9999 : power < -9999 ? -9999 : (int)power;
        c = end;
    }
    c += strspn(c, " ");
    *suffix = c;
    return true;
}

static int bool_parse(const char *text, double *value)
{
    if (strcmp(text, "true") == 0 || strcmp(text, "yes") == 0) *value = 1;
    else if (strcmp(text, "false") == 0 || strcmp(text, "no") == 0) *value = 0;
    else return -1;
    return 0;
}

int unit_parse(const char *text, enum dimension dimension, double *value, const char **why)
{
    *why = units[dimension].why;
    if (dimension == DIM_BOOL) return bool_parse(text, value);
    if (dimension == DIM_CODE) return -1;
    char digits[NUMBER_CHARS];
    const char *suffix;
    int exponent, prefix_exponent;
    double factor;
    if (!split_number(text, digits, &exponent, &suffix) || !suffix_scale(suffix, dimension, &prefix_exponent, &factor))
        return -1;
    const size_t n = strlen(digits);
    snprintf(digits + n, sizeof digits - n, "e%d", exponent + prefix_exponent);
    const double number = strtod(digits, NULL) * factor + 0.0; /* + 0.0: there is one zero */
    if (!isfinite(number)) {
        *why = "is too large for a 64-bit number; give a smaller one";
        return -1;
    }
    if (dimension == DIM_COUNT && number != floor(number)) return -1;
    if (dimension == DIM_COUNT && fabs(number) > 0x1p53) { /* beyond it doubles skip whole numbers */
        *why = "is beyond 2^53, where whole numbers end; give a smaller one";
        return -1;
    }
    *value = number;
    return 0;
}

/* `digits` significant digits without an exponent where that is readable, without trailing zeros. */
static int print_number(char *text, size_t chars, double value, int digits)
{
    const double size = fabs(value);
    if (size != 0 && (size < 1e-3 || size >= 1e6)) return snprintf(text, chars, "%.*g", digits, value);
    const int whole = size > 0 ? (int)floor(log10(size)) + 1 : 1; /* digits before the point, negative: zeros after it */
    const int decimals = digits > whole ? digits - whole : 0;
    int n = snprintf(text, chars, "%.*f", decimals, value);
    if (decimals > 0) {
        while (text[n - 1] == '0') text[--n] = '\0';
        if (text[n - 1] == '.') text[--n] = '\0';
    }
    return n;
}

char *unit_format(char text[32], double value, enum dimension dimension)
{
    const char *const up = units[dimension].up, *const down = units[dimension].down;
    char prefix[2] = "";
    if (!isfinite(value)) {
        snprintf(text, 32, "%s", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return text;
    }
    if (dimension == DIM_BOOL) {
        snprintf(text, 32, "%s", value != 0 ? "true" : "false");
        return text;
    }
    if (dimension == DIM_FRACTION) {
        const int n = print_number(text, 30, value * 100, 4);
        snprintf(text + n, 32 - (size_t)n, "%%");
        return text;
    }
    const bool plain = (dimension == DIM_COUNT || dimension == DIM_NUMBER) && fabs(value) < 1e6; /* 131072, not 131.1k */
    for (int i = 0; !plain && up[i] && fabs(value) >= 999.95; i++) {
        value /= 1e3;
        prefix[0] = up[i];
    }
    for (int i = 0; down[i] && value != 0 && fabs(value) < 0.99995; i++) {
        value *= 1e3;
        prefix[0] = down[i];
    }
    const int n = print_number(text, 20, value, dimension == DIM_COUNT && plain ? 6 : 4);
    const char *const space = prefix[0] || units[dimension].base[0] ? " " : "";
    snprintf(text + n, 32 - (size_t)n, "%s%s%s", space, prefix, units[dimension].base);
    return text;
}

char *number_exact(char text[32], double value)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return text;
}

const char *unit_name(enum dimension dimension)
{
    return units[dimension].name;
}
