/* Candidates as numbers: mixed radix, first axis most significant (DESIGN section 1).
 *
 *     id = ((plan digits . structure digits) . work digits) . wire digits) . store digits
 *          \------- lowered index ---------/   \-------- machine index ---------------/ */
#include "cosweep/space.h"
#include <inttypes.h>

const struct knob *space_knob(int i)
{
    return i < N_PLAN_KNOBS ? &plan_knob[i] : &hardware_knob[i - N_PLAN_KNOBS];
}

/* The table of rates of one group is held in memory; more rows than this are a mistake. */
static const int64_t most_group_rows = 1 << 20;

static int multiply(int64_t *product, int64_t factor)
{
    return __builtin_mul_overflow(*product, factor, product) ? -1 : 0;
}

int space_finish(struct space *space, struct errors *errors, const char *file)
{
    static const char *const group_words[N_GROUPS] = {"plan", "structure", "work", "link", "memory"};
    int64_t total = 1;
    for (int g = 0; g < N_GROUPS; g++) space->n_group[g] = 1;
    space->first_axis[N_GROUPS] = N_KNOBS;
    for (int a = N_KNOBS - 1; a >= 0; a--) space->first_axis[space_knob(a)->group] = a;
    for (int a = 0; a < N_KNOBS; a++) {
        int64_t *const group = &space->n_group[space_knob(a)->group];
        if (multiply(group, space->axis[a].n) || multiply(&total, space->axis[a].n))
            return error_add(errors, STATUS_INPUT, file, 0,
                             "the space has more than 2^63 candidates (overflow at %s with %d values); "
                             "give fewer values per knob",
                             space_knob(a)->path, space->axis[a].n);
    }
    for (int g = GROUP_WORK; g <= GROUP_STORE; g++)
        if (space->n_group[g] > most_group_rows)
            return error_add(errors, STATUS_INPUT, file, 0,
                             "the %s knobs of the hardware have %" PRId64 " combinations, more than %" PRId64
                             "; give fewer values per knob",
                             group_words[g], space->n_group[g], most_group_rows);
    space->n_machines = space->n_group[GROUP_WORK] * space->n_group[GROUP_WIRE] * space->n_group[GROUP_STORE];
    space->n_lowered = space->n_group[GROUP_PLAN] * space->n_group[GROUP_STRUCTURE];
    space->n_raw = total;
    return 0;
}

/* Digits of the axes of groups [first, last], least significant last; returns what is left of `index`. */
static int64_t take_digits(const struct space *space, int64_t index, enum knob_group first, enum knob_group last,
                           int digit[N_KNOBS])
{
    for (int a = space->first_axis[last + 1] - 1; a >= space->first_axis[first]; a--) {
        digit[a] = (int)(index % space->axis[a].n);
        index /= space->axis[a].n;
    }
    return index;
}

void space_digits(const struct space *space, candidate_id id, int digit[N_KNOBS])
{
    take_digits(space, id, GROUP_PLAN, GROUP_STORE, digit);
}

candidate_id space_encode(const struct space *space, const int digit[N_KNOBS])
{
    candidate_id id = 0;
    for (int a = 0; a < N_KNOBS; a++) id = id * space->axis[a].n + digit[a];
    return id;
}

static void set_knob(const struct space *space, int a, int digit, struct plan *plan, struct hardware *hardware)
{
    const double value = space->axis[a].value[digit];
    if (a < N_PLAN_KNOBS) ((int64_t *)plan)[a] = (int64_t)value;
    else ((double *)hardware)[a - N_PLAN_KNOBS] = value;
}

void space_decode(const struct space *space, candidate_id id, struct plan *plan, struct hardware *hardware)
{
    int digit[N_KNOBS];
    space_digits(space, id, digit);
    for (int a = 0; a < N_KNOBS; a++) set_knob(space, a, digit[a], plan, hardware);
}

void space_decode_lowered(const struct space *space, int64_t lowered, struct plan *plan, struct hardware *hardware)
{
    int digit[N_KNOBS] = {0};
    take_digits(space, lowered, GROUP_PLAN, GROUP_STRUCTURE, digit);
    for (int a = 0; a < N_KNOBS; a++) set_knob(space, a, digit[a], plan, hardware);
}

void space_decode_group(const struct space *space, enum knob_group group, int64_t row, struct hardware *hardware)
{
    int digit[N_KNOBS];
    struct plan unused;
    take_digits(space, row, group, group, digit);
    for (int a = space->first_axis[group]; a < space->first_axis[group + 1]; a++)
        set_knob(space, a, digit[a], &unused, hardware);
}

/* ---- no candidate twice ------------------------------------------------------------------------------------------ */

void walk_start(struct walk *walk, const struct space *space, const struct scenario *scenario, int64_t lowered)
{
    *walk = (struct walk){.space = space, .scenario = scenario, .lowered = lowered};
    take_digits(space, lowered, GROUP_PLAN, GROUP_STRUCTURE, walk->digit);
    for (int a = 0; a < N_KNOBS; a++) set_knob(space, a, walk->digit[a], &walk->given, &walk->machine);
}

void walk_next(struct walk *walk)
{
    walk->lowered++;
    for (int a = walk->space->first_axis[GROUP_WORK] - 1; a >= 0; a--) {
        const int n = walk->space->axis[a].n;
        if (n == 1) continue;
        const bool carries = ++walk->digit[a] == n;
        if (carries) walk->digit[a] = 0;
        set_knob(walk->space, a, walk->digit[a], &walk->given, &walk->machine);
        if (!carries) return;
    }
}

/* Two digits of one axis name the same plan where pinning maps their values to one: then the first of them stands for
 * both. */
static bool is_first_of_its_class(const struct walk *walk, int a)
{
    for (int earlier = 0; earlier < walk->digit[a]; earlier++) {
        struct plan other = walk->given;
        ((int64_t *)&other)[a] = (int64_t)walk->space->axis[a].value[earlier];
        plan_pin(&other, walk->scenario);
        if (((const int64_t *)&other)[a] == ((const int64_t *)&walk->plan)[a]) return false;
    }
    return true;
}

bool walk_is_distinct(struct walk *walk)
{
    walk->plan = walk->given;
    plan_pin(&walk->plan, walk->scenario);
    for (int a = 0; a < N_PLAN_KNOBS; a++) /* only variants are ever pinned */
        if (walk->digit[a] > 0 && plan_knob[a].dimension == DIM_CODE && !is_first_of_its_class(walk, a)) return false;
    return true;
}

bool space_distinct(const struct space *space, const struct scenario *scenario, int64_t lowered, struct plan *plan,
                    struct hardware *hardware)
{
    struct walk walk;
    walk_start(&walk, space, scenario, lowered);
    const bool distinct = walk_is_distinct(&walk);
    *plan = walk.plan;
    *hardware = walk.machine;
    return distinct;
}

/* ---- work units -------------------------------------------------------------------------------------------------- */

/* Rounded up, without the sum that could pass 2^63. */
static int64_t parts_of(int64_t whole, int64_t part)
{
    return whole / part + (whole % part > 0);
}

int64_t space_tiles(const struct space *space, enum knob_group group)
{
    return parts_of(space->n_group[group], TILE_ROWS);
}

struct units space_units(const struct space *space, bool pruned)
{
    /* Long enough to be worth a turn, short enough to be waited for when told to stop; a pruned one passes over most. */
    static const int64_t candidates_per_unit = 4000000, pruned_per_unit = 4000000000, most_lowered_per_unit = 4096;
    const int64_t most = pruned ? pruned_per_unit : candidates_per_unit;
    const int64_t n_tiles = space_tiles(space, GROUP_WORK) * space_tiles(space, GROUP_WIRE);
    int64_t lowered = candidates_per_unit / space->n_machines, tiles = n_tiles;
    if (lowered > most_lowered_per_unit) lowered = most_lowered_per_unit;
    if (lowered < 1) lowered = 1;
    if (space->n_machines > most) tiles = most / (space->n_machines / n_tiles);
    if (tiles < 1) tiles = 1;
    const int64_t parts = parts_of(n_tiles, tiles);
    return (struct units){
        .n = parts_of(space->n_lowered, lowered) * parts,
        .lowered_per_unit = lowered,
        .parts = parts,
        .tiles_per_part = tiles,
    };
}
