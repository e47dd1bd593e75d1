/*   Span 1: trace id, 2: span id, 4: parent, 5: name, 6: kind, 7, 8: start and end (fixed64),
 *        9: attributes, 15: Status {3: code}
 *   KeyValue 1: key, 2: AnyValue {1: text, 2: bool, 3: integer, 4: double}
 *
 * All numbers of fields are below 16, so that a tag is one byte. */
#include "pythia/span_bytes.h"

#include "pythia/attributes.h"

#define TAG      1
#define FIXED64  (TAG + 8)
#define SMALL    (TAG + 1) /* a number below 128 */
#define STATUS   (TAG + 1 + SMALL)
#define TRACE_ID (TAG + 1 + 16)
#define SPAN_ID  (TAG + 1 + 8)

static uint64_t varint_bytes(uint64_t number)
{
    uint64_t bytes = 1;
    for (; number >= 0x80; number >>= 7)
        bytes++;
    return bytes;
}

/* Text, or a message in a message. */
static uint64_t field_bytes(uint64_t size)
{
    return TAG + varint_bytes(size) + size;
}

static uint64_t value_bytes(const struct pythia_attribute *a)
{
    switch (a->kind) {
    case PYTHIA_ATTRIBUTE_TEXT:
        return field_bytes(a->text.size);
    case PYTHIA_ATTRIBUTE_INTEGER:
        return TAG + varint_bytes((uint64_t)a->integer); /* a negative one takes 10 bytes */
    case PYTHIA_ATTRIBUTE_REAL:
        return FIXED64;
    case PYTHIA_ATTRIBUTE_BOOL:
        return SMALL;
    }
    return 0;
}

uint64_t pythia_span_bytes(const struct pythia_vocabulary *v, const struct pythia_trace_span *span)
{
    uint32_t name = pythia_vocabulary_tracepoint_at(v, span->tracepoint)->name;
    uint64_t size =
        TRACE_ID + SPAN_ID + field_bytes(pythia_vocabulary_text(v, name).size) + FIXED64 + FIXED64;
    size += span->parent != PYTHIA_NO_SPAN ? SPAN_ID : 0;
    size += span->kind != PYTHIA_SPAN_UNKNOWN ? SMALL : 0;
    size += span->error ? STATUS : 0;
    struct pythia_text rest = span->attributes;
    for (struct pythia_attribute a; pythia_attributes_next(&rest, &a);)
        size += field_bytes(field_bytes(pythia_vocabulary_text(v, a.key).size) +
                            field_bytes(value_bytes(&a)));
    return field_bytes(size);
}
