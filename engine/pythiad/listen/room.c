#include "room.h"

#include "pythia/mem.h"

#define AHEAD_MIN  ((size_t)16 * 1024)
#define AHEAD_PART 256

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

/* Whoever sends little of many bodies must not keep others out by what is allocated ahead: that is
 * at most half of what has come, or a small part of what is free. */
static size_t choose_ahead_max(const struct pythia__room *r, size_t need)
{
    if (!r || r->max == 0)
        return SIZE_MAX;
    size_t part = r->max > r->used ? (r->max - r->used) / AHEAD_PART : 0, ahead = need / 2;
    ahead = ahead > part ? ahead : part;
    return need + (ahead > AHEAD_MIN ? ahead : AHEAD_MIN);
}

/* Where there is little room, a body grows by less, but by an eighth as long as that is there: each
 * growth may copy it. A body that is longer than announced grows as one whose length is unknown. */
bool pythia__room_reserve(struct pythia__room *r, struct pythia_buf *b, size_t *taken, size_t size,
                          size_t all)
{
    size_t need = b->size + size, ahead = all >= need ? PYTHIA__ROOM_AHEAD * need : 2 * need;
    size_t most = choose_ahead_max(r, need);
    if (b->failed || need < b->capacity)
        return true;
    ahead = ahead < most ? ahead : most;
    if (all >= need && ahead > all)
        ahead = all;
    for (; ahead > need + need / 8; ahead = need + (ahead - need) / 2)
        if (try_to_grow(r, b, taken, ahead))
            return true;
    return try_to_grow(r, b, taken, ahead == all ? all : need) || try_to_grow(r, b, taken, need);
}
