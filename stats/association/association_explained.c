/* How much of the variance of the total, and of each edge, a key accounts for. */
#include <math.h>
#include <string.h>

#include "association_keys.h"
#include "pythia/mem.h"
#include "pythia/shares.h"
#include "pythia/split.h"
#include "pythia/status.h"

/* Regressors that a cut costs: the best of many places is taken. J. Friedman, "Multivariate
 * Adaptive Regression Splines", Annals of Statistics 19(1), 1991, charges 2 to 4 for a knot. */
#define CUT_COST 3

/* R^2 of a total: the sum of squared projections on a basis. */
static double squares_on(struct pythia__keys *run, const struct pythia__basis *x,
                         const struct pythia__basis *total)
{
    double sum = 0;
    pythia__basis_cross(x, total, NULL, run->room.cosines);
    for (size_t k = 0; k < x->rank * total->rank; k++)
        sum += run->room.cosines[k] * run->room.cosines[k];
    return sum;
}

static double adjust_for_regressors(double share, double rows, double regressors)
{
    double rest = rows - regressors;
    return rest > 0 ? fmax(0, 1 - (1 - share) * rows / rest) : 0;
}

static double explain_edges(struct pythia__keys *run, const struct pythia__key *key, double rows)
{
    const struct pythia__basis *y = &run->y;
    double *projections = run->room.cosines, explained = 0;
    pythia__basis_cross(&key->x, y, NULL, projections);
    for (size_t j = 0; j < y->columns; j++) {
        const double *t = y->t + j * y->columns_max;
        double squares = 0, length = 0;
        for (size_t i = 0; i < y->rank; i++)
            length += t[i] * t[i];
        for (size_t k = 0; k < key->x.rank; k++) {
            double sum = 0;
            for (size_t i = 0; i < y->rank; i++)
                sum += projections[k * y->rank + i] * t[i];
            squares += sum * sum;
        }
        /* An edge that the confounders account for entirely has nothing left to explain. */
        if (length > 0)
            explained += run->weights[y->pivot[j]] *
                         adjust_for_regressors(squares / length, rows, (double)key->x.rank);
    }
    return explained;
}

/* Ranks follow any rising function, but bend a straight line where numbers are skewed: of the wait
 * for OpenStack's build semaphore (datasets/openstack, contention) the ranks of queue_length
 * explain 81 %, and queue_length itself 98 %. So a number that all rows have is also taken as it
 * is, clipped as the total is. */
static int explain_by_line(struct pythia__keys *run, const struct pythia__key *key, double *share)
{
    const struct pythia_association_input *in = run->input;
    struct pythia__basis line = {0};
    size_t n = in->rows;
    double *numbers = pythia_calloc(n, sizeof(*numbers));
    int status = numbers ? pythia__basis_init(&line, n, 1) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    memcpy(numbers, in->keys[key->result->column].numbers, n * sizeof(*numbers));
    /* A few huge numbers would decide the slope of the line. */
    (void)pythia_winsorise(numbers, n, PYTHIA__CLIPPED, PYTHIA__CLIPPED);
    status =
        pythia__basis_fit(&line, &(struct pythia__matrix){numbers, n, 1, 1, n}, &run->confounders);
    if (status != PYTHIA_OK)
        goto out;
    *share = squares_on(run, &line, &run->clipped);
out:
    pythia__basis_free(&line);
    pythia_free(numbers);
    return status;
}

int pythia__keys_explain(struct pythia__keys *run, struct pythia__key *key)
{
    struct pythia_association_result *r = key->result;
    double rows = (double)run->input->rows - 1 - (double)run->lost;
    double p = (double)key->x.rank, rest = rows - p, line = 0;
    int status = PYTHIA_OK;
    r->explained_edges = explain_edges(run, key, rows);
    r->explained = adjust_for_regressors(squares_on(run, &key->x, &run->clipped), rows, p);
    if (key->ranked && r->present == run->input->rows)
        status = explain_by_line(run, key, &line);
    r->explained = fmax(r->explained, adjust_for_regressors(line, rows, 1));
    double share = squares_on(run, &key->x, &run->total);
    double noise = rest > 0 ? (1 - share) / rest : NAN;
    r->omega_squared = run->total.rank > 0 ? fmax(0, (share - p * noise) / (1 + noise)) : NAN;
    return status;
}

/* A step bends a straight line as skew does: where the largest of ten values is slow, a line has
 * 27 % of what the step has. */
int pythia__keys_explain_by_cut(struct pythia__keys *run, struct pythia__key *key,
                                const double *scores)
{
    const struct pythia_association_input *in = run->input;
    struct pythia_association_result *r = key->result;
    const struct pythia_column *column = &in->keys[r->column];
    struct pythia__basis step = {0};
    struct pythia_split split = {.share = NAN};
    size_t n = in->rows;
    double *sides = pythia_calloc(n, sizeof(*sides));
    int status = sides ? pythia__basis_init(&step, n, 1) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    status = pythia_split_find(column, scores, n, &split);
    if (status != PYTHIA_OK || isnan(split.share))
        goto out;
    for (size_t i = 0; i < n; i++)
        sides[i] = pythia_split_side(&split, column, i);
    status =
        pythia__basis_fit(&step, &(struct pythia__matrix){sides, n, 1, 1, n}, &run->confounders);
    if (status != PYTHIA_OK)
        goto out;
    /* The rows themselves chose the cut, so that it explains some of any durations: it is charged
     * like more than one regressor. */
    double rows = (double)n - 1 - (double)run->lost;
    r->explained = fmax(
        r->explained, adjust_for_regressors(squares_on(run, &step, &run->clipped), rows, CUT_COST));
out:
    pythia_split_clear(&split);
    pythia__basis_free(&step);
    pythia_free(sides);
    return status;
}
