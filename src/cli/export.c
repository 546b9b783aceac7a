/* cosweep export: one row of a result as a study of its own: every knob one value, in base units, so that it gives the same
 * numbers bit for bit. */
#define _POSIX_C_SOURCE 200809L
#include "cli/answer.h"
#include "cli/output.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static struct {
    struct choice choice;
    const char *output;
    bool force;
} options;

static const struct option table[] = {
    {ARGUMENT, 0, "RESULT", NULL, &options.choice.source, "result file of `cosweep run`"},
    {OPTION_TEXT, 'r', "row", "N|best", &options.choice.row, "row of its Pareto set, from 0"},
    {OPTION_TEXT, 's', "scenario", "NAME", &options.choice.scenario, "scenario; the first by default"},
    {OPTION_TEXT, 'o', "output", "FILE", &options.output, "study file; standard output by default"},
    {OPTION_FLAG, 'f', "force", NULL, &options.force, "replace the file where it exists"},
    {0},
};

/* The study with one scenario, one value on every axis, and nothing that needs more than that. */
static void study_pin(struct study *study, const struct chosen *chosen, struct candidate *candidate, struct arena *arena)
{
    plan_pin(&candidate->plan, &candidate->scenario);
    *study = chosen->study;
    study->scenario = &study->scenario[chosen->scenario];
    study->n_scenarios = 1;
    study->joint = (struct joint){0};
    study->two_stage = false;
    snprintf(study->name, sizeof study->name, "%.40s-row-%" PRId64, chosen->study.name, chosen->row);
    for (int a = 0; a < N_KNOBS; a++) {
        double *const value = arena_alloc(arena, 1, sizeof *value);
        *value = a < N_PLAN_KNOBS ? (double)((const int64_t *)&candidate->plan)[a]
                                  : ((const double *)&candidate->hardware)[a - N_PLAN_KNOBS];
        study->space.axis[a] = (struct axis_values){.n = 1, .value = value};
    }
}

/* A name may hold anything; a comment ends with its line. */
static void comment_text(FILE *to, const char *text)
{
    for (const char *c = text; *c; c++) putc((unsigned char)*c < ' ' ? ' ' : *c, to);
}

static void study_write(FILE *to, const struct study *study, const struct chosen *chosen)
{
    const struct result_row *const row = &chosen->result.scenario[chosen->scenario].row[chosen->row];
    char text[32];
    fputs("# One candidate: row ", to);
    fprintf(to, "%" PRId64 " of scenario %s in ", chosen->row, study->scenario[0].name);
    comment_text(to, options.choice.source);
    fputs("\n# (study ", to);
    comment_text(to, chosen->result.study_name);
    fputs(", ", to);
    comment_text(to, chosen->result.program);
    fputs(" of ", to);
    comment_text(to, chosen->result.created);
    fprintf(to, ").  latency %s", unit_format(text, row->metric[METRIC_LATENCY], DIM_SECONDS));
    for (int o = 0; o < chosen->result.n_objectives; o++) {
        const enum metric metric = chosen->result.objective[o];
        if (metric != METRIC_LATENCY)
            fprintf(to, ", %s %s", metric_facts[metric].name,
                    unit_format(text, row->metric[metric], metric_facts[metric].dimension));
    }
    fprintf(to, ".  Base units: bytes, bytes/s, FLOP/s, s, J, W.\n%s", study->effective);
}

static int study_put(const struct study *study, const struct chosen *chosen, const char *path, struct errors *errors)
{
    char temporary[4096];
    if (!options.force && access(path, F_OK) == 0)
        return error_add(errors, STATUS_INPUT, options.output, 0, "exists; give another --output, or --force to replace it");
    unfinished_name(temporary, path);
    FILE *const to = fopen(temporary, "w");
    if (!to) return error_add(errors, STATUS_SYSTEM, options.output, 0, "cannot be written: %s", strerror(errno));
    study_write(to, study, chosen);
    const bool failed = ferror(to) != 0;
    if (fclose(to) != 0 || failed || rename(temporary, path) != 0) {
        unlink(temporary);
        return error_add(errors, STATUS_SYSTEM, options.output, 0, "cannot be written: %s", strerror(errno));
    }
    return STATUS_DONE;
}

static int study_publish(const struct study *study, const struct chosen *chosen, struct errors *errors)
{
    if (!options.output) {
        study_write(stdout, study, chosen);
        return STATUS_DONE;
    }
    char path[4096];
    if (output_place(path, options.output, &options.choice.source, 1, errors) != 0) return -1;
    const int lock = output_lock(path, errors);
    if (lock < 0) return -1;
    const int code = study_put(study, chosen, path, errors);
    output_unlock(lock, path);
    return code;
}

static int cmd_export(struct cli *cli)
{
    struct arena arena = {0};
    static struct chosen chosen;
    static struct candidate candidate;
    struct study study;
    int code = -1;
    if (choice_open(&chosen, &options.choice, &arena, &cli->errors) != 0) goto out;
    if (choice_candidate(&candidate, &chosen, &options.choice, &cli->errors) != 0) goto out;
    if (!chosen.is_result) {
        error_add(&cli->errors, STATUS_INPUT, options.choice.source, 0, "is no result; give a result file and --row N");
        goto out;
    }
    study_pin(&study, &chosen, &candidate, &arena);
    if (study_restate(&study, &arena, &cli->errors) == 0) code = study_publish(&study, &chosen, &cli->errors);
out:
    arena_free(&arena);
    return code;
}

const struct command command_export = {
    .name = "export",
    .summary = "a row of a result as a study of its own",
    .usage = "RESULT --row N|best [--scenario NAME] [-o FILE]",
    .examples = "  cosweep export llama70b.h5 --row 3 -o row3.yaml && cosweep explain row3.yaml\n"
                "  cosweep export llama70b.h5 --row best --scenario decode-128k > best.yaml\n",
    .options = table,
    .call = cmd_export,
};
