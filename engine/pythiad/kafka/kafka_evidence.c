/* The clients of the topic of evidence, and their calls that wait for Kafka. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kafka_shared.h"
#include "pythia/status.h"

#define kafka pythia__kafka_library

#define WAIT_MS  5000
#define SLICE_MS 500 /* of a wait: then it looks whether pythiad stops */
#define ASK_MS   1000
#define FLUSH_MS 12000 /* more than message.timeout.ms */

/* In a producer's settings. One message is the evidence of a cycle. */
static const char *const producing[][2] = {
    {"enable.idempotence", "true"},    {"message.timeout.ms", "10000"}, {"linger.ms", "0"},
    {"message.max.bytes", "64000000"}, {"compression.codec", "zstd"},
};

/* Where messages are gone, the client goes on with those that are left, which shows by their
 * offsets: an error would leave it without a position. */
static const char *const following[][2] = {
    {"enable.auto.commit", "false"},
    {"enable.partition.eof", "true"},
    {"auto.offset.reset", "earliest"},
    {"fetch.message.max.bytes", "64000000"},
};

static void fail_job(struct pythia__kafka_shared *s, rd_kafka_resp_err_t code, const char *reason)
{
    if (s->job_failed)
        return;
    s->job_failed = true;
    s->job_code = code;
    snprintf(s->job_reason, sizeof(s->job_reason), "%s", reason);
}

/* A failure that is the topic's, with what whoever runs the broker can do. */
static void fail_topic(struct pythia__kafka *k, rd_kafka_resp_err_t code)
{
    char reason[512];
    snprintf(reason, sizeof(reason), "%s: %s: %s", k->url.evidence, kafka.err2str(code),
             code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED
                 ? "let the user of --kafka describe, read and write it"
             : code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE
                 ? "raise its max.message.bytes, to 16777216 or more"
                 : "make it with 1 partition, cleanup.policy=delete and "
                   "max.message.bytes=16777216");
    fail_job(k->shared, RD_KAFKA_RESP_ERR__INVALID_ARG, reason);
}

/* Errors of a topic, which do not go away by themselves. */
static bool is_of_topic(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
           code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ||
           code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
           code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
}

/* Called by _poll of the topic of evidence. The client of the topic of traces says what concerns
 * brokers. */
static void note_log_error(rd_kafka_t *client, int code, const char *reason, void *context)
{
    struct pythia__kafka *k = context;
    (void)client;
    if (is_of_topic((rd_kafka_resp_err_t)code))
        pythia__kafka_log_lose(k, (rd_kafka_resp_err_t)code, reason);
}

/* Called by _flush on the worker's thread. */
static void note_delivery(rd_kafka_t *client, const rd_kafka_message_t *m, void *context)
{
    struct pythia__kafka *k = context;
    (void)client;
    k->shared->delivered = m->err == RD_KAFKA_RESP_ERR_NO_ERROR;
    if (m->err && is_of_topic(m->err))
        fail_topic(k, m->err);
    else if (m->err)
        fail_job(k->shared, m->err, kafka.err2str(m->err));
}

/* Ask for what is known of a topic, as long as WAIT_MS or until pythiad stops. */
static rd_kafka_resp_err_t ask_metadata(struct pythia__kafka_shared *s, rd_kafka_topic_t *topic,
                                        const struct rd_kafka_metadata **about)
{
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR__TIMED_OUT;
    for (int ms = 0; error == RD_KAFKA_RESP_ERR__TIMED_OUT && ms < WAIT_MS; ms += SLICE_MS) {
        if (atomic_load(&s->hurries))
            break;
        error = kafka.metadata(s->producer, 0, topic, about, SLICE_MS);
    }
    return error;
}

static int make_producer(struct pythia__kafka *k, struct pythia_error *e)
{
    rd_kafka_conf_t *conf;
    int status =
        pythia__kafka_conf(k, producing, sizeof(producing) / sizeof(producing[0]), &conf, e);
    if (status != PYTHIA_OK)
        return status;
    kafka.conf_set_dr_msg_cb(conf, note_delivery);
    return pythia__kafka_client(RD_KAFKA_PRODUCER, conf, &k->shared->producer, e);
}

int pythia__kafka_evidence_create(struct pythia__kafka *k, struct pythia_error *e)
{
    struct pythia__kafka_shared *s = k->shared;
    rd_kafka_conf_t *conf;
    int status =
        pythia__kafka_conf(k, following, sizeof(following) / sizeof(following[0]), &conf, e);
    if (status != PYTHIA_OK)
        return status;
    kafka.conf_set_error_cb(conf, note_log_error);
    if ((status = pythia__kafka_client(RD_KAFKA_CONSUMER, conf, &s->log, e)) != PYTHIA_OK)
        return status;
    kafka.poll_set_consumer(s->log);
    s->queue = kafka.queue_get_consumer(s->log);
    return make_producer(k, e);
}

/* While the topic of traces is not there, the partitions are counted when they come. */
static void count_all_partitions(struct pythia__kafka *k)
{
    const struct rd_kafka_metadata *about = NULL;
    rd_kafka_topic_t *topic = kafka.topic_new(k->shared->producer, k->url.topic, NULL);
    if (topic && ask_metadata(k->shared, topic, &about) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        if (about->topic_cnt == 1 && !about->topics[0].err)
            k->shared->partitions = about->topics[0].partition_cnt;
        kafka.metadata_destroy(about);
    }
    if (topic)
        kafka.topic_destroy(topic);
}

/* Ask where the topic of evidence begins, or where it ends (RD_KAFKA_OFFSET_BEGINNING and _END,
 * which brokers take in place of a time). The call that is made for that, _query_watermark_offsets,
 * does not heed its time limit in version 2.0.2: where no broker answers, it waits for good. */
static rd_kafka_resp_err_t ask_offset(struct pythia__kafka *k, rd_kafka_t *client, int64_t which,
                                      int64_t *offset)
{
    rd_kafka_topic_partition_list_t *list = kafka.topic_partition_list_new(1);
    kafka.topic_partition_list_add(list, k->url.evidence, 0)->offset = which;
    rd_kafka_resp_err_t error = kafka.offsets_for_times(client, list, ASK_MS);
    if (!error)
        error = list->elems[0].err;
    if (!error && list->elems[0].offset < 0) /* still what was asked: there was no answer */
        error = RD_KAFKA_RESP_ERR__TIMED_OUT;
    if (!error)
        *offset = list->elems[0].offset;
    kafka.topic_partition_list_destroy(list);
    return error;
}

/* One partition, or the order would not be the same for all. */
static void check_log(struct pythia__kafka *k)
{
    struct pythia__kafka_shared *s = k->shared;
    const struct rd_kafka_metadata *about = NULL;
    char reason[256];
    rd_kafka_resp_err_t error = ask_metadata(s, s->topic, &about);
    if (error) {
        fail_job(s, error, kafka.err2str(error));
        return;
    }
    if (about->topic_cnt != 1 || about->topics[0].err) {
        fail_topic(k,
                   about->topic_cnt == 1 ? about->topics[0].err : RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC);
    } else if (about->topics[0].partition_cnt != 1) {
        snprintf(reason, sizeof(reason),
                 "%s has %d partitions, so that members would read evidence in different orders: "
                 "make another topic with 1, and name it with evidence=",
                 k->url.evidence, about->topics[0].partition_cnt);
        fail_job(s, RD_KAFKA_RESP_ERR__INVALID_ARG, reason);
    }
    kafka.metadata_destroy(about);
    if (s->job_failed)
        return;
    error = ask_offset(k, s->producer, RD_KAFKA_OFFSET_BEGINNING, &s->low);
    if (!error)
        error = ask_offset(k, s->producer, RD_KAFKA_OFFSET_END, &s->high);
    if (error)
        fail_job(s, error, kafka.err2str(error));
}

/* A producer that failed for good is replaced. */
void pythia__kafka_evidence_begin(uv_work_t *work)
{
    struct pythia__kafka *k = work->data;
    struct pythia__kafka_shared *s = k->shared;
    struct pythia_error e = {0};
    if (s->job_fatal) {
        if (s->topic)
            kafka.topic_destroy(s->topic);
        kafka.destroy(s->producer);
        s->topic = NULL;
        s->producer = NULL;
    }
    s->job_failed = s->job_fatal = false;
    if (!s->producer && make_producer(k, &e) != PYTHIA_OK) {
        fail_job(s, RD_KAFKA_RESP_ERR__INVALID_ARG, e.sentence);
        return;
    }
    if (!s->topic)
        s->topic = kafka.topic_new(s->producer, k->url.evidence, NULL);
    if (!s->topic)
        fail_job(s, kafka.last_error(), kafka.err2str(kafka.last_error()));
    if (!s->job_failed)
        check_log(k);
    if (!s->job_failed)
        count_all_partitions(k);
}

/* Until the message is there, or given up, or pythiad stops. False: it is there. */
static bool flush_producer(struct pythia__kafka_shared *s)
{
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR__TIMED_OUT;
    for (int ms = 0; error && ms < FLUSH_MS && !atomic_load(&s->hurries); ms += SLICE_MS)
        error = kafka.flush(s->producer, SLICE_MS);
    return error != RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* What was not delivered in time may be there all the same: its sender reads the topic, and knows.
 * */
void pythia__kafka_evidence_send(uv_work_t *work)
{
    struct pythia__kafka *k = work->data;
    struct pythia__kafka_shared *s = k->shared;
    char why[256];
    s->job_failed = s->delivered = false;
    if (kafka.produce(s->topic, 0, RD_KAFKA_MSG_F_COPY, s->message.bytes, s->message.size, s->name,
                      strlen(s->name), NULL) != 0)
        fail_job(s, kafka.last_error(), kafka.err2str(kafka.last_error()));
    else if (flush_producer(s) || !s->delivered)
        fail_job(s, RD_KAFKA_RESP_ERR__TIMED_OUT, "no broker has taken it in time");
    s->job_fatal = s->job_failed && kafka.fatal_error(s->producer, why, sizeof(why));
}

/* By the client of the topic of traces, which no other thread replaces meanwhile. */
void pythia__kafka_evidence_ask(struct pythia__kafka *k)
{
    k->shared->asked_low = -1;
    (void)ask_offset(k, k->client, RD_KAFKA_OFFSET_BEGINNING, &k->shared->asked_low);
}

void pythia__kafka_evidence_close(struct pythia__kafka *k)
{
    struct pythia__kafka_shared *s = k->shared;
    if (s->topic)
        kafka.topic_destroy(s->topic);
    if (s->producer)
        kafka.destroy(s->producer);
    if (s->log) {
        (void)kafka.consumer_close(s->log);
        kafka.destroy(s->log);
    }
    s->topic = NULL;
    s->producer = s->log = NULL;
}
