/* Snapshots in the topic of evidence. A message of one is a line of JSON like that of evidence,
 * with "snapshot": the offset of the first message that is not in it, for each partition where it
 * stands and which requests after that are evidence already, and the orders by hand that hold; then
 * follows that of the engine (live_shared.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kafka_shared.h"
#include "pythia/live_shared.h"
#include "pythia/live_snapshot.h"
#include "pythia/log.h"
#include "pythia/status.h"

/* A round is a cycle, of seconds to a minute; a member that begins reads the messages of so many
 * rounds at most. A snapshot is as large as the evidence of a few members, so that more of them
 * would be much of the topic. */
#define ROUNDS 8

/* Looks for a snapshot, RETRY_MS apart, after which the search begins afresh: longer than the 10 s
 * that a member needs to write one which has missed nothing. */
#define AFRESH_LOOKS 15

#define LOOK_MESSAGES 64 /* from the end of the topic, at first; then LOOK_MORE times as many */
#define LOOK_MORE     8

void pythia__kafka_snapshot_free(struct kafka_snapshot *s)
{
    json_decref(s->orders);
    pythia_buf_free(&s->found);
    *s = (struct kafka_snapshot){0};
}

/* ---- looking for one ---- */

static void look_from(struct pythia__kafka *k, int64_t messages)
{
    struct pythia__kafka_shared *s = k->shared;
    struct kafka_snapshot *sn = &s->snapshot;
    sn->from = s->high - s->low > messages ? s->high - messages : s->low;
    sn->last = -1;
    pythia__kafka_log_assign(k, sn->from);
}

void pythia__kafka_snapshot_look(struct pythia__kafka *k)
{
    struct kafka_snapshot *sn = &k->shared->snapshot;
    k->shared->state = KAFKA_SHARED_LOOKING;
    pythia_buf_clear(&sn->found);
    sn->ours = false;
    look_from(k, LOOK_MESSAGES);
}

/* Does a message that begins the search afresh count? Its sender looked at the topic up to
 * `position`; this member has read from `from` on, and `last` is the last message of the group
 * before it. */
static bool is_undisturbed(int64_t position, int64_t from, int64_t last)
{
    return position >= from && last < position;
}

/* Is it one that cannot be used, or between two of them? What comes after all of them counts: a
 * member may wait for it. */
static bool is_passed(const struct kafka_snapshot *sn, int64_t offset)
{
    return sn->passed && offset >= sn->before && offset <= sn->after;
}

static void pass_over(struct kafka_snapshot *sn)
{
    sn->before = sn->found_offset;
    sn->after = sn->passed && sn->after > sn->found_offset ? sn->after : sn->found_offset;
    sn->passed = true;
}

static void find_message(struct kafka_snapshot *sn, const rd_kafka_message_t *m, bool afresh,
                         int64_t position)
{
    pythia_buf_clear(&sn->found);
    pythia_buf_add(&sn->found, m->payload, m->len);
    sn->found_offset = m->offset;
    sn->position = afresh ? m->offset + 1 : position;
    sn->afresh = afresh;
}

void pythia__kafka_snapshot_take(struct pythia__kafka *k, const rd_kafka_message_t *m)
{
    struct pythia__kafka_shared *s = k->shared;
    struct kafka_snapshot *sn = &s->snapshot;
    struct pythia_text rest;
    bool other;
    json_t *head = pythia__kafka_log_head(k, m, &rest, &other);
    const json_t *about = json_object_get(head, "snapshot");
    const json_t *position = json_object_get(about, "position");
    bool afresh = json_is_true(json_object_get(about, "afresh"));
    sn->ours = sn->ours || head;
    /* What came after its position has to be in the topic still. */
    if (json_is_integer(position) && json_integer_value(position) >= s->low &&
        json_integer_value(position) <= m->offset && !is_passed(sn, m->offset) &&
        (!afresh || is_undisturbed(json_integer_value(position), sn->from, sn->last)))
        find_message(sn, m, afresh, json_integer_value(position));
    sn->last = head ? m->offset : sn->last;
    json_decref(head);
}

static int take_stands(struct pythia__kafka_shared *s, json_t *stands)
{
    const char *partition;
    json_t *known;
    for (size_t i = 0; i < s->stand_count; i++)
        json_decref(s->stands[i].ids);
    s->stand_count = 0;
    json_object_foreach (stands, partition, known) {
        struct kafka_stand *stand =
            pythia__kafka_log_stand(s, (int32_t)strtol(partition, NULL, 10));
        if (!stand)
            return PYTHIA_ENOMEM;
        json_decref(stand->ids); /* a number may be written in two ways */
        stand->offset = json_integer_value(json_object_get(known, "offset"));
        stand->ids = json_incref(json_object_get(known, "done"));
    }
    return PYTHIA_OK;
}

static void take_orders(struct pythia__kafka *k, const json_t *orders)
{
    const json_t *order;
    size_t i;
    json_array_foreach (orders, i, order) {
        k->obey(k->owner, order);
        pythia__kafka_snapshot_order(k->shared, order);
    }
}

/* The verdicts come first. */
static int split_parts(const json_t *about, struct pythia_text *rest, struct pythia_text *verdicts,
                       struct pythia_error *e)
{
    json_int_t size = json_integer_value(json_object_get(about, "verdicts"));
    if (size < 0 || (uint64_t)size > rest->size)
        return pythia_error_set(e, PYTHIA_EFORMAT, "it ends before its verdicts do");
    *verdicts = (struct pythia_text){rest->bytes, (size_t)size};
    rest->bytes += size;
    rest->size -= (size_t)size;
    return PYTHIA_OK;
}

void pythia__kafka_snapshot_meet(struct pythia__kafka *k, int64_t offset, const json_t *head,
                                 struct pythia_text rest)
{
    struct pythia_text verdicts;
    struct pythia_error e = {0};
    int status = split_parts(json_object_get(head, "snapshot"), &rest, &verdicts, &e);
    if (status == PYTHIA_OK)
        status = pythia_live_snapshot_check(rest, &e);
    if (status == PYTHIA_OK) {
        pythia__kafka_snapshot_note(k, offset);
    } else if (!is_passed(&k->shared->snapshot, offset)) {
        pythia__kafka_log_skip(k, offset, e.sentence);
        k->shared->skipped++;
    }
}

/* Verdicts that cannot be read are as if there were none: the search is there, and finds them
 * again. */
static int restore_parts(struct pythia__kafka *k, const json_t *about, struct pythia_text rest,
                         struct pythia_error *e)
{
    struct pythia_text verdicts = {0};
    int status = split_parts(about, &rest, &verdicts, e);
    if (status == PYTHIA_OK)
        status = pythia_live_snapshot_restore(k->live, rest, e);
    if (status != PYTHIA_OK || verdicts.size == 0)
        return status;
    status = k->restore(k->owner, verdicts);
    return status == PYTHIA_EFORMAT ? PYTHIA_OK : status;
}

/* PYTHIA_OK, PYTHIA_EFORMAT if it cannot be used, or another failure. */
static int restore_snapshot(struct pythia__kafka *k, struct pythia_error *e)
{
    struct pythia__kafka_shared *s = k->shared;
    struct kafka_snapshot *sn = &s->snapshot;
    const rd_kafka_message_t m = {.payload = sn->found.bytes, .len = sn->found.size};
    struct pythia_text rest = {0};
    bool other;
    int status = pythia_buf_status(&sn->found);
    json_t *head = status == PYTHIA_OK ? pythia__kafka_log_head(k, &m, &rest, &other) : NULL;
    const json_t *about = json_object_get(head, "snapshot");
    if (status == PYTHIA_OK)
        status = head ? restore_parts(k, about, rest, e) : PYTHIA_ENOMEM;
    if (status == PYTHIA_OK)
        status = take_stands(s, json_object_get(about, "stands"));
    if (status == PYTHIA_OK) {
        s->next = sn->position;
        pythia__kafka_snapshot_note(k, sn->found_offset);
        take_orders(k, json_object_get(about, "orders"));
    }
    json_decref(head);
    return status;
}

static void log_begin(const struct pythia__kafka *k)
{
    const struct kafka_snapshot *sn = &k->shared->snapshot;
    if (sn->afresh)
        pythia_log(PYTHIA_LOG_WARNING,
                   "The search begins afresh from where one member had it, because all members "
                   "had missed evidence: topic=%s, offset=%" PRId64 ", rounds=%" PRIu64,
                   k->url.evidence, sn->found_offset, sn->rounds);
    else
        pythia_log(PYTHIA_LOG_INFO,
                   "Begins with a snapshot of the search: topic=%s, offset=%" PRId64
                   ", rounds=%" PRIu64,
                   k->url.evidence, sn->found_offset, sn->rounds);
}

/* False: it cannot be used, which is logged, and nothing has changed. */
static bool begin_with_snapshot(struct pythia__kafka *k)
{
    struct pythia__kafka_shared *s = k->shared;
    struct kafka_snapshot *sn = &s->snapshot;
    struct pythia_error e = {0};
    bool afresh = sn->afresh;
    int status = restore_snapshot(k, &e);
    pythia_buf_free(&sn->found);
    if (status == PYTHIA_EFORMAT) {
        pythia__kafka_log_skip(k, sn->found_offset, e.sentence);
        s->skipped++;
        return false;
    }
    if (status != PYTHIA_OK) {
        pythia__kafka_log_fail(k, e.sentence[0] ? e.sentence : pythia_status_text(status));
    } else {
        sn->afresh = afresh;
        log_begin(k);
        sn->looks = 0;
        s->afresh += afresh;
        pythia__kafka_log_follow(k);
        pythia__kafka_log_tell_settings(k);
    }
    return true;
}

/* A member that has not missed anything writes a snapshot within 10 s, and looks are RETRY_MS
 * apart. Without one, and without any other message of the group, all members wait: then the search
 * begins afresh. */
static void wait_for_snapshot(struct pythia__kafka *k)
{
    struct pythia__kafka_shared *s = k->shared;
    struct kafka_snapshot *sn = &s->snapshot;
    char reason[512];
    unsigned enough = pythia_live_has_snapshot(k->live) ? AFRESH_LOOKS : 2 * AFRESH_LOOKS;
    snprintf(reason, sizeof(reason),
             "%s begins at offset %" PRId64
             ", and has no snapshot of what the group found before: waits for one, which a "
             "member that has missed nothing writes within 10 s; if there is none, the search "
             "begins afresh after %u s from where one of its members had it",
             k->url.evidence, s->low, enough);
    s->state = KAFKA_SHARED_BEGINNING;
    pythia__kafka_problem(k, RD_KAFKA_RESP_ERR__INVALID_ARG, reason);
    sn->looks = sn->still == s->high ? sn->looks + 1 : 1;
    sn->still = s->high;
    if (sn->looks > enough && !s->working)
        s->has_afresh = pythia__kafka_snapshot_write(k, true) == PYTHIA_OK;
}

/* There is no snapshot. Whoever has a part of the messages only would decide otherwise than the
 * others. */
static void begin_without_snapshot(struct pythia__kafka *k)
{
    struct pythia__kafka_shared *s = k->shared;
    if (s->low > 0 && (s->snapshot.ours || pythia_live_has_snapshot(k->live))) {
        wait_for_snapshot(k);
        return;
    }
    if (s->low > 0)
        pythia_log(PYTHIA_LOG_INFO,
                   "Begins a new search, because the topic has none of the group: topic=%s, "
                   "group=%s, offset=%" PRId64,
                   k->url.evidence, k->url.group, s->low);
    s->next = s->low;
    pythia__kafka_log_follow(k);
}

void pythia__kafka_snapshot_end(struct pythia__kafka *k)
{
    struct pythia__kafka_shared *s = k->shared;
    if (s->snapshot.found.size > 0) {
        if (!begin_with_snapshot(k)) { /* one before it may do */
            pass_over(&s->snapshot);
            pythia__kafka_snapshot_look(k);
        }
    } else if (s->snapshot.from > s->low)
        look_from(k, (s->high - s->snapshot.from) * LOOK_MORE);
    else
        begin_without_snapshot(k);
}

bool pythia__kafka_snapshot_afresh(struct pythia__kafka *k, const rd_kafka_message_t *m,
                                   const json_t *head)
{
    struct pythia__kafka_shared *s = k->shared;
    const json_t *about = json_object_get(head, "snapshot");
    json_int_t position = json_integer_value(json_object_get(about, "position"));
    if (!json_is_true(json_object_get(about, "afresh")) || !is_undisturbed(position, 0, s->met))
        return false;
    find_message(&s->snapshot, m, true, position);
    bool begun = begin_with_snapshot(k);
    if (!begun)
        pass_over(&s->snapshot);
    return begun;
}

/* ---- writing one ---- */

void pythia__kafka_snapshot_note(struct pythia__kafka *k, int64_t offset)
{
    struct kafka_snapshot *sn = &k->shared->snapshot;
    sn->known = true;
    sn->afresh = false;
    sn->offset = offset;
    sn->rounds = pythia_live_shared_numbers(k->live).rounds;
}

static void keep_order(json_t *orders, const char *id, json_t *order)
{
    if (json_object_set_new(orders, id, order) != 0)
        pythia_log(PYTHIA_LOG_ERROR,
                   "No memory to keep an order by hand for later members; give it "
                   "again");
}

/* The last order about a trace point is the one that holds; that it is not pinned any more holds
 * too, because a member may have a pin from its former life. */
void pythia__kafka_snapshot_order(struct pythia__kafka_shared *s, const json_t *order)
{
    const json_t *id;
    size_t i;
    if (!s->snapshot.orders)
        s->snapshot.orders = json_object();
    if (json_is_boolean(json_object_get(order, "off"))) {
        keep_order(s->snapshot.orders, "", json_deep_copy(order));
        return;
    }
    json_array_foreach (json_object_get(order, "trace_points"), i, id)
        if (json_string_length(id) > 0)
            keep_order(s->snapshot.orders, json_string_value(id),
                       json_pack("{s:O?, s:[O], s:O?, s:O?}", "pin", json_object_get(order, "pin"),
                                 "trace_points", id, "types", json_object_get(order, "types"),
                                 "places", json_object_get(order, "places")));
}

bool pythia__kafka_snapshot_is_due(const struct pythia__kafka *k)
{
    const struct pythia__kafka_shared *s = k->shared;
    const struct kafka_snapshot *sn = &s->snapshot;
    if (!pythia_live_has_snapshot(k->live))
        return false;
    struct pythia_live_shared_numbers n = pythia_live_shared_numbers(k->live);
    bool gone = sn->known && sn->offset >= 0 && sn->offset < s->low;
    /* After a message that began afresh a usual one follows soon: later members cannot tell whether
     * that counts once the topic has forgotten what was before it. */
    bool old = !sn->known || n.rounds >= sn->rounds + (sn->afresh ? 1 : ROUNDS);
    /* Right after a round little evidence waits, which would be in the snapshot. */
    return gone || (old && s->last_is_own && n.waiting <= 1);
}

static json_t *pack_stands(const struct pythia__kafka_shared *s)
{
    json_t *stands = json_object();
    char name[16];
    for (size_t i = 0; i < s->stand_count; i++) {
        snprintf(name, sizeof(name), "%" PRId32, s->stands[i].partition);
        if (json_object_set_new(stands, name,
                                json_pack("{s:I, s:O?}", "offset", (json_int_t)s->stands[i].offset,
                                          "done", s->stands[i].ids)) != 0) {
            json_decref(stands);
            return NULL;
        }
    }
    return stands;
}

static json_t *pack_held_orders(const struct kafka_snapshot *sn)
{
    json_t *list = json_array(), *order;
    const char *id;
    json_object_foreach (sn->orders, id, order)
        if (json_array_append(list, order) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

int pythia__kafka_snapshot_write(struct pythia__kafka *k, bool afresh)
{
    struct pythia__kafka_shared *s = k->shared;
    struct pythia_buf verdicts = {0};
    int status = k->save(k->owner, &verdicts);
    pythia_buf_clear(&s->message);
    if (status == PYTHIA_OK)
        status = pythia__kafka_log_add_line(
            &s->message,
            json_pack("{s:s, s:s, s:s, s:I, s:{s:I, s:b, s:o, s:o, s:I}}", "format",
                      KAFKA_PART_FORMAT, "group", k->url.group, "name", s->name, "number",
                      (json_int_t)++s->number, "snapshot", "position",
                      (json_int_t)(afresh ? s->high : s->next), "afresh", afresh, "stands",
                      pack_stands(s), "orders", pack_held_orders(&s->snapshot), "verdicts",
                      (json_int_t)verdicts.size));
    pythia_buf_text_add(&s->message, pythia_buf_text(&verdicts));
    pythia_buf_free(&verdicts);
    return status == PYTHIA_OK ? pythia_live_snapshot_save(k->live, &s->message) : status;
}
