/* saved: what a sweep has found so far, as a file: a checkpoint beside the result, or the part of a shard.
 *
 * Holds the study, which work units of which scenario are finished, and their outcomes; of two_stage also the rounds before.
 * Written under a temporary name, synced and renamed, with a checksum: a file that is there is whole, or is refused. */
#ifndef COSWEEP_RUN_SAVED_H
#define COSWEEP_RUN_SAVED_H

#include "sweep.h"

/* One pass over the units of a scenario: the seeds of a pruned search, or the sweep. */
struct pass {
    int64_t n_units;
    unsigned char *finished; /* [n_units] 0 or 1 */
    struct outcome outcome;  /* of the finished units; its archive is finished */
};
struct progress_of { struct pass seeds, sweep; }; /* seeds: n_units 0 unless the search is pruned */

/* What outlives one sweep: in two_stage a run is several. */
struct saved_past {
    uint64_t asked_hash; /* of the study that was given */
    int64_t round;       /* of two_stage, from 1; 0 = the sweep whose result is kept */
    struct bytes rounds; /* the finished rounds before, packed; owned */
    double written_s;    /* when a checkpoint was last written, or the run began */
    /* The checkpoint that is resumed: not looked at; of a later round than this, which it holds; all in memory, or none. */
    enum { PAST_UNREAD, PAST_AHEAD, PAST_READ } checkpoint;
};
void past_init(struct saved_past *past, const struct study *asked);
void past_free(struct saved_past *past);

struct saved {
    const struct study *study; /* borrowed */
    struct saved_past *past;   /* borrowed */
    int shard, n_shards;       /* from 1; 1 of 1 = all */
    int n_scenarios;
    struct progress_of *scenario; /* owned */
};
/* Whether a study has so few units that they can be kept account of; else -1 and an error. */
int saved_check(const struct study *study, const char *file, struct errors *errors);
/* Nothing finished yet. */
void saved_init(struct saved *saved, const struct study *study, struct saved_past *past, int shard, int n_shards);
void saved_free(struct saved *saved);
/* Whether every unit of the shard is finished. */
bool saved_complete(const struct saved *saved);
int64_t saved_count(const struct saved *saved, int64_t *n_units); /* finished units, and all of the shard */
/* Whether unit u belongs to the shard. */
static inline bool saved_owns(const struct saved *saved, int64_t unit)
{
    return unit % saved->n_shards == saved->shard - 1;
}
/* A number for the build that saved a file: another layout of structs or another revision has another, and its files are
 * refused.  (Outside of a git checkout there is no revision, and only the layout counts.) */
int32_t saved_build(void);
/* Of all of a file but its last 8 bytes, which hold it. */
uint64_t saved_checksum(const char *data, size_t n);
/* All of `saved` and its past; past->written_s is now.  Returns 0, or -1 after an error: then the file from before stays. */
int saved_write(const struct saved *saved, const char *path, struct errors *errors);
/* A finished round, to the past. */
void saved_remember(const struct saved *saved);
/* Merge a file into `saved` (initialised), or that of its rounds which `saved` is; past->checkpoint tells which.  A damaged,
 * truncated or foreign file is refused by name, as are units that are finished already and, where `saved` is a shard, what
 * another shard or the whole had finished.  Returns 0, or -1 after an error. */
int saved_read(struct saved *saved, const char *path, struct errors *errors);
/* The study and shard of a file, before anything else is known.  Memory is the arena's.  Returns 0, or -1 after an error. */
struct saved_facts { uint64_t asked_hash; int shard, n_shards; }; /* as in saved_past and saved */
int saved_study(const char *path, struct study *study, struct saved_facts *facts, struct arena *arena,
                struct errors *errors);

#endif
