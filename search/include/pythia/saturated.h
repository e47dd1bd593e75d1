#ifndef PYTHIA_SATURATED_H
#define PYTHIA_SATURATED_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/groups.h"
#include "pythia/saturation.h"

/* Which numbers that requests carry are often at their limit (saturation.h): variables of programs
 * and series of measurements among them. A queue is full for all requests alike, so the numbers of
 * an attribute count together, whatever request and trace point they are of. */

#define PYTHIA_SATURATED_POINTS 400

struct pythia_saturated_key {
    struct pythia_text name; /* of the attribute; borrowed from the vocabulary */
    size_t samples;
    struct pythia_saturation found;
    uint64_t first_ns, last_ns; /* of the samples */
    size_t points;              /* samples that stand for all, in order of time */
    uint64_t times_ns[PYTHIA_SATURATED_POINTS];
    double values[PYTHIA_SATURATED_POINTS];
};

struct pythia_saturated {
    struct pythia_saturated_key *keys; /* owned; those most often at their limit first */
    size_t count;
};

/* A limit that is known: of the key of that name, as `name` has it above. */
struct pythia_saturated_limit {
    struct pythia_text name;
    double limit;
};

/* Look at the sampled requests of all types, with these limits (borrowed); others are learnt. Names
 * that look like ids are left out; of a variable of a program (request_variables.h) its maximum in
 * the request counts. `g` is finished. PYTHIA_OK with *out to be freed, or PYTHIA_ENOMEM.
 * O(n log n) for n key-values. */
int pythia_saturated_find(const struct pythia_groups *g,
                          const struct pythia_saturated_limit *limits, size_t limit_count,
                          struct pythia_saturated *out);
void pythia_saturated_free(struct pythia_saturated *s);

#endif
