/* Traces from a topic of Kafka, as a member of a consumer group. Messages are OTLP, protobuf or
 * JSON, as the kafka exporter of the OpenTelemetry Collector writes them.
 *
 * librdkafka has threads of its own that fetch and decompress. Its queue wakes the loop, which
 * takes messages from there, copies them into bodies, and gives these to the intake, as the
 * receivers do: a thread between the two queues would only add a third. Where the engine takes no
 * more, partitions are paused until it does, and nothing is refused.
 *
 * Whoever loses a partition forgets its unfinished requests, and whoever gets it reads them again,
 * whole, because offsets are committed only up to the oldest unfinished request (kafka_offsets.h).
 * All calls are the loop's. */
#ifndef PYTHIA_PYTHIAD_KAFKA_H
#define PYTHIA_PYTHIAD_KAFKA_H

#include <jansson.h>
#include <uv.h>

#include "intake/intake.h"
#include "pythia/buf.h"
#include "pythia/error.h"
#include "pythia/live.h"

struct pythia__kafka;

/* Gets each order that a member shares (pythia__kafka_order), in the same order at all members: a
 * member's own orders too. */
typedef void (*pythia__kafka_obey)(void *context, const json_t *order);

/* What the owner adds to a snapshot of the search, and takes from it: append it to `out`;
 * PYTHIA_OK, PYTHIA_EFORMAT if it is broken, or PYTHIA_ENOMEM. */
typedef int (*pythia__kafka_save)(const void *context, struct pythia_buf *out);
typedef int (*pythia__kafka_restore)(void *context, struct pythia_text saved);

struct pythia__kafka_options {
    const char *url; /* kafka_url.h */
    pythia__kafka_obey obey;
    pythia__kafka_save save;
    pythia__kafka_restore restore;
    void *context;      /* of all three */
    size_t message_max; /* bytes of a message; a larger one is skipped and counted */
};

/* The group whose search the URL shares (owned by the caller); NULL: it shares none. PYTHIA_OK, or
 * negative with the reason in `e`. */
int pythia__kafka_shared_group(const char *url, char **group, struct pythia_error *e);

/* Join the group. What is borrowed lives longer. PYTHIA_OK with *out owned, or negative with the
 * reason in `e`. */
int pythia__kafka_create(uv_loop_t *loop, struct pythia__intake *intake, struct pythia_live *live,
                         const struct pythia__kafka_options *options, struct pythia__kafka **out,
                         struct pythia_error *e);

/* Commit, forget unfinished requests, and leave the group (a static member stays in it until its
 * session ends). Once _is_running says no, _destroy is allowed after the loop has ended. NULL is
 * not running. */
void pythia__kafka_stop(struct pythia__kafka *k);
bool pythia__kafka_is_running(const struct pythia__kafka *k);
void pythia__kafka_destroy(struct pythia__kafka *k); /* may be NULL */

/* A member whose search is shared: it has not yet read what its group found before it came, and
 * what it decides until then is old. A request has finished. NULL is neither. */
bool pythia__kafka_is_behind(const struct pythia__kafka *k);
void pythia__kafka_note_finished(struct pythia__kafka *k, struct pythia_trace_id id);

/* Share an order (taken) with the other members, as soon as Kafka takes it; nothing without a
 * shared search. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__kafka_order(struct pythia__kafka *k, json_t *order);

/* The status as JSON, owned by the caller: null if there is no Kafka, NULL when out of memory. And
 * as metrics. */
json_t *pythia__kafka_status(const struct pythia__kafka *k);
void pythia__kafka_metrics(const struct pythia__kafka *k, struct pythia_buf *to);

#endif
