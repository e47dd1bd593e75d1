/* Opens and closes points in a cycle, and knows which may not be closed. */
#include <inttypes.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "search_parts.h"

/* Where a point is opened comes before the reason why it is. */
static void add_part(const struct pythia_search *s, const struct pythia__search_type *t,
                     uint32_t point, uint32_t part, struct pythia_buf *reason)
{
    const struct pythia_budget *limit = &s->o.budget;
    double cost = pythia__search_full_cost(s, t, point);
    struct pythia_buf all = {0};
    pythia_buf_printf(&all, "at 1 of %" PRIu32 " instances", part);
    if (limit->added_ns > 0 && cost > limit->added_ns)
        pythia_buf_printf(&all, ", because at all it would add %.0f ns to a request", cost);
    pythia_buf_puts(&all, ": ");
    pythia_buf_text_add(&all, pythia_buf_text(reason));
    pythia_buf_free(reason);
    *reason = all;
}

int pythia__search_decide(struct pythia_search *s, struct pythia__search_type *t, uint32_t point,
                          bool open, size_t problem, double inside, struct pythia_buf *reason)
{
    uint32_t part = pythia__search_part_of(s, t, point);
    if (open && part > 1)
        add_part(s, t, point, part, reason);
    if (open) {
        s->part[point] = part;
        s->parted = s->parted || part > 1;
    }
    if (pythia_buf_status(reason) != PYTHIA_OK ||
        pythia_grow(&s->switches, &s->switch_capacity, s->switch_count, sizeof(*s->switches)) !=
            PYTHIA_OK ||
        pythia__search_switch(s, t, point, open) != PYTHIA_OK) {
        pythia_buf_free(reason);
        return PYTHIA_ENOMEM;
    }
    /* The switch owns the text of the reason from here on. */
    s->switches[s->switch_count++] =
        (struct pythia_switch){.tracepoint = point,
                               .type = t->name,
                               .open = open,
                               .problem = problem,
                               .part = part,
                               .inside = inside,
                               .price_ns = s->price[point],
                               .cost_ns = pythia__search_cost(s, t, point),
                               .bytes_per_second = pythia__search_bytes(s, t, point),
                               .reason = reason->bytes};
    return PYTHIA_OK;
}

int pythia__search_close(struct pythia_search *s, struct pythia__search_type *t, uint32_t point,
                         size_t problem, const char *why)
{
    struct pythia_buf reason = {0};
    pythia_buf_puts(&reason, why);
    pythia__search_add_effect(s, t, point, &reason);
    return pythia__search_decide(s, t, point, false, problem, 0, &reason);
}

bool pythia__search_is_decided(const struct pythia_search *s, const struct pythia__search_type *t,
                               uint32_t point)
{
    for (size_t i = 0; i < s->switch_count; i++)
        if (s->switches[i].tracepoint == point && s->switches[i].type == t->name)
            return true;
    return false;
}

/* Is the nearest open trace point around some node of `point` that one? */
static bool is_open_within(const struct pythia_search *s, const struct pythia__search_type *of,
                           uint32_t point, uint32_t around)
{
    const struct pythia_space_type *t = pythia_space_type(s->space, of->name);
    for (uint32_t node = 1; t && node < pythia_cct_nodes(t->cct); node++) {
        if (pythia_cct_tracepoint(t->cct, node) != point)
            continue;
        uint32_t above = pythia_cct_parent(t->cct, node);
        while (above != PYTHIA_CCT_ROOT &&
               !pythia__search_is_open_for(s, of, pythia_cct_tracepoint(t->cct, above)))
            above = pythia_cct_parent(t->cct, above);
        if (pythia_cct_tracepoint(t->cct, above) == around)
            return true;
    }
    return false;
}

/* Is `point` the host (descent.h) of some node of a point of a lower layer? Without it a cause in
 * the kernel would be seen, but not for what the kernel worked. */
static bool is_host_of(const struct pythia_search *s, const struct pythia__search_type *of,
                       uint32_t point, uint32_t below)
{
    const struct pythia_space_type *t = pythia_space_type(s->space, of->name);
    enum pythia_layer layer =
        below == PYTHIA_NONE ? PYTHIA_LAYER_APPLICATION : pythia_layers_of(s->o.layers, below);
    if (pythia_layers_of(s->o.layers, point) >= layer)
        return false;
    for (uint32_t node = 1; t && node < pythia_cct_nodes(t->cct); node++) {
        if (pythia_cct_tracepoint(t->cct, node) != below)
            continue;
        uint32_t above = pythia_cct_parent(t->cct, node);
        while (above != PYTHIA_CCT_ROOT &&
               pythia_layers_of(s->o.layers, pythia_cct_tracepoint(t->cct, above)) >= layer)
            above = pythia_cct_parent(t->cct, above);
        if (pythia_cct_tracepoint(t->cct, above) == point)
            return true;
    }
    return false;
}

bool pythia__search_bounds_cause(const struct pythia_search *s, const struct pythia__search_type *t,
                                 uint32_t point)
{
    for (size_t i = 0; i < s->problem_count; i++) {
        if (s->problems[i].unsplit != t->name)
            continue;
        if (s->keeping[i].spread && s->keeping[i].keyed == point)
            return true;
        for (size_t c = 0; c < s->problems[i].cause_count; c++) {
            const struct pythia_place *place = &s->problems[i].causes[c].place;
            if (place->from_tracepoint == point || place->to_tracepoint == point ||
                (place->own && is_open_within(s, t, point, place->context)) ||
                is_host_of(s, t, point, place->context))
                return true;
        }
    }
    return false;
}
