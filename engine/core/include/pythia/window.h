#ifndef PYTHIA_WINDOW_H
#define PYTHIA_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/assembler.h"
#include "pythia/counts.h"

/* A live stream of spans, cut into finished requests. A request is finished when its root has ended
 * and nothing came for `quiet_ns`, or for as much longer as the senders that requests of its type
 * involve are late, which is learnt from the stream, up to `wait_max_ns`; when no root was seen, or
 * a parent is missing, when nothing came for `rootless_ns`; and in any case when it is `age_max_ns`
 * old, for which one is waited for in which something is known to run, or has `spans_max` spans.
 * Time is the caller's: nanoseconds that never go back.
 *
 * Memory is bounded by two marks: above the soft one the caller is told to refuse (the sender tries
 * again later), above the hard one whole requests are shed, those of the request types that hold
 * most first, so that small ones are not starved, and of one type the youngest first (assembler.h
 * says what stands for the type of a request whose root is still to come). Putting a request
 * together takes some 500 bytes for each of its spans on top, for that moment.
 *
 * Nothing is lost silently: spans that come after their request was finished are counted as late,
 * those of a request that was shed, or cut off at the largest size, as that. A span that comes
 * twice counts once. Late spans are told from new requests as long as the id of their request is
 * remembered. One thread at a time. */
struct pythia_window;

struct pythia_window_options {
    uint64_t quiet_ns;     /* 0: 2 s */
    uint64_t wait_max_ns;  /* 0: no sender is waited for beyond quiet_ns */
    uint64_t rootless_ns;  /* 0: 10 s */
    uint64_t age_max_ns;   /* 0: 120 s */
    uint64_t spans_max;    /* of one request, which is then finished; what comes later for it is
                              dropped and counted (assembler.h); 0: 100 000 */
    size_t attributes_max; /* of a span that comes in two pieces (assembler.h); 0: any number */
    uint64_t soft_bytes;   /* 0: 128 MiB */
    uint64_t hard_bytes;   /* 0: 160 MiB */
    uint64_t tick_spans; /* a tick looks at requests that are due until they had so many spans, and
                            leaves the others to the next; 0: no limit */
    uint64_t remembered; /* ids of finished requests, at least, at 16 bytes; 0: 524 288 */
};

struct pythia_window_numbers {
    uint64_t open_spans, open_traces;                                        /* now */
    uint64_t bytes;                                                          /* now held */
    uint64_t finished, finished_rootless, finished_by_age, finished_by_size; /* requests so far */
    uint64_t shed_traces, shed_spans, oversize_spans;
    uint64_t split_traces, forgotten_traces; /* of origins (assembler.h) */
};

/* `vocabulary` and `counts` are borrowed; spans, repairs and drops are counted in the latter;
 * `taker` gets each finished request. PYTHIA_OK with *out owned, or PYTHIA_ENOMEM. */
int pythia_window_create(const struct pythia_vocabulary *vocabulary,
                         const struct pythia_window_options *options,
                         struct pythia_trace_taker taker, struct pythia_counts *counts,
                         struct pythia_window **out);
void pythia_window_destroy(struct pythia_window *w); /* w may be NULL; what is open is lost */

/* Our own clock shows `unix_ns` at `now_ns`: senders whose clocks are plainly off show by it
 * (assembler.h). Without it all are believed. O(1) nearly always. */
void pythia_window_set_clock(struct pythia_window *w, uint64_t unix_ns, uint64_t now_ns);

/* Add a span (copied) that came at `now_ns`. PYTHIA_OK, PYTHIA_ENOMEM, or what the taker returned.
 */
int pythia_window_add(struct pythia_window *w, const struct pythia_trace_id *trace,
                      const struct pythia_span *span, uint64_t now_ns);

/* Bytes that the owner retains beside the window, for example for reports: both marks count them,
 * up to half of the soft one, so that requests still have the other half. */
void pythia_window_hold(struct pythia_window *w, uint64_t bytes);

/* Is there more in memory than the soft mark allows? */
bool pythia_window_is_full(const struct pythia_window *w);

/* Time has passed: finish what is due. Call it some times a second. */
int pythia_window_tick(struct pythia_window *w, uint64_t now_ns);

/* Finish everything that is open, because nothing more will come. */
int pythia_window_drain(struct pythia_window *w);

/* The longest that a request whose spans have all come may still be waited with, in ns. */
uint64_t pythia_window_wait_ns(const struct pythia_window *w, uint64_t now_ns);

/* Did an open request begin at `start_ns` or before, as far as its spans have come and by their
 * clock? O(1) nearly always: pythia_assembler_began_by. */
bool pythia_window_began_by(struct pythia_window *w, uint64_t start_ns);

/* When the first span of the oldest open request came, in ns; UINT64_MAX: none is open. Spans have
 * an origin, and requests of one can be forgotten: see pythia_assembler_oldest, _set_origin,
 * _forget_origin, _note_finished and _forget_finished. */
uint64_t pythia_window_oldest_ns(const struct pythia_window *w);
void pythia_window_set_origin(struct pythia_window *w, uint16_t origin);
void pythia_window_forget_origin(struct pythia_window *w, uint16_t origin);
int pythia_window_note_finished(struct pythia_window *w, struct pythia_trace_id id);
void pythia_window_forget_finished(struct pythia_window *w);

/* The current fill and memory of the window, and how its traces have ended so far. */
struct pythia_window_numbers pythia_window_numbers(const struct pythia_window *w);

#endif
