#ifndef PYTHIA_SKEW_H
#define PYTHIA_SKEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/vocabulary.h"

/* How far the clocks of processes are apart, from the calls between them. Of a call that is sent at
 * cs and answered at cr by the clock of the client, and arrives at sr and is answered at ss by that
 * of the server, the server's clock is ahead by
 *
 *     ((sr - cs) + (ss - cr)) / 2, give or take half of (cr - cs) - (ss - sr)
 *
 * the time on the way, since nothing arrives before it was sent (Mills, "Internet Time
 * Synchronization: The Network Time Protocol", IEEE Trans. Communications 39(10), 1991). Of each
 * pair of processes the call with the shortest way is kept in each of up to 32 stretches of time,
 * and all of them together are fitted by an offset and a drift of each process, by least squares,
 * weighted by the time on the way; a drift of 100 ppm is taken to be as unlikely as an error of the
 * whole way. Processes between which there are no calls have clocks of their own.
 *
 * The result does not depend on the order of calls, but for rounding. Memory: some 1.5 KiB for a
 * pair of processes; pairs beyond 65536 are counted and left out. One thread at a time. */
struct pythia_skew;

/* Make an estimate without calls. The vocabulary is borrowed until _destroy. PYTHIA_OK with *out
 * owned, or PYTHIA_ENOMEM. */
int pythia_skew_create(const struct pythia_vocabulary *vocabulary, struct pythia_skew **out);
void pythia_skew_destroy(struct pythia_skew *s); /* s may be NULL */
void pythia_skew_clear(struct pythia_skew *s);   /* forget all calls */

/* A call between two processes (numbers of resources), in ns. One whose answer took longer than the
 * client waited for it is left out and counted. PYTHIA_OK or PYTHIA_ENOMEM. O(1). */
int pythia_skew_add(struct pythia_skew *s, uint32_t client, uint32_t server, uint64_t sent_ns,
                    uint64_t answered_ns, uint64_t arrived_ns, uint64_t left_ns);

/* Work out the clocks. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_skew_solve(struct pythia_skew *s);

struct pythia_skew_clock {
    uint32_t process, reference; /* the first by name of those that it can be compared with */
    double offset_ns; /* by which it is ahead of that of the reference, in the middle of the time */
    double drift;     /* by which it runs faster: 1e-6 is one ppm */
    double error_ns;  /* half of the shortest way to any other process; NaN: it is the reference */
    uint64_t calls;
};

/* The clocks that are known, in order of name of service, host and instance; *count of them.
 * Borrowed until the next _solve. */
const struct pythia_skew_clock *pythia_skew_clocks(const struct pythia_skew *s, size_t *count);

/* By how much the clock of a process is ahead of its reference's when it shows `at_ns`; 0 for one
 * of which nothing is known. O(1). */
double pythia_skew_offset_ns(const struct pythia_skew *s, uint32_t process, uint64_t at_ns);

/* Calls that were left out: with an impossible time on the way, and of pairs beyond the most. */
void pythia_skew_left_out(const struct pythia_skew *s, uint64_t *impossible, uint64_t *beyond);

#endif
