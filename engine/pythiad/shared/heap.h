/* Memory that is free inside the heap of the C library goes back to the system. */
#ifndef PYTHIA_PYTHIAD_HEAP_H
#define PYTHIA_PYTHIAD_HEAP_H

#include <stddef.h>
#include <stdint.h>

struct pythia__heap {
    uint64_t next_ns; /* of the next look */
    int64_t left;     /* bytes that were idle after the last trim, or fewer since */
};

/* Set up the heap of this process: before it is used, in main. */
void pythia__heap_setup(void);

/* Trim the heap if much has become free since the last time. To be called often; it looks ten times
 * a second at most, and takes some 1 % of the time at most. */
void pythia__heap_tick(struct pythia__heap *h, uint64_t now_ns);

#endif
