/* What a collective or a message costs on each level's links (MODEL section 4).
 *
 * Bounds per level: the slowest of a rank's own ports, the links it shares, and the bisection.  Rings, meshes and tori are
 * grids; a group of ranks is a sub-grid whose nodes are `spacing` apart, and `spacing` such groups interleave. */
#include "shares.h"
#include <assert.h>
#include <math.h>

/* Coefficients of one level: hops, and bytes on a link per byte of the vector. */
struct shape {
    double diameter, all_gather, all_reduce, all_to_all;
    double far; /* links to a neighbour */
};

/* C of the most square factor pair R x C, R >= C. */
static int64_t smaller_factor(int64_t x)
{
    int64_t d = (int64_t)sqrt((double)x);
    while (d > 1 && (d * d > x || x % d != 0)) d--;
    assert(d >= 1);
    return d;
}

/* One dimension of a group's grid: extent e, its nodes p apart in a dimension of length f, the other extent o. */
struct grid_bounds {
    double diameter, port, links, cross;
};

static void add_dimension(struct grid_bounds *bounds, int64_t e, int64_t p, int64_t f, int64_t o, bool can_wrap)
{
    if (e <= 1) return;
    const bool wraps = can_wrap && e * p >= f && e > 2;
    const double half = (double)((e / 2) * ((e + 1) / 2)) / (double)e;
    bounds->diameter += (double)(p * (wraps ? e / 2 : e - 1));
    bounds->port += (wraps ? 2.0 : 1.0) / (double)p;
    bounds->links += (double)(o * (wraps ? e : e - 1)) / (double)p;
    bounds->cross = larger(bounds->cross, half * (double)p / (wraps ? 2.0 : 1.0));
}

static struct shape grid_shape(enum topology topology, int64_t n, int64_t spacing, int64_t nodes)
{
    const int64_t columns = topology == TOPOLOGY_RING ? 1 : smaller_factor(nodes), rows = nodes / columns;
    const bool can_wrap = topology != TOPOLOGY_MESH2D, in_row = spacing < columns;
    const int64_t c = in_row ? at_most(n, ceil_ratio(columns, spacing)) : 1, r = ceil_ratio(n, c);
    const int64_t row_spacing = in_row ? 1 : ceil_ratio(spacing, columns);
    struct grid_bounds bounds = {0};
    add_dimension(&bounds, c, spacing, columns, r, can_wrap);
    add_dimension(&bounds, r, row_spacing, rows, c, can_wrap);
    const double all_gather = (double)(n - 1) / (double)n / bounds.port;
    return (struct shape){
        .diameter = bounds.diameter,
        .all_gather = all_gather,
        .all_reduce = (double)(n - 1) / bounds.links,
        .all_to_all = larger(all_gather, bounds.cross),
        .far = (double)(in_row ? spacing : row_spacing),
    };
}

static struct shape level_shape(enum topology topology, int64_t n, int64_t spacing, int64_t nodes)
{
    const double count = (double)n;
    switch (topology) {
    case TOPOLOGY_FULL: return (struct shape){1.0, 1.0 / count, 2.0 / count, 1.0 / count, 1.0};
    case TOPOLOGY_SWITCH: return (struct shape){1.0, (count - 1) / count, 2 * (count - 1) / count, (count - 1) / count, 1.0};
    case TOPOLOGY_SWITCH_REDUCE:
        return (struct shape){1.0, (count - 1) / count, (count + 1) / count, (count - 1) / count, 1.0};
    default: return grid_shape(topology, n, spacing, nodes);
    }
}

/* Ports through which a node of a level with n nodes reaches what is outside. */
static double outward_ports(enum topology topology, int64_t n)
{
    switch (topology) {
    case TOPOLOGY_FULL: return n > 1 ? (double)(n - 1) : 1.0;
    case TOPOLOGY_RING: return 2.0;
    case TOPOLOGY_MESH2D:
    case TOPOLOGY_TORUS2D: return 4.0;
    default: return 1.0;
    }
}

/* t_l(hops, x, U, w): `load` is x*U, `leaving` is w. */
static struct leg make_leg(int level, double hops, double load, double leaving, const struct group *group,
                           const struct fabric *fabric)
{
    struct leg leg = {.hops = hops, .load_bytes = load};
    if (level > 0) leg.pe_port_bytes = leaving / outward_ports(fabric->topology[0], fabric->pes_per_cube);
    if (level == 2 && fabric->cubes_per_sip > 1)
        leg.cube_port_bytes = leaving * (double)(group->span[0] * group->sharing[1]) /
                              outward_ports(fabric->topology[1], fabric->cubes_per_sip);
    return leg;
}

static int64_t level_nodes(const struct fabric *fabric, int64_t sips, int level)
{
    return level == 0 ? fabric->pes_per_cube : level == 1 ? fabric->cubes_per_sip : sips;
}

static int highest_level(const struct group *group)
{
    for (int l = N_LEVELS - 1; l >= 0; l--)
        if (group->span[l] > 1) return l;
    return -1;
}

/* Bytes on a level's links (U) and out of each PE (w) of an all-to-all in which a rank sends `bytes` in all. */
static void all_to_all_bytes(const struct group *group, int level, double bytes, double *on_links, double *leaving)
{
    const double n0 = (double)group->span[0], n1 = (double)group->span[1], n2 = (double)group->span[2], n = n0 * n1 * n2;
    const double g1 = (double)group->sharing[1], g2 = (double)group->sharing[2];
    *on_links = level == 0 ? bytes * n0 / n : level == 1 ? g1 * n0 * bytes * n0 * n1 / n : g2 * n0 * n1 * bytes;
    *leaving = level == 0 ? bytes * (n0 - 1) / n : level == 1 ? bytes * n0 * (n1 - 1) / n : bytes * (n2 - 1) / n2;
}

struct collective lower_collective(enum collective_kind kind, const struct group *group, double bytes,
                                   const struct fabric *fabric, int64_t sips, double wire_bytes[N_LEVELS])
{
    struct collective out = {.top = bytes > 0.0 ? highest_level(group) : -1};
    double inner = 1.0;
    for (int l = 0; l <= out.top; l++) {
        const double n = (double)group->span[l], vector = (double)group->sharing[l] * bytes;
        if (group->span[l] == 1) continue;
        const struct shape shape =
            level_shape(fabric->topology[l], group->span[l], group->spacing[l], level_nodes(fabric, sips, l));
        const double w = (n - 1) / n * bytes / inner;
        double on_links, leaving = w;
        switch (kind) {
        case ALL_GATHER:
        case REDUCE_SCATTER: out.leg[l] = make_leg(l, shape.diameter, shape.all_gather * vector, w, group, fabric); break;
        case ALL_REDUCE:
            leaving = 2.0 * w;
            out.leg[l] =
                make_leg(l, 2.0 * shape.diameter, (l < out.top ? 2.0 * shape.all_gather : shape.all_reduce) * vector,
                         leaving, group, fabric);
            if (l < out.top) break;
            out.has_one_shot = true;
            out.one_shot =
                make_leg(l, shape.diameter, n * shape.all_gather * vector, (n - 1) * bytes / inner, group, fabric);
            break;
        case ALL_TO_ALL:
            all_to_all_bytes(group, l, bytes, &on_links, &leaving);
            out.leg[l] = make_leg(l, shape.diameter, shape.all_to_all * on_links, leaving, group, fabric);
            break;
        }
        wire_bytes[l] += leaving;
        inner *= n;
    }
    return out;
}

struct hop lower_hop(const struct shares *shares, enum axis axis, double bytes)
{
    struct group group;
    plan_group(&group, &shares->layout, 1u << axis);
    struct hop hop = {.top = bytes > 0.0 ? highest_level(&group) : -1};
    for (int l = 0; l <= hop.top; l++) {
        if (group.span[l] == 1) continue;
        const struct shape shape = level_shape(shares->fabric->topology[l], group.span[l], group.spacing[l],
                                               level_nodes(shares->fabric, shares->layout.sips, l));
        hop.spans[l] = true;
        hop.leg[l] = make_leg(l, shape.far, shape.far * (double)group.sharing[l] * bytes, bytes, &group, shares->fabric);
    }
    return hop;
}
