#ifndef PYTHIA_KDE_H
#define PYTHIA_KDE_H

#include <stddef.h>

/* Evenly spaced points: low, low + step, ..., `count` of them. */
struct pythia_grid {
    double low, step;
    size_t count;
};

/* A grid over [low, high] and 3 bandwidths to either side, with at least four points to a bandwidth
 * but no more than `most` points. low <= high, bandwidth > 0, most >= 16. */
struct pythia_grid pythia_kde_grid(double low, double high, double bandwidth, size_t most);

/* The Gaussian kernel density of `n` > 0 finite values, in any order, at each point of the grid:
 * density[i] in 1/unit of the values. Each value is shared out between its two neighbours on the
 * grid in proportion (linear binning: M. P. Wand, "Fast Computation of Multivariate Kernel
 * Estimators", Journal of Computational and Graphical Statistics 3(4), 1994), an error of order
 * (step/bandwidth)^2; values off the grid are left out. bandwidth > 0. Returns PYTHIA_OK or
 * PYTHIA_ENOMEM, and then density is untouched. Thread-safe; O(n + min(n, count) *
 * min(bandwidth/step, count)). */
int pythia_kde_estimate(const double *x, size_t n, double bandwidth, const struct pythia_grid *grid,
                        double *density);

/* The local maxima of a density on a grid of `count` > 0 points, and the minima between them,
 * ascending: peaks[0] < valleys[0] < peaks[1] < ... Each array holds count / 2 + 1 or is NULL. A
 * rise or fall below 1e-9 of the highest point is taken for level ground, whose middle stands for
 * it. Returns how many maxima there are, at least 1. Thread-safe; O(count). */
size_t pythia_kde_modes(const double *density, size_t count, size_t *peaks, size_t *valleys);

#endif
