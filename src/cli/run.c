/* cosweep run: the sweep, alone or under mpirun and srun; with checkpoints, or as a shard. */
#define _POSIX_C_SOURCE 200809L
#include "cli/output.h"
#include <ctype.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    const char *study, *output, *shard;
    struct texts sets;
    bool force, resume;
    int progress;
    int64_t top;
    double checkpoint_s, limit_s;
} options = {.top = 10, .checkpoint_s = 60.0};

static const struct option table[] = {
    {ARGUMENT, 0, "STUDY", NULL, &options.study, "study file (YAML)"},
    {OPTION_TEXT, 'o', "output", "FILE", &options.output,
     "result file; the study's name with .h5 in this folder by default"},
    {OPTION_LIST, 0, "set", "KEY=VALUE", &options.sets, "override a key of the study; may be repeated"},
    {OPTION_FLAG, 'f', "force", NULL, &options.force, "run again, and replace whatever result is there"},
    {OPTION_FLAG, 0, "resume", NULL, &options.resume, "go on from FILE.checkpoint if there is one"},
    {OPTION_SECONDS, 0, "checkpoint", "T", &options.checkpoint_s, "save to FILE.checkpoint so often (60s)"},
    {OPTION_SECONDS, 0, "time-limit", "T", &options.limit_s, "save and stop before this long; exit code 4"},
    {OPTION_TEXT, 0, "shard", "I/N", &options.shard, "only the I-th of N shards, into a part for `cosweep merge`"},
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
        fprintf(stderr,
                "cosweep: warning: %d threads share the %d cores this rank is bound to; set OMP_NUM_THREADS=%d or bind "
                "more cores to a rank (mpirun --map-by ppr:1:node:PE=%d)\n",
                n_threads, n_cores, n_cores, n_threads);
    else if (ranks.n > 1 && (long)n_cores * ranks.n < online)
        fprintf(stderr,
                "cosweep: warning: each rank is bound to %d of %ld cores; if the others are idle, bind more to a rank "
                "(mpirun --map-by ppr:N:node:PE=T for N ranks of T threads)\n",
                n_cores, online);
}

/* Whether no rank met an error; if one did, the first of them will speak for all. */
static bool all_good(struct cli *cli)
{
    const int first = ranks_first(cli->errors.n > 0);
    if (first >= 0) cli->speaker = first;
    return first < 0;
}

/* Each rank reads the study itself, perhaps on a node whose file is another. */
static void check_same_study(struct cli *cli, const struct study *study)
{
    size_t bytes = sizeof study->hash;
    uint64_t *const first = ranks_share(&study->hash, &bytes);
    if (*first != study->hash)
        error_add(&cli->errors, STATUS_INPUT, options.study, 0,
                  "rank %d reads another study than rank 0; give a file that is the same on all nodes", cli->ranks.rank);
    free(first);
}

/* "2/8" -> 2 of 8. */
static int read_shard(struct run_options *run, struct errors *errors)
{
    long number[2];
    const char *at = options.shard;
    char *end;
    if (!at) return 0;
    for (int i = 0; i < 2; i++, at = end + 1) {
        number[i] = strtol(at, &end, 10);
        if (!isdigit((unsigned char)*at) || *end != (i == 0 ? '/' : '\0'))
            return error_add(errors, STATUS_INPUT, NULL, 0,
                             "run: --shard: \"%.40s\" is no shard; give I/N with I from 1 to N, as 2/8", options.shard);
    }
    if (number[1] < 1 || number[1] > MOST_SHARDS || number[0] < 1 || number[0] > number[1])
        return error_add(errors, STATUS_INPUT, NULL, 0,
                         "run: --shard: %.40s is out of range; give I/N with I from 1 to N and N from 1 to %d",
                         options.shard, MOST_SHARDS);
    run->shard = (int)number[0];
    run->n_shards = (int)number[1];
    return 0;
}

/* Where things go; no input may be there. */
static int name_files(char path[4096], char checkpoint[4096], const struct study *study, const struct run_options *run,
                      struct errors *errors)
{
    char name[4096];
    const char *const dot = strrchr(study->name, '.');
    if (options.output) snprintf(name, sizeof name, "%.4000s", options.output);
    else if (run->n_shards > 0) snprintf(name, sizeof name, "%s.%d-of-%d.part", study->name, run->shard, run->n_shards);
    else snprintf(name, sizeof name, "%s%s", study->name, dot && strcmp(dot, ".h5") == 0 ? "" : ".h5");
    if (output_place(path, name, &options.study, 1, errors) != 0) return -1;
    snprintf(checkpoint, 4096, "%.4000s.checkpoint", path);
    return output_check(checkpoint, &options.study, 1, errors);
}

/* Nothing of another run is thrown away unasked. */
static bool check_claim(const char *path, const char *checkpoint, const struct study *study, const struct run_options *run,
                        struct errors *errors)
{
    bool there = false;
    if (options.force) return false;
    if (run->n_shards == 0) there = output_standing(path, study, false, errors) == STANDING_SAME_STUDY;
    else if (access(path, F_OK) == 0 && !run_is_part(path, study, run->shard, run->n_shards))
        error_add(errors, STATUS_INPUT, path, 0,
                  "exists and is no part of this study and shard; give another --output, or --force to replace it");
    else there = access(path, F_OK) == 0;
    if (!there && !run->resume && access(checkpoint, F_OK) == 0)
        error_add(errors, STATUS_INPUT, checkpoint, 0,
                  "holds a run that was not finished; --resume goes on with it, --force starts over");
    return there;
}

/* May this run write here?  Rank 0 looks.  Returns 0; 1 when the result is there already; -1 after an error. */
static int claim(struct cli *cli, const char *path, const struct study *study, const struct run_options *run, int *lock)
{
    const bool whole = run->n_shards == 0;
    bool there = false;
    if (cli->ranks.rank == 0) {
        *lock = output_lock(path, &cli->errors);
        if (*lock >= 0) there = check_claim(path, run->checkpoint, study, run, &cli->errors);
        if (there && run_is_part(run->checkpoint, study, whole ? 1 : run->shard, whole ? 1 : run->n_shards))
            unlink(run->checkpoint); /* of a run that was killed right after it published */
        if (there && cli->errors.n == 0)
            printf("%s holds the %s of this study already; --force runs it again%s\n", path, whole ? "result" : "shard",
                   whole ? ", `cosweep show` shows it" : "");
    }
    if (!all_good(cli)) return -1;
    return ranks_first(there) >= 0 ? 1 : 0;
}

/* What to say when it was stopped. */
static int stopped(const char *checkpoint, struct cli *cli)
{
    if (cli->ranks.rank == 0 && access(checkpoint, F_OK) == 0)
        fprintf(stderr, "cosweep: stopped by %s; what was finished is in %s: the same command with --resume goes on\n",
                run_stop_cause(), checkpoint);
    else if (cli->ranks.rank == 0)
        fprintf(stderr, "cosweep: stopped by %s before there was anything to save\n", run_stop_cause());
    return STATUS_STOPPED;
}

static int cmd_run(struct cli *cli)
{
    struct arena arena = {0};
    struct study study = {0};
    static struct result result;
    char path[4096], checkpoint[4096];
    int code = -1, lock = -1;
    const bool root = cli->ranks.rank == 0;
    struct run_options run = {.progress = (enum progress)options.progress,
                              .checkpoint_s = options.checkpoint_s,
                              .resume = options.resume,
                              .checkpoint = checkpoint};
    read_shard(&run, &cli->errors);
    if (cli->ranks.n > 1 && strcmp(options.study, "-") == 0)
        error_add(&cli->errors, STATUS_INPUT, NULL, 0, "run: - : only one of %d ranks has standard input; give a file",
                  cli->ranks.n);
    else study_read(&study, options.study, options.sets.text, options.sets.n, &arena, &cli->errors);
    if (!all_good(cli)) goto out;
    check_same_study(cli, &study);
    name_files(path, checkpoint, &study, &run, &cli->errors);
    if (!all_good(cli)) goto out;
    const int claimed = claim(cli, path, &study, &run, &lock);
    code = claimed > 0 ? STATUS_DONE : -1;
    if (claimed != 0) goto out;
    warn_of_binding(cli->ranks);
    run_watch(options.limit_s);
    const int status = run.n_shards > 0 ? run_shard(&study, &run, path, cli->ranks, &cli->errors)
                                        : run_study(&result, &study, &run, cli->ranks, &arena, &cli->errors);
    if (status > 0) code = stopped(checkpoint, cli);
    if (status != 0) goto out;
    code = STATUS_DONE;
    if (!root) goto out;
    if (run.n_shards == 0 && output_write(&result, &study, path, &arena, &cli->errors) != 0) {
        code = -1;
        goto out;
    }
    unlink(checkpoint); /* all of it is in the result now */
    if (run.n_shards == 0) code = output_report(&result, &study, path, options.top);
    else printf("shard %d of %d written to %s\n", run.shard, run.n_shards, path);
out:
    if (!all_good(cli)) code = -1;
    output_unlock(lock, path);
    arena_free(&arena);
    return code;
}

const struct command command_run = {
    .name = "run",
    .summary = "sweep a study and write its result",
    .usage = "STUDY [-o FILE] [--set KEY=VALUE]... [--resume] [--checkpoint T] [--time-limit T] [--shard I/N] [--force]",
    .examples = "  cosweep run configs/smoke.yaml\n"
                "  cosweep run study.yaml -o tonight.h5 --set hardware.pe.flops=16TFLOP/s\n"
                "  cosweep run study.yaml --time-limit 3h --resume\n"
                "  cosweep run study.yaml --shard 2/8 -o part2    # then: cosweep merge study.h5 part*\n"
                "  mpirun -n 4 --map-by ppr:2:node:PE=8 cosweep run study.yaml\n",
    .options = table,
    .collective = true,
    .call = cmd_run,
};
