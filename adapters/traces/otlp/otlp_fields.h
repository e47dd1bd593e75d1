/* The fields of OTLP's messages in protobuf that are read: their numbers are the interface
 * (opentelemetry-proto 1.x: trace.proto, resource.proto, common.proto). */
#ifndef PYTHIA_TRACES_OTLP_FIELDS_H
#define PYTHIA_TRACES_OTLP_FIELDS_H

#include "pythia/adapter.h"
#include "pythia/protobuf.h"
#include "pythia/span_count.h"

enum pythia__otlp_message {
    PYTHIA__OTLP_TRACES, /* TracesData, and ExportTraceServiceRequest, which is written alike */
    PYTHIA__OTLP_RESOURCE_SPANS,
    PYTHIA__OTLP_RESOURCE,
    PYTHIA__OTLP_SCOPE_SPANS, /* and InstrumentationLibrarySpans of old versions */
    PYTHIA__OTLP_SCOPE,
    PYTHIA__OTLP_SPAN,
    PYTHIA__OTLP_EVENT,
    PYTHIA__OTLP_STATUS,
    PYTHIA__OTLP_KEY_VALUE,
    PYTHIA__OTLP_ANY_VALUE,
    PYTHIA__OTLP_ARRAY,
    PYTHIA__OTLP_LIST,
    PYTHIA__OTLP_NO_MESSAGE, /* a field's value is text, an id or a number */
};

struct pythia__otlp_field {
    enum pythia__otlp_message of;
    uint32_t number;
    enum pythia_protobuf_type type;
    enum pythia__otlp_message holds;
    const char *name; /* as in JSON */
};

/* The field of that number in a message, NULL if it is not read. For what is out of the ordinary:
 * O(fields). */
const struct pythia__otlp_field *pythia__otlp_field(enum pythia__otlp_message of, uint32_t number);

/* A number and a type as they stand in a tag, to switch on. */
#define PYTHIA__OTLP_TAG(number, type) ((number) << 3 | PYTHIA_PROTOBUF_##type)

/* Does an input that begins with this byte hold messages with 4 bytes of size in front of each, as
 * the collector's file exporter writes them? By itself no message begins so: the byte would be of
 * field 0. Sizes of 128 MB and more look otherwise. */
static inline bool pythia__otlp_is_framed(unsigned char byte)
{
    return byte < 8;
}

/* The adapter's likeness (adapter.h). */
int pythia__otlp_protobuf_likeness(const struct pythia_head *of);

/* Its counter: otlp_count.c. */
pythia_span_counter pythia__otlp_protobuf_count;

#endif
