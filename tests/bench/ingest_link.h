/* A connection to pythiad on which bodies are sent, several at a time: OTLP over gRPC or HTTP. */
#ifndef PYTHIA_BENCH_INGEST_LINK_H
#define PYTHIA_BENCH_INGEST_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "ingest_bodies.h"

enum outcome { TAKEN, REFUSED, FAILED, OUTCOMES }; /* refused: it may be sent again later */

struct answer {
    enum outcome outcome;
    bool has_delay;    /* refused: it says when */
    uint64_t rejected; /* taken: spans that were not, by partial success */
};

/* Called for each body that was sent, when its answer is there or the connection is lost. */
struct answer_taker {
    void (*take)(void *context, struct body *body, uint64_t due_ns, const struct answer *answer);
    void *context;
};

struct link;

struct link_ops {
    struct link *(*create)(int socket, const char *host, unsigned depth, struct answer_taker to);
    void (*destroy)(struct link *l);
    bool (*has_room)(const struct link *l);
    void (*send)(struct link *l, struct body *body, uint64_t due_ns);
    bool (*wants_write)(const struct link *l);
    void (*read)(struct link *l);  /* there is something to read */
    void (*write)(struct link *l); /* there may be room to write */
};

extern const struct link_ops ingest_grpc, ingest_http;

#endif
