/* Reports of spans, which may be parts of spans, become items, one for each span. What is reported
 * of a span meets in one item, found by a hash table; additions wait until all others are there.
 * An id may be shared by spans with different names (shared_ids.c). Until all reports are there,
 * each name of a WHOLE span has an item of its own, and all parts of spans have another one. */
#include <string.h>

#include "pythia/attributes.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "trace_builder.h"

/* ---- items by id ---- */

/* The two halves of one id are two spans: the server's has a key of its own. Few sources say that
 * an id is shared, but the kinds of the spans do. */
static bool is_second_half(const struct pythia_span *s)
{
    return s->shared || s->kind == PYTHIA_SPAN_SERVER || s->kind == PYTHIA_SPAN_CONSUMER;
}

/* The name by which WHOLE reports with one id are told apart: that of the span and of its service.
 * Parts of spans have the name 0, because the end of a span has no name of its own. */
static uint64_t find_name(const struct pythia_trace_builder *b, uint8_t part, uint32_t tracepoint)
{
    if (part != PYTHIA_PART_WHOLE)
        return 0;
    const struct pythia_tracepoint *point =
        pythia_vocabulary_tracepoint_at(b->vocabulary, tracepoint);
    return ((uint64_t)point->service << 32 | point->name) + 1;
}

/* The key of the head of an id and half, or the item with a name which is not the head. An item is
 * found in one way only, so each is in the table once. */
struct item_key {
    uint64_t id, name;
    bool second, head;
};

static bool has_item_key(const void *builder, uint32_t index, const void *wanted)
{
    const struct pythia_trace_builder *b = builder;
    const struct pythia__item *item = &b->items[index];
    const struct item_key *key = wanted;
    return item->span.id == key->id && item->second == key->second && item->head == key->head &&
           (key->head || find_name(b, item->part, item->span.tracepoint) == key->name);
}

/* Senders choose ids and names, and must not be able to choose pairs of one hash. */
static uint64_t hash_item_key(const struct item_key *key)
{
    uint64_t hash = key->id ^ (uint64_t)key->second << 63;
    return key->head ? hash : pythia_hash_mix(pythia_hash_mix(pythia_hash_seed(), hash), key->name);
}

/* The item with a key, or PYTHIA_NO_SPAN. */
static uint32_t find_item(const struct pythia_trace_builder *b, const struct item_key *key)
{
    _Static_assert(PYTHIA_NO_SPAN == PYTHIA_HASH_TABLE_NONE, "one sign of what is not found");
    return pythia_hash_table_find(&b->by_id, hash_item_key(key), has_item_key, b, key);
}

uint32_t pythia__join_find(const struct pythia_trace_builder *b, uint64_t id, bool second)
{
    const struct item_key key = {.id = id, .second = second, .head = true};
    return find_item(b, &key);
}

int pythia__join_add_head(struct pythia_trace_builder *b, uint32_t item)
{
    const struct item_key key = {
        .id = b->items[item].span.id, .second = b->items[item].second, .head = true};
    b->items[item].head = true;
    return pythia_hash_table_add(&b->by_id, hash_item_key(&key), item);
}

void pythia__join_set_head(struct pythia_trace_builder *b, uint32_t item)
{
    const struct item_key key = {
        .id = b->items[item].span.id, .second = b->items[item].second, .head = true};
    uint32_t head = find_item(b, &key);
    if (head == item)
        return;
    b->items[head].head = false;
    b->items[item].head = true;
    pythia_hash_table_renumber(&b->by_id, hash_item_key(&key), head, item);
}

/* ---- which of two reports is kept must not depend on who came first, nor on numbers of the
 * vocabulary ---- */

static int compare_numbers(uint64_t x, uint64_t y)
{
    return (x > y) - (x < y);
}

static int compare_strings(const struct pythia_vocabulary *v, uint32_t x, uint32_t y)
{
    return x == y ? 0
                  : pythia_text_compare(pythia_vocabulary_text(v, x), pythia_vocabulary_text(v, y));
}

/* A real may be NaN, which has no order; its bits have one. */
static uint64_t bits_of_real(double real)
{
    uint64_t bits;
    memcpy(&bits, &real, sizeof(bits));
    return bits;
}

int pythia__join_compare_attributes(const struct pythia_vocabulary *v, struct pythia_text x,
                                    struct pythia_text y)
{
    int order = 0;
    while (!order) {
        struct pythia_attribute a = {0}, b = {0};
        bool more = pythia_attributes_next(&x, &a), other = pythia_attributes_next(&y, &b);
        if (!more || !other)
            return more - other;
        order = compare_strings(v, a.key, b.key);
        if (!order)
            order = compare_numbers(a.kind, b.kind);
        if (!order)
            order = pythia_text_compare(a.text, b.text);
        if (!order)
            order = (a.integer > b.integer) - (a.integer < b.integer);
        if (!order)
            /* By bits: NaN equals itself, and the order is total. */
            order = compare_numbers(bits_of_real(a.real), bits_of_real(b.real));
    }
    return order;
}

int pythia__join_compare_resources(const struct pythia_vocabulary *v, uint32_t x, uint32_t y)
{
    struct pythia_resource a = pythia_vocabulary_resource_at(v, x),
                           b = pythia_vocabulary_resource_at(v, y);
    int order = compare_strings(v, a.service, b.service);
    if (!order)
        order = compare_strings(v, a.host, b.host);
    if (!order)
        order = compare_strings(v, a.instance, b.instance);
    return order ? order : pythia__join_compare_attributes(v, a.attributes, b.attributes);
}

/* By what two reports of one span with the same times still differ in. */
static int compare_contents(const struct pythia_trace_builder *b, const struct pythia_span *s,
                            const struct pythia__item *item)
{
    const struct pythia_vocabulary *v = b->vocabulary;
    const struct pythia_trace_span *kept = &item->span;
    /* Numbers of the vocabulary depend on the order of files and on threads, so key-values,
     * trace points and resources are compared as text: the report that is kept must not. */
    int order = pythia__join_compare_attributes(v, s->attributes, kept->attributes);
    if (!order)
        order = compare_numbers(s->parent, item->parent_id);
    if (!order)
        order = compare_numbers(s->part, item->part);
    if (!order)
        order = compare_numbers(s->kind, kept->kind);
    if (!order)
        order = compare_numbers(s->relation, kept->relation);
    if (!order)
        order = compare_numbers(s->link.high, item->link.high);
    if (!order)
        order = compare_numbers(s->link.low, item->link.low);
    if (!order && s->tracepoint != kept->tracepoint)
        order = pythia_text_compare(pythia_vocabulary_tracepoint_id(v, s->tracepoint),
                                    pythia_vocabulary_tracepoint_id(v, kept->tracepoint));
    return order || s->resource == kept->resource
               ? order
               : pythia__join_compare_resources(v, s->resource, kept->resource);
}

/* ---- parts into items ---- */

static uint64_t end_ns_of(const struct pythia_span *s)
{
    return s->duration_ns >= 0 ? s->start_ns + (uint64_t)s->duration_ns : s->start_ns;
}

static void take_start(struct pythia__item *item, const struct pythia_span *s)
{
    item->started = true;
    item->part = (uint8_t)s->part;
    item->parent_id = s->parent;
    item->link = s->link;
    item->negative = s->part == PYTHIA_PART_WHOLE && s->duration_ns < 0;
    item->span.start_ns = s->start_ns;
    item->span.end_ns = end_ns_of(s);
    item->span.tracepoint = s->tracepoint;
    item->span.resource = s->resource;
    item->span.kind = (uint8_t)s->kind;
    item->span.relation = (uint8_t)s->relation;
    item->span.attributes = s->attributes;
}

static void take_stop(struct pythia__item *item, const struct pythia_span *s)
{
    item->stopped = true;
    item->stop_ns = s->start_ns;
    item->stop_attributes = s->attributes;
    if (!item->started) {
        item->part = PYTHIA_PART_STOP;
        item->parent_id = s->parent;
        item->span.resource = s->resource;
    }
}

/* The longer of two reports of one span is kept; of equally long ones, the one that began first. */
static bool is_better_report(const struct pythia_trace_builder *b, const struct pythia_span *s,
                             const struct pythia__item *item)
{
    const struct pythia_trace_span *kept = &item->span;
    if (s->part == PYTHIA_PART_WHOLE) {
        uint64_t length = end_ns_of(s) - s->start_ns, kept_length = kept->end_ns - kept->start_ns;
        if (length != kept_length)
            return length > kept_length;
    }
    if (s->start_ns != kept->start_ns)
        return s->start_ns < kept->start_ns;
    if ((s->duration_ns < 0) != item->negative)
        return item->negative;
    return compare_contents(b, s, item) < 0;
}

static void meet_start(const struct pythia_trace_builder *b, struct pythia__item *item,
                       const struct pythia_span *s)
{
    bool whole = s->part == PYTHIA_PART_WHOLE;
    item->several_parents = item->several_parents || s->parent != item->parent_id;
    bool same = s->start_ns == item->span.start_ns && (!whole || end_ns_of(s) == item->span.end_ns);
    bool better = is_better_report(b, s, item);
    item->conflict = item->conflict || !same;
    item->start_twice = same || (item->start_twice && !better);
    if (better)
        take_start(item, s);
}

static void meet_stop(const struct pythia_trace_builder *b, struct pythia__item *item,
                      const struct pythia_span *s)
{
    bool same = s->start_ns == item->stop_ns, better = s->start_ns > item->stop_ns;
    if (same) {
        /* Two ends at one time differ only in what they carry. The choice must be the same
         * whichever came first, so contents decide. */
        int order =
            pythia__join_compare_attributes(b->vocabulary, s->attributes, item->stop_attributes);
        if (!order && !item->started)
            order = compare_numbers(s->parent, item->parent_id);
        if (!order && !item->started)
            order = pythia__join_compare_resources(b->vocabulary, s->resource, item->span.resource);
        better = order < 0;
    }
    item->conflict = item->conflict || !same;
    item->stop_twice = same || (item->stop_twice && !better);
    if (better)
        take_stop(item, s);
}

static struct pythia__item *new_item(struct pythia_trace_builder *b, const struct pythia_span *span)
{
    if (pythia_grow(&b->items, &b->capacity, b->count, sizeof(*b->items)) != PYTHIA_OK)
        return NULL;
    struct pythia__item *item = &b->items[b->count++];
    *item = (struct pythia__item){.part = (uint8_t)span->part, .next = PYTHIA_NO_SPAN};
    item->span.id = span->id;
    item->span.tracepoint = span->tracepoint;
    return item;
}

/* Which half of the span an addition belongs to is known when all of them are there. */
static int add_addition(struct pythia_trace_builder *b, const struct pythia_span *span)
{
    struct pythia__item *item = new_item(b, span);
    if (!item)
        return PYTHIA_ENOMEM;
    take_start(item, span);
    item->started = false;
    item->span.error = span->error;
    item->shared = span->shared;
    item->second = is_second_half(span);
    b->additions++;
    return PYTHIA_OK;
}

/* The item that a report belongs to until all reports are there; NULL if there is no memory. A new
 * one stands right after the head of its id. */
static struct pythia__item *reach_item(struct pythia_trace_builder *b,
                                       const struct pythia_span *span)
{
    struct item_key key = {.id = span->id, .second = is_second_half(span), .head = true};
    uint32_t head = find_item(b, &key);
    if (head != PYTHIA_NO_SPAN) {
        const struct pythia__item *first = &b->items[head];
        /* The head may itself have the wanted name. Then there is no second entry for it, because a
         * head is found by its id alone. */
        key.name = find_name(b, (uint8_t)span->part, span->tracepoint);
        if (key.name == find_name(b, first->part, first->span.tracepoint))
            return &b->items[head];
        key.head = false;
        uint32_t named = find_item(b, &key);
        if (named != PYTHIA_NO_SPAN)
            return &b->items[named];
    }
    uint32_t number = (uint32_t)b->count;
    /* The table comes first: an item that is in no table could not be found again, while an entry
     * is easily taken back. */
    if (pythia_hash_table_add(&b->by_id, hash_item_key(&key), number) != PYTHIA_OK)
        return NULL;
    struct pythia__item *item = new_item(b, span);
    if (!item) {
        pythia_hash_table_remove(&b->by_id, hash_item_key(&key), number);
        return NULL;
    }
    item->second = key.second;
    item->head = key.head;
    if (!item->head) {
        item->next = b->items[head].next;
        b->items[head].next = number;
    }
    return item;
}

int pythia__join_report(struct pythia_trace_builder *b, const struct pythia_span *span)
{
    if (span->part == PYTHIA_PART_ADDITION)
        return add_addition(b, span);
    struct pythia__item *item = reach_item(b, span);
    if (!item)
        return PYTHIA_ENOMEM;
    item->shared = item->shared || span->shared;
    bool stop = span->part == PYTHIA_PART_STOP;
    b->links = b->links || span->part == PYTHIA_PART_FORK || span->part == PYTHIA_PART_WAIT;
    item->span.error = item->span.error || span->error;
    item->many_roots = item->many_roots || span->many_roots;
    /* A span may come as start and stop in any order, and twice from a sender that retries. Each
     * of the four cases gives the same item whichever report came first. */
    if (stop && item->stopped)
        meet_stop(b, item, span);
    else if (stop)
        take_stop(item, span);
    else if (item->started)
        meet_start(b, item, span);
    else
        take_start(item, span);
    return PYTHIA_OK;
}

int pythia__join_attributes(struct pythia_trace_builder *b, struct pythia__item *item,
                            struct pythia_text second)
{
    struct pythia_text *first = &item->span.attributes;
    if (second.size == 0)
        return PYTHIA_OK;
    if (first->size == 0) {
        *first = second;
        return PYTHIA_OK;
    }
    char *joined = pythia_arena_alloc(&b->joined, first->size + second.size);
    if (!joined)
        return PYTHIA_ENOMEM;
    /* Both texts may be borrowed from the list of spans, so that neither can grow in place. */
    memcpy(joined, first->bytes, first->size);
    memcpy(joined + first->size, second.bytes, second.size);
    *first = (struct pythia_text){joined, first->size + second.size};
    if (b->attributes_max)
        b->counts->dropped[PYTHIA_DROP_ATTRIBUTE] +=
            pythia_attributes_limit(first, b->attributes_max);
    return PYTHIA_OK;
}
