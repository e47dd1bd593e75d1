#include "pythia/gate.h"

#include <assert.h>
#include <math.h>

#include "pythia/mem.h"
#include "pythia/ranks.h"
#include "pythia/shares.h"
#include "pythia/status.h"

double pythia_gate_alpha(double alpha, uint64_t look)
{
    const double pi = acos(-1);
    return look > 0 ? alpha * 6 / (pi * pi * (double)look * (double)look) : NAN;
}

double pythia_gate_permutation_p(uint64_t at_least, uint64_t permutations)
{
    assert(at_least <= permutations);
    return (1 + (double)at_least) / (1 + (double)permutations);
}

/* The step-up rule: from the largest p down, carry the smallest p * count / rank. */
int pythia_gate_benjamini_hochberg(const double *p, size_t n, double *adjusted)
{
    size_t *order = pythia_calloc(n, sizeof(*order)), count = 0;
    int status = order ? pythia_ranks_order(p, n, order) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    double lowest = 1;
    while (count < n && !isnan(p[order[count]]))
        count++;
    for (size_t i = n; i > 0; i--) {
        size_t test = order[i - 1];
        lowest = fmin(lowest, p[test] * (double)count / (double)i); /* passes a NaN over */
        adjusted[test] = i > count ? NAN : lowest;
    }
out:
    pythia_free(order);
    return status;
}

/* Is one share above all others beyond chance: is the lower bound of the highest share above the
 * upper bound of every other? If so *top is its index, else *top is untouched. Shares that are NaN
 * are passed over; one whose interval is NaN gives false. A single share is separated. */
static bool find_separated(const struct pythia_share *shares, size_t k, size_t *top)
{
    size_t best = k;
    for (size_t e = 0; e < k; e++)
        if (!isnan(shares[e].share) && (best == k || shares[e].share > shares[best].share))
            best = e;
    if (best == k || isnan(shares[best].low))
        return false;
    for (size_t e = 0; e < k; e++)
        if (e != best && !isnan(shares[e].share) && !(shares[best].low > shares[e].high))
            return false;
    *top = best;
    return true;
}

int pythia_gate_localise(const double *x, size_t n, size_t k, double level, bool *found,
                         size_t *top)
{
    struct pythia_share *shares = pythia_calloc(k, sizeof(*shares));
    if (!shares)
        return PYTHIA_ENOMEM;
    struct pythia_share_options clip = PYTHIA_SHARE_OPTIONS_DEFAULT;
    size_t first = k, second = k;
    bool both = true;
    int status = PYTHIA_OK;
    clip.level = level;
    for (int pass = 0; pass < 2 && both; pass++) {
        status = pythia_shares(x, n, k, &clip, shares);
        if (status != PYTHIA_OK)
            goto out;
        both = find_separated(shares, k, pass ? &second : &first);
        /* The edge must be the same after three times as much is clipped: a share that rests on
         * a few slow requests changes, a real cause does not. */
        clip.clip_top *= 3;
    }
    *found = both && first == second;
    if (*found)
        *top = first;
out:
    pythia_free(shares);
    return status;
}
