/* Jaeger's JSON, as its user interface takes and its API answers (jaegertracing.io): times are
 * whole microseconds, and each trace describes the processes that its spans name. */
#include <inttypes.h>
#include <math.h>

#include "formats.h"
#include "pythia/mem.h"

static void begin_jaeger(struct pythia_export_state *state, struct pythia_buf *out)
{
    state->traces = 0;
    pythia_buf_puts(out, "{\"data\":[");
}

/* ---- tags ---- */

static void begin_tag(struct pythia_buf *out, bool *first, struct pythia_text key, const char *type)
{
    pythia_buf_puts(out, *first ? "{\"key\":" : ",{\"key\":");
    *first = false;
    pythia_shown_json_text(out, key);
    pythia_buf_printf(out, ",\"type\":\"%s\",\"value\":", type);
}

static void write_text_tag(struct pythia_buf *out, bool *first, const char *key,
                           struct pythia_text value)
{
    begin_tag(out, first, pythia_text_of(key), "string");
    pythia_shown_json_text(out, value);
    pythia_buf_putc(out, '}');
}

static void write_packed_tags(struct pythia_buf *out, const struct pythia_vocabulary *v,
                              struct pythia_text packed, bool *first)
{
    static const char *const types[] = {[PYTHIA_ATTRIBUTE_TEXT] = "string",
                                        [PYTHIA_ATTRIBUTE_INTEGER] = "int64",
                                        [PYTHIA_ATTRIBUTE_REAL] = "float64",
                                        [PYTHIA_ATTRIBUTE_BOOL] = "bool"};
    struct pythia_attribute one;
    while (pythia_attributes_next(&packed, &one)) {
        bool odd = one.kind == PYTHIA_ATTRIBUTE_REAL && !isfinite(one.real);
        begin_tag(out, first, pythia_vocabulary_text(v, one.key), odd ? "string" : types[one.kind]);
        pythia__add_json_value(out, &one, false);
        pythia_buf_putc(out, '}');
    }
}

/* ---- spans ---- */

static void write_references(struct pythia_buf *out, const struct pythia_trace *trace,
                             const struct pythia_trace_span *span)
{
    pythia_buf_puts(out, ",\"references\":[");
    if (span->parent != PYTHIA_NO_SPAN) {
        pythia_buf_printf(out, "{\"refType\":\"%s\",\"traceID\":\"",
                          span->relation == PYTHIA_RELATION_SPAWN ? "FOLLOWS_FROM" : "CHILD_OF");
        pythia__add_trace_id(out, trace->id);
        pythia_buf_printf(out, "\",\"spanID\":\"%016" PRIx64 "\"}", trace->spans[span->parent].id);
    }
    pythia_buf_putc(out, ']');
}

static void write_span_tags(struct pythia_buf *out, const struct pythia_vocabulary *v,
                            const struct pythia_trace_span *span)
{
    static const char *const kinds[] = {NULL,     "internal", "server",
                                        "client", "producer", "consumer"};
    bool first = true;
    pythia_buf_puts(out, ",\"tags\":[");
    if (kinds[span->kind])
        write_text_tag(out, &first, "span.kind", pythia_text_of(kinds[span->kind]));
    if (span->error) {
        begin_tag(out, &first, PYTHIA_TEXT("error"), "bool");
        pythia_buf_puts(out, "true}");
    }
    write_packed_tags(out, v, span->attributes, &first);
    pythia_buf_putc(out, ']');
}

static void write_jaeger_span(struct pythia_buf *out, const struct pythia_vocabulary *v,
                              const struct pythia_trace *trace,
                              const struct pythia_trace_span *span, uint32_t process)
{
    pythia_buf_puts(out, "{\"traceID\":\"");
    pythia__add_trace_id(out, trace->id);
    pythia_buf_printf(out, "\",\"spanID\":\"%016" PRIx64 "\",\"operationName\":", span->id);
    pythia_shown_json_text(out, pythia__find_span_name(v, span->tracepoint));
    write_references(out, trace, span);
    pythia_buf_printf(out, ",\"startTime\":%" PRIu64 ",\"duration\":%" PRIu64,
                      span->start_ns / 1000, (span->end_ns - span->start_ns + 500) / 1000);
    write_span_tags(out, v, span);
    pythia_buf_printf(out, ",\"logs\":[],\"processID\":\"p%" PRIu32 "\"}", process);
}

static void write_process(struct pythia_buf *out, const struct pythia_vocabulary *v,
                          uint32_t resource, uint32_t process)
{
    struct pythia_resource r = pythia_vocabulary_resource_at(v, resource);
    bool first = true;
    pythia_buf_printf(out, "%s\"p%" PRIu32 "\":{\"serviceName\":", process > 1 ? "," : "", process);
    pythia_shown_json_text(out, pythia_vocabulary_text(v, r.service));
    pythia_buf_puts(out, ",\"tags\":[");
    if (r.host && !pythia__has_key(v, r.attributes, "hostname") &&
        !pythia__has_key(v, r.attributes, "host.name"))
        write_text_tag(out, &first, "hostname", pythia_vocabulary_text(v, r.host));
    write_packed_tags(out, v, r.attributes, &first);
    pythia_buf_puts(out, "]}");
}

/* Number the resources of a trace in the order of its spans, as numbers of the vocabulary depend on
 * who came first. numbers[resource] is 0 for those that the trace has not; owned by the caller.
 * NULL when out of memory. */
static uint32_t *number_processes(const struct pythia_trace *trace)
{
    uint32_t most = 0, count = 0;
    for (uint32_t i = 0; i < trace->count; i++)
        most = trace->spans[i].resource > most ? trace->spans[i].resource : most;
    uint32_t *numbers = pythia_calloc((size_t)most + 1, sizeof(*numbers));
    for (uint32_t i = trace->first_root; numbers && i != PYTHIA_NO_SPAN;
         i = pythia_trace_next(trace, i))
        if (numbers[trace->spans[i].resource] == 0)
            numbers[trace->spans[i].resource] = ++count;
    return numbers;
}

/* Processes come after the spans, whose order numbers them. */
static void write_jaeger_trace(struct pythia_export_state *state, const struct pythia_trace *trace,
                               const struct pythia_critical_path *path, struct pythia_buf *out)
{
    const struct pythia_vocabulary *v = state->vocabulary;
    uint32_t *numbers = number_processes(trace), described = 0;
    (void)path;
    out->failed |= !numbers;
    if (!numbers)
        return;
    pythia_buf_puts(out, state->traces++ ? ",\n{\"traceID\":\"" : "\n{\"traceID\":\"");
    pythia__add_trace_id(out, trace->id);
    pythia_buf_puts(out, "\",\"spans\":[");
    for (uint32_t i = trace->first_root; i != PYTHIA_NO_SPAN; i = pythia_trace_next(trace, i)) {
        pythia_buf_puts(out, i == trace->first_root ? "" : ",");
        write_jaeger_span(out, v, trace, &trace->spans[i], numbers[trace->spans[i].resource]);
    }
    pythia_buf_puts(out, "],\"processes\":{");
    for (uint32_t i = trace->first_root; i != PYTHIA_NO_SPAN; i = pythia_trace_next(trace, i))
        if (numbers[trace->spans[i].resource] == described + 1)
            write_process(out, v, trace->spans[i].resource, ++described);
    pythia_buf_puts(out, "}}");
    pythia_free(numbers);
}

static void end_jaeger(struct pythia_export_state *state, struct pythia_buf *out)
{
    pythia_buf_puts(out, state->traces ? "\n]}\n" : "]}\n");
}

const struct pythia_export_ops pythia__export_jaeger = {
    .name = "jaeger",
    .help = "Jaeger's JSON, for its user interface",
    .begin = begin_jaeger,
    .trace = write_jaeger_trace,
    .end = end_jaeger,
};
