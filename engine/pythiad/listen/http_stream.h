/* An answer of the HTTP server whose body is written over time. */
#ifndef PYTHIA_PYTHIAD_HTTP_STREAM_H
#define PYTHIA_PYTHIAD_HTTP_STREAM_H

#include <stddef.h>

#include "http_server.h"

struct pythia__http_stream;

/* Answer with status 200 and the headers that were set; the body follows piece by piece. The
 * exchange is then gone. `gone` is called once, when the client has left, or has all of a stream
 * that was ended; the stream is freed after it. NULL when out of memory, and the exchange was
 * answered with 503. */
struct pythia__http_stream *pythia__http_stream_begin(struct pythia__http_exchange *x,
                                                      const char *type, void (*gone)(void *context),
                                                      void *context);
/* Append bytes (copied) to the body. PYTHIA_OK, or PYTHIA_ENOMEM with nothing appended. */
int pythia__http_stream_write(struct pythia__http_stream *stream, const char *bytes, size_t size);
/* Bytes that were written, and that the connection has not taken yet. */
size_t pythia__http_stream_pending(const struct pythia__http_stream *stream);
/* Nothing more follows: the client gets what is pending, and the end of the body. */
void pythia__http_stream_end(struct pythia__http_stream *stream);
/* Close the connection; what is pending is lost. */
void pythia__http_stream_abort(struct pythia__http_stream *stream);

#endif
