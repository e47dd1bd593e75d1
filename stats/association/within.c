#include "pythia/within.h"

#include <math.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"

#define SAME 1e-12 /* shares of two deals that differ by less are equal but for rounding */

struct group_sum {
    double n, mean, squares; /* squares: about the mean, by Welford's update */
};

/* The largest share, and the group that has it; NaN: no group varies. */
static double find_largest(const double *samples, const size_t *order, const uint32_t *group,
                           size_t n, struct group_sum *sums, uint32_t groups, size_t *largest)
{
    double all = 0;
    memset(sums, 0, groups * sizeof(*sums));
    for (size_t i = 0; i < n; i++) {
        struct group_sum *g = &sums[group[i]];
        double d = samples[order[i]] - g->mean;
        g->mean += d / ++g->n;
        g->squares += d * (samples[order[i]] - g->mean);
    }
    *largest = 0;
    for (uint32_t i = 0; i < groups; i++) {
        all += sums[i].squares;
        if (sums[i].squares > sums[*largest].squares)
            *largest = i;
    }
    return all > 0 ? sums[*largest].squares / all : NAN;
}

int pythia_within_largest(const double *samples, const uint32_t *group, size_t n, uint32_t groups,
                          size_t deals, uint64_t seed, struct pythia_within *out)
{
    struct group_sum *sums = pythia_calloc((size_t)groups + 1, sizeof(*sums));
    size_t *order = pythia_calloc(n + 1, sizeof(*order)), as_large = 1, unused;
    struct pythia_random random;
    int status = sums && order ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    *out = (struct pythia_within){.p = NAN};
    out->share = find_largest(samples, order, group, n, sums, groups, &out->group);
    if (isnan(out->share))
        goto out;
    pythia_random_init(&random, seed);
    for (size_t deal = 0; deal < deals; deal++) {
        pythia_random_shuffle(&random, order, n);
        as_large +=
            find_largest(samples, order, group, n, sums, groups, &unused) + SAME >= out->share;
    }
    out->p = (double)as_large / (double)(deals + 1);
out:
    pythia_free(sums);
    pythia_free(order);
    return status;
}
