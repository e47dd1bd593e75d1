/* Answers about the live engine; nothing here changes it. */
#include <math.h>

#include "live_parts.h"

bool pythia__live_opens_for_all(const struct pythia_live *l, uint32_t point)
{
    size_t count;
    return pythia_search_is_open(l->search, point) &&
           (!l->points.open || pythia_search_is_wide(l->search, point) ||
            !pythia_open_points_types(l->points.open, point, &count));
}

double pythia_live_calls(const struct pythia_live *l, uint32_t tracepoint)
{
    return l->search && pythia_live_knows(l, tracepoint)
               ? pythia_search_calls(l->search, tracepoint)
               : NAN;
}

bool pythia_live_is_full(const struct pythia_live *l)
{
    return pythia_window_is_full(l->window);
}

uint64_t pythia_live_oldest_ns(const struct pythia_live *l)
{
    return pythia_window_oldest_ns(l->window);
}

uint64_t pythia_live_wish(const struct pythia_live *l)
{
    return l->wish;
}

bool pythia_live_in_skeleton(const struct pythia_live *l, uint32_t tracepoint)
{
    return l->search ? pythia_search_in_skeleton(l->search, tracepoint)
                     : tracepoint < l->entries_capacity && l->entries[tracepoint];
}

bool pythia_live_is_open(const struct pythia_live *l, uint32_t tracepoint)
{
    const struct pythia_search_options *o = &l->o.search;
    /* A shared search does not know the pins of this member. */
    if (l->share.on && o->never && pythia_open_points_has(o->never, tracepoint) &&
        !pythia_live_in_skeleton(l, tracepoint))
        return false;
    if (l->share.on && o->always && pythia_open_points_has(o->always, tracepoint))
        return true;
    if (l->search && pythia_search_is_open(l->search, tracepoint))
        return true;
    if (o->never && pythia_open_points_has(o->never, tracepoint) &&
        (l->search || !pythia_live_in_skeleton(l, tracepoint)))
        return false;
    if (l->search)
        return pythia__late_opens(&l->late, tracepoint);
    return l->o.learn_all || (o->always && pythia_open_points_has(o->always, tracepoint));
}

size_t pythia_live_open_for(const struct pythia_live *l, uint32_t tracepoint, uint32_t *types,
                            size_t most)
{
    size_t count = 0;
    /* More types than a plane can tell apart have it as all have. */
    if (!l->search || pythia__live_opens_for_all(l, tracepoint) || l->late.chosen > most ||
        !pythia__late_opens(&l->late, tracepoint))
        return 0;
    for (size_t i = 0; i < l->types.count && count < most; i++)
        if (l->types.types[i].chosen)
            types[count++] = l->types.types[i].name;
    return count;
}

bool pythia_live_seeks(const struct pythia_live *l, uint32_t tracepoint)
{
    return l->search && l->late.phase == PYTHIA__LATE_SEEKING &&
           pythia__late_opens(&l->late, tracepoint) && !pythia__live_opens_for_all(l, tracepoint);
}

static bool has_arrived(const struct pythia_live *l, uint32_t type)
{
    for (size_t i = 0; i < l->types.count; i++)
        if (l->types.types[i].name == type && !l->types.types[i].other)
            return true;
    return false;
}

bool pythia_live_has_type(const struct pythia_live *l, uint32_t type)
{
    return has_arrived(l, type) || (l->space && pythia_space_type(l->space, type));
}

int pythia_live_each_type(const struct pythia_live *l, int (*take)(void *context, uint32_t type),
                          void *context)
{
    size_t count = 0;
    int result = 0;
    const struct pythia_space_type *known = l->space ? pythia_space_types(l->space, &count) : NULL;
    for (size_t i = 0; i < l->types.count && result == 0; i++)
        if (!l->types.types[i].other)
            result = take(context, l->types.types[i].name);
    for (size_t i = 0; i < count && result == 0; i++)
        if (!has_arrived(l, known[i].name))
            result = take(context, known[i].name);
    return result;
}

const struct pythia_text *pythia_live_limit(const struct pythia_live *l, uint32_t tracepoint,
                                            size_t *count)
{
    struct pythia_open_points *open = l->points.open ? l->points.open : l->o.search.always;
    *count = 0;
    if (!open || (l->search && pythia_search_is_wide(l->search, tracepoint)))
        return NULL;
    return pythia_open_points_types(open, tracepoint, count);
}

bool pythia_live_knows(const struct pythia_live *l, uint32_t tracepoint)
{
    const struct pythia__unknown_points *u = &l->context.unknown;
    return l->search ? tracepoint < u->known_count && u->known[tracepoint] : l->o.learn_all;
}

const struct pythia_space *pythia_live_space(const struct pythia_live *l)
{
    return l->space;
}

const struct pythia_counts *pythia_live_counts(const struct pythia_live *l)
{
    return &l->counts;
}

struct pythia_window_numbers pythia_live_window(const struct pythia_live *l)
{
    return pythia_window_numbers(l->window);
}

struct pythia_live_numbers pythia_live_numbers(const struct pythia_live *l)
{
    struct pythia_live_numbers n = l->numbers;
    n.learning = !l->search;
    n.carried_requests = l->context.rare.carried;
    n.not_carried = l->context.rare.not_carried;
    n.paused = l->paused;
    n.switching = l->set == PYTHIA__SET_CHANGING || l->set == PYTHIA__SET_UNMADE;
    n.types = l->types.count;
    n.learnt = l->types.learnt;
    n.teaching = l->late.phase != PYTHIA__LATE_NONE;
    n.seeks = l->late.seeks;
    n.reviews = l->late.reviews;
    n.renewed = l->types.renewed;
    n.lessons = l->late.count;
    n.lessons_cut = l->late.cut;
    n.types_waiting = l->late.waiting;
    n.unknown_points = l->context.unknown.count;
    n.unknown_spans = l->context.unknown.total;
    return n;
}

const struct pythia_cycle *pythia_live_last(const struct pythia_live *l)
{
    return &l->last;
}

void pythia_live_count_points(const struct pythia_live *l, size_t *skeleton, size_t *points)
{
    const struct pythia__unknown_points *u = &l->context.unknown;
    *skeleton = *points = 0;
    for (uint32_t point = 0; point < u->known_count; point++) {
        *points += u->known[point];
        *skeleton += u->known[point] && pythia_live_in_skeleton(l, point);
    }
}
