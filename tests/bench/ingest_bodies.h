/* Bodies of OTLP in protobuf, recorded once and sent again and again, each time as other requests:
 * ids and times are written over where they stand. */
#ifndef PYTHIA_BENCH_INGEST_BODIES_H
#define PYTHIA_BENCH_INGEST_BODIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BODY_PREFIX 5 /* of gRPC: not packed, and the size */

struct span_place;

struct body {
    char *bytes; /* its prefix, then the message */
    size_t size; /* of the message */
    uint64_t spans;
    struct span_place *places; /* of its spans */
    bool in_flight;            /* whoever sends it sets and clears this */
};

struct trace_times {
    uint64_t end_ns, shift_ns; /* of its last span, as recorded; that its times are moved by */
    uint64_t round;            /* in which they are */
};

struct bodies {
    struct body *list;
    size_t count, next;
    struct trace_times *traces;
    size_t trace_count;
    uint64_t round, spans; /* rises each time that all were sent; spans of all */
};

/* Read a file: one message, or several with their sizes in front; its batches are put together to
 * bodies of at least `spans`. Their ids are those of nobody who began at another time. Ends the program with a sentence if it cannot. */
void bodies_read(struct bodies *b, const char *path, uint64_t spans, uint64_t now_ns);
void bodies_free(struct bodies *b);

/* The next body, whose traces end now, by the clock of Unix; the caller sets in_flight. NULL: it is
 * still in flight from the round before. */
struct body *bodies_next(struct bodies *b, uint64_t now_ns);

/* Print "bench_ingest: …" and end the program with 1. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
