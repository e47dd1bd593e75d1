/* What the live engine learns: the first types, with everything open; and later what turns up, as
 * types/late_learning.h says. */
#include "live_parts.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define LOOK_NS UINT64_C(50000000) /* between looks whether anything has to be learnt */
#define REPORT_NS                                                                                  \
    UINT64_C(2000000000) /* in which an agent reports the points that it has met, and more */

int pythia__live_learn_again(struct pythia_live *l, struct pythia__live_type *type,
                             const struct pythia_trace *whole)
{
    if (pythia__late_see(&l->late, type, whole, l->now_ns) ||
        !pythia__late_renews(&l->late, type, whole, l->now_ns))
        return PYTHIA_OK;
    int status = pythia_critical_path_find(&l->context.path, whole, l->o.groups.latency);
    return status == PYTHIA_OK ? pythia__live_types_learn(&l->types, type, whole, &l->context.path)
                               : status;
}

static uint32_t service_of_learnt(const struct pythia_live *l, const struct pythia_trace_span *span)
{
    return pythia_vocabulary_resource_at(l->vocabulary, span->resource).service;
}

/* What begins the request, or is called by another service. Some may be inner points of a request
 * that had begun before its points were opened: they are not closed by a pin until the search
 * begins, and that is all. */
static int note_entries(struct pythia_live *l, const struct pythia_trace *trace)
{
    for (uint32_t i = 0; i < trace->count; i++) {
        const struct pythia_trace_span *span = &trace->spans[i];
        if (span->parent != PYTHIA_NO_SPAN &&
            service_of_learnt(l, span) == service_of_learnt(l, &trace->spans[span->parent]))
            continue;
        if (pythia_reach(&l->entries, &l->entries_capacity, span->tracepoint,
                         sizeof(*l->entries)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        l->entries[span->tracepoint] = true;
    }
    return PYTHIA_OK;
}

int pythia__live_learn_request(struct pythia_live *l, struct pythia__live_type *type,
                               const struct pythia_trace *trace)
{
    if (pythia__late_see(&l->late, type, trace, l->now_ns))
        return PYTHIA_OK;
    int status = l->search ? PYTHIA_OK : note_entries(l, trace);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__live_types_learn(&l->types, type, trace, &l->context.path);
    if (l->phase == PYTHIA__LIVE_EMPTY) {
        pythia__live_advance_phase(l, PYTHIA__LIVE_REQUEST);
        l->first_ns = l->now_ns;
    }
    /* The first type that is learnt starts the time that the others have. */
    if (l->phase == PYTHIA__LIVE_LEARNING && type->requests >= l->o.learn_requests) {
        pythia__live_advance_phase(l, PYTHIA__LIVE_TYPE_LEARNT);
        l->learnt_ns = l->now_ns;
    }
    return status;
}

/* How long one learns before new trace points and rare types are left alone. Agents must have had
 * the time to report what there is to open, however short the cycles are. */
static uint64_t longest_learning_ns(const struct pythia_live *l)
{
    bool reports = l->o.learn_all && l->o.cycle_ns < 3 * REPORT_NS;
    return reports ? 3 * REPORT_NS : l->o.cycle_ns;
}

/* Points that requests have hit since everything was opened for them should be known by now. */
static bool have_agents_reported(const struct pythia_live *l)
{
    uint64_t since_ns = l->first_ns > l->applied_ns ? l->first_ns : l->applied_ns;
    return !l->o.learn_all || l->now_ns - since_ns >= REPORT_NS;
}

/* When the first type has been learnt, learning goes on for as long again, and then until all types
 * seen by then have been learnt, but no longer than a cycle may last: a rare type must not delay
 * the search of all others. A busy service is learnt within milliseconds, before its agent has
 * reported what there is to open: that is waited for. */
bool pythia__live_is_learning_over(const struct pythia_live *l)
{
    if (l->phase != PYTHIA__LIVE_COMPLETING || l->paused)
        return false;
    uint64_t took_ns = l->learnt_ns - l->first_ns, waited_ns = l->now_ns - l->learnt_ns;
    if (took_ns < l->o.window.quiet_ns)
        took_ns = l->o.window.quiet_ns;
    return waited_ns >= longest_learning_ns(l) ||
           (waited_ns >= took_ns && have_agents_reported(l) &&
            pythia__live_types_ready(&l->types, l->o.learn_requests, pythia__live_few_to_learn(l))
                .all);
}

/* Trace points that were reported after requests had been learnt are open only now: the requests
 * lacked them, and are forgotten. Not for ever, where points turn up all the time. */
void pythia__live_learn_with_new_points(struct pythia_live *l)
{
    uint32_t points = pythia_vocabulary_tracepoints(l->vocabulary);
    bool grown = points > l->learnt_points;
    l->learnt_points = points;
    if (!grown || l->search || !l->o.learn_all || l->phase == PYTHIA__LIVE_EMPTY ||
        l->now_ns - l->first_ns >= longest_learning_ns(l))
        return;
    for (size_t i = 0; i < l->types.count; i++)
        pythia__live_types_restart(&l->types, &l->types.types[i]);
}

/* ---- what turns up later ---- */

void pythia__live_desire_alike(struct pythia_live *l)
{
    l->wish++;
    pythia__live_advance_set(l, PYTHIA__SET_CHANGED_ALIKE);
}

static bool is_shut(const struct pythia_live *l, uint32_t point)
{
    return l->o.search.never && pythia_open_points_has(l->o.search.never, point);
}

/* Does a point turn up? The search space lacks it, and it is not known that no request hits it: it
 * was not open yet when types were learnt, or its spans have arrived since. */
static bool is_new(const struct pythia_live *l, uint32_t point)
{
    const struct pythia__unknown_points *u = &l->context.unknown;
    bool hit = u->total != l->late.sought_spans && point < u->capacity && u->spans[point] > 0;
    return (hit || point >= l->late.sought) && !pythia_live_knows(l, point);
}

/* Count the points that turned up. Where there are none, later looks begin behind all that there
 * are. */
static size_t count_news(struct pythia_live *l)
{
    uint32_t points = pythia_vocabulary_tracepoints(l->vocabulary);
    size_t news = 0, shut = 0;
    bool hit = l->context.unknown.count > 0 && l->context.unknown.total != l->late.sought_spans;
    for (uint32_t point = hit ? 0 : l->late.sought; point < points; point++)
        if (is_new(l, point)) {
            news++;
            shut += is_shut(l, point);
        }
    if (news == 0)
        l->late.sought = points;
    return news - shut;
}

/* Flag the points that types hit which are being learnt for the first time: they become known with
 * their types. The caller frees the flags; NULL when out of memory. */
static bool *flag_learning(const struct pythia_live *l, uint32_t points)
{
    size_t count;
    const struct pythia_space_type *types = pythia_space_types(l->types.nursery, &count);
    bool *flags = pythia_calloc((size_t)points + 1, sizeof(*flags));
    for (size_t i = 0; flags && i < count; i++)
        for (uint32_t node = 1; node < pythia_cct_nodes(types[i].cct); node++)
            if (!pythia_space_type(l->space, types[i].name))
                flags[pythia_cct_tracepoint(types[i].cct, node)] = true;
    return flags;
}

/* List what a learning phase may open; the caller frees `may`, and `fresh` with it. */
static int list_closed(const struct pythia_live *l, struct pythia__closed_points *out)
{
    uint32_t points = pythia_vocabulary_tracepoints(l->vocabulary);
    size_t most = l->o.search.budget.points_open, open = l->last.open_count;
    bool *may = pythia_calloc(2 * ((size_t)points + 1), sizeof(*may));
    bool *learning = flag_learning(l, points);
    if (!may || !learning) {
        pythia_free(may);
        pythia_free(learning);
        return PYTHIA_ENOMEM;
    }
    bool *fresh = may + points + 1;
    *out = (struct pythia__closed_points){.may = may,
                                          .fresh = fresh,
                                          .points = points,
                                          .room = most == 0     ? SIZE_MAX
                                                  : most > open ? most - open
                                                                : 1};
    for (uint32_t point = 0; point < points; point++) {
        bool shut = is_shut(l, point);
        may[point] = !shut && !pythia__live_opens_for_all(l, point);
        fresh[point] = !shut && !learning[point] && is_new(l, point);
        out->news += fresh[point];
    }
    pythia_free(learning);
    return PYTHIA_OK;
}

/* Spans of a point that is open for other types arrive where a plane cannot tell types apart. */
void pythia__live_note_strays(struct pythia_live *l, struct pythia__live_type *type,
                              const struct pythia_trace *whole)
{
    if (l->late.o.hourly == 0 || type->chosen || type->reviews || type->learnt_late)
        return;
    for (uint32_t i = 0; i < whole->count; i++) {
        uint32_t point = whole->spans[i].tracepoint;
        if (!pythia_live_knows(l, point) || is_shut(l, point) ||
            pythia_search_has_point(l->search, type->name, point))
            continue;
        if (++type->strays >= PYTHIA__STRAYS)
            pythia__late_review(&l->late, type, pythia_vocabulary_tracepoints(l->vocabulary),
                                l->now_ns);
        type->strays = type->strays < PYTHIA__STRAYS ? type->strays : 0;
        return;
    }
}

/* Where nothing was found, its type may have another tree by now. */
void pythia__live_review_retried(struct pythia_live *l)
{
    for (size_t i = 0; l->late.o.hourly > 0 && i < l->last.problem_count; i++) {
        const struct pythia_problem *p = &l->last.problems[i];
        size_t at = p->unsplit < l->types.index_capacity ? l->types.index[p->unsplit] : 0;
        struct pythia__live_type *type = at > 0 ? &l->types.types[at - 1] : NULL;
        if (type && p->retried)
            pythia__late_review(&l->late, type, pythia_vocabulary_tracepoints(l->vocabulary),
                                l->now_ns);
    }
}

int pythia__live_step_late_learning(struct pythia_live *l)
{
    struct pythia__closed_points closed;
    bool wished = false;
    if (!pythia__live_is_searching(l) || l->now_ns - l->late_looked_ns < LOOK_NS)
        return PYTHIA_OK;
    l->late_looked_ns = l->now_ns;
    bool due = pythia__late_is_due(&l->late, count_news(l), l->now_ns);
    if (!due && l->late.phase == PYTHIA__LATE_NONE)
        return PYTHIA_OK;
    int status = list_closed(l, &closed);
    if (status != PYTHIA_OK)
        return status;
    uint64_t seeks = l->late.seeks;
    status = due ? pythia__late_begin(&l->late, &closed, l->now_ns, &wished)
                 : pythia__late_step(&l->late, &closed, l->now_ns, &wished);
    if (l->late.seeks > seeks)
        l->late.sought_spans = l->context.unknown.total;
    if (wished)
        pythia__live_desire_alike(l);
    pythia_free(closed.may);
    return status;
}
