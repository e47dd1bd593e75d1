#ifndef PYTHIA_PROPORTION_H
#define PYTHIA_PROPORTION_H

#include <stdint.h>

/* A rate that was counted: `hits` of `of`, and the interval that the true rate lies in. */
struct pythia_proportion {
    uint64_t hits, of;
    double rate, low, high;
};

/* With the interval of that level (.95, say) by Wilson's score, which stays between 0 and 1 and is
 * right for rates near them too. NaN for 0 of 0, for more hits than there are, and, the interval
 * alone, for a level that is not between 0 and 1. Thread-safe. O(1). Wilson, "Probable Inference,
 * the Law of Succession, and Statistical Inference", JASA 22(158), 1927. */
struct pythia_proportion pythia_proportion_wilson(uint64_t hits, uint64_t of, double level);

#endif
