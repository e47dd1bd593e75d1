#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kafka_shared.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define kafka pythia__kafka_library

#define TURN_MESSAGES 2048 /* some ms; others wait meanwhile */
#define WAITING_MAX   2    /* bodies: more messages stay with the client */
#define TICK_MS       1000 /* between offsets that are stored */
#define SHARED_MS     250  /* between looks whether evidence is complete */
#define PRESSURE_MS   20   /* between looks whether the engine takes more */
#define LEAVE_MS      2000 /* to leave the group; pythiad has 5 s to stop */
#define POLL_MS       50

/* After those of the URL, which cannot have them. Offsets are stored here, and committed by the
 * client, which alone knows when no rebalance is under way: before 2.8.0 it takes a commit that
 * meets one for a lost assignment, gives all partitions back, and they are read twice. */
static const char *const fixed[][2] = {
    {"enable.auto.commit", "true"},
    {"enable.auto.offset.store", "false"},
    {"partition.assignment.strategy", "cooperative-sticky"},
};

/* After a fatal error, such as that of a fenced member, the client reads nothing any more: its
 * cause is the problem. */
static void report_error(struct pythia__kafka *k, rd_kafka_t *client, rd_kafka_resp_err_t code,
                         const char *reason)
{
    char why[256];
    if (code == RD_KAFKA_RESP_ERR__FATAL) {
        code = kafka.fatal_error(client, why, sizeof(why));
        reason = why;
    }
    /* A connection that broke is made anew; when all brokers are gone there is another error. */
    if (code != RD_KAFKA_RESP_ERR__TRANSPORT)
        pythia__kafka_problem(k, code, reason);
}

static void on_error(rd_kafka_t *client, int code, const char *reason, void *context)
{
    report_error(context, client, (rd_kafka_resp_err_t)code, reason);
}

/* Called on a thread of the client when its queue is no longer empty. */
static void wake_loop(rd_kafka_t *client, void *context)
{
    struct pythia__kafka *k = context;
    (void)client;
    uv_async_send(&k->wake);
}

static void take_polled(struct pythia__kafka *k, const rd_kafka_message_t *m)
{
    if (m->err) {
        report_error(k, k->client, m->err,
                     m->payload ? (const char *)m->payload : kafka.err2str(m->err));
        return;
    }
    pythia__kafka_problem(k, RD_KAFKA_RESP_ERR_NO_ERROR, "");
    pythia__kafka_bodies_take(k, m);
}

/* Paused partitions give no messages, so that rebalances and errors are seen all the same. */
static void read_messages(struct pythia__kafka *k)
{
    rd_kafka_message_t *m = NULL;
    if (k->stopping)
        return;
    pythia__kafka_shared_turn(k);
    for (int count = 0; pythia__kafka_shared_may_read(k) &&
                        (k->waiting < WAITING_MAX || k->paused) && count < TURN_MESSAGES;
         count++) {
        if (!(m = kafka.consumer_poll(k->client, 0)))
            break;
        take_polled(k, m);
        kafka.message_destroy(m);
    }
    if (m) /* the queue was not empty, and nobody wakes the loop */
        uv_async_send(&k->wake);
    pythia__kafka_bodies_submit(k);
}

static void on_wake(uv_async_t *wake)
{
    read_messages(wake->data);
}

static void tell_split(struct pythia__kafka *k)
{
    uint64_t split = pythia_live_window(k->live).split_traces;
    if (split > 0 && k->told_split == 0)
        pythia_log(PYTHIA_LOG_WARNING,
                   "Spans of one trace come from two partitions, so that members see parts of "
                   "requests; set partition_traces_by_id: true in the Collector's kafka exporter: "
                   "topic=%s, traces=%" PRIu64,
                   k->url.topic, split);
    k->told_split = split;
}

/* Leave the group. While a rebalance is under way, the broker answers nothing on the connection
 * before the others have joined again, which takes as long as they take: with several members that
 * stop one after the other, a session. So it is not waited for. False: there was no answer in time;
 * the broker drops the member at the end of its session, and what was not committed is read again.
 */
static bool leave_in_time(struct pythia__kafka *k)
{
    rd_kafka_queue_t *queue = kafka.queue_new(k->client);
    uint64_t until_ns = uv_hrtime() + LEAVE_MS * UINT64_C(1000000);
    rd_kafka_error_t *error = kafka.consumer_close_queue(k->client, queue);
    if (error)
        kafka.error_destroy(error);
    while (!error && !kafka.consumer_closed(k->client) && uv_hrtime() < until_ns) {
        rd_kafka_message_t *m = kafka.consume_queue(queue, POLL_MS); /* it makes callbacks */
        if (m)
            kafka.message_destroy(m);
    }
    kafka.queue_destroy(queue);
    return kafka.consumer_closed(k->client);
}

/* Runs on a worker thread, because it waits for Kafka. Callbacks come on this thread meanwhile. */
static void close_client(uv_work_t *work)
{
    struct pythia__kafka *k = work->data;
    if (k->shared)
        pythia__kafka_evidence_close(k);
    if (leave_in_time(k))
        kafka.destroy(k->client);
    else /* to free the client would wait for the answer, too: the process ends without that */
        pythia_log(PYTHIA_LOG_INFO,
                   "Stops without an answer of the group, which drops the member when its session "
                   "ends: topic=%s, group=%s",
                   k->url.topic, k->url.group);
}

static void note_closed(uv_work_t *work, int cancelled)
{
    struct pythia__kafka *k = work->data;
    (void)cancelled;
    uv_close((uv_handle_t *)&k->wake, NULL);
    uv_close((uv_handle_t *)&k->tick, NULL);
    k->closed = true;
}

/* The client is closed once nobody else uses it. */
static void begin_closing(struct pythia__kafka *k)
{
    if (k->listing || pythia__kafka_shared_is_busy(k))
        return;
    uv_timer_stop(&k->tick);
    uv_queue_work(k->loop, &k->closing, close_client, note_closed);
}

static void on_tick(uv_timer_t *timer)
{
    struct pythia__kafka *k = timer->data;
    if (k->stopping) {
        begin_closing(k);
        return;
    }
    read_messages(k);
    uint64_t now_ms = uv_now(k->loop);
    if (now_ms - k->stored_ms >= TICK_MS) {
        k->stored_ms = now_ms;
        pythia__kafka_group_store(k);
        pythia__kafka_members_tick(k);
        tell_split(k);
    }
    uint64_t wanted = k->paused ? PRESSURE_MS : k->shared ? SHARED_MS : TICK_MS;
    if (uv_timer_get_repeat(timer) != wanted)
        uv_timer_start(timer, on_tick, wanted, wanted);
}

/* ---- making one ---- */

/* A member that shares its search joins later, once it stands where the others stand. */
static int make_clients(struct pythia__kafka *k, struct pythia_error *e)
{
    rd_kafka_conf_t *conf;
    int status = pythia__kafka_shared_create(k, e);
    if (status != PYTHIA_OK ||
        (status = pythia__kafka_conf(k, fixed, sizeof(fixed) / sizeof(fixed[0]), &conf, e)) !=
            PYTHIA_OK)
        return status;
    kafka.conf_set_error_cb(conf, on_error);
    kafka.conf_set_rebalance_cb(conf, pythia__kafka_group_rebalance);
    kafka.conf_set_offset_commit_cb(conf, pythia__kafka_group_committed);
    if ((status = pythia__kafka_client(RD_KAFKA_CONSUMER, conf, &k->client, e)) != PYTHIA_OK)
        return status;
    kafka.poll_set_consumer(k->client);
    if (!k->shared)
        pythia__kafka_join(k);
    return PYTHIA_OK;
}

static void listen_to_queue(struct pythia__kafka *k)
{
    uv_async_init(k->loop, &k->wake, on_wake);
    uv_timer_init(k->loop, &k->tick);
    k->wake.data = k->tick.data = k->closing.data = k;
    k->queue = kafka.queue_get_consumer(k->client);
    kafka.queue_cb_event_enable(k->queue, wake_loop, k);
    if (k->shared)
        kafka.queue_cb_event_enable(k->shared->queue, wake_loop, k);
    uv_async_send(&k->wake); /* something may have come before */
    uv_timer_start(&k->tick, on_tick, TICK_MS, TICK_MS);
}

int pythia__kafka_create(uv_loop_t *loop, struct pythia__intake *intake, struct pythia_live *live,
                         const struct pythia__kafka_options *options, struct pythia__kafka **out,
                         struct pythia_error *e)
{
    struct pythia__kafka *k = pythia_calloc(1, sizeof(*k));
    if (!k)
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to start");
    k->loop = loop;
    k->intake = intake;
    k->live = live;
    k->message_max = options->message_max;
    k->obey = options->obey;
    k->save = options->save;
    k->restore = options->restore;
    k->owner = options->context;
    k->json = pythia_adapter_named("otlp");
    k->protobuf = pythia_adapter_named("otlp-proto");
    k->last = &k->first;
    int status = pythia__kafka_url_read(options->url, &k->url, e);
    if (status == PYTHIA_OK && !pythia__kafka_library_load())
        status = pythia_error_set(e, PYTHIA_EUSAGE,
                                  "--kafka needs a library: apt-get install librdkafka1");
    if (status != PYTHIA_OK || (status = make_clients(k, e)) != PYTHIA_OK) {
        if (k->shared)
            pythia__kafka_evidence_close(k);
        pythia__kafka_destroy(k);
        return status;
    }
    listen_to_queue(k);
    *out = k;
    return PYTHIA_OK;
}

void pythia__kafka_stop(struct pythia__kafka *k)
{
    if (!k || k->stopping)
        return;
    pythia__kafka_group_store(k);
    pythia__kafka_group_leave(k);
    k->stopping = true;
    if (k->shared)
        atomic_store(&k->shared->hurries, true);
    kafka.queue_cb_event_enable(k->queue, NULL, NULL);
    kafka.queue_destroy(k->queue);
    if (k->shared) {
        kafka.queue_cb_event_enable(k->shared->queue, NULL, NULL);
        kafka.queue_destroy(k->shared->queue);
    }
    uv_timer_start(&k->tick, on_tick, 0, PRESSURE_MS);
}

bool pythia__kafka_is_running(const struct pythia__kafka *k)
{
    return k && !k->closed;
}

void pythia__kafka_destroy(struct pythia__kafka *k)
{
    if (!k)
        return;
    json_decref(k->members);
    pythia_free(k->member);
    pythia__kafka_shared_destroy(k);
    pythia__kafka_url_free(&k->url);
    pythia_free(k);
}
