#ifndef PYTHIA_PROBE_SPANS_H
#define PYTHIA_PROBE_SPANS_H

#include <stdbool.h>

#include "pythia/buf.h"
#include "pythia/kernel_points.h"
#include "pythia/probe_hit.h"
#include "pythia/probe_rules.h"

/* Hits become spans, by rules: the first probe of a point begins a span of its thread, the second
 * ends it. A request is recorded once it has ended, whole. What was open inside of a span that ends
 * (an error has left it without its second probe) ends with it, and is marked as failed; a request
 * that begins anew in its thread was abandoned, and nothing of it is recorded but how many spans it
 * had, with the reason. Of what the kernel
 * did in a span, of which rules ask for keys, the spans inside of it have their part, too. Keys are
 * left out if an event that they need was not reported for the whole request. The result is
 * records of pythia-records(5), so that recordings of it are read as any other. One thread at a
 * time. */
struct pythia_probe_spans;

/* `rules` are borrowed until _destroy. PYTHIA_OK with *out owned, or PYTHIA_ENOMEM. */
int pythia_probe_spans_create(const struct pythia_probe_rules *rules,
                              struct pythia_probe_spans **out);
void pythia_probe_spans_destroy(struct pythia_probe_spans *s); /* s may be NULL */

/* The hits are of a trace that was written elsewhere: `identity` (not 0) stands for it in the ids
 * of its traces and spans, which are the same whenever it is read, and `host` (copied) is the
 * machine. Nothing is looked up in /proc. Before the first hit. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_probe_spans_of_trace(struct pythia_probe_spans *s, uint64_t identity, const char *host);

/* Hits with `number` are of the probe that begins (or, `done`, ends) this point of the rules.
 * PYTHIA_OK, PYTHIA_ENOMEM, or PYTHIA_ELIMIT for a number that cannot be. */
int pythia_probe_spans_define(struct pythia_probe_spans *s, uint32_t number, size_t point,
                              bool done);

/* Hits with `number` are of an event of the kernel; 0: it is no longer reported. As above. */
int pythia_probe_spans_define_kernel(struct pythia_probe_spans *s, enum pythia_kernel_event event,
                                     uint32_t number);

/* From now on the waits of threads in requests that are of this point (is_wait of its rule) become
 * spans, or no more. A wait is the child of the span that is open in its thread. They need the
 * events of pythia_kernel_wait_events, for the whole request. */
void pythia_probe_spans_open_wait(struct pythia_probe_spans *s, size_t point, bool open);

/* One more hit; they come in order of time. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_probe_spans_add(struct pythia_probe_spans *s, const struct pythia_probe_hit *hit,
                           const int64_t *values, const char *texts);

/* Hits were lost between the last one and `until_ns`: requests that are open, or begin until then,
 * may lack spans, and are marked as such. */
void pythia_probe_spans_lose(struct pythia_probe_spans *s, uint64_t until_ns);

/* Probes are being switched until `until_ns`, on the clock of the hits; UINT64_MAX: it is not known
 * yet until when. Requests that are open, or begin until then, may lack their end for that reason:
 * if they have none, their spans count as switched. */
void pythia_probe_spans_switch(struct pythia_probe_spans *s, uint64_t until_ns);

/* Abandon requests whose last hit was before `time_ns`; UINT64_MAX: all, as no more hits come. */
void pythia_probe_spans_abandon(struct pythia_probe_spans *s, uint64_t time_ns);

/* Forget processes that are gone, and what is open in threads that are gone, or whose number
 * another thread has now; to be called now and then. */
void pythia_probe_spans_forget_dead(struct pythia_probe_spans *s);

/* Append the requests that have ended since the last call as frames, and how many spans were
 * dropped for which reason; `now_ns` is the clock of the hits, and `epoch_ns` what CLOCK_REALTIME
 * is ahead of it. `lost`: hits that were lost before they came here, so far. PYTHIA_OK or
 * PYTHIA_ENOMEM. */
int pythia_probe_spans_take(struct pythia_probe_spans *s, uint64_t now_ns, int64_t epoch_ns,
                            uint64_t lost, struct pythia_buf *to);

/* A process in which a request began. */
struct pythia_probe_process {
    uint32_t pid;
    uint64_t start_time; /* of its first thread, as /proc has it: a pid is given again */
};

/* The processes in which requests began, but for those that "forget_dead" found gone: up to `max`
 * of them into `out`, in no order. Returns how many there are, 64 at most. */
size_t pythia_probe_spans_processes(const struct pythia_probe_spans *s,
                                    struct pythia_probe_process *out, size_t max);

/* Hits outside of requests of both probes of a point, as their sample tells (probe_hit.h). */
uint64_t pythia_probe_spans_outside(const struct pythia_probe_spans *s, size_t point);

/* Hits of an event of the kernel outside of requests, likewise, by all threads of the machine. */
uint64_t pythia_probe_spans_kernel_outside(const struct pythia_probe_spans *s,
                                           enum pythia_kernel_event event);

struct pythia_probe_numbers {
    uint64_t spans;     /* that were recorded */
    uint64_t outside;   /* hits outside of any request */
    uint64_t unmatched; /* hits that end what is not open */
    uint64_t switched;  /* spans of requests without an end during which probes were switched */
    uint64_t abandoned; /* spans of other requests without an end */
    uint64_t oversize;  /* spans of requests that were too large */
    uint64_t crowded;   /* spans of requests that ended when others filled a frame */
};
struct pythia_probe_numbers pythia_probe_spans_numbers(const struct pythia_probe_spans *s);

#endif
