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
    double value;
    uint32_t row; /* its place in the order of time */
};

/* The samples of an attribute, in order of time. */
struct series {
    struct sample *samples; /* owned */
    size_t count, capacity;
};

struct collection {
    const struct pythia_keys *keys;
    const struct pythia_saturated_limit *limits;
    size_t limit_count;
    uint32_t *numbers; /* owned, as all arrays; by key: the first key of its attribute, which
                          numbers the series; PYTHIA_NONE: not looked at */
    struct series *series;
    const struct pythia_row **rows;
    uint32_t *order; /* of the rows, by time; as many again for sorting */
    size_t row_count;
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
    c->numbers = pythia_calloc(count + 1, sizeof(*c->numbers));
    if (!order || !c->numbers) {
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
        c->numbers[order[i]] = is_level(name) ? first : PYTHIA_NONE;
    }
    pythia_free(order);
    return PYTHIA_OK;
}

static int list_rows(struct collection *c, const struct pythia_groups *g)
{
    size_t types, count = 0;
    const struct pythia_type *all = pythia_groups_types(g, &types);
    for (size_t t = 0; t < types; t++)
        count += pythia_sample_count(all[t].rows);
    c->rows = pythia_calloc(count + 1, sizeof(struct pythia_row *));
    c->order = pythia_calloc(2 * count + 1, sizeof(*c->order));
    if (!c->rows || !c->order)
        return PYTHIA_ENOMEM;
    for (size_t t = 0; t < types; t++)
        for (size_t i = 0; i < pythia_sample_count(all[t].rows); i++) {
            c->order[c->row_count] = (uint32_t)c->row_count;
            c->rows[c->row_count++] = pythia_sample_row(all[t].rows, i);
        }
    return PYTHIA_OK;
}

/* Requests that began at the same time are in the order of their ids. */
static bool began_before(const void *rows, uint32_t a, uint32_t b)
{
    const struct pythia_row *x = ((const struct pythia_row *const *)rows)[a],
                            *y = ((const struct pythia_row *const *)rows)[b];
    return x->start_ns != y->start_ns ? x->start_ns < y->start_ns : x->hash < y->hash;
}

/* Put a sample at the end of its series; those of one request are in order of their values. */
static int place_sample(struct series *to, struct sample s)
{
    if (pythia_grow(&to->samples, &to->capacity, to->count, sizeof(s)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    size_t at = to->count++;
    for (; at > 0 && to->samples[at - 1].row == s.row && s.value < to->samples[at - 1].value; at--)
        to->samples[at] = to->samples[at - 1];
    to->samples[at] = s;
    return PYTHIA_OK;
}

/* Bursts are requests in a row, so the samples of a series must be in order of time: there are far
 * fewer rows to sort than samples. */
static int collect_samples(struct collection *c, const struct pythia_groups *g)
{
    int status = list_rows(c, g);
    c->series = pythia_calloc((size_t)pythia_keys_count(c->keys) + 1, sizeof(*c->series));
    if (status != PYTHIA_OK || !c->series)
        return PYTHIA_ENOMEM;
    pythia_sort_indexes(c->order, c->row_count, c->order + c->row_count, began_before, c->rows);
    for (size_t i = 0; i < c->row_count; i++) {
        const struct pythia_row *row = c->rows[c->order[i]];
        for (uint32_t k = 0; k < row->value_count; k++) {
            const struct pythia_row_value *v = &row->values[k];
            struct sample s = {.row = (uint32_t)i};
            uint32_t series = c->numbers[v->key];
            if (series != PYTHIA_NONE && pythia_row_number(v, &s.value) && isfinite(s.value) &&
                place_sample(&c->series[series], s) != PYTHIA_OK)
                return PYTHIA_ENOMEM;
        }
    }
    return PYTHIA_OK;
}

static int compare_saturated_keys(const void *a, const void *b)
{
    const struct pythia_saturated_key *x = a, *y = b;
    if (x->found.share != y->found.share)
        return x->found.share > y->found.share ? -1 : 1;
    return pythia_text_compare(x->name, y->name);
}

static uint64_t time_of(const struct collection *c, const struct sample *s)
{
    return c->rows[c->order[s->row]]->start_ns;
}

static void pick_points(const struct collection *c, const struct sample *samples,
                        struct pythia_saturated_key *key)
{
    key->points = key->samples < PYTHIA_SATURATED_POINTS ? key->samples : PYTHIA_SATURATED_POINTS;
    for (size_t i = 0; i < key->points; i++) {
        const struct sample *s = &samples[i * key->samples / key->points];
        key->times_ns[i] = time_of(c, s);
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

static int look_at_series(const struct collection *c, uint32_t series, double *values,
                          struct pythia_saturated *out)
{
    struct pythia_saturation found;
    const struct sample *samples = c->series[series].samples;
    size_t count = c->series[series].count;
    const struct pythia_text name = pythia_keys_attribute(c->keys, series);
    for (size_t i = 0; i < count; i++)
        values[i] = samples[i].value;
    int status = pythia_saturation_look(values, count, find_limit(c, name), &found);
    if (status != PYTHIA_OK || !found.saturated)
        return status;
    struct pythia_saturated_key *keys =
        pythia_realloc(out->keys, out->count + 1, sizeof(*out->keys));
    if (!keys)
        return PYTHIA_ENOMEM;
    out->keys = keys;
    struct pythia_saturated_key *key = &keys[out->count++];
    *key = (struct pythia_saturated_key){.name = name,
                                         .samples = count,
                                         .found = found,
                                         .first_ns = time_of(c, &samples[0]),
                                         .last_ns = time_of(c, &samples[count - 1])};
    pick_points(c, samples, key);
    return PYTHIA_OK;
}

static int look_at_all(const struct collection *c, struct pythia_saturated *out)
{
    uint32_t keys = pythia_keys_count(c->keys);
    size_t most = 1; /* an allocation of no bytes may return NULL, which would pass for failure */
    for (uint32_t key = 0; key < keys; key++)
        most = c->series[key].count > most ? c->series[key].count : most;
    double *values = pythia_calloc(most, sizeof(*values));
    int status = values ? PYTHIA_OK : PYTHIA_ENOMEM;
    for (uint32_t key = 0; key < keys && status == PYTHIA_OK; key++)
        if (c->series[key].count >= PYTHIA_SATURATION_MIN)
            status = look_at_series(c, key, values, out);
    pythia_free(values);
    return status;
}

int pythia_saturated_find(const struct pythia_groups *g,
                          const struct pythia_saturated_limit *limits, size_t limit_count,
                          struct pythia_saturated *out)
{
    struct collection c = {
        .keys = pythia_groups_keys(g), .limits = limits, .limit_count = limit_count};
    struct pythia_saturated found = {0};
    int status = number_series(&c);
    if (status != PYTHIA_OK || (status = collect_samples(&c, g)) != PYTHIA_OK)
        goto out;
    status = look_at_all(&c, &found);
    if (found.count > 0)
        qsort(found.keys, found.count, sizeof(*found.keys), compare_saturated_keys);
out:
    for (uint32_t key = 0; c.series && key < pythia_keys_count(c.keys); key++)
        pythia_free(c.series[key].samples);
    pythia_free(c.series);
    pythia_free(c.numbers);
    pythia_free(c.rows);
    pythia_free(c.order);
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
