/* reader: takes values out of a tree and complains about them, with place, value, bound and cure.  Private to io.
 *
 * Functions that read return 0, or -1 after one error about the value; the caller goes on with the next one, so that all
 * errors of a file are found. `path` is where the value stands ("plan.tp"); `node` is its node. */
#ifndef COSWEEP_IO_READER_H
#define COSWEEP_IO_READER_H

#include "cosweep/io.h"

enum { PATH_CHARS = 192, SHOWN_CHARS = 60, MAX_AXIS_VALUES = 10000, MAX_WORDS = 96 };

struct reader {
    const char *file;
    struct arena *arena;
    struct errors *errors;
    const char *const *sets; /* overrides: a node of line -1-i came from sets[i]; NULL without */
    bool sweeps;             /* whether a knob may have several values */
    enum depth depth;        /* what `auto` stands for; of plan knobs: */
    enum depth plan_depth;
};

/* Add "path: message" at the node. Returns -1. */
int reader_error(const struct reader *reader, const struct node *node, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* File and line of a node, for rooms that report by themselves; `place` holds the text where an override is the place. */
const char *reader_file(const struct reader *reader, const struct node *node, char place[PATH_CHARS]);
int reader_line(const struct node *node);

/* "parent.key", or "key" where parent is empty. */
void path_join(char path[PATH_CHARS], const char *parent, const char *key);

/* Whether a node holds nothing: `key:`, `key: null` or `key: ~`. */
bool node_is_empty(const struct node *node);

int reader_unknown_key(const struct reader *reader, const struct node *node, const char *path, const char *const *words,
                       int n);
/* The node is a map with members, all of them among words[n]. */
int reader_map(const struct reader *reader, const struct node *node, const char *path, const char *const *words, int n);
/* The node is no list of low to high `things`: an error that says what it is. */
int reader_list_error(const struct reader *reader, const struct node *node, const char *path, int low, int high,
                      const char *things);
/* Non-empty text that is no map and no list, or NULL. */
const char *reader_text(const struct reader *reader, const struct node *node, const char *path);
/* A name: letters, digits, -, _ and ., not beginning with a dot, shorter than NAME_CHARS. */
int reader_name(const struct reader *reader, const struct node *node, const char *path, char name[NAME_CHARS]);
/* Whether a text is such a name. */
bool name_is_plain(const char *name);
/* Turn any text into such a name: other bytes become -. */
void name_repair(char *name);
/* The index of a word among words[n], or -1. */
int reader_word(const struct reader *reader, const struct node *node, const char *path, const char *const *words, int n);
int reader_number(const struct reader *reader, const struct node *node, const char *path, enum dimension dimension,
                  double low, double high, double *value);
int reader_count(const struct reader *reader, const struct node *node, const char *path, int64_t low, int64_t high,
                 int64_t *value);
int reader_bool(const struct reader *reader, const struct node *node, const char *path, bool *value);
/* A value of a knob: number, word or truth, in base units. */
int reader_knob(const struct reader *reader, const struct node *node, const char *path, const struct knob *knob,
                double *value);

/* ---- parts of a study, shared with candidates ------------------------------------------------------------------- */

/* One of the two knob tables, and where it belongs. */
struct knob_table {
    const struct knob *knob;
    int n, first_axis;
    const char *extra; /* a key beside the knobs, or NULL */
};
extern const struct knob_table plan_table, hardware_table;
/* The keys of the level `prefix`, in the order of the table: for "links." they are pe, d2d, c2c.  Returns how many. */
int knob_keys(const struct knob_table *table, const char *prefix, char (*key)[32]);

/* Fill every axis with its one default, then read `plan` and `hardware` (NULL where left out) over it. */
void axes_read(const struct reader *reader, struct space *space, const struct node *plan, const struct node *hardware,
               char base[NAME_CHARS]);
/* Read one knob's values: a scalar, a list, a range or `auto`. */
int axis_read(const struct reader *reader, const struct node *node, const char *path, int knob, struct axis_values *axis);
int plan_grid(enum plan_knob knob, enum depth depth, double value[32]);
/* One scenario; where the name is left out it becomes "model-phase". */
int scenario_read(const struct reader *reader, const struct node *node, const char *path, struct scenario *scenario);
/* A model written out in the file. */
int model_inline_read(const struct reader *reader, const struct node *node, const char *path, struct model *model);
/* ---- what a study asks to be kept (wanted.c) --------------------------------------------------------------------- */

/* The metric a node names, or -1 after an error. */
int reader_metric(const struct reader *reader, const struct node *node, const char *path);
void wanted_default(struct study *study);
void population_read(const struct reader *reader, const struct node *node, struct population *population);
void sensitivity_read(const struct reader *reader, const struct node *node, struct sensitivity *sensitivity);
void joint_read(const struct reader *reader, const struct node *node, struct study *study); /* after the scenarios */
void wanted_write(FILE *to, const struct study *study);

/* Put sets[i], "key.path=value", into the tree. */
int override_apply(const struct reader *reader, struct node *root, int i);
/* study->effective and study->hash from the rest. */
int effective_write(struct study *study, struct arena *arena, struct errors *errors);
uint64_t study_fingerprint(const char *text);

#endif
