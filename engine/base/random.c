#include "pythia/random.h"

#include <math.h>

#include "pythia/hash.h"

void pythia_random_init(struct pythia_random *r, uint64_t seed)
{
    for (size_t i = 0; i < 4; i++)
        r->state[i] = pythia_hash_mix(seed, i);
}

static uint64_t rotate_left(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

uint64_t pythia_random_next(struct pythia_random *r)
{
    uint64_t *s = r->state, result = rotate_left(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double pythia_random_unit(struct pythia_random *r)
{
    return (double)(pythia_random_next(r) >> 11) * 0x1p-53;
}

uint64_t pythia_random_below(struct pythia_random *r, uint64_t bound)
{
    uint64_t limit = UINT64_MAX - UINT64_MAX % bound, x;
    do
        x = pythia_random_next(r);
    while (x >= limit);
    return x % bound;
}

/* The polar method (Marsaglia and Bray, "A Convenient Method for Generating Normal Variables", SIAM
 * Review 6(3), 1964), of whose pair only one is used: the stream then depends on the number of
 * calls alone. */
double pythia_random_normal(struct pythia_random *r)
{
    double x, y, square;
    do {
        x = 2 * pythia_random_unit(r) - 1;
        y = 2 * pythia_random_unit(r) - 1;
        square = x * x + y * y;
    } while (square >= 1 || square == 0);
    return x * sqrt(-2 * log(square) / square);
}

void pythia_random_shuffle(struct pythia_random *r, size_t *indices, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)pythia_random_below(r, i), swap = indices[i - 1];
        indices[i - 1] = indices[j];
        indices[j] = swap;
    }
}
