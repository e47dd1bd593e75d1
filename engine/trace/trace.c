/* Spans and parts of spans, in any order, into the forest of one trace.
 *
 *   add      parts that share an id meet in one item, found by a hash table
 *   finish   what is no span (ends without a start, hidden points, forks) becomes transparent;
 *            parents are found by id, through whatever is transparent, and the missing and the
 *            circular ones are cut off
 *   settle   lost ends, from below; then, from the roots down, whatever sticks out of its parent;
 *            children by time, ties by name and id, so that the order of arrival is forgotten
 *            (forest.c)
 *
 * Nothing recurses: a trace may be a chain of a million spans. */
#include "pythia/trace.h"

#include <math.h>
#include <string.h>

#include "forest.h"
#include "pythia/arena.h"
#include "pythia/attributes.h"
#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/sampling.h"
#include "pythia/sort.h"
#include "pythia/status.h"

enum state {
    STATE_SPAN,
    STATE_TRANSPARENT, /* its children hang on its parent */
};

/* What `span` will be, beside what only building needs. Of several reports of its start the best
 * one is kept, and of several of its stop the last one. */
struct item {
    struct pythia_trace_span span; /* end_ns: of a WHOLE, as it says */
    struct pythia_trace_id link;   /* of a fork or a wait */
    uint64_t parent_id, stop_ns;
    uint64_t begun_ns; /* of a WHOLE that was reported without its end as well */
    struct pythia_text stop_attributes;
    uint32_t above;               /* the item named as parent, PYTHIA_NO_SPAN: none or not found */
    uint32_t fork;                /* the item of the fork it hangs on, PYTHIA_NO_SPAN: none */
    uint8_t part;                 /* of the start that is kept; STOP: there is none */
    bool started, stopped, begun; /* which parts have been seen */
    bool start_twice, stop_twice; /* what is kept came more than once */
    bool conflict, several_parents; /* reports that do not agree */
    bool negative;
    bool shared, many_roots, root; /* root: it names no parent, or the trace itself */
    bool second;                   /* a server's or a consumer's half of an id */
    bool untimed;                  /* nothing was reported of it but an ADDITION */
    uint8_t state;
};

struct pythia_trace_builder {
    const struct pythia_vocabulary *vocabulary;
    uint32_t sampling_key;            /* PYTHIA_NONE: no span has stated how it was sampled yet */
    struct pythia_open_points *open;  /* NULL: all are */
    struct pythia_skew *calls;        /* is told of calls; NULL: nobody is */
    const struct pythia_skew *clocks; /* times are put right by; NULL: they stay */
    struct pythia_trace_id id;
    uint64_t folded_id;
    struct item *items;
    size_t count, capacity;
    size_t additions;                 /* of the items; they are not in the hash table */
    uint32_t *slots;                  /* hash table of item + 1 by id */
    size_t slot_count, slot_capacity; /* in use for this trace; allocated */
    uint32_t *index;                  /* item -> span */
    size_t index_capacity;
    struct pythia__forest forest; /* the result */
    size_t attributes_max;        /* of a span's start and stop together; 0: any number */
    struct pythia_arena joined;   /* attributes of spans whose start and stop both have some */
    bool incomplete;              /* for this reason: */
    enum pythia_incomplete reason;
    struct pythia_counts *counts;
    struct pythia_trace trace;
};

int pythia_trace_builder_create(const struct pythia_vocabulary *vocabulary,
                                struct pythia_open_points *open, struct pythia_trace_builder **out)
{
    struct pythia_trace_builder *b = pythia_calloc(1, sizeof(*b));
    if (!b)
        return PYTHIA_ENOMEM;
    b->vocabulary = b->forest.vocabulary = vocabulary;
    b->open = open;
    b->sampling_key = PYTHIA_NONE;
    *out = b;
    return PYTHIA_OK;
}

void pythia_trace_builder_set_clocks(struct pythia_trace_builder *b, struct pythia_skew *calls,
                                     const struct pythia_skew *clocks)
{
    b->calls = calls;
    b->clocks = clocks;
}

void pythia_trace_builder_limit_attributes(struct pythia_trace_builder *b, size_t attributes_max)
{
    b->attributes_max = attributes_max;
}

void pythia_trace_builder_destroy(struct pythia_trace_builder *b)
{
    if (!b)
        return;
    pythia_free(b->items);
    pythia_free(b->slots);
    pythia_free(b->index);
    pythia__forest_free(&b->forest);
    pythia_arena_free(&b->joined);
    pythia_free(b);
}

void pythia_trace_builder_begin(struct pythia_trace_builder *b, struct pythia_trace_id id)
{
    b->id = id;
    b->folded_id = pythia_span_id_fold(id.high, id.low);
    b->count = b->additions = 0;
    b->incomplete = false;
    b->slot_count = 0; /* a small trace does not pay for clearing the table of a large one */
    pythia_arena_clear(&b->joined);
}

void pythia_trace_builder_mark_incomplete(struct pythia_trace_builder *b,
                                          enum pythia_incomplete reason)
{
    b->incomplete = true;
    b->reason = reason;
}

/* ---- add ---- */

/* The two halves of one id are two spans: the server's has a key of its own. Few sources say that
 * an id is shared, but the kinds of the spans do. */
static bool is_second_half(const struct pythia_span *s)
{
    return s->shared || s->kind == PYTHIA_SPAN_SERVER || s->kind == PYTHIA_SPAN_CONSUMER;
}

static uint64_t key_of(uint64_t id, bool second)
{
    return second ? pythia_hash_mix(id, 1) : id;
}

static uint32_t *slot_of(const struct pythia_trace_builder *b, uint64_t id, bool second)
{
    uint64_t key = key_of(id, second);
    size_t mask = b->slot_count - 1;
    for (size_t i = pythia_hash_mix(0, key) & mask;; i = (i + 1) & mask) {
        const struct item *item = b->slots[i] ? &b->items[b->slots[i] - 1] : NULL;
        if (!item || (item->span.id == id && item->second == second))
            return &b->slots[i];
    }
}

static uint32_t find(const struct pythia_trace_builder *b, uint64_t id, bool second)
{
    uint32_t stored = b->slot_count ? *slot_of(b, id, second) : 0;
    return stored ? stored - 1 : PYTHIA_NO_SPAN;
}

static int grow_slots(struct pythia_trace_builder *b)
{
    size_t larger = b->slot_count ? b->slot_count * 2 : 64;
    if (larger > b->slot_capacity) {
        uint32_t *slots = pythia_realloc(b->slots, larger, sizeof(*slots));
        if (!slots)
            return PYTHIA_ENOMEM;
        b->slots = slots;
        b->slot_capacity = larger;
    }
    memset(b->slots, 0, larger * sizeof(*b->slots));
    b->slot_count = larger;
    for (size_t i = 0; i < b->count; i++)
        if (b->items[i].part != PYTHIA_PART_ADDITION)
            *slot_of(b, b->items[i].span.id, b->items[i].second) = (uint32_t)i + 1;
    return PYTHIA_OK;
}

/* ---- add: which of two reports is kept must not depend on who came first, nor on numbers of the
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
static uint64_t bits_of(double real)
{
    uint64_t bits;
    memcpy(&bits, &real, sizeof(bits));
    return bits;
}

static int compare_attributes(const struct pythia_vocabulary *v, struct pythia_text x,
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
            order = compare_numbers(bits_of(a.real), bits_of(b.real));
    }
    return order;
}

static int compare_resources(const struct pythia_vocabulary *v, uint32_t x, uint32_t y)
{
    struct pythia_resource a = pythia_vocabulary_resource_at(v, x),
                           b = pythia_vocabulary_resource_at(v, y);
    int order = compare_strings(v, a.service, b.service);
    if (!order)
        order = compare_strings(v, a.host, b.host);
    if (!order)
        order = compare_strings(v, a.instance, b.instance);
    return order ? order : compare_attributes(v, a.attributes, b.attributes);
}

/* By what two reports of one span with the same times still differ in. */
static int compare_contents(const struct pythia_trace_builder *b, const struct pythia_span *s,
                            const struct item *item)
{
    const struct pythia_vocabulary *v = b->vocabulary;
    const struct pythia_trace_span *kept = &item->span;
    int order = compare_attributes(v, s->attributes, kept->attributes);
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
               : compare_resources(v, s->resource, kept->resource);
}

/* ---- add: parts into items ---- */

static uint64_t end_ns_of(const struct pythia_span *s)
{
    return s->duration_ns >= 0 ? s->start_ns + (uint64_t)s->duration_ns : s->start_ns;
}

static void take_start(struct item *item, const struct pythia_span *s)
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

static void take_stop(struct item *item, const struct pythia_span *s)
{
    item->stopped = true;
    item->stop_ns = s->start_ns;
    item->stop_attributes = s->attributes;
    if (!item->started) {
        item->part = PYTHIA_PART_STOP;
        item->parent_id = s->parent;
    }
}

/* Of two reports of one span the longer is kept; of two as long the one that began first. */
static bool is_better(const struct pythia_trace_builder *b, const struct pythia_span *s,
                      const struct item *item)
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

/* A span that was reported as a whole and, while it ran, as a mere start. */
static void note_begun(struct item *item, uint64_t start_ns)
{
    item->conflict = item->conflict || (item->begun && item->begun_ns != start_ns);
    item->begun_ns = item->begun && item->begun_ns < start_ns ? item->begun_ns : start_ns;
    item->begun = true;
}

static void meet_start(const struct pythia_trace_builder *b, struct item *item,
                       const struct pythia_span *s)
{
    bool whole = s->part == PYTHIA_PART_WHOLE, kept_whole = item->part == PYTHIA_PART_WHOLE;
    item->several_parents = item->several_parents || s->parent != item->parent_id;
    if (whole != kept_whole) {
        note_begun(item, whole ? item->span.start_ns : s->start_ns);
        if (whole) {
            take_start(item, s);
            item->start_twice = false;
        }
        return;
    }
    bool same = s->start_ns == item->span.start_ns && (!whole || end_ns_of(s) == item->span.end_ns);
    bool better = is_better(b, s, item);
    item->conflict = item->conflict || !same;
    item->start_twice = same || (item->start_twice && !better);
    if (better)
        take_start(item, s);
}

static void meet_stop(const struct pythia_trace_builder *b, struct item *item,
                      const struct pythia_span *s)
{
    bool same = s->start_ns == item->stop_ns, better = s->start_ns > item->stop_ns;
    if (same) {
        int order = compare_attributes(b->vocabulary, s->attributes, item->stop_attributes);
        better = order < 0 || (order == 0 && !item->started && s->parent < item->parent_id);
    }
    item->conflict = item->conflict || !same;
    item->stop_twice = same || (item->stop_twice && !better);
    if (better)
        take_stop(item, s);
}

static struct item *new_item(struct pythia_trace_builder *b, const struct pythia_span *span)
{
    if (pythia_grow(&b->items, &b->capacity, b->count, sizeof(*b->items)) != PYTHIA_OK)
        return NULL;
    struct item *item = &b->items[b->count++];
    *item = (struct item){.part = (uint8_t)span->part};
    item->span.id = span->id;
    return item;
}

/* Which half of the span an addition belongs to is known when all of them are there. */
static int add_addition(struct pythia_trace_builder *b, const struct pythia_span *span)
{
    struct item *item = new_item(b, span);
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

int pythia_trace_builder_add(struct pythia_trace_builder *b, const struct pythia_span *span)
{
    if (b->count >= b->slot_count / 2 && grow_slots(b) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (span->part == PYTHIA_PART_ADDITION)
        return add_addition(b, span);
    bool second = is_second_half(span);
    uint32_t *slot = slot_of(b, span->id, second);
    struct item *item = *slot ? &b->items[*slot - 1] : NULL;
    if (!item && !(item = new_item(b, span)))
        return PYTHIA_ENOMEM;
    *slot = (uint32_t)(item - b->items) + 1;
    item->second = second;
    item->shared = item->shared || span->shared;
    bool stop = span->part == PYTHIA_PART_STOP;
    item->span.error = item->span.error || span->error;
    item->many_roots = item->many_roots || span->many_roots;
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

/* ---- what was added so far ---- */

static bool names_root(const struct pythia_trace_builder *b, const struct item *item)
{
    return item->parent_id == 0 || item->parent_id == b->folded_id;
}

static bool is_running(const struct item *item)
{
    bool ends = item->part == PYTHIA_PART_START || item->part == PYTHIA_PART_WAIT;
    return item->started && ends && !item->stopped;
}

static bool has_above(const struct pythia_trace_builder *b, const struct item *item)
{
    if (item->shared)
        return find(b, item->span.id, false) != PYTHIA_NO_SPAN;
    if (item->second && find(b, item->span.id, false) != PYTHIA_NO_SPAN)
        return true;
    return names_root(b, item) || find(b, item->parent_id, false) != PYTHIA_NO_SPAN ||
           find(b, item->parent_id, true) != PYTHIA_NO_SPAN;
}

enum pythia_trace_state pythia_trace_builder_state(const struct pythia_trace_builder *b)
{
    bool root = false, whole = true;
    for (size_t i = 0; i < b->count; i++) {
        const struct item *item = &b->items[i];
        bool lasts = item->part != PYTHIA_PART_FORK && item->part != PYTHIA_PART_ANNOTATION;
        if (item->part == PYTHIA_PART_ADDITION)
            continue;
        if (is_running(item))
            return PYTHIA_TRACE_RUNNING;
        whole = whole && item->started && has_above(b, item);
        root = root || (lasts && !item->shared && names_root(b, item));
    }
    return whole && root ? PYTHIA_TRACE_WHOLE : PYTHIA_TRACE_PARTIAL;
}

size_t pythia_trace_builder_bytes(const struct pythia_trace_builder *b)
{
    return sizeof(*b) + b->capacity * sizeof(*b->items) + b->slot_capacity * sizeof(*b->slots) +
           b->index_capacity * sizeof(*b->index) + pythia__forest_bytes(&b->forest) +
           pythia_arena_bytes(&b->joined);
}

void pythia_trace_builder_release(struct pythia_trace_builder *b)
{
    pythia_free(b->items);
    pythia_free(b->slots);
    pythia_free(b->index);
    b->items = NULL;
    b->slots = b->index = NULL;
    b->count = b->capacity = b->slot_count = b->slot_capacity = b->index_capacity = 0;
    pythia__forest_free(&b->forest);
    pythia_arena_free(&b->joined);
}

/* Append attributes to those of a span, as one string of bytes. */
static int join_attributes(struct pythia_trace_builder *b, struct item *item,
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
    memcpy(joined, first->bytes, first->size);
    memcpy(joined + first->size, second.bytes, second.size);
    *first = (struct pythia_text){joined, first->size + second.size};
    if (b->attributes_max)
        b->counts->dropped[PYTHIA_DROP_ATTRIBUTE] +=
            pythia_attributes_limit(first, b->attributes_max);
    return PYTHIA_OK;
}

/* ---- finish: additions ---- */

static bool addition_before(const void *context, uint32_t x, uint32_t y)
{
    const struct pythia_trace_builder *b = context;
    const struct item *a = &b->items[x], *c = &b->items[y];
    if (a->span.id != c->span.id)
        return a->span.id < c->span.id;
    int order = compare_attributes(b->vocabulary, a->span.attributes, c->span.attributes);
    if (!order)
        order = compare_resources(b->vocabulary, a->span.resource, c->span.resource);
    if (!order)
        order = compare_numbers(a->parent_id, c->parent_id);
    if (!order && a->span.tracepoint != c->span.tracepoint)
        order =
            pythia_text_compare(pythia_vocabulary_tracepoint_id(b->vocabulary, a->span.tracepoint),
                                pythia_vocabulary_tracepoint_id(b->vocabulary, c->span.tracepoint));
    return order < 0;
}

/* The half of its id that an addition belongs to: the one of its process, else of its service, else
 * the one that there is. PYTHIA_NO_SPAN: no time was reported for that id. */
static uint32_t find_half(const struct pythia_trace_builder *b, const struct item *addition)
{
    uint32_t halves[2] = {find(b, addition->span.id, false), find(b, addition->span.id, true)};
    uint32_t resource = addition->span.resource;
    uint32_t service = pythia_vocabulary_resource_at(b->vocabulary, resource).service;
    for (int i = 0; i < 2; i++)
        if (halves[i] != PYTHIA_NO_SPAN && b->items[halves[i]].span.resource == resource)
            return halves[i];
    for (int i = 0; i < 2; i++)
        if (halves[i] != PYTHIA_NO_SPAN &&
            pythia_vocabulary_resource_at(b->vocabulary, b->items[halves[i]].span.resource)
                    .service == service)
            return halves[i];
    return halves[0] != PYTHIA_NO_SPAN ? halves[0] : halves[1];
}

/* Give each addition to the half that it belongs to; one without any becomes a span whose times are
 * those of its place in the tree. The forest's arrays are scratch. */
static int settle_additions(struct pythia_trace_builder *b)
{
    uint32_t *order = b->forest.order;
    size_t n = 0;
    for (uint32_t i = 0; i < b->count; i++)
        if (b->items[i].part == PYTHIA_PART_ADDITION)
            order[n++] = i;
    pythia_sort_indexes(order, (uint32_t)n, b->forest.scratch, addition_before, b);
    for (size_t i = 0; i < n; i++) {
        struct item *item = &b->items[order[i]];
        uint32_t half = find_half(b, item);
        if (half == PYTHIA_NO_SPAN) {
            item->untimed = item->started = true;
            item->part = PYTHIA_PART_START;
            *slot_of(b, item->span.id, item->second) = order[i] + 1;
            continue;
        }
        b->items[half].span.error = b->items[half].span.error || item->span.error;
        bool twice = i > 0 && !addition_before(b, order[i - 1], order[i]);
        if (!twice && join_attributes(b, &b->items[half], item->span.attributes) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    }
    return PYTHIA_OK;
}

/* A span of which no time was reported begins with its parent, one without a parent with the trace.
 * From the top of a chain of them down, with those still to be done in `stack`. */
static void place_untimed(struct pythia_trace_builder *b, uint32_t *stack)
{
    uint64_t first_ns = UINT64_MAX;
    for (size_t i = 0; i < b->count; i++) {
        const struct item *item = &b->items[i];
        if (item->started && !item->untimed && item->span.start_ns < first_ns)
            first_ns = item->span.start_ns;
    }
    for (uint32_t from = 0; from < b->count; from++) {
        uint32_t depth = 0, at = from;
        for (; at != PYTHIA_NO_SPAN && b->items[at].untimed; at = b->items[at].above)
            stack[depth++] = at;
        while (depth > 0) {
            struct item *item = &b->items[stack[--depth]];
            item->untimed = false;
            const struct item *above =
                item->above == PYTHIA_NO_SPAN ? NULL : &b->items[item->above];
            item->span.start_ns = !above           ? first_ns
                                  : above->started ? above->span.start_ns
                                                   : above->stop_ns;
            item->span.end_ns = item->span.start_ns;
        }
    }
}

/* Is there a time that something without one can be placed by? */
static bool has_times(const struct pythia_trace_builder *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->items[i].started)
            return true;
    return false;
}

/* ---- finish: who is there, and below whom ---- */

/* The end of a span from what was reported of it, and what had to be mended in that. */
static void find_end(struct item *item)
{
    struct pythia_trace_span *span = &item->span;
    bool whole = item->part == PYTHIA_PART_WHOLE, ended = whole || item->stopped;
    if (!whole)
        span->end_ns = item->stopped ? item->stop_ns : span->start_ns;
    if (whole && item->stopped) {
        item->conflict = item->conflict || item->stop_ns != span->end_ns;
        item->stop_twice = item->stop_twice || item->stop_ns == span->end_ns;
        span->end_ns = item->stop_ns > span->end_ns ? item->stop_ns : span->end_ns;
    }
    if (whole && item->begun) {
        item->conflict = item->conflict || item->begun_ns != span->start_ns;
        item->start_twice = item->start_twice || item->begun_ns == span->start_ns;
    }
    span->point = item->part == PYTHIA_PART_ANNOTATION && !ended;
    span->annotation = span->point; /* until a child turns up */
    if (span->end_ns < span->start_ns) {
        item->negative = true;
        span->end_ns = span->start_ns;
    }
    const bool mended[PYTHIA_REPAIRS] = {
        [PYTHIA_REPAIR_DUPLICATE] = item->start_twice || item->stop_twice,
        [PYTHIA_REPAIR_CONFLICT] = item->conflict,
        [PYTHIA_REPAIR_SEVERAL_PARENTS] = item->several_parents,
        [PYTHIA_REPAIR_NEGATIVE] = item->negative,
        [PYTHIA_REPAIR_UNFINISHED] = !ended && !span->annotation,
    };
    for (int what = 0; what < PYTHIA_REPAIRS; what++)
        if (mended[what])
            pythia__repair(span, (enum pythia_repair)what);
}

static void classify(struct pythia_trace_builder *b, struct item *item)
{
    item->state = STATE_TRANSPARENT;
    if (item->part == PYTHIA_PART_ADDITION)
        return; /* the half that it belongs to has taken it */
    if (!item->started) {
        b->counts->dropped[PYTHIA_DROP_STOP_WITHOUT_START]++;
    } else if (item->part == PYTHIA_PART_FORK) {
        item->span.end_ns = item->span.start_ns;
    } else if (b->open && !pythia_open_points_has(b->open, item->span.tracepoint)) {
        b->counts->hidden++;
        find_end(item);
    } else {
        item->state = STATE_SPAN;
        find_end(item);
    }
}

/* The item that `item` names as its parent. Of a shared id the client's half is meant by the
 * server's half, and by the client's own children; the server's children mean the server's half. */
static uint32_t named_parent(const struct pythia_trace_builder *b, const struct item *item)
{
    uint32_t plain = find(b, item->parent_id, false), server = find(b, item->parent_id, true);
    if (server == PYTHIA_NO_SPAN || item == &b->items[server])
        return plain;
    if (plain == PYTHIA_NO_SPAN)
        return server;
    uint32_t service = pythia_vocabulary_resource_at(b->vocabulary, item->span.resource).service;
    uint32_t of_server =
        pythia_vocabulary_resource_at(b->vocabulary, b->items[server].span.resource).service;
    return service == of_server ? server : plain;
}

static void name_parent(struct pythia_trace_builder *b, struct item *item)
{
    uint32_t self = (uint32_t)(item - b->items);
    item->root = false;
    item->above = item->fork = PYTHIA_NO_SPAN;
    if (item->part == PYTHIA_PART_ADDITION)
        return;
    if (item->second && find(b, item->span.id, false) != PYTHIA_NO_SPAN) {
        item->above = find(b, item->span.id, false);
        return;
    }
    if (item->parent_id == 0 || item->parent_id == b->folded_id) {
        item->root = true;
        return;
    }
    uint32_t above = named_parent(b, item);
    if (above == self)
        pythia__repair(&item->span, PYTHIA_REPAIR_CYCLE);
    else
        item->above = above;
}

/* The same for items: the two halves of a shared id may have the same times and the same id. */
static bool items_before(const struct pythia_trace_builder *b, const struct item *x,
                         const struct item *y)
{
    if (pythia__span_before(b->vocabulary, &x->span, &y->span))
        return true;
    return x->span.id == y->span.id && !x->second && y->second &&
           !pythia__span_before(b->vocabulary, &y->span, &x->span);
}

/* Cut every circle of parents at its earliest span. Each item is walked over once: `mark` is 0 for
 * not seen, walk number + 1 afterwards. */
static void break_cycles(struct pythia_trace_builder *b, uint32_t *mark)
{
    for (uint32_t i = 0; i < b->count; i++)
        mark[i] = 0;
    for (uint32_t from = 0; from < b->count; from++) {
        uint32_t at = from;
        while (at != PYTHIA_NO_SPAN && mark[at] == 0) {
            mark[at] = from + 1;
            at = b->items[at].above;
        }
        if (at == PYTHIA_NO_SPAN || mark[at] != from + 1)
            continue;
        uint32_t first = at; /* a circle was closed at `at` */
        for (uint32_t i = b->items[at].above; i != at; i = b->items[i].above)
            if (items_before(b, &b->items[i], &b->items[first]))
                first = i;
        pythia__repair(&b->items[first].span, PYTHIA_REPAIR_CYCLE);
        b->items[first].above = PYTHIA_NO_SPAN;
    }
}

static bool is_transparent(const struct pythia_trace_builder *b, uint32_t item)
{
    return item != PYTHIA_NO_SPAN && b->items[item].state == STATE_TRANSPARENT;
}

/* Lift an item over the transparent one above it, above which there is none any more. */
static void lift(const struct pythia_trace_builder *b, struct item *item)
{
    if (!is_transparent(b, item->above))
        return;
    const struct item *above = &b->items[item->above];
    item->fork = above->part == PYTHIA_PART_FORK ? item->above : above->fork;
    item->span.forked = item->fork != PYTHIA_NO_SPAN;
    item->root = item->root || above->root; /* a transparent root: what hangs on it is a root */
    item->many_roots = item->many_roots || above->root;
    item->above = above->above;
}

/* Make each item's `above` the nearest one that is a span, and note what hangs on a fork. From the
 * top of a chain of transparent items down, with those still to be done in `stack`: each is walked
 * over once, however long the chain is. */
static void skip_transparent(struct pythia_trace_builder *b, uint32_t *stack)
{
    for (uint32_t from = 0; from < b->count; from++) {
        uint32_t depth = 0, at = from;
        while (is_transparent(b, b->items[at].above) &&
               is_transparent(b, b->items[b->items[at].above].above)) {
            stack[depth++] = at;
            at = b->items[at].above;
        }
        lift(b, &b->items[at]);
        while (depth > 0)
            lift(b, &b->items[stack[--depth]]);
    }
}

/* ---- finish: how many requests it stands for ---- */

/* The last probability that the attributes state; 0: none. */
static double stated_probability(struct pythia_trace_builder *b, struct pythia_text attributes)
{
    struct pythia_attribute a;
    double probability = 0;
    while (pythia_attributes_next(&attributes, &a))
        if (a.key == b->sampling_key &&
            pythia_sampling_of_attribute(&a, &probability) == PYTHIA_SAMPLING_INVALID)
            b->counts->repaired[PYTHIA_REPAIR_SAMPLING]++;
    return probability;
}

/* sampling.h says which span decides. Those of closed trace points state it as well as others do,
 * so this looks at items. */
static double find_weight(struct pythia_trace_builder *b)
{
    const struct item *root = NULL;
    double of_root = 0, largest = 0;
    if (b->sampling_key == PYTHIA_NONE)
        b->sampling_key =
            pythia_vocabulary_string_find(b->vocabulary, PYTHIA_TEXT(PYTHIA_SAMPLING_KEY));
    for (size_t i = 0; b->sampling_key != PYTHIA_NONE && i < b->count; i++) {
        const struct item *item = &b->items[i];
        if (item->part == PYTHIA_PART_ADDITION)
            continue; /* the half that it belongs to has taken it */
        double of_start = item->started ? stated_probability(b, item->span.attributes) : 0,
               of_stop = item->stopped ? stated_probability(b, item->stop_attributes) : 0;
        double stated = of_stop > 0 ? of_stop : of_start;
        largest = stated > largest ? stated : largest;
        if (stated > 0 && item->started && item->root && (!root || items_before(b, item, root))) {
            root = item;
            of_root = stated;
        }
    }
    return largest > 0 ? 1 / (root ? of_root : largest) : 1;
}

/* Number the items that are spans and copy them to the result, with their parents; what has none
 * but should have is put below the root, or beside the roots where there are several. Returns how
 * many spans there are. */
static uint32_t number_spans(struct pythia_trace_builder *b)
{
    uint32_t count = 0, roots = 0, root = PYTHIA_NO_SPAN;
    bool many_roots = false;
    for (uint32_t i = 0; i < b->count; i++) {
        struct item *item = &b->items[i];
        if (item->state == STATE_TRANSPARENT)
            continue;
        b->index[i] = count++;
        if (item->above == PYTHIA_NO_SPAN && item->root) {
            if (root == PYTHIA_NO_SPAN || items_before(b, item, &b->items[root]))
                root = i;
            roots++;
            many_roots = many_roots || item->many_roots;
        }
    }
    for (uint32_t i = 0; i < b->count; i++) {
        struct item *item = &b->items[i];
        if (item->state == STATE_TRANSPARENT)
            continue;
        if (item->above == PYTHIA_NO_SPAN && !item->root) {
            if (!pythia__has_repair(&item->span, PYTHIA_REPAIR_CYCLE))
                pythia__repair(&item->span, PYTHIA_REPAIR_ORPHAN);
            item->above = roots == 1 ? root : PYTHIA_NO_SPAN;
        } else if (item->above == PYTHIA_NO_SPAN && i != root && !many_roots) {
            pythia__repair(&item->span, PYTHIA_REPAIR_EXTRA_ROOT);
        }
        item->span.parent = item->above == PYTHIA_NO_SPAN ? PYTHIA_NO_SPAN : b->index[item->above];
        item->span.first_child = item->span.next_sibling = PYTHIA_NO_SPAN;
        item->span.joins = item->span.work = PYTHIA_NO_SPAN;
    }
    return count;
}

/* The item of a fork that links to the work `id` names; PYTHIA_NO_SPAN if there is none. */
static uint32_t find_fork(const struct pythia_trace_builder *b, uint64_t id)
{
    uint32_t at = find(b, id, false);
    return at != PYTHIA_NO_SPAN && b->items[at].part == PYTHIA_PART_FORK ? at : PYTHIA_NO_SPAN;
}

/* Each wait's work: the root that ended last of what was forked with the link it names. Work that
 * left no span leaves the wait a plain span. `latest`, by item, is that root of a fork. */
static void find_joins(struct pythia_trace_builder *b, uint32_t *latest)
{
    for (uint32_t i = 0; i < b->count; i++)
        latest[i] = PYTHIA_NO_SPAN;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct item *item = &b->items[i];
        if (item->state == STATE_TRANSPARENT || item->fork == PYTHIA_NO_SPAN)
            continue;
        uint32_t *last = &latest[item->fork];
        if (*last == PYTHIA_NO_SPAN || pythia__forest_ends_later(&b->forest, b->index[i], *last))
            *last = b->index[i];
    }
    for (uint32_t i = 0; i < b->count; i++) {
        const struct item *item = &b->items[i];
        if (item->state == STATE_TRANSPARENT)
            continue;
        struct pythia_trace_span *span = &b->forest.spans[b->index[i]];
        if (item->fork != PYTHIA_NO_SPAN)
            span->work = latest[item->fork];
        uint32_t fork = item->part == PYTHIA_PART_WAIT
                            ? find_fork(b, pythia_span_id_fold(item->link.high, item->link.low))
                            : PYTHIA_NO_SPAN;
        if (fork != PYTHIA_NO_SPAN)
            span->joins = latest[fork];
    }
}

static int copy_spans(struct pythia_trace_builder *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        struct item *item = &b->items[i];
        if (item->state == STATE_TRANSPARENT)
            continue;
        if (join_attributes(b, item, item->stop_attributes) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        b->forest.spans[b->index[i]] = item->span;
    }
    return PYTHIA_OK;
}

static void count_all(struct pythia_trace_builder *b, uint32_t count)
{
    b->counts->traces++;
    b->counts->kept += count;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t bits = b->forest.spans[i].repairs; bits; bits &= bits - 1)
            b->counts->repaired[__builtin_ctz(bits)]++;
}

/* ---- clocks ---- */

static bool has_both_ends(const struct pythia_trace_span *span)
{
    const uint32_t mended = 1u << PYTHIA_REPAIR_UNFINISHED | 1u << PYTHIA_REPAIR_NEGATIVE |
                            1u << PYTHIA_REPAIR_CONFLICT;
    return !span->point && !span->annotation && !(span->repairs & mended);
}

static int note_calls(struct pythia_trace_builder *b, uint32_t count)
{
    int status = PYTHIA_OK;
    for (uint32_t i = 0; i < count && status == PYTHIA_OK; i++) {
        const struct pythia_trace_span *server = &b->forest.spans[i];
        if (server->kind != PYTHIA_SPAN_SERVER || server->parent == PYTHIA_NO_SPAN)
            continue;
        const struct pythia_trace_span *client = &b->forest.spans[server->parent];
        if (client->kind == PYTHIA_SPAN_CLIENT && has_both_ends(client) && has_both_ends(server))
            status = pythia_skew_add(b->calls, client->resource, server->resource, client->start_ns,
                                     client->end_ns, server->start_ns, server->end_ns);
    }
    return status;
}

static void put_right(struct pythia_trace_builder *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct pythia_trace_span *span = &b->forest.spans[i];
        int64_t by_ns = -llrint(pythia_skew_offset_ns(b->clocks, span->resource, span->start_ns));
        if (by_ns == 0)
            continue;
        span->start_ns += (uint64_t)by_ns;
        span->end_ns += (uint64_t)by_ns;
        pythia__repair(span, PYTHIA_REPAIR_SKEW);
    }
}

int pythia_trace_builder_finish(struct pythia_trace_builder *b, struct pythia_counts *counts,
                                const struct pythia_trace **out)
{
    b->counts = counts;
    size_t n = b->count;
    while (b->index_capacity < n)
        if (pythia_grow(&b->index, &b->index_capacity, b->index_capacity, sizeof(*b->index)) !=
            PYTHIA_OK)
            return PYTHIA_ENOMEM;
    if (pythia__forest_reserve(&b->forest, n) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (b->additions && !has_times(b)) {
        counts->dropped[PYTHIA_DROP_BROKEN_RECORD] += b->additions;
        counts->dropped[PYTHIA_DROP_STOP_WITHOUT_START] += n - b->additions;
        return 1;
    }
    if (b->additions && settle_additions(b) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < n; i++)
        classify(b, &b->items[i]);
    for (size_t i = 0; i < n; i++)
        name_parent(b, &b->items[i]);
    double weight = find_weight(b);
    break_cycles(b, b->forest.scratch);
    if (b->additions)
        place_untimed(b, b->forest.order);
    skip_transparent(b, b->forest.order);
    uint32_t count = number_spans(b);
    if (count == 0)
        return 1;
    if (copy_spans(b) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    b->forest.count = count;
    if (b->calls && note_calls(b, count) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (b->clocks)
        put_right(b, count);
    counts->outlive += pythia__forest_settle(&b->forest);
    find_joins(b, b->forest.scratch);
    b->trace = pythia__forest_trace(&b->forest, b->id);
    b->trace.weight = weight;
    b->trace.incomplete = b->incomplete;
    if (b->incomplete)
        counts->incomplete[b->reason]++;
    count_all(b, count);
    *out = &b->trace;
    return PYTHIA_OK;
}
