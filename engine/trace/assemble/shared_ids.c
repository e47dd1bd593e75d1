/* Several spans with one id. Zipkin lets a client and its server share one; programs that make ids
 * from a counter, or copy a context, do so without knowing.
 *
 * Kinds tell the two halves of an id apart while reports arrive (join.c). Within one half, names
 * do. What is of one span all the same is put together once everything is there, and the rest is
 * ordered from the outermost to the innermost. All choices depend on what is reported, never on the
 * order of arrival. */
#include "shared_ids.h"

#include "pythia/sort.h"
#include "pythia/status.h"

/* Of the spans that share an id and half, as many may be the parent of a span, or take what has no
 * name. No program is known that has more than 2; a broken one with a million must not cost a
 * look at each for each of its children. */
#define NAMES_MAX 16

static bool has_no_name(const struct pythia_trace_builder *b, const struct pythia__item *item)
{
    const struct pythia_tracepoint *point =
        pythia_vocabulary_tracepoint_at(b->vocabulary, item->span.tracepoint);
    return pythia_vocabulary_text(b->vocabulary, point->name).size == 0;
}

static bool has_same_name(const struct pythia_trace_builder *b, const struct pythia__item *x,
                          const struct pythia__item *y)
{
    uint32_t one = x->span.tracepoint, other = y->span.tracepoint;
    if (one == other || one == PYTHIA_NONE || other == PYTHIA_NONE)
        return one == other;
    const struct pythia_tracepoint *p = pythia_vocabulary_tracepoint_at(b->vocabulary, one),
                                   *q = pythia_vocabulary_tracepoint_at(b->vocabulary, other);
    return p->service == q->service && p->name == q->name;
}

static bool is_same_service(const struct pythia_trace_builder *b, const struct pythia__item *x,
                            const struct pythia__item *y)
{
    return x->span.resource == y->span.resource ||
           pythia_vocabulary_resource_at(b->vocabulary, x->span.resource).service ==
               pythia_vocabulary_resource_at(b->vocabulary, y->span.resource).service;
}

/* How close an item is to a report: of its process, under its name, of its service. */
static int measure_closeness(const struct pythia_trace_builder *b, const struct pythia__item *item,
                             const struct pythia__item *report)
{
    return 4 * (item->span.resource == report->span.resource) + 2 * has_same_name(b, item, report) +
           is_same_service(b, item, report);
}

/* ---- from the outermost to the innermost ---- */

/* A span that has not ended counts as longer than one that has. */
static uint64_t length_of(const struct pythia__item *item)
{
    const struct pythia_trace_span *span = &item->span;
    bool ends = item->part == PYTHIA_PART_START || item->part == PYTHIA_PART_WAIT;
    if (item->part == PYTHIA_PART_WHOLE)
        return span->end_ns - span->start_ns;
    if (!item->stopped)
        return ends ? UINT64_MAX : 0;
    return item->stop_ns > span->start_ns ? item->stop_ns - span->start_ns : 0;
}

/* Clocks of two hosts may disagree about which span began first, so the length comes first. */
static bool is_outside(const void *context, uint32_t x, uint32_t y)
{
    const struct pythia_trace_builder *b = context;
    const struct pythia__item *one = &b->items[x], *other = &b->items[y];
    uint64_t length = length_of(one), other_length = length_of(other);
    if (length != other_length)
        return length > other_length;
    if (one->span.start_ns != other->span.start_ns)
        return one->span.start_ns < other->span.start_ns;
    /* Two spans with the same times are ordered by what they are, because the order in which
     * reports came in must not matter. */
    int order = 0;
    if (one->span.resource != other->span.resource)
        order =
            pythia__join_compare_resources(b->vocabulary, one->span.resource, other->span.resource);
    if (!order && one->started && other->started && one->span.tracepoint != other->span.tracepoint)
        order = pythia_text_compare(
            pythia_vocabulary_tracepoint_id(b->vocabulary, one->span.tracepoint),
            pythia_vocabulary_tracepoint_id(b->vocabulary, other->span.tracepoint));
    return order < 0;
}

/* The items that are linked after `head`, in the order above, to `order`; returns how many. */
static uint32_t list_chained_items(struct pythia_trace_builder *b, uint32_t head, uint32_t *order)
{
    uint32_t n = 0;
    for (uint32_t at = head; at != PYTHIA_NO_SPAN; at = b->items[at].next)
        if (!b->items[at].taken)
            order[n++] = at;
    pythia_sort_indexes(order, n, b->forest.scratch, is_outside, b);
    return n;
}

static void link_names(struct pythia_trace_builder *b, const uint32_t *order, uint32_t n)
{
    pythia__join_set_head(b, order[0]);
    for (uint32_t i = 0; i < n; i++)
        b->items[order[i]].next = i + 1 < n ? order[i + 1] : PYTHIA_NO_SPAN;
}

/* ---- one span under several names ---- */

static void take_common(struct pythia__item *to, struct pythia__item *from)
{
    to->span.error = to->span.error || from->span.error;
    to->shared = to->shared || from->shared;
    to->many_roots = to->many_roots || from->many_roots;
    to->conflict = to->conflict || from->conflict;
    from->taken = true;
    from->started = from->stopped = false;
}

/* Another WHOLE report of the span: the longer one of both tells its times and its parent. */
static void take_whole(struct pythia__item *to, struct pythia__item *from)
{
    struct pythia_trace_span *kept = &to->span, *span = &from->span;
    uint64_t length = length_of(from), kept_length = length_of(to);
    bool same = kept->start_ns == span->start_ns && kept->end_ns == span->end_ns;
    bool better =
        length > kept_length || (length == kept_length && span->start_ns < kept->start_ns);
    to->conflict = to->conflict || !same;
    to->start_twice = same || (better ? from->start_twice : to->start_twice);
    to->several_parents =
        to->several_parents || from->several_parents || from->parent_id != to->parent_id;
    if (better) {
        kept->start_ns = span->start_ns;
        kept->end_ns = span->end_ns;
        to->negative = from->negative;
        to->parent_id = from->parent_id;
    }
    /* The shorter report may still know what the longer one left out. */
    if (kept->kind == PYTHIA_SPAN_UNKNOWN)
        kept->kind = span->kind;
    if (kept->relation == PYTHIA_RELATION_UNKNOWN)
        kept->relation = span->relation;
    take_common(to, from);
}

/* Parts of a span that was reported as a whole as well: the start while it ran, or the end. */
static void take_parts(struct pythia__item *to, struct pythia__item *parts)
{
    if (parts->started) {
        to->several_parents =
            to->several_parents || parts->several_parents || parts->parent_id != to->parent_id;
        to->begun = true;
        to->begun_ns = parts->span.start_ns;
    }
    if (parts->stopped) {
        to->stopped = true;
        to->stop_twice = parts->stop_twice;
        to->stop_ns = parts->stop_ns;
        to->stop_attributes = parts->stop_attributes;
    }
    take_common(to, parts);
}

/* A report without a name completes the closest span that has one. */
static int join_nameless(struct pythia_trace_builder *b, const uint32_t *order, uint32_t n,
                         uint32_t nameless)
{
    struct pythia__item *from = &b->items[nameless], *to = NULL;
    /* Each report without a name would compare itself with all spans of its id; the bound keeps
     * hostile input linear. */
    for (uint32_t i = 0, names = 0; i < n && names < NAMES_MAX; i++) {
        struct pythia__item *item = &b->items[order[i]];
        if (item->part != PYTHIA_PART_WHOLE || item->taken || has_no_name(b, item))
            continue;
        names++;
        if (!to || measure_closeness(b, item, from) > measure_closeness(b, to, from))
            to = item;
    }
    if (!to)
        return PYTHIA_OK;
    take_whole(to, from);
    return pythia__join_compare_attributes(b->vocabulary, to->span.attributes,
                                           from->span.attributes)
               ? pythia__join_attributes(b, to, from->span.attributes)
               : PYTHIA_OK;
}

/* A process does not run two spans from one instant to another under one id: something on the way
 * gave the span another name. In the order above such items stand beside each other. */
static void join_renamed(struct pythia_trace_builder *b, const uint32_t *order, uint32_t n)
{
    struct pythia__item *kept = NULL;
    for (uint32_t i = 0; i < n; i++) {
        struct pythia__item *item = &b->items[order[i]];
        if (item->part != PYTHIA_PART_WHOLE || item->taken)
            continue;
        if (kept && kept->span.resource == item->span.resource &&
            kept->span.start_ns == item->span.start_ns && kept->span.end_ns == item->span.end_ns)
            take_whole(kept, item);
        else
            kept = item;
    }
}

/* Are parts of a span of the same span as a WHOLE one? An end has no name. A start may have had
 * another one, because programs rename a span once they know its route, but at the same time. */
static bool is_of_whole(const struct pythia_trace_builder *b, const struct pythia__item *parts,
                        const struct pythia__item *whole)
{
    return whole->part == PYTHIA_PART_WHOLE && !whole->taken &&
           (!parts->started || parts->span.start_ns == whole->span.start_ns ||
            has_same_name(b, parts, whole) || has_no_name(b, parts));
}

static void join_parts(struct pythia_trace_builder *b, const uint32_t *order, uint32_t n,
                       uint32_t parts)
{
    struct pythia__item *from = &b->items[parts], *to = NULL;
    for (uint32_t i = 0; i < n; i++) {
        struct pythia__item *item = &b->items[order[i]];
        if (is_of_whole(b, from, item) &&
            (!to || measure_closeness(b, item, from) > measure_closeness(b, to, from)))
            to = item;
    }
    if (to)
        take_parts(to, from);
}

static int settle_id(struct pythia_trace_builder *b, uint32_t head)
{
    uint32_t *order = b->forest.order, n = list_chained_items(b, head, order);
    for (uint32_t i = 0; i < n; i++)
        if (b->items[order[i]].part == PYTHIA_PART_WHOLE && has_no_name(b, &b->items[order[i]])) {
            int status = join_nameless(b, order, n, order[i]);
            if (status != PYTHIA_OK)
                return status;
        }
    /* Spans without a name come first, because they complete the times by which the others are
     * compared; parts come last, when it is known which spans are whole. */
    join_renamed(b, order, n);
    for (uint32_t i = 0; i < n; i++)
        if (b->items[order[i]].part != PYTHIA_PART_WHOLE)
            join_parts(b, order, n, order[i]);
    link_names(b, order, list_chained_items(b, head, order));
    b->items[order[0]].settled = true;
    return PYTHIA_OK;
}

int pythia__shared_ids_settle(struct pythia_trace_builder *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (b->items[i].head && !b->items[i].settled && b->items[i].next != PYTHIA_NO_SPAN) {
            int status = settle_id(b, i);
            if (status != PYTHIA_OK)
                return status;
        }
    return PYTHIA_OK;
}

bool pythia__shared_id_is_part(const struct pythia_trace_builder *b,
                               const struct pythia__item *item)
{
    if (item->part == PYTHIA_PART_WHOLE)
        return false;
    uint32_t at = pythia__join_find(b, item->span.id, item->second);
    while (at != PYTHIA_NO_SPAN && !is_of_whole(b, item, &b->items[at]))
        at = b->items[at].next;
    return at != PYTHIA_NO_SPAN;
}

/* ---- which of them is meant ---- */

/* Does the time of a span have that instant in it? */
static bool covers_instant(const struct pythia__item *item, uint64_t at_ns)
{
    return at_ns >= item->span.start_ns && at_ns - item->span.start_ns <= length_of(item);
}

/* A server's span lies in that of its client. Spans of one process with times of their own do not,
 * nor does a span that names another parent. */
uint32_t pythia__shared_id_around(const struct pythia_trace_builder *b,
                                  const struct pythia__item *item)
{
    if (item->head)
        return PYTHIA_NO_SPAN;
    uint32_t at = pythia__join_find(b, item->span.id, item->second);
    const struct pythia__item *outer = &b->items[at];
    if (item->parent_id != outer->parent_id && item->parent_id != item->span.id)
        return PYTHIA_NO_SPAN;
    bool inside = covers_instant(outer, item->span.start_ns) &&
                  covers_instant(outer, item->span.start_ns + length_of(item));
    return inside || item->span.resource != outer->span.resource ? at : PYTHIA_NO_SPAN;
}

/* The span from `head` on that a child means: the innermost of the child's service
 * that covers its beginning, else the innermost of its service, else the outermost of all. */
static uint32_t choose_parent(const struct pythia_trace_builder *b, uint32_t head,
                              const struct pythia__item *child)
{
    uint32_t covering = PYTHIA_NO_SPAN, of_service = PYTHIA_NO_SPAN, at = head;
    if (b->items[head].next == PYTHIA_NO_SPAN)
        return head;
    for (int names = 0; at != PYTHIA_NO_SPAN && names < NAMES_MAX; at = b->items[at].next, names++)
        if (&b->items[at] != child && is_same_service(b, &b->items[at], child)) {
            /* The items are in order from the outermost inwards, so that the last match is the
             * innermost. */
            of_service = at;
            covering = covers_instant(&b->items[at], child->span.start_ns) ? at : covering;
        }
    if (covering != PYTHIA_NO_SPAN)
        return covering;
    return of_service != PYTHIA_NO_SPAN ? of_service : head;
}

static bool has_service(const struct pythia_trace_builder *b, uint32_t head,
                        const struct pythia__item *child)
{
    uint32_t at = head;
    for (int names = 0; at != PYTHIA_NO_SPAN && names < NAMES_MAX; at = b->items[at].next, names++)
        if (is_same_service(b, &b->items[at], child))
            return true;
    return false;
}

/* Of a shared id the client's half is meant by the server's half, and by the client's own children;
 * the server's children mean the server's half. */
uint32_t pythia__shared_id_of_child(const struct pythia_trace_builder *b,
                                    const struct pythia__item *item)
{
    uint32_t plain = pythia__join_find(b, item->parent_id, false),
             server = pythia__join_find(b, item->parent_id, true);
    bool own = item->second && item->span.id == item->parent_id;
    bool of_server = server != PYTHIA_NO_SPAN && !own &&
                     (plain == PYTHIA_NO_SPAN || has_service(b, server, item));
    uint32_t head = of_server ? server : plain;
    return head == PYTHIA_NO_SPAN ? head : choose_parent(b, head, item);
}

uint32_t pythia__shared_id_of_addition(const struct pythia_trace_builder *b,
                                       const struct pythia__item *addition)
{
    uint32_t closest = PYTHIA_NO_SPAN;
    for (int half = 0; half < 2; half++) {
        uint32_t at = pythia__join_find(b, addition->span.id, half == 1);
        for (int names = 0; at != PYTHIA_NO_SPAN && names < NAMES_MAX;
             at = b->items[at].next, names++)
            if (closest == PYTHIA_NO_SPAN || measure_closeness(b, &b->items[at], addition) >
                                                 measure_closeness(b, &b->items[closest], addition))
                closest = at;
    }
    return closest;
}
