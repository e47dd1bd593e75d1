#ifndef PYTHIA_PROTOBUF_STREAM_H
#define PYTHIA_PROTOBUF_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/error.h"
#include "pythia/protobuf.h"
#include "pythia/source.h"

/* A protobuf message of any size, forward only. Messages that hold many others are entered; one
 * that is a record is taken as a whole, and read with protobuf.h:
 *
 *     while ((status = pythia_protobuf_stream_field(s, end, &field)) == 0)
 *         if (it is a message to enter)
 *             …the same with end = pythia_protobuf_stream_end(s, &field)…
 *         else
 *             …_take or _pass…
 *
 * What a source lends is read where it is; anything else goes through a window that holds no more
 * than the current record. A place in the stream is its offset in bytes.
 *
 * Functions return PYTHIA_OK, 1 at an end, or a negative status with the reason and the place in
 * s->error. After PYTHIA_EFORMAT the current message cannot be read on: clear the error and _pass
 * to its end, or that of a message around it. One thread at a time. */
struct pythia_protobuf_stream {
    struct pythia_error error;
    bool source_failed; /* the error is that of the source: nothing more can be read */
    bool cut_off; /* the input ended inside a message, which was an error once; now it has ended */

    /* The rest is the stream's own. */
    struct pythia_source *from;
    const char *window, *at, *filled; /* what is in memory: its beginning, what is next, its end */
    uint64_t offset;                  /* of the window */
    char *memory;                     /* owned; of the window if it is not borrowed */
    size_t capacity, limit;
    bool ended;                /* the source has no more */
    struct pythia_error cause; /* why the source failed: told once what was read is used up */
};

#define PYTHIA_PROTOBUF_OPEN  UINT64_MAX /* the end of a message that ends with the input */
#define PYTHIA_PROTOBUF_LIMIT ((size_t)64 * 1024 * 1024)

/* Begin to read `from` (borrowed), over zeroed memory or where another source was read. What is
 * taken as a whole may have up to `limit` bytes. Allocates nothing. */
void pythia_protobuf_stream_begin(struct pythia_protobuf_stream *s, struct pythia_source *from,
                                  size_t limit);
void pythia_protobuf_stream_free(struct pythia_protobuf_stream *s);

/* The next byte, without passing it: 0, or 1 at the end of the input. */
int pythia_protobuf_stream_peek(struct pythia_protobuf_stream *s, unsigned char *out);

/* The size of a message in front of it, 4 bytes, the highest first: 0 and where it ends in *end, or
 * 1 at the end of the input. */
int pythia_protobuf_stream_frame(struct pythia_protobuf_stream *s, uint64_t *end);

/* The next field of the message that ends at `end`: 0, or 1 at its end. Groups are passed
 * over. A number has been passed.
 * Of BYTES `value` is the size and `bytes` is not set: they are at hand, to be entered, taken or
 * passed. */
int pythia_protobuf_stream_field(struct pythia_protobuf_stream *s, uint64_t end,
                                 struct pythia_protobuf_field *out);

/* The offset of what is next, and where the BYTES at hand end. */
static inline uint64_t pythia_protobuf_stream_at(const struct pythia_protobuf_stream *s)
{
    return s->offset + (uint64_t)(s->at - s->window);
}
static inline uint64_t pythia_protobuf_stream_end(const struct pythia_protobuf_stream *s,
                                                  const struct pythia_protobuf_field *field)
{
    return pythia_protobuf_stream_at(s) + field->value;
}

/* All of the BYTES at hand, which are then behind. Borrowed: until the next call, or from a source
 * that lends as long as it does. PYTHIA_ELIMIT if they are more than the limit: they are still at
 * hand then. */
int pythia_protobuf_stream_take(struct pythia_protobuf_stream *s,
                                const struct pythia_protobuf_field *field, struct pythia_text *out);

/* Pass over everything up to `end`. */
int pythia_protobuf_stream_pass(struct pythia_protobuf_stream *s, uint64_t end);

/* The offset of a byte of what was taken last; `otherwise` if it is none. */
uint64_t pythia_protobuf_stream_offset(const struct pythia_protobuf_stream *s, const char *byte,
                                       uint64_t otherwise);

/* Record an error at an offset and return `status`. */
int pythia_protobuf_stream_fail(struct pythia_protobuf_stream *s, uint64_t offset, int status,
                                const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
