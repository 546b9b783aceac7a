/* A tree over points that answers "is there one that is nowhere worse than p" without looking at all of them. */
#ifndef COSWEEP_REDUCE_TREE_H
#define COSWEEP_REDUCE_TREE_H

#include "cosweep/reduce.h"

/* Boxes in preorder: a box's children follow it, `skip` is the first that is not inside. Zero-initialise; owns its
 * memory. */
struct box {
    double low[MAX_OBJECTIVES], high[MAX_OBJECTIVES];
    int64_t skip;
    int64_t from, to; /* places in order[] of its points */
};
struct tree {
    int64_t n_boxes, box_capacity, order_capacity;
    struct box *box;
    int64_t *order; /* indices of points */
};
void tree_build(struct tree *tree, const struct point *point, int64_t n, int n_objectives);
void tree_free(struct tree *tree);
/* An index of a point that is no worse than p everywhere and is not p's equal where `but_equal`; -1 = none. */
int64_t tree_find(const struct tree *tree, const struct point *point, const double p[], int n_objectives, bool but_equal);

#endif
