/* Tell others of verdicts, by HTTP requests (webhooks). Each target of the settings has a queue and
 * a thread of its own: neither a target that is slow or down nor the requests of others delay the
 * event loop.
 *
 *   loop: _verdict ──> queue (the oldest is lost when it is full) ──> thread: POST, again after a
 *   failure with twice the pause ──> sent, or lost */
#ifndef PYTHIA_PYTHIAD_NOTIFY_H
#define PYTHIA_PYTHIAD_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "pythia/error.h"
#include "pythia/option.h"

struct pythia__notify;

enum pythia__notify_loss {
    PYTHIA__NOTIFY_FULL,     /* the queue was */
    PYTHIA__NOTIFY_REFUSED,  /* by an answer that says that another try would not help */
    PYTHIA__NOTIFY_GIVEN_UP, /* after the last try */
    PYTHIA__NOTIFY_STOPPED,  /* pythiad ended before */
    PYTHIA__NOTIFY_LOSSES,
};

/* All targets together. */
struct pythia__notify_numbers {
    uint64_t sent, tried_again, waiting, lost[PYTHIA__NOTIFY_LOSSES];
};

/* Start a thread for each text of `targets` ("URL [FORMAT]"); with a `secret` (copied; NULL: none)
 * requests are signed. `pause_s` is the first pause before a request is tried again. PYTHIA_OK with
 * *out owned, which is NULL without targets; or negative with the reason in `e`. */
int pythia__notify_create(const struct pythia_option_texts *targets, const char *secret,
                          double pause_s, struct pythia__notify **out, struct pythia_error *e);

/* Stop the threads, which takes a second at most, and count what was not sent; may be NULL. */
void pythia__notify_destroy(struct pythia__notify *n);

/* Queue a notification for each target. `n` may be NULL. Never waits for a target. */
void pythia__notify_verdict(struct pythia__notify *n, const json_t *verdict, bool refuted,
                            uint64_t unix_ns);

/* `n` may be NULL. */
struct pythia__notify_numbers pythia__notify_numbers(struct pythia__notify *n);
const char *pythia__notify_loss_name(enum pythia__notify_loss loss);

#endif
