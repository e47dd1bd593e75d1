/* The phases of what is learnt late (late_learning.h), as the time and the requests make them due;
 * the caller opens what they want open. */
#include "late_learning.h"

#include "pythia/mem.h"
#include "pythia/status.h"

#define HOUR_NS  UINT64_C(3600000000000)
#define LATE     2 /* a set that keeps changing is given up after so many times its planned time */
#define QUIET_NS UINT64_C(2000000000) /* in which an agent reports what it has met, and more */
#define RELEASE  5 /* new points that keep turning up are sought after so many times QUIET_NS */

void pythia__late_init(struct pythia__late_learning *l, struct pythia__live_types *types,
                       const struct pythia__late_learning_options *options)
{
    *l = (struct pythia__late_learning){.o = *options, .types = types, .review_ns = UINT64_MAX};
    if (l->o.hourly > PYTHIA__LATE_PHASES_MAX)
        l->o.hourly = PYTHIA__LATE_PHASES_MAX;
}

void pythia__late_free(struct pythia__late_learning *l)
{
    pythia_free(l->open);
    pythia_free(l->seen);
    pythia_free(l->hit);
    l->open = NULL;
    l->seen = NULL;
    l->hit = NULL;
}

/* ---- the types ---- */

/* Has every type of this phase, but for refused ones, been seen in so many requests? */
static bool have_requests(const struct pythia__late_learning *l, uint64_t requests)
{
    for (size_t i = 0; i < l->types->count; i++) {
        const struct pythia__live_type *type = &l->types->types[i];
        if (type->chosen && !type->refused && type->requests < requests)
            return false;
    }
    return true;
}

static bool is_waiting(const struct pythia__late_learning *l, const struct pythia__live_type *type)
{
    return !type->learnt && !type->refused && !type->other && !type->chosen && !type->learnt_late &&
           type->requests >= l->o.few;
}

/* Forget what was learnt of the types with another set of open points. A known type is learnt only
 * while all that it hits is open, which is not another set: it may need several phases. */
static void restart_types(struct pythia__late_learning *l)
{
    for (size_t i = 0; i < l->types->count; i++) {
        struct pythia__live_type *type = &l->types->types[i];
        if (type->chosen && (!type->learnt || l->phase != PYTHIA__LATE_LEARNING))
            pythia__live_types_restart(l->types, type);
    }
}

/* New points are sought when for a while no more turned up, or at last although they do; and not
 * more often than types may be learnt late, as there are programs whose points turn up without
 * end. */
static bool are_news_due(struct pythia__late_learning *l, size_t news, uint64_t now_ns)
{
    if (news != l->news)
        l->changed_ns = now_ns;
    if (l->news == 0)
        l->news_ns = now_ns;
    l->news = news;
    bool often = l->seeks > 0 && now_ns - l->sought_ns < HOUR_NS / l->o.hourly;
    bool quiet = now_ns - l->changed_ns >= QUIET_NS || now_ns - l->news_ns >= RELEASE * QUIET_NS;
    return news > 0 && quiet && !often;
}

/* Is the limit in an hour reached? The ring has the start of the phase that was `hourly` phases
 * ago. */
static bool are_many(const struct pythia__late_learning *l, uint64_t now_ns)
{
    return l->count >= l->o.hourly &&
           now_ns - l->starts[(l->count - l->o.hourly) % PYTHIA__LATE_PHASES_MAX] < HOUR_NS;
}

/* ---- known types that may have changed ---- */

/* Without capacity for its points last time there is none now, unless points turned up since. */
void pythia__late_review(struct pythia__late_learning *l, struct pythia__live_type *type,
                         uint32_t points, uint64_t now_ns)
{
    if (!type->learnt || type->chosen || points <= type->cut_points)
        return;
    type->reviews = true;
    l->review_ns = l->review_ns == UINT64_MAX ? now_ns : l->review_ns;
}

/* A new release brings new points too, which come first; its agents have reported them by then. */
static bool is_review_due(const struct pythia__late_learning *l, uint64_t now_ns)
{
    bool often = l->reviews > 0 && now_ns - l->reviewed_ns < HOUR_NS / l->o.hourly;
    return l->review_ns != UINT64_MAX && now_ns - l->review_ns >= QUIET_NS && !often;
}

/* Choose a type for a review, unless planes cannot tell more types apart. */
static bool choose_review(struct pythia__late_learning *l, struct pythia__live_type *type)
{
    if (!type->reviews || l->chosen >= l->o.types)
        return false;
    type->reviews = false;
    type->reviewed = true;
    type->strays = 0;
    return true;
}

/* A type with too few requests is reviewed on in the next phase; what it has learnt stays. */
static void end_review(struct pythia__late_learning *l, struct pythia__live_type *type,
                       uint64_t now_ns)
{
    if (type->reviewed && !type->learnt_late)
        pythia__late_review(l, type, UINT32_MAX, now_ns);
    type->reviewed = false;
}

bool pythia__late_is_due(struct pythia__late_learning *l, size_t news, uint64_t now_ns)
{
    if (l->phase != PYTHIA__LATE_NONE || l->o.hourly == 0)
        return false;
    l->waiting = 0;
    for (size_t i = 0; i < l->types->count; i++)
        l->waiting += is_waiting(l, &l->types->types[i]);
    bool due = are_news_due(l, news, now_ns);
    /* Types first: what is new is mostly theirs. */
    l->types_next = (l->waiting > 0 && !are_many(l, now_ns)) || (!due && is_review_due(l, now_ns));
    return due || l->types_next;
}

/* Choose the types to be learnt: those that wait, up to `most`; and known ones that hit a new
 * point, or are to be reviewed, which are no phase of their own for the limit in an hour: seeking
 * and reviews have their own. */
static void choose_types(struct pythia__late_learning *l, size_t most, uint64_t now_ns)
{
    bool reviews = is_review_due(l, now_ns), any = false;
    l->chosen = l->waiting = 0;
    l->counted = true;
    if (reviews)
        l->review_ns = UINT64_MAX;
    for (size_t i = 0; i < l->types->count; i++) {
        struct pythia__live_type *type = &l->types->types[i];
        /* In the middle of a phase others may wait than when it began. */
        bool wants = is_waiting(l, type), waits = most > 0 && wants;
        most -= waits;
        l->waiting += wants && !waits;
        l->counted = l->counted && !waits;
        type->reviewed = false;
        bool again = type->renews || (reviews && choose_review(l, type));
        any = any || type->reviewed;
        /* Else it goes on from an earlier phase, in which it had too few requests. */
        if (again && !pythia_space_type(l->types->nursery, type->name))
            pythia__live_types_restart(l->types, type);
        type->chosen = waits || again;
        type->renews = false;
        l->chosen += type->chosen;
        if (type->reviews && reviews)
            l->review_ns = now_ns;
    }
    l->reviews += any;
    l->reviewed_ns = any ? now_ns : l->reviewed_ns;
}

/* ---- the points ---- */

/* The set changes: forget what was seen with the former one. The phase counts for the limit in an
 * hour only now that it opens points, and once however often it does. */
static void note_opening(struct pythia__late_learning *l, uint64_t now_ns)
{
    restart_types(l);
    l->pending = true;
    if (!l->counted)
        l->starts[l->count++ % PYTHIA__LATE_PHASES_MAX] = now_ns;
    l->counted = true;
}

static bool close_all(struct pythia__late_learning *l)
{
    bool any = false;
    for (uint32_t i = 0; i < l->points; i++) {
        any = any || l->open[i];
        l->open[i] = false;
    }
    return any;
}

/* Open new points, as many as may be; l->next is where the others begin. */
static void open_news(struct pythia__late_learning *l, const struct pythia__closed_points *closed,
                      bool *wished)
{
    size_t room = closed->room;
    for (uint32_t point = 0; point < l->points; point++)
        l->hit[point] = closed->fresh[point] ? 0 : PYTHIA__KNOWN_POINT;
    for (l->next = 0; l->next < l->points; l->next++) {
        uint32_t point = l->next;
        if (!closed->may[point] || !closed->fresh[point])
            continue;
        if (room == 0)
            return;
        *wished = l->open[point] = true;
        room -= room != SIZE_MAX;
    }
}

/* Open the next batch: up to `room` of the points that may be opened, from l->next on. Are any left
 * for a later batch? */
static bool open_batch(struct pythia__late_learning *l, const struct pythia__closed_points *closed,
                       bool *wished)
{
    size_t room = closed->room;
    uint32_t point = l->next;
    (void)close_all(l);
    for (; point < l->points; point++) {
        /* A point that was hit although it was not open costs nothing: its target has it open. */
        if (!closed->may[point] || (l->seen[point] & PYTHIA__SEEN_ANYWAY))
            continue;
        if (room == 0)
            break;
        l->open[point] = true;
        *wished = true;
        room -= room != SIZE_MAX;
    }
    l->next = point;
    l->pending = *wished;
    return point < l->points;
}

/* All batches have been tried: open together what was hit, as far as the budget permits. A known
 * type is not learnt once more without some of its points: what is called by one that is closed
 * would seem to be called from elsewhere. */
static void open_hit_points(struct pythia__late_learning *l,
                            const struct pythia__closed_points *closed, bool *wished)
{
    size_t room = closed->room;
    bool cut = false;
    (void)close_all(l);
    /* New points first, because the phase may be for them. */
    for (int known = 0; known < 2; known++)
        for (uint32_t point = 0; point < l->points; point++) {
            if (!closed->may[point] || l->seen[point] != PYTHIA__SEEN_OPENED ||
                closed->fresh[point] == known)
                continue;
            cut = cut || room == 0;
            l->open[point] = room > 0;
            room -= room > 0 && room != SIZE_MAX;
        }
    l->cut += cut; /* points that the types hit stay closed */
    if (cut)
        l->sought = l->points; /* there is no room for them next time either */
    for (size_t i = 0; cut && i < l->types->count; i++) {
        struct pythia__live_type *type = &l->types->types[i];
        if (!type->learnt || !type->chosen)
            continue;
        type->chosen = type->reviewed = false;
        type->cut_points = l->points;
    }
    l->phase = PYTHIA__LATE_LEARNING;
    *wished = l->pending = true; /* the last batch is closed in any case */
}

static int reserve_points(struct pythia__late_learning *l, uint32_t points)
{
    bool *open = pythia_calloc((size_t)points + 1, sizeof(*open));
    uint8_t *seen = pythia_calloc((size_t)points + 1, sizeof(*seen));
    uint64_t *hit = pythia_calloc((size_t)points + 1, sizeof(*hit));
    if (!open || !seen || !hit) {
        pythia_free(open);
        pythia_free(seen);
        pythia_free(hit);
        return PYTHIA_ENOMEM;
    }
    pythia__late_free(l);
    l->open = open;
    l->seen = seen;
    l->hit = hit;
    l->points = points;
    return PYTHIA_OK;
}

/* ---- the phases ---- */

/* Batches are tried only if the points that are closed may not all be open at once. */
static void begin_learning(struct pythia__late_learning *l,
                           const struct pythia__closed_points *closed, uint64_t now_ns,
                           bool *wished)
{
    bool opens = false;
    *wished = close_all(l) || *wished; /* what was open for all types is so for some */
    choose_types(l, are_many(l, now_ns) ? 0 : l->o.types, now_ns);
    l->next = 0;
    bool more = open_batch(l, closed, &opens);
    l->phase = more ? PYTHIA__LATE_TRYING : PYTHIA__LATE_LEARNING;
    l->begun_ns = l->applied_ns = now_ns;
    l->since_ns = 0;
    *wished = *wished || opens;
    l->pending = *wished;
    if (opens)
        note_opening(l, now_ns);
}

int pythia__late_begin(struct pythia__late_learning *l, const struct pythia__closed_points *closed,
                       uint64_t now_ns, bool *wished)
{
    if (reserve_points(l, closed->points) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (l->types_next) {
        begin_learning(l, closed, now_ns, wished);
        return PYTHIA_OK;
    }
    if (closed->news == 0) { /* those that were counted are of types that are being learnt */
        l->changed_ns = l->news_ns = now_ns;
        return PYTHIA_OK;
    }
    l->phase = PYTHIA__LATE_SEEKING;
    l->seeks++;
    l->sought_ns = l->begun_ns = l->applied_ns = now_ns;
    l->requests = 0;
    l->since_ns = 0;
    open_news(l, closed, wished);
    l->pending = *wished;
    return PYTHIA_OK;
}

/* A process reports a point only when it is first hit, so that opening points can bring up new
 * ones. These are opened too, or join the batches that are still to be tried. */
static int add_new_points(struct pythia__late_learning *l,
                          const struct pythia__closed_points *closed, uint64_t now_ns, bool *wished)
{
    uint32_t before = l->points, now = closed->points;
    if (now <= before)
        return PYTHIA_OK;
    bool *open = pythia_realloc(l->open, (size_t)now + 1, sizeof(*open));
    if (open)
        l->open = open; /* even if there is no memory for the others: the old block is gone */
    uint8_t *seen = pythia_realloc(l->seen, (size_t)now + 1, sizeof(*seen));
    if (seen)
        l->seen = seen;
    uint64_t *hit = pythia_realloc(l->hit, (size_t)now + 1, sizeof(*hit));
    if (hit)
        l->hit = hit;
    if (!open || !seen || !hit)
        return PYTHIA_ENOMEM;
    l->points = now;
    bool seeking = l->phase == PYTHIA__LATE_SEEKING;
    for (uint32_t point = before; point < now; point++) {
        seen[point] = 0;
        hit[point] = closed->fresh[point] ? 0 : PYTHIA__KNOWN_POINT;
        open[point] =
            closed->room == SIZE_MAX && closed->may[point] && (!seeking || closed->fresh[point]);
        *wished = *wished || open[point];
    }
    l->pending = l->pending || *wished;
    if (*wished && !seeking)
        note_opening(l, now_ns);
    return PYTHIA_OK;
}

static void end_late_learning(struct pythia__late_learning *l, bool learnt, uint64_t now_ns)
{
    for (size_t i = 0; i < l->types->count; i++) {
        struct pythia__live_type *type = &l->types->types[i];
        type->renews = false;
        if (!type->chosen)
            continue;
        type->chosen = false;
        /* Too few requests say little of a type: it waits for the next phase. */
        type->learnt_late = learnt && !type->refused && type->requests >= l->o.few;
        /* What a known type has learnt stays for that, as its points turn up again: their spans
         * came while they were sought. */
        if (!type->learnt_late && !type->refused && !(type->learnt && learnt))
            pythia__live_types_restart(l->types, type);
        end_review(l, type, now_ns);
    }
    l->phase = PYTHIA__LATE_NONE;
    l->pending = false;
    l->chosen = 0;
}

void pythia__late_break_off(struct pythia__late_learning *l, uint64_t now_ns)
{
    if (l->phase != PYTHIA__LATE_NONE)
        end_late_learning(l, false, now_ns);
}

/* Known types that hit none of the new points in this time are left as they are. Points that were
 * not open everywhere in all of it are sought again. */
static void end_seeking(struct pythia__late_learning *l, const struct pythia__closed_points *closed,
                        uint64_t now_ns, bool *wished)
{
    if (!l->pending)
        l->sought = closed->room == SIZE_MAX ? l->points : l->next;
    l->news = 0;
    begin_learning(l, closed, now_ns, wished);
    if (l->chosen > 0)
        return;
    *wished = close_all(l) || *wished;
    end_late_learning(l, false, now_ns);
}

/* The next batch, or, after the last one or when there is no time for more, learning. */
static void try_next(struct pythia__late_learning *l, const struct pythia__closed_points *closed,
                     bool late, uint64_t now_ns, bool *wished)
{
    restart_types(l);
    if (!late)
        (void)open_batch(l, closed, wished);
    if (*wished)
        return;
    l->cut += late;
    l->begun_ns = now_ns;
    open_hit_points(l, closed, wished);
}

/* A phase ends when all types have had their requests, when its time is over, or when the set
 * changes on and on (`late`). A rare type must not keep trace points open for ever. New points are
 * sought for all of the time, because each type that hits them should be met; but no longer when
 * all of them have turned out to be those of new types, which wait for the end of this phase. */
int pythia__late_step(struct pythia__late_learning *l, const struct pythia__closed_points *closed,
                      uint64_t now_ns, bool *wished)
{
    bool trying = l->phase == PYTHIA__LATE_TRYING, seeking = l->phase == PYTHIA__LATE_SEEKING;
    int status =
        l->phase != PYTHIA__LATE_NONE ? add_new_points(l, closed, now_ns, wished) : PYTHIA_OK;
    if (l->phase == PYTHIA__LATE_NONE || status != PYTHIA_OK)
        return status;
    bool late = now_ns - l->begun_ns >= (trying ? l->o.tries_ns : LATE * l->o.step_ns);
    bool enough = seeking ? closed->news == 0 : have_requests(l, trying ? l->o.few : l->o.requests);
    bool over = late || (!l->pending && (now_ns - l->applied_ns >= l->o.step_ns || enough));
    if (!over)
        return PYTHIA_OK;
    if (seeking) {
        end_seeking(l, closed, now_ns, wished);
    } else if (trying) {
        try_next(l, closed, late, now_ns, wished);
    } else {
        *wished = close_all(l) || *wished;
        end_late_learning(l, true, now_ns);
    }
    return PYTHIA_OK;
}

void pythia__late_applied(struct pythia__late_learning *l, uint64_t since_ns, uint64_t now_ns)
{
    if (l->phase == PYTHIA__LATE_NONE)
        return;
    l->pending = false;
    l->since_ns = since_ns;
    l->applied_ns = now_ns;
}

bool pythia__late_opens(const struct pythia__late_learning *l, uint32_t tracepoint)
{
    return l->phase != PYTHIA__LATE_NONE && tracepoint < l->points && l->open[tracepoint];
}

/* ---- requests ---- */

/* No request is older than age_max_ns: one that seems to be has a clock that is off. */
static bool lacks_points(const struct pythia__late_learning *l, const struct pythia_trace *trace,
                         uint64_t now_ns)
{
    return l->pending ||
           (trace->begun_ns < l->since_ns && now_ns - l->applied_ns < l->o.age_max_ns);
}

bool pythia__late_keeps_apart(const struct pythia__late_learning *l,
                              const struct pythia__live_type *type,
                              const struct pythia_trace *trace, uint64_t now_ns)
{
    return !type->learnt && (type->learnt_late || (type->chosen && lacks_points(l, trace, now_ns)));
}

bool pythia__late_renews(const struct pythia__late_learning *l,
                         const struct pythia__live_type *type, const struct pythia_trace *trace,
                         uint64_t now_ns)
{
    return l->phase == PYTHIA__LATE_LEARNING && type->learnt && type->chosen &&
           !lacks_points(l, trace, now_ns);
}

/* A point that a single request hits is not learnt: its name has a number or an id in it, and the
 * next request has a point of its own. */
static void seek_points(struct pythia__late_learning *l, struct pythia__live_type *type,
                        const struct pythia_trace *trace)
{
    uint64_t number = ++l->requests;
    for (uint32_t i = 0; i < trace->count; i++) {
        uint32_t point = trace->spans[i].tracepoint;
        if (point >= l->points || l->hit[point] == PYTHIA__KNOWN_POINT)
            continue;
        if (l->hit[point] == 0)
            l->hit[point] = number;
        type->renews = type->renews || l->hit[point] != number;
    }
}

static void note_hits(struct pythia__late_learning *l, struct pythia__live_type *type,
                      const struct pythia_trace *trace)
{
    for (uint32_t i = 0; i < trace->count; i++) {
        uint32_t point = trace->spans[i].tracepoint;
        if (point < l->points) /* a point that is newer than the arrays joins with the next step */
            l->seen[point] |= l->open[point] ? PYTHIA__SEEN_OPENED : PYTHIA__SEEN_ANYWAY;
    }
    type->requests++;
}

bool pythia__late_see(struct pythia__late_learning *l, struct pythia__live_type *type,
                      const struct pythia_trace *trace, uint64_t now_ns)
{
    if (l->phase == PYTHIA__LATE_SEEKING && type->learnt)
        seek_points(l, type, trace);
    if (l->phase != PYTHIA__LATE_TRYING || !type->chosen)
        return false;
    if (!lacks_points(l, trace, now_ns)) /* else it may have hit points of the batch before */
        note_hits(l, type, trace);
    return true;
}
