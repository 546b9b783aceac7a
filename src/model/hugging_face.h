/* Private to the Hugging Face import: what its files share while one config.json is read. */
#ifndef COSWEEP_MODEL_HUGGING_FACE_H
#define COSWEEP_MODEL_HUGGING_FACE_H

#include "cosweep/model.h"

/* What a model_type's code does whatever its config says; `..._BY_FIELD`: as the field named beside it says. */
enum trait {
    GATED = 1 << 0,             /* three FFN matrices */
    TIED = 1 << 1,              /* the type's default of tie_word_embeddings */
    PARALLEL = 1 << 2,          /* attention and FFN side by side */
    ONE_NORM = 1 << 3,          /* a layer, instead of two */
    FOUR_NORMS = 1 << 4,
    NORM_BIAS = 1 << 5,
    QKV_BIAS = 1 << 6,
    O_BIAS = 1 << 7,
    FFN_BIAS = 1 << 8,
    BIAS_BY_FIELD = 1 << 9,     /* attention_bias: of Q, K, V and the output projection */
    QKV_BY_FIELD = 1 << 10,     /* attention_bias: of Q, K, V only */
    HEAD_NORM = 1 << 11,        /* norms of Q and K, over one head */
    FULL_NORM = 1 << 12,        /* norms of Q and K, over all heads */
    NORM_BY_FIELD = 1 << 13,    /* ... where use_qk_norm says so */
    EXPERT_IS_FFN = 1 << 14,    /* intermediate_size is the width of an expert */
    ROUTER_BIAS = 1 << 15,
    SINKS = 1 << 16,            /* a learned attention sink per head */
    POSITIONS = 1 << 17,        /* learned positions */
    FFN_IS_FOUR = 1 << 18,      /* the FFN is 4 x hidden where no width is given */
    NESTED = 1 << 19,           /* attention and FFN have maps of their own */
    MOE = 1 << 20,              /* without the number of experts the config is not complete */
    LATENT = 1 << 21,           /* multi-head latent attention, MLA */
    PER_LAYER = 1 << 22,        /* a count may be a list, one a layer, if all are the same */
    HYBRID = 1 << 23,           /* of refused kinds of layers, unless all of this one are attention */
    ALL_BIAS = QKV_BIAS | O_BIAS | FFN_BIAS,
};

/* Which layers have the window where `layer_types` does not say; n > 0: every n-th is global. */
enum { WINDOW_UNUSED = -4, WINDOW_FROM_LAYER = -3, WINDOW_SWITCHED = -2, WINDOW_ALL = -1 };

struct family {
    const char *type; /* model_type */
    int window_rule;
    int traits; /* enum trait */
};

/* One config being read. */
struct reading {
    const struct node *config; /* of the text decoder */
    const struct node *outer;  /* of the whole file; the same unless nested */
    const struct family *family; /* NULL: model_type is not known */
    struct errors *errors;
    const char *file;
    char *warnings; /* may be NULL */
    size_t chars;
    char unknown[200]; /* names of fields that nobody knows, as many as there is room for */
    int n_unknown, n_unnamed;
    bool failed;
};

/* The member under the first of the names (separated by spaces) that is there and not null, else NULL. */
const struct node *field_find(const struct reading *reading, const char *names);
bool field_is_null(const struct node *node);
/* Whole number or truth under the first of `names`; where there is none the value that the type's code takes, or
 * `fallback`; an error where it is something else, or where another of the names says something else. */
int64_t field_count(struct reading *reading, const char *names, int64_t fallback);
bool field_truth(struct reading *reading, const char *names, bool fallback);
bool has_trait(const struct reading *reading, int trait); /* false where the model_type is not known */
bool is_family(const struct reading *reading, const char *type); /* so, too */
/* Refuse the config at `node`'s line (for NULL its first); remember a thing left out. */
void reading_refuse(struct reading *reading, const struct node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void reading_warn(struct reading *reading, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* hugging_face_fields.c: who is this, and is there anything in it that cannot be represented? */
void check_fields(struct reading *reading);
/* Remember the first of `names` that is there, as modelled though the type's code does not read it. */
void warn_unread(struct reading *reading, const char *names);
void warn_of_unknown(struct reading *reading); /* in one warning, last: what else is left out matters more */
const struct family *family_find(const char *type);
const char *refused_type(const char *type); /* the reason, or NULL */
/* Refuse where another of `names` than `node` says something else. */
void check_synonyms(struct reading *reading, const char *names, const struct node *node);
/* The value the type's code takes where a field of `names` is missing, or `fallback`. */
int64_t default_count(const struct reading *reading, const char *names, int64_t fallback);

/* hugging_face_layers.c: which layers are MoE, which have the window?  `windowed` has MAX_LAYERS; returns NULL where the
 * facts in the model say it all, else `windowed`. */
void read_moe(struct reading *reading, struct model *model);
const bool *read_window(struct reading *reading, struct model *model, bool *windowed);

#endif
