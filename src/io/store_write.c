/* Result out: the file is built under a temporary name, closed, synced and renamed (DESIGN section 4), so that a reader
 * never sees half a result and a full disk leaves the old one. */
#define _POSIX_C_SOURCE 200809L
#include "io/store_put.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <unistd.h>

/* ---- a scenario ------------------------------------------------------------------------------------------------- */

static void put_refused(struct put *put, hid_t at, const struct result *result, const struct result_scenario *scenario)
{
    char words[STORE_WORDS_CHARS];
    const int n = REASON_LIMIT + result->n_limits;
    const struct about reason =
        about_column("reason", DIM_CODE, H5T_NATIVE_INT64, "why candidates are refused", store_reason_words(words, result));
    const struct about count = about_column("count", DIM_COUNT, H5T_NATIVE_INT64, "candidates refused for this reason", "");
    const hid_t group = put_group(put, at, "refused");
    const hid_t scale = put_scale(put, group, &reason, n, NULL);
    put_column(put, group, &count, n, scenario->n_refused, scale);
    put_scale_close(put, scale, "reason");
    put_group_close(put, group, "refused");
}

/* A candidate is refused, feasible or, in a pruned search, neither: those are the pruned. */
static void put_counts(struct put *put, hid_t at, const struct result *result, const struct result_scenario *scenario)
{
    int64_t n_refused = 0;
    for (int i = REASON_NONE + 1; i < REASON_LIMIT + result->n_limits; i++) n_refused += scenario->n_refused[i];
#define X(name, member) put_whole(put, at, name, scenario->member);
    STORE_SCENARIO_COUNTS(X)
#undef X
    put_whole(put, at, "refused", n_refused);
    put_whole(put, at, "pruned", scenario->n_distinct - n_refused - scenario->n_feasible);
}

static void put_scenario(struct put *put, hid_t at, const struct result *result, const struct result_scenario *scenario)
{
    const hid_t group = put_group(put, at, scenario->name);
#define X(name, member) put_text(put, group, name, scenario->member);
    STORE_SCENARIO_TEXTS(X)
#undef X
    put_counts(put, group, result, scenario);
    put_pareto(put, group, scenario);
    put_sensitivity(put, group, result, scenario);
    put_population(put, group, scenario);
    put_full(put, group, &scenario->full);
    put_refused(put, group, result, scenario);
    put_group_close(put, group, scenario->name);
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

static void put_root(struct put *put, hid_t file, const struct result *result)
{
    enum metric limited[MAX_LIMITS];
    double values[MAX_LIMITS];
    char hash[32];
    for (int i = 0; i < result->n_limits; i++) {
        limited[i] = result->limit[i].metric;
        values[i] = result->limit[i].value;
    }
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)result->study_hash);
    put_text(put, file, "format", STORE_FORMAT);
    put_whole(put, file, "format_version", STORE_FORMAT_VERSION);
#define X(name, member) put_text(put, file, name, result->member);
    STORE_TEXTS(X)
#undef X
    put_text(put, file, "study_hash", hash);
    put_text(put, file, "search", store_search_name[result->search]);
    put_metrics(put, file, "objectives", result->n_objectives, result->objective);
    put_metrics(put, file, "limits", result->n_limits, limited);
    put_reals(put, file, "limit_values", result->n_limits, values);
}

static void put_performance(struct put *put, hid_t file, const struct performance *performance)
{
    const hid_t group = put_group(put, file, "performance");
    struct about about;
    double value;
#define X(name, member, type, dimension, meaning)                                                                           \
    about = about_column(name, DIM_##dimension, H5T_NATIVE_DOUBLE, meaning, "");                                            \
    value = (double)performance->member;                                                                                    \
    put_scalar(put, group, &about, &value);
    STORE_PERFORMANCE(X)
#undef X
    put_group_close(put, group, "performance");
}

static void put_contents(struct put *put, hid_t file, const struct result *result)
{
    const hid_t text = store_text_type();
    const char *const study = result->study;
    put_root(put, file, result);
    put_scalar(put, file, &(struct about){"study", text, text, "1", "the study with every value spelt out (YAML)", ""},
               &study);
    const hid_t scenarios = put_group(put, file, "scenarios");
    for (int i = 0; i < result->n_scenarios && !put->failed; i++) put_scenario(put, scenarios, result, &result->scenario[i]);
    put_group_close(put, scenarios, "scenarios");
    put_joint(put, file, result);
    put_rounds(put, file, result);
    put_performance(put, file, &result->performance);
    H5Tclose(text);
}

/* fsync a file or folder.  Returns 0, or -1 with errno. */
static int sync_path(const char *path)
{
    const int descriptor = open(path, O_RDONLY);
    if (descriptor < 0) return -1;
    /* EINVAL: a file system that cannot sync a folder. */
    const int failed = fsync(descriptor) != 0 && errno != EINVAL;
    const int saved = errno;
    close(descriptor);
    errno = saved;
    return failed ? -1 : 0;
}

static hid_t file_make(struct put *put, const char *path)
{
    const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    H5Pset_obj_track_times(creation, false);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, creation, H5P_DEFAULT);
    put_check(put, file, "file"); /* before the next call forgets why */
    H5Pclose(creation);
    return file;
}

int result_write(const struct result *result, const char *path, struct errors *errors)
{
    struct put put = {.path = path, .errors = errors};
    char temporary[4096], folder[4096];
    if (strlen(path) > 4000)
        return error_add(errors, STATUS_INPUT, NULL, 0, "%.80s...: a path of %zu bytes is too long; 4000 are allowed", path,
                         strlen(path));
    unfinished_name(temporary, path);
    snprintf(folder, sizeof folder, "%s", path);
    const int descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0666); /* for a plain message where it cannot be */
    if (descriptor < 0)
        return error_add(errors, STATUS_SYSTEM, path, 0, "cannot write here: %s; give another file with -o",
                         strerror(errno));
    close(descriptor);
    store_quiet();
    const hid_t file = file_make(&put, temporary);
    if (!put.failed) put_contents(&put, file, result);
    if (file >= 0) put_check(&put, H5Fclose(file), "file");
    if (!put.failed && (sync_path(temporary) != 0 || rename(temporary, path) != 0 || sync_path(dirname(folder)) != 0)) {
        put.failed = true;
        error_add(errors, STATUS_SYSTEM, path, 0, "cannot publish the result: %s", strerror(errno));
    }
    if (put.failed) unlink(temporary);
    return put.failed ? -1 : 0;
}
