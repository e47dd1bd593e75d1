/* Relations between significant keys. A cluster are keys whose regressors span the
 * same: no data can tell them apart. A proxy is a key that has nothing to add once better keys are
 * taken out of it and of the edges: B. R. Rao, "Partial Canonical Correlations", Trabajos de
 * Estadistica 20, 1969. Better keys are found forwards, from the one that explains most, and then
 * backwards: a proxy that came first by luck adds nothing to the cause that was found after it. A
 * number that exists only where a branch is taken says at least that it is: if that is all it has
 * to say, what stands for the branch takes its place. */
#include <math.h>
#include <string.h>

#include "association_keys.h"
#include "pythia/mem.h"
#include "pythia/ranks.h"
#include "pythia/status.h"

#define SAME      0.81 /* mean squared cosine: a correlation of 0.9 */
#define KEPT_MAX  16   /* keys that stand on their own; more would take the degrees of freedom */
#define ROWS_EACH 3    /* rows to a regressor that is taken out, at least */

/* How much of the larger span lies in the other: the mean of the squared cosines, 1 for equal
 * spans. */
static double measure_likeness(struct pythia__keys *run, const struct pythia__key *a,
                               const struct pythia__key *b)
{
    size_t larger = a->x.rank > b->x.rank ? a->x.rank : b->x.rank;
    double sum = 0;
    pythia__basis_cross(&a->x, &b->x, NULL, run->room.cosines);
    for (size_t i = 0; i < a->x.rank * b->x.rank; i++)
        sum += run->room.cosines[i] * run->room.cosines[i];
    return larger > 0 ? sum / (double)larger : 0;
}

/* The bases of some keys side by side, as one, into `all`. */
static int gather_bases(struct pythia__key *const *keys, size_t count,
                        const struct pythia__key *but, size_t rows, struct pythia__basis *all)
{
    size_t columns = 0, at = 0;
    for (size_t k = 0; k < count; k++)
        columns += keys[k] == but ? 0 : keys[k]->x.rank;
    double *values = pythia_calloc(rows, columns * sizeof(*values));
    int status = values ? pythia__basis_init(all, rows, columns) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    for (size_t k = 0; k < count; k++) {
        const struct pythia__basis *x = &keys[k]->x;
        if (keys[k] == but)
            continue;
        for (size_t i = 0; i < rows; i++)
            memcpy(values + i * columns + at, x->q + i * x->rank, x->rank * sizeof(*values));
        at += x->rank;
    }
    /* Bases of several keys are not orthogonal to each other: they are made one basis again. */
    struct pythia__matrix m = {values, rows, columns, columns, 1};
    status = pythia__basis_fit(all, &m, NULL);
out:
    pythia_free(values);
    return status;
}

/* A basis of what is left of another without a third. */
static int remove_basis(const struct pythia__basis *of, const struct pythia__basis *without,
                        struct pythia__basis *rest)
{
    int status = pythia__basis_init(rest, of->rows, of->rank);
    if (status != PYTHIA_OK)
        return status;
    struct pythia__matrix m = {of->q, of->rows, of->rank, of->rank, 1};
    return pythia__basis_fit(rest, &m, without);
}

static bool is_not_always_there(const struct pythia__keys *run, const struct pythia__key *key)
{
    return key->ranked && key->result->present < run->input->rows;
}

/* p of one key once the others among `keys` are taken out. With nothing left of the key it is 1. A
 * number that is not always there may say something among the rows where it is. */
static int partial_p(struct pythia__keys *run, const struct pythia__key *key,
                     struct pythia__key *const *keys, size_t count, double *p)
{
    struct pythia__basis others = {0}, x = {0}, y = {0}, total = {0};
    int status = gather_bases(keys, count, key, run->y.rows, &others);
    if (status != PYTHIA_OK)
        goto out;
    status = remove_basis(&key->x, &others, &x);
    if (status != PYTHIA_OK)
        goto out;
    status = remove_basis(&run->y, &others, &y);
    if (status != PYTHIA_OK)
        goto out;
    /* A key that the others determine adds nothing, whatever it correlates with. */
    *p = x.rank > 0 ? pythia__keys_p(run, &x, &y, run->y.rows, others.rank) : 1;
    if (key->with_total && x.rank > 0 && !isnan(*p)) {
        status = remove_basis(&run->total, &others, &total);
        if (status != PYTHIA_OK)
            goto out;
        *p = pythia__join_p(*p, pythia__keys_p(run, &x, &total, run->y.rows, others.rank));
    }
    if (!(*p <= run->threshold) && is_not_always_there(run, key)) {
        double where_present;
        status = pythia__keys_p_where_present(run, key, &others, &where_present);
        if (status != PYTHIA_OK)
            goto out;
        *p = where_present <= run->threshold ? where_present : *p;
    }
out:
    pythia__basis_free(&total);
    pythia__basis_free(&y);
    pythia__basis_free(&x);
    pythia__basis_free(&others);
    return status;
}

/* The kept key that is most like a given one. */
static struct pythia__key *find_nearest_key(struct pythia__keys *run, const struct pythia__key *key,
                                            struct pythia__key *const *kept, size_t count)
{
    struct pythia__key *best = NULL;
    double most = -1;
    for (size_t k = 0; k < count; k++) {
        double like = kept[k] == key ? -1 : measure_likeness(run, key, kept[k]);
        if (like > most) {
            most = like;
            best = kept[k];
        }
    }
    return best;
}

/* How much of one span lies in another, which may be larger. */
static double part_within(struct pythia__keys *run, const struct pythia__key *part,
                          const struct pythia__key *whole)
{
    double sum = 0;
    pythia__basis_cross(&part->x, &whole->x, NULL, run->room.cosines);
    for (size_t i = 0; i < part->x.rank * whole->x.rank; i++)
        sum += run->room.cosines[i] * run->room.cosines[i];
    return part->x.rank > 0 ? sum / (double)part->x.rank : 0;
}

/* Whatever stood behind a key comes after another one. */
static void redirect_proxies(struct pythia__key **order, size_t count, size_t gone, size_t cause)
{
    for (size_t k = 0; k < count; k++) {
        struct pythia_association_result *r = order[k]->result;
        if (r->proxy_of == gone || r->cluster == gone)
            r->proxy_of = cause;
    }
}

/* The keys that stand on their own so far. */
struct kept {
    struct pythia__key *keys[KEPT_MAX];
    size_t count, regressors;
};

/* A key adds nothing to the kept ones. Let it take the place of a number that is not always there,
 * of whose span it is a part, if that has nothing to say where it is there. */
static int replace_partial_number(struct pythia__keys *run, struct pythia__key *key,
                                  struct pythia__key *whole, struct kept *kept,
                                  struct pythia__key **order, size_t before)
{
    size_t at = 0;
    double p;
    if (!is_not_always_there(run, whole) || whole->x.rank <= key->x.rank ||
        part_within(run, key, whole) <= SAME)
        return PYTHIA_OK;
    while (kept->keys[at] != whole)
        at++;
    kept->keys[at] = key;
    /* With the part in its place, does the whole still add something? */
    int status = partial_p(run, whole, kept->keys, kept->count, &p);
    if (status != PYTHIA_OK || p <= run->threshold) {
        kept->keys[at] = whole;
        return status;
    }
    kept->regressors -= whole->x.rank - key->x.rank;
    whole->result->proxy_of = key->result->column;
    key->result->proxy_of = PYTHIA_ASSOCIATION_NONE;
    redirect_proxies(order, before, whole->result->column, key->result->column);
    return PYTHIA_OK;
}

/* Keep a key, unless it is of the cluster of a kept one, or a proxy; `before` it others were
 * considered. */
static int consider_key(struct pythia__keys *run, struct pythia__key **order, size_t before,
                        struct kept *kept)
{
    struct pythia__key *key = order[before];
    struct pythia_association_result *r = key->result;
    for (size_t k = 0; k < kept->count; k++)
        /* One key under two names: testing either beside the other would find that neither adds
         * anything. */
        if (measure_likeness(run, key, kept->keys[k]) > SAME) {
            r->cluster = kept->keys[k]->result->column;
            return PYTHIA_OK;
        }
    r->p_partial = r->p;
    if (kept->count > 0) {
        int status = partial_p(run, key, kept->keys, kept->count, &r->p_partial);
        if (status != PYTHIA_OK)
            return status;
    }
    /* Too many regressors for the rows fit anything; keys after that are called proxies of what
     * fits already. */
    size_t regressors = kept->regressors + key->x.rank;
    bool full =
        kept->count == KEPT_MAX || (kept->count > 0 && ROWS_EACH * regressors > run->y.rows);
    if (full || !(r->p_partial <= run->input->alpha)) {
        struct pythia__key *cause = find_nearest_key(run, key, kept->keys, kept->count);
        r->proxy_of = cause->result->column;
        return full ? PYTHIA_OK : replace_partial_number(run, key, cause, kept, order, before);
    }
    kept->keys[kept->count++] = key;
    kept->regressors = regressors;
    return PYTHIA_OK;
}

/* Give up kept keys that add nothing to the others, the least one first; whatever stood behind such
 * a key now comes after the one it is a proxy of. */
static int drop_redundant_keys(struct pythia__keys *run, struct kept *kept,
                               struct pythia__key **order, size_t count)
{
    while (kept->count > 1) {
        size_t least = 0;
        for (size_t k = 0; k < kept->count; k++) {
            double *p = &kept->keys[k]->result->p_partial;
            int status = partial_p(run, kept->keys[k], kept->keys, kept->count, p);
            if (status != PYTHIA_OK)
                return status;
            if (*p > kept->keys[least]->result->p_partial)
                least = k;
        }
        /* One key at a time: without it the others have to be tested again, for each may have
         * hidden another. */
        struct pythia__key *gone = kept->keys[least];
        if (gone->result->p_partial <= run->input->alpha)
            return PYTHIA_OK;
        size_t cause = find_nearest_key(run, gone, kept->keys, kept->count)->result->column;
        gone->result->proxy_of = cause;
        redirect_proxies(order, count, gone->result->column, cause);
        kept->count--;
        for (size_t k = least; k < kept->count; k++)
            kept->keys[k] = kept->keys[k + 1];
    }
    if (kept->count == 1)
        kept->keys[0]->result->p_partial = kept->keys[0]->result->p;
    return PYTHIA_OK;
}

int pythia__keys_relate(struct pythia__keys *run, struct pythia__key **order, size_t count)
{
    struct kept kept = {.count = 0};
    for (size_t k = 0; k < count; k++) {
        int status = consider_key(run, order, k, &kept);
        if (status != PYTHIA_OK)
            return status;
    }
    int status = drop_redundant_keys(run, &kept, order, count);
    if (status != PYTHIA_OK)
        return status;
    /* A cluster is named after its first key, which then is of it, too. */
    for (size_t k = 0; k < count; k++) {
        size_t first = order[k]->result->cluster;
        for (size_t m = 0; first != PYTHIA_ASSOCIATION_NONE && m < k; m++)
            if (order[m]->result->column == first)
                order[m]->result->cluster = first;
    }
    return PYTHIA_OK;
}
