/* store_get: attributes, groups and datasets out of a result file, which may be anything: shapes, types and lengths are
 * checked before use, and nothing is allocated that the file cannot hold.
 *
 * Failure is sticky, as in the writer: the first is reported, the rest is skipped. */
#ifndef COSWEEP_IO_STORE_GET_H
#define COSWEEP_IO_STORE_GET_H

#include "io/store.h"

struct get {
    const char *path;
    struct arena *arena; /* of all that is returned */
    struct errors *errors;
    int64_t file_bytes;
    int64_t room_bytes; /* that may still be allocated */
    bool failed;
};
enum { GET_ROOM_TIMES_FILE = 64, GET_ROOM_BYTES = 32000000 };
/* n objects of `size` bytes for what is in the file, NULL and a refusal of `object` where the file is too small for so many:
 * a damaged length, or zeros packed tight, must not become an allocation. */
void *get_alloc(struct get *get, const char *object, int64_t n, size_t size);
/* Note the failure of an HDF5 call (a negative status).  Returns whether all went well so far. */
bool get_check(struct get *get, hid_t status, const char *object);
/* The object is there but is not what this program writes: "`object` is not WANTED; ...". */
void get_refuse(struct get *get, const char *object, const char *wanted);

/* A number of an object that it cannot have, at a row of the table: "`latency` is nan in row 3; ...". */
void get_refuse_number(struct get *get, const char *object, int64_t row, double value);

/* ---- attributes ------------------------------------------------------------------------------------------------- */

const char *get_text(struct get *get, hid_t at, const char *name); /* "" where there is none */
/* Of one or more numbers; a missing attribute is refused. */
int64_t get_whole(struct get *get, hid_t at, const char *name);
void get_reals(struct get *get, hid_t at, const char *name, int n, double *values);
/* Metric names with spaces between.  Returns how many. */
int get_metrics(struct get *get, hid_t at, const char *name, enum metric *metrics, int most);

/* ---- groups and datasets ---------------------------------------------------------------------------------------- */

bool get_has(struct get *get, hid_t at, const char *name);
hid_t get_group(struct get *get, hid_t at, const char *name);
void get_group_close(hid_t group);
/* The text of a scalar dataset. */
const char *get_long_text(struct get *get, hid_t at, const char *name);
void get_scalar(struct get *get, hid_t at, const char *name, double *value);
/* Length of a column, from 0 to `most`; 0 after a failure. */
int64_t get_length(struct get *get, hid_t at, const char *name, int64_t most);
/* A column of n, or a row-major table of n[0] x n[1]: NULL after a failure. */
double *get_column(struct get *get, hid_t at, const char *name, int64_t n);
int64_t *get_whole_column(struct get *get, hid_t at, const char *name, int64_t n);
double *get_table(struct get *get, hid_t at, const char *name, const int64_t n[2]);
int64_t *get_whole_table(struct get *get, hid_t at, const char *name, const int64_t n[2]);
/* Columns and tables of finite numbers of at least 0; or NaN where there is none. */
double *get_sizes(struct get *get, hid_t at, const char *name, int64_t n);
double *get_sizes_table(struct get *get, hid_t at, const char *name, const int64_t n[2], bool may_be_nan);
int64_t *get_counts(struct get *get, hid_t at, const char *name, int64_t n);
/* A table of codes from 0 to n_codes - 1. */
int32_t *get_code_table(struct get *get, hid_t at, const char *name, const int64_t n[2], int n_codes);

/* ---- contents ---------------------------------------------------------------------------------------------------- */

/* Whether those columns of row i can be what a sweep gives. */
void get_row_check(struct get *get, const struct result_row *row, int64_t i, int from, int to);
/* Columns [from, to) of row_column() of n rows. */
void get_rows(struct get *get, hid_t at, struct result_row *rows, int64_t n, int from, int to);
void get_pareto(struct get *get, hid_t at, struct result_scenario *scenario);
/* A group that is not there was not asked for. */
void get_population(struct get *get, hid_t at, struct result_scenario *scenario);
void get_sensitivity(struct get *get, hid_t at, const struct result *result, struct result_scenario *scenario);
void get_joint(struct get *get, hid_t file, struct result *result);
void get_rounds(struct get *get, hid_t file, struct result *result);

#endif
