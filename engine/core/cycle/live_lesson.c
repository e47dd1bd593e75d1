#include "live_lesson.h"

#include "pythia/live.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define HOUR_NS UINT64_C(3600000000000)
#define LATE    2 /* a set that keeps changing is given up after so many times its planned time */

void pythia__lesson_init(struct pythia__lesson *l, struct pythia__live_types *types,
                         const struct pythia__lesson_options *options)
{
    *l = (struct pythia__lesson){.o = *options, .types = types};
    if (l->o.hourly > PYTHIA__LESSONS_MAX)
        l->o.hourly = PYTHIA__LESSONS_MAX;
}

void pythia__lesson_free(struct pythia__lesson *l)
{
    pythia_free(l->open);
    pythia_free(l->seen);
    l->open = NULL;
    l->seen = NULL;
}

/* ---- the types ---- */

/* Has every type of this phase, but for refused ones, been seen in so many requests? */
static bool have_requests(const struct pythia__lesson *l, uint64_t requests)
{
    for (size_t i = 0; i < l->types->count; i++) {
        const struct pythia__live_type *type = &l->types->types[i];
        if (type->pupil && !type->refused && type->requests < requests)
            return false;
    }
    return true;
}

static bool is_waiting(const struct pythia__lesson *l, const struct pythia__live_type *type)
{
    return !type->learnt && !type->refused && !type->other && !type->pupil && !type->taught &&
           type->requests >= l->o.few;
}

/* Forget what was learnt of the types with another set of open points. */
static void restart_types(struct pythia__lesson *l)
{
    for (size_t i = 0; i < l->types->count; i++)
        if (l->types->types[i].pupil)
            pythia__live_types_restart(l->types, &l->types->types[i]);
}

bool pythia__lesson_is_due(struct pythia__lesson *l, uint64_t now_ns)
{
    if (l->active || l->o.hourly == 0)
        return false;
    l->waiting = 0;
    for (size_t i = 0; i < l->types->count; i++)
        l->waiting += is_waiting(l, &l->types->types[i]);
    /* The ring has the start of the phase that was `hourly` phases ago. */
    bool many = l->count >= l->o.hourly &&
                now_ns - l->starts[(l->count - l->o.hourly) % PYTHIA__LESSONS_MAX] < HOUR_NS;
    return l->waiting > 0 && !many;
}

/* ---- the points ---- */

/* Open the next batch: up to `room` of the points that may be opened, from l->next on; with
 * `passed` only points that were hit while they were open in a batch. Are any left for a later
 * batch? */
static bool open_batch(struct pythia__lesson *l, const struct pythia__lesson_closed *closed,
                       bool passed, bool *wished)
{
    size_t room = closed->room;
    uint32_t point = l->next;
    for (uint32_t i = 0; i < l->points; i++)
        l->open[i] = false;
    for (; point < l->points; point++) {
        /* A point that was hit although it was not open costs nothing: its target has it open. */
        if (!closed->may[point] || (l->seen[point] & PYTHIA__SEEN_ANYWAY) ||
            (passed && !l->seen[point]))
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

static int reserve_points(struct pythia__lesson *l, uint32_t points)
{
    bool *open = pythia_calloc((size_t)points + 1, sizeof(*open));
    uint8_t *seen = pythia_calloc((size_t)points + 1, sizeof(*seen));
    if (!open || !seen) {
        pythia_free(open);
        pythia_free(seen);
        return PYTHIA_ENOMEM;
    }
    pythia__lesson_free(l);
    l->open = open;
    l->seen = seen;
    l->points = points;
    return PYTHIA_OK;
}

/* The set changes: forget what was seen with the former one. The phase counts for the limit in an
 * hour only now that it opens points, and once however often it does. */
static void note_opening(struct pythia__lesson *l, uint64_t now_ns)
{
    restart_types(l);
    l->pending = true;
    if (!l->counted)
        l->starts[l->count++ % PYTHIA__LESSONS_MAX] = now_ns;
    l->counted = true;
}

/* Batches are tried only if the points that are closed may not all be open at once. */
int pythia__lesson_begin(struct pythia__lesson *l, const struct pythia__lesson_closed *closed,
                         uint64_t now_ns, bool *wished)
{
    size_t pupils = 0;
    if (reserve_points(l, closed->points) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < l->types->count && pupils < PYTHIA_LIVE_TAUGHT_MAX; i++)
        if (is_waiting(l, &l->types->types[i])) {
            l->types->types[i].pupil = true;
            pupils++;
        }
    l->next = 0;
    l->trying = open_batch(l, closed, false, wished);
    l->active = true;
    l->counted = false;
    l->waiting -= pupils;
    l->begun_ns = l->applied_ns = now_ns;
    l->since_ns = 0;
    if (*wished)
        note_opening(l, now_ns);
    return PYTHIA_OK;
}

/* A process reports a point only when it is first hit, so that opening points can bring up new
 * ones. These are opened too, or join the batches that are still to be tried. */
static int add_new_points(struct pythia__lesson *l, const struct pythia__lesson_closed *closed,
                          uint64_t now_ns, bool *wished)
{
    uint32_t before = l->points, now = closed->points;
    if (now <= before)
        return PYTHIA_OK;
    bool *open = pythia_realloc(l->open, (size_t)now + 1, sizeof(*open));
    if (!open)
        return PYTHIA_ENOMEM;
    l->open = open; /* even if there is no memory for the other array: the old block is gone */
    uint8_t *seen = pythia_realloc(l->seen, (size_t)now + 1, sizeof(*seen));
    if (!seen)
        return PYTHIA_ENOMEM;
    l->seen = seen;
    l->points = now;
    for (uint32_t point = before; point < now; point++) {
        seen[point] = 0;
        open[point] = closed->room == SIZE_MAX && closed->may[point];
        *wished = *wished || open[point];
    }
    if (*wished)
        note_opening(l, now_ns);
    return PYTHIA_OK;
}

/* All batches have been tried: open together what was hit, as far as the budget permits. */
static void open_hit_points(struct pythia__lesson *l, const struct pythia__lesson_closed *closed,
                            bool *wished)
{
    l->next = 0;
    l->trying = false;
    if (open_batch(l, closed, true, wished))
        l->cut++;                /* points that the types hit stay closed */
    *wished = l->pending = true; /* the last batch is closed in any case */
}

static void end_lesson(struct pythia__lesson *l, bool learnt)
{
    for (size_t i = 0; i < l->types->count; i++) {
        struct pythia__live_type *type = &l->types->types[i];
        if (!type->pupil)
            continue;
        type->pupil = false;
        /* Too few requests say little of a type: it waits for the next phase. */
        type->taught = learnt && !type->refused && type->requests >= l->o.few;
        if (!type->taught && !type->refused)
            pythia__live_types_restart(l->types, type);
    }
    l->active = l->trying = l->pending = false;
}

void pythia__lesson_break_off(struct pythia__lesson *l)
{
    if (l->active)
        end_lesson(l, false);
}

static bool opens_any(const struct pythia__lesson *l)
{
    for (uint32_t i = 0; i < l->points; i++)
        if (l->open[i])
            return true;
    return false;
}

/* A batch, and the learning after the batches, end when all types have had their requests, when
 * their time is over, or when the set changes on and on (`late`). A rare type must not keep trace
 * points open for ever. */
int pythia__lesson_step(struct pythia__lesson *l, const struct pythia__lesson_closed *closed,
                        uint64_t now_ns, bool *wished)
{
    int status = l->active ? add_new_points(l, closed, now_ns, wished) : PYTHIA_OK;
    if (!l->active || status != PYTHIA_OK)
        return status;
    bool late = now_ns - l->begun_ns >= (l->trying ? l->o.tries_ns : LATE * l->o.step_ns);
    bool over = late || (!l->pending && (now_ns - l->applied_ns >= l->o.step_ns ||
                                         have_requests(l, l->trying ? l->o.few : l->o.requests)));
    if (!over)
        return PYTHIA_OK;
    if (!l->trying) {
        *wished = *wished || opens_any(l);
        end_lesson(l, true);
        return PYTHIA_OK;
    }
    restart_types(l);
    if (!late)
        (void)open_batch(l, closed, false, wished);
    if (!*wished) { /* that was the last batch, or there is no time for more of them */
        l->cut += late;
        l->begun_ns = now_ns;
        open_hit_points(l, closed, wished);
    }
    return PYTHIA_OK;
}

void pythia__lesson_applied(struct pythia__lesson *l, uint64_t since_ns, uint64_t now_ns)
{
    if (!l->active)
        return;
    l->pending = false;
    l->since_ns = since_ns;
    l->applied_ns = now_ns;
}

bool pythia__lesson_opens(const struct pythia__lesson *l, uint32_t tracepoint)
{
    return l->active && tracepoint < l->points && l->open[tracepoint];
}

/* ---- requests ---- */

bool pythia__lesson_keeps_apart(const struct pythia__lesson *l,
                                const struct pythia__live_type *type,
                                const struct pythia_trace *trace, uint64_t now_ns)
{
    /* No request is older than age_max_ns: one that seems to be has a clock that is off. */
    bool before = trace->begun_ns < l->since_ns && now_ns - l->applied_ns < l->o.age_max_ns;
    return type->taught || (type->pupil && (l->pending || before));
}

bool pythia__lesson_see(struct pythia__lesson *l, struct pythia__live_type *type,
                        const struct pythia_trace *trace)
{
    if (!l->trying || !type->pupil)
        return false;
    for (uint32_t i = 0; i < trace->count; i++) {
        uint32_t point = trace->spans[i].tracepoint;
        if (point < l->points) /* a point that is newer than the arrays joins with the next step */
            l->seen[point] |= l->open[point] ? PYTHIA__SEEN_OPENED : PYTHIA__SEEN_ANYWAY;
    }
    type->requests++;
    return true;
}
