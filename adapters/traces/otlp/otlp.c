/* OTLP/JSON: the OpenTelemetry protocol's TracesData as JSON (opentelemetry.io/docs/specs/otlp,
 * "JSON Protobuf Encoding"): one document, an array of them, or one a line as the collector's file
 * exporter writes.
 *
 *     {"resourceSpans": [{"resource": …, "scopeSpans": [{"scope": …, "spans": [span, …]}]}]}
 *
 * Taken beyond what is written there, because exporters do it: ids in base64, enums by name, names
 * in snake case, "instrumentationLibrarySpans" of old versions, and members in any order. Spans
 * whose resource or scope stands behind them are held until it is known. */
#include <math.h>

#include "../formats.h"
#include "../held.h"
#include "../json_decoder.h"
#include "pythia/mem.h"

struct otlp {
    struct pythia__decoder d;
    struct pythia__held held; /* spans of the scope at hand, or of the resource at hand */
    struct pythia_buf resource_attributes;
    struct pythia_resource resource; /* at hand */
    uint32_t resource_number, scope;
    bool resource_known, scope_known;
    uint32_t key_service, key_host, key_instance;
};

/* What is read of a span before it can be given on. */
struct reading {
    struct pythia__held_span out;
    uint64_t end_ns;
    bool has_start, has_end;
};

/* ---- values ---- */

static int bad_id(struct pythia_json *j, const char *which, struct pythia_text text)
{
    return pythia_json_fail_last(j, PYTHIA_EFORMAT,
                                 "%s '%.*s' is no id: wanted hexadecimal digits or base64", which,
                                 (int)(text.size < 48 ? text.size : 48), text.bytes);
}

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

/* Base64 of exactly `wanted` bytes, padded or not, as a big-endian number. */
static bool parse_base64(struct pythia_text text, size_t wanted, uint64_t *high, uint64_t *low)
{
    while (text.size > 0 && text.bytes[text.size - 1] == '=')
        text.size--;
    if (text.size != (wanted * 8 + 5) / 6)
        return false;
    *high = *low = 0;
    size_t bits = 0;
    for (size_t i = 0; i < text.size; i++) {
        int digit = base64_digit(text.bytes[i]);
        if (digit < 0)
            return false;
        size_t take = wanted * 8 - bits < 6 ? wanted * 8 - bits : 6;
        *high = *high << take | *low >> (64 - take);
        *low = *low << take | (uint64_t)digit >> (6 - take);
        bits += take;
    }
    return true;
}

/* An id of `size` bytes: 8 or 16; 0 if there is none. */
static int read_id(struct pythia_json *j, const char *which, size_t size, uint64_t *high,
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
                                      : parse_base64(text, size, high, low);
    return good ? PYTHIA_OK : bad_id(j, which, text);
}

/* An enum by number, by number in a string or by name; the names end in one of `words`, which
 * stand at their numbers. */
static int read_enum(struct pythia_json *j, const char *const *words, int count, int *out)
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
        return pythia_json_fail(j, PYTHIA_EFORMAT, "wanted a number or a name");
    }
    return PYTHIA_OK;
}

static int read_key_values(struct otlp *o, struct pythia_text prefix, int depth);

/* {"values": [AnyValue, …]}: the scalars as one text with commas between. */
static int read_array_value(struct otlp *o, uint32_t key)
{
    struct pythia_json *j = o->d.json;
    struct pythia_buf joined = {0};
    struct pythia_text member;
    int status = pythia__enter_object(&o->d);
    while (status == PYTHIA_OK && (status = pythia_json_field(j, &member)) == 0) {
        if (!PYTHIA_TEXT_IS(member, "values")) {
            status = pythia_json_skip(j);
            continue;
        }
        status = pythia__enter_array(&o->d);
        while (status == PYTHIA_OK && (status = pythia_json_element(j)) == 0) {
            status = pythia__enter_object(&o->d);
            while (status == PYTHIA_OK && (status = pythia_json_field(j, &member)) == 0)
                status = pythia__join_scalar(&o->d, &joined);
            status = status == 1 ? PYTHIA_OK : status;
        }
        status = status == 1 ? PYTHIA_OK : status;
    }
    if (status == 1) {
        pythia__add_text(&o->d, key, pythia_buf_text(&joined));
        status = pythia_buf_status(&joined);
    }
    pythia_buf_free(&joined);
    return status;
}

/* {"values": [{"key", "value"}, …]} below the key `name`. */
static int read_list_value(struct otlp *o, struct pythia_text name, int depth)
{
    struct pythia_json *j = o->d.json;
    struct pythia_text member;
    if (depth >= PYTHIA__DEPTH_MAX)
        return pythia_json_fail(j, PYTHIA_EFORMAT, "key-values are nested deeper than %d",
                                PYTHIA__DEPTH_MAX);
    int status = pythia__enter_object(&o->d);
    while (status == PYTHIA_OK && (status = pythia_json_field(j, &member)) == 0)
        status = PYTHIA_TEXT_IS(member, "values") ? read_key_values(o, name, depth + 1)
                                                  : pythia_json_skip(j);
    return status == 1 ? PYTHIA_OK : status;
}

static int add_double(struct otlp *o, uint32_t key, const struct pythia_json_value *value)
{
    double number = value->real;
    if (value->kind ==
        PYTHIA_JSON_STRING) { /* "NaN", "Infinity" and "-Infinity" have no other form */
        if (PYTHIA_TEXT_IS(value->text, "NaN"))
            number = NAN;
        else if (PYTHIA_TEXT_IS(value->text, "Infinity"))
            number = INFINITY;
        else if (PYTHIA_TEXT_IS(value->text, "-Infinity"))
            number = -INFINITY;
        else
            return pythia_json_fail_last(o->d.json, PYTHIA_EFORMAT, "'%.*s' is not a doubleValue",
                                         (int)(value->text.size < 40 ? value->text.size : 40),
                                         value->text.bytes);
    }
    pythia_attributes_real(&o->d.attributes, key, number);
    return PYTHIA_OK;
}

/* One member of an AnyValue. */
static int read_variant(struct otlp *o, struct pythia_text variant, uint32_t key, int depth)
{
    struct pythia_json *j = o->d.json;
    struct pythia_json_value value;
    if (PYTHIA_TEXT_IS(variant, "intValue") || PYTHIA_TEXT_IS(variant, "int_value")) {
        int64_t number;
        int status = pythia_json_int64(j, &number);
        if (status == PYTHIA_OK)
            pythia_attributes_integer(&o->d.attributes, key, number);
        return status;
    }
    if (PYTHIA_TEXT_IS(variant, "arrayValue") || PYTHIA_TEXT_IS(variant, "array_value"))
        return read_array_value(o, key);
    if (PYTHIA_TEXT_IS(variant, "kvlistValue") || PYTHIA_TEXT_IS(variant, "kvlist_value"))
        return read_list_value(o, pythia_vocabulary_text(o->d.vocabulary, key), depth);
    int status = pythia_json_value(j, &value);
    if (status != PYTHIA_OK)
        return status;
    if (PYTHIA_TEXT_IS(variant, "doubleValue") || PYTHIA_TEXT_IS(variant, "double_value"))
        return value.kind < PYTHIA_JSON_INTEGER || value.kind > PYTHIA_JSON_STRING
                   ? pythia__unfit(&o->d, "a doubleValue that is no number")
                   : add_double(o, key, &value);
    if (value.kind == PYTHIA_JSON_STRING)
        pythia__add_text(&o->d, key, value.text); /* stringValue; bytesValue stays in base64 */
    else if (value.kind == PYTHIA_JSON_BOOL)
        pythia_attributes_bool(&o->d.attributes, key, value.integer != 0);
    else if (value.kind >= PYTHIA_JSON_OBJECT)
        return pythia_json_skip(j);
    return PYTHIA_OK;
}

/* The AnyValue at hand: an object with one member. */
static int read_any_value(struct otlp *o, uint32_t key, int depth)
{
    struct pythia_text variant;
    int status = pythia__enter_object(&o->d);
    while (status == PYTHIA_OK && (status = pythia_json_field(o->d.json, &variant)) == 0)
        status = read_variant(o, variant, key, depth);
    return status == 1 ? PYTHIA_OK : status;
}

/* The key-value at hand if it is written as nearly all are: 1; 0 if not, and nothing has happened.
 */
static int read_plain_key_value(struct otlp *o, struct pythia_text prefix)
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

/* One {"key": …, "value": …}, in either order. */
static int read_key_value(struct otlp *o, struct pythia_text prefix, int depth)
{
    struct pythia_json *j = o->d.json;
    int plain = read_plain_key_value(o, prefix);
    if (plain != 0)
        return plain < 0 ? plain : PYTHIA_OK;
    const uint32_t *value = NULL;
    struct pythia_text member, name;
    uint32_t key = PYTHIA_NONE;
    int status = pythia__enter_object(&o->d);
    while (status == PYTHIA_OK && (status = pythia_json_field(j, &member)) == 0) {
        if (PYTHIA_TEXT_IS(member, "key")) {
            status = pythia_json_string(j, &name);
            if (status == PYTHIA_OK &&
                (key = pythia__key_below(&o->d, prefix, name)) == PYTHIA_NONE)
                return PYTHIA_ENOMEM;
        } else if (PYTHIA_TEXT_IS(member, "value") && key != PYTHIA_NONE) {
            status = read_any_value(o, key, depth);
        } else {
            value = PYTHIA_TEXT_IS(member, "value") ? pythia_json_mark(j) : value;
            status = pythia_json_skip(j);
        }
    }
    if (status != 1 || !value || key == PYTHIA_NONE)
        return status == 1 ? PYTHIA_OK : status;
    const uint32_t *behind = pythia_json_mark(j); /* the value stood before its key */
    pythia_json_again(j, value);
    status = read_any_value(o, key, depth);
    pythia_json_again(j, behind);
    return status;
}

/* [{"key", "value"}, …] into the attributes of the decoder. */
static int read_key_values(struct otlp *o, struct pythia_text prefix, int depth)
{
    int status = pythia__enter_array(&o->d);
    while (status == PYTHIA_OK && (status = pythia_json_element(o->d.json)) == 0)
        status = read_key_value(o, prefix, depth);
    return status == 1 ? PYTHIA_OK : status;
}

/* ---- spans ---- */

static int read_time(struct otlp *o, uint64_t *out, bool *seen)
{
    uint64_t number = 0;
    int status = pythia_json_uint64(o->d.json, &number);
    *seen = true;
    return status == PYTHIA_OK ? pythia__time(&o->d, number, 1, out) : status;
}

/* Events: their names, and their attributes below their names. */
static int read_event(struct otlp *o)
{
    struct pythia_json *j = o->d.json;
    const uint32_t *begin = pythia_json_mark(j);
    struct pythia_text member, text;
    uint32_t name = 0;
    int status = pythia__enter_object(&o->d);
    while (status == PYTHIA_OK && (status = pythia_json_field(j, &member)) == 0) {
        if (PYTHIA_TEXT_IS(member, "name")) {
            status = pythia_json_string(j, &text);
            if (status == PYTHIA_OK &&
                (name = pythia__key_below(&o->d, PYTHIA_TEXT("event"), text)) == PYTHIA_NONE)
                return PYTHIA_ENOMEM;
        } else {
            status = pythia_json_skip(j);
        }
    }
    if (status != 1 || name == 0)
        return status == 1 ? PYTHIA_OK : status;
    const uint32_t *behind = pythia_json_mark(j);
    pythia_attributes_bool(&o->d.attributes, name, true);
    pythia_json_again(j, begin);
    status = pythia__enter_object(&o->d);
    while (status == PYTHIA_OK && (status = pythia_json_field(j, &member)) == 0)
        status = PYTHIA_TEXT_IS(member, "attributes")
                     ? read_key_values(o, pythia_vocabulary_text(o->d.vocabulary, name), 0)
                     : pythia_json_skip(j);
    pythia_json_again(j, behind);
    return status == 1 ? PYTHIA_OK : status;
}

static int read_events(struct otlp *o)
{
    int status = pythia__enter_array(&o->d);
    while (status == PYTHIA_OK && (status = pythia_json_element(o->d.json)) == 0)
        status = read_event(o);
    return status == 1 ? PYTHIA_OK : status;
}

static int read_status(struct otlp *o, bool *error)
{
    static const char *const codes[] = {"STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"};
    struct pythia_text member;
    int code = 0, status = pythia__enter_object(&o->d);
    while (status == PYTHIA_OK && (status = pythia_json_field(o->d.json, &member)) == 0)
        status = PYTHIA_TEXT_IS(member, "code") ? read_enum(o->d.json, codes, 3, &code)
                                                : pythia_json_skip(o->d.json);
    *error = code == 2;
    return status == 1 ? PYTHIA_OK : status;
}

static int read_kind(struct otlp *o, struct pythia_span *span)
{
    static const char *const words[] = {"UNSPECIFIED", "INTERNAL", "SERVER",
                                        "CLIENT",      "PRODUCER", "CONSUMER"};
    int kind, status = read_enum(o->d.json, words, 6, &kind);
    if (status != PYTHIA_OK)
        return status;
    span->kind = (enum pythia_span_kind)kind;
    span->relation = kind == PYTHIA_SPAN_SERVER     ? PYTHIA_RELATION_CALL
                     : kind == PYTHIA_SPAN_CONSUMER ? PYTHIA_RELATION_SPAWN
                                                    : PYTHIA_RELATION_UNKNOWN;
    return PYTHIA_OK;
}

/* Is a member called that, in camel or in snake case? */
#define IS(member, camel, snake) (PYTHIA_TEXT_IS(member, camel) || PYTHIA_TEXT_IS(member, snake))

static int read_span_member(struct otlp *o, struct pythia_text member, struct reading *r)
{
    struct pythia_json *j = o->d.json;
    struct pythia_span *span = &r->out.span;
    struct pythia_text text;
    uint64_t unused;
    int status;
    if (PYTHIA_TEXT_IS(member, "attributes"))
        return read_key_values(o, (struct pythia_text){"", 0}, 0);
    if (IS(member, "traceId", "trace_id"))
        return read_id(j, "traceId", 16, &r->out.trace.high, &r->out.trace.low);
    if (IS(member, "spanId", "span_id"))
        return read_id(j, "spanId", 8, &unused, &span->id);
    if (IS(member, "parentSpanId", "parent_span_id"))
        return read_id(j, "parentSpanId", 8, &unused, &span->parent);
    if (IS(member, "startTimeUnixNano", "start_time_unix_nano"))
        return read_time(o, &span->start_ns, &r->has_start);
    if (IS(member, "endTimeUnixNano", "end_time_unix_nano"))
        return read_time(o, &r->end_ns, &r->has_end);
    if (PYTHIA_TEXT_IS(member, "name")) {
        status = pythia_json_string(j, &text);
        r->out.name = status == PYTHIA_OK ? pythia__key(&o->d, text) : 0;
        return r->out.name == PYTHIA_NONE ? PYTHIA_ENOMEM : status;
    }
    if (PYTHIA_TEXT_IS(member, "kind"))
        return read_kind(o, span);
    if (PYTHIA_TEXT_IS(member, "status"))
        return read_status(o, &span->error);
    if (PYTHIA_TEXT_IS(member, "events"))
        return read_events(o);
    return pythia_json_skip(j);
}

/* Give a span on, now that what it shares with others is known. */
static int complete(struct otlp *o, struct pythia__held_span *s)
{
    s->span.resource = o->resource_number;
    s->span.tracepoint = pythia__tracepoint(&o->d, o->resource.service, s->scope, s->name);
    pythia__set_apart(&s->trace, &s->span);
    return s->span.tracepoint == PYTHIA_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
}

static int read_span(struct pythia__decoder *d, void *context)
{
    (void)context;
    struct otlp *o = (struct otlp *)d;
    struct reading r = {.out.scope = o->scope};
    struct pythia_text member;
    pythia_buf_clear(&d->attributes);
    int status = pythia_json_object(d->json);
    while (status == PYTHIA_OK && (status = pythia_json_field(d->json, &member)) == 0)
        status = read_span_member(o, member, &r);
    if (status != 1)
        return status;
    if (!(r.out.trace.high | r.out.trace.low) || !r.out.span.id)
        return pythia__unfit(d, r.out.span.id ? "a span without traceId" : "a span without spanId");
    if (!r.has_start)
        return pythia__unfit(d, "a span without startTimeUnixNano");
    r.out.span.part = r.has_end && r.end_ns ? PYTHIA_PART_WHOLE : PYTHIA_PART_START;
    r.out.span.duration_ns = r.end_ns ? (int64_t)(r.end_ns - r.out.span.start_ns) : 0;
    if (!o->resource_known || !o->scope_known)
        return pythia__hold(&o->held, d, &r.out);
    status = complete(o, &r.out);
    return status == PYTHIA_OK ? pythia__emit(d, &r.out.trace, &r.out.span) : status;
}

static int read_spans(struct otlp *o)
{
    int status = pythia__enter_array(&o->d);
    while (status == PYTHIA_OK && (status = pythia_json_element(o->d.json)) == 0)
        status = pythia__record(&o->d, read_span, NULL);
    return status == 1 ? PYTHIA_OK : status;
}

/* ---- what spans share ---- */

static int read_scope(struct otlp *o)
{
    struct pythia_text member, text;
    int status = pythia__enter_object(&o->d);
    while (status == PYTHIA_OK && (status = pythia_json_field(o->d.json, &member)) == 0) {
        if (!PYTHIA_TEXT_IS(member, "name")) {
            status = pythia_json_skip(o->d.json);
            continue;
        }
        status = pythia_json_string(o->d.json, &text);
        if (status == PYTHIA_OK && (o->scope = pythia__key(&o->d, text)) == PYTHIA_NONE)
            return PYTHIA_ENOMEM;
    }
    o->scope_known = true;
    return status == 1 ? PYTHIA_OK : status;
}

/* Give on what was held from span `first` on, under the scope at hand; if the resource is not
 * known yet, they stay. */
static void settle_scope(struct otlp *o, size_t first)
{
    for (size_t i = first; i < o->held.count; i++)
        o->held.spans[i].scope = o->scope;
}

static int settle_resource(struct otlp *o)
{
    int status = PYTHIA_OK;
    for (size_t i = 0; i < o->held.count && status == PYTHIA_OK; i++) {
        status = complete(o, &o->held.spans[i]);
        if (status == PYTHIA_OK)
            status = pythia__release(&o->held, &o->d, i);
    }
    o->held.count = 0;
    pythia_buf_clear(&o->held.attributes);
    return status;
}

static int read_scope_spans(struct otlp *o)
{
    struct pythia_text member;
    size_t first = o->held.count;
    o->scope = 0;
    o->scope_known = false;
    int status = pythia__enter_object(&o->d);
    while (status == PYTHIA_OK && (status = pythia_json_field(o->d.json, &member)) == 0) {
        if (PYTHIA_TEXT_IS(member, "scope") ||
            IS(member, "instrumentationLibrary", "instrumentation_library"))
            status = read_scope(o);
        else
            status = PYTHIA_TEXT_IS(member, "spans") ? read_spans(o) : pythia_json_skip(o->d.json);
    }
    settle_scope(o, first);
    return status == 1 && o->resource_known ? settle_resource(o) : status == 1 ? PYTHIA_OK : status;
}

static int read_resource_attributes(struct pythia__decoder *d, void *context)
{
    (void)context;
    struct otlp *o = (struct otlp *)d;
    struct pythia_text member;
    pythia_buf_clear(&d->attributes);
    int status = pythia__enter_object(d);
    while (status == PYTHIA_OK && (status = pythia_json_field(d->json, &member)) == 0)
        status = PYTHIA_TEXT_IS(member, "attributes")
                     ? read_key_values(o, (struct pythia_text){"", 0}, 0)
                     : pythia_json_skip(d->json);
    return status == 1 ? PYTHIA_OK : status;
}

static uint32_t text_attribute(struct otlp *o, uint32_t key)
{
    struct pythia_attribute found;
    if (!pythia_attributes_find(pythia_buf_text(&o->d.attributes), key, &found) ||
        found.kind != PYTHIA_ATTRIBUTE_TEXT)
        return 0;
    return pythia_vocabulary_string(o->d.vocabulary, found.text);
}

static int read_resource(struct otlp *o)
{
    int status = pythia__record(&o->d, read_resource_attributes, NULL);
    if (status != PYTHIA_OK)
        return status;
    o->resource = (struct pythia_resource){.service = text_attribute(o, o->key_service),
                                           .host = text_attribute(o, o->key_host),
                                           .instance = text_attribute(o, o->key_instance)};
    if (o->resource.service == PYTHIA_NONE || o->resource.host == PYTHIA_NONE ||
        o->resource.instance == PYTHIA_NONE || pythia_buf_status(&o->d.attributes) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    pythia_buf_clear(&o->resource_attributes);
    pythia_buf_text_add(&o->resource_attributes, pythia_buf_text(&o->d.attributes));
    o->resource.attributes = pythia_buf_text(&o->resource_attributes);
    if (pythia_buf_status(&o->resource_attributes) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    o->resource_number = pythia_vocabulary_resource(o->d.vocabulary, &o->resource);
    o->resource_known = true;
    return o->resource_number == PYTHIA_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
}

static bool is_scope_spans(struct pythia_text member)
{
    return IS(member, "scopeSpans", "scope_spans") ||
           IS(member, "instrumentationLibrarySpans", "instrumentation_library_spans");
}

/* One member of a ResourceSpans. */
static int read_resource_member(struct otlp *o, struct pythia_text member)
{
    if (PYTHIA_TEXT_IS(member, "resource"))
        return read_resource(o);
    if (!is_scope_spans(member))
        return pythia_json_skip(o->d.json);
    int status = pythia__enter_array(&o->d);
    while (status == PYTHIA_OK && (status = pythia_json_element(o->d.json)) == 0)
        status = read_scope_spans(o);
    return status == 1 ? PYTHIA_OK : status;
}

static void begin_resource(struct otlp *o)
{
    o->resource = (struct pythia_resource){0};
    o->resource_number = 0;
    o->resource_known = false;
    o->held.count = 0;
    pythia_buf_clear(&o->held.attributes);
}

/* Nothing more will be learnt of the ResourceSpans at hand, whose reading ended with `status`:
 * what was read of one that is cut off or broken is given on too. */
static int end_resource(struct otlp *o, int status)
{
    status = status == 1 ? PYTHIA_OK : status;
    if (!pythia__goes_on(&o->d, status))
        return status;
    o->resource_known = true;
    int settled = settle_resource(o);
    return status < 0 && pythia__goes_on(&o->d, settled) ? status : settled;
}

static int read_resource_spans(struct otlp *o)
{
    int status = pythia__enter_array(&o->d);
    while (status == PYTHIA_OK && (status = pythia_json_element(o->d.json)) == 0) {
        struct pythia_text member;
        begin_resource(o);
        status = pythia__enter_object(&o->d);
        while (status == PYTHIA_OK && (status = pythia_json_field(o->d.json, &member)) == 0)
            status = read_resource_member(o, member);
        status = end_resource(o, status);
    }
    return status == 1 ? PYTHIA_OK : status;
}

/* ---- documents ---- */

/* A TracesData, or a ResourceSpans by itself. */
static int read_object(struct pythia__decoder *d)
{
    struct otlp *o = (struct otlp *)d;
    struct pythia_text member;
    bool traces = false;
    begin_resource(o);
    int status = pythia__enter_object(&o->d);
    while (status == PYTHIA_OK && (status = pythia_json_field(o->d.json, &member)) == 0) {
        if (IS(member, "resourceSpans", "resource_spans")) {
            status = read_resource_spans(o);
            traces = true;
        } else {
            traces = traces || is_scope_spans(member);
            status = read_resource_member(o, member);
        }
    }
    if (status == 1) /* metrics, logs and what else is in the file */
        o->d.to->counts->dropped[PYTHIA_DROP_NOT_A_TRACE] += !traces;
    return end_resource(o, status);
}

static int read_document(struct pythia__decoder *d)
{
    return pythia__read_objects(d, read_object);
}

/* ---- the row ---- */

static int likeness(struct pythia_text head)
{
    struct pythia_buf outline = {0};
    pythia__outline(head, &outline);
    int how_much = 0;
    static const char *const sure[] = {"resourceSpans", "resource_spans", "scopeSpans",
                                       "scope_spans", "instrumentationLibrarySpans"};
    for (int depth = 1; depth <= 2; depth++)
        for (size_t i = 0; i < sizeof(sure) / sizeof(sure[0]); i++)
            if (pythia__outlined(&outline, depth, sure[i]))
                how_much = 100;
    static const char *const others[] = {"resourceMetrics",
                                         "resourceLogs"}; /* the same protocol, no traces */
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && how_much == 0; i++)
        if (pythia__outlined(&outline, 1, others[i]))
            how_much = 50;
    pythia_buf_free(&outline);
    return how_much;
}

static void destroy(struct pythia_adapter *a)
{
    struct otlp *o = (struct otlp *)a;
    if (!o)
        return;
    pythia__held_free(&o->held);
    pythia_buf_free(&o->resource_attributes);
    pythia__decoder_free(&o->d);
    pythia_free(o);
}

static int create(struct pythia_vocabulary *vocabulary, struct pythia_adapter **out)
{
    struct otlp *o = pythia_calloc(1, sizeof(*o));
    if (!o)
        return PYTHIA_ENOMEM;
    pythia__decoder_init(&o->d, &pythia__otlp, vocabulary);
    o->key_service = pythia_vocabulary_string(vocabulary, PYTHIA_TEXT("service.name"));
    o->key_host = pythia_vocabulary_string(vocabulary, PYTHIA_TEXT("host.name"));
    o->key_instance = pythia_vocabulary_string(vocabulary, PYTHIA_TEXT("service.instance.id"));
    if (o->key_service == PYTHIA_NONE || o->key_host == PYTHIA_NONE ||
        o->key_instance == PYTHIA_NONE) {
        destroy(&o->d.adapter);
        return PYTHIA_ENOMEM;
    }
    *out = &o->d.adapter;
    return PYTHIA_OK;
}

static int decode(struct pythia_adapter *a, struct pythia_source *from, struct pythia_sink *to,
                  struct pythia_error *e)
{
    return pythia__decode((struct pythia__decoder *)a, from, to, read_document, e);
}

const struct pythia_adapter_ops pythia__otlp = {
    .name = "otlp",
    .help = "OpenTelemetry protocol, JSON: one document, an array or one a line",
    .likeness = likeness,
    .create = create,
    .decode = decode,
    .destroy = destroy,
};
