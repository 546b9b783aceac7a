/* The exact Pareto set of a stream of candidates.
 *
 * Candidates pass a screen (screen.c), then a search in the archive; what is not dominated waits, and when enough waits
 * it is sorted and merged: after a sort by objectives a point can only be dominated by one before it (Kung, Luccio and
 * Preparata 1975).  Two objectives need the running minimum of the second; more search a tree (tree.c).  Dominance is on
 * unrounded values; equals are counted and the lowest id stays. */
#include "screen.h"
#include "tree.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_WAITING = 256 };

struct waiting {
    int64_t n, capacity;
    struct point *point;
};

struct pareto_state {
    struct screen screen;
    struct tree tree;         /* of the archive; more than two objectives only */
    struct tree waiting_tree; /* kept for its memory */
    struct waiting waiting;
    bool screens; /* the screen was built from a non-empty archive */
    bool moved;   /* points came or went since the archive was made */
};

static void *grow(void *block, size_t n, size_t size)
{
    void *const bigger = realloc(block, n * size);
    if (!bigger) out_of_memory();
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
        tree_free(&pareto->state->tree);
        tree_free(&pareto->state->waiting_tree);
    }
    free(pareto->state);
    free(pareto->point);
    *pareto = (struct pareto){0};
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

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

/* ---- search in the archive --------------------------------------------------------------------------------------- */

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

/* Whether an archive point dominates `p` or equals it; the latter is counted there and then. */
static bool is_covered(struct pareto *pareto, const struct point *p)
{
    int64_t at;
    if (pareto->n_objectives == 2) { /* the last point up to there has the lowest second objective */
        at = count_up_to(pareto, p->objective[0]) - 1;
        if (at >= 0 && pareto->point[at].objective[1] > p->objective[1]) at = -1;
    } else {
        at = tree_find(&pareto->state->tree, pareto->point, p->objective, pareto->n_objectives, false);
    }
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

/* ---- merge ------------------------------------------------------------------------------------------------------- */

/* Sorted points without repetition: equals become one, with the lowest id.  Returns how many are left. */
static int64_t join_equals(struct point *point, int64_t n)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        struct point *const last = &point[kept > 0 ? kept - 1 : 0];
        if (kept > 0 && compare_objectives(last, &point[i]) == 0) {
            last->n_equal += point[i].n_equal;
            if (point[i].id < last->id) last->id = point[i].id;
        } else {
            point[kept++] = point[i];
        }
    }
    return kept;
}

/* Of sorted points with two objectives, those below all before them. */
static int64_t keep_staircase(struct point *point, int64_t n)
{
    double lowest = INFINITY;
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        if (point[i].objective[1] >= lowest) continue;
        lowest = point[i].objective[1];
        point[kept++] = point[i];
    }
    return kept;
}

/* Of points, in their order, those that no other point of the tree's is as good as.  `of_tree`: the tree is of these
 * points. */
static int64_t keep_unbeaten(struct point *point, int64_t n, const struct tree *tree, const struct point *others,
                             bool of_tree, int n_objectives)
{
    bool *const beaten = grow(NULL, (size_t)n + 1, sizeof *beaten);
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) beaten[i] = tree_find(tree, others, point[i].objective, n_objectives, of_tree) >= 0;
    for (int64_t i = 0; i < n; i++)
        if (!beaten[i]) point[kept++] = point[i];
    free(beaten);
    return kept;
}

/* Two sorted antichains without a common point into the archive. */
static void weave(struct pareto *pareto, const struct waiting *waiting)
{
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
    pareto->n = total;
}

/* Sort what waits into the archive.  The archive has not changed since it was searched for what waits, so nothing of it
 * beats those: they are held against each other, and the archive against them. */
static void flush(struct pareto *pareto)
{
    struct pareto_state *const state = pareto->state;
    struct waiting *const waiting = &state->waiting;
    struct tree *const tree = &state->waiting_tree;
    if (waiting->n == 0) return;
    state->moved = true;
    qsort(waiting->point, (size_t)waiting->n, sizeof *waiting->point, compare_points);
    waiting->n = join_equals(waiting->point, waiting->n);
    if (pareto->n_objectives == 2) {
        weave(pareto, waiting);
        pareto->n = keep_staircase(pareto->point, pareto->n);
    } else {
        tree_build(tree, waiting->point, waiting->n, pareto->n_objectives);
        waiting->n = keep_unbeaten(waiting->point, waiting->n, tree, waiting->point, true, pareto->n_objectives);
        tree_build(tree, waiting->point, waiting->n, pareto->n_objectives);
        pareto->n = keep_unbeaten(pareto->point, pareto->n, tree, waiting->point, false, pareto->n_objectives);
        weave(pareto, waiting);
        tree_build(&state->tree, pareto->point, pareto->n, pareto->n_objectives);
    }
    waiting->n = 0;
    screen_build(&state->screen, pareto->point, pareto->n, pareto->n_objectives);
    state->screens = true;
}

/* Room for one more to wait; the archive may change, so this comes before it is searched. */
static void make_room(struct pareto *pareto)
{
    struct waiting *const waiting = &pareto->state->waiting;
    const int64_t enough = FEWEST_WAITING + pareto->n / 2;
    if (waiting->n >= enough) flush(pareto);
    if (waiting->n < waiting->capacity) return;
    waiting->capacity = FEWEST_WAITING + pareto->n / 2 + 1;
    waiting->point = grow(waiting->point, (size_t)waiting->capacity, sizeof *waiting->point);
}

/* ---- public ------------------------------------------------------------------------------------------------------ */

void pareto_add(struct pareto *pareto, const struct point *point)
{
    struct point clean = *point;
    for (int d = 0; d < MAX_OBJECTIVES; d++) {
        clean.objective[d] = d < pareto->n_objectives ? point->objective[d] + 0.0 : 0.0; /* -0 becomes 0 */
        if (!isfinite(clean.objective[d])) return;
    }
    struct waiting *const waiting = &pareto->state->waiting;
    make_room(pareto);
    if (!is_covered(pareto, &clean)) waiting->point[waiting->n++] = clean;
}

bool pareto_beats(const struct pareto *pareto, const double corner[], bool thorough)
{
    const struct pareto_state *const state = pareto->state;
    if (!state->screens) return false;
    if (screen_beats(&state->screen, corner, pareto->n_objectives)) return true;
    if (!thorough) return false;
    if (pareto->n_objectives > 2) return tree_find(&state->tree, pareto->point, corner, pareto->n_objectives, true) >= 0;
    const int64_t at = count_up_to(pareto, corner[0]) - 1;
    if (at < 0 || pareto->point[at].objective[1] > corner[1]) return false;
    return pareto->point[at].objective[0] < corner[0] || pareto->point[at].objective[1] < corner[1];
}

void pareto_add_block(struct pareto *pareto, double *const objective[], int n, candidate_id first_id, int64_t id_step)
{
    const struct pareto_state *const state = pareto->state;
    const int n_objectives = pareto->n_objectives;
    int64_t keep[SCREEN_BLOCK];
    for (int from = 0; from < n; from += SCREEN_BLOCK) {
        const int size = n - from < SCREEN_BLOCK ? n - from : SCREEN_BLOCK;
        double *shifted[MAX_OBJECTIVES];
        for (int d = 0; d < n_objectives; d++) shifted[d] = objective[d] + from;
        const bool screened = state->screens; /* it may become true while the block is added */
        if (screened && screen_block(&state->screen, keep, shifted, n_objectives, size) == 0) continue;
        for (int i = 0; i < size; i++) {
            if (screened && !keep[i]) continue;
            struct point point = {.id = first_id + (from + i) * id_step, .n_equal = 1};
            for (int d = 0; d < n_objectives; d++) point.objective[d] = shifted[d][i];
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

static void *copy_of(const void *block, size_t n, size_t size)
{
    void *const copy = grow(NULL, n + 1, size);
    if (n > 0) memcpy(copy, block, n * size);
    return copy;
}

void pareto_copy(struct pareto *into, const struct pareto *from)
{
    const struct tree *const tree = &from->state->tree;
    *into = *from;
    into->capacity = from->n;
    into->point = copy_of(from->point, (size_t)from->n, sizeof *from->point);
    into->state = copy_of(from->state, 1, sizeof *from->state);
    into->state->waiting = (struct waiting){0};
    into->state->moved = false;
    into->state->waiting_tree = (struct tree){0};
    into->state->tree = (struct tree){.n_boxes = tree->n_boxes, .box_capacity = tree->n_boxes, .order_capacity = from->n};
    if (tree->n_boxes == 0) return;
    into->state->tree.box = copy_of(tree->box, (size_t)tree->n_boxes, sizeof *tree->box);
    into->state->tree.order = copy_of(tree->order, (size_t)from->n, sizeof *tree->order);
}

void pareto_copy_again(struct pareto *copy, const struct pareto *from)
{
    struct pareto_state *const state = copy->state;
    if (!state || state->moved) {
        pareto_free(copy);
        pareto_copy(copy, from);
        return;
    }
    for (int64_t i = 0; i < copy->n; i++) { /* all that a search may change */
        copy->point[i].id = from->point[i].id;
        copy->point[i].n_equal = from->point[i].n_equal;
    }
    state->screen = from->state->screen;
    state->screens = from->state->screens;
    state->waiting.n = 0;
}

void pareto_make_bounds(struct pareto *pareto)
{
    flush(pareto);
    for (int64_t i = 0; i < pareto->n; i++) {
        pareto->point[i].id = INT64_MAX;
        pareto->point[i].n_equal = 0;
    }
}
