/* Memory for bodies, which all listeners share: one that is being received, waits or is being
 * decoded has its place in it. On the loop's thread. */
#ifndef PYTHIA_PYTHIAD_ROOM_H
#define PYTHIA_PYTHIAD_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/otlp_count.h"

/* Public, by value. */
struct pythia__room {
    size_t used, max;                       /* bytes; max 0: any number */
    uint64_t refused_bodies, refused_bytes; /* for which there was none */
    uint64_t refused_spans;                 /* of those that were still being received, */
    uint64_t uncounted; /* and such bodies whose spans cannot be told: packed, or by HTTP */
};

/* Take `size` bytes of it; false if there is not so much: the caller counts the body as refused. */
static inline bool pythia__room_take(struct pythia__room *r, size_t size)
{
    if (r->max > 0 && size > r->max - (r->used < r->max ? r->used : r->max))
        return false;
    r->used += size;
    return true;
}

static inline void pythia__room_give(struct pythia__room *r, size_t size)
{
    r->used -= size;
}

static inline void pythia__room_refuse(struct pythia__room *r, size_t size)
{
    r->refused_bodies++;
    r->refused_bytes += size;
}

/* The next bytes of a body that was refused while it was being received. */
static inline void pythia__room_forget(struct pythia__room *r, struct pythia_otlp_count *c,
                                       const char *bytes, size_t size)
{
    r->refused_bytes += size;
    pythia_otlp_count_add(c, bytes, size);
}

/* That body has ended; NULL: its spans cannot be counted. */
static inline void pythia__room_forgotten(struct pythia__room *r, const struct pythia_otlp_count *c)
{
    r->refused_spans += c ? c->spans : 0;
    r->uncounted += !c;
}

#endif
