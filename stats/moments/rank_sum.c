/* The statistic is U, the number of pairs in which the value of `after` is the larger one (a tie
 * counts half). Its distribution under "nothing changed" is counted exactly for small samples: the
 * number of ways to choose m of n + m ranks with a given sum follows from the choice for the
 * largest rank, which is in `after` or is not.
 *
 * The n m differences of the Hodges-Lehmann estimate are never formed. With both samples sorted,
 * the number of differences that are at most d is counted in O(n + m), and the k-th difference is
 * found by bisection over the bits of a double, in at most 64 such counts. */
#include "pythia/rank_sum.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "pythia/mem.h"
#include "pythia/ranks.h"
#include "pythia/status.h"

/* Above this the counts of the exact distribution no longer pay for their time, and those of more
 * than 2^53 ways would be rounded: choose(60, 30) is 1.2e17, whose relative error of 1e-16 does not
 * matter, but the normal approximation is within 1 % of p = .01 from 20 + 20 values on. */
#define EXACT_MAX 60

/* ---- the k-th difference ---- */

/* Doubles as integers of the same order: the bits of negative ones are reversed. */
static uint64_t double_to_ordered_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double value_of(uint64_t order)
{
    uint64_t bits = order >> 63 ? order & ~(UINT64_C(1) << 63) : ~order;
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

struct sorted_samples {
    const double *before, *after; /* rising */
    size_t n, m;
};

/* How many differences after - before are at most `limit`: as `after` rises, fewer of the low
 * values of `before` qualify, so that one walk over both is enough. */
static uint64_t count_differences(const struct sorted_samples *s, double limit)
{
    uint64_t count = 0;
    size_t first = 0; /* values of `before` from here on are near enough */
    for (size_t j = 0; j < s->m; j++) {
        while (first < s->n && s->after[j] - s->before[first] > limit)
            first++;
        count += s->n - first;
    }
    return count;
}

/* The difference of rank k, counted from 1, in rising order. */
static double find_difference(const struct sorted_samples *s, uint64_t k)
{
    uint64_t low = double_to_ordered_bits(s->after[0] - s->before[s->n - 1]);
    uint64_t high = double_to_ordered_bits(s->after[s->m - 1] - s->before[0]);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (count_differences(s, value_of(middle)) >= k)
            high = middle;
        else
            low = middle + 1;
    }
    return value_of(low);
}

static double estimate_shift(const struct sorted_samples *s)
{
    uint64_t pairs = (uint64_t)s->n * s->m;
    double upper = find_difference(s, pairs / 2 + 1);
    return pairs % 2 ? upper : (find_difference(s, pairs / 2) + upper) / 2;
}

/* ---- the distribution of U ---- */

/* ways[u]: choices of m among n + m ranks whose U is u. The r-th value of `before` multiplies the
 * generating function by (1 - q^(m + r)) / (1 - q^r): both steps are sums in place. */
static double *count_ways(size_t n, size_t m)
{
    size_t size = n * m + 1;
    double *ways = pythia_calloc(size, sizeof(*ways));
    if (!ways)
        return NULL;
    ways[0] = 1;
    for (size_t r = 1; r <= n; r++) {
        /* From above: values below are still those of the step before. */
        for (size_t u = size; u-- > m + r;)
            ways[u] -= ways[u - m - r];
        for (size_t u = r; u < size; u++)
            ways[u] += ways[u - r];
    }
    return ways;
}

/* U is whole: there are no ties. The p-values and, for the interval, the rank k of the difference
 * at which it begins: the shift is below that with the chance that U is below k. */
static int test_exactly(double u, size_t n, size_t m, double tail, struct pythia_shift *out,
                        uint64_t *rank)
{
    double *ways = count_ways(n, m), all = 0, below = 0;
    if (!ways)
        return PYTHIA_ENOMEM;
    /* Counts are doubles: 60 values have up to 1.2e17 orders, more than the 2^53 that a double
     * counts exactly, but an error of 1e-16 of them changes no p-value. */
    size_t pairs = n * m, at = (size_t)u;
    for (size_t i = 0; i <= pairs; i++)
        all += ways[i];
    for (size_t i = 0; i <= at; i++)
        below += ways[i];
    out->p_less = below / all;
    out->p_greater = (all - below + ways[at]) / all;
    double sum = 0;
    for (*rank = 0; *rank < pairs / 2; ++*rank) {
        sum += ways[*rank];
        if (sum / all > tail)
            break;
    }
    pythia_free(ways);
    return PYTHIA_OK;
}

static void test_normally(double u, double ties, size_t n, size_t m, double tail,
                          struct pythia_shift *out, uint64_t *rank)
{
    double a = (double)n, b = (double)m, all = a + b, mean = a * b / 2;
    double variance = a * b / 12 * (all + 1 - ties / (all * (all - 1)));
    double se = sqrt(variance);
    if (!(se > 0)) { /* all values are equal */
        out->p_less = out->p_greater = 1;
        *rank = 0;
        return;
    }
    out->p_greater = gsl_cdf_ugaussian_Q((u - mean - .5) / se);
    out->p_less = gsl_cdf_ugaussian_P((u - mean + .5) / se);
    double border = floor(mean - gsl_cdf_ugaussian_Qinv(tail) * se);
    *rank = border > 0 ? (uint64_t)border : 0;
}

/* U of the sorted samples and the sum of t^3 - t over groups of t equal values. */
static double count_rank_pairs(const struct sorted_samples *s, double *ties)
{
    size_t i = 0, j = 0;
    double u = 0;
    *ties = 0;
    while (i < s->n || j < s->m) {
        double value =
            i < s->n && (j == s->m || s->before[i] <= s->after[j]) ? s->before[i] : s->after[j];
        size_t from_i = i, from_j = j;
        while (i < s->n && s->before[i] == value)
            i++;
        while (j < s->m && s->after[j] == value)
            j++;
        /* An equal pair counts half: the mean of the U that its two possible orders would give. */
        double equal_before = (double)(i - from_i), equal_after = (double)(j - from_j);
        u += equal_after * ((double)from_i + equal_before / 2);
        double equal = equal_before + equal_after;
        *ties += equal * equal * equal - equal;
    }
    return u;
}

static int compare_sorted(const struct sorted_samples *s, double level, struct pythia_shift *out)
{
    double ties = 0, u = count_rank_pairs(s, &ties), tail = (1 - level) / 2;
    uint64_t rank = 0, pairs = (uint64_t)s->n * s->m;
    if (ties == 0 && s->n + s->m <= EXACT_MAX) {
        int status = test_exactly(u, s->n, s->m, tail, out, &rank);
        if (status != PYTHIA_OK)
            return status;
    } else {
        test_normally(u, ties, s->n, s->m, tail, out, &rank);
    }
    out->shift = estimate_shift(s);
    rank = rank > 0 ? rank : 1; /* so few values that no interval is that sure: the whole range */
    out->low = find_difference(s, rank);
    out->high = find_difference(s, pairs + 1 - rank);
    return PYTHIA_OK;
}

int pythia_rank_sum(const double *before, size_t n, const double *after, size_t m, double level,
                    struct pythia_shift *out)
{
    bool defined = n > 0 && m > 0;
    for (size_t i = 0; i < n; i++)
        defined = defined && !isnan(before[i]);
    for (size_t j = 0; j < m; j++)
        defined = defined && !isnan(after[j]);
    /* A NaN has no rank. To drop it silently would compare fewer requests than the caller
     * reports. */
    if (!defined) {
        *out = (struct pythia_shift){NAN, NAN, NAN, NAN, NAN};
        return PYTHIA_OK;
    }
    double *sorted = pythia_calloc(n + m, sizeof(*sorted));
    if (!sorted)
        return PYTHIA_ENOMEM;
    memcpy(sorted, before, n * sizeof(*sorted));
    memcpy(sorted + n, after, m * sizeof(*sorted));
    pythia_ranks_sort(sorted, n);
    pythia_ranks_sort(sorted + n, m);
    struct sorted_samples s = {sorted, sorted + n, n, m};
    struct pythia_shift result = {0};
    int status = compare_sorted(&s, level, &result);
    if (status != PYTHIA_OK)
        goto out;
    *out = result;
out:
    pythia_free(sorted);
    return status;
}

double pythia_rank_sum_smallest_p(size_t n, size_t m)
{
    double ways = 1;
    for (size_t i = 1; i <= m; i++)
        ways *= (double)(n + i) / (double)i;
    return 1 / ways;
}
