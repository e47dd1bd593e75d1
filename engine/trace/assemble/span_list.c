/* Spans wait for the others of their trace by the hundred thousand, so they are packed: numbers as
 * varints, times as differences, and what a span has in common with an earlier one of its chunk
 * only once, because the spans of a request have most key-values in common.
 *
 *     span        head, flags, id (8), [parent (8)], start - that of the chunk (zigzag), duration
 *                 (zigzag), trace point + 1, resource, [link (16)], [size, attributes]
 *     attribute   0, as in attributes.h
 *              or slot * 2 + 1: the attribute of that slot again
 *              or slot * 2 + 2, n, size, bytes: with the first n bytes of its text, then these
 *
 * A slot is the place in the chunk of the last whole attribute whose key falls into it; `size` is
 * that of the unpacked attributes. The chunk that a trace fills grows in small steps, so that
 * little of it is empty, and another is begun when it is large, so that places have 16 bits. */
#include "span_list.h"

#include <assert.h>
#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include "pythia/attributes.h"
#include "pythia/mem.h"
#include "pythia/status.h"

/* Bytes of a whole chunk and of what malloc adds, which fill malloc's own sizes. Up to the size of
 * a common request the steps are small, because half a step of each open trace is empty. */
static const uint16_t chunk_sizes[PYTHIA__CHUNK_SIZES] = {
    96,  144, 192, 240, 288, 336,  384,  432,  480,  528,  576,  624,   672,  720,
    768, 816, 864, 912, 960, 1008, 1104, 1296, 1728, 2592, 5184, 10368, 20736};
#define SPARE_BYTES    16384 /* of each size; what is beyond goes back to the heap */
#define SCRATCH_BYTES  65536 /* that are kept */
#define LATER_BYTES    2048  /* of a chunk after the first one: the trace is a large one */
#define PREFIX_MIN     4     /* bytes that are worth a reference */
#define VARINT_MAX     10
#define FIXED_MAX      (2 + 2 * 8 + 4 * VARINT_MAX + 16 + VARINT_MAX)
#define COMPARED_BYTES 256 /* of two attributes, for a common beginning */

struct pythia__chunk {
    struct pythia__chunk *next;
    uint64_t start_ns;   /* of its first span */
    uint32_t size, used; /* bytes behind this head */
    uint16_t last;       /* where its last span stands, */
    uint16_t parent;     /* and the last parent that is written as an id + 1; 0: none */
    uint16_t slots[PYTHIA__CHUNK_SLOTS]; /* where the attribute of each stands + 1; 0: none */
    alignas(8) char bytes[];
};

enum {
    FLAG_ERROR = 1,
    FLAG_SHARED = 2,
    FLAG_MANY_ROOTS = 4,
    FLAG_ATTRIBUTES = 8,
    PARENT_SHIFT = 4, /* three bits */
    PARENT_MASK = 7,
    FLAG_LOSSY = 128
};

/* How the parent is named: not at all, by its id, as the last one that was named so, or as the span
 * before this one, or the first one of the chunk. */
enum parent { PARENT_NONE, PARENT_ID, PARENT_AGAIN, PARENT_BEFORE, PARENT_FIRST };

enum { ID_AT = 2 }; /* in a span */

static size_t heap_bytes(const struct pythia__chunk *chunk)
{
    return sizeof(*chunk) + chunk->size + PYTHIA__HEAP_HEAD;
}

/* The first size that has `bytes` behind the head; PYTHIA__CHUNK_SIZES: none has. */
static size_t find_size(size_t bytes)
{
    size_t step = 0;
    while (step < PYTHIA__CHUNK_SIZES &&
           chunk_sizes[step] < bytes + sizeof(struct pythia__chunk) + PYTHIA__HEAP_HEAD)
        step++;
    return step;
}

/* The number of the size of a chunk; PYTHIA__CHUNK_SIZES: it was made for one large span. */
static size_t chunk_size_class(const struct pythia__chunk *chunk)
{
    size_t step = find_size(chunk->size);
    return step < PYTHIA__CHUNK_SIZES && heap_bytes(chunk) == chunk_sizes[step]
               ? step
               : PYTHIA__CHUNK_SIZES;
}

/* ---- the pool ---- */

static void free_pool_chunk(struct pythia__span_pool *p, struct pythia__chunk *chunk)
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
            free_pool_chunk(p, chunk);
        }
    memset(p->spare_count, 0, sizeof(p->spare_count));
    pythia_buf_free(&p->packing);
}

size_t pythia__span_pool_bytes(const struct pythia__span_pool *p)
{
    return p->bytes + p->packing.capacity;
}

static struct pythia__chunk *take_pool_chunk(struct pythia__span_pool *p, size_t bytes)
{
    size_t step = find_size(bytes);
    struct pythia__chunk *chunk;
    if (step < PYTHIA__CHUNK_SIZES && p->spare[step]) {
        chunk = p->spare[step];
        p->spare[step] = chunk->next;
        p->spare_count[step]--;
    } else {
        size_t size = step < PYTHIA__CHUNK_SIZES
                          ? chunk_sizes[step] - PYTHIA__HEAP_HEAD - sizeof(*chunk)
                          : bytes;
        chunk = pythia_malloc(sizeof(*chunk) + size);
        if (!chunk)
            return NULL;
        chunk->size = (uint32_t)size;
        p->bytes += heap_bytes(chunk);
    }
    /* Keep the size; everything else of a spare chunk belongs to the trace that had it before. */
    uint32_t size = chunk->size;
    memset(chunk, 0, sizeof(*chunk));
    chunk->size = size;
    return chunk;
}

static void give_chunk(struct pythia__span_pool *p, struct pythia__chunk *chunk)
{
    size_t step = chunk_size_class(chunk);
    if (step == PYTHIA__CHUNK_SIZES || p->spare_count[step] >= SPARE_BYTES / chunk_sizes[step]) {
        free_pool_chunk(p, chunk);
        return;
    }
    chunk->next = p->spare[step];
    p->spare[step] = chunk;
    p->spare_count[step]++;
}

void pythia__span_list_release(struct pythia__span_list *l, struct pythia__span_pool *p)
{
    struct pythia__chunk *next = l->last ? l->last->next : NULL;
    for (struct pythia__chunk *chunk = next; chunk; chunk = chunk == l->last ? NULL : next) {
        next = chunk->next;
        give_chunk(p, chunk);
    }
    l->last = NULL;
}

void pythia__span_list_append(struct pythia__span_list *l, struct pythia__span_list *from)
{
    if (l->last && from->last) {
        struct pythia__chunk *first = l->last->next;
        l->last->next = from->last->next;
        from->last->next = first;
    }
    l->last = from->last ? from->last : l->last;
    from->last = NULL;
}

size_t pythia__span_list_bytes(const struct pythia__span_list *l)
{
    size_t bytes = l->last ? heap_bytes(l->last) : 0;
    for (const struct pythia__chunk *chunk = l->last; chunk && chunk->next != l->last;
         chunk = chunk->next)
        bytes += heap_bytes(chunk->next);
    return bytes;
}

/* ---- packing ---- */

/* A span that is being packed for the chunk `into`. */
struct packing {
    const struct pythia__chunk *into;
    char *begin, *to;
    uint16_t parent, slots[PYTHIA__CHUNK_SLOTS]; /* as in the chunk, once it is there */
};

static char *write_list_varint(char *to, uint64_t number)
{
    while (number >= 0x80) {
        *to++ = (char)(number | 0x80);
        number >>= 7;
    }
    *to++ = (char)number;
    return to;
}

static void pack_varint(struct packing *p, uint64_t number)
{
    p->to = write_list_varint(p->to, number);
}

static void put_signed(struct packing *p, uint64_t number)
{
    pack_varint(p, number << 1 ^ (number >> 63 ? UINT64_MAX : 0));
}

static void pack_bytes(struct packing *p, const void *bytes, size_t size)
{
    memcpy(p->to, bytes, size);
    p->to += size;
}

/* Where a span's next byte will be in the chunk, + 1; 0: too far away to refer to it. */
static uint16_t next_place_of(const struct packing *p)
{
    size_t place = p->into->used + (size_t)(p->to - p->begin) + 1;
    return place <= UINT16_MAX ? (uint16_t)place : 0;
}

static bool is_id_at(const struct pythia__chunk *chunk, size_t at, uint64_t id)
{
    return memcmp(chunk->bytes + at, &id, sizeof(id)) == 0;
}

static enum parent classify_parent(const struct pythia__chunk *chunk, uint64_t parent)
{
    if (parent == 0)
        return PARENT_NONE;
    /* Spans arrive by sender and mostly in order of their calls: the parent is often the first span
     * of the chunk, the last one, or the parent named last, and then its eight bytes are saved. */
    if (chunk->used == 0)
        return PARENT_ID;
    if (chunk->parent && is_id_at(chunk, chunk->parent - 1U, parent))
        return PARENT_AGAIN;
    if (is_id_at(chunk, chunk->last + (size_t)ID_AT, parent))
        return PARENT_BEFORE;
    return is_id_at(chunk, ID_AT, parent) ? PARENT_FIRST : PARENT_ID;
}

/* How many bytes the two begin with that are the same. */
static size_t count_common(struct pythia_text a, struct pythia_text b)
{
    size_t n = 0, most = a.size < b.size ? a.size : b.size;
    while (n < most && n < COMPARED_BYTES && a.bytes[n] == b.bytes[n])
        n++;
    return n;
}

/* The whole attribute that stands at `from`, and its bytes. */
static struct pythia_text read_whole_attribute(const char *from, struct pythia_attribute *out)
{
    struct pythia_text rest = {from, SIZE_MAX / 2};
    (void)pythia_attributes_next(&rest, out);
    return (struct pythia_text){from, (size_t)(rest.bytes - from)};
}

/* By reference to the one in the slot, if they have enough in common. */
static bool refer_to_slot(struct packing *p, size_t slot, const struct pythia_attribute *one,
                          struct pythia_text bytes)
{
    struct pythia_attribute earlier;
    struct pythia_text whole =
        read_whole_attribute(p->into->bytes + p->into->slots[slot] - 1, &earlier);
    if (pythia_text_equal(whole, bytes)) {
        pack_varint(p, slot * 2 + 1);
        return true;
    }
    /* Values such as URLs and SQL of one service differ only at their ends. */
    bool texts = one->kind == PYTHIA_ATTRIBUTE_TEXT && earlier.kind == PYTHIA_ATTRIBUTE_TEXT;
    size_t common = texts && one->key == earlier.key ? count_common(one->text, earlier.text) : 0;
    if (common < PREFIX_MIN)
        return false;
    pack_varint(p, slot * 2 + 2);
    pack_varint(p, common);
    pack_varint(p, one->text.size - common);
    pack_bytes(p, one->text.bytes + common, one->text.size - common);
    return true;
}

static void pack_attributes(struct packing *p, struct pythia_text packed)
{
    struct pythia_text rest = packed;
    struct pythia_attribute one;
    pack_varint(p, packed.size);
    while (rest.size > 0) {
        const char *begin = rest.bytes;
        (void)pythia_attributes_next(&rest, &one);
        size_t slot = one.key % PYTHIA__CHUNK_SLOTS;
        struct pythia_text bytes = {begin, (size_t)(rest.bytes - begin)};
        if (p->into->slots[slot] && refer_to_slot(p, slot, &one, bytes))
            continue;
        pack_varint(p, 0);
        /* Only a whole attribute is remembered: references to references would have to be followed
         * when it is read. */
        p->slots[slot] = next_place_of(p);
        pack_bytes(p, bytes.bytes, bytes.size);
    }
}

static bool has_link(enum pythia_span_part part)
{
    return part == PYTHIA_PART_FORK || part == PYTHIA_PART_WAIT;
}

static void pack_fields(struct packing *p, const struct pythia_span *s)
{
    enum parent parent = classify_parent(p->into, s->parent);
    bool first = p->into->used == 0;
    *p->to++ = (char)((unsigned)s->kind << 5 | (unsigned)s->relation << 3 | (unsigned)s->part);
    *p->to++ =
        (char)((s->error ? FLAG_ERROR : 0) | (s->shared ? FLAG_SHARED : 0) |
               (s->many_roots ? FLAG_MANY_ROOTS : 0) | (s->attributes.size ? FLAG_ATTRIBUTES : 0) |
               (int)parent << PARENT_SHIFT | (s->lossy ? FLAG_LOSSY : 0));
    pack_bytes(p, &s->id, sizeof(s->id));
    if (parent == PARENT_ID) {
        p->parent = next_place_of(p);
        pack_bytes(p, &s->parent, sizeof(s->parent));
    }
    put_signed(p, first ? 0 : s->start_ns - p->into->start_ns);
    put_signed(p, (uint64_t)s->duration_ns);
    pack_varint(p, (uint32_t)(s->tracepoint + 1)); /* 0: PYTHIA_NONE */
    pack_varint(p, s->resource);
    if (has_link(s->part))
        pack_bytes(p, &s->link, sizeof(s->link));
    if (s->attributes.size)
        pack_attributes(p, s->attributes);
}

/* Pack a span for the chunk `into`, into the pool's scratch. It has at most a byte more for each
 * attribute, which has two at least. */
static int pack_span(struct pythia__span_pool *pool, const struct pythia__chunk *into,
                     const struct pythia_span *s, struct packing *out)
{
    if (pool->packing.capacity > SCRATCH_BYTES)
        pythia_buf_free(&pool->packing);
    pythia_buf_clear(&pool->packing);
    pool->packing.failed = 0;
    char *to = pythia_buf_reserve(&pool->packing, FIXED_MAX + s->attributes.size / 2 * 3 + 1);
    if (!to)
        return PYTHIA_ENOMEM;
    *out = (struct packing){.into = into, .begin = to, .to = to, .parent = into->parent};
    memcpy(out->slots, into->slots, sizeof(out->slots));
    pack_fields(out, s);
    return PYTHIA_OK;
}

/* ---- adding ---- */

/* Make the last chunk of a list larger, for `bytes` more. False: it is as large as any, or
 * there is no memory; then it is as it was. */
static bool grow_last(struct pythia__span_list *l, struct pythia__span_pool *p, size_t bytes)
{
    struct pythia__chunk *old = l->last, *before = old;
    if (find_size(old->used + bytes) == PYTHIA__CHUNK_SIZES)
        return false;
    struct pythia__chunk *larger = take_pool_chunk(p, old->used + bytes);
    if (!larger)
        return false;
    uint32_t size = larger->size;
    /* The list is a ring whose chunks do not know the one before, and short enough to be gone
     * around. */
    memcpy(larger, old, sizeof(*old) + old->used);
    larger->size = size;
    while (before->next != old)
        before = before->next;
    (before == old ? larger : before)->next = larger;
    l->last = larger;
    give_chunk(p, old);
    return true;
}

/* The chunk has room for it. */
static void place_packed_span(struct pythia__chunk *chunk, const struct packing *p,
                              uint64_t start_ns)
{
    size_t size = (size_t)(p->to - p->begin);
    if (chunk->used == 0)
        chunk->start_ns = start_ns;
    chunk->last = (uint16_t)chunk->used;
    memcpy(chunk->bytes + chunk->used, p->begin, size);
    chunk->used += (uint32_t)size;
    chunk->parent = p->parent;
    memcpy(chunk->slots, p->slots, sizeof(chunk->slots));
}

int pythia__span_list_add(struct pythia__span_list *l, struct pythia__span_pool *pool,
                          const struct pythia_span *s)
{
    static const struct pythia__chunk none = {.next = NULL};
    struct packing p;
    if (s->attributes.size > UINT32_MAX / 4)
        return PYTHIA_ENOMEM;
    if (l->last) {
        if (pack_span(pool, l->last, s, &p) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        size_t size = (size_t)(p.to - p.begin);
        if (l->last->size - l->last->used >= size || grow_last(l, pool, size)) {
            place_packed_span(l->last, &p, s->start_ns);
            return PYTHIA_OK;
        }
    }
    /* It does not fit. Pack it again for an empty chunk: the bytes above refer to spans of the
     * full one, and a chunk must be readable by itself. */
    if (pack_span(pool, &none, s, &p) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    /* The first chunk is as small as the span: most traces of a busy system have one span or two
     * per sender. Later ones are large. */
    size_t size = (size_t)(p.to - p.begin), large = l->last ? LATER_BYTES : 0;
    struct pythia__chunk *chunk = take_pool_chunk(pool, size > large ? size : large);
    if (!chunk)
        return PYTHIA_ENOMEM;
    place_packed_span(chunk, &p, s->start_ns);
    chunk->next = l->last ? l->last->next : chunk;
    if (l->last)
        l->last->next = chunk;
    l->last = chunk;
    return PYTHIA_OK;
}

/* ---- unpacking ---- */

static const char *get_signed(const char *from, uint64_t *out)
{
    uint64_t number;
    from = pythia_attributes_varint(from, &number);
    *out = number >> 1 ^ (number & 1 ? UINT64_MAX : 0);
    return from;
}

static char *append_bytes(char *to, const char *from, size_t size)
{
    memcpy(to, from, size);
    return to + size;
}

/* An attribute with the first `common` bytes of the text of `earlier`, and then `rest`. */
static char *append_shared_text(char *to, const struct pythia_attribute *earlier, size_t common,
                                struct pythia_text rest)
{
    assert(earlier->text.bytes);
    to = write_list_varint(to, (uint64_t)earlier->key * 4 + PYTHIA_ATTRIBUTE_TEXT);
    to = write_list_varint(to, common + rest.size);
    to = append_bytes(to, earlier->text.bytes, common);
    return append_bytes(to, rest.bytes, rest.size);
}

/* Unpack the attribute at *from to `to`; returns what is behind it. */
static char *unpack_attribute(const struct pythia__span_cursor *c, uint16_t *slots,
                              const char **from, char *to)
{
    struct pythia_attribute one;
    uint64_t reference, common, rest;
    const char *at = pythia_attributes_varint(*from, &reference);
    if (reference == 0) {
        struct pythia_text whole = read_whole_attribute(at, &one);
        size_t place = (size_t)(at - c->chunk->bytes) + 1;
        /* The reader keeps the same table as the writer did, or references would lead elsewhere. */
        slots[one.key % PYTHIA__CHUNK_SLOTS] = place <= UINT16_MAX ? (uint16_t)place : 0;
        *from = at + whole.size;
        return append_bytes(to, whole.bytes, whole.size);
    }
    struct pythia_text whole =
        read_whole_attribute(c->chunk->bytes + c->slots[(reference - 1) / 2] - 1, &one);
    if (reference % 2 == 1) {
        *from = at;
        return append_bytes(to, whole.bytes, whole.size);
    }
    at = pythia_attributes_varint(pythia_attributes_varint(at, &common), &rest);
    *from = at + rest;
    return append_shared_text(to, &one, common, (struct pythia_text){at, rest});
}

static int unpack_attributes(struct pythia__span_cursor *c, const char **from,
                             struct pythia_text *out)
{
    uint16_t slots[PYTHIA__CHUNK_SLOTS];
    uint64_t size;
    *from = pythia_attributes_varint(*from, &size);
    char *begin = pythia_arena_alloc(c->attributes, size), *to = begin;
    if (!begin)
        return PYTHIA_ENOMEM;
    memcpy(slots, c->slots, sizeof(slots));
    while ((size_t)(to - begin) < size)
        to = unpack_attribute(c, slots, from, to);
    memcpy(c->slots, slots, sizeof(slots));
    *out = (struct pythia_text){begin, size};
    return PYTHIA_OK;
}

/* The parent of the span at c->at; *from is behind its id. */
static uint64_t unpack_parent(struct pythia__span_cursor *c, enum parent how, const char **from)
{
    const char *at = c->chunk->bytes;
    uint64_t parent = 0;
    switch (how) {
    case PARENT_NONE:
        return 0;
    /* Later spans of the chunk refer to this place, so that a parent of many children is written
     * once. */
    case PARENT_ID:
        c->parent = (uint16_t)(*from - at + 1);
        at = *from;
        *from += sizeof(parent);
        break;
    case PARENT_AGAIN:
        at += c->parent - 1;
        break;
    case PARENT_BEFORE:
        at += c->last + ID_AT;
        break;
    case PARENT_FIRST:
        at += ID_AT;
        break;
    }
    memcpy(&parent, at, sizeof(parent));
    return parent;
}

struct pythia__span_cursor pythia__span_list_walk(const struct pythia__span_list *l,
                                                  struct pythia_arena *attributes)
{
    return (struct pythia__span_cursor){.end = l->last, .attributes = attributes};
}

int pythia__span_list_next(struct pythia__span_cursor *c, struct pythia_span *out)
{
    if (!c->chunk || c->at == c->chunk->used) {
        if (c->chunk == c->end)
            return 1;
        *c = (struct pythia__span_cursor){.chunk = (c->chunk ? c->chunk : c->end)->next,
                                          .end = c->end,
                                          .attributes = c->attributes};
    }
    const char *from = c->chunk->bytes + c->at;
    /* The layout is drawn above pack_fields; no length is checked, because this file alone
     * writes these bytes. */
    unsigned head = (unsigned char)from[0], flags = (unsigned char)from[1];
    uint64_t since, duration, tracepoint, resource;
    *out = (struct pythia_span){
        .kind = (enum pythia_span_kind)(head >> 5),
        .relation = (enum pythia_span_relation)(head >> 3 & 3),
        .part = (enum pythia_span_part)(head & 7),
        .error = (flags & FLAG_ERROR) != 0,
        .shared = (flags & FLAG_SHARED) != 0,
        .many_roots = (flags & FLAG_MANY_ROOTS) != 0,
        .lossy = (flags & FLAG_LOSSY) != 0,
    };
    memcpy(&out->id, from + ID_AT, sizeof(out->id));
    from += ID_AT + sizeof(out->id);
    out->parent = unpack_parent(c, (enum parent)(flags >> PARENT_SHIFT & PARENT_MASK), &from);
    from = get_signed(get_signed(from, &since), &duration);
    from = pythia_attributes_varint(pythia_attributes_varint(from, &tracepoint), &resource);
    out->start_ns = c->chunk->start_ns + since;
    out->duration_ns = (int64_t)duration;
    out->tracepoint = (uint32_t)tracepoint - 1;
    out->resource = (uint32_t)resource;
    if (has_link(out->part)) {
        memcpy(&out->link, from, sizeof(out->link));
        from += sizeof(out->link);
    }
    if (flags & FLAG_ATTRIBUTES && unpack_attributes(c, &from, &out->attributes) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    c->last = (uint16_t)c->at;
    c->at = (size_t)(from - c->chunk->bytes);
    return PYTHIA_OK;
}
