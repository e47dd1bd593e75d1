/* The topic of evidence as a member reads it: whoever may write to the topic writes what it likes.
 * Whatever comes, the member goes on, waits for a snapshot or gives up with a reason, and what it
 * knows of partitions and orders can be written again. librdkafka's calls that need a broker are
 * replaced here. The input is messages; two bytes of 0 before the next '{' end one. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "fuzz_member.h"
#include "kafka/kafka_shared.h"
#include "pythia/live_shared.h"
#include "pythia/live_snapshot.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/verdict.h"

#define MESSAGES_MAX 64
#define LOOKS_MAX    4 /* of a member that waits for a snapshot */

static struct pythia_text messages[MESSAGES_MAX]; /* of the topic; the first has offset `low` */
static int64_t count, low, at;                    /* at: the offset that is read next */
static bool ended;                                /* that there are no more was said */
static rd_kafka_message_t message;

/* ---- what stands for librdkafka ---- */

static size_t find_end(struct pythia_text left)
{
    for (size_t end = 0; end + 2 < left.size; end++)
        if (!left.bytes[end] && !left.bytes[end + 1] && left.bytes[end + 2] == '{')
            return end;
    return left.size;
}

static void split_messages(struct pythia_text left)
{
    for (count = 0; left.size > 0 && count < MESSAGES_MAX; count++) {
        size_t size = find_end(left), skip = size < left.size ? size + 2 : size;
        messages[count] = (struct pythia_text){left.bytes, size};
        left.bytes += skip;
        left.size -= skip;
    }
}

static void read_from(int64_t offset)
{
    at = offset < low ? low : offset;
    ended = false;
}

/* Messages are in memory of their own, so that what is read after their end is found. */
static rd_kafka_message_t *poll_log(rd_kafka_t *client, int timeout_ms)
{
    (void)client, (void)timeout_ms;
    message = (rd_kafka_message_t){.offset = at};
    if (at >= low + count) {
        message.err = RD_KAFKA_RESP_ERR__PARTITION_EOF;
        bool told = ended;
        ended = true;
        return told ? NULL : &message;
    }
    struct pythia_text text = messages[at++ - low];
    message.payload = malloc(text.size + 1);
    MUST(message.payload);
    memcpy(message.payload, text.bytes, text.size);
    message.len = text.size;
    return &message;
}

static void free_message(rd_kafka_message_t *m)
{
    free(m->payload);
}

/* Of the topic of traces nothing is read. */
static rd_kafka_error_t *seek_log(rd_kafka_t *client, rd_kafka_topic_partition_list_t *list,
                                  int timeout_ms)
{
    (void)client, (void)timeout_ms;
    if (list->cnt > 0 && strcmp(list->elems[0].topic, "evidence") == 0)
        read_from(list->elems[0].offset);
    return NULL;
}

static rd_kafka_resp_err_t assign_log(rd_kafka_t *client,
                                      const rd_kafka_topic_partition_list_t *list)
{
    (void)client;
    read_from(list->elems[0].offset);
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t take_list(rd_kafka_t *client, rd_kafka_topic_partition_list_t *list)
{
    (void)client, (void)list;
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t take_constant(rd_kafka_t *client,
                                         const rd_kafka_topic_partition_list_t *list)
{
    (void)client, (void)list;
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t leave(rd_kafka_t *client)
{
    (void)client;
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static void replace_calls(void)
{
    pythia__kafka_library.consumer_poll = poll_log;
    pythia__kafka_library.message_destroy = free_message;
    pythia__kafka_library.seek_partitions = seek_log;
    pythia__kafka_library.offsets_store = take_list;
    pythia__kafka_library.assign = assign_log;
    pythia__kafka_library.subscribe = take_constant;
    pythia__kafka_library.unsubscribe = leave;
}

/* ---- what stands for the daemon ---- */

struct owner {
    struct pythia_vocabulary *vocabulary;
    struct pythia_verdicts verdicts;
};

static void obey(void *context, const json_t *order)
{
    (void)context;
    MUST(order);
}

static int save(const void *context, struct pythia_buf *out)
{
    const struct owner *o = context;
    return pythia_verdicts_save(&o->verdicts, o->vocabulary, out);
}

static int restore(void *context, struct pythia_text saved)
{
    struct owner *o = context;
    struct pythia_verdicts verdicts = {0};
    int status = pythia_verdicts_load(&verdicts, o->vocabulary, saved);
    if (status != PYTHIA_OK) {
        pythia_verdicts_free(&verdicts);
        return status;
    }
    pythia_verdicts_free(&o->verdicts);
    o->verdicts = verdicts;
    return PYTHIA_OK;
}

/* ---- a member ---- */

/* The loop never runs, so that no worker does anything: it sends nothing, and to look at the topic
 * again is done here. */
static void read_topic(struct pythia__kafka *k)
{
    struct pythia__kafka_shared *s = k->shared;
    s->low = low;
    s->high = low + count;
    MUST(pythia__kafka_partitions_add(k, 0));
    pythia__kafka_snapshot_look(k);
    for (int turns = 0, looks = 0; looks < LOOKS_MAX && s->state != KAFKA_SHARED_FAILED; turns++) {
        MUST(turns < 4 * MESSAGES_MAX); /* it does not read the same again and again */
        if (ended && s->position < 0)
            break;
        s->awaited = s->awaited || s->state == KAFKA_SHARED_FOLLOWING;
        s->tried_ms = uv_now(k->loop);
        pythia__kafka_shared_turn(k);
        s->has_afresh = false;
        if (s->state == KAFKA_SHARED_BEGINNING) {
            looks++;
            pythia__kafka_snapshot_look(k);
        }
    }
}

static void check_member(struct pythia__kafka *k)
{
    struct pythia__kafka_shared *s = k->shared;
    for (size_t i = 0; i < s->stand_count; i++)
        MUST(pythia__kafka_log_find_stand(s, s->stands[i].partition) == &s->stands[i]);
    if (!pythia_live_has_snapshot(k->live))
        return;
    MUST(pythia__kafka_snapshot_write(k, false) == PYTHIA_OK);
    MUST(s->message.size > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char group[] = "g", topic[] = "traces", evidence[] = "evidence";
    static uv_loop_t loop;
    struct owner owner = {0};
    struct pythia__kafka k = {.obey = obey, .save = save, .restore = restore, .owner = &owner};
    pythia_log_setup("fuzz", PYTHIA_LOG_ERROR);
    if (!pythia__kafka_library_load())
        return 0; /* there is none here */
    replace_calls();
    MUST(pythia_vocabulary_create(&owner.vocabulary) == PYTHIA_OK);
    MUST(pythia_live_create(owner.vocabulary, NULL, &options,
                            (struct pythia_live_taker){ignore_cycle, NULL}, &k.live) == PYTHIA_OK);
    MUST(uv_loop_init(&loop) == 0);
    k.loop = &loop;
    MUST(uv_async_init(&loop, &k.wake, NULL) == 0);
    k.last = &k.first;
    k.url.group = group;
    k.url.topic = topic;
    k.url.evidence = evidence;
    k.shared = pythia_calloc(1, sizeof(*k.shared));
    MUST(k.shared);
    strcpy(k.shared->name, "m-1");
    k.shared->position = -1;
    split_messages((struct pythia_text){(const char *)bytes, size});
    low = size % 2 ? 10 : 0; /* has the topic forgotten some? */
    read_topic(&k);
    check_member(&k);
    pythia__kafka_group_leave(&k);
    pythia__kafka_shared_destroy(&k);
    uv_close((uv_handle_t *)&k.wake, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    MUST(uv_loop_close(&loop) == 0);
    pythia_live_destroy(k.live);
    pythia_verdicts_free(&owner.verdicts);
    pythia_vocabulary_destroy(owner.vocabulary);
    return 0;
}
