#include "pythia/place.h"

#include "pythia/critical_path.h"

struct pythia_place pythia_place_of(const struct pythia_cct *cct, uint32_t number)
{
    const struct pythia_edge *edge = pythia_cct_edge_at(cct, number);
    return (struct pythia_place){.context = pythia_cct_tracepoint(cct, edge->context),
                                 .from_tracepoint = edge->from_tracepoint,
                                 .to_tracepoint = edge->to_tracepoint,
                                 .from_event = edge->from_event,
                                 .to_event = edge->to_event};
}

struct pythia_place pythia_place_of_layer(const struct pythia_cct *cct, uint32_t number,
                                          struct pythia_layers *layers)
{
    struct pythia_place place = pythia_place_of(cct, number);
    uint32_t node = pythia_cct_edge_at(cct, number)->context;
    enum pythia_layer layer = node == PYTHIA_CCT_ROOT ? PYTHIA_LAYER_APPLICATION
                                                      : pythia_layers_of(layers, place.context);
    if (layer == PYTHIA_LAYER_APPLICATION)
        return place;
    for (node = pythia_cct_parent(cct, node); node != PYTHIA_CCT_ROOT && !place.hosted;
         node = pythia_cct_parent(cct, node)) {
        place.host = pythia_cct_tracepoint(cct, node);
        place.hosted = pythia_layers_of(layers, place.host) < layer;
    }
    return place;
}

struct pythia_place pythia_place_own(uint32_t tracepoint)
{
    return (struct pythia_place){.context = tracepoint,
                                 .from_tracepoint = tracepoint,
                                 .to_tracepoint = tracepoint,
                                 .from_event = PYTHIA_EVENT_START,
                                 .to_event = PYTHIA_EVENT_END,
                                 .own = true};
}

bool pythia_place_own_has(const struct pythia_cct *cct, uint32_t edge, uint32_t tracepoint)
{
    uint32_t context = pythia_cct_edge_at(cct, edge)->context;
    return tracepoint != PYTHIA_NONE && pythia_cct_tracepoint(cct, context) == tracepoint;
}

bool pythia_place_has(const struct pythia_place *p, const struct pythia_cct *cct, uint32_t edge)
{
    if (p->own)
        return pythia_place_own_has(cct, edge, p->context);
    struct pythia_place place = pythia_place_of(cct, edge);
    return pythia_place_equal(&place, p);
}

bool pythia_place_equal(const struct pythia_place *a, const struct pythia_place *b)
{
    return a->context == b->context && a->from_tracepoint == b->from_tracepoint &&
           a->to_tracepoint == b->to_tracepoint && a->from_event == b->from_event &&
           a->to_event == b->to_event && a->own == b->own;
}

void pythia_place_add(struct pythia_buf *to, const struct pythia_vocabulary *v,
                      const struct pythia_place *p)
{
    static const char *const events[] = {"start", "end", "point"};
    struct pythia_text from = pythia_vocabulary_tracepoint_id(v, p->from_tracepoint),
                       until = pythia_vocabulary_tracepoint_id(v, p->to_tracepoint);
    bool same = p->from_tracepoint == p->to_tracepoint;
    if (p->own) {
        pythia_buf_puts(to, "in the own time of ");
        pythia_buf_text_add(to, from);
    } else if (same && p->from_event == PYTHIA_EVENT_START && p->to_event == PYTHIA_EVENT_END) {
        pythia_buf_puts(to, "inside ");
        pythia_buf_text_add(to, from);
        /* The two frequent kinds of edges have words of their own; "from the start of x to the end
     * of x" would be read as two different points. */
    } else if (same && p->from_event == PYTHIA_EVENT_END && p->to_event == PYTHIA_EVENT_START) {
        pythia_buf_puts(to, "between one ");
        pythia_buf_text_add(to, from);
        pythia_buf_puts(to, " and the next");
    } else {
        pythia_buf_printf(to, "from the %s of ", events[p->from_event]);
        pythia_buf_text_add(to, from);
        pythia_buf_printf(to, " to the %s of ", events[p->to_event]);
        pythia_buf_text_add(to, until);
    }
    if (p->hosted) {
        pythia_buf_puts(to, " in ");
        pythia_buf_text_add(to, pythia_vocabulary_tracepoint_id(v, p->host));
    }
}
