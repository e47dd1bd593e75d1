#ifndef PYTHIA_WINDOW_H
#define PYTHIA_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/assembler.h"
#include "pythia/counts.h"

/* A live stream of spans, cut into finished requests. A request is finished when its root has ended
 * and nothing came for `quiet_ns`; without a root, when nothing came for `rootless_ns`; and in any
 * case when it is `age_max_ns` old or has `spans_max` spans. Time is the caller's: nanoseconds that
 * never go back. Memory is bounded by two marks: above the soft one the caller is told to refuse
 * (the sender tries again later), above the hard one whole requests are shed, the largest request
 * types first, so that small ones are not starved; both are counted. Spans that come after their
 * request was finished are late, and counted; a span that comes twice counts once. One thread at a
 * time. */
struct pythia_window;

struct pythia_window_options {
    uint64_t quiet_ns;    /* 0: 2 s */
    uint64_t rootless_ns; /* 0: 10 s */
    uint64_t age_max_ns;  /* 0: 120 s */
    uint64_t spans_max;   /* of one request; 0: 100 000; what is beyond is dropped and counted */
    uint64_t soft_bytes;  /* 0: 128 MiB */
    uint64_t hard_bytes;  /* 0: 160 MiB */
};

struct pythia_window_numbers {
    uint64_t open_spans, open_traces, bytes;                                 /* now */
    uint64_t finished, finished_rootless, finished_by_age, finished_by_size; /* requests so far */
    uint64_t shed_traces, shed_spans, oversize_spans;
};

/* `vocabulary` and `counts` are borrowed; `taker` gets each finished request. PYTHIA_OK with *out
 * owned, or PYTHIA_ENOMEM. */
int pythia_window_create(const struct pythia_vocabulary *vocabulary,
                         const struct pythia_window_options *options,
                         struct pythia_trace_taker taker, struct pythia_counts *counts,
                         struct pythia_window **out);
void pythia_window_destroy(struct pythia_window *w); /* w may be NULL; what is open is lost */

/* Add a span (copied) that came at `now_ns`. PYTHIA_OK, PYTHIA_ENOMEM, or what the taker returned.
 */
int pythia_window_add(struct pythia_window *w, const struct pythia_trace_id *trace,
                      const struct pythia_span *span, uint64_t now_ns);

/* Is there more in memory than the soft mark allows? */
bool pythia_window_is_full(const struct pythia_window *w);

/* Time has passed: finish what is due. Call it some times a second. */
int pythia_window_tick(struct pythia_window *w, uint64_t now_ns);

/* Finish everything that is open, because nothing more will come. */
int pythia_window_drain(struct pythia_window *w);

struct pythia_window_numbers pythia_window_numbers(const struct pythia_window *w);

#endif
