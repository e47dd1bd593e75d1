/* The path is walked from the end of the request backwards: of the spans that had ended before the
 * point reached, the one that ended last is what had to be waited for. Frames are a stack of its
 * own, because traces may be a million spans deep. */
#include "pythia/critical_path.h"

#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"

/* A span whose inside is being walked; frame 0 stands for the request itself, around all roots. */
struct pythia__path_frame {
    uint32_t span; /* PYTHIA_NO_SPAN in frame 0 */
    uint32_t work; /* forked off here and waited for: its other roots are gone through as well */
    uint64_t cursor, low;     /* the point reached, and where the span begins */
    size_t first, next, last; /* its children, latest end first, are kids[first..last); next is the
                                 first not looked at */
    bool cut; /* entered before its end, which is late by a rounding (ends_late_by_rounding) */
};

/* After a deeper trace the frames do not stay in memory: a path of a million spans has other uses
 * for 50 MB while it is looked at. */
#define FRAMES_MAX 65536

/* A kid stands twice among the kids of its parent if work that it began goes on after its own end
 * and nobody waits for that: once by the end of all, and once, with this bit, by its own, for when
 * the end of all is too late. */
#define OWN_END 0x80000000u

struct walk {
    struct pythia_critical_path *path;
    const struct pythia_trace *trace;
    enum pythia_latency latency;
    size_t depth;    /* frames in use */
    size_t kids;     /* kids in use */
    bool all_forked; /* there is no root but forked work: then that is the request */
    bool marking;    /* the bits of path->entered are of this trace */
};

void pythia_critical_path_free(struct pythia_critical_path *p)
{
    pythia_free(p->events);
    pythia_free(p->frames);
    pythia_free(p->kids);
    pythia_free(p->scratch);
    pythia_free(p->entered);
    pythia_critical_path_init(p);
}

static uint64_t end_of(const struct walk *w, uint32_t span)
{
    const struct pythia_trace_span *s = &w->trace->spans[span];
    return w->latency == PYTHIA_LATENCY_COMPLETION ? s->completed_ns : s->end_ns;
}

/* As above, for an entry among the kids. */
static uint64_t end_of_kid(const struct walk *w, uint32_t kid)
{
    return kid & OWN_END ? w->trace->spans[kid & ~OWN_END].end_ns : end_of(w, kid);
}

static int emit_path_event(struct walk *w, uint32_t span, enum pythia_event_kind kind,
                           uint64_t at_ns, bool synthetic)
{
    struct pythia_critical_path *p = w->path;
    if (pythia_grow(&p->events, &p->capacity, p->count, sizeof(*p->events)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    p->events[p->count++] =
        (struct pythia_path_event){.at_ns = at_ns,
                                   .span = span,
                                   .tracepoint = w->trace->spans[span].tracepoint,
                                   .kind = (uint8_t)kind,
                                   .synthetic = synthetic};
    return PYTHIA_OK;
}

/* Latest end first; then latest start; then, as children are numbered along their list, the later
 * in canonical order. */
struct kid_order {
    const struct walk *walk;
    const uint32_t *list; /* kids in canonical order */
};

static bool ends_later(const void *context, uint32_t a, uint32_t b)
{
    const struct kid_order *order = context;
    uint32_t x = order->list[a], y = order->list[b];
    uint64_t end_x = end_of_kid(order->walk, x), end_y = end_of_kid(order->walk, y);
    if (end_x != end_y)
        return end_x > end_y;
    const struct pythia_trace_span *spans = order->walk->trace->spans;
    uint64_t start_x = spans[x & ~OWN_END].start_ns, start_y = spans[y & ~OWN_END].start_ns;
    if (start_x != start_y)
        return start_x > start_y;
    return a > b;
}

/* A span without a length of its own has no end by which the path could enter it. */
static bool has_twin(const struct walk *w, uint32_t kid)
{
    const struct pythia_trace_span *s = &w->trace->spans[kid];
    return s->unawaited && end_of(w, kid) > s->end_ns && s->end_ns > s->start_ns;
}

/* One more kid in use; *last is the end of the one before, *sorted whether they are by their ends.
 */
static int add_kid(struct walk *w, uint32_t kid, uint64_t *last, bool *sorted)
{
    struct pythia_critical_path *p = w->path;
    uint64_t ended = end_of_kid(w, kid);
    if (pythia_grow(&p->kids, &p->kid_capacity, w->kids, sizeof(*p->kids)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    *sorted = *sorted && ended > *last;
    *last = ended;
    p->kids[w->kids++] = kid;
    return PYTHIA_OK;
}

/* Put the children from `child` on behind the kids in use, latest end first. */
static int gather_kids(struct walk *w, uint32_t child)
{
    struct pythia_critical_path *p = w->path;
    const struct pythia_trace_span *spans = w->trace->spans;
    size_t first = w->kids;
    bool sorted = true;
    uint64_t last = 0;
    for (; child != PYTHIA_NO_SPAN; child = spans[child].next_sibling) {
        if ((has_twin(w, child) && add_kid(w, child | OWN_END, &last, &sorted) != PYTHIA_OK) ||
            add_kid(w, child, &last, &sorted) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    }
    size_t n = w->kids - first;
    if (n < 2)
        return PYTHIA_OK;
    if (sorted) { /* one after the other: the usual case, and its reverse is the order wanted */
        for (size_t i = first, j = w->kids - 1; i < j; i++, j--) {
            uint32_t swap = p->kids[i];
            p->kids[i] = p->kids[j];
            p->kids[j] = swap;
        }
        return PYTHIA_OK;
    }
    /* Numbers are sorted in place of kids, because a kid does not know its place in the canonical
     * order, which decides among those that start and end together. */
    while (p->scratch_capacity < 3 * n)
        if (pythia_grow(&p->scratch, &p->scratch_capacity, p->scratch_capacity,
                        sizeof(*p->scratch)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    uint32_t *list = p->scratch, *numbers = list + n, *room = numbers + n;
    memcpy(list, p->kids + first, n * sizeof(*list));
    for (size_t i = 0; i < n; i++)
        numbers[i] = (uint32_t)i;
    pythia_sort_indexes(numbers, n, room, ends_later, &(struct kid_order){w, list});
    for (size_t i = 0; i < n; i++)
        p->kids[first + i] = list[numbers[i]];
    return PYTHIA_OK;
}

static int push_frame(struct walk *w, uint32_t span, uint64_t cursor, uint64_t low,
                      uint32_t first_child)
{
    struct pythia_critical_path *p = w->path;
    if (pythia_grow(&p->frames, &p->frame_capacity, w->depth, sizeof(*p->frames)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    size_t first = w->kids;
    if (gather_kids(w, first_child) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    p->frames[w->depth++] = (struct pythia__path_frame){.span = span,
                                                        .work = PYTHIA_NO_SPAN,
                                                        .cursor = cursor,
                                                        .low = low,
                                                        .first = first,
                                                        .next = first,
                                                        .last = w->kids};
    return PYTHIA_OK;
}

/* Forked work can be reached by its waits and as a child. It is gone into once: works that wait for
 * each other would lead in a circle for ever. */
static bool is_entered(const struct walk *w, uint32_t span)
{
    return w->marking && (w->path->entered[span / 64] >> span % 64 & 1) != 0;
}

static int mark_entered(struct walk *w, uint32_t span)
{
    struct pythia_critical_path *p = w->path;
    size_t words = ((size_t)w->trace->count + 63) / 64;
    if (!w->marking) {
        while (p->entered_capacity < words)
            if (pythia_grow(&p->entered, &p->entered_capacity, p->entered_capacity,
                            sizeof(*p->entered)) != PYTHIA_OK)
                return PYTHIA_ENOMEM;
        memset(p->entered, 0, words * sizeof(*p->entered));
        w->marking = true;
    }
    p->entered[span / 64] |= UINT64_C(1) << span % 64;
    return PYTHIA_OK;
}

/* Go into a span from its end, which is at `ended`; synthetic: it went on beside what follows. */
static int enter_span(struct walk *w, uint32_t span, uint64_t ended, bool synthetic)
{
    const struct pythia_trace_span *s = &w->trace->spans[span];
    if (s->forked && mark_entered(w, span) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    /* A point in time has no inside to walk through. */
    if (s->annotation) {
        w->path->frames[w->depth - 1].cursor = s->start_ns;
        return emit_path_event(w, span, PYTHIA_EVENT_ANNOTATION, s->start_ns, false);
    }
    int status = emit_path_event(w, span, PYTHIA_EVENT_END, ended, synthetic);
    if (status != PYTHIA_OK)
        return status;
    return push_frame(w, span, ended, s->start_ns, s->first_child);
}

/* Leave the innermost span, at `at_ns`: its start, or where the path entered it. */
static int leave_span(struct walk *w, uint64_t at_ns, bool synthetic)
{
    struct pythia__path_frame *frames = w->path->frames;
    struct pythia__path_frame *top = &frames[--w->depth];
    w->kids = top->first;
    if (w->depth > 0)
        frames[w->depth - 1].cursor = at_ns;
    return top->span == PYTHIA_NO_SPAN
               ? PYTHIA_OK
               : emit_path_event(w, top->span, PYTHIA_EVENT_START, at_ns, synthetic);
}

/* The wait `span` may have kept its span waiting for forked work. Then the path leads to that work:
 * leave the spans inside of which only the waiting was done, up to where the work hangs, or if that
 * is not known those that began after it, and go into the work. If nothing was waited for, the wait
 * is a span like any other: were it passed over, a path could become empty. */
static int follow_join(struct walk *w, uint32_t span, uint64_t span_ended)
{
    const struct pythia_trace_span *spans = w->trace->spans, *wait = &spans[span];
    uint32_t work = wait->joins;
    struct pythia__path_frame *frames = w->path->frames;
    uint64_t cursor = frames[w->depth - 1].cursor, ended = end_of(w, work);
    if (ended > cursor) /* something that the work began goes on, or the clocks disagree: only its
                           own end was awaited */
        ended = spans[work].end_ns < cursor ? spans[work].end_ns : cursor;
    if (ended <= wait->start_ns || ended < spans[work].start_ns || is_entered(w, work))
        return enter_span(w, span, span_ended, false);
    /* Spans that the wait is inside of, but the work is not, were entered for nothing: they end
     * where the path turns to the work. */
    uint32_t home = spans[work].parent;
    size_t depth = w->depth;
    while (depth > 0 && frames[depth - 1].span != home)
        depth--;
    while (w->depth > 1 &&
           (depth > 1 ? w->depth > depth : frames[w->depth - 1].low > spans[work].start_ns))
        if (leave_span(w, ended, true) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    if (depth > 0)
        w->path->frames[depth - 1].work = work;
    return enter_span(w, work, ended, false);
}

/* Does `kid` run on its own, so that whoever is around it does not wait for its end? A root has
 * nobody around it. */
static bool runs_apart(const struct walk *w, const struct pythia__path_frame *around, uint32_t kid)
{
    const struct pythia_trace_span *s = &w->trace->spans[kid];
    if (s->forked)
        return s->work != around->work && !(around->span == PYTHIA_NO_SPAN && w->all_forked);
    return s->relation == PYTHIA_RELATION_SPAWN && around->span != PYTHIA_NO_SPAN;
}

/* The path goes through a kid by the end of all its work: take away its other entry. What is looked
 * at for that ends too late for the path anyway. */
static void forget_twin(struct walk *w, const struct pythia__path_frame *top, uint32_t kid)
{
    for (size_t i = top->next; i < top->last; i++) {
        uint32_t *entry = &w->path->kids[i];
        if (*entry == (kid | OWN_END)) {
            *entry = PYTHIA_NO_SPAN;
            return;
        }
    }
}

/* Where starts are cut to whole milliseconds (pythia_starts_roughly), a span that ended before the
 * path goes on seems to end up to one millisecond after that. It began before, too, or is inside of
 * a span of which that is known. */
static bool ends_late_by_rounding(const struct pythia_trace_span *kid, uint64_t ended,
                                  const struct pythia__path_frame *around)
{
    const uint64_t cursor = around->cursor;
    return ended > cursor && ended - cursor < PYTHIA_ROUGH_START_NS &&
           cursor % PYTHIA_ROUGH_START_NS == 0 && pythia_starts_roughly(kid->start_ns, ended) &&
           kid->joins == PYTHIA_NO_SPAN &&
           (kid->start_ns < cursor || (around->cut && kid->start_ns == cursor));
}

/* The next child of the innermost span that the path goes through, and the end to go in by;
 * PYTHIA_NO_SPAN: none is left. */
static uint32_t next_kid(struct walk *w, uint64_t *out)
{
    struct pythia__path_frame *top = &w->path->frames[w->depth - 1];
    const struct pythia_trace_span *spans = w->trace->spans;
    uint64_t own_end = top->span == PYTHIA_NO_SPAN ? w->trace->end_ns : spans[top->span].end_ns;
    while (top->next < top->last) {
        uint32_t entry = w->path->kids[top->next++], kid = entry & ~OWN_END;
        /* It was taken out as the twin of one that the path has gone through. */
        if (entry == PYTHIA_NO_SPAN)
            continue;
        uint64_t ended = *out = end_of_kid(w, entry);
        /* Clocks are rounded: a child that ends a rounding after the cursor still precedes it. */
        bool before = ended <= top->cursor || ends_late_by_rounding(&spans[kid], ended, top);
        if (before && spans[kid].start_ns >= top->low &&
            (ended > own_end || !runs_apart(w, top, kid)) && !is_entered(w, kid)) {
            if (entry == kid && has_twin(w, kid))
                forget_twin(w, top, kid);
            return kid;
        }
    }
    return PYTHIA_NO_SPAN;
}

/* The request began with a root that the path has passed over, because it overlaps the one that the
 * path goes through, or ran apart: the root that was first. PYTHIA_NO_SPAN: the path is complete.
 */
static uint32_t passed_root(const struct walk *w)
{
    const struct pythia__path_frame *top = &w->path->frames[w->depth - 1];
    const struct pythia_trace_span *spans = w->trace->spans;
    uint32_t first = w->trace->first_root;
    if (top->span != PYTHIA_NO_SPAN || top->cursor <= top->low)
        return PYTHIA_NO_SPAN;
    /* A root that somebody waited for is the better one; only when all ran apart is the first one
     * taken. */
    for (uint32_t root = first; root != PYTHIA_NO_SPAN && spans[root].start_ns <= top->low;
         root = spans[root].next_sibling)
        if (!runs_apart(w, top, root))
            return root;
    return first;
}

/* Go into it from its end, or from where the path goes on. */
static int enter_passed(struct walk *w, uint32_t root)
{
    uint64_t cursor = w->path->frames[w->depth - 1].cursor, ended = end_of(w, root);
    return ended > cursor ? enter_span(w, root, cursor, true) : enter_span(w, root, ended, false);
}

/* Go into it from where the path goes on. */
static int enter_cut(struct walk *w, uint32_t kid)
{
    int status = enter_span(w, kid, w->path->frames[w->depth - 1].cursor, false);
    if (status == PYTHIA_OK)
        w->path->frames[w->depth - 1].cut = true;
    return status;
}

static int walk_backwards(struct walk *w)
{
    while (w->depth > 0) {
        uint64_t ended = 0;
        uint32_t kid = next_kid(w, &ended);
        /* A span that ran on after its parent had ended is met only when no child is left. */
        uint32_t passed = kid == PYTHIA_NO_SPAN ? passed_root(w) : PYTHIA_NO_SPAN;
        int status;
        if (passed != PYTHIA_NO_SPAN)
            status = enter_passed(w, passed);
        else if (kid == PYTHIA_NO_SPAN)
            status = leave_span(w, w->path->frames[w->depth - 1].low, false);
        else if (w->trace->spans[kid].joins != PYTHIA_NO_SPAN)
            status = follow_join(w, kid, ended);
        /* It ended late by a rounding; the path must not go back in time. */
        else if (ended > w->path->frames[w->depth - 1].cursor)
            status = enter_cut(w, kid);
        else
            status = enter_span(w, kid, ended, false);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

/* The stack of a huge trace is freed again: the path is reused for all traces of a stream. */
static void shrink_frames(struct pythia_critical_path *p)
{
    if (p->frame_capacity <= FRAMES_MAX)
        return;
    pythia_free(p->frames);
    p->frames = NULL;
    p->frame_capacity = 0;
}

int pythia_critical_path_find(struct pythia_critical_path *p, const struct pythia_trace *trace,
                              enum pythia_latency latency)
{
    struct walk w = {.path = p, .trace = trace, .latency = latency, .all_forked = true};
    uint64_t end = latency == PYTHIA_LATENCY_COMPLETION ? trace->completed_ns : trace->end_ns;
    p->count = 0;
    for (uint32_t root = trace->first_root; root != PYTHIA_NO_SPAN;
         root = trace->spans[root].next_sibling)
        w.all_forked = w.all_forked && trace->spans[root].forked;
    int status = push_frame(&w, PYTHIA_NO_SPAN, end, trace->start_ns, trace->first_root);
    if (status != PYTHIA_OK)
        goto out;
    status = walk_backwards(&w);
    if (status != PYTHIA_OK) {
        p->count = 0;
        goto out;
    }
    for (size_t i = 0, j = p->count; i + 1 < j; i++) { /* it was walked from its end */
        struct pythia_path_event swap = p->events[i];
        p->events[i] = p->events[--j];
        p->events[j] = swap;
    }
out:
    shrink_frames(p);
    return status;
}
