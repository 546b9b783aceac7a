/* core: what every room stands on: errors, memory, units of measure, and the tree a text file becomes.
 *
 * Knows nothing of models, machines or files.  Nothing here prints; callers decide where messages go. */
#ifndef COSWEEP_CORE_H
#define COSWEEP_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- errors ------------------------------------------------------------------------------------------------------- */

/* What went wrong, as the exit code of the program (DESIGN section 3). */
enum status {
    STATUS_DONE = 0,
    STATUS_GATE = 1,    /* a comparison crossed the threshold it was given */
    STATUS_INPUT = 2,   /* the user's input is bad */
    STATUS_NOTHING = 3, /* nothing is feasible */
    STATUS_STOPPED = 4, /* a signal or the time limit, with a checkpoint saved */
    STATUS_SYSTEM = 5,  /* disk, memory, MPI */
};

enum { MESSAGE_CHARS = 480, ERRORS_KEPT = 40 };

/* One message: "file:line: message" when printed; no file where `file` is empty, no line where `line` is 0. */
struct error {
    int code; /* enum status */
    int line; /* from 1; 0 = whole file */
    char file[256];
    char message[MESSAGE_CHARS];
};

/* All errors of one input, in the order they were found, so that one run reports them all.  Zero-initialise to start. */
struct errors {
    int n;         /* in item[] */
    int n_dropped; /* beyond ERRORS_KEPT, counted only */
    struct error item[ERRORS_KEPT];
};

/* Append a message; `file` may be NULL.  Returns -1, so that `return error_add(...)` reads well. */
int error_add(struct errors *errors, int code, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Print all, one a line, as "cosweep: file:line: message".  Returns the code of the first, or STATUS_DONE if none. */
int errors_print(const struct errors *errors, FILE *to);

/* The known word nearest to `word` by edit distance, or NULL if none is near enough to be a typo.  words[n] borrowed. */
const char *nearest_word(const char *word, const char *const *words, int n);

/* ---- memory ------------------------------------------------------------------------------------------------------- */

/* Grows by blocks, so pointers stay valid until arena_free.  Allocations are 64-byte aligned and zeroed.  Out of memory
 * aborts with a message: there is nothing sensible left to do.  Zero-initialise to start. */
struct arena {
    struct arena_block *block; /* newest first */
};
void *arena_alloc(struct arena *arena, size_t n, size_t size); /* n objects of `size` bytes; checks overflow */
char *arena_text(struct arena *arena, const char *text);       /* a copy of `text` */
void arena_free(struct arena *arena);
_Noreturn void out_of_memory(void); /* the message, and abort */

/* ---- units -------------------------------------------------------------------------------------------------------- */

/* What a number measures; decides the suffixes a text may carry and the scaling for people.  Base units inside. */
enum dimension {
    DIM_COUNT,       /* whole number; k, M, G and Ki, Mi, Gi allowed */
    DIM_NUMBER,      /* plain real number, same suffixes */
    DIM_FRACTION,    /* real number, also "5%" */
    DIM_BYTES,       /* B kB MB GB TB and KiB MiB GiB TiB */
    DIM_BYTES_PER_S, /* the same with "/s" */
    DIM_FLOP_PER_S,  /* FLOP/s with k M G T P E */
    DIM_SECONDS,     /* s ms us ns ps, min, h */
    DIM_JOULES,      /* J mJ uJ nJ pJ fJ */
    DIM_WATTS,       /* W mW kW MW */
    DIM_COST,        /* units of cost (the presets' proxy: US dollars), plain number */
    DIM_BOOL,        /* true false yes no */
    DIM_CODE,        /* one of a list of words */
    DIM_COST_PER_TOKEN,  /* output only */
    DIM_JOULES_PER_TOKEN, /* output only */
    DIM_TOKENS_PER_S,    /* output only */
    DIM_PER_S,           /* output only */
    DIM_FLOP,            /* output only */
};

/* Parse a number with an optional unit ("4.5 GB", "128k", "3.35 TB/s", "20ns") into base units.  NaN and infinity are no
 * numbers.  Returns 0, or -1 with `*why` a static text that says what is wrong and what is allowed. */
int unit_parse(const char *text, enum dimension dimension, double *value, const char **why);
/* For people: scaled with a prefix, three to four significant digits, at most 31 chars.  Returns `text`. */
char *unit_format(char text[32], double value, enum dimension dimension);
/* The shortest of %.15g, %.16g, %.17g that reads back to the same bits, at most 31 chars.  Returns `text`. */
char *number_exact(char text[32], double value);
/* The base unit's name as HDF5 `units` has it: "bytes", "bytes/s", "FLOP/s", "s", "J", "W", "1", ... */
const char *unit_name(enum dimension dimension);

/* ---- text tree ---------------------------------------------------------------------------------------------------- */

/* A YAML or JSON file as a tree that remembers where everything stood.  All memory is the arena's. */
enum node_kind { NODE_TEXT, NODE_LIST, NODE_MAP };
struct node {
    enum node_kind kind;
    int line;            /* from 1 */
    bool quoted;         /* a quoted scalar is text even if it looks like a number or null */
    char *key;           /* in a map: this member's key; else NULL */
    char *text;          /* NODE_TEXT: the scalar, never NULL */
    int n_children;      /* NODE_LIST, NODE_MAP */
    struct node *first;  /* first child or NULL */
    struct node *next;   /* next sibling or NULL */
};
/* The member `key` of a map, or NULL.  `map` may be NULL. */
struct node *node_find(const struct node *map, const char *key);

/* ---- JSON out ----------------------------------------------------------------------------------------------------- */

/* Writes JSON to a stream, commas and escapes right, numbers round-tripping (shortest of %.15g, %.17g); NaN and infinity
 * become null.  `key` is NULL inside lists and at the top.  Zero-initialise with the stream. */
struct json {
    FILE *to;
    int depth;
    bool pretty;           /* indented, one member a line */
    bool compact;          /* no blanks at all */
    bool started[64];      /* something was written at this depth */
};
void json_open(struct json *json, const char *key, char bracket);  /* '{' or '[' */
void json_close(struct json *json, char bracket);                  /* '}' or ']' */
void json_number(struct json *json, const char *key, double value);
void json_whole(struct json *json, const char *key, int64_t value); /* all digits: an id may be no double */
void json_text(struct json *json, const char *key, const char *value); /* NULL writes null */
void json_bool(struct json *json, const char *key, bool value);

#endif
