#ifndef PYTHIA_BANDWIDTH_H
#define PYTHIA_BANDWIDTH_H

#include <stddef.h>

/* Bandwidths for a Gaussian kernel density: its standard deviation, in the unit of the values. Both
 * take `n` finite values in ascending order and give NaN for fewer than 2 or when all are equal.
 * Thread-safe. */

/* The rule of thumb 0.9 min(sd, IQR/1.34) n^(-1/5), quartiles by linear interpolation; an IQR of 0
 * is ignored. B. W. Silverman, "Density Estimation for Statistics and Data Analysis", 1986, eq.
 * 3.31. O(n). */
double pythia_bandwidth_nrd0(const double *sorted, size_t n);

/* The bandwidth with the least estimated asymptotic mean integrated squared error, by the
 * solve-the-equation rule of S. J. Sheather and M. C. Jones, "A Reliable Data-Based Bandwidth
 * Selection Method for Kernel Density Estimation", Journal of the Royal Statistical Society B
 * 53(3), 1991. Pairwise distances are binned to 1/1000 of the range, and the root is taken to 1/20
 * of the lower end of its bracket, as R's bw.SJ does, whose values it gives for positive data. NaN
 * also where the rule has no solution, as for a sample of a few atoms: take pythia_bandwidth_nrd0
 * then. O(n), and some 10^6 steps. */
double pythia_bandwidth_sj(const double *sorted, size_t n);

#endif
