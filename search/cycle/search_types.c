/* A switch is a trace point and a request type: a point is opened for the type whose problem wants
 * it, and no request of another type gives a span of it. Few points carry that, for few types: what
 * was opened is kept as flags by trace point, for those types only that something was ever opened
 * for. Open for all types are the skeleton of the search space, what can not be switched, and what
 * pins keep open; a pin may also keep a point open for some types only.
 *
 * All that decides about one type reads s->open, in which most points are those of the skeleton. So
 * while a type is looked at, what is open only for others is hidden there: it counts as closed, and
 * may be opened for this type too. What pins keep open only for others counts as pinned closed. A
 * region map has to see a type in the same way, or it would look for time in spans that never come:
 * it reads the limits of the set of open points. */
#include <math.h>
#include <stdlib.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "search_parts.h"

/* ---- the types ---- */

int pythia__search_meet_type(struct pythia_search *s, uint32_t name)
{
    const struct pythia_space_type *of = pythia_space_type(s->space, name);
    struct pythia__search_type t = {.name = name, .requests = NAN};
    if (!of || pythia__search_type(s, name))
        return PYTHIA_OK;
    t.nodes = pythia_cct_nodes(of->cct);
    if (pythia_reach(&s->type_of, &s->type_of_capacity, name, sizeof(*s->type_of)) != PYTHIA_OK ||
        pythia_grow(&s->types, &s->type_capacity, s->type_count, sizeof(*s->types)) != PYTHIA_OK ||
        pythia__search_find_rates(s, of, &t) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    s->types[s->type_count++] = t;
    s->type_of[name] = (uint32_t)s->type_count;
    return PYTHIA_OK;
}

void pythia__search_free_types(struct pythia_search *s)
{
    for (size_t i = 0; i < s->type_count; i++) {
        pythia_free(s->types[i].open);
        pythia_free(s->types[i].rates);
    }
    pythia_free(s->types);
    pythia_free(s->type_of);
}

/* ---- what is open ---- */

/* Does a pin keep the point open, but not for this type? The skeleton is open for all. */
static bool is_excluded(const struct pythia_search *s, uint32_t type, uint32_t point)
{
    return s->skeleton[point] && !s->base[point] && pythia_open_points_is_limited(s->o.always) &&
           pythia_open_points_excludes(s->o.always, point, type);
}

bool pythia__search_is_open_for(const struct pythia_search *s, const struct pythia__search_type *t,
                                uint32_t point)
{
    return s->skeleton[point] ? !is_excluded(s, t->name, point)
                              : pythia__search_was_opened(t, point);
}

int pythia__search_switch(struct pythia_search *s, struct pythia__search_type *t, uint32_t point,
                          bool open)
{
    if (pythia__search_was_opened(t, point) == open)
        return PYTHIA_OK;
    if (!t->open && !(t->open = pythia_calloc(s->points, sizeof(*t->open))))
        return PYTHIA_ENOMEM;
    t->open[point] = open;
    s->open_for[point] += open ? 1 : (uint32_t)-1;
    s->open[point] = open || s->skeleton[point] || (!s->for_one && s->open_for[point] > 0);
    if (s->open_for[point] == 0)
        s->part[point] = 1;
    pythia__search_settle(s, point);
    return PYTHIA_OK;
}

/* Add the types that a point was opened for, or to which a pin limits it. */
static int add_type_limits(const struct pythia_search *s, struct pythia_open_points *to,
                           uint32_t point)
{
    size_t count = 0;
    const struct pythia_text *types =
        s->skeleton[point] ? pythia_open_points_types(s->o.always, point, &count) : NULL;
    struct pythia_text id =
        pythia_vocabulary_tracepoint_id(pythia_space_vocabulary(s->space), point);
    for (size_t i = 0; i < count; i++) {
        int status = pythia_open_points_add_id_for(to, id, types[i]);
        if (status != PYTHIA_OK)
            return status;
    }
    /* A pin decides alone: types that the search opened the point for do not widen it. */
    for (size_t i = 0; !types && i < s->type_count; i++)
        if (pythia__search_was_opened(&s->types[i], point)) {
            int status = pythia_open_points_add_for(to, point, s->types[i].name);
            if (status != PYTHIA_OK)
                return status;
        }
    return PYTHIA_OK;
}

/* Is a point open for all types? */
static bool is_for_all(const struct pythia_search *s, uint32_t point)
{
    size_t count;
    return s->skeleton[point] && (s->base[point] || !pythia_open_points_is_limited(s->o.always) ||
                                  !pythia_open_points_types(s->o.always, point, &count));
}

int pythia__search_list_open(const struct pythia_search *s, const bool *shown,
                             struct pythia_open_points **out)
{
    struct pythia_open_points *open = NULL;
    bool *all = pythia_calloc(s->points, sizeof(*all));
    if (!all)
        return PYTHIA_ENOMEM;
    int status = pythia_open_points_create(pythia_space_vocabulary(s->space), &open);
    if (status != PYTHIA_OK)
        goto out;
    for (uint32_t point = 0; point < s->points; point++)
        /* Points that are open for all types come first: the set is then closed for what it does
         * not name. */
        all[point] = is_for_all(s, point) && (!shown || shown[point]);
    status = pythia_open_points_add_flagged(open, all, s->points);
    if (status != PYTHIA_OK)
        goto out;
    for (uint32_t point = 0; point < s->points; point++) {
        if (!s->open[point] || all[point] || (shown && !shown[point]))
            continue;
        status = add_type_limits(s, open, point);
        if (status != PYTHIA_OK)
            goto out;
    }
    *out = open;
    open = NULL;
out:
    pythia_free(all);
    pythia_open_points_destroy(open);
    return status;
}

int pythia_search_open_points(const struct pythia_search *s, struct pythia_open_points **out)
{
    return pythia__search_list_open(s, NULL, out);
}

bool pythia_search_is_open(const struct pythia_search *s, uint32_t tracepoint)
{
    return tracepoint < s->points && s->open[tracepoint];
}

bool pythia_search_is_open_for(const struct pythia_search *s, uint32_t tracepoint, uint32_t type)
{
    const struct pythia__search_type *t = pythia__search_type(s, type);
    return tracepoint < s->points &&
           pythia__search_is_open_for(s, t ? t : &(struct pythia__search_type){.name = type},
                                      tracepoint);
}

/* ---- as one type sees it ---- */

/* Find what is open, but not for the type: what pins keep closed there first. None of it is of what
 * may never be open. */
static int list_hidden(struct pythia__search_hidden *h, const struct pythia__search_type *t)
{
    const struct pythia_search *s = h->search;
    size_t capacity = 0;
    bool pins = pythia_open_points_is_limited(s->o.always); /* else the skeleton is for all */
    for (int pass = pins ? 0 : 1; pass < 2; pass++) {
        for (uint32_t point = 0; point < s->points; point++) {
            if (!s->open[point] || s->skeleton[point] != (pass == 0) ||
                pythia__search_is_open_for(s, t, point))
                continue;
            if (pythia_grow(&h->points, &capacity, h->count, sizeof(*h->points)) != PYTHIA_OK)
                return PYTHIA_ENOMEM;
            h->points[h->count++] = point;
        }
        h->pinned = pass == 0 ? h->count : h->pinned;
    }
    return PYTHIA_OK;
}

int pythia__search_hide(struct pythia_search *s, size_t problem, struct pythia__search_hidden *h)
{
    const struct pythia__search_type *t = pythia__search_type_at(s, problem);
    struct pythia__search_type none = {.name = s->problems[problem].unsplit};
    *h = (struct pythia__search_hidden){.search = s, .decided = s->switch_count};
    int status = list_hidden(h, t ? t : &none);
    if (status != PYTHIA_OK)
        h->count = h->pinned = 0;
    for (size_t i = 0; i < h->count; i++) {
        s->open[h->points[i]] = false;
        s->never[h->points[i]] = i < h->pinned;
    }
    s->for_one = true;
    return status;
}

void pythia__search_show(struct pythia__search_hidden *h)
{
    struct pythia_search *s = h->search;
    for (size_t i = 0; i < h->count; i++) {
        s->open[h->points[i]] = true;
        s->never[h->points[i]] = false;
    }
    s->for_one = false;
    for (size_t i = h->decided; i < s->switch_count; i++) {
        uint32_t point = s->switches[i].tracepoint;
        s->open[point] = s->skeleton[point] || s->open_for[point] > 0;
    }
    pythia_free(h->points);
    *h = (struct pythia__search_hidden){.search = s};
}
