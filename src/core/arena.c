/* arena: memory that is freed all at once.
 *
 *     block -> block -> ... -> NULL        newest first; each is a header of 64 bytes, then its storage */
#include "cosweep/core.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, BLOCK_BYTES = 64 * 1024 };

struct arena_block {
    struct arena_block *next;
    size_t used, size; /* bytes of storage */
};
_Static_assert(sizeof(struct arena_block) <= ALIGNMENT, "the header fits before the first aligned byte");

_Noreturn void out_of_memory(void)
{
    fprintf(stderr,
            "cosweep: out of memory; fewer threads or ranks on this machine and coarser grids take less, `cosweep size` "
            "predicts it\n");
    abort();
}

static struct arena_block *block_open(size_t size)
{
    struct arena_block *const block = aligned_alloc(ALIGNMENT, ALIGNMENT + size);
    if (!block) out_of_memory();
    *block = (struct arena_block){.size = size};
    return block;
}

void *arena_alloc(struct arena *arena, size_t n, size_t size)
{
    if (size > 0 && n > (SIZE_MAX / 2) / size) out_of_memory();
    const size_t bytes = (n * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct arena_block *block = arena->block;
    if (!block || block->size - block->used < bytes) {
        block = block_open(bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES);
        /* A block for one large object is full at once: keep filling the one before it. */
        if (bytes > BLOCK_BYTES && arena->block) {
            block->next = arena->block->next;
            arena->block->next = block;
        } else {
            block->next = arena->block;
            arena->block = block;
        }
    }
    void *const start = (char *)block + ALIGNMENT + block->used;
    block->used += bytes;
    return memset(start, 0, bytes);
}

char *arena_text(struct arena *arena, const char *text)
{
    const size_t n = strlen(text) + 1;
    return memcpy(arena_alloc(arena, n, 1), text, n);
}

void arena_free(struct arena *arena)
{
    while (arena->block) {
        struct arena_block *const block = arena->block;
        arena->block = block->next;
        free(block);
    }
}
