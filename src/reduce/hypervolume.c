/* How much of a box below a reference point a front covers: exact, by slices [Beume, Fonseca et al., "On the complexity of
 * computing the hypervolume indicator", 2009].
 *
 *     objective 1                 Two objectives: the area under a staircase.  Three: points come in order of the third,
 *      ^  ref                     and the staircase's area so far times the way to the next is summed.  Four: slices of
 *      |__.                       the fourth, each a volume of three.
 *      |  |__.
 *      +-----+--> objective 0 */
#include "cosweep/reduce.h"
#include <stdlib.h>
#include <string.h>

/* Points of the (0, 1) plane none of which dominates another, by objective 0, and the area they cover. */
struct staircase {
    int64_t n;
    double (*step)[2];
    double area;
};

static int64_t first_not_below(const struct staircase *stairs, double x)
{
    int64_t low = 0, high = stairs->n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (stairs->step[middle][0] < x) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void staircase_add(struct staircase *stairs, const double p[2], const double reference[2])
{
    const int64_t at = first_not_below(stairs, p[0]);
    int64_t to = at;
    double x = p[0], height = at > 0 ? stairs->step[at - 1][1] : reference[1];
    if (height <= p[1] || (at < stairs->n && stairs->step[at][0] == p[0] && stairs->step[at][1] <= p[1])) return;
    for (; to < stairs->n && stairs->step[to][1] >= p[1]; to++) { /* steps that the new one covers */
        stairs->area += (stairs->step[to][0] - x) * (height - p[1]);
        x = stairs->step[to][0];
        height = stairs->step[to][1];
    }
    stairs->area += ((to < stairs->n ? stairs->step[to][0] : reference[0]) - x) * (height - p[1]);
    memmove(stairs->step + at + 1, stairs->step + to, (size_t)(stairs->n - to) * sizeof *stairs->step);
    stairs->n += at + 1 - to;
    stairs->step[at][0] = p[0];
    stairs->step[at][1] = p[1];
}

/* Of the points below `top` in objective 3, which are sorted by objective 2; those without are all below. */
static double volume(double (*point)[MAX_OBJECTIVES], int64_t n, int n_objectives, double top, const double reference[],
                     struct staircase *stairs)
{
    double sum = 0.0, last = 0.0;
    stairs->n = 0;
    stairs->area = 0.0;
    for (int64_t i = 0; i < n; i++) {
        if (n_objectives == 4 && point[i][3] > top) continue;
        if (n_objectives >= 3 && stairs->n > 0) sum += stairs->area * (point[i][2] - last);
        staircase_add(stairs, point[i], reference);
        if (n_objectives >= 3) last = point[i][2];
    }
    return n_objectives == 2 ? stairs->area : stairs->n > 0 ? sum + stairs->area * (reference[2] - last) : 0.0;
}

static int compare_third(const void *a, const void *b)
{
    const double x = ((const double *)a)[2], y = ((const double *)b)[2];
    return x < y ? -1 : x > y;
}

static int compare_values(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double sum_of_slices(double (*point)[MAX_OBJECTIVES], int64_t n, const double reference[], struct staircase *stairs)
{
    double *const level = malloc((size_t)n * sizeof *level + 1), sum = 0.0;
    if (!level) out_of_memory();
    for (int64_t i = 0; i < n; i++) level[i] = point[i][3];
    qsort(level, (size_t)n, sizeof *level, compare_values);
    for (int64_t i = 0; i < n; i++) {
        const double next = i + 1 < n ? level[i + 1] : reference[3];
        if (next > level[i]) sum += volume(point, n, 4, level[i], reference, stairs) * (next - level[i]);
    }
    free(level);
    return sum;
}

double hypervolume(double (*objective)[MAX_OBJECTIVES], int64_t n, int n_objectives, const double reference[])
{
    double(*const point)[MAX_OBJECTIVES] = malloc((size_t)n * sizeof *point + 1);
    struct staircase stairs = {.step = malloc(((size_t)n + 1) * sizeof *stairs.step)};
    int64_t kept = 0;
    if (!point || !stairs.step) out_of_memory();
    for (int64_t i = 0; i < n; i++) {
        bool below = true;
        for (int d = 0; d < n_objectives; d++) below &= objective[i][d] < reference[d];
        if (below) memcpy(point[kept++], objective[i], sizeof *point);
    }
    if (n_objectives > 2) qsort(point, (size_t)kept, sizeof *point, compare_third);
    const double all = n_objectives == 4 ? sum_of_slices(point, kept, reference, &stairs)
                                         : volume(point, kept, n_objectives, 0.0, reference, &stairs);
    free(point);
    free(stairs.step);
    return all;
}
