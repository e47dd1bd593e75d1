/* HTTP/2 by nghttp2, over TCP or a unix socket, with or without TLS. */
#include <inttypes.h>
#include <unistd.h>

#include "grpc_parts.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define MESSAGE_BYTES ((size_t)4 * 1024 * 1024)
#define CONNECTIONS   256
#define STREAMS       100
#define HEADER_S      10
#define BODY_S        30
#define IDLE_S        300
#define LATE_CHECKS   UINT64_C(3)
#define CHECK_MS      1000
#define WINDOW_BYTES  (16 * 1024 * 1024) /* of a connection: in 64 KiB each call would wait */
#define TURN_BYTES    PYTHIA__GRPC_READ_BYTES
#define TURN_US       5000 /* /healthz takes some three turns, and is to take less than 100 ms */

/* ---- connections ---- */

static void on_handle_closed(uv_handle_t *handle)
{
    struct pythia__grpc_server *s = handle->data;
    s->handles_open--;
    pythia__grpc_forget_if_done(s);
}

static int begin_session(struct pythia__grpc_connection *c)
{
    const struct pythia__grpc_options *o = &c->server->o;
    nghttp2_option *option;
    if (nghttp2_option_new(&option) != 0)
        return PYTHIA_ENOMEM;
    nghttp2_option_set_max_outbound_ack(option, 1000);
    int failed = nghttp2_session_server_new2(&c->session, c->server->callbacks, c, option);
    nghttp2_option_del(option);
    if (failed)
        return PYTHIA_ENOMEM;
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, o->streams_max},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, (uint32_t)(o->message_max + PYTHIA__GRPC_PREFIX)},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)PYTHIA__GRPC_HEADER_LIST_BYTES},
    };
    nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, settings,
                            sizeof(settings) / sizeof(settings[0]));
    nghttp2_session_set_local_window_size(c->session, NGHTTP2_FLAG_NONE, 0, WINDOW_BYTES);
    return PYTHIA_OK;
}

/* Longest times of a call: from its beginning to its headers, from there to its end, and from
 * its answer until that is read. 0: no limit. */
static unsigned limit_of(const struct pythia__grpc_call *call)
{
    const struct pythia__grpc_options *o = &call->server->o;
    return !call->headed ? o->header_s : !call->ended || call->answered ? o->body_s : 0;
}

/* The reason why a connection waits, by the call that has waited longest. */
static struct pythia__place find_grpc_place(const struct pythia__grpc_connection *c, uint64_t now)
{
    struct pythia__place place = {c->greeted ? PYTHIA__WAIT_IDLE : PYTHIA__WAIT_HEADER, c->served,
                                  c->since_ms};
    if (c->calls)
        place.since_ms = now;
    for (const struct pythia__grpc_call *call = c->calls; call; call = call->next) {
        bool works = call->ended && !call->answered;
        bool delivers = call->headed && !call->ended && !call->refused &&
                        pythia__body_comes(call->body.size, now - call->since_ms);
        if (works || delivers)
            return (struct pythia__place){.wait = PYTHIA__WAIT_NONE};
        if (call->since_ms <= place.since_ms) {
            place.wait = call->headed ? PYTHIA__WAIT_BODY : PYTHIA__WAIT_HEADER;
            place.since_ms = call->since_ms;
        }
    }
    return place;
}

/* There is one connection too many: one that waits goes. False: none does. */
static bool evict_connection(struct pythia__grpc_server *s,
                             const struct pythia__grpc_connection *new)
{
    uint64_t now = uv_now(s->loop);
    struct pythia__eviction eviction = {.strangers = 0};
    enum pythia__wait wait;
    for (struct pythia__grpc_connection *c = s->connections; c; c = c->next) {
        struct pythia__place place = find_grpc_place(c, now);
        if (c != new && !c->closing)
            pythia__eviction_consider(&eviction, &place, c);
    }
    struct pythia__grpc_connection *goes =
        pythia__eviction_choose(&eviction, s->o.connections_max, &wait);
    if (!goes)
        return false;
    s->numbers.evicted[wait]++;
    pythia__grpc_close(goes);
    return true;
}

static struct pythia__grpc_connection *add_connection(struct pythia__grpc_server *s)
{
    struct pythia__grpc_connection *c = pythia_calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->server = s;
    c->since_ms = uv_now(s->loop);
    c->frame_left = NGHTTP2_CLIENT_MAGIC_LEN;
    if (s->is_pipe)
        uv_pipe_init(s->loop, &c->handle.pipe, 0);
    else
        uv_tcp_init(s->loop, &c->handle.tcp);
    c->stream = (uv_stream_t *)&c->handle;
    c->stream->data = c;
    c->next = s->connections;
    if (s->connections)
        s->connections->previous = c;
    s->connections = c;
    s->connection_count++;
    s->handles_open++;
    s->numbers.connections++;
    return c;
}

/* Take the connection that has come. */
static void take_connection(struct pythia__grpc_server *s)
{
    struct pythia__grpc_connection *c = add_connection(s);
    if (!c)
        return;
    bool room = s->connection_count <= s->o.connections_max || evict_connection(s, c);
    s->numbers.refused_connections += !room;
    if (uv_accept((uv_stream_t *)&s->listener, c->stream) != 0 || !room ||
        begin_session(c) != PYTHIA_OK ||
        (s->tls && pythia__tls_session_create(s->tls, &c->tls) != PYTHIA_OK)) {
        pythia__grpc_close(c);
        return;
    }
    if (!s->is_pipe)
        uv_tcp_nodelay(&c->handle.tcp, 1);
    pythia__grpc_read(c);
    if (!c->tls)
        pythia__grpc_flush(c);
}

/* Close what takes too long. */
static void check_grpc_times(uv_timer_t *timer)
{
    struct pythia__grpc_server *s = timer->data;
    uint64_t now = uv_now(s->loop), checked_ms = s->checked_ms;
    s->checked_ms = now;
    if (now - checked_ms > LATE_CHECKS * CHECK_MS)
        return; /* the loop was held up: what has come meanwhile is read first */
    for (struct pythia__grpc_connection *c = s->connections, *next; c; c = next) {
        next = c->next;
        bool late = (!c->greeted || c->ends) && now - c->since_ms >= s->o.header_s * UINT64_C(1000);
        for (const struct pythia__grpc_call *call = c->calls; call; call = call->next) {
            unsigned limit_s = limit_of(call);
            late = late || (limit_s && now - call->since_ms >= limit_s * UINT64_C(1000));
        }
        s->numbers.timed_out += late && !c->closing;
        if (late || (!c->calls && now - c->since_ms >= s->o.idle_s * UINT64_C(1000)))
            pythia__grpc_close(c);
    }
}

/* ---- the listener ---- */

static int make_callbacks(struct pythia__grpc_server *s)
{
    if (nghttp2_session_callbacks_new(&s->callbacks) != 0)
        return PYTHIA_ENOMEM;
    pythia__grpc_call_callbacks(s->callbacks);
    return PYTHIA_OK;
}

static void start_listener(struct pythia__grpc_server *s, int socket)
{
    uv_stream_t *listener = (uv_stream_t *)&s->listener;
    s->is_pipe = s->port == 0;
    if (s->is_pipe) {
        uv_pipe_init(s->loop, &s->listener.pipe, 0);
        uv_pipe_open(&s->listener.pipe, socket);
    } else {
        uv_tcp_init(s->loop, &s->listener.tcp);
        uv_tcp_open(&s->listener.tcp, socket);
    }
    uv_timer_init(s->loop, &s->check);
    listener->data = s->check.data = s;
    s->handles_open = 4;
    s->take_connection = take_connection;
    pythia__grpc_start_turns(s);
    s->listening = true;
    uv_listen(listener, 512, pythia__grpc_on_connection);
    s->checked_ms = uv_now(s->loop);
    uv_timer_start(&s->check, check_grpc_times, CHECK_MS, CHECK_MS);
}

/* Nothing of the loop is used before the address is bound, so that a failure can free everything
 * at once. */
int pythia__grpc_create(uv_loop_t *loop, const struct pythia__grpc_options *options,
                        struct pythia__grpc_server **out, struct pythia_error *e)
{
    struct pythia__grpc_server *s = pythia_calloc(1, sizeof(*s));
    int socket = -1;
    if (!s)
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to listen");
    s->loop = loop;
    s->o = *options;
    s->o.message_max = options->message_max ? options->message_max : MESSAGE_BYTES;
    s->o.connections_max = options->connections_max ? options->connections_max : CONNECTIONS;
    s->o.streams_max = options->streams_max ? options->streams_max : STREAMS;
    s->o.header_s = options->header_s ? options->header_s : HEADER_S;
    s->o.body_s = options->body_s ? options->body_s : BODY_S;
    s->o.idle_s = options->idle_s ? options->idle_s : IDLE_S;
    s->o.turn_bytes = options->turn_bytes ? options->turn_bytes : TURN_BYTES;
    s->o.turn_us = options->turn_us ? options->turn_us : TURN_US;
    s->o.retry_s = options->retry_s ? options->retry_s : 1;
    int status = make_callbacks(s);
    if (status != PYTHIA_OK)
        goto out;
    if (options->tls_key)
        status = pythia__tls_create(options->tls_key, options->tls_certificate, options->tls_trust,
                                    "h2", &s->tls, e);
    if (status != PYTHIA_OK ||
        (status = pythia__listen(options->address, &socket, &s->file, e)) != PYTHIA_OK)
        goto out;
    s->port = pythia__socket_port(socket);
    start_listener(s, socket);
    *out = s;
    return PYTHIA_OK;
out:
    nghttp2_session_callbacks_del(s->callbacks);
    pythia__tls_destroy(s->tls);
    pythia_free(s);
    return status;
}

void pythia__grpc_quiesce(struct pythia__grpc_server *s)
{
    pythia__socket_file_remove(&s->file);
    if (s->listening)
        uv_close((uv_handle_t *)&s->listener, on_handle_closed);
    s->listening = false;
    for (struct pythia__grpc_connection *c = s->connections; c; c = c->next)
        if (!c->closing && c->session) {
            nghttp2_submit_goaway(c->session, NGHTTP2_FLAG_NONE,
                                  nghttp2_session_get_last_proc_stream_id(c->session),
                                  NGHTTP2_NO_ERROR, NULL, 0);
            pythia__grpc_flush(c);
        }
}

void pythia__grpc_destroy(struct pythia__grpc_server *s)
{
    if (!s)
        return;
    s->destroyed = true;
    pythia__socket_file_remove(&s->file);
    if (s->listening)
        uv_close((uv_handle_t *)&s->listener, on_handle_closed);
    s->listening = false;
    for (struct pythia__grpc_connection *c = s->connections; c; c = c->next)
        pythia__grpc_close(c);
    uv_close((uv_handle_t *)&s->check, on_handle_closed);
    uv_close((uv_handle_t *)&s->turns, on_handle_closed);
    uv_close((uv_handle_t *)&s->busy, on_handle_closed);
}

unsigned pythia__grpc_port(const struct pythia__grpc_server *s)
{
    return s->port;
}

struct pythia__grpc_numbers pythia__grpc_numbers(const struct pythia__grpc_server *s)
{
    return s->numbers;
}
