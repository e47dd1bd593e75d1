#ifndef PYTHIA_SPAN_H
#define PYTHIA_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/counts.h"
#include "pythia/error.h"
#include "pythia/hash.h"
#include "pythia/text.h"

struct pythia_trace_id {
    uint64_t high, low; /* both 0: none */
};

/* A span id from an id of 128 bits: what tells spans of one trace apart. Never 0. */
static inline uint64_t pythia_span_id_fold(uint64_t high, uint64_t low)
{
    uint64_t id = high ? pythia_hash_mix(high, low) : low;
    return id ? id : 1;
}

static inline bool pythia_trace_id_equal(struct pythia_trace_id a, struct pythia_trace_id b)
{
    return a.high == b.high && a.low == b.low;
}

enum pythia_span_kind {
    PYTHIA_SPAN_UNKNOWN,
    PYTHIA_SPAN_INTERNAL,
    PYTHIA_SPAN_SERVER,
    PYTHIA_SPAN_CLIENT,
    PYTHIA_SPAN_PRODUCER,
    PYTHIA_SPAN_CONSUMER,
};

/* Does the parent wait for this span? */
enum pythia_span_relation {
    PYTHIA_RELATION_UNKNOWN, /* it does if it ends later */
    PYTHIA_RELATION_CALL,    /* it does: an end behind the parent's is a fault of the clocks, unless
                                it begins after the parent has ended */
    PYTHIA_RELATION_SPAWN,   /* it does not */
};

/* Sources report a span in one piece or in two. */
enum pythia_span_part {
    PYTHIA_PART_WHOLE,
    PYTHIA_PART_START,      /* start_ns; no duration yet */
    PYTHIA_PART_STOP,       /* start_ns is when it stopped; no trace point */
    PYTHIA_PART_ANNOTATION, /* a point in time at a trace point; a span after all if a STOP follows
                             */
    PYTHIA_PART_FORK, /* a point in time: work goes on by itself, in the trace `link`, whose folded
                         id is `id` */
    PYTHIA_PART_WAIT, /* the START of waiting for the trace `link` to end */
    PYTHIA_PART_ADDITION, /* further attributes of a span that is reported elsewhere, without any
                             time; it belongs to the half of that span that has its resource */
};

/* One span, or one part of one, as a source reports it. */
struct pythia_span {
    uint64_t id, parent; /* id is never 0; parent 0, or the folded id of the trace: a root */
    uint64_t start_ns;   /* Unix epoch */
    int64_t duration_ns; /* may be negative: clocks are what they are */
    uint32_t tracepoint; /* number in the vocabulary; PYTHIA_NONE for a STOP */
    uint32_t resource;   /* number in the vocabulary */
    enum pythia_span_kind kind;
    enum pythia_span_relation relation;
    enum pythia_span_part part;
    bool error;      /* it failed */
    bool shared;     /* a server's half of a span that has the id of its client's half */
    bool many_roots; /* several roots in one trace are normal for this source */
    bool lossy;      /* its source had no room to record other spans of the trace */
    struct pythia_trace_id link;   /* of FORK and WAIT */
    struct pythia_text attributes; /* packed (attributes.h); borrowed for the call */
};

/* The most that decoders take of a span; {0}: no limits, and the usual length of texts. */
struct pythia_span_limits {
    /* Key-values that a span may have, and all of its events together; events, and links to other
     * spans, that it may have. The rest is dropped and counted. 0: any number. */
    size_t attributes_max, events_max, links_max;

    /* Bytes of a key-value's text that are kept: PYTHIA_VALUE_MIN to PYTHIA_VALUE_MAX; 0:
     * PYTHIA_VALUE_BYTES. Of a longer one the begin is kept, and a hash of the whole. */
    size_t value_max;
};
#define PYTHIA_VALUE_BYTES ((size_t)160)
#define PYTHIA_VALUE_MIN   ((size_t)32)
#define PYTHIA_VALUE_MAX   ((size_t)4096)

#define PYTHIA_COST_EXPECTED UINT64_MAX

/* Where a decoder puts what it reads: embed it as the first member. One thread at a time. */
struct pythia_sink {
    /* One more span of a trace; all of it is borrowed for the call. Negative: stop decoding and
     * return that. */
    int (*span)(struct pythia_sink *sink, const struct pythia_trace_id *trace,
                const struct pythia_span *span);

    /* A record was left out, with the reason and the place; decoding goes on. */
    void (*broken)(struct pythia_sink *sink, const struct pythia_error *why);

    /* The measured cost of one hit of a trace point, as vocabulary.h has it (PYTHIA_NONE: one in
     * a loop), which knows it already; PYTHIA_COST_EXPECTED: it will be told. NULL: nobody wants
     * to know. */
    void (*cost)(struct pythia_sink *sink, uint32_t tracepoint, uint64_t ns);

    struct pythia_counts *counts; /* borrowed: decoders count their own repairs here */

    struct pythia_span_limits limits;

    /* Rules that hide values; NULL: none. Borrowed. */
    struct pythia_redaction *redaction;

    /* Names for places in programs; NULL: places are kept as they are. Borrowed. */
    struct pythia_symbols *symbols;

    /* Bytes that a record may have, which is held in memory as a whole; a larger one is broken. 0:
     * 64 MiB. */
    size_t record_max;

    /* Records that may be broken; with one more the source is not read on, and decoding ends with
     * PYTHIA_ELIMIT. 0: any number. */
    uint64_t broken_max;
};

#endif
