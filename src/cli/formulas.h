/* formulas: what `explain --formulas` shows of one candidate: MODEL's equations, with its numbers in them. */
#ifndef COSWEEP_CLI_FORMULAS_H
#define COSWEEP_CLI_FORMULAS_H

#include "cli/answer.h"
#include "cosweep/lower.h"

enum { EXPRESSION_CHARS = 512 };

/* Symbols with the machine's rates, per layer kind; the edges use those of kind 0. */
struct formulas {
    const struct answer *answer; /* complete; borrowed */
    struct symbols of[MAX_KINDS];
};
void formulas_init(struct formulas *formulas, const struct answer *answer);
/* The rates among the symbols, which lowering does not know. */
void symbols_set_rates(struct symbols *symbols, const struct hardware *hardware, enum dtype compute);
/* Of a demand's row. */
const struct symbols *formulas_symbols(const struct formulas *formulas, const struct stage_row *row);

/* The roofline's three terms of a stage, and its fixed time. */
struct roofline {
    double term_s[N_QUANTITIES], fixed_s;
    enum quantity winner;
};
struct roofline formulas_roofline(const struct formulas *formulas, const struct stage_row *row);
extern const char *const quantity_name[N_QUANTITIES];

/* An exchange on this machine.  Walk the exchanges of a row, or between pipeline stages where it is NULL. */
struct exchange_walk {
    const struct formulas *formulas;
    const struct stage_row *row;
    int next_collective; /* in the demand */
    const struct exchange *exchange;
    /* of the exchange that the walk is at */
    const struct group *group;
    double vector_bytes;
    int top;                    /* highest level spanned */
    bool one_shot;              /* an all-reduce takes one shot, not two, at the top */
    struct leg leg[N_LEVELS];   /* as taken */
    double leg_s[N_LEVELS];     /* of a hop the slowest counts, of a collective the sum */
    double message_s;           /* once, without fixed time */
    double fixed_s;             /* o_coll, once */
    double n_hops, n_extra, chunk_s; /* ring: messages that chunks of attention hide, and that nothing does */
    double time_s;              /* what it adds to the stage */
};
struct exchange_walk exchange_walk(const struct formulas *formulas, const struct stage_row *row);
/* To the next exchange that costs something; false = no more. */
bool exchange_walk_next(struct exchange_walk *walk);
const char *exchange_kind_name(const struct exchange *exchange);
extern const char *const link_name[N_LEVELS];

/* The symbols of sizes and all stages with their equations, for people. */
void formulas_print(FILE *to, const struct answer *answer);
/* Members `formulas`, `exchanges` and `roofline` of the stage's object that is open. */
void formulas_write_json(struct json *json, const struct formulas *formulas, const struct stage_row *row);

#endif
