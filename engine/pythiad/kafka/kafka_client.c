/* Clients of Kafka with the settings of the URL. */
#include "kafka_parts.h"
#include "pythia/log.h"
#include "pythia/status.h"

#define kafka pythia__kafka_library

/* Before those of the URL, which outrank them. A session of 6 s is the shortest that brokers allow:
 * a killed member is replaced after it. What a client holds beside the engine is bounded. A topic
 * that is made, or made anew, is found after 10 s. */
static const char *const defaults[][2] = {
    {"client.id", "pythiad"},
    {"session.timeout.ms", "6000"},
    {"heartbeat.interval.ms", "1500"},
    {"queued.max.messages.kbytes", "16384"},
    {"fetch.wait.max.ms", "100"},
    {"topic.metadata.refresh.interval.ms", "10000"},
    {"reconnect.backoff.max.ms", "2000"},
    {"auto.commit.interval.ms", "1000"},
};

/* Called on threads of the client. */
static void log_line(const rd_kafka_t *client, int level, const char *facility, const char *text)
{
    (void)client, (void)level;
    pythia_log(PYTHIA_LOG_DEBUG, "Kafka: %s: %s", facility, text);
}

static int set_all(rd_kafka_conf_t *conf, const char *const (*pairs)[2], size_t count,
                   struct pythia_error *e)
{
    char why[256];
    for (size_t i = 0; i < count; i++)
        if (kafka.conf_set(conf, pairs[i][0], pairs[i][1], why, sizeof(why)) != RD_KAFKA_CONF_OK)
            return pythia_error_set(e, PYTHIA_EUSAGE, "kafka: %s", why);
    return PYTHIA_OK;
}

static int set_conf(const struct pythia__kafka_url *u, rd_kafka_conf_t *conf,
                    struct pythia_error *e)
{
    const char *const own[][2] = {{"bootstrap.servers", u->brokers}, {"group.id", u->group}};
    int status = set_all(conf, defaults, sizeof(defaults) / sizeof(defaults[0]), e);
    for (int i = 0; i < u->setting_count && status == PYTHIA_OK; i++) {
        const char *const pair[][2] = {{u->settings[i].name, u->settings[i].value}};
        status = set_all(conf, pair, 1, e);
    }
    return status == PYTHIA_OK ? set_all(conf, own, sizeof(own) / sizeof(own[0]), e) : status;
}

int pythia__kafka_conf(struct pythia__kafka *k, const char *const (*pairs)[2], size_t count,
                       rd_kafka_conf_t **out, struct pythia_error *e)
{
    rd_kafka_conf_t *conf = kafka.conf_new();
    int status = set_conf(&k->url, conf, e);
    if (status == PYTHIA_OK)
        status = set_all(conf, pairs, count, e);
    if (status != PYTHIA_OK) {
        kafka.conf_destroy(conf);
        return status;
    }
    kafka.conf_set_opaque(conf, k);
    kafka.conf_set_log_cb(conf, log_line);
    *out = conf;
    return PYTHIA_OK;
}

int pythia__kafka_client(rd_kafka_type_t type, rd_kafka_conf_t *conf, rd_kafka_t **out,
                         struct pythia_error *e)
{
    char why[256];
    *out = kafka.new(type, conf, why, sizeof(why)); /* takes the settings */
    if (*out)
        return PYTHIA_OK;
    kafka.conf_destroy(conf);
    return pythia_error_set(e, PYTHIA_EUSAGE, "kafka: %s", why);
}

void pythia__kafka_join(struct pythia__kafka *k)
{
    rd_kafka_topic_partition_list_t *topics = kafka.topic_partition_list_new(1);
    kafka.topic_partition_list_add(topics, k->url.topic, RD_KAFKA_PARTITION_UA);
    rd_kafka_resp_err_t error = kafka.subscribe(k->client, topics);
    kafka.topic_partition_list_destroy(topics);
    if (error)
        pythia__kafka_problem(k, error, kafka.err2str(error));
}
