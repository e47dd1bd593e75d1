#include "samples.h"

#include <assert.h>
#include <math.h>

#include "pythia/mem.h"
#include "pythia/moments.h"
#include "pythia/ranks.h"
#include "pythia/status.h"

int pythia__samples_squares(const double *x, const uint32_t *group, size_t n, size_t groups,
                            struct pythia__samples_squares *out)
{
    struct pythia_moments *each = pythia_calloc(groups, sizeof(*each)), all = {0};
    if (!each)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        assert(group[i] < groups);
        pythia_moments_add(&each[group[i]], x[i]);
    }
    /* Moments of each group are merged instead of summing all squares at once, because the sum
     * within groups would cancel if their means are large against their spread (Chan, Golub and
     * LeVeque 1983). */
    *out = (struct pythia__samples_squares){0};
    for (size_t g = 0; g < groups; g++) {
        out->groups += each[g].n > 0;
        out->within += each[g].m2;
        pythia_moments_merge(&all, &each[g]);
    }
    for (size_t g = 0; g < groups; g++) {
        double d = each[g].mean - all.mean;
        out->between += (double)each[g].n * d * d;
    }
    pythia_free(each);
    return PYTHIA_OK;
}

int pythia__samples_deviations(const double *x, const uint32_t *group, size_t n, size_t groups,
                               double *out)
{
    /* ends[g] is where the values of group g end once they stand side by side, group by group. */
    size_t *ends = pythia_calloc(groups + 1, sizeof(*ends));
    double *values = pythia_calloc(n, sizeof(*values));
    double *medians = pythia_calloc(groups, sizeof(*medians));
    int status = ends && values && medians ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < n; i++) {
        assert(group[i] < groups);
        ends[group[i] + 1]++;
    }
    for (size_t g = 0; g < groups; g++)
        ends[g + 1] += ends[g];
    for (size_t i = 0; i < n; i++)
        values[ends[group[i]]++] = x[i]; /* a start, which becomes the end as the group fills */
    for (size_t g = 0, start = 0; g < groups; start = ends[g++]) {
        pythia_ranks_sort(values + start, ends[g] - start);
        medians[g] = pythia_ranks_quantile(values + start, ends[g] - start, .5);
    }
    for (size_t i = 0; i < n; i++)
        out[i] = fabs(x[i] - medians[group[i]]);
out:
    pythia_free(medians);
    pythia_free(values);
    pythia_free(ends);
    return status;
}
