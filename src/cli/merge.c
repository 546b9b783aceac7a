/* cosweep merge: the parts of a job array into one result. */
#include "cli/output.h"

static struct {
    const char *output;
    struct texts parts;
    bool force;
    int64_t top;
} options = {.top = 10};

static const struct option table[] = {
    {ARGUMENT, 0, "OUT", NULL, &options.output, "result file to write"},
    {ARGUMENT_REST, 0, "PART", NULL, &options.parts, "part files of `cosweep run --shard i/n`, of every i once"},
    {OPTION_FLAG, 'f', "force", NULL, &options.force, "replace a result of another study"},
    {OPTION_COUNT, 0, "top", "N", &options.top, "rows of each Pareto set to print at the end (10)"},
    {0},
};

static int cmd_merge(struct cli *cli)
{
    struct arena arena = {0};
    struct study study;
    static struct result result;
    int code = -1, lock = -1;
    char path[4096] = "";
    if (options.parts.n == 0) {
        error_add(&cli->errors, STATUS_INPUT, NULL, 0, "merge: no parts; give OUT and the part file of every shard");
        goto out;
    }
    if (output_place(path, options.output, options.parts.text, options.parts.n, &cli->errors) != 0) goto out;
    lock = output_lock(path, &cli->errors);
    if (lock < 0) goto out;
    if (run_merge(&result, &study, options.parts.text, options.parts.n, &arena, &cli->errors) != 0) goto out;
    output_standing(path, &study, options.force, &cli->errors);
    if (cli->errors.n > 0) goto out;
    if (output_write(&result, &study, path, &arena, &cli->errors) != 0) goto out;
    code = output_report(&result, &study, path, options.top);
out:
    output_unlock(lock, path);
    arena_free(&arena);
    return code;
}

const struct command command_merge = {
    .name = "merge",
    .summary = "join the shards of a study into one result",
    .usage = "OUT PART...",
    .examples = "  cosweep run study.yaml --shard 1/3 -o part1   # and 2/3, 3/3, as tasks of a job array\n"
                "  cosweep merge study.h5 part1 part2 part3\n",
    .options = table,
    .call = cmd_merge,
};
