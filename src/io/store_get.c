/* Attributes, groups and datasets out of a result file. */
#include "io/store_get.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    MAX_FILE_ROWS = 100000000,
    MOST_DEFLATED = 1032, /* to 1: what zlib can reach; a result may have been through h5repack */
};

bool get_check(struct get *get, hid_t status, const char *object)
{
    if (status < 0 && !get->failed) {
        get->failed = true;
        store_fail(get->errors, STATUS_INPUT, get->path, "read", object);
    }
    return !get->failed;
}

void get_refuse(struct get *get, const char *object, const char *wanted)
{
    if (!get->failed)
        error_add(get->errors, STATUS_INPUT, get->path, 0, "`%s` is not %s; is this a result of `cosweep run`?", object,
                  wanted);
    get->failed = true;
}

void *get_alloc(struct get *get, const char *object, int64_t n, size_t size)
{
    int64_t bytes;
    if (get->failed) return NULL;
    if (n < 0 || __builtin_mul_overflow(n, (int64_t)size, &bytes) || bytes > get->room_bytes) {
        get_refuse(get, object, "within the file");
        return NULL;
    }
    get->room_bytes -= bytes;
    return arena_alloc(get->arena, (size_t)n, size);
}

void get_refuse_number(struct get *get, const char *object, int64_t row, double value)
{
    if (!get->failed)
        error_add(get->errors, STATUS_INPUT, get->path, 0,
                  "`%s` is %g in row %" PRId64 ", which no sweep gives; the file was changed, run its study again", object,
                  value, row);
    get->failed = true;
}

/* ---- attributes ------------------------------------------------------------------------------------------------- */

const char *get_text(struct get *get, hid_t at, const char *name)
{
    const char *text = "";
    char *stored = NULL;
    if (get->failed || H5Aexists(at, name) <= 0) return text;
    const hid_t attribute = H5Aopen(at, name, H5P_DEFAULT);
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute), memory_type = store_text_type();
    if (H5Tis_variable_str(type) <= 0 || H5Sget_simple_extent_npoints(space) != 1)
        get_refuse(get, name, "one variable-length text");
    else if (get_check(get, H5Aread(attribute, memory_type, &stored), name) && stored) text = arena_text(get->arena, stored);
    H5free_memory(stored);
    H5Tclose(memory_type);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return text;
}

static void get_numbers(struct get *get, hid_t at, const char *name, hid_t memory_type, int n, void *values)
{
    if (get->failed) return;
    const hid_t attribute = H5Aexists(at, name) > 0 ? H5Aopen(at, name, H5P_DEFAULT) : H5I_INVALID_HID;
    if (attribute < 0) {
        get_refuse(get, name, "there");
        return;
    }
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    const H5T_class_t class = H5Tget_class(type);
    if ((class != H5T_INTEGER && class != H5T_FLOAT) || H5Sget_simple_extent_npoints(space) != n)
        get_refuse(get, name, "the numbers expected");
    else get_check(get, H5Aread(attribute, memory_type, values), name);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
}

int64_t get_whole(struct get *get, hid_t at, const char *name)
{
    int64_t value = 0;
    get_numbers(get, at, name, H5T_NATIVE_INT64, 1, &value);
    return value;
}

void get_reals(struct get *get, hid_t at, const char *name, int n, double *values)
{
    if (n > 0) get_numbers(get, at, name, H5T_NATIVE_DOUBLE, n, values);
}

int get_metrics(struct get *get, hid_t at, const char *name, enum metric *metrics, int most)
{
    const char *text = get_text(get, at, name);
    int n = 0;
    while (*(text += strspn(text, " ")) != '\0' && !get->failed) {
        char word[NAME_CHARS];
        const size_t length = strcspn(text, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        const int code = metric_code(word);
        if (n == most || code < 0) get_refuse(get, name, "a list of known metrics");
        else metrics[n++] = (enum metric)code;
        text += length;
    }
    return n;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

bool get_has(struct get *get, hid_t at, const char *name)
{
    return !get->failed && H5Lexists(at, name, H5P_DEFAULT) > 0;
}

hid_t get_group(struct get *get, hid_t at, const char *name)
{
    if (get->failed) return H5I_INVALID_HID;
    const hid_t group = H5Gopen2(at, name, H5P_DEFAULT);
    get_check(get, group, name);
    return group;
}

void get_group_close(hid_t group)
{
    if (group >= 0) H5Gclose(group);
}

/* ---- datasets --------------------------------------------------------------------------------------------------- */

/* One whose values are in this file: another may be a pipe, which would be waited for.  Invalid after a failure. */
static hid_t open_dataset(struct get *get, hid_t at, const char *name)
{
    const hid_t set = get->failed ? H5I_INVALID_HID : H5Dopen2(at, name, H5P_DEFAULT);
    if (!get_check(get, set, name)) return set;
    const hid_t creation = H5Dget_create_plist(set);
    if (H5Pget_external_count(creation) > 0 || H5Pget_layout(creation) == H5D_VIRTUAL)
        get_refuse(get, name, "within the file");
    H5Pclose(creation);
    if (!get->failed) return set;
    H5Dclose(set);
    return H5I_INVALID_HID;
}

const char *get_long_text(struct get *get, hid_t at, const char *name)
{
    const char *text = "";
    char *stored = NULL;
    const hid_t set = open_dataset(get, at, name);
    if (set < 0) return text;
    const hid_t type = H5Dget_type(set), space = H5Dget_space(set), memory_type = store_text_type();
    if (H5Tis_variable_str(type) <= 0 || H5Sget_simple_extent_npoints(space) != 1)
        get_refuse(get, name, "one variable-length text");
    else if (get_check(get, H5Dread(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &stored), name) && stored)
        text = arena_text(get->arena, stored);
    H5free_memory(stored);
    H5Tclose(memory_type);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(set);
    return text;
}

/* Whether so many bytes can be what is stored of a dataset: a damaged length must not become an allocation. */
static bool is_plausible(const struct get *get, hid_t set, hssize_t n_values, size_t value_bytes)
{
    const hsize_t stored = H5Dget_storage_size(set);
    return stored <= (hsize_t)get->file_bytes && (hsize_t)n_values <= stored * MOST_DEFLATED / value_bytes;
}

/* A dataset of numbers of `rank` dimensions (0 = scalar).  After a failure it may be open all the same. */
static hid_t get_dataset(struct get *get, hid_t at, const char *name, int rank, hsize_t shape[2])
{
    const hid_t set = open_dataset(get, at, name);
    if (set < 0) return set;
    const hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    const H5T_class_t class = H5Tget_class(type);
    if (H5Sget_simple_extent_ndims(space) != rank || (class != H5T_INTEGER && class != H5T_FLOAT))
        get_refuse(get, name, rank == 0 ? "one number" : rank == 1 ? "a column of numbers" : "a table of numbers");
    else if (!is_plausible(get, set, H5Sget_simple_extent_npoints(space), H5Tget_size(type)))
        get_refuse(get, name, "within the file");
    else if (rank > 0) H5Sget_simple_extent_dims(space, shape, NULL);
    H5Sclose(space);
    H5Tclose(type);
    return set;
}

void get_scalar(struct get *get, hid_t at, const char *name, double *value)
{
    const hid_t set = get_dataset(get, at, name, 0, NULL);
    if (!get->failed) get_check(get, H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value), name);
    if (set >= 0) H5Dclose(set);
}

int64_t get_length(struct get *get, hid_t at, const char *name, int64_t most)
{
    hsize_t shape[2] = {0, 0};
    const hid_t set = get_dataset(get, at, name, 1, shape);
    if (!get->failed && (int64_t)shape[0] > (most < MAX_FILE_ROWS ? most : MAX_FILE_ROWS))
        get_refuse(get, name, "of a length this program writes");
    if (set >= 0) H5Dclose(set);
    return get->failed ? 0 : (int64_t)shape[0];
}

/* All of a dataset whose shape must be as given. */
static void *get_values(struct get *get, hid_t at, const char *name, int rank, const int64_t *n, hid_t memory_type)
{
    hsize_t shape[2] = {0, 1};
    void *values = NULL;
    const hid_t set = get_dataset(get, at, name, rank, shape);
    for (int i = 0; i < rank && !get->failed; i++)
        if ((int64_t)shape[i] != n[i]) get_refuse(get, name, "as long as its scales");
    if (!get->failed) {
        values = get_alloc(get, name, (int64_t)(shape[0] * shape[1]), H5Tget_size(memory_type));
        if (values && !get_check(get, H5Dread(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), name)) values = NULL;
    }
    if (set >= 0) H5Dclose(set);
    return values;
}

double *get_column(struct get *get, hid_t at, const char *name, int64_t n)
{
    return get_values(get, at, name, 1, &n, H5T_NATIVE_DOUBLE);
}

int64_t *get_whole_column(struct get *get, hid_t at, const char *name, int64_t n)
{
    return get_values(get, at, name, 1, &n, H5T_NATIVE_INT64);
}

double *get_table(struct get *get, hid_t at, const char *name, const int64_t n[2])
{
    return get_values(get, at, name, 2, n, H5T_NATIVE_DOUBLE);
}

int64_t *get_whole_table(struct get *get, hid_t at, const char *name, const int64_t n[2])
{
    return get_values(get, at, name, 2, n, H5T_NATIVE_INT64);
}

double *get_sizes_table(struct get *get, hid_t at, const char *name, const int64_t n[2], bool may_be_nan)
{
    double *const values = get_table(get, at, name, n);
    for (int64_t i = 0; values && i < n[0] * n[1]; i++)
        if (isnan(values[i]) ? !may_be_nan : !isfinite(values[i]) || values[i] < 0)
            get_refuse_number(get, name, i / n[1], values[i]);
    return get->failed ? NULL : values;
}

double *get_sizes(struct get *get, hid_t at, const char *name, int64_t n)
{
    double *const values = get_column(get, at, name, n);
    for (int64_t i = 0; values && i < n; i++)
        if (!isfinite(values[i]) || values[i] < 0) get_refuse_number(get, name, i, values[i]);
    return get->failed ? NULL : values;
}

int64_t *get_counts(struct get *get, hid_t at, const char *name, int64_t n)
{
    int64_t *const values = get_whole_column(get, at, name, n);
    for (int64_t i = 0; values && i < n; i++)
        if (values[i] < 0) get_refuse_number(get, name, i, (double)values[i]);
    return get->failed ? NULL : values;
}

int32_t *get_code_table(struct get *get, hid_t at, const char *name, const int64_t n[2], int n_codes)
{
    int32_t *const codes = get_values(get, at, name, 2, n, H5T_NATIVE_INT32);
    for (int64_t i = 0; codes && !get->failed && i < n[0] * n[1]; i++)
        if (codes[i] < 0 || codes[i] >= n_codes) get_refuse(get, name, "a table of known codes");
    return get->failed ? NULL : codes;
}
