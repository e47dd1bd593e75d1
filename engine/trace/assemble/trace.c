/* Spans and parts of spans, in any order, into the forest of one trace.
 *
 *   add      what is reported of one span meets in one item (join.c)
 *   finish   spans that share an id are told apart (shared_ids.c);
 *            what is no span (ends without a start, hidden points, forks) becomes transparent;
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

#include "pythia/attributes.h"
#include "pythia/mem.h"
#include "pythia/sampling.h"
#include "pythia/status.h"
#include "shared_ids.h"
#include "trace_builder.h"

/* Of a larger trace the items, which have no use once its spans are known, do not stay in memory
 * while it is settled and looked at. The next trace makes its own. */
#define ITEMS_MAX ((size_t)1024 * 1024) /* bytes */

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
    pythia_hash_table_free(&b->by_id);
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
    b->links = false;
    b->incomplete = b->begun = false;
    pythia_hash_table_clear(&b->by_id);
    pythia_arena_clear(&b->joined);
}

void pythia_trace_builder_mark_incomplete(struct pythia_trace_builder *b,
                                          enum pythia_incomplete reason)
{
    b->incomplete = true;
    b->reason = reason;
}

void pythia_trace_builder_set_begun(struct pythia_trace_builder *b, uint64_t begun_ns)
{
    b->begun = true;
    b->begun_ns = begun_ns;
}

int pythia_trace_builder_add(struct pythia_trace_builder *b, const struct pythia_span *span)
{
    if (span->lossy)
        pythia_trace_builder_mark_incomplete(b, PYTHIA_INCOMPLETE_RING);
    return pythia__join_report(b, span);
}

/* ---- what was added so far ---- */

static bool names_root(const struct pythia_trace_builder *b, const struct pythia__item *item)
{
    return item->parent_id == 0 || item->parent_id == b->folded_id;
}

static bool is_item_running(const struct pythia__item *item)
{
    bool ends = item->part == PYTHIA_PART_START || item->part == PYTHIA_PART_WAIT;
    return item->started && ends && !item->stopped;
}

static bool has_above(const struct pythia_trace_builder *b, const struct pythia__item *item)
{
    if (item->shared)
        return pythia__join_find(b, item->span.id, false) != PYTHIA_NO_SPAN;
    if (item->second && pythia__join_find(b, item->span.id, false) != PYTHIA_NO_SPAN)
        return true;
    return names_root(b, item) || pythia__join_find(b, item->parent_id, false) != PYTHIA_NO_SPAN ||
           pythia__join_find(b, item->parent_id, true) != PYTHIA_NO_SPAN;
}

enum pythia_trace_state pythia_trace_builder_state(const struct pythia_trace_builder *b)
{
    bool root = false, whole = true;
    for (size_t i = 0; i < b->count; i++) {
        const struct pythia__item *item = &b->items[i];
        bool lasts = item->part != PYTHIA_PART_FORK && item->part != PYTHIA_PART_ANNOTATION;
        if (item->part == PYTHIA_PART_ADDITION || pythia__shared_id_is_part(b, item))
            continue;
        if (is_item_running(item))
            return PYTHIA_TRACE_RUNNING;
        whole = whole && item->started && has_above(b, item);
        /* Notes and forks may come alone: neither makes a request. */
        root = root || (lasts && !item->shared && names_root(b, item));
    }
    return whole && root ? PYTHIA_TRACE_WHOLE : PYTHIA_TRACE_PARTIAL;
}

size_t pythia_trace_builder_bytes(const struct pythia_trace_builder *b)
{
    return sizeof(*b) + b->capacity * sizeof(*b->items) + pythia_hash_table_bytes(&b->by_id) +
           b->index_capacity * sizeof(*b->index) + pythia__forest_bytes(&b->forest) +
           pythia_arena_bytes(&b->joined);
}

static void release_items(struct pythia_trace_builder *b)
{
    pythia_free(b->items);
    pythia_hash_table_free(&b->by_id);
    pythia_free(b->index);
    b->items = NULL;
    b->index = NULL;
    b->count = b->capacity = b->index_capacity = 0;
}

void pythia_trace_builder_release(struct pythia_trace_builder *b)
{
    release_items(b);
    pythia__forest_free(&b->forest);
    pythia_arena_free(&b->joined);
}

/* ---- finish: spans without any time ---- */

/* A span of which no time was reported begins with its parent, one without a parent with the trace.
 * From the top of a chain of them down, with those still to be done in `stack`. */
static void place_untimed(struct pythia_trace_builder *b, uint32_t *stack)
{
    uint64_t first_ns = UINT64_MAX;
    for (size_t i = 0; i < b->count; i++) {
        const struct pythia__item *item = &b->items[i];
        if (item->started && !item->untimed && item->span.start_ns < first_ns)
            first_ns = item->span.start_ns;
    }
    for (uint32_t from = 0; from < b->count; from++) {
        uint32_t depth = 0, at = from;
        /* Its parent may be untimed as well; recursion would be as deep as the trace. */
        for (; at != PYTHIA_NO_SPAN && b->items[at].untimed; at = b->items[at].above)
            stack[depth++] = at;
        while (depth > 0) {
            struct pythia__item *item = &b->items[stack[--depth]];
            item->untimed = false;
            const struct pythia__item *above =
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
static void find_item_end(struct pythia__item *item)
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

static void classify_item(struct pythia_trace_builder *b, struct pythia__item *item)
{
    item->state = PYTHIA__ITEM_TRANSPARENT;
    if (item->part == PYTHIA_PART_ADDITION || item->taken)
        return;
    if (!item->started) {
        b->counts->dropped[PYTHIA_DROP_STOP_WITHOUT_START]++;
    } else if (item->part == PYTHIA_PART_FORK) {
        item->span.end_ns = item->span.start_ns;
    } else if (b->open && !pythia_open_points_has(b->open, item->span.tracepoint)) {
        b->counts->hidden++;
        find_item_end(item);
    } else {
        item->state = PYTHIA__ITEM_SPAN;
        find_item_end(item);
    }
}

static void name_parent(struct pythia_trace_builder *b, struct pythia__item *item)
{
    uint32_t self = (uint32_t)(item - b->items);
    item->root = false;
    item->above = item->fork = PYTHIA_NO_SPAN;
    if (item->part == PYTHIA_PART_ADDITION || item->taken)
        return;
    item->above = pythia__shared_id_around(b, item);
    if (item->above != PYTHIA_NO_SPAN)
        return;
    /* The server half of a shared id is inside the client half, whatever parent its sender
     * reported. */
    if (item->second && pythia__join_find(b, item->span.id, false) != PYTHIA_NO_SPAN) {
        item->above = pythia__join_find(b, item->span.id, false);
        return;
    }
    if (item->parent_id == 0 || item->parent_id == b->folded_id) {
        item->root = true;
        return;
    }
    uint32_t above = pythia__shared_id_of_child(b, item);
    /* A span that names itself as its parent would make a cycle of one. */
    if (above == self)
        pythia__repair(&item->span, PYTHIA_REPAIR_CYCLE);
    else
        item->above = above;
}

/* As above, for items: the two halves of a shared id may have the same times and the same id. */
static bool items_before(const struct pythia_trace_builder *b, const struct pythia__item *x,
                         const struct pythia__item *y)
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
    return item != PYTHIA_NO_SPAN && b->items[item].state == PYTHIA__ITEM_TRANSPARENT;
}

/* Lift an item over the transparent one above it, above which there is none any more. */
static void lift_item(const struct pythia_trace_builder *b, struct pythia__item *item)
{
    if (!is_transparent(b, item->above))
        return;
    const struct pythia__item *above = &b->items[item->above];
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
        lift_item(b, &b->items[at]);
        while (depth > 0)
            lift_item(b, &b->items[stack[--depth]]);
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
    const struct pythia__item *root = NULL;
    double of_root = 0, largest = 0;
    if (b->sampling_key == PYTHIA_NONE)
        b->sampling_key =
            pythia_vocabulary_string_find(b->vocabulary, PYTHIA_TEXT(PYTHIA_SAMPLING_KEY));
    for (size_t i = 0; b->sampling_key != PYTHIA_NONE && i < b->count; i++) {
        const struct pythia__item *item = &b->items[i];
        if (item->part == PYTHIA_PART_ADDITION || item->taken)
            continue;
        /* The end of a span may state it too, with the newer value. */
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
        struct pythia__item *item = &b->items[i];
        /* The span of a closed trace point: its children hang on the span above it. */
        if (item->state == PYTHIA__ITEM_TRANSPARENT)
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
        struct pythia__item *item = &b->items[i];
        if (item->state == PYTHIA__ITEM_TRANSPARENT)
            continue;
        if (item->above == PYTHIA_NO_SPAN && !item->root) {
            if (!pythia__has_repair(&item->span, PYTHIA_REPAIR_CYCLE))
                pythia__repair(&item->span, PYTHIA_REPAIR_ORPHAN);
            /* With one root, everything without a parent is part of it; with several it cannot be
             * known of which. */
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
    uint32_t at = pythia__join_find(b, id, false);
    return at != PYTHIA_NO_SPAN && b->items[at].part == PYTHIA_PART_FORK ? at : PYTHIA_NO_SPAN;
}

/* Each wait's work: the root that ended last of what was forked with the link it names. Work that
 * left no span leaves the wait a plain span. `latest`, by item, is that root of a fork. */
static void find_fork_joins(struct pythia_trace_builder *b, uint32_t *latest)
{
    for (uint32_t i = 0; i < b->count; i++)
        latest[i] = PYTHIA_NO_SPAN;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct pythia__item *item = &b->items[i];
        if (item->state == PYTHIA__ITEM_TRANSPARENT || item->fork == PYTHIA_NO_SPAN)
            continue;
        /* The wait ends when the last of the forked work does. */
        uint32_t *last = &latest[item->fork];
        if (*last == PYTHIA_NO_SPAN || pythia__forest_ends_later(&b->forest, b->index[i], *last))
            *last = b->index[i];
    }
    for (uint32_t i = 0; i < b->count; i++) {
        const struct pythia__item *item = &b->items[i];
        if (item->state == PYTHIA__ITEM_TRANSPARENT)
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

static int copy_item_spans(struct pythia_trace_builder *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        struct pythia__item *item = &b->items[i];
        if (item->state == PYTHIA__ITEM_TRANSPARENT)
            continue;
        if (pythia__join_attributes(b, item, item->stop_attributes) != PYTHIA_OK)
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
    for (uint32_t i = 0; i < count; i++) {
        const struct pythia_trace_span *server = &b->forest.spans[i];
        if (server->kind != PYTHIA_SPAN_SERVER || server->parent == PYTHIA_NO_SPAN)
            continue;
        const struct pythia_trace_span *client = &b->forest.spans[server->parent];
        /* Only a pair of client and server spans bounds both ways of a call; a producer does not
         * wait for its consumer, so that their times say nothing of the distance of the clocks. */
        if (client->kind == PYTHIA_SPAN_CLIENT && has_both_ends(client) && has_both_ends(server)) {
            int status =
                pythia_skew_add(b->calls, client->resource, server->resource, client->start_ns,
                                client->end_ns, server->start_ns, server->end_ns);
            if (status != PYTHIA_OK)
                return status;
        }
    }
    return PYTHIA_OK;
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
    if (pythia__shared_ids_settle(b) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (b->additions && !has_times(b)) {
        counts->dropped[PYTHIA_DROP_BROKEN_RECORD] += b->additions;
        counts->dropped[PYTHIA_DROP_STOP_WITHOUT_START] += n - b->additions;
        return 1;
    }
    if (b->additions && pythia__join_additions(b) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    /* All items are classified before any is placed: a parent is looked for among those that
     * remain, and it may come later in the list. */
    for (size_t i = 0; i < n; i++)
        classify_item(b, &b->items[i]);
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
    if (copy_item_spans(b) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    b->forest.count = count;
    if (b->calls && note_calls(b, count) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (b->clocks)
        put_right(b, count);
    /* After a very large trace give the items back before the forest grows: both at once are the
     * peak of memory. */
    if (!b->links && n * sizeof(*b->items) > ITEMS_MAX)
        release_items(b);
    if (pythia__forest_reserve_fits(&b->forest) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    counts->outlive += pythia__forest_settle(&b->forest);
    if (b->links)
        find_fork_joins(b, b->forest.scratch);
    b->trace = pythia__forest_trace(&b->forest, b->id);
    b->trace.weight = weight;
    b->trace.begun_ns = b->begun ? b->begun_ns : b->trace.start_ns;
    b->trace.incomplete = b->incomplete;
    if (b->incomplete)
        counts->incomplete[b->reason]++;
    count_all(b, count);
    *out = &b->trace;
    return PYTHIA_OK;
}
