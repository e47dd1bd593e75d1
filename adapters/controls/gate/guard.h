/* The dead man's switch of C programs. Their switches are in memory that stays when the daemon is
 * gone, and a closed point looks at nothing else. So a process of its own waits for the lease to
 * run out, and then puts the default set back. It is forked once, does nothing else, and goes when
 * the daemon has gone and its lease has ended. */
#ifndef PYTHIA_CONTROLS_GUARD_H
#define PYTHIA_CONTROLS_GUARD_H

#include <stdbool.h>
#include <stdint.h>

struct pythia__guard;

/* `directory` (NULL: the usual one) and `defaults` (patterns, see board.h) are copied; `owner` is
 * the number by which the switches are claimed: a guard whose number is not there any more leaves
 * them alone. PYTHIA_OK, PYTHIA_ENOMEM or PYTHIA_EIO. */
int pythia__guard_start(const char *directory, const char *defaults, uint64_t owner,
                        struct pythia__guard **out);

/* From now on the switches are to be put back in `lease_ns`, unless that is said again. Starts the
 * process anew if somebody has ended it. */
void pythia__guard_renew(struct pythia__guard *g, uint64_t lease_ns);

/* The process goes on until the lease has ended; if it was never renewed it ends at once. */
void pythia__guard_leave(struct pythia__guard *g); /* g may be NULL */

#endif
