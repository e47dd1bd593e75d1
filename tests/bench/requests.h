/* Requests for the benchmarks, seeded: trees of 23 spans, of five types, one after the other every
 * .2 ms. */
#ifndef PYTHIA_BENCH_REQUESTS_H
#define PYTHIA_BENCH_REQUESTS_H

#include <stdint.h>

#include "pythia/random.h"

#define REQUEST_SPANS 23
#define SERVICES      6

struct request_span {
    uint64_t id, parent, start_ns, end_ns; /* parent 0: none; ids are not */
    unsigned service, operation;
};

struct request {
    uint64_t trace_high, trace_low;
    unsigned type;
    struct request_span spans[REQUEST_SPANS]; /* each before those below it */
};

struct requests {
    struct pythia_random random;
    uint64_t now_ns;
};

void requests_begin(struct requests *all, uint64_t seed);
void requests_next(struct requests *all, struct request *out);

#endif
