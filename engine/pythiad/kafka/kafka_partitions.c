/* The list of partitions. */
#include <inttypes.h>

#include "kafka_parts.h"
#include "pythia/log.h"
#include "pythia/mem.h"

#define kafka pythia__kafka_library

struct kafka_partition *pythia__kafka_partitions_find(const struct pythia__kafka *k, int32_t id)
{
    struct kafka_partition *p = k->partitions;
    while (p && (p->left || p->id != id))
        p = p->next;
    return p;
}

/* Not 0, and not that of another partition, also of one that still has bodies. */
static uint16_t find_free_origin(const struct pythia__kafka *k)
{
    uint16_t origin = 1;
    for (const struct kafka_partition *p = k->partitions; p;)
        if (p->origin == origin) {
            origin++;
            p = k->partitions;
        } else {
            p = p->next;
        }
    return origin;
}

void pythia__kafka_partitions_release(struct pythia__kafka *k, struct kafka_partition *p)
{
    struct kafka_partition **at = &k->partitions;
    if (!p->left || p->bodies > 0)
        return;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    pythia__kafka_offsets_free(&p->offsets);
    pythia_free(p);
}

bool pythia__kafka_partitions_add(struct pythia__kafka *k, int32_t id)
{
    struct kafka_partition *p = pythia_calloc(1, sizeof(*p));
    if (!p)
        return false;
    p->id = id;
    p->origin = find_free_origin(k);
    p->committed = p->from = -1;
    p->next = k->partitions;
    k->partitions = p;
    pythia_log(PYTHIA_LOG_INFO, "Reads a partition: topic=%s, partition=%" PRId32, k->url.topic,
               id);
    return true;
}

/* The client fetches again from the next message on when it is resumed. */
void pythia__kafka_partitions_pause(struct pythia__kafka *k, bool pause)
{
    rd_kafka_topic_partition_list_t *list = NULL;
    if (k->paused == pause || kafka.assignment(k->client, &list) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return;
    k->paused = pause;
    k->pauses += pause;
    (void)(pause ? kafka.pause_partitions : kafka.resume_partitions)(k->client, list);
    kafka.topic_partition_list_destroy(list);
}
