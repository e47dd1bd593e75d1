/* Memory for bodies, which all listeners share: one that is being received, waits or is being
 * decoded has its place in it, with all that its buffer has allocated. On the loop's thread. */
#ifndef PYTHIA_PYTHIAD_ROOM_H
#define PYTHIA_PYTHIAD_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/span_count.h"

#define PYTHIA__ROOM_AHEAD 16 /* times as much as has come is allocated at most */

/* Public, by value. */
struct pythia__room {
    size_t used, max;                       /* bytes; max 0: any number */
    uint64_t refused_bodies, refused_bytes; /* for which there was none */
    uint64_t refused_spans;                 /* of bodies that were still being received, */
    uint64_t uncounted; /* and such bodies whose spans cannot be told: they are packed */
};

static inline bool pythia__room_has(const struct pythia__room *r, size_t size)
{
    return r->max == 0 || size <= r->max - (r->used < r->max ? r->used : r->max);
}

/* Take `size` bytes of it; false if there is not so much: the caller counts the body as refused. */
static inline bool pythia__room_take(struct pythia__room *r, size_t size)
{
    if (!pythia__room_has(r, size))
        return false;
    r->used += size;
    return true;
}

static inline void pythia__room_give(struct pythia__room *r, size_t size)
{
    r->used -= size;
}

/* Let the buffer of a body that is being received hold `size` more bytes. If it has to grow, it
 * grows to `all`, which its sender has announced (0: nothing), but to no more than several times
 * what has come, nor by more than a part of what is free, because anyone can announce much; or, if
 * there is no room for so much, by less, and at least by `size`. *taken is the room that it has;
 * `r` NULL: no limit. False if there is no room; without memory the buffer is marked as failed. */
bool pythia__room_reserve(struct pythia__room *r, struct pythia_buf *b, size_t *taken, size_t size,
                          size_t all);

static inline void pythia__room_refuse(struct pythia__room *r, size_t size)
{
    r->refused_bodies++;
    r->refused_bytes += size;
}

/* A body that was refused while it was being received; {0}: it is not. */
struct pythia__refused_body {
    bool begun, ended;
    pythia_span_counter *count; /* NULL: its spans cannot be counted */
    struct pythia_span_count so_far;
};

static inline void pythia__room_lose(struct pythia__room *r, struct pythia__refused_body *b,
                                     pythia_span_counter *count)
{
    *b = (struct pythia__refused_body){.begun = true, .count = count};
    r->refused_bodies++;
}

/* Take its next bytes. */
static inline void pythia__room_forget(struct pythia__room *r, struct pythia__refused_body *b,
                                       const char *bytes, size_t size)
{
    r->refused_bytes += size;
    if (b->count)
        b->count(&b->so_far, bytes, size);
}

/* It has ended, or its sender has gone: once, if it was refused at all. */
static inline void pythia__room_forgotten(struct pythia__room *r, struct pythia__refused_body *b)
{
    if (!b->begun || b->ended)
        return;
    b->ended = true;
    r->refused_spans += b->count ? b->so_far.spans : 0;
    r->uncounted += !b->count;
}

#endif
