/* Which names come again and again, among any number that come once: for whoever has room for some
 * more, but not for all. */
#ifndef PYTHIA_TRACE_FREQUENT_H
#define PYTHIA_TRACE_FREQUENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PYTHIA__FREQUENT_ROWS 2
#define PYTHIA__FREQUENT_SIZE 65536
#define PYTHIA__FREQUENT_MIN  16 /* times that a name came lately, to be frequent */

/* A count-min sketch whose counts are halved from time to time. Any number of threads; a count may
 * be off by some where they meet. {0} is empty. Cormode and Muthukrishnan, "An Improved Data Stream
 * Summary: The Count-Min Sketch and its Applications", J. Algorithms 55(1), 2005; Einziger,
 * Friedman and Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", ACM Trans. Storage
 * 13(4), 2017. */
struct pythia__frequent {
    _Atomic uint8_t counts[PYTHIA__FREQUENT_ROWS][PYTHIA__FREQUENT_SIZE];
    _Atomic uint32_t additions; /* since they were halved */
};

/* A name of that hash came: has it come often enough lately? One that did not is taken for frequent
 * with a probability of some 10^-10. O(1). */
bool pythia__frequent_count(struct pythia__frequent *f, uint64_t hash);

#endif
