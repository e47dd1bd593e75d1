#include "pythia/kde.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <gsl/gsl_math.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define MARGIN   3.0  /* bandwidths */
#define REACH    8.5  /* bandwidths: beyond it a normal density is below 1e-16 of its peak */
#define FINENESS 4.0  /* points to a bandwidth */
#define ROUNDING 1e-9 /* of the highest point */

struct pythia_grid pythia_kde_grid(double low, double high, double bandwidth, size_t most)
{
    double span = high - low + 2 * MARGIN * bandwidth;
    double intervals = fmin(ceil(span / bandwidth * FINENESS), (double)(most - 1));
    return (struct pythia_grid){
        .low = low - MARGIN * bandwidth, .step = span / intervals, .count = (size_t)intervals + 1};
}

static void bin_values(const double *x, size_t n, const struct pythia_grid *g, double *bins)
{
    for (size_t i = 0; i < n; i++) {
        double position = (x[i] - g->low) / g->step;
        if (!(position >= 0 && position <= (double)(g->count - 1)))
            continue;
        size_t left = (size_t)position;
        double share = position - (double)left;
        bins[left] += 1 - share;
        if (share > 0)
            bins[left + 1] += share;
    }
}

int pythia_kde_estimate(const double *x, size_t n, double bandwidth, const struct pythia_grid *grid,
                        double *density)
{
    size_t count = grid->count;
    double *bins = pythia_calloc(count, 2 * sizeof(*bins));
    if (!bins)
        return PYTHIA_ENOMEM;
    double *kernel = bins + count, reach = ceil(REACH * bandwidth / grid->step);
    size_t window = reach < (double)count ? (size_t)reach : count - 1;
    for (size_t k = 0; k <= window; k++) {
        double z = (double)k * grid->step / bandwidth;
        kernel[k] = exp(-z * z / 2) / (bandwidth * sqrt(2 * M_PI) * (double)n);
    }
    bin_values(x, n, grid, bins);
    memset(density, 0, count * sizeof(*density));
    for (size_t b = 0; b < count; b++) {
        /* Most bins of a long tail are empty. Within the window a direct sum costs less than an
         * FFT of the grid, and it has no wrap-around. */
        if (bins[b] == 0)
            continue;
        size_t first = b > window ? b - window : 0,
               end = b + window < count ? b + window + 1 : count;
        for (size_t i = first; i < b; i++)
            density[i] += bins[b] * kernel[b - i];
        for (size_t i = b; i < end; i++)
            density[i] += bins[b] * kernel[i - b];
    }
    pythia_free(bins);
    return PYTHIA_OK;
}

size_t pythia_kde_modes(const double *density, size_t count, size_t *peaks, size_t *valleys)
{
    double highest = 0;
    for (size_t i = 0; i < count; i++)
        highest = fmax(highest, density[i]);
    double ripple = ROUNDING * highest;
    size_t modes = 0, first = 0,
           last = 0; /* the extreme stretch since the extremum recorded last */
    bool rising = true;
    for (size_t i = 1; i < count; i++) {
        double change = rising ? density[i] - density[first] : density[first] - density[i];
        if (change > ripple) {
            first = last = i;
        } else if (change >= -ripple) {
            last = i;
        } else {
            if (rising && peaks)
                peaks[modes] = first + (last - first) / 2;
            if (!rising && valleys)
                valleys[modes - 1] = first + (last - first) / 2;
            modes += rising;
            rising = !rising;
            first = last = i;
        }
    }
    if (rising) {
        if (peaks)
            peaks[modes] = first + (last - first) / 2;
        modes++;
    }
    return modes;
}
