/* A connection of gRPC: what is written to it, its place in the queue, and its end. */
#include "grpc_parts.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define WRITE_BYTES  ((size_t)64 * 1024) /* gathered for one write */
#define OUTBOUND_MAX 1000                /* frames that wait to be sent, until no more is read */

void pythia__grpc_forget_if_done(struct pythia__grpc_server *s)
{
    if (!s->destroyed || s->handles_open > 0 || s->calls_open > 0)
        return;
    nghttp2_session_callbacks_del(s->callbacks);
    pythia__tls_destroy(s->tls);
    pythia_free(s);
}

/* The body is not kept, or not any more. */
void pythia__grpc_leave_room(struct pythia__grpc_call *call)
{
    if (call->server->o.room && call->room > 0)
        pythia__room_give(call->server->o.room, call->room);
    call->room = 0;
}

void pythia__grpc_free_call(struct pythia__grpc_call *call)
{
    struct pythia__grpc_server *s = call->server;
    pythia__room_forgotten(s->o.room, &call->no_room);
    pythia__grpc_leave_room(call);
    pythia_buf_free(&call->body);
    pythia_free(call->answer);
    pythia_free(call);
    s->calls_open--;
    pythia__grpc_forget_if_done(s);
}

void pythia__grpc_leave_call(struct pythia__grpc_call *call)
{
    struct pythia__grpc_connection *c = call->connection;
    if (!c)
        return;
    if (call->next)
        call->next->previous = call->previous;
    if (call->previous)
        call->previous->next = call->next;
    else
        c->calls = call->next;
    call->connection = NULL;
    c->since_ms = uv_now(c->server->loop);
    if (!call->handled || call->answered)
        pythia__grpc_free_call(call);
}

/* Does its peer not read what it is sent? */
bool pythia__grpc_is_blocked(const struct pythia__grpc_connection *c)
{
    return c->writing && nghttp2_session_get_outbound_queue_size(c->session) > OUTBOUND_MAX;
}

void pythia__grpc_stay_awake(uv_idle_t *busy)
{
    (void)busy; /* while it is active, the loop does not sleep */
}

void pythia__grpc_queue(struct pythia__grpc_connection *c)
{
    struct pythia__grpc_server *s = c->server;
    c->queued = true;
    c->next_waiting = NULL;
    *s->last_waiting = c;
    s->last_waiting = &c->next_waiting;
    s->waiting_count++;
    uv_idle_start(&s->busy, pythia__grpc_stay_awake);
}

void pythia__grpc_unqueue(struct pythia__grpc_connection *c)
{
    struct pythia__grpc_server *s = c->server;
    if (!c->queued)
        return;
    struct pythia__grpc_connection **at = &s->first_waiting;
    while (*at != c)
        at = &(*at)->next_waiting;
    *at = c->next_waiting;
    if (!c->next_waiting)
        s->last_waiting = at;
    c->queued = false;
    s->waiting_count--;
}

static void go_on(struct pythia__grpc_connection *c)
{
    bool waits = !c->queued && c->waiting_at < c->waiting.size;
    if (waits && !c->closing && !c->ends && !pythia__grpc_is_blocked(c))
        pythia__grpc_queue(c);
}

static void on_connection_closed(uv_handle_t *handle)
{
    struct pythia__grpc_connection *c = handle->data;
    struct pythia__grpc_server *s = c->server;
    nghttp2_session_del(c->session);
    while (c->calls)
        pythia__grpc_leave_call(c->calls);
    pythia__tls_session_destroy(c->tls);
    pythia_buf_free(&c->plain);
    pythia_buf_free(&c->wire);
    pythia_buf_free(&c->waiting);
    if (c->next)
        c->next->previous = c->previous;
    if (c->previous)
        c->previous->next = c->next;
    else
        s->connections = c->next;
    s->handles_open--;
    pythia_free(c);
    pythia__grpc_forget_if_done(s);
}

void pythia__grpc_close(struct pythia__grpc_connection *c)
{
    if (c->closing)
        return;
    c->closing = true;
    c->server->connection_count--;
    pythia__grpc_unqueue(c);
    uv_close((uv_handle_t *)c->stream, on_connection_closed);
}

static void on_written(uv_write_t *write, int status)
{
    struct pythia__grpc_connection *c = write->data;
    c->writing = false;
    pythia_buf_clear(&c->wire);
    if (status != 0) {
        pythia__grpc_close(c);
        return;
    }
    pythia__grpc_flush(c);
    go_on(c);
}

/* Send what nghttp2 has to say, one write at a time. */
void pythia__grpc_flush(struct pythia__grpc_connection *c)
{
    if (c->writing || c->closing || c->receiving || (c->tls && !pythia__tls_is_ready(c->tls)))
        return;
    while (c->wire.size < WRITE_BYTES) {
        const uint8_t *bytes;
        ssize_t size = nghttp2_session_mem_send(c->session, &bytes);
        if (size < 0) {
            pythia__grpc_close(c);
            return;
        }
        if (size == 0)
            break;
        if (!c->tls)
            pythia_buf_add(&c->wire, bytes, (size_t)size);
        else if (pythia__tls_send(c->tls, (const char *)bytes, (size_t)size, &c->wire) != PYTHIA_OK)
            size = -1;
        if (size < 0 || pythia_buf_status(&c->wire) != PYTHIA_OK) {
            pythia__grpc_close(c);
            return;
        }
    }
    if (c->wire.size > 0) {
        uv_buf_t piece = uv_buf_init(c->wire.bytes, (unsigned)c->wire.size);
        c->write.data = c;
        c->writing = true;
        if (uv_write(&c->write, c->stream, &piece, 1, on_written) != 0)
            pythia__grpc_close(c);
    } else if (!nghttp2_session_want_read(c->session) && !nghttp2_session_want_write(c->session)) {
        pythia__grpc_close(c);
    }
}
