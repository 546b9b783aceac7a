/* Result in: what store_write.c wrote. */
#define _POSIX_C_SOURCE 200809L
#include "io/reader.h"
#include "io/store_get.h"
#include "io/store_probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a scenario ------------------------------------------------------------------------------------------------- */

/* Refuses counts of candidates that whoever adds them up might overflow with. */
static void check_refused(struct get *get, const struct result_scenario *scenario, int n)
{
    int64_t left = scenario->n_distinct;
    bool fits = scenario->n_feasible >= 0 && scenario->n_feasible <= left;
    left -= fits ? scenario->n_feasible : 0;
    for (int r = 0; r < n && fits; r++) {
        fits = scenario->n_refused[r] >= 0 && scenario->n_refused[r] <= left;
        left -= fits ? scenario->n_refused[r] : 0;
    }
    if (!fits) get_refuse(get, "refused", "at most all candidates together with the feasible ones");
}

static void get_refused(struct get *get, hid_t at, const struct result *result, struct result_scenario *scenario)
{
    const int n = REASON_LIMIT + result->n_limits;
    const hid_t group = get_group(get, at, "refused");
    const int64_t *const count = get_counts(get, group, "count", n);
    if (count) memcpy(scenario->n_refused, count, (size_t)n * sizeof *count);
    get_group_close(group);
    check_refused(get, scenario, n);
}

static void get_scenario(struct get *get, hid_t at, const char *name, const struct result *result,
                         struct result_scenario *scenario)
{
    const hid_t group = get_group(get, at, name);
    snprintf(scenario->name, sizeof scenario->name, "%s", name);
#define X(attribute, member) snprintf(scenario->member, sizeof scenario->member, "%s", get_text(get, group, attribute));
    STORE_SCENARIO_TEXTS(X)
#undef X
#define X(attribute, member) scenario->member = get_whole(get, group, attribute);
    STORE_SCENARIO_COUNTS(X)
#undef X
#define X(attribute, member)                                                                                                \
    if (scenario->member < 0 && strcmp(attribute, "best_row") != 0) get_refuse(get, attribute, "a count of candidates");
    STORE_SCENARIO_COUNTS(X)
#undef X
    get_refused(get, group, result, scenario);
    get_pareto(get, group, scenario);
    if (!get->failed && (scenario->best < (scenario->n_rows > 0 ? 0 : -1) || scenario->best >= scenario->n_rows))
        get_refuse(get, "best_row", "a row of the Pareto set");
    get_sensitivity(get, group, result, scenario);
    get_population(get, group, scenario);
    get_group_close(group);
}

static void get_scenarios(struct get *get, hid_t file, struct result *result)
{
    const hid_t group = get_group(get, file, "scenarios");
    H5G_info_t info;
    if (get->failed || !get_check(get, H5Gget_info(group, &info), "scenarios")) goto out;
    result->n_scenarios = (int)(info.nlinks < STORE_MAX_SCENARIOS ? info.nlinks : STORE_MAX_SCENARIOS);
    result->scenario = arena_alloc(get->arena, (size_t)result->n_scenarios + 1, sizeof *result->scenario);
    for (int i = 0; i < result->n_scenarios && !get->failed; i++) {
        char name[NAME_CHARS];
        const ssize_t length =
            H5Lget_name_by_idx(group, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, (hsize_t)i, name, sizeof name, H5P_DEFAULT);
        if (length >= NAME_CHARS || (length >= 0 && !name_is_plain(name)))
            get_refuse(get, "scenarios", "a group of names of this program");
        else if (get_check(get, length < 0 ? -1 : 0, "scenarios"))
            get_scenario(get, group, name, result, &result->scenario[i]);
    }
out:
    get_group_close(group);
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

static void get_version(struct get *get, hid_t file)
{
    if (strcmp(get_text(get, file, "format"), STORE_FORMAT) != 0) get_refuse(get, "format", "`" STORE_FORMAT "`");
    const int64_t version = get_whole(get, file, "format_version");
    if (get->failed || version == STORE_FORMAT_VERSION) return;
    const char *const program = get_text(get, file, "program");
    error_add(get->errors, STATUS_INPUT, get->path, 0,
              "format_version: %lld is not %d; read it with the program that wrote "
              "it (%s) or run the study again",
              (long long)version, STORE_FORMAT_VERSION, program);
    get->failed = true;
}

static void get_search(struct get *get, hid_t file, struct result *result)
{
    const char *const word = get_text(get, file, "search");
    result->search = strcmp(word, store_search_name[SEARCH_PRUNED]) == 0 ? SEARCH_PRUNED : SEARCH_EXHAUSTIVE;
    if (strcmp(word, store_search_name[result->search]) != 0) get_refuse(get, "search", "exhaustive or pruned");
}

static void get_root(struct get *get, hid_t file, struct result *result)
{
    enum metric limited[MAX_LIMITS];
    double values[MAX_LIMITS];
    get_version(get, file);
#define X(attribute, member) snprintf(result->member, sizeof result->member, "%s", get_text(get, file, attribute));
    STORE_TEXTS(X)
#undef X
    result->study_hash = strtoull(get_text(get, file, "study_hash"), NULL, 16);
    get_search(get, file, result);
    result->n_objectives = get_metrics(get, file, "objectives", result->objective, MAX_OBJECTIVES);
    result->n_limits = get_metrics(get, file, "limits", limited, MAX_LIMITS);
    get_reals(get, file, "limit_values", result->n_limits, values);
    for (int i = 0; i < result->n_limits && !get->failed; i++) result->limit[i] = (struct limit){limited[i], values[i]};
}

static void get_performance(struct get *get, hid_t file, struct performance *performance)
{
    const hid_t group = get_group(get, file, "performance");
    double value = 0;
#define X(name, member, type, dimension, meaning)                                                                           \
    get_scalar(get, group, name, &value);                                                                                   \
    if (DIM_##dimension == DIM_COUNT && !(value >= 0 && value <= INT32_MAX)) {                                              \
        get_refuse(get, name, "a count");                                                                                   \
        value = 0;                                                                                                          \
    }                                                                                                                       \
    performance->member = (type)value;
    STORE_PERFORMANCE(X)
#undef X
    get_group_close(group);
}

/* The file at get->path into a result. */
struct reading {
    struct get get;
    struct result *result;
};

static void read_file(void *what)
{
    struct reading *const reading = what;
    struct get *const get = &reading->get;
    struct result *const result = reading->result;
    if (H5Fis_hdf5(get->path) <= 0) {
        get->failed = true;
        error_add(get->errors, STATUS_INPUT, get->path, 0, "is not an HDF5 file; give a result of `cosweep run`");
        return;
    }
    H5Lunregister(H5L_TYPE_EXTERNAL); /* links lead nowhere outside, where a pipe may be */
    const hid_t file = H5Fopen(get->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (!get_check(get, file, "file")) return;
    get_root(get, file, result);
    result->study = arena_text(get->arena, get_long_text(get, file, "study"));
    get_scenarios(get, file, result);
    get_joint(get, file, result);
    get_rounds(get, file, result);
    get_performance(get, file, &result->performance);
    H5Fclose(file);
}

int result_read(struct result *result, const char *path, struct arena *arena, struct errors *errors)
{
    struct reading reading = {.get = {.path = path, .arena = arena, .errors = errors}, .result = result};
    struct stat facts;
    *result = (struct result){0};
    if (access(path, R_OK) != 0 || stat(path, &facts) != 0)
        return error_add(errors, STATUS_INPUT, path, 0, "cannot read it: %s", strerror(errno));
    if (!S_ISREG(facts.st_mode))
        return error_add(errors, STATUS_INPUT, path, 0, "is %s, not a file; give a result of `cosweep run`",
                         S_ISDIR(facts.st_mode) ? "a folder" : "a device or pipe");
    reading.get.file_bytes = facts.st_size;
    reading.get.room_bytes = GET_ROOM_BYTES + GET_ROOM_TIMES_FILE * (int64_t)facts.st_size;
    store_quiet();
    if (store_probe(path, facts.st_size, read_file, &reading, errors) != 0) return -1;
    return reading.get.failed ? -1 : 0;
}

int result_study(struct study *study, const struct result *result, const char *path, struct arena *arena,
                 struct errors *errors)
{
    /* After rounds of two_stage the text is the last round's, and the hash that of what was asked. */
    if (result->n_rounds == 0 && study_fingerprint(result->study) != result->study_hash)
        return error_add(errors, STATUS_INPUT, path, 0,
                         "`study` is not what was swept (study_hash %016llx); the file was changed, run the study again",
                         (unsigned long long)result->study_hash);
    if (study_parse(study, result->study, "the study in the result", arena, errors) != 0) return -1;
    bool same = study->n_scenarios == result->n_scenarios;
    for (int s = 0; s < result->n_scenarios && same; s++) {
        const struct result_scenario *const scenario = &result->scenario[s];
        same = strcmp(study->scenario[s].name, scenario->name) == 0;
        for (int64_t i = 0; i < scenario->n_rows && same; i++)
            same = scenario->row[i].id >= 0 && scenario->row[i].id < study->space.n_raw;
    }
    if (same) return 0;
    return error_add(errors, STATUS_INPUT, path, 0, "its rows are not those of the study in it; run the study again");
}

bool result_is(const char *path)
{
    struct stat facts;
    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode)) return false; /* a pipe would be waited for */
    store_quiet();
    return H5Fis_hdf5(path) > 0;
}
