/* How late the spans of each sender arrive, and how long a request has to wait for them.
 *
 * An exporter that sends in batches, as those of OpenTelemetry do every 5 s by default, lets spans
 * arrive seconds after they ended. A request that is finished before lacks the spans of its slower
 * senders, and looks like one that never called them.
 *
 *   sender   a service instance: a resource of the vocabulary. Of each of its spans the lag is
 *            measured, from its end to its arrival, less the smallest lag of the sender. So the
 *            clock of the sender may be wrong by any amount; when it is set, its lags are off until
 *            what was seen before is forgotten.
 *   wait     the largest lag of a sender's last 80 s in which it sent something, but for one slice
 *            of 5 s that is an outlier, and a margin. Of a sender of which little is known, the
 *            initial wait.
 *   kind     stands for a request type: the trace point of a request's root. A kind involves the
 *            services that take part in half of its requests; its requests wait as long as the
 *            slowest of the senders that took part in any of them lately.
 *
 * A sender that has sent nothing since a request was last added to may be stalled, and not just be
 * left out of that request: such a request waits up to the maximum, and then counts as incomplete
 * (pythia__lateness_lacks). The same holds if spans of it have come, but fewer than usual: a batch
 * ends in the middle of a request. Only then, the request is taken as it is after the maximum.
 *
 *   usual    the fewest spans of a service in nearly all requests of a kind that it took part in:
 *            one in 50 may have fewer before that number falls. It follows what is opened and
 *            closed, as it is chosen anew every 2000 requests.
 *
 * Memory is bounded: at most PYTHIA__LATENESS_SENDERS senders of 320 bytes, those that were silent
 * for longest make way; a sender beyond that has the initial wait. One thread at a time. */
#ifndef PYTHIA_CORE_LATENESS_H
#define PYTHIA_CORE_LATENESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/assembler.h"
#include "pythia/span.h"
#include "pythia/vocabulary.h"

#define PYTHIA__LATENESS_SENDERS  8192
#define PYTHIA__LATENESS_SERVICES 64 /* of a kind, that are told apart */

struct pythia__lateness;

struct pythia__lateness_options {
    uint64_t least_ns, most_ns; /* any wait lies between these */
    uint64_t initial_ns; /* as long as a sender is not known; 0: 6 s, more than 5 s of batch */
};

/* `vocabulary` is borrowed. PYTHIA_OK with *out owned, or PYTHIA_ENOMEM. */
int pythia__lateness_create(const struct pythia_vocabulary *vocabulary,
                            const struct pythia__lateness_options *options,
                            struct pythia__lateness **out);
void pythia__lateness_destroy(struct pythia__lateness *l); /* l may be NULL */

/* A whole span has arrived at `now_ns`, by a clock that never goes back. Parts of spans are left
 * out: their senders say by themselves what still runs. PYTHIA_OK or PYTHIA_ENOMEM. O(1). */
int pythia__lateness_arrived(struct pythia__lateness *l, const struct pythia_span *span,
                             uint64_t now_ns);

/* A request of that kind (a trace point, or PYTHIA_NONE) was finished, in which these senders took
 * part. PYTHIA_OK or PYTHIA_ENOMEM. O(senders^2). */
int pythia__lateness_finished(struct pythia__lateness *l, uint32_t kind,
                              const struct pythia_assembler_sender *senders, size_t count);

/* The time that a request of that kind waits after its last span, in ns. O(1) nearly always. */
uint64_t pythia__lateness_wait(struct pythia__lateness *l, uint32_t kind, uint64_t now_ns);

/* Is a service that the kind involves missing from a request, or are some of its spans, of which
 * nothing arrived since `since_ns`, and may it still send spans of it, because one of its instances
 * has sent nothing since then either, or is later than any request may wait? O(services of the kind
 * * senders). */
enum pythia_assembler_lacks pythia__lateness_lacks(struct pythia__lateness *l, uint32_t kind,
                                                   const struct pythia_assembler_sender *senders,
                                                   size_t count, uint64_t since_ns,
                                                   uint64_t now_ns);

/* The longest wait of any kind now, in ns: of senders that were heard of lately. */
uint64_t pythia__lateness_longest(struct pythia__lateness *l, uint64_t now_ns);

/* Memory that is in use, in bytes, so that the budget can count it. O(types). */
size_t pythia__lateness_bytes(const struct pythia__lateness *l);

#endif
