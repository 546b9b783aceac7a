/* reader: takes values out of a tree and complains about them (reader.h). */
#include "reader.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

const char *reader_file(const struct reader *reader, const struct node *node, char place[PATH_CHARS])
{
    if (node->line >= 0) return reader->file;
    const char *const set = reader->sets[-1 - node->line];
    snprintf(place, PATH_CHARS, "--set %.*s", (int)strcspn(set, "="), set);
    return place;
}

int reader_line(const struct node *node)
{
    return node->line > 0 ? node->line : 0;
}

int reader_error(const struct reader *reader, const struct node *node, const char *path, const char *format, ...)
{
    char place[PATH_CHARS], message[MESSAGE_CHARS];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return error_add(reader->errors, STATUS_INPUT, reader_file(reader, node, place), reader_line(node), "%s%s%s", path,
                     path[0] ? ": " : "", message);
}

void path_join(char path[PATH_CHARS], const char *parent, const char *key)
{
    snprintf(path, PATH_CHARS, "%.100s%s%.60s", parent, parent[0] ? "." : "", key[0] ? key : "\"\"");
}

bool node_is_empty(const struct node *node)
{
    return node->kind == NODE_TEXT && !node->quoted &&
           (!node->text[0] || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

static void join_words(char text[MESSAGE_CHARS], const char *const *words, int n)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < n && used < MESSAGE_CHARS; i++) {
        const int added = snprintf(text + used, MESSAGE_CHARS - used, "%s%s", i > 0 ? ", " : "", words[i]);
        used += (size_t)added;
    }
}

/* "; did you mean x?" or "; allowed: x, y, z" */
static void suggest(char text[MESSAGE_CHARS], const char *word, const char *const *words, int n)
{
    char all[MESSAGE_CHARS];
    const char *const nearest = nearest_word(word, words, n);
    join_words(all, words, n);
    if (nearest) snprintf(text, MESSAGE_CHARS, "did you mean %s?", nearest);
    else snprintf(text, MESSAGE_CHARS, "allowed: %.400s", all);
}

int reader_unknown_key(const struct reader *reader, const struct node *node, const char *path, const char *const *words,
                       int n)
{
    char cure[MESSAGE_CHARS];
    const char *const colon = strchr(node->key, ':');
    if (reader->errors->n == ERRORS_KEPT) return reader_error(reader, node, path, "unknown key"); /* counted only */
    for (int i = 0; colon && i < n; i++)
        if (strlen(words[i]) == (size_t)(colon - node->key) && strncmp(words[i], node->key, strlen(words[i])) == 0)
            return reader_error(reader, node, path, "no space after the colon; write %s: %.60s", words[i], colon + 1);
    suggest(cure, node->key, words, n);
    return reader_error(reader, node, path, "unknown key; %s", cure);
}

int reader_map(const struct reader *reader, const struct node *node, const char *path, const char *const *words, int n)
{
    int status = 0;
    char all[MESSAGE_CHARS], member[PATH_CHARS];
    join_words(all, words, n);
    if (node->kind != NODE_MAP || node->n_children == 0)
        return reader_error(reader, node, path, "%s; give a map with keys among %.360s",
                            node->kind == NODE_MAP || node_is_empty(node) ? "has no members"
                            : node->kind == NODE_LIST                     ? "is a list"
                                                                          : "is a single value",
                            all);
    for (const struct node *child = node->first; child; child = child->next) {
        bool known = false;
        for (int i = 0; i < n; i++) known = known || strcmp(words[i], child->key) == 0;
        path_join(member, path, child->key);
        if (!known) status = reader_unknown_key(reader, child, member, words, n);
    }
    return status;
}

static const char *kind_name(const struct node *node)
{
    return node->kind == NODE_LIST ? "is a list" : node->kind == NODE_MAP ? "is a map" : "has no value";
}

int reader_list_error(const struct reader *reader, const struct node *node, const char *path, int low, int high,
                      const char *things)
{
    char what[64], bounds[32];
    snprintf(what, sizeof what, "has %d item%s", node->n_children, node->n_children == 1 ? "" : "s");
    snprintf(bounds, sizeof bounds, high > low ? "%d to %d" : "%d", low, high);
    return reader_error(reader, node, path, "%s; give a list of %s %s",
                        node->kind == NODE_LIST                           ? what
                        : node->kind == NODE_TEXT && !node_is_empty(node) ? "is a single value"
                                                                          : kind_name(node),
                        bounds, things);
}

const char *reader_text(const struct reader *reader, const struct node *node, const char *path)
{
    if (node->kind == NODE_TEXT && !node_is_empty(node) && node->text[0]) return node->text;
    reader_error(reader, node, path, "%s; give a text", kind_name(node));
    return NULL;
}

/* What a name in a file, on a command line or in HDF5 may hold without quotes. */
static const char name_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

bool name_is_plain(const char *name)
{
    const size_t n = strlen(name);
    return n > 0 && n < NAME_CHARS && strspn(name, name_characters) == n && name[0] != '.';
}

void name_repair(char *name)
{
    for (char *c = name; *c; c++)
        if (!strchr(name_characters, *c) || (c == name && *c == '.')) *c = '-';
}

int reader_name(const struct reader *reader, const struct node *node, const char *path, char name[NAME_CHARS])
{
    const char *const text = reader_text(reader, node, path);
    if (!text) return -1;
    if (!name_is_plain(text))
        return reader_error(reader, node, path,
                            "\"%.*s\" is no name; use up to %d letters, digits, -, _ and ., no dot first", SHOWN_CHARS, text,
                            NAME_CHARS - 1);
    snprintf(name, NAME_CHARS, "%s", text);
    return 0;
}

int reader_word(const struct reader *reader, const struct node *node, const char *path, const char *const *words, int n)
{
    char cure[MESSAGE_CHARS];
    join_words(cure, words, n);
    if (node->kind != NODE_TEXT || node_is_empty(node))
        return reader_error(reader, node, path, "%s; give one of %.400s", kind_name(node), cure);
    for (int i = 0; i < n; i++)
        if (strcmp(words[i], node->text) == 0) return i;
    suggest(cure, node->text, words, n);
    return reader_error(reader, node, path, "\"%.*s\" is unknown; %.360s", SHOWN_CHARS, node->text, cure);
}

/* "a whole number from 1 to 65536" */
static void describe(char text[MESSAGE_CHARS], enum dimension dimension, double low, double high)
{
    char from[32], to[32];
    if (dimension == DIM_BOOL) snprintf(text, MESSAGE_CHARS, "true or false");
    else if (dimension == DIM_COUNT) snprintf(text, MESSAGE_CHARS, "a whole number from %.0f to %.0f", low, high);
    else if (dimension == DIM_FRACTION)
        snprintf(text, MESSAGE_CHARS, "a number from %s to %s", number_exact(from, low), number_exact(to, high));
    else
        snprintf(text, MESSAGE_CHARS, "a value from %s to %s", unit_format(from, low, dimension),
                 unit_format(to, high, dimension));
}

int reader_number(const struct reader *reader, const struct node *node, const char *path, enum dimension dimension,
                  double low, double high, double *value)
{
    char cure[MESSAGE_CHARS];
    const char *why;
    double number;
    describe(cure, dimension, low, high);
    if (node->kind != NODE_TEXT || node_is_empty(node))
        return reader_error(reader, node, path, "%s; give %.300s", kind_name(node), cure);
    if (unit_parse(node->text, dimension, &number, &why) != 0)
        return reader_error(reader, node, path, "\"%.*s\" %s", SHOWN_CHARS, node->text, why);
    if (number < low || number > high) {
        char bound[32];
        if (dimension == DIM_COUNT) snprintf(bound, sizeof bound, "%.0f", number < low ? low : high);
        else if (dimension == DIM_FRACTION) number_exact(bound, number < low ? low : high);
        else unit_format(bound, number < low ? low : high, dimension);
        return reader_error(reader, node, path, "%.*s is %s %s; give %.300s", SHOWN_CHARS, node->text,
                            number < low ? "below" : "above", bound, cure);
    }
    *value = number;
    return 0;
}

int reader_count(const struct reader *reader, const struct node *node, const char *path, int64_t low, int64_t high,
                 int64_t *value)
{
    double number = 0;
    if (reader_number(reader, node, path, DIM_COUNT, (double)low, (double)high, &number) != 0) return -1;
    *value = (int64_t)number;
    return 0;
}

int reader_bool(const struct reader *reader, const struct node *node, const char *path, bool *value)
{
    double number = 0;
    if (reader_number(reader, node, path, DIM_BOOL, 0, 1, &number) != 0) return -1;
    *value = number != 0;
    return 0;
}

int reader_knob(const struct reader *reader, const struct node *node, const char *path, const struct knob *knob,
                double *value)
{
    if (knob->dimension != DIM_CODE) return reader_number(reader, node, path, knob->dimension, knob->low, knob->high, value);
    char text[16][32];
    const char *words[16];
    const int n = (int)knob->high + 1;
    for (int i = 0; i < n; i++) words[i] = knob_word(knob, i, text[i]);
    const int code = reader_word(reader, node, path, words, n);
    if (code >= 0) *value = code;
    return code >= 0 ? 0 : -1;
}
