/* joint: one machine for all scenarios of a study. */
#ifndef COSWEEP_RUN_JOINT_H
#define COSWEEP_RUN_JOINT_H

#include "sweep.h"

/* A machine of the joint front: objective[0] is ln of the mean, then what it is held against. */
struct joint_point {
    struct point point;
    candidate_id chosen[]; /* [n_scenarios] the candidate each scenario takes, -1 = none (weight 0 only) */
};
/* Zero-initialise; points are of `size` bytes each. free(point) when done. */
struct joint_front {
    int64_t n, capacity;
    size_t size;
    struct joint_point *point;
};
struct joint_point *joint_front_add(struct joint_front *front, int n_scenarios);
struct joint_point *joint_front_at(const struct joint_front *front, int64_t i);

/* This rank's tiles of machines, fewer where it is told to stop. sweep[n_scenarios] are initialised. */
void joint_run(struct joint_front *out, const struct study *study, const struct sweep *sweep, struct ranks ranks);
/* All ranks' points to rank 0, which keeps the front.  Collective. */
void joint_collect(struct joint_front *front, int n_objectives, int n_scenarios, struct ranks ranks);
/* As a result holds it; memory is the arena's. */
void joint_keep(struct result_joint *out, const struct joint_front *front, const struct study *study, struct arena *arena);

#endif
