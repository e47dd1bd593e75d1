/* The dead man's switch of a plane whose switches stay as they are when the daemon is gone: those
 * in memory that programs share, and those that another daemon keeps. A process of its own waits
 * for the lease to run out, and then puts back what was there before. It is forked once, does
 * nothing else, and goes when the daemon has gone and its lease has ended. */
#ifndef PYTHIA_CONTROLS_GUARD_H
#define PYTHIA_CONTROLS_GUARD_H

#include <stdbool.h>
#include <stdint.h>

struct pythia__guard;

/* `put_back` is called in that process, with `context` as it was when the process was forked; both
 * are borrowed until _leave. PYTHIA_OK, PYTHIA_ENOMEM or PYTHIA_EIO. */
int pythia__guard_start(void (*put_back)(void *context), void *context, struct pythia__guard **out);

/* From now on the switches are to be put back in `lease_ns`, unless that is said again. Starts the
 * process anew if somebody has ended it. */
void pythia__guard_renew(struct pythia__guard *g, uint64_t lease_ns);

/* The process goes on until the lease has ended; if it was never renewed, or the switches have been
 * put back (`is_done`), it ends at once. */
void pythia__guard_leave(struct pythia__guard *g, bool is_done); /* g may be NULL */

#endif
