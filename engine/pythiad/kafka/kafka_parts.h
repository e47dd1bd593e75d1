/* What the files of this folder share. */
#ifndef PYTHIA_PYTHIAD_KAFKA_PARTS_H
#define PYTHIA_PYTHIAD_KAFKA_PARTS_H

#include "kafka.h"
#include "kafka_library.h"
#include "kafka_offsets.h"
#include "kafka_url.h"
#include "pythia/buf.h"

/* A partition that is read, or one that was taken away while bodies of it are being decoded. */
struct kafka_partition {
    struct kafka_partition *next;
    int32_t id;
    uint16_t origin; /* of its spans, which no other partition has */
    bool left;       /* it was taken away: what is still decoded of it is left out */
    size_t bodies;   /* that are not done */
    struct pythia__kafka_offsets offsets;
    int64_t position;  /* the offset after the last message; 0: none has been read */
    int64_t committed; /* -1: nothing has been */
    int64_t first;     /* the offset of the first message that was read */
    int64_t from; /* where it stood in the topic of evidence when it was read from there on; -1:
                          nowhere yet */
    uint64_t messages, broken;
    int64_t broken_offset; /* of the last broken one, and its reason */
    char broken_reason[256];
};

/* Messages of one partition and one format, which are decoded together. */
struct kafka_body {
    struct kafka_body *next;
    struct pythia__kafka *kafka;
    struct kafka_partition *partition;
    const struct pythia_adapter_ops *format;
    struct pythia_buf bytes;
    struct pythia__intake_part *parts;
    int64_t *offsets; /* of the parts */
    size_t part_count, part_capacity, offset_capacity;
    uint64_t number; /* kafka_offsets.h */
};

struct pythia__kafka {
    uv_loop_t *loop;
    uv_async_t wake;
    uv_timer_t tick;
    struct pythia__intake *intake;
    struct pythia_live *live;
    size_t message_max;
    pythia__kafka_obey obey;
    pythia__kafka_save save;
    pythia__kafka_restore restore;
    void *owner;
    const struct pythia_adapter_ops *json, *protobuf;
    struct pythia__kafka_url url;
    rd_kafka_t *client;
    rd_kafka_queue_t *queue;                  /* of it: messages, rebalances and errors */
    char *member;                             /* its id in the group; NULL: it has none yet */
    json_t *members;                          /* of the group; NULL: not known */
    uv_work_t list;                           /* asks for them */
    const struct rd_kafka_group_list *groups; /* the answer; NULL: there was none */
    bool listing;
    int answer; /* of the brokers, when they were last asked: an error of librdkafka, or 0 */
    int silent; /* times in a row that no broker answered */
    uint64_t listed_ms;
    struct kafka_partition *partitions;
    struct kafka_body *first, **last; /* bodies that wait to be decoded */
    size_t waiting, decoding;         /* how many do, and how many are */
    bool paused;                      /* the engine takes no more: partitions rest */
    bool stopping, closed;
    uv_work_t closing;  /* leaves the group */
    uint64_t stored_ms; /* when that was last done */
    uint64_t messages, bytes, broken, unkeyed, rebalances, pauses;
    bool told_unkeyed;
    uint64_t told_split; /* traces, when that was logged */
    int problem_code;    /* of librdkafka; 0: there is none */
    char problem[512];
    struct pythia__kafka_shared
        *shared; /* kafka_shared.h; owned; NULL: each member searches alone */
};

/* kafka_problem.c: log an error of Kafka once, and keep it for the status; 0: there is none any
 * more. */
void pythia__kafka_problem(struct pythia__kafka *k, rd_kafka_resp_err_t code, const char *reason);

/* kafka_client.c: settings of a client as the URL has them, with others that outrank it; owned by
 * the caller. A client of them (taken). Subscribe to the topic. */
int pythia__kafka_conf(struct pythia__kafka *k, const char *const (*pairs)[2], size_t count,
                       rd_kafka_conf_t **out, struct pythia_error *e);
int pythia__kafka_client(rd_kafka_type_t type, rd_kafka_conf_t *conf, rd_kafka_t **out,
                         struct pythia_error *e);
void pythia__kafka_join(struct pythia__kafka *k);

/* kafka_partitions.c: the partition that is read; NULL: it is not. Begin one; false: out of memory.
 * Forget one that was left and has no more bodies. Let all of them rest, or go on. */
struct kafka_partition *pythia__kafka_partitions_find(const struct pythia__kafka *k, int32_t id);
bool pythia__kafka_partitions_add(struct pythia__kafka *k, int32_t id);
void pythia__kafka_partitions_release(struct pythia__kafka *k, struct kafka_partition *p);
void pythia__kafka_partitions_pause(struct pythia__kafka *k, bool pause);

/* kafka_bodies.c: take a message into a body; give bodies to the intake, as long as it takes them;
 * drop those that wait of a partition. */
void pythia__kafka_bodies_take(struct pythia__kafka *k, const rd_kafka_message_t *m);
void pythia__kafka_bodies_submit(struct pythia__kafka *k);
void pythia__kafka_bodies_drop(struct pythia__kafka *k, const struct kafka_partition *p);

/* kafka_members.c: ask for the members, if it is time to. */
void pythia__kafka_members_tick(struct pythia__kafka *k);

/* kafka_group.c: store the offsets of what is finished, which the client commits. Leave all
 * partitions. Callbacks of the client. */
void pythia__kafka_group_store(struct pythia__kafka *k);
void pythia__kafka_group_leave(struct pythia__kafka *k);
void pythia__kafka_group_rebalance(rd_kafka_t *client, rd_kafka_resp_err_t what,
                                   rd_kafka_topic_partition_list_t *list, void *context);
void pythia__kafka_group_committed(rd_kafka_t *client, rd_kafka_resp_err_t error,
                                   rd_kafka_topic_partition_list_t *list, void *context);

#endif
