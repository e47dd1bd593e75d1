/* Zipkin v2 JSON: an array of spans (zipkin.io/zipkin-api, "zipkin2-api.yaml"). Times are whole
 * microseconds there; tags are strings. */
#include <inttypes.h>

#include "formats.h"

static const char *const kinds[] = {NULL, NULL, "SERVER", "CLIENT", "PRODUCER", "CONSUMER"};

static void begin_zipkin(struct pythia_export_state *state, struct pythia_buf *out)
{
    state->traces = 0;
    pythia_buf_putc(out, '[');
}

static void write_endpoint(struct pythia_buf *out, const struct pythia_vocabulary *v,
                           const struct pythia_trace_span *span)
{
    struct pythia_resource resource = pythia_vocabulary_resource_at(v, span->resource);
    if (!resource.service)
        return;
    pythia_buf_puts(out, ",\"localEndpoint\":{\"serviceName\":");
    pythia_shown_json_text(out, pythia_vocabulary_text(v, resource.service));
    pythia_buf_putc(out, '}');
}

static void write_tags(struct pythia_buf *out, const struct pythia_vocabulary *v,
                       const struct pythia_trace_span *span)
{
    size_t before = out->size;
    pythia_buf_puts(out, ",\"tags\":{");
    size_t open = out->size;
    pythia__add_json_attributes(out, v, span, true);
    if (span->error)
        pythia_buf_puts(out, out->size > open ? ",\"error\":\"true\"" : "\"error\":\"true\"");
    if (out->size == open && !out->failed)
        out->size = before; /* none: no member */
    else
        pythia_buf_putc(out, '}');
}

static void write_zipkin_trace(struct pythia_export_state *state, const struct pythia_trace *trace,
                               const struct pythia_critical_path *path, struct pythia_buf *out)
{
    (void)path;
    const struct pythia_vocabulary *v = state->vocabulary;
    bool first = state->traces++ == 0;
    for (uint32_t i = trace->first_root; i != PYTHIA_NO_SPAN; i = pythia_trace_next(trace, i)) {
        const struct pythia_trace_span *span = &trace->spans[i];
        pythia_buf_puts(out, first ? "\n{\"traceId\":\"" : ",\n{\"traceId\":\"");
        first = false;
        pythia__add_trace_id(out, trace->id);
        pythia_buf_printf(out, "\",\"id\":\"%016" PRIx64 "\"", span->id);
        if (span->parent != PYTHIA_NO_SPAN)
            pythia_buf_printf(out, ",\"parentId\":\"%016" PRIx64 "\"",
                              trace->spans[span->parent].id);
        if (kinds[span->kind])
            pythia_buf_printf(out, ",\"kind\":\"%s\"", kinds[span->kind]);
        pythia_buf_puts(out, ",\"name\":");
        pythia_shown_json_text(out, pythia__find_span_name(v, span->tracepoint));
        uint64_t duration_us = (span->end_ns - span->start_ns + 500) / 1000;
        pythia_buf_printf(out, ",\"timestamp\":%" PRIu64, span->start_ns / 1000);
        if (duration_us > 0) /* Zipkin knows no duration of 0 */
            pythia_buf_printf(out, ",\"duration\":%" PRIu64, duration_us);
        write_endpoint(out, v, span);
        write_tags(out, v, span);
        pythia_buf_putc(out, '}');
    }
}

static void end_zipkin(struct pythia_export_state *state, struct pythia_buf *out)
{
    pythia_buf_puts(out, state->traces ? "\n]\n" : "]\n");
}

const struct pythia_export_ops pythia__export_zipkin = {
    .name = "zipkin",
    .help = "Zipkin v2 JSON, for Zipkin, Jaeger and others",
    .begin = begin_zipkin,
    .trace = write_zipkin_trace,
    .end = end_zipkin,
};
