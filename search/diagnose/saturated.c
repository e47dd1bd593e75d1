#include "pythia/saturated.h"

#include <math.h>
#include <stdlib.h>

#include "pythia/explain.h"
#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"

#define VARIABLE PYTHIA_TEXT("variable.")
#define MAXIMUM  PYTHIA_TEXT(".max")

struct sample {
    uint32_t series;
    uint64_t time_ns, hash; /* of the request */
    double value;
};

struct collection {
    const struct pythia_keys *keys;
    const struct pythia_saturated_limit *limits;
    size_t limit_count;
    uint32_t *series; /* by key: the first key of its attribute; PYTHIA_NONE: not looked at */
    struct sample *samples;
    size_t count, capacity;
};

static bool is_level(struct pythia_text name)
{
    if (pythia_looks_like_id(name))
        return false;
    return !pythia_text_starts(name, VARIABLE) || pythia_text_ends(name, MAXIMUM);
}

static bool has_smaller_attribute(const void *keys, uint32_t a, uint32_t b)
{
    return pythia_text_compare(pythia_keys_attribute(keys, a), pythia_keys_attribute(keys, b)) < 0;
}

/* Keys of one attribute are one series. */
static int number_series(struct collection *c)
{
    uint32_t count = pythia_keys_count(c->keys), first = 0;
    uint32_t *order = pythia_calloc(2 * (size_t)count + 1, sizeof(*order));
    c->series = pythia_calloc(count + 1, sizeof(*c->series));
    if (!order || !c->series) {
        pythia_free(order);
        return PYTHIA_ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    pythia_sort_indexes(order, count, order + count, has_smaller_attribute, c->keys);
    for (uint32_t i = 0; i < count; i++) {
        struct pythia_text name = pythia_keys_attribute(c->keys, order[i]);
        /* Sorted by attribute, keys of one attribute are neighbours; the first names the series. */
        if (i == 0 || !pythia_text_equal(name, pythia_keys_attribute(c->keys, first)))
            first = order[i];
        c->series[order[i]] = is_level(name) ? first : PYTHIA_NONE;
    }
    pythia_free(order);
    return PYTHIA_OK;
}

static int collect_row(struct collection *c, const struct pythia_row *row)
{
    for (uint32_t i = 0; i < row->value_count; i++) {
        const struct pythia_row_value *v = &row->values[i];
        struct sample s = {c->series[v->key], row->start_ns, row->hash, 0};
        if (s.series == PYTHIA_NONE || !pythia_row_number(v, &s.value) || !isfinite(s.value))
            continue;
        if (pythia_grow(&c->samples, &c->capacity, c->count, sizeof(s)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        c->samples[c->count++] = s;
    }
    return PYTHIA_OK;
}

static int collect_samples(struct collection *c, const struct pythia_groups *g)
{
    size_t types;
    const struct pythia_type *all = pythia_groups_types(g, &types);
    for (size_t t = 0; t < types; t++)
        for (size_t i = 0; i < pythia_sample_count(all[t].rows); i++)
            if (collect_row(c, pythia_sample_row(all[t].rows, i)) != PYTHIA_OK)
                return PYTHIA_ENOMEM;
    return PYTHIA_OK;
}

/* Requests that began at the same time are in the order of their ids. */
static int compare_samples(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    if (x->series != y->series)
        return x->series < y->series ? -1 : 1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static int compare_saturated_keys(const void *a, const void *b)
{
    const struct pythia_saturated_key *x = a, *y = b;
    if (x->found.share != y->found.share)
        return x->found.share > y->found.share ? -1 : 1;
    return pythia_text_compare(x->name, y->name);
}

static void pick_points(struct pythia_saturated_key *key, const struct sample *samples)
{
    key->points = key->samples < PYTHIA_SATURATED_POINTS ? key->samples : PYTHIA_SATURATED_POINTS;
    for (size_t i = 0; i < key->points; i++) {
        const struct sample *s = &samples[i * key->samples / key->points];
        key->times_ns[i] = s->time_ns;
        key->values[i] = s->value;
    }
}

/* NaN: it is to be learnt. Of several the last counts. */
static double find_limit(const struct collection *c, struct pythia_text name)
{
    for (size_t i = c->limit_count; i > 0; i--)
        if (pythia_text_equal(c->limits[i - 1].name, name))
            return c->limits[i - 1].limit;
    return NAN;
}

static int look_at_series(const struct collection *c, size_t from, size_t count, double *values,
                          struct pythia_saturated *out)
{
    struct pythia_saturation found;
    const struct sample *samples = c->samples + from;
    for (size_t i = 0; i < count; i++)
        values[i] = samples[i].value;
    const double limit = find_limit(c, pythia_keys_attribute(c->keys, samples[0].series));
    int status = pythia_saturation_look(values, count, limit, &found);
    if (status != PYTHIA_OK || !found.saturated)
        return status;
    struct pythia_saturated_key *keys =
        pythia_realloc(out->keys, out->count + 1, sizeof(*out->keys));
    if (!keys)
        return PYTHIA_ENOMEM;
    out->keys = keys;
    struct pythia_saturated_key *key = &keys[out->count++];
    *key = (struct pythia_saturated_key){.name = pythia_keys_attribute(c->keys, samples[0].series),
                                         .samples = count,
                                         .found = found,
                                         .first_ns = samples[0].time_ns,
                                         .last_ns = samples[count - 1].time_ns};
    pick_points(key, samples);
    return PYTHIA_OK;
}

static int look_at_all(const struct collection *c, double *values, struct pythia_saturated *out)
{
    size_t to = 0;
    for (size_t from = 0; from < c->count; from = to) {
        while (to < c->count && c->samples[to].series == c->samples[from].series)
            to++;
        int status = to - from < PYTHIA_SATURATION_MIN
                         ? PYTHIA_OK
                         : look_at_series(c, from, to - from, values, out);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

int pythia_saturated_find(const struct pythia_groups *g,
                          const struct pythia_saturated_limit *limits, size_t limit_count,
                          struct pythia_saturated *out)
{
    struct collection c = {
        .keys = pythia_groups_keys(g), .limits = limits, .limit_count = limit_count};
    struct pythia_saturated found = {0};
    double *values = NULL;
    int status = number_series(&c);
    if (status != PYTHIA_OK || (status = collect_samples(&c, g)) != PYTHIA_OK)
        goto out;
    /* One more than needed: an allocation of no bytes may return NULL, which would pass for lack
     * of memory. */
    values = pythia_calloc(c.count + 1, sizeof(*values));
    status = values ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    if (c.count > 0)
        /* Bursts are requests in a row, so the samples of a key must be in order of time. */
        qsort(c.samples, c.count, sizeof(*c.samples), compare_samples);
    status = look_at_all(&c, values, &found);
    if (found.count > 0)
        qsort(found.keys, found.count, sizeof(*found.keys), compare_saturated_keys);
out:
    pythia_free(values);
    pythia_free(c.samples);
    pythia_free(c.series);
    if (status == PYTHIA_OK)
        *out = found;
    else
        pythia_saturated_free(&found);
    return status;
}

void pythia_saturated_free(struct pythia_saturated *s)
{
    pythia_free(s->keys);
    *s = (struct pythia_saturated){0};
}
