/* A radix sort of doubles, some five times faster than qsort at 10^4 values. The bits of a double, read as an
 * unsigned number, are in the order of its value once the sign bit of the positive ones and all bits of
 * the negative ones are flipped. Digits of 11 bits: six passes, of which those with one digit are skipped. */
#include "sort.h"

#include <stdint.h>
#include <string.h>

#define BITS   11
#define DIGITS (1u << BITS)
#define PASSES 6
#define FEW    64 /* below it, insertion is faster than six histograms */

static uint64_t key_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits ^ (bits >> 63 ? UINT64_MAX : UINT64_C(1) << 63);
}

static void insertion_sort(double *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        double value = x[i];
        uint64_t key = key_of(value);
        size_t k = i;
        for (; k > 0 && key_of(x[k - 1]) > key; k--)
            x[k] = x[k - 1];
        x[k] = value;
    }
}

void pythia__sort(double *x, size_t n, double *scratch)
{
    if (n < FEW) {
        insertion_sort(x, n);
        return;
    }
    double *from = x, *to = scratch;
    for (unsigned pass = 0; pass < PASSES; pass++) {
        unsigned shift = pass * BITS;
        size_t starts[DIGITS] = {0};
        for (size_t i = 0; i < n; i++)
            starts[key_of(from[i]) >> shift & (DIGITS - 1)]++;
        if (starts[key_of(from[0]) >> shift & (DIGITS - 1)] == n)
            continue;
        size_t before = 0;
        for (unsigned d = 0; d < DIGITS; d++) {
            size_t count = starts[d];
            starts[d] = before;
            before += count;
        }
        for (size_t i = 0; i < n; i++)
            to[starts[key_of(from[i]) >> shift & (DIGITS - 1)]++] = from[i];
        double *swap = from;
        from = to;
        to = swap;
    }
    if (from != x)
        memcpy(x, from, n * sizeof(*x));
}
