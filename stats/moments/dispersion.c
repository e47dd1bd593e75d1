#include "pythia/dispersion.h"

#include <assert.h>
#include <math.h>

#include <gsl/gsl_cdf.h>

#include "pythia/mem.h"
#include "pythia/moments.h"
#include "pythia/status.h"
#include "samples.h"

static const struct pythia_test_result undefined = {NAN, NAN, NAN, NAN, NAN};

int pythia_dispersion_anova(const double *x, const uint32_t *group, size_t n, size_t groups,
                            struct pythia_test_result *out)
{
    struct pythia__samples_squares s;
    int status = pythia__samples_squares(x, group, n, groups, &s);
    if (status != PYTHIA_OK)
        return status;
    *out = undefined;
    if (s.groups < 2 || n <= s.groups || !(s.between + s.within > 0))
        return PYTHIA_OK;
    out->df1 = (double)s.groups - 1;
    out->df2 = (double)(n - s.groups);
    out->statistic = (s.between / out->df1) / (s.within / out->df2);
    out->p = isinf(out->statistic) ? 0 : gsl_cdf_fdist_Q(out->statistic, out->df1, out->df2);
    out->effect = s.between / (s.between + s.within);
    return PYTHIA_OK;
}

int pythia_dispersion_brown_forsythe(const double *x, const uint32_t *group, size_t n,
                                     size_t groups, struct pythia_test_result *out)
{
    double *deviations = pythia_calloc(n, sizeof(*deviations));
    int status =
        deviations ? pythia__samples_deviations(x, group, n, groups, deviations) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    status = pythia_dispersion_anova(deviations, group, n, groups, out);
out:
    pythia_free(deviations);
    return status;
}
