/* One machine for many workloads (DESIGN section 2, `joint`): the Pareto set of machines over the weighted geometric mean
 * of a metric across scenarios against others, with the plan each scenario takes.
 *
 * A machine is its structure, its rates and how many PEs of it are bought.  With n PEs every scenario takes its best plan
 * of at most n; what is paid for is the largest allocation among them.  So per scenario: the best plan by class of PEs and
 * by the smallest store row it fits, for every row pair of work and wire; then the running best over both. */
#include "joint.h"
#include "stop.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t most_classes = 1 << 20; /* digits of an id */
static const int64_t most_cells = 4000000;   /* of one tile, all scenarios: 64 MB a thread */

/* Best value and its lowered index, per scenario, class, store row and machine of a tile. */
struct best {
    double value;
    int64_t lowered;
};

struct joint_tile {
    const struct study *study;
    const struct sweep *sweep; /* [n_scenarios] */
    int64_t structure;
    int work_from, n_work, n_wire, n_store; /* work rows [from, from + n), all wire and store rows */
    int n_classes;
    int64_t *class_pes;  /* [n_classes] allocated PEs of any plan, ascending */
    bool stores_apart;   /* a store row matters beyond what fits: no running best over them */
    int *store_order[2]; /* [0]: store rows by usable bytes, ascending; [1]: their inverse */
    struct arena arena;
    struct best *best;
};

static size_t cell(const struct joint_tile *t, int scenario, int class, int store, int64_t machine)
{
    return ((((size_t)scenario * (size_t)t->n_classes + (size_t) class) * (size_t)t->n_store + (size_t)store) *
            (size_t)t->n_work * (size_t)t->n_wire) +
           (size_t)machine;
}

static size_t n_cells(const struct joint_tile *t)
{
    return cell(t, t->study->n_scenarios, 0, 0, 0);
}

/* ---- plans ------------------------------------------------------------------------------------------------------- */

static int class_of(const struct joint_tile *t, int64_t pes)
{
    int class = 0;
    while (class < t->n_classes - 1 && t->class_pes[class] < pes) class ++;
    return class;
}

struct hold {
    struct lowering lowering;
    struct demand demand;
    struct times times;
    double *step_s, *value, *limited;
    struct arena arena;
};

/* All wire rows at one work row, for one store row: value NaN where a limit is broken. */
static void hold_slice(struct hold *h, const struct joint_tile *t, const struct slice *slice, int scenario, int class,
                       int store, int64_t lowered, struct best *best)
{
    const struct study *const study = t->study;
    const int k = t->store_order[0][store];
    struct best *const at = &best[cell(t, scenario, class, store, (int64_t)slice->fixed * t->n_wire)];
    evaluate_metric(h->value, study->joint.metric, slice, k, h->step_s);
    for (int l = 0; l < study->n_limits; l++) {
        evaluate_metric(h->limited, study->limit[l].metric, slice, k, h->step_s);
        for (int x = 0; x < slice->n; x++)
            if (limit_breaks(&study->limit[l], h->limited[x])) h->value[x] = NAN;
    }
    for (int x = 0; x < slice->n; x++) {
        if (!(h->value[x] < at[x].value || (h->value[x] == at[x].value && lowered < at[x].lowered))) continue;
        at[x] = (struct best){h->value[x], lowered};
    }
}

static void hold_plan(struct hold *h, const struct joint_tile *t, int scenario, const struct work_rates *work,
                      int64_t lowered, struct best *best)
{
    const struct sweep *const sweep = &t->sweep[scenario];
    const int class = class_of(t, h->demand.pes);
    int first = 0;
    while (first < t->n_store && !evaluate_fits(&h->demand, &sweep->store, t->store_order[0][first])) first++;
    if (first == t->n_store) return;
    evaluate_wire(&h->times, &h->demand, &sweep->wire);
    evaluate_work(&h->times, &h->demand, work);
    struct slice slice = {&h->demand, &h->times, work, &sweep->wire, &sweep->store, true, 0, t->n_wire};
    for (slice.fixed = 0; slice.fixed < t->n_work; slice.fixed++) {
        evaluate_step(h->step_s, &slice);
        for (int store = first; store < (t->stores_apart ? t->n_store : first + 1); store++)
            hold_slice(h, t, &slice, scenario, class, store, lowered, best);
    }
}

/* One thread's share of a scenario's plans. */
static void hold_plans(const struct joint_tile *t, int scenario, int64_t *next, struct best *best)
{
    enum { PLANS_PER_TURN = 64 };
    const struct sweep *const sweep = &t->sweep[scenario];
    const struct space *const space = &t->study->space;
    const struct work_rates work = work_rates_part(&sweep->work, t->work_from, t->n_work);
    struct hold *const h = calloc(1, sizeof *h);
    if (!h) out_of_memory();
    times_init(&h->times, MAX_FORMS, t->n_work, t->n_wire, &h->arena);
    h->step_s = arena_alloc(&h->arena, (size_t)t->n_wire, sizeof(double));
    h->value = arena_alloc(&h->arena, (size_t)t->n_wire, sizeof(double));
    h->limited = arena_alloc(&h->arena, (size_t)t->n_wire, sizeof(double));
    lower_init(&h->lowering, sweep->scenario);
    for (;;) {
        int64_t turn;
#pragma omp atomic capture
        turn = (*next)++;
        if (turn * PLANS_PER_TURN >= space->n_group[GROUP_PLAN]) break;
        for (int64_t p = turn * PLANS_PER_TURN; p < (turn + 1) * PLANS_PER_TURN && p < space->n_group[GROUP_PLAN]; p++) {
            if (stop_wanted()) break;
            const int64_t lowered = p * space->n_group[GROUP_STRUCTURE] + t->structure;
            struct plan plan;
            struct hardware machine;
            if (!space_distinct(space, sweep->scenario, lowered, &plan, &machine)) continue;
            if (plan_check(&plan, sweep->scenario) != REASON_NONE) continue;
            const struct fabric fabric = fabric_of(&machine);
            lower_set_fabric(&h->lowering, &fabric);
            lower_plan(&h->demand, &h->lowering, &plan);
            hold_plan(h, t, scenario, &work, lowered, best);
        }
    }
    arena_free(&h->arena);
    free(h);
}

static bool is_better(const struct best *a, const struct best *b)
{
    return a->value < b->value || (a->value == b->value && a->lowered < b->lowered);
}

static struct best *new_best(size_t n)
{
    struct best *const best = malloc(n * sizeof *best);
    if (!best) out_of_memory();
    for (size_t i = 0; i < n; i++) best[i] = (struct best){INFINITY, INT64_MAX};
    return best;
}

static void merge_best(struct best *into, const struct best *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_better(&from[i], &into[i])) into[i] = from[i];
}

/* More PEs and more memory never take a plan away. */
static void run_up(struct joint_tile *t)
{
    const int64_t machines = (int64_t)t->n_work * t->n_wire;
    for (int s = 0; s < t->study->n_scenarios; s++)
        for (int c = 0; c < t->n_classes; c++)
            for (int k = 0; k < t->n_store; k++) {
                struct best *const at = &t->best[cell(t, s, c, k, 0)];
                if (k > 0 && !t->stores_apart) merge_best(at, &t->best[cell(t, s, c, k - 1, 0)], (size_t)machines);
                if (c > 0) merge_best(at, &t->best[cell(t, s, c - 1, k, 0)], (size_t)machines);
            }
}

static void fill_tile(struct joint_tile *t)
{
    t->best = new_best(n_cells(t));
    for (int s = 0; s < t->study->n_scenarios; s++) {
        int64_t next = 0;
#pragma omp parallel
        {
            struct best *const mine = new_best(n_cells(t));
            hold_plans(t, s, &next, mine);
#pragma omp critical
            merge_best(t->best, mine, n_cells(t));
            free(mine);
        }
    }
    run_up(t);
}

/* ---- machines ---------------------------------------------------------------------------------------------------- */

/* Id of a machine and class: structure, work, wire, store, class. */
static candidate_id machine_id(const struct joint_tile *t, int64_t machine, int store, int class)
{
    const struct space *const space = &t->study->space;
    const int64_t work = t->work_from + machine / t->n_wire, wire = machine % t->n_wire;
    const int64_t row = (t->structure * space->n_group[GROUP_WORK] + work) * space->n_group[GROUP_WIRE] + wire;
    return (row * space->n_group[GROUP_STORE] + t->store_order[0][store]) * most_classes + class;
}

static candidate_id chosen_id(const struct joint_tile *t, const struct best *best, int64_t machine, int store)
{
    const struct space *const space = &t->study->space;
    const int64_t work = t->work_from + machine / t->n_wire, wire = machine % t->n_wire;
    return ((best->lowered * space->n_group[GROUP_WORK] + work) * space->n_group[GROUP_WIRE] + wire) *
               space->n_group[GROUP_STORE] +
           t->store_order[0][store];
}

/* What a machine is held against, of one scenario's plan.  Most metrics of that kind depend on what is allocated only. */
static double against_of(const struct joint_tile *t, enum metric metric, const struct sweep *sweep,
                         const struct demand *allocated, candidate_id id)
{
    const int64_t wire = sweep->wire.n, store = sweep->store.n;
    struct result_row row;
    if (metric_of_plan(metric)) return metric_of_allocation(metric, allocated);
    if (metric == METRIC_COST)
        return evaluate_cost(allocated, &sweep->work, (int)(id / store / wire % sweep->work.n), &sweep->wire,
                             (int)(id / store % wire), &sweep->store, (int)(id % store));
    sweep_row(&row, t->study, sweep->scenario, id);
    return row.metric[metric];
}

static void allocate(struct demand *demand, const struct joint_tile *t, const struct scenario *scenario, int64_t lowered)
{
    struct plan plan;
    struct hardware machine;
    struct layout layout;
    space_decode_lowered(&t->study->space, lowered, &plan, &machine);
    plan_pin(&plan, scenario);
    const struct fabric fabric = fabric_of(&machine);
    plan_layout(&layout, &plan, &fabric);
    lower_allocation(demand, &layout, &fabric);
}

/* ln of the mean, and the largest of each metric it is held against; false where a scenario that counts has no plan. */
static bool judge(struct point *point, const struct joint_tile *t, int64_t machine, int store, int class)
{
    const struct joint *const joint = &t->study->joint;
    double sum = 0.0;
    for (int s = 0; s < t->study->n_scenarios; s++) {
        const struct best *const best = &t->best[cell(t, s, class, store, machine)];
        if (joint->weight[s] == 0.0) continue;
        if (best->lowered == INT64_MAX) return false;
        sum += joint->weight[s] * log(best->value);
    }
    point->objective[0] = sum;
    for (int a = 0; a < joint->n_against; a++) point->objective[a + 1] = -INFINITY;
    for (int s = 0; s < t->study->n_scenarios; s++) {
        static _Thread_local struct demand allocated;
        const struct best *const best = &t->best[cell(t, s, class, store, machine)];
        if (joint->weight[s] == 0.0) continue;
        allocate(&allocated, t, t->sweep[s].scenario, best->lowered);
        for (int a = 0; a < joint->n_against; a++) {
            const double value =
                against_of(t, joint->against[a], &t->sweep[s], &allocated, chosen_id(t, best, machine, store));
            if (value > point->objective[a + 1]) point->objective[a + 1] = value;
        }
    }
    return true;
}

/* A class that changes no scenario's plan is the class before it, with PEs that stand idle. */
static bool changes(const struct joint_tile *t, int64_t machine, int store, int class)
{
    for (int s = 0; s<t->study->n_scenarios &&class> 0; s++)
        if (t->best[cell(t, s, class, store, machine)].lowered != t->best[cell(t, s, class - 1, store, machine)].lowered)
            return true;
    return class == 0;
}

static void add_machines(struct pareto *front, const struct joint_tile *t)
{
    const int64_t machines = (int64_t)t->n_work * t->n_wire;
#pragma omp parallel
    {
        struct pareto mine;
        pareto_init(&mine, front->n_objectives);
#pragma omp for schedule(dynamic, 16)
        for (int64_t m = 0; m < machines; m++)
            for (int k = 0; k < t->n_store && !stop_wanted(); k++)
                for (int c = 0; c < t->n_classes; c++) {
                    struct point point = {.id = machine_id(t, m, k, c), .n_equal = 1};
                    if (changes(t, m, k, c) && judge(&point, t, m, k, c)) pareto_add(&mine, &point);
                }
#pragma omp critical
        pareto_merge(front, &mine);
        pareto_free(&mine);
    }
    pareto_finish(front);
}

/* The front's points of this tile with the plans chosen: what is left when the tile is gone. */
static void note_choices(struct joint_front *out, const struct pareto *front, const struct joint_tile *t)
{
    const struct space *const space = &t->study->space;
    const int n_scenarios = t->study->n_scenarios;
    for (int64_t i = 0; i < front->n; i++) {
        const int class = (int)(front->point[i].id % most_classes);
        const int64_t row = front->point[i].id / most_classes;
        const int store = t->store_order[1][row % space->n_group[GROUP_STORE]];
        const int64_t wire = row / space->n_group[GROUP_STORE] % space->n_group[GROUP_WIRE];
        const int64_t work = row / space->n_group[GROUP_STORE] / space->n_group[GROUP_WIRE] % space->n_group[GROUP_WORK];
        const int64_t machine = (work - t->work_from) * t->n_wire + wire;
        struct joint_point *const point = joint_front_add(out, n_scenarios);
        point->point = front->point[i];
        for (int s = 0; s < n_scenarios; s++) {
            const struct best *const best = &t->best[cell(t, s, class, store, machine)];
            point->chosen[s] = best->lowered == INT64_MAX ? -1 : chosen_id(t, best, machine, store);
        }
    }
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

static int compare_counts(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Classes of allocated PEs over all plans of a structure. */
static void find_classes(struct joint_tile *t)
{
    const struct space *const space = &t->study->space;
    int64_t *const pes = malloc((size_t)space->n_group[GROUP_PLAN] * sizeof *pes);
    int64_t n = 0, kept = 0;
    if (!pes) out_of_memory();
    for (int64_t p = 0; p < space->n_group[GROUP_PLAN]; p++) {
        struct plan plan;
        struct hardware machine;
        struct layout layout;
        space_decode_lowered(space, p * space->n_group[GROUP_STRUCTURE] + t->structure, &plan, &machine);
        const struct fabric fabric = fabric_of(&machine);
        plan_layout(&layout, &plan, &fabric);
        pes[n++] = layout.pes;
    }
    qsort(pes, (size_t)n, sizeof *pes, compare_counts);
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || pes[i] != pes[kept - 1]) pes[kept++] = pes[i];
    assert(kept <= most_classes);
    t->n_classes = (int)kept;
    t->class_pes = pes;
}

static void order_stores(struct joint_tile *t)
{
    const struct store_rates *const store = &t->sweep[0].store;
    for (int side = 0; side < 2; side++) t->store_order[side] = arena_alloc(&t->arena, (size_t)store->n, sizeof(int));
    for (int k = 0; k < store->n; k++) {
        int at = k;
        for (; at > 0 && store->usable_bytes[t->store_order[0][at - 1]] > store->usable_bytes[k]; at--)
            t->store_order[0][at] = t->store_order[0][at - 1];
        t->store_order[0][at] = k;
    }
    for (int k = 0; k < store->n; k++) t->store_order[1][t->store_order[0][k]] = k;
}

static bool stores_apart(const struct study *study)
{
    bool apart = metric_of_store(study->joint.metric);
    for (int l = 0; l < study->n_limits; l++) apart = apart || metric_of_store(study->limit[l].metric);
    return apart;
}

void joint_run(struct joint_front *out, const struct study *study, const struct sweep *sweep, struct ranks ranks)
{
    struct joint_tile *const t = calloc(1, sizeof *t);
    if (!t) out_of_memory();
    *t = (struct joint_tile){.study = study, .sweep = sweep, .n_wire = sweep->wire.n, .n_store = sweep->store.n};
    t->stores_apart = stores_apart(study);
    order_stores(t);
    int64_t turn = 0;
    for (t->structure = 0; t->structure < study->space.n_group[GROUP_STRUCTURE]; t->structure++) {
        find_classes(t);
        const int64_t per_row = (int64_t)study->n_scenarios * t->n_classes * t->n_store * t->n_wire;
        assert(per_row > 0);
        int64_t rows = most_cells / per_row;
        rows = rows < 1 ? 1 : rows;
        for (t->work_from = 0; t->work_from < sweep->work.n; t->work_from += (int)rows) {
            struct pareto front;
            t->n_work = (int)(sweep->work.n - t->work_from < rows ? sweep->work.n - t->work_from : rows);
            if (turn++ % ranks.n != ranks.rank || stop_wanted()) continue;
            pareto_init(&front, 1 + study->joint.n_against);
            fill_tile(t);
            add_machines(&front, t);
            note_choices(out, &front, t);
            pareto_free(&front);
            free(t->best);
        }
        free(t->class_pes);
    }
    arena_free(&t->arena);
    free(t);
}
