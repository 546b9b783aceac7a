/* The joint front: points with the plans their machines stand for, from all tiles and ranks to a result. */
#include "joint.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct joint_point *joint_front_add(struct joint_front *front, int n_scenarios)
{
    const size_t size = sizeof(struct joint_point) + (size_t)n_scenarios * sizeof(candidate_id);
    if (front->n == front->capacity) {
        front->capacity = front->capacity * 2 + 64;
        front->point = realloc(front->point, (size_t)front->capacity * size);
        if (!front->point) out_of_memory();
    }
    front->size = size;
    return joint_front_at(front, front->n++);
}

struct joint_point *joint_front_at(const struct joint_front *front, int64_t i)
{
    return (struct joint_point *)((char *)front->point + (size_t)i * front->size);
}

/* Only what no other tile's point dominates; of equals the lowest id. */
static void keep_front(struct joint_front *front, int n_objectives)
{
    struct pareto all;
    int64_t kept = 0;
    pareto_init(&all, n_objectives);
    for (int64_t i = 0; i < front->n; i++) pareto_add(&all, &joint_front_at(front, i)->point);
    pareto_finish(&all);
    char *const sorted = malloc((size_t)all.n * front->size + 1);
    if (!sorted) out_of_memory();
    for (int64_t a = 0; a < all.n; a++)
        for (int64_t i = 0; i < front->n; i++)
            if (joint_front_at(front, i)->point.id == all.point[a].id)
                memcpy(sorted + (size_t)kept++ * front->size, joint_front_at(front, i), front->size);
    free(front->point);
    front->point = (struct joint_point *)sorted;
    front->n = front->capacity = kept;
    pareto_free(&all);
}

void joint_collect(struct joint_front *front, int n_objectives, int n_scenarios, struct ranks ranks)
{
    if (ranks.rank != 0) {
        ranks_send(front->point, (size_t)front->n * front->size);
        return;
    }
    for (int from = 1; from < ranks.n; from++) {
        size_t bytes;
        char *const theirs = ranks_receive(from, &bytes);
        const size_t size = sizeof(struct joint_point) + (size_t)n_scenarios * sizeof(candidate_id);
        for (size_t at = 0; at + size <= bytes; at += size) memcpy(joint_front_add(front, n_scenarios), theirs + at, size);
        free(theirs);
    }
    if (front->n > 0) keep_front(front, n_objectives);
}

void joint_keep(struct result_joint *out, const struct joint_front *front, const struct study *study, struct arena *arena)
{
    out->n_rows = front->n;
    out->row = arena_alloc(arena, (size_t)front->n, sizeof *out->row);
    for (int64_t i = 0; i < front->n; i++) {
        const struct joint_point *const point = joint_front_at(front, i);
        struct joint_row *const row = &out->row[i];
        row->mean = exp(point->point.objective[0]);
        row->choice = arena_alloc(arena, (size_t)study->n_scenarios, sizeof *row->choice);
        for (int a = 0; a < study->joint.n_against; a++) row->against[a] = point->point.objective[a + 1];
        for (int s = 0; s < study->n_scenarios; s++) {
            row->choice[s].id = -1;
            if (point->chosen[s] < 0) continue;
            sweep_row(&row->choice[s], study, &study->scenario[s], point->chosen[s]);
            row->choice[s].n_equal = 1;
            row->hardware = row->choice[s].hardware;
        }
    }
}
