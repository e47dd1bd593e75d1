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

double pythia_moments_variance(const struct pythia_moments *m)
{
    return m->n > 1 ? m->m2 / (double)(m->n - 1) : NAN;
}

double pythia_moments_sd(const struct pythia_moments *m)
{
    return sqrt(pythia_moments_variance(m));
}

double pythia_moments_cov(const struct pythia_moments *m)
{
    return m->mean != 0 ? pythia_moments_sd(m) / fabs(m->mean) : NAN;
}

void pythia_comoments_add(struct pythia_comoments *c, double x, double y)
{
    double delta_x = x - c->mean_x, delta_y = y - c->mean_y;
    c->n++;
    c->mean_x += delta_x / (double)c->n;
    c->mean_y += delta_y / (double)c->n;
    c->m2_x += delta_x * (x - c->mean_x);
    c->m2_y += delta_y * (y - c->mean_y);
    c->c_xy += delta_x * (y - c->mean_y);
}

void pythia_comoments_merge(struct pythia_comoments *c, const struct pythia_comoments *other)
{
    if (other->n == 0)
        return;
    if (c->n == 0) {
        *c = *other;
        return;
    }
    double n = (double)(c->n + other->n), weight = (double)other->n / n;
    double delta_x = other->mean_x - c->mean_x, delta_y = other->mean_y - c->mean_y;
    double between = (double)c->n * weight;
    c->m2_x += other->m2_x + delta_x * delta_x * between;
    c->m2_y += other->m2_y + delta_y * delta_y * between;
    c->c_xy += other->c_xy + delta_x * delta_y * between;
    c->mean_x += delta_x * weight;
    c->mean_y += delta_y * weight;
    c->n += other->n;
}

double pythia_comoments_covariance(const struct pythia_comoments *c)
{
    return c->n > 1 ? c->c_xy / (double)(c->n - 1) : NAN;
}

double pythia_comoments_slope(const struct pythia_comoments *c)
{
    return c->c_xy / c->m2_x; /* 0 / 0 below 2 pairs and for a constant x */
}
