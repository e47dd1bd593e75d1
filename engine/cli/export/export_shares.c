#include "export_shares.h"

#include <math.h>
#include <stdlib.h>

#include "pythia/diagnosis.h"
#include "pythia/groups.h"
#include "pythia/mem.h"
#include "pythia/request_type.h"
#include "pythia/status.h"

#define SEED 1 /* as pythia replay has it */

struct type_shares {
    uint32_t type; /* number of its name */
    struct pythia_export_share *list;
    size_t count;
};

struct pythia__export_shares {
    struct pythia__reading *reading;
    struct pythia_groups *groups; /* NULL once the shares are known */
    struct pythia_request_types *types;
    struct type_shares *by_type; /* sorted */
    size_t count;
};

static int begin_learning(void *context)
{
    struct pythia__export_shares *s = context;
    pythia_groups_destroy(s->groups);
    s->groups = NULL;
    return pythia_groups_create(s->reading->vocabulary, &s->reading->groups, &s->groups);
}

static int learn_trace(void *context, const struct pythia_trace *trace)
{
    struct pythia__export_shares *s = context;
    return pythia_groups_add(s->groups, trace);
}

static int compare_shares(const void *a, const void *b)
{
    const struct pythia_export_share *x = a, *y = b;
    return (x->tracepoint > y->tracepoint) - (x->tracepoint < y->tracepoint);
}

static int compare_types(const void *a, const void *b)
{
    const struct type_shares *x = a, *y = b;
    return (x->type > y->type) - (x->type < y->type);
}

/* The shares of the edges whose innermost span is one of the trace point add up to that of its own
 * time (own_time.h). */
static int add_shares_of_group(struct type_shares *t, const struct pythia_ranking *r,
                               const struct pythia_cct *cct)
{
    t->list = pythia_calloc(r->edge_count, sizeof(*t->list));
    if (!t->list)
        return PYTHIA_ENOMEM;
    for (size_t e = 0; e < r->edge_count; e++) {
        uint32_t node = pythia_cct_edge_at(cct, r->edges[e].edge)->context;
        if (node != PYTHIA_CCT_ROOT && isfinite(r->edges[e].share.share))
            t->list[t->count++] = (struct pythia_export_share){pythia_cct_tracepoint(cct, node),
                                                               r->edges[e].share.share};
    }
    qsort(t->list, t->count, sizeof(*t->list), compare_shares);
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++)
        if (kept > 0 && t->list[kept - 1].tracepoint == t->list[i].tracepoint)
            t->list[kept - 1].share += t->list[i].share;
        else
            t->list[kept++] = t->list[i];
    t->count = kept;
    return PYTHIA_OK;
}

static bool has_shared_type(const struct pythia__export_shares *s, uint32_t name)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->by_type[i].type == name)
            return true;
    return false;
}

/* For each type, keep the group that a report shows first: groups are sorted, the best first. */
static int take_diagnosis(struct pythia__export_shares *s, const struct pythia_diagnosis *d)
{
    size_t types;
    const struct pythia_type *all = pythia_groups_types(s->groups, &types);
    int status = PYTHIA_OK;
    s->by_type = pythia_calloc(types ? types : 1, sizeof(*s->by_type));
    if (!s->by_type)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < d->group_count && status == PYTHIA_OK; i++) {
        const struct pythia_group *g = &d->groups[i];
        if (g->ranking.edge_count == 0 || has_shared_type(s, all[g->type].name))
            continue;
        s->by_type[s->count] = (struct type_shares){.type = all[g->type].name};
        status =
            add_shares_of_group(&s->by_type[s->count++], &g->ranking, pythia_groups_cct(s->groups));
    }
    qsort(s->by_type, s->count, sizeof(*s->by_type), compare_types);
    return status;
}

/* Shares are those of a replay with default options. Modes are not needed for them and are
 * expensive. */
int pythia__export_shares_learn(struct pythia__reading *reading, struct pythia__export_shares **out)
{
    const struct pythia_diagnosis_options how = {.seed = SEED, .without_modes = true};
    struct pythia__export_shares *s = pythia_calloc(1, sizeof(*s));
    struct pythia_diagnosis *d = NULL;
    struct pythia_consumer consumer = {begin_learning, learn_trace, s, NULL};
    int status;
    if (!s)
        return PYTHIA_ENOMEM;
    s->reading = reading;
    if ((status = pythia__reading_again(reading)) != PYTHIA_OK)
        goto out;
    reading->twice = true;
    if ((status = pythia__reading_run(reading, &consumer)) != PYTHIA_OK ||
        (status = pythia_groups_finish(s->groups)) != PYTHIA_OK ||
        (status = pythia_diagnose(s->groups, &how, &d)) != PYTHIA_OK ||
        (status = take_diagnosis(s, d)) != PYTHIA_OK)
        goto out;
    status = pythia_request_types_create(reading->vocabulary, &reading->groups.types, &s->types);
out:
    pythia_diagnosis_destroy(d);
    pythia_groups_destroy(s->groups);
    s->groups = NULL;
    if (status == PYTHIA_OK)
        *out = s;
    else
        pythia__export_shares_destroy(s);
    return status;
}

void pythia__export_shares_destroy(struct pythia__export_shares *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++)
        pythia_free(s->by_type[i].list);
    pythia_free(s->by_type);
    pythia_request_types_destroy(s->types);
    pythia_free(s);
}

const struct pythia_export_share *pythia__export_shares_of(struct pythia__export_shares *s,
                                                           const struct pythia_trace *trace,
                                                           size_t *count)
{
    const struct type_shares wanted = {.type = pythia_request_type(s->types, trace)};
    const struct type_shares *found =
        s->count > 0 ? bsearch(&wanted, s->by_type, s->count, sizeof(wanted), compare_types) : NULL;
    *count = found ? found->count : 0;
    return found ? found->list : NULL;
}
