#include "room.h"

#include "pythia/mem.h"

/* The last byte of a buffer is its NUL, and is not counted: a body of --body-max bytes has a place
 * in as much room. */
static bool try_to_grow(struct pythia__room *r, struct pythia_buf *b, size_t *taken, size_t bytes)
{
    size_t more = bytes - *taken;
    if (r && !pythia__room_take(r, more))
        return false;
    char *moved = pythia_realloc(b->bytes, bytes + 1, 1);
    if (!moved) {
        if (r)
            pythia__room_give(r, more);
        b->failed = 1;
        return true;
    }
    b->bytes = moved;
    b->capacity = bytes + 1;
    *taken = r ? bytes : 0;
    return true;
}

bool pythia__room_reserve(struct pythia__room *r, struct pythia_buf *b, size_t *taken, size_t size,
                          size_t all)
{
    size_t need = b->size + size;
    size_t ahead = all ? PYTHIA__ROOM_AHEAD * need : 2 * need;
    if (b->failed || need < b->capacity)
        return true;
    if (all && ahead > all)
        ahead = all;
    return (ahead > need && try_to_grow(r, b, taken, ahead)) || try_to_grow(r, b, taken, need);
}
