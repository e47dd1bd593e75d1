#include "items.h"

#include <math.h>
#include <stdlib.h>

#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"
#include "sentences/sentences.h"

struct collection {
    const struct pythia_report_source *s;
    struct pythia__item *items; /* owned */
    size_t count, capacity;
};

static struct pythia__item *add_collected(struct collection *c, enum pythia__item_kind kind,
                                          const struct pythia_type_result *type, double share)
{
    if (pythia_grow(&c->items, &c->capacity, c->count, sizeof(*c->items)) != PYTHIA_OK)
        return NULL;
    struct pythia__item *item = &c->items[c->count++];
    *item = (struct pythia__item){.kind = kind, .type = type, .share = share};
    if (type) {
        item->name = type->type->name;
        item->unsplit = type->type->unsplit;
    }
    return item;
}

static const struct pythia_type_result *find_item_type(const struct pythia_diagnosis *d,
                                                       uint32_t name)
{
    for (size_t i = 0; i < d->type_count; i++)
        if (d->types[i].type->name == name)
            return &d->types[i];
    return NULL;
}

static bool is_of(const struct pythia_verdict *v, uint32_t type, const struct pythia_group *g)
{
    return v->type == type && v->state == PYTHIA_VERDICT_FOUND &&
           (v->group == g->id || v->group == 0);
}

/* Without a search verdicts are in the order of the types, and then the first look finds it. */
static const struct pythia_verdict *find_verdict(const struct pythia_report_source *s,
                                                 const struct pythia_group *g)
{
    uint32_t type = s->diagnosis->types[g->type].type->name;
    size_t count = s->verdicts ? s->verdicts->count : 0;
    if (g->type < count && is_of(&s->verdicts->list[g->type], type, g))
        return &s->verdicts->list[g->type];
    for (size_t i = 0; i < count; i++)
        if (is_of(&s->verdicts->list[i], type, g))
            return &s->verdicts->list[i];
    return NULL;
}

static int add_groups(struct collection *c)
{
    const struct pythia_diagnosis *d = c->s->diagnosis;
    for (size_t i = 0; i < d->group_count; i++) {
        const struct pythia_group *g = &d->groups[i];
        if (!pythia__is_diagnosed(c->s, g))
            continue;
        struct pythia__item *item =
            add_collected(c, PYTHIA__ITEM_GROUP, &d->types[g->type], g->variance_share);
        if (!item)
            return PYTHIA_ENOMEM;
        item->group = g;
        item->verdict = find_verdict(c->s, g);
    }
    return PYTHIA_OK;
}

static int add_paths_item(struct collection *c)
{
    const struct pythia_diagnosis *d = c->s->diagnosis;
    for (size_t i = 0; i < d->type_count; i++) {
        const struct pythia_type_result *t = &d->types[i];
        if (t->explanations.found_count > 0 && t->variance_share * t->between_share >= 0 &&
            !add_collected(c, PYTHIA__ITEM_PATHS, t, t->variance_share * t->between_share))
            return PYTHIA_ENOMEM;
    }
    return PYTHIA_OK;
}

static bool has_item(const struct collection *c, const struct pythia_verdict *v)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->items[i].verdict == v)
            return true;
    return false;
}

/* Verdicts that no group of the last cycle shows, and searches that ended without one. */
static int add_verdicts(struct collection *c)
{
    const struct pythia_verdicts *all = c->s->verdicts;
    for (size_t i = 0; c->s->loop && all && i < all->count; i++) {
        const struct pythia_verdict *v = &all->list[i];
        const struct pythia_problem *p = pythia__problem_of(c->s, v);
        const struct pythia_type_result *type = find_item_type(c->s->diagnosis, v->type);
        bool held = v->state == PYTHIA_VERDICT_FOUND && v->since > 0 &&
                    (v->found_count > 0 || v->why == PYTHIA_WHY_SPREAD),
             ended = v->state == PYTHIA_VERDICT_NOTHING && p &&
                     p->state == PYTHIA_PROBLEM_GIVEN_UP && p->why != PYTHIA_WHY_NONE;
        if (has_item(c, v) || !(held || ended))
            continue;
        /* A type that the last cycle had no request of has no share of its variance: what a program
         * does once when it starts must not stay at the top. */
        struct pythia__item *item = add_collected(c, held ? PYTHIA__ITEM_HELD : PYTHIA__ITEM_ENDED,
                                                  type, p && type ? p->variance_share : NAN);
        if (!item)
            return PYTHIA_ENOMEM;
        item->verdict = v;
        item->problem = p;
        if (!type) {
            item->name = v->type;
            item->unsplit = p ? p->unsplit : v->type;
        }
    }
    return PYTHIA_OK;
}

/* Groups stay in the order that they are ranked in; by a share of the variance that is everybody's
 * order. */
static bool item_comes_before(const void *context, uint32_t a, uint32_t b)
{
    const struct collection *c = context;
    const struct pythia__item *x = &c->items[a], *y = &c->items[b];
    if (c->s->measure != PYTHIA_MEASURE_SHARE && (x->group || y->group))
        return x->group && !y->group;
    return x->share > y->share || (!isnan(x->share) && isnan(y->share));
}

static int sort_collected(struct collection *c)
{
    struct pythia__item *sorted = pythia_calloc(c->count + 1, sizeof(*sorted));
    uint32_t *order = pythia_calloc(2 * c->count + 1, sizeof(*order));
    if (!sorted || !order) {
        pythia_free(sorted);
        pythia_free(order);
        return PYTHIA_ENOMEM;
    }
    for (size_t i = 0; i < c->count; i++)
        order[i] = (uint32_t)i;
    pythia_sort_indexes(order, c->count, order + c->count, item_comes_before, c);
    for (size_t i = 0; i < c->count; i++)
        sorted[i] = c->items[order[i]];
    pythia_free(order);
    pythia_free(c->items);
    c->items = sorted;
    return PYTHIA_OK;
}

int pythia__items_collect(const struct pythia_report_source *s, struct pythia__item **items,
                          size_t *count)
{
    struct collection c = {.s = s};
    int status = add_groups(&c);
    if (status != PYTHIA_OK || (status = add_paths_item(&c)) != PYTHIA_OK ||
        (status = add_verdicts(&c)) != PYTHIA_OK || (status = sort_collected(&c)) != PYTHIA_OK) {
        pythia_free(c.items);
        return status;
    }
    *items = c.items;
    *count = c.count;
    return PYTHIA_OK;
}
