/* full/: every feasible candidate, written as it comes, in order of id. */
#include "io/store_put.h"
#include <inttypes.h>
#include <stdlib.h>

enum { FIRST_METRIC_COLUMN = 2, N_FULL_COLUMNS = FIRST_METRIC_COLUMN + N_METRICS }; /* row, id, metrics */

static void describe(struct about about[N_FULL_COLUMNS])
{
    about[0] = about_column("row", DIM_COUNT, H5T_NATIVE_INT64, "feasible candidates, by id", "");
    about[1] = about_column("id", DIM_COUNT, H5T_NATIVE_INT64, row_column(COLUMN_ID)->meaning, "");
    for (int m = 0; m < N_METRICS; m++)
        about[FIRST_METRIC_COLUMN + m] =
            about_column(metric_facts[m].name, metric_facts[m].dimension, H5T_NATIVE_DOUBLE, metric_facts[m].meaning, "");
}

static void put_block(struct put *put, const hid_t column[], const struct about about[], const struct full_block *block,
                      int64_t from)
{
    int64_t *const row = put_buffer(put, (size_t)block->n, sizeof *row);
    for (int64_t i = 0; row && i < block->n; i++) row[i] = from + i;
    put_part(put, column[0], &about[0], from, block->n, row);
    put_part(put, column[1], &about[1], from, block->n, block->id);
    for (int m = 0; m < N_METRICS; m++)
        put_part(put, column[FIRST_METRIC_COLUMN + m], &about[FIRST_METRIC_COLUMN + m], from, block->n, block->metric[m]);
    free(row);
}

void put_full(struct put *put, hid_t at, const struct full_source *source)
{
    struct about about[N_FULL_COLUMNS];
    hid_t column[N_FULL_COLUMNS];
    int64_t written = 0;
    if (!source->full || put->failed) return;
    const hid_t group = put_group(put, at, "full");
    describe(about);
    for (int c = 0; c < N_FULL_COLUMNS; c++)
        column[c] = put_open_column(put, group, &about[c], source->n, c == 0 ? H5I_INVALID_HID : column[0]);
    for (const struct full_block *block; !put->failed && (block = source->next(source->full)) != NULL; written += block->n) {
        if (written + block->n > source->n) break;
        put_block(put, column, about, block, written);
    }
    if (!put->failed && written != source->n && source->stopped && source->stopped()) {
        put->failed = true;
        error_add(put->errors, STATUS_STOPPED, put->path, 0,
                  "stopped after %" PRId64 " of %" PRId64
                  " rows of population.full; the sweep is saved in the checkpoint: the "
                  "same command with --resume writes them again from the first",
                  written, source->n);
    }
    if (!put->failed && written != source->n) {
        put->failed = true;
        error_add(put->errors, STATUS_SYSTEM, put->path, 0,
                  "full: %" PRId64 " candidates came where the sweep counted %" PRId64
                  "; this is a defect of the program, please report the study",
                  written, source->n);
    }
    for (int c = N_FULL_COLUMNS - 1; c >= 0; c--) put_scale_close(put, column[c], about[c].name);
    put_group_close(put, group, "full");
}
