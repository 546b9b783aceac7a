/* A checkpoint or part: the whole of the file but its last 8 bytes, the checksum, which is set right here, as is the hash of
 * the study where its text can be read: what is tested lies behind them.  Merged, alone and with the other shard, and gone
 * on from. */
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "run/saved.h"

enum { MAGIC_BYTES = 32, STUDY_AT = MAGIC_BYTES + 32, TAIL_BYTES = 24, MOST_BYTES = 1 << 16 };

static const char study_text[] =
    "study: parts\n"
    "scenarios:\n"
    "  - {name: a, phase: decode, past_tokens: 99, model: {name: m, layers: 2, hidden: 64, heads: 2, kv_heads: 1,\n"
    "     head_dim: 32, ffn: 64, vocab: 100, gated: true}}\n"
    "plan: {tp: [1, 2], pp: [1, 2]}\n"
    "hardware: {pe: {flops: [1 TFLOP/s, 2 TFLOP/s]}}\n"
    "population: {sample: 3, histograms: [[latency, cost]]}\n"
    "sensitivity: {doubling: false, elasticity: false, parallelism: {tp: 2}}\n";

/* The other shard, made once. */
static const char *other_part(void)
{
    static char path[FUZZ_PATH_CHARS];
    static struct errors errors;
    static struct study study;
    struct arena arena = {0};
    if (path[0] != '\0') return path;
    fuzz_place(path, "other.part");
    const struct run_options options = {.progress = PROGRESS_NONE, .shard = 2, .n_shards = 2};
    if (study_parse(&study, study_text, "parts", &arena, &errors) != 0 ||
        run_shard(&study, &options, path, (struct ranks){0, 1}, &errors) != 0)
        fuzz_fail("%s", errors.item[0].message);
    const char *const save = getenv("COSWEEP_FUZZ_SEEDS"); /* a folder: leave the first shard there, as a seed */
    if (save) {
        char seed[4096];
        snprintf(seed, sizeof seed, "%.4000s/shard-1-of-2", save);
        const struct run_options first = {.progress = PROGRESS_NONE, .shard = 1, .n_shards = 2};
        run_shard(&study, &first, seed, (struct ranks){0, 1}, &errors);
        snprintf(seed, sizeof seed, "%.4000s/shard-1-of-1", save);
        const struct run_options whole = {.progress = PROGRESS_NONE, .shard = 1, .n_shards = 1};
        run_shard(&study, &whole, seed, (struct ranks){0, 1}, &errors);
    }
    arena_free(&arena);
    return path;
}

static void repair(uint8_t *file, size_t n)
{
    static struct errors errors;
    struct arena arena = {0};
    struct study study;
    int64_t n_study;
    errors.n = 0;
    memcpy(&n_study, file + MAGIC_BYTES + 8, sizeof n_study);
    if (n_study >= 0 && n_study <= (int64_t)n - STUDY_AT - 8) {
        char *const text = arena_alloc(&arena, (size_t)n_study + 1, 1);
        memcpy(text, file + STUDY_AT, (size_t)n_study);
        if (study_parse(&study, text, "part", &arena, &errors) == 0) {
            memcpy(file + MAGIC_BYTES, &study.hash, 8);
            if (n >= STUDY_AT + TAIL_BYTES + 8) memcpy(file + n - TAIL_BYTES - 8, &study.hash, 8);
        }
        const int32_t build = saved_build();
        memcpy(file + STUDY_AT - sizeof build, &build, sizeof build);
    }
    const uint64_t sum = saved_checksum((const char *)file, n - 8);
    memcpy(file + n - 8, &sum, sizeof sum);
    arena_free(&arena);
}

static void check_result(const struct result *result, const struct study *study)
{
    for (int s = 0; s < result->n_scenarios; s++)
        for (int64_t i = 0; i < result->scenario[s].n_rows; i++) {
            const struct result_row *const row = &result->scenario[s].row[i];
            if (row->id < 0 || row->id >= study->space.n_raw) fuzz_fail("an id beyond the space");
            fuzz_check_metrics(row->metric);
        }
}

static void merge(const char *const *parts, int n)
{
    static struct errors errors;
    static struct result result;
    struct arena arena = {0};
    struct study study;
    errors.n = errors.n_dropped = 0;
    const int status = run_merge(&result, &study, parts, n, &arena, &errors);
    fuzz_check_errors(&errors, status);
    if (status == 0) check_result(&result, &study);
    arena_free(&arena);
}

/* A file of a round is gone on from as a run of two_stage does, which looks for the first round in it. */
static void go_on(struct study *study, const char *path, bool is_round)
{
    static struct errors errors;
    static struct result result;
    struct arena arena = {0};
    const struct run_options options = {.progress = PROGRESS_NONE, .checkpoint = path, .resume = true};
    errors.n = errors.n_dropped = 0;
    study->two_stage = is_round;
    const int status = run_study(&result, study, &options, (struct ranks){0, 1}, &arena, &errors);
    fuzz_check_errors(&errors, status);
    if (status == 0) check_result(&result, study);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static uint8_t file[MOST_BYTES];
    static struct errors errors;
    struct arena arena = {0};
    struct study study;
    struct saved_facts facts = {0};
    const char *const other = other_part();
    if (n > MOST_BYTES) return 0;
    memcpy(file, data, n);
    if (n >= STUDY_AT + 8) repair(file, n);
    const char *const path = fuzz_file(0, file, n);
    errors.n = errors.n_dropped = 0;
    const int status = saved_study(path, &study, &facts, &arena, &errors);
    fuzz_check_errors(&errors, status);
    if (status != 0 || fuzz_is_small(&study)) {
        merge((const char *const[]){path, other}, facts.n_shards == 2 && status == 0 ? 2 : 1);
        int64_t round = 0;
        if (status == 0) memcpy(&round, file + n - 8 - TAIL_BYTES + 8, sizeof round);
        if (status == 0) go_on(&study, path, round != 0);
    }
    arena_free(&arena);
    return 0;
}
