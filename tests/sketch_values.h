#ifndef TESTS_SKETCH_VALUES_H
#define TESTS_SKETCH_VALUES_H

#include "pythia/sketch.h"

/* The number of values that a sketch has seen: the sum of its bins. */
static inline uint64_t count_sketch_values(const struct pythia_sketch *s)
{
    struct pythia_sketch_bin bin;
    uint64_t count = 0;
    for (size_t position = 0; pythia_sketch_next(s, &position, &bin) == 0;)
        count += bin.count;
    return count;
}

#endif
