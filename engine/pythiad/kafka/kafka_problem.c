#include <stdio.h>

#include "kafka_shared.h"
#include "pythia/log.h"

/* What whoever runs the broker can do. */
static const char *find_remedy(rd_kafka_resp_err_t code, bool shared)
{
    switch ((int)code) {
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
        return shared ? ": trace points stay as they are, and the search of the group goes on when "
                        "one answers"
                      : "";
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        return ": let the user of --kafka read and describe the topic";
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
        return ": let the user of --kafka read the group";
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
        return ": it is read as soon as it is there";
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
        return ": give each member a group.instance.id of its own, and start it again";
    default:
        return "";
    }
}

void pythia__kafka_problem(struct pythia__kafka *k, rd_kafka_resp_err_t code, const char *reason)
{
    bool fenced = k->problem_code == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID; /* for good */
    /* That all brokers are gone follows from other problems, and says less. */
    bool follows = code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && k->problem_code != 0;
    /* Whatever else is answered, the shared search cannot be followed. */
    bool stays = code == RD_KAFKA_RESP_ERR_NO_ERROR && k->shared &&
                 (k->shared->log_lost || k->shared->leaves);
    if (k->stopping || code == k->problem_code || fenced || follows || stays)
        return;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        pythia_log(PYTHIA_LOG_INFO, "Kafka answers again: topic=%s", k->url.topic);
        *k->problem = '\0';
    } else {
        snprintf(k->problem, sizeof(k->problem), "%s%s", reason, find_remedy(code, k->shared));
        pythia_log(PYTHIA_LOG_WARNING, "Cannot read from Kafka: topic=%s, group=%s, reason=%s",
                   k->url.topic, k->url.group, k->problem);
    }
    k->problem_code = code;
}
