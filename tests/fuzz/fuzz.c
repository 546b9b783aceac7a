/* What the targets share (fuzz.h). */
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"

#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Noreturn void fuzz_fail(const char *format, ...)
{
    va_list arguments;
    fputs("fuzz: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs("\n", stderr);
    abort();
}

static char folder[256];

/* What a run that ends leaves nothing of; after a crash scripts/fuzz.sh clears up. */
static void folder_remove(void)
{
    char path[512];
    DIR *const open = opendir(folder);
    for (const struct dirent *entry; open && (entry = readdir(open)) != NULL;) {
        snprintf(path, sizeof path, "%s/%.200s", folder, entry->d_name);
        if (entry->d_name[0] != '.') unlink(path);
    }
    if (open) closedir(open);
    rmdir(folder);
}

char *fuzz_place(char path[FUZZ_PATH_CHARS], const char *name)
{
    if (folder[0] == '\0') {
        const char *const temporary = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%.200s/cosweep-fuzz-XXXXXX", temporary ? temporary : "/tmp");
        if (!mkdtemp(folder)) fuzz_fail("%s: no folder", folder);
        atexit(folder_remove);
    }
    snprintf(path, FUZZ_PATH_CHARS, "%s/%.60s", folder, name);
    return path;
}

const char *fuzz_file(int which, const void *data, size_t n)
{
    static char path[FUZZ_FILES][FUZZ_PATH_CHARS];
    char name[16];
    snprintf(name, sizeof name, "input%d", which);
    unlink(fuzz_place(path[which], name)); /* another file, not the old one changed, for who remembers files */
    FILE *const to = fopen(path[which], "wb");
    if (!to || fwrite(data, 1, n, to) != n || fclose(to) != 0) fuzz_fail("%s: cannot be written", path[which]);
    return path[which];
}

/* ---- commands ----------------------------------------------------------------------------------------------------- */

static size_t target_bytes(const struct option *option)
{
    switch (option->kind) {
    case OPTION_FLAG: return sizeof(bool);
    case OPTION_LIST:
    case ARGUMENT_REST: return sizeof(struct texts);
    case OPTION_COUNT: return sizeof(int64_t);
    case OPTION_SECONDS: return sizeof(double);
    case OPTION_CHOICE: return sizeof(int);
    default: return sizeof(char *);
    }
}

/* Options are static, as a process has one command: keep their defaults, or put them back. */
static void options_copy(const struct option *table, char *kept, bool back)
{
    for (const struct option *option = table; option->kind != OPTION_END; option++) {
        const size_t n = target_bytes(option);
        if (back) memcpy(option->target, kept, n);
        else memcpy(kept, option->target, n);
        kept += n;
    }
}

int fuzz_command(const struct command *command, int n, const char *const *a, const char **output)
{
    enum { MOST_ARGUMENTS = 16 };
    static char kept[1 << 16], *printed;
    static struct cli cli;
    char *arguments[MOST_ARGUMENTS + 2] = {(char *)command->name};
    size_t n_printed;
    bool help;
    for (int i = 0; i < n && i < MOST_ARGUMENTS; i++) arguments[i + 1] = (char *)a[i];
    free(printed);
    FILE *const terminal = stdout, *const to = open_memstream(&printed, &n_printed);
    if (!to) fuzz_fail("no stream in memory");
    memset(&cli, 0, sizeof cli);
    cli.ranks = (struct ranks){0, 1};
    stdout = to;
    options_copy(command->options, kept, false);
    if (options_parse(command->options, command->name, n + 1, arguments, &help, &cli.errors) != 0)
        fuzz_fail("%s: %s", command->name, cli.errors.item[0].message);
    const int code = command->call(&cli);
    options_copy(command->options, kept, true);
    stdout = terminal;
    fclose(to);
    if (getenv("COSWEEP_FUZZ_SAY")) errors_print(&cli.errors, stderr);
    fuzz_check_errors(&cli.errors, code == STATUS_DONE || code == STATUS_GATE || code == STATUS_NOTHING ? 0 : -1);
    if (output) *output = printed;
    return code < 0 ? cli.errors.item[0].code : code;
}

/* ---- properties --------------------------------------------------------------------------------------------------- */

void fuzz_check_errors(const struct errors *errors, int status)
{
    if (status == 0 && errors->n > 0) fuzz_fail("success with a message: %s", errors->item[0].message);
    if (status != 0 && errors->n == 0) fuzz_fail("failure without a message");
    for (int i = 0; i < errors->n; i++) {
        if (errors->item[i].message[0] == '\0') fuzz_fail("an empty message");
        if (errors->item[i].code != STATUS_INPUT) fuzz_fail("code %d: %s", errors->item[i].code, errors->item[i].message);
    }
}

static void check_axis(const struct axis_values *axis, const struct axis_values *again, const struct knob *knob)
{
    if (axis->n < 1 || axis->n != again->n) fuzz_fail("%s: %d values, read back %d", knob->path, axis->n, again->n);
    for (int i = 0; i < axis->n; i++) {
        const double value = axis->value[i];
        const bool whole = knob->dimension == DIM_COUNT || knob->dimension == DIM_BOOL || knob->dimension == DIM_CODE;
        if (!(value >= knob->low && value <= knob->high) || (whole && value != floor(value)))
            fuzz_fail("%s: %g is accepted", knob->path, value);
        if (value != again->value[i]) fuzz_fail("%s: %a is read back as %a", knob->path, value, again->value[i]);
    }
}

static void check_scenario(const struct scenario *scenario, const struct scenario *again)
{
    const bool tokens = scenario->new_tokens >= 1 && scenario->new_tokens <= 1000000000 && scenario->past_tokens >= 0 &&
                        scenario->past_tokens <= 1000000000;
    const bool served = scenario->phase != PHASE_SERVE || (scenario->prompt_tokens >= 1 && scenario->answer_tokens >= 1);
    const bool bytes = scenario->weight_bytes >= 0.01 && scenario->weight_bytes <= 16 && scenario->kv_bytes >= 0.01 &&
                       scenario->kv_bytes <= 16 && scenario->activation_bytes >= 0.01 && scenario->activation_bytes <= 16;
    const bool accepted = scenario->accepted_tokens >= 1 && scenario->accepted_tokens <= (double)scenario->new_tokens;
    if (!tokens || !served || !bytes || !accepted) fuzz_fail("scenario %s: a number out of bounds", scenario->name);
    if (strcmp(scenario->name, again->name) != 0 || scenario->new_tokens != again->new_tokens ||
        scenario->past_tokens != again->past_tokens || scenario->prompt_tokens != again->prompt_tokens ||
        scenario->answer_tokens != again->answer_tokens || scenario->weight_bytes != again->weight_bytes ||
        scenario->compute != again->compute || scenario->imbalance != again->imbalance ||
        model_parameters(&scenario->model) != model_parameters(&again->model))
        fuzz_fail("scenario %s is read back as another", scenario->name);
}

void fuzz_check_study(const struct study *study)
{
    static struct errors errors;
    struct arena arena = {0};
    struct study again;
    errors.n = errors.n_dropped = 0;
    if (study_parse(&again, study->effective, "effective", &arena, &errors) != 0)
        fuzz_fail("the effective study is refused: line %d: %s\n%s", errors.item[0].line, errors.item[0].message,
                  study->effective);
    for (int a = 0; a < N_KNOBS; a++) check_axis(&study->space.axis[a], &again.space.axis[a], space_knob(a));
    if (again.n_scenarios != study->n_scenarios) fuzz_fail("%d scenarios become %d", study->n_scenarios, again.n_scenarios);
    for (int s = 0; s < study->n_scenarios; s++) check_scenario(&study->scenario[s], &again.scenario[s]);
    /* The note on what a model import left out is a comment, and the normal form may settle in one more reading. */
    if (again.hash != study->hash && !strstr(study->effective, "  # "))
        fuzz_fail("the effective study reads back to another one:\n%s----\n%s", study->effective, again.effective);
    arena_free(&arena);
}

void fuzz_check_metrics(const double metric[N_METRICS])
{
    for (int m = 0; m < N_METRICS; m++)
        if (!isfinite(metric[m]) || metric[m] < 0) fuzz_fail("%s is %g", metric_facts[m].name, metric[m]);
}

bool fuzz_is_small(const struct study *study)
{
    double work = 0;
    for (int c = 0; c < N_CURVES; c++) work += (double)study->sensitivity.curve[c];
    return (double)study->space.n_raw * study->n_scenarios <= 400 && study->n_scenarios <= 3 && !study->two_stage &&
           work <= 1000 && study->population.sample <= 20000;
}

uint64_t fuzz_take(struct fuzz_input *input, int n_bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < n_bytes && input->n > 0; i++, input->data++, input->n--) value |= (uint64_t)*input->data << (8 * i);
    return value;
}
