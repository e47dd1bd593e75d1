#include "pythia/moments.h"

#include <math.h>

void pythia_moments_add(struct pythia_moments *m, double value)
{
    double delta = value - m->mean;
    m->n++;
    m->mean += delta / (double)m->n;
    m->m2 += delta * (value - m->mean);
}

void pythia_moments_merge(struct pythia_moments *m, const struct pythia_moments *other)
{
    if (other->n == 0)
        return;
    if (m->n == 0) { /* not by the formula below, so that a copy is exact */
        *m = *other;
        return;
    }
    double n = (double)(m->n + other->n), weight = (double)other->n / n;
    double delta = other->mean - m->mean;
    m->m2 += other->m2 + delta * delta * (double)m->n * weight;
    m->mean += delta * weight;
    m->n += other->n;
}

double pythia_moments_mean(const struct pythia_moments *m)
{
    return m->n > 0 && isfinite(m->mean) ? m->mean : NAN;
}

double pythia_moments_sd(const struct pythia_moments *m)
{
    return m->n > 1 ? sqrt(m->m2 / (double)(m->n - 1)) : NAN;
}
