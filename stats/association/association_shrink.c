/* Correlations of many variables in few rows are too large. J. Schaefer and K. Strimmer, "A
 * Shrinkage Approach to Large-Scale Covariance Matrix Estimation and Implications for Functional
 * Genomics", Statistical Applications in Genetics and Molecular Biology 4(1), 2005, after O. Ledoit
 * and M. Wolf, 2003: multiply all of them by 1 - lambda, where lambda is the sum of their sampling
 * variances over the sum of their squares. */
#include <math.h>

#include "association_keys.h"
#include "pythia/mem.h"
#include "pythia/status.h"

/* The columns that a basis was made of, scaled to length 1, side by side in the rows of z from `at`
 * on; a column of which nothing is left is 0. */
static void rebuild_columns(const struct pythia__basis *b, double *z, size_t width, size_t at)
{
    for (size_t j = 0; j < b->columns; j++) {
        const double *t = b->t + j * b->columns_max;
        double squares = 0;
        for (size_t k = 0; k < b->rank; k++)
            squares += t[k] * t[k];
        for (size_t i = 0; i < b->rows; i++) {
            double sum = 0;
            for (size_t k = 0; k < b->rank; k++)
                sum += b->q[i * b->rank + k] * t[k];
            z[i * width + at + (size_t)b->pivot[j]] = squares > 0 ? sum / sqrt(squares) : 0;
        }
    }
}

/* The correlations of the columns of z, into r, and how much to shrink them. */
static double correlate_columns(const double *z, size_t n, size_t width, double *r)
{
    double variances = 0, squares = 0;
    for (size_t a = 0; a < width; a++)
        for (size_t b = 0; b <= a; b++) {
            double sum = 0, products = 0;
            for (size_t i = 0; i < n; i++) {
                double w = z[i * width + a] * z[i * width + b];
                sum += w;
                products += w * w;
            }
            r[a * width + b] = r[b * width + a] = sum;
            /* The less certain the correlations are beside their size, the more they are shrunk
             * (Schäfer and Strimmer, 2005). */
            if (a != b) {
                variances += (products - sum * sum / (double)n) * (double)n / (double)(n - 1);
                squares += sum * sum;
            }
        }
    return squares > 0 ? fmin(fmax(variances / squares, 0), 1) : 1;
}

/* Whiten the `count` columns of z from `at` on by their shrunken correlations, times `factor`. */
static int whiten_columns(struct pythia__basis *b, const double *z, size_t n, size_t width,
                          size_t at, size_t count, const double *r, double lambda, double factor)
{
    double *shrunk = pythia_calloc(count, count * sizeof(*shrunk));
    if (!shrunk)
        return PYTHIA_ENOMEM;
    for (size_t a = 0; a < count; a++)
        for (size_t c = 0; c < count; c++)
            shrunk[a * count + c] = r[(at + a) * width + at + c] * (a == c ? 1 : 1 - lambda);
    int status = pythia__basis_fit_correlation(b, shrunk, count);
    pythia_free(shrunk);
    if (status != PYTHIA_OK)
        return status;
    b->rows = n;
    for (size_t i = 0; i < n; i++) {
        double *q = b->q + i * b->rank;
        for (size_t k = 0; k < b->rank; k++) {
            const double *t = b->t + k * b->columns_max;
            q[k] = z[i * width + at + (size_t)b->pivot[k]];
            for (size_t m = 0; m < k; m++)
                /* Forward substitution with the triangle of the shrunken correlations. */
                q[k] -= t[m] * q[m];
            q[k] /= t[k];
        }
    }
    for (size_t i = 0; i < n * b->rank; i++)
        b->q[i] *= factor;
    return PYTHIA_OK;
}

int pythia__keys_shrink(const struct pythia__basis *x, const struct pythia__basis *y,
                        struct pythia__basis *shrunk_x, struct pythia__basis *shrunk_y)
{
    size_t n = x->rows, p = x->columns, q = y->columns, width = p + q;
    double *z = pythia_calloc(n, width * sizeof(*z)), *r = pythia_calloc(width, width * sizeof(*r));
    int status = z && r ? pythia__basis_init(shrunk_x, n, p) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    status = pythia__basis_init(shrunk_y, n, q);
    if (status != PYTHIA_OK)
        goto out;
    rebuild_columns(x, z, width, 0);
    rebuild_columns(y, z, width, p);
    double lambda = correlate_columns(z, n, width, r);
    /* One lambda for both sides: the estimate is of the joint correlation matrix, of which the
     * two blocks are a part. */
    status = whiten_columns(shrunk_x, z, n, width, 0, p, r, lambda, 1 - lambda);
    if (status != PYTHIA_OK)
        goto out;
    status = whiten_columns(shrunk_y, z, n, width, p, q, r, lambda, 1);
out:
    if (status != PYTHIA_OK) {
        pythia__basis_free(shrunk_x);
        pythia__basis_free(shrunk_y);
    }
    pythia_free(r);
    pythia_free(z);
    return status;
}
