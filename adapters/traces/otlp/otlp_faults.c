/* The faults of OTLP in protobuf, with their places. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "otlp_protobuf.h"

int pythia__otlp_fail(struct pythia__otlp_reader *r, const char *at, const char *format, ...)
{
    char sentence[sizeof(r->stream.error.sentence)];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    return pythia_protobuf_stream_fail(&r->stream,
                                       pythia_protobuf_stream_offset(&r->stream, at, r->record),
                                       PYTHIA_EFORMAT, "%s", sentence);
}

int pythia__otlp_no_field(struct pythia__otlp_reader *r, struct pythia_protobuf m)
{
    char why[200];
    pythia_protobuf_fault(m, why, sizeof(why));
    return pythia__otlp_fail(r, m.at, "%s", why);
}

int pythia__otlp_other_at(struct pythia__otlp_reader *r, enum pythia__otlp_message of,
                          struct pythia_protobuf_field f, uint64_t offset)
{
    const struct pythia__otlp_field *known = pythia__otlp_field(of, f.number);
    if (!known || known->type == f.type)
        return PYTHIA_OK;
    return pythia_protobuf_stream_fail(&r->stream, offset, PYTHIA_EFORMAT,
                                       "%s (field %" PRIu32 ") has wire type %d, expected %d",
                                       known->name, f.number, (int)f.type, (int)known->type);
}

int pythia__otlp_other(struct pythia__otlp_reader *r, enum pythia__otlp_message of,
                       struct pythia_protobuf_field f, const char *at)
{
    return pythia__otlp_other_at(r, of, f,
                                 pythia_protobuf_stream_offset(&r->stream, at, r->record));
}
