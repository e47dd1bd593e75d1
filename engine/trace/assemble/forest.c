/* The order of siblings and the times of spans, once it is known whose child each is. Nothing
 * recurses: a trace may be a chain of a million spans. */
#include "forest.h"

#include <string.h>

#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"

/* Two clocks that are further apart have no common base: each counts from the boot of its own host,
 * or one of them was never set. Clocks that are set differ by seconds, badly set ones by minutes.
 */
#define APART_NS (UINT64_C(3600) * 1000000000)

/* Clocks of one trace whose shift is remembered; each span of a further clock is placed by itself,
 * which loses the distance between two spans of that clock, but none of their lengths. */
#define BASES_MAX 64

/* What fitting spans into their parents needs to know of each. */
struct pythia__fit {
    int64_t moved_ns; /* by how much its clock was off */
    uint64_t end_ns;  /* as it was reported, or found from below */
    bool later;       /* a call that began after its parent had ended: nobody waited for it */
};

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

static bool before(const void *context, uint32_t x, uint32_t y)
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
    pythia_sort_indexes(f->order, f->count, f->scratch, before, f);
    f->first_root = PYTHIA_NO_SPAN;
    for (uint32_t i = f->count; i-- > 0;) { /* from the last, so that each goes to the front */
        uint32_t at = f->order[i], parent = f->spans[at].parent;
        uint32_t *head = parent == PYTHIA_NO_SPAN ? &f->first_root : &f->spans[parent].first_child;
        f->spans[at].next_sibling = *head;
        *head = at;
    }
}

/* ---- clocks ---- */

/* Do two spans read the same clock? Hosts that are not known count as the same one. */
static bool same_clock(const struct pythia__forest *f, const struct pythia_trace_span *x,
                       const struct pythia_trace_span *y)
{
    if (x->resource == y->resource)
        return true;
    struct pythia_resource of_x = pythia_vocabulary_resource_at(f->vocabulary, x->resource);
    struct pythia_resource of_y = pythia_vocabulary_resource_at(f->vocabulary, y->resource);
    return of_x.host == of_y.host || !of_x.host || !of_y.host;
}

/* May two processes read clocks without a common base? Two processes whose hosts are not known may,
 * unlike one process and two of one host. */
static bool may_be_apart(const struct pythia__forest *f, uint32_t x, uint32_t y)
{
    if (x == y)
        return false;
    uint32_t host = pythia_vocabulary_resource_at(f->vocabulary, x).host;
    return !host || host != pythia_vocabulary_resource_at(f->vocabulary, y).host;
}

/* Are a span, if its clock is moved by `by_ns`, and the span that led to it so far from each other
 * that their clocks cannot have a common base? Work that nobody waits for may begin much later. */
static bool is_far(const struct pythia_trace_span *span, const struct pythia_trace_span *cause,
                   int64_t by_ns)
{
    uint64_t start_ns = span->start_ns + (uint64_t)by_ns, end_ns = span->end_ns + (uint64_t)by_ns;
    bool waits = span->relation != PYTHIA_RELATION_SPAWN && span->kind != PYTHIA_SPAN_CONSUMER &&
                 !span->forked;
    if (start_ns > cause->end_ns)
        return (waits || end_ns < start_ns) && start_ns - cause->end_ns > APART_NS;
    return end_ns < cause->start_ns && cause->start_ns - end_ns > APART_NS;
}

/* By how much the clocks of processes are moved that have no common base with the clock of the
 * request. */
struct bases {
    struct {
        uint32_t resource;
        int64_t by_ns;
    } known[BASES_MAX];
    size_t count;
};

/* Where a span of a clock of its own is put: into the middle of the span that led to it, as if both
 * ways took as long; a longer one to its start. */
static int64_t shift_into(const struct pythia_trace_span *span,
                          const struct pythia_trace_span *cause)
{
    uint64_t length = span->end_ns - span->start_ns, around = cause->end_ns - cause->start_ns;
    uint64_t before = around > length ? (around - length) / 2 : 0;
    return (int64_t)(cause->start_ns + before - span->start_ns);
}

/* Has a span a clock without a common base with that of the span that led to it, whose own clock
 * was moved by `above_ns`? Then *by_ns is how far that clock is moved: as far as for the spans
 * before of the same clock, so that the distances between them stay. */
static bool find_base(struct bases *b, const struct pythia__forest *f,
                      const struct pythia_trace_span *span, const struct pythia_trace_span *cause,
                      int64_t above_ns, int64_t *by_ns)
{
    if (!may_be_apart(f, span->resource, cause->resource) || !is_far(span, cause, 0))
        return false;
    for (size_t i = 0; i < b->count; i++) {
        *by_ns = b->known[i].by_ns;
        if (!may_be_apart(f, span->resource, b->known[i].resource) && !is_far(span, cause, *by_ns))
            return true;
    }
    *by_ns = above_ns;
    if (above_ns != 0 && !is_far(span, cause, above_ns))
        return true;
    *by_ns = shift_into(span, cause);
    if (b->count < BASES_MAX) {
        b->known[b->count].resource = span->resource;
        b->known[b->count++].by_ns = *by_ns;
    }
    return true;
}

/* ---- times ---- */

/* Parents before children, into `order`; every span is in it because no circle is left. */
static void order_from_roots(struct pythia__forest *f)
{
    uint32_t done = 0;
    for (uint32_t root = f->first_root; root != PYTHIA_NO_SPAN; root = f->spans[root].next_sibling)
        f->order[done++] = root;
    for (uint32_t i = 0; i < done; i++)
        for (uint32_t child = f->spans[f->order[i]].first_child; child != PYTHIA_NO_SPAN;
             child = f->spans[child].next_sibling)
            f->order[done++] = child;
}

/* When a child ends by the clock of its parent: one whose clock has no common base with it is put
 * to the start of the parent, so that only its length counts. */
static uint64_t end_in_parent(const struct pythia__forest *f, const struct pythia_trace_span *child,
                              const struct pythia_trace_span *parent)
{
    if (may_be_apart(f, child->resource, parent->resource) && is_far(child, parent, 0))
        return parent->start_ns + (child->end_ns - child->start_ns);
    return child->end_ns;
}

/* Ends that were never seen: a span lasts as long as what is below it; without anything below it is
 * a point. Also what was called an annotation and has children is a span. From the leaves up. */
static bool find_lost_ends(struct pythia__forest *f)
{
    bool changed = false;
    for (uint32_t i = f->count; i-- > 0;) {
        struct pythia_trace_span *span = &f->spans[f->order[i]];
        bool lost = pythia__has_repair(span, PYTHIA_REPAIR_UNFINISHED);
        if (!lost && !span->annotation)
            continue;
        if (span->first_child != PYTHIA_NO_SPAN)
            span->annotation = false;
        else if (lost)
            span->annotation = true;
        for (uint32_t child = span->first_child; child != PYTHIA_NO_SPAN;
             child = f->spans[child].next_sibling) {
            uint64_t end_ns = end_in_parent(f, &f->spans[child], span);
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

static void shift(struct pythia_trace_span *span, int64_t by_ns)
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

/* Cut what sticks out of the parent although nothing begins before its cause, or, if the parent
 * `waits`, ends after whoever waits for it. True if more than a rounding was cut. */
static bool clamp(struct pythia_trace_span *span, const struct pythia_trace_span *parent,
                  bool waits)
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
    return span->start_ns != start_ns || span->end_ns != end_ns;
}

/* Did nobody wait for a call, although its source says that it is one? On one clock, a call that
 * begins after its parent has ended is something that the parent led to, as the page that a browser
 * asks for next. Cut to its parent, it and all below it would have no length left. Two clocks may
 * disagree, but that shows between a client and its server: of two servers with no client between
 * them the later one was not called by the earlier one. `end_ns` is the end of the parent as it was
 * reported. */
static bool is_call_after_parent(const struct pythia_trace_span *span,
                                 const struct pythia_trace_span *parent, uint64_t end_ns, bool same)
{
    bool servers = span->kind == PYTHIA_SPAN_SERVER && parent->kind == PYTHIA_SPAN_SERVER;
    return span->relation == PYTHIA_RELATION_CALL && span->start_ns > end_ns && (same || servers);
}

/* Clocks that start spans at whole milliseconds and measure how long they last more finely, as that
 * of OpenTelemetry in Node.js does, let a span seem to end up to a millisecond after the one around
 * it. And there the spans of handlers in Express end with an event of the response, which waits
 * until the program has time: up to 20 ms after the server's span on a busy machine. A span that
 * begins with the call around it is what the call is for, and ends with it. `begun_ns` is the start
 * of the parent on the same clock. */
static bool ends_with_parent(const struct pythia_trace_span *span,
                             const struct pythia_trace_span *parent,
                             const struct pythia__fit *above, uint64_t begun_ns)
{
    const uint64_t ms = 1000000;
    if (span->start_ns % ms != 0 || span->end_ns % ms == 0)
        return false;
    bool with_call = parent->relation == PYTHIA_RELATION_CALL && !above->later &&
                     begun_ns % ms == 0 && span->start_ns <= begun_ns + ms;
    return with_call || span->end_ns - above->end_ns < ms;
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

/* Put a root whose clock has no common base with that of the longest root into that root. */
static void fit_root(struct pythia__forest *f, struct bases *bases, uint32_t root, uint32_t longest)
{
    struct pythia_trace_span *span = &f->spans[root];
    struct pythia__fit *fit = &f->fits[root];
    if (root == longest || !find_base(bases, f, span, &f->spans[longest], 0, &fit->moved_ns))
        return;
    shift(span, fit->moved_ns);
    pythia__repair(span, PYTHIA_REPAIR_CLOCK_BASE);
}

/* Find how far the clock of a span is moved, and whether its parent waits for it; move the span. A
 * parent of which nothing is known waited for what ended before it did. */
static bool fit_into_clock(struct pythia__forest *f, struct bases *bases, uint32_t at)
{
    struct pythia_trace_span *span = &f->spans[at];
    struct pythia__fit *fit = &f->fits[at];
    const struct pythia_trace_span *parent = &f->spans[span->parent];
    const struct pythia__fit *above = &f->fits[span->parent];
    int64_t base_ns = 0;
    bool apart = find_base(bases, f, span, parent, above->moved_ns, &base_ns);
    bool same = !apart && same_clock(f, span, parent);
    fit->later = !apart && is_call_after_parent(span, parent, above->end_ns, same);
    bool waits =
        (span->relation == PYTHIA_RELATION_CALL && !fit->later) ||
        (span->relation == PYTHIA_RELATION_UNKNOWN && same && ended_before(span, parent, above));
    if (same && span->end_ns < parent->start_ns - (uint64_t)above->moved_ns)
        same = false; /* wholly before its parent on one clock: moved, so that its length is kept */
    shift(span, base_ns);
    int64_t moved_ns = same ? above->moved_ns : fit_clock(span, parent, waits);
    shift(span, moved_ns);
    fit->moved_ns = (int64_t)((uint64_t)base_ns + (uint64_t)moved_ns);
    if (apart)
        pythia__repair(span, PYTHIA_REPAIR_CLOCK_BASE);
    else if (!same && moved_ns)
        pythia__repair(span, PYTHIA_REPAIR_SKEW);
    return waits;
}

/* From the roots down: first the clock, whose error is inherited by what is below on the same
 * clock; then what still sticks out. True if a time may have changed. */
static bool fit_into_parents(struct pythia__forest *f)
{
    const uint32_t mended =
        1u << PYTHIA_REPAIR_CLAMPED | 1u << PYTHIA_REPAIR_SKEW | 1u << PYTHIA_REPAIR_CLOCK_BASE;
    struct bases bases = {.count = 0};
    uint32_t longest = longest_root(f);
    bool changed = false;
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t at = f->order[i];
        struct pythia_trace_span *span = &f->spans[at];
        struct pythia__fit *fit = &f->fits[at];
        *fit = (struct pythia__fit){.moved_ns = 0, .end_ns = span->end_ns, .later = false};
        uint64_t end_ns = span->end_ns;
        if (span->parent == PYTHIA_NO_SPAN) {
            fit_root(f, &bases, at, longest);
        } else {
            bool waits = fit_into_clock(f, &bases, at);
            end_ns = span->end_ns;
            if (clamp(span, &f->spans[span->parent], waits))
                pythia__repair(span, PYTHIA_REPAIR_CLAMPED);
        }
        changed = changed || span->repairs & mended || fit->moved_ns || span->end_ns != end_ns;
    }
    return changed;
}

/* When all below each span has ended; returns how many spans go on after their parent. */
static uint64_t find_completions(struct pythia__forest *f)
{
    uint64_t outlive = 0;
    for (uint32_t i = 0; i < f->count; i++)
        f->spans[i].completed_ns = f->spans[i].end_ns;
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
    order_from_roots(f);
    bool stretched = find_lost_ends(f), moved = fit_into_parents(f);
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
        if (span->end_ns > t.end_ns && (all_forked || !span->forked))
            t.end_ns = span->end_ns;
        t.completed_ns = span->completed_ns > t.completed_ns ? span->completed_ns : t.completed_ns;
    }
    return t;
}
