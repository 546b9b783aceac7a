/* cosweep run: the sweep, alone or under mpirun and srun. */
#define _POSIX_C_SOURCE 200809L
#include "cli/answer.h"
#include <omp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    const char *study, *output;
    struct texts sets;
    bool force;
    int progress;
    int64_t top;
} options = {.top = 10};

static const struct option table[] = {
    {ARGUMENT, 0, "STUDY", NULL, &options.study, "study file (YAML)"},
    {OPTION_TEXT, 'o', "output", "FILE", &options.output, "result file; the study's name with .h5 in this folder by default"},
    {OPTION_LIST, 0, "set", "KEY=VALUE", &options.sets, "override a key of the study; may be repeated"},
    {OPTION_FLAG, 'f', "force", NULL, &options.force, "replace a result of another study"},
    {OPTION_CHOICE, 0, "progress", "auto|bar|log|none", &options.progress, "bar on a terminal, lines in a log (auto)"},
    {OPTION_COUNT, 0, "top", "N", &options.top, "rows of each Pareto set to print at the end (10)"},
    {0},
};

/* Launchers may bind a rank to fewer cores than it has threads; then threads take turns and the sweep crawls. */
static void warn_of_binding(struct ranks ranks)
{
    const int n_threads = omp_get_max_threads(), n_cores = omp_get_num_procs();
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (ranks.rank != 0) return;
    if (n_cores < n_threads)
        fprintf(stderr, "cosweep: warning: %d threads share the %d cores this rank is bound to; set OMP_NUM_THREADS=%d or bind "
                        "more cores to a rank (mpirun --map-by ppr:1:node:PE=%d)\n", n_threads, n_cores, n_cores, n_threads);
    else if (ranks.n > 1 && (long)n_cores * ranks.n < online)
        fprintf(stderr, "cosweep: warning: each rank is bound to %d of %ld cores; if the others are idle, bind more to a rank "
                        "(mpirun --map-by ppr:N:node:PE=T for N ranks of T threads)\n", n_cores, online);
}

/* An existing result of this study may be replaced; of another one only with --force. */
static void check_output(const char *path, const struct study *study, struct errors *errors)
{
    struct errors unread = {0};
    struct arena arena = {0};
    struct result old;
    if (options.force || access(path, F_OK) != 0) return;
    if (result_read(&old, path, &arena, &unread) != 0)
        error_add(errors, STATUS_INPUT, path, 0, "exists and is no result this version can read; give another --output, "
                                                 "or --force to replace it");
    else if (old.study_hash != study->hash)
        error_add(errors, STATUS_INPUT, path, 0, "holds the result of a different study (%s); give another --output, or "
                                                 "--force to replace it", old.study_name);
    arena_free(&arena);
}

/* Whether no rank met an error; if one did, the first of them will speak for all. */
static bool all_good(struct cli *cli)
{
    const int first = ranks_first(cli->errors.n > 0);
    if (first >= 0) cli->speaker = first;
    return first < 0;
}

/* The result, with every feasible candidate where the study asks for them: of the grid that was swept last. */
static int write_result(struct result *result, const struct study *study, const char *path, struct arena *arena,
                        struct errors *errors)
{
    struct study last;
    if (!study->population.full) return result_write(result, path, errors);
    if (study_parse(&last, result->study, "the study that was swept", arena, errors) != 0) return -1;
    full_open(result, &last);
    const int status = result_write(result, path, errors);
    full_close(result);
    return status;
}

static int feasible_code(const struct result *result)
{
    for (int s = 0; s < result->n_scenarios; s++)
        if (result->scenario[s].n_feasible > 0) return STATUS_DONE;
    return STATUS_NOTHING;
}

static int cmd_run(struct cli *cli)
{
    struct arena arena = {0};
    struct study study;
    struct result result;
    char path[512];
    int code = -1;
    const bool root = cli->ranks.rank == 0;
    const struct run_options run = {.progress = (enum progress)options.progress};
    study_read(&study, options.study, options.sets.text, options.sets.n, &arena, &cli->errors);
    if (!all_good(cli)) goto out;
    if (options.output) snprintf(path, sizeof path, "%s", options.output);
    else snprintf(path, sizeof path, "%s.h5", study.name);
    if (root) check_output(path, &study, &cli->errors);
    if (!all_good(cli)) goto out;
    warn_of_binding(cli->ranks);
    if (run_study(&result, &study, &run, cli->ranks, &arena, &cli->errors) != 0) goto out;
    code = STATUS_DONE;
    if (!root) goto out;
    if (write_result(&result, &study, path, &arena, &cli->errors) != 0) {
        code = -1;
        goto out;
    }
    summary_print(&result, stdout, (int)options.top);
    printf("\nwritten to %s\n", path);
    code = feasible_code(&result);
    for (int s = 0; s < result.n_scenarios; s++)
        if (result.scenario[s].n_feasible == 0) relaxations_of_study_print(stdout, &study, s);
out:
    arena_free(&arena);
    return code;
}

const struct command command_run = {
    .name = "run",
    .summary = "sweep a study and write its result",
    .usage = "STUDY [-o FILE] [--set KEY=VALUE]... [--force] [--progress auto|bar|log|none] [--top N]",
    .examples = "  cosweep run configs/smoke.yaml\n"
                "  cosweep run study.yaml -o tonight.h5 --set hardware.pe.flops=16TFLOP/s\n"
                "  mpirun -n 4 --map-by ppr:2:node:PE=8 cosweep run study.yaml\n",
    .options = table,
    .collective = true,
    .call = cmd_run,
};
