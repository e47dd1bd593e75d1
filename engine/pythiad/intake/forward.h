/* Send bodies on to a collector, so that pythiad can stand between senders and it. What was taken
 * to be sent on is sent on unchanged, whatever becomes of it here; while the collector is down, or
 * slower than senders, bodies wait, and when no more can wait senders are told to come again.
 *
 *   loop: _add ──> queue (bounded) ──> threads: POST, again after a pause until it is taken
 */
#ifndef PYTHIA_PYTHIAD_FORWARD_H
#define PYTHIA_PYTHIAD_FORWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/error.h"
#include "pythia/unpack.h"

struct pythia__forward;

/* Collectors take Zipkin at another port. */
enum pythia__forward_to {
    PYTHIA__FORWARD_OTLP,
    PYTHIA__FORWARD_ZIPKIN,
    PYTHIA__FORWARDS,
};

struct pythia__forward_options {
    const char *urls[PYTHIA__FORWARDS]; /* "http://collector:4318", without a path; NULL: none */
    /* Further headers of each request to that URL, "Name: value"; NULL ends them. */
    const char *const *headers[PYTHIA__FORWARDS];
    size_t bytes_max; /* that wait, at most */
};

struct pythia__forward_numbers {
    uint64_t sent, sent_bytes, tried_again;
    uint64_t refused;       /* by the collector, for good: lost */
    uint64_t stopped;       /* pythiad ended before they were taken: lost */
    uint64_t not_taken;     /* for which there was no room: their senders come again */
    uint64_t waiting;       /* bodies, */
    uint64_t waiting_bytes; /* and bytes of them */
};

/* URLs and headers are borrowed. PYTHIA_OK with *out owned, or negative with the reason in `e`. */
int pythia__forward_create(const struct pythia__forward_options *options,
                           struct pythia__forward **out, struct pythia_error *e);
/* Send what waits, until the collector does not take it, and stop the threads; may be NULL. */
void pythia__forward_destroy(struct pythia__forward *f);

/* Is there an address for such bodies? False if `f` is NULL. */
bool pythia__forward_takes(const struct pythia__forward *f, enum pythia__forward_to to);

/* Queue a body (copied) that came for a path such as "/v1/traces" (a literal), with its content
 * type (a literal). False: there is no room or no memory for it. Never waits. */
bool pythia__forward_add(struct pythia__forward *f, enum pythia__forward_to to, const char *path,
                         const char *type, enum pythia_packing packing, const char *bytes,
                         size_t size);

/* All zero if `f` is NULL. */
struct pythia__forward_numbers pythia__forward_numbers(struct pythia__forward *f);

#endif
