/* Sums of whole numbers wide enough never to overflow. Weights that add up to less than 2^64 and
 * |x| <= 2^63 give |sum| < 2^127 and squares < 2^190; weight * squares - sum^2, which Cauchy and
 * Schwarz keep from being negative, then has at most 254 bits. The numbers are arrays of 64-bit
 * words, the low one first. */
#include "pythia/exact_moments.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* to += from, over `words` words; from has `from_words` <= words of them. */
static void add_wide_words(uint64_t *to, size_t words, const uint64_t *from, size_t from_words)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < words; i++) {
        uint64_t term = i < from_words ? from[i] : 0, sum = to[i] + term;
        uint64_t over = sum < term;
        to[i] = sum + carry;
        carry = over | (to[i] < carry);
    }
}

/* to -= from, over `words` words. */
static void subtract_words(uint64_t *to, const uint64_t *from, size_t words)
{
    uint64_t borrow = 0;
    for (size_t i = 0; i < words; i++) {
        uint64_t difference = to[i] - from[i], under = to[i] < from[i];
        to[i] = difference - borrow;
        borrow = under | (difference < borrow);
    }
}

static void multiply_wide(uint64_t a, uint64_t b, uint64_t product[2])
{
    __extension__ unsigned __int128 wide = (unsigned __int128)a * b;
    product[0] = (uint64_t)wide;
    product[1] = (uint64_t)(wide >> 64);
}

static uint64_t magnitude_of(int64_t value)
{
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

/* |sum| into `to`; true when the sum is negative. */
static bool sum_magnitude(const struct pythia_exact_moments *m, uint64_t to[2])
{
    bool negative = m->sum[1] >> 63;
    to[0] = negative ? -m->sum[0] : m->sum[0];
    to[1] = negative ? ~m->sum[1] + (m->sum[0] == 0) : m->sum[1];
    return negative;
}

/* The double nearest to the number: its highest 64 bits are rounded by the machine, with a 1 in the
 * last of them for all that lies below, which breaks ties as the exact number would. */
static double to_double(const uint64_t *number, size_t words)
{
    while (words > 0 && number[words - 1] == 0)
        words--;
    if (words == 0)
        return 0;
    uint64_t top = number[words - 1];
    int exponent = (int)(words - 1) * 64;
    if (words > 1) {
        int shift = 0;
        for (; !(top >> 63); shift++)
            top <<= 1;
        if (shift)
            top |= number[words - 2] >> (64 - shift);
        /* All bits that do not fit decide only whether a tie is one. */
        bool below = number[words - 2] << shift;
        for (size_t i = 0; i + 2 < words; i++)
            below |= number[i] != 0;
        top |= below;
        exponent -= shift;
    }
    return ldexp((double)top, exponent);
}

static void add_unweighted(struct pythia_exact_moments *m, int64_t value_ns)
{
    uint64_t value[2] = {(uint64_t)value_ns, value_ns < 0 ? UINT64_MAX : 0}, square[2];
    multiply_wide(magnitude_of(value_ns), magnitude_of(value_ns), square);
    m->n++;
    m->weight++;
    add_wide_words(m->weight_squares, 2, (const uint64_t[]){1}, 1);
    add_wide_words(m->sum, 2, value, 2);
    add_wide_words(m->squares, 3, square, 2);
}

void pythia_exact_moments_add_weighted(struct pythia_exact_moments *m, int64_t value_ns,
                                       uint64_t weight)
{
    uint64_t sum[2], square[2], squares[3] = {0}, product[2];
    if (weight == 1) {
        add_unweighted(m, value_ns);
        return;
    }
    m->n++;
    m->weight += weight;
    multiply_wide(weight, weight, product);
    add_wide_words(m->weight_squares, 2, product, 2);
    multiply_wide(magnitude_of(value_ns), weight, sum);
    if (value_ns < 0)
        subtract_words(m->sum, sum, 2);
    else
        add_wide_words(m->sum, 2, sum, 2);
    multiply_wide(magnitude_of(value_ns), magnitude_of(value_ns), square);
    /* Schoolbook multiplication of a 128-bit square by a 64-bit weight: 192 bits hold the result
     * without loss, which keeps sums independent of their order. */
    for (size_t i = 0; i < 2; i++) {
        multiply_wide(square[i], weight, product);
        add_wide_words(squares + i, 3 - i, product, 2);
    }
    add_wide_words(m->squares, 3, squares, 3);
}

void pythia_exact_moments_pad(struct pythia_exact_moments *m,
                              const struct pythia_exact_moments *all)
{
    m->n = all->n;
    m->weight = all->weight;
    m->weight_squares[0] = all->weight_squares[0];
    m->weight_squares[1] = all->weight_squares[1];
}

void pythia_exact_moments_merge(struct pythia_exact_moments *m,
                                const struct pythia_exact_moments *other)
{
    m->n += other->n;
    m->weight += other->weight;
    add_wide_words(m->weight_squares, 2, other->weight_squares, 2);
    add_wide_words(m->sum, 2, other->sum, 2);
    add_wide_words(m->squares, 3, other->squares, 3);
}

double pythia_exact_moments_mean(const struct pythia_exact_moments *m)
{
    uint64_t sum[2];
    bool negative = sum_magnitude(m, sum);
    if (m->n == 0)
        return NAN;
    double mean = to_double(sum, 2) / (double)m->weight;
    return negative ? -mean : mean;
}

double pythia_exact_moments_variance(const struct pythia_exact_moments *m)
{
    if (m->n < 2)
        return NAN;
    uint64_t numerator[4] = {0}, sum[2], square[4] = {0}, product[2], pairs[2];
    for (size_t i = 0; i < 3; i++) {
        multiply_wide(m->weight, m->squares[i], product);
        add_wide_words(numerator + i, 4 - i, product, 2);
    }
    sum_magnitude(m, sum);
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < 2; j++) {
            multiply_wide(sum[i], sum[j], product);
            add_wide_words(square + i + j, 4 - i - j, product, 2);
        }
    }
    /* weight * squares - sum^2 is never negative, and exact in 256 bits. */
    subtract_words(numerator, square, 4);
    multiply_wide(m->weight, m->weight, pairs);
    subtract_words(pairs, m->weight_squares, 2);
    return to_double(numerator, 4) / to_double(pairs, 2);
}

double pythia_exact_moments_sd(const struct pythia_exact_moments *m)
{
    return sqrt(pythia_exact_moments_variance(m));
}

double pythia_exact_moments_cov(const struct pythia_exact_moments *m)
{
    double mean = pythia_exact_moments_mean(m);
    return mean != 0 ? pythia_exact_moments_sd(m) / fabs(mean) : NAN;
}

double pythia_exact_moments_effective(const struct pythia_exact_moments *m)
{
    uint64_t pairs[2];
    if (m->weight == m->n)
        return (double)m->n;
    multiply_wide(m->weight, m->weight, pairs);
    return to_double(pairs, 2) / to_double(m->weight_squares, 2);
}

uint64_t pythia_exact_moments_count(const struct pythia_exact_moments *all, uint64_t weight)
{
    if (all->weight == all->n)
        return weight;
    double part = (double)weight / (double)all->weight;
    return (uint64_t)llround(part * pythia_exact_moments_effective(all));
}

double pythia_exact_moments_squares(const struct pythia_exact_moments *m)
{
    return m->n > 1 ? pythia_exact_moments_variance(m) * (double)(m->weight - 1) : 0;
}
