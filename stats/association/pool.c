#include "pythia/pool.h"

#include <math.h>

#include "pythia/column.h"
#include "pythia/mem.h"
#include "pythia/ranks.h"
#include "pythia/split.h"
#include "pythia/status.h"

/* The levels of the rows, and sums over the rows of each level. */
struct pooling {
    const uint32_t *levels;
    uint32_t level_count;
    size_t n;
    double *sums, *counts; /* [level_count] */
};

/* The mean of a response over the other rows with the same value, of each row; NaN where there are
 * none. */
static void find_means_of_others(struct pooling *p, const double *response, double *means)
{
    for (uint32_t k = 0; k < p->level_count; k++)
        p->sums[k] = p->counts[k] = 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->levels[i] < p->level_count) {
            p->sums[p->levels[i]] += response[i];
            p->counts[p->levels[i]]++;
        }
    for (size_t i = 0; i < p->n; i++) {
        uint32_t k = p->levels[i];
        means[i] = k < p->level_count && p->counts[k] > 1
                       ? (p->sums[k] - response[i]) / (p->counts[k] - 1)
                       : NAN;
    }
}

static bool are_rows_enough(const struct pooling *p, const double *means)
{
    size_t sharing = 0, present = 0;
    for (size_t i = 0; i < p->n; i++) {
        present += p->levels[i] < p->level_count;
        sharing += isnan(means[i]) ? 0 : 1;
    }
    return sharing >= PYTHIA_POOL_ROWS_MIN && 2 * sharing >= present;
}

/* Are the rows of a value close to each other in time? */
static bool belongs_to_time(const struct pooling *p, const double *times, const double *means,
                            double *scratch)
{
    size_t count = 0;
    for (size_t i = 0; i < p->n; i++)
        if (!isnan(means[i])) {
            scratch[count] = means[i];
            scratch[p->n + count++] = times[i];
        }
    double r = pythia_ranks_pearson(scratch, scratch + p->n, count);
    return r >= PYTHIA_POOL_TIME_MAX;
}

/* Set the sides by the best cut, if there is one between which enough of the variance lies. */
static int take_sides(struct pooling *p, const double *totals, const double *means,
                      struct pythia_pool *out)
{
    struct pythia_split split = {.share = NAN};
    const struct pythia_column column = {.numbers = means};
    int status = pythia_split_find(&column, totals, p->n, &split);
    if (status != PYTHIA_OK)
        return status;
    out->found = !split.by_absence && split.above && split.share >= PYTHIA_POOL_SHARE_MIN;
    for (size_t i = 0; i < p->n; i++)
        out->sides[i] = means[i] > split.cut;
    for (uint32_t k = 0; k < p->level_count; k++)
        out->slow[k] = p->counts[k] > 1 && p->sums[k] / p->counts[k] > split.cut;
    pythia_split_clear(&split);
    return PYTHIA_OK;
}

int pythia_pool_find(const uint32_t *levels, uint32_t level_count, size_t n, const double *totals,
                     const double *times, struct pythia_pool *out)
{
    struct pythia_pool pool = {.found = false};
    struct pooling p = {.levels = levels, .level_count = level_count, .n = n};
    p.sums = pythia_calloc((size_t)level_count + 1, 2 * sizeof(*p.sums));
    double *means = pythia_calloc(n + 1, 3 * sizeof(*means));
    pool.sides = pythia_calloc(n + 1, sizeof(*pool.sides));
    pool.slow = pythia_calloc((size_t)level_count + 1, sizeof(*pool.slow));
    int status = p.sums && means && pool.sides && pool.slow ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    p.counts = p.sums + level_count;
    find_means_of_others(&p, times, means);
    if (!are_rows_enough(&p, means) || belongs_to_time(&p, times, means, means + n))
        goto out;
    find_means_of_others(&p, totals, means);
    status = take_sides(&p, totals, means, &pool);
out:
    pythia_free(p.sums);
    pythia_free(means);
    if (status != PYTHIA_OK)
        pythia_pool_clear(&pool);
    else
        *out = pool;
    return status;
}

void pythia_pool_clear(struct pythia_pool *p)
{
    pythia_free(p->sides);
    pythia_free(p->slow);
    *p = (struct pythia_pool){.found = false};
}
