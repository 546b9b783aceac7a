/* space: the candidates of a scenario as numbers (DESIGN section 1).
 *
 * An id is a mixed-radix number, first axis most significant: plan knobs, structure, work, wire, store.  Ids of candidates
 * that differ only in a knob that cannot matter exist but are skipped: only the lowest of each class is *distinct*. */
#ifndef COSWEEP_SPACE_H
#define COSWEEP_SPACE_H

#include "cosweep/plan.h"

enum { N_KNOBS = N_PLAN_KNOBS + N_HARDWARE_KNOBS };
typedef int64_t candidate_id;

/* One knob's values, base units.  A knob that is not swept has one. */
struct axis_values {
    int n;
    double *value; /* [n], no duplicates; owned by the study's arena */
    bool is_auto;  /* the study says `auto`: two_stage refines it */
};
/* Plan knobs first, then hardware knobs in the order of their tables, which is also the order of groups. */
struct space {
    struct axis_values axis[N_KNOBS];
    /* derived by space_finish */
    int64_t n_group[N_GROUPS];    /* product of the axes of each group */
    int first_axis[N_GROUPS + 1]; /* axes of group g: [first_axis[g], first_axis[g + 1]) */
    int64_t n_machines;           /* work x wire x store */
    int64_t n_lowered;            /* plan x structure: indices of what is lowered */
    int64_t n_raw;                /* n_lowered x n_machines */
};
const struct knob *space_knob(int i); /* the knob table row of axis i */

/* Derive the sizes.  An overflow of 64 bits is an error.  Returns 0 or -1. */
int space_finish(struct space *space, struct errors *errors, const char *file);

/* id -> plan (not pinned) and machine; and back: digits of id, most significant first. */
void space_decode(const struct space *space, candidate_id id, struct plan *plan, struct hardware *hardware);
void space_digits(const struct space *space, candidate_id id, int digit[N_KNOBS]);
candidate_id space_encode(const struct space *space, const int digit[N_KNOBS]);
/* Plan and structure of a lowered index; rates members of `hardware` are those of digit 0. */
void space_decode_lowered(const struct space *space, int64_t lowered, struct plan *plan, struct hardware *hardware);
/* Machine of row `row` of one group (WORK, WIRE or STORE): writes only that group's members. */
void space_decode_group(const struct space *space, enum knob_group group, int64_t row, struct hardware *hardware);

/* A walk over lowered indices in order; the next one costs little. */
struct walk {
    const struct space *space;       /* borrowed */
    const struct scenario *scenario; /* borrowed */
    int64_t lowered;
    int digit[N_KNOBS];              /* of plan and structure axes; 0 elsewhere */
    struct plan given, plan;         /* as the axes say, and pinned */
    struct hardware machine;         /* rates are those of digit 0 */
};
void walk_start(struct walk *walk, const struct space *space, const struct scenario *scenario, int64_t lowered);
void walk_next(struct walk *walk);
/* Whether the index is the lowest of those with the same pinned plan; sets walk->plan. */
bool walk_is_distinct(struct walk *walk);
/* The same of a single index. */
bool space_distinct(const struct space *space, const struct scenario *scenario, int64_t lowered, struct plan *plan,
                    struct hardware *hardware);

/* ---- work units -------------------------------------------------------------------------------------------------- */

/* A tile is TILE_ROWS rows of the work table with as many of the wire table and all of the store table, fewer at the ends;
 * tile t of a plan has work rows from t % n_work_tiles * TILE_ROWS on. */
enum { TILE_ROWS = 2048 };
/* A unit is a range of lowered indices with all machines or, where these are too many, a part of the tiles of one.  Units
 * depend on the space and the search only: a pruned one looks at few candidates, and needs what it saw before. */
struct units {
    int64_t n, lowered_per_unit;
    int64_t parts, tiles_per_part; /* of one lowered index; all tiles where parts is 1 */
};
struct units space_units(const struct space *space, bool pruned);
/* Tiles along the work or wire table. */
int64_t space_tiles(const struct space *space, enum knob_group group);

#endif
