/* store_put: attributes, groups and datasets into a result file (DESIGN section 4).
 *
 * Failure is sticky: after the first that fails every later call does nothing, and result_write looks once at the end. */
#ifndef COSWEEP_IO_STORE_PUT_H
#define COSWEEP_IO_STORE_PUT_H

#include "io/store.h"

struct put {
    const char *path; /* final name, for messages */
    struct errors *errors;
    bool failed;
};
/* Note the failure of an HDF5 call (a negative status).  Returns whether all went well so far. */
bool put_check(struct put *put, hid_t status, const char *object);
/* malloc that notes failure, never of 0 bytes; freed by the caller. */
void *put_buffer(struct put *put, size_t n, size_t size);

/* ---- attributes ------------------------------------------------------------------------------------------------- */

void put_text(struct put *put, hid_t at, const char *name, const char *text); /* none where the text is empty */
void put_whole(struct put *put, hid_t at, const char *name, int64_t value);
void put_reals(struct put *put, hid_t at, const char *name, int n, const double *values); /* none where n = 0 */
/* Metric names with spaces between. */
void put_metrics(struct put *put, hid_t at, const char *name, int n, const enum metric *metrics);

/* ---- groups and datasets ---------------------------------------------------------------------------------------- */

/* Listed in the order in which they were made.  An invalid id after a failure. */
hid_t put_group(struct put *put, hid_t at, const char *name);
void put_group_close(struct put *put, hid_t group, const char *name);

/* What a dataset is, for the readers.  An empty meaning is our mistake. */
struct about {
    const char *name;
    hid_t file_type, memory_type;
    const char *units, *meaning, *words; /* words "a|b|c" of codes, else "" */
};
struct about about_column(const char *name, enum dimension dimension, hid_t memory_type, const char *meaning,
                          const char *words);
void put_scalar(struct put *put, hid_t at, const struct about *about, const void *value);
/* A dimension scale of n values, or of 0..n-1 (int64_t) where `values` is NULL; open while datasets are put on it. */
hid_t put_scale(struct put *put, hid_t at, const struct about *about, int64_t n, const void *values);
void put_scale_close(struct put *put, hid_t scale, const char *name);
/* A scale `row` of 0..n-1. */
hid_t put_row_scale(struct put *put, hid_t at, int64_t n, const char *meaning);
/* A column on one scale of n, and a row-major table on two scales of n[0], n[1]. */
void put_column(struct put *put, hid_t at, const struct about *about, int64_t n, const void *values, hid_t scale);
void put_table(struct put *put, hid_t at, const struct about *about, const int64_t n[2], const void *values,
               const hid_t scales[2]);
/* A column in parts: empty and open (a scale itself where `scale` is invalid), then values at [from, from + n). */
hid_t put_open_column(struct put *put, hid_t at, const struct about *about, int64_t n, hid_t scale);
void put_part(struct put *put, hid_t column, const struct about *about, int64_t from, int64_t n, const void *values);

/* ---- contents ---------------------------------------------------------------------------------------------------- */

/* Columns [from, to) of row_column() of rows on a scale. */
void put_rows(struct put *put, hid_t at, const struct result_row *rows, int64_t n, int from, int to, hid_t scale);
void put_pareto(struct put *put, hid_t at, const struct result_scenario *scenario);
/* What was not asked for (NULL, 0) leaves no group. */
void put_population(struct put *put, hid_t at, const struct result_scenario *scenario);
void put_full(struct put *put, hid_t at, const struct full_source *source);
void put_sensitivity(struct put *put, hid_t at, const struct result *result, const struct result_scenario *scenario);
void put_joint(struct put *put, hid_t file, const struct result *result);
void put_rounds(struct put *put, hid_t file, const struct result *result);

#endif
