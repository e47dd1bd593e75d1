/* Are the first keys significant without the assumptions of Rao's F, and in half of the requests,
 * too? */
#include <math.h>
#include <string.h>

#include "association_keys.h"
#include "pythia/gate.h"
#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/ranks.h"
#include "pythia/status.h"

#define STABLE   0.7  /* of the halves */
#define ROUNDING 1e-9 /* of a log lambda: permutations of ties give the same one */

/* Rows in parts. Either the rows of each part change places, or the parts do. */
struct shuffle {
    size_t rows, parts;
    bool whole;             /* the parts change places */
    size_t *line, *starts;  /* the rows part by part; where each part starts, and the end */
    size_t *moved, *pieces; /* scratch: the line in a new order; the parts in theirs */
};

static void shuffle_free(struct shuffle *s)
{
    pythia_free(s->line);
}

/* The parts: blocks of rows next to each other in time, strata, or all rows. */
static int shuffle_init(struct shuffle *s, const struct pythia_association_input *in)
{
    size_t n = in->rows;
    *s = (struct shuffle){.rows = n, .whole = in->block > 1};
    s->line = pythia_calloc(4 * n + 1, sizeof(*s->line));
    double *keys = pythia_calloc(n, sizeof(*keys));
    int status = s->line && keys ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    s->moved = s->line + n;
    s->pieces = s->moved + n;
    s->starts = s->pieces + n;
    for (size_t i = 0; i < n; i++)
        /* Requests close in time are alike; moved one by one, they would make every shuffled order
         * look too random. */
        keys[i] = s->whole ? in->time[i] : in->strata ? in->strata[i] : 0;
    status = pythia_ranks_order(keys, n, s->line);
    if (status != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < n; i++) {
        bool starts =
            s->whole ? i % in->block == 0 : i == 0 || keys[s->line[i]] != keys[s->line[i - 1]];
        if (starts)
            s->starts[s->parts++] = i;
    }
    s->starts[s->parts] = n;
out:
    pythia_free(keys);
    return status;
}

/* A random order: row i is to meet row order[i]. */
static void shuffle_draw(struct shuffle *s, struct pythia_random *r, size_t *order)
{
    /* Blocks move as wholes: what is within them stays together. */
    if (s->whole) {
        size_t at = 0;
        for (size_t k = 0; k < s->parts; k++)
            s->pieces[k] = k;
        pythia_random_shuffle(r, s->pieces, s->parts);
        for (size_t k = 0; k < s->parts; k++) {
            size_t first = s->starts[s->pieces[k]], size = s->starts[s->pieces[k] + 1] - first;
            memcpy(s->moved + at, s->line + first, size * sizeof(*s->moved));
            at += size;
        }
    } else {
        memcpy(s->moved, s->line, s->rows * sizeof(*s->moved));
        for (size_t k = 0; k < s->parts; k++)
            pythia_random_shuffle(r, s->moved + s->starts[k], s->starts[k + 1] - s->starts[k]);
    }
    for (size_t i = 0; i < s->rows; i++)
        order[s->line[i]] = s->moved[i];
}

/* log det(I - M M'), that is, the log of Wilks' lambda, by Cholesky on the smaller side. `gram`
 * holds the square of that side. */
static double log_lambda(const double *m, size_t rows, size_t columns, double *gram)
{
    size_t s = rows < columns ? rows : columns, other = rows < columns ? columns : rows;
    size_t step = rows < columns ? columns : 1, stride = rows < columns ? 1 : columns;
    double sum = 0;
    for (size_t a = 0; a < s; a++)
        for (size_t b = 0; b <= a; b++) {
            double g = a == b;
            for (size_t k = 0; k < other; k++)
                g -= m[a * step + k * stride] * m[b * step + k * stride];
            for (size_t k = 0; k < b; k++)
                g -= gram[a * s + k] * gram[b * s + k];
            /* The correlation is 1 up to rounding: no shuffled order can reach it. */
            if (a == b && !(g > 0))
                return -INFINITY;
            gram[a * s + b] = a == b ? sqrt(g) : g / gram[b * s + b];
            sum += a == b ? log(g) : 0;
        }
    return sum;
}

int pythia__keys_permutation_p(struct pythia__keys *run, const struct pythia__key *key,
                               size_t permutations, double *p)
{
    const struct pythia__basis *x = pythia__key_x(key), *y = pythia__key_y(run, key);
    struct shuffle s;
    size_t *order = NULL;
    int status = shuffle_init(&s, run->input);
    if (status != PYTHIA_OK)
        goto out;
    order = pythia_calloc(run->input->rows, sizeof(*order));
    if (!order) {
        status = PYTHIA_ENOMEM;
        goto out;
    }
    struct pythia_random r;
    pythia_random_init(&r, pythia_hash_mix(run->input->seed, key->result->column));
    uint64_t at_least = 0;
    double *gram = run->room.work;
    pythia__basis_cross(x, y, NULL, run->room.cosines);
    double observed = log_lambda(run->room.cosines, x->rank, y->rank, gram);
    for (size_t k = 0; k < permutations; k++) {
        shuffle_draw(&s, &r, order);
        pythia__basis_cross(x, y, order, run->room.cosines);
        double permuted = log_lambda(run->room.cosines, x->rank, y->rank, gram);
        at_least += permuted <= observed * (1 - ROUNDING); /* both are negative */
    }
    *p = pythia_gate_permutation_p(at_least, permutations);
out:
    pythia_free(order);
    shuffle_free(&s);
    return status;
}

/* A basis of some of the rows of another. */
static int take_basis_rows(const struct pythia__basis *of, const size_t *rows, size_t count,
                           double *values, struct pythia__basis *out)
{
    for (size_t i = 0; i < count; i++)
        memcpy(values + i * of->rank, of->q + rows[i] * of->rank, of->rank * sizeof(*values));
    struct pythia__matrix m = {values, count, of->rank, of->rank, 1};
    return pythia__basis_fit(out, &m, NULL);
}

/* Count the random halves of the rows in which each key passes the threshold. */
static int count_stable(struct pythia__keys *run, struct pythia__key **order, size_t count)
{
    size_t n = run->input->rows, half = n / 2, widest = run->widest;
    struct pythia__basis x = {0}, y = {0};
    struct pythia_random r;
    size_t *rows = pythia_calloc(n, sizeof(*rows));
    double *values = pythia_calloc(half, widest * sizeof(*values));
    int status = rows && values ? pythia__basis_init(&x, half, widest) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    status = pythia__basis_init(&y, half, widest);
    if (status != PYTHIA_OK)
        goto out;
    /* No column has that number. */
    pythia_random_init(&r, pythia_hash_mix(run->input->seed, UINT64_MAX));
    for (size_t i = 0; i < n; i++)
        rows[i] = i;
    for (size_t h = 0; h < run->input->halves; h++) {
        pythia_random_shuffle(&r, rows, n);
        status = take_basis_rows(&run->y, rows, half, values, &y);
        if (status != PYTHIA_OK)
            goto out;
        for (size_t k = 0; k < count; k++) {
            status = take_basis_rows(&order[k]->x, rows, half, values, &x);
            if (status != PYTHIA_OK)
                goto out;
            if (pythia__keys_p(run, &x, &y, half, 0) <= run->threshold)
                order[k]->result->stability++;
        }
    }
    for (size_t k = 0; k < count; k++)
        order[k]->result->stability /= (double)run->input->halves;
out:
    pythia__basis_free(&y);
    pythia__basis_free(&x);
    pythia_free(values);
    pythia_free(rows);
    return status;
}

int pythia__keys_confirm(struct pythia__keys *run, struct pythia__key **order, size_t count)
{
    const struct pythia_association_input *in = run->input;
    for (size_t k = 0; k < count && in->permutations > 0; k++) {
        int status = pythia__keys_permutation_p(run, order[k], in->permutations,
                                                &order[k]->result->p_permutation);
        if (status != PYTHIA_OK)
            return status;
        /* Numbers stand as levels because these fitted better: that is the better of two tests. */
        bool better_of_two = order[k]->two_ways && order[k]->result->categorical;
        if (better_of_two)
            order[k]->result->p_permutation = fmin(1, 2 * order[k]->result->p_permutation);
    }
    for (size_t k = 0; k < count && in->halves > 0; k++)
        order[k]->result->stability = 0;
    if (in->halves > 0 && count > 0) {
        int status = count_stable(run, order, count);
        if (status != PYTHIA_OK)
            return status;
    }
    for (size_t k = 0; k < count; k++) {
        struct pythia_association_result *r = order[k]->result;
        bool permuted = in->permutations == 0 || r->p_permutation <= in->alpha;
        bool stable = in->halves == 0 || r->stability >= STABLE;
        /* A check that was not asked for does not refuse a key, but without any check nothing is
         * confirmed. */
        r->confirmed = (in->permutations > 0 || in->halves > 0) && permuted && stable;
    }
    return PYTHIA_OK;
}
