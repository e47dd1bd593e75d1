#include "desired.h"

#include "chosen.h"
#include "pythia/mem.h"
#include "pythia/space_file.h"
#include "pythia/status.h"

#define MEND_NS UINT64_C(1000000000) /* between attempts to write a state that is degraded */

/* The set that the engine wants open now. {0} is empty. */
struct open {
    struct pythia_control_wish *wishes; /* owned; two for one point are put together */
    size_t count;
    struct pythia_control_wish *kept; /* owned: without what is open to learn something */
    size_t kept_count;
    struct pythia_text types[PYTHIA_LIVE_LATE_MAX]; /* that are learnt */
    struct pythia_text *places; /* owned; of points that are open at one instance, by trace point */
};

static void free_open(const struct open *o)
{
    pythia_free(o->wishes);
    pythia_free(o->kept);
    pythia_free(o->places);
}

/* The types are borrowed of the engine, which holds them until the wish has been copied. */
static void add_open(const struct pythia__switching *w, struct open *o, uint32_t point)
{
    uint32_t types[PYTHIA_LIVE_LATE_MAX];
    size_t count = pythia_live_open_for(w->e->live, point, types, PYTHIA_LIVE_LATE_MAX);
    struct pythia_control_wish wish = {
        .id = pythia_vocabulary_tracepoint_id(w->e->vocabulary, point)};
    wish.types = pythia_live_limit(w->e->live, point, &wish.type_count);
    bool partial = pythia_live_part(w->e->live, point) > 1;
    if (partial) {
        o->places[point] = pythia__chosen_place(w, point);
        wish.at = &o->places[point];
        wish.at_count = o->places[point].size > 0; /* none is chosen: it is closed */
    }
    if (count == 0 || wish.types) {
        o->wishes[o->count++] = wish;
        /* After a restart other instances may be there, and at all it would cost too much. */
        if (!partial && !pythia_live_seeks(w->e->live, point))
            o->kept[o->kept_count++] = wish;
    }
    for (size_t i = 0; i < count; i++) /* the same for every such point */
        o->types[i] = pythia_vocabulary_text(w->e->vocabulary, types[i]);
    if (count > 0)
        o->wishes[o->count++] =
            (struct pythia_control_wish){.id = wish.id, .types = o->types, .type_count = count};
}

/* Pins that hold at some instances only. What the search wants is closed there, or what it does not
 * want is opened there, unless it costs too much. What closes has precedence, as it has among pins
 * that hold everywhere. `first`: of the wishes for the point so far. */
static void add_placed(const struct pythia__switching *w, struct open *o, uint32_t point,
                       size_t first)
{
    struct pythia_text id = pythia_vocabulary_tracepoint_id(w->e->vocabulary, point);
    size_t pin = pythia_wishes_find(&w->placed, id);
    if (pin == PYTHIA_NO_WISH)
        return;
    const struct pythia_control_wish *pinned = &w->placed.wishes[pin];
    for (size_t i = first; i < o->count; i++) {
        o->wishes[i].except = pinned->except;
        o->wishes[i].except_count = pinned->except_count;
    }
    if (pinned->at_count > 0 && !pythia_open_points_has(w->never, point))
        o->wishes[o->count++] = *pinned;
}

/* To be freed in any case, and not to be moved. PYTHIA_OK or PYTHIA_ENOMEM. */
static int list_desired(const struct pythia__switching *w, struct open *o)
{
    uint32_t points = pythia_vocabulary_tracepoints(w->e->vocabulary);
    o->wishes = pythia_calloc(3 * (size_t)points + 1, sizeof(*o->wishes));
    o->kept = pythia_calloc((size_t)points + 1, sizeof(*o->kept));
    o->places = pythia_calloc((size_t)points + 1, sizeof(*o->places));
    if (!o->wishes || !o->kept || !o->places)
        return PYTHIA_ENOMEM;
    for (uint32_t point = 0; point < points; point++) {
        size_t first = o->count;
        if (pythia_live_is_open(w->e->live, point))
            add_open(w, o, point);
        add_placed(w, o, point, first);
    }
    return PYTHIA_OK;
}

/* Requests of types that a point is not open for cannot pass it: they are not counted. */
static int limit_passes(struct pythia__switching *w, const struct open *o)
{
    struct pythia_open_points *limited = NULL;
    int status = pythia_open_points_create(w->e->vocabulary, &limited);
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < o->count; i++)
        for (size_t t = 0; t < o->wishes[i].type_count; t++) {
            status = pythia_open_points_add_id_for(limited, o->wishes[i].id, o->wishes[i].types[t]);
            if (status != PYTHIA_OK) {
                pythia_open_points_destroy(limited);
                return status;
            }
        }
    pythia_passes_set_limited(w->passes, limited);
    pythia_open_points_destroy(w->limited);
    w->limited = limited;
    return PYTHIA_OK;
}

/* Has anything been wanted, by the search or by hand, now or before this start? Until then targets
 * are left alone. */
static bool is_desired_due(const struct pythia__switching *w)
{
    return w->wish > 0 || w->version > 0 || pythia_open_points_count(w->always) > 0 ||
           w->placed.count > 0;
}

static int write_space(const struct pythia__switching *w, struct pythia_buf *text, uint64_t *learnt)
{
    const struct pythia_space *space = pythia_live_space(w->e->live);
    size_t types;
    pythia_space_types(space, &types);
    *learnt = types + pythia_live_numbers(w->e->live).renewed;
    return *learnt == w->kept_learnt ? PYTHIA_OK : pythia_space_file_write(space, text);
}

/* Write the desired set and the search space that it belongs to together, so that the next start
 * finds both or neither. A failure degrades the state, which is reported. */
static int keep_desired(struct pythia__switching *w, const struct pythia_control_wish *wishes,
                        size_t count)
{
    struct pythia_buf text = {0};
    uint64_t learnt;
    int status = write_space(w, &text, &learnt);
    if (status != PYTHIA_OK)
        goto out;
    struct pythia_text space = pythia_buf_text(&text);
    if (pythia_state_put_desired(w->e->state, wishes, count, w->version,
                                 text.size ? &space : NULL) == PYTHIA_OK)
        w->kept_learnt = learnt;
out:
    pythia_buf_free(&text);
    return status;
}

/* The version rises only when the controller has accepted the set, so that what is reported in
 * force is never newer than what was asked for. */
int pythia__switching_want(struct pythia__switching *w)
{
    struct open open = {0};
    w->wish = pythia_live_wish(w->e->live);
    if (!is_desired_due(w))
        return PYTHIA_OK;
    int status = list_desired(w, &open);
    if (status != PYTHIA_OK)
        goto out;
    uint64_t version = w->version + 1;
    /* Count spans of newly opened points from here. */
    if ((status = pythia_passes_look(w->passes, pythia_live_space(w->e->live))) != PYTHIA_OK ||
        (status = limit_passes(w, &open)) != PYTHIA_OK)
        goto out;
    if (!w->e->s.observe_only)
        status = pythia_controller_want(w->controller, open.wishes, open.count, &version);
    if (status != PYTHIA_OK)
        goto out;
    w->version = version;
    w->in_force.now = false;
    status = keep_desired(w, open.kept, open.kept_count);
out:
    free_open(&open);
    return status;
}

int pythia__switching_keep_history(struct pythia__switching *w)
{
    struct pythia_history *all = NULL;
    int status = pythia_history_create(&all);
    if (status != PYTHIA_OK)
        return status;
    if (w->history && (status = pythia_history_merge(all, w->history)) != PYTHIA_OK)
        goto out;
    if ((status = pythia_loop_remember(&w->e->search_log, w->e->vocabulary, all)) != PYTHIA_OK)
        goto out;
    (void)pythia_state_put_history(w->e->state,
                                   all); /* a failure degrades the state, and is logged */
out:
    pythia_history_destroy(all);
    return status;
}

/* The state could not be written: try again, with what it has to know by now. */
void pythia__switching_mend(struct pythia__switching *w, uint64_t now)
{
    struct open open = {0};
    if (!pythia_state_is_degraded(w->e->state) || now - w->mended_ns < MEND_NS)
        return;
    w->mended_ns = now;
    if (list_desired(w, &open) == PYTHIA_OK)
        (void)keep_desired(w, open.kept, is_desired_due(w) ? open.kept_count : 0);
    if (!pythia_state_is_degraded(w->e->state))
        (void)pythia_state_put_off(w->e->state, pythia_controller_is_off(w->controller));
    free_open(&open);
    if (!pythia_state_is_degraded(w->e->state)) {
        w->kept_ns = 0; /* the inventory is due */
        (void)pythia__switching_keep_history(w);
    }
}
