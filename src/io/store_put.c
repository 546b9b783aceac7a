/* Attributes, groups and datasets into a result file. */
#include "io/store_put.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool put_check(struct put *put, hid_t status, const char *object)
{
    if (status < 0 && !put->failed) {
        put->failed = true;
        store_fail(put->errors, STATUS_SYSTEM, put->path, "write", object);
    }
    return !put->failed;
}

void *put_buffer(struct put *put, size_t n, size_t size)
{
    void *const buffer = calloc(n + 1, size);
    if (!buffer && !put->failed) {
        put->failed = true;
        error_add(put->errors, STATUS_SYSTEM, put->path, 0, "no memory for a column of %zu values", n);
    }
    return buffer;
}

/* ---- attributes ------------------------------------------------------------------------------------------------- */

static void put_attribute(struct put *put, hid_t at, const char *name, hid_t file_type, hid_t memory_type, hsize_t n,
                          const void *value)
{
    if (put->failed) return;
    const hid_t space = n == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &n, NULL);
    const hid_t attribute = H5Acreate2(at, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (put_check(put, attribute, name)) {
        put_check(put, H5Awrite(attribute, memory_type, value), name);
        put_check(put, H5Aclose(attribute), name);
    }
    H5Sclose(space);
}

/* An empty text has no attribute: some readers cannot tell an empty variable-length string from a missing one. */
void put_text(struct put *put, hid_t at, const char *name, const char *text)
{
    if (text[0] == '\0') return;
    const hid_t type = store_text_type();
    put_attribute(put, at, name, type, type, 1, &text);
    H5Tclose(type);
}

void put_whole(struct put *put, hid_t at, const char *name, int64_t value)
{
    put_attribute(put, at, name, H5T_STD_I64LE, H5T_NATIVE_INT64, 1, &value);
}

void put_reals(struct put *put, hid_t at, const char *name, int n, const double *values)
{
    if (n > 0) put_attribute(put, at, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, (hsize_t)n, values);
}

void put_metrics(struct put *put, hid_t at, const char *name, int n, const enum metric *metrics)
{
    char text[MAX_LIMITS * NAME_CHARS] = "";
    size_t length = 0;
    for (int i = 0; i < n; i++)
        length +=
            (size_t)snprintf(text + length, sizeof text - length, "%s%s", i > 0 ? " " : "", metric_facts[metrics[i]].name);
    assert(length < sizeof text);
    put_text(put, at, name, text);
}

/* Codes 0..n-1 mean the words of "a|b|c" (CF conventions, section 3.5). */
static void put_flags(struct put *put, hid_t at, const char *words)
{
    char meanings[STORE_WORDS_CHARS];
    int values[256], n = 0;
    if (words[0] == '\0') return;
    assert(strlen(words) < sizeof meanings);
    snprintf(meanings, sizeof meanings, "%s", words);
    values[n++] = 0;
    for (char *bar = meanings; (bar = strchr(bar, '|')) != NULL && n < 256; n++) {
        *bar = ' ';
        values[n] = n;
    }
    put_attribute(put, at, "flag_values", H5T_STD_I32LE, H5T_NATIVE_INT, (hsize_t)n, values);
    put_text(put, at, "flag_meanings", meanings);
}

enum { PART_VALUES = 65536 }; /* of a column that is written in parts */

/* ---- groups and datasets ---------------------------------------------------------------------------------------- */

/* Links in the order they were made, so that listings read like DESIGN section 4. */
hid_t put_group(struct put *put, hid_t at, const char *name)
{
    if (put->failed) return H5I_INVALID_HID;
    const hid_t properties = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_link_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    H5Pset_obj_track_times(properties, false);
    const hid_t group = H5Gcreate2(at, name, H5P_DEFAULT, properties, H5P_DEFAULT);
    put_check(put, group, name);
    H5Pclose(properties);
    return group;
}

void put_group_close(struct put *put, hid_t group, const char *name)
{
    if (group >= 0) put_check(put, H5Gclose(group), name);
}

struct about about_column(const char *name, enum dimension dimension, hid_t memory_type, const char *meaning,
                          const char *words)
{
    return (struct about){name, store_type(dimension), memory_type, unit_name(dimension), meaning, words};
}

/* Returns the open dataset, or an invalid one after a failure.  Without values it is chunked, to be filled in parts. */
static hid_t put_dataset(struct put *put, hid_t at, const struct about *about, int rank, const int64_t *n,
                         const void *values)
{
    hsize_t shape[2] = {0, 0};
    assert(about->meaning[0] != '\0' && about->units[0] != '\0' && rank <= 2);
    if (put->failed) return H5I_INVALID_HID;
    for (int i = 0; i < rank; i++) shape[i] = (hsize_t)n[i];
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, shape, NULL);
    H5Pset_obj_track_times(properties, false);
    const hsize_t chunk = shape[0] < PART_VALUES ? shape[0] : PART_VALUES;
    if (!values && rank == 1 && chunk > 0) H5Pset_chunk(properties, 1, &chunk);
    const hid_t set = H5Dcreate2(at, about->name, about->file_type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    if (put_check(put, set, about->name)) {
        if (values) put_check(put, H5Dwrite(set, about->memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), about->name);
        put_text(put, set, "units", about->units);
        put_text(put, set, "long_name", about->meaning);
        put_flags(put, set, about->words);
    }
    H5Sclose(space);
    H5Pclose(properties);
    return set;
}

void put_scalar(struct put *put, hid_t at, const struct about *about, const void *value)
{
    put_scale_close(put, put_dataset(put, at, about, 0, NULL, value), about->name);
}

hid_t put_scale(struct put *put, hid_t at, const struct about *about, int64_t n, const void *values)
{
    int64_t *index = NULL;
    hid_t scale = H5I_INVALID_HID;
    if (!values) {
        index = put_buffer(put, (size_t)n, sizeof *index);
        for (int64_t i = 0; index && i < n; i++) index[i] = i;
    }
    scale = put_dataset(put, at, about, 1, &n, values ? values : index);
    if (scale >= 0) put_check(put, H5DSset_scale(scale, about->name), about->name);
    free(index);
    return scale;
}

void put_scale_close(struct put *put, hid_t scale, const char *name)
{
    if (scale >= 0) put_check(put, H5Dclose(scale), name);
}

hid_t put_row_scale(struct put *put, hid_t at, int64_t n, const char *meaning)
{
    const struct about about = about_column("row", DIM_COUNT, H5T_NATIVE_INT64, meaning, "");
    return put_scale(put, at, &about, n, NULL);
}

static void put_on_scales(struct put *put, hid_t at, const struct about *about, int rank, const int64_t *n,
                          const void *values, const hid_t *scales)
{
    const hid_t set = put_dataset(put, at, about, rank, n, values);
    for (unsigned i = 0; set >= 0 && i < (unsigned)rank && !put->failed; i++)
        put_check(put, H5DSattach_scale(set, scales[i], i), about->name);
    put_scale_close(put, set, about->name);
}

void put_column(struct put *put, hid_t at, const struct about *about, int64_t n, const void *values, hid_t scale)
{
    put_on_scales(put, at, about, 1, &n, values, &scale);
}

hid_t put_open_column(struct put *put, hid_t at, const struct about *about, int64_t n, hid_t scale)
{
    const hid_t set = put_dataset(put, at, about, 1, &n, NULL);
    if (set >= 0)
        put_check(put, scale >= 0 ? H5DSattach_scale(set, scale, 0) : H5DSset_scale(set, about->name), about->name);
    return set;
}

void put_part(struct put *put, hid_t column, const struct about *about, int64_t from, int64_t n, const void *values)
{
    if (put->failed || n == 0) return;
    const hid_t file_space = H5Dget_space(column), memory_space = H5Screate_simple(1, &(hsize_t){(hsize_t)n}, NULL);
    H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &(hsize_t){(hsize_t)from}, NULL, &(hsize_t){(hsize_t)n}, NULL);
    put_check(put, H5Dwrite(column, about->memory_type, memory_space, file_space, H5P_DEFAULT, values), about->name);
    H5Sclose(memory_space);
    H5Sclose(file_space);
}

void put_table(struct put *put, hid_t at, const struct about *about, const int64_t n[2], const void *values,
               const hid_t scales[2])
{
    put_on_scales(put, at, about, 2, n, values, scales);
}
