/* `cosweep size`: how large a study is, before anyone pays for it.  Counts candidates, computes none. */
#include "cli/cli.h"

#include <inttypes.h>
#include <string.h>

static struct {
    const char *study;
    struct texts sets;
    int64_t threads;
    bool json;
} options = {.threads = 1};
static const struct option table[] = {
    {ARGUMENT, 0, "STUDY", NULL, &options.study, "study file (YAML)"},
    {OPTION_LIST, 0, "set", "KEY=VALUE", &options.sets, "override a key of the study; may be given many times"},
    {OPTION_COUNT, 't', "threads", "N", &options.threads, "predict for this many threads over all ranks; 1 by default"},
    {OPTION_FLAG, 0, "json", NULL, &options.json, "the numbers as JSON"},
    {0},
};

/* What a sweep costs on one core of a current server, from `cosweep run` on such, rounded to the slow side. */
static const double candidates_per_s = 4e8, lowered_per_s = 3e5, start_s = 0.1;
/* What is asked of a row of a Pareto set: candidates answered one by one, and plans held against it. */
static const double answers_per_s = 4e5, contests_per_s = 2.5e8;
/* A thread holds its tables of rates and times (doubles per machine row), and the process libraries and its code. */
enum { DOUBLES_PER_ROW = 48, PROCESS_BYTES = 30000000 };
/* Beyond so many plans they are not counted one by one, which takes longer than anyone waits for a number. */
enum { MOST_COUNTED = 50000000 };

struct size {
    const char *name;
    int64_t n_raw, n_plans; /* pinned plans with a structure that are distinct */
    int64_t n_distinct;     /* n_plans with every machine */
    bool at_most;           /* both of all plans, as if they were distinct */
    double time_s;
};

static int64_t count_plans(const struct space *space, const struct scenario *scenario)
{
    struct plan plan;
    struct hardware hardware;
    int64_t n = 0;
    for (int64_t i = 0; i < space->n_lowered; i++) n += space_distinct(space, scenario, i, &plan, &hardware);
    return n;
}

static struct size scenario_size(const struct study *study, int s)
{
    const struct space *const space = &study->space;
    struct size size = {.name = study->scenario[s].name, .n_raw = space->n_raw};
    size.at_most = space->n_lowered > MOST_COUNTED / study->n_scenarios;
    size.n_plans = size.at_most ? space->n_lowered : count_plans(space, &study->scenario[s]);
    size.n_distinct = size.n_plans * space->n_machines;
    size.time_s = ((double)size.n_distinct / candidates_per_s + (double)size.n_plans / lowered_per_s) /
                  (double)(options.threads > 0 ? options.threads : 1);
    return size;
}

static double memory_bytes(const struct space *space)
{
    const double rows = (double)(space->n_group[GROUP_WORK] + space->n_group[GROUP_WIRE] + space->n_group[GROUP_STORE]);
    return PROCESS_BYTES + (double)options.threads * rows * DOUBLES_PER_ROW * sizeof(double);
}

/* Sensitivities of one row: how many rows there will be, nobody knows before. */
static double row_time_s(const struct study *study, const struct size *size)
{
    const struct sensitivity *const asked = &study->sensitivity;
    double answers = asked->elasticity, contests = 0.0;
    for (int c = 0; c < N_CURVES; c++) answers += (double)asked->curve[c] / 2.0;
    for (int s = 0; s < study->n_scenarios && asked->doubling; s++)
        if ((double)size[s].n_plans * N_DOUBLED > contests) contests = (double)size[s].n_plans * N_DOUBLED;
    if (asked->doubling) answers += N_DOUBLED;
    return (answers / answers_per_s + contests / contests_per_s) / (double)(options.threads > 0 ? options.threads : 1);
}

static double row_bytes(const struct study *study)
{
    const struct sensitivity *const asked = &study->sensitivity;
    double bytes = sizeof(struct result_row);
    for (int c = 0; c < N_CURVES; c++) bytes += (double)asked->curve[c] / 2.0 * (2 * sizeof(double) + sizeof(int32_t));
    if (asked->elasticity) bytes += N_BOUNDS * sizeof(double);
    if (asked->doubling) bytes += N_DOUBLED * (2 * sizeof(double) + sizeof(candidate_id));
    return bytes;
}

/* What population.full writes if everything is feasible: row, id and every metric of each candidate. */
static double full_bytes(const struct study *study, const struct size *size)
{
    double n = 0.0;
    for (int s = 0; s < study->n_scenarios && study->population.full; s++) n += (double)size[s].n_distinct;
    return n * (2 + N_METRICS) * sizeof(double);
}

static void axes_print(const struct study *study)
{
    for (int i = 0; i < N_KNOBS; i++)
        if (study->space.axis[i].n > 1) printf("  %-32s %d values\n", space_knob(i)->path, study->space.axis[i].n);
}

static void text_print(const struct study *study, const struct size *size)
{
    char text[32];
    double time_s = start_s;
    printf("study %s\n\nknobs that are swept:\n", study->name);
    axes_print(study);
    for (int s = 0; s < study->n_scenarios; s++) {
        printf("\nscenario %s\n  raw        %" PRId64 "\n  distinct   %s%" PRId64, size[s].name, size[s].n_raw,
               size[s].at_most ? "at most " : "", size[s].n_distinct);
        printf(" (%" PRId64 " plans and structures x %" PRId64 " machines)\n", size[s].n_plans, study->space.n_machines);
        if (study->scenario[s].warnings[0] != '\0') printf("  note       %s\n", study->scenario[s].warnings);
        time_s += size[s].time_s;
    }
    printf("\npredicted for %" PRId64 " thread%s: %s", options.threads, options.threads == 1 ? "" : "s",
           unit_format(text, time_s, DIM_SECONDS));
    printf(" exhaustive, %s of memory\n", unit_format(text, memory_bytes(&study->space), DIM_BYTES));
    printf("and for every 1,000 rows of a Pareto set %s and",
           unit_format(text, 1000.0 * row_time_s(study, size), DIM_SECONDS));
    printf(" %s of sensitivities\n", unit_format(text, 1000.0 * row_bytes(study), DIM_BYTES));
    if (study->population.full)
        printf("population.full writes up to %s\n", unit_format(text, full_bytes(study, size), DIM_BYTES));
}

static void json_print(const struct study *study, const struct size *size)
{
    struct json json = {.to = stdout, .pretty = true};
    double time_s = start_s;
    char hash[32];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)study->hash); /* as the attribute of a result */
    json_open(&json, NULL, '{');
    json_text(&json, "study", study->name);
    json_text(&json, "study_hash", hash);
    json_open(&json, "knobs", '{');
    for (int i = 0; i < N_KNOBS; i++)
        if (study->space.axis[i].n > 1) json_number(&json, space_knob(i)->name, study->space.axis[i].n);
    json_close(&json, '}');
    json_open(&json, "scenarios", '[');
    for (int s = 0; s < study->n_scenarios; s++) {
        json_open(&json, NULL, '{');
        json_text(&json, "name", size[s].name);
        json_number(&json, "candidates_raw", (double)size[s].n_raw);
        json_number(&json, "candidates", (double)size[s].n_distinct);
        json_number(&json, "plans", (double)size[s].n_plans);
        json_number(&json, "machines", (double)study->space.n_machines);
        if (study->scenario[s].warnings[0] != '\0') json_text(&json, "warnings", study->scenario[s].warnings);
        if (size[s].at_most) json_bool(&json, "at_most", true);
        json_close(&json, '}');
        time_s += size[s].time_s;
    }
    json_close(&json, ']');
    json_number(&json, "threads", (double)options.threads);
    json_number(&json, "predicted_s", time_s);
    json_number(&json, "predicted_bytes", memory_bytes(&study->space));
    json_number(&json, "predicted_s_per_row", row_time_s(study, size));
    json_number(&json, "predicted_bytes_per_row", row_bytes(study));
    if (study->population.full) json_number(&json, "predicted_file_bytes", full_bytes(study, size));
    json_close(&json, '}');
    printf("\n");
}

static int cmd_size(struct cli *cli)
{
    struct arena arena = {0};
    struct study study;
    int code = -1;
    if (options.threads < 1) {
        error_add(&cli->errors, STATUS_INPUT, NULL, 0, "size: --threads: 0 is below 1; give a whole number from 1");
        return -1;
    }
    if (study_read(&study, options.study, options.sets.text, options.sets.n, &arena, &cli->errors) != 0) goto out;
    struct size *const size = arena_alloc(&arena, (size_t)study.n_scenarios + 1, sizeof *size);
    for (int s = 0; s < study.n_scenarios; s++) size[s] = scenario_size(&study, s);
    if (options.json) json_print(&study, size);
    else text_print(&study, size);
    code = STATUS_DONE;
out:
    arena_free(&arena);
    return code;
}

const struct command command_size = {
    .name = "size",
    .summary = "how many candidates, how long, how much memory; computes nothing",
    .usage = "STUDY [OPTIONS]",
    .examples = "  cosweep size configs/llama70b-decode-128k.yaml --threads 16\n"
                "  cosweep size study.yaml --set depth=fine\n",
    .options = table,
    .call = cmd_size,
};
