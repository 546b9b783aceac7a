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
    for (struct node *child = node->first; child; child = child->next)
        mark_lines(child, line);
}

/* The item of a list that `path` begins with; `*n` is the length of that step. A name may hold dots: the longest counts. */
static struct node *find_item(const struct node *list, const char *path, size_t *n)
{
    struct node *found = NULL;
    int i = 0;
    *n = strcspn(path, ".");
    const bool is_number = *n > 0 && *n <= 6 && strspn(path, "0123456789") == *n;
    for (struct node *item = list->first; item; item = item->next, i++)
        if (is_number && atoi(path) == i)
            found = item;
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
        if (strcmp((*tail)->key, key) == 0)
            return *tail;
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
    for (int i = n_before; i < reader->errors->n; i++)
        reader->errors->item[i].line = 0;
    return value;
}

int override_apply(const struct reader *reader, struct node *root, int i)
{
    const char *const set = reader->sets[i];
    const size_t n_key = strcspn(set, "=");
    char place[PATH_CHARS];
    snprintf(place, sizeof place, "--set %.*s", (int)(n_key < 160 ? n_key : 160), set);
    if (n_key == 0 || !set[n_key] || set[0] == '.' || set[n_key - 1] == '.')
        return error_add(reader->errors, STATUS_INPUT, place, 0, "no override; give KEY=VALUE, as in plan.tp=8");
    char *const path = arena_alloc(reader->arena, n_key + 1, 1);
    memcpy(path, set, n_key);
    struct node *const value = value_parse(set + n_key + 1, place, reader);
    if (!value)
        return -1;
    mark_lines(value, -1 - i);
    struct node *target = root;
    for (const char *step = path;;) {
        size_t n = 0;
        if (node_is_empty(target))
            *target = (struct node){.kind = NODE_MAP, .line = target->line, .key = target->key, .next = target->next};
        struct node *const next = target->kind == NODE_MAP    ? find_or_add_member(target, step, &n, -1 - i, reader->arena)
                                  : target->kind == NODE_LIST ? find_item(target, step, &n)
                                                              : NULL;
        if (!next && target->kind == NODE_LIST)
            return error_add(reader->errors, STATUS_INPUT, place, 0,
                             "no item %.*s in a list of %d; give its number from 0, or its name", SHOWN_CHARS, step,
                             target->n_children);
        if (!next)
            return error_add(reader->errors, STATUS_INPUT, place, 0,
                             "\"%.*s\" in the file is a single value and has no "
                             "members; set that key instead",
                             SHOWN_CHARS, target->text);
        target = next;
        if (!step[n])
            break;
        step += n + 1;
    }
    replace(target, value);
    return 0;
}
