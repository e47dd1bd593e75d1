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

double pythia_dispersion_omega_squared(const struct pythia_test_result *f)
{
    if (isinf(f->statistic))
        return 1;
    double surplus = f->df1 * (f->statistic - 1);
    return surplus / (surplus + f->df1 + f->df2 + 1);
}

int pythia_dispersion_brown_forsythe(const double *x, const uint32_t *group, size_t n,
                                     size_t groups, struct pythia_test_result *out)
{
    double *deviations = pythia_calloc(n, sizeof(*deviations));
    int status =
        deviations ? pythia__samples_deviations(x, group, n, groups, deviations) : PYTHIA_ENOMEM;
    if (status == PYTHIA_OK)
        status = pythia_dispersion_anova(deviations, group, n, groups, out);
    pythia_free(deviations);
    return status;
}

int pythia_dispersion_bartlett(const double *x, const uint32_t *group, size_t n, size_t groups,
                               struct pythia_test_result *out)
{
    struct pythia_moments *each = pythia_calloc(groups, sizeof(*each));
    if (!each)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        assert(group[i] < groups);
        pythia_moments_add(&each[group[i]], x[i]);
    }
    double within = 0, df = 0, count = 0, inverses = 0, logs = 0;
    for (size_t g = 0; g < groups; g++) {
        if (each[g].n == 0)
            continue;
        double df_here = (double)each[g].n - 1;
        count++;
        df += df_here;
        within += each[g].m2;
        inverses += 1 / df_here;
        logs += df_here * log(each[g].m2 / df_here);
    }
    pythia_free(each);
    *out = undefined;
    double correction = 1 + (inverses - 1 / df) / (3 * (count - 1));
    double statistic = (df * log(within / df) - logs) / correction;
    if (count < 2 || isinf(inverses) || isnan(statistic))
        return PYTHIA_OK;
    out->statistic = statistic;
    out->df1 = count - 1;
    out->p = isinf(statistic) ? 0 : gsl_cdf_chisq_Q(statistic, out->df1);
    return PYTHIA_OK;
}

int pythia_dispersion_fligner_killeen(const double *x, const uint32_t *group, size_t n,
                                      size_t groups, struct pythia_test_result *out)
{
    double *scores = pythia_calloc(n, 2 * sizeof(*scores));
    if (!scores)
        return PYTHIA_ENOMEM;
    double *deviations = scores + n;
    int status = pythia__samples_deviations(x, group, n, groups, deviations);
    if (status == PYTHIA_OK)
        status = pythia_ranks_mid(deviations, n, scores);
    if (status != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < n; i++)
        scores[i] = gsl_cdf_ugaussian_Pinv(.5 + scores[i] / (double)(n + 1) / 2);
    status = pythia__samples_chi_squared(scores, group, n, groups, out);
    if (status == PYTHIA_OK && !((double)n > out->df1 + 1))
        *out = undefined;
out:
    pythia_free(scores);
    return status;
}
