/* gRPC over HTTP/2 on the loop's thread: unary calls, taken whole, answered at once or later. */
#ifndef PYTHIA_PYTHIAD_GRPC_SERVER_H
#define PYTHIA_PYTHIAD_GRPC_SERVER_H

#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "eviction.h"
#include "pythia/error.h"
#include "pythia/unpack.h"
#include "room.h"

struct pythia__grpc_server;
struct pythia__grpc_call;

/* Status codes of gRPC that are used here. */
enum pythia__grpc_status {
    PYTHIA__GRPC_OK = 0,
    PYTHIA__GRPC_INVALID_ARGUMENT = 3,
    PYTHIA__GRPC_RESOURCE_EXHAUSTED = 8,
    PYTHIA__GRPC_UNIMPLEMENTED = 12,
    PYTHIA__GRPC_INTERNAL = 13,
    PYTHIA__GRPC_UNAVAILABLE = 14,
    PYTHIA__GRPC_UNAUTHENTICATED = 16,
};

struct pythia__grpc_method {
    const char *path; /* "/opentelemetry.proto.collector.trace.v1.TraceService/Export" */
    /* A message (taken: pythia_free), perhaps packed. Answer the call, now or later. */
    void (*handle)(void *context, struct pythia__grpc_call *call, char *message, size_t size,
                   enum pythia_packing packing);
    void *context;
    pythia_span_counter *count; /* of messages; NULL: their spans cannot be counted */
};

struct pythia__grpc_options {
    const char *address;                       /* as of listen.h */
    const struct pythia__grpc_method *methods; /* borrowed */
    size_t method_count;
    const char *token;                                 /* NULL: none is asked for; borrowed */
    const char *tls_key, *tls_certificate, *tls_trust; /* PEM texts; NULL: no TLS */
    size_t message_max;                                /* bytes on the wire; 0: 4 MiB */
    unsigned connections_max;                          /* 0: 256 */
    unsigned streams_max;                              /* of a connection at once; 0: 100 */
    unsigned header_s, body_s, idle_s;                 /* 0: 10, 30, 300 */
    size_t turn_bytes;         /* of a connection in a turn of the loop; 0: 64 KiB */
    unsigned turn_us;          /* for bytes of all connections in a turn of the loop; 0: 2000 */
    struct pythia__room *room; /* for messages that are being received; borrowed; NULL: no limit */
    unsigned retry_s;          /* after how long one for which there is none may come again */
};

struct pythia__grpc_numbers {
    uint64_t connections, refused_connections, calls, too_large, not_allowed, timed_out, broken;
    uint64_t too_long; /* lists of headers above the limit */
    uint64_t calmed;   /* connections ended for such lists, or for frames without content */
    uint64_t deferred; /* times that bytes had to wait for a later turn of the loop */
    uint64_t evicted[PYTHIA__WAITS]; /* as of http_server.h */
    uint64_t by_status[17];
};

/* Listen as the options say (copied; what they point to is borrowed until _destroy). PYTHIA_OK
 * with *out owned, or negative with the reason in `e`. */
int pythia__grpc_create(uv_loop_t *loop, const struct pythia__grpc_options *options,
                        struct pythia__grpc_server **out, struct pythia_error *e);
/* Take no more connections and streams (GOAWAY); calls that are open are answered. */
void pythia__grpc_quiesce(struct pythia__grpc_server *s);
/* Close all connections. Calls that are open may still be answered, into the void. Handles are
 * closed by the loop's next rounds. */
void pythia__grpc_destroy(struct pythia__grpc_server *s);
unsigned pythia__grpc_port(const struct pythia__grpc_server *s);
struct pythia__grpc_numbers pythia__grpc_numbers(const struct pythia__grpc_server *s);

/* Answer, once: with a message (copied) if the status is OK, else with a text for people. With
 * `retry_ms` > 0 the caller is told (RetryInfo) that it may try again after so long. */
void pythia__grpc_answer(struct pythia__grpc_call *call, enum pythia__grpc_status status,
                         const char *text, const char *message, size_t size, unsigned retry_ms);

#endif
