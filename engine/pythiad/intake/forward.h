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

struct pythia__forward_numbers {
    uint64_t sent, sent_bytes, tried_again;
    uint64_t refused;       /* by the collector, for good: lost */
    uint64_t stopped;       /* pythiad ended before they were taken: lost */
    uint64_t not_taken;     /* for which there was no room: their senders come again */
    uint64_t waiting;       /* bodies, */
    uint64_t waiting_bytes; /* and bytes of them */
};

/* `url` (copied) is that of the collector without a path, "http://collector:4318"; at most
 * `bytes_max` bytes wait. PYTHIA_OK with *out owned, or negative with the reason in `e`. */
int pythia__forward_create(const char *url, size_t bytes_max, struct pythia__forward **out,
                           struct pythia_error *e);
/* Send what waits, until the collector does not take it, and stop the threads; may be NULL. */
void pythia__forward_destroy(struct pythia__forward *f);

/* Queue a body (copied) that came for a path such as "/v1/traces" (a literal), with its content
 * type (a literal). False: there is no room or no memory for it. Never waits. */
bool pythia__forward_add(struct pythia__forward *f, const char *path, const char *type,
                         enum pythia_packing packing, const char *bytes, size_t size);

/* All zero if `f` is NULL. */
struct pythia__forward_numbers pythia__forward_numbers(struct pythia__forward *f);

/* Is it the address of a collector? Else PYTHIA_EUSAGE with the reason in `e`. */
int pythia__forward_check(const char *url, struct pythia_error *e);

#endif
