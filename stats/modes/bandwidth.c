#include "pythia/bandwidth.h"

#include <assert.h>
#include <math.h>

#include <gsl/gsl_math.h>

#include "pythia/moments.h"
#include "pythia/ranks.h"

#define BINS  1000
#define TRIES 99     /* widenings of the bracket */
#define FAR   1000.0 /* squared distance, in bandwidths, beyond which a normal density is 0 */

/* The smaller of the standard deviation and the quartile range over its value for a normal law. */
static double robust_scale(const double *sorted, size_t n, double normal_range)
{
    struct pythia_moments m = {0};
    for (size_t i = 0; i < n; i++)
        pythia_moments_add(&m, sorted[i]);
    double sd = pythia_moments_sd(&m),
           range = pythia_ranks_quantile(sorted, n, 0.75) - pythia_ranks_quantile(sorted, n, 0.25);
    return range > 0 ? fmin(sd, range / normal_range) : sd;
}

double pythia_bandwidth_nrd0(const double *sorted, size_t n)
{
    if (n < 2 || !(sorted[n - 1] > sorted[0]))
        return NAN;
    return 0.9 * robust_scale(sorted, n, 1.34) * pow((double)n, -0.2);
}

/* Pairs of values by their distance in bins: what the integrated squared derivatives of a kernel
 * density are sums over. */
struct pairs {
    double counts[BINS];
    double width; /* of a bin */
    double n;
};

static void count_binned_pairs(const double *sorted, size_t n, struct pairs *p)
{
    double occupied[BINS] = {0};
    *p = (struct pairs){.width = (sorted[n - 1] - sorted[0]) * 1.01 / BINS, .n = (double)n};
    double first = floor(sorted[0] / p->width);
    for (size_t i = 0; i < n; i++) {
        size_t bin = (size_t)(floor(sorted[i] / p->width) - first);
        assert(bin < BINS);
        occupied[bin]++;
    }
    for (size_t a = 0; a < BINS; a++) {
        if (occupied[a] == 0)
            continue;
        p->counts[0] += occupied[a] * (occupied[a] - 1) / 2;
        /* Pairs count by their distance in bins, whichever the bins are. */
        for (size_t b = 0; b < a; b++)
            p->counts[a - b] += occupied[a] * occupied[b];
    }
}

/* The estimate of the integral of f'' squared (order 4) and of f''' squared, negated (order 6):
 * means of the derivative of that order of the normal density over all pairs, a value with itself
 * included. */
static double density_functional(const struct pairs *p, int order, double bandwidth)
{
    double sum = 0, itself = order == 4 ? 3 : -15;
    for (size_t i = 0; i < BINS; i++) {
        double z = (double)i * p->width / bandwidth, d = z * z;
        if (d >= FAR)
            break;
        double hermite = order == 4 ? d * d - 6 * d + 3 : ((d - 15) * d + 45) * d - 15;
        sum += p->counts[i] * hermite * exp(-d / 2);
    }
    return (2 * sum + itself * p->n) /
           (p->n * (p->n - 1) * pow(bandwidth, order + 1) * sqrt(2 * M_PI));
}

/* The equation: its left side minus its right side, which is the bandwidth itself. */
struct equation {
    const struct pairs *pairs;
    double pilot; /* the pilot bandwidth for the functional is pilot * bandwidth^(5/7) */
};

static double equation_residue(const struct equation *e, double bandwidth)
{
    double roughness = density_functional(e->pairs, 4, e->pilot * pow(bandwidth, 5.0 / 7));
    return pow(1 / (2 * sqrt(M_PI) * e->pairs->n * roughness), 0.2) - bandwidth;
}

/* Where to go from b, the best point so far, with the root between b and c and `last` the step that
 * led to b from a: by the parabola through the three (the straight line, if a is c), unless that
 * leads out of the bracket or the steps do not shrink, and then half-way to c. */
static double next_step(double last, double a, double fa, double b, double fb, double c, double fc,
                        double least)
{
    double half = (c - b) / 2;
    if (fabs(last) < least || fabs(fa) <= fabs(fb))
        return half;
    double p, q, s = fb / fa;
    if (a == c) {
        p = 2 * half * s;
        q = 1 - s;
    } else {
        double t = fa / fc, r = fb / fc;
        p = s * (2 * half * t * (t - r) - last * (r - 1));
        q = (t - 1) * (r - 1) * (s - 1);
    }
    if (p > 0)
        q = -q;
    else
        p = -p;
    /* Inside the bracket, and less than half the step before: else bisect. */
    if (p < 1.5 * half * q - fabs(least * q) / 2 && p < fabs(last * q) / 2)
        return p / q;
    return half;
}

/* The root between two ends of different sign, to within `tolerance`. R. P. Brent, "Algorithms for
 * Minimization without Derivatives", 1973, chapter 4, but a step is held against the last one, not
 * the one before: the tolerance is coarse and the two rules stop at different points within it. */
static double find_equation_root(const struct equation *e, double low, double high,
                                 double tolerance)
{
    double a = low, b = high, fa = equation_residue(e, a), fb = equation_residue(e, b), c = a,
           fc = fa;
    for (;;) {
        double last = b - a;
        if (fabs(fc) < fabs(fb)) { /* b is to be the better end */
            a = b;
            fa = fb;
            b = c;
            fb = fc;
            c = a;
            fc = fa;
        }
        if (fabs(c - b) / 2 <= tolerance || fb == 0)
            return b;
        double step = next_step(last, a, fa, b, fb, c, fc, tolerance);
        if (fabs(step) < tolerance)
            step = step > 0 ? tolerance : -tolerance;
        a = b;
        fa = fb;
        b += step;
        fb = equation_residue(e, b);
        if ((fb > 0) == (fc > 0)) {
            c = a;
            fc = fa;
        }
    }
}

double pythia_bandwidth_sj(const double *sorted, size_t n)
{
    if (n < 2 || !(sorted[n - 1] > sorted[0]))
        return NAN;
    struct pairs pairs;
    count_binned_pairs(sorted, n, &pairs);
    double scale = robust_scale(sorted, n, 1.349), count = (double)n;
    double curvature = density_functional(&pairs, 4, 1.24 * scale * pow(count, -1.0 / 7));
    double third = -density_functional(&pairs, 6, 1.23 * scale * pow(count, -1.0 / 9));
    struct equation e = {&pairs, 1.357 * pow(curvature / third, 1.0 / 7)};
    if (!(third > 0) || !isfinite(e.pilot))
        return NAN;

    double high = 1.144 * scale * pow(count, -0.2), low = 0.1 * high, tolerance = 0.1 * low / 2;
    /* Widen the bracket until the residue changes its sign. Steps are small and alternate, so
     * that the smaller of several roots is not skipped. */
    for (int i = 0; equation_residue(&e, low) * equation_residue(&e, high) > 0; i++) {
        if (i == TRIES)
            return NAN;
        if (i % 2 == 0)
            high *= 1.2;
        else
            low *= 0.9;
    }
    return isfinite(equation_residue(&e, low)) && isfinite(equation_residue(&e, high))
               ? find_equation_root(&e, low, high, tolerance)
               : NAN;
}
