/* Sizes are 64, 128, … 1024 bytes, and from there on in steps of a 16th of the last power of two:
 * at most 6 % of a block are not used. Blocks are cut from an arena, and one that is given back
 * waits in the list of its size. What is larger than the last size is left to the heap, as it is
 * rare. */
#include "row_pool.h"

#include "pythia/mem.h"

#define STEPS      16
#define FIRST_LOG2 10 /* of the largest block whose step is the smallest */
#define LAST_SIZE  ((size_t)1 << (FIRST_LOG2 + PYTHIA__ROW_SIZES / STEPS - 1))

struct pythia__spare_block {
    struct pythia__spare_block *next;
};

/* The number of the smallest size that has room for *size bytes, which become that. */
static size_t size_class_of(size_t *size)
{
    size_t doublings = 0, largest = (size_t)1 << FIRST_LOG2;
    for (; largest < *size; largest *= 2)
        doublings++;
    size_t step = doublings ? largest / 2 / STEPS : largest / STEPS,
           steps = *size ? (*size + step - 1) / step : 1;
    *size = steps * step;
    return doublings ? doublings * STEPS + steps - STEPS - 1 : steps - 1;
}

void pythia__row_pool_free(struct pythia__row_pool *p)
{
    pythia_arena_free(&p->arena);
    *p = (struct pythia__row_pool){.large_bytes = 0};
}

/* A block of the next size does, too, before another one is cut. */
static struct pythia__spare_block **spare_of(struct pythia__row_pool *p, size_t number,
                                             size_t *size)
{
    if (p->spare[number] || number + 1 == PYTHIA__ROW_SIZES || !p->spare[number + 1])
        return &p->spare[number];
    *size += 1;
    (void)size_class_of(size);
    return &p->spare[number + 1];
}

void *pythia__row_pool_take(struct pythia__row_pool *p, size_t *size)
{
    if (*size > LAST_SIZE) {
        void *block = pythia_realloc(NULL, *size, 1);
        p->large_bytes += block ? *size : 0;
        return block;
    }
    size_t number = size_class_of(size);
    struct pythia__spare_block **spare = spare_of(p, number, size), *block = *spare;
    if (!block)
        return pythia_arena_alloc(&p->arena, *size);
    *spare = block->next;
    return block;
}

void pythia__row_pool_give(struct pythia__row_pool *p, void *block, size_t size)
{
    if (size > LAST_SIZE) {
        pythia_free(block);
        p->large_bytes -= size;
        return;
    }
    struct pythia__spare_block *spare = block, **list = &p->spare[size_class_of(&size)];
    spare->next = *list;
    *list = spare;
}

void pythia__row_pool_join(struct pythia__row_pool *to, struct pythia__row_pool *from)
{
    for (size_t i = 0; i < PYTHIA__ROW_SIZES; i++) {
        struct pythia__spare_block **end = &from->spare[i];
        while (*end)
            end = &(*end)->next;
        *end = to->spare[i];
        to->spare[i] = from->spare[i];
    }
    to->large_bytes += from->large_bytes;
    pythia_arena_join(&to->arena, &from->arena);
    *from = (struct pythia__row_pool){.large_bytes = 0};
}

size_t pythia__row_pool_bytes(const struct pythia__row_pool *p)
{
    return pythia_arena_bytes(&p->arena) + p->large_bytes;
}
