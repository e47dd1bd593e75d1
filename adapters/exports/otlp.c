/* OTLP as JSON (opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding"): TracesData, a document
 * on one line for each piece, as the collector's file exporter writes and its receiver takes. */
#include <inttypes.h>

#include "formats.h"
#include "pythia/otlp_json.h"

static void begin_otlp(struct pythia_export_state *state, struct pythia_buf *out)
{
    state->traces = 0;
    pythia_buf_puts(out, "{\"resourceSpans\":[");
}

/* ---- values ---- */

static void write_key_value(struct pythia_buf *out, bool *first, struct pythia_text key,
                            const struct pythia_attribute *value)
{
    pythia_buf_puts(out, *first ? "{\"key\":" : ",{\"key\":");
    *first = false;
    pythia_shown_json_text(out, key);
    pythia_buf_puts(out, ",\"value\":");
    pythia_otlp_json_value(out, value);
    pythia_buf_putc(out, '}');
}

static void write_key_values(struct pythia_buf *out, const struct pythia_vocabulary *v,
                             struct pythia_text packed, bool *first)
{
    struct pythia_attribute one;
    while (pythia_attributes_next(&packed, &one))
        write_key_value(out, first, pythia_vocabulary_text(v, one.key), &one);
}

/* ---- what spans share ---- */

/* Sources that are not OpenTelemetry's name service, host and process outside the attributes. */
static void write_resource(struct pythia_buf *out, const struct pythia_vocabulary *v,
                           uint32_t resource)
{
    struct pythia_resource r = pythia_vocabulary_resource_at(v, resource);
    const struct {
        const char *key;
        uint32_t text;
    } names[] = {
        {"service.name", r.service}, {"host.name", r.host}, {"service.instance.id", r.instance}};
    bool first = true;
    pythia_buf_puts(out, "{\"resource\":{\"attributes\":[");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].text && !pythia__has_key(v, r.attributes, names[i].key))
            write_key_value(
                out, &first, pythia_text_of(names[i].key),
                &(struct pythia_attribute){.kind = PYTHIA_ATTRIBUTE_TEXT,
                                           .text = pythia_vocabulary_text(v, names[i].text)});
    write_key_values(out, v, r.attributes, &first);
    pythia_buf_puts(out, "]},\"scopeSpans\":[{\"scope\":{");
}

/* The scope of a trace point, which is between service and name in its id. A source that names
 * its trace points itself has none. */
static struct pythia_text find_scope(const struct pythia_vocabulary *v, uint32_t tracepoint)
{
    const struct pythia_tracepoint *point = pythia_vocabulary_tracepoint_at(v, tracepoint);
    struct pythia_text id = pythia_vocabulary_tracepoint_id(v, tracepoint),
                       service = pythia_vocabulary_text(v, point->service),
                       name = pythia_vocabulary_text(v, point->name);
    size_t before = service.size ? service.size + 1 : 0, after = name.size + 1;
    if (id.size <= before + after || !pythia_text_starts(id, service) ||
        !pythia_text_ends(id, name) || id.bytes[id.size - after] != ':' ||
        (before && id.bytes[before - 1] != ':'))
        return PYTHIA_TEXT("");
    return (struct pythia_text){id.bytes + before, id.size - before - after};
}

/* ---- spans ---- */

static void write_otlp_span(struct pythia_buf *out, const struct pythia_vocabulary *v,
                            const struct pythia_trace *trace, const struct pythia_trace_span *span)
{
    bool first = true;
    pythia_buf_puts(out, "{\"traceId\":\"");
    pythia__add_trace_id(out, trace->id);
    pythia_buf_printf(out, "\",\"spanId\":\"%016" PRIx64 "\"", span->id);
    if (span->parent != PYTHIA_NO_SPAN)
        pythia_buf_printf(out, ",\"parentSpanId\":\"%016" PRIx64 "\"",
                          trace->spans[span->parent].id);
    pythia_buf_puts(out, ",\"name\":");
    pythia_shown_json_text(out, pythia__find_span_name(v, span->tracepoint));
    pythia_buf_printf(out,
                      ",\"kind\":%d,\"startTimeUnixNano\":\"%" PRIu64
                      "\",\"endTimeUnixNano\":\"%" PRIu64 "\",\"attributes\":[",
                      (int)span->kind, span->start_ns, span->end_ns);
    write_key_values(out, v, span->attributes, &first);
    pythia_buf_puts(out, span->error ? "],\"status\":{\"code\":2}}" : "]}");
}

/* Spans that follow each other and have one resource and one scope stand together; sorting them
 * would make the output depend on the numbers of names. */
static void write_otlp_trace(struct pythia_export_state *state, const struct pythia_trace *trace,
                             const struct pythia_critical_path *path, struct pythia_buf *out)
{
    const struct pythia_vocabulary *v = state->vocabulary;
    const struct pythia_trace_span *before = NULL;
    struct pythia_text scope = {"", 0};
    (void)path;
    for (uint32_t i = trace->first_root; i != PYTHIA_NO_SPAN; i = pythia_trace_next(trace, i)) {
        const struct pythia_trace_span *span = &trace->spans[i];
        struct pythia_text own = find_scope(v, span->tracepoint);
        if (before && before->resource == span->resource && pythia_text_equal(own, scope)) {
            pythia_buf_putc(out, ',');
        } else {
            pythia_buf_puts(out, before ? "]}]}," : state->traces ? "," : "");
            write_resource(out, v, span->resource);
            if (own.size) {
                pythia_buf_puts(out, "\"name\":");
                pythia_shown_json_text(out, own);
            }
            pythia_buf_puts(out, "},\"spans\":[");
        }
        write_otlp_span(out, v, trace, span);
        before = span;
        scope = own;
    }
    pythia_buf_puts(out, before ? "]}]}" : "");
    state->traces += before != NULL;
}

static void end_otlp(struct pythia_export_state *state, struct pythia_buf *out)
{
    (void)state;
    pythia_buf_puts(out, "]}\n");
}

const struct pythia_export_ops pythia__export_otlp = {
    .name = "otlp",
    .help = "OTLP as JSON, for OpenTelemetry collectors",
    .pieces = true,
    .begin = begin_otlp,
    .trace = write_otlp_trace,
    .end = end_otlp,
};
