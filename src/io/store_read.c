/* Result in: what store_write.c wrote.  The file may be anything, so shapes, types and codes are checked before use.
 *
 * Failure is sticky, as in the writer: the first is reported, the rest is skipped. */
#define _POSIX_C_SOURCE 200809L
#include "io/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct reader {
    const char *path;
    struct arena *arena;
    struct errors *errors;
    bool failed;
};

static bool check(struct reader *reader, hid_t status, const char *object)
{
    if (status < 0 && !reader->failed) {
        reader->failed = true;
        store_fail(reader->errors, STATUS_INPUT, reader->path, "read", object);
    }
    return !reader->failed;
}

/* The object is there but is not what this program writes. */
static void refuse(struct reader *reader, const char *object, const char *wanted)
{
    if (!reader->failed)
        error_add(reader->errors, STATUS_INPUT, reader->path, 0, "`%s` is not %s; is this a result of `cosweep run`?",
                  object, wanted);
    reader->failed = true;
}

/* ---- attributes ------------------------------------------------------------------------------------------------- */

/* Text of an attribute in the arena; "" where there is none. */
static const char *attribute_text(struct reader *reader, hid_t at, const char *name)
{
    const char *text = "";
    char *stored = NULL;
    if (reader->failed || H5Aexists(at, name) <= 0)
        return text;
    const hid_t attribute = H5Aopen(at, name, H5P_DEFAULT);
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute), memory_type = store_text_type();
    if (H5Tis_variable_str(type) <= 0 || H5Sget_simple_extent_npoints(space) != 1)
        refuse(reader, name, "one variable-length text");
    else if (check(reader, H5Aread(attribute, memory_type, &stored), name) && stored)
        text = arena_text(reader->arena, stored);
    H5free_memory(stored);
    H5Tclose(memory_type);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return text;
}

/* `n` numbers of an attribute; missing is refused. */
static void attribute_numbers(struct reader *reader, hid_t at, const char *name, hid_t memory_type, int n, void *values)
{
    if (reader->failed)
        return;
    const hid_t attribute = H5Aexists(at, name) > 0 ? H5Aopen(at, name, H5P_DEFAULT) : H5I_INVALID_HID;
    if (attribute < 0) {
        refuse(reader, name, "there");
        return;
    }
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    const H5T_class_t class = H5Tget_class(type);
    if ((class != H5T_INTEGER && class != H5T_FLOAT) || H5Sget_simple_extent_npoints(space) != n)
        refuse(reader, name, "the numbers expected");
    else
        check(reader, H5Aread(attribute, memory_type, values), name);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
}

/* ---- datasets --------------------------------------------------------------------------------------------------- */

/* Shape of a dataset of `rank` dimensions (0 = scalar) of numbers.  Returns it open, or invalid after a failure. */
static hid_t dataset_open(struct reader *reader, hid_t at, const char *name, int rank, hsize_t shape[2])
{
    if (reader->failed)
        return H5I_INVALID_HID;
    const hid_t set = H5Dopen2(at, name, H5P_DEFAULT);
    if (!check(reader, set, name))
        return set;
    const hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    const H5T_class_t class = H5Tget_class(type);
    if (H5Sget_simple_extent_ndims(space) != rank || (class != H5T_INTEGER && class != H5T_FLOAT))
        refuse(reader, name, rank == 0 ? "one number" : rank == 1 ? "a column of numbers" : "a table of numbers");
    else if (rank > 0)
        H5Sget_simple_extent_dims(space, shape, NULL);
    H5Sclose(space);
    H5Tclose(type);
    return set;
}

/* All of a dataset whose shape must be as given. */
static void dataset_read(struct reader *reader, hid_t at, const char *name, int rank, hsize_t n, hsize_t n_inner,
                         hid_t memory_type, void *values)
{
    hsize_t shape[2] = {n, n_inner};
    const hid_t set = dataset_open(reader, at, name, rank, shape);
    if (!reader->failed && (shape[0] != n || shape[1] != n_inner))
        refuse(reader, name, "as long as its scales");
    if (!reader->failed)
        check(reader, H5Dread(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), name);
    if (set >= 0)
        H5Dclose(set);
}

/* Length of a scale. */
static hsize_t scale_length(struct reader *reader, hid_t at, const char *name, hsize_t most)
{
    hsize_t shape[2] = {0, 0};
    const hid_t set = dataset_open(reader, at, name, 1, shape);
    if (!reader->failed && shape[0] > most)
        refuse(reader, name, "of a length this program writes");
    if (set >= 0)
        H5Dclose(set);
    return reader->failed ? 0 : shape[0];
}

static const char *study_text(struct reader *reader, hid_t file)
{
    const char *text = "";
    char *stored = NULL;
    const hid_t set = reader->failed ? H5I_INVALID_HID : H5Dopen2(file, "study", H5P_DEFAULT);
    if (!check(reader, set, "study"))
        return text;
    const hid_t type = H5Dget_type(set), space = H5Dget_space(set), memory_type = store_text_type();
    if (H5Tis_variable_str(type) <= 0 || H5Sget_simple_extent_npoints(space) != 1)
        refuse(reader, "study", "one variable-length text");
    else if (check(reader, H5Dread(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &stored), "study") && stored)
        text = arena_text(reader->arena, stored);
    H5free_memory(stored);
    H5Tclose(memory_type);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(set);
    return text;
}

static hid_t group_open(struct reader *reader, hid_t at, const char *name)
{
    if (reader->failed)
        return H5I_INVALID_HID;
    const hid_t group = H5Gopen2(at, name, H5P_DEFAULT);
    check(reader, group, name);
    return group;
}

static void group_close(hid_t group)
{
    if (group >= 0)
        H5Gclose(group);
}

/* ---- a scenario ------------------------------------------------------------------------------------------------- */

static int n_words(const char *words)
{
    int n = words[0] != '\0';
    for (; *words != '\0'; words++)
        n += *words == '|';
    return n;
}

static void column_read(struct reader *reader, hid_t at, const struct row_column *column, struct result_scenario *scenario,
                        double *buffer)
{
    int64_t *const whole = (int64_t *)(void *)buffer;
    const int n_codes = n_words(column->words);
    if (column->n_summed > 1)
        return;
    dataset_read(reader, at, column->name, 1, (hsize_t)scenario->n_rows, 0,
                 column->whole ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, buffer);
    for (int64_t i = 0; i < scenario->n_rows && !reader->failed; i++) {
        memcpy((char *)&scenario->row[i] + column->offset, column->whole ? (void *)&whole[i] : &buffer[i], 8);
        const double value = row_value(&scenario->row[i], column);
        if (n_codes > 0 && !(value >= 0 && value < n_codes))
            refuse(reader, column->name, "a column of known codes");
    }
}

static void stages_read(struct reader *reader, hid_t at, struct result_scenario *scenario, double *buffer)
{
    dataset_read(reader, at, "stage_time", 2, (hsize_t)scenario->n_rows, N_STAGES, H5T_NATIVE_DOUBLE, buffer);
    for (int64_t i = 0; i < scenario->n_rows && !reader->failed; i++)
        memcpy(scenario->row[i].stage_s, buffer + i * N_STAGES, sizeof scenario->row[i].stage_s);
    dataset_read(reader, at, "stage_bound", 2, (hsize_t)scenario->n_rows, N_STAGES, H5T_NATIVE_DOUBLE, buffer);
    for (int64_t i = 0; i < scenario->n_rows * N_STAGES && !reader->failed; i++) {
        if (!(buffer[i] >= 0 && buffer[i] < N_BOUNDS))
            refuse(reader, "stage_bound", "a table of known codes");
        else
            scenario->row[i / N_STAGES].stage_bound[i % N_STAGES] = (enum bound)buffer[i];
    }
}

static void pareto_read(struct reader *reader, hid_t at, struct result_scenario *scenario)
{
    const hid_t group = group_open(reader, at, "pareto");
    scenario->n_rows = (int64_t)scale_length(reader, group, "row", STORE_MAX_ROWS);
    if (!reader->failed) {
        scenario->row = arena_alloc(reader->arena, (size_t)scenario->n_rows + 1, sizeof *scenario->row);
        double *const buffer = arena_alloc(reader->arena, (size_t)scenario->n_rows + 1, N_STAGES * sizeof *buffer);
        for (int i = 0; i < N_ROW_COLUMNS; i++)
            column_read(reader, group, row_column(i), scenario, buffer);
        stages_read(reader, group, scenario, buffer);
    }
    group_close(group);
}

static void scenario_read(struct reader *reader, hid_t at, const char *name, const struct result *result,
                          struct result_scenario *scenario)
{
    const hid_t group = group_open(reader, at, name);
    const hid_t refused = group_open(reader, group, "refused");
    snprintf(scenario->name, sizeof scenario->name, "%s", name);
#define X(attribute, member) \
    snprintf(scenario->member, sizeof scenario->member, "%s", attribute_text(reader, group, attribute));
    STORE_SCENARIO_TEXTS(X)
#undef X
#define X(attribute, member) attribute_numbers(reader, group, attribute, H5T_NATIVE_INT64, 1, &scenario->member);
    STORE_SCENARIO_COUNTS(X)
#undef X
    dataset_read(reader, refused, "count", 1, (hsize_t)(REASON_LIMIT + result->n_limits), 0, H5T_NATIVE_INT64,
                 scenario->n_refused);
    pareto_read(reader, group, scenario);
    if (!reader->failed && (scenario->best < -1 || scenario->best >= scenario->n_rows))
        refuse(reader, "best_row", "a row of the Pareto set");
    group_close(refused);
    group_close(group);
}

static void scenarios_read(struct reader *reader, hid_t file, struct result *result)
{
    const hid_t group = group_open(reader, file, "scenarios");
    H5G_info_t info;
    if (reader->failed || !check(reader, H5Gget_info(group, &info), "scenarios"))
        goto out;
    result->n_scenarios = (int)(info.nlinks < 10000 ? info.nlinks : 10000);
    result->scenario = arena_alloc(reader->arena, (size_t)result->n_scenarios + 1, sizeof *result->scenario);
    for (int i = 0; i < result->n_scenarios && !reader->failed; i++) {
        char name[NAME_CHARS];
        const ssize_t length = H5Lget_name_by_idx(group, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, (hsize_t)i, name, sizeof name,
                                                  H5P_DEFAULT);
        if (length >= NAME_CHARS)
            refuse(reader, "scenarios", "a group of names of this program");
        else if (check(reader, length < 0 ? -1 : 0, "scenarios"))
            scenario_read(reader, group, name, result, &result->scenario[i]);
    }
out:
    group_close(group);
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

/* Space-separated metric names.  Returns how many. */
static int metrics_read(struct reader *reader, const char *object, const char *text, enum metric *metrics, int most)
{
    int n = 0;
    while (*(text += strspn(text, " ")) != '\0' && !reader->failed) {
        char name[NAME_CHARS];
        const size_t length = strcspn(text, " ");
        snprintf(name, sizeof name, "%.*s", (int)length, text);
        const int code = metric_code(name);
        if (n == most || code < 0)
            refuse(reader, object, "a list of known metrics");
        else
            metrics[n++] = (enum metric)code;
        text += length;
    }
    return n;
}

static void root_read(struct reader *reader, hid_t file, struct result *result)
{
    enum metric limited[MAX_LIMITS];
    double values[MAX_LIMITS];
    int64_t version = 0;
    if (strcmp(attribute_text(reader, file, "format"), STORE_FORMAT) != 0)
        refuse(reader, "format", "`" STORE_FORMAT "`");
    attribute_numbers(reader, file, "format_version", H5T_NATIVE_INT64, 1, &version);
    if (!reader->failed && version != STORE_FORMAT_VERSION) {
        reader->failed = true;
        error_add(reader->errors, STATUS_INPUT, reader->path, 0, "format_version: %lld is not %d; read it with the program "
                  "that wrote it (%s) or run the study again", (long long)version, STORE_FORMAT_VERSION,
                  attribute_text(reader, file, "program"));
    }
#define X(attribute, member) snprintf(result->member, sizeof result->member, "%s", attribute_text(reader, file, attribute));
    STORE_TEXTS(X)
#undef X
    result->study_hash = strtoull(attribute_text(reader, file, "study_hash"), NULL, 16);
    result->n_objectives = metrics_read(reader, "objectives", attribute_text(reader, file, "objectives"), result->objective,
                                        MAX_OBJECTIVES);
    result->n_limits = metrics_read(reader, "limits", attribute_text(reader, file, "limits"), limited, MAX_LIMITS);
    if (result->n_limits > 0)
        attribute_numbers(reader, file, "limit_values", H5T_NATIVE_DOUBLE, result->n_limits, values);
    for (int i = 0; i < result->n_limits && !reader->failed; i++)
        result->limit[i] = (struct limit){limited[i], values[i]};
}

static void performance_read(struct reader *reader, hid_t file, struct performance *performance)
{
    const hid_t group = group_open(reader, file, "performance");
    double value = 0;
#define X(name, member, type, dimension, meaning)                                                                           \
    dataset_read(reader, group, name, 0, 0, 0, H5T_NATIVE_DOUBLE, &value);                                                  \
    performance->member = (type)value;
    STORE_PERFORMANCE(X)
#undef X
    group_close(group);
}

int result_read(struct result *result, const char *path, struct arena *arena, struct errors *errors)
{
    struct reader reader = {.path = path, .arena = arena, .errors = errors};
    *result = (struct result){0};
    if (access(path, R_OK) != 0)
        return error_add(errors, STATUS_INPUT, path, 0, "cannot read it: %s", strerror(errno));
    store_quiet();
    if (H5Fis_hdf5(path) <= 0)
        return error_add(errors, STATUS_INPUT, path, 0, "is not an HDF5 file; give a result of `cosweep run`");
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (!check(&reader, file, "file"))
        return -1;
    root_read(&reader, file, result);
    result->study = arena_text(arena, study_text(&reader, file));
    scenarios_read(&reader, file, result);
    performance_read(&reader, file, &result->performance);
    H5Fclose(file);
    return reader.failed ? -1 : 0;
}

bool result_is(const char *path)
{
    htri_t is;
    H5E_BEGIN_TRY
    {
        is = H5Fis_hdf5(path);
    }
    H5E_END_TRY
    return is > 0;
}
