/* A line for each event of spans as they arrive, for people and their tools:
 *
 *   2026-01-31T12:00:00.000001000Z - [time] [shop@shop-0] start [shop:pay] - trace=… span=…
 *   2026-01-31T12:00:00.250001000Z - [time] [shop@shop-0] end [shop:pay] 0.250000000 trace=… span=…
 *
 * The file is for its user alone. When it has its size it becomes FILE.1, in place of an older one,
 * and a new one is begun. On the loop's thread. */
#ifndef PYTHIA_PYTHIAD_SPAN_LOG_H
#define PYTHIA_PYTHIAD_SPAN_LOG_H

#include "pythia/error.h"
#include "pythia/span.h"
#include "pythia/vocabulary.h"

struct pythia__span_log;

struct pythia__span_log_numbers {
    uint64_t lines, lost; /* lost: they could not be written */
    uint64_t rotations;
};

/* Go on with a file, or make it. `path` and `vocabulary` are borrowed. PYTHIA_OK with *out owned,
 * or PYTHIA_EIO or PYTHIA_ENOMEM with the reason in `e`. */
int pythia__span_log_open(const char *path, uint64_t bytes_max,
                          const struct pythia_vocabulary *vocabulary, struct pythia__span_log **out,
                          struct pythia_error *e);
void pythia__span_log_close(struct pythia__span_log *l); /* writes what is held; may be NULL */

/* Note a span that has arrived. Nothing if `l` is NULL. */
void pythia__span_log_add(struct pythia__span_log *l, const struct pythia_trace_id *trace,
                          const struct pythia_span *span);
/* Write what is held: to be called several times a second. */
void pythia__span_log_flush(struct pythia__span_log *l);

struct pythia__span_log_numbers pythia__span_log_numbers(const struct pythia__span_log *l);

#endif
