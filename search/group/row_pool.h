/* Memory of rows. They come and go by the thousand, each of another size, and some kilobytes large:
 * the heap would search long lists for each. */
#ifndef PYTHIA_SEARCH_ROW_POOL_H
#define PYTHIA_SEARCH_ROW_POOL_H

#include <stddef.h>

#include "pythia/arena.h"

#define PYTHIA__ROW_SIZES 112 /* of blocks: 16 up to 1 KiB, and 16 more for each doubling */

struct pythia__spare_block;

/* All zero: an empty one. */
struct pythia__row_pool {
    struct pythia_arena arena;
    struct pythia__spare_block *spare[PYTHIA__ROW_SIZES];
    size_t large_bytes; /* of blocks that were made by the heap */
};

/* Every block must have been given back. */
void pythia__row_pool_free(struct pythia__row_pool *p);

/* A block of *size bytes at least, not zeroed; then *size is what it has, some percent more. NULL
 * when out of memory. */
void *pythia__row_pool_take(struct pythia__row_pool *p, size_t *size);

/* Give one back, with the size that it has: it is kept for the next. */
void pythia__row_pool_give(struct pythia__row_pool *p, void *block, size_t size);

/* Give `to` all memory of `from`, which is empty then: blocks of `from` are given back to `to` from
 * now on. O(blocks that wait, and blocks of the arena). */
void pythia__row_pool_join(struct pythia__row_pool *to, struct pythia__row_pool *from);

/* The memory that it holds, whether in use or not. */
size_t pythia__row_pool_bytes(const struct pythia__row_pool *p);

#endif
