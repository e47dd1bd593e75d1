/* The first chunk of a list is small, because most traces are, or are not whole yet; the next ones
 * are larger, so that the heap is asked for many spans at once. */
#include "span_list.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

/* With what malloc adds they fill its own sizes. */
static const size_t chunk_sizes[PYTHIA__CHUNK_SIZES] = {
    256 - PYTHIA__HEAP_HEAD, 512 - PYTHIA__HEAP_HEAD, 1024 - PYTHIA__HEAP_HEAD};
#define SPARE_MAX 256 /* of each size; what is beyond goes back to the heap */

struct pythia__chunk {
    struct pythia__chunk *next;
    uint32_t size, used; /* bytes behind this head */
    alignas(8) char bytes[];
};

/* A span as it is kept: this head and, padded to 8 bytes, its attributes; a fork or a wait has its
 * link before them. */
struct packed {
    uint64_t id, parent, start_ns;
    int64_t duration_ns;
    uint32_t tracepoint, resource, attributes_size;
    uint8_t kind, relation, part, flags;
};

enum { FLAG_ERROR = 1, FLAG_SHARED = 2, FLAG_MANY_ROOTS = 4 };

/* The number of the size of a chunk; PYTHIA__CHUNK_SIZES: it was made for one large span. */
static size_t step_of(const struct pythia__chunk *chunk)
{
    size_t step = 0;
    while (step < PYTHIA__CHUNK_SIZES && chunk->size + sizeof(*chunk) != chunk_sizes[step])
        step++;
    return step;
}

static size_t heap_bytes(const struct pythia__chunk *chunk)
{
    return sizeof(*chunk) + chunk->size + PYTHIA__HEAP_HEAD;
}

static void give_back(struct pythia__span_pool *p, struct pythia__chunk *chunk)
{
    p->bytes -= heap_bytes(chunk);
    pythia_free(chunk);
}

void pythia__span_pool_free(struct pythia__span_pool *p)
{
    for (size_t step = 0; step < PYTHIA__CHUNK_SIZES; step++)
        while (p->spare[step]) {
            struct pythia__chunk *chunk = p->spare[step];
            p->spare[step] = chunk->next;
            give_back(p, chunk);
        }
    memset(p->spare_count, 0, sizeof(p->spare_count));
}

/* A chunk with room for `bytes`, of the size after that of `last`. */
static struct pythia__chunk *make_chunk(struct pythia__span_pool *p,
                                        const struct pythia__chunk *last, size_t bytes)
{
    size_t step = last ? step_of(last) + 1 : 0;
    step = step < PYTHIA__CHUNK_SIZES ? step : PYTHIA__CHUNK_SIZES - 1;
    while (step < PYTHIA__CHUNK_SIZES && chunk_sizes[step] - sizeof(*last) < bytes)
        step++;
    struct pythia__chunk *chunk;
    if (step < PYTHIA__CHUNK_SIZES && p->spare[step]) {
        chunk = p->spare[step];
        p->spare[step] = chunk->next;
        p->spare_count[step]--;
    } else {
        size_t size = step < PYTHIA__CHUNK_SIZES ? chunk_sizes[step] - sizeof(*chunk) : bytes;
        chunk = pythia_realloc(NULL, sizeof(*chunk) + size, 1);
        if (!chunk)
            return NULL;
        chunk->size = (uint32_t)size;
        p->bytes += heap_bytes(chunk);
    }
    chunk->next = NULL;
    chunk->used = 0;
    return chunk;
}

void pythia__span_list_release(struct pythia__span_list *l, struct pythia__span_pool *p)
{
    while (l->first) {
        struct pythia__chunk *chunk = l->first;
        size_t step = step_of(chunk);
        l->first = chunk->next;
        if (step < PYTHIA__CHUNK_SIZES && p->spare_count[step] < SPARE_MAX) {
            chunk->next = p->spare[step];
            p->spare[step] = chunk;
            p->spare_count[step]++;
        } else {
            give_back(p, chunk);
        }
    }
    *l = (struct pythia__span_list){0};
}

void pythia__span_list_append(struct pythia__span_list *l, struct pythia__span_list *from)
{
    if (!from->first)
        return;
    *(l->last ? &l->last->next : &l->first) = from->first;
    l->last = from->last;
    l->bytes += from->bytes;
    *from = (struct pythia__span_list){0};
}

static bool has_link(uint8_t part)
{
    return part == PYTHIA_PART_FORK || part == PYTHIA_PART_WAIT;
}

static size_t padded(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

int pythia__span_list_add(struct pythia__span_list *l, struct pythia__span_pool *p,
                          const struct pythia_span *s)
{
    bool link = has_link((uint8_t)s->part);
    if (s->attributes.size > UINT32_MAX / 2)
        return PYTHIA_ENOMEM;
    size_t bytes =
        sizeof(struct packed) + (link ? sizeof(s->link) : 0) + padded(s->attributes.size);
    if (!l->last || l->last->size - l->last->used < bytes) {
        struct pythia__chunk *chunk = make_chunk(p, l->last, bytes);
        if (!chunk)
            return PYTHIA_ENOMEM;
        *(l->last ? &l->last->next : &l->first) = chunk;
        l->last = chunk;
        l->bytes += heap_bytes(chunk);
    }
    char *to = l->last->bytes + l->last->used;
    l->last->used += (uint32_t)bytes;
    struct packed head = {
        .id = s->id,
        .parent = s->parent,
        .start_ns = s->start_ns,
        .duration_ns = s->duration_ns,
        .tracepoint = s->tracepoint,
        .resource = s->resource,
        .attributes_size = (uint32_t)s->attributes.size,
        .kind = (uint8_t)s->kind,
        .relation = (uint8_t)s->relation,
        .part = (uint8_t)s->part,
        .flags = (uint8_t)((s->error ? FLAG_ERROR : 0) | (s->shared ? FLAG_SHARED : 0) |
                           (s->many_roots ? FLAG_MANY_ROOTS : 0)),
    };
    memcpy(to, &head, sizeof(head));
    to += sizeof(head);
    if (link) {
        memcpy(to, &s->link, sizeof(s->link));
        to += sizeof(s->link);
    }
    if (s->attributes.size)
        memcpy(to, s->attributes.bytes, s->attributes.size);
    return PYTHIA_OK;
}

bool pythia__span_list_next(struct pythia__span_cursor *c, struct pythia_span *out)
{
    if (c->chunk && c->at == c->chunk->used) {
        c->chunk = c->chunk->next;
        c->at = 0;
    }
    if (!c->chunk)
        return false;
    const char *from = c->chunk->bytes + c->at;
    struct packed head;
    memcpy(&head, from, sizeof(head));
    from += sizeof(head);
    *out = (struct pythia_span){
        .id = head.id,
        .parent = head.parent,
        .start_ns = head.start_ns,
        .duration_ns = head.duration_ns,
        .tracepoint = head.tracepoint,
        .resource = head.resource,
        .kind = (enum pythia_span_kind)head.kind,
        .relation = (enum pythia_span_relation)head.relation,
        .part = (enum pythia_span_part)head.part,
        .error = (head.flags & FLAG_ERROR) != 0,
        .shared = (head.flags & FLAG_SHARED) != 0,
        .many_roots = (head.flags & FLAG_MANY_ROOTS) != 0,
    };
    if (has_link(head.part)) {
        memcpy(&out->link, from, sizeof(out->link));
        from += sizeof(out->link);
    }
    out->attributes = (struct pythia_text){from, head.attributes_size};
    c->at = (size_t)(from - c->chunk->bytes) + padded(head.attributes_size);
    return true;
}
