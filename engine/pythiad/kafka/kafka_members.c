/* The members of the group, as its coordinator knows them. They are asked for now and then on a
 * worker thread: the call waits for brokers. (The client's asynchronous call for it,
 * DescribeConsumerGroups, blocks the whole client of version 2.0.2 for good when a broker does not
 * support it.)
 *
 * The brokers are asked for metadata first, to see whether any answers. The client says that all
 * are down only if it meets all of them between two attempts to connect, which it may never do when
 * there are several connections; and the answer about the group does not tell: it can be that
 * brokers do not support the question, which the client knows without asking them. */
#include <arpa/inet.h>
#include <string.h>

#include "kafka_shared.h"

#define kafka pythia__kafka_library

#define ASK_MS    10000
#define ANSWER_MS 2000

#define SILENT_MAX 2 /* answers that may be missing: a broker that is busy is not gone */

static void list_group(uv_work_t *work)
{
    struct pythia__kafka *k = work->data;
    const struct rd_kafka_metadata *about = NULL;
    k->answer = kafka.metadata(k->client, 0, NULL, &about, ANSWER_MS);
    if (!k->answer)
        kafka.metadata_destroy(about);
    if (k->answer || kafka.list_groups(k->client, k->url.group, &k->groups, ANSWER_MS))
        k->groups = NULL;
    if (k->shared && !atomic_load(&k->shared->hurries))
        pythia__kafka_evidence_ask(k);
}

static bool take_bytes(struct pythia_text *from, void *to, size_t size)
{
    if (from->size < size)
        return false;
    memcpy(to, from->bytes, size);
    from->bytes += size;
    from->size -= size;
    return true;
}

static bool take_int32(struct pythia_text *from, uint32_t *to)
{
    if (!take_bytes(from, to, sizeof(*to)))
        return false;
    *to = ntohl(*to);
    return true;
}

static bool take_name(struct pythia_text *from, struct pythia_text *name)
{
    uint16_t size;
    if (!take_bytes(from, &size, sizeof(size)) || from->size < ntohs(size))
        return false;
    *name = (struct pythia_text){from->bytes, ntohs(size)};
    from->bytes += name->size;
    from->size -= name->size;
    return true;
}

/* Add the partitions of an assignment: a version (16 bits), then for each topic its name and its
 * partitions, all with their numbers before them, in the order of the network. */
static void add_partitions(json_t *to, const struct pythia__kafka *k, struct pythia_text assignment)
{
    uint16_t version;
    uint32_t topics, partitions, partition;
    struct pythia_text name;
    if (!take_bytes(&assignment, &version, sizeof(version)) || !take_int32(&assignment, &topics))
        return;
    for (uint32_t t = 0; t < topics; t++) {
        if (!take_name(&assignment, &name) || !take_int32(&assignment, &partitions))
            return;
        for (uint32_t p = 0; p < partitions; p++) {
            if (!take_int32(&assignment, &partition))
                return;
            if (pythia_text_equal(name, pythia_text_of(k->url.topic)))
                (void)json_array_append_new(to, json_integer(partition));
        }
    }
}

static json_t *pack_member(const struct pythia__kafka *k,
                           const struct rd_kafka_group_member_info *m)
{
    json_t *partitions = json_array();
    if (m->member_assignment_size > 0)
        add_partitions(
            partitions, k,
            (struct pythia_text){m->member_assignment, (size_t)m->member_assignment_size});
    return json_pack("{s:s, s:s, s:s, s:o}", "member", m->member_id, "client", m->client_id, "host",
                     m->client_host, "partitions", partitions);
}

static void note_answer(struct pythia__kafka *k)
{
    bool silent = k->answer == RD_KAFKA_RESP_ERR__TRANSPORT ||
                  k->answer == RD_KAFKA_RESP_ERR__TIMED_OUT ||
                  k->answer == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN;
    k->silent = silent ? k->silent + 1 : 0;
    if (k->silent >= SILENT_MAX)
        pythia__kafka_problem(k, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
                              "no broker answers, all brokers are down or cannot be reached");
    else if (!silent && k->problem_code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
        pythia__kafka_problem(k, RD_KAFKA_RESP_ERR_NO_ERROR, "");
}

/* Who may not describe the group knows no members, which is no reason not to read. */
static void take_group(uv_work_t *work, int cancelled)
{
    struct pythia__kafka *k = work->data;
    (void)cancelled;
    k->listing = false;
    note_answer(k);
    json_decref(k->members);
    k->members = NULL;
    /* A job that looks at the topic sets it on its own thread. */
    bool is_set = k->shared && k->shared->working && !k->shared->sending;
    if (k->shared && !is_set && k->shared->asked_low > k->shared->low)
        k->shared->low = k->shared->asked_low;
    if (!k->groups)
        return;
    for (int g = 0; g < k->groups->group_cnt; g++) {
        const struct rd_kafka_group_info *group = &k->groups->groups[g];
        if (group->err || strcmp(group->group, k->url.group) != 0)
            continue;
        k->members = json_array();
        for (int i = 0; i < group->member_cnt; i++)
            (void)json_array_append_new(k->members, pack_member(k, &group->members[i]));
    }
    kafka.group_list_destroy(k->groups);
    k->groups = NULL;
}

void pythia__kafka_members_tick(struct pythia__kafka *k)
{
    uint64_t now_ms = uv_now(k->loop);
    if (k->listing || (k->listed_ms && now_ms - k->listed_ms < ASK_MS))
        return;
    k->listing = true;
    k->listed_ms = now_ms;
    k->list.data = k;
    uv_queue_work(k->loop, &k->list, list_group, take_group);
}
