/* Messages become bodies for the intake. While few messages come each is a body of its own; under
 * load, as many as come while others are decoded share one, so that a thread is woken for hundreds
 * of small messages at once. */
#include <inttypes.h>
#include <stdio.h>

#include "kafka_parts.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define BODY_BYTES   ((size_t)256 * 1024) /* of messages that share a body */
#define BODY_PARTS   4096
#define DECODING_MAX 4 /* bodies: others find lanes of the intake free */

static void free_body(struct kafka_body *b)
{
    pythia_buf_free(&b->bytes);
    pythia_free(b->parts);
    pythia_free(b->offsets);
    pythia_free(b);
}

static void note_broken(struct kafka_partition *p, struct pythia__kafka *k, int64_t offset,
                        const char *reason)
{
    k->broken++;
    p->broken++;
    if (offset >= p->broken_offset) { /* bodies may be decoded in another order */
        p->broken_offset = offset;
        snprintf(p->broken_reason, sizeof(p->broken_reason), "%s", reason);
    }
    pythia_log(PYTHIA_LOG_WARNING,
               "Skipped what cannot be read of a message: topic=%s, partition=%" PRId32
               ", offset=%" PRId64 ", reason=%s",
               k->url.topic, p->id, offset, reason);
}

static void finish_body(void *context, const struct pythia__intake_result *result)
{
    struct kafka_body *b = context;
    struct pythia__kafka *k = b->kafka;
    struct kafka_partition *p = b->partition;
    const char *reason = result->reason;
    k->decoding--;
    for (size_t i = 0; i < b->part_count && !p->left; i++)
        if (b->parts[i].broken) {
            note_broken(p, k, b->offsets[i], *reason ? reason : "as another one of its body");
            reason = ""; /* it is that of the first */
        }
    if (!p->left)
        pythia__kafka_offsets_added(&p->offsets, b->number, uv_now(k->loop) * 1000000);
    if (result->status == PYTHIA_ENOMEM)
        pythia_log(PYTHIA_LOG_ERROR, "Spans could not be taken in: reason=%s",
                   pythia_status_text(result->status));
    p->bodies--;
    free_body(b);
    pythia__kafka_partitions_release(k, p);
    if (!k->stopping)
        uv_async_send(&k->wake); /* the next one can be decoded */
}

/* The body that the message joins, or a new one; NULL when out of memory. */
static struct kafka_body *find_body(struct pythia__kafka *k, struct kafka_partition *p,
                                    const struct pythia_adapter_ops *format,
                                    const rd_kafka_message_t *m)
{
    struct kafka_body *b = NULL;
    for (struct kafka_body *at = k->first; at; at = at->next)
        b = at->partition == p ? at : b; /* the last one, so that offsets stay in order */
    /* A body has no more bytes than a message may have, which is no more than may wait. */
    size_t most = k->message_max < BODY_BYTES ? k->message_max : BODY_BYTES;
    if (b && b->format == format && b->part_count < BODY_PARTS && b->bytes.size + m->len <= most)
        return b;
    b = pythia_calloc(1, sizeof(*b));
    if (!b || pythia__kafka_offsets_read(&p->offsets, m->offset, m->offset + 1, &b->number) !=
                  PYTHIA_OK) {
        pythia_free(b);
        return NULL;
    }
    b->kafka = k;
    b->partition = p;
    b->format = format;
    p->bodies++;
    *k->last = b;
    k->last = &b->next;
    k->waiting++;
    return b;
}

/* Append a message, which is empty if it is not to be decoded. */
static int append_message(struct kafka_body *b, struct pythia_text message, int64_t offset)
{
    if (pythia_grow(&b->parts, &b->part_capacity, b->part_count, sizeof(*b->parts)) != PYTHIA_OK ||
        pythia_grow(&b->offsets, &b->offset_capacity, b->part_count, sizeof(*b->offsets)) !=
            PYTHIA_OK)
        return PYTHIA_ENOMEM;
    pythia_buf_text_add(&b->bytes, message);
    if (pythia_buf_status(&b->bytes) != PYTHIA_OK) {
        b->bytes.failed = 0;
        return PYTHIA_ENOMEM;
    }
    b->parts[b->part_count] = (struct pythia__intake_part){.end = b->bytes.size};
    b->offsets[b->part_count++] = offset;
    pythia__kafka_offsets_extend(&b->partition->offsets, b->number, offset + 1);
    return PYTHIA_OK;
}

/* Without a key, messages of one trace go to any partition; the first member of the group that
 * sees one in a topic of several partitions says so. */
static void note_key(struct pythia__kafka *k, const rd_kafka_message_t *m)
{
    if (m->key_len > 0)
        return;
    k->unkeyed++;
    if (k->told_unkeyed || (m->partition == 0 && !k->partitions->next))
        return;
    k->told_unkeyed = true;
    pythia_log(PYTHIA_LOG_WARNING,
               "Messages have no key, so that the spans of a trace are spread over partitions and "
               "members; set partition_traces_by_id: true in the Collector's kafka exporter: "
               "topic=%s, partition=%" PRId32 ", offset=%" PRId64,
               k->url.topic, m->partition, m->offset);
}

void pythia__kafka_bodies_take(struct pythia__kafka *k, const rd_kafka_message_t *m)
{
    struct kafka_partition *p = pythia__kafka_partitions_find(k, m->partition);
    struct pythia_text message = {m->payload, m->len};
    char reason[96] = "it is empty";
    if (!p)
        return;
    /* The client may deliver a message again when a paused partition is resumed. A shared search
     * also goes back to read messages again. */
    if (!k->shared && m->offset < p->position)
        return;
    k->messages++;
    k->bytes += m->len;
    p->messages++;
    if (p->position == 0)
        p->first = m->offset;
    p->position = m->offset + 1;
    note_key(k, m);
    if (message.size > k->message_max)
        snprintf(reason, sizeof(reason), "it has %zu bytes, and body-max is %zu", message.size,
                 k->message_max);
    bool skipped = message.size == 0 || message.size > k->message_max;
    if (skipped)
        message.size = 0;
    const struct pythia_adapter_ops *format =
        message.size > 0 && message.bytes[0] == '{' ? k->json : k->protobuf;
    struct kafka_body *b = find_body(k, p, format, m);
    if (!b || append_message(b, message, m->offset) != PYTHIA_OK)
        note_broken(p, k, m->offset, "out of memory");
    else if (skipped)
        note_broken(p, k, m->offset, reason);
}

void pythia__kafka_bodies_submit(struct pythia__kafka *k)
{
    while (k->first && k->decoding < DECODING_MAX) {
        struct kafka_body *b = k->first;
        const struct pythia__intake_body body = {.format = b->format,
                                                 .bytes = b->bytes.bytes,
                                                 .size = b->bytes.size,
                                                 .parts = b->parts,
                                                 .part_count = b->part_count,
                                                 .origin = b->partition->origin,
                                                 .unwanted = &b->partition->left};
        /* Asked first, because what is refused is counted as if its sender had to come again. */
        if (!pythia__intake_has_room(k->intake, b->bytes.size) ||
            pythia__intake_submit(k->intake, &body, finish_body, b) != PYTHIA_OK) {
            pythia__kafka_partitions_pause(k, true);
            return;
        }
        b->bytes = (struct pythia_buf){0}; /* they were taken */
        k->first = b->next;
        k->last = k->first ? k->last : &k->first;
        k->waiting--;
        k->decoding++;
    }
    if (!k->first)
        pythia__kafka_partitions_pause(k, false);
}

void pythia__kafka_bodies_drop(struct pythia__kafka *k, const struct kafka_partition *p)
{
    struct kafka_body **at = &k->first;
    while (*at) {
        struct kafka_body *b = *at;
        if (b->partition != p) {
            at = &b->next;
            continue;
        }
        *at = b->next;
        b->partition->bodies--;
        k->waiting--;
        free_body(b);
    }
    k->last = at;
}
