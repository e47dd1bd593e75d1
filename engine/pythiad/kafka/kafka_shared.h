/* One search for all members of the group (engine/core, live_shared.h): what they share is a topic
 * of one partition, which all of them read from its beginning, and which each of them writes its
 * evidence to.
 *
 *   topic of traces ──> a member ── evidence, offsets, ids: one transaction ──> topic of evidence
 *                          ^                                                        │
 *                          └──────────── all of it, in the order of the topic ──────┘
 *
 * Evidence and the offsets up to which its requests were read are committed in one transaction, so
 * that both are there or neither. An offset is that of the oldest unfinished request; requests that
 * finished after it are in the evidence too, and the message lists their ids. Whoever reads on from
 * the offset leaves those out. So each request is evidence once, whoever is killed whenever.
 *
 * A member that loses a partition, or whose transaction fails, forgets what it has gathered since
 * its last transaction, and reads that again from there (pythia__kafka_shared_rewind): nobody knows
 * which part of its evidence came from where. Partitions are read only once the topic of evidence
 * has been read up to then, because the ids may be in its last message.
 *
 * There is no decider (live_shared.h says why): what would be its election is Kafka's order of the
 * messages, and its failover needs nothing. All calls are the loop's, but those that say otherwise. */
#ifndef PYTHIA_PYTHIAD_KAFKA_SHARED_H
#define PYTHIA_PYTHIAD_KAFKA_SHARED_H

#include "kafka_parts.h"
#include "pythia/span.h"

enum kafka_shared_state {
    KAFKA_SHARED_BEGINNING, /* the topic and the producer are being looked for */
    KAFKA_SHARED_BEHIND,    /* the topic has messages that were there before */
    KAFKA_SHARED_FOLLOWING,
    KAFKA_SHARED_FAILED     /* the search cannot be followed any more */
};

/* A request that finished here. */
struct kafka_finished {
    struct pythia_trace_id id;
    uint64_t finished_ns;
};

/* The ids of the last message about a partition. */
struct kafka_done {
    int32_t partition;
    json_t *ids; /* owned */
};

struct pythia__kafka_shared {
    enum kafka_shared_state state;
    char name[300]; /* of this member, which no other has */
    rd_kafka_t *log, *producer;
    rd_kafka_queue_t *queue; /* of the log */
    rd_kafka_topic_t *topic; /* of the producer */
    int64_t next;            /* offset in the log */
    bool barrier;            /* partitions are not read until the end of the log was met */
    bool rewinds;            /* a rewind is due once the transaction has ended */
    struct kafka_finished *finished; /* owned: in order of time */
    size_t finished_count, finished_capacity;
    struct kafka_done *done; /* owned */
    size_t done_count, done_capacity;
    uint64_t tried_ms; /* when the last job began */
    uint64_t sent, failed, rewound, skipped;
    int32_t partitions; /* of the topic of traces, as far as is known */
    bool told_settings;
    /* The job, on a worker's thread while `working`: */
    uv_work_t work;
    bool working, sending; /* sending: else it begins */
    bool begun;            /* the producer may begin transactions */
    struct pythia_buf message;
    rd_kafka_topic_partition_list_t *offsets;
    rd_kafka_consumer_group_metadata_t *metadata;
    bool job_failed, job_fatal;
    rd_kafka_resp_err_t job_code;
    char job_reason[512];
};

/* kafka_evidence.c: make the clients, begin the transactions' producer and look at the topic, send
 * a message. The latter two are for a worker's thread. Free the clients, which waits for Kafka. */
int pythia__kafka_evidence_create(struct pythia__kafka *k, struct pythia_error *e);
void pythia__kafka_evidence_begin(uv_work_t *work);
void pythia__kafka_evidence_send(uv_work_t *work);
void pythia__kafka_evidence_close(struct pythia__kafka *k);

/* Make what is shared, if the URL says so. PYTHIA_OK or negative with the reason in `e`. */
int pythia__kafka_shared_create(struct pythia__kafka *k, struct pythia_error *e);
void pythia__kafka_shared_destroy(struct pythia__kafka *k);

/* Read the topic, and send what is due. */
void pythia__kafka_shared_turn(struct pythia__kafka *k);

/* May partitions be read? */
bool pythia__kafka_shared_may_read(const struct pythia__kafka *k);

/* Partitions came. Partitions went, or a transaction failed: read again from what was committed. */
void pythia__kafka_shared_assigned(struct pythia__kafka *k);
void pythia__kafka_shared_rewind(struct pythia__kafka *k);

/* Is a job under way, for which the clients must stay? */
bool pythia__kafka_shared_is_busy(const struct pythia__kafka *k);

#endif
