#include "pythia/column.h"

#include <math.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/ranks.h"
#include "pythia/status.h"

#define MANY_LEVELS  0.2   /* of the rows present */
#define RARE_LEVELS  0.5   /* of the rows present */
#define FOLLOWS      0.9   /* rank correlation of a sequence with time */
#define FOLLOWS_FULL 0.999 /* the same where the numbers are not whole */

const char *pythia_column_skip_text(enum pythia_column_skip skip)
{
    static const char *const texts[] = {
        [PYTHIA_COLUMN_USED] = "",
        [PYTHIA_COLUMN_CONSTANT] = "constant",
        [PYTHIA_COLUMN_TOO_FEW] = "present in too few requests",
        [PYTHIA_COLUMN_MANY_LEVELS] = "identifier: fewer than five requests to a value",
        [PYTHIA_COLUMN_RARE_LEVELS] = "identifier: a rare value in most requests",
        [PYTHIA_COLUMN_SEQUENCE] = "identifier: a number that only counts up or down with time",
        [PYTHIA_COLUMN_ID] = "identifier: a different number in nearly every request",
        [PYTHIA_COLUMN_CONFOUNDER] = "a confounder, taken out of all others",
        [PYTHIA_COLUMN_CONFOUNDED] = "follows from the confounders",
    };
    return texts[skip];
}

bool pythia_rests_on_few(size_t support, size_t rows)
{
    return support < PYTHIA_COLUMN_LEVEL_MIN && 10 * support < rows;
}

/* The different values behind average ranks of `n` of them, and how many have the most common one:
 * two equal values have one rank, and twice a rank is a whole number of at most 2n. */
static int count_distinct(const double *ranks, size_t n, size_t *distinct, size_t *most)
{
    size_t *counts = pythia_calloc(2 * n + 1, sizeof(*counts));
    if (!counts)
        return PYTHIA_ENOMEM;
    *distinct = *most = 0;
    for (size_t i = 0; i < n; i++) {
        size_t count = ++counts[(size_t)(2 * ranks[i])];
        *distinct += count == 1;
        *most = count > *most ? count : *most;
    }
    pythia_free(counts);
    return PYTHIA_OK;
}

/* The present numbers, in the order of their rows, with the rows' places in time beside them. */
struct numbers {
    double *values, *ranks, *places; /* count each */
    size_t count;
    bool whole;
};

static int collect_numbers(const struct pythia_column *c, size_t n, const double *places,
                           struct numbers *out)
{
    out->values = pythia_calloc(n, 3 * sizeof(*out->values));
    if (!out->values)
        return PYTHIA_ENOMEM;
    out->ranks = out->values + n;
    out->places = out->ranks + n;
    out->whole = true;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(c->numbers[i]))
            continue;
        /* Whole numbers may be counts or codes, and are judged differently (judge_numbers). */
        out->whole = out->whole && c->numbers[i] == floor(c->numbers[i]);
        out->places[out->count] = places ? places[i] : 0;
        out->values[out->count++] = c->numbers[i];
    }
    return pythia_ranks_mid(out->values, out->count, out->ranks);
}

static enum pythia_column_skip judge_numbers(const struct pythia_column *c, const struct numbers *x,
                                             size_t distinct, size_t missing)
{
    if (x->count < PYTHIA_COLUMN_PRESENT_MIN)
        return PYTHIA_COLUMN_TOO_FEW;
    if (distinct == 1 && missing < PYTHIA_COLUMN_LEVEL_MIN)
        return PYTHIA_COLUMN_CONSTANT;
    if ((double)distinct < PYTHIA_COLUMN_MOSTLY * (double)x->count)
        return PYTHIA_COLUMN_USED;
    if (c->looks_like_id && x->whole)
        return PYTHIA_COLUMN_ID;
    /* Without a time all places are the same, and the correlation is NaN. */
    double follows = fabs(pythia_ranks_pearson(x->ranks, x->places, x->count));
    if (follows >= (x->whole ? FOLLOWS : FOLLOWS_FULL))
        return PYTHIA_COLUMN_SEQUENCE;
    return PYTHIA_COLUMN_USED;
}

static int encode_numbers(const struct pythia_column *c, size_t n, const double *places,
                          struct pythia_column_code *code)
{
    struct numbers x = {0};
    size_t most = 0;
    int status = collect_numbers(c, n, places, &x);
    if (status != PYTHIA_OK)
        goto out;
    status = count_distinct(x.ranks, x.count, &code->distinct, &most);
    if (status != PYTHIA_OK)
        goto out;
    size_t missing = n - x.count;
    code->support = n - (missing > most ? missing : most);
    code->present = x.count;
    code->skip = judge_numbers(c, &x, code->distinct, missing);
    if (code->skip != PYTHIA_COLUMN_USED)
        goto out;
    bool varies = code->distinct > 1;
    bool absent = missing >= PYTHIA_COLUMN_LEVEL_MIN && !(varies && c->present_only);
    code->columns = (size_t)varies + (size_t)absent;
    code->values = pythia_calloc(n, code->columns * sizeof(*code->values));
    if (!code->values) {
        status = PYTHIA_ENOMEM;
        goto out;
    }
    double *indicator = code->values + (varies ? n : 0);
    for (size_t i = 0, k = 0; i < n; i++) {
        bool present = isfinite(c->numbers[i]);
        if (varies)
            /* A missing number takes the mean rank, which has no effect on the slope; whether
             * absence matters is what the indicator column measures. */
            code->values[i] = present ? x.ranks[k] : ((double)x.count + 1) / 2;
        if (absent)
            indicator[i] = !present;
        k += present;
    }
out:
    pythia_free(x.values);
    return status;
}

/* Instead of a regressor: the level that all others are held against, and the pool of rare ones. */
#define REFERENCE SIZE_MAX
#define POOL      (SIZE_MAX - 1)

struct levels {
    size_t *rows;      /* of each level, and of missing in the last place */
    size_t *regressor; /* of each level, and of missing */
    size_t count;      /* level_count + 1 */
    size_t pooled;     /* rows of the levels in the pool */
    size_t present, distinct;
};

static int count_column_levels(const struct pythia_column *c, size_t n, struct levels *l)
{
    l->count = (size_t)c->level_count + 1;
    l->rows = pythia_calloc(l->count, sizeof(*l->rows));
    l->regressor = pythia_calloc(l->count, sizeof(*l->regressor));
    if (!l->rows || !l->regressor)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < n; i++)
        l->rows[c->levels[i] < c->level_count ? c->levels[i] : c->level_count]++;
    for (uint32_t k = 0; k < c->level_count; k++) {
        l->distinct += l->rows[k] > 0;
        l->present += l->rows[k];
        l->pooled += l->rows[k] < PYTHIA_COLUMN_LEVEL_MIN ? l->rows[k] : 0;
    }
    return PYTHIA_OK;
}

enum pythia_column_skip pythia_column_judge_identifier(size_t levels, size_t rare, size_t present)
{
    if ((double)levels > MANY_LEVELS * (double)present)
        return PYTHIA_COLUMN_MANY_LEVELS;
    if ((double)rare > RARE_LEVELS * (double)present)
        return PYTHIA_COLUMN_RARE_LEVELS;
    return PYTHIA_COLUMN_USED;
}

static enum pythia_column_skip judge_levels(const struct levels *l, size_t missing)
{
    if (l->present < PYTHIA_COLUMN_PRESENT_MIN)
        return PYTHIA_COLUMN_TOO_FEW;
    if (l->distinct == 1 && missing < PYTHIA_COLUMN_LEVEL_MIN)
        return PYTHIA_COLUMN_CONSTANT;
    return pythia_column_judge_identifier(l->distinct, l->pooled, l->present);
}

/* Give each of the first `count` levels its regressor. Returns how many regressors there are. */
static size_t assign_regressors(struct levels *l, size_t count)
{
    size_t frequent = 0, next = 0, pooled = 0;
    for (size_t k = 1; k < count; k++)
        if (l->rows[k] > l->rows[frequent])
            frequent = k;
    for (size_t k = 0; k < count; k++) {
        bool rare = l->rows[k] < PYTHIA_COLUMN_LEVEL_MIN;
        pooled += rare ? l->rows[k] : 0;
        l->regressor[k] = k == frequent ? REFERENCE : rare ? POOL : next++;
    }
    /* Rare levels share a regressor; if even together they are rare, they are part of the
     * reference. */
    size_t pool = pooled < PYTHIA_COLUMN_LEVEL_MIN ? REFERENCE : next++;
    for (size_t k = 0; k < count; k++)
        if (l->regressor[k] == POOL)
            l->regressor[k] = pool;
    return next;
}

/* Rows without a value get the mean of the others in each column. */
static void center_missing(const struct pythia_column *c, size_t n, size_t present,
                           struct pythia_column_code *code)
{
    for (size_t j = 0; j < code->columns; j++) {
        double *column = code->values + j * n, sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += column[i];
        for (size_t i = 0; i < n; i++)
            if (c->levels[i] >= c->level_count)
                column[i] = sum / (double)present;
    }
}

static int encode_levels(const struct pythia_column *c, size_t n, struct pythia_column_code *code)
{
    struct levels l = {0};
    int status = count_column_levels(c, n, &l);
    if (status != PYTHIA_OK)
        goto out;
    code->present = l.present;
    code->distinct = l.distinct;
    code->support = n;
    for (size_t k = 0; k < l.count; k++)
        code->support = n - l.rows[k] < code->support ? n - l.rows[k] : code->support;
    code->skip = judge_levels(&l, n - l.present);
    if (code->skip != PYTHIA_COLUMN_USED)
        goto out;
    bool present_only = c->present_only && l.distinct > 1;
    if (present_only)
        l.regressor[c->level_count] = REFERENCE;
    code->columns = assign_regressors(&l, present_only ? c->level_count : l.count);
    if (code->columns == 0) { /* one level, and a handful of others */
        code->skip = PYTHIA_COLUMN_CONSTANT;
        goto out;
    }
    code->values = pythia_calloc(n, code->columns * sizeof(*code->values));
    if (!code->values) {
        status = PYTHIA_ENOMEM;
        goto out;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t level = c->levels[i] < c->level_count ? c->levels[i] : c->level_count;
        if (l.regressor[level] != REFERENCE)
            code->values[l.regressor[level] * n + i] = 1;
    }
    if (present_only)
        center_missing(c, n, l.present, code);
out:
    pythia_free(l.rows);
    pythia_free(l.regressor);
    return status;
}

int pythia_column_encode(const struct pythia_column *column, size_t n, const double *places,
                         struct pythia_column_code *out)
{
    struct pythia_column_code code = {.rows = n};
    int status = column->categorical ? encode_levels(column, n, &code)
                                     : encode_numbers(column, n, places, &code);
    if (status != PYTHIA_OK)
        return status;
    *out = code;
    return PYTHIA_OK;
}

void pythia_column_code_clear(struct pythia_column_code *code)
{
    pythia_free(code->values);
    *code = (struct pythia_column_code){0};
}
