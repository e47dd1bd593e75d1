/* Spans go to open traces, and these are finished when no more spans come: assembler_parts.h has
 * the idea. */
#include <string.h>

#include "assembler_parts.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define AHEAD_NS    (2 * UINT64_C(1000000000)) /* of our clock: a clock that is set is not */
#define EARLY_PART  4                          /* of a tick, for what is due by what is known now */
#define BUILDER_MAX ((size_t)1024 * 1024)      /* bytes that the builder keeps for the next trace */
#define SPARE_MAX   256                        /* traces whose memory is kept for others */

int pythia_assembler_create(const struct pythia_vocabulary *vocabulary,
                            const struct pythia_assembler_options *options,
                            struct pythia_trace_taker taker, struct pythia_counts *counts,
                            struct pythia_assembler **out)
{
    struct pythia_assembler *a = pythia_calloc(1, sizeof(*a));
    if (!a)
        return PYTHIA_ENOMEM;
    a->options = *options;
    /* One tick may pass right after the last span; only a second one proves a whole tick of
     * silence. */
    if (a->options.quiet_ticks == 0)
        a->options.quiet_ticks = 2;
    a->finished.limit = options->remembered;
    a->hash_seed = pythia_hash_seed();
    a->taker = taker;
    a->counts = counts;
    if (pythia_trace_builder_create(vocabulary, options->open, &a->builder) != PYTHIA_OK) {
        pythia_assembler_destroy(a);
        return PYTHIA_ENOMEM;
    }
    pythia_trace_builder_set_clocks(a->builder, options->calls, options->clocks);
    pythia_trace_builder_limit_attributes(a->builder, options->attributes_max);
    *out = a;
    return PYTHIA_OK;
}

void pythia__assembler_free_spare(struct pythia_assembler *a)
{
    pythia__span_pool_free(&a->pool);
    while (a->spare) {
        struct open_trace *next = a->spare->later;
        pythia_free(a->spare);
        a->spare = next;
    }
    a->trace_count -= a->spare_count;
    a->spare_count = 0;
}

void pythia_assembler_destroy(struct pythia_assembler *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->start_count; i++) {
        pythia__span_list_release(&a->starts[i].trace->list, &a->pool);
        pythia_free(a->starts[i].trace);
    }
    pythia__assembler_free_spare(a);
    pythia__finished_ids_free(&a->finished);
    pythia_trace_builder_destroy(a->builder);
    pythia_hash_table_free(&a->by_id);
    pythia__pinned_ids_free(&a->pinned);
    pythia_free(a->kinds);
    pythia_free(a->senders);
    pythia_arena_free(&a->attributes);
    pythia_free(a->starts);
    pythia_free(a->late);
    pythia_free(a);
}

/* ---- trace ids ---- */

static uint64_t hash_trace_id(const struct pythia_assembler *a, struct pythia_trace_id id)
{
    return pythia__hash_trace_id(a->hash_seed, id);
}

int pythia_assembler_note_finished(struct pythia_assembler *a, struct pythia_trace_id id)
{
    return pythia__finished_ids_set(&a->finished, hash_trace_id(a, id), PYTHIA__ENDED_LATE);
}

/* A caller that lets ids be forgotten does not read its input again, so it needs no list of late
 * traces. */
static int list_late(struct pythia_assembler *a, struct pythia_trace_id id)
{
    if (a->options.remembered)
        return PYTHIA_OK;
    if (pythia_grow(&a->late, &a->late_capacity, a->late_count, sizeof(*a->late)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    a->late[a->late_count++] = id;
    return PYTHIA_OK;
}

/* A span came for the trace `id`, which is over; as late it is listed once. */
static int drop_ended_span(struct pythia_assembler *a, struct pythia_trace_id id,
                           enum pythia__ending ending)
{
    if (ending == PYTHIA__ENDED_SHED || ending == PYTHIA__ENDED_OVERSIZE) {
        bool shed = ending == PYTHIA__ENDED_SHED;
        a->counts->dropped[shed ? PYTHIA_DROP_SHED : PYTHIA_DROP_OVERSIZE]++;
        return PYTHIA_OK;
    }
    a->counts->dropped[PYTHIA_DROP_LATE]++;
    if (ending == PYTHIA__ENDED_LATE)
        return PYTHIA_OK;
    int status = list_late(a, id);
    if (status != PYTHIA_OK)
        return status;
    return pythia__finished_ids_set(&a->finished, hash_trace_id(a, id), PYTHIA__ENDED_LATE);
}

const struct pythia_trace_id *pythia_assembler_late(const struct pythia_assembler *a, size_t *count)
{
    *count = a->late_count;
    return a->late;
}

int pythia_assembler_pin(struct pythia_assembler *a, const struct pythia_trace_id *traces,
                         size_t count)
{
    return pythia__pinned_ids_set(&a->pinned, a->hash_seed, traces, count);
}

/* ---- the orders ---- */

static void unlink_from_queue(struct pythia_assembler *a, struct open_trace *t)
{
    struct queue *q = &a->queues[t->queue];
    *(t->earlier ? &t->earlier->later : &q->oldest) = t->later;
    *(t->later ? &t->later->earlier : &q->newest) = t->earlier;
    t->earlier = t->later = NULL;
}

static void append_to_queue(struct pythia_assembler *a, struct open_trace *t, uint8_t queue)
{
    struct queue *q = &a->queues[queue];
    t->queue = queue;
    t->earlier = q->newest;
    t->later = NULL;
    *(q->newest ? &q->newest->later : &q->oldest) = t;
    q->newest = t;
}

/* Ticks that a quiet queue stands for: from quiet_ticks to most_ticks, in equal steps. */
static uint64_t quiet_ticks_of(const struct pythia_assembler *a, uint8_t queue)
{
    const struct pythia_assembler_patience *p = a->options.patience;
    uint64_t least = a->options.quiet_ticks;
    if (!p || p->most_ticks <= least)
        return least;
    return least + (p->most_ticks - least) * queue / (QUIETS - 1);
}

/* The quiet queue for a trace: the first one that waits long enough by what is known now. */
static uint8_t quiet_queue(const struct pythia_assembler *a, const struct open_trace *t)
{
    const struct pythia_assembler_patience *p = a->options.patience;
    uint8_t queue = 0;
    if (!p)
        return queue;
    /* Rounded up: a trace that is finished too early is cut in two, one that waits longer only
     * costs memory. */
    uint64_t wait = p->wait(p->context, t->kind, a->tick);
    while (queue < QUIETS - 1 && quiet_ticks_of(a, queue) < wait)
        queue++;
    return queue;
}

static void leave_line(struct pythia_assembler *a, struct open_trace *t)
{
    *(t->elder ? &t->elder->younger : &a->eldest) = t->younger;
    *(t->younger ? &t->younger->elder : &a->youngest) = t->elder;
    t->elder = t->younger = NULL;
}

/* Put a trace into the line by age, after `elder` (NULL: at its head). */
static void stand_behind(struct pythia_assembler *a, struct open_trace *t, struct open_trace *elder)
{
    t->elder = elder;
    t->younger = elder ? elder->younger : a->eldest;
    *(elder ? &elder->younger : &a->eldest) = t;
    *(t->younger ? &t->younger->elder : &a->youngest) = t;
}

uint64_t pythia_assembler_oldest(const struct pythia_assembler *a)
{
    return a->eldest ? a->eldest->first_tick : UINT64_MAX;
}

static uint64_t start_of(const struct pythia_assembler *a, const struct open_trace *t)
{
    return a->starts[t->start_at].ns;
}

static void set_start(struct pythia_assembler *a, const struct open_trace *t, uint64_t start_ns)
{
    a->before_cut += start_ns <= a->cut_ns;
    a->before_cut -= start_of(a, t) <= a->cut_ns;
    a->starts[t->start_at].ns = start_ns;
}

/* A span of it, or work that joins it, began at `start_ns`. */
static void note_start(struct pythia_assembler *a, const struct open_trace *t, uint64_t start_ns)
{
    if (start_ns < start_of(a, t))
        set_start(a, t, start_ns);
}

static bool has_id(const void *assembler, uint32_t index, const void *id)
{
    const struct pythia_assembler *a = assembler;
    return pythia_trace_id_equal(a->starts[index].trace->id, *(const struct pythia_trace_id *)id);
}

/* The open trace `id` stands for; NULL: there is none. */
static struct open_trace *find_open_trace(const struct pythia_assembler *a,
                                          struct pythia_trace_id id)
{
    uint32_t found = pythia_hash_table_find(&a->by_id, hash_trace_id(a, id), has_id, a, &id);
    if (found == PYTHIA_HASH_TABLE_NONE)
        return NULL;
    struct open_trace *t = a->starts[found].trace;
    for (; t->merged; t = t->merged_into) /* and shorten the way for whoever comes next */
        if (t->merged_into->merged)
            t->merged_into = t->merged_into->merged_into;
    return t;
}

static void release_trace(struct pythia_assembler *a, struct open_trace *t)
{
    if (a->spare_count == SPARE_MAX) {
        pythia_free(t);
        a->trace_count--;
        return;
    }
    t->later = a->spare;
    a->spare = t;
    a->spare_count++;
}

static struct open_trace *take_spare_trace(struct pythia_assembler *a)
{
    struct open_trace *t = a->spare;
    if (t) {
        a->spare = t->later;
        a->spare_count--;
        return t;
    }
    t = pythia_calloc(1, sizeof(*t));
    a->trace_count += t != NULL;
    return t;
}

/* All memory is reserved first, so that a trace is never in the table without being in its queues.
 */
static struct open_trace *make_trace(struct pythia_assembler *a, struct pythia_trace_id id)
{
    if (pythia_grow(&a->starts, &a->start_capacity, a->start_count, sizeof(*a->starts)) !=
        PYTHIA_OK)
        return NULL;
    struct open_trace *t = take_spare_trace(a);
    if (!t)
        return NULL;
    uint32_t at = (uint32_t)a->start_count;
    if (pythia_hash_table_add(&a->by_id, hash_trace_id(a, id), at) != PYTHIA_OK) {
        release_trace(a, t);
        return NULL;
    }
    *t = (struct open_trace){.id = id,
                             .first_tick = a->tick,
                             .last_tick = a->tick,
                             .start_at = at,
                             .kind = PYTHIA_NONE,
                             .origin = a->origin};
    t->pinned = pythia__pinned_ids_has(&a->pinned, a->hash_seed, id);
    /* No start is known before the first span: it counts as later than any. */
    a->starts[a->start_count++] = (struct start){UINT64_MAX, t};
    append_to_queue(a, t, 0);
    stand_behind(a, t, a->youngest);
    a->numbers.open_traces++;
    return t;
}

/* ---- finishing ---- */

/* Take a trace out of the array, where the last one takes its place. */
static void unlist_trace(struct pythia_assembler *a, const struct open_trace *t)
{
    const struct start *last = &a->starts[a->start_count - 1];
    a->before_cut -= start_of(a, t) <= a->cut_ns;
    pythia_hash_table_remove(&a->by_id, hash_trace_id(a, t->id), t->start_at);
    a->start_count--;
    if (last->trace == t)
        return;
    /* The table has numbers of places, so the trace that moves must be found under its new one. */
    pythia_hash_table_renumber(&a->by_id, hash_trace_id(a, last->trace->id),
                               (uint32_t)a->start_count, t->start_at);
    last->trace->start_at = t->start_at;
    a->starts[t->start_at] = *last;
}

static int forget_trace(struct pythia_assembler *a, struct open_trace *t,
                        enum pythia__ending ending)
{
    if (ending == PYTHIA__ENDED && t->late)
        ending = PYTHIA__ENDED_LATE;
    int status = PYTHIA_OK;
    if (ending != PYTHIA__ENDED_NOT)
        status = pythia__finished_ids_set(&a->finished, hash_trace_id(a, t->id), ending);
    unlist_trace(a, t);
    pythia__span_list_release(&t->list, &a->pool);
    release_trace(a, t);
    return status;
}

/* Forget the traces in the list `members`, and those that were merged into them before. */
static int forget_members(struct pythia_assembler *a, struct open_trace *members,
                          enum pythia__ending ending)
{
    int status = PYTHIA_OK;
    while (members) {
        struct open_trace *member = members;
        members = member->next_member;
        for (struct open_trace *inner = member->members, *next; inner; inner = next) {
            next = inner->next_member;
            inner->next_member = members;
            members = inner;
        }
        int forgotten = forget_trace(a, member, ending);
        status = status < 0 ? status : forgotten;
    }
    return status;
}

int pythia__assembler_end_trace(struct pythia_assembler *a, struct open_trace *t,
                                enum pythia__ending ending)
{
    unlink_from_queue(a, t);
    leave_line(a, t);
    a->numbers.open_traces--;
    a->numbers.open_spans -= t->spans;
    int members = forget_members(a, t->members, ending), forgotten = forget_trace(a, t, ending);
    return members < 0 ? members : forgotten;
}

static int count_sender(struct pythia_assembler *a, uint32_t resource)
{
    size_t i = a->sender_count;
    while (i > 0 && a->senders[i - 1].resource != resource)
        i--;
    if (i > 0) {
        a->senders[i - 1].spans++;
        return PYTHIA_OK;
    }
    if (pythia_grow(&a->senders, &a->sender_capacity, a->sender_count, sizeof(*a->senders)) !=
        PYTHIA_OK)
        return PYTHIA_ENOMEM;
    a->senders[a->sender_count++] = (struct pythia_assembler_sender){resource, 1};
    return PYTHIA_OK;
}

/* Give its spans to the builder, and list their senders for those who wait for these. */
static int build_from_spans(struct pythia_assembler *a, const struct open_trace *t)
{
    /* An arena keeps its largest size; it is freed after a huge trace, and only cleared otherwise.
     */
    if (pythia_arena_bytes(&a->attributes) > BUILDER_MAX)
        pythia_arena_free(&a->attributes);
    pythia_arena_clear(&a->attributes);
    struct pythia__span_cursor cursor = pythia__span_list_walk(&t->list, &a->attributes);
    struct pythia_span span;
    int status;
    a->gathered += t->spans;
    a->sender_count = 0;
    pythia_trace_builder_begin(a->builder, t->id);
    if (t->off) { /* its spans may have been on their way */
        uint64_t start_ns = start_of(a, t);
        pythia_trace_builder_set_begun(a->builder,
                                       start_ns > a->late_ns ? start_ns - a->late_ns : 0);
    }
    while ((status = pythia__span_list_next(&cursor, &span)) == 0) {
        status = pythia_trace_builder_add(a->builder, &span);
        if (status != PYTHIA_OK)
            return status;
        if (!a->options.patience)
            continue;
        status = count_sender(a, span.resource);
        if (status != PYTHIA_OK)
            return status;
    }
    return status == 1 ? PYTHIA_OK : status;
}

/* Finish a trace whose spans were gathered, with that status. What there is no memory for is shed.
 */
static int finish_gathered(struct pythia_assembler *a, struct open_trace *t, enum pythia_finish why,
                           int status)
{
    const struct pythia_trace *trace;
    /* Both tests below are of the same chain: whatever fails, the trace has to be ended and
     * counted, or its memory would stay and its spans would be lost without a number. */
    if (status == PYTHIA_OK)
        status = pythia_trace_builder_finish(a->builder, a->counts, &trace);
    bool lost = status == PYTHIA_ENOMEM;
    if (lost)
        a->counts->dropped[PYTHIA_DROP_SHED] += t->spans;
    a->numbers.finished[why] += !lost;
    a->numbers.shed_traces += lost;
    if (status == PYTHIA_OK)
        status = a->taker.take(a->taker.context, trace);
    /* One huge trace must not hold its memory for all later ones. */
    a->builder_bytes = pythia_trace_builder_bytes(a->builder);
    if (a->builder_bytes > BUILDER_MAX) {
        pythia_trace_builder_release(a->builder);
        a->builder_bytes = pythia_trace_builder_bytes(a->builder);
    }
    int ended = pythia__assembler_end_trace(
        a, t, why == PYTHIA_FINISH_SIZE ? PYTHIA__ENDED_OVERSIZE : PYTHIA__ENDED);
    return status < 0 ? status : ended;
}

static int finish_trace(struct pythia_assembler *a, struct open_trace *t, enum pythia_finish why)
{
    int status = build_from_spans(a, t);
    if (why == PYTHIA_FINISH_AGE || why == PYTHIA_FINISH_SIZE)
        pythia_trace_builder_mark_incomplete(
            a->builder, why == PYTHIA_FINISH_AGE ? PYTHIA_INCOMPLETE_AGE : PYTHIA_INCOMPLETE_SIZE);
    return finish_gathered(a, t, why, status);
}

static bool is_past(const struct pythia_assembler *a, uint64_t tick, uint64_t after)
{
    return a->tick - tick >= after;
}

/* Finish a trace that is whole, as far as can be seen, and has been quiet for as long as its kind
 * waits; unless a sender that it needs has been silent, and may still be heard. */
static int finish_quiet(struct pythia_assembler *a, struct open_trace *t, int status)
{
    const struct pythia_assembler_patience *p = a->options.patience;
    if (status != PYTHIA_OK || !p)
        return finish_gathered(a, t, PYTHIA_FINISH_QUIET, status);
    enum pythia_assembler_lacks lacks =
        p->silent(p->context, t->kind, a->senders, a->sender_count, t->last_tick, a->tick);
    if (lacks != PYTHIA_LACKS_NOTHING && !is_past(a, t->last_tick, p->most_ticks)) {
        unlink_from_queue(a, t);
        append_to_queue(a, t, SILENT);
        return PYTHIA_OK;
    }
    if (lacks == PYTHIA_LACKS_SENDER)
        pythia_trace_builder_mark_incomplete(a->builder, PYTHIA_INCOMPLETE_SENDER);
    else
        status = p->finished(p->context, t->kind, a->senders, a->sender_count);
    return finish_gathered(a, t, PYTHIA_FINISH_QUIET, status);
}

/* It has been quiet: finish it, unless those that are not whole have longer. */
static int finish_if_whole(struct pythia_assembler *a, struct open_trace *t)
{
    int status = build_from_spans(a, t);
    enum pythia_trace_state state = PYTHIA_TRACE_WHOLE;
    if (status != PYTHIA_OK)
        return finish_gathered(a, t, PYTHIA_FINISH_QUIET, status);
    if (a->options.partial_ticks)
        state = pythia_trace_builder_state(a->builder);
    if (state == PYTHIA_TRACE_WHOLE)
        return finish_quiet(a, t, status);
    bool waits = state == PYTHIA_TRACE_RUNNING && a->options.timeout_ticks;
    if (!waits && is_past(a, t->last_tick, a->options.partial_ticks))
        return finish_gathered(a, t, PYTHIA_FINISH_PARTIAL, status);
    unlink_from_queue(a, t);
    append_to_queue(a, t, waits ? RUNNING : PARTIAL);
    return PYTHIA_OK;
}

void pythia_assembler_set_clock(struct pythia_assembler *a, uint64_t unix_ns, uint64_t late_ns)
{
    a->unix_ns = unix_ns;
    a->late_ns = late_ns;
}

void pythia_assembler_now(struct pythia_assembler *a, uint64_t tick)
{
    a->tick = tick > a->tick ? tick : a->tick;
}

/* Has it been quiet for as long as its queue stands for? */
static bool is_due(const struct pythia_assembler *a, const struct open_trace *t)
{
    return is_past(a, t->last_tick, quiet_ticks_of(a, t->queue));
}

/* Or at least for as long as its kind waits now? Senders may be known better than when its last
 * span came: at the start, all traces wait for senders that nothing is known of. */
static bool is_due_by_now(const struct pythia_assembler *a, const struct open_trace *t)
{
    return t->queue > 0 && is_past(a, t->last_tick, a->options.quiet_ticks) &&
           is_past(a, t->last_tick, quiet_ticks_of(a, quiet_queue(a, t)));
}

/* Finish what is due in a queue, up to `most` gathered spans; what would not be due without what is
 * known now only up to `most_early`, because it may be all that has come in seconds. */
static int tick_quiet(struct pythia_assembler *a, uint8_t queue, uint64_t most, uint64_t most_early)
{
    struct open_trace *next;
    for (struct open_trace *t = a->queues[queue].oldest; t && a->gathered < most; t = next) {
        /* Finishing a trace frees it. */
        next = t->later;
        if (!is_due(a, t) && (a->gathered >= most_early || !is_due_by_now(a, t)))
            break; /* the queue is in order: none after it has been quiet for longer */
        if (!t->pinned) {
            int status = finish_if_whole(a, t);
            if (status != PYTHIA_OK)
                return status;
        }
    }
    return PYTHIA_OK;
}

/* Finish what has waited long enough in a queue of those that have been looked at. */
static int tick_patient(struct pythia_assembler *a, uint8_t queue, uint64_t most)
{
    struct open_trace *next;
    for (struct open_trace *t = a->queues[queue].oldest; t && a->gathered < most; t = next) {
        next = t->later;
        if (!is_past(a, t->last_tick,
                     queue == SILENT ? a->options.patience->most_ticks : a->options.partial_ticks))
            break;
        int status = queue == SILENT ? finish_quiet(a, t, build_from_spans(a, t))
                                     : finish_trace(a, t, PYTHIA_FINISH_PARTIAL);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

int pythia_assembler_tick_at(struct pythia_assembler *a, uint64_t tick)
{
    struct open_trace *next;
    int status = PYTHIA_OK;
    /* Work in one tick is bounded: after a burst, thousands of traces are due at once, and the
     * event loop must answer its senders meanwhile. What is left is finished in the next tick. */
    uint64_t most = a->options.tick_spans ? a->gathered + a->options.tick_spans : UINT64_MAX,
             most_early = a->options.tick_spans ? a->gathered + a->options.tick_spans / EARLY_PART
                                                : UINT64_MAX;
    pythia_assembler_now(a, tick);
    for (struct open_trace *t = a->eldest; t && a->gathered < most; t = next) {
        next = t->younger;
        if (a->options.timeout_ticks == 0 || !is_past(a, t->first_tick, a->options.timeout_ticks))
            break;
        if (!t->pinned) {
            status = finish_trace(a, t, PYTHIA_FINISH_AGE);
            if (status != PYTHIA_OK)
                goto out;
        }
    }
    if ((status = tick_patient(a, PARTIAL, most)) != PYTHIA_OK ||
        (status = tick_patient(a, SILENT, most)) != PYTHIA_OK)
        goto out;
    for (int queue = 0; queue < QUIETS; queue++) {
        status = tick_quiet(a, (uint8_t)queue, most, most_early);
        if (status != PYTHIA_OK)
            goto out;
    }
out:
    pythia_arena_free(&a->attributes);
    return status;
}

int pythia_assembler_tick(struct pythia_assembler *a)
{
    return pythia_assembler_tick_at(a, a->tick + 1);
}

int pythia_assembler_finish(struct pythia_assembler *a)
{
    int status = PYTHIA_OK;
    for (int queue = QUEUES; queue-- > 0;)
        while (a->queues[queue].oldest) {
            status = finish_trace(a, a->queues[queue].oldest, PYTHIA_FINISH_END);
            if (status != PYTHIA_OK)
                goto out;
        }
out:
    pythia_arena_free(&a->attributes);
    return status;
}

/* ---- spans ---- */

/* When a span that arrives now began: by its sender's clock, unless that is plainly off. Then it
 * began as long before its arrival as it took, or earlier. */
static uint64_t find_begin(const struct pythia_assembler *a, const struct pythia_span *s, bool *off)
{
    uint64_t took_ns = s->duration_ns > 0 ? (uint64_t)s->duration_ns : 0, now_ns,
             end_ns = s->start_ns + took_ns, most_ns = a->options.timeout_ticks;
    if (a->unix_ns == 0 || __builtin_add_overflow(a->unix_ns, a->tick, &now_ns))
        return s->start_ns;
    bool ahead = end_ns > now_ns && end_ns - now_ns > AHEAD_NS,
         behind = most_ns > 0 && end_ns < now_ns && now_ns - end_ns > most_ns;
    if (!ahead && !behind)
        return s->start_ns;
    *off = true;
    return now_ns > took_ns ? now_ns - took_ns : 0;
}

/* The kind of a trace, by which memory is divided: the trace point of a root, or, as long as
 * none was seen, of the first span. */
static int note_type_and_start(struct pythia_assembler *a, struct open_trace *t,
                               const struct pythia_span *s)
{
    if (s->part == PYTHIA_PART_STOP || s->part == PYTHIA_PART_ADDITION)
        return PYTHIA_OK;
    bool off = t->off;
    note_start(a, t, find_begin(a, s, &off));
    t->off = off;
    bool root = s->parent == 0 || s->parent == pythia_span_id_fold(t->id.high, t->id.low);
    if (t->rooted || (!root && t->kind != PYTHIA_NONE) || s->tracepoint == PYTHIA_NONE)
        return PYTHIA_OK;
    t->kind = s->tracepoint;
    t->rooted = root;
    return pythia_reach(&a->kinds, &a->kind_capacity, t->kind, sizeof(*a->kinds));
}

static int store_span(struct pythia_assembler *a, struct open_trace *t, const struct pythia_span *s)
{
    if (note_type_and_start(a, t, s) != PYTHIA_OK ||
        pythia__span_list_add(&t->list, &a->pool, s) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    t->spans++;
    t->starts += s->part == PYTHIA_PART_START || s->part == PYTHIA_PART_WAIT;
    t->stops += s->part == PYTHIA_PART_STOP;
    a->numbers.open_spans++;
    if (a->numbers.open_spans > a->numbers.peak_spans)
        a->numbers.peak_spans = a->numbers.open_spans;
    return PYTHIA_OK;
}

/* The trace `work` was forked off `t`: from now on they are one. */
static void merge_forked_trace(struct pythia_assembler *a, struct open_trace *t,
                               struct open_trace *work)
{
    pythia__span_list_append(&t->list, &work->list);
    t->spans += work->spans;
    t->starts += work->starts;
    t->stops += work->stops;
    t->pinned = t->pinned || work->pinned;
    t->off = t->off || work->off;
    note_start(a, t, start_of(a, work));
    set_start(a, work, UINT64_MAX);
    if (work->first_tick < t->first_tick) { /* it takes its place in line */
        t->first_tick = work->first_tick;
        leave_line(a, t);
        stand_behind(a, t, work);
    }
    unlink_from_queue(a, work);
    leave_line(a, work);
    work->merged = true;
    work->merged_into = t;
    work->next_member = t->members;
    t->members = work;
    a->numbers.open_traces--;
}

static int join_work(struct pythia_assembler *a, struct open_trace *t, struct pythia_trace_id link)
{
    struct open_trace *work = find_open_trace(a, link);
    enum pythia__ending ending =
        work ? PYTHIA__ENDED_NOT : pythia__finished_ids_find(&a->finished, hash_trace_id(a, link));
    if (ending != PYTHIA__ENDED_NOT) { /* it was taken for a request of its own */
        int status = drop_ended_span(a, link, ending);
        if (status != PYTHIA_OK)
            return status;
        if (!t->late) {
            status = list_late(a, t->id);
            if (status != PYTHIA_OK)
                return status;
        }
        t->late = true;
        return PYTHIA_OK;
    }
    if (!work && !(work = make_trace(a, link)))
        return PYTHIA_ENOMEM;
    /* The wait and its work are one request, and become one trace. */
    if (work != t)
        merge_forked_trace(a, t, work);
    return PYTHIA_OK;
}

/* Has it as many spans as it may have? */
static bool is_large(const struct pythia_assembler *a, const struct open_trace *t)
{
    return a->options.spans_max && t->spans - t->stops >= a->options.spans_max;
}

/* And has all of it ended, or come twice? */
static bool is_done(const struct pythia_assembler *a, const struct open_trace *t)
{
    return (is_large(a, t) && t->stops >= t->starts) ||
           (a->options.spans_max && t->spans / 2 >= a->options.spans_max);
}

/* A span was added to the trace: a trace of two origins counts once. */
static void note_origin(struct pythia_assembler *a, struct open_trace *t)
{
    if (t->origin == a->origin || t->split || !t->origin || !a->origin)
        return;
    t->split = true;
    a->numbers.split_traces++;
}

int pythia_assembler_add(struct pythia_assembler *a, const struct pythia_trace_id *trace,
                         const struct pythia_span *span)
{
    struct open_trace *t = find_open_trace(a, *trace);
    /* Counted before anything may drop it, so that spans in are spans out plus losses. */
    a->counts->spans++;
    if (!t) {
        enum pythia__ending ending =
            pythia__finished_ids_find(&a->finished, hash_trace_id(a, *trace));
        if (ending != PYTHIA__ENDED_NOT)
            return drop_ended_span(a, *trace, ending);
        t = make_trace(a, *trace);
        /* A stop adds no span, so it may still complete a trace that is at its limit. */
    } else if (is_large(a, t) && span->part != PYTHIA_PART_STOP) {
        int status = finish_trace(a, t, PYTHIA_FINISH_SIZE);
        if (status != PYTHIA_OK)
            return status;
        return drop_ended_span(a, *trace, PYTHIA__ENDED_OVERSIZE);
    }
    if (!t || store_span(a, t, span) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    note_origin(a, t);
    /* Move the trace in its queue at most once a tick: the order within a tick has no meaning. */
    if (t->last_tick != a->tick || t->queue >= QUIETS || t->spans == 1) {
        t->last_tick = a->tick;
        unlink_from_queue(a, t);
        append_to_queue(a, t, quiet_queue(a, t));
    }
    int status = span->part == PYTHIA_PART_FORK ? join_work(a, t, span->link) : PYTHIA_OK;
    if (status != PYTHIA_OK || !is_done(a, t))
        return status;
    return finish_trace(a, t, PYTHIA_FINISH_SIZE);
}

/* ---- what there is ---- */

/* A caller that waits for old traces to end asks for the same time again and again, while others
 * come and go: so they are counted once, and the count is kept. */
bool pythia_assembler_began_by(struct pythia_assembler *a, uint64_t start_ns)
{
    if (start_ns != a->cut_ns) {
        a->cut_ns = start_ns;
        a->before_cut = 0;
        for (size_t i = 0; i < a->start_count; i++)
            a->before_cut += a->starts[i].ns <= start_ns;
    }
    return a->before_cut > 0;
}

struct pythia_assembler_numbers pythia_assembler_numbers(const struct pythia_assembler *a)
{
    return a->numbers;
}
