/* A study: one grid, or the rounds of two_stage and then the last grid.  Rounds that a checkpoint holds are finished: a run
 * that goes on passes through them and finds the same next grids again. */
#include "grid.h"
#include "progress.h"
#include "rounds.h"
#include <stdlib.h>
#include <string.h>

/* The axes that rank 0 refined, to all. */
static void share_axes(struct study *study, struct arena *arena)
{
    for (int a = 0; a < N_KNOBS; a++) {
        struct axis_values *const axis = &study->space.axis[a];
        size_t bytes = (size_t)axis->n * sizeof *axis->value;
        if (!axis->is_auto) continue;
        double *const value = ranks_share(axis->value, &bytes);
        axis->n = (int)(bytes / sizeof *value);
        axis->value = arena_alloc(arena, (size_t)axis->n, sizeof *axis->value);
        memcpy(axis->value, value, bytes);
        free(value);
    }
}

static bool share_flag(bool flag)
{
    size_t bytes = sizeof flag;
    bool *const shared = ranks_share(&flag, &bytes);
    const bool value = *shared;
    free(shared);
    return value;
}

/* A round needs its front, not its population. */
static struct study front_only(const struct study *study)
{
    struct study front = *study;
    front.search = SEARCH_PRUNED;
    front.sensitivity = (struct sensitivity){0};
    front.population.full = front.joint.wanted = false;
    return front;
}

/* What round n (from 0) gave, and the study of the next in `study`.  Returns whether there is a next one.  Rank 0. */
static bool finish_round(struct result_round *round, struct study *study, const struct result *before,
                         const struct result *after, int n, struct arena *arena)
{
    struct study next;
    round->n_machines = study->space.n_machines;
    round->movement = n > 0 ? round_movement(before, after) : 0.0;
    for (int s = 0; s < after->n_scenarios; s++) round->n_rows += after->scenario[s].n_rows;
    if (n + 1 == MOST_ROUNDS || (n > 0 && round->movement <= ROUND_TOLERANCE)) return false;
    if (!round_refine(&next, study, after, arena)) return false;
    *study = next;
    return true;
}

/* As run_study, without its wall time. */
static int run_rounds(struct result *result, const struct study *study, const struct run_options *options,
                      struct saved_past *past, struct ranks ranks, struct arena *arena, struct errors *errors)
{
    struct result_round *const round = arena_alloc(arena, MOST_ROUNDS, sizeof *round);
    struct study current = *study;
    struct result before = {0}, after;
    int n_rounds = 0;
    current.two_stage = false;
    for (;;) {
        const struct study front = front_only(&current);
        bool go_on = false;
        past->round = n_rounds + 1;
        const int status = grid_run(&after, &front, options, past, ranks, arena, errors);
        if (status != 0) return status;
        if (ranks.rank == 0) {
            go_on = finish_round(&round[n_rounds], &current, &before, &after, n_rounds, arena);
            before = after;
        }
        n_rounds++;
        if (!share_flag(go_on)) break;
        share_axes(&current, arena);
        if (study_restate(&current, arena, errors) != 0) return -1;
    }
    past->round = 0;
    const int status = grid_run(result, &current, options, past, ranks, arena, errors);
    if (ranks.rank != 0 || status != 0) return status;
    result->study_hash = study->hash;
    result->n_rounds = n_rounds;
    result->round = round;
    return 0;
}

int run_study(struct result *result, const struct study *study, const struct run_options *options, struct ranks ranks,
              struct arena *arena, struct errors *errors)
{
    const double start_s = clock_s();
    struct saved_past past;
    past_init(&past, study);
    const int status = study->two_stage ? run_rounds(result, study, options, &past, ranks, arena, errors)
                                        : grid_run(result, study, options, &past, ranks, arena, errors);
    past_free(&past);
    if (ranks.rank == 0 && status == 0) result->performance.wall_s = clock_s() - start_s;
    return status;
}
