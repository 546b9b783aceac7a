/* store: the result file's vocabulary, shared by its writers and readers (DESIGN section 4).
 *
 * The only file that sees HDF5.  Readers dictate the form: fixed-length string datasets abort netCDF4, scales on a null
 * dataspace crash it and ncdump, and h5netcdf refuses datasets without scales.  So: numbers in 1-D and 2-D datasets on
 * dimension scales of their own group, scalars without, and variable-length UTF-8 strings as attributes and for /study.
 *
 *     store_write.c, store_read.c     the file, its root and scenarios
 *     store_rows.c                    rows of a Pareto set                    each of these
 *     store_population.c              main effects, histograms, sample        writes and reads
 *     store_sensitivity.c             doubling, elasticity, curves            its groups
 *     store_joint.c                   the joint front, rounds
 *     store_put.c, store_get.c        attributes, groups, datasets */
#ifndef COSWEEP_IO_STORE_H
#define COSWEEP_IO_STORE_H

#include <hdf5.h>
#include <hdf5_hl.h>

#include "cosweep/io.h"

#define STORE_FORMAT "cosweep result"
enum { STORE_FORMAT_VERSION = 1, STORE_MAX_SCENARIOS = 10000, STORE_MAX_ROUNDS = 1000 };

/* Text attributes of the root.  X(attribute, member of struct result) */
#define STORE_TEXTS(X)                                                                                                      \
    X("title", study_name) X("created", created) X("program", program) X("revision", revision) X("compiler", compiler)      \
    X("flags", flags) X("simd", simd)

/* Words of the root's attribute `search`. */
extern const char *const store_search_name[2];

/* Text and whole-number attributes of a scenario.  X(attribute, member of struct result_scenario) */
#define STORE_SCENARIO_TEXTS(X) X("model", model) X("phase", phase) X("warnings", warnings)
#define STORE_SCENARIO_COUNTS(X)                                                                                            \
    X("candidates_raw", n_raw) X("candidates", n_distinct) X("feasible", n_feasible) X("evaluated", n_evaluated)            \
    X("best_row", best)

/* Scalar datasets of /performance.  X(dataset, member of struct performance, C type, dimension, meaning) */
#define STORE_PERFORMANCE(X)                                                                                                \
    X("wall", wall_s, double, SECONDS, "whole run")                                                                         \
    X("sweep", sweep_s, double, SECONDS, "evaluation of all candidates")                                                    \
    X("reduce", reduce_s, double, SECONDS, "merge over threads and ranks")                                                  \
    X("candidates_per_s", candidates_per_s, double, PER_S, "candidates evaluated per second of the sweep")                  \
    X("imbalance", imbalance, double, NUMBER, "threads times sweep time over the time threads had work; 1 is ideal")        \
    X("ranks", n_ranks, int, COUNT, "MPI ranks")                                                                            \
    X("threads", n_threads, int, COUNT, "threads per rank")

/* Where the parts of a stored row begin among row_column(). */
enum {
    COLUMN_ID,
    COLUMN_N_EQUAL,
    COLUMN_PLAN,
    COLUMN_HARDWARE = COLUMN_PLAN + N_PLAN_KNOBS,
    COLUMN_METRIC = COLUMN_PLAN + N_KNOBS,
};

/* Words "a|b|c" of the codes of refusals: the reasons, then limit_<metric> of every limit. */
enum { STORE_WORDS_CHARS = 2048 };
char *store_reason_words(char words[STORE_WORDS_CHARS], const struct result *result);

/* Type in the file: little-endian everywhere, so that equal results are equal bytes. */
static inline hid_t store_type(enum dimension dimension)
{
    if (dimension == DIM_CODE || dimension == DIM_BOOL)
        return H5T_STD_I32LE;
    return dimension == DIM_COUNT ? H5T_STD_I64LE : H5T_IEEE_F64LE;
}

/* Keep the library from printing; call before any other call. */
void store_quiet(void);
/* Add "path: cannot VERB `object`: what the library says", and clear its error stack.  Returns -1. */
int store_fail(struct errors *errors, int code, const char *path, const char *verb, const char *object);
/* A variable-length UTF-8 string type; close it with H5Tclose. */
hid_t store_text_type(void);

#endif
