/* Hands finished traces from several threads to a consumer that one thread at a time may call.
 * Waiting for each other at every trace would cost more than the consumer's work, so traces are
 * copied into batches. A thread with a full batch, while no other is at the consumer, takes that
 * place and gives the consumer all batches that there are; others leave theirs and go on. */
#ifndef PYTHIA_CORE_HANDOVER_H
#define PYTHIA_CORE_HANDOVER_H

#include "pythia/buf.h"
#include "pythia/trace.h"

struct pythia__handover;

/* Make one for `take`, which stops all with a negative status. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__handover_create(int (*take)(void *context, const struct pythia_trace *trace),
                            void *context, struct pythia__handover **out);
void pythia__handover_destroy(struct pythia__handover *h); /* h may be NULL */

/* Add a trace (copied) to the batch of this thread, which begins as {0} and is owned by the caller.
 * A large trace is not copied: this thread waits for its turn at the consumer. PYTHIA_OK,
 * PYTHIA_ENOMEM, or what `take` returned, of this trace or another. Any thread. */
int pythia__handover_add(struct pythia__handover *h, struct pythia_buf *batch,
                         const struct pythia_trace *trace);

/* Hand over what a batch has. After the last one of all threads, all traces were taken. Returns as
 * above. */
int pythia__handover_flush(struct pythia__handover *h, struct pythia_buf *traces);

#endif
