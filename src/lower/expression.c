/* What a formula's text is worth, and how it reads with numbers for its letters.
 *
 *     sum = product {(+|-) product}    product = factor {(*|/) factor}
 *     factor = number | symbol | function ( sum {, sum} ) | ( sum )
 *
 * The texts are this program's own and a test evaluates every one: a bad text is a mistake of ours, and asserted. */
#include "cosweep/lower.h"
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    const char *at;
    const double *value; /* [N_SYMBOLS] */
};

static double read_sum(struct reading *reading);

static bool takes(struct reading *reading, char wanted)
{
    if (*reading->at != wanted) return false;
    reading->at++;
    return true;
}

static bool is_letter(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static size_t word_length(const char *at)
{
    size_t n = 0;
    while (is_letter(at[n]) || (n > 0 && isdigit((unsigned char)at[n]))) n++;
    return n;
}

static bool is_word(const char *word, const char *at, size_t n)
{
    return strlen(word) == n && strncmp(word, at, n) == 0;
}

/* N_SYMBOLS if there is none of that name. */
static int find_symbol(const char *at, size_t n)
{
    int i = 0;
    while (i < N_SYMBOLS && !is_word(symbol_facts[i].name, at, n)) i++;
    return i;
}

/* MODEL's head: fractions are kept for t = 1. */
static double up(double x, double tile)
{
    return tile > 1.0 ? tile * ceil(x / tile) : x;
}

static double call(const char *name, size_t n, double x, double y)
{
    if (is_word("up", name, n)) return up(x, y);
    if (is_word("min", name, n)) return x < y ? x : y;
    if (is_word("max", name, n)) return x > y ? x : y;
    if (is_word("pow", name, n)) return pow(x, y);
    if (is_word("ceil", name, n)) return ceil(x);
    if (is_word("floor", name, n)) return floor(x);
    if (is_word("sqrt", name, n)) return sqrt(x);
    if (is_word("ln", name, n)) return log(x);
    assert(!"a function that expressions do not know");
    return NAN;
}

static double read_word(struct reading *reading)
{
    const char *const name = reading->at;
    const size_t n = word_length(name);
    reading->at += n;
    if (!takes(reading, '(')) {
        const int symbol = find_symbol(name, n);
        assert(symbol < N_SYMBOLS);
        return reading->value[symbol];
    }
    const double x = read_sum(reading), y = takes(reading, ',') ? read_sum(reading) : NAN;
    const bool closed = takes(reading, ')');
    assert(closed);
    (void)closed;
    return call(name, n, x, y);
}

static double read_factor(struct reading *reading)
{
    if (is_letter(*reading->at)) return read_word(reading);
    if (takes(reading, '(')) {
        const double inside = read_sum(reading);
        const bool closed = takes(reading, ')');
        assert(closed);
        (void)closed;
        return inside;
    }
    char *end;
    const double number = strtod(reading->at, &end);
    assert(end > reading->at);
    reading->at = end;
    return number;
}

static double read_product(struct reading *reading)
{
    double product = read_factor(reading);
    for (;;) {
        if (takes(reading, '*')) product *= read_factor(reading);
        else if (takes(reading, '/')) product /= read_factor(reading);
        else return product;
    }
}

static double read_sum(struct reading *reading)
{
    double sum = read_product(reading);
    for (;;) {
        if (takes(reading, '+')) sum += read_product(reading);
        else if (takes(reading, '-')) sum -= read_product(reading);
        else return sum;
    }
}

double expression_value(const char *text, const double value[N_SYMBOLS])
{
    struct reading reading = {text, value};
    const double sum = read_sum(&reading);
    assert(*reading.at == '\0');
    return sum;
}

/* Whole numbers in full, others to six digits. */
static int number_write(char *to, size_t chars, double value)
{
    const bool whole = value == floor(value) && fabs(value) < 1e15;
    return snprintf(to, chars, whole ? "%.0f" : "%.6g", value);
}

char *expression_substitute(char *to, size_t chars, const char *text, const double value[N_SYMBOLS])
{
    size_t used = 0;
    to[0] = '\0';
    while (*text != '\0' && used + 1 < chars) {
        size_t n = word_length(text);
        const bool symbol = n > 0 && text[n] != '(';
        if (n == 0) n = 1;
        const int written = symbol ? number_write(to + used, chars - used, value[find_symbol(text, n)])
                                   : snprintf(to + used, chars - used, "%.*s", (int)n, text);
        used += written > 0 ? (size_t)written : 0;
        text += n;
    }
    return to;
}
