/* In which order a report tells what it has, however many types there are. */
#include <math.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/sort.h"
#include "sentences.h"

/* ---- types by their paths ---- */

/* What lies between the paths of a type, as part of the variance of all requests; NaN if that is
 * not explained. */
static double share_of(const json_t *type)
{
    return json_array_size(pythia__array(type, "explanations")) > 0
               ? pythia__number(type, "variance_share") *
                     pythia__number(type, "between_paths_share")
               : NAN;
}

static bool is_larger(const void *context, uint32_t a, uint32_t b)
{
    const double *shares = context;
    return shares[a] > shares[b];
}

struct pythia__paths pythia__rank_paths(const json_t *types, struct pythia_buf *out)
{
    size_t count = json_array_size(types);
    struct pythia__paths p = {.types = types};
    p.order = pythia_calloc(2 * count, sizeof(*p.order));
    p.shares = pythia_calloc(count, sizeof(*p.shares));
    if (!p.order || !p.shares) {
        out->failed = out->failed || count > 0;
        return p;
    }
    for (size_t i = 0; i < count; i++) {
        p.shares[i] = share_of(json_array_get(types, i));
        if (!isnan(p.shares[i]))
            p.order[p.count++] = (uint32_t)i;
    }
    pythia_sort_indexes(p.order, p.count, p.order + count, is_larger, p.shares);
    return p;
}

const json_t *pythia__next_paths(struct pythia__paths *p, double least)
{
    if (p->told == p->count || !(p->shares[p->order[p->told]] >= least))
        return NULL;
    return json_array_get(p->types, p->order[p->told++]);
}

void pythia__paths_free(struct pythia__paths *p)
{
    pythia_free(p->order);
    pythia_free(p->shares);
}

/* ---- groups of one type and status ---- */

/* The texts that groups are compared by; borrowed from the groups. */
struct alike_key {
    const char *type, *status;
};

static int compare_keys(const struct alike_key *a, const struct alike_key *b)
{
    int order = strcmp(a->type, b->type);
    return order ? order : strcmp(a->status, b->status);
}

static bool comes_before(const void *context, uint32_t a, uint32_t b)
{
    const struct alike_key *keys = context;
    return compare_keys(&keys[a], &keys[b]) < 0;
}

/* Add up groups that are alike; `order` is of the groups, sorted by their keys. */
static void add_alike(const json_t *groups, const struct alike_key *keys, const uint32_t *order,
                      struct pythia__alike *all)
{
    size_t count = json_array_size(groups);
    uint32_t first = 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *group = json_array_get(groups, order[i]);
        if (i == 0 || compare_keys(&keys[first], &keys[order[i]]) != 0)
            first = order[i];
        double requests = pythia__number(group, "count");
        all[first].groups++;
        all[first].requests += requests;
        all[first].time_ns += requests * pythia__number(group, "mean_ns");
    }
}

struct pythia__alike *pythia__gather_alike(const json_t *groups, struct pythia_buf *out)
{
    size_t count = json_array_size(groups), i;
    uint32_t *order = pythia_calloc(2 * count, sizeof(*order));
    struct alike_key *keys = pythia_calloc(count, sizeof(*keys));
    struct pythia__alike *all = pythia_calloc(count, sizeof(*all));
    const json_t *group;
    if (order && keys && all) {
        json_array_foreach (groups, i, group) {
            order[i] = (uint32_t)i;
            keys[i] = (struct alike_key){pythia__string(group, "request_type"),
                                         pythia__string(group, "status")};
        }
        pythia_sort_indexes(order, count, order + count, comes_before, keys);
        add_alike(groups, keys, order, all);
    } else {
        out->failed = out->failed || count > 0;
        pythia_free(all);
        all = NULL;
    }
    pythia_free(order);
    pythia_free(keys);
    return all;
}
