/* compare: what `cosweep compare` holds side by side: candidates, or two results. */
#ifndef COSWEEP_CLI_COMPARE_H
#define COSWEEP_CLI_COMPARE_H

#include "cli/answer.h"

enum { MAX_CONTENDERS = 26 }; /* they are called A to Z */
enum form { FORM_TEXT, FORM_CSV, FORM_JSON };

struct contender {
    char label[128];           /* file and row */
    const struct study *study; /* whose limits hold; NULL = none */
    struct answer answer;
};
void contenders_print(struct contender *const contender[], int n, enum form form, FILE *to);

/* ---- two results ------------------------------------------------------------------------------------------------- */

/* Gates of `--fail-on`.  X(code, name, meaning) */
#define GATES(X)                                                                                                            \
    X(WORSE, "worse", "best latency rises, or hypervolume falls, by more than")                                             \
    X(LATENCY, "latency", "best latency rises by more than")                                                                \
    X(HYPERVOLUME, "hypervolume", "hypervolume falls by more than")                                                         \
    X(ROWS, "rows", "more rows are lost than")
enum gate_kind {
#define X(code, ...) GATE_##code,
    GATES(X)
#undef X
        N_GATES
};
extern const char *const gate_name[N_GATES];
struct gate {
    enum gate_kind kind;
    double most; /* fraction, or a number of rows */
    bool is_number;
    char text[64]; /* as it was given */
};
enum { MAX_GATES = 16 };

/* The two sides, and what is asked of them. */
struct sides {
    const char *path[2];
    struct result result[2];
    struct study study[2];
    const char *scenario;  /* only this one; NULL = all */
    const char *reference; /* "value,..." in the order of the objectives; NULL = the worst of both */
    int n_gates;
    struct gate gate[MAX_GATES];
};
/* Comma-separated "worse:1%,rows:3".  Returns 0 or -1. */
int gates_read(struct sides *sides, const char *text, struct errors *errors);
/* Gates that fail are errors of code STATUS_GATE; a scenario that is missing fails any. */
void gates_check(const struct sides *sides, const struct difference *difference, struct errors *errors);
void gates_check_missing(const struct sides *sides, const char *scenario, struct errors *errors);
/* Returns STATUS_DONE, or -1 with errors, those of gates among them. */
int results_print(const struct sides *sides, enum form form, FILE *to, struct errors *errors);

/* Knobs of the two studies that have other values (machine first), and facts of their scenarios that differ. */
void differences_print(const struct sides *sides, FILE *to);
void differences_write_json(const struct sides *sides, struct json *json);

#endif
