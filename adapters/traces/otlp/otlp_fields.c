#include "otlp_fields.h"

#include <stddef.h>

#define F(of, number, type, holds, name)                                                           \
    {                                                                                              \
        PYTHIA__OTLP_##of, number, PYTHIA_PROTOBUF_##type, PYTHIA__OTLP_##holds, name              \
    }

static const struct pythia__otlp_field fields[] = {
    F(TRACES, 1, BYTES, RESOURCE_SPANS, "resourceSpans"),
    F(RESOURCE_SPANS, 1, BYTES, RESOURCE, "resource"),
    F(RESOURCE_SPANS, 2, BYTES, SCOPE_SPANS, "scopeSpans"),
    F(RESOURCE_SPANS, 1000, BYTES, SCOPE_SPANS, "instrumentationLibrarySpans"),
    F(RESOURCE, 1, BYTES, KEY_VALUE, "attributes"),
    F(SCOPE_SPANS, 1, BYTES, SCOPE, "scope"),
    F(SCOPE_SPANS, 2, BYTES, SPAN, "spans"),
    F(SCOPE, 1, BYTES, NO_MESSAGE, "name"),
    F(SPAN, 1, BYTES, NO_MESSAGE, "traceId"),
    F(SPAN, 2, BYTES, NO_MESSAGE, "spanId"),
    F(SPAN, 3, BYTES, NO_MESSAGE, "traceState"),
    F(SPAN, 4, BYTES, NO_MESSAGE, "parentSpanId"),
    F(SPAN, 5, BYTES, NO_MESSAGE, "name"),
    F(SPAN, 6, VARINT, NO_MESSAGE, "kind"),
    F(SPAN, 7, FIXED64, NO_MESSAGE, "startTimeUnixNano"),
    F(SPAN, 8, FIXED64, NO_MESSAGE, "endTimeUnixNano"),
    F(SPAN, 9, BYTES, KEY_VALUE, "attributes"),
    F(SPAN, 11, BYTES, EVENT, "events"),
    F(SPAN, 13, BYTES, NO_MESSAGE, "links"),
    F(SPAN, 15, BYTES, STATUS, "status"),
    F(EVENT, 2, BYTES, NO_MESSAGE, "name"),
    F(EVENT, 3, BYTES, KEY_VALUE, "attributes"),
    F(STATUS, 3, VARINT, NO_MESSAGE, "code"),
    F(KEY_VALUE, 1, BYTES, NO_MESSAGE, "key"),
    F(KEY_VALUE, 2, BYTES, ANY_VALUE, "value"),
    F(ANY_VALUE, 1, BYTES, NO_MESSAGE, "stringValue"),
    F(ANY_VALUE, 2, VARINT, NO_MESSAGE, "boolValue"),
    F(ANY_VALUE, 3, VARINT, NO_MESSAGE, "intValue"),
    F(ANY_VALUE, 4, FIXED64, NO_MESSAGE, "doubleValue"),
    F(ANY_VALUE, 5, BYTES, ARRAY, "arrayValue"),
    F(ANY_VALUE, 6, BYTES, LIST, "kvlistValue"),
    F(ANY_VALUE, 7, BYTES, NO_MESSAGE, "bytesValue"),
    F(ARRAY, 1, BYTES, ANY_VALUE, "values"),
    F(LIST, 1, BYTES, KEY_VALUE, "values"),
};

const struct pythia__otlp_field *pythia__otlp_field(enum pythia__otlp_message of, uint32_t number)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (fields[i].of == of && fields[i].number == number)
            return &fields[i];
    return NULL;
}

/* ---- likeness ---- */

/* Evidence that the input is OTLP: both ids of a span, or a key-value of a resource. */
struct look {
    bool trace_id, span_id, key;
};

#define LOOK_DEPTH                                                                                 \
    5 /* TracesData, ResourceSpans, ScopeSpans or Resource, Span or KeyValue, AnyValue */

/* The value of a field; false if it is not as OTLP defines it. */
static bool note_field(const struct pythia__otlp_field *known,
                       const struct pythia_protobuf_field *f, struct pythia_text bytes,
                       struct look *look)
{
    if (known->type != f->type)
        return false;
    if (known->of == PYTHIA__OTLP_SPAN && known->number <= 2) {
        bool right = f->value == (known->number == 1 ? 16 : 8);
        look->trace_id = look->trace_id || (right && known->number == 1);
        look->span_id = look->span_id || (right && known->number == 2);
        return right;
    }
    if (known->of == PYTHIA__OTLP_KEY_VALUE && known->number == 1)
        look->key =
            look->key || (f->value > 0 && bytes.size == f->value && pythia_text_is_sound(bytes));
    return true;
}

/* Walk a message of `size` bytes, of which `head` may end before. False if it cannot be what it is
 * taken for; the walk ends as soon as it is certain. */
static bool walk_message(enum pythia__otlp_message of, struct pythia_text head, uint64_t size,
                         struct look *look, int depth)
{
    const char *at = head.bytes, *end = head.bytes + head.size;
    if (head.size > size)
        end = at + size;
    while (at < end && !(look->trace_id && look->span_id)) {
        char why[200];
        struct pythia_protobuf_field f;
        const char *group = pythia_protobuf_behind_group(at, end);
        if (group) {
            at = group;
            continue;
        }
        const char *behind = pythia_protobuf_head(at, end, &f);
        if (!behind) /* perhaps because the head ends */
            return head.size < size &&
                   pythia_protobuf_fault((struct pythia_protobuf){at, end}, why, sizeof(why));
        bool bytes = f.type == PYTHIA_PROTOBUF_BYTES;
        uint64_t left = size - (uint64_t)(behind - head.bytes);
        if (bytes && f.value > left)
            return false;
        size_t here = (size_t)(end - behind);
        here = bytes && f.value < here ? (size_t)f.value : here;
        const struct pythia__otlp_field *known = pythia__otlp_field(of, f.number);
        struct pythia_text inside = {behind, here};
        if (known ? !note_field(known, &f, inside, look) : of == PYTHIA__OTLP_TRACES)
            return false;
        if (known && known->holds != PYTHIA__OTLP_NO_MESSAGE && depth < LOOK_DEPTH &&
            !walk_message(known->holds, inside, f.value, look, depth + 1))
            return false;
        at = bytes ? behind + here : behind;
    }
    return true;
}

int pythia__otlp_protobuf_likeness(const struct pythia_head *of)
{
    struct pythia_text head = of->text;
    struct look look = {0};
    uint64_t size = UINT64_MAX;
    if (head.size > 0 && pythia__otlp_is_framed((unsigned char)head.bytes[0])) {
        for (size = 0; size == 0 && head.size >= 4; head.bytes += 4, head.size -= 4)
            for (int i = 0; i < 4; i++) /* messages without anything in them say nothing */
                size = size << 8 | (unsigned char)head.bytes[i];
    }
    if (!walk_message(PYTHIA__OTLP_TRACES, head, size, &look, 0))
        return 0;
    return look.trace_id && look.span_id ? 100 : look.key ? 60 : 0;
}
