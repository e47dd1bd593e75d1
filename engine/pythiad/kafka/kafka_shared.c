#include "kafka_shared.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/live_shared.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define kafka pythia__kafka_library

#define RETRY_MS      1000
#define TURN_MESSAGES 64
#define SEEK_MS       1000 /* it asks no broker */

/* ---- making ---- */

/* A static member keeps its name, so that its producer replaces that of its former life. */
static int name_member(struct pythia__kafka *k)
{
    struct pythia__kafka_shared *s = k->shared;
    const char *instance = NULL;
    uint64_t number;
    for (int i = 0; i < k->url.setting_count; i++)
        if (strcmp(k->url.settings[i].name, "group.instance.id") == 0)
            instance = k->url.settings[i].value;
    if (instance) {
        snprintf(s->name, sizeof(s->name), "%.120s-%.120s", k->url.group, instance);
        return PYTHIA_OK;
    }
    if (uv_random(NULL, NULL, &number, sizeof(number), 0, NULL) != 0)
        return PYTHIA_EIO;
    snprintf(s->name, sizeof(s->name), "%.120s-%016" PRIx64, k->url.group, number);
    return PYTHIA_OK;
}

int pythia__kafka_shared_group(const char *url, char **group, struct pythia_error *e)
{
    struct pythia__kafka_url u;
    int status = pythia__kafka_url_read(url, &u, e);
    if (status != PYTHIA_OK)
        return status;
    if (u.evidence && !(*group = pythia_strndup(u.group, strlen(u.group))))
        status = pythia_error_set(e, PYTHIA_ENOMEM, "no memory for the settings");
    pythia__kafka_url_free(&u);
    return status;
}

int pythia__kafka_shared_create(struct pythia__kafka *k, struct pythia_error *e)
{
    if (!k->url.evidence)
        return PYTHIA_OK;
    k->shared = pythia_calloc(1, sizeof(*k->shared));
    if (!k->shared)
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to start");
    k->shared->work.data = k;
    k->shared->position = -1;
    int status = name_member(k);
    if (status != PYTHIA_OK)
        return pythia_error_set(e, status, "kafka: no random number for the name of the member");
    status = pythia__kafka_evidence_create(k, e);
    if (status != PYTHIA_OK)
        pythia__kafka_evidence_close(k);
    return status;
}

void pythia__kafka_shared_destroy(struct pythia__kafka *k)
{
    struct pythia__kafka_shared *s = k->shared;
    if (!s)
        return;
    for (size_t i = 0; i < s->stand_count; i++)
        json_decref(s->stands[i].ids);
    pythia_free(s->stands);
    pythia__kafka_snapshot_free(&s->snapshot);
    json_decref(s->orders);
    pythia_free(s->finished);
    pythia_buf_free(&s->message);
    pythia_free(s);
    k->shared = NULL;
}

bool pythia__kafka_shared_is_busy(const struct pythia__kafka *k)
{
    return k->shared && k->shared->working;
}

bool pythia__kafka_shared_may_read(const struct pythia__kafka *k)
{
    const struct pythia__kafka_shared *s = k->shared;
    return !s || s->leaves || (s->state == KAFKA_SHARED_FOLLOWING && !s->barrier);
}

bool pythia__kafka_is_behind(const struct pythia__kafka *k)
{
    return k && k->shared &&
           (k->shared->state == KAFKA_SHARED_BEGINNING ||
            k->shared->state == KAFKA_SHARED_LOOKING || k->shared->state == KAFKA_SHARED_BEHIND);
}

/* ---- requests that finished ---- */

void pythia__kafka_note_finished(struct pythia__kafka *k, struct pythia_trace_id id)
{
    struct pythia__kafka_shared *s = k ? k->shared : NULL;
    if (!s || s->state == KAFKA_SHARED_FAILED)
        return;
    if (pythia_grow(&s->finished, &s->finished_capacity, s->finished_count, sizeof(*s->finished)) !=
        PYTHIA_OK) {
        s->rewinds = true; /* without the list, what is gathered could count twice */
        return;
    }
    s->finished[s->finished_count++] = (struct kafka_finished){id, uv_now(k->loop) * 1000000};
}

/* Spans of a request that finished before the oldest open one began are below all offsets. */
static void trim_finished(struct pythia__kafka *k)
{
    struct pythia__kafka_shared *s = k->shared;
    uint64_t oldest_ns = pythia_live_oldest_ns(k->live), now_ns = uv_now(k->loop) * 1000000;
    size_t past = 0;
    oldest_ns = oldest_ns < now_ns ? oldest_ns : now_ns;
    while (past < s->finished_count && s->finished[past].finished_ns < oldest_ns)
        past++;
    if (past == 0)
        return;
    s->finished_count -= past;
    memmove(s->finished, s->finished + past, s->finished_count * sizeof(*s->finished));
}

/* ---- where partitions stand ---- */

static int64_t offset_of(const struct pythia__kafka_shared *s, int32_t partition)
{
    const struct kafka_stand *stand = pythia__kafka_log_find_stand(s, partition);
    return stand ? stand->offset : -1;
}

/* Requests that are evidence already, and are read again. */
static void leave_out_done(struct pythia__kafka *k, const struct kafka_stand *stand)
{
    const json_t *text;
    size_t i;
    json_array_foreach (stand->ids, i, text) {
        struct pythia_trace_id id;
        struct pythia_text hex = {json_string_value(text), json_string_length(text)};
        if (hex.bytes && pythia_text_hex(hex, &id.high, &id.low) &&
            pythia_live_note_finished(k->live, id) != PYTHIA_OK)
            pythia__kafka_log_fail(k, "out of memory");
    }
}

void pythia__kafka_shared_place(struct pythia__kafka *k, rd_kafka_topic_partition_list_t *list)
{
    for (int i = 0; k->shared && i < list->cnt; i++) {
        int64_t offset = offset_of(k->shared, list->elems[i].partition);
        struct kafka_partition *p = pythia__kafka_partitions_find(k, list->elems[i].partition);
        if (offset < 0 || !p)
            continue;
        list->elems[i].offset = offset;
        p->from = offset;
    }
}

/* What could not be set to its offset is tried again, which is no rewind of its own. */
static void seek_again(struct pythia__kafka_shared *s)
{
    s->rewinds = s->seeks_again = true;
}

/* The topic of evidence was read to its end: begin with the partitions. One that stands elsewhere
 * than was known when it came is read from there. */
static void begin_partitions(struct pythia__kafka *k)
{
    struct pythia__kafka_shared *s = k->shared;
    rd_kafka_topic_partition_list_t *list = kafka.topic_partition_list_new(8);
    rd_kafka_error_t *error = NULL;
    for (struct kafka_partition *p = k->partitions; p; p = p->next) {
        const struct kafka_stand *stand = p->left ? NULL : pythia__kafka_log_find_stand(s, p->id);
        if (!stand)
            continue;
        if (stand->offset != p->from)
            kafka.topic_partition_list_add(list, k->url.topic, p->id)->offset = stand->offset;
        p->from = stand->offset;
        leave_out_done(k, stand);
    }
    if (list->cnt > 0 && (error = kafka.seek_partitions(k->client, list, SEEK_MS))) {
        seek_again(s);
        kafka.error_destroy(error);
    }
    for (int i = 0; i < list->cnt; i++)
        if (list->elems[i].err) /* it is not being fetched yet */
            seek_again(s);
    kafka.topic_partition_list_destroy(list);
}

/* ---- reading the topic ---- */

static void raise_barrier(struct pythia__kafka *k)
{
    k->shared->barrier = true;
    if (k->shared->state == KAFKA_SHARED_BEHIND || k->shared->state == KAFKA_SHARED_FOLLOWING)
        pythia__kafka_log_assign(k, k->shared->next);
}

/* Messages are gone that were not read: only a snapshot leads on. */
static void begin_again(struct pythia__kafka *k)
{
    pythia_log(
        PYTHIA_LOG_WARNING,
        "Evidence is gone that was not read, looks for a snapshot: topic=%s, offset=%" PRId64,
        k->url.evidence, k->shared->next);
    k->shared->state = KAFKA_SHARED_BEGINNING;
    k->shared->awaited = false;
    k->shared->tried_ms = 0;
}

static void meet_end(struct pythia__kafka *k)
{
    struct pythia__kafka_shared *s = k->shared;
    if (s->barrier) {
        s->barrier = false;
        begin_partitions(k);
    }
    if (s->state != KAFKA_SHARED_BEHIND)
        return;
    s->state = KAFKA_SHARED_FOLLOWING;
    pythia_log(PYTHIA_LOG_INFO,
               "Follows the search of the group: topic=%s, messages=%" PRIu64 ", member=%s",
               k->url.evidence, pythia_live_shared_numbers(k->live).messages, s->name);
    if (!s->leaves && !s->joined)
        pythia__kafka_join(k);
    s->joined = true;
}

/* Does every partition of a message stand where the message begins? */
static bool is_in_place(const struct pythia__kafka_shared *s, const json_t *head)
{
    const char *partition;
    json_t *range;
    json_object_foreach ((json_t *)json_object_get(head, "offsets"), partition, range) {
        json_int_t from = json_integer_value(json_array_get(range, 0));
        if (!json_is_integer(json_array_get(range, 1)) ||
            from != offset_of(s, (int32_t)strtol(partition, NULL, 10)))
            return false;
    }
    return true;
}

/* A message begins where others have counted that this member has not read: the topic has forgotten
 * them. */
static bool lacks_stands(const struct pythia__kafka_shared *s, const json_t *head)
{
    const char *partition;
    json_t *range;
    json_object_foreach ((json_t *)json_object_get(head, "offsets"), partition, range)
        if (json_integer_value(json_array_get(range, 0)) >= 0 &&
            offset_of(s, (int32_t)strtol(partition, NULL, 10)) < 0)
            return true;
    return false;
}

static int move_stands(struct pythia__kafka_shared *s, const json_t *head)
{
    json_t *ids = json_object_get(head, "done"), *range;
    const char *partition;
    json_object_foreach ((json_t *)json_object_get(head, "offsets"), partition, range) {
        struct kafka_stand *stand =
            pythia__kafka_log_stand(s, (int32_t)strtol(partition, NULL, 10));
        if (!stand)
            return PYTHIA_ENOMEM;
        json_decref(stand->ids);
        stand->ids = json_incref(ids);
        stand->offset = json_integer_value(json_array_get(range, 1));
    }
    return PYTHIA_OK;
}

/* Our own message counts: the partitions go on from there, and the group commits that. */
static void go_on(struct pythia__kafka *k, const json_t *head)
{
    rd_kafka_topic_partition_list_t *list = kafka.topic_partition_list_new(8);
    for (struct kafka_partition *p = k->partitions; p; p = p->next) {
        char number[16];
        snprintf(number, sizeof(number), "%" PRId32, p->id);
        if (p->left || !json_object_get(json_object_get(head, "offsets"), number))
            continue;
        p->from = offset_of(k->shared, p->id);
        kafka.topic_partition_list_add(list, k->url.topic, p->id)->offset = p->from;
    }
    if (list->cnt > 0)
        (void)kafka.offsets_store(k->client, list); /* only shows how far the group is */
    kafka.topic_partition_list_destroy(list);
    k->shared->awaited = false;
    for (; k->shared->ordered > 0; k->shared->ordered--)
        (void)json_array_remove(k->shared->orders, 0);
}

/* Orders by hand. A member's own come back to it, so that the last one of several is the same for
 * all. */
static void obey_orders(struct pythia__kafka *k, const json_t *head)
{
    const json_t *order;
    size_t i;
    json_array_foreach (json_object_get(head, "orders"), i, order) {
        k->obey(k->owner, order);
        pythia__kafka_snapshot_order(k->shared, order);
    }
}

int pythia__kafka_order(struct pythia__kafka *k, json_t *order)
{
    struct pythia__kafka_shared *s = k ? k->shared : NULL;
    if (!s) {
        json_decref(order);
        return PYTHIA_OK;
    }
    if (!s->orders)
        s->orders = json_array();
    return json_array_append_new(s->orders, order) == 0 ? PYTHIA_OK : PYTHIA_ENOMEM;
}

/* True: the message is one of this group, and counts. One of ours that was given up, because it
 * seemed not to be delivered, counts as well: but its requests are being read again. */
static bool take_place(struct pythia__kafka *k, const json_t *head)
{
    struct pythia__kafka_shared *s = k->shared;
    bool own = strcmp(json_string_value(json_object_get(head, "name")), s->name) == 0,
         awaited =
             own && s->awaited && json_integer_value(json_object_get(head, "number")) == s->number;
    if (!is_in_place(s, head)) {
        s->refused++;
        s->rewinds = s->rewinds || own;
        if (lacks_stands(s, head))
            begin_again(k);
        return false;
    }
    if (move_stands(s, head) != PYTHIA_OK) {
        pythia__kafka_log_fail(k, "out of memory");
        return false;
    }
    if (awaited)
        go_on(k, head);
    else
        s->rewinds = s->rewinds || own;
    return true;
}

static void read_evidence(struct pythia__kafka *k, const rd_kafka_message_t *m, const json_t *head,
                          struct pythia_text rest)
{
    struct pythia_error e = {0};
    obey_orders(k, head);
    int status = rest.size > 0 || !json_object_get(head, "orders")
                     ? pythia_live_shared_read(k->live, rest, &e)
                     : PYTHIA_OK;
    if (status == PYTHIA_EFORMAT)
        pythia__kafka_log_skip(k, m->offset, e.sentence);
    else if (status != PYTHIA_OK)
        pythia__kafka_log_fail(k, e.sentence[0] ? e.sentence : pythia_status_text(status));
    pythia__kafka_log_tell_settings(k);
    pythia__kafka_log_tell_clocks(k);
}

static void meet_snapshot(struct pythia__kafka *k, const rd_kafka_message_t *m, const json_t *head,
                          struct pythia_text rest)
{
    struct pythia__kafka_shared *s = k->shared;
    bool own = strcmp(json_string_value(json_object_get(head, "name")), s->name) == 0;
    pythia__kafka_snapshot_meet(k, m->offset, head, rest);
    if (own && json_integer_value(json_object_get(head, "number")) == s->number)
        s->awaited = false;
}

static void take_evidence(struct pythia__kafka *k, const rd_kafka_message_t *m)
{
    struct pythia__kafka_shared *s = k->shared;
    struct pythia_text rest;
    bool other;
    json_t *head = pythia__kafka_log_head(k, m, &rest, &other);
    s->next = m->offset + 1;
    if (!head) {
        if (!other)
            pythia__kafka_log_skip(k, m->offset, "it is not of a pythiad of this version");
        s->skipped++;
    } else if (json_object_get(head, "snapshot")) {
        if (!pythia__kafka_snapshot_afresh(k, m, head))
            meet_snapshot(k, m, head, rest);
    } else if (take_place(k, head)) {
        s->last_is_own = strcmp(json_string_value(json_object_get(head, "name")), s->name) == 0;
        read_evidence(k, m, head, rest);
    }
    s->met = head ? m->offset : s->met;
    json_decref(head);
}

static void tell_log_error(struct pythia__kafka *k, const rd_kafka_message_t *m)
{
    char reason[512];
    snprintf(reason, sizeof(reason), "%s: %s", k->url.evidence,
             m->payload ? (const char *)m->payload : kafka.err2str(m->err));
    pythia__kafka_log_lose(k, m->err, reason);
}

static void take_log_message(struct pythia__kafka *k, const rd_kafka_message_t *m)
{
    struct pythia__kafka_shared *s = k->shared;
    bool looks = s->state == KAFKA_SHARED_LOOKING;
    bool ends = m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
    if (s->log_lost && (ends || !m->err)) {
        s->log_lost = false;
        pythia__kafka_problem(k, RD_KAFKA_RESP_ERR_NO_ERROR, "");
    }
    if (!looks && ends && m->offset < s->next)
        pythia__kafka_log_fail(k, "its topic of evidence was deleted and made again");
    else if (!looks && (ends || !m->err) && m->offset > s->next)
        begin_again(k);
    else if (ends)
        (looks ? pythia__kafka_snapshot_end : meet_end)(k);
    else if (m->err)
        tell_log_error(k, m);
    else if (looks)
        pythia__kafka_snapshot_take(k, m);
    else if (m->offset >= s->next)
        take_evidence(k, m);
}

static void read_log(struct pythia__kafka *k)
{
    struct pythia__kafka_shared *s = k->shared;
    rd_kafka_message_t *m = NULL;
    for (int count = 0; count < TURN_MESSAGES && s->state != KAFKA_SHARED_FAILED &&
                        s->state != KAFKA_SHARED_BEGINNING;
         count++) {
        if (!(m = kafka.consumer_poll(s->log, 0)))
            return;
        if (s->position < 0) /* else it comes again */
            take_log_message(k, m);
        kafka.message_destroy(m);
    }
    uv_async_send(&k->wake); /* there may be more */
}

/* ---- partitions come and go ---- */

void pythia__kafka_shared_assigned(struct pythia__kafka *k)
{
    if (!k->shared)
        return;
    raise_barrier(k);
}

/* Read a partition again: from where it stands, once that is known (begin_partitions), or from
 * where it began here. */
static void rewind_partition(struct pythia__kafka *k, struct kafka_partition *p,
                             rd_kafka_topic_partition_list_t *list)
{
    int64_t first = p->first, committed = p->committed;
    int32_t id = p->id;
    bool begun = p->position > 0;
    pythia__kafka_bodies_drop(k, p);
    pythia_live_forget_origin(k->live, p->origin);
    p->left = true;
    pythia__kafka_partitions_release(k, p);
    if (!pythia__kafka_partitions_add(k, id)) {
        pythia__kafka_log_fail(k, "out of memory");
        return;
    }
    pythia__kafka_partitions_find(k, id)->committed = committed;
    if (begun && !pythia__kafka_log_find_stand(k->shared, id))
        kafka.topic_partition_list_add(list, k->url.topic, id)->offset = first;
}

void pythia__kafka_shared_rewind(struct pythia__kafka *k)
{
    struct pythia__kafka_shared *s = k->shared;
    if (!s || k->stopping)
        return;
    if (s->working) { /* it is not known yet whether the message is there */
        s->rewinds = true;
        return;
    }
    s->rewound += !s->seeks_again;
    s->rewinds = s->seeks_again = s->awaited = false;
    s->ordered = 0;
    pythia_live_shared_forget(k->live);
    pythia_live_forget_finished(k->live);
    s->finished_count = 0;
    rd_kafka_topic_partition_list_t *list = kafka.topic_partition_list_new(8);
    size_t count = 0;
    int32_t *ids = NULL;
    size_t capacity = 0;
    for (const struct kafka_partition *p = k->partitions; p; p = p->next)
        if (!p->left && pythia_grow(&ids, &capacity, count, sizeof(*ids)) == PYTHIA_OK)
            ids[count++] = p->id;
    for (size_t i = 0; i < count; i++)
        rewind_partition(k, pythia__kafka_partitions_find(k, ids[i]), list);
    pythia_free(ids);
    if (list->cnt > 0) {
        rd_kafka_error_t *error = kafka.seek_partitions(k->client, list, SEEK_MS);
        if (error) {
            seek_again(s);
            kafka.error_destroy(error);
        }
    }
    kafka.topic_partition_list_destroy(list);
    raise_barrier(k);
}

/* ---- sending ---- */

/* For each partition: from where, and up to where it was read. */
static json_t *pack_offsets(struct pythia__kafka *k)
{
    uint64_t oldest_ns = pythia_live_oldest_ns(k->live);
    json_t *offsets = json_object();
    char name[16];
    for (struct kafka_partition *p = k->partitions; p; p = p->next) {
        int64_t safe = pythia__kafka_offsets_safe(&p->offsets, oldest_ns);
        if (p->left || p->position == 0)
            continue;
        snprintf(name, sizeof(name), "%" PRId32, p->id);
        if (json_object_set_new(offsets, name,
                                json_pack("[I, I]", (json_int_t)p->from, (json_int_t)safe)) != 0) {
            json_decref(offsets);
            return NULL;
        }
    }
    return offsets;
}

static json_t *pack_done(const struct pythia__kafka_shared *s)
{
    json_t *done = json_array();
    char id[40];
    for (size_t i = 0; i < s->finished_count; i++) {
        snprintf(id, sizeof(id), "%016" PRIx64 "%016" PRIx64, s->finished[i].id.high,
                 s->finished[i].id.low);
        if (json_array_append_new(done, json_string(id)) != 0) {
            json_decref(done);
            return NULL;
        }
    }
    return done;
}

static int write_message(struct pythia__kafka *k)
{
    struct pythia__kafka_shared *s = k->shared;
    pythia_buf_clear(&s->message);
    trim_finished(k);
    json_t *offsets = pack_offsets(k), *done = pack_done(s);
    int status = pythia__kafka_log_add_line(
        &s->message, json_pack("{s:s, s:s, s:s, s:I, s:o, s:o}", "format", KAFKA_PART_FORMAT,
                               "group", k->url.group, "name", s->name, "number",
                               (json_int_t)++s->number, "offsets", offsets, "done", done));
    if (status == PYTHIA_OK)
        status = pythia_live_shared_take(k->live, s->name, &s->message);
    return status == PYTHIA_OK ? pythia_buf_status(&s->message) : status;
}

/* Orders have a message of their own, which does not wait for the end of a cycle. */
static int write_orders(struct pythia__kafka *k)
{
    struct pythia__kafka_shared *s = k->shared;
    pythia_buf_clear(&s->message);
    s->ordered = json_array_size(s->orders);
    return pythia__kafka_log_add_line(
        &s->message, json_pack("{s:s, s:s, s:s, s:I, s:{}, s:[], s:O}", "format", KAFKA_PART_FORMAT,
                               "group", k->url.group, "name", s->name, "number",
                               (json_int_t)++s->number, "offsets", "done", "orders", s->orders));
}

static void end_begin(uv_work_t *work, int cancelled)
{
    struct pythia__kafka *k = work->data;
    struct pythia__kafka_shared *s = k->shared;
    (void)cancelled;
    s->working = false;
    if (k->stopping)
        return;
    if (s->job_failed) {
        pythia__kafka_problem(k, s->job_code, s->job_reason);
        return;
    }
    if (s->state == KAFKA_SHARED_BEGINNING)
        pythia__kafka_snapshot_look(k);
    else
        pythia__kafka_problem(k, RD_KAFKA_RESP_ERR_NO_ERROR, "");
}

static void end_send(uv_work_t *work, int cancelled)
{
    struct pythia__kafka *k = work->data;
    struct pythia__kafka_shared *s = k->shared;
    (void)cancelled;
    s->working = false;
    s->sent += !s->job_failed;
    s->failed += s->job_failed;
    if (k->stopping)
        return;
    if (s->job_failed && s->sends_snapshot) {
        pythia_log(PYTHIA_LOG_WARNING,
                   "A snapshot of the search was not sent, and is tried again after some rounds: "
                   "topic=%s, bytes=%zu, reason=%s",
                   k->url.evidence, s->message.size, s->job_reason);
        pythia__kafka_snapshot_note(k, -1);
        s->awaited = false;
    } else if (s->job_failed) {
        pythia_log(PYTHIA_LOG_WARNING,
                   "Evidence was not sent, and its requests are read again: topic=%s, reason=%s",
                   k->url.evidence, s->job_reason);
        pythia__kafka_problem(k, s->job_code, s->job_reason);
        s->rewinds = true;
    }
}

static void begin_job(struct pythia__kafka *k, bool sending)
{
    struct pythia__kafka_shared *s = k->shared;
    s->working = true;
    s->sending = sending;
    s->tried_ms = uv_now(k->loop);
    uv_queue_work(k->loop, &s->work,
                  sending ? pythia__kafka_evidence_send : pythia__kafka_evidence_begin,
                  sending ? end_send : end_begin);
}

static void send_due(struct pythia__kafka *k)
{
    struct pythia__kafka_shared *s = k->shared;
    bool ordered = json_array_size(s->orders) > 0;
    s->sends_snapshot = !ordered && pythia__kafka_snapshot_is_due(k);
    if (!ordered && !s->sends_snapshot && !pythia_live_shared_is_due(k->live))
        return;
    int status = ordered             ? write_orders(k)
                 : s->sends_snapshot ? pythia__kafka_snapshot_write(k, false)
                                     : write_message(k);
    if (status != PYTHIA_OK) {
        pythia_log(PYTHIA_LOG_ERROR,
                   "Evidence could not be written, its requests are read again: "
                   "reason=%s",
                   pythia_status_text(status));
        pythia__kafka_shared_rewind(k);
        return;
    }
    s->awaited = true;
    begin_job(k, true);
}

/* A topic may get more partitions. */
static void count_partitions(struct pythia__kafka *k)
{
    uint64_t own = 0;
    for (const struct kafka_partition *p = k->partitions; p; p = p->next) {
        own += !p->left;
        if (!p->left && p->id >= k->shared->partitions)
            k->shared->partitions = p->id + 1;
    }
    pythia_live_shared_set_parts(k->live, own, (uint64_t)k->shared->partitions);
}

void pythia__kafka_shared_turn(struct pythia__kafka *k)
{
    struct pythia__kafka_shared *s = k->shared;
    if (!s || k->stopping || s->state == KAFKA_SHARED_FAILED)
        return;
    /* What a job has to say is read when it has ended. */
    bool broken = !s->working && (s->state == KAFKA_SHARED_BEGINNING || s->job_fatal);
    if (s->has_afresh && !s->working) {
        s->has_afresh = false;
        s->sends_snapshot = true;
        begin_job(k, true);
    }
    if (broken && !s->working && (!s->tried_ms || uv_now(k->loop) - s->tried_ms >= RETRY_MS))
        begin_job(k, false);
    if (s->state == KAFKA_SHARED_BEGINNING)
        return;
    pythia__kafka_log_seek(k);
    read_log(k);
    trim_finished(k);
    if (s->rewinds && !s->working)
        pythia__kafka_shared_rewind(k);
    count_partitions(k);
    if (s->state == KAFKA_SHARED_FOLLOWING && !s->working && !s->job_fatal && !s->barrier &&
        !s->awaited && !s->rewinds)
        send_due(k);
}
