/* A builder lifts spans over hidden ones by their ids; here parents are known, so that one pass
 * from the roots down is enough. */
#include "pythia/hider.h"

#include <string.h>

#include "forest.h"
#include "pythia/mem.h"
#include "pythia/status.h"

struct pythia_hider {
    struct pythia__forest forest;
    /* By span of the whole trace: the one that is left of it, the nearest above that is left (both
     * PYTHIA_NO_SPAN: none), what it belongs to as forked work (named by the `work` of that), and
     * spans with parents before children. */
    uint32_t *left, *above, *work, *order;
    uint32_t *latest; /* by such a name: the root of it that is left and ended last */
    uint32_t *origin; /* by span that is left */
    size_t capacity;
    bool whole; /* nothing was left out */
    struct pythia_trace trace;
};

int pythia_hider_create(const struct pythia_vocabulary *vocabulary, struct pythia_hider **out)
{
    struct pythia_hider *h = pythia_calloc(1, sizeof(*h));
    if (!h)
        return PYTHIA_ENOMEM;
    h->forest.vocabulary = vocabulary;
    *out = h;
    return PYTHIA_OK;
}

void pythia_hider_destroy(struct pythia_hider *h)
{
    if (!h)
        return;
    pythia__forest_free(&h->forest);
    void *const owned[] = {h->left, h->above, h->work, h->order, h->latest, h->origin};
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        pythia_free(owned[i]);
    pythia_free(h);
}

static int reserve_hider(struct pythia_hider *h, size_t count)
{
    if (pythia__forest_reserve(&h->forest, count) != PYTHIA_OK ||
        pythia__forest_reserve_fits(&h->forest) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (count <= h->capacity)
        return PYTHIA_OK;
    uint32_t **const arrays[] = {&h->left, &h->above, &h->work, &h->order, &h->latest, &h->origin};
    size_t larger = h->capacity * 2 > count ? h->capacity * 2 : count;
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        uint32_t *moved = pythia_realloc(*arrays[i], larger, sizeof(*moved));
        /* Arrays that have grown are kept; the capacity rises only when all have. */
        if (!moved)
            return PYTHIA_ENOMEM;
        *arrays[i] = moved;
    }
    h->capacity = larger;
    return PYTHIA_OK;
}

/* Children of a hidden span become children of its parent: a span above, or a fork. */
static void find_parents(struct pythia_hider *h, const struct pythia_trace *t)
{
    pythia__forest_order(t->spans, t->first_root, h->order);
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t at = h->order[i];
        const struct pythia_trace_span *span = &t->spans[at];
        bool root = span->parent == PYTHIA_NO_SPAN;
        bool lifted = !root && h->left[span->parent] == PYTHIA_NO_SPAN;
        h->above[at] = lifted ? h->above[span->parent] : span->parent;
        h->work[at] = span->forked ? span->work : lifted ? h->work[span->parent] : PYTHIA_NO_SPAN;
    }
}

static void copy_visible_spans(struct pythia_hider *h, const struct pythia_trace *t)
{
    struct pythia__forest *f = &h->forest;
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t from = h->origin[i], above = h->above[from];
        struct pythia_trace_span *span = &f->spans[i];
        *span = t->spans[from];
        span->parent = above == PYTHIA_NO_SPAN ? PYTHIA_NO_SPAN : h->left[above];
        span->first_child = span->next_sibling = PYTHIA_NO_SPAN;
        span->joins = span->work = PYTHIA_NO_SPAN;
        span->forked = h->work[from] != PYTHIA_NO_SPAN;
        span->unawaited = false;
        span->annotation = span->point;
        if (span->point || pythia__has_repair(span, PYTHIA_REPAIR_UNFINISHED))
            span->end_ns = span->start_ns; /* its end was that of what was below it */
    }
}

/* The root of forked work that ended last, of those that are left. */
static void find_visible_joins(struct pythia_hider *h, const struct pythia_trace *t)
{
    struct pythia__forest *f = &h->forest;
    for (uint32_t i = 0; i < t->count; i++)
        h->latest[i] = PYTHIA_NO_SPAN;
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t work = h->work[h->origin[i]];
        /* A join waits for the last of them. */
        if (work != PYTHIA_NO_SPAN &&
            (h->latest[work] == PYTHIA_NO_SPAN || pythia__forest_ends_later(f, i, h->latest[work])))
            h->latest[work] = i;
    }
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t work = h->work[h->origin[i]], joins = t->spans[h->origin[i]].joins;
        if (work != PYTHIA_NO_SPAN)
            f->spans[i].work = h->latest[work];
        if (joins != PYTHIA_NO_SPAN)
            f->spans[i].joins = h->latest[joins];
    }
}

static bool is_point_visible(struct pythia_open_points *open,
                             const struct pythia_hider_types *types, uint32_t point)
{
    if (!pythia_open_points_has(open, point))
        return false;
    return !types || !pythia_open_points_excludes(types->limited, point, types->type) ||
           (types->kept && pythia_open_points_has(types->kept, point));
}

int pythia_hider_hide(struct pythia_hider *h, const struct pythia_trace *trace,
                      struct pythia_open_points *open, const struct pythia_trace **out)
{
    return pythia_hider_hide_typed(h, trace, open, NULL, out);
}

int pythia_hider_hide_typed(struct pythia_hider *h, const struct pythia_trace *trace,
                            struct pythia_open_points *open, const struct pythia_hider_types *types,
                            const struct pythia_trace **out)
{
    if (reserve_hider(h, trace->count) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    uint32_t count = 0;
    for (uint32_t i = 0; i < trace->count; i++) {
        bool stays = is_point_visible(open, types, trace->spans[i].tracepoint);
        h->left[i] = stays ? count : PYTHIA_NO_SPAN;
        if (stays)
            h->origin[count++] = i;
    }
    h->whole = count == trace->count;
    if (count == 0)
        return 1;
    /* Nothing was hidden, the usual case with all points open: the caller's trace is returned
     * and no copy is made. */
    if (h->whole) {
        *out = trace;
        return 0;
    }
    h->forest.count = count;
    find_parents(h, trace);
    copy_visible_spans(h, trace);
    pythia__forest_settle(&h->forest);
    find_visible_joins(h, trace);
    h->trace = pythia__forest_trace(&h->forest, trace->id);
    h->trace.weight = trace->weight;
    h->trace.begun_ns = trace->begun_ns;
    *out = &h->trace;
    return 0;
}

uint32_t pythia_hider_origin(const struct pythia_hider *h, uint32_t span)
{
    return h->whole ? span : h->origin[span];
}
