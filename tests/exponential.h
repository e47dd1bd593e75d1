#ifndef TESTS_EXPONENTIAL_H
#define TESTS_EXPONENTIAL_H

#include <math.h>

#include "pythia/random.h"

/* A draw from the exponential law of mean 1. */
static inline double draw_exponential(struct pythia_random *r)
{
    return -log1p(-pythia_random_unit(r));
}

#endif
