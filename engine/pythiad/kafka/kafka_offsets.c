#include "kafka_offsets.h"

#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define NOT_YET UINT64_MAX

/* Marks are taken from the front and appended at the end; when the end of the array is reached,
 * those that are left move to its front if that frees half of it. */
static int reserve_mark(struct pythia__kafka_offsets *o)
{
    if (o->first > 0 && o->first + o->count == o->capacity && o->first >= o->capacity / 2) {
        memmove(o->marks, o->marks + o->first, o->count * sizeof(*o->marks));
        o->first = 0;
    }
    return pythia_grow(&o->marks, &o->capacity, o->first + o->count, sizeof(*o->marks));
}

int pythia__kafka_offsets_read(struct pythia__kafka_offsets *o, int64_t begin, int64_t next,
                               uint64_t *body)
{
    if (reserve_mark(o) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    /* Where it began, so that whoever comes next reads the first requests too. */
    if (o->number == 0 && o->count == 0)
        o->safe = begin;
    o->marks[o->first + o->count] = (struct pythia__kafka_mark){next, NOT_YET};
    *body = o->number + o->count++;
    return PYTHIA_OK;
}

static struct pythia__kafka_mark *find_mark(struct pythia__kafka_offsets *o, uint64_t body)
{
    return &o->marks[o->first + (size_t)(body - o->number)];
}

void pythia__kafka_offsets_extend(struct pythia__kafka_offsets *o, uint64_t body, int64_t next)
{
    find_mark(o, body)->next = next;
}

void pythia__kafka_offsets_added(struct pythia__kafka_offsets *o, uint64_t body, uint64_t now_ns)
{
    find_mark(o, body)->added_ns = now_ns;
}

int64_t pythia__kafka_offsets_safe(struct pythia__kafka_offsets *o, uint64_t oldest_ns)
{
    for (; o->count > 0; o->first++, o->count--, o->number++) {
        const struct pythia__kafka_mark *m = &o->marks[o->first];
        if (m->added_ns == NOT_YET || m->added_ns >= oldest_ns)
            return o->safe;
        o->safe = m->next;
    }
    o->first = 0;
    return o->safe;
}

void pythia__kafka_offsets_free(struct pythia__kafka_offsets *o)
{
    pythia_free(o->marks);
    *o = (struct pythia__kafka_offsets){.marks = NULL};
}
