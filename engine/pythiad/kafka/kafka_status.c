/* What is known of the group and its partitions, as JSON and as metrics. */
#include <inttypes.h>

#include "kafka_shared.h"
#include "pythia/live_shared.h"
#include "shared/metric_text.h"

#define kafka pythia__kafka_library

/* The offset after the last message of a partition, as the broker said when it last answered; -1:
 * it has not. */
static int64_t end_of(const struct pythia__kafka *k, const struct kafka_partition *p)
{
    int64_t low = -1, high = -1;
    if (k->stopping || kafka.get_watermark_offsets(k->client, k->url.topic, p->id, &low, &high) !=
                           RD_KAFKA_RESP_ERR_NO_ERROR)
        return -1;
    return high >= 0 ? high : -1;
}

/* Messages that have not been read; -1: not known. */
static int64_t lag_of(const struct pythia__kafka *k, const struct kafka_partition *p)
{
    int64_t end = end_of(k, p);
    if (end < 0 || p->position == 0)
        return -1;
    return end > p->position ? end - p->position : 0;
}

static json_t *pack_known(int64_t offset)
{
    return offset < 0 ? json_null() : json_integer(offset);
}

static json_t *pack_partition(const struct pythia__kafka *k, const struct kafka_partition *p)
{
    json_t *broken = p->broken == 0
                         ? json_null()
                         : json_pack("{s:I, s:s}", "offset", (json_int_t)p->broken_offset, "reason",
                                     p->broken_reason);
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:I, s:I, s:o}", "partition", (int)p->id,
                     "position", pack_known(p->position ? p->position : -1), "committed",
                     pack_known(p->committed), "end", pack_known(end_of(k, p)), "lag",
                     pack_known(lag_of(k, p)), "messages", (json_int_t)p->messages, "broken",
                     (json_int_t)p->broken, "last_broken", broken);
}

static json_t *list_partitions(const struct pythia__kafka *k)
{
    json_t *list = json_array();
    for (const struct kafka_partition *p = k->partitions; p; p = p->next)
        if (!p->left)
            (void)json_array_append_new(list, pack_partition(k, p));
    return list;
}

/* What the members share; null: nothing. */
static json_t *pack_shared(const struct pythia__kafka *k)
{
    static const char *const states[] = {[KAFKA_SHARED_BEGINNING] = "beginning",
                                         [KAFKA_SHARED_LOOKING] = "looking",
                                         [KAFKA_SHARED_BEHIND] = "behind",
                                         [KAFKA_SHARED_FOLLOWING] = "following",
                                         [KAFKA_SHARED_FAILED] = "failed"};
    const struct pythia__kafka_shared *s = k->shared;
    if (!s)
        return json_null();
    struct pythia_live_shared_numbers n = pythia_live_shared_numbers(k->live);
    bool has_snapshot = s->snapshot.known && s->snapshot.offset >= 0;
    uint64_t skipped = s->skipped + n.broken + n.other_groups + n.other_settings;
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
                     "s:I, s:I, s:b, s:o, s:I}",
                     "topic", k->url.evidence, "name", s->name, "state", states[s->state],
                     "members", (json_int_t)n.members, "position", (json_int_t)s->next, "snapshot",
                     pack_known(s->snapshot.known ? s->snapshot.offset : -1), "set",
                     (json_int_t)n.set, "rounds", (json_int_t)n.rounds, "requests",
                     (json_int_t)n.requests, "waiting", (json_int_t)n.waiting, "waiting_requests",
                     (json_int_t)n.waiting_requests, "late_requests", (json_int_t)n.late_requests,
                     "sent", (json_int_t)s->sent, "failed", (json_int_t)s->failed, "rewound",
                     (json_int_t)s->rewound, "skipped", (json_int_t)skipped, "refused",
                     (json_int_t)s->refused, "differs", n.differs, "snapshot_age_rounds",
                     pack_known(has_snapshot ? (int64_t)(n.rounds - s->snapshot.rounds) : -1),
                     "afresh", (json_int_t)s->afresh);
}

json_t *pythia__kafka_status(const struct pythia__kafka *k)
{
    if (!k)
        return json_null();
    struct pythia_window_numbers window = pythia_live_window(k->live);
    return json_pack("{s:s, s:s, s:s?, s:s?, s:b, s:I, s:I, s:I, s:I, s:I, s:o, s:O?, s:o}",
                     "topic", k->url.topic, "group", k->url.group, "member", k->member, "problem",
                     k->problem_code ? k->problem : NULL, "paused", k->paused, "messages",
                     (json_int_t)k->messages, "broken", (json_int_t)k->broken, "unkeyed",
                     (json_int_t)k->unkeyed, "split_traces", (json_int_t)window.split_traces,
                     "forgotten_traces", (json_int_t)window.forgotten_traces, "partitions",
                     list_partitions(k), "members", k->members, "search", pack_shared(k));
}

/* ---- metrics ---- */

struct metric {
    const char *name, *type, *help;
    uint64_t value;
};

static void write_kafka_metrics(struct pythia_buf *to, const struct metric *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pythia__metric_head(to, all[i].name, all[i].type, all[i].help);
        pythia_buf_printf(to, "%s %" PRIu64 "\n", all[i].name, all[i].value);
    }
}

/* One line a partition. */
static void write_partitions(const struct pythia__kafka *k, struct pythia_buf *to, const char *name,
                             const char *type, const char *help,
                             int64_t (*value)(const struct pythia__kafka *k,
                                              const struct kafka_partition *p))
{
    pythia__metric_head(to, name, type, help);
    for (const struct kafka_partition *p = k->partitions; p; p = p->next)
        if (!p->left && value(k, p) >= 0)
            pythia_buf_printf(to, "%s{topic=\"%s\",partition=\"%" PRId32 "\"} %" PRId64 "\n", name,
                              k->url.topic, p->id, value(k, p));
}

static int64_t broken_of(const struct pythia__kafka *k, const struct kafka_partition *p)
{
    (void)k;
    return (int64_t)p->broken;
}

static int64_t uncommitted_of(const struct pythia__kafka *k, const struct kafka_partition *p)
{
    (void)k;
    return p->committed < 0 ? -1 : p->position - p->committed;
}

static void write_shared(const struct pythia__kafka *k, struct pythia_buf *to)
{
    const struct pythia__kafka_shared *s = k->shared;
    if (!s)
        return;
    struct pythia_live_shared_numbers n = pythia_live_shared_numbers(k->live);
    const struct metric all[] = {
        {"pythia_kafka_search_following", "gauge",
         "1: the member stands where its group's search stands.",
         s->state == KAFKA_SHARED_FOLLOWING && !n.differs},
        {"pythia_kafka_search_rounds_total", "counter", "Rounds that were decided.", n.rounds},
        {"pythia_kafka_search_requests_total", "counter", "Requests in them.", n.requests},
        {"pythia_kafka_search_late_requests_total", "counter",
         "Requests whose evidence came after the points that they were seen with had changed.",
         n.late_requests},
        {"pythia_kafka_search_sent_total", "counter", "Messages of evidence that this member sent.",
         s->sent},
        {"pythia_kafka_search_failed_total", "counter",
         "Messages of this member that were not sent: their requests were read again.", s->failed},
        {"pythia_kafka_search_refused_total", "counter",
         "Messages that do not count, because another member had sent evidence of a partition.",
         s->refused},
        {"pythia_kafka_search_rewinds_total", "counter",
         "Times that this member read again from what was committed.", s->rewound},
        {"pythia_kafka_search_skipped_total", "counter",
         "Messages of the topic that are no evidence of this group's search.",
         s->skipped + n.broken + n.other_groups + n.other_settings},
    };
    write_kafka_metrics(to, all, sizeof(all) / sizeof(all[0]));
}

void pythia__kafka_metrics(const struct pythia__kafka *k, struct pythia_buf *to)
{
    if (!k)
        return;
    struct pythia_window_numbers window = pythia_live_window(k->live);
    const struct metric all[] = {
        {"pythia_kafka_messages_total", "counter", "Messages read.", k->messages},
        {"pythia_kafka_message_bytes_total", "counter", "Bytes of them, unpacked.", k->bytes},
        {"pythia_kafka_messages_unkeyed_total", "counter",
         "Messages without a key, whose traces may be spread over partitions.", k->unkeyed},
        {"pythia_kafka_traces_split_total", "counter",
         "Traces that had spans in two partitions at once.", window.split_traces},
        {"pythia_kafka_traces_forgotten_total", "counter",
         "Unfinished traces of partitions that went to another member, which reads them again.",
         window.forgotten_traces},
        {"pythia_kafka_rebalances_total", "counter", "Times that partitions came or went.",
         k->rebalances},
        {"pythia_kafka_pauses_total", "counter",
         "Times that partitions were paused, because memory was full.", k->pauses},
        {"pythia_kafka_members", "gauge", "Members of the group; 0: not known.",
         json_array_size(k->members)},
        {"pythia_kafka_paused", "gauge", "1: partitions are paused.", k->paused},
        {"pythia_kafka_problem", "gauge", "1: Kafka cannot be read; the status says why.",
         k->problem_code != 0},
    };
    write_kafka_metrics(to, all, sizeof(all) / sizeof(all[0]));
    write_shared(k, to);
    write_partitions(k, to, "pythia_kafka_messages_broken_total", "counter",
                     "Messages of which something could not be read.", broken_of);
    write_partitions(k, to, "pythia_kafka_lag", "gauge", "Messages that have not been read.",
                     lag_of);
    write_partitions(k, to, "pythia_kafka_uncommitted", "gauge",
                     "Messages that whoever takes the partition over reads again.", uncommitted_of);
}
