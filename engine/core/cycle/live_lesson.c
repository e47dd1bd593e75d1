#include "live_lesson.h"

#include "pythia/live.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define HOUR_NS UINT64_C(3600000000000)
/* times that a set is open for as long as it should be, where it changes on and on */
#define LATE 2

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

/* Has every type that is taught been seen in so many requests, or is it refused? */
static bool all_have(const struct pythia__lesson *l, uint64_t requests)
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

/* What was seen of them is of another set of open points. */
static void begin_anew(struct pythia__lesson *l)
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
    bool many = l->count >= l->o.hourly &&
                now_ns - l->starts[(l->count - l->o.hourly) % PYTHIA__LESSONS_MAX] < HOUR_NS;
    return l->waiting > 0 && !many;
}

/* ---- the points ---- */

/* Open `room` of those that may be, from l->next on; `passed` only: of those that were seen when
 * they had been opened. Returns whether any is left. */
static bool open_some(struct pythia__lesson *l, const struct pythia__lesson_closed *closed,
                      bool passed, bool *wished)
{
    size_t room = closed->room;
    uint32_t point = l->next;
    for (uint32_t i = 0; i < l->points; i++)
        l->open[i] = false;
    for (; point < l->points; point++) {
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

/* Other points are wanted open: what was seen until now is of another set, and it is a lesson. */
static void note_opening(struct pythia__lesson *l, uint64_t now_ns)
{
    begin_anew(l);
    l->pending = true;
    if (!l->counted)
        l->starts[l->count++ % PYTHIA__LESSONS_MAX] = now_ns;
    l->counted = true;
}

/* Where all that is closed may be open at once, or nothing is closed, there is nothing to try. */
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
    l->trying = open_some(l, closed, false, wished);
    l->active = true;
    l->counted = false;
    l->waiting -= pupils;
    l->begun_ns = l->applied_ns = now_ns;
    l->since_ns = 0;
    if (*wished)
        note_opening(l, now_ns);
    return PYTHIA_OK;
}

/* Points that were met only now: a process tells of them when they are passed. They are opened too,
 * or tried. */
static int meet_points(struct pythia__lesson *l, const struct pythia__lesson_closed *closed,
                       uint64_t now_ns, bool *wished)
{
    uint32_t before = l->points, now = closed->points;
    if (now <= before)
        return PYTHIA_OK;
    bool *open = pythia_realloc(l->open, (size_t)now + 1, sizeof(*open));
    if (!open)
        return PYTHIA_ENOMEM;
    l->open = open;
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

/* All batches have been tried: what was passed is opened at once, as far as that may be. */
static void begin_to_learn(struct pythia__lesson *l, const struct pythia__lesson_closed *closed,
                           bool *wished)
{
    l->next = 0;
    l->trying = false;
    if (open_some(l, closed, true, wished))
        l->cut++;
    *wished = l->pending = true; /* the last batch is closed in any case */
}

static void end_lesson(struct pythia__lesson *l, bool learnt)
{
    for (size_t i = 0; i < l->types->count; i++) {
        struct pythia__live_type *type = &l->types->types[i];
        if (!type->pupil)
            continue;
        type->pupil = false;
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

int pythia__lesson_step(struct pythia__lesson *l, const struct pythia__lesson_closed *closed,
                        uint64_t now_ns, bool *wished)
{
    int status = l->active ? meet_points(l, closed, now_ns, wished) : PYTHIA_OK;
    bool late = now_ns - l->begun_ns >= (l->trying ? l->o.tries_ns : LATE * l->o.step_ns);
    bool over = late || (!l->pending && (now_ns - l->applied_ns >= l->o.step_ns ||
                                         all_have(l, l->trying ? l->o.few : l->o.requests)));
    if (!l->active || !over || status != PYTHIA_OK)
        return status;
    if (!l->trying) {
        *wished = *wished || opens_any(l);
        end_lesson(l, true);
        return PYTHIA_OK;
    }
    begin_anew(l);
    if (!late)
        (void)open_some(l, closed, false, wished);
    if (!*wished) {
        l->cut += late;
        l->begun_ns = now_ns;
        begin_to_learn(l, closed, wished);
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
        if (point < l->points)
            l->seen[point] |= l->open[point] ? PYTHIA__SEEN_OPENED : PYTHIA__SEEN_ANYWAY;
    }
    type->requests++;
    return true;
}
