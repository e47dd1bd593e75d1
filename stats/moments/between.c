/* With a = x - mean and r = x - mean of its part, the share is 1 - mean(r^2) / mean(a^2), and one
 * value more changes it by ((1 - share) a^2 - r^2) / (n mean(a^2)): the means of the parts are
 * where r^2 is least, so that their own errors count in second order only. */
#include "pythia/between.h"

#include <assert.h>
#include <math.h>

#include <gsl/gsl_cdf.h>

#include "pythia/mem.h"
#include "pythia/moments.h"
#include "pythia/status.h"

/* Standard error of the share; NaN if every part is one value. */
static double error_of(const double *x, const uint32_t *part, size_t n,
                       const struct pythia_moments *each, const struct pythia_moments *all,
                       double share)
{
    double errors = 0, scale = all->m2 / (double)n;
    for (size_t i = 0; i < n; i++) {
        const struct pythia_moments *own = &each[part[i]];
        double a = x[i] - all->mean;
        double r = own->n > 1 ? (x[i] - own->mean) / (1 - 1 / (double)own->n) : 0;
        double u = ((1 - share) * a * a - r * r) / scale;
        errors += u * u;
    }
    return sqrt(errors) / (double)n;
}

static void set_interval(double se, double df, double level, struct pythia_between *out)
{
    double s = out->share;
    if (!(s > 0) || !(df > 0))
        return;
    out->low = out->high = s;
    if (s == 1)
        return;
    double centre = log(s / (1 - s));
    double width = gsl_cdf_tdist_Qinv((1 - level) / 2, df) * se / (s * (1 - s));
    out->low = 1 / (1 + exp(width - centre));
    out->high = 1 / (1 + exp(-width - centre));
}

int pythia_between(const double *x, const uint32_t *part, size_t n, size_t parts, double level,
                   struct pythia_between *out)
{
    struct pythia_moments *each = pythia_calloc(parts, sizeof(*each)), all = {0};
    double between = 0, within = 0, used = 0;
    if (!each)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        assert(part[i] < parts);
        pythia_moments_add(&each[part[i]], x[i]);
        pythia_moments_add(&all, x[i]);
    }
    for (size_t k = 0; k < parts; k++) {
        double d = each[k].mean - all.mean;
        used += each[k].n > 0;
        between += each[k].n > 0 ? (double)each[k].n * d * d : 0;
        within += each[k].n > 0 ? each[k].m2 : 0;
    }
    *out = (struct pythia_between){NAN, NAN, NAN};
    /* A single part, or no variance at all, leaves the share undefined: NaN, not 0. */
    if (used >= 2 && between + within > 0) {
        out->share = between / (between + within);
        double se = error_of(x, part, n, each, &all, out->share);
        set_interval(se, (double)n - used, level, out);
    }
    pythia_free(each);
    return PYTHIA_OK;
}
