#ifndef PYTHIA_BASIS_H
#define PYTHIA_BASIS_H

#include <stddef.h>

/* The basis of canonical correlation and everything built on it, shared by cca.c and
 * association.c: an orthonormal basis of the centred columns of a matrix, and the angles between
 * two of them. */

/* A matrix somewhere: element (i, j) is values[i * row_stride + j * column_stride]. */
struct pythia__matrix {
    const double *values;
    size_t rows, columns, row_stride, column_stride;
};

/* The centred columns, scaled to length 1, are Q T: column pivot[j] is Q times column j of T. A
 * constant column is zero. Made once for a largest size and fitted again and again without an
 * allocation. */
struct pythia__basis {
    size_t rows_max, columns_max;
    size_t rows, columns, rank;
    double *q;      /* rows x rank, row-major, orthonormal columns that each add up to 0 */
    double *t;      /* column j is t + j * columns_max: upper triangular, rank x columns */
    int *pivot;     /* columns, from 0; the first `rank` are independent */
    double *scales; /* columns: the length of the centred column, 0 for a constant one */
    double *work;   /* room for LAPACK: the matrix by columns, reflectors, scratch */
};

/* Room for `rows` x `columns` matrices; *b is owned by the caller. PYTHIA_OK, or PYTHIA_ENOMEM with
 * an empty *b. _free takes a zeroed one, too. */
int pythia__basis_init(struct pythia__basis *b, size_t rows, size_t columns);
void pythia__basis_free(struct pythia__basis *b);

/* Fit a matrix: centre, scale, take the columns of `without` out (NULL: nothing), and find the rank
 * by QR with column pivoting; what is left of a column below 1e-9 of its length is rounding.
 * PYTHIA_OK, or PYTHIA_EINVAL if a value is not finite: then the basis is empty. O(rows * columns *
 * (columns + rank of `without`)). */
int pythia__basis_fit(struct pythia__basis *b, const struct pythia__matrix *x,
                      const struct pythia__basis *without);

/* Fit the correlation matrix of `columns` variables instead: T is its pivoted Cholesky factor, and
 * there is no Q. PYTHIA_OK, or PYTHIA_EINVAL for a value that is not finite. O(columns^3). */
int pythia__basis_fit_correlation(struct pythia__basis *b, const double *matrix, size_t columns);

/* The cosines between the bases' vectors: m[i * y->rank + j] = sum over rows of x's vector i and
 * y's vector j, x's rows in order, y's in that of `order` (NULL: in theirs). */
void pythia__basis_cross(const struct pythia__basis *x, const struct pythia__basis *y,
                         const size_t *order, double *m);

/* The singular values of a rows x columns matrix `m` (row-major, overwritten), descending and at
 * most 1, in r: the canonical correlations, if m holds cosines. u is rows x count and v columns x
 * count, row-major, with count = min(rows, columns). `work` holds pythia__basis_svd_work(rows,
 * columns) doubles. PYTHIA_OK, or PYTHIA_EINVAL if the values are not finite. */
int pythia__basis_svd(double *m, size_t rows, size_t columns, double *r, double *u, double *v,
                      double *work);
size_t pythia__basis_svd_work(size_t rows, size_t columns);

/* Correlations of each column with `count` variates given by their coordinates in the basis (rank x
 * count, row-major): out is columns x count; 0 for a column without variance. */
void pythia__basis_loadings(const struct pythia__basis *b, const double *coordinates, size_t count,
                            double *out);

/* The weights of the columns that give those variates: out is columns x count, 0 for columns that
 * the first `rank` make superfluous. */
void pythia__basis_coefficients(const struct pythia__basis *b, const double *coordinates,
                                size_t count, double *out);

#endif
