/* How does what a sweep has found outlive the program?
 *
 * The file:  magic | struct file_head | study text | per scenario and pass: n_units, finished, packed outcome
 *            | earlier rounds of two_stage: bytes of each, then the same without a checksum | struct file_tail | checksum */
#define _POSIX_C_SOURCE 200809L
#include "run/provenance.h"
#include "progress.h"
#include "saved.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAVED_FORMAT  "cosweep saved sweep, version "
#define SAVED_VERSION "2"
static const char magic[32] = SAVED_FORMAT SAVED_VERSION "\n";

struct file_head {
    uint64_t study_hash;
    int64_t n_study;                             /* bytes of its text */
    int32_t shard, n_shards, n_scenarios, build; /* build: saved_build */
};

struct file_tail {
    uint64_t asked_hash;
    int64_t round, n_rounds; /* n_rounds: bytes of the earlier ones */
};

/* FNV-1a over words, then over what is left. */
uint64_t saved_checksum(const char *data, size_t n)
{
    uint64_t hash = 0xcbf29ce484222325u;
    size_t at = 0;
    for (uint64_t word; at + sizeof word <= n; at += sizeof word) {
        memcpy(&word, data + at, sizeof word);
        hash = (hash ^ word) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    for (; at < n; at++) hash = (hash ^ (unsigned char)data[at]) * 0x100000001b3u;
    return hash;
}

int32_t saved_build(void)
{
    char facts[128];
    const int n =
        snprintf(facts, sizeof facts, "%zu %zu %s", sizeof(struct point), sizeof(struct tally), program_revision());
    return (int32_t)(saved_checksum(facts, (size_t)n) & INT32_MAX);
}

/* ---- to a file --------------------------------------------------------------------------------------------------- */

static void pack_pass(struct bytes *bytes, const struct pass *pass)
{
    bytes_add(bytes, &pass->n_units, sizeof pass->n_units);
    bytes_add(bytes, pass->finished, (size_t)pass->n_units);
    if (pass->n_units > 0) outcome_pack(&pass->outcome, bytes);
}

static int write_all(int file, const char *data, size_t n)
{
    while (n > 0) {
        const ssize_t written = write(file, data, n);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return -1;
        data += written;
        n -= (size_t)written;
    }
    return 0;
}

/* Written beside its name, synced, renamed; whatever fails, the old file stays and no other is left. */
static int publish(const struct bytes *bytes, const char *path, struct errors *errors)
{
    char temporary[4096], folder[4096];
    unfinished_name(temporary, path);
    snprintf(folder, sizeof folder, "%.4000s", path);
    const int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    bool failed = file < 0 || write_all(file, bytes->data, bytes->n) != 0 || fsync(file) != 0;
    int saved_errno = errno;
    if (file >= 0 && close(file) != 0 && !failed) failed = true, saved_errno = errno;
    if (!failed && rename(temporary, path) != 0) failed = true, saved_errno = errno;
    if (failed) {
        if (file >= 0) unlink(temporary);
        return error_add(errors, STATUS_SYSTEM, path, 0, "cannot be saved: %s; what was saved before stays",
                         strerror(saved_errno));
    }
    const int place = open(dirname(folder), O_RDONLY);
    if (place >= 0) {
        fsync(place);
        close(place);
    }
    return 0;
}

/* All but the checksum. */
static struct bytes pack(const struct saved *saved, const struct bytes *rounds)
{
    struct bytes bytes = {0};
    const struct file_head head = {
        .study_hash = saved->study->hash,
        .n_study = (int64_t)strlen(saved->study->effective),
        .shard = saved->shard,
        .n_shards = saved->n_shards,
        .n_scenarios = saved->n_scenarios,
        .build = saved_build(),
    };
    bytes_add(&bytes, magic, sizeof magic);
    bytes_add(&bytes, &head, sizeof head);
    bytes_add(&bytes, saved->study->effective, (size_t)head.n_study);
    for (int s = 0; s < saved->n_scenarios; s++) {
        pack_pass(&bytes, &saved->scenario[s].seeds);
        pack_pass(&bytes, &saved->scenario[s].sweep);
    }
    const struct file_tail tail = {saved->past->asked_hash, saved->past->round, (int64_t)rounds->n};
    bytes_add(&bytes, rounds->data, rounds->n);
    bytes_add(&bytes, &tail, sizeof tail);
    return bytes;
}

void saved_remember(const struct saved *saved)
{
    struct bytes bytes = pack(saved, &(struct bytes){0});
    const int64_t n = (int64_t)bytes.n;
    bytes_add(&saved->past->rounds, &n, sizeof n);
    bytes_add(&saved->past->rounds, bytes.data, bytes.n);
    free(bytes.data);
}

int saved_write(const struct saved *saved, const char *path, struct errors *errors)
{
    struct bytes bytes = pack(saved, &saved->past->rounds);
    const uint64_t sum = saved_checksum(bytes.data, bytes.n);
    bytes_add(&bytes, &sum, sizeof sum);
    const int status = publish(&bytes, path, errors);
    free(bytes.data);
    saved->past->written_s = clock_s();
    return status;
}

/* ---- from a file ------------------------------------------------------------------------------------------------- */

/* Is this no such file?  Looked at before anything is allocated: the file may be of any size.  Rewinds it. */
static bool is_foreign(char why[80], FILE *file)
{
    char front[sizeof magic + 1] = "";
    const bool has_front = fread(front, 1, sizeof magic, file) == sizeof magic && fseek(file, 0, SEEK_SET) == 0;
    if (has_front && memcmp(front, magic, sizeof magic) == 0) return false;
    if (strncmp(front, SAVED_FORMAT, strlen(SAVED_FORMAT)) != 0)
        snprintf(why, 80, "is no checkpoint or part of this version of cosweep");
    else
        snprintf(why, 80, "is of format version %ld, this program reads version " SAVED_VERSION,
                 strtol(front + strlen(SAVED_FORMAT), NULL, 10));
    return true;
}

/* One saved sweep: the whole of a file without its checksum, or a round in it. */
struct record {
    char *data;
    size_t n;
    struct file_head head;
    struct file_tail tail;
};

/* Returns whether the parts are within the whole. */
static bool record_open(struct record *record, char *data, size_t n)
{
    const size_t ends = sizeof magic + sizeof record->head + sizeof record->tail;
    if (n < ends) return false;
    *record = (struct record){.data = data, .n = n};
    memcpy(&record->head, data + sizeof magic, sizeof record->head);
    memcpy(&record->tail, data + n - sizeof record->tail, sizeof record->tail);
    const struct file_head *const head = &record->head;
    return head->n_study >= 0 && (uint64_t)head->n_study <= n - ends && record->tail.n_rounds >= 0 &&
           (uint64_t)record->tail.n_rounds <= n - ends - (uint64_t)head->n_study && head->n_shards >= 1 &&
           head->n_shards <= MOST_SHARDS && head->shard >= 1 && head->shard <= head->n_shards;
}

static bool record_is_of(const struct record *record, const struct saved *saved)
{
    return record->head.study_hash == saved->study->hash && record->head.n_scenarios == saved->n_scenarios &&
           record->tail.asked_hash == saved->past->asked_hash && record->tail.round == saved->past->round;
}

/* The earlier round that `saved` is.  Returns whether there is one. */
static bool find_round(struct record *round, const struct record *file, const struct saved *saved)
{
    char *at = file->data + file->n - sizeof file->tail - file->tail.n_rounds, *const end = at + file->tail.n_rounds;
    for (int64_t n; end - at > (int64_t)sizeof n; at += n) {
        memcpy(&n, at, sizeof n);
        at += sizeof n;
        if (n < 0 || n > end - at || !record_open(round, at, (size_t)n)) return false;
        if (record_is_of(round, saved)) return true;
    }
    return false;
}

/* The bytes of a file, to be freed; NULL where they cannot be had, which *why tells, or errno where *why is NULL. */
static char *read_whole(size_t *n, const char **why, char foreign[80], const char *path)
{
    struct stat facts;
    char *data = NULL;
    *why = NULL;
    if (stat(path, &facts) != 0) return NULL;
    if (!S_ISREG(facts.st_mode)) { /* a pipe would be waited for */
        *why = "is no plain file";
        return NULL;
    }
    FILE *const file = fopen(path, "rb");
    if (!file) return NULL;
    *n = (size_t)facts.st_size;
    if (*n < sizeof magic + sizeof(uint64_t)) *why = "is cut short";
    else if (is_foreign(foreign, file)) *why = foreign;
    else if ((data = malloc(*n)) && fread(data, 1, *n, file) != *n) *why = "is cut short";
    const int read_errno = errno;
    const bool failed = *why != NULL;
    if (ferror(file)) *why = NULL; /* that says nothing of what is in it */
    fclose(file);
    errno = read_errno;
    if (!failed) return data;
    free(data);
    return NULL;
}

/* Open the bytes of a file.  Returns what is wrong with them, or NULL. */
static const char *file_open(struct record *file, char *data, size_t n)
{
    uint64_t sum;
    n -= sizeof sum;
    memcpy(&sum, data + n, sizeof sum);
    if (sum != saved_checksum(data, n)) return "is damaged (its checksum is wrong)";
    if (!record_open(file, data, n)) return "is damaged";
    if (file->head.build != saved_build()) return "was saved by another revision of cosweep, whose numbers may be others";
    return NULL;
}

/* A file whose checksum is right; the caller frees its data.  Returns 0, or -1 after an error. */
static int load(struct record *out, const char *path, struct errors *errors)
{
    size_t n = 0;
    const char *why;
    char foreign[80], *const data = read_whole(&n, &why, foreign, path);
    if (data) why = file_open(out, data, n);
    if (data && !why) return 0;
    if (!why) error_add(errors, STATUS_INPUT, path, 0, "cannot be read: %s", strerror(errno));
    else error_add(errors, STATUS_INPUT, path, 0, "%s; it is not used: remove it, or give another", why);
    free(data);
    return -1;
}

static bool is_finished(const struct pass *pass)
{
    for (int64_t u = 0; u < pass->n_units; u++)
        if (!pass->finished[u]) return false;
    return true;
}

/* Whether an id is of a candidate that a sweep may keep: a plan that is valid, on a machine of the space. */
static bool is_candidate(const struct study *study, int scenario, candidate_id id)
{
    struct plan plan;
    struct hardware hardware;
    if (id < 0 || id >= study->space.n_raw) return false;
    space_decode(&study->space, id, &plan, &hardware);
    plan_pin(&plan, &study->scenario[scenario]);
    return plan_check(&plan, &study->scenario[scenario]) == REASON_NONE;
}

static bool are_candidates(const struct study *study, int scenario, const struct outcome *outcome)
{
    for (int64_t i = 0; i < outcome->pareto.n; i++)
        if (!is_candidate(study, scenario, outcome->pareto.point[i].id)) return false;
    for (int64_t i = 0; i < outcome->sample.n; i++)
        if (!is_candidate(study, scenario, outcome->sample.draw[i].id)) return false;
    return true;
}

/* Shards of a pruned search all have the same seeds: `once` leaves them alone when they are there. */
static int unpack_pass(struct pass *pass, const char *data, size_t n, size_t *at, bool once)
{
    int64_t n_units;
    const bool skip = once && is_finished(pass);
    if (n - *at < sizeof n_units) return -1;
    memcpy(&n_units, data + *at, sizeof n_units);
    *at += sizeof n_units;
    if (n_units != pass->n_units || n - *at < (size_t)n_units) return -1;
    for (int64_t u = 0; u < n_units; u++) {
        const bool finished = data[*at + (size_t)u] != 0;
        if (finished && pass->finished[u] && !once) return -1; /* it would be counted twice */
        pass->finished[u] |= finished;
    }
    *at += (size_t)n_units;
    if (n_units == 0) return 0;
    if (skip) {
        struct outcome unused;
        outcome_init(&unused, &(struct outcome_options){.n_objectives = pass->outcome.pareto.n_objectives});
        const int status = outcome_unpack(&unused, data, n, at);
        outcome_free(&unused);
        return status;
    }
    if (outcome_unpack(&pass->outcome, data, n, at) != 0) return -1;
    pareto_finish(&pass->outcome.pareto);
    return 0;
}

static int unpack(struct saved *saved, const struct record *record)
{
    const size_t n = record->n - sizeof record->tail - (size_t)record->tail.n_rounds;
    size_t at = sizeof magic + sizeof record->head + (size_t)record->head.n_study;
    for (int s = 0; s < saved->n_scenarios; s++)
        if (unpack_pass(&saved->scenario[s].seeds, record->data, n, &at, true) != 0 ||
            unpack_pass(&saved->scenario[s].sweep, record->data, n, &at, false) != 0 ||
            !are_candidates(saved->study, s, &saved->scenario[s].seeds.outcome) ||
            !are_candidates(saved->study, s, &saved->scenario[s].sweep.outcome))
            return -1;
    return at == n ? 0 : -1;
}

int saved_read(struct saved *saved, const char *path, struct errors *errors)
{
    struct record file, round, *record = &file;
    int status = 0;
    if (load(&file, path, errors) != 0) return -1;
    if (!record_is_of(&file, saved)) record = find_round(&round, &file, saved) ? &round : NULL;
    saved->past->checkpoint = record == &file ? PAST_READ : PAST_AHEAD;
    if (!record)
        status = error_add(errors, STATUS_INPUT, path, 0,
                           "is of a different study; it is not used: give another --output, or remove it");
    else if (saved->n_shards > 1 && (record->head.shard != saved->shard || record->head.n_shards != saved->n_shards))
        status = error_add(errors, STATUS_INPUT, path, 0,
                           "is of shard %d of %d, not %d of %d; it is not used: give another --output, or remove it",
                           record->head.shard, record->head.n_shards, saved->shard, saved->n_shards);
    else if (unpack(saved, record) != 0)
        status = error_add(errors, STATUS_INPUT, path, 0, "is damaged; it is not used: remove it");
    free(file.data);
    return status;
}

int saved_study(const char *path, struct study *study, struct saved_facts *facts, struct arena *arena, struct errors *errors)
{
    struct record file;
    if (load(&file, path, errors) != 0) return -1;
    char *const text = arena_alloc(arena, (size_t)file.head.n_study + 1, 1);
    memcpy(text, file.data + sizeof magic + sizeof file.head, (size_t)file.head.n_study);
    free(file.data);
    *facts = (struct saved_facts){file.tail.asked_hash, file.head.shard, file.head.n_shards};
    if (study_parse(study, text, path, arena, errors) != 0) return -1;
    if (study->hash != file.head.study_hash) /* the text does not say all that the file was made from */
        return error_add(errors, STATUS_INPUT, path, 0,
                         "its study reads back to another one; it was made by another version");
    return 0;
}
