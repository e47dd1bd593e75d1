/* The topic of evidence as a log that the member reads: where in it the client stands, what a
 * message is, and what to do when it cannot be followed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kafka_shared.h"
#include "pythia/json_text.h"
#include "pythia/live_shared.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define kafka pythia__kafka_library

#define SEEK_MS 1000 /* it asks no broker */

/* Others get the partitions of a member that takes no part. */
static void leave_group(struct pythia__kafka *k)
{
    k->shared->leaves = true;
    (void)kafka.unsubscribe(k->client);
}

void pythia__kafka_log_fail(struct pythia__kafka *k, const char *reason)
{
    if (k->shared->state == KAFKA_SHARED_FAILED)
        return;
    leave_group(k);
    k->shared->state = KAFKA_SHARED_FAILED;
    snprintf(k->shared->job_reason, sizeof(k->shared->job_reason),
             "the search of the group cannot be followed any more, start pythiad again: %s",
             reason);
    pythia__kafka_problem(k, RD_KAFKA_RESP_ERR__FATAL, k->shared->job_reason);
}

void pythia__kafka_log_tell_settings(struct pythia__kafka *k)
{
    struct pythia__kafka_shared *s = k->shared;
    if (s->told_settings || !pythia_live_shared_numbers(k->live).differs)
        return;
    s->told_settings = true;
    leave_group(k);
    snprintf(s->job_reason, sizeof(s->job_reason),
             "the group's search was begun with other settings than ours: start pythiad with "
             "those, or name a new topic with evidence=; theirs are: %s",
             pythia_live_shared_settings(k->live));
    pythia__kafka_problem(k, RD_KAFKA_RESP_ERR__INVALID_ARG, s->job_reason);
}

/* Messages of the topic of traces, which still come, do not take the problem away. */
void pythia__kafka_log_lose(struct pythia__kafka *k, rd_kafka_resp_err_t code, const char *reason)
{
    k->shared->log_lost = true;
    pythia__kafka_problem(k, code, reason);
}

void pythia__kafka_log_tell_clocks(struct pythia__kafka *k)
{
    uint64_t apart_ns = pythia_live_shared_numbers(k->live).clocks_apart_ns;
    if (apart_ns > 0 && !k->shared->told_clocks)
        pythia_log(PYTHIA_LOG_WARNING,
                   "Clocks of members are about %.0f s apart, so that rounds are as long as their "
                   "longest part: set them, by NTP for example: topic=%s, group=%s",
                   (double)apart_ns / 1e9, k->url.evidence, k->url.group);
    k->shared->told_clocks = apart_ns > 0;
}

struct kafka_stand *pythia__kafka_log_find_stand(const struct pythia__kafka_shared *s,
                                                 int32_t partition)
{
    for (size_t i = 0; i < s->stand_count; i++)
        if (s->stands[i].partition == partition)
            return &s->stands[i];
    return NULL;
}

struct kafka_stand *pythia__kafka_log_stand(struct pythia__kafka_shared *s, int32_t partition)
{
    struct kafka_stand *stand = pythia__kafka_log_find_stand(s, partition);
    if (stand)
        return stand;
    if (pythia_grow(&s->stands, &s->stand_capacity, s->stand_count, sizeof(*s->stands)) !=
        PYTHIA_OK)
        return NULL;
    stand = &s->stands[s->stand_count++];
    *stand = (struct kafka_stand){.partition = partition, .offset = -1};
    return stand;
}

/* The client says when it is at the end, once for each position that it is given. It gets its only
 * partition once, and is then sent to another position of it: a partition that is given twice,
 * before the client has stopped to read the first time, ends the process by an assertion
 * (librdkafka issue 5573). A partition that is not being read yet cannot be sent anywhere: it is
 * tried again. */
void pythia__kafka_log_seek(struct pythia__kafka *k)
{
    struct pythia__kafka_shared *s = k->shared;
    if (s->position < 0)
        return;
    rd_kafka_topic_partition_list_t *list = kafka.topic_partition_list_new(1);
    kafka.topic_partition_list_add(list, k->url.evidence, 0)->offset = s->position;
    if (!s->assigned) {
        rd_kafka_resp_err_t error = kafka.assign(s->log, list);
        if (error)
            pythia__kafka_problem(k, error, kafka.err2str(error));
        else
            s->assigned = true;
        s->position = error ? s->position : -1;
    } else {
        rd_kafka_error_t *error = kafka.seek_partitions(s->log, list, SEEK_MS);
        if (!error && !list->elems[0].err)
            s->position = -1;
        if (error)
            kafka.error_destroy(error);
    }
    kafka.topic_partition_list_destroy(list);
}

void pythia__kafka_log_assign(struct pythia__kafka *k, int64_t from)
{
    k->shared->position = from;
    pythia__kafka_log_seek(k);
}

/* From s->next on. Partitions that the member has are read again from where they stand there. */
void pythia__kafka_log_follow(struct pythia__kafka *k)
{
    pythia__kafka_problem(k, RD_KAFKA_RESP_ERR_NO_ERROR, "");
    k->shared->state = KAFKA_SHARED_BEHIND;
    k->shared->met = k->shared->next - 1;
    k->shared->rewinds = k->shared->rewinds || k->partitions;
    pythia__kafka_log_assign(k, k->shared->next);
}

json_t *pythia__kafka_log_head(const struct pythia__kafka *k, const rd_kafka_message_t *m,
                               struct pythia_text *rest, bool *other)
{
    const char *end = m->len > 0 ? memchr(m->payload, '\n', m->len) : NULL;
    size_t size = end ? (size_t)(end - (const char *)m->payload) : 0;
    json_t *head = end ? json_loadb(m->payload, size, 0, NULL) : NULL;
    const char *format = json_string_value(json_object_get(head, "format")),
               *group = json_string_value(json_object_get(head, "group"));
    bool whole = format && strcmp(format, KAFKA_PART_FORMAT) == 0 && group &&
                 json_is_string(json_object_get(head, "name"));
    *other = whole && strcmp(group, k->url.group) != 0;
    if (!whole || *other) {
        json_decref(head);
        return NULL;
    }
    *rest = (struct pythia_text){end + 1, m->len - size - 1};
    return head;
}

void pythia__kafka_log_skip(const struct pythia__kafka *k, int64_t offset, const char *reason)
{
    pythia_log(PYTHIA_LOG_WARNING,
               "Skipped a message that is no evidence: topic=%s, offset=%" PRId64 ", reason=%s",
               k->url.evidence, offset, reason);
}

int pythia__kafka_log_add_line(struct pythia_buf *to, json_t *head)
{
    int status = pythia_json_put(to, head, JSON_COMPACT, "\n");
    json_decref(head);
    return status;
}
