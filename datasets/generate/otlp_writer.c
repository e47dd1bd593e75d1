/* OTLP, as JSON and as protobuf: an own encoder, because what is needed of either is little.
 *
 *   TracesData 1: ResourceSpans        Span   1: trace id, 2: span id, 4: parent, 5: name, 6: kind,
 *   ResourceSpans 1: Resource,                7, 8: start and end (fixed64), 9: attributes,
 *                 2: ScopeSpans              15: Status
 *   Resource 1: attributes             KeyValue 1: key, 2: AnyValue
 *   ScopeSpans 1: Scope, 2: Span       AnyValue 1: text, 2: bool, 3: integer, 4: double
 *                                      Status 3: code */
#include "pythia/otlp_writer.h"

#include <inttypes.h>
#include <string.h>

#include "pythia/attributes.h"
#include "pythia/mem.h"
#include "pythia/otlp_json.h"
#include "pythia/protobuf_writer.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"

/* Spans of one resource in the batch. */
struct group {
    uint32_t resource;
    size_t count;
    struct pythia_buf spans;
};

struct pythia_otlp_writer {
    const struct pythia_vocabulary *vocabulary;
    enum pythia_otlp_form form;
    struct group *groups;
    size_t used, group_capacity, made; /* groups of the batch; allocated; those that have memory */
    uint32_t *group_of;                /* by resource: group + 1 */
    size_t resource_capacity;
    size_t spans;
    struct pythia_buf message, inner, value; /* scratch */
};

int pythia_otlp_writer_create(const struct pythia_vocabulary *vocabulary,
                              enum pythia_otlp_form form, struct pythia_otlp_writer **out)
{
    struct pythia_otlp_writer *o = pythia_calloc(1, sizeof(*o));
    if (!o)
        return PYTHIA_ENOMEM;
    o->vocabulary = vocabulary;
    o->form = form;
    *out = o;
    return PYTHIA_OK;
}

void pythia_otlp_writer_destroy(struct pythia_otlp_writer *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->made; i++)
        pythia_buf_free(&o->groups[i].spans);
    pythia_free(o->groups);
    pythia_free(o->group_of);
    pythia_buf_free(&o->message);
    pythia_buf_free(&o->inner);
    pythia_buf_free(&o->value);
    pythia_free(o);
}

size_t pythia_otlp_writer_spans(const struct pythia_otlp_writer *o)
{
    return o->spans;
}

/* ---- groups ---- */

/* Spans are grouped by resource, as an exporter sends them; buffers of earlier requests are reused.
 */
static struct group *group_of(struct pythia_otlp_writer *o, uint32_t resource)
{
    if (resource >= o->resource_capacity) {
        size_t capacity = ((size_t)resource + 1) * 2;
        uint32_t *moved = pythia_realloc(o->group_of, capacity, sizeof(*moved));
        if (!moved)
            return NULL;
        memset(moved + o->resource_capacity, 0, (capacity - o->resource_capacity) * sizeof(*moved));
        o->group_of = moved;
        o->resource_capacity = capacity;
    }
    if (o->group_of[resource])
        return &o->groups[o->group_of[resource] - 1];
    if (pythia_grow(&o->groups, &o->group_capacity, o->used, sizeof(*o->groups)) != PYTHIA_OK)
        return NULL;
    struct group *g = &o->groups[o->used++];
    if (o->used > o->made) {
        *g = (struct group){0};
        o->made = o->used;
    }
    g->resource = resource;
    g->count = 0;
    pythia_buf_clear(&g->spans);
    o->group_of[resource] = (uint32_t)o->used;
    return g;
}

/* ---- JSON ---- */

static void json_attributes(const struct pythia_otlp_writer *o, struct pythia_buf *to,
                            struct pythia_text packed)
{
    struct pythia_attribute a;
    pythia_buf_puts(to, "\"attributes\":[");
    for (bool first = true; pythia_attributes_next(&packed, &a); first = false) {
        pythia_buf_puts(to, first ? "{\"key\":" : ",{\"key\":");
        pythia_shown_json_text(to, pythia_vocabulary_text(o->vocabulary, a.key));
        pythia_buf_puts(to, ",\"value\":");
        pythia_otlp_json_value(to, &a);
        pythia_buf_putc(to, '}');
    }
    pythia_buf_putc(to, ']');
}

static void json_span(const struct pythia_otlp_writer *o, struct pythia_buf *to,
                      const struct pythia_trace_id *trace, const struct pythia_span *s,
                      struct pythia_text name)
{
    pythia_buf_printf(to,
                      "{\"traceId\":\"%016" PRIx64 "%016" PRIx64 "\",\"spanId\":\"%016" PRIx64
                      "\",\"parentSpanId\":\"",
                      trace->high, trace->low, s->id);
    if (s->parent)
        pythia_buf_printf(to, "%016" PRIx64, s->parent);
    pythia_buf_puts(to, "\",\"name\":");
    pythia_shown_json_text(to, name);
    pythia_buf_printf(to,
                      ",\"kind\":%d,\"startTimeUnixNano\":\"%" PRIu64
                      "\",\"endTimeUnixNano\":\"%" PRIu64 "\",",
                      s->kind, s->start_ns, s->start_ns + (uint64_t)s->duration_ns);
    if (s->attributes.size > 0) {
        json_attributes(o, to, s->attributes);
        pythia_buf_putc(to, ',');
    }
    pythia_buf_puts(to, s->error ? "\"status\":{\"code\":2}}" : "\"status\":{}}");
}

static void json_batch(const struct pythia_otlp_writer *o, struct pythia_buf *to)
{
    pythia_buf_puts(to, "{\"resourceSpans\":[");
    for (size_t i = 0; i < o->used; i++) {
        struct pythia_resource r =
            pythia_vocabulary_resource_at(o->vocabulary, o->groups[i].resource);
        pythia_buf_puts(to, i ? ",{\"resource\":{" : "{\"resource\":{");
        json_attributes(o, to, r.attributes);
        pythia_buf_puts(to, "},\"scopeSpans\":[{\"scope\":{},\"spans\":[");
        pythia_buf_text_add(to, pythia_buf_text(&o->groups[i].spans));
        pythia_buf_puts(to, "]}]}");
    }
    pythia_buf_puts(to, "]}\n");
}

/* ---- protobuf ---- */

/* Ids are big-endian. */
static void put_id(struct pythia_buf *to, unsigned field, const uint64_t *parts, size_t count)
{
    char bytes[16];
    for (size_t i = 0; i < 8 * count; i++)
        bytes[i] = (char)(parts[i / 8] >> (56 - 8 * (i % 8)));
    pythia_protobuf_put_bytes(to, field, (struct pythia_text){bytes, 8 * count});
}

static void put_value(struct pythia_buf *to, const struct pythia_attribute *a)
{
    switch (a->kind) {
    case PYTHIA_ATTRIBUTE_TEXT:
        pythia_protobuf_put_bytes(to, 1, a->text);
        break;
    case PYTHIA_ATTRIBUTE_BOOL:
        pythia_protobuf_put_number(to, 2, a->integer != 0);
        break;
    case PYTHIA_ATTRIBUTE_INTEGER:
        pythia_protobuf_put_number(to, 3, (uint64_t)a->integer);
        break;
    case PYTHIA_ATTRIBUTE_REAL:
        pythia_protobuf_put_double(to, 4, a->real);
        break;
    }
}

static void put_attributes(struct pythia_otlp_writer *o, struct pythia_buf *to, unsigned field,
                           struct pythia_text packed)
{
    struct pythia_attribute a;
    while (pythia_attributes_next(&packed, &a)) {
        pythia_buf_clear(&o->value);
        pythia_buf_clear(&o->inner);
        put_value(&o->value, &a);
        pythia_protobuf_put_bytes(&o->inner, 1, pythia_vocabulary_text(o->vocabulary, a.key));
        pythia_protobuf_put_bytes(&o->inner, 2, pythia_buf_text(&o->value));
        pythia_protobuf_put_bytes(to, field, pythia_buf_text(&o->inner));
    }
}

static void put_span(struct pythia_otlp_writer *o, struct pythia_buf *to,
                     const struct pythia_trace_id *trace, const struct pythia_span *s,
                     struct pythia_text name)
{
    struct pythia_buf *m = &o->message;
    pythia_buf_clear(m);
    put_id(m, 1, (const uint64_t[]){trace->high, trace->low}, 2);
    put_id(m, 2, &s->id, 1);
    if (s->parent)
        put_id(m, 4, &s->parent, 1);
    pythia_protobuf_put_bytes(m, 5, name);
    pythia_protobuf_put_number(m, 6, (uint64_t)s->kind);
    pythia_protobuf_put_fixed64(m, 7, s->start_ns);
    pythia_protobuf_put_fixed64(m, 8, s->start_ns + (uint64_t)s->duration_ns);
    put_attributes(o, m, 9, s->attributes);
    if (s->error) {
        pythia_buf_clear(&o->inner);
        pythia_protobuf_put_number(&o->inner, 3, 2);
        pythia_protobuf_put_bytes(m, 15, pythia_buf_text(&o->inner));
    }
    pythia_protobuf_put_bytes(to, 2, pythia_buf_text(m));
}

/* A ResourceSpans with one ScopeSpans, whose scope has no name: nothing is known of it. */
static void put_batch(struct pythia_otlp_writer *o, struct pythia_buf *to)
{
    static const char scope[] = {0x0A, 0};
    for (size_t i = 0; i < o->used; i++) {
        struct pythia_text spans = pythia_buf_text(&o->groups[i].spans);
        struct pythia_resource r =
            pythia_vocabulary_resource_at(o->vocabulary, o->groups[i].resource);
        struct pythia_buf *m = &o->message, head = {0};
        pythia_buf_clear(m);
        put_attributes(o, m, 1, r.attributes);
        pythia_protobuf_put_bytes(&head, 1, pythia_buf_text(m));
        pythia_protobuf_put_size(&head, 2, sizeof(scope) + spans.size);
        pythia_buf_add(&head, scope, sizeof(scope));
        pythia_protobuf_put_size(to, 1, head.size + spans.size);
        pythia_buf_text_add(to, pythia_buf_text(&head));
        pythia_buf_text_add(to, spans);
        to->failed = to->failed || head.failed;
        pythia_buf_free(&head);
    }
}

/* ---- both ---- */

static int find_writer_status(const struct pythia_otlp_writer *o, const struct pythia_buf *to)
{
    return to->failed || o->message.failed || o->inner.failed || o->value.failed ? PYTHIA_ENOMEM
                                                                                 : PYTHIA_OK;
}

int pythia_otlp_writer_add(struct pythia_otlp_writer *o, const struct pythia_trace_id *trace,
                           const struct pythia_span *span)
{
    struct group *g = group_of(o, span->resource);
    if (!g)
        return PYTHIA_ENOMEM;
    struct pythia_text name = pythia_vocabulary_text(
        o->vocabulary, pythia_vocabulary_tracepoint_at(o->vocabulary, span->tracepoint)->name);
    if (o->form == PYTHIA_OTLP_PROTO) {
        put_span(o, &g->spans, trace, span, name);
    } else {
        if (g->count > 0)
            pythia_buf_putc(&g->spans, ',');
        json_span(o, &g->spans, trace, span, name);
    }
    g->count++;
    o->spans++;
    return find_writer_status(o, &g->spans);
}

int pythia_otlp_writer_flush(struct pythia_otlp_writer *o, struct pythia_buf *to)
{
    if (o->spans == 0)
        return PYTHIA_OK;
    if (o->form == PYTHIA_OTLP_PROTO)
        put_batch(o, to);
    else
        json_batch(o, to);
    for (size_t i = 0; i < o->used; i++)
        o->group_of[o->groups[i].resource] = 0;
    o->used = o->spans = 0;
    return find_writer_status(o, to);
}
