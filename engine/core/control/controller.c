/* Desired state, and reconciliation. Each plane is on a line of its own:
 *
 *     inventory -> what of the desired set it has -> apply -> observe -> all as told: settled
 *                                                       ^------- retry ---| not yet
 *
 * What a plane is told changes with the desired set, with its inventory, and with points that go
 * into quarantine or come out of it; each time it gets a version of its own, which rises. */
#include "pythia/controller.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "controlled.h"
#include "pythia/hash.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/wishes.h"

#define SECOND  UINT64_C(1000000000)
#define LOOK_NS (SECOND / 2) /* between looks at an inventory, and at what has settled */
#define CLOSED  0
#define OPEN    1

struct plane {
    struct pythia_control *control; /* owned */
    struct pythia_wishes told;      /* what it was told last */
    uint64_t version;               /* of that; 0: nothing yet */
    uint64_t desired;               /* the version of the desired set that it comes from */
    bool stale;                     /* what it shall be told may have changed */
    bool held;                      /* a point has to wait for its switch */
    bool failed;                    /* the last attempt did not come through */
    bool off_told;                  /* it knows whether everything is off */
    bool settled;
    uint64_t settled_ns, tried_ns, told_ns, looked_ns, observed_ns;
    uint64_t failed_ns; /* while it fails: since when its targets are as they are */
    uint64_t losses;    /* that it has told of */
    uint64_t look;      /* number of the last look at the inventory */
    char why[320];
};

struct pythia_controller {
    struct pythia_controller_options options;
    struct plane *planes; /* owned */
    size_t count;
    struct pythia_wishes desired;
    uint64_t versions; /* given to planes so far */
    uint64_t lost_ns;  /* when something that was in force was last found not to be */
    bool off;
    struct pythia__controlled_table table;
    struct pythia_controller_numbers numbers;
};

/* The position that a look or an observation works on. */
struct visit {
    struct pythia_controller *c;
    size_t plane;
    uint64_t now_ns;
    bool settled;
};

static uint64_t or_default(uint64_t value, uint64_t otherwise)
{
    return value ? value : otherwise;
}

/* The planes are taken also on failure, so that a caller never has to ask whose they are. */
int pythia_controller_create(struct pythia_control *const *planes, size_t count,
                             const struct pythia_controller_options *options,
                             struct pythia_controller **out)
{
    struct pythia_controller *c = pythia_calloc(1, sizeof(*c));
    struct plane *own = pythia_calloc(count, sizeof(*own));
    if (!c || !own) {
        for (size_t i = 0; i < count; i++)
            planes[i]->ops->destroy(planes[i]);
        pythia_free(c);
        pythia_free(own);
        return PYTHIA_ENOMEM;
    }
    c->options = *options;
    c->options.retry_ns = or_default(options->retry_ns, SECOND);
    c->options.obey_ns = or_default(options->obey_ns, 5 * SECOND);
    c->options.quarantine_ns = or_default(options->quarantine_ns, 600 * SECOND);
    c->options.lease_ns = or_default(options->lease_ns, PYTHIA_CONTROL_LEASE_NS);
    c->options.hold_ns = or_default(options->hold_ns, SECOND);
    c->planes = own;
    c->count = count;
    c->numbers.version = options->version;
    for (size_t i = 0; i < count; i++) {
        own[i] = (struct plane){.control = planes[i], .stale = true, .off_told = true};
        planes[i]->ops->set_lease(planes[i], c->options.lease_ns);
    }
    *out = c;
    return PYTHIA_OK;
}

void pythia_controller_destroy(struct pythia_controller *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->count; i++) {
        c->planes[i].control->ops->destroy(c->planes[i].control);
        pythia_wishes_free(&c->planes[i].told);
    }
    pythia__controlled_free(&c->table);
    pythia_wishes_free(&c->desired);
    pythia_free(c->planes);
    pythia_free(c);
}

int pythia_controller_want(struct pythia_controller *c, const struct pythia_control_wish *wishes,
                           size_t count, uint64_t *version)
{
    struct pythia_wishes copy;
    if (pythia_wishes_copy(wishes, count, &copy) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    pythia_wishes_free(&c->desired);
    c->desired = copy;
    *version = ++c->numbers.version;
    c->numbers.wished = true;
    for (size_t i = 0; i < c->count; i++)
        c->planes[i].stale = true;
    return PYTHIA_OK;
}

static bool is_due(uint64_t last_ns, uint64_t every_ns, uint64_t now_ns)
{
    return last_ns == 0 || now_ns >= last_ns + every_ns;
}

/* ---- the inventory ---- */

/* Ask the owner what it has seen of a point. */
static void update_seen(const struct pythia_controller *c, struct pythia__controlled *p)
{
    if (c->options.see)
        p->seen_of = c->options.see(c->options.see_context, p->id);
}

/* Count the hits of a point from now on. */
static void begin_count(const struct pythia_controller *c, struct pythia__controlled *p)
{
    update_seen(c, p);
    p->spans_before = p->seen_of.spans;
    p->requests_before = p->seen_of.requests;
}

/* A point that turns up late is asked for at once (`stale`): until then its program has it as it
 * was, and nothing is known to be in force there. */
static int note_point(void *context, const struct pythia_control_point *point)
{
    struct visit *v = context;
    struct pythia_controller *c = v->c;
    struct plane *plane = &c->planes[v->plane];
    struct pythia__controlled *known =
        pythia__controlled_find(&c->table, v->plane, point->target, point->id);
    if (!known) {
        known = pythia__controlled_make(&c->table, v->plane, point->target, point->id);
        if (!known)
            return PYTHIA_ENOMEM;
        known->pending_ns = v->now_ns;
        known->asked_version = plane->version;
        plane->stale = true;
        c->numbers.changes++;
        begin_count(c, known);
    }
    update_seen(c, known);
    if (known->open_by_default != point->open_by_default || known->pinned != point->pinned)
        plane->stale = true;
    known->seen = plane->look;
    known->price_ns = point->price_ns;
    known->hits = point->hits;
    known->open_by_default = point->open_by_default;
    known->pinned = point->pinned;
    known->layer = point->layer;
    known->note = point->note;
    known->instances = point->instances;
    known->open_at = point->open_at;
    return PYTHIA_OK;
}

static int read_inventory(struct pythia_controller *c, size_t index, uint64_t now_ns)
{
    struct plane *plane = &c->planes[index];
    struct visit v = {.c = c, .plane = index, .now_ns = now_ns};
    plane->look++;
    int status = plane->control->ops->inventory(plane->control, note_point, &v);
    if (status != PYTHIA_OK) /* some points may not have been seen this time */
        return status == PYTHIA_ENOMEM ? status : PYTHIA_OK;
    plane->looked_ns = now_ns;
    size_t gone = pythia__controlled_sweep(&c->table, index, plane->look);
    c->numbers.changes += gone;
    if (gone > 0)
        plane->stale = true;
    return PYTHIA_OK;
}

/* ---- what a plane shall be told ---- */

/* All wishes for a point, which are for different instances; none: it is to be closed. */
struct wished {
    const struct pythia_control_wish *first;
    size_t count;
};

static struct wished wished_in(const struct pythia_wishes *set, struct pythia_text id)
{
    size_t at = pythia_wishes_find(set, id);
    if (at == PYTHIA_NO_WISH)
        return (struct wished){NULL, 0};
    return (struct wished){&set->wishes[at], pythia_wishes_end(set, at) - at};
}

static uint64_t mix_texts(uint64_t number, const struct pythia_text *texts, size_t count)
{
    number = pythia_hash_mix(number, texts ? count : SIZE_MAX);
    for (size_t i = 0; texts && i < count; i++)
        number = pythia_hash_mix(number, pythia_hash_bytes(texts[i].bytes, texts[i].size));
    return number;
}

/* The wishes for a point in one number, to see whether they change. */
static uint64_t number_wishes(struct wished w, bool by_type)
{
    if (w.count == 0)
        return CLOSED;
    if (!pythia_wishes_is_placed(w.first) && (!w.first->types || !by_type))
        return OPEN;
    uint64_t number = 0;
    for (size_t i = 0; i < w.count; i++) {
        number = mix_texts(number, by_type ? w.first[i].types : NULL, w.first[i].type_count);
        number = mix_texts(number, w.first[i].at, w.first[i].at_count);
        number = mix_texts(number, w.first[i].except, w.first[i].except_count);
    }
    return number > OPEN ? number : number + 2;
}

/* The desired state of a point, ignoring how long it has to stay unchanged. A plane that cannot
 * tell instances apart is not given wishes for some of them. */
static struct wished find_wishes(const struct pythia_controller *c,
                                 const struct pythia__controlled *p,
                                 struct pythia_control_wish *room)
{
    const struct plane *plane = &c->planes[c->table.targets[p->target].plane];
    struct wished found = wished_in(&c->desired, p->id);
    *room = (struct pythia_control_wish){.id = p->id};
    if (c->off)
        return (struct wished){NULL, 0};
    if (p->open_by_default && (p->quarantined_ns || c->options.keep_defaults))
        return (struct wished){room, 1};
    if (p->quarantined_ns)
        return (struct wished){NULL, 0};
    bool for_all = found.count > 0 && !pythia_wishes_is_placed(found.first);
    if (!plane->control->ops->by_instance || (for_all && !found.first->types))
        found.count = for_all;
    return found;
}

/* Add to `set` what this point is to be now; the number of it is noted in `asked`. */
static void add_wishes(struct pythia_controller *c, struct plane *plane,
                       struct pythia__controlled *p, struct pythia_wishes *set, uint64_t *asked,
                       uint64_t now_ns)
{
    struct pythia_control_wish room;
    bool by_type = plane->control->ops->by_type;
    struct wished wished = find_wishes(c, p, &room);
    *asked = number_wishes(wished, by_type);
    if (*asked != p->asked && p->switched_ns && now_ns < p->switched_ns + c->options.hold_ns &&
        !c->off) {
        plane->held = true;
        wished = wished_in(&plane->told, p->id);
        *asked = p->asked;
    }
    for (size_t i = 0; i < wished.count; i++) {
        set->wishes[set->count] = wished.first[i];
        if (!by_type)
            set->wishes[set->count].types = NULL;
        set->count++;
    }
}

static size_t count_most_wishes(const struct pythia_wishes *set)
{
    size_t most = 1;
    for (size_t i = 0, end; i < set->count; i = end) {
        end = pythia_wishes_end(set, i);
        most = end - i > most ? end - i : most;
    }
    return most;
}

/* The whole set of a plane; `asked` by point of the table. The texts are borrowed from what there
 * is. */
static int choose_all(struct pythia_controller *c, size_t index, struct pythia_wishes *set,
                      uint64_t **asked, uint64_t now_ns)
{
    struct pythia__controlled_table *t = &c->table;
    size_t most = count_most_wishes(&c->desired), told = count_most_wishes(&c->planes[index].told);
    most = told > most ? told : most; /* for one point */
    *set = (struct pythia_wishes){.wishes = pythia_calloc(t->count * most, sizeof(*set->wishes))};
    *asked = pythia_calloc(t->count, sizeof(**asked));
    if (!set->wishes || !*asked) {
        pythia_free(set->wishes);
        pythia_free(*asked);
        return PYTHIA_ENOMEM;
    }
    c->planes[index].held = false;
    for (size_t i = 0; i < t->count; i++)
        if (t->targets[t->points[i].target].plane == index && !t->points[i].pinned)
            add_wishes(c, &c->planes[index], &t->points[i], set, &(*asked)[i], now_ns);
    return PYTHIA_OK;
}

/* The plane was told: what changed has to be seen in force from now on. */
static void note_sent(struct pythia_controller *c, size_t index, const uint64_t *asked,
                      uint64_t version, uint64_t now_ns)
{
    for (size_t i = 0; i < c->table.count; i++) {
        struct pythia__controlled *p = &c->table.points[i];
        if (c->table.targets[p->target].plane != index || p->asked == asked[i] || p->pinned)
            continue;
        if (p->asked == CLOSED)
            begin_count(c, p);
        if (p->had && c->planes[index].desired == c->numbers.version) /* nobody wished for it */
            c->lost_ns = now_ns;
        p->had = 0;
        p->asked = asked[i];
        p->asked_version = version;
        p->switched_ns = p->pending_ns = now_ns;
        c->numbers.switches++;
    }
}

/* Does nothing change for this plane? */
static bool is_as_told(const struct pythia_controller *c, size_t index, const uint64_t *asked)
{
    for (size_t i = 0; i < c->table.count; i++) {
        const struct pythia__controlled *p = &c->table.points[i];
        if (c->table.targets[p->target].plane == index && p->asked != asked[i])
            return false;
    }
    return true;
}

/* While a plane fails, its targets keep their sets until the lease runs out. */
static void note_failure(struct pythia_controller *c, struct plane *plane, int status,
                         const struct pythia_error *e)
{
    uint64_t over_ns = plane->told_ns + c->options.lease_ns;
    bool ran_out = plane->told_ns && plane->tried_ns >= over_ns && plane->failed_ns < over_ns;
    if (!plane->failed || ran_out)
        plane->failed_ns = c->lost_ns = plane->tried_ns;
    plane->failed = true;
    c->numbers.failed_applies++;
    struct pythia_error why = *e;
    if (why.status == PYTHIA_OK) /* the plane failed without a reason */
        pythia_error_set(&why, status, "%s", pythia_status_text(status));
    pythia_error_text(&why, plane->why, sizeof(plane->why));
}

/* Tell a plane its set. */
static int send_set(struct pythia_controller *c, size_t index, struct pythia_wishes *set,
                    const uint64_t *asked, uint64_t now_ns)
{
    struct plane *plane = &c->planes[index];
    struct pythia_error e = {0};
    struct pythia_wishes copy;
    if (pythia_wishes_copy(set->wishes, set->count, &copy) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    bool changed = plane->version == 0 || !pythia_wishes_equal(&copy, &plane->told);
    uint64_t version = changed ? c->versions + 1 : plane->version;
    plane->tried_ns = now_ns;
    int status =
        plane->control->ops->apply(plane->control, copy.wishes, copy.count, version, now_ns, &e);
    if (status != PYTHIA_OK) {
        pythia_wishes_free(&copy);
        note_failure(c, plane, status, &e);
        return status == PYTHIA_ENOMEM ? status : PYTHIA_OK;
    }
    c->numbers.applied++;
    c->versions += changed;
    note_sent(c, index, asked, version, now_ns);
    pythia_wishes_free(&plane->told);
    plane->told = copy;
    plane->settled = plane->settled && !changed && !plane->failed;
    if (plane->failed)
        c->lost_ns = now_ns;
    plane->failed = false;
    plane->version = version;
    plane->told_ns = now_ns;
    plane->desired = c->numbers.version;
    plane->stale = plane->held;
    return PYTHIA_OK;
}

/* The reason for sending a plane a set that it may already have. */
enum reason { NO_REASON, RETRY, RENEW };

static enum reason find_reason(const struct pythia_controller *c, const struct plane *plane,
                               uint64_t now_ns)
{
    bool waits = plane->failed || (plane->version > 0 && !plane->settled);
    if (waits && is_due(plane->tried_ns, c->options.retry_ns, now_ns))
        return RETRY;
    return !waits && is_due(plane->told_ns, c->options.lease_ns / 3, now_ns) ? RENEW : NO_REASON;
}

static int reconcile_plane(struct pythia_controller *c, size_t index, uint64_t now_ns)
{
    struct plane *plane = &c->planes[index];
    struct pythia_wishes set;
    uint64_t *asked;
    enum reason reason = find_reason(c, plane, now_ns);
    if (reason == NO_REASON && (plane->failed || !plane->stale))
        return PYTHIA_OK;
    c->numbers.retries += reason == RETRY;
    int status = choose_all(c, index, &set, &asked, now_ns);
    if (status != PYTHIA_OK)
        return status;
    if (reason == NO_REASON && plane->version > 0 && is_as_told(c, index, asked)) {
        plane->desired = c->numbers.version;
        plane->stale = plane->held;
    } else {
        status = send_set(c, index, &set, asked, now_ns);
    }
    pythia_free(set.wishes);
    pythia_free(asked);
    return status;
}

/* ---- what came of it ---- */

static void quarantine_point(struct pythia_controller *c, struct pythia__controlled *p,
                             uint64_t now_ns)
{
    if (!p->quarantined_ns) {
        c->numbers.quarantined++;
        pythia_log(PYTHIA_LOG_WARNING,
                   "A trace point %s and is quarantined: trace-point=%.*s, "
                   "plane=%s, retry-s=%" PRIu64 " (the log of its program may say why)",
                   p->result == PYTHIA_CONTROL_REFUSED ? "is refused"
                                                       : "does not respond to orders",
                   (int)p->id.size, p->id.bytes,
                   c->planes[c->table.targets[p->target].plane].control->ops->name,
                   c->options.quarantine_ns / SECOND);
    }
    p->quarantined_ns = now_ns + c->options.quarantine_ns;
    c->planes[c->table.targets[p->target].plane].stale = true;
}

/* A point that does not obey in time, though its target can be reached, or never will: all others
 * would wait for it. */
static void judge_point(struct pythia_controller *c, struct plane *plane,
                        struct pythia__controlled *p, uint64_t now_ns)
{
    uint64_t patience = plane->control->ops->latency_ns(plane->control) + c->options.obey_ns;
    bool refused = p->result == PYTHIA_CONTROL_REFUSED && plane->control->ops->refusal_is_final;
    if (!p->quarantined_ns && (refused || now_ns > p->pending_ns + patience))
        quarantine_point(c, p, now_ns);
}

/* A point that was met just now, closed by default and not asked to open: it shows nothing, whether
 * its target has confirmed that or not. */
static bool is_closed_anyway(const struct pythia__controlled *p)
{
    return p->asked == CLOSED && !p->open_by_default && p->switched_ns == 0;
}

/* Does a point that was in force turn out not to be, though nothing else was asked of it? Or is its
 * target back without it? Where processes come and go, a target also waits for those that are new:
 * the plane tells when one has lost what it had. */
static bool has_lost(const struct plane *plane, const struct pythia__controlled *p)
{
    return p->result == PYTHIA_CONTROL_LOST ||
           (!plane->control->ops->losses && p->had && p->had == plane->version);
}

static void end_quarantine(struct pythia_controller *c, struct pythia__controlled *p,
                           uint64_t now_ns)
{
    p->quarantined_ns = 0;
    p->pending_ns = now_ns;
    c->planes[c->table.targets[p->target].plane].stale = true;
}

static int note_result(void *context, struct pythia_text id, struct pythia_text target,
                       enum pythia_control_result result, uint64_t version)
{
    struct visit *v = context;
    struct pythia_controller *c = v->c;
    struct plane *plane = &c->planes[v->plane];
    struct pythia__controlled *p = pythia__controlled_find(&c->table, v->plane, target, id);
    if (!p || p->pinned)
        return PYTHIA_OK;
    /* A target that has confirmed an older set obeys as far as nothing else was asked of the point
     * since: while other points are switched again and again, it may never confirm the last one. */
    if (result == PYTHIA_CONTROL_APPLIED || (result == PYTHIA_CONTROL_PENDING && version > 0))
        result = version >= p->asked_version ? PYTHIA_CONTROL_APPLIED : PYTHIA_CONTROL_PENDING;
    bool waited = p->result == PYTHIA_CONTROL_PENDING || p->result == PYTHIA_CONTROL_REFUSED;
    bool lost = has_lost(plane, p);
    /* What refused for good may have been started anew because of it, with another list of what is
     * allowed; if not, it refuses again at once. */
    if (p->quarantined_ns && plane->control->ops->refusal_is_final &&
        p->result == PYTHIA_CONTROL_LOST && result != PYTHIA_CONTROL_LOST)
        end_quarantine(c, p, v->now_ns);
    pythia__controlled_result(&c->table, p, result);
    p->confirmed = version;
    if (result == PYTHIA_CONTROL_APPLIED)
        p->had = plane->version;
    if (result == PYTHIA_CONTROL_APPLIED || result == PYTHIA_CONTROL_LOST)
        return PYTHIA_OK;
    if (lost && !is_closed_anyway(p))
        c->lost_ns = v->now_ns;
    if (!waited) /* it was in force, or its target was away: its time to obey begins now */
        p->pending_ns = v->now_ns;
    judge_point(c, plane, p, v->now_ns);
    v->settled = v->settled && (p->quarantined_ns || is_closed_anyway(p));
    return PYTHIA_OK;
}

/* Before a plane was told anything there is nothing to judge. */
static int skip_point(void *context, struct pythia_text id, struct pythia_text target,
                      enum pythia_control_result result, uint64_t version)
{
    (void)context, (void)id, (void)target, (void)result, (void)version;
    return PYTHIA_OK;
}

static void note_losses(struct pythia_controller *c, struct plane *plane, uint64_t now_ns)
{
    uint64_t losses = plane->control->ops->losses ? plane->control->ops->losses(plane->control) : 0;
    if (losses != plane->losses)
        c->lost_ns = now_ns;
    plane->losses = losses;
}

/* A plane that is settled, or has not been told anything, is looked at now and then: it may be then
 * that it takes in what its targets say. */
static int observe_plane(struct pythia_controller *c, size_t index, uint64_t now_ns)
{
    struct plane *plane = &c->planes[index];
    struct visit v = {.c = c, .plane = index, .now_ns = now_ns, .settled = true};
    bool told = plane->version > 0;
    if ((plane->settled || !told) && !is_due(plane->observed_ns, LOOK_NS, now_ns))
        return PYTHIA_OK;
    int status =
        plane->control->ops->observe(plane->control, now_ns, told ? note_result : skip_point, &v);
    note_losses(c, plane, now_ns);
    if (status != PYTHIA_OK) {
        if (plane->settled)
            c->lost_ns = now_ns;
        plane->settled = false;
        return status == PYTHIA_ENOMEM ? status : PYTHIA_OK;
    }
    plane->observed_ns = now_ns;
    if (v.settled && !plane->settled)
        plane->settled_ns = now_ns;
    plane->settled = told && v.settled;
    return PYTHIA_OK;
}

/* Points whose quarantine has ended are asked for again. */
static void end_quarantines(struct pythia_controller *c, uint64_t now_ns)
{
    for (size_t i = 0; i < c->table.count; i++) {
        struct pythia__controlled *p = &c->table.points[i];
        if (!p->quarantined_ns || now_ns < p->quarantined_ns)
            continue;
        end_quarantine(c, p, now_ns);
    }
}

/* ---- off ---- */

static int send_off(struct pythia_controller *c, struct plane *plane, uint64_t now_ns)
{
    struct pythia_error e = {0};
    int status = plane->control->ops->off(plane->control, c->off, now_ns, &e);
    plane->tried_ns = now_ns;
    plane->off_told = false;
    if (status != PYTHIA_OK) {
        note_failure(c, plane, status, &e);
        return status;
    }
    plane->off_told = true;
    return PYTHIA_OK;
}

static int turn_plane(struct pythia_controller *c, size_t index, uint64_t now_ns)
{
    struct plane *plane = &c->planes[index];
    plane->stale = true;
    plane->settled = false;
    int status = send_off(c, plane, now_ns);
    if (status != PYTHIA_OK || !c->numbers.wished)
        return status;
    return reconcile_plane(c, index, now_ns);
}

/* A plane that fails must not keep the others from being turned off. */
static int turn_all(struct pythia_controller *c, bool off, uint64_t now_ns)
{
    int first = PYTHIA_OK;
    c->off = off;
    c->lost_ns = now_ns;
    for (size_t i = 0; i < c->table.count; i++) /* nothing has to hold still for this */
        c->table.points[i].switched_ns = 0;
    for (size_t i = 0; i < c->count; i++) {
        int status = turn_plane(c, i, now_ns);
        first = first == PYTHIA_OK ? status : first;
    }
    return first;
}

int pythia_controller_off(struct pythia_controller *c, uint64_t now_ns)
{
    return turn_all(c, true, now_ns);
}

int pythia_controller_on(struct pythia_controller *c, uint64_t now_ns)
{
    return turn_all(c, false, now_ns);
}

bool pythia_controller_is_off(const struct pythia_controller *c)
{
    return c->off;
}

/* ---- the rest ---- */

static int tick_plane(struct pythia_controller *c, size_t index, uint64_t now_ns)
{
    struct plane *plane = &c->planes[index];
    int status = PYTHIA_OK;
    if (!plane->off_told && is_due(plane->tried_ns, c->options.retry_ns, now_ns))
        send_off(c, plane, now_ns);
    if (is_due(plane->looked_ns, LOOK_NS, now_ns) &&
        (status = read_inventory(c, index, now_ns)) != PYTHIA_OK)
        return status;
    /* Observing first lets what came since the last tick count, and what it shows be acted on. */
    if ((status = observe_plane(c, index, now_ns)) != PYTHIA_OK || !c->numbers.wished)
        return status;
    uint64_t version = plane->version;
    if ((status = reconcile_plane(c, index, now_ns)) != PYTHIA_OK || plane->version == version)
        return status;
    return observe_plane(c, index, now_ns);
}

int pythia_controller_tick(struct pythia_controller *c, uint64_t now_ns)
{
    int first = PYTHIA_OK;
    end_quarantines(c, now_ns);
    for (size_t i = 0; i < c->count; i++) {
        int status = tick_plane(c, i, now_ns);
        first = first == PYTHIA_OK ? status : first;
    }
    return first;
}

static bool plane_in_force(const struct pythia_controller *c, const struct plane *plane)
{
    return plane->failed ||
           (plane->settled && !plane->held && plane->desired == c->numbers.version);
}

bool pythia_controller_in_force(const struct pythia_controller *c, uint64_t version,
                                uint64_t *since_ns)
{
    uint64_t since = 0;
    if (version != c->numbers.version || !c->numbers.wished || c->off)
        return false;
    for (size_t i = 0; i < c->count; i++) {
        const struct plane *plane = &c->planes[i];
        if (!plane_in_force(c, plane))
            return false;
        uint64_t from = plane->failed ? plane->failed_ns : plane->settled_ns;
        since = from > since ? from : since;
    }
    *since_ns = since;
    return true;
}

uint64_t pythia_controller_lost_ns(const struct pythia_controller *c)
{
    return c->lost_ns;
}

static uint64_t count_rise(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/* Join what the plane and the owner know of a point. A price that a plane has was measured by
 * it. */
static struct pythia_controlled describe_point(const struct pythia_controller *c,
                                               const struct pythia__controlled *p)
{
    const struct pythia__controlled_target *target = &c->table.targets[p->target];
    const struct plane *plane = &c->planes[target->plane];
    const struct pythia_controller_seen *seen = &p->seen_of;
    struct pythia_control_wish room;
    struct wished wished = find_wishes(c, p, &room);
    struct pythia_controlled out = {
        .plane = plane->control->ops->name,
        .id = p->id,
        .target = target->name,
        .price_ns = isnan(p->price_ns) ? seen->price_ns : p->price_ns,
        .price_known = isnan(p->price_ns) ? seen->price_known : PYTHIA_PRICE_MEASURED,
        .hits = p->hits > seen->spans ? p->hits : seen->spans,
        .wanted = p->pinned ? p->open_by_default : wished.count > 0,
        .placed = !p->pinned && wished.count > 0 && pythia_wishes_is_placed(wished.first),
        .instances = p->instances,
        .open_at = p->open_at,
        .pinned = p->pinned,
        .quarantined = p->quarantined_ns != 0,
        .open_by_default = p->open_by_default,
        .layer = p->layer,
        .note = p->note,
        .result = plane->failed ? PYTHIA_CONTROL_LOST : p->result,
    };
    if (out.wanted) {
        out.spans = count_rise(p->spans_before, seen->spans);
        out.requests = count_rise(p->requests_before, seen->requests);
    }
    /* Which requests could have hit a point that is open at some instances is not known. */
    out.silent = out.wanted && !out.placed && !out.quarantined &&
                 out.result == PYTHIA_CONTROL_APPLIED && out.spans == 0 &&
                 out.requests >= PYTHIA_SILENT_REQUESTS;
    return out;
}

const char *pythia_price_known_name(enum pythia_price_known known)
{
    static const char *const names[] = {"supposed", "expected", "measured"};
    return names[known];
}

/* For sorting: a point with the names that it is sorted by. */
struct shown {
    size_t plane;
    struct pythia_text target;
    const struct pythia__controlled *point;
};

static int compare_shown(const void *a, const void *b)
{
    const struct shown *x = a, *y = b;
    if (x->plane != y->plane)
        return x->plane < y->plane ? -1 : 1;
    int order = pythia_text_compare(x->target, y->target);
    return order ? order : pythia_text_compare(x->point->id, y->point->id);
}

int pythia_controller_each(struct pythia_controller *c,
                           int (*each)(void *context, const struct pythia_controlled *point),
                           void *context)
{
    const struct pythia__controlled_table *t = &c->table;
    struct shown *shown = pythia_calloc(t->count, sizeof(*shown));
    int status = shown ? PYTHIA_OK : PYTHIA_ENOMEM;
    for (size_t i = 0; i < t->count && shown; i++) {
        const struct pythia__controlled_target *target = &t->targets[t->points[i].target];
        shown[i] = (struct shown){target->plane, target->name, &t->points[i]};
    }
    if (shown)
        qsort(shown, t->count, sizeof(*shown), compare_shown);
    for (size_t i = 0; i < t->count && status >= 0; i++) {
        struct pythia_controlled out = describe_point(c, shown[i].point);
        status = each(context, &out);
    }
    pythia_free(shown);
    return status < 0 ? status : PYTHIA_OK;
}

bool pythia_controller_point(struct pythia_controller *c, struct pythia_text id,
                             struct pythia_controlled *out)
{
    size_t targets = 0, silent = 0;
    uint64_t hits =
        0; /* that planes have counted, each its own; spans are of all targets together */
    for (size_t i = 0; i < c->table.count; i++) {
        if (!pythia_text_equal(c->table.points[i].id, id))
            continue;
        update_seen(c, &c->table.points[i]);
        struct pythia_controlled one = describe_point(c, &c->table.points[i]);
        silent += one.silent;
        hits += c->table.points[i].hits;
        if (targets++ == 0) {
            *out = one;
            continue;
        }
        if (!(one.price_ns <= out->price_ns) && !isnan(one.price_ns)) {
            out->price_ns = one.price_ns;
            out->price_known = one.price_known;
        }
        out->wanted = out->wanted || one.wanted;
        out->spans = one.spans > out->spans ? one.spans : out->spans;
        out->requests = one.requests > out->requests ? one.requests : out->requests;
    }
    if (targets == 0)
        return false;
    out->hits = hits > out->hits ? hits : out->hits;
    out->silent = silent == targets;
    return true;
}

bool pythia_controller_tells_instances(const struct pythia_controller *c, struct pythia_text id)
{
    bool any = false;
    for (size_t i = 0; i < c->table.count; i++) {
        const struct pythia__controlled *p = &c->table.points[i];
        if (!pythia_text_equal(p->id, id))
            continue;
        any = true;
        if (!c->planes[c->table.targets[p->target].plane].control->ops->by_instance)
            return false;
    }
    return any;
}

int pythia_controller_each_plane(const struct pythia_controller *c,
                                 int (*each)(void *context,
                                             const struct pythia_controlled_plane *plane),
                                 void *context)
{
    int status = PYTHIA_OK;
    for (size_t i = 0; i < c->count && status >= 0; i++) {
        const struct plane *plane = &c->planes[i];
        struct pythia_controlled_plane out = {.name = plane->control->ops->name,
                                              .reachable = !plane->failed,
                                              .in_force = plane->settled && !plane->failed,
                                              .why = plane->why};
        for (size_t t = 0; t < c->table.target_count; t++) {
            const struct pythia__controlled_target *target = &c->table.targets[t];
            if (!target->name.bytes || target->plane != i)
                continue;
            out.points += target->points;
            out.lost_targets += plane->failed || target->lost == target->points;
        }
        status = each(context, &out);
    }
    return status < 0 ? status : PYTHIA_OK;
}

static int add_lost(void *context, const struct pythia_controlled_plane *plane)
{
    *(uint64_t *)context += plane->lost_targets;
    return PYTHIA_OK;
}

struct pythia_controller_numbers pythia_controller_numbers(const struct pythia_controller *c)
{
    struct pythia_controller_numbers n = c->numbers;
    n.points = c->table.count;
    pythia_controller_each_plane(c, add_lost, &n.lost_targets);
    for (size_t i = 0; i < c->table.count; i++) {
        n.in_quarantine += c->table.points[i].quarantined_ns != 0;
        if (c->table.points[i].asked != CLOSED || c->table.points[i].open_by_default)
            n.silent += describe_point(c, &c->table.points[i]).silent;
    }
    n.unknown_wishes = c->desired.count;
    /* Wishes that some point has: points of one id are few, so each is found by a search. */
    bool *known = pythia_calloc(c->desired.count, sizeof(*known));
    for (size_t i = 0; i < c->table.count && known; i++) {
        size_t wish = pythia_wishes_find(&c->desired, c->table.points[i].id);
        if (wish != PYTHIA_NO_WISH && !known[wish]) {
            known[wish] = true;
            n.unknown_wishes -= pythia_wishes_end(&c->desired, wish) - wish;
        }
    }
    pythia_free(known);
    return n;
}
