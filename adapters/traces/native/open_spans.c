#include "open_spans.h"

#include <string.h>

#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define KEPT_BYTES 4096 /* of memory, for the next span of a number */

void pythia__open_spans_free(struct pythia__open_spans *o)
{
    for (size_t i = 0; i < o->count; i++)
        pythia_buf_free(&o->spans[i].attributes);
    pythia_free(o->spans);
    pythia_free(o->slots);
}

static uint32_t *slot_of(const struct pythia__open_spans *o, const struct pythia_trace_id *trace,
                         uint64_t id)
{
    uint64_t hash = pythia_hash_mix(pythia_hash_mix(trace->high, trace->low), id);
    return &o->slots[hash & (o->slot_count - 1)];
}

uint32_t pythia__open_spans_find(const struct pythia__open_spans *o,
                                 const struct pythia_trace_id *trace, uint64_t id)
{
    uint32_t number = o->slot_count ? *slot_of(o, trace, id) : 0;
    while (number && !(o->spans[number].span.id == id &&
                       pythia_trace_id_equal(o->spans[number].trace, *trace)))
        number = o->spans[number].chain;
    return number;
}

static int grow_slots(struct pythia__open_spans *o)
{
    size_t larger = o->slot_count ? o->slot_count * 2 : 64;
    uint32_t *slots = pythia_calloc(larger, sizeof(*slots));
    if (!slots)
        return PYTHIA_ENOMEM;
    pythia_free(o->slots);
    o->slots = slots;
    o->slot_count = larger;
    for (uint32_t i = o->oldest; i; i = o->spans[i].after) {
        uint32_t *slot = slot_of(o, &o->spans[i].trace, o->spans[i].span.id);
        o->spans[i].chain = *slot;
        *slot = i;
    }
    return PYTHIA_OK;
}

/* A number that nobody has; 0 when out of memory. */
static uint32_t take_span_number(struct pythia__open_spans *o)
{
    uint32_t number = o->free;
    if (number) {
        o->free = o->spans[number].chain;
        return number;
    }
    do { /* the first is nobody's */
        if (pythia_grow(&o->spans, &o->capacity, o->count, sizeof(*o->spans)) != PYTHIA_OK)
            return 0;
        memset(&o->spans[o->count], 0, sizeof(*o->spans));
        number = (uint32_t)o->count++;
    } while (number == 0);
    return number;
}

uint32_t pythia__open_spans_add(struct pythia__open_spans *o, const struct pythia_trace_id *trace,
                                uint64_t id)
{
    if (o->open >= o->slot_count && grow_slots(o) != PYTHIA_OK)
        return 0;
    uint32_t number = take_span_number(o);
    if (!number)
        return 0;
    struct pythia__open_span *s = &o->spans[number];
    struct pythia_buf attributes = s->attributes;
    uint32_t *slot = slot_of(o, trace, id);
    pythia_buf_clear(&attributes);
    *s = (struct pythia__open_span){
        .trace = *trace, .attributes = attributes, .chain = *slot, .before = o->newest};
    s->span.id = id;
    *slot = number;
    if (o->newest)
        o->spans[o->newest].after = number;
    else
        o->oldest = number;
    o->newest = number;
    o->open++;
    return number;
}

void pythia__open_spans_remove(struct pythia__open_spans *o, uint32_t number)
{
    struct pythia__open_span *s = &o->spans[number];
    uint32_t *at = slot_of(o, &s->trace, s->span.id);
    while (*at != number)
        at = &o->spans[*at].chain;
    *at = s->chain;
    if (s->before)
        o->spans[s->before].after = s->after;
    else
        o->oldest = s->after;
    if (s->after)
        o->spans[s->after].before = s->before;
    else
        o->newest = s->before;
    o->bytes -= s->attributes.size;
    o->open--;
    s->ended = false;
    if (s->attributes.capacity > KEPT_BYTES)
        pythia_buf_free(&s->attributes);
    s->chain = o->free;
    o->free = number;
}
