/* OTLP/protobuf: a TracesData (opentelemetry-proto 1.x, trace.proto), which is written as an
 * ExportTraceServiceRequest is, the body of OTLP/gRPC and OTLP/HTTP. An input is one message, or
 * several with the size of each in 4 bytes in front of it, the highest first, as the collector's
 * file exporter writes them.
 *
 *   TracesData 1: ResourceSpans 1: Resource 1: attributes
 *                               2: ScopeSpans 1: Scope 1: name
 *                                             2: Span
 *
 * Messages that hold others are entered, so that they may be larger than memory; a Resource, a
 * Scope and a Span are records, read where they are in memory: nothing is copied but what is kept.
 * A record with a fault is reported and passed over. A fault between records ends the message it is
 * in, because where the next one begins is not known; those around it go on. */
#include "otlp_protobuf.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pythia/mem.h"
#include "shared/formats.h"

/* ---- faults ---- */

/* Errors after which nothing more can be read. */
static bool is_fatal_protobuf(const struct pythia__otlp_reader *r, int status)
{
    return status == PYTHIA_ENOMEM || r->stream.source_failed || r->o.d.stopped < 0;
}

static void report_fault(struct pythia__otlp_reader *r)
{
    pythia__tell(&r->o.d, &r->stream.error);
    pythia_error_clear(&r->stream.error);
}

/* ---- records ---- */

/* Read the BYTES that come next as one record: if `read` finds a fault in it, it is reported and
 * passed over. Negative: nothing more can be read. */
static int
read_protobuf_record(struct pythia__otlp_reader *r, const struct pythia_protobuf_field *f,
                     int (*read)(struct pythia__otlp_reader *r, struct pythia_text message))
{
    struct pythia_text message;
    uint64_t end = pythia_protobuf_stream_end(&r->stream, f);
    r->record = end - f->value;
    r->merged = 0;
    pythia_arena_clear(&r->scratch);
    int status = pythia_protobuf_stream_take(&r->stream, f, &message);
    bool too_large = status == PYTHIA_ELIMIT;
    if (status == 0)
        status = read(r, message);
    if (status >= 0 || is_fatal_protobuf(r, status))
        return status;
    report_fault(r);
    if (r->o.d.stopped < 0)
        return r->o.d.stopped;
    return too_large ? pythia_protobuf_stream_pass(&r->stream, end) : PYTHIA_OK;
}

/* 8 bytes, the highest first. */
static uint64_t read_big_endian(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;
    return (uint64_t)b[0] << 56 | (uint64_t)b[1] << 48 | (uint64_t)b[2] << 40 |
           (uint64_t)b[3] << 32 | (uint64_t)b[4] << 24 | (uint64_t)b[5] << 16 |
           (uint64_t)b[6] << 8 | (uint64_t)b[7];
}

/* An id of 8 or 16 bytes; 0 if it is empty, which says that there is none. */
static int read_protobuf_id(struct pythia__otlp_reader *r, struct pythia_text id, const char *name,
                            size_t size, uint64_t *high, uint64_t *low)
{
    *high = *low = 0;
    if (id.size != size && id.size != 0)
        return pythia__otlp_fail(r, id.bytes, "%s has %zu bytes, expected %zu", name, id.size,
                                 size);
    if (id.size == 16)
        *high = read_big_endian(id.bytes);
    if (id.size > 0)
        *low = read_big_endian(id.bytes + size - 8);
    return PYTHIA_OK;
}

static int read_protobuf_time(struct pythia__otlp_reader *r, uint64_t time, const char *at,
                              uint64_t *out, bool *seen)
{
    *seen = true;
    *out = time;
    return time <= PYTHIA__TIME_MAX
               ? PYTHIA_OK
               : pythia__otlp_fail(r, at, "the time %" PRIu64 " is out of range", time);
}

static int read_protobuf_status(struct pythia__otlp_reader *r, struct pythia_text message,
                                bool *error)
{
    struct pythia_protobuf m = pythia_protobuf_of(message);
    struct pythia_protobuf_field f = {0};
    const char *begin = m.at;
    int status;
    for (; (status = pythia__otlp_next(r, &m, &f)) == 0; begin = m.at) {
        if (f.number == 3 && f.type == PYTHIA_PROTOBUF_VARINT)
            *error = (int32_t)f.value == 2;
        else if ((status = pythia__otlp_other(r, PYTHIA__OTLP_STATUS, f, begin)) != PYTHIA_OK)
            return status;
    }
    return status == 1 ? PYTHIA_OK : status;
}

/* Read an event: its name, and its attributes below that name. The name may come after them, so
 * that a first walk finds it and a second one reads the attributes. */
static int read_event_fields(struct pythia__otlp_reader *r, struct pythia_text message)
{
    struct pythia__decoder *d = &r->o.d;
    struct pythia_protobuf m = pythia_protobuf_of(message);
    struct pythia_protobuf_field f = {0};
    struct pythia_text name = {NULL, 0};
    const char *begin = m.at;
    int status;
    for (; (status = pythia__otlp_next(r, &m, &f)) == 0; begin = m.at) {
        if (f.number == 2 && f.type == PYTHIA_PROTOBUF_BYTES)
            name = f.bytes;
        else if ((status = pythia__otlp_other(r, PYTHIA__OTLP_EVENT, f, begin)) != PYTHIA_OK)
            return status;
    }
    if (status < 0 || !name.bytes)
        return status < 0 ? status : PYTHIA_OK;
    uint32_t key = pythia__otlp_key(r, PYTHIA_TEXT("event"), name);
    if (key == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    pythia_attributes_bool(&d->attributes, key, true);
    m = pythia_protobuf_of(message);
    while (pythia_protobuf_next(&m, &f) == 0) {
        if (f.number != 3)
            continue;
        status = pythia__otlp_key_value(r, f.bytes, pythia_vocabulary_text(d->vocabulary, key), 0);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

static int read_protobuf_event(struct pythia__otlp_reader *r, struct pythia_text message)
{
    int status = pythia__event_begin(&r->o.d) ? read_event_fields(r, message) : PYTHIA_OK;
    pythia__event_end(&r->o.d);
    return status;
}

static int read_span_field(struct pythia__otlp_reader *r, struct pythia_protobuf_field f,
                           const char *at, struct pythia__otlp_span *s)
{
    struct pythia_span *span = &s->out.span;
    uint64_t none;
    switch (PYTHIA__OTLP_TAG(f.number, VARINT) | f.type) {
    case PYTHIA__OTLP_TAG(1, BYTES):
        return read_protobuf_id(r, f.bytes, "traceId", 16, &s->out.trace.high, &s->out.trace.low);
    case PYTHIA__OTLP_TAG(2, BYTES):
        return read_protobuf_id(r, f.bytes, "spanId", 8, &none, &span->id);
    case PYTHIA__OTLP_TAG(3, BYTES):
        pythia__otlp_tracestate(&r->o, s, f.bytes);
        return PYTHIA_OK;
    case PYTHIA__OTLP_TAG(4, BYTES):
        return read_protobuf_id(r, f.bytes, "parentSpanId", 8, &none, &span->parent);
    case PYTHIA__OTLP_TAG(5, BYTES):
        s->out.name = pythia__otlp_key(r, (struct pythia_text){"", 0}, f.bytes);
        return s->out.name == PYTHIA_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
    case PYTHIA__OTLP_TAG(6, VARINT):
        pythia__otlp_kind(span, (int32_t)f.value);
        return PYTHIA_OK;
    case PYTHIA__OTLP_TAG(7, FIXED64):
        return read_protobuf_time(r, f.value, at, &span->start_ns, &s->has_start);
    case PYTHIA__OTLP_TAG(8, FIXED64):
        return read_protobuf_time(r, f.value, at, &s->end_ns, &s->has_end);
    case PYTHIA__OTLP_TAG(9, BYTES):
        return pythia__otlp_key_value(r, f.bytes, (struct pythia_text){"", 0}, 0);
    case PYTHIA__OTLP_TAG(11, BYTES):
        return read_protobuf_event(r, f.bytes);
    case PYTHIA__OTLP_TAG(13, BYTES): /* a link: nothing is made of it */
        (void)pythia__link(&r->o.d);
        return PYTHIA_OK;
    case PYTHIA__OTLP_TAG(15, BYTES):
        return read_protobuf_status(r, f.bytes, &span->error);
    default:
        return pythia__otlp_other(r, PYTHIA__OTLP_SPAN, f, at);
    }
}

static int read_protobuf_span(struct pythia__otlp_reader *r, struct pythia_text message)
{
    struct pythia_protobuf m = pythia_protobuf_of(message);
    struct pythia_protobuf_field f;
    struct pythia__otlp_span s = {0};
    const char *begin = m.at;
    int status;
    pythia__span_begin(&r->o.d);
    for (; (status = pythia__otlp_next(r, &m, &f)) == 0; begin = m.at) {
        status = read_span_field(r, f, begin, &s);
        if (status != PYTHIA_OK)
            return status;
    }
    if (status < 0)
        return status;
    const char *fault = pythia__otlp_fault(&s);
    return fault ? pythia__otlp_fail(r, message.bytes, "%s", fault) : pythia__otlp_give(&r->o, &s);
}

/* A Scope or a Resource that is written more than once is merged; it applies to the spans after it.
 */
static int read_protobuf_scope(struct pythia__otlp_reader *r, struct pythia_text message)
{
    struct pythia_protobuf m = pythia_protobuf_of(message);
    struct pythia_protobuf_field f;
    const char *begin = m.at;
    int status;
    r->o.scope_known = true;
    for (; (status = pythia__otlp_next(r, &m, &f)) == 0; begin = m.at) {
        if (f.number != 1 || f.type != PYTHIA_PROTOBUF_BYTES) {
            status = pythia__otlp_other(r, PYTHIA__OTLP_SCOPE, f, begin);
        } else {
            r->o.scope = pythia__otlp_key(r, (struct pythia_text){"", 0}, f.bytes);
            status = r->o.scope == PYTHIA_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
        }
        if (status != PYTHIA_OK)
            return status;
    }
    return status == 1 ? PYTHIA_OK : status;
}

static int read_protobuf_resource_attributes(struct pythia__otlp_reader *r,
                                             struct pythia_text message)
{
    struct pythia_protobuf m = pythia_protobuf_of(message);
    struct pythia_protobuf_field f;
    const char *begin = m.at;
    int status;
    for (; (status = pythia__otlp_next(r, &m, &f)) == 0; begin = m.at) {
        status = f.number == 1 && f.type == PYTHIA_PROTOBUF_BYTES
                     ? pythia__otlp_key_value(r, f.bytes, (struct pythia_text){"", 0}, 0)
                     : pythia__otlp_other(r, PYTHIA__OTLP_RESOURCE, f, begin);
        if (status != PYTHIA_OK)
            return status;
    }
    return status == 1 ? PYTHIA_OK : status;
}

/* If a resource has a fault, the part before the fault counts. */
static int read_protobuf_resource(struct pythia__otlp_reader *r,
                                  const struct pythia_protobuf_field *f)
{
    pythia_buf_clear(&r->o.d.attributes);
    if (r->o.resource_known)
        pythia_buf_text_add(&r->o.d.attributes, pythia_buf_text(&r->o.resource_attributes));
    int status = read_protobuf_record(r, f, read_protobuf_resource_attributes);
    if (status != PYTHIA_OK)
        return status;
    return pythia__otlp_resource(&r->o);
}

/* ---- messages that hold others ---- */

/* Read the message that ends at `end`. A fault between records leaves unknown where the next record
 * begins: the fault is reported with the number of bytes lost, and the rest of the message is
 * passed over. Negative: nothing more can be read. */
static int read_message(struct pythia__otlp_reader *r, uint64_t end,
                        int (*read)(struct pythia__otlp_reader *r, uint64_t end))
{
    struct pythia_protobuf_stream *s = &r->stream;
    int status = read(r, end);
    if (status >= 0 || is_fatal_protobuf(r, status))
        return status;
    if (!s->cut_off) {
        uint64_t left = end - s->error.offset;
        size_t size = strlen(s->error.sentence);
        snprintf(s->error.sentence + size, sizeof(s->error.sentence) - size,
                 end == PYTHIA_PROTOBUF_OPEN ? ": the rest of the input is skipped"
                                             : ": %" PRIu64 " bytes are skipped",
                 left);
    }
    report_fault(r);
    if (r->o.d.stopped < 0)
        return r->o.d.stopped;
    status = pythia_protobuf_stream_pass(s, end);
    return is_fatal_protobuf(r, status) ? status
                                        : PYTHIA_OK; /* that the input ends too is nothing new */
}

/* A step of a loop over the fields of the message that ends at `end`, as pythia_json_next_field is
 * one; *at is where the field begins. */
static bool step_to_field(struct pythia__otlp_reader *r, uint64_t end,
                          struct pythia_protobuf_field *f, uint64_t *at, int *status)
{
    *at = pythia_protobuf_stream_at(&r->stream);
    if (*status == PYTHIA_OK && (*status = pythia_protobuf_stream_field(&r->stream, end, f)) == 0)
        return true;
    *status = *status == 1 ? PYTHIA_OK : *status;
    return false;
}

/* Pass over a field that is not read, and report it if its number is known with another type. */
static int pass_over_field(struct pythia__otlp_reader *r, enum pythia__otlp_message of,
                           const struct pythia_protobuf_field *f, uint64_t at)
{
    if (pythia__otlp_other_at(r, of, *f, at) != PYTHIA_OK)
        report_fault(r);
    if (f->type != PYTHIA_PROTOBUF_BYTES)
        return PYTHIA_OK;
    return pythia_protobuf_stream_pass(&r->stream, pythia_protobuf_stream_end(&r->stream, f));
}

static int read_protobuf_scope_spans(struct pythia__otlp_reader *r, uint64_t end)
{
    struct pythia_protobuf_field f;
    uint64_t at;
    size_t begun = pythia__otlp_begin_scope(&r->o);
    int status = PYTHIA_OK;
    while (step_to_field(r, end, &f, &at, &status))
        status = f.type != PYTHIA_PROTOBUF_BYTES || f.number > 2
                     ? pass_over_field(r, PYTHIA__OTLP_SCOPE_SPANS, &f, at)
                     : read_protobuf_record(
                           r, &f, f.number == 2 ? read_protobuf_span : read_protobuf_scope);
    return pythia__otlp_end_scope(&r->o, begun, status);
}

static int read_protobuf_resource_spans(struct pythia__otlp_reader *r, uint64_t end)
{
    struct pythia_protobuf_field f;
    uint64_t at;
    int status = PYTHIA_OK;
    pythia__otlp_begin_resource(&r->o);
    while (step_to_field(r, end, &f, &at, &status))
        if (f.type == PYTHIA_PROTOBUF_BYTES && f.number == 1)
            status = read_protobuf_resource(r, &f);
        else if (f.type == PYTHIA_PROTOBUF_BYTES && (f.number == 2 || f.number == 1000))
            status = read_message(r, pythia_protobuf_stream_end(&r->stream, &f),
                                  read_protobuf_scope_spans);
        else
            status = pass_over_field(r, PYTHIA__OTLP_RESOURCE_SPANS, &f, at);
    return pythia__otlp_end_resource(&r->o, status);
}

static int read_traces_data(struct pythia__otlp_reader *r, uint64_t end)
{
    struct pythia_protobuf_field f;
    uint64_t at;
    bool any = false, traces = false;
    int status = PYTHIA_OK;
    for (; step_to_field(r, end, &f, &at, &status); any = true)
        if (f.type == PYTHIA_PROTOBUF_BYTES && f.number == 1) {
            traces = true;
            status = read_message(r, pythia_protobuf_stream_end(&r->stream, &f),
                                  read_protobuf_resource_spans);
        } else {
            status = pass_over_field(r, PYTHIA__OTLP_TRACES, &f, at);
        }
    if (status != PYTHIA_OK)
        return status;
    r->o.d.to->counts->dropped[PYTHIA_DROP_NOT_A_TRACE] += any && !traces;
    return PYTHIA_OK;
}

/* ---- the row ---- */

static void destroy_otlp_protobuf(struct pythia_adapter *a)
{
    struct pythia__otlp_reader *r = (struct pythia__otlp_reader *)a;
    if (!r)
        return;
    pythia__otlp_free(&r->o);
    pythia_protobuf_stream_free(&r->stream);
    pythia_arena_free(&r->scratch);
    pythia_buf_free(&r->joined);
    pythia_free(r);
}

static int create_otlp_protobuf(struct pythia_vocabulary *vocabulary, struct pythia_adapter **out)
{
    struct pythia__otlp_reader *r = pythia_calloc(1, sizeof(*r));
    if (!r)
        return PYTHIA_ENOMEM;
    int status = pythia__otlp_init(&r->o, &pythia__otlp_protobuf, vocabulary);
    if (status != PYTHIA_OK) {
        destroy_otlp_protobuf(&r->o.d.adapter);
        return status;
    }
    *out = &r->o.d.adapter;
    return PYTHIA_OK;
}

/* Read all messages of the input. */
static int read_all_messages(struct pythia__otlp_reader *r)
{
    unsigned char first;
    uint64_t end;
    int status = pythia_protobuf_stream_peek(&r->stream, &first);
    if (status != PYTHIA_OK)
        return status == 1 ? PYTHIA_OK : status;
    if (!pythia__otlp_is_framed(first))
        return read_message(r, PYTHIA_PROTOBUF_OPEN, read_traces_data);
    while ((status = pythia_protobuf_stream_frame(&r->stream, &end)) == 0) {
        status = read_message(r, end, read_traces_data);
        if (status < 0)
            return status;
    }
    if (status == 1)
        return PYTHIA_OK;
    if (is_fatal_protobuf(r, status))
        return status;
    report_fault(r); /* the input ends in a size */
    return PYTHIA_OK;
}

static int decode_otlp_protobuf(struct pythia_adapter *a, struct pythia_source *from,
                                struct pythia_sink *to, struct pythia_error *e)
{
    struct pythia__otlp_reader *r = (struct pythia__otlp_reader *)a;
    pythia_protobuf_stream_begin(&r->stream, from,
                                 to->record_max ? to->record_max : PYTHIA_PROTOBUF_LIMIT);
    pythia__decoder_begin(&r->o.d, to);
    r->joined.failed = 0;
    int status = read_all_messages(r);
    pythia_arena_free(&r->scratch); /* which is empty, but for hostile input */
    if (status < 0 && e && e->status == PYTHIA_OK)
        *e = r->stream.error;
    return r->o.d.stopped < 0 ? r->o.d.stopped : status;
}

const struct pythia_adapter_ops pythia__otlp_protobuf = {
    .name = "otlp-proto",
    .help = "OpenTelemetry protocol, protobuf: one message, or several with 4 bytes of size each",
    .likeness = pythia__otlp_protobuf_likeness,
    .create = create_otlp_protobuf,
    .decode = decode_otlp_protobuf,
    .destroy = destroy_otlp_protobuf,
    .independent = true,
    .division = PYTHIA_DIVISION_FRAMES,
    .count = pythia__otlp_protobuf_count,
};
