#include "ingest_bodies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/buf.h"
#include "pythia/protobuf.h"
#include "pythia/status.h"
#include "pythia/strtab.h"

/* Where the ids and times of a span stand in its body, and what was recorded there. */
struct span_place {
    uint32_t trace_at, start_at, end_at, trace;
    uint64_t trace_high, start_ns, end_ns;
};

struct reading {
    struct bodies *to;
    struct pythia_strtab *ids; /* of traces; 0 is the empty string */
    size_t capacity;
};

/* ---- numbers as they stand in a message ---- */

static uint64_t get_high_first(const char *at)
{
    uint64_t number = 0;
    for (int i = 0; i < 8; i++)
        number = number << 8 | (unsigned char)at[i];
    return number;
}

static void put_high_first(char *at, uint64_t number)
{
    number = __builtin_bswap64(number);
    memcpy(at, &number, sizeof(number)); /* on little-endian machines, as all that this runs on */
}

static void put_low_first(char *at, uint64_t number)
{
    memcpy(at, &number, sizeof(number));
}

/* ---- reading ---- */

static void *grown(void *list, size_t count, size_t size)
{
    list = realloc(list, count * size + 1);
    if (!list)
        die("out of memory");
    return list;
}

/* The fields of a message, each given to `take`. */
static void each_field(struct pythia_text message, void *context,
                       void (*take)(void *context, const struct pythia_protobuf_field *f))
{
    struct pythia_protobuf m = pythia_protobuf_of(message);
    struct pythia_protobuf_field f = {0};
    int status;
    while ((status = pythia_protobuf_next(&m, &f)) == 0)
        take(context, &f);
    if (status < 0)
        die("the file is no TracesData");
}

/* Spans below a ResourceSpans (depth 0) or a ScopeSpans (1). */
struct counting {
    uint64_t spans;
    int depth;
};

static void count_field(void *context, const struct pythia_protobuf_field *f)
{
    struct counting *c = context;
    if (f->number != 2 || f->type != PYTHIA_PROTOBUF_BYTES)
        return;
    if (c->depth == 1) {
        c->spans++;
        return;
    }
    c->depth++;
    each_field(f->bytes, c, count_field);
    c->depth--;
}

/* One span of a body that begins at `begin`. */
struct locating {
    struct reading *reading;
    struct body *body;
    struct span_place place;
    int depth;
};

static void locate_in_span(void *context, const struct pythia_protobuf_field *f)
{
    struct locating *l = context;
    const char *begin = l->body->bytes;
    if (f->number == 1 && f->type == PYTHIA_PROTOBUF_BYTES && f->bytes.size == 16) {
        l->place.trace_at = (uint32_t)(f->bytes.bytes - begin);
        l->place.trace_high = get_high_first(f->bytes.bytes);
        l->place.trace = pythia_strtab_intern(l->reading->ids, f->bytes);
    } else if (f->number == 7 && f->type == PYTHIA_PROTOBUF_FIXED64) {
        l->place.start_ns = f->value;
    } else if (f->number == 8 && f->type == PYTHIA_PROTOBUF_FIXED64) {
        l->place.end_ns = f->value;
    }
}

static void locate_times(struct locating *l, struct pythia_text span)
{
    struct pythia_protobuf m = pythia_protobuf_of(span);
    struct pythia_protobuf_field f;
    while (pythia_protobuf_next(&m, &f) == 0)
        if (f.type == PYTHIA_PROTOBUF_FIXED64 && f.number == 7)
            l->place.start_at = (uint32_t)(m.at - 8 - l->body->bytes);
        else if (f.type == PYTHIA_PROTOBUF_FIXED64 && f.number == 8)
            l->place.end_at = (uint32_t)(m.at - 8 - l->body->bytes);
}

static void note_trace(struct reading *r, const struct span_place *p)
{
    struct bodies *b = r->to;
    if (p->trace >= b->trace_count) {
        b->traces = grown(b->traces, (size_t)p->trace + 1, sizeof(*b->traces));
        while (b->trace_count <= p->trace)
            b->traces[b->trace_count++] = (struct trace_times){0};
    }
    if (p->end_ns > b->traces[p->trace].end_ns)
        b->traces[p->trace].end_ns = p->end_ns;
}

static void locate(void *context, const struct pythia_protobuf_field *f)
{
    struct locating *l = context;
    if (f->type != PYTHIA_PROTOBUF_BYTES || f->number != (l->depth == 0 ? 1 : 2))
        return;
    if (l->depth < 2) {
        l->depth++;
        each_field(f->bytes, l, locate);
        l->depth--;
        return;
    }
    l->place = (struct span_place){0};
    each_field(f->bytes, l, locate_in_span);
    locate_times(l, f->bytes);
    if (!l->place.trace_at || !l->place.start_at || !l->place.end_at)
        die("a span has no trace id of 16 bytes, or no times");
    note_trace(l->reading, &l->place);
    l->body->places[l->body->spans++] = l->place;
}

/* A body of the batches between two places of the file, and its spans. */
static void add_body(struct reading *r, struct pythia_text batches, uint64_t spans)
{
    struct bodies *b = r->to;
    if (b->count == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 1024;
        b->list = grown(b->list, r->capacity, sizeof(*b->list));
    }
    struct body *body = &b->list[b->count++];
    *body = (struct body){.bytes = grown(NULL, BODY_PREFIX + batches.size, 1),
                          .size = batches.size,
                          .places = grown(NULL, spans, sizeof(struct span_place))};
    body->bytes[0] = 0;
    for (int i = 0; i < 4; i++)
        body->bytes[1 + i] = (char)(batches.size >> (24 - 8 * i));
    memcpy(body->bytes + BODY_PREFIX, batches.bytes, batches.size);
    struct locating l = {.reading = r, .body = body};
    each_field((struct pythia_text){body->bytes + BODY_PREFIX, body->size}, &l, locate);
    if (body->spans != spans)
        die("spans were counted wrongly");
    b->spans += spans;
}

/* Messages with 4 bytes of size in front of each become one. */
static void take_sizes_out(struct pythia_buf *all, const char *path)
{
    const unsigned char *b = (const unsigned char *)all->bytes;
    size_t to = 0, size;
    for (size_t at = 0; at < all->size; at += size + 4) {
        if (all->size - at < 4)
            die("%s ends inside a size", path);
        size = (size_t)b[at] << 24 | (size_t)b[at + 1] << 16 | (size_t)b[at + 2] << 8 | b[at + 3];
        if (size > all->size - at - 4)
            die("%s ends inside a message", path);
        memmove(all->bytes + to, all->bytes + at + 4, size);
        to += size;
    }
    all->size = to;
}

/* The batches of all messages, one behind the other: that is one message. */
static struct pythia_buf read_batches(const char *path)
{
    struct pythia_buf all = {0};
    FILE *file = fopen(path, "rb");
    if (!file)
        die("%s cannot be read", path);
    size_t got = 1;
    while (got > 0) {
        char *room = pythia_buf_reserve(&all, (size_t)1 << 20);
        got = room ? fread(room, 1, (size_t)1 << 20, file) : 0;
        all.size += got;
    }
    if (ferror(file) || !all.bytes || pythia_buf_status(&all) != PYTHIA_OK || all.size < 4)
        die("%s cannot be read, or is empty", path);
    fclose(file);
    if ((unsigned char)all.bytes[0] < 8)
        take_sizes_out(&all, path);
    return all;
}

void bodies_read(struct bodies *b, const char *path, uint64_t spans, uint64_t now_ns)
{
    struct pythia_buf all = read_batches(path);
    struct reading r = {.to = b};
    struct pythia_protobuf m = pythia_protobuf_of(pythia_buf_text(&all));
    struct pythia_protobuf_field f = {0};
    struct counting counting = {0};
    const char *begin = m.at;
    *b = (struct bodies){.round = now_ns};
    if (pythia_strtab_create(&r.ids) != PYTHIA_OK)
        die("out of memory");
    int status;
    while ((status = pythia_protobuf_next(&m, &f)) == 0) {
        if (f.number == 1 && f.type == PYTHIA_PROTOBUF_BYTES)
            each_field(f.bytes, &counting, count_field);
        if (counting.spans >= spans || (m.at == m.end && counting.spans > 0)) {
            add_body(&r, (struct pythia_text){begin, (size_t)(m.at - begin)}, counting.spans);
            counting.spans = 0;
            begin = m.at;
        }
    }
    if (status < 0 || b->count == 0)
        die("%s is no TracesData, or has no spans", path);
    pythia_strtab_destroy(r.ids);
    pythia_buf_free(&all);
}

void bodies_free(struct bodies *b)
{
    for (size_t i = 0; i < b->count; i++) {
        free(b->list[i].bytes);
        free(b->list[i].places);
    }
    free(b->list);
    free(b->traces);
}

/* ---- sending again ---- */

struct body *bodies_next(struct bodies *b, uint64_t now_ns)
{
    struct body *body = &b->list[b->next];
    if (body->in_flight)
        return NULL;
    uint64_t other = b->round * UINT64_C(0x9E3779B97F4A7C15); /* odd: each round has its own */
    for (uint64_t i = 0; i < body->spans; i++) {
        const struct span_place *p = &body->places[i];
        struct trace_times *t = &b->traces[p->trace];
        if (t->round != b->round) {
            t->round = b->round;
            t->shift_ns = now_ns - t->end_ns;
        }
        put_high_first(body->bytes + p->trace_at, p->trace_high ^ other);
        put_low_first(body->bytes + p->start_at, p->start_ns + t->shift_ns);
        put_low_first(body->bytes + p->end_at, p->end_ns + t->shift_ns);
    }
    b->next++;
    if (b->next == b->count) {
        b->next = 0;
        b->round++;
    }
    return body;
}
