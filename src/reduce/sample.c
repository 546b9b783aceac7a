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
    if (!sample->draw) out_of_memory();
}

void sample_free(struct sample *sample)
{
    free(sample->draw);
    free(sample->taken);
    *sample = (struct sample){0};
}

/* ---- heap, highest on top ---------------------------------------------------------------------------------------- */

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

void sample_keep(struct sample *sample, double order, candidate_id id)
{
    const struct draw draw = {order, id};
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

/* ---- random numbers ---------------------------------------------------------------------------------------------- */

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

/* Above what a random number does not get in. */
static double threshold(const struct sample *sample)
{
    return sample->n < sample->capacity ? 1.0 : sample->draw[0].order;
}

bool sample_group_start(struct sample_group *group, const struct sample *sample, candidate_id first_id, int64_t n)
{
    if (sample->capacity == 0) return false;
    *group = (struct sample_group){.seed = scramble((uint64_t)first_id), .n = n};
    return uniform(group->seed, 0) <= (double)n * threshold(sample); /* 1 - (1-t)^n is less than n t */
}

/* Place `at` of those that are left, past those taken before. */
static int64_t take_place(struct sample_group *group, struct sample *sample, int64_t at)
{
    int64_t i = 0;
    if (group->n_taken == sample->n_room) {
        sample->n_room = sample->n_room * 2 + 64;
        sample->taken = realloc(sample->taken, (size_t)sample->n_room * sizeof *sample->taken);
        if (!sample->taken) out_of_memory();
    }
    while (i < group->n_taken && sample->taken[i] <= at + i) i++;
    memmove(&sample->taken[i + 1], &sample->taken[i], (size_t)(group->n_taken - i) * sizeof *sample->taken);
    sample->taken[i] = at + i;
    group->n_taken++;
    return at + i;
}

bool sample_group_next(struct sample_group *group, struct sample *sample, int64_t *place)
{
    const int64_t left = group->n - group->n_taken;
    const uint64_t turn = 2 * (uint64_t)group->n_taken;
    if (left == 0) return false;
    group->order = 1.0 - (1.0 - group->order) * pow(1.0 - uniform(group->seed, turn), 1.0 / (double)left);
    if (group->order > threshold(sample)) return false;
    *place = take_place(group, sample, (int64_t)(uniform(group->seed, turn + 1) * (double)left));
    return true;
}

void sample_merge(struct sample *into, const struct sample *from)
{
    for (int64_t i = 0; i < from->n; i++) sample_keep(into, from->draw[i].order, from->draw[i].id);
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
