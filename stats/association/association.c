/* All keys are tested against the same ranks of edges, so confounders are taken out of both once.
 * Relating and confirming cost far more and follow only for significant keys. */
#include "pythia/association.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "association_keys.h"
#include "pythia/cca.h"
#include "pythia/gate.h"
#include "pythia/mem.h"
#include "pythia/ranks.h"
#include "pythia/shares.h"
#include "pythia/status.h"

#define FEW_ROWS 5 /* rows to a variable: with fewer, correlations are shrunk */
/* Rows to a variable, with fewer of which a key is tested with the total as well. So many edges
 * for so few rows hide a key that goes with the total: with five levels, 7 to 13 edges and 50
 * rows, one that explained 99.9 % had a p of .02 to .08 (pythia evaluate --problem categorical). */
#define TOTAL_ROWS   10
#define PERMUTATIONS 999 /* for a key without degrees of freedom, if the input asks for none */
#define AHEAD        .1  /* of the variance, by which levels have to explain more than numbers */

struct pythia_association {
    struct pythia_association_result *results; /* count, best first */
    size_t count;
};

int pythia_association_create(struct pythia_association **out)
{
    struct pythia_association *a = pythia_calloc(1, sizeof(*a));
    if (!a)
        return PYTHIA_ENOMEM;
    *out = a;
    return PYTHIA_OK;
}

static void clear_results(struct pythia_association *a)
{
    for (size_t i = 0; i < a->count; i++)
        pythia_split_clear(&a->results[i].split);
    pythia_free(a->results);
    a->results = NULL;
    a->count = 0;
}

void pythia_association_destroy(struct pythia_association *a)
{
    if (!a)
        return;
    clear_results(a);
    pythia_free(a);
}

const struct pythia_association_result *
pythia_association_results(const struct pythia_association *a, size_t *count)
{
    *count = a->count;
    return a->results;
}

static bool are_totals_finite(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

static bool is_association_valid(const struct pythia_association_input *in)
{
    if (in->rows == 0 || in->edges == 0 || in->edges > PYTHIA_ASSOCIATION_EDGES_MAX)
        return false;
    if (!(in->alpha > 0 && in->alpha < 1) || (in->block > 1 && (!in->time || in->strata)))
        return false;
    return are_totals_finite(in->durations, in->rows * in->edges) &&
           (!in->total || are_totals_finite(in->total, in->rows)) &&
           (!in->time || are_totals_finite(in->time, in->rows));
}

/* Append the code of one confounder to the columns so far. */
static int append_confounder(const struct pythia_column *column, size_t n, double **values,
                             size_t *columns)
{
    struct pythia_column_code code = {0};
    /* Without places in time: a clock may be a confounder. */
    int status = pythia_column_encode(column, n, NULL, &code);
    if (status != PYTHIA_OK)
        return status;
    double *more = pythia_realloc(*values, *columns + code.columns, n * sizeof(**values));
    if (!more) {
        status = PYTHIA_ENOMEM;
        goto out;
    }
    *values = more;
    if (code.columns > 0)
        memcpy(more + *columns * n, code.values, code.columns * n * sizeof(*more));
    *columns += code.columns;
out:
    pythia_column_code_clear(&code);
    return status;
}

/* Encode all confounders and make one basis of them: they are taken out of every key at once. */
static int take_confounders(struct pythia__keys *run)
{
    const struct pythia_association_input *in = run->input;
    size_t n = in->rows, columns = 0;
    double *values = NULL;
    int status = PYTHIA_OK;
    for (size_t k = 0; k < in->columns; k++) {
        if (!in->keys[k].confounder)
            continue;
        status = append_confounder(&in->keys[k], n, &values, &columns);
        if (status != PYTHIA_OK)
            goto out;
    }
    /* An empty basis takes nothing out, and costs nothing in every test. */
    if (columns == 0)
        goto out;
    status = pythia__basis_init(&run->confounders, n, columns);
    if (status != PYTHIA_OK)
        goto out;
    struct pythia__matrix m = {values, n, columns, 1, n};
    status = pythia__basis_fit(&run->confounders, &m, NULL);
    /* Every later test has that many degrees of freedom fewer. */
    run->lost = run->confounders.rank;
out:
    pythia_free(values);
    return status;
}

static int fit_one(struct pythia__keys *run, const double *column, struct pythia__basis *out)
{
    size_t n = run->input->rows;
    int status = pythia__basis_init(out, n, 1);
    if (status != PYTHIA_OK)
        return status;
    return pythia__basis_fit(out, &(struct pythia__matrix){column, n, 1, 1, n}, &run->confounders);
}

/* The ranks of the edges and of the total, and the total clipped: an outlier must not decide what
 * keys account for, and ranks would make nothing of a few requests that take very much longer. */
static int take_durations(struct pythia__keys *run, const double *total)
{
    const struct pythia_association_input *in = run->input;
    size_t n = in->rows, q = in->edges;
    double *ranks = pythia_calloc(n, (q + 2) * sizeof(*ranks));
    if (!ranks)
        return PYTHIA_ENOMEM;
    /* Shares of the total are of clipped time, tests are of ranks. */
    double *clipped = ranks + (q + 1) * n;
    int status = PYTHIA_OK;
    for (size_t e = 0; e <= q; e++) {
        status = pythia_ranks_mid(e < q ? in->durations + e * n : total, n, ranks + e * n);
        if (status != PYTHIA_OK)
            goto out;
    }
    status = pythia__basis_init(&run->y, n, q);
    if (status != PYTHIA_OK)
        goto out;
    status =
        pythia__basis_fit(&run->y, &(struct pythia__matrix){ranks, n, q, 1, n}, &run->confounders);
    if (status != PYTHIA_OK)
        goto out;
    status = fit_one(run, ranks + q * n, &run->total);
    if (status != PYTHIA_OK)
        goto out;
    memcpy(clipped, total, n * sizeof(*clipped));
    (void)pythia_winsorise(clipped, n, PYTHIA__CLIPPED, PYTHIA__CLIPPED);
    status = fit_one(run, clipped, &run->clipped);
out:
    pythia_free(ranks);
    return status;
}

static void take_weights(struct pythia__keys *run)
{
    const struct pythia_association_input *in = run->input;
    double sum = 0;
    for (size_t e = 0; e < in->edges && in->weights; e++) {
        run->weights[e] = fmax(in->weights[e], 0);
        sum += run->weights[e];
    }
    for (size_t e = 0; e < in->edges; e++)
        run->weights[e] = sum > 0 ? run->weights[e] / sum : 1 / (double)in->edges;
}

/* Make the basis of a key; one of which the confounders leave nothing is not tested. */
static int take_key(struct pythia__keys *run, const struct pythia_column *column,
                    const struct pythia_column_code *code, struct pythia_association_result *r)
{
    size_t n = run->input->rows;
    struct pythia__key *key = &run->keys[run->count];
    struct pythia__matrix m = {code->values, n, code->columns, 1, n};
    run->count++;
    key->result = r;
    key->ranked = !column->categorical && code->distinct > 1;
    key->partly = column->present_only && code->distinct > 1 && code->present < n;
    int status = pythia__basis_init(&key->x, n, code->columns);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__basis_fit(&key->x, &m, &run->confounders);
    if (status != PYTHIA_OK)
        return status;
    r->regressors = key->x.rank;
    /* The confounders account for all of it: to test what is left would be to test rounding. */
    if (key->x.rank == 0) {
        r->skip = PYTHIA_COLUMN_CONFOUNDED;
        pythia__basis_free(&key->x);
        run->count--;
    } else if (code->columns > run->widest) {
        run->widest = code->columns;
    }
    return PYTHIA_OK;
}

/* The basis of a number's levels, if it has some that can be tested: two regressors at least, or
 * they say what the ranks say. */
static int take_levels(struct pythia__keys *run, const struct pythia_column *column)
{
    struct pythia__key *key = &run->keys[run->count - 1];
    struct pythia_column levels = *column;
    struct pythia_column_code code = {0};
    levels.categorical = true;
    int status = pythia_column_encode(&levels, run->input->rows, NULL, &code);
    if (status != PYTHIA_OK)
        return status;
    struct pythia__matrix m = {code.values, run->input->rows, code.columns, 1, run->input->rows};
    if (code.skip != PYTHIA_COLUMN_USED || code.columns < 2)
        goto out;
    status = pythia__basis_init(&key->levels, run->input->rows, code.columns);
    if (status != PYTHIA_OK)
        goto out;
    status = pythia__basis_fit(&key->levels, &m, &run->confounders);
    if (code.columns > run->widest)
        run->widest = code.columns;
out:
    pythia_column_code_clear(&code);
    return status;
}

/* Encode the keys that are to be tested, and give all results what is known before. */
static int take_keys(struct pythia__keys *run, const double *places,
                     struct pythia_association_result *results)
{
    const struct pythia_association_input *in = run->input;
    run->keys = pythia_calloc(in->columns, sizeof(*run->keys));
    if (!run->keys)
        return PYTHIA_ENOMEM;
    for (size_t k = 0; k < in->columns; k++) {
        const struct pythia_column *column = &in->keys[k];
        struct pythia_association_result *r = &results[k];
        struct pythia_column_code code = {0};
        int status =
            pythia_column_encode(column, in->rows, column->confounder ? NULL : places, &code);
        /* The code is of this call only; the basis holds what is needed of it. */
        if (status != PYTHIA_OK)
            return status;
        r->skip = column->confounder ? PYTHIA_COLUMN_CONFOUNDER : code.skip;
        r->present = code.present;
        r->support = code.support;
        r->few = pythia_rests_on_few(code.support, in->rows);
        if (r->skip == PYTHIA_COLUMN_USED)
            status = take_key(run, column, &code, r);
        bool both = r->skip == PYTHIA_COLUMN_USED && !column->categorical && column->levels;
        if (status == PYTHIA_OK && both)
            status = take_levels(run, column);
        pythia_column_code_clear(&code);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

static int allocate_association(struct pythia__keys *run)
{
    size_t wide = run->widest, square = wide * wide;
    double *memory =
        pythia_calloc(3 * square + wide + pythia__basis_svd_work(wide, wide), sizeof(*memory));
    if (!memory)
        return PYTHIA_ENOMEM;
    run->room = (struct pythia__room){.cosines = memory,
                                      .u = memory + square,
                                      .v = memory + 2 * square,
                                      .r = memory + 3 * square,
                                      .work = memory + 3 * square + wide};
    return PYTHIA_OK;
}

/* The first variate of the edges, its loadings and its sign: from the first regressor of a number,
 * its ranks; of levels and absence so that more time is positive. */
static void set_variate(struct pythia__keys *run, struct pythia__key *key)
{
    struct pythia_association_result *r = key->result;
    const struct pythia__basis *x = pythia__key_x(key), *y = pythia__key_y(run, key);
    size_t count = x->rank < y->rank ? x->rank : y->rank;
    double *u = run->room.work, sign = 0;
    for (size_t i = 0; i < y->rank; i++)
        key->variate[i] = run->room.v[i * count];
    pythia__basis_loadings(y, key->variate, 1, r->loadings);
    /* A number has a direction, and its loadings follow it; levels have none, and are turned so
     * that more time is positive. */
    if (!key->ranked) {
        for (size_t e = 0; e < y->columns; e++)
            sign += r->loadings[e];
    } else {
        for (size_t i = 0; i < x->rank; i++)
            u[i] = run->room.u[i * count];
        pythia__basis_loadings(x, u, 1, run->room.cosines);
        sign = run->room.cosines[0];
    }
    for (size_t e = 0; e < y->columns && sign < 0; e++)
        r->loadings[e] *= -1;
    for (size_t i = 0; i < y->rank && sign < 0; i++)
        key->variate[i] *= -1;
}

/* How each row stands on the edges that a key has to do with: they are weighed by that, because
 * noise of the others would blur a cut. */
static void score_rows(const struct pythia__keys *run, const struct pythia__key *key,
                       double *scores)
{
    const struct pythia__basis *y = pythia__key_y(run, key);
    for (size_t i = 0; i < run->input->rows; i++) {
        scores[i] = 0;
        for (size_t j = 0; j < y->rank; j++)
            scores[i] += y->q[i * y->rank + j] * key->variate[j];
    }
}

/* Once its variate is known: the cut is the one that the key is named with. */
static int explain_by_cut(struct pythia__keys *run, struct pythia__key *key)
{
    if (!key->ranked || key->result->present < run->input->rows)
        return PYTHIA_OK;
    double *scores = pythia_calloc(run->input->rows, sizeof(*scores));
    if (!scores)
        return PYTHIA_ENOMEM;
    score_rows(run, key, scores);
    int status = pythia__keys_explain_by_cut(run, key, scores);
    pythia_free(scores);
    return status;
}

/* Test one key in one way. */
static int test_one_way(struct pythia__keys *run, struct pythia__key *key)
{
    struct pythia_association_result *r = key->result;
    const struct pythia__basis *x = &key->x, *y = &run->y;
    size_t n = run->input->rows - run->lost, variables = x->rank + y->rank;
    if (y->rank == 0 || run->input->rows <= run->lost + 1)
        return PYTHIA_OK; /* nothing varies, or nothing is left: p stays NaN */
    int status = pythia__keys_explain(run, key);
    if (status != PYTHIA_OK)
        return status;
    key->with_total = TOTAL_ROWS * variables > n;
    /* First, because the variate is that of the correlations found last. */
    double of_total =
        key->with_total ? pythia__keys_p(run, x, &run->total, run->input->rows, 0) : NAN;
    status = pythia__keys_correlate(run, x, y);
    if (status != PYTHIA_OK)
        return status;
    struct pythia_cca_root t;
    pythia_cca_test_root(run->room.r, x->rank < y->rank ? x->rank : y->rank, n, x->rank, y->rank, 0,
                         &t);
    r->p = t.wilks.p;
    r->p_bartlett = t.chi_squared_p;
    if (key->with_total && !isnan(r->p))
        r->p = pythia__join_p(r->p, of_total);
    r->low_confidence = FEW_ROWS * variables > n;
    if (r->low_confidence) {
        status = pythia__keys_shrink(&key->x, &run->y, &key->shrunk_x, &key->shrunk_y);
        if (status != PYTHIA_OK)
            return status;
        status = pythia__keys_correlate(run, &key->shrunk_x, &key->shrunk_y);
        if (status != PYTHIA_OK)
            return status;
    }
    double regressors = (double)variables - 1, rows = (double)n - 1;
    r->r = run->room.r[0];
    if (rows > regressors)
        r->effect = fmax(0, 1 - (1 - r->r * r->r) * rows / (rows - regressors));
    set_variate(run, key);
    status = explain_by_cut(run, key);
    if (status != PYTHIA_OK)
        return status;
    if (key->partly) {
        r->p_bartlett = NAN;
        status = pythia__keys_p_where_present(run, key, NULL, &r->p);
        if (status != PYTHIA_OK)
            return status;
    }
    if (isnan(r->p)) {
        size_t permutations =
            run->input->permutations > 0 ? run->input->permutations : PERMUTATIONS;
        status = pythia__keys_permutation_p(run, key, permutations, &r->p);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

/* How much more of the variance of `scores` lies between the best set of levels and the others than
 * between numbers above and below a cut. */
static int compare_cuts(const struct pythia_column *column, const double *scores, size_t n,
                        double *more)
{
    struct pythia_column levels = *column;
    struct pythia_split by_numbers = {0}, by_levels = {0};
    levels.categorical = true;
    int status = pythia_split_find(column, scores, n, &by_numbers);
    if (status == PYTHIA_OK)
        status = pythia_split_find(&levels, scores, n, &by_levels);
    if (status == PYTHIA_OK)
        *more = fmax(by_levels.share, 0) - fmax(by_numbers.share, 0); /* NaN gives way */
    pythia_split_clear(&by_numbers);
    pythia_split_clear(&by_levels);
    return status;
}

/* Does a key stand as levels rather than as numbers? They have to say more, and what they say must
 * not be said by a cut nearly as well, which is what a reader expects of numbers. */
static int stands_as_levels(struct pythia__keys *run, const struct pythia__key *numbers,
                            const struct pythia__key *levels, bool *stands)
{
    const struct pythia_association_result *a = numbers->result, *b = levels->result;
    double more = 0;
    *stands = false;
    if (!(b->p <= a->p) ||
        fmax(b->explained - a->explained, b->explained_edges - a->explained_edges) < AHEAD)
        return PYTHIA_OK;
    size_t n = run->input->rows;
    const struct pythia_column *column = &run->input->keys[a->column];
    double *scores = pythia_calloc(n, sizeof(*scores));
    if (!scores)
        return PYTHIA_ENOMEM;
    score_rows(run, levels, scores);
    int status = compare_cuts(column, scores, n, &more);
    /* Scores are of ranks, in which values that are fast by the same may be far apart. */
    if (status == PYTHIA_OK && more < AHEAD && run->clipped.rank > 0)
        status = compare_cuts(column, run->clipped.q, n, &more);
    *stands = status == PYTHIA_OK && more >= AHEAD;
    pythia_free(scores);
    return status;
}

/* Test a number also as levels, and let the key stand in the way that says more. */
static int test_both_ways(struct pythia__keys *run, struct pythia__key *key)
{
    struct pythia_association_result *r = key->result, of_levels = *r;
    struct pythia__key levels = {
        .x = key->levels, .partly = key->partly, .two_ways = true, .result = &of_levels};
    bool stands = false;
    key->levels = (struct pythia__basis){0};
    key->two_ways = true;
    of_levels.categorical = true;
    of_levels.regressors = levels.x.rank;
    int status = test_one_way(run, key);
    if (status != PYTHIA_OK)
        goto out;
    status = test_one_way(run, &levels);
    if (status != PYTHIA_OK)
        goto out;
    double p = pythia__join_p(r->p, of_levels.p);
    status = stands_as_levels(run, key, &levels, &stands);
    if (stands) {
        struct pythia__key numbers = *key;
        *key = levels;
        levels = numbers; /* is freed */
        *r = of_levels;
        key->result = r;
    }
    r->p = p;
out:
    pythia__basis_free(&levels.x);
    pythia__basis_free(&levels.shrunk_x);
    pythia__basis_free(&levels.shrunk_y);
    return status;
}

static int test_key(struct pythia__keys *run, struct pythia__key *key)
{
    return key->levels.rank > 0 ? test_both_ways(run, key) : test_one_way(run, key);
}

/* Find the q values, and which of them are significant. The threshold is the p that the procedure
 * of Benjamini and Hochberg leads to: relations and stability are judged by the same one. */
static int adjust_p_values(struct pythia__keys *run)
{
    double *p = pythia_calloc(run->count, sizeof(*p));
    if (!p)
        return PYTHIA_ENOMEM;
    for (size_t k = 0; k < run->count; k++)
        p[k] = run->keys[k].result->p;
    int status = pythia_gate_benjamini_hochberg(p, run->count, p);
    if (status != PYTHIA_OK)
        goto out;
    size_t tested = 0, significant = 0;
    for (size_t k = 0; k < run->count; k++) {
        struct pythia_association_result *r = run->keys[k].result;
        r->q = p[k];
        r->significant = r->q <= run->input->alpha;
        tested += isnan(r->q) ? 0 : 1;
        significant += r->significant ? 1 : 0;
    }
    /* alpha * significant / tested is the largest p that the procedure accepts. */
    run->threshold = tested > 0 ? run->input->alpha * (double)significant / (double)tested : NAN;
out:
    pythia_free(p);
    return status;
}

/* To 30 bits: linear algebra rounds in other ways on other processors, and what is equal but for
 * that must not be in another order there. */
static double round_to_30_bits(double number)
{
    int exponent;
    double part = frexp(number, &exponent);
    return ldexp(rint(ldexp(part, 30)), exponent - 30);
}

/* Descending; NaN last. */
static int by_size(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    a = round_to_30_bits(a);
    b = round_to_30_bits(b);
    return (a < b) - (a > b);
}

/* The order of the results: significant ones that stand on their own, proxies, tested ones, others.
 * Members of a cluster, which share what they explain up to a little, are brought together
 * afterwards. */
static int compare_results(const void *a, const void *b)
{
    const struct pythia_association_result *x = a, *y = b;
    if (x->significant != y->significant)
        return y->significant - x->significant;
    if (!x->significant && isnan(x->q) != isnan(y->q))
        return isnan(x->q) - isnan(y->q);
    bool x_proxy = x->proxy_of != PYTHIA_ASSOCIATION_NONE;
    bool y_proxy = y->proxy_of != PYTHIA_ASSOCIATION_NONE;
    /* A proxy says nothing that a better key does not say: it comes after all keys that stand on
     * their own. */
    if (x_proxy != y_proxy)
        return x_proxy - y_proxy;
    if (x->significant && x->few != y->few)
        return x->few - y->few;
    int order = x->significant ? by_size(x->explained, y->explained) : 0;
    if (order == 0 && x->significant)
        order = by_size(x->explained_edges, y->explained_edges);
    if (order == 0 && x->significant)
        order = by_size(x->effect, y->effect);
    if (order == 0)
        order = by_size(y->p, x->p);
    return order ? order : (x->column > y->column) - (x->column < y->column);
}

static int compare_key_results(const void *a, const void *b)
{
    const struct pythia__key *const *x = a, *const *y = b;
    return compare_results((*x)->result, (*y)->result);
}

/* Number the ranks, with the members of a cluster brought together behind the best of them. */
static void number_ranks(struct pythia_association_result *results, size_t count)
{
    size_t rank = 0;
    for (size_t i = 0; i < count;) {
        size_t cluster = results[i].cluster;
        results[i++].rank = ++rank;
        for (size_t k = i; cluster != PYTHIA_ASSOCIATION_NONE && k < count; k++) {
            if (results[k].cluster != cluster)
                continue;
            /* Moved up behind those of its cluster; the others keep their order. */
            struct pythia_association_result member = results[k];
            memmove(results + i + 1, results + i, (k - i) * sizeof(*results));
            member.rank = rank;
            results[i++] = member;
        }
    }
}

/* The share of variance between the two groups of a split: of the variance of the clipped
 * ones, and the means of what was measured. */
static void compare_split_groups(const struct pythia_split *split,
                                 const struct pythia_column *column, const double *total,
                                 const double *clipped, size_t n,
                                 struct pythia_association_result *r)
{
    double raw[2] = {0, 0}, sums[2] = {0, 0}, counts[2] = {0, 0}, all = 0, between = 0;
    for (size_t i = 0; i < n; i++) {
        int side = pythia_split_side(split, column, i);
        if (side < 0)
            continue;
        raw[side] += total[i];
        sums[side] += clipped[i];
        counts[side]++;
    }
    /* Two passes, because the mean is that of both sides together. */
    double mean = (sums[0] + sums[1]) / (counts[0] + counts[1]);
    for (size_t i = 0; i < n; i++)
        if (pythia_split_side(split, column, i) >= 0)
            all += (clipped[i] - mean) * (clipped[i] - mean);
    for (int side = 0; side < 2; side++) {
        double apart = sums[side] / counts[side] - mean;
        between += counts[side] * apart * apart;
    }
    r->low_total = raw[0] / counts[0];
    r->high_total = raw[1] / counts[1];
    r->split_share = all > 0 ? between / all : NAN;
}

/* Propose two groups of requests for each significant key: those between which the variate of the
 * edges differs most, as the total may not differ at all. */
static int split_keys(struct pythia__keys *run, const double *total)
{
    size_t n = run->input->rows;
    double *clipped = pythia_calloc(n, 2 * sizeof(*clipped));
    if (!clipped)
        return PYTHIA_ENOMEM;
    double *scores = clipped + n;
    memcpy(clipped, total, n * sizeof(*clipped));
    (void)pythia_winsorise(clipped, n, PYTHIA__CLIPPED, PYTHIA__CLIPPED);
    int status = PYTHIA_OK;
    for (size_t k = 0; k < run->count; k++) {
        struct pythia_association_result *r = run->keys[k].result;
        const struct pythia_column column = pythia_association_column(run->input, r);
        if (!r->significant)
            continue;
        score_rows(run, &run->keys[k], scores);
        status = pythia_split_find(&column, scores, n, &r->split);
        if (status != PYTHIA_OK)
            goto out;
        if (!isnan(r->split.share))
            compare_split_groups(&r->split, &column, total, clipped, n, r);
    }
out:
    pythia_free(clipped);
    return status;
}

/* Test, relate and confirm the keys of a prepared run. Relating and confirming cost far more than a
 * test, so that only significant keys come to them. */
static int ask_all(struct pythia__keys *run)
{
    struct pythia__key **order = pythia_calloc(run->count, sizeof(struct pythia__key *));
    if (!order)
        return PYTHIA_ENOMEM;
    int status = PYTHIA_OK;
    for (size_t k = 0; k < run->count; k++) {
        status = test_key(run, &run->keys[k]);
        if (status != PYTHIA_OK)
            goto out;
    }
    status = adjust_p_values(run);
    if (status != PYTHIA_OK)
        goto out;
    size_t significant = 0;
    for (size_t k = 0; k < run->count; k++)
        if (run->keys[k].result->significant)
            order[significant++] = &run->keys[k];
    if (significant > 0) {
        qsort(order, significant, sizeof(struct pythia__key *), compare_key_results);
        status = pythia__keys_relate(run, order, significant);
        if (status != PYTHIA_OK)
            goto out;
        /* Now proxies go to the end. */
        qsort(order, significant, sizeof(struct pythia__key *), compare_key_results);
    }
    size_t asked = run->input->confirmed < significant ? run->input->confirmed : significant;
    status = pythia__keys_confirm(run, order, asked);
out:
    pythia_free(order);
    return status;
}

static void free_run(struct pythia__keys *run)
{
    for (size_t k = 0; k < run->count; k++) {
        pythia__basis_free(&run->keys[k].x);
        pythia__basis_free(&run->keys[k].levels);
        pythia__basis_free(&run->keys[k].shrunk_x);
        pythia__basis_free(&run->keys[k].shrunk_y);
    }
    pythia_free(run->keys);
    pythia_free(run->room.cosines);
    pythia__basis_free(&run->y);
    pythia__basis_free(&run->total);
    pythia__basis_free(&run->clipped);
    pythia__basis_free(&run->confounders);
}

static struct pythia_association_result no_result(const struct pythia_association_input *in,
                                                  size_t column)
{
    struct pythia_association_result r = {.column = column,
                                          .categorical = in->keys[column].categorical};
    r.p = r.p_bartlett = r.q = r.r = r.effect = r.explained = NAN;
    r.explained_edges = r.omega_squared = NAN;
    r.p_partial = r.p_permutation = r.stability = NAN;
    r.proxy_of = r.cluster = PYTHIA_ASSOCIATION_NONE;
    r.split.share = r.split.cut = r.split.low_mean = r.split.high_mean = NAN;
    r.split_share = r.low_total = r.high_total = NAN;
    for (size_t e = 0; e < PYTHIA_ASSOCIATION_EDGES_MAX; e++)
        r.loadings[e] = NAN;
    return r;
}

/* Everything with the results still in the order of the columns. */
static int fill_results(const struct pythia_association_input *in, const double *total,
                        const double *places, struct pythia_association_result *results)
{
    struct pythia__keys run = {.input = in, .widest = in->edges};
    take_weights(&run);
    /* Confounders first: durations and keys are fitted to what these leave. */
    int status = take_confounders(&run);
    if (status != PYTHIA_OK)
        goto out;
    status = take_durations(&run, total);
    if (status != PYTHIA_OK)
        goto out;
    status = take_keys(&run, places, results);
    if (status != PYTHIA_OK)
        goto out;
    status = allocate_association(&run);
    if (status != PYTHIA_OK)
        goto out;
    status = ask_all(&run);
    if (status != PYTHIA_OK)
        goto out;
    status = split_keys(&run, total);
out:
    free_run(&run);
    return status;
}

int pythia_association_run(struct pythia_association *a,
                           const struct pythia_association_input *input)
{
    clear_results(a);
    if (!is_association_valid(input))
        return PYTHIA_EINVAL;
    size_t n = input->rows;
    double *total = pythia_calloc(n, 2 * sizeof(*total)), *places = total ? total + n : NULL;
    a->results = pythia_calloc(input->columns, sizeof(*a->results));
    int status = total && a->results ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    for (size_t k = 0; k < input->columns; k++)
        a->results[k] = no_result(input, k);
    a->count = input->columns;
    for (size_t i = 0; i < n; i++) {
        total[i] = input->total ? input->total[i] : 0;
        /* Without a total of the caller, the edges are all there is. */
        for (size_t e = 0; e < input->edges && !input->total; e++)
            total[i] += input->durations[e * n + i];
    }
    if (input->time) {
        /* Time enters by rank: a pause between two bursts must not weigh as much as the bursts. */
        status = pythia_ranks_mid(input->time, n, places);
        if (status != PYTHIA_OK)
            goto out;
    }
    status = fill_results(input, total, input->time ? places : NULL, a->results);
    if (status != PYTHIA_OK)
        goto out;
    qsort(a->results, a->count, sizeof(*a->results), compare_results);
    number_ranks(a->results, a->count);
out:
    pythia_free(total);
    if (status != PYTHIA_OK)
        clear_results(a);
    return status;
}
