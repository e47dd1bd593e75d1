/* The member's partitions: they come, are read and committed, and go. */
#include <inttypes.h>
#include <string.h>

#include "kafka_shared.h"
#include "pythia/log.h"
#include "pythia/mem.h"

#define kafka pythia__kafka_library

/* Somebody else reads its unfinished requests again. */
static void leave_partition(struct pythia__kafka *k, struct kafka_partition *p)
{
    pythia_log(PYTHIA_LOG_INFO,
               "Leaves a partition: topic=%s, partition=%" PRId32 ", position=%" PRId64
               ", committed=%" PRId64,
               k->url.topic, p->id, p->position, p->offsets.safe);
    pythia__kafka_bodies_drop(k, p);
    pythia_live_forget_origin(k->live, p->origin);
    p->left = true;
    pythia__kafka_partitions_release(k, p);
}

void pythia__kafka_group_leave(struct pythia__kafka *k)
{
    for (struct kafka_partition *p = k->partitions, *next; p; p = next) {
        next = p->next;
        if (!p->left)
            leave_partition(k, p);
    }
}

void pythia__kafka_group_store(struct pythia__kafka *k)
{
    uint64_t oldest_ns = pythia_live_oldest_ns(k->live);
    if (k->shared) /* they follow from the evidence */
        return;
    rd_kafka_topic_partition_list_t *list = kafka.topic_partition_list_new(8);
    for (struct kafka_partition *p = k->partitions; p; p = p->next) {
        int64_t safe = pythia__kafka_offsets_safe(&p->offsets, oldest_ns);
        if (!p->left && p->position > 0 && safe > p->committed)
            kafka.topic_partition_list_add(list, k->url.topic, p->id)->offset = safe;
    }
    if (list->cnt > 0)
        (void)kafka.offsets_store(k->client, list); /* fails for what was just lost */
    kafka.topic_partition_list_destroy(list);
}

void pythia__kafka_group_committed(rd_kafka_t *client, rd_kafka_resp_err_t error,
                                   rd_kafka_topic_partition_list_t *list, void *context)
{
    struct pythia__kafka *k = context;
    (void)client;
    if (k->stopping) /* on another thread */
        return;
    for (int i = 0; list && i < list->cnt; i++) {
        struct kafka_partition *p = pythia__kafka_partitions_find(k, list->elems[i].partition);
        rd_kafka_resp_err_t why = error ? error : list->elems[i].err;
        if (why)
            pythia_log(PYTHIA_LOG_DEBUG,
                       "Could not commit, tries again: topic=%s, partition=%" PRId32 ", reason=%s",
                       k->url.topic, list->elems[i].partition, kafka.err2str(why));
        else if (p && list->elems[i].offset > p->committed)
            p->committed = list->elems[i].offset;
    }
    if (!error)
        pythia__kafka_problem(k, RD_KAFKA_RESP_ERR_NO_ERROR, "");
}

static void tell_failed_assignment(struct pythia__kafka *k, rd_kafka_error_t *error)
{
    if (!error)
        return;
    pythia_log(PYTHIA_LOG_ERROR, "Partitions could not be assigned: topic=%s, reason=%s",
               k->url.topic, kafka.error_string(error));
    kafka.error_destroy(error);
}

/* The client waits for a thread of its own to tell it, so that it is asked here and no more. */
static void note_member(struct pythia__kafka *k)
{
    char *member = kafka.memberid(k->client);
    pythia_free(k->member);
    k->member = member ? pythia_strndup(member, strlen(member)) : NULL;
    kafka.mem_free(k->client, member);
}

static bool has_partition(const rd_kafka_topic_partition_list_t *list, int32_t id)
{
    for (int i = 0; i < list->cnt; i++)
        if (list->elems[i].partition == id)
            return true;
    return false;
}

/* Leave partitions that the client has no more. Version 2.0.2 has been seen to lose the membership
 * of a static member, and with it the partitions, without a call that revokes them. */
static void leave_lost_partitions(struct pythia__kafka *k)
{
    rd_kafka_topic_partition_list_t *list = NULL;
    if (kafka.assignment(k->client, &list) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return;
    for (struct kafka_partition *p = k->partitions, *next; p; p = next) {
        next = p->next;
        if (!p->left && !has_partition(list, p->id))
            leave_partition(k, p);
    }
    kafka.topic_partition_list_destroy(list);
}

static void take_partitions(struct pythia__kafka *k, rd_kafka_topic_partition_list_t *list)
{
    leave_lost_partitions(k); /* the client does not have those of the list yet */
    for (int i = 0; i < list->cnt; i++)
        if (!pythia__kafka_partitions_add(k, list->elems[i].partition))
            pythia_log(PYTHIA_LOG_ERROR,
                       "No memory to read a partition: topic=%s, partition=%" PRId32, k->url.topic,
                       list->elems[i].partition);
    pythia__kafka_shared_place(k, list);
    tell_failed_assignment(k, kafka.incremental_assign(k->client, list));
    if (k->paused) { /* those that came are not */
        k->paused = false;
        pythia__kafka_partitions_pause(k, true);
    }
    note_member(k);
    pythia__kafka_problem(k, RD_KAFKA_RESP_ERR_NO_ERROR, "");
    pythia__kafka_shared_assigned(k);
}

/* Called while the client is polled. What was stored of partitions that go is committed with that,
 * unless they were lost: those have another owner already. */
void pythia__kafka_group_rebalance(rd_kafka_t *client, rd_kafka_resp_err_t what,
                                   rd_kafka_topic_partition_list_t *list, void *context)
{
    struct pythia__kafka *k = context;
    if (k->stopping) { /* on another thread, after all partitions were left */
        tell_failed_assignment(k, kafka.incremental_unassign(client, list));
        return;
    }
    k->rebalances++;
    if (what == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
        take_partitions(k, list);
        return;
    }
    pythia__kafka_group_store(k);
    for (int i = 0; i < list->cnt; i++) {
        struct kafka_partition *p = pythia__kafka_partitions_find(k, list->elems[i].partition);
        if (p)
            leave_partition(k, p);
    }
    tell_failed_assignment(k, kafka.incremental_unassign(client, list));
    pythia__kafka_shared_rewind(k);
}
