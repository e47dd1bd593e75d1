/* The streams that the settings name. */
#include "feeding.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "intake/feed.h"
#include "listen/listen.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "sharing.h"

/* Programs that send records over a socket: each connection is a feed of its own. */
struct pythia__records_listener {
    uv_poll_t poll;
    struct pythia__daemon *d;
    int socket;
    struct pythia__socket_file file;
    uint64_t refused;
};

static void accept_records(uv_poll_t *poll, int status, int events)
{
    struct pythia__records_listener *l = poll->data;
    struct pythia__feed_reader *reader = NULL;
    (void)events;
    int connection = status == 0 ? accept(l->socket, NULL, NULL) : -1;
    if (connection < 0)
        return;
    if (pythia__feeds_connections(l->d->feeds) >= (size_t)l->d->engine.s.connections ||
        pythia__connection_create(connection, &reader) != PYTHIA_OK) {
        if (l->refused++ == 0)
            pythia_log(PYTHIA_LOG_WARNING,
                       "Too many programs send records; some were disconnected (connections)");
        close(connection);
        return;
    }
    (void)pythia__feeds_add(l->d->feeds, "records", pythia_adapter_named("native"), reader);
}

static void free_listener(uv_handle_t *handle)
{
    struct pythia__records_listener *l = handle->data;
    close(l->socket);
    pythia_free(l);
}

static int listen_for_records(struct pythia__daemon *d, struct pythia_error *e)
{
    struct pythia__socket_file file;
    int socket = -1, status = pythia__listen(d->engine.s.records, &socket, &file, e);
    if (status != PYTHIA_OK)
        return status;
    struct pythia__records_listener *l = pythia_calloc(1, sizeof(*l));
    if (!l || uv_poll_init(d->engine.loop, &l->poll, socket) != 0) {
        pythia__socket_file_remove(&file);
        close(socket);
        pythia_free(l);
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to start");
    }
    l->poll.data = l;
    l->d = d;
    l->socket = socket;
    l->file = file;
    uv_poll_start(&l->poll, UV_READABLE, accept_records);
    d->records = l;
    return PYTHIA_OK;
}

/* Formats of files are detected; rings and Redis have one that is known. */
int pythia__feeding_start(struct pythia__daemon *d, struct pythia_error *e)
{
    struct pythia__feed_reader *reader = NULL;
    const struct pythia__feeds_options o = {.limits = pythia__settings_span_limits(&d->engine.s),
                                            .record_max = d->engine.s.body_max,
                                            .redaction = d->redaction,
                                            .record = d->engine.s.record};
    int status =
        pythia__feeds_create(d->engine.loop, d->engine.vocabulary, d->engine.live, &o, &d->feeds);
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < d->engine.s.follow.count; i++) {
        if ((status = pythia__follow_create(d->engine.s.follow.texts[i], &reader, e)) != PYTHIA_OK)
            return status;
        status = pythia__feeds_add(d->feeds, d->engine.s.follow.texts[i], NULL, reader);
        if (status != PYTHIA_OK)
            return status;
    }
    if (d->engine.s.gate) {
        if ((status = pythia__rings_create(d->engine.s.gate, &reader, e)) != PYTHIA_OK)
            return status;
        status = pythia__feeds_add(d->feeds, "rings", pythia_adapter_named("native"), reader);
        if (status != PYTHIA_OK)
            return status;
    }
    if (d->switching.probes) {
        if ((status = pythia__probes_create(d->switching.probes, &reader)) != PYTHIA_OK)
            return status;
        status = pythia__feeds_add(d->feeds, "probes", pythia_adapter_named("native"), reader);
        if (status != PYTHIA_OK)
            return status;
    }
    if (d->switching.lttng) {
        if ((status = pythia__lttng_create(d->switching.lttng, &reader)) != PYTHIA_OK)
            return status;
        status = pythia__feeds_add(d->feeds, "LTTng", pythia_adapter_named("native"), reader);
        if (status != PYTHIA_OK)
            return status;
    }
    if (d->engine.s.osprofiler) {
        if ((status = pythia__redis_events_create(d->engine.s.osprofiler, &reader, e)) != PYTHIA_OK)
            return status;
        status = pythia__feeds_add(d->feeds, "Redis", pythia_adapter_named("osprofiler"), reader);
        if (status != PYTHIA_OK)
            return status;
    }
    if (d->engine.s.kafka) {
        const struct pythia__kafka_options reading = {.url = d->engine.s.kafka,
                                                      .obey = pythia__sharing_obey,
                                                      .save = pythia__sharing_save,
                                                      .restore = pythia__sharing_restore,
                                                      .context = d,
                                                      .message_max = d->engine.s.body_max};
        status =
            pythia__kafka_create(d->engine.loop, d->intake, d->engine.live, &reading, &d->kafka, e);
        if (status != PYTHIA_OK)
            return status;
    }
    return d->engine.s.records ? listen_for_records(d, e) : PYTHIA_OK;
}

void pythia__feeding_stop(struct pythia__daemon *d)
{
    if (d->records && !uv_is_closing((uv_handle_t *)&d->records->poll)) {
        pythia__socket_file_remove(&d->records->file);
        uv_poll_stop(&d->records->poll);
        uv_close((uv_handle_t *)&d->records->poll, free_listener);
        d->records = NULL;
    }
    pythia__kafka_stop(d->kafka);
    if (d->feeds)
        pythia__feeds_stop(d->feeds);
}

bool pythia__feeding_is_running(const struct pythia__daemon *d)
{
    return pythia__feeds_running(d->feeds) > 0 || pythia__kafka_is_running(d->kafka);
}

uint64_t pythia__feeding_refused(const struct pythia__daemon *d)
{
    return d->records ? d->records->refused : 0;
}
