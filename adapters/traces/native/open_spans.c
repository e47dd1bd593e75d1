#include "open_spans.h"

#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define KEPT_BYTES 4096 /* of memory, for the next span of a number */

void pythia__open_spans_free(struct pythia__open_spans *o)
{
    for (size_t i = 0; i < o->count; i++)
        pythia_buf_free(&o->spans[i].attributes);
    pythia_free(o->spans);
    pythia_hash_table_free(&o->by_id);
}

/* Programs choose the ids. */
static uint64_t hash_span(const struct pythia_trace_id *trace, uint64_t id)
{
    return pythia_hash_mix(
        pythia_hash_mix(pythia_hash_mix(pythia_hash_seed(), trace->high), trace->low), id);
}

struct span_key {
    const struct pythia_trace_id *trace;
    uint64_t id;
};

static bool is_open_span(const void *spans, uint32_t number, const void *key)
{
    const struct pythia__open_span *s = &((const struct pythia__open_spans *)spans)->spans[number];
    const struct span_key *k = key;
    return s->span.id == k->id && pythia_trace_id_equal(s->trace, *k->trace);
}

uint32_t pythia__open_spans_find(const struct pythia__open_spans *o,
                                 const struct pythia_trace_id *trace, uint64_t id)
{
    const struct span_key key = {trace, id};
    uint32_t number =
        pythia_hash_table_find(&o->by_id, hash_span(trace, id), is_open_span, o, &key);
    return number == PYTHIA_HASH_TABLE_NONE ? 0 : number;
}

static void release_number(struct pythia__open_spans *o, uint32_t number)
{
    o->spans[number].after = o->free;
    o->free = number;
}

/* A number that nobody has; 0 when out of memory. */
static uint32_t take_span_number(struct pythia__open_spans *o)
{
    uint32_t number = o->free;
    if (number) {
        o->free = o->spans[number].after;
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

/* Open spans are in a list by age besides the table, so that the oldest can be evicted; buffers of
 * removed ones are reused. */
uint32_t pythia__open_spans_add(struct pythia__open_spans *o, const struct pythia_trace_id *trace,
                                uint64_t id)
{
    uint32_t number = take_span_number(o);
    if (!number)
        return 0;
    if (pythia_hash_table_add(&o->by_id, hash_span(trace, id), number) != PYTHIA_OK) {
        release_number(o, number);
        return 0;
    }
    struct pythia__open_span *s = &o->spans[number];
    struct pythia_buf attributes = s->attributes;
    pythia_buf_clear(&attributes);
    *s = (struct pythia__open_span){.trace = *trace, .attributes = attributes, .before = o->newest};
    s->span.id = id;
    if (o->newest)
        o->spans[o->newest].after = number;
    else
        o->oldest = number;
    o->newest = number;
    o->open++;
    return number;
}

/* A buffer that has grown large is freed, so that one span with much text does not keep its memory.
 */
void pythia__open_spans_remove(struct pythia__open_spans *o, uint32_t number)
{
    struct pythia__open_span *s = &o->spans[number];
    pythia_hash_table_remove(&o->by_id, hash_span(&s->trace, s->span.id), number);
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
    release_number(o, number);
}
