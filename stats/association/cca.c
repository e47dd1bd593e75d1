#include "pythia/cca.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "moments/basis.h"
#include "pythia/mem.h"
#include "pythia/status.h"

struct pythia_cca {
    size_t p, q; /* columns there is room for */
    struct pythia__basis x, y;
    double *cosines, *r, *u, *v, *work;
    double *x_coefficients, *y_coefficients, *x_loadings, *y_loadings;
    double memory[];
};

int pythia_cca_create(size_t rows, size_t p, size_t q, struct pythia_cca **out)
{
    if (rows < 1 || p < 1 || q < 1)
        return PYTHIA_EINVAL;
    size_t count = p < q ? p : q, x = p * count, y = q * count;
    size_t sum = p * q + count + 3 * x + 3 * y + pythia__basis_svd_work(p, q);
    /* One block: a permutation test fits thousands of times and must not allocate in between. */
    struct pythia_cca *c = pythia_calloc(1, sizeof(*c) + sum * sizeof(c->memory[0]));
    if (!c)
        return PYTHIA_ENOMEM;
    c->p = p;
    c->q = q;
    c->cosines = c->memory;
    c->r = c->cosines + p * q;
    c->u = c->r + count;
    c->v = c->u + x;
    c->x_coefficients = c->v + y;
    c->y_coefficients = c->x_coefficients + x;
    c->x_loadings = c->y_coefficients + y;
    c->y_loadings = c->x_loadings + x;
    c->work = c->y_loadings + y;
    if (pythia__basis_init(&c->x, rows, p) != PYTHIA_OK ||
        pythia__basis_init(&c->y, rows, q) != PYTHIA_OK) {
        pythia_cca_destroy(c);
        return PYTHIA_ENOMEM;
    }
    *out = c;
    return PYTHIA_OK;
}

void pythia_cca_destroy(struct pythia_cca *c)
{
    if (!c)
        return;
    pythia__basis_free(&c->x);
    pythia__basis_free(&c->y);
    pythia_free(c);
}

/* The sign of singular vectors is arbitrary: let the largest loading of x be positive. */
static void fix_signs(struct pythia_cca *c, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        double largest = 0;
        for (size_t j = 0; j < c->x.columns; j++) {
            double loading = c->x_loadings[j * count + k];
            if (fabs(loading) >
                fabs(largest) * (1 + 1e-9)) /* rounding shall not choose among equals */
                largest = loading;
        }
        if (largest >= 0)
            continue;
        for (size_t j = 0; j < c->x.columns; j++) {
            c->x_loadings[j * count + k] *= -1;
            c->x_coefficients[j * count + k] *= -1;
        }
        for (size_t j = 0; j < c->y.columns; j++) {
            c->y_loadings[j * count + k] *= -1;
            c->y_coefficients[j * count + k] *= -1;
        }
    }
}

/* From both bases and the cosines between them to the result. */
static int solve_cca(struct pythia_cca *c, struct pythia_cca_result *out)
{
    size_t count = c->x.rank < c->y.rank ? c->x.rank : c->y.rank;
    int status = pythia__basis_svd(c->cosines, c->x.rank, c->y.rank, c->r, c->u, c->v, c->work);
    if (status != PYTHIA_OK)
        return status;
    pythia__basis_coefficients(&c->x, c->u, count, c->x_coefficients);
    pythia__basis_coefficients(&c->y, c->v, count, c->y_coefficients);
    pythia__basis_loadings(&c->x, c->u, count, c->x_loadings);
    pythia__basis_loadings(&c->y, c->v, count, c->y_loadings);
    /* A pair of variates may be turned as a whole: without a rule equal input could give opposite
     * signs. */
    fix_signs(c, count);
    *out = (struct pythia_cca_result){.rows = c->x.rows,
                                      .p = c->x.columns,
                                      .q = c->y.columns,
                                      .rank_x = c->x.rank,
                                      .rank_y = c->y.rank,
                                      .count = count,
                                      .r = c->r,
                                      .x_coefficients = c->x_coefficients,
                                      .y_coefficients = c->y_coefficients,
                                      .x_loadings = c->x_loadings,
                                      .y_loadings = c->y_loadings};
    return PYTHIA_OK;
}

int pythia_cca_fit(struct pythia_cca *c, const double *x, size_t p, const double *y, size_t q,
                   size_t n, struct pythia_cca_result *out)
{
    if (n < 1 || n > c->x.rows_max || p < 1 || p > c->p || q < 1 || q > c->q)
        return PYTHIA_EINVAL;
    int status = pythia__basis_fit(&c->x, &(struct pythia__matrix){x, n, p, p, 1}, NULL);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__basis_fit(&c->y, &(struct pythia__matrix){y, n, q, q, 1}, NULL);
    if (status != PYTHIA_OK)
        return status;
    pythia__basis_cross(&c->x, &c->y, NULL, c->cosines);
    return solve_cca(c, out);
}

static struct pythia_cca_statistic f_test(double value, double f, double df1, double df2)
{
    struct pythia_cca_statistic s = {value, NAN, NAN, NAN, NAN};
    if (df1 > 0 && df2 > 0 && !isnan(f)) {
        s.f = f;
        s.df1 = df1;
        s.df2 = df2;
        s.p = isinf(f) ? 0 : gsl_cdf_fdist_Q(f, df1, df2);
    }
    return s;
}

void pythia_cca_test_root(const double *r, size_t count, size_t n, size_t p, size_t q, size_t root,
                          struct pythia_cca_root *out)
{
    double log_lambda = 0;
    for (size_t k = root; k < count; k++)
        log_lambda += log1p(-r[k] * r[k]);
    /* The multiplier belongs to the whole sides, the degrees of freedom to what is left of them. */
    double w = (double)n - 1 - ((double)(p + q) + 1) / 2;
    double a = (double)(p - root), b = (double)(q - root), df1 = a * b;
    double denominator = a * a + b * b - 5;
    double t = denominator > 0 ? sqrt((df1 * df1 - 4) / denominator) : 1;
    double df2 = w * t - df1 / 2 + 1, kept = exp(log_lambda / t);
    out->wilks = f_test(exp(log_lambda), (1 - kept) / kept * df2 / df1, df1, df2);
    out->chi_squared = w > 0 ? -w * log_lambda : NAN;
    out->chi_squared_df = df1;
    out->chi_squared_p = w > 0 ? 0 : NAN;
    if (w > 0 && isfinite(log_lambda))
        out->chi_squared_p = gsl_cdf_chisq_Q(out->chi_squared, df1);
}
