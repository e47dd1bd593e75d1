/* Keys that act together. The questions "what do these keys explain?" and "does this one add to the
 * others?" are asked again and again, of all rows and of halves of them; a sample has the rows that
 * are asked, and the bases have the space for the largest question. */
#include "pythia/joint.h"

#include <math.h>
#include <string.h>

#include "moments/basis.h"
#include "pythia/cca.h"
#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/ranks.h"
#include "pythia/shares.h"
#include "pythia/status.h"

#define CLIPPED 0.005 /* of a column, at either end */
/* p of a further pair of variates, from which on it counts, corrected for the keys tested: these
 * keys were chosen among them by the same rows. A pair that is noise would make the coefficients
 * less precise, a pair that is left out would make them wrong. Of 6000 sets of 200 requests of
 * tests/search/test_explain_joint.c, 14 had a coefficient that missed by .027 to .042 without the
 * correction, and none by more than .013 with it. */
#define PAIR_P 0.001

/* Some rows, by columns of `rows` values. */
struct sample {
    size_t rows;
    double *numbers, *durations, *total; /* clipped; the total is the sum of the durations */
    double *number_ranks, *duration_ranks;
};

/* Which keys a question is about. */
struct set {
    size_t count, keys[PYTHIA_JOINT_KEYS_MAX];
};

struct joint {
    const struct pythia_joint_input *in;
    struct sample all, half;
    struct pythia__basis some, x, y, t;
    struct pythia_cca *cca;
    size_t *order;
    double *columns;             /* by rows for the fit, or columns of a set for a basis */
    double *cosines, *r, *u, *v; /* of two bases */
    double *work;
};

/* ---- memory ---- */

static int make_sample(struct sample *s, size_t rows, size_t keys, size_t edges)
{
    s->rows = rows;
    s->numbers = pythia_calloc(rows, (2 * (keys + edges) + 1) * sizeof(*s->numbers));
    if (!s->numbers)
        return PYTHIA_ENOMEM;
    s->number_ranks = s->numbers + keys * rows;
    s->durations = s->number_ranks + keys * rows;
    s->duration_ranks = s->durations + edges * rows;
    s->total = s->duration_ranks + edges * rows;
    return PYTHIA_OK;
}

static void free_joint(struct joint *j)
{
    pythia_free(j->all.numbers);
    pythia_free(j->half.numbers);
    pythia__basis_free(&j->some);
    pythia__basis_free(&j->x);
    pythia__basis_free(&j->y);
    pythia__basis_free(&j->t);
    pythia_cca_destroy(j->cca);
    pythia_free(j->order);
    pythia_free(j->columns);
    pythia_free(j->cosines);
}

static int make_joint(struct joint *j)
{
    size_t n = j->in->rows, p = j->in->keys, q = j->in->edges, wide = p > q ? p : q;
    size_t square = wide * wide;
    j->order = pythia_calloc(n, sizeof(*j->order));
    j->columns = pythia_calloc(n, (p + q) * sizeof(*j->columns));
    j->cosines =
        pythia_calloc(3 * square + wide + pythia__basis_svd_work(wide, wide), sizeof(*j->cosines));
    if (!j->order || !j->columns || !j->cosines)
        return PYTHIA_ENOMEM;
    /* The work arrays are carved from one block; each subset of keys uses the leading part of
     * them. */
    j->u = j->cosines + square;
    j->v = j->u + square;
    j->r = j->v + square;
    j->work = j->r + wide;
    int status = make_sample(&j->all, n, p, q);
    if (status != PYTHIA_OK)
        return status;
    status = make_sample(&j->half, n / 2, p, q);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__basis_init(&j->some, n, p);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__basis_init(&j->x, n, p);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__basis_init(&j->y, n, q);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__basis_init(&j->t, n, 1);
    if (status != PYTHIA_OK)
        return status;
    return pythia_cca_create(n, p, q, &j->cca);
}

/* ---- rows ---- */

/* Clip the columns, and rank them. */
static int take_all(struct joint *j)
{
    const struct pythia_joint_input *in = j->in;
    struct sample *s = &j->all;
    size_t n = in->rows;
    memcpy(s->numbers, in->numbers, in->keys * n * sizeof(*s->numbers));
    memcpy(s->durations, in->durations, in->edges * n * sizeof(*s->durations));
    for (size_t k = 0; k < in->keys; k++) {
        int status = pythia_ranks_mid(s->numbers + k * n, n, s->number_ranks + k * n);
        if (status != PYTHIA_OK)
            return status;
        /* Ranks come before clipping, which would make ties of the values that it clips. */
        (void)pythia_winsorise(s->numbers + k * n, n, CLIPPED, CLIPPED);
    }
    for (size_t e = 0; e < in->edges; e++) {
        int status = pythia_ranks_mid(s->durations + e * n, n, s->duration_ranks + e * n);
        if (status != PYTHIA_OK)
            return status;
        (void)pythia_winsorise(s->durations + e * n, n, CLIPPED, CLIPPED);
        for (size_t i = 0; i < n; i++)
            s->total[i] += s->durations[e * n + i];
    }
    return PYTHIA_OK;
}

static void take_columns(const struct joint *j, const double *from, size_t columns, double *to)
{
    for (size_t c = 0; c < columns; c++)
        for (size_t i = 0; i < j->half.rows; i++)
            to[c * j->half.rows + i] = from[c * j->all.rows + j->order[i]];
}

/* The first half of the rows in their present order. */
static void take_half(struct joint *j)
{
    const struct sample *from = &j->all;
    struct sample *to = &j->half;
    take_columns(j, from->numbers, j->in->keys, to->numbers);
    take_columns(j, from->number_ranks, j->in->keys, to->number_ranks);
    take_columns(j, from->durations, j->in->edges, to->durations);
    take_columns(j, from->duration_ranks, j->in->edges, to->duration_ranks);
    take_columns(j, from->total, 1, to->total);
}

/* ---- questions ---- */

static struct set copy_set_without(const struct set *s, size_t at)
{
    struct set out = *s;
    memmove(out.keys + at, out.keys + at + 1, (out.count - at - 1) * sizeof(*out.keys));
    out.count--;
    return out;
}

/* A basis of the columns of a set. */
static int fit_set(struct joint *j, const double *columns, size_t rows, const struct set *keys,
                   struct pythia__basis *out)
{
    for (size_t k = 0; k < keys->count; k++)
        memcpy(j->columns + k * rows, columns + keys->keys[k] * rows, rows * sizeof(*columns));
    return pythia__basis_fit(out, &(struct pythia__matrix){j->columns, rows, keys->count, 1, rows},
                             NULL);
}

/* The part of the total's variance that a set explains, adjusted. */
static int explain_total(struct joint *j, const struct sample *s, const struct set *keys,
                         double *share)
{
    double rows = (double)s->rows - 1, explained = 0;
    int status = fit_set(j, s->numbers, s->rows, keys, &j->some);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__basis_fit(&j->t, &(struct pythia__matrix){s->total, s->rows, 1, 1, 1}, NULL);
    if (status != PYTHIA_OK)
        return status;
    pythia__basis_cross(&j->some, &j->t, NULL, j->cosines);
    for (size_t k = 0; k < j->some.rank * j->t.rank; k++)
        explained += j->cosines[k] * j->cosines[k];
    double rest = rows - (double)j->some.rank;
    *share = rest > 0 ? fmax(0, 1 - (1 - explained) * rows / rest) : 0;
    return PYTHIA_OK;
}

/* p of one key of a set once the others are taken out of it and of the edges, by ranks. */
static int test_addition(struct joint *j, const struct sample *s, const struct set *keys, size_t at,
                         double *p)
{
    struct set others = copy_set_without(keys, at);
    size_t n = s->rows, q = j->in->edges;
    *p = 1;
    int status = fit_set(j, s->number_ranks, n, &others, &j->some);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__basis_fit(
        &j->x, &(struct pythia__matrix){s->number_ranks + keys->keys[at] * n, n, 1, 1, n},
        &j->some);
    if (status != PYTHIA_OK)
        return status;
    status =
        pythia__basis_fit(&j->y, &(struct pythia__matrix){s->duration_ranks, n, q, 1, n}, &j->some);
    /* The others account for all of the key, or of the edges. */
    if (status != PYTHIA_OK || j->x.rank == 0 || j->y.rank == 0 || n <= j->some.rank + 1)
        return status;
    struct pythia_cca_root t;
    pythia__basis_cross(&j->x, &j->y, NULL, j->cosines);
    status = pythia__basis_svd(j->cosines, j->x.rank, j->y.rank, j->r, j->u, j->v, j->work);
    if (status != PYTHIA_OK)
        return status;
    pythia_cca_test_root(j->r, 1, n - j->some.rank, j->x.rank, j->y.rank, 0, &t);
    *p = isnan(t.wilks.p) ? 1 : t.wilks.p;
    return PYTHIA_OK;
}

/* ---- choose ---- */

/* The key of a set that is to be dropped: the one that adds least, if that is too little; else the
 * one of the largest p, if it is too large; else none, and *at is the size of the set. *largest_p
 * is that p. */
static int find_superfluous(struct joint *j, const struct set *keys, size_t *at, double *largest_p)
{
    double all, least = INFINITY, largest = 0;
    size_t weakest = 0, doubtful = 0;
    int status = explain_total(j, &j->all, keys, &all);
    if (status != PYTHIA_OK)
        return status;
    for (size_t k = 0; k < keys->count; k++) {
        double rest = 0, p = 1;
        struct set others = copy_set_without(keys, k);
        status = explain_total(j, &j->all, &others, &rest);
        if (status != PYTHIA_OK)
            return status;
        status = test_addition(j, &j->all, keys, k, &p);
        if (status != PYTHIA_OK)
            return status;
        weakest = all - rest < least ? k : weakest;
        least = fmin(least, all - rest);
        doubtful = p > largest ? k : doubtful;
        largest = fmax(largest, p);
    }
    /* By all keys that were tested, because this one was chosen among them. */
    bool unlikely = largest * (double)j->in->tested > j->in->alpha;
    *at = least < PYTHIA_JOINT_ADDS_MIN ? weakest : unlikely ? doubtful : keys->count;
    *largest_p = largest;
    return PYTHIA_OK;
}

/* The keys of which each adds to the others; fewer than two: none. */
static int choose_joint_keys(struct joint *j, struct set *keys, double *largest_p)
{
    keys->count = j->in->keys;
    for (size_t k = 0; k < keys->count; k++)
        keys->keys[k] = k;
    while (keys->count > 1) {
        size_t at = keys->count;
        int status = find_superfluous(j, keys, &at, largest_p);
        if (status != PYTHIA_OK || at == keys->count)
            return status;
        *keys = copy_set_without(keys, at);
    }
    return PYTHIA_OK;
}

static int compare_joint_groups(struct joint *j, const struct set *keys, struct pythia_joint *found)
{
    int status = explain_total(j, &j->all, keys, &found->share);
    found->single_share = j->in->single_share;
    if (status != PYTHIA_OK)
        return status;
    for (size_t k = 0; k < j->in->keys; k++) {
        double share;
        status = explain_total(j, &j->all, &(struct set){1, {k}}, &share);
        if (status != PYTHIA_OK)
            return status;
        found->single_share = fmax(found->single_share, share);
    }
    return PYTHIA_OK;
}

/* ---- fit ---- */

/* Which linear function of the keys goes with the time, into `weights`. Canonical correlation finds
 * it where it is sharpest: on the edges, without the noise of the others. Where the keys act on
 * several edges by themselves, several pairs of variates are beyond chance, and the function is
 * what their variates together say of the total.
 *
 * The variates of the keys are orthonormal. So the squares of the function add up to what its
 * products with the total add up to: the total grows by 1 with 1 of the function, and the weights
 * are slopes of the total. */
static int fit_joint_weights(struct joint *j, const struct sample *s, const struct set *keys,
                             double *weights, double *r)
{
    size_t n = s->rows, p = keys->count, q = j->in->edges;
    double *x = j->columns, *y = x + n * p, mean = 0, own = 0, shared = 0;
    struct pythia_cca_result c;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < p; k++)
            x[i * p + k] = s->numbers[keys->keys[k] * n + i];
        for (size_t e = 0; e < q; e++)
            y[i * q + e] = s->durations[e * n + i];
        mean += s->total[i] / (double)n;
    }
    int status = pythia_cca_fit(j->cca, x, p, y, q, n, &c);
    if (status != PYTHIA_OK)
        return status;
    memset(weights, 0, p * sizeof(*weights));
    for (size_t pair = 0; pair < c.count; pair++) {
        struct pythia_cca_root t;
        double together = 0;
        pythia_cca_test_root(c.r, c.count, n, c.rank_x, c.rank_y, pair, &t);
        /* Roots come in falling order: none after this one is beyond chance either. */
        if (pair > 0 && !(t.wilks.p * (double)j->in->tested <= PAIR_P))
            break;
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < p; k++)
                together +=
                    x[i * p + k] * c.x_coefficients[k * c.count + pair] * (s->total[i] - mean);
        for (size_t k = 0; k < p; k++)
            weights[k] += together * c.x_coefficients[k * c.count + pair];
        own += together * together;
        shared += together * together * c.r[pair] * c.r[pair];
    }
    *r = own > 0 ? sqrt(shared / own) : NAN;
    return PYTHIA_OK;
}

static double standard_deviation_of(const double *x, size_t n)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    return sqrt(squares / (double)n);
}

/* Scale the function so that the key with the largest effect has the coefficient 1 or -1. */
static void scale_coefficients(const struct joint *j, const struct set *keys, const double *weights,
                               struct pythia_joint *found)
{
    double largest = 0, unit = 0;
    for (size_t k = 0; k < keys->count; k++) {
        double effect =
            fabs(weights[k]) *
            standard_deviation_of(j->all.numbers + keys->keys[k] * j->all.rows, j->all.rows);
        if (effect > largest * (1 + 1e-9)) { /* rounding shall not choose among equals */
            largest = effect;
            unit = fabs(weights[k]);
        }
    }
    for (size_t k = 0; k < keys->count; k++) {
        found->keys[k] = keys->keys[k];
        found->slopes[k] = weights[k];
        found->coefficients[k] = unit > 0 ? weights[k] / unit : NAN;
    }
}

/* ---- confirm ---- */

/* Does each key add to the others in this half, and in the direction that it has in the whole? */
static int is_stable(struct joint *j, const struct set *keys, const double *weights, bool *stable)
{
    double again[PYTHIA_JOINT_KEYS_MAX], r, p = 0;
    int status = fit_joint_weights(j, &j->half, keys, again, &r);
    *stable = true;
    if (status != PYTHIA_OK)
        return status;
    for (size_t k = 0; k < keys->count && *stable; k++) {
        status = test_addition(j, &j->half, keys, k, &p);
        if (status != PYTHIA_OK)
            return status;
        /* Significant in half of the requests, and with the same sign. */
        *stable = p <= j->in->alpha && again[k] * weights[k] > 0;
    }
    return PYTHIA_OK;
}

static int confirm_joint_weights(struct joint *j, const struct set *keys, const double *weights,
                                 double *stability)
{
    struct pythia_random random;
    size_t stable = 0;
    pythia_random_init(&random, pythia_hash_mix(j->in->seed, 0x6A6F696E74));
    for (size_t i = 0; i < j->in->rows; i++)
        j->order[i] = i;
    for (size_t h = 0; h < j->in->halves; h++) {
        bool one;
        pythia_random_shuffle(&random, j->order, j->in->rows);
        /* Weights that hold only in the rows they were fitted to would be another's next week. */
        take_half(j);
        int status = is_stable(j, keys, weights, &one);
        if (status != PYTHIA_OK)
            return status;
        stable += one;
    }
    *stability = (double)stable / (double)j->in->halves;
    return PYTHIA_OK;
}

static bool are_durations_finite(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

static bool is_joint_valid(const struct pythia_joint_input *in)
{
    return in->rows > 0 && in->edges > 0 && in->edges <= PYTHIA_ASSOCIATION_EDGES_MAX &&
           in->keys <= PYTHIA_JOINT_KEYS_MAX && in->halves > 0 && in->alpha > 0 && in->alpha < 1 &&
           are_durations_finite(in->durations, in->rows * in->edges) &&
           are_durations_finite(in->numbers, in->rows * in->keys);
}

/* Find what the keys explain together. `found` has keys only if that is worth its harder reading,
 * and holds in both halves of the rows. */
static int find_joint(struct joint *j, struct pythia_joint *found)
{
    struct set keys;
    double weights[PYTHIA_JOINT_KEYS_MAX], largest_p = 1;
    int status = make_joint(j);
    if (status != PYTHIA_OK)
        return status;
    status = take_all(j);
    if (status != PYTHIA_OK)
        return status;
    status = choose_joint_keys(j, &keys, &largest_p);
    if (status != PYTHIA_OK || keys.count < 2)
        return status;
    status = compare_joint_groups(j, &keys, found);
    if (status != PYTHIA_OK)
        return status;
    /* Several keys always explain at least as much as one. They are reported together only if the
     * gain is worth the harder reading. */
    if (!(found->share >= found->single_share + PYTHIA_JOINT_GAIN_MIN))
        return PYTHIA_OK;
    status = fit_joint_weights(j, &j->all, &keys, weights, &found->r);
    if (status != PYTHIA_OK)
        return status;
    status = confirm_joint_weights(j, &keys, weights, &found->stability);
    if (status != PYTHIA_OK || !(found->stability >= PYTHIA_JOINT_STABLE_MIN))
        return status;
    found->count = keys.count;
    /* Bonferroni by all keys that were tested, not by the survivors: the survivors were chosen by
     * the same rows. */
    found->q = fmin(1, largest_p * (double)j->in->tested);
    scale_coefficients(j, &keys, weights, found);
    return PYTHIA_OK;
}

int pythia_joint_find(const struct pythia_joint_input *input, struct pythia_joint *out)
{
    struct joint j = {.in = input};
    struct pythia_joint found = {0};
    if (!is_joint_valid(input))
        return PYTHIA_EINVAL;
    /* With fewer rows for each coefficient, a linear function of the keys fits noise. */
    if (input->keys < 2 || input->rows < PYTHIA_JOINT_ROWS_EACH * (input->keys + input->edges)) {
        *out = found;
        return PYTHIA_OK;
    }
    int status = find_joint(&j, &found);
    free_joint(&j);
    if (status != PYTHIA_OK)
        return status;
    *out = found.count > 0 ? found : (struct pythia_joint){0};
    return PYTHIA_OK;
}
