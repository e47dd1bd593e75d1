/* Memory that is free inside the heap of the C library goes back to the system. */
#ifndef PYTHIA_PYTHIAD_HEAP_H
#define PYTHIA_PYTHIAD_HEAP_H

#include <stddef.h>
#include <stdint.h>

struct pythia__heap {
    uint64_t looked_ns;
    size_t left; /* bytes that were free after the last trim, or fewer since */
};

/* Set up the heap of this process: before it is used, in main. */
void pythia__heap_setup(void);

/* Trim the heap if much has become free since the last time. To be called often; it looks every
 * half second. Some ms for 100 MiB, less than 1 ms usually. */
void pythia__heap_tick(struct pythia__heap *h, uint64_t now_ns);

#endif
