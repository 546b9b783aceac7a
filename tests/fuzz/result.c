/* A result that HDF5 itself can open, and that is wrong all the same: the input is a list of edits of a good one (objects
 * that miss, other types and shapes, links in circles, values out of range, another study).  Then what a user does with a
 * result. Bytes that make HDF5 stumble are bytes.py's. */
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"
#include "io/store_probe.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char study_text[] =
    "study: base\n"
    "scenarios:\n"
    "  - {name: a, phase: decode, past_tokens: 99, model: {name: m, layers: 2, hidden: 64, heads: 2, kv_heads: 1,\n"
    "     head_dim: 32, ffn: 64, vocab: 100, gated: true}}\n"
    "plan: {tp: [1, 2, 4]}\n" /* 4 is more than there are heads */
    "hardware: {pe: {flops: [1 TFLOP/s, 2 TFLOP/s]}}\n"
    "limits: {pes: 1000}\n"
    "population: {sample: 3, histograms: [[latency, cost]]}\n"
    "sensitivity: {parallelism: {tp: 2}}\n"
    "joint: {against: [cost]}\n";

enum { MOST_OBJECTS = 512, MOST_EDITS = 12 };

/* The good result: its bytes, and where edits can go. */
static struct {
    char path[FUZZ_PATH_CHARS];
    uint8_t *bytes;
    size_t n_bytes;
    int n;
    char *object[MOST_OBJECTS];
} base;

static herr_t note_object(hid_t file, const char *name, const H5O_info_t *facts, void *unused)
{
    (void)file, (void)facts, (void)unused;
    if (base.n < MOST_OBJECTS) base.object[base.n++] = strdup(name);
    return 0;
}

static void base_make(void)
{
    static struct errors errors;
    static struct study study;
    static struct result result;
    struct arena arena = {0};
    struct stat facts;
    const struct run_options options = {.progress = PROGRESS_NONE};
    fuzz_place(base.path, "base.h5");
    if (study_parse(&study, study_text, "base", &arena, &errors) != 0 ||
        run_study(&result, &study, &options, (struct ranks){0, 1}, &arena, &errors) != 0)
        fuzz_fail("%s", errors.item[0].message);
    snprintf(result.created, sizeof result.created, "2020-01-01T00:00:00Z"); /* the same bytes in every run */
    memset(&result.performance, 0, sizeof result.performance);
    result.revision[0] = result.flags[0] = '\0';
    if (result_write(&result, base.path, &errors) != 0) fuzz_fail("%s", errors.item[0].message);
    arena_free(&arena);
    FILE *const from = fopen(base.path, "rb");
    if (!from || stat(base.path, &facts) != 0) fuzz_fail("%s: cannot be read", base.path);
    base.n_bytes = (size_t)facts.st_size;
    base.bytes = malloc(base.n_bytes);
    if (fread(base.bytes, 1, base.n_bytes, from) != base.n_bytes) fuzz_fail("%s: cannot be read", base.path);
    fclose(from);
    const hid_t file = H5Fopen(base.path, H5F_ACC_RDONLY, H5P_DEFAULT);
    H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, note_object, NULL);
    H5Fclose(file);
}

/* ---- edits -------------------------------------------------------------------------------------------------------- */

static void set_element(hid_t object, struct fuzz_input *input)
{
    const hid_t space = H5Dget_space(object);
    const hssize_t n = H5Sget_simple_extent_npoints(space);
    const uint64_t bits = fuzz_take(input, 8);
    const hid_t type = fuzz_take(input, 1) % 2 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
    const hid_t stored = H5Dget_type(object);
    const H5T_class_t class = H5Tget_class(stored);
    if (n > 0 && n < 10000 && (class == H5T_INTEGER || class == H5T_FLOAT)) {
        uint64_t *const values = calloc((size_t)n, sizeof *values);
        H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
        values[fuzz_take(input, 1) % (uint64_t)n] = bits;
        H5Dwrite(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
        free(values);
    }
    H5Tclose(stored);
    H5Sclose(space);
}

static hid_t any_type(struct fuzz_input *input)
{
    hid_t type;
    switch (fuzz_take(input, 1) % 8) {
    case 0: return H5Tcopy(H5T_STD_I8LE);
    case 1: return H5Tcopy(H5T_STD_I64LE);
    case 2: return H5Tcopy(H5T_IEEE_F64LE);
    case 3: return H5Tcopy(H5T_STD_U64BE);
    case 4:
        type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, 1 + fuzz_take(input, 1));
        return type;
    case 5:
        type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, H5T_VARIABLE);
        return type;
    case 6: return H5Tvlen_create(H5T_STD_I32LE);
    default:
        type = H5Tcreate(H5T_COMPOUND, 16);
        H5Tinsert(type, "a", 0, H5T_STD_I64LE);
        return type;
    }
}

static hid_t any_space(struct fuzz_input *input)
{
    static const hsize_t sizes[] = {0, 1, 2, 3, 4, 23, 1000, 1000000, 1000000000, (hsize_t)1 << 62};
    hsize_t shape[3];
    const int rank = (int)(fuzz_take(input, 1) % 5);
    for (int i = 0; i < 3; i++) shape[i] = sizes[fuzz_take(input, 1) % 10];
    return rank == 0 ? H5Screate(H5S_SCALAR) : rank == 4 ? H5Screate(H5S_NULL) : H5Screate_simple(rank, shape, NULL);
}

/* Another dataset in place of an object; unwritten, so that a large one takes no room. */
static void replace(hid_t file, const char *name, struct fuzz_input *input)
{
    const hsize_t chunk[3] = {100, 10, 10};
    const hid_t type = any_type(input), space = any_space(input), properties = H5Pcreate(H5P_DATASET_CREATE);
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank > 0 && fuzz_take(input, 1) % 2) {
        H5Pset_chunk(properties, rank, chunk);
        H5Pset_deflate(properties, 9);
    }
    H5Ldelete(file, name, H5P_DEFAULT);
    const hid_t made = H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    if (made >= 0) {
        /* Zeros deflate well: what is a small file may be a large table. */
        const hssize_t n = H5Sget_simple_extent_npoints(space);
        if (n > 0 && n <= 1000000 && H5Tget_size(type) <= 8 && H5Tget_class(type) <= H5T_FLOAT) {
            void *const zeros = calloc((size_t)n, 8);
            H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros);
            free(zeros);
        }
        H5Dclose(made);
    }
    H5Pclose(properties);
    H5Sclose(space);
    H5Tclose(type);
}

/* A text of some bytes of the input, or a number, or several, in place of an attribute. */
static void set_attribute(hid_t object, struct fuzz_input *input)
{
    static const char *const names[] = {
        "format",  "format_version", "title",   "created", "program",        "study_hash", "search",         "objectives",
        "limits",  "limit_values",   "model",   "phase",   "warnings",       "candidates", "feasible",       "best_row",
        "metrics", "metric",         "against", "weights", "variance_share", "units",      "candidates_raw", "evaluated"};
    const char *const name = names[fuzz_take(input, 1) % (sizeof names / sizeof names[0])];
    const uint64_t what = fuzz_take(input, 1) % 4;
    H5Adelete(object, name);
    if (what == 0) return;
    hsize_t n = what == 3 ? 1 + fuzz_take(input, 1) % 20 : 1;
    const hid_t type = what == 1 ? H5Tcopy(H5T_C_S1) : what == 2 ? H5Tcopy(H5T_STD_I64LE) : any_type(input);
    const hid_t space = n == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &n, NULL);
    if (what == 1) H5Tset_size(type, H5T_VARIABLE);
    const hid_t made = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    char text[256] = "";
    const char *pointer = text;
    if (what == 1) {
        for (size_t i = 0, length = fuzz_take(input, 1); i < length && i < sizeof text - 1; i++)
            text[i] = (char)fuzz_take(input, 1);
        H5Awrite(made, type, &pointer);
    } else if (what == 2) {
        const uint64_t value = fuzz_take(input, 8);
        H5Awrite(made, type, &value);
    }
    H5Aclose(made);
    H5Sclose(space);
    H5Tclose(type);
}

static void set_study(hid_t file, struct fuzz_input *input)
{
    const hid_t set = H5Dopen2(file, "study", H5P_DEFAULT), type = H5Tcopy(H5T_C_S1);
    char text[4096] = "", *pointer = text, *stored = NULL;
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    if (H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &stored) >= 0 && stored) snprintf(text, sizeof text, "%s", stored);
    H5free_memory(stored);
    const size_t at = fuzz_take(input, 2) % (strlen(text) + 1), n = fuzz_take(input, 1) % 64;
    for (size_t i = at; i < at + n && i < sizeof text - 1; i++) text[i] = (char)fuzz_take(input, 1);
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &pointer);
    H5Tclose(type);
    H5Dclose(set);
}

static void edit(const char *path, struct fuzz_input *input)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    for (int n = 0; n < MOST_EDITS && input->n > 0; n++) {
        const uint64_t what = fuzz_take(input, 1) % 8;
        const char *const name = base.object[fuzz_take(input, 2) % (uint64_t)base.n];
        const char *const other = base.object[fuzz_take(input, 2) % (uint64_t)base.n];
        const hid_t object = H5Oopen(file, name, H5P_DEFAULT);
        if (what == 0 && object >= 0 && H5Iget_type(object) == H5I_DATASET) set_element(object, input);
        else if (what == 1 && object >= 0) set_attribute(object, input);
        else if (what == 2) replace(file, name, input);
        else if (what == 3) H5Ldelete(file, name, H5P_DEFAULT);
        else if (what == 4) H5Lmove(file, name, file, other, H5P_DEFAULT, H5P_DEFAULT);
        else if (what == 5 && H5Ldelete(file, other, H5P_DEFAULT) >= 0)
            H5Lcreate_hard(file, name, file, other, H5P_DEFAULT, H5P_DEFAULT);
        else if (what == 6 && H5Ldelete(file, other, H5P_DEFAULT) >= 0)
            H5Lcreate_soft(name, file, other, H5P_DEFAULT, H5P_DEFAULT);
        else if (what == 7) set_study(file, input);
        if (object >= 0) H5Oclose(object);
    }
    if (file >= 0) H5Fclose(file);
}

/* ---- use ---------------------------------------------------------------------------------------------------------- */

static void use(const char *path, uint64_t how)
{
    static const struct {
        const struct command *command;
        int n;
        const char *argument[6]; /* "" the file, "base" the good one */
    } uses[] = {
        {&command_show, 1, {""}},
        {&command_show, 4, {"", "--csv", "--columns", "all"}},
        {&command_show, 2, {"", "--json"}},
        {&command_explain, 4, {"", "--row", "all", "--json"}},
        {&command_explain, 3, {"", "--row", "best"}},
        {&command_explain, 5, {"", "--row", "0", "--sharding", "--formulas"}},
        {&command_export, 3, {"", "--row", "best"}},
        {&command_compare, 2, {"", "base"}},
        {&command_compare, 3, {"base", "", "--json"}},
        {&command_compare, 3, {"base", "", "--candidates"}},
    };
    const size_t u = how % (sizeof uses / sizeof uses[0]);
    const char *arguments[6] = {0}, *output;
    for (int i = 0; i < uses[u].n; i++) {
        const char *const argument = uses[u].argument[i];
        arguments[i] = argument[0] == '\0' ? path : strcmp(argument, "base") == 0 ? base.path : argument;
    }
    const int code = fuzz_command(uses[u].command, uses[u].n, arguments, &output);
    if (code != STATUS_DONE && code != STATUS_INPUT) fuzz_fail("exit code %d", code);
    if (H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) != 0) fuzz_fail("objects of the file stay open");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz_input input = {data, n};
    store_probing = false;
    if (base.n == 0) base_make();
    const uint64_t how = fuzz_take(&input, 1);
    const char *const path = fuzz_file(0, base.bytes, base.n_bytes);
    edit(path, &input);
    use(path, how);
    return 0;
}
