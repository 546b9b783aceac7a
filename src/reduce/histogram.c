/* Two-dimensional histograms on logarithmic bins.  A bin is an exponent and three bits of mantissa, so that the bin of a
 * value is a shift. */
#include "cosweep/reduce.h"
#include "cosweep/simd.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS_PER_OCTAVE = 8, LOWEST_EXPONENT = -40, MANTISSA_SHIFT = 49 };
static const int64_t lowest_key = (int64_t)(1023 + LOWEST_EXPONENT) * BINS_PER_OCTAVE;

void histogram_init(struct histogram *histogram)
{
    histogram->count = calloc((size_t)HISTOGRAM_BINS * HISTOGRAM_BINS, sizeof *histogram->count);
    histogram->more = calloc((size_t)HISTOGRAM_BINS * HISTOGRAM_BINS, sizeof *histogram->more);
    if (!histogram->count || !histogram->more) out_of_memory();
}

void histogram_free(struct histogram *histogram)
{
    free(histogram->count);
    free(histogram->more);
    *histogram = (struct histogram){0};
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    for (int64_t row = 0; row < HISTOGRAM_BINS; row++) {
        if (!from->occupied[row]) continue;
        into->occupied[row] = 1;
        for (int64_t i = row * HISTOGRAM_BINS; i < (row + 1) * HISTOGRAM_BINS; i++)
            into->count[i] += from->count[i] + from->more[i];
    }
}

static inline __attribute__((always_inline)) int32_t bin_of(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int64_t key = (bits >> MANTISSA_SHIFT) - lowest_key;
    key = key < 0 ? 0 : key;
    key = key >= HISTOGRAM_BINS ? HISTOGRAM_BINS - 1 : key;
    return (int32_t)(value == value ? key : -1);
}

int32_t histogram_bin(double value)
{
    return bin_of(value);
}

SIMD_CLONES void histogram_bins(int32_t *restrict bin, const double *restrict value, int n)
{
    for (int x = 0; x < n; x++) bin[x] = bin_of(value[x]);
}

void histogram_add(struct histogram *histogram, const int32_t *restrict first, const int32_t *restrict second, int n,
                   int64_t weight)
{
    int64_t *const count[2] = {histogram->count, histogram->more}; /* neighbours tend to share a bin: see below */
    for (int x = 0; x < n; x++) {
        if (first[x] < 0) continue;
        count[x % 2][first[x] * HISTOGRAM_BINS + second[x]] += weight;
        histogram->occupied[first[x]] = 1;
    }
}

SIMD_CLONES static void find_range(const int32_t *restrict bin, int n, int32_t *lowest, int32_t *highest)
{
    int32_t low = HISTOGRAM_BINS, high = -1;
    for (int x = 0; x < n; x++) {
        low = bin[x] < low ? bin[x] : low;
        high = bin[x] > high ? bin[x] : high;
    }
    *lowest = low;
    *highest = high;
}

/* Neighbours tend to share a bin, and a processor waits for a count it has just stored: four tables take turns. */
void histogram_runs(struct runs *runs, const int32_t *restrict bin, int n)
{
    enum { TABLES = 4 };
    int32_t count[TABLES][HISTOGRAM_BINS + 1];
    int32_t low, high;
    find_range(bin, n, &low, &high);
    runs->n = 0;
    for (int t = 0; t < TABLES; t++) memset(&count[t][low + 1], 0, (size_t)(high - low + 1) * sizeof(int32_t));
    for (int x = 0; x < n; x++) count[x % TABLES][bin[x] + 1]++; /* slot 0 is for NaN */
    for (int32_t b = low < 0 ? 0 : low; b <= high; b++) {
        const int32_t all = count[0][b + 1] + count[1][b + 1] + count[2][b + 1] + count[3][b + 1];
        if (all == 0) continue;
        runs->bin[runs->n] = b;
        runs->count[runs->n++] = all;
    }
}

void histogram_add_runs(struct histogram *histogram, const struct runs *runs, bool of_first, int32_t other, int64_t weight)
{
    for (int r = 0; r < runs->n; r++) {
        const int32_t first = of_first ? runs->bin[r] : other, second = of_first ? other : runs->bin[r];
        histogram->count[first * HISTOGRAM_BINS + second] += weight * runs->count[r];
        histogram->occupied[first] = 1;
    }
}

double histogram_edge(int bin)
{
    const double fraction = 1.0 + (double)(bin % BINS_PER_OCTAVE) / BINS_PER_OCTAVE;
    return ldexp(fraction, LOWEST_EXPONENT + bin / BINS_PER_OCTAVE);
}
