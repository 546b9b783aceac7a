/* Main effects: what a knob's value does to the latency of the whole population (MODEL section 10).
 *
 * ln is taken by our own code, since libm's does not vectorise; it is good to 1e-13 and the same bits in every clone.
 * Sums are whole numbers: no order matters. */
#include "cosweep/reduce.h"
#include "cosweep/simd.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 2^40: |ln| up to 40 stays below the 2^51 of whole(), its square too, and 2048 of them below 2^63. */
static const double units_per_one = 1099511627776.0;

/* ---- ln ---------------------------------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) int64_t bits_of(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline __attribute__((always_inline)) double double_of(int64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Nearest whole number of |x| < 2^51: in x + 1.5*2^52 the last bits of the mantissa are it. */
static inline __attribute__((always_inline)) int64_t whole(double x)
{
    const double magic = 6755399441055744.0;
    return bits_of(x + magic) - bits_of(magic);
}

/* ln of a positive normal number: x = 2^e * m, m in [1/sqrt2, sqrt2), ln m = 2 artanh((m-1)/(m+1)). */
static inline __attribute__((always_inline)) double ln(double x)
{
    const int64_t half_root = 0x3fe6a09e667f3bcd; /* 1/sqrt(2) */
    const int64_t shifted = bits_of(x) - half_root;
    const int64_t exponent = shifted >> 52;
    const double m = double_of((shifted & 0xfffffffffffff) + half_root);
    const double e = double_of(exponent + 0x4338000000000000) - 6755399441055744.0;
    const double s = (m - 1.0) / (m + 1.0), t = s * s;
    const double series =
        1.0 + t * (1.0 / 3 + t * (1.0 / 5 + t * (1.0 / 7 + t * (1.0 / 9 + t * (1.0 / 11 + t * (1.0 / 13 + t / 15))))));
    return e * 0.6931471805599453 + 2.0 * s * series;
}

/* ---- strips ------------------------------------------------------------------------------------------------------ */

void strip_init(struct strip *strip, int n, struct arena *arena)
{
    const size_t size = (size_t)n;
    strip->count = arena_alloc(arena, size, sizeof(int64_t));
    strip->sum_ln = arena_alloc(arena, size, sizeof(int64_t));
    strip->sum_squared_ln = arena_alloc(arena, size, sizeof(int64_t));
    strip->min_s = arena_alloc(arena, size, sizeof(double));
    strip_clear(strip, n);
}

void strip_clear(struct strip *strip, int n)
{
    const size_t size = (size_t)n * sizeof(int64_t);
    strip->n = n;
    memset(strip->count, 0, size);
    memset(strip->sum_ln, 0, size);
    memset(strip->sum_squared_ln, 0, size);
    for (int i = 0; i < n; i++) strip->min_s[i] = INFINITY;
}

/* `all_alive` is a constant where this is inlined: then no NaN is among them and nothing is masked. */
static inline __attribute__((always_inline)) void add_row(struct strip *varying, struct strip *other, int fixed,
                                                          const double *restrict latency_s, int n, bool all_alive)
{
    int64_t *restrict const count = varying->count, *restrict const sum = varying->sum_ln;
    int64_t *restrict const squares = varying->sum_squared_ln;
    double *restrict const min_s = varying->min_s;
    int64_t all = 0, all_sum = 0, all_squares = 0, lowest = INT64_MAX;
    for (int x = 0; x < n; x++) {
        const double t = latency_s[x], l = ln(t);
        const int64_t alive = all_alive || t == t ? -1 : 0; /* a mask: NaN adds nothing */
        const int64_t one = whole(l * units_per_one) & alive, two = whole(l * l * units_per_one) & alive;
        count[x] -= alive;
        sum[x] += one;
        squares[x] += two;
        const double lower = t < min_s[x] ? t : min_s[x];
        min_s[x] = lower;
        all -= alive;
        all_sum += one;
        all_squares += two;
    }
    for (int x = 0; x < n; x++) { /* bits of positive numbers order as they do, NaN above all */
        const int64_t key = bits_of(latency_s[x]);
        lowest = key < lowest ? key : lowest;
    }
    other->count[fixed] += all;
    other->sum_ln[fixed] += all_sum;
    other->sum_squared_ln[fixed] += all_squares;
    if (all > 0 && double_of(lowest) < other->min_s[fixed]) other->min_s[fixed] = double_of(lowest);
}

SIMD_CLONES void strip_add(struct strip *varying, struct strip *other, int fixed, const double *restrict latency_s, int n,
                           bool all_alive)
{
    if (all_alive) add_row(varying, other, fixed, latency_s, n, true);
    else add_row(varying, other, fixed, latency_s, n, false);
}

struct tally strip_tally(const struct strip *strip, int row, int64_t weight)
{
    return (struct tally){strip->count[row] * weight, strip->min_s[row], (wide)strip->sum_ln[row] * weight,
                          (wide)strip->sum_squared_ln[row] * weight};
}

/* ---- tallies ----------------------------------------------------------------------------------------------------- */

void tally_merge(struct tally *into, const struct tally *from)
{
    into->count += from->count;
    into->sum_ln += from->sum_ln;
    into->sum_squared_ln += from->sum_squared_ln;
    if (from->min_s < into->min_s) into->min_s = from->min_s;
}

void tally_moments(const struct tally *tally, double *mean, double *variance)
{
    *mean = *variance = 0.0;
    if (tally->count == 0) return;
    const long double n = (long double)tally->count, unit = (long double)units_per_one;
    const long double average = (long double)tally->sum_ln / n / unit;
    const long double spread = (long double)tally->sum_squared_ln / n / unit - average * average;
    *mean = (double)average;
    *variance = spread > 0.0L ? (double)spread : 0.0;
}

void effects_init(struct effects *effects, const struct space *space)
{
    *effects = (struct effects){.space = space};
    for (int a = 0; a < N_KNOBS; a++) effects->n_all += space->axis[a].n;
    effects->all = malloc((size_t)effects->n_all * sizeof *effects->all);
    if (!effects->all) out_of_memory();
    for (int64_t i = 0; i < effects->n_all; i++) effects->all[i] = (struct tally){.min_s = INFINITY};
    int64_t at = 0;
    for (int a = 0; a < N_KNOBS; a++) {
        effects->tally[a] = effects->all + at;
        at += space->axis[a].n;
    }
}

void effects_free(struct effects *effects)
{
    free(effects->all);
    *effects = (struct effects){0};
}

void effects_merge(struct effects *into, const struct effects *from)
{
    for (int64_t i = 0; i < into->n_all; i++) tally_merge(&into->all[i], &from->all[i]);
}

double effects_variance_share(const struct effects *effects, int knob)
{
    struct tally total = {.min_s = INFINITY};
    double mean, variance;
    long double between = 0.0L;
    for (int v = 0; v < effects->space->axis[knob].n; v++) tally_merge(&total, &effects->tally[knob][v]);
    tally_moments(&total, &mean, &variance);
    if (total.count == 0 || variance <= 0.0) return 0.0;
    for (int v = 0; v < effects->space->axis[knob].n; v++) {
        double value_mean, unused;
        tally_moments(&effects->tally[knob][v], &value_mean, &unused);
        between += (long double)effects->tally[knob][v].count * (value_mean - mean) * (value_mean - mean);
    }
    const double share = (double)(between / ((long double)total.count * variance));
    return share < 1.0 ? share : 1.0;
}
