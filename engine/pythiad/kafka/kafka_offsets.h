/* Up to which offset a partition may be committed: as far as all requests are finished whose spans
 * were read up to there. Offsets advance body by body; a body counts once it is decoded and its
 * spans have been added, which need not be in the order in which bodies were read. */
#ifndef PYTHIA_PYTHIAD_KAFKA_OFFSETS_H
#define PYTHIA_PYTHIAD_KAFKA_OFFSETS_H

#include <stddef.h>
#include <stdint.h>

struct pythia__kafka_mark {
    int64_t next;      /* the offset after the body */
    uint64_t added_ns; /* when its spans were added; UINT64_MAX: they are not yet */
};

/* Public, by value; {0} is empty. The marks from `first` on are of bodies number `number` on. */
struct pythia__kafka_offsets {
    struct pythia__kafka_mark *marks;
    size_t first, count, capacity;
    uint64_t number;
    int64_t safe; /* may be committed; 0 before the first body */
};

/* A body was read, from offset `begin` to before `next`; *body is its number. PYTHIA_OK, or
 * PYTHIA_ENOMEM. */
int pythia__kafka_offsets_read(struct pythia__kafka_offsets *o, int64_t begin, int64_t next,
                               uint64_t *body);

/* A body that is not added yet got more: it was read to before `next`. */
void pythia__kafka_offsets_extend(struct pythia__kafka_offsets *o, uint64_t body, int64_t next);

/* The spans of a body were added at `now_ns`. */
void pythia__kafka_offsets_added(struct pythia__kafka_offsets *o, uint64_t body, uint64_t now_ns);

/* The offset that may be committed when the oldest open request came at `oldest_ns` (UINT64_MAX:
 * none is open): what was added before that belongs to finished requests. */
int64_t pythia__kafka_offsets_safe(struct pythia__kafka_offsets *o, uint64_t oldest_ns);

void pythia__kafka_offsets_free(struct pythia__kafka_offsets *o);

#endif
