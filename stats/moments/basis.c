#include "basis.h"

#include <math.h>
#include <string.h>

#include "lapack.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define TOLERANCE 1e-9 /* of the length of a column */
#define BLOCK     32   /* LAPACK's block size for QR: more room than its least makes it faster */

int pythia__basis_init(struct pythia__basis *b, size_t rows, size_t columns)
{
    *b = (struct pythia__basis){.rows_max = rows, .columns_max = columns};
    if (!pythia__lapack_load())
        return PYTHIA_EIO;
    b->q = pythia_calloc(rows, columns * sizeof(*b->q));
    b->t = pythia_calloc(columns, columns * sizeof(*b->t));
    b->pivot = pythia_calloc(columns, sizeof(*b->pivot));
    b->scales = pythia_calloc(columns, sizeof(*b->scales));
    b->work =
        pythia_calloc(rows * columns + columns + (columns + 1) * (BLOCK + 3), sizeof(*b->work));
    if (b->q && b->t && b->pivot && b->scales && b->work)
        return PYTHIA_OK;
    pythia__basis_free(b);
    return PYTHIA_ENOMEM;
}

void pythia__basis_free(struct pythia__basis *b)
{
    pythia_free(b->q);
    pythia_free(b->t);
    pythia_free(b->pivot);
    pythia_free(b->scales);
    pythia_free(b->work);
    *b = (struct pythia__basis){0};
}

/* Copy one column, centred by two passes, so that a constant one is exactly 0, and scaled to length
 * 1. Returns the length it had. */
static double centre_basis_column(const struct pythia__matrix *x, size_t column, double *out)
{
    const double *from = x->values + column * x->column_stride;
    double n = (double)x->rows, mean = 0, residue = 0, squares = 0;
    for (size_t i = 0; i < x->rows; i++)
        mean += from[i * x->row_stride] / n;
    for (size_t i = 0; i < x->rows; i++)
        residue += from[i * x->row_stride] - mean;
    mean += residue / n;
    for (size_t i = 0; i < x->rows; i++) {
        out[i] = from[i * x->row_stride] - mean;
        squares += out[i] * out[i];
    }
    double length = sqrt(squares);
    for (size_t i = 0; i < x->rows && length > 0; i++)
        out[i] /= length;
    return length;
}

/* Take the part of a column that lies in the span of another basis away; twice, for the
 * rounding. */
static void project_out(const struct pythia__basis *without, double *column, double *cosines)
{
    size_t rank = without->rank;
    for (int round = 0; round < 2; round++) {
        memset(cosines, 0, rank * sizeof(*cosines));
        for (size_t i = 0; i < without->rows; i++)
            for (size_t k = 0; k < rank; k++)
                cosines[k] += without->q[i * rank + k] * column[i];
        for (size_t i = 0; i < without->rows; i++)
            for (size_t k = 0; k < rank; k++)
                column[i] -= without->q[i * rank + k] * cosines[k];
    }
}

/* QR with column pivoting of the n x p matrix in `a`, by columns: T, pivots and rank, and Q by
 * rows. */
static int factor_qr(struct pythia__basis *b, double *a, double *reflectors, double *scratch)
{
    size_t n = b->rows, p = b->columns, least = n < p ? n : p;
    int rows = (int)n, columns = (int)p, room = (int)((b->columns_max + 1) * (BLOCK + 3));
    memset(b->pivot, 0, p * sizeof(*b->pivot)); /* all columns are free to move */
    if (pythia__lapack.geqp3(LAPACK_COL_MAJOR, rows, columns, a, rows, b->pivot, reflectors,
                             scratch, room) != 0)
        return PYTHIA_EINVAL;
    while (b->rank < least && fabs(a[b->rank * n + b->rank]) > TOLERANCE)
        b->rank++;
    for (size_t j = 0; j < p; j++) {
        b->pivot[j]--;
        for (size_t i = 0; i < b->rank; i++)
            b->t[j * b->columns_max + i] = i <= j ? a[j * n + i] : 0;
    }
    int rank = (int)b->rank;
    if (rank > 0 && pythia__lapack.orgqr(LAPACK_COL_MAJOR, rows, rank, rank, a, rows, reflectors,
                                         scratch, room) != 0)
        return PYTHIA_EINVAL;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < b->rank; k++)
            b->q[i * b->rank + k] = a[k * n + i];
    return PYTHIA_OK;
}

int pythia__basis_fit(struct pythia__basis *b, const struct pythia__matrix *x,
                      const struct pythia__basis *without)
{
    size_t n = x->rows, p = x->columns;
    double *a = b->work, *reflectors = a + n * p, *scratch = reflectors + p;
    b->rows = n;
    b->columns = p;
    b->rank = 0;
    for (size_t j = 0; j < p; j++) {
        b->scales[j] = centre_basis_column(x, j, a + j * n);
        if (!isfinite(b->scales[j]))
            return PYTHIA_EINVAL;
        if (without && without->rank > 0)
            project_out(without, a + j * n, b->q); /* Q is not in use yet */
    }
    return n > 0 && p > 0 ? factor_qr(b, a, reflectors, scratch) : PYTHIA_OK;
}

int pythia__basis_fit_correlation(struct pythia__basis *b, const double *matrix, size_t columns)
{
    b->rows = 0;
    b->columns = columns;
    b->rank = 0;
    for (size_t j = 0; j < columns; j++) {
        b->scales[j] = 1;
        for (size_t i = 0; i < columns; i++) {
            if (!isfinite(matrix[i * columns + j]))
                return PYTHIA_EINVAL;
            b->t[j * b->columns_max + i] = matrix[i * columns + j];
        }
    }
    int rank = 0;
    if (columns == 0)
        return PYTHIA_OK;
    /* A positive status says that the rank is not full. */
    if (pythia__lapack.pstrf(LAPACK_COL_MAJOR, 'U', (int)columns, b->t, (int)b->columns_max,
                             b->pivot, &rank, TOLERANCE, b->work) < 0)
        return PYTHIA_EINVAL;
    b->rank = (size_t)rank;
    for (size_t j = 0; j < columns; j++) {
        b->pivot[j]--;
        for (size_t i = j + 1; i < columns; i++)
            b->t[j * b->columns_max + i] = 0;
    }
    return PYTHIA_OK;
}

void pythia__basis_cross(const struct pythia__basis *x, const struct pythia__basis *y,
                         const size_t *order, double *m)
{
    memset(m, 0, x->rank * y->rank * sizeof(*m));
    for (size_t i = 0; i < x->rows; i++) {
        const double *a = x->q + i * x->rank, *b = y->q + (order ? order[i] : i) * y->rank;
        for (size_t k = 0; k < x->rank; k++)
            for (size_t j = 0; j < y->rank; j++)
                m[k * y->rank + j] += a[k] * b[j];
    }
}

size_t pythia__basis_svd_work(size_t rows, size_t columns)
{
    size_t least = rows < columns ? rows : columns, most = rows < columns ? columns : rows;
    return (rows + columns) * least + 5 * most + 5 * least + 64;
}

int pythia__basis_svd(double *m, size_t rows, size_t columns, double *r, double *u, double *v,
                      double *work)
{
    size_t count = rows < columns ? rows : columns;
    if (count == 0)
        return PYTHIA_OK;
    /* To LAPACK, a row-major matrix is the transposed one: its left vectors are our right
     * ones. */
    double *left = work, *right = left + columns * count, *scratch = right + rows * count;
    size_t room = pythia__basis_svd_work(rows, columns) - (rows + columns) * count;
    if (pythia__lapack.gesvd(LAPACK_COL_MAJOR, 'S', 'S', (int)columns, (int)rows, m, (int)columns,
                             r, left, (int)columns, right, (int)count, scratch, (int)room) != 0)
        return PYTHIA_EINVAL;
    for (size_t k = 0; k < count; k++) {
        r[k] = fmin(r[k], 1); /* beyond 1 is rounding */
        for (size_t i = 0; i < rows; i++)
            u[i * count + k] = right[i * count + k];
        for (size_t j = 0; j < columns; j++)
            v[j * count + k] = left[k * columns + j];
    }
    return PYTHIA_OK;
}

void pythia__basis_loadings(const struct pythia__basis *b, const double *coordinates, size_t count,
                            double *out)
{
    for (size_t j = 0; j < b->columns; j++) {
        const double *t = b->t + j * b->columns_max;
        double *row = out + (size_t)b->pivot[j] * count, squares = 0;
        for (size_t i = 0; i < b->rank; i++)
            squares += t[i] * t[i];
        for (size_t k = 0; k < count; k++) {
            double sum = 0;
            for (size_t i = 0; i < b->rank; i++)
                sum += t[i] * coordinates[i * count + k];
            /* A correlation: the column as it was is scaled to length 1. */
            row[k] = squares > 0 ? sum / sqrt(squares) : 0;
        }
    }
}

void pythia__basis_coefficients(const struct pythia__basis *b, const double *coordinates,
                                size_t count, double *out)
{
    memset(out, 0, b->columns * count * sizeof(*out));
    for (size_t k = 0; k < count; k++)
        for (size_t i = b->rank; i-- > 0;) { /* back substitution */
            double sum = coordinates[i * count + k];
            for (size_t j = i + 1; j < b->rank; j++) {
                size_t column = (size_t)b->pivot[j];
                sum -= b->t[j * b->columns_max + i] * out[column * count + k] * b->scales[column];
            }
            size_t column = (size_t)b->pivot[i];
            out[column * count + k] = sum / (b->t[i * b->columns_max + i] * b->scales[column]);
        }
}
