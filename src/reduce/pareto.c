/* The exact Pareto set of a stream of candidates.
 *
 * Candidates pass a screen (screen.c), then a search in the archive; what is not dominated waits, and when enough waits
 * it is sorted and merged: after a sort by objectives a point can only be dominated by one before it (Kung, Luccio and
 * Preparata 1975).  Two objectives need the running minimum of the second; more look through the kept points in blocks
 * that know their best corner.  Dominance is on unrounded values; equals are counted and the lowest id stays. */
#include "screen.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_WAITING = 256, CORNER_BLOCK = 16 };

struct waiting {
    int64_t n, capacity;
    struct point *point;
};

/* Points in blocks with their best corner, so that a block that cannot dominate is skipped whole. */
struct corners {
    double (*corner)[MAX_OBJECTIVES];
};

struct pareto_state {
    struct screen screen;
    struct corners corners; /* of the archive; more than two objectives only */
    struct waiting waiting;
    bool screens; /* the screen was built from a non-empty archive */
};

static void *grow(void *block, size_t n, size_t size)
{
    void *const bigger = realloc(block, n * size);
    if (!bigger) {
        fprintf(stderr, "cosweep: out of memory for a Pareto set of %zu points\n", n);
        abort();
    }
    return bigger;
}

void pareto_init(struct pareto *pareto, int n_objectives)
{
    assert(n_objectives >= 2 && n_objectives <= MAX_OBJECTIVES);
    *pareto = (struct pareto){.n_objectives = n_objectives};
    pareto->state = grow(NULL, 1, sizeof *pareto->state);
    memset(pareto->state, 0, sizeof *pareto->state);
}

void pareto_free(struct pareto *pareto)
{
    if (pareto->state) {
        free(pareto->state->waiting.point);
        free(pareto->state->corners.corner);
    }
    free(pareto->state);
    free(pareto->point);
    *pareto = (struct pareto){0};
}

/* ---- order ------------------------------------------------------------------------------------------------------------------ */

static int compare_objectives(const struct point *a, const struct point *b)
{
    for (int d = 0; d < MAX_OBJECTIVES; d++) {
        if (a->objective[d] < b->objective[d]) return -1;
        if (a->objective[d] > b->objective[d]) return 1;
    }
    return 0;
}

static int compare_points(const void *a, const void *b)
{
    return compare_objectives(a, b);
}

static bool no_worse(const double a[], const double b[], int n_objectives)
{
    for (int d = 0; d < n_objectives; d++)
        if (a[d] > b[d]) return false;
    return true;
}

/* ---- search in the archive ---------------------------------------------------------------------------------------------------- */

/* The number of archive points with objective[0] <= x. */
static int64_t count_up_to(const struct pareto *pareto, double x)
{
    int64_t low = 0, high = pareto->n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (pareto->point[middle].objective[0] <= x) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The last of the first n points, sorted and in corners, that is nowhere worse than `p`; -1 = none. */
static int64_t last_no_worse(const struct point *point, int64_t n, const struct corners *corners, const struct point *p,
                             int n_objectives)
{
    for (int64_t block = (n - 1) / CORNER_BLOCK; block >= 0; block--) {
        if (!no_worse(corners->corner[block], p->objective, n_objectives)) continue;
        const int64_t from = block * CORNER_BLOCK, to = from + CORNER_BLOCK < n ? from + CORNER_BLOCK : n;
        for (int64_t i = to - 1; i >= from; i--)
            if (no_worse(point[i].objective, p->objective, n_objectives)) return i;
    }
    return -1;
}

/* Whether an archive point dominates `p` or equals it; the latter is counted there and then. */
static bool is_covered(struct pareto *pareto, const struct point *p)
{
    const int64_t n = count_up_to(pareto, p->objective[0]);
    if (n == 0) return false;
    /* With two objectives the last point up to there has the lowest second objective. */
    const int64_t at = pareto->n_objectives == 2
                           ? (no_worse(pareto->point[n - 1].objective, p->objective, 2) ? n - 1 : -1)
                           : last_no_worse(pareto->point, n, &pareto->state->corners, p, pareto->n_objectives);
    if (at < 0) return false;
    struct point *const q = &pareto->point[at];
    if (compare_objectives(q, p) == 0) {
        q->n_equal += p->n_equal;
        if (p->id < q->id) q->id = p->id;
    } else if (pareto->n_objectives > 2) {
        screen_note(&pareto->state->screen, q->objective);
    }
    return true;
}

/* ---- merge -------------------------------------------------------------------------------------------------------------------- */


static void note_corner(struct corners *corners, int64_t at, const struct point *p)
{
    double *const corner = corners->corner[at / CORNER_BLOCK];
    for (int d = 0; d < MAX_OBJECTIVES; d++)
        if (at % CORNER_BLOCK == 0 || p->objective[d] < corner[d]) corner[d] = p->objective[d];
}

/* Reduce sorted points to their Pareto set in place, with its corners; returns its size. */
static int64_t keep_undominated(struct point *point, int64_t n, int n_objectives, struct corners *corners)
{
    corners->corner = grow(corners->corner, (size_t)(n / CORNER_BLOCK + 1), sizeof *corners->corner);
    double lowest = INFINITY;
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        if (kept > 0 && compare_objectives(&point[kept - 1], &point[i]) == 0) {
            point[kept - 1].n_equal += point[i].n_equal;
            if (point[i].id < point[kept - 1].id) point[kept - 1].id = point[i].id;
            continue;
        }
        if (n_objectives == 2) {
            if (point[i].objective[1] >= lowest) continue;
            lowest = point[i].objective[1];
        } else if (kept > 0 && last_no_worse(point, kept, corners, &point[i], n_objectives) >= 0) {
            continue;
        }
        point[kept] = point[i];
        note_corner(corners, kept, &point[kept]);
        kept++;
    }
    return kept;
}

/* Sort what waits into the archive. */
static void flush(struct pareto *pareto)
{
    struct pareto_state *const state = pareto->state;
    struct waiting *const waiting = &state->waiting;
    if (waiting->n == 0) return;
    qsort(waiting->point, (size_t)waiting->n, sizeof *waiting->point, compare_points);
    waiting->n = keep_undominated(waiting->point, waiting->n, pareto->n_objectives, &state->corners);
    const int64_t total = pareto->n + waiting->n;
    if (total > pareto->capacity) {
        pareto->capacity = total + total / 2;
        pareto->point = grow(pareto->point, (size_t)pareto->capacity, sizeof *pareto->point);
    }
    int64_t a = pareto->n - 1, w = waiting->n - 1;
    for (int64_t at = total - 1; w >= 0; at--) {
        const bool from_archive = a >= 0 && compare_objectives(&pareto->point[a], &waiting->point[w]) > 0;
        pareto->point[at] = from_archive ? pareto->point[a--] : waiting->point[w--];
    }
    pareto->n = keep_undominated(pareto->point, total, pareto->n_objectives, &state->corners);
    waiting->n = 0;
    screen_build(&state->screen, pareto->point, pareto->n, pareto->n_objectives);
    state->screens = true;
}

static void wait(struct pareto *pareto, const struct point *point)
{
    struct waiting *const waiting = &pareto->state->waiting;
    const int64_t enough = FEWEST_WAITING + pareto->n / 2;
    if (waiting->n >= enough) flush(pareto);
    if (waiting->n == waiting->capacity) {
        waiting->capacity = enough + 1;
        waiting->point = grow(waiting->point, (size_t)waiting->capacity, sizeof *waiting->point);
    }
    waiting->point[waiting->n++] = *point;
}

/* ---- public ------------------------------------------------------------------------------------------------------------------- */

void pareto_add(struct pareto *pareto, const struct point *point)
{
    struct point clean = *point;
    for (int d = 0; d < MAX_OBJECTIVES; d++) {
        clean.objective[d] = d < pareto->n_objectives ? point->objective[d] + 0.0 : 0.0; /* -0 becomes 0 */
        if (!isfinite(clean.objective[d])) return;
    }
    if (!is_covered(pareto, &clean)) wait(pareto, &clean);
}

bool pareto_beats(const struct pareto *pareto, const double corner[])
{
    return pareto->state->screens && screen_beats(&pareto->state->screen, corner, pareto->n_objectives);
}

void pareto_add_block(struct pareto *pareto, double *const objective[], int n, candidate_id first_id, int64_t id_step)
{
    const struct pareto_state *const state = pareto->state;
    int64_t keep[SCREEN_BLOCK];
    for (int from = 0; from < n; from += SCREEN_BLOCK) {
        const int size = n - from < SCREEN_BLOCK ? n - from : SCREEN_BLOCK;
        double *shifted[MAX_OBJECTIVES];
        for (int d = 0; d < pareto->n_objectives; d++) shifted[d] = objective[d] + from;
        const bool screened = state->screens; /* it may become true while the block is added */
        if (screened && screen_block(&state->screen, keep, shifted, pareto->n_objectives, size) == 0) continue;
        for (int i = 0; i < size; i++) {
            if (screened && !keep[i]) continue;
            struct point point = {.id = first_id + (from + i) * id_step, .n_equal = 1};
            for (int d = 0; d < pareto->n_objectives; d++) point.objective[d] = shifted[d][i];
            pareto_add(pareto, &point);
        }
    }
}

void pareto_finish(struct pareto *pareto)
{
    flush(pareto);
}

void pareto_merge(struct pareto *into, const struct pareto *from)
{
    const struct waiting *const waiting = &from->state->waiting;
    for (int64_t i = 0; i < from->n; i++)
        if (from->point[i].n_equal > 0) pareto_add(into, &from->point[i]);
    for (int64_t i = 0; i < waiting->n; i++)
        if (waiting->point[i].n_equal > 0) pareto_add(into, &waiting->point[i]);
}

void pareto_add_bounds(struct pareto *pareto, const struct pareto *from)
{
    for (int64_t i = 0; i < from->n; i++) {
        struct point bound = from->point[i];
        bound.id = INT64_MAX;
        bound.n_equal = 0;
        pareto_add(pareto, &bound);
    }
}
