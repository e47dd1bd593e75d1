#include "pythia/silverman.h"

#include <math.h>
#include <stdbool.h>

#include "pythia/kde.h"
#include "pythia/mem.h"
#include "pythia/moments.h"
#include "pythia/random.h"
#include "pythia/status.h"

#define POINTS     512
#define BISECTIONS 30
#define LEAST      4 /* values */

/* The number of modes never grows with the bandwidth of a Gaussian kernel (Silverman 1981), so the
 * critical one is found by bisection. */
static int count_modes(const double *x, size_t n, double bandwidth, double *density, size_t *count)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
    }
    double span = high - low + 2 * bandwidth; /* the density has no mode outside of the values */
    struct pythia_grid g = {low - bandwidth, span / (POINTS - 1), POINTS};
    int status = pythia_kde_estimate(x, n, bandwidth, &g, density);
    if (status == PYTHIA_OK)
        *count = pythia_kde_modes(density, POINTS, NULL, NULL);
    return status;
}

static int critical_bandwidth(const double *sorted, size_t n, double *density, double *out)
{
    double range = sorted[n - 1] - sorted[0], low = range / 128, high = range;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = sqrt(low * high);
        size_t count;
        int status = count_modes(sorted, n, middle, density, &count);
        if (status != PYTHIA_OK)
            return status;
        if (count > 1)
            low = middle;
        else
            high = middle;
    }
    *out = high;
    return PYTHIA_OK;
}

/* Draw from the kernel density at the critical bandwidth, shrunk so that its variance is the
 * sample's. */
static void draw(const double *x, size_t n, const struct pythia_moments *m, double bandwidth,
                 struct pythia_random *r, double *drawn)
{
    double variance = m->m2 / (double)n, shrink = 1 / sqrt(1 + bandwidth * bandwidth / variance);
    for (size_t i = 0; i < n; i++) {
        double value = x[pythia_random_below(r, n)] + bandwidth * pythia_random_normal(r);
        drawn[i] = m->mean + (value - m->mean) * shrink;
    }
}

int pythia_silverman_test(const double *sorted, size_t n, size_t repetitions, uint64_t seed,
                          struct pythia_silverman *out)
{
    if (n < LEAST || !(sorted[n - 1] > sorted[0])) {
        *out = (struct pythia_silverman){NAN, NAN};
        return PYTHIA_OK;
    }
    double *density = pythia_calloc(POINTS + n, sizeof(*density)), bandwidth = NAN;
    if (!density)
        return PYTHIA_ENOMEM;
    double *drawn = density + POINTS;
    struct pythia_moments m = {0};
    int status = critical_bandwidth(sorted, n, density, &bandwidth);
    if (status != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < n; i++)
        pythia_moments_add(&m, sorted[i]);

    struct pythia_random r;
    pythia_random_init(&r, seed);
    size_t more = 0;
    for (size_t k = 0; k < repetitions; k++) {
        size_t count;
        draw(sorted, n, &m, bandwidth, &r, drawn);
        status = count_modes(drawn, n, bandwidth, density, &count);
        if (status != PYTHIA_OK)
            goto out;
        more += count > 1;
    }
    *out = (struct pythia_silverman){bandwidth, (double)(1 + more) / (double)(1 + repetitions)};
out:
    pythia_free(density);
    return status;
}
