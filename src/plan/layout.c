/* Where the ranks of a plan sit, and which ranks communicate over which links (MODEL section 3).
 *
 * PEs are numbered so that a cube is Pc neighbours and a SIP is Cs neighbouring cubes.  An axis of parallelism is a number
 * of ranks and a stride in that numbering; all else follows from the two. */
#include "cosweep/plan.h"

static int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t ceil_ratio(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t smallest_divisor_from(int64_t x, int64_t from)
{
    for (int64_t d = from; d < x; d++)
        if (x % d == 0) return d;
    return x;
}

/* A block of s PEs, grown so that it straddles no boundary it could fit inside. */
static int64_t pack(int64_t s, const struct fabric *fabric)
{
    const int64_t cube = fabric->pes_per_cube, cubes = ceil_ratio(s, cube);
    if (s <= cube) return smallest_divisor_from(cube, s);
    if (cubes <= fabric->cubes_per_sip) return cube * smallest_divisor_from(fabric->cubes_per_sip, cubes);
    return cube * fabric->cubes_per_sip * ceil_ratio(cubes, fabric->cubes_per_sip);
}

/* Members of a cube, cubes and SIPs that an axis of n ranks spans, and how far apart its nodes are at each level. */
static void span_axis(int64_t span[N_LEVELS], int64_t spacing[N_LEVELS], int64_t n, int64_t stride,
                      const struct fabric *fabric)
{
    const int64_t cube = fabric->pes_per_cube, sip = cube * fabric->cubes_per_sip;
    const int64_t in_sip = stride < sip ? at_most(n, sip / stride) : 1;
    span[0] = stride < cube ? at_most(n, cube / stride) : 1;
    span[1] = ceil_ratio(in_sip, span[0]);
    span[2] = ceil_ratio(n, in_sip);
    spacing[0] = stride < cube ? stride : 1;
    spacing[1] = stride < sip ? at_least(1, stride / cube) : 1;
    spacing[2] = at_least(1, stride / sip);
}

void plan_layout(struct layout *layout, const struct plan *plan, const struct fabric *fabric)
{
    const int64_t cube = fabric->pes_per_cube, sip = cube * fabric->cubes_per_sip;
    const int64_t size[N_AXES] = {plan->tp, plan->cp, plan->pp, plan->dp};
    const int64_t placement[N_AXES] = {plan->tp_placement, plan->cp_placement, PLACEMENT_CUBE, PLACEMENT_CUBE};
    int64_t s = 1;
    for (int a = AXIS_TP; a <= AXIS_CP; a++) {
        if (placement[a] != PLACEMENT_PE) continue;
        layout->stride[a] = s;
        s = pack(s * size[a], fabric);
    }
    for (int a = AXIS_TP; a <= AXIS_CP; a++)
        if (placement[a] == PLACEMENT_CUBE && size[a] > 1 && s < cube) s = cube;
    for (int a = AXIS_TP; a < N_AXES; a++) {
        if (placement[a] != PLACEMENT_CUBE) continue;
        layout->stride[a] = s;
        s = pack(s * size[a], fabric);
    }
    for (int a = 0; a < N_AXES; a++) {
        layout->size[a] = size[a];
        span_axis(layout->span[a], layout->spacing[a], size[a], layout->stride[a], fabric);
    }
    layout->used = plan->tp * plan->cp * plan->pp * plan->dp;
    layout->cubes = ceil_ratio(s, cube);
    layout->sips = ceil_ratio(s, sip);
    if (fabric->allocation == ALLOCATION_SIP) layout->cubes = layout->sips * fabric->cubes_per_sip;
    layout->pes = fabric->allocation == ALLOCATION_PE ? layout->used : layout->cubes * cube;
}

void plan_group(struct group *group, const struct layout *layout, unsigned axes)
{
    int64_t reach[N_LEVELS] = {1, 1, 1};
    *group = (struct group){.n = 1, .span = {1, 1, 1}, .spacing = {1, 1, 1}, .sharing = {1, 1, 1}};
    for (int a = 0; a < N_AXES; a++) {
        const int64_t *const span = layout->span[a];
        if (!(axes & 1u << a)) {
            group->sharing[1] *= span[0];
            group->sharing[2] *= span[0] * span[1];
            continue;
        }
        group->n *= layout->size[a];
        for (int l = 0; l < N_LEVELS; l++) {
            group->span[l] *= span[l];
            if (span[l] > 1) reach[l] = at_least(reach[l], span[l] * layout->spacing[a][l]);
        }
    }
    for (int l = 0; l < N_LEVELS; l++)
        if (group->span[l] > 1) group->spacing[l] = at_least(1, ceil_ratio(reach[l], group->span[l]));
}

void plan_subgroup(struct group *nearest, struct group *complement, const struct group *group, int64_t m)
{
    const int64_t *const n = group->span;
    const int64_t m0 = at_most(m, n[0]), m1 = at_most(ceil_ratio(m, m0), n[1]), m2 = ceil_ratio(m, m0 * m1);
    *nearest = (struct group){
        .n = m,
        .span = {m0, m1, m2},
        .spacing = {group->spacing[0], group->spacing[1], group->spacing[2]},
        .sharing = {1, group->sharing[1] * ceil_ratio(n[0], m0), group->sharing[2] * ceil_ratio(n[0] * n[1], m0 * m1)},
    };
    *complement = (struct group){
        .n = group->n / m,
        .span = {ceil_ratio(n[0], m0), ceil_ratio(n[1], m1), ceil_ratio(n[2], m2)},
        .spacing = {group->spacing[0] * m0, group->spacing[1] * m1, group->spacing[2] * m2},
        .sharing = {1, group->sharing[1] * m0, group->sharing[2] * m0 * m1},
    };
}
