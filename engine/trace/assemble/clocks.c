/* One shift for each clock of a trace.
 *
 *   name    each span has the clock of its host, or else that of its process
 *   list    a call from one clock to another lies within its caller, so that it bounds the shift of
 *           the one clock by that of the other
 *   place   from the clock of the request on, clock by clock: all bounds by clocks that are placed
 *           are intersected. Of the shifts that are left, 0 is the first choice, then the shift of
 *           the caller's clock. A shift that is smaller than the slack is taken as small as can be,
 *           because clocks that are set are off by little. If it is larger, nothing tells how large
 *           it is, and both ways are taken to last as long (Mills, "Internet Time Synchronization:
 *           The Network Time Protocol", IEEE Trans. Communications 39(10), 1991). A caller that
 *           calls one by one calls nobody else at that time: where a call fits between its
 *           siblings, it is put there. */
#include "clocks.h"

#include <string.h>

#include "pythia/hash.h"

/* Two clocks that are further apart have no common base: each counts from the boot of its own host,
 * or one of them was never set. Clocks that are set differ by seconds, badly set ones by minutes.
 */
#define APART_NS (UINT64_C(3600) * 1000000000)

/* Processes whose hosts are not known are taken to read one clock, unless a call is so far from its
 * caller that this cannot be: less than the quarter of an hour by which time zones differ, and more
 * than a caller that has given up is waited for. */
#define OFF_NS (UINT64_C(600) * 1000000000)

/* Nothing in a trace tells a message that was in a queue for long from a clock that is ahead. A
 * request is over long before that, so the wait is not its own: the link tells how late a clock is,
 * and the report counts it as repaired. Less than an hour, by which clocks with a wrong time zone
 * are ahead. */
#define LATE_NS (UINT64_C(1800) * 1000000000)

#define GAP_CALLS    16  /* of a clock, that are put between their siblings */
#define GAPS_MAX     32  /* between the siblings of one call */
#define SIBLINGS_MAX 256 /* of one call, that are looked at */

/* ---- which clock a span reads ---- */

static struct pythia_resource find_span_resource(const struct pythia__forest *f, uint32_t resource)
{
    return pythia_vocabulary_resource_at(f->vocabulary, resource);
}

/* Do two processes read the same clock? A host that is not known counts as any. */
static bool may_be_one(const struct pythia__forest *f, uint32_t x, uint32_t y)
{
    if (x == y)
        return true;
    uint32_t of_x = find_span_resource(f, x).host, of_y = find_span_resource(f, y).host;
    return of_x == of_y || !of_x || !of_y;
}

/* May two processes read clocks without a common base? Two processes whose hosts are not known may,
 * unlike one process and two of one host. */
static bool may_be_apart(const struct pythia__forest *f, uint32_t x, uint32_t y)
{
    if (x == y)
        return false;
    uint32_t host = find_span_resource(f, x).host;
    return !host || host != find_span_resource(f, y).host;
}

/* Is a span further than `limit_ns` from the one that led to it? Work that nobody waits for may
 * begin much later, what a message causes by LATE_NS. */
static bool is_far(const struct pythia_trace_span *span, const struct pythia_trace_span *cause,
                   uint64_t limit_ns)
{
    if (span->end_ns < cause->start_ns)
        return cause->start_ns - span->end_ns > limit_ns;
    if (span->start_ns <= cause->end_ns)
        return false;
    uint64_t late_ns = span->start_ns - cause->end_ns;
    if (span->kind == PYTHIA_SPAN_CONSUMER)
        return late_ns > LATE_NS;
    return span->relation != PYTHIA_RELATION_SPAWN && !span->forked && late_ns > limit_ns;
}

bool pythia__clocks_are_apart(const struct pythia__forest *f, const struct pythia_trace_span *span,
                              const struct pythia_trace_span *cause)
{
    return may_be_apart(f, span->resource, cause->resource) && is_far(span, cause, APART_NS);
}

static bool reads_one_clock(const struct pythia__forest *f, const struct pythia_trace_span *span,
                            const struct pythia_trace_span *cause)
{
    if (span->resource == cause->resource)
        return true;
    if (!may_be_one(f, span->resource, cause->resource))
        return false;
    bool call = span->relation == PYTHIA_RELATION_CALL;
    return !may_be_apart(f, span->resource, cause->resource) ||
           !is_far(span, cause, call ? OFF_NS : APART_NS);
}

static uint32_t reach_clock(struct pythia__clocks *c, const struct pythia__forest *f,
                            uint32_t resource)
{
    const uint32_t mask = 2 * PYTHIA__CLOCKS_MAX - 1;
    uint32_t host = find_span_resource(f, resource).host;
    uint64_t key = host ? (uint64_t)1 << 32 | host : resource;
    uint32_t at = (uint32_t)pythia_hash_mix(0, key) & mask;
    for (; c->slots[at]; at = (at + 1) & mask)
        if (c->known[c->slots[at] - 1].key == key)
            return c->slots[at] - 1u;
    if (c->count == PYTHIA__CLOCKS_MAX)
        return PYTHIA__CLOCK_OTHER;
    c->known[c->count] =
        (struct pythia__clock){.key = key, .called = PYTHIA_NO_SPAN, .calls = PYTHIA_NO_SPAN};
    c->slots[at] = (uint16_t)++c->count;
    return c->count - 1;
}

/* The span that led to another one: its parent. Roots are put into the longest one, but only if
 * their clock has no common base with it. PYTHIA_NO_SPAN: nothing did. */
static uint32_t find_causing_span(const struct pythia__forest *f, uint32_t at, uint32_t longest)
{
    const struct pythia_trace_span *span = &f->spans[at];
    if (span->parent != PYTHIA_NO_SPAN)
        return span->parent;
    bool apart = at != longest && pythia__clocks_are_apart(f, span, &f->spans[longest]);
    return apart ? longest : PYTHIA_NO_SPAN;
}

/* ---- what a call says of clocks ---- */

/* A range of shifts, in ns; empty if low > high. */
struct range {
    int64_t low, high;
};

static const struct range everything = {INT64_MIN, INT64_MAX};

static bool range_contains(struct range r, int64_t shift_ns)
{
    return r.low <= shift_ns && shift_ns <= r.high;
}

static struct range intersect_ranges(struct range a, struct range b)
{
    return (struct range){a.low > b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
}

static int64_t add_saturated(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return b < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

static int64_t negate_saturated(int64_t a)
{
    return a == INT64_MIN ? INT64_MAX : a == INT64_MAX ? INT64_MIN : -a;
}

/* What is said by calls that their callers wait for, or that are far off; by those of which nothing
 * is known; and by far ones that are longer than their callers. */
enum said_by { SURE, UNSURE, LONGER };

/* Does a caller wait for a call? Of two servers without a client between them the later one was not
 * called by the earlier one, unless their clocks are plainly off. */
static bool waits_for(const struct pythia_trace_span *span, const struct pythia_trace_span *cause)
{
    bool servers = span->kind == PYTHIA_SPAN_SERVER && cause->kind == PYTHIA_SPAN_SERVER;
    return span->relation == PYTHIA_RELATION_CALL &&
           !(servers && span->start_ns > cause->end_ns && span->start_ns - cause->end_ns <= OFF_NS);
}

/* How far a span may be moved for it to lie in its cause. Nothing begins before its cause, or ends
 * after whoever waits for it. A span that is longer than its cause says nothing. If its clock is
 * far off, it begins with its cause; so does one whose cause has no end that was seen. */
static struct range range_of(const struct pythia__forest *f, uint32_t at, uint32_t by,
                             enum said_by what)
{
    const struct pythia_trace_span *span = &f->spans[at], *cause = &f->spans[by];
    bool open = pythia__has_repair(cause, PYTHIA_REPAIR_UNFINISHED),
         longer = !open && span->end_ns - span->start_ns > cause->end_ns - cause->start_ns,
         apart = pythia__clocks_are_apart(f, span, cause);
    bool ends = apart || waits_for(span, cause) ||
                (what == UNSURE && span->relation != PYTHIA_RELATION_SPAWN);
    struct range r = {(int64_t)(cause->start_ns - span->start_ns), INT64_MAX};
    if (apart && span->kind == PYTHIA_SPAN_CONSUMER &&
        !open) { /* as if it began when it was sent */
        r.low = r.high = (int64_t)(cause->end_ns - span->start_ns);
        return what == LONGER ? r : everything;
    }
    if ((longer || open) && apart)
        return what == LONGER ? (struct range){r.low, r.low} : everything;
    if (what == LONGER || (longer && ends))
        return everything;
    if (ends && !open)
        r.high = (int64_t)(cause->end_ns - span->end_ns);
    return r.low <= r.high ? r : everything;
}

/* ---- which calls there are ---- */

/* Name the clocks. Is there a call that does not lie in its caller? */
static bool name_clocks(struct pythia__clocks *c, struct pythia__forest *f, uint32_t longest)
{
    bool off = false;
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t at = f->order[i], cause = find_causing_span(f, at, longest);
        const struct pythia_trace_span *span = &f->spans[at];
        struct pythia__fit *fit = &f->fits[at];
        /* A span that reads the clock of its cause needs no clock of its own: its error is the
         * same. */
        fit->same = cause != PYTHIA_NO_SPAN && reads_one_clock(f, span, &f->spans[cause]);
        if (fit->same) {
            fit->clock = f->fits[cause].clock;
            continue;
        }
        fit->clock = reach_clock(c, f, span->resource);
        if (cause != PYTHIA_NO_SPAN)
            /* Only where some call cannot be true as it is written, the clocks are fitted at all.
             */
            off = off || pythia__clocks_are_apart(f, span, &f->spans[cause]) ||
                  !range_contains(range_of(f, at, cause, SURE), 0);
    }
    return off;
}

/* Enter each call between two clocks in the lists of both, in the order of spans. */
static void list_calls(struct pythia__clocks *c, struct pythia__forest *f, uint32_t longest)
{
    for (uint32_t i = f->count; i-- > 0;) {
        uint32_t at = f->order[i], cause = find_causing_span(f, at, longest);
        struct pythia__fit *fit = &f->fits[at];
        if (cause == PYTHIA_NO_SPAN || fit->clock == f->fits[cause].clock ||
            fit->clock == PYTHIA__CLOCK_OTHER || f->fits[cause].clock == PYTHIA__CLOCK_OTHER)
            continue;
        struct pythia__clock *callee = &c->known[fit->clock],
                             *caller = &c->known[f->fits[cause].clock];
        fit->next[0] = callee->called;
        callee->called = at;
        fit->next[1] = caller->calls;
        caller->calls = at;
    }
}

/* ---- where a clock is put ---- */

struct placing {
    const struct pythia__clocks *clocks;
    const struct pythia__forest *forest;
    uint32_t clock, longest;
    struct range left; /* of its shifts */
    bool bounded;      /* a call has said something */
    bool conflict;     /* calls do not agree */
    bool agrees;       /* a call fits without a shift */
    bool apart;        /* a call is far from its caller */
};

static void bound_by(struct placing *p, struct range r)
{
    struct range left = intersect_ranges(p->left, r);
    if (r.low == INT64_MIN && r.high == INT64_MAX)
        return;
    p->bounded = true;
    p->agrees = p->agrees || (r.low > INT64_MIN && r.high < INT64_MAX && range_contains(r, 0));
    if (left.low > left.high)
        p->conflict = true;
    else
        p->left = left;
}

/* Bound the shift by the calls to this clock, and from it, whose other clock is placed. */
static void bound_by_calls(struct placing *p, enum said_by what)
{
    const struct pythia__forest *f = p->forest;
    const struct pythia__clock *known = p->clocks->known, *self = &known[p->clock];
    for (uint32_t at = self->called; at != PYTHIA_NO_SPAN; at = f->fits[at].next[0]) {
        uint32_t cause = find_causing_span(f, at, p->longest);
        const struct pythia__clock *other = &known[f->fits[cause].clock];
        struct range r = range_of(f, at, cause, what);
        p->apart = p->apart || pythia__clocks_are_apart(f, &f->spans[at], &f->spans[cause]);
        /* A clock that is not placed itself says nothing yet; clocks are placed in the order of
         * their first calls. */
        if (other->placed)
            bound_by(p, (struct range){add_saturated(r.low, other->shift_ns),
                                       add_saturated(r.high, other->shift_ns)});
    }
    for (uint32_t at = self->calls; at != PYTHIA_NO_SPAN; at = f->fits[at].next[1]) {
        uint32_t cause = find_causing_span(f, at, p->longest);
        const struct pythia__clock *other = &known[f->fits[at].clock];
        struct range r = range_of(f, at, cause, what);
        if (other->placed)
            bound_by(p, (struct range){add_saturated(negate_saturated(r.high), other->shift_ns),
                                       add_saturated(negate_saturated(r.low), other->shift_ns)});
    }
}

struct ranges {
    struct range of[GAPS_MAX];
    uint32_t count;
};

/* The shifts that put a call between its siblings of the caller's clock. False if those are side by
 * side, which says nothing of others, or too many. */
static bool find_gaps(const struct placing *p, uint32_t at, struct ranges *out)
{
    const struct pythia__forest *f = p->forest;
    const struct pythia_trace_span *span = &f->spans[at], *cause = &f->spans[span->parent];
    uint32_t clock = f->fits[span->parent].clock, seen = 0;
    int64_t moved_ns = p->clocks->known[clock].shift_ns;
    uint64_t length = span->end_ns - span->start_ns, from = cause->start_ns;
    out->count = 0;
    for (uint32_t next = cause->first_child;; next = f->spans[next].next_sibling) {
        bool last = next == PYTHIA_NO_SPAN;
        const struct pythia_trace_span *sibling = last ? NULL : &f->spans[next];
        /* A caller with thousands of calls has no gap that says anything, and the walk is done for
         * each call. */
        if (!last && ++seen > SIBLINGS_MAX)
            return false;
        if (!last && (f->fits[next].clock != clock || sibling->end_ns == sibling->start_ns ||
                      sibling->relation == PYTHIA_RELATION_SPAWN || sibling->forked))
            continue;
        uint64_t to = last ? cause->end_ns : sibling->start_ns;
        /* Siblings that overlap ran side by side: a call may have been at any time then. */
        if (!last && to < from)
            return false;
        if (to >= from && to - from >= length) {
            if (out->count == GAPS_MAX)
                return false;
            out->of[out->count++] =
                (struct range){add_saturated((int64_t)(from - span->start_ns), moved_ns),
                               add_saturated((int64_t)(to - span->end_ns), moved_ns)};
        }
        if (last)
            return true;
        from = sibling->end_ns;
    }
}

/* Both are in order. The result has no more than GAPS_MAX of them, the first ones. */
static void intersect_all(struct ranges *to, const struct ranges *by)
{
    struct ranges both = {.count = 0};
    for (uint32_t i = 0, k = 0; i < to->count && k < by->count && both.count < GAPS_MAX;) {
        struct range r = intersect_ranges(to->of[i], by->of[k]);
        if (r.low <= r.high)
            both.of[both.count++] = r;
        /* The range that ends first cannot meet any later one. */
        if (to->of[i].high < by->of[k].high)
            i++;
        else
            k++;
    }
    if (both.count)
        *to = both;
}

/* Of the gaps into which the calls of this clock fit, the tightest: a gap in which a call was has
 * little else in it. */
static struct range find_gap(const struct placing *p)
{
    const struct pythia__forest *f = p->forest;
    const struct pythia__clock *known = p->clocks->known;
    const uint32_t lost = 1u << PYTHIA_REPAIR_ORPHAN | 1u << PYTHIA_REPAIR_CYCLE;
    struct ranges left = {.of = {p->left}, .count = 1}, gaps;
    uint32_t seen = 0;
    /* A few calls suffice to leave one gap, and intersecting all of them would be quadratic. */
    for (uint32_t at = known[p->clock].called; at != PYTHIA_NO_SPAN && seen < GAP_CALLS;
         at = f->fits[at].next[0], seen++)
        if (f->spans[at].parent != PYTHIA_NO_SPAN && !(f->spans[at].repairs & lost) &&
            known[f->fits[f->spans[at].parent].clock].placed && find_gaps(p, at, &gaps) &&
            gaps.count)
            intersect_all(&left, &gaps);
    struct range best = left.of[0];
    for (uint32_t i = 1; i < left.count; i++)
        if ((uint64_t)left.of[i].high - (uint64_t)left.of[i].low <
            (uint64_t)best.high - (uint64_t)best.low)
            best = left.of[i];
    return best;
}

/* `above_ns` is the shift of the clock that called this one first. */
static int64_t choose_shift(struct placing *p, int64_t above_ns)
{
    bound_by_calls(p, SURE);
    /* From sure evidence to guesses: as soon as no shift is consistent with what is known, there is
     * none. */
    if (range_contains(p->left, 0) && !p->apart)
        return 0;
    bound_by_calls(p, UNSURE);
    bound_by_calls(p, LONGER);
    struct range left = p->left;
    if (range_contains(left, 0) || (p->conflict && p->agrees && !p->apart))
        return 0;
    /* Processes of one host share a clock: the caller's shift is the simplest explanation. */
    if (range_contains(left, above_ns))
        return above_ns;
    uint64_t slack = (uint64_t)left.high - (uint64_t)left.low,
             least = left.low > 0 ? (uint64_t)left.low : 0 - (uint64_t)left.high;
    /* The least shift that fits, unless the range is narrow beside it: then its middle is the
     * better estimate. */
    if (left.low == INT64_MIN || left.high == INT64_MAX || least < slack)
        return left.low > 0 ? left.low : left.high;
    left = find_gap(p);
    return (int64_t)((uint64_t)left.low + ((uint64_t)left.high - (uint64_t)left.low) / 2);
}

static void place_clock(struct pythia__clocks *c, const struct pythia__forest *f, uint32_t clock,
                        uint32_t cause, uint32_t longest)
{
    if (clock == PYTHIA__CLOCK_OTHER || c->known[clock].placed)
        return;
    struct placing p = {
        .clocks = c, .forest = f, .clock = clock, .longest = longest, .left = everything};
    uint32_t above = cause == PYTHIA_NO_SPAN ? clock : f->fits[cause].clock;
    c->known[clock].shift_ns =
        choose_shift(&p, above == PYTHIA__CLOCK_OTHER ? 0 : c->known[above].shift_ns);
    c->known[clock].placed = true;
}

void pythia__clocks_find(struct pythia__clocks *c, struct pythia__forest *f, uint32_t longest)
{
    c->count = 0;
    c->longest = longest;
    memset(c->slots, 0, sizeof(c->slots));
    c->off = name_clocks(c, f, longest);
    if (!c->off)
        return;
    list_calls(c, f, longest);
    c->known[f->fits[longest].clock].placed = true;
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t at = f->order[i];
        place_clock(c, f, f->fits[at].clock, find_causing_span(f, at, longest), longest);
    }
}

/* Where a span is put whose clock is not remembered: into the middle of the span that led to it, as
 * if both ways took as long; a longer one to its start. */
static int64_t shift_into(const struct pythia_trace_span *span,
                          const struct pythia_trace_span *cause)
{
    uint64_t length = span->end_ns - span->start_ns, around = cause->end_ns - cause->start_ns;
    uint64_t before = around > length ? (around - length) / 2 : 0;
    return (int64_t)(cause->start_ns + before - span->start_ns);
}

int64_t pythia__clocks_shift(const struct pythia__clocks *c, const struct pythia__forest *f,
                             uint32_t span)
{
    if (!c->off)
        return 0;
    if (f->fits[span].clock != PYTHIA__CLOCK_OTHER)
        return c->known[f->fits[span].clock].shift_ns;
    uint32_t cause = find_causing_span(f, span, c->longest);
    bool apart =
        cause != PYTHIA_NO_SPAN && pythia__clocks_are_apart(f, &f->spans[span], &f->spans[cause]);
    return apart ? shift_into(&f->spans[span], &f->spans[cause]) : 0;
}
