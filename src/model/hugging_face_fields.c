/* Who is this config, and is there anything in it that MODEL.md cannot represent?  The tables are in hugging_face.def.
 *
 * A known model_type may carry fields nobody knows (they are named in the warnings); an unknown one may not, because any
 * of them may change the structure. */
#include "hugging_face.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const struct family family[] = {
#define FAMILY(type, window_rule, traits) {type, window_rule, traits},
#include "hugging_face.def"
#undef FAMILY
};
enum { N_FAMILIES = sizeof family / sizeof family[0] };

static const struct {
    const char *type, *field;
    int64_t value;
} left_out[] = {
#define DEFAULT(type, field, value) {type, field, value},
#include "hugging_face.def"
#undef DEFAULT
};
enum { N_LEFT_OUT = sizeof left_out / sizeof left_out[0] };

struct refusal {
    const char *word, *reason;
};
static const struct refusal type_refusal[] = {
#define REFUSED_TYPE(type, reason) {type, reason},
#include "hugging_face.def"
#undef REFUSED_TYPE
};
static const struct refusal field_refusal[] = {
#define REFUSED_FIELD(field, reason) {field, reason},
#include "hugging_face.def"
#undef REFUSED_FIELD
};
enum {
    N_TYPE_REFUSALS = sizeof type_refusal / sizeof type_refusal[0],
    N_FIELD_REFUSALS = sizeof field_refusal / sizeof field_refusal[0],
};

static const char *const known_fields =
#define KNOWN_FIELDS
#include "hugging_face.def"
#undef KNOWN_FIELDS
    ;
static const char *const family_fields =
#define FAMILY_FIELDS
#include "hugging_face.def"
#undef FAMILY_FIELDS
    ;

const struct family *family_find(const char *type)
{
    for (int i = 0; i < N_FAMILIES; i++)
        if (strcmp(family[i].type, type) == 0) return &family[i];
    return NULL;
}

const char *refused_type(const char *type)
{
    for (int i = 0; i < N_TYPE_REFUSALS; i++)
        if (strcmp(type_refusal[i].word, type) == 0) return type_refusal[i].reason;
    return NULL;
}

/* Does `text` match pattern[n], in which `*` stands for any characters? */
static bool matches(const char *pattern, size_t n, const char *text)
{
    if (n == 0) return *text == '\0';
    if (*pattern == '*') return matches(pattern + 1, n - 1, text) || (*text != '\0' && matches(pattern, n, text + 1));
    return *text == *pattern && matches(pattern + 1, n - 1, text + 1);
}

/* Is `field` one of the words, which are separated by spaces? */
static bool is_one_of(const char *words, const char *field)
{
    for (const char *word = words; *word != '\0';) {
        const size_t n = strcspn(word, " ");
        if (matches(word, n, field)) return true;
        word += n + strspn(word + n, " ");
    }
    return false;
}

int64_t default_count(const struct reading *reading, const char *names, int64_t fallback)
{
    for (int i = 0; reading->family != NULL && i < N_LEFT_OUT; i++)
        if (strcmp(left_out[i].type, reading->family->type) == 0 && is_one_of(names, left_out[i].field) &&
            node_find(reading->config, left_out[i].field) == NULL) /* an explicit null is not left out */
            return left_out[i].value;
    return fallback;
}

void check_synonyms(struct reading *reading, const char *names, const struct node *node)
{
    for (const struct node *other = reading->config->first; other != NULL; other = other->next)
        if (is_one_of(names, other->key) && other->kind == NODE_TEXT && node->kind == NODE_TEXT && !field_is_null(other) &&
            strcmp(other->text, node->text) != 0) {
            reading_refuse(reading, other, "%s: `%.60s` contradicts %s: %.60s; give one of them", other->key, other->text,
                           node->key, node->text);
            return;
        }
}

void warn_unread(struct reading *reading, const char *names)
{
    const struct node *const node = field_find(reading, names);
    if (node != NULL && reading->family != NULL)
        reading_warn(reading, "%s is modelled, though the code of %s does not read it", node->key, reading->family->type);
}

/* Null, false, 0, "" and empty lists say that the feature is off. */
static bool is_off(const struct node *node)
{
    if (node->kind != NODE_TEXT) return node->n_children == 0;
    if (field_is_null(node) || node->text[0] == '\0') return true;
    char *end;
    return strcmp(node->text, "false") == 0 || (strtod(node->text, &end) == 0 && *end == '\0');
}

static void note_unknown(struct reading *reading, const char *field)
{
    const size_t used = strlen(reading->unknown), room = sizeof reading->unknown - used;
    char text[64];
    const int n = snprintf(text, sizeof text, "%s%.56s", used > 0 ? ", " : "", field);
    reading->n_unknown++;
    if ((size_t)n < room) memcpy(reading->unknown + used, text, (size_t)n + 1);
    else reading->n_unnamed++;
}

void warn_of_unknown(struct reading *reading)
{
    if (reading->n_unnamed > 0)
        reading_warn(reading, "%s and %d more are not understood", reading->unknown, reading->n_unnamed);
    else if (reading->n_unknown > 0)
        reading_warn(reading, "%s %s not understood", reading->unknown, reading->n_unknown > 1 ? "are" : "is");
}

/* Does the field change the structure beyond the model? */
static bool is_refused(struct reading *reading, const struct node *node)
{
    for (int i = 0; i < N_FIELD_REFUSALS; i++)
        if (matches(field_refusal[i].word, strlen(field_refusal[i].word), node->key)) {
            reading_refuse(reading, node,
                           "%s: this model cannot be represented: %s; take a preset or give comparable "
                           "facts inline",
                           node->key, field_refusal[i].reason);
            return true;
        }
    return false;
}

static void check_field(struct reading *reading, const struct node *node)
{
    if (has_trait(reading, HYBRID) && strncmp(node->key, "mamba_", 6) == 0) return; /* of no layer */
    if (is_refused(reading, node)) return;
    if (has_trait(reading, NESTED) && node->kind == NODE_MAP && is_one_of("attn_config ffn_config", node->key)) {
        for (const struct node *inner = node->first; inner != NULL; inner = inner->next)
            if (!is_off(inner)) check_field(reading, inner);
        return;
    }
    if (is_one_of(known_fields, node->key) || (reading->family != NULL && is_one_of(family_fields, node->key)) ||
        (has_trait(reading, NESTED) && strstr(node->key, "_config") != NULL))
        return;
    if (reading->family != NULL) note_unknown(reading, node->key);
    else
        reading_refuse(reading, node,
                       "%s: neither this field nor the model_type is known, so it may change the structure; "
                       "remove it if it does not, or give the facts inline",
                       node->key);
}

/* MiniMax: 1 is softmax attention, 0 linear. */
static void check_attention_types(struct reading *reading)
{
    const struct node *const list = field_find(reading, "attn_type_list");
    for (const struct node *item = list != NULL ? list->first : NULL; item != NULL; item = item->next)
        if (item->kind == NODE_TEXT && is_off(item)) {
            reading_refuse(reading, item,
                           "attn_type_list: this model cannot be represented: some layers are linear "
                           "attention; take a preset or give comparable facts inline");
            return;
        }
}

void check_fields(struct reading *reading)
{
    assert(reading->config->kind == NODE_MAP);
    for (const struct node *node = reading->config->first; node != NULL; node = node->next)
        if (!is_off(node)) check_field(reading, node);
    for (const struct node *node = reading->outer->first; reading->outer != reading->config && node != NULL;
         node = node->next)
        if (!is_off(node)) is_refused(reading, node);
    check_attention_types(reading);
}
