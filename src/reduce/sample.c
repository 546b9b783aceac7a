/* A uniform sample by bottom-k: every candidate has a random number in [0, 1), the k lowest stay (Cohen and Kaplan 2007).
 *
 * Nothing is drawn per candidate.  Of a group of n the lowest random number is distributed as 1 - (1-v)^(1/n), the next
 * among the n-1 left above it likewise, and so on: a group is asked for its numbers in ascending order until one is too
 * high, which for nearly all groups is the first. */
#include "cosweep/reduce.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void sample_init(struct sample *sample, int64_t capacity)
{
    *sample = (struct sample){.capacity = capacity};
    if (capacity == 0) return;
    sample->draw = malloc((size_t)capacity * sizeof *sample->draw);
    if (!sample->draw) abort();
}

void sample_free(struct sample *sample)
{
    free(sample->draw);
    *sample = (struct sample){0};
}

/* ---- heap, highest on top ----------------------------------------------------------------------------------------------------- */

static bool is_higher(const struct draw *a, const struct draw *b)
{
    return a->order > b->order || (a->order == b->order && a->id > b->id);
}

static void swap(struct draw *a, struct draw *b)
{
    const struct draw kept = *a;
    *a = *b;
    *b = kept;
}

static void sink(struct sample *sample)
{
    for (int64_t i = 0, child; (child = 2 * i + 1) < sample->n; i = child) {
        if (child + 1 < sample->n && is_higher(&sample->draw[child + 1], &sample->draw[child])) child++;
        if (!is_higher(&sample->draw[child], &sample->draw[i])) return;
        swap(&sample->draw[child], &sample->draw[i]);
    }
}

static void keep(struct sample *sample, struct draw draw)
{
    if (sample->n == sample->capacity) {
        if (!is_higher(&sample->draw[0], &draw)) return;
        sample->draw[0] = draw;
        sink(sample);
        return;
    }
    int64_t i = sample->n++;
    sample->draw[i] = draw;
    for (int64_t parent; i > 0 && is_higher(&sample->draw[i], &sample->draw[parent = (i - 1) / 2]); i = parent)
        swap(&sample->draw[i], &sample->draw[parent]);
}

/* ---- random numbers ------------------------------------------------------------------------------------------------------------- */

/* splitmix64 (Steele, Lea and Flood 2014): a number of a sequence by its index. */
static uint64_t scramble(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static double uniform(uint64_t seed, uint64_t index)
{
    return (double)(scramble(seed + index * 0x9e3779b97f4a7c15) >> 11) * 0x1p-53;
}

/* The places of a group that are left, without writing them all down: place `at` of them, past those taken before. */
struct places { int n_taken; int16_t taken[SAMPLE_GROUP]; /* ascending */ };

static int take_place(struct places *places, int at)
{
    int i = 0;
    while (i < places->n_taken && places->taken[i] <= at + i) i++;
    const int place = at + i;
    memmove(&places->taken[i + 1], &places->taken[i], (size_t)(places->n_taken - i) * sizeof places->taken[0]);
    places->taken[i] = (int16_t)place;
    places->n_taken++;
    return place;
}

void sample_add_group(struct sample *sample, candidate_id first_id, int64_t id_step, const double *value, int n)
{
    if (sample->capacity == 0) return;
    const uint64_t seed = scramble((uint64_t)first_id);
    double most = sample->n < sample->capacity ? 1.0 : sample->draw[0].order, order = 0.0;
    if (uniform(seed, 0) > (double)n * most) return; /* 1 - (1-most)^n is less than n * most */
    struct places places;
    places.n_taken = 0;
    for (int left = n; left > 0; left--) {
        const uint64_t turn = 2 * (uint64_t)(n - left);
        order = 1.0 - (1.0 - order) * pow(1.0 - uniform(seed, turn), 1.0 / left);
        if (order > most) return;
        const int x = take_place(&places, (int)(uniform(seed, turn + 1) * left));
        if (value[x] != value[x]) continue;
        keep(sample, (struct draw){order, first_id + x * id_step});
        most = sample->n < sample->capacity ? 1.0 : sample->draw[0].order;
    }
}

void sample_merge(struct sample *into, const struct sample *from)
{
    for (int64_t i = 0; i < from->n; i++) keep(into, from->draw[i]);
}

static int compare_ids(const void *a, const void *b)
{
    const candidate_id x = ((const struct draw *)a)->id, y = ((const struct draw *)b)->id;
    return x < y ? -1 : x > y;
}

void sample_finish(struct sample *sample)
{
    if (sample->n > 0) qsort(sample->draw, (size_t)sample->n, sizeof *sample->draw, compare_ids);
}
