/* The columns of a stored row, driven by the tables of knobs and metrics (DESIGN section 4). */
#include "cosweep/io.h"

#include <assert.h>
#include <string.h>

enum { FIRST_METRIC = 2 + N_KNOBS, FIRST_MEMORY = FIRST_METRIC + N_METRICS };

#define AT(member) offsetof(struct result_row, member)
/* total_bytes sums the three parts where they stand. */
_Static_assert(AT(kv_bytes) == AT(weight_bytes) + 8 && AT(activation_bytes) == AT(weight_bytes) + 16, "parts are adjacent");

static const struct row_column columns[N_ROW_COLUMNS] = {
    {"id", "candidate: a mixed-radix number over the knobs of the study", DIM_COUNT, "", AT(id), true, 1},
    {"n_equal", "candidates with exactly these objectives, this one included", DIM_COUNT, "", AT(n_equal), true, 1},
#define X(member, path, dimension, low, high, words, meaning)                                                               \
    {#member, meaning, DIM_##dimension, words, AT(plan.member), true, 1},
    PLAN_KNOBS(X)
#undef X
#define X(member, path, group, dimension, low, high, words, meaning)                                                        \
    {#member, meaning, DIM_##dimension, words, AT(hardware.member), false, 1},
        HARDWARE_KNOBS(X)
#undef X
#define X(code, name, dimension, better, of, equation, meaning)                                                             \
    {name, meaning, DIM_##dimension, "", AT(metric[METRIC_##code]), false, 1},
            METRICS(X)
#undef X
                {"weights_bytes", "weights on the fullest PE", DIM_BYTES, "", AT(weight_bytes), false, 1},
    {"kv_bytes", "KV cache on the fullest PE", DIM_BYTES, "", AT(kv_bytes), false, 1},
    {"activation_bytes", "activations on the fullest PE", DIM_BYTES, "", AT(activation_bytes), false, 1},
    {"total_bytes", "memory of the fullest PE", DIM_BYTES, "", AT(weight_bytes), false, 3},
};
_Static_assert(FIRST_MEMORY + 4 == N_ROW_COLUMNS, "every column is counted");

const struct row_column *row_column(int i)
{
    assert(i >= 0 && i < N_ROW_COLUMNS);
    return &columns[i];
}

double row_value(const struct result_row *row, const struct row_column *column)
{
    const char *const at = (const char *)row + column->offset;
    double value = 0;
    if (column->whole) {
        int64_t whole;
        memcpy(&whole, at, sizeof whole);
        return (double)whole;
    }
    for (int i = 0; i < column->n_summed; i++) {
        double part;
        memcpy(&part, at + (size_t)i * sizeof part, sizeof part);
        value += part;
    }
    return value;
}
