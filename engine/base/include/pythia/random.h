#ifndef PYTHIA_RANDOM_H
#define PYTHIA_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* A stream of pseudo-random numbers that is the same on every machine for the same seed
 * (xoshiro256**: Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", ACM TOMS
 * 47(4), 2021). Public: it lives by value in whatever draws. */
struct pythia_random {
    uint64_t state[4];
};

/* Begin the stream of a seed; draw the next 64 bits. */
void pythia_random_init(struct pythia_random *r, uint64_t seed);
uint64_t pythia_random_next(struct pythia_random *r);

/* Uniform in [0, 1), 53 bits. */
double pythia_random_unit(struct pythia_random *r);
/* Uniform in {0, …, bound - 1}, without bias; bound > 0. */
uint64_t pythia_random_below(struct pythia_random *r, uint64_t bound);
/* Standard normal. */
double pythia_random_normal(struct pythia_random *r);
/* Put `count` indices in random order (Fisher and Yates, 1938). */
void pythia_random_shuffle(struct pythia_random *r, size_t *indices, size_t count);

#endif
