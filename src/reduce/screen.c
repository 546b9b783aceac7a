/* Nearly all candidates of a sweep are dominated, most of them by far.  Two screens find that out without branches: a few
 * pivots, and for two objectives the staircase of the archive on a grid. */
#include "screen.h"
#include "cosweep/simd.h"
#include <math.h>
#include <string.h>

/* An integer that orders as the double does. */
static inline int64_t order_key(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits ^ (bits >> 63 & INT64_MAX);
}

static void build_envelope(struct screen *screen, const struct point *point, int64_t n)
{
    /* Sorted by objective[0], so objective[1] falls: the last point has the lowest. */
    const int64_t low = order_key(point[n - 1].objective[1]), high = order_key(point[0].objective[1]);
    const uint64_t range = (uint64_t)high - (uint64_t)low;
    screen->lowest_key = low;
    screen->shift = 0;
    while (range >> screen->shift >= N_BINS) screen->shift++;
    int64_t at = n - 1; /* moves towards points of higher objective[1], lower objective[0] */
    screen->envelope[0] = INFINITY;
    for (int bin = 1; bin <= N_BINS + 1; bin++) {
        const uint64_t edge = (uint64_t)(bin - 1) << screen->shift;
        while (at > 0 && (uint64_t)order_key(point[at - 1].objective[1]) - (uint64_t)low <= edge) at--;
        screen->envelope[bin] = point[at].objective[0];
    }
}

/* How much of the archive's box a point dominates, as a product of shares. */
static double dominated_share(const struct point *p, const double low[], const double high[], int n_objectives)
{
    double share = 1.0;
    for (int d = 0; d < n_objectives; d++)
        share *= high[d] > low[d] ? (high[d] - p->objective[d]) / (high[d] - low[d]) + 0.01 : 1.0;
    return share;
}

void screen_build(struct screen *screen, const struct point *point, int64_t n, int n_objectives)
{
    double low[MAX_OBJECTIVES], high[MAX_OBJECTIVES], score[N_FIXED_PIVOTS];
    screen->n_pivots = 0;
    if (n == 0) return;
    if (n_objectives == 2) {
        build_envelope(screen, point, n);
        return;
    }
    for (int d = 0; d < n_objectives; d++) low[d] = high[d] = point[0].objective[d];
    for (int64_t i = 1; i < n; i++)
        for (int d = 0; d < n_objectives; d++) {
            if (point[i].objective[d] < low[d]) low[d] = point[i].objective[d];
            if (point[i].objective[d] > high[d]) high[d] = point[i].objective[d];
        }
    const int64_t stride = n / 4096 + 1; /* a sample is enough to choose from */
    for (int64_t i = 0; i < n; i += stride) {
        const double share = dominated_share(&point[i], low, high, n_objectives);
        int at = screen->n_pivots;
        while (at > 0 && score[at - 1] < share) at--;
        if (at == N_FIXED_PIVOTS) continue;
        if (screen->n_pivots < N_FIXED_PIVOTS) screen->n_pivots++;
        for (int k = screen->n_pivots - 1; k > at; k--) {
            score[k] = score[k - 1];
            memcpy(screen->pivot[k], screen->pivot[k - 1], sizeof screen->pivot[k]);
        }
        score[at] = share;
        memcpy(screen->pivot[at], point[i].objective, sizeof screen->pivot[at]);
    }
}

void screen_note(struct screen *screen, const double objective[MAX_OBJECTIVES])
{
    if (screen->n_pivots < N_PIVOTS) screen->next_pivot = screen->n_pivots++;
    else screen->next_pivot = screen->next_pivot + 1 < N_PIVOTS ? screen->next_pivot + 1 : N_FIXED_PIVOTS;
    memcpy(screen->pivot[screen->next_pivot], objective, sizeof screen->pivot[0]);
}

static inline __attribute__((always_inline)) int count_kept(const int64_t *restrict keep, int n)
{
    int64_t kept = 0;
    for (int i = 0; i < n; i++) kept += keep[i];
    return (int)kept;
}

SIMD_CLONES static int screen_envelope(const struct screen *screen, int64_t *restrict keep, const double *restrict x,
                                       const double *restrict y, int n)
{
    const uint64_t low = (uint64_t)screen->lowest_key;
    const int shift = screen->shift;
    const double *restrict const envelope = screen->envelope;
    for (int i = 0; i < n; i++) {
        const int64_t key = order_key(y[i]);
        uint64_t bin = ((uint64_t)key - low) >> shift;
        bin = bin > N_BINS ? N_BINS : bin;
        const int64_t slot = key < (int64_t)low ? 0 : (int64_t)bin + 1;
        keep[i] = x[i] > envelope[slot] ? 0 : 1;
    }
    return count_kept(keep, n);
}

/* Worse or equal everywhere and worse somewhere. `n_objectives` is a constant where this is inlined. */
static inline __attribute__((always_inline)) void drop_dominated(int64_t *restrict keep, const double pivot[MAX_OBJECTIVES],
                                                                 double *const objective[], int n_objectives, int n)
{
    const double p0 = pivot[0], p1 = pivot[1], p2 = pivot[2], p3 = pivot[3];
    const double *restrict const x0 = objective[0], *restrict const x1 = objective[1], *restrict const x2 = objective[2];
    const double *restrict const x3 = objective[n_objectives - 1];
    for (int i = 0; i < n; i++) {
        int64_t worse_or_equal = (x0[i] >= p0) & (x1[i] >= p1) & (x2[i] >= p2);
        int64_t worse = (x0[i] > p0) | (x1[i] > p1) | (x2[i] > p2);
        if (n_objectives == 4) {
            worse_or_equal &= x3[i] >= p3;
            worse |= x3[i] > p3;
        }
        keep[i] &= ~(worse_or_equal & worse);
    }
}

SIMD_CLONES static int screen_pivots(const struct screen *screen, int64_t *restrict keep, double *const objective[],
                                     int n_objectives, int n)
{
    for (int i = 0; i < n; i++) keep[i] = 1;
    for (int k = 0; k < screen->n_pivots; k++) {
        if (n_objectives == 3) drop_dominated(keep, screen->pivot[k], objective, 3, n);
        else drop_dominated(keep, screen->pivot[k], objective, 4, n);
    }
    return count_kept(keep, n);
}

int screen_block(const struct screen *screen, int64_t keep[], double *const objective[], int n_objectives, int n)
{
    return n_objectives == 2 ? screen_envelope(screen, keep, objective[0], objective[1], n)
                             : screen_pivots(screen, keep, objective, n_objectives, n);
}

bool screen_beats(const struct screen *screen, const double corner[], int n_objectives)
{
    if (n_objectives == 2) {
        const int64_t key = order_key(corner[1]);
        if (key < screen->lowest_key) return false;
        const uint64_t bin = ((uint64_t)key - (uint64_t)screen->lowest_key) >> screen->shift;
        return corner[0] > screen->envelope[bin > N_BINS ? N_BINS + 1 : bin + 1];
    }
    for (int k = 0; k < screen->n_pivots; k++) {
        bool no_better = true, worse = false;
        for (int d = 0; d < n_objectives; d++) {
            no_better = no_better && corner[d] >= screen->pivot[k][d];
            worse = worse || corner[d] > screen->pivot[k][d];
        }
        if (no_better && worse) return true;
    }
    return false;
}
