#include "pythia/two_samples.h"

#include <assert.h>
#include <math.h>

#include <gsl/gsl_cdf.h>

static double log_choose(double n, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

static void neither_varies(const struct pythia_summary *b, const struct pythia_summary *a,
                           struct pythia_mean_change *out)
{
    out->se = 0;
    out->low = out->high = out->change;
    if (out->change != 0)
        out->p = fmin(1, 2 * exp(-log_choose(b->n + a->n, a->n)));
}

static struct pythia_mean_change undefined_change(void)
{
    return (struct pythia_mean_change){NAN, NAN, NAN, NAN, NAN, NAN};
}

static void with_error(double se, double df, double level, struct pythia_mean_change *out)
{
    double width = se * gsl_cdf_tdist_Qinv((1 - level) / 2, df);
    out->se = se;
    out->df = df;
    out->low = out->change - width;
    out->high = out->change + width;
    out->p = 2 * gsl_cdf_tdist_Q(fabs(out->change) / se, df);
}

void pythia_two_samples_cautious(const struct pythia_summary *b, const struct pythia_summary *a,
                                 double level, struct pythia_mean_change *out)
{
    assert(level > 0 && level < 1);
    *out = undefined_change();
    if (b->n > 0 && a->n > 0)
        out->change = a->mean - b->mean;
    if (!(b->n >= 2 && a->n >= 2))
        return;
    if (b->variance == 0 && a->variance == 0) {
        neither_varies(b, a, out);
        return;
    }
    double of_b = b->variance / b->n, of_a = a->variance / a->n, squared = of_b + of_a;
    double df = squared * squared / (of_b * of_b / (b->n - 1) + of_a * of_a / (a->n - 1));
    /* Welch's error is too small by chance if the small sample happens to vary little. The
     * pooled error, which assumes equal variances, is the larger one then; the larger of both
     * rarely claims a change that is none. */
    double pooled_df = b->n + a->n - 2;
    double pooled =
        ((b->n - 1) * b->variance + (a->n - 1) * a->variance) / pooled_df * (1 / b->n + 1 / a->n);
    if (pooled > squared)
        with_error(sqrt(pooled), pooled_df, level, out);
    else
        with_error(sqrt(squared), df, level, out);
}

/* The hypergeometric law of the hits of after. From one chance to the next is a quotient; its
 * logarithms are added up, because from one far tail to the other lie numbers beyond any double.
 * Chances are relative to that of the table itself, and those equal to it but for rounding count
 * as no likelier. */
double pythia_two_samples_fisher(uint64_t hits_before, uint64_t n_before, uint64_t hits_after,
                                 uint64_t n_after)
{
    assert(hits_before <= n_before && hits_after <= n_after);
    if (n_before == 0 || n_after == 0)
        return NAN;
    double n = (double)n_after, m = (double)n_before, hits = (double)(hits_before + hits_after);
    uint64_t all_hits = hits_before + hits_after;
    uint64_t lowest = all_hits > n_before ? all_hits - n_before : 0,
             highest = n_after < all_hits ? n_after : all_hits;
    double own = log_choose(n, (double)hits_after) + log_choose(m, (double)hits_before) -
                 log_choose(n + m, hits);
    double sum = 1, chance = 0;
    for (uint64_t i = hits_after; i < highest; i++) { /* more hits than these */
        double k = (double)i;
        chance += log((n - k) / (k + 1) * ((hits - k) / (m - hits + k + 1)));
        sum += chance <= 1e-7 ? exp(chance) : 0;
    }
    chance = 0;
    for (uint64_t i = hits_after; i > lowest; i--) { /* and fewer */
        double k = (double)i;
        chance += log(k / (n - k + 1) * ((m - hits + k) / (hits - k + 1)));
        sum += chance <= 1e-7 ? exp(chance) : 0;
    }
    return fmin(1, exp(own) * sum);
}
