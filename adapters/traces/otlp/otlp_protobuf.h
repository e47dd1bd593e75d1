/* Shared by the files of the protobuf reader. */
#ifndef PYTHIA_TRACES_OTLP_PROTOBUF_H
#define PYTHIA_TRACES_OTLP_PROTOBUF_H

#include "otlp.h"
#include "otlp_fields.h"
#include "pythia/arena.h"
#include "pythia/protobuf_stream.h"

struct pythia__otlp_reader {
    struct pythia__otlp o;
    struct pythia_protobuf_stream stream;
    uint64_t record;             /* offset of the current record */
    struct pythia_arena scratch; /* text that is not as it was written; for the current record */
    size_t merged;               /* bytes of it that stood in pieces */
    struct pythia_buf joined;    /* an array as text */
};

#define PYTHIA__OTLP_MERGED_MAX ((size_t)1024 * 1024) /* in a record, see otlp_values.c */

/* The current record is at fault, at this byte of it. Returns PYTHIA_EFORMAT. */
int pythia__otlp_fail(struct pythia__otlp_reader *r, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The next field of a message of the current record: as pythia_protobuf_next, with the reason. */
int pythia__otlp_no_field(struct pythia__otlp_reader *r, struct pythia_protobuf m);

static inline PYTHIA_PROTOBUF_INLINE int pythia__otlp_next(struct pythia__otlp_reader *r,
                                                           struct pythia_protobuf *m,
                                                           struct pythia_protobuf_field *f)
{
    int status = pythia_protobuf_next(m, f);
    return status < 0 ? pythia__otlp_no_field(r, *m) : status;
}

/* The field at `at`, which is none of those that are read with their types: PYTHIA_OK if it is
 * unknown and passed over, PYTHIA_EFORMAT if it is known and of another type. */
int pythia__otlp_other(struct pythia__otlp_reader *r, enum pythia__otlp_message of,
                       struct pythia_protobuf_field f, const char *at);
/* As above, for a field at an offset of the input. */
int pythia__otlp_other_at(struct pythia__otlp_reader *r, enum pythia__otlp_message of,
                          struct pythia_protobuf_field f, uint64_t offset);

/* The number of the key "<prefix>.<text>", or "<text>" for a prefix of "". */
uint32_t pythia__otlp_key(struct pythia__otlp_reader *r, struct pythia_text prefix,
                          struct pythia_text text);

/* A KeyValue into the decoder's attributes, its key below `prefix`. */
int pythia__otlp_key_value(struct pythia__otlp_reader *r, struct pythia_text message,
                           struct pythia_text prefix, int depth);

#endif
