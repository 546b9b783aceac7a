/* run: a study over ranks and threads.  mpi.c is the only file that sees MPI. */
#ifndef COSWEEP_RUN_H
#define COSWEEP_RUN_H

#include "cosweep/io.h"

/* ---- ranks ----------------------------------------------------------------------------------------------------------------- */

/* Without a launcher there is one rank and MPI is not started.  All are collective but ranks_abort. */
struct ranks { int rank, n; };
struct ranks ranks_start(int *argc, char ***argv);
void ranks_stop(void);
void ranks_abort(int code);
const char *ranks_library(void); /* version text of the MPI library */
/* To rank 0, point to point; a receiver frees what it gets. */
void ranks_send(const void *data, size_t bytes);
void *ranks_receive(int from, size_t *bytes);
/* From rank 0 to all: `data` and `bytes` count on rank 0; others get a copy, which they free.  Collective. */
void *ranks_share(const void *data, size_t *bytes);

/* The lowest rank for which `bad` is true, -1 if none.  Collective: the same on all. */
int ranks_first(bool bad);

/* ---- one candidate --------------------------------------------------------------------------------------------------------- */

/* A candidate, pinned, checked, lowered and evaluated: the same numbers, bit for bit, as in a sweep. */
struct answer {
    struct candidate candidate; /* the plan is pinned */
    enum reason reason;         /* REASON_LIMIT + l: limit l */
    bool complete;              /* what follows is filled: all but for a refusal before `memory` (DESIGN section 3) */
    struct demand demand;
    struct layout layout;
    struct explanation explanation;
};
void answer_candidate(struct answer *answer, const struct candidate *candidate, const struct limit *limits, int n_limits);
/* "memory", "limit_latency", ... at most 47 chars, to `text`; returns it. */
char *reason_text(char text[48], enum reason reason, const struct limit *limits);

/* ---- the sweep -------------------------------------------------------------------------------------------------------------- */

enum progress { PROGRESS_AUTO, PROGRESS_BAR, PROGRESS_LOG, PROGRESS_NONE };
struct run_options {
    enum progress progress;
    const char *checkpoint;   /* file to save to, or NULL */
    double checkpoint_s;      /* so often; 0 = only when stopped */
    bool resume;              /* go on from that file where it exists */
    int shard, n_shards;      /* from 1; 0 of 0 = all */
};
/* Sweep every scenario.  Collective.  On rank 0 `result` is filled (memory: arena); on others untouched.  Returns 0; 1 when a
 * signal or the time limit stopped it, with the checkpoint saved if there is to be one; -1 on an error. */
int run_study(struct result *result, const struct study *study, const struct run_options *options, struct ranks ranks,
              struct arena *arena, struct errors *errors);

/* Sweep a shard, into a part file at `path`.  Collective; returns as run_study. */
int run_shard(const struct study *study, const struct run_options *options, const char *path, struct ranks ranks,
              struct errors *errors);
/* One result from the parts of all shards: each exactly once, all of one study.  `study` is filled.  Returns 0 or -1. */
int run_merge(struct result *result, struct study *study, const char *const *parts, int n_parts, struct arena *arena,
              struct errors *errors);

/* Catch signals, and stop in time before a limit (0 = none); what it was, for a message. */
void run_watch(double limit_s);
const char *run_stop_cause(void);

/* Give every scenario of `result` its full source where the study asks for one (population.full); rank 0 only.  `study` must
 * be the one of the last round and outlive the sources.  full_close frees them. */
void full_open(struct result *result, const struct study *study);
void full_close(struct result *result);

#endif
