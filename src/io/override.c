/* override: --set KEY=VALUE, put into the tree before anything is read from it (DESIGN section 2, end).
 *
 * A key is a path: members of maps by name, items of lists by number from 0 or by their `name`. */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

/* All nodes of the value say which override they came from (reader.h). */
static void mark_lines(struct node *node, int line)
{
    node->line = line;
    for (struct node *child = node->first; child; child = child->next) mark_lines(child, line);
}

/* The item of a list that `path` begins with; `*n` is the length of that step. A name may hold dots: the longest counts. */
static struct node *find_item(const struct node *list, const char *path, size_t *n)
{
    struct node *found = NULL;
    int i = 0;
    *n = strcspn(path, ".");
    const bool is_number = *n > 0 && *n <= 6 && strspn(path, "0123456789") == *n;
    for (struct node *item = list->first; item; item = item->next, i++)
        if (is_number && strtol(path, NULL, 10) == i) found = item;
    for (struct node *item = list->first; item; item = item->next) {
        const struct node *const name = node_find(item, "name");
        const size_t n_name = name && name->kind == NODE_TEXT ? strlen(name->text) : 0;
        const bool matches =
            n_name > 0 && strncmp(path, name->text, n_name) == 0 && (path[n_name] == '.' || path[n_name] == '\0');
        if (matches && (!found || n_name > *n)) {
            found = item;
            *n = n_name;
        }
    }
    return found;
}

/* The member of a map that `path` begins with, made where it is missing. */
static struct node *find_or_add_member(struct node *map, const char *path, size_t *n, int line, struct arena *arena)
{
    *n = strcspn(path, ".");
    char *const key = arena_alloc(arena, *n + 1, 1);
    memcpy(key, path, *n);
    struct node **tail = &map->first;
    for (; *tail; tail = &(*tail)->next)
        if (strcmp((*tail)->key, key) == 0) return *tail;
    struct node *const member = arena_alloc(arena, 1, sizeof *member);
    *member = (struct node){.kind = NODE_MAP, .line = line, .key = key};
    *tail = member;
    map->n_children++;
    return member;
}

/* Value takes the place of `target`, which keeps its key and its neighbours. */
static void replace(struct node *target, const struct node *value)
{
    char *const key = target->key;
    struct node *const next = target->next;
    *target = *value;
    target->key = key;
    target->next = next;
}

/* The value as YAML; a command line has no lines to name. */
static struct node *value_parse(const char *text, const char *place, const struct reader *reader)
{
    const int n_before = reader->errors->n;
    struct node *const value = tree_parse(text, strlen(text), place, 0, reader->arena, reader->errors);
    for (int i = n_before; i < reader->errors->n; i++) reader->errors->item[i].line = 0;
    return value;
}

/* One step of a path from `from`, made where a map lacks it; NULL after an error. `*n` is the length of the step. */
static struct node *take_step(const struct reader *reader, struct node *from, const char *path, size_t *n, int line,
                              const char *place)
{
    if (node_is_empty(from))
        *from = (struct node){.kind = NODE_MAP, .line = from->line, .key = from->key, .next = from->next};
    if (from->kind == NODE_MAP) return find_or_add_member(from, path, n, line, reader->arena);
    struct node *const item = from->kind == NODE_LIST ? find_item(from, path, n) : NULL;
    if (!item && from->kind == NODE_LIST)
        error_add(reader->errors, STATUS_INPUT, place, 0,
                  "no item %.*s in a list of %d; give its number from 0, or its name",
                  (int)(*n < SHOWN_CHARS ? *n : SHOWN_CHARS), path, from->n_children);
    else if (!item)
        error_add(reader->errors, STATUS_INPUT, place, 0,
                  "\"%.*s\" in the file is a single value and has no members; set that key instead", SHOWN_CHARS,
                  from->text);
    return item;
}

int override_apply(const struct reader *reader, struct node *root, int i)
{
    const char *const set = reader->sets[i];
    const size_t n_key = strcspn(set, "=");
    char place[PATH_CHARS];
    snprintf(place, sizeof place, "--set %.*s", n_key == 0 ? 160 : (int)(n_key < 160 ? n_key : 160), set);
    if (n_key == 0 || !set[n_key] || set[0] == '.' || set[n_key - 1] == '.')
        return error_add(reader->errors, STATUS_INPUT, place, 0, "no override; give KEY=VALUE, as in plan.tp=8");
    for (int j = 0; j < i; j++)
        if (strncmp(reader->sets[j], set, n_key + 1) == 0)
            return error_add(reader->errors, STATUS_INPUT, place, 0, "given twice, the second time as %.*s; give it once",
                             SHOWN_CHARS, set + n_key + 1);
    char *const path = arena_alloc(reader->arena, n_key + 1, 1);
    memcpy(path, set, n_key);
    struct node *const value = value_parse(set + n_key + 1, place, reader);
    if (!value) return -1;
    mark_lines(value, -1 - i);
    struct node *target = root;
    for (const char *step = path; *step;) {
        size_t n = 0;
        target = take_step(reader, target, step, &n, -1 - i, place);
        if (!target) return -1;
        step += n + (step[n] == '.');
    }
    replace(target, value);
    return 0;
}
