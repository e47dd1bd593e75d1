#ifndef PYTHIA_ARENA_H
#define PYTHIA_ARENA_H

#include <stddef.h>

/* Memory that is given back all at once: pieces are cut from large blocks, and the blocks are kept
 * for the next round by _clear. Public so that it can be embedded; one thread at a time. */
struct pythia_arena {
    struct pythia_arena_block *blocks, *current; /* the list, and the block that is being cut */
    char *next, *end;                            /* what is left of the current block */
    size_t held;                                 /* bytes of all blocks */
};

static inline void pythia_arena_init(struct pythia_arena *a)
{
    *a = (struct pythia_arena){0};
}
/* Free all blocks: all pieces become invalid. The arena is empty, and usable. */
void pythia_arena_free(struct pythia_arena *a);

/* Forget every piece and keep the blocks. O(1). */
void pythia_arena_clear(struct pythia_arena *a);

/* Give `to` all blocks of `from`, which is empty then: its pieces are valid as long as those of
 * `to`. O(blocks of `from`). */
void pythia_arena_join(struct pythia_arena *to, struct pythia_arena *from);

/* The memory that it holds. */
static inline size_t pythia_arena_bytes(const struct pythia_arena *a)
{
    return a->held;
}

/* `size` bytes, not zeroed, aligned for any type; NULL when out of memory. Borrowed: until _clear
 * or _free. */
void *pythia_arena_alloc(struct pythia_arena *a, size_t size);

#endif
