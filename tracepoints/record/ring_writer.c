/* SPDX-License-Identifier: MIT */
#include "ring_writer.h"

#include "process.h"

int pythia__ring_look(struct pythia__ring *r, uint64_t wanted)
{
    uint64_t tail = __atomic_load_n(&r->control->tail, __ATOMIC_ACQUIRE), used = r->head - tail;
    if (used > r->capacity) /* ahead of the head, or too far behind: no reader has written that */
        return 0;
    r->tail = tail;
    if (used + wanted > r->capacity / 2)
        pythia__flusher_ring();
    return used + wanted <= r->capacity;
}
