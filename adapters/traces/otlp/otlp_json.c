/* OTLP/JSON: the OpenTelemetry protocol's TracesData as JSON (opentelemetry.io/docs/specs/otlp,
 * "JSON Protobuf Encoding"): one document, an array of them, or one a line as the collector's file
 * exporter writes.
 *
 *     {"resourceSpans": [{"resource": …, "scopeSpans": [{"scope": …, "spans": [span, …]}]}]}
 *
 * Taken beyond what is written there, because exporters do it: ids in base64, enums by name, names
 * in snake case, "instrumentationLibrarySpans" of old versions, and members in any order. Grafana
 * Tempo's API answers with "batches" in place of "resourceSpans", and version 2 of it with the
 * whole as the member "trace"; Kiali passes that on. What Go's SDK prints is read by otlp_stdout.c.
 * Spans whose resource or scope comes after them are held until it is known. */
#include <math.h>

#include "otlp.h"
#include "otlp_stdout.h"
#include "pythia/mem.h"
#include "shared/base64_id.h"
#include "shared/formats.h"
#include "shared/json_count.h"
#include "shared/json_decoder.h"

/* ---- values ---- */

static int fail_id(struct pythia_json *j, const char *which, struct pythia_text text)
{
    return pythia_json_fail_last(j, PYTHIA_EFORMAT,
                                 "%s '%.*s' is not an id: expected hexadecimal digits or base64",
                                 which, (int)(text.size < 48 ? text.size : 48), text.bytes);
}

/* An id of `size` bytes: 8 or 16; 0 if there is none. */
static int read_otlp_id(struct pythia_json *j, const char *which, size_t size, uint64_t *high,
                        uint64_t *low)
{
    struct pythia_text text;
    *high = *low = 0;
    if (pythia_json_peek(j) == 'n')
        return pythia_json_skip(j);
    int status = pythia_json_string(j, &text);
    if (status != PYTHIA_OK)
        return status;
    if (text.size == 0) /* none */
        return PYTHIA_OK;
    bool good = text.size == 2 * size ? pythia_text_hex(text, high, low)
                                      : pythia__parse_base64_id(text, size, high, low);
    return good ? PYTHIA_OK : fail_id(j, which, text);
}

/* An enum by number, by number in a string or by name; the names end in one of `words`, which
 * stand at their numbers. */
static int read_otlp_enum(struct pythia_json *j, const char *const *words, int count, int *out)
{
    struct pythia_json_value value;
    int status = pythia_json_value(j, &value);
    if (status != PYTHIA_OK)
        return status;
    *out = 0;
    if (value.kind == PYTHIA_JSON_INTEGER) {
        *out = value.integer >= 0 && value.integer < count ? (int)value.integer : 0;
    } else if (value.kind == PYTHIA_JSON_STRING) {
        for (int i = 0; i < count; i++)
            if (pythia_text_ends(value.text, pythia_text_of(words[i])) ||
                (value.text.size == 1 && value.text.bytes[0] == '0' + i))
                *out = i;
    } else if (value.kind == PYTHIA_JSON_OBJECT || value.kind == PYTHIA_JSON_ARRAY) {
        return pythia_json_fail(j, PYTHIA_EFORMAT, "expected a number or a name");
    }
    return PYTHIA_OK;
}

static int read_key_values(struct pythia__otlp *o, struct pythia_text prefix, int depth);

/* The double that was read last: "NaN", "Infinity" and "-Infinity" have no other form. */
static int parse_double_value(struct pythia__otlp *o, const struct pythia_json_value *value,
                              double *out)
{
    *out = value->real;
    if (value->kind == PYTHIA_JSON_INTEGER || value->kind == PYTHIA_JSON_REAL)
        return PYTHIA_OK;
    if (value->kind != PYTHIA_JSON_STRING)
        return pythia__unfit(&o->d, "a doubleValue that is not a number");
    if (PYTHIA_TEXT_IS(value->text, "NaN"))
        *out = NAN;
    else if (PYTHIA_TEXT_IS(value->text, "Infinity"))
        *out = INFINITY;
    else if (PYTHIA_TEXT_IS(value->text, "-Infinity"))
        *out = -INFINITY;
    else
        return pythia_json_fail_last(o->d.json, PYTHIA_EFORMAT, "'%.*s' is not a doubleValue",
                                     (int)(value->text.size < 40 ? value->text.size : 40),
                                     value->text.bytes);
    return PYTHIA_OK;
}

static bool is_double(struct pythia_text variant)
{
    return PYTHIA_TEXT_IS(variant, "doubleValue") || PYTHIA_TEXT_IS(variant, "double_value");
}

/* Append one member of an AnyValue in an array to the array's text. */
static int join_variant(struct pythia__otlp *o, struct pythia_text variant,
                        struct pythia_buf *joined)
{
    struct pythia_json_value value;
    double number;
    if (!is_double(variant))
        return pythia__join_scalar(&o->d, joined);
    int status = pythia_json_value(o->d.json, &value);
    if (status != PYTHIA_OK || value.kind == PYTHIA_JSON_NULL)
        return status;
    status = parse_double_value(o, &value, &number);
    if (status != PYTHIA_OK)
        return status;
    pythia__otlp_join_real(joined, number);
    return PYTHIA_OK;
}

/* Read {"values": [AnyValue, …]}: the scalars become one text with commas between, because an
 * attribute has one value, and position in an array seldom means anything. */
static int read_array_value(struct pythia__otlp *o, uint32_t key)
{
    struct pythia_json *j = o->d.json;
    struct pythia_buf joined = {0};
    struct pythia_text member;
    int status = pythia__enter_object(&o->d);
    while (pythia_json_next_field(j, &member, &status)) {
        if (!PYTHIA_TEXT_IS(member, "values")) {
            status = pythia_json_skip(j);
            continue;
        }
        status = pythia__enter_array(&o->d);
        while (pythia_json_next_element(j, &status)) {
            status = pythia__enter_object(&o->d);
            while (pythia_json_next_field(j, &member, &status))
                status = join_variant(o, member, &joined);
        }
    }
    if (status != PYTHIA_OK)
        goto out;
    pythia__add_text(&o->d, key, pythia_buf_text(&joined));
    status = pythia_buf_status(&joined);
out:
    pythia_buf_free(&joined);
    return status;
}

/* {"values": [{"key", "value"}, …]} below the key `name`. */
static int read_list_value(struct pythia__otlp *o, struct pythia_text name, int depth)
{
    struct pythia_json *j = o->d.json;
    struct pythia_text member;
    if (depth >= PYTHIA__DEPTH_MAX)
        return pythia_json_fail(j, PYTHIA_EFORMAT, "key-values are nested deeper than %d",
                                PYTHIA__DEPTH_MAX);
    int status = pythia__enter_object(&o->d);
    while (pythia_json_next_field(j, &member, &status))
        status = PYTHIA_TEXT_IS(member, "values") ? read_key_values(o, name, depth + 1)
                                                  : pythia_json_skip(j);
    return status;
}

/* Read one member of an AnyValue. Exporters write camel or snake case; members that are not known
 * are passed over. */
static int read_variant(struct pythia__otlp *o, struct pythia_text variant, uint32_t key, int depth)
{
    struct pythia_json *j = o->d.json;
    struct pythia_json_value value;
    if (PYTHIA_TEXT_IS(variant, "intValue") || PYTHIA_TEXT_IS(variant, "int_value")) {
        int64_t number;
        int status = pythia_json_int64(j, &number);
        if (status != PYTHIA_OK)
            return status;
        pythia_attributes_integer(&o->d.attributes, key, number);
        return PYTHIA_OK;
    }
    if (PYTHIA_TEXT_IS(variant, "arrayValue") || PYTHIA_TEXT_IS(variant, "array_value"))
        return read_array_value(o, key);
    if (PYTHIA_TEXT_IS(variant, "kvlistValue") || PYTHIA_TEXT_IS(variant, "kvlist_value"))
        return read_list_value(o, pythia_vocabulary_text(o->d.vocabulary, key), depth);
    int status = pythia_json_value(j, &value);
    if (status != PYTHIA_OK)
        return status;
    if (is_double(variant)) {
        double number;
        status = parse_double_value(o, &value, &number);
        if (status != PYTHIA_OK)
            return status;
        pythia_attributes_real(&o->d.attributes, key, number);
        return PYTHIA_OK;
    }
    if (value.kind == PYTHIA_JSON_STRING)
        pythia__add_text(&o->d, key, value.text); /* stringValue; bytesValue stays in base64 */
    else if (value.kind == PYTHIA_JSON_BOOL)
        pythia_attributes_bool(&o->d.attributes, key, value.integer != 0);
    else if (value.kind >= PYTHIA_JSON_OBJECT)
        return pythia_json_skip(j);
    return PYTHIA_OK;
}

/* Read an AnyValue: an object with one member. */
static int read_any_value(struct pythia__otlp *o, uint32_t key, int depth)
{
    struct pythia_text variant;
    int status = pythia__enter_object(&o->d);
    while (pythia_json_next_field(o->d.json, &variant, &status))
        status = read_variant(o, variant, key, depth);
    return status;
}

/* Read a key-value that is written as nearly all are: 1. If it is written otherwise: 0, and nothing
 * has been read. Nearly all key-values of a capture take this path, which finds their structure in
 * one comparison instead of member by member. */
static int read_plain_json_key_value(struct pythia__otlp *o, struct pythia_text prefix)
{
    struct pythia_json *j = o->d.json;
    struct pythia_json_scalar found[3];
    const uint32_t *begin = pythia_json_mark(j);
    if (!pythia_json_match(j, "{\"key\":$,\"value\":{$:$}}", found) || !found[0].quoted)
        goto other;
    int64_t number;
    struct pythia_text variant = found[1].text, value = found[2].text;
    uint32_t key = pythia__key_below(&o->d, prefix, found[0].text);
    if (key == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    if (PYTHIA_TEXT_IS(variant, "stringValue") && found[2].quoted)
        pythia__add_text(&o->d, key, value);
    else if (PYTHIA_TEXT_IS(variant, "intValue") && pythia_json_whole_number(value, &number))
        pythia_attributes_integer(&o->d.attributes, key, number);
    else if (PYTHIA_TEXT_IS(variant, "boolValue") && !found[2].quoted &&
             (PYTHIA_TEXT_IS(value, "true") || PYTHIA_TEXT_IS(value, "false")))
        pythia_attributes_bool(&o->d.attributes, key, value.size == 4);
    else
        goto other;
    return 1;
other:
    pythia_json_again(j, begin);
    return 0;
}

/* Read {"key": …, "value": …}. A value that comes before its key is read a second time, when the
 * key is known. */
static int read_key_value(struct pythia__otlp *o, struct pythia_text prefix, int depth)
{
    struct pythia_json *j = o->d.json;
    int plain = read_plain_json_key_value(o, prefix);
    if (plain != 0)
        return plain < 0 ? plain : PYTHIA_OK;
    const uint32_t *value = NULL;
    struct pythia_text member;
    uint32_t key = PYTHIA_NONE;
    int status = pythia__enter_object(&o->d);
    while (pythia_json_next_field(j, &member, &status)) {
        if (PYTHIA_TEXT_IS(member, "key")) {
            status = pythia__read_key(&o->d, prefix, &key);
        } else if (PYTHIA_TEXT_IS(member, "value") && key != PYTHIA_NONE) {
            status = read_any_value(o, key, depth);
        } else {
            value = PYTHIA_TEXT_IS(member, "value") ? pythia_json_mark(j) : value;
            status = pythia_json_skip(j);
        }
    }
    if (status != PYTHIA_OK || !value || key == PYTHIA_NONE)
        return status;
    const uint32_t *after = pythia_json_mark(j);
    pythia_json_again(j, value);
    status = read_any_value(o, key, depth);
    pythia_json_again(j, after);
    return status;
}

/* [{"key", "value"}, …] into the attributes of the decoder. */
static int read_key_values(struct pythia__otlp *o, struct pythia_text prefix, int depth)
{
    int status = pythia__enter_array(&o->d);
    while (pythia_json_next_element(o->d.json, &status))
        status = read_key_value(o, prefix, depth);
    return status;
}

/* ---- spans ---- */

static int read_otlp_time(struct pythia__otlp *o, uint64_t *out, bool *seen)
{
    uint64_t number = 0;
    *seen = true;
    int status = pythia_json_uint64(o->d.json, &number);
    if (status != PYTHIA_OK)
        return status;
    return pythia__time(&o->d, number, 1, out);
}

/* Read an event: its name, and its attributes below that name. The name may come after the
 * attributes, so that the event is read twice. */
static int read_event_members(struct pythia__otlp *o)
{
    struct pythia_json *j = o->d.json;
    const uint32_t *begin = pythia_json_mark(j);
    struct pythia_text member;
    uint32_t name = 0;
    int status = pythia__enter_object(&o->d);
    while (pythia_json_next_field(j, &member, &status))
        status = PYTHIA_TEXT_IS(member, "name")
                     ? pythia__read_key(&o->d, PYTHIA_TEXT("event"), &name)
                     : pythia_json_skip(j);
    if (status != PYTHIA_OK || name == 0)
        return status;
    const uint32_t *after = pythia_json_mark(j);
    pythia_attributes_bool(&o->d.attributes, name, true);
    pythia_json_again(j, begin);
    status = pythia__enter_object(&o->d);
    while (pythia_json_next_field(j, &member, &status))
        status = PYTHIA_TEXT_IS(member, "attributes")
                     ? read_key_values(o, pythia_vocabulary_text(o->d.vocabulary, name), 0)
                     : pythia_json_skip(j);
    pythia_json_again(j, after);
    return status;
}

static int read_otlp_event(struct pythia__otlp *o)
{
    int status = pythia__event_begin(&o->d) ? read_event_members(o) : pythia_json_skip(o->d.json);
    pythia__event_end(&o->d);
    return status;
}

/* A link is counted, and nothing else is made of it. */
static int read_otlp_link(struct pythia__otlp *o)
{
    (void)pythia__link(&o->d);
    return pythia_json_skip(o->d.json);
}

/* Read each element of the next value, an array, by `read`. */
static int read_each_element(struct pythia__otlp *o, int (*read)(struct pythia__otlp *o))
{
    int status = pythia__enter_array(&o->d);
    while (pythia_json_next_element(o->d.json, &status))
        status = read(o);
    return status;
}

static int read_otlp_status(struct pythia__otlp *o, bool *error)
{
    static const char *const codes[] = {"STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"};
    struct pythia_text member;
    int code = 0, status = pythia__enter_object(&o->d);
    while (pythia_json_next_field(o->d.json, &member, &status))
        status = PYTHIA_TEXT_IS(member, "code") ? read_otlp_enum(o->d.json, codes, 3, &code)
                                                : pythia_json_skip(o->d.json);
    *error = code == 2;
    return status;
}

static int read_otlp_kind(struct pythia__otlp *o, struct pythia_span *span)
{
    static const char *const words[] = {"UNSPECIFIED", "INTERNAL", "SERVER",
                                        "CLIENT",      "PRODUCER", "CONSUMER"};
    int kind, status = read_otlp_enum(o->d.json, words, 6, &kind);
    if (status != PYTHIA_OK)
        return status;
    pythia__otlp_kind(span, kind);
    return PYTHIA_OK;
}

static int read_tracestate(struct pythia__otlp *o, struct pythia__otlp_span *r)
{
    struct pythia_text text;
    if (pythia_json_peek(o->d.json) != '"')
        return pythia_json_skip(o->d.json);
    int status = pythia_json_string(o->d.json, &text);
    if (status != PYTHIA_OK)
        return status;
    pythia__otlp_tracestate(o, r, text);
    return PYTHIA_OK;
}

/* Is a member called that, in camel or in snake case? */
#define IS(member, camel, snake) (PYTHIA_TEXT_IS(member, camel) || PYTHIA_TEXT_IS(member, snake))

/* Names are compared in the order of how often they occur: a span has several attributes and one of
 * each of the others. */
static int read_otlp_member(struct pythia__otlp *o, struct pythia_text member,
                            struct pythia__otlp_span *r)
{
    struct pythia_json *j = o->d.json;
    struct pythia_span *span = &r->out.span;
    uint64_t unused;
    if (PYTHIA_TEXT_IS(member, "attributes"))
        return read_key_values(o, (struct pythia_text){"", 0}, 0);
    if (IS(member, "traceId", "trace_id"))
        return read_otlp_id(j, "traceId", 16, &r->out.trace.high, &r->out.trace.low);
    if (IS(member, "spanId", "span_id"))
        return read_otlp_id(j, "spanId", 8, &unused, &span->id);
    if (IS(member, "parentSpanId", "parent_span_id"))
        return read_otlp_id(j, "parentSpanId", 8, &unused, &span->parent);
    if (IS(member, "startTimeUnixNano", "start_time_unix_nano"))
        return read_otlp_time(o, &span->start_ns, &r->has_start);
    if (IS(member, "endTimeUnixNano", "end_time_unix_nano"))
        return read_otlp_time(o, &r->end_ns, &r->has_end);
    if (PYTHIA_TEXT_IS(member, "name"))
        return pythia__read_key(&o->d, (struct pythia_text){"", 0}, &r->out.name);
    if (IS(member, "traceState", "trace_state"))
        return read_tracestate(o, r);
    if (PYTHIA_TEXT_IS(member, "kind"))
        return read_otlp_kind(o, span);
    if (PYTHIA_TEXT_IS(member, "status"))
        return read_otlp_status(o, &span->error);
    if (PYTHIA_TEXT_IS(member, "events"))
        return read_each_element(o, read_otlp_event);
    if (PYTHIA_TEXT_IS(member, "links"))
        return read_each_element(o, read_otlp_link);
    return pythia_json_skip(j);
}

static int read_otlp_span(struct pythia__decoder *d, void *context)
{
    (void)context;
    struct pythia__otlp *o = (struct pythia__otlp *)d;
    struct pythia__otlp_span r = {0};
    struct pythia_text member;
    pythia__span_begin(d);
    int status = pythia_json_object(d->json);
    while (pythia_json_next_field(d->json, &member, &status))
        status = read_otlp_member(o, member, &r);
    if (status != PYTHIA_OK)
        return status;
    const char *fault = pythia__otlp_fault(&r);
    return fault ? pythia__unfit(d, fault) : pythia__otlp_give(o, &r);
}

static int read_otlp_spans(struct pythia__otlp *o)
{
    int status = pythia__enter_array(&o->d);
    while (pythia_json_next_element(o->d.json, &status))
        status = pythia__record(&o->d, read_otlp_span, NULL);
    return status;
}

/* ---- what spans share ---- */

static int read_otlp_scope(struct pythia__otlp *o)
{
    struct pythia_text member;
    int status = pythia__enter_object(&o->d);
    while (pythia_json_next_field(o->d.json, &member, &status))
        status = PYTHIA_TEXT_IS(member, "name")
                     ? pythia__read_key(&o->d, (struct pythia_text){"", 0}, &o->scope)
                     : pythia_json_skip(o->d.json);
    o->scope_known = true;
    return status;
}

static int read_otlp_scope_spans(struct pythia__otlp *o)
{
    struct pythia_text member;
    size_t begun = pythia__otlp_begin_scope(o);
    int status = pythia__enter_object(&o->d);
    while (pythia_json_next_field(o->d.json, &member, &status)) {
        if (PYTHIA_TEXT_IS(member, "scope") ||
            IS(member, "instrumentationLibrary", "instrumentation_library"))
            status = read_otlp_scope(o);
        else
            status =
                PYTHIA_TEXT_IS(member, "spans") ? read_otlp_spans(o) : pythia_json_skip(o->d.json);
    }
    return pythia__otlp_end_scope(o, begun, status);
}

static int read_otlp_resource_attributes(struct pythia__decoder *d, void *context)
{
    (void)context;
    struct pythia__otlp *o = (struct pythia__otlp *)d;
    struct pythia_text member;
    pythia_buf_clear(&d->attributes);
    int status = pythia__enter_object(d);
    while (pythia_json_next_field(d->json, &member, &status))
        status = PYTHIA_TEXT_IS(member, "attributes")
                     ? read_key_values(o, (struct pythia_text){"", 0}, 0)
                     : pythia_json_skip(d->json);
    return status;
}

static int read_otlp_resource(struct pythia__otlp *o)
{
    int status = pythia__record(&o->d, read_otlp_resource_attributes, NULL);
    if (status != PYTHIA_OK)
        return status;
    return pythia__otlp_resource(o);
}

static bool is_scope_spans(struct pythia_text member)
{
    return IS(member, "scopeSpans", "scope_spans") ||
           IS(member, "instrumentationLibrarySpans", "instrumentation_library_spans");
}

/* One member of a ResourceSpans. */
static int read_otlp_resource_member(struct pythia__otlp *o, struct pythia_text member)
{
    if (PYTHIA_TEXT_IS(member, "resource"))
        return read_otlp_resource(o);
    if (!is_scope_spans(member))
        return pythia_json_skip(o->d.json);
    int status = pythia__enter_array(&o->d);
    while (pythia_json_next_element(o->d.json, &status))
        status = read_otlp_scope_spans(o);
    return status;
}

static int read_otlp_resource_spans(struct pythia__otlp *o)
{
    int status = pythia__enter_array(&o->d);
    while (pythia_json_next_element(o->d.json, &status)) {
        struct pythia_text member;
        pythia__otlp_begin_resource(o);
        status = pythia__enter_object(&o->d);
        while (pythia_json_next_field(o->d.json, &member, &status))
            status = read_otlp_resource_member(o, member);
        status = pythia__otlp_end_resource(o, status);
    }
    return status;
}

/* ---- documents ---- */

static bool is_resource_spans(struct pythia_text member)
{
    return IS(member, "resourceSpans", "resource_spans") || PYTHIA_TEXT_IS(member, "batches");
}

/* Read the TracesData that is the member "trace" of Tempo's answer. */
static int read_wrapped_trace(struct pythia__otlp *o, bool *traces)
{
    struct pythia_text member;
    int status = pythia__is(&o->d, '{');
    if (status != 1) {
        *traces = true; /* it is counted as not a trace already */
        return status;
    }
    status = pythia__enter_object(&o->d);
    while (pythia_json_next_field(o->d.json, &member, &status)) {
        bool spans = is_resource_spans(member);
        *traces = *traces || spans;
        status = spans ? read_otlp_resource_spans(o) : pythia_json_skip(o->d.json);
    }
    return status;
}

/* Read a TracesData, a ResourceSpans by itself, or a span as Go's SDK prints it. An object without
 * spans (metrics, logs, anything else that is in the file) is counted as not a trace. */
static int read_otlp_object(struct pythia__decoder *d)
{
    struct pythia__otlp *o = (struct pythia__otlp *)d;
    struct pythia_text member;
    bool traces = false;
    int printed = pythia__otlp_is_stdout(o);
    if (printed != 0)
        return printed < 0 ? printed : pythia__otlp_read_stdout(o);
    pythia__otlp_begin_resource(o);
    int status = pythia__enter_object(&o->d);
    while (pythia_json_next_field(o->d.json, &member, &status)) {
        if (is_resource_spans(member)) {
            status = read_otlp_resource_spans(o);
            traces = true;
        } else if (PYTHIA_TEXT_IS(member, "trace")) {
            status = read_wrapped_trace(o, &traces);
        } else {
            traces = traces || is_scope_spans(member);
            status = read_otlp_resource_member(o, member);
        }
    }
    if (status == PYTHIA_OK)
        o->d.to->counts->dropped[PYTHIA_DROP_NOT_A_TRACE] += !traces;
    return pythia__otlp_end_resource(o, status);
}

static int read_otlp_document(struct pythia__decoder *d)
{
    return pythia__read_objects(d, read_otlp_object);
}

/* ---- the row ---- */

static int otlp_json_likeness(const struct pythia_head *head)
{
    int how_much = 0;
    static const char *const sure[] = {"resourceSpans", "resource_spans", "scopeSpans",
                                       "scope_spans", "instrumentationLibrarySpans"};
    if (pythia__outlined(head->outline, 1, "batches"))
        how_much = 80; /* cut off in the first resource */
    for (int depth = 1; depth <= 2; depth++)
        if (pythia__outlined(head->outline, depth, "SpanContext"))
            how_much = 90;
    for (int depth = 1; depth <= 2; depth++)
        for (size_t i = 0; i < sizeof(sure) / sizeof(sure[0]); i++)
            if (pythia__outlined(head->outline, depth, sure[i]))
                how_much = 100;
    static const char *const others[] = {"resourceMetrics",
                                         "resourceLogs"}; /* the same protocol, no traces */
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && how_much == 0; i++)
        if (pythia__outlined(head->outline, 1, others[i]))
            how_much = 50;
    return how_much;
}

static void destroy_otlp_json(struct pythia_adapter *a)
{
    if (a)
        pythia__otlp_free((struct pythia__otlp *)a);
    pythia_free(a);
}

static int create_otlp_json(struct pythia_vocabulary *vocabulary, struct pythia_adapter **out)
{
    struct pythia__otlp *o = pythia_calloc(1, sizeof(*o));
    if (!o)
        return PYTHIA_ENOMEM;
    int status = pythia__otlp_init(o, &pythia__otlp_json, vocabulary);
    if (status != PYTHIA_OK) {
        destroy_otlp_json(&o->d.adapter);
        return status;
    }
    *out = &o->d.adapter;
    return PYTHIA_OK;
}

static int decode_otlp_json(struct pythia_adapter *a, struct pythia_source *from,
                            struct pythia_sink *to, struct pythia_error *e)
{
    return pythia__decode((struct pythia__decoder *)a, from, to, read_otlp_document, e);
}

/* Of a TracesData, a ResourceSpans and a ScopeSpans, its array: whatever else in one of them has
 * brackets has others. */
static void count_otlp_json(struct pythia_span_count *c, const char *bytes, size_t size)
{
    pythia__count_json_spans(c, "{[{[{[{", bytes, size);
}

const struct pythia_adapter_ops pythia__otlp_json = {
    .name = "otlp",
    .help = "OpenTelemetry protocol, JSON: one document, an array or one a line; Tempo's answers; "
            "what Go's stdouttrace prints",
    .likeness = otlp_json_likeness,
    .create = create_otlp_json,
    .decode = decode_otlp_json,
    .destroy = destroy_otlp_json,
    .independent = true,
    .division = PYTHIA_DIVISION_RESOURCES,
    .count = count_otlp_json,
};
