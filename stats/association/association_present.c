/* One key among the rows that have a value for it. The durations are ranked by themselves there:
 * ranks of all rows would mostly say how these rows differ from those without a value. */
#include <math.h>

#include "association_keys.h"
#include "pythia/mem.h"
#include "pythia/ranks.h"
#include "pythia/status.h"

#define PRESENT_MIN 5 /* rows with a value, for a key to be tested among them */

/* Append the rows of a matrix that have a value (`marks` is not NaN), one column after the other.
 */
static void take_present(const struct pythia__matrix *m, const double *marks, double *to)
{
    for (size_t c = 0; c < m->columns; c++)
        for (size_t i = 0; i < m->rows; i++)
            if (!isnan(marks[i]))
                *to++ = m->values[i * m->row_stride + c * m->column_stride];
}

/* Fit a basis to the present rows of a matrix, ranked by themselves if `ranked`, without the basis
 * `without` of the same rows. `scratch` holds twice as many values. */
static int fit_present(const struct pythia__matrix *m, const double *marks, size_t rows,
                       bool ranked, const struct pythia__basis *without, double *scratch,
                       struct pythia__basis *out)
{
    double *ranks = scratch + rows * m->columns;
    int status = pythia__basis_init(out, rows, m->columns);
    take_present(m, marks, scratch);
    if (status != PYTHIA_OK)
        return status;
    for (size_t c = 0; ranked && c < m->columns; c++) {
        status = pythia_ranks_mid(scratch + c * rows, rows, ranks + c * rows);
        if (status != PYTHIA_OK)
            return status;
    }
    struct pythia__matrix present = {ranked ? ranks : scratch, rows, m->columns, 1, rows};
    return pythia__basis_fit(out, &present, without);
}

static struct pythia__matrix matrix_of(const struct pythia__basis *b)
{
    return (struct pythia__matrix){b->q, b->rows, b->rank, b->rank, 1};
}

/* Fit a basis to the present rows of the confounders and of other keys. */
static int fit_others(const struct pythia__basis *confounders, const struct pythia__basis *others,
                      const double *marks, size_t rows, double *scratch, struct pythia__basis *out)
{
    struct pythia__matrix a = matrix_of(confounders), b = matrix_of(others);
    struct pythia__matrix all = {scratch, rows, a.columns + b.columns, 1, rows};
    if (all.columns == 0)
        return PYTHIA_OK;
    take_present(&a, marks, scratch);
    take_present(&b, marks, scratch + rows * a.columns);
    int status = pythia__basis_init(out, rows, all.columns);
    if (status != PYTHIA_OK)
        return status;
    return pythia__basis_fit(out, &all, NULL);
}

/* For each row a number that is NaN where the column has no value. */
static void mark_present(const struct pythia_column *c, size_t n, double *marks)
{
    for (size_t i = 0; i < n; i++)
        if (c->categorical)
            marks[i] = c->levels[i] < c->level_count ? 1 : NAN;
        else
            marks[i] = isfinite(c->numbers[i]) ? c->numbers[i] : NAN;
}

int pythia__keys_p_where_present(struct pythia__keys *run, const struct pythia__key *key,
                                 const struct pythia__basis *others, double *p)
{
    static const struct pythia__basis none;
    const struct pythia_association_input *in = run->input;
    const struct pythia_column column = pythia_association_column(in, key->result);
    struct pythia__basis x = {0}, y = {0}, without = {0};
    others = others ? others : &none;
    size_t n = in->rows, rows = key->result->present, taken = run->confounders.rank + others->rank;
    /* With too few rows, or nothing left to vary, the key stays untested here: 1 adds no
     * evidence. */
    *p = 1;
    if (rows < PRESENT_MIN)
        return PYTHIA_OK;
    size_t widest = 2 * (in->edges > key->x.rank ? in->edges : key->x.rank) + taken;
    double *marks = pythia_calloc(n, sizeof(*marks)),
           *scratch = pythia_calloc(rows, widest * sizeof(*scratch));
    int status = marks && scratch ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    mark_present(&column, n, marks);
    struct pythia__matrix durations = {in->durations, n, in->edges, 1, n},
                          numbers = {marks, n, 1, 1, n}, levels = matrix_of(&key->x);
    status = fit_others(&run->confounders, others, marks, rows, scratch, &without);
    if (status != PYTHIA_OK)
        goto out;
    status = fit_present(&durations, marks, rows, true, &without, scratch, &y);
    if (status != PYTHIA_OK)
        goto out;
    status = fit_present(column.categorical ? &levels : &numbers, marks, rows, !column.categorical,
                         &without, scratch, &x);
    if (status != PYTHIA_OK)
        goto out;
    if (x.rank > 0 && y.rank > 0)
        *p = pythia__keys_p(run, &x, &y, rows,
                            /* pythia__keys_p subtracts run->lost, the degrees of freedom of the
                             * confounders, by itself; only those beyond are given here. */
                            without.rank > run->lost ? without.rank - run->lost : 0);
out:
    pythia__basis_free(&x);
    pythia__basis_free(&y);
    pythia__basis_free(&without);
    pythia_free(marks);
    pythia_free(scratch);
    return status;
}
