/* Result out: the file is built under a temporary name, closed, synced and renamed (DESIGN section 4), so that a reader
 * never sees half a result and a full disk leaves the old one.
 *
 * Failure is sticky: after the first that fails every later call does nothing, and result_write looks once at the end. */
#define _POSIX_C_SOURCE 200809L
#include "io/store.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct writer {
    const char *path; /* final name, for messages */
    struct errors *errors;
    bool failed;
};

static bool check(struct writer *writer, hid_t status, const char *object)
{
    if (status < 0 && !writer->failed) {
        writer->failed = true;
        store_fail(writer->errors, STATUS_SYSTEM, writer->path, "write", object);
    }
    return !writer->failed;
}

/* ---- attributes ------------------------------------------------------------------------------------------------- */

static void attribute_write(struct writer *writer, hid_t at, const char *name, hid_t file_type, hid_t memory_type,
                            hsize_t n, const void *value)
{
    if (writer->failed)
        return;
    const hid_t space = n == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &n, NULL);
    const hid_t attribute = H5Acreate2(at, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (check(writer, attribute, name)) {
        check(writer, H5Awrite(attribute, memory_type, value), name);
        check(writer, H5Aclose(attribute), name);
    }
    H5Sclose(space);
}

/* An empty text has no attribute: some readers cannot tell an empty variable-length string from a missing one. */
static void attribute_text(struct writer *writer, hid_t at, const char *name, const char *text)
{
    if (text[0] == '\0')
        return;
    const hid_t type = store_text_type();
    attribute_write(writer, at, name, type, type, 1, &text);
    H5Tclose(type);
}

static void attribute_whole(struct writer *writer, hid_t at, const char *name, int64_t value)
{
    attribute_write(writer, at, name, H5T_STD_I64LE, H5T_NATIVE_INT64, 1, &value);
}

/* Codes 0..n-1 mean the words of "a|b|c" (CF conventions, section 3.5). */
static void attribute_flags(struct writer *writer, hid_t at, const char *words)
{
    char meanings[2048];
    int values[256], n = 0;
    if (words[0] == '\0')
        return;
    snprintf(meanings, sizeof meanings, "%s", words);
    assert(strlen(words) < sizeof meanings);
    values[n++] = 0;
    for (char *bar = meanings; (bar = strchr(bar, '|')) != NULL && n < 256; n++) {
        *bar = ' ';
        values[n] = n;
    }
    attribute_write(writer, at, "flag_values", H5T_STD_I32LE, H5T_NATIVE_INT, (hsize_t)n, values);
    attribute_text(writer, at, "flag_meanings", meanings);
}

/* ---- groups and datasets ---------------------------------------------------------------------------------------- */

/* Links in the order they were made, so that listings read like DESIGN section 4. */
static hid_t group_make(struct writer *writer, hid_t at, const char *name)
{
    if (writer->failed)
        return H5I_INVALID_HID;
    const hid_t properties = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_link_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    H5Pset_obj_track_times(properties, false);
    const hid_t group = H5Gcreate2(at, name, H5P_DEFAULT, properties, H5P_DEFAULT);
    check(writer, group, name);
    H5Pclose(properties);
    return group;
}

static void group_close(struct writer *writer, hid_t group, const char *name)
{
    if (group >= 0)
        check(writer, H5Gclose(group), name);
}

/* What a dataset is, for the readers.  An empty meaning is our mistake. */
struct about {
    const char *name;
    hid_t file_type, memory_type;
    const char *units, *meaning, *words;
};

static struct about about_column(const char *name, enum dimension dimension, hid_t memory_type, const char *meaning,
                                 const char *words)
{
    return (struct about){name, store_type(dimension), memory_type, unit_name(dimension), meaning, words};
}

/* Returns the open dataset, or an invalid one after a failure. */
static hid_t dataset_make(struct writer *writer, hid_t at, const struct about *about, int rank, const hsize_t *shape,
                          const void *values)
{
    assert(about->meaning[0] != '\0' && about->units[0] != '\0');
    if (writer->failed)
        return H5I_INVALID_HID;
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, shape, NULL);
    H5Pset_obj_track_times(properties, false);
    const hid_t set = H5Dcreate2(at, about->name, about->file_type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    if (check(writer, set, about->name)) {
        check(writer, H5Dwrite(set, about->memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), about->name);
        attribute_text(writer, set, "units", about->units);
        attribute_text(writer, set, "long_name", about->meaning);
        attribute_flags(writer, set, about->words);
    }
    H5Sclose(space);
    H5Pclose(properties);
    return set;
}

static void dataset_close(struct writer *writer, hid_t set, const char *name)
{
    if (set >= 0)
        check(writer, H5Dclose(set), name);
}

static void scalar_write(struct writer *writer, hid_t at, const struct about *about, const void *value)
{
    dataset_close(writer, dataset_make(writer, at, about, 0, NULL, value), about->name);
}

/* A dimension scale 0..n-1; stays open while datasets are attached to it. */
static hid_t scale_make(struct writer *writer, hid_t at, const struct about *about, hsize_t n)
{
    int64_t *const index = malloc((n > 0 ? n : 1) * sizeof *index);
    for (hsize_t i = 0; index && i < n; i++)
        index[i] = (int64_t)i;
    const hid_t scale = dataset_make(writer, at, about, 1, &n, index);
    if (scale >= 0)
        check(writer, H5DSset_scale(scale, about->name), about->name);
    free(index);
    return scale;
}

static void dataset_on_scales(struct writer *writer, hid_t at, const struct about *about, int rank, const hsize_t *shape,
                              const void *values, const hid_t *scales)
{
    const hid_t set = dataset_make(writer, at, about, rank, shape, values);
    for (int i = 0; set >= 0 && i < rank && !writer->failed; i++)
        check(writer, H5DSattach_scale(set, scales[i], (unsigned)i), about->name);
    dataset_close(writer, set, about->name);
}

/* ---- a scenario ------------------------------------------------------------------------------------------------- */

static void column_write(struct writer *writer, hid_t at, const struct row_column *column,
                         const struct result_scenario *scenario, double *buffer, hid_t scale)
{
    const hsize_t n = (hsize_t)scenario->n_rows;
    int64_t *const whole = (int64_t *)(void *)buffer; /* ids do not fit a double */
    for (hsize_t i = 0; i < n; i++)
        if (column->whole)
            memcpy(&whole[i], (const char *)&scenario->row[i] + column->offset, sizeof whole[i]);
        else
            buffer[i] = row_value(&scenario->row[i], column);
    const struct about about = about_column(column->name, column->dimension,
                                            column->whole ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, column->meaning,
                                            column->words);
    dataset_on_scales(writer, at, &about, 1, &n, buffer, &scale);
}

static void stages_write(struct writer *writer, hid_t at, const struct result_scenario *scenario, double *buffer, hid_t row)
{
    static const char stage_words[] =
#define X(code, name, ...) name "|"
        STAGES(X)
#undef X
        , bound_words[] =
#define X(code, name) name "|"
        BOUNDS(X)
#undef X
        ;
    char words[sizeof stage_words];
    snprintf(words, sizeof words, "%.*s", (int)sizeof stage_words - 2, stage_words); /* without the last bar */
    const struct about stage = about_column("stage", DIM_CODE, H5T_NATIVE_INT64, "stage of a layer, or edge of a step",
                                            words);
    const hid_t scales[2] = {row, scale_make(writer, at, &stage, N_STAGES)};
    const hsize_t shape[2] = {(hsize_t)scenario->n_rows, N_STAGES};
    for (hsize_t i = 0; i < shape[0]; i++)
        memcpy(buffer + i * N_STAGES, scenario->row[i].stage_s, sizeof scenario->row[i].stage_s);
    const struct about time = about_column("stage_time", DIM_SECONDS, H5T_NATIVE_DOUBLE,
                                           "time of a stage in a step, all layers", "");
    dataset_on_scales(writer, at, &time, 2, shape, buffer, scales);
    for (hsize_t i = 0; i < shape[0]; i++)
        for (int s = 0; s < N_STAGES; s++)
            buffer[i * N_STAGES + (hsize_t)s] = (double)scenario->row[i].stage_bound[s];
    snprintf(words, sizeof words, "%.*s", (int)sizeof bound_words - 2, bound_words);
    const struct about bound = about_column("stage_bound", DIM_CODE, H5T_NATIVE_DOUBLE,
                                            "what most of a stage's time is bound by", words);
    dataset_on_scales(writer, at, &bound, 2, shape, buffer, scales);
    dataset_close(writer, scales[1], "stage");
}

static void pareto_write(struct writer *writer, hid_t at, const struct result_scenario *scenario)
{
    const hid_t group = group_make(writer, at, "pareto");
    double *const buffer = malloc(((size_t)scenario->n_rows + 1) * N_STAGES * sizeof *buffer);
    if (!buffer) {
        writer->failed = true;
        error_add(writer->errors, STATUS_SYSTEM, writer->path, 0, "no memory for a column of %lld rows",
                  (long long)scenario->n_rows);
    }
    const struct about about = about_column("row", DIM_COUNT, H5T_NATIVE_INT64,
                                            "rows of the Pareto set, sorted by the objectives", "");
    const hid_t row = scale_make(writer, group, &about, (hsize_t)scenario->n_rows);
    for (int i = 0; i < N_ROW_COLUMNS && !writer->failed; i++)
        column_write(writer, group, row_column(i), scenario, buffer, row);
    if (!writer->failed)
        stages_write(writer, group, scenario, buffer, row);
    dataset_close(writer, row, "row");
    group_close(writer, group, "pareto");
    free(buffer);
}

static void refused_write(struct writer *writer, hid_t at, const struct result *result,
                          const struct result_scenario *scenario)
{
    char words[MAX_REASONS * NAME_CHARS];
    size_t length = 0;
    const int n_reasons = REASON_LIMIT + result->n_limits;
    for (int i = 0; i < n_reasons; i++)
        length += (size_t)snprintf(words + length, sizeof words - length, "%s%s%s", i > 0 ? "|" : "",
                                   i < REASON_LIMIT ? reason_name[i] : "limit_",
                                   i < REASON_LIMIT ? "" : metric_facts[result->limit[i - REASON_LIMIT].metric].name);
    const hid_t group = group_make(writer, at, "refused");
    const struct about reason = about_column("reason", DIM_CODE, H5T_NATIVE_INT64, "why candidates are refused", words);
    const struct about count = about_column("count", DIM_COUNT, H5T_NATIVE_INT64, "candidates refused for this reason", "");
    const hsize_t n = (hsize_t)n_reasons;
    const hid_t scale = scale_make(writer, group, &reason, n);
    dataset_on_scales(writer, group, &count, 1, &n, scenario->n_refused, &scale);
    dataset_close(writer, scale, "reason");
    group_close(writer, group, "refused");
}

static void scenario_write(struct writer *writer, hid_t at, const struct result *result,
                           const struct result_scenario *scenario)
{
    const hid_t group = group_make(writer, at, scenario->name);
    int64_t n_refused = 0;
    for (int i = REASON_NONE + 1; i < REASON_LIMIT + result->n_limits; i++)
        n_refused += scenario->n_refused[i];
#define X(name, member) attribute_text(writer, group, name, scenario->member);
    STORE_SCENARIO_TEXTS(X)
#undef X
#define X(name, member) attribute_whole(writer, group, name, scenario->member);
    STORE_SCENARIO_COUNTS(X)
#undef X
    attribute_whole(writer, group, "refused", n_refused);
    attribute_whole(writer, group, "pruned", scenario->n_distinct - scenario->n_feasible - n_refused);
    pareto_write(writer, group, scenario);
    refused_write(writer, group, result, scenario);
    group_close(writer, group, scenario->name);
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

static void root_write(struct writer *writer, hid_t file, const struct result *result)
{
    char objectives[MAX_OBJECTIVES * NAME_CHARS] = "", limits[MAX_LIMITS * NAME_CHARS] = "", hash[32];
    double values[MAX_LIMITS];
    for (int i = 0; i < result->n_objectives; i++)
        snprintf(objectives + strlen(objectives), sizeof objectives - strlen(objectives), "%s%s", i > 0 ? " " : "",
                 metric_facts[result->objective[i]].name);
    for (int i = 0; i < result->n_limits; i++) {
        snprintf(limits + strlen(limits), sizeof limits - strlen(limits), "%s%s", i > 0 ? " " : "",
                 metric_facts[result->limit[i].metric].name);
        values[i] = result->limit[i].value;
    }
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)result->study_hash);
    attribute_text(writer, file, "format", STORE_FORMAT);
    attribute_whole(writer, file, "format_version", STORE_FORMAT_VERSION);
#define X(name, member) attribute_text(writer, file, name, result->member);
    STORE_TEXTS(X)
#undef X
    attribute_text(writer, file, "study_hash", hash);
    attribute_text(writer, file, "objectives", objectives);
    attribute_text(writer, file, "limits", limits);
    if (result->n_limits > 0)
        attribute_write(writer, file, "limit_values", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, (hsize_t)result->n_limits, values);
}

static void contents_write(struct writer *writer, hid_t file, const struct result *result)
{
    const hid_t text = store_text_type();
    const char *const study = result->study;
    root_write(writer, file, result);
    scalar_write(writer, file, &(struct about){"study", text, text, "1", "the study with every value spelt out (YAML)", ""},
                 &study);
    const hid_t scenarios = group_make(writer, file, "scenarios");
    for (int i = 0; i < result->n_scenarios && !writer->failed; i++)
        scenario_write(writer, scenarios, result, &result->scenario[i]);
    group_close(writer, scenarios, "scenarios");
    const hid_t performance = group_make(writer, file, "performance");
    struct about about;
#define X(name, member, type, dimension, meaning)                                                                           \
    about = about_column(name, DIM_##dimension, H5T_NATIVE_DOUBLE, meaning, "");                                            \
    scalar_write(writer, performance, &about, &(double){(double)result->performance.member});
    STORE_PERFORMANCE(X)
#undef X
    group_close(writer, performance, "performance");
    H5Tclose(text);
}

/* fsync a file or folder.  Returns 0, or -1 with errno. */
static int sync_path(const char *path)
{
    const int descriptor = open(path, O_RDONLY);
    if (descriptor < 0)
        return -1;
    /* EINVAL: a file system that cannot sync a folder. */
    const int failed = fsync(descriptor) != 0 && errno != EINVAL;
    const int saved = errno;
    close(descriptor);
    errno = saved;
    return failed ? -1 : 0;
}

static hid_t file_make(const char *path)
{
    const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    H5Pset_obj_track_times(creation, false);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, creation, H5P_DEFAULT);
    H5Pclose(creation);
    return file;
}

int result_write(const struct result *result, const char *path, struct errors *errors)
{
    struct writer writer = {.path = path, .errors = errors};
    char temporary[4096], folder[4096];
    if (snprintf(temporary, sizeof temporary, "%s.%ld.part", path, (long)getpid()) >= (int)sizeof temporary)
        return error_add(errors, STATUS_INPUT, NULL, 0, "%.80s...: a path of %zu bytes is too long; 4000 are allowed", path,
                         strlen(path));
    snprintf(folder, sizeof folder, "%s", path);
    const int descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0666); /* for a plain message where it cannot be */
    if (descriptor < 0)
        return error_add(errors, STATUS_SYSTEM, path, 0, "cannot write here: %s; give another file with -o",
                         strerror(errno));
    close(descriptor);
    store_quiet();
    const hid_t file = file_make(temporary);
    if (check(&writer, file, "file"))
        contents_write(&writer, file, result);
    if (file >= 0)
        check(&writer, H5Fclose(file), "file");
    if (!writer.failed && (sync_path(temporary) != 0 || rename(temporary, path) != 0 || sync_path(dirname(folder)) != 0)) {
        writer.failed = true;
        error_add(errors, STATUS_SYSTEM, path, 0, "cannot publish the result: %s", strerror(errno));
    }
    if (writer.failed)
        unlink(temporary);
    return writer.failed ? -1 : 0;
}
