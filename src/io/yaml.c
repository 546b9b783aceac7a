/* yaml: a text file as a tree; the only file that sees libyaml.  JSON is read as the YAML it is.
 *
 * Takes the part of YAML that people write by hand.  What makes a small file large (aliases), or lets it mean something else
 * than it says (tags, duplicate keys, several documents), is refused (io.h). */
#define _POSIX_C_SOURCE 200809L
#include "cosweep/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

enum { MAX_NESTING = 32, MAX_FILE_BYTES = 64 << 20, MAX_NODES = 2000000, SHOWN_CHARS = 60 };

struct builder {
    struct arena *arena;
    struct errors *errors;
    const char *name;
    int first_line;
    int n_nodes;
    int depth; /* open lists and maps */
    struct node *open[MAX_NESTING];
    struct node **tail[MAX_NESTING]; /* where the next child of open[i] goes */
    char *key[MAX_NESTING];          /* of the member to come; NULL where a key must come */
    struct node *root;
};

static int refuse(struct builder *builder, int line, const char *what)
{
    return error_add(builder->errors, STATUS_INPUT, builder->name, line, "%s", what);
}

/* A new node as child of the innermost open one, or as root. The scalar's text is stored behind its node. */
static struct node *append_node(struct builder *builder, enum node_kind kind, int line, const char *text, size_t n)
{
    struct node *const node = arena_alloc(builder->arena, 1, sizeof *node + (kind == NODE_TEXT ? n + 1 : 0));
    node->kind = kind;
    node->line = line;
    if (kind == NODE_TEXT) {
        node->text = (char *)(node + 1);
        memcpy(node->text, text, n);
    }
    if (builder->depth == 0) {
        builder->root = node;
        return node;
    }
    const int inner = builder->depth - 1;
    node->key = builder->key[inner];
    builder->key[inner] = NULL;
    builder->open[inner]->n_children++;
    *builder->tail[inner] = node;
    builder->tail[inner] = &node->next;
    return node;
}

static bool wants_key(const struct builder *builder)
{
    const int inner = builder->depth - 1;
    return inner >= 0 && builder->open[inner]->kind == NODE_MAP && !builder->key[inner];
}

static int open_node(struct builder *builder, enum node_kind kind, int line)
{
    if (wants_key(builder)) return refuse(builder, line, "a key must be a word, not a list or map");
    if (builder->depth == MAX_NESTING) return refuse(builder, line, "nested more than 32 deep; nothing here needs that");
    struct node *const node = append_node(builder, kind, line, NULL, 0);
    builder->open[builder->depth] = node;
    builder->tail[builder->depth] = &node->first;
    builder->key[builder->depth] = NULL;
    builder->depth++;
    return 0;
}

static int by_key_and_line(const void *a, const void *b)
{
    const struct node *const x = *(struct node *const *)a, *const y = *(struct node *const *)b;
    const int order = strcmp(x->key, y->key);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* Sorted, because a hostile file may hold a million keys. */
static int check_keys(struct builder *builder, const struct node *map)
{
    int status = 0;
    const size_t n = (size_t)map->n_children;
    if (map->kind != NODE_MAP || n < 2) return 0;
    struct node **const sorted = malloc(n * sizeof *sorted);
    if (!sorted) return refuse(builder, map->line, "out of memory");
    size_t i = 0;
    for (struct node *node = map->first; node; node = node->next) sorted[i++] = node;
    qsort(sorted, n, sizeof *sorted, by_key_and_line);
    for (i = 1; i < n; i++)
        if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
            status = error_add(builder->errors, STATUS_INPUT, builder->name, sorted[i]->line,
                               "%.*s: given twice, first in line %d; remove one", SHOWN_CHARS, sorted[i]->key,
                               sorted[i - 1]->line);
    free(sorted);
    return status;
}

static int add_scalar(struct builder *builder, const yaml_event_t *event, int line)
{
    const char *const text = (const char *)event->data.scalar.value;
    const size_t n = event->data.scalar.length;
    if (strlen(text) != n) return refuse(builder, line, "a zero byte in a value; remove it");
    if (wants_key(builder)) {
        builder->key[builder->depth - 1] = arena_text(builder->arena, text);
        return 0;
    }
    append_node(builder, NODE_TEXT, line, text, n)->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return 0;
}

/* Whether an event carries an anchor or a tag; a "!" before a quoted text or a "!!str" is one, too. */
static bool is_decorated(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT: return event->data.scalar.anchor || event->data.scalar.tag;
    case YAML_SEQUENCE_START_EVENT: return event->data.sequence_start.anchor || event->data.sequence_start.tag;
    case YAML_MAPPING_START_EVENT: return event->data.mapping_start.anchor || event->data.mapping_start.tag;
    default: return false;
    }
}

static int add_event(struct builder *builder, const yaml_event_t *event)
{
    const int line = builder->first_line + (int)event->start_mark.line;
    if (is_decorated(event))
        return refuse(builder, line, "anchors (&) and tags (!) are not supported; quote the text or write the value out");
    if (++builder->n_nodes > MAX_NODES) return refuse(builder, line, "more than 2,000,000 values; nothing here needs that");
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (builder->root) return refuse(builder, line, "a second document (---); give each a file of its own");
        if (event->data.document_start.tag_directives.start != event->data.document_start.tag_directives.end)
            return refuse(builder, line, "tag directives (%TAG) are not supported; remove them");
        return 0;
    case YAML_ALIAS_EVENT:
        return refuse(builder, line, "aliases (*) are not supported; write the value out, or quote the text");
    case YAML_SCALAR_EVENT: return add_scalar(builder, event, line);
    case YAML_SEQUENCE_START_EVENT: return open_node(builder, NODE_LIST, line);
    case YAML_MAPPING_START_EVENT: return open_node(builder, NODE_MAP, line);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: builder->depth--; return check_keys(builder, builder->open[builder->depth]);
    default: return 0;
    }
}

static int lines_before(const char *text, size_t offset)
{
    int n = 0;
    for (size_t i = 0; i < offset; i++) n += text[i] == '\n';
    return n;
}

/* Whether the line of the mark is indented with a tab, the usual cause of a syntax error. */
static bool is_tab(const char *text, size_t n, const yaml_mark_t *mark)
{
    size_t start = 0;
    for (size_t line = 0; line < mark->line && start < n; start++) line += text[start] == '\n';
    size_t i = start;
    while (i < n && text[i] == ' ') i++;
    return i < n && text[i] == '\t';
}

/* libyaml's own complaint, with the line it is about. */
static int refuse_syntax(struct builder *builder, const yaml_parser_t *parser, const char *text, size_t n)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return error_add(builder->errors, STATUS_SYSTEM, builder->name, 0, "out of memory");
    if (parser->error == YAML_READER_ERROR) {
        const size_t offset = parser->problem_offset < n ? parser->problem_offset : n;
        const int line = builder->first_line + lines_before(text, offset);
        return error_add(builder->errors, STATUS_INPUT, builder->name, line, "%s; the file must be UTF-8 text",
                         parser->problem);
    }
    const yaml_mark_t mark = parser->problem_mark;
    const int line = builder->first_line + (int)mark.line;
    if (strcmp(parser->problem, "did not find expected <document start>") == 0)
        return refuse(builder, line, "text after the end of the value; remove it");
    if (is_tab(text, n, &mark)) return refuse(builder, line, "a tab where YAML wants spaces; indent with spaces");
    if (!parser->context || builder->first_line == 0)
        return error_add(builder->errors, STATUS_INPUT, builder->name, line, "not YAML: %s", parser->problem);
    return error_add(builder->errors, STATUS_INPUT, builder->name, line, "not YAML: %s, %s (from line %d)", parser->problem,
                     parser->context, builder->first_line + (int)parser->context_mark.line);
}

struct node *tree_parse(const char *text, size_t n, const char *name, int first_line, struct arena *arena,
                        struct errors *errors)
{
    struct builder builder = {.arena = arena, .errors = errors, .name = name, .first_line = first_line};
    yaml_parser_t parser;
    yaml_event_t event;
    int status = 0;
    if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* some editors mark UTF-8 */
        text += 3;
        n -= 3;
    }
    if (!yaml_parser_initialize(&parser)) {
        error_add(errors, STATUS_SYSTEM, name, 0, "out of memory");
        return NULL;
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING); /* else bytes that look like UTF-16 would be taken for it */
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, n);
    for (bool more = true; more && status == 0;) {
        if (!yaml_parser_parse(&parser, &event)) {
            status = refuse_syntax(&builder, &parser, text, n);
            break;
        }
        more = event.type != YAML_STREAM_END_EVENT;
        status = add_event(&builder, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    if (status == 0 && !builder.root) status = refuse(&builder, 0, "is empty; give at least one value");
    return status == 0 ? builder.root : NULL;
}

/* All bytes of an open file, in memory of malloc; not by its size, because a pipe has none.  NULL after an error. */
static char *read_stream(FILE *from, const char *path, size_t *n, struct errors *errors)
{
    char *bytes = NULL;
    *n = 0;
    for (size_t capacity = 1 << 16;; capacity *= 2) {
        char *const larger = realloc(bytes, capacity);
        if (!larger) {
            error_add(errors, STATUS_SYSTEM, path, 0, "out of memory");
            break;
        }
        bytes = larger;
        *n += fread(bytes + *n, 1, capacity - *n, from);
        if (*n < capacity && !ferror(from) && *n <= MAX_FILE_BYTES) return bytes;
        if (ferror(from)) {
            error_add(errors, STATUS_INPUT, path, 0, "cannot be read: %s", strerror(errno));
            break;
        }
        if (*n > MAX_FILE_BYTES) {
            error_add(errors, STATUS_INPUT, path, 0, "is larger than 64 MB; give a smaller file, a study is a few kB");
            break;
        }
    }
    free(bytes);
    return NULL;
}

static char *read_bytes(const char *path, size_t *n, struct errors *errors)
{
    char *bytes = NULL;
    struct stat facts;
    if (strcmp(path, "-") == 0) return read_stream(stdin, STANDARD_INPUT, n, errors);
    if (stat(path, &facts) == 0 && S_ISFIFO(facts.st_mode) && strncmp(path, "/dev/", 5) != 0) {
        error_add(errors, STATUS_INPUT, path, 0, "is a pipe; give a file, or - for standard input");
        return NULL;
    }
    FILE *const from = fopen(path, "rb");
    if (!from || fstat(fileno(from), &facts) != 0)
        error_add(errors, STATUS_INPUT, path, 0, "cannot be read: %s", strerror(errno));
    else if (S_ISDIR(facts.st_mode)) error_add(errors, STATUS_INPUT, path, 0, "is a folder; give a file");
    else bytes = read_stream(from, path, n, errors);
    if (from) fclose(from);
    return bytes;
}

struct node *tree_read(const char *path, struct arena *arena, struct errors *errors)
{
    size_t n = 0;
    char *const bytes = read_bytes(path, &n, errors);
    if (!bytes) return NULL;
    struct node *const root = tree_parse(bytes, n, strcmp(path, "-") == 0 ? STANDARD_INPUT : path, 1, arena, errors);
    free(bytes);
    return root;
}
