/* A k-d tree (Bentley 1975) with the bounding box of every node, for dominance among three or four objectives.
 *
 * A box whose best corner is worse than p somewhere holds no dominator; one whose worst corner is not holds only those. */
#include "tree.h"
#include <stdlib.h>
#include <string.h>

enum { LEAF_POINTS = 8 };

static void *grow(void *block, int64_t n, size_t size)
{
    void *const bigger = realloc(block, (size_t)n * size);
    if (!bigger) out_of_memory();
    return bigger;
}

static bool no_worse(const double a[], const double b[], int n_objectives)
{
    for (int d = 0; d < n_objectives; d++)
        if (a[d] > b[d]) return false;
    return true;
}

static void bound(struct box *box, const struct point *point, const int64_t *order, int n_objectives)
{
    memcpy(box->low, point[order[box->from]].objective, sizeof box->low);
    memcpy(box->high, box->low, sizeof box->high);
    for (int64_t i = box->from + 1; i < box->to; i++)
        for (int d = 0; d < n_objectives; d++) {
            const double x = point[order[i]].objective[d];
            if (x < box->low[d]) box->low[d] = x;
            if (x > box->high[d]) box->high[d] = x;
        }
}

/* Order places [from, to) so that what is at `middle` is where a sort by objective d would put it (Hoare's quickselect). */
static void select_middle(int64_t *order, const struct point *point, int64_t from, int64_t to, int64_t middle, int d)
{
    int64_t low = from, high = to - 1;
    while (low < high) {
        const double pivot = point[order[low + (high - low) / 2]].objective[d];
        int64_t i = low, j = high;
        while (i <= j) {
            while (point[order[i]].objective[d] < pivot) i++;
            while (point[order[j]].objective[d] > pivot) j--;
            if (i > j) break;
            const int64_t kept = order[i];
            order[i++] = order[j];
            order[j--] = kept;
        }
        if (middle <= j) high = j;
        else if (middle >= i) low = i;
        else return;
    }
}

static int widest(const struct box *box, const double scale[], int n_objectives)
{
    int best = 0;
    for (int d = 1; d < n_objectives; d++)
        if ((box->high[d] - box->low[d]) * scale[d] > (box->high[best] - box->low[best]) * scale[best]) best = d;
    return best;
}

static void split(struct tree *tree, const struct point *point, int64_t from, int64_t to, const double scale[],
                  int n_objectives)
{
    if (tree->n_boxes == tree->box_capacity) {
        tree->box_capacity = tree->box_capacity * 2 + 64;
        tree->box = grow(tree->box, tree->box_capacity, sizeof *tree->box);
    }
    const int64_t at = tree->n_boxes++;
    tree->box[at].from = from;
    tree->box[at].to = to;
    bound(&tree->box[at], point, tree->order, n_objectives);
    if (to - from > LEAF_POINTS) {
        const int64_t middle = from + (to - from) / 2;
        select_middle(tree->order, point, from, to, middle, widest(&tree->box[at], scale, n_objectives));
        split(tree, point, from, middle, scale, n_objectives);
        split(tree, point, middle, to, scale, n_objectives);
    }
    tree->box[at].skip = tree->n_boxes;
}

void tree_build(struct tree *tree, const struct point *point, int64_t n, int n_objectives)
{
    struct box all = {.from = 0, .to = n};
    double scale[MAX_OBJECTIVES] = {0.0};
    if (n > tree->order_capacity) {
        tree->order_capacity = n + n / 2;
        tree->order = grow(tree->order, tree->order_capacity, sizeof *tree->order);
    }
    for (int64_t i = 0; i < n; i++) tree->order[i] = i;
    tree->n_boxes = 0;
    if (n == 0) return;
    bound(&all, point, tree->order, n_objectives);
    for (int d = 0; d < n_objectives; d++) /* objectives have units of their own */
        scale[d] = all.high[d] > all.low[d] ? 1.0 / (all.high[d] - all.low[d]) : 0.0;
    split(tree, point, 0, n, scale, n_objectives);
}

void tree_free(struct tree *tree)
{
    free(tree->box);
    free(tree->order);
    *tree = (struct tree){0};
}

static bool is_equal(const double a[], const double b[], int n_objectives)
{
    for (int d = 0; d < n_objectives; d++)
        if (a[d] != b[d]) return false;
    return true;
}

int64_t tree_find(const struct tree *tree, const struct point *point, const double p[], int n_objectives, bool but_equal)
{
    for (int64_t b = 0; b < tree->n_boxes;) {
        const struct box *const box = &tree->box[b];
        if (!no_worse(box->low, p, n_objectives)) {
            b = box->skip;
            continue;
        }
        const bool all = no_worse(box->high, p, n_objectives) && !(but_equal && is_equal(box->low, p, n_objectives));
        if (!all && box->skip != b + 1) {
            b++;
            continue;
        }
        for (int64_t i = box->from; i < box->to; i++) {
            const double *const q = point[tree->order[i]].objective;
            if (no_worse(q, p, n_objectives) && !(but_equal && is_equal(q, p, n_objectives))) return tree->order[i];
        }
        b = box->skip;
    }
    return -1;
}
