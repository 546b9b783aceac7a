/* tree: a text file as nodes (core.h draws it). */
#include "cosweep/core.h"

#include <string.h>

struct node *node_find(const struct node *map, const char *key)
{
    if (!map || map->kind != NODE_MAP) return NULL;
    for (struct node *node = map->first; node; node = node->next)
        if (strcmp(node->key, key) == 0) return node;
    return NULL;
}
