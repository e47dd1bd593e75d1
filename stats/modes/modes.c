#include "pythia/modes.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "pythia/bandwidth.h"
#include "pythia/kde.h"
#include "pythia/log_sample.h"
#include "pythia/mem.h"
#include "pythia/shares.h"
#include "pythia/sort.h"
#include "pythia/status.h"

/* Bandwidths of Sheather and Jones: theirs is made for the density, not for its bumps. */
#define SMOOTHING 1.4

#define LEVEL       0.01
#define LEAST_SHARE 0.02
#define LEAST_COUNT 3
#define CLIPPED     0.005
#define GRID_MAX    8192
#define HALVINGS    5 /* of the bandwidth, in search of a mode that is known to be there */

/* The candidates: peaks and the valleys between them, as positions on the log scale, and the
 * heights. */
struct landscape {
    const double *logs; /* ascending, n */
    size_t n, count;    /* values; peaks */
    double *peaks, *valleys, *peak_heights, *valley_heights;
};

static int compare_value(const void *sorted, size_t index, const void *value)
{
    double x = ((const double *)sorted)[index], y = *(const double *)value;
    return (x > y) - (x < y);
}

/* How many of the ascending values are below x. */
static size_t count_below(const double *sorted, size_t n, double x)
{
    return pythia_sorted_place(n, compare_value, sorted, &x);
}

static unsigned count_around(const struct landscape *l, double center, double half_width)
{
    return (unsigned)(count_below(l->logs, l->n, center + half_width) -
                      count_below(l->logs, l->n, center - half_width));
}

/* The probability of so few values around valley i if it were as high as the lower peak beside
 * it. */
static double valley_flatness(const struct landscape *l, size_t i)
{
    size_t lower = l->peak_heights[i] < l->peak_heights[i + 1] ? i : i + 1;
    double half_width = fabs(l->peaks[lower] - l->valleys[i]) / 2;
    unsigned low = count_around(l, l->valleys[i], half_width);
    unsigned high = count_around(l, l->peaks[lower], half_width);
    return low + high > 0 ? gsl_cdf_binomial_P(low, 0.5, low + high) : 1;
}

/* Make one mode of the two beside valley i; the higher peak stands for both. */
static void fill_valley(struct landscape *l, size_t i)
{
    size_t kept = l->peak_heights[i] < l->peak_heights[i + 1] ? i + 1 : i;
    l->peaks[i] = l->peaks[kept];
    l->peak_heights[i] = l->peak_heights[kept];
    l->count--;
    for (size_t k = i + 1; k < l->count; k++) {
        l->peaks[k] = l->peaks[k + 1];
        l->peak_heights[k] = l->peak_heights[k + 1];
    }
    for (size_t k = i; k + 1 < l->count; k++) {
        l->valleys[k] = l->valleys[k + 1];
        l->valley_heights[k] = l->valley_heights[k + 1];
    }
}

static size_t mass_of_mode(const struct landscape *l, size_t mode)
{
    size_t end = mode + 1 < l->count ? count_below(l->logs, l->n, l->valleys[mode]) : l->n;
    return end - (mode > 0 ? count_below(l->logs, l->n, l->valleys[mode - 1]) : 0);
}

/* The mode with the fewest values goes first, and over the higher of its two valleys: so the
 * wiggles of a small mode become one before any of them is given to a larger one. */
static void join_small_modes(struct landscape *l)
{
    double least = fmax(LEAST_SHARE * (double)l->n, LEAST_COUNT);
    while (l->count > 1) {
        size_t smallest = 0, last = l->count - 2; /* the last valley */
        for (size_t i = 1; i < l->count; i++)
            if (mass_of_mode(l, i) < mass_of_mode(l, smallest))
                smallest = i;
        if ((double)mass_of_mode(l, smallest) >= least)
            return;
        bool left = smallest > last ||
                    (smallest > 0 && l->valley_heights[smallest - 1] > l->valley_heights[smallest]);
        fill_valley(l, left ? smallest - 1 : smallest);
    }
}

/* The shallowest valley that may be chance is removed first, by its height over that of its lower
 * peak: the binomial test says when to stop, but not where to begin, for it finds nothing as flat
 * as a mode of few values. */
static void fill_flat_valleys(struct landscape *l, size_t at_least)
{
    double level = LEVEL / (double)(l->count > 1 ? l->count - 1 : 1);
    while (l->count > 1 && l->count > at_least) {
        size_t shallowest = l->count;
        double most = -1;
        for (size_t i = 0; i + 1 < l->count; i++) {
            double height = l->valley_heights[i] / fmin(l->peak_heights[i], l->peak_heights[i + 1]);
            /* Bonferroni over the valleys that are left; beyond the limit even a real one goes. */
            if (height > most && (l->count > PYTHIA_MODES_MAX || valley_flatness(l, i) > level)) {
                most = height;
                shallowest = i;
            }
        }
        if (shallowest == l->count)
            return;
        fill_valley(l, shallowest);
    }
}

size_t pythia_modes_label(const struct pythia_modes *m, double duration)
{
    size_t label = 0;
    while (label + 1 < m->count && duration >= m->cuts[label])
        label++;
    return label;
}

/* The sum of squares between the modes over the whole one, of clipped durations. */
static int set_variance_share(const double *sorted, size_t n, struct pythia_modes *m)
{
    double *clipped = pythia_calloc(n, sizeof(*clipped));
    if (!clipped)
        return PYTHIA_ENOMEM;
    memcpy(clipped, sorted, n * sizeof(*clipped));
    /* One slow request would be a mode with most of the variance. */
    (void)pythia_winsorise(clipped, n, CLIPPED, CLIPPED);
    double mean = 0, total = 0, sums[PYTHIA_MODES_MAX] = {0}, between = 0;
    size_t counts[PYTHIA_MODES_MAX] = {0};
    for (size_t i = 0; i < n; i++)
        mean += clipped[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        double d = clipped[i] - mean;
        size_t label = pythia_modes_label(m, sorted[i]);
        total += d * d;
        sums[label] += d;
        counts[label]++;
    }
    for (size_t k = 0; k < m->count; k++)
        between += counts[k] > 0 ? sums[k] * sums[k] / (double)counts[k] : 0;
    m->variance_share = m->count == 1 ? 0 : total > 0 ? between / total : NAN;
    pythia_free(clipped);
    return PYTHIA_OK;
}

/* Find and prune the modes of the logs at one bandwidth. */
static int survey_modes(struct landscape *l, double bandwidth, size_t at_least)
{
    struct pythia_grid g = pythia_kde_grid(l->logs[0], l->logs[l->n - 1], bandwidth, GRID_MAX);
    size_t most = g.count / 2 + 1, *places = pythia_calloc(most, 2 * sizeof(*places));
    double *density = pythia_calloc(g.count, sizeof(*density));
    double *peaks = pythia_calloc(most, 4 * sizeof(*peaks));
    int status = density && places && peaks
                     ? pythia_kde_estimate(l->logs, l->n, bandwidth, &g, density)
                     : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    pythia_free(l->peaks); /* of a larger bandwidth */
    l->peaks = peaks;
    l->valleys = peaks + most;
    l->peak_heights = l->valleys + most;
    l->valley_heights = l->peak_heights + most;
    peaks = NULL;
    l->count = pythia_kde_modes(density, g.count, places, places + most);
    for (size_t i = 0; i < l->count; i++) {
        l->peaks[i] = g.low + (double)places[i] * g.step;
        l->peak_heights[i] = density[places[i]];
    }
    for (size_t i = 0; i + 1 < l->count; i++) {
        l->valleys[i] = g.low + (double)places[most + i] * g.step;
        l->valley_heights[i] = density[places[most + i]];
    }
    join_small_modes(l);
    fill_flat_valleys(l, at_least);
out:
    pythia_free(peaks);
    pythia_free(density);
    pythia_free(places);
    return status;
}

int pythia_modes_find(const double *durations, size_t n, uint64_t seed, size_t at_least,
                      struct pythia_modes *out)
{
    assert(at_least >= 1 && at_least <= PYTHIA_MODES_MAX);
    struct pythia_log_sample *s = NULL;
    int status = pythia_log_sample_create(durations, n, seed, &s);
    if (status != PYTHIA_OK)
        return status;
    struct landscape l = {.logs = s->logs, .n = s->n};
    struct pythia_modes m = {.count = s->n > 0, .variance_share = NAN};
    double bandwidth = pythia_bandwidth_sj(s->logs, s->n);
    if (isnan(bandwidth))
        bandwidth = pythia_bandwidth_nrd0(s->logs, s->n);
    if (isnan(bandwidth)) { /* one value, or one value many times */
        if (m.count > 0) {
            m.centers[0] = s->durations[0];
            m.weights[0] = 1;
        }
        *out = m;
        goto out;
    }
    bandwidth *= SMOOTHING;
    for (int halvings = 0; l.count < at_least && halvings <= HALVINGS; halvings++, bandwidth /= 2) {
        status = survey_modes(&l, bandwidth, at_least);
        if (status != PYTHIA_OK)
            goto out;
    }
    m.count = l.count;
    for (size_t i = 0; i < m.count; i++) {
        m.centers[i] = exp(l.peaks[i]);
        m.weights[i] = (double)mass_of_mode(&l, i) / (double)l.n;
        if (i + 1 < m.count)
            m.cuts[i] = exp(l.valleys[i]);
    }
    status = set_variance_share(s->durations, s->n, &m);
    if (status != PYTHIA_OK)
        goto out;
    *out = m;
out:
    pythia_free(l.peaks);
    pythia_log_sample_destroy(s);
    return status;
}
