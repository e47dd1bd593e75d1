/* Additions to spans: attributes and errors that are reported after a span, or before it, and that
 * join it once all reports of a trace are there. */
#include "pythia/sort.h"
#include "pythia/status.h"
#include "shared_ids.h"
#include "trace_builder.h"

static bool addition_before(const void *context, uint32_t x, uint32_t y)
{
    const struct pythia_trace_builder *b = context;
    const struct pythia__item *a = &b->items[x], *c = &b->items[y];
    if (a->span.id != c->span.id)
        return a->span.id < c->span.id;
    int order =
        pythia__join_compare_attributes(b->vocabulary, a->span.attributes, c->span.attributes);
    if (!order)
        order = pythia__join_compare_resources(b->vocabulary, a->span.resource, c->span.resource);
    if (!order)
        order = (a->parent_id > c->parent_id) - (a->parent_id < c->parent_id);
    if (!order && a->span.tracepoint != c->span.tracepoint)
        order =
            pythia_text_compare(pythia_vocabulary_tracepoint_id(b->vocabulary, a->span.tracepoint),
                                pythia_vocabulary_tracepoint_id(b->vocabulary, c->span.tracepoint));
    return order < 0;
}

int pythia__join_additions(struct pythia_trace_builder *b)
{
    uint32_t *order = b->forest.order;
    size_t n = 0;
    for (uint32_t i = 0; i < b->count; i++)
        if (b->items[i].part == PYTHIA_PART_ADDITION)
            order[n++] = i;
    pythia_sort_indexes(order, (uint32_t)n, b->forest.scratch, addition_before, b);
    for (size_t i = 0; i < n; i++) {
        struct pythia__item *item = &b->items[order[i]];
        uint32_t half = pythia__shared_id_of_addition(b, item);
        /* No span with this id was reported. The addition is all that is known of it, so it
         * becomes a span without times, and place_untimed finds its place later. */
        if (half == PYTHIA_NO_SPAN) {
            item->untimed = item->started = true;
            item->part = PYTHIA_PART_START;
            if (pythia__join_add_head(b, order[i]) != PYTHIA_OK)
                return PYTHIA_ENOMEM;
            continue;
        }
        b->items[half].span.error = b->items[half].span.error || item->span.error;
        /* Senders retry: of equal additions only the first counts, or attributes would be listed
         * twice. */
        bool twice = i > 0 && !addition_before(b, order[i - 1], order[i]);
        if (!twice &&
            pythia__join_attributes(b, &b->items[half], item->span.attributes) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    }
    return PYTHIA_OK;
}
