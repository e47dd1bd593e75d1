/* Since when what is wanted open has been in force at all targets, as the engine is told it. */
#ifndef PYTHIA_PYTHIAD_IN_FORCE_H
#define PYTHIA_PYTHIAD_IN_FORCE_H

#include <stdbool.h>
#include <stdint.h>

/* {0}: nothing was in force yet. */
struct pythia__in_force {
    bool now;               /* it is */
    uint64_t since;         /* when that began, or began last; 0: never */
    uint64_t since_unix_ns; /* the same by the clock of spans */
    uint64_t lost;          /* controller.h, as of when it was in force last */
};

/* The answer of the controller, and both clocks at this moment. By the clock of spans a time is
 * told once: worked out again it would be another by some microseconds, and what was gathered
 * since then would seem to be older. True: the engine is to be told of since_unix_ns, because
 * that is another or was in doubt; *joined: all who had the set before have had it all along. */
bool pythia__in_force_look(struct pythia__in_force *f, bool in_force, uint64_t since, uint64_t lost,
                           uint64_t now, uint64_t unix_ns, bool *joined);

#endif
