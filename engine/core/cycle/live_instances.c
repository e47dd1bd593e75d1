/* Points that are open at one instance of their service only, and the requests that such a point
 * cannot be expected in. Taken as evidence, these would say that some requests hit the point and
 * others do not, which is a structure that the program does not have. */
#include "live_parts.h"
#include "pythia/mem.h"
#include "pythia/status.h"

uint32_t pythia_live_part(const struct pythia_live *l, uint32_t tracepoint)
{
    return l->search ? pythia_search_part(l->search, tracepoint) : 1;
}

int pythia__live_find_partial(struct pythia_live *l)
{
    uint32_t points = pythia_vocabulary_tracepoints(l->vocabulary);
    l->partial_count = 0;
    for (uint32_t point = 0; point < points; point++) {
        if (!pythia_search_is_open(l->search, point) || pythia_live_part(l, point) < 2)
            continue;
        if (pythia_grow(&l->partial, &l->partial_capacity, l->partial_count, sizeof(*l->partial)) !=
            PYTHIA_OK)
            return PYTHIA_ENOMEM;
        l->partial[l->partial_count++] = point;
    }
    return PYTHIA_OK;
}

static uint32_t find_point_service(const struct pythia_live *l, uint32_t point)
{
    return pythia_vocabulary_tracepoint_at(l->vocabulary, point)->service;
}

/* Does every request of the type that hits a service show it, because an entry point of it is open?
 * Then one without spans of the service did not hit it at any instance. */
static bool shows_service(const struct pythia_live *l, uint32_t type, uint32_t service)
{
    const struct pythia_space_type *t = pythia_space_type(l->space, type);
    for (uint32_t node = 1; t && node < pythia_cct_nodes(t->cct); node++) {
        uint32_t point = pythia_cct_tracepoint(t->cct, node);
        if (pythia_search_in_skeleton(l->search, point) && find_point_service(l, point) == service)
            return true;
    }
    return false;
}

/* Did all spans of the service come from the chosen instance? */
static bool was_at_chosen(const struct pythia_live *l, uint32_t type, uint32_t service,
                          const struct pythia_trace *trace)
{
    const struct pythia_live_instances *known = &l->o.instances;
    bool any = false;
    for (uint32_t i = 0; i < trace->count; i++) {
        const struct pythia_trace_span *s = &trace->spans[i];
        if (find_point_service(l, s->tracepoint) != service)
            continue;
        if (!known->is_chosen(known->context, s->resource))
            return false;
        any = true;
    }
    return any || shows_service(l, type, service);
}

bool pythia__live_was_elsewhere(const struct pythia_live *l, const struct pythia__live_type *type,
                                const struct pythia_trace *trace)
{
    if (!pythia__live_is_searching(l) || !type->learnt)
        return false;
    for (size_t i = 0; i < l->partial_count; i++)
        if (pythia_search_is_open_for(l->search, l->partial[i], type->name) &&
            !was_at_chosen(l, type->name, find_point_service(l, l->partial[i]), trace))
            return true;
    return false;
}
