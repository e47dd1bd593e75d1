/* The order of siblings and the times of spans, once it is known whose child each is. Nothing
 * recurses: a trace may be a chain of a million spans. */
#include "forest.h"

#include <string.h>

#include "clocks.h"
#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"

int pythia__forest_reserve(struct pythia__forest *f, size_t count)
{
    if (count <= f->capacity)
        return PYTHIA_OK;
    size_t larger = f->capacity * 2 > count ? f->capacity * 2 : count;
    struct {
        void *array;
        size_t size;
    } parts[] = {{&f->spans, sizeof(*f->spans)},
                 {&f->order, sizeof(*f->order)},
                 {&f->scratch, sizeof(*f->scratch)}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        /* Pointers of different types are moved as bytes: to read one through void ** would break
         * the rules of aliasing. */
        void *old;
        memcpy(&old, parts[i].array, sizeof(old));
        void *moved = pythia_realloc(old, larger, parts[i].size);
        if (!moved)
            return PYTHIA_ENOMEM;
        memcpy(parts[i].array, &moved, sizeof(moved));
    }
    f->capacity = larger;
    return PYTHIA_OK;
}

int pythia__forest_reserve_fits(struct pythia__forest *f)
{
    if (f->fit_capacity >= f->capacity)
        return PYTHIA_OK;
    struct pythia__fit *fits = pythia_realloc(f->fits, f->capacity, sizeof(*fits));
    if (!fits)
        return PYTHIA_ENOMEM;
    f->fits = fits;
    f->fit_capacity = f->capacity;
    return PYTHIA_OK;
}

void pythia__forest_free(struct pythia__forest *f)
{
    pythia_free(f->spans);
    pythia_free(f->order);
    pythia_free(f->scratch);
    pythia_free(f->fits);
    *f = (struct pythia__forest){.vocabulary = f->vocabulary};
}

size_t pythia__forest_bytes(const struct pythia__forest *f)
{
    return f->capacity * (sizeof(*f->spans) + sizeof(*f->order) + sizeof(*f->scratch)) +
           f->fit_capacity * sizeof(*f->fits);
}

/* ---- order ---- */

static bool is_server_half(const struct pythia_trace_span *span)
{
    return span->kind == PYTHIA_SPAN_SERVER || span->kind == PYTHIA_SPAN_CONSUMER;
}

bool pythia__span_before(const struct pythia_vocabulary *v, const struct pythia_trace_span *x,
                         const struct pythia_trace_span *y)
{
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns;
    /* Numbers of the vocabulary depend on the order of reports; the texts do not. */
    if (x->tracepoint != y->tracepoint && x->tracepoint != PYTHIA_NONE &&
        y->tracepoint != PYTHIA_NONE) {
        int order = pythia_text_compare(pythia_vocabulary_tracepoint_id(v, x->tracepoint),
                                        pythia_vocabulary_tracepoint_id(v, y->tracepoint));
        if (order)
            return order < 0;
    }
    if (x->id != y->id)
        return x->id < y->id;
    return !is_server_half(x) && is_server_half(y);
}

static bool span_precedes(const void *context, uint32_t x, uint32_t y)
{
    const struct pythia__forest *f = context;
    return pythia__span_before(f->vocabulary, &f->spans[x], &f->spans[y]);
}

/* Link siblings in canonical order, and the roots. */
static void link_children(struct pythia__forest *f)
{
    for (uint32_t i = 0; i < f->count; i++) {
        f->order[i] = i;
        f->spans[i].first_child = PYTHIA_NO_SPAN;
    }
    pythia_sort_indexes(f->order, f->count, f->scratch, span_precedes, f);
    f->first_root = PYTHIA_NO_SPAN;
    for (uint32_t i = f->count; i-- > 0;) { /* from the last, so that each goes to the front */
        uint32_t at = f->order[i], parent = f->spans[at].parent;
        uint32_t *head = parent == PYTHIA_NO_SPAN ? &f->first_root : &f->spans[parent].first_child;
        f->spans[at].next_sibling = *head;
        *head = at;
    }
}

/* ---- times ---- */

void pythia__forest_order(const struct pythia_trace_span *spans, uint32_t first_root,
                          uint32_t *order)
{
    uint32_t done = 0;
    /* The array is its own queue: what is listed is walked for its children later, without a stack.
     */
    for (uint32_t root = first_root; root != PYTHIA_NO_SPAN; root = spans[root].next_sibling)
        order[done++] = root;
    for (uint32_t i = 0; i < done; i++)
        for (uint32_t child = spans[order[i]].first_child; child != PYTHIA_NO_SPAN;
             child = spans[child].next_sibling)
            order[done++] = child;
}

/* When a child ends by the clock of its parent. */
static uint64_t end_in_parent(const struct pythia__forest *f, const struct pythia__clocks *c,
                              uint32_t child)
{
    const struct pythia_trace_span *span = &f->spans[child];
    if (f->fits[child].same)
        return span->end_ns;
    return span->end_ns + (uint64_t)pythia__clocks_shift(c, f, child) -
           (uint64_t)pythia__clocks_shift(c, f, span->parent);
}

/* Ends that were never seen: a span lasts as long as what is below it; without anything below it is
 * a point. Also what was called an annotation and has children is a span. From the leaves up. */
static bool find_lost_ends(struct pythia__forest *f, const struct pythia__clocks *c)
{
    bool changed = false;
    for (uint32_t i = f->count; i-- > 0;) {
        struct pythia_trace_span *span = &f->spans[f->order[i]];
        bool lost = pythia__has_repair(span, PYTHIA_REPAIR_UNFINISHED);
        if (!lost && !span->annotation)
            continue;
        /* Something ran below it, so that it lasted; without that it is a point in time. */
        if (span->first_child != PYTHIA_NO_SPAN)
            span->annotation = false;
        else if (lost)
            span->annotation = true;
        for (uint32_t child = span->first_child; child != PYTHIA_NO_SPAN;
             child = f->spans[child].next_sibling) {
            uint64_t end_ns = end_in_parent(f, c, child);
            if (end_ns > span->end_ns) {
                span->end_ns = end_ns;
                changed = true;
            }
        }
    }
    return changed;
}

/* Move a span that reads another clock than its parent, which `waits` for it, so that it fits;
 * returns the shift. */
static int64_t fit_clock(const struct pythia_trace_span *span,
                         const struct pythia_trace_span *parent, bool waits)
{
    if (span->start_ns < parent->start_ns)
        return (int64_t)(parent->start_ns - span->start_ns);
    if (!waits || span->end_ns <= parent->end_ns)
        return 0;
    uint64_t over = span->end_ns - parent->end_ns, room = span->start_ns - parent->start_ns;
    return (int64_t)(0 - (over < room
                              ? over
                              : room)); /* 2^63 has no negative as an int64_t, but it has as this */
}

static void shift_span(struct pythia_trace_span *span, int64_t by_ns)
{
    span->start_ns += (uint64_t)by_ns;
    span->end_ns += (uint64_t)by_ns;
}

/* Does a child whose parent ended at `parent_ns` only seem to end after it, at `end_ns`? A source
 * that measures in whole microseconds cuts both the start and the duration of a span, each by less
 * than one: two of its ends may swap by up to 2 microseconds. */
static bool is_late_by_rounding(uint64_t end_ns, uint64_t parent_ns)
{
    const uint64_t us = 1000;
    return end_ns > parent_ns && end_ns - parent_ns <= 2 * us && end_ns % us == 0 &&
           parent_ns % us == 0;
}

static uint64_t distance_of(uint64_t x, uint64_t y)
{
    return x < y ? y - x : x - y;
}

/* Cut what sticks out of the parent although nothing begins before its cause, or, if the parent
 * `waits`, ends after whoever waits for it. True if a time was changed by more than the clock
 * resolves: the rounding of two times is not an error that is worth a mark on the trace. Where both
 * starts are `rough`, as those of stock Express services, a third of all spans would have it. */
static bool clamp_to_parent(struct pythia_trace_span *span, const struct pythia_trace_span *parent,
                            bool waits, bool rough)
{
    uint64_t start_ns = span->start_ns, end_ns = span->end_ns;
    if (waits && start_ns >= parent->start_ns && start_ns <= parent->end_ns &&
        is_late_by_rounding(end_ns, parent->end_ns)) {
        span->end_ns = parent->end_ns;
        return false;
    }
    if (span->start_ns < parent->start_ns)
        span->start_ns = parent->start_ns;
    if (waits && span->end_ns > parent->end_ns) {
        if (span->start_ns > parent->end_ns)
            span->start_ns = parent->end_ns;
        span->end_ns = parent->end_ns;
    }
    if (span->end_ns < span->start_ns)
        span->end_ns = span->start_ns;
    uint64_t resolved_ns = rough ? PYTHIA_ROUGH_START_NS : 1;
    return distance_of(span->start_ns, start_ns) >= resolved_ns ||
           distance_of(span->end_ns, end_ns) >= resolved_ns;
}

/* Did nobody wait for a call, although its source says that it is one? On one clock, a call that
 * begins after its parent has ended is something that the parent led to, as the page that a browser
 * asks for next. Cut to its parent, it and all below it would have no length left. Two clocks may
 * disagree, but that shows between a client and its server: of two servers with no client between
 * them the later one was not called by the earlier one. The start of the span and the end of its
 * parent are those by clocks that agree, before anything was cut. */
static bool is_call_after_parent(const struct pythia_trace_span *span,
                                 const struct pythia_trace_span *parent, uint64_t start_ns,
                                 uint64_t end_ns, bool same)
{
    bool servers = span->kind == PYTHIA_SPAN_SERVER && parent->kind == PYTHIA_SPAN_SERVER;
    return span->relation == PYTHIA_RELATION_CALL && start_ns > end_ns && (same || servers);
}

/* Where starts are cut to whole milliseconds (pythia_starts_roughly), a span may seem to end up to
 * a millisecond after the one around it. And in Node.js, where they are, the spans of handlers in
 * Express end with an event of the response, which waits until the program has time: up to 20 ms
 * after the server's span on a busy machine. A span that begins with the call around it is what the
 * call is for, and ends with it. `begun_ns` is the start of the parent on the same clock. */
static bool ends_with_parent(const struct pythia_trace_span *span,
                             const struct pythia_trace_span *parent,
                             const struct pythia__fit *above, uint64_t begun_ns)
{
    if (!pythia_starts_roughly(span->start_ns, span->end_ns))
        return false;
    bool with_call = parent->relation == PYTHIA_RELATION_CALL && !above->later &&
                     begun_ns % PYTHIA_ROUGH_START_NS == 0 &&
                     span->start_ns <= begun_ns + PYTHIA_ROUGH_START_NS;
    return with_call || span->end_ns - above->end_ns < PYTHIA_ROUGH_START_NS;
}

/* Were the starts of both a span and the one around it cut to whole milliseconds? */
static bool start_both_roughly(const struct pythia_trace_span *span,
                               const struct pythia_trace_span *parent,
                               const struct pythia__fit *above)
{
    return pythia_starts_roughly(span->start_ns, span->end_ns) &&
           pythia_starts_roughly(parent->start_ns - (uint64_t)above->moved_ns, above->end_ns);
}

/* Had a span ended before the one around it, or does it only seem to end later? */
static bool ended_before(const struct pythia_trace_span *span,
                         const struct pythia_trace_span *parent, const struct pythia__fit *above)
{
    return span->end_ns <= above->end_ns || is_late_by_rounding(span->end_ns, above->end_ns) ||
           ends_with_parent(span, parent, above, parent->start_ns - (uint64_t)above->moved_ns);
}

/* The root by whose clock a request is timed: the longest; of two as long the first one. */
static uint32_t longest_root(const struct pythia__forest *f)
{
    uint32_t longest = f->first_root;
    for (uint32_t root = longest; root != PYTHIA_NO_SPAN; root = f->spans[root].next_sibling) {
        const struct pythia_trace_span *x = &f->spans[root], *y = &f->spans[longest];
        if (x->end_ns - x->start_ns > y->end_ns - y->start_ns)
            longest = root;
    }
    return longest;
}

/* Move a root by as much as its clock is moved, if a time remains one. */
static void fit_root(struct pythia__forest *f, const struct pythia__clocks *c, uint32_t root)
{
    struct pythia_trace_span *span = &f->spans[root];
    int64_t by_ns = pythia__clocks_shift(c, f, root);
    bool apart = root != c->longest && pythia__clocks_are_apart(f, span, &f->spans[c->longest]);
    if (by_ns == 0 || span->start_ns + (uint64_t)by_ns > span->end_ns + (uint64_t)by_ns)
        return;
    f->fits[root].moved_ns = by_ns;
    shift_span(span, by_ns);
    pythia__repair(span, apart ? PYTHIA_REPAIR_CLOCK_BASE : PYTHIA_REPAIR_SKEW);
}

/* Move a span by as much as its clock is moved, and then, if it still does not fit, by itself.
 * Returns whether its parent waits for it. A parent of which nothing is known waited for what ended
 * before it did. */
static bool fit_into_clock(struct pythia__forest *f, const struct pythia__clocks *c, uint32_t at)
{
    struct pythia_trace_span *span = &f->spans[at];
    struct pythia__fit *fit = &f->fits[at];
    const struct pythia_trace_span *parent = &f->spans[span->parent];
    const struct pythia__fit *above = &f->fits[span->parent];
    bool same = fit->same, apart = !same && pythia__clocks_are_apart(f, span, parent);
    fit->rough = same && start_both_roughly(span, parent, above);
    /* It seems to begin after the end of its parent, but each start was cut by less than one
     * millisecond. */
    bool seems_after = fit->rough && span->start_ns > above->end_ns &&
                       span->end_ns - above->end_ns < PYTHIA_ROUGH_START_NS;
    uint64_t base_ns = same ? 0 : (uint64_t)pythia__clocks_shift(c, f, at),
             above_ns = same ? 0 : (uint64_t)above->moved_ns;
    fit->later = !apart && !seems_after &&
                 is_call_after_parent(span, parent, span->start_ns + base_ns,
                                      above->end_ns + above_ns, same);
    bool waits =
        (span->relation == PYTHIA_RELATION_CALL && !fit->later) ||
        (span->relation == PYTHIA_RELATION_UNKNOWN && same && ended_before(span, parent, above));
    if (same && span->end_ns < parent->start_ns - (uint64_t)above->moved_ns)
        same = false; /* wholly before its parent on one clock: moved, so that its length is kept */
    shift_span(span, (int64_t)base_ns);
    int64_t moved_ns = same ? above->moved_ns : fit_clock(span, parent, waits);
    shift_span(span, moved_ns);
    if (seems_after && waits) { /* cut, it would have no length left */
        int64_t by_ns = fit_clock(span, parent, waits);
        shift_span(span, by_ns);
        moved_ns += by_ns;
    }
    fit->moved_ns = (int64_t)(base_ns + (uint64_t)moved_ns);
    if (apart)
        pythia__repair(span, PYTHIA_REPAIR_CLOCK_BASE);
    else if (!same && fit->moved_ns)
        pythia__repair(span, PYTHIA_REPAIR_SKEW);
    return waits;
}

/* From the roots down: first the clock, whose error is inherited by what is below on the same
 * clock; then what still sticks out. True if a time may have changed. */
static bool fit_into_parents(struct pythia__forest *f, const struct pythia__clocks *c)
{
    bool changed = false;
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t at = f->order[i];
        struct pythia_trace_span *span = &f->spans[at];
        struct pythia__fit *fit = &f->fits[at];
        uint64_t start_ns = span->start_ns;
        /* Parents are done before their children, whose moves start from theirs. */
        fit->moved_ns = 0;
        fit->end_ns = span->end_ns;
        fit->later = false;
        if (span->parent == PYTHIA_NO_SPAN) {
            fit_root(f, c, at);
        } else {
            bool waits = fit_into_clock(f, c, at);
            if (clamp_to_parent(span, &f->spans[span->parent], waits, fit->rough))
                pythia__repair(span, PYTHIA_REPAIR_CLAMPED);
        }
        changed = changed || span->start_ns != start_ns || span->end_ns != fit->end_ns;
    }
    return changed;
}

/* When all below each span has ended; returns how many spans go on after their parent. */
static uint64_t find_completions(struct pythia__forest *f)
{
    uint64_t outlive = 0;
    for (uint32_t i = 0; i < f->count; i++)
        f->spans[i].completed_ns = f->spans[i].end_ns;
    /* Parents come before their children in the order, so that a walk from its end has seen all
     * below a span before the span itself. */
    for (uint32_t i = f->count; i-- > 0;) {
        const struct pythia_trace_span *span = &f->spans[f->order[i]];
        if (span->parent == PYTHIA_NO_SPAN)
            continue;
        struct pythia_trace_span *parent = &f->spans[span->parent];
        outlive += span->end_ns > parent->end_ns;
        if (span->completed_ns > parent->completed_ns) {
            parent->completed_ns = span->completed_ns;
            parent->unawaited = span->unawaited || span->forked || f->fits[f->order[i]].later ||
                                span->relation == PYTHIA_RELATION_SPAWN;
        }
    }
    return outlive;
}

uint64_t pythia__forest_settle(struct pythia__forest *f)
{
    link_children(f);
    pythia__forest_order(f->spans, f->first_root, f->order);
    struct pythia__clocks clocks;
    pythia__clocks_find(&clocks, f, longest_root(f));
    bool stretched = find_lost_ends(f, &clocks), moved = fit_into_parents(f, &clocks);
    uint64_t outlive = find_completions(f);
    if (stretched || moved) /* siblings may have changed their order */
        link_children(f);
    return outlive;
}

bool pythia__forest_ends_later(const struct pythia__forest *f, uint32_t x, uint32_t y)
{
    const struct pythia_trace_span *a = &f->spans[x], *b = &f->spans[y];
    return a->end_ns > b->end_ns ||
           (a->end_ns == b->end_ns && pythia__span_before(f->vocabulary, a, b));
}

struct pythia_trace pythia__forest_trace(const struct pythia__forest *f, struct pythia_trace_id id)
{
    struct pythia_trace t = {.id = id,
                             .spans = f->spans,
                             .count = f->count,
                             .first_root = f->first_root,
                             .start_ns = UINT64_MAX};
    bool all_forked = true; /* then that is the request */
    for (uint32_t root = f->first_root; root != PYTHIA_NO_SPAN; root = f->spans[root].next_sibling)
        all_forked = all_forked && f->spans[root].forked;
    for (uint32_t root = f->first_root; root != PYTHIA_NO_SPAN;
         root = f->spans[root].next_sibling) {
        const struct pythia_trace_span *span = &f->spans[root];
        t.roots++;
        t.start_ns = span->start_ns < t.start_ns ? span->start_ns : t.start_ns;
        /* Forked work outlasts the request that began it, and nobody waits for its end. */
        if (span->end_ns > t.end_ns && (all_forked || !span->forked))
            t.end_ns = span->end_ns;
        t.completed_ns = span->completed_ns > t.completed_ns ? span->completed_ns : t.completed_ns;
    }
    return t;
}
