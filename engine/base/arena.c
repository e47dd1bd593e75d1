#include "pythia/arena.h"

#include <stdalign.h>
#include <stdint.h>

#include "pythia/mem.h"

#define BLOCK_BYTES ((size_t)64 * 1024)

struct pythia_arena_block {
    struct pythia_arena_block *next;
    size_t size;
    alignas(max_align_t) char bytes[];
};

void pythia_arena_free(struct pythia_arena *a)
{
    while (a->blocks) {
        struct pythia_arena_block *block = a->blocks;
        a->blocks = block->next;
        pythia_free(block);
    }
    pythia_arena_init(a);
}

static void use_block(struct pythia_arena *a, struct pythia_arena_block *block)
{
    a->current = block;
    a->next = block ? block->bytes : NULL;
    a->end = block ? block->bytes + block->size : NULL;
}

void pythia_arena_clear(struct pythia_arena *a)
{
    use_block(a, a->blocks);
}

/* The blocks of `from` go to the front of the list: those after the current one are free. */
void pythia_arena_join(struct pythia_arena *to, struct pythia_arena *from)
{
    struct pythia_arena_block *last = from->blocks;
    while (last && last->next)
        last = last->next;
    if (last && to->blocks) {
        last->next = to->blocks;
        to->blocks = from->blocks;
        to->held += from->held;
    } else if (last) {
        *to = *from;
    }
    pythia_arena_init(from);
}

void *pythia_arena_alloc(struct pythia_arena *a, size_t size)
{
    if (size >
        SIZE_MAX / 2) /* rounding it up, or putting a head before it, could make it small again */
        return NULL;
    if (size == 0) /* a piece, and not the NULL of an arena that has no block yet */
        size = 1;
    size = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    while ((size_t)(a->end - a->next) < size) {
        if (a->current && a->current->next) {
            use_block(a, a->current->next);
            continue;
        }
        size_t bytes = size > BLOCK_BYTES ? size : BLOCK_BYTES;
        struct pythia_arena_block *block = pythia_realloc(NULL, sizeof(*block) + bytes, 1);
        if (!block)
            return NULL;
        a->held += sizeof(*block) + bytes;
        *block = (struct pythia_arena_block){.next = NULL, .size = bytes};
        if (a->current)
            a->current->next = block;
        else
            a->blocks = block;
        use_block(a, block);
    }
    void *piece = a->next;
    a->next += size;
    return piece;
}
