/* One search for all members of the group (engine/core, live_shared.h): what they share is a topic
 * of one partition, which all of them read, and which each of them writes its evidence to.
 *
 *   topic of traces ──> a member ── one message: evidence, offsets, ids ──> topic of evidence
 *                          ^                                                    │
 *                          └────────── all of it, in the order of the topic ────┘
 *
 * A message has the evidence of some requests, and for each partition the offset from which they
 * were read and the offset up to which they were. It counts if all partitions stand at the former
 * in the topic of evidence, and moves them to the latter: as all members read it in the same order,
 * they agree on that. So what a member sends that has lost a partition, and does not know it yet,
 * counts for all or for nobody, and no transaction is needed: after a kill nobody waits for one to
 * run out, and evidence and offsets are there together or not at all. The offsets that the group
 * commits only show how far it is.
 *
 * An offset is that of the oldest unfinished request; requests that finished after it are in the
 * evidence too, and the message lists their ids. Whoever reads on from the offset leaves those out.
 * So each request is evidence once, whoever is killed whenever.
 *
 * A member that loses a partition, or whose message does not count, forgets what it has gathered
 * since its last message, and reads that again (pythia__kafka_shared_rewind): nobody knows which
 * part of its evidence came from where. Partitions are read only once the topic of evidence has
 * been read up to then, because it says from where.
 *
 * Orders by hand have messages of their own, and are obeyed in the order of the topic.
 *
 * So that the topic may forget, a member writes a snapshot to it every some rounds: all that the
 * search is after the messages before some offset, where the partitions stand, and the orders that
 * hold. A member that begins looks for the last snapshot from the end of the topic backwards, and
 * reads on from its offset; without one it reads from the topic's beginning. All members would
 * write the same, so one does: whose evidence has just counted. It writes another one when the
 * topic has forgotten the last.
 *
 * When all running members have missed evidence, none has the whole search, and they wait in vain.
 * One that found no snapshot and no new message in AFRESH_LOOKS looks at the topic writes "afresh":
 * its search as it stood, and where the topic ended when it last looked. That counts if there is no
 * message of the group between that offset and its own, and then for all, in the order of the
 * topic, also for a member that had missed nothing: so the first of several counts, and none where
 * a member still sends. All go on from that search; what was missed is read again, as its
 * partitions stand where that search knew them. A member whose search has not begun waits twice as
 * long, so that a search is not given up for one that is empty.
 *
 * There is no decider (live_shared.h says why): what would be its election is Kafka's order of the
 * messages, and its failover needs nothing. A member that cannot follow the search leaves the
 * group, so that its partitions are not lost to it. All calls are the loop's, but those that say
 * otherwise. */
#ifndef PYTHIA_PYTHIAD_KAFKA_SHARED_H
#define PYTHIA_PYTHIAD_KAFKA_SHARED_H

#include <stdatomic.h>

#include "kafka_parts.h"
#include "pythia/span.h"

#define KAFKA_PART_FORMAT "pythia.part/1" /* of the first line of a message */

enum kafka_shared_state {
    KAFKA_SHARED_BEGINNING, /* the topic and the producer are being looked for */
    KAFKA_SHARED_LOOKING,   /* a snapshot is being looked for in the topic */
    KAFKA_SHARED_BEHIND,    /* the topic has messages that were there before */
    KAFKA_SHARED_FOLLOWING,
    KAFKA_SHARED_FAILED /* the search cannot be followed any more */
};

/* A request that finished here. */
struct kafka_finished {
    struct pythia_trace_id id;
    uint64_t finished_ns;
};

/* Where a partition stands in the topic of evidence, by the last message about it that counts. */
struct kafka_stand {
    int32_t partition;
    int64_t offset;
    json_t *ids; /* owned: of requests after it that are evidence already */
};

/* The last snapshot in the topic, and the orders that hold, which the next one will have. */
struct kafka_snapshot {
    bool known;      /* else the topic has none, as far as was read */
    int64_t offset;  /* of its message; -1: it could not be sent */
    uint64_t rounds; /* of the search then */
    json_t *orders;  /* owned: the last one of each trace point, by its id, and "" for off */
    /* While it is looked for: */
    struct pythia_buf found;        /* the message; empty: none */
    int64_t found_offset, position; /* of it; where to read on with it */
    int64_t from;                   /* the search looks from there on … */
    int64_t before, after; /* … at messages before or after those, if any have been `passed` … */
    bool passed;           /* … that cannot be used */
    bool ours;             /* the topic has messages of this group */
    int64_t last;          /* offset of the last of them that was met; -1: none */
    bool afresh;           /* it, or what was begun with, is no usual snapshot */
    /* While there is none: where the topic ended, and at how many looks in a row it did there. */
    int64_t still;
    unsigned looks;
};

struct pythia__kafka_shared {
    enum kafka_shared_state state;
    struct kafka_snapshot snapshot;
    int64_t low, high; /* offsets in the topic, as of the last look at it */
    int64_t asked_low; /* the answer of _evidence_ask; -1: none */
    char name[300];    /* of this member, which no other has */
    rd_kafka_t *log, *producer;
    rd_kafka_queue_t *queue; /* of the log */
    rd_kafka_topic_t *topic; /* of the producer */
    int64_t next;            /* offset in the log */
    int64_t met;             /* of the last message of the group, or where reading began */
    uint64_t afresh;         /* times that the search began afresh */
    bool assigned;           /* the client reads the log */
    int64_t position;        /* where it still has to be sent; -1: nowhere */
    bool barrier;            /* partitions are not read until the end of the log was met */
    bool rewinds;            /* a rewind is due */
    bool seeks_again;        /* because partitions could not be set to their offsets */
    bool last_is_own;        /* the last message that counted was ours */
    bool awaited;            /* our message of that number was sent, and is not read yet */
    int64_t number;
    json_t *orders; /* owned: that are not in the topic yet, as far as is known; NULL: none */
    size_t ordered; /* how many of them are in the message that is awaited */
    struct kafka_finished *finished; /* owned: in order of time */
    size_t finished_count, finished_capacity;
    struct kafka_stand *stands; /* owned */
    size_t stand_count, stand_capacity;
    uint64_t tried_ms;                                /* when the last job began */
    uint64_t sent, failed, rewound, skipped, refused; /* refused: messages that did not count */
    int32_t partitions; /* of the topic of traces, as far as is known */
    bool told_settings, told_clocks;
    bool log_lost; /* the topic is gone, or may not be read: that stays the problem until it can */
    bool joined, leaves; /* the group; for good */
    /* The job, on a worker's thread while `working`: */
    uv_work_t work;
    atomic_bool hurries;   /* pythiad stops: a job ends as soon as it can */
    bool working, sending; /* sending: else it begins */
    bool sends_snapshot;
    bool has_afresh; /* the message begins the search afresh, and is not sent yet */
    struct pythia_buf message;
    bool job_failed, job_fatal, delivered;
    rd_kafka_resp_err_t job_code;
    char job_reason[512];
};

/* kafka_evidence.c: make the clients; look at the topics; send a message, and wait until it is
 * there. The latter three are for a worker's thread. Free the clients, which waits for Kafka. */
int pythia__kafka_evidence_create(struct pythia__kafka *k, struct pythia_error *e);
void pythia__kafka_evidence_begin(uv_work_t *work);
void pythia__kafka_evidence_send(uv_work_t *work);
void pythia__kafka_evidence_ask(struct pythia__kafka *k); /* at which offset the topic begins */
void pythia__kafka_evidence_close(struct pythia__kafka *k);

/* kafka_snapshot.c: look for a snapshot, with the topic's offsets as they are now; look at a
 * message; the end was met: begin with what was found, or look further back. */
void pythia__kafka_snapshot_look(struct pythia__kafka *k);
void pythia__kafka_snapshot_take(struct pythia__kafka *k, const rd_kafka_message_t *m);
void pythia__kafka_snapshot_end(struct pythia__kafka *k);
/* A message that begins the search afresh was met while following: true if it counts, and was
 * begun with. */
bool pythia__kafka_snapshot_afresh(struct pythia__kafka *k, const rd_kafka_message_t *m,
                                   const json_t *head);
/* A message of a snapshot was met while following, whose `rest` follows the head: one that
 * nobody can read is logged, and does not take the place of the last one. The topic has a snapshot
 * there; an order holds from now on. */
void pythia__kafka_snapshot_meet(struct pythia__kafka *k, int64_t offset, const json_t *head,
                                 struct pythia_text rest);
void pythia__kafka_snapshot_note(struct pythia__kafka *k, int64_t offset);
void pythia__kafka_snapshot_order(struct pythia__kafka_shared *s, const json_t *order);
/* Should this member write one? Write it into s->message. PYTHIA_OK or PYTHIA_ENOMEM. */
bool pythia__kafka_snapshot_is_due(const struct pythia__kafka *k);
int pythia__kafka_snapshot_write(struct pythia__kafka *k, bool afresh);
void pythia__kafka_snapshot_free(struct kafka_snapshot *s);

/* kafka_log.c: read the log from an offset on; follow it from s->next on;
 * the stand of a partition, made if there is none (NULL: out of memory); a message's first line, if
 * it is of this group's search (owned by the caller), and what follows it; log what cannot be used;
 * say that the settings differ, if they do; give up; add a line of JSON (taken). */
void pythia__kafka_log_assign(struct pythia__kafka *k, int64_t from);
void pythia__kafka_log_seek(struct pythia__kafka *k); /* if that was not possible yet */
void pythia__kafka_log_follow(struct pythia__kafka *k);
struct kafka_stand *pythia__kafka_log_find_stand(const struct pythia__kafka_shared *s,
                                                 int32_t partition); /* or NULL */
struct kafka_stand *pythia__kafka_log_stand(struct pythia__kafka_shared *s, int32_t partition);
json_t *pythia__kafka_log_head(const struct pythia__kafka *k, const rd_kafka_message_t *m,
                               struct pythia_text *rest, bool *other);
void pythia__kafka_log_skip(const struct pythia__kafka *k, int64_t offset, const char *reason);
void pythia__kafka_log_lose(struct pythia__kafka *k, rd_kafka_resp_err_t code, const char *reason);
void pythia__kafka_log_tell_clocks(struct pythia__kafka *k); /* once, if they differ */
void pythia__kafka_log_tell_settings(struct pythia__kafka *k);
void pythia__kafka_log_fail(struct pythia__kafka *k, const char *reason);
int pythia__kafka_log_add_line(struct pythia_buf *to, json_t *head);

/* Make what is shared, if the URL says so. PYTHIA_OK or negative with the reason in `e`. */
int pythia__kafka_shared_create(struct pythia__kafka *k, struct pythia_error *e);
void pythia__kafka_shared_destroy(struct pythia__kafka *k);

/* Read the topic, and send what is due. */
void pythia__kafka_shared_turn(struct pythia__kafka *k);

/* May partitions be read? */
bool pythia__kafka_shared_may_read(const struct pythia__kafka *k);

/* Where partitions that come are to be read from, as far as is known by now; and they came. */
void pythia__kafka_shared_place(struct pythia__kafka *k, rd_kafka_topic_partition_list_t *list);
void pythia__kafka_shared_assigned(struct pythia__kafka *k);

/* Partitions went, or a message did not count: read again from where the partitions stand. */
void pythia__kafka_shared_rewind(struct pythia__kafka *k);

/* Is a job under way, for which the clients must stay? */
bool pythia__kafka_shared_is_busy(const struct pythia__kafka *k);

#endif
