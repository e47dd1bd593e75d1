/* HTTP/2 by nghttp2, over TCP or a unix socket, with or without TLS. Framing of messages and the
 * few headers of gRPC are written down in "gRPC over HTTP2"
 * (github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). */
#include "grpc_server.h"

#include <inttypes.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "grpc_status.h"
#include "listen.h"
#include "pythia/buf.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "tls.h"

#define MESSAGE_BYTES     ((size_t)4 * 1024 * 1024)
#define CONNECTIONS       256
#define STREAMS           100
#define HEADER_S          10
#define BODY_S            30
#define IDLE_S            300
#define CHECK_MS          1000
#define PREFIX            5                  /* of a message: is it packed? and its length */
#define ROOM_AHEAD        16                 /* times as much as has come */
#define WINDOW_BYTES      (16 * 1024 * 1024) /* of a connection: in 64 KiB each call would wait */
#define HEADER_LIST_BYTES ((size_t)16 * 1024)
#define HEADER_BYTES      32 /* that one counts beyond its name and value (RFC 9113, 6.5.2) */
#define READ_BYTES        ((size_t)64 * 1024)
#define WRITE_BYTES       ((size_t)64 * 1024) /* gathered for one write */

struct connection;

struct pythia__grpc_call {
    struct pythia__grpc_server *server;
    struct connection *connection;             /* NULL: it is closed, and the answer goes nowhere */
    struct pythia__grpc_call *next, *previous; /* of the connection */
    int32_t stream;
    const struct pythia__grpc_method *method;
    enum pythia_packing packing; /* of messages that say they are packed */
    bool is_post, is_grpc, has_token, headed, ended, handled, answered, refused;
    unsigned char prefix[PREFIX];
    size_t prefix_size;
    struct pythia_buf body;              /* behind the prefix */
    size_t received, room;               /* of both; and the room that they have */
    struct pythia__refused_body no_room; /* what there was no room for */
    size_t header_bytes;                 /* as HTTP/2 counts them */
    char *answer;                        /* message with its prefix */
    size_t answer_size, answer_at;
    enum pythia__grpc_status status;
    char text[192], details[PYTHIA__GRPC_DETAILS];
    uint64_t since_ms; /* begun, or its headers are there, or it is answered */
};

struct connection {
    struct connection *next, *previous;
    struct pythia__grpc_server *server;
    uv_stream_t *stream; /* of the handle below */
    union {
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } handle;
    uv_write_t write;
    nghttp2_session *session;
    struct pythia__tls_session *tls;
    struct pythia_buf plain, wire; /* wire: what is being written */
    struct pythia__grpc_call *calls;
    bool receiving; /* nghttp2 is calling back: it must not be asked for what to send */
    bool writing, closing, greeted, served; /* a call was answered */
    uint64_t since_ms;                      /* connected, or the last call ended */
};

struct pythia__grpc_server {
    uv_loop_t *loop;
    struct pythia__grpc_options o;
    union {
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } listener;
    uv_timer_t check;
    nghttp2_session_callbacks *callbacks;
    struct pythia__tls *tls;
    struct connection *connections;
    size_t connection_count; /* but for those that are closing */
    size_t handles_open, calls_open;
    unsigned port;
    struct pythia__socket_file file;
    bool is_pipe, listening, destroyed;
    struct pythia__grpc_numbers numbers;
    char buffer[READ_BYTES];
};

static void flush(struct connection *c);

/* ---- calls ---- */

static void forget_if_done(struct pythia__grpc_server *s)
{
    if (!s->destroyed || s->handles_open > 0 || s->calls_open > 0)
        return;
    nghttp2_session_callbacks_del(s->callbacks);
    pythia__tls_destroy(s->tls);
    pythia_free(s);
}

static struct pythia__grpc_call *begin_call(struct connection *c, int32_t stream)
{
    struct pythia__grpc_call *call = pythia_calloc(1, sizeof(*call));
    if (!call)
        return NULL;
    *call = (struct pythia__grpc_call){.server = c->server,
                                       .connection = c,
                                       .next = c->calls,
                                       .stream = stream,
                                       .has_token = !c->server->o.token,
                                       .since_ms = uv_now(c->server->loop)};
    if (c->calls)
        c->calls->previous = call;
    c->calls = call;
    c->server->calls_open++;
    c->server->numbers.calls++;
    return call;
}

/* The body is not kept, or not any more. */
static void leave_room(struct pythia__grpc_call *call)
{
    if (call->server->o.room && call->room > 0)
        pythia__room_give(call->server->o.room, call->room);
    call->room = 0;
}

static void free_call(struct pythia__grpc_call *call)
{
    struct pythia__grpc_server *s = call->server;
    pythia__room_forgotten(s->o.room, &call->no_room);
    leave_room(call);
    pythia_buf_free(&call->body);
    pythia_free(call->answer);
    pythia_free(call);
    s->calls_open--;
    forget_if_done(s);
}

/* The stream is gone: what is being worked on is answered into the void. */
static void leave_call(struct pythia__grpc_call *call)
{
    struct connection *c = call->connection;
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
        free_call(call);
}

static nghttp2_nv header(const char *name, const char *value)
{
    return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value),
                        NGHTTP2_NV_FLAG_NONE};
}

/* The status, as headers; `out` has room for 3. */
static size_t trailers(const struct pythia__grpc_call *call, char number[8], nghttp2_nv *out)
{
    size_t count = 0;
    snprintf(number, 8, "%d", (int)call->status);
    out[count++] = header("grpc-status", number);
    if (*call->text)
        out[count++] = header("grpc-message", call->text);
    if (*call->details)
        out[count++] = header("grpc-status-details-bin", call->details);
    return count;
}

static ssize_t read_answer(nghttp2_session *session, int32_t stream, uint8_t *to, size_t size,
                           uint32_t *flags, nghttp2_data_source *source, void *context)
{
    struct pythia__grpc_call *call = source->ptr;
    size_t left = call->answer_size - call->answer_at;
    char number[8];
    nghttp2_nv list[3];
    (void)context;
    size = size < left ? size : left;
    memcpy(to, call->answer + call->answer_at, size);
    call->answer_at += size;
    if (call->answer_at == call->answer_size) {
        *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
        nghttp2_submit_trailer(session, stream, list, trailers(call, number, list));
    }
    return (ssize_t)size;
}

static void submit_answer(struct pythia__grpc_call *call)
{
    nghttp2_session *session = call->connection->session;
    char number[8];
    nghttp2_nv list[6] = {header(":status", "200"), header("content-type", "application/grpc"),
                          header("grpc-accept-encoding", "identity,gzip,zstd")};
    if (call->answer) {
        nghttp2_data_provider provider = {.source = {.ptr = call}, .read_callback = read_answer};
        nghttp2_submit_response(session, call->stream, list, 3, &provider);
    } else {
        nghttp2_submit_response(session, call->stream, list, 3 + trailers(call, number, list + 3),
                                NULL);
    }
}

void pythia__grpc_answer(struct pythia__grpc_call *call, enum pythia__grpc_status status,
                         const char *text, const char *message, size_t size, unsigned retry_ms)
{
    call->handled = call->answered = true;
    call->status = status;
    call->server->numbers.by_status[status]++;
    if (!call->connection) {
        free_call(call);
        return;
    }
    call->since_ms = uv_now(call->server->loop);
    call->connection->served = true;
    if (status != PYTHIA__GRPC_OK) {
        pythia__grpc_escape(text, call->text, sizeof(call->text));
        if (retry_ms > 0)
            pythia__grpc_retry(call->details, status, retry_ms);
    } else {
        call->answer = pythia_realloc(NULL, PREFIX + size, 1);
        if (call->answer) {
            const unsigned char prefix[PREFIX] = {0, (unsigned char)(size >> 24),
                                                  (unsigned char)(size >> 16),
                                                  (unsigned char)(size >> 8), (unsigned char)size};
            memcpy(call->answer, prefix, PREFIX);
            if (size)
                memcpy(call->answer + PREFIX, message, size);
            call->answer_size = PREFIX + size;
        } else {
            call->status = PYTHIA__GRPC_UNAVAILABLE;
        }
    }
    submit_answer(call);
    flush(call->connection);
}

/* A call that is not even looked at; the rest of its body is passed over. With `retry_s` > 0 it may
 * come again. */
static void refuse(struct pythia__grpc_call *call, enum pythia__grpc_status status,
                   const char *text, unsigned retry_s)
{
    leave_room(call);
    pythia_buf_free(&call->body);
    call->refused = true;
    call->handled = call->answered = true;
    call->status = status;
    call->server->numbers.by_status[status]++;
    pythia__grpc_escape(text, call->text, sizeof(call->text));
    if (retry_s > 0)
        pythia__grpc_retry(call->details, status, retry_s * 1000);
    submit_answer(call); /* whoever called this flushes */
}

static void refuse_for_now(struct pythia__grpc_call *call, const char *text)
{
    refuse(call, PYTHIA__GRPC_UNAVAILABLE, text, call->server->o.retry_s);
}

/* The headers are there: may it go on? */
static void check_call(struct pythia__grpc_call *call)
{
    struct pythia__grpc_numbers *numbers = &call->server->numbers;
    if (call->header_bytes > HEADER_LIST_BYTES) {
        numbers->too_large++;
        refuse(call, PYTHIA__GRPC_RESOURCE_EXHAUSTED, "the headers are larger than is taken here",
               0);
    } else if (!call->is_post || !call->is_grpc || !call->method) {
        numbers->not_allowed++;
        refuse(call, PYTHIA__GRPC_UNIMPLEMENTED, "there is no such method here", 0);
    } else if (!call->has_token) {
        numbers->not_allowed++;
        refuse(call, PYTHIA__GRPC_UNAUTHENTICATED, "a token is needed: authorization: Bearer TOKEN",
               0);
    } else if (call->packing == PYTHIA_PACKINGS) {
        refuse(call, PYTHIA__GRPC_UNIMPLEMENTED, "this grpc-encoding is not known: gzip or zstd",
               0);
    }
}

static size_t announced(const struct pythia__grpc_call *call)
{
    const unsigned char *b = call->prefix;
    return (size_t)b[1] << 24 | (size_t)b[2] << 16 | (size_t)b[3] << 8 | b[4];
}

/* The body is whole: exactly one message. */
static void handle_call(struct pythia__grpc_call *call)
{
    bool packed = call->prefix[0] != 0;
    size_t size = call->body.size;
    if (call->refused)
        return;
    if (call->no_room.begun) {
        pythia__room_forgotten(call->server->o.room, &call->no_room);
        refuse_for_now(call, "too much at once: try again later");
        return;
    }
    if (call->prefix_size < PREFIX || call->prefix[0] > 1 || announced(call) != size) {
        call->server->numbers.broken++;
        refuse(call, PYTHIA__GRPC_INTERNAL, "the body is not one message with its length", 0);
        return;
    }
    if (packed && call->packing == PYTHIA_PACKING_NONE) {
        call->server->numbers.broken++;
        refuse(call, PYTHIA__GRPC_INTERNAL, "the message is packed, and no grpc-encoding says how",
               0);
        return;
    }
    if (!pythia_buf_reserve(&call->body, 1)) { /* an empty message has bytes, too */
        refuse_for_now(call, "out of memory");
        return;
    }
    char *message = call->body.bytes;
    call->body = (struct pythia_buf){0};
    leave_room(call);
    call->handled = true;
    call->method->handle(call->method->context, call, message, size,
                         packed ? call->packing : PYTHIA_PACKING_NONE);
}

/* ---- what nghttp2 tells ---- */

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    struct connection *c = context;
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    struct pythia__grpc_call *call = begin_call(c, frame->hd.stream_id);
    if (!call)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, call);
    c->greeted = true;
    return 0;
}

static bool is(const uint8_t *text, size_t size, const char *what)
{
    return strlen(what) == size && memcmp(text, what, size) == 0;
}

static bool has_token(const struct pythia__grpc_call *call, const char *value, size_t size)
{
    const char *token = call->server->o.token;
    if (!token || size < 7 || strncasecmp(value, "Bearer ", 7) != 0)
        return !token;
    size_t wanted = strlen(token);
    unsigned char differ = size - 7 != wanted;
    for (size_t i = 0; i < wanted; i++)
        differ |= (unsigned char)token[i] ^ (unsigned char)(i < size - 7 ? value[7 + i] : 0);
    return !differ;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_size, const uint8_t *value, size_t size, uint8_t flags,
                     void *context)
{
    struct pythia__grpc_call *call =
        nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    (void)flags;
    (void)context;
    if (!call || frame->hd.type != NGHTTP2_HEADERS)
        return 0;
    call->header_bytes += name_size + size + HEADER_BYTES;
    if (is(name, name_size, ":method")) {
        call->is_post = is(value, size, "POST");
    } else if (is(name, name_size, ":path")) {
        for (size_t i = 0; i < call->server->o.method_count; i++)
            if (is(value, size, call->server->o.methods[i].path))
                call->method = &call->server->o.methods[i];
    } else if (is(name, name_size, "content-type")) {
        call->is_grpc = size >= 16 && memcmp(value, "application/grpc", 16) == 0;
    } else if (is(name, name_size, "grpc-encoding")) {
        char coding[16];
        snprintf(coding, sizeof(coding), "%.*s", (int)(size < 15 ? size : 15), (const char *)value);
        call->packing = pythia_packing_named(coding);
    } else if (is(name, name_size, "authorization")) {
        call->has_token = has_token(call, (const char *)value, size);
    }
    return 0;
}

/* Bytes of a call: its prefix, and the message. Room for the message is made at once, as its length
 * is known, but for no more than several times what has come: anyone can announce much. */
static void add_bytes(struct pythia__grpc_call *call, const uint8_t *bytes, size_t size)
{
    for (; call->prefix_size < PREFIX && size > 0; size--)
        call->prefix[call->prefix_size++] = *bytes++;
    if (call->server->o.room && call->no_room.begun) {
        if (call->prefix[0] != 0)
            call->no_room.count = NULL; /* packed */
        pythia__room_forget(call->server->o.room, &call->no_room, (const char *)bytes, size);
        return;
    }
    size_t come = call->body.size + size, most = call->server->o.message_max;
    size_t all = announced(call) < most ? announced(call) : most;
    all = all < ROOM_AHEAD * come ? all : ROOM_AHEAD * come;
    all = all > come ? all : come;
    if (size > 0 && pythia_buf_reserve(&call->body, all - call->body.size))
        pythia_buf_add(&call->body, bytes, size);
}

/* There is no room for more of it: what comes is read to its end, so that its spans are counted. */
static void lose_room(struct pythia__grpc_call *call)
{
    struct pythia__room *room = call->server->o.room;
    pythia__room_lose(room, &call->no_room, call->method->count);
    pythia__room_forget(room, &call->no_room, call->body.bytes, call->body.size);
    pythia_buf_free(&call->body);
    leave_room(call);
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes,
                   size_t size, void *context)
{
    struct pythia__grpc_call *call = nghttp2_session_get_stream_user_data(session, stream);
    (void)flags, (void)context;
    if (!call || call->refused)
        return 0;
    call->received += size;
    if (call->received > call->server->o.message_max + PREFIX) {
        call->server->numbers.too_large++;
        refuse(call, PYTHIA__GRPC_RESOURCE_EXHAUSTED, "the message is larger than is taken here",
               0);
        return 0;
    }
    struct pythia__room *room = call->server->o.room;
    if (room && !call->no_room.begun && !pythia__room_take(room, size))
        lose_room(call);
    call->room += room && !call->no_room.begun ? size : 0;
    add_bytes(call, bytes, size);
    if (pythia_buf_status(&call->body) != PYTHIA_OK)
        refuse_for_now(call, "too much at once: try again later");
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    (void)context;
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
        return 0;
    struct pythia__grpc_call *call =
        nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (!call)
        return 0;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
        call->headed = true;
        call->since_ms = uv_now(call->server->loop);
        check_call(call);
    }
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) && !call->ended) {
        call->ended = true;
        handle_call(call);
    }
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t stream, uint32_t error, void *context)
{
    struct pythia__grpc_call *call = nghttp2_session_get_stream_user_data(session, stream);
    (void)error;
    (void)context;
    if (call)
        leave_call(call);
    return 0;
}

/* ---- connections ---- */

static void on_handle_closed(uv_handle_t *handle)
{
    struct pythia__grpc_server *s = handle->data;
    s->handles_open--;
    forget_if_done(s);
}

static void on_connection_closed(uv_handle_t *handle)
{
    struct connection *c = handle->data;
    struct pythia__grpc_server *s = c->server;
    nghttp2_session_del(c->session);
    while (c->calls)
        leave_call(c->calls);
    pythia__tls_session_destroy(c->tls);
    pythia_buf_free(&c->plain);
    pythia_buf_free(&c->wire);
    if (c->next)
        c->next->previous = c->previous;
    if (c->previous)
        c->previous->next = c->next;
    else
        s->connections = c->next;
    s->handles_open--;
    pythia_free(c);
    forget_if_done(s);
}

static void close_connection(struct connection *c)
{
    if (c->closing)
        return;
    c->closing = true;
    c->server->connection_count--;
    uv_close((uv_handle_t *)c->stream, on_connection_closed);
}

static void on_written(uv_write_t *write, int status)
{
    struct connection *c = write->data;
    c->writing = false;
    pythia_buf_clear(&c->wire);
    if (status != 0)
        close_connection(c);
    else
        flush(c);
}

/* Send what nghttp2 has to say, one write at a time. */
static void flush(struct connection *c)
{
    if (c->writing || c->closing || c->receiving || (c->tls && !pythia__tls_is_ready(c->tls)))
        return;
    while (c->wire.size < WRITE_BYTES) {
        const uint8_t *bytes;
        ssize_t size = nghttp2_session_mem_send(c->session, &bytes);
        if (size < 0) {
            close_connection(c);
            return;
        }
        if (size == 0)
            break;
        if (!c->tls)
            pythia_buf_add(&c->wire, bytes, (size_t)size);
        else if (pythia__tls_send(c->tls, (const char *)bytes, (size_t)size, &c->wire) != PYTHIA_OK)
            size = -1;
        if (size < 0 || pythia_buf_status(&c->wire) != PYTHIA_OK) {
            close_connection(c);
            return;
        }
    }
    if (c->wire.size > 0) {
        uv_buf_t piece = uv_buf_init(c->wire.bytes, (unsigned)c->wire.size);
        c->write.data = c;
        c->writing = true;
        if (uv_write(&c->write, c->stream, &piece, 1, on_written) != 0)
            close_connection(c);
    } else if (!nghttp2_session_want_read(c->session) && !nghttp2_session_want_write(c->session)) {
        close_connection(c);
    }
}

static void on_allocate(uv_handle_t *handle, size_t wanted, uv_buf_t *piece)
{
    struct connection *c = handle->data;
    (void)wanted;
    *piece = uv_buf_init(c->server->buffer, READ_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *piece)
{
    struct connection *c = stream->data;
    const char *bytes = piece->base;
    int status = PYTHIA_OK;
    if (size == 0)
        return;
    if (size < 0) {
        close_connection(c);
        return;
    }
    size_t count = (size_t)size;
    if (c->tls) {
        pythia_buf_clear(&c->plain);
        struct pythia_buf wire = {0};
        status = pythia__tls_receive(c->tls, bytes, count, &c->plain, &wire);
        if (wire.size > 0) { /* of the handshake: nothing else is being written then */
            uv_buf_t out = uv_buf_init(wire.bytes, (unsigned)wire.size);
            if (uv_try_write(c->stream, &out, 1) != (int)wire.size)
                status = PYTHIA_EIO;
        }
        pythia_buf_free(&wire);
        bytes = c->plain.bytes;
        count = c->plain.size;
    }
    c->receiving = true;
    if (status >= 0 && count > 0 &&
        nghttp2_session_mem_recv(c->session, (const uint8_t *)bytes, count) < 0)
        status = PYTHIA_EFORMAT;
    c->receiving = false;
    c->server->numbers.broken += status == PYTHIA_EFORMAT;
    if (status != PYTHIA_OK)
        close_connection(c);
    else
        flush(c);
}

static int begin_session(struct connection *c)
{
    const struct pythia__grpc_options *o = &c->server->o;
    nghttp2_option *option;
    if (nghttp2_option_new(&option) != 0)
        return PYTHIA_ENOMEM;
    nghttp2_option_set_no_closed_streams(option, 1);
    nghttp2_option_set_max_outbound_ack(option, 1000);
    int failed = nghttp2_session_server_new2(&c->session, c->server->callbacks, c, option);
    nghttp2_option_del(option);
    if (failed)
        return PYTHIA_ENOMEM;
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, o->streams_max},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, (uint32_t)(o->message_max + PREFIX)},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)HEADER_LIST_BYTES},
    };
    nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, settings,
                            sizeof(settings) / sizeof(settings[0]));
    nghttp2_session_set_local_window_size(c->session, NGHTTP2_FLAG_NONE, 0, WINDOW_BYTES);
    return PYTHIA_OK;
}

/* How long a call may take from its begin to its headers, from there to its end, and from its
 * answer until that is read. 0: as long as it takes. */
static unsigned limit_of(const struct pythia__grpc_call *call)
{
    const struct pythia__grpc_options *o = &call->server->o;
    return !call->headed ? o->header_s : !call->ended || call->answered ? o->body_s : 0;
}

/* What a connection waits for, with the call that has waited for longest. */
static struct pythia__place place_of(const struct connection *c, uint64_t now)
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
static bool make_room(struct pythia__grpc_server *s, const struct connection *new)
{
    uint64_t now = uv_now(s->loop);
    struct pythia__crowd crowd = {.strangers = 0};
    enum pythia__wait wait;
    for (struct connection *c = s->connections; c; c = c->next) {
        struct pythia__place place = place_of(c, now);
        if (c != new && !c->closing)
            pythia__crowd_look(&crowd, &place, c);
    }
    struct connection *goes = pythia__crowd_choose(&crowd, s->o.connections_max, &wait);
    if (!goes)
        return false;
    s->numbers.evicted[wait]++;
    close_connection(goes);
    return true;
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct pythia__grpc_server *s = listener->data;
    struct connection *c = status == 0 ? pythia_calloc(1, sizeof(*c)) : NULL;
    if (!c)
        return;
    c->server = s;
    c->since_ms = uv_now(s->loop);
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
    bool room = s->connection_count <= s->o.connections_max || make_room(s, c);
    s->numbers.refused_connections += !room;
    if (uv_accept(listener, c->stream) != 0 || !room || begin_session(c) != PYTHIA_OK ||
        (s->tls && pythia__tls_session_create(s->tls, &c->tls) != PYTHIA_OK)) {
        close_connection(c);
        return;
    }
    if (!s->is_pipe)
        uv_tcp_nodelay(&c->handle.tcp, 1);
    uv_read_start(c->stream, on_allocate, on_read);
    if (!c->tls)
        flush(c);
}

/* Close what takes too long. */
static void on_check(uv_timer_t *timer)
{
    struct pythia__grpc_server *s = timer->data;
    uint64_t now = uv_now(s->loop);
    for (struct connection *c = s->connections, *next; c; c = next) {
        next = c->next;
        bool late = !c->greeted && now - c->since_ms >= s->o.header_s * UINT64_C(1000);
        for (const struct pythia__grpc_call *call = c->calls; call; call = call->next) {
            unsigned limit_s = limit_of(call);
            late = late || (limit_s && now - call->since_ms >= limit_s * UINT64_C(1000));
        }
        s->numbers.timed_out += late && !c->closing;
        if (late || (!c->calls && now - c->since_ms >= s->o.idle_s * UINT64_C(1000)))
            close_connection(c);
    }
}

/* ---- the listener ---- */

static int make_callbacks(struct pythia__grpc_server *s)
{
    if (nghttp2_session_callbacks_new(&s->callbacks) != 0)
        return PYTHIA_ENOMEM;
    nghttp2_session_callbacks_set_on_begin_headers_callback(s->callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(s->callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(s->callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(s->callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(s->callbacks, on_stream_close);
    return PYTHIA_OK;
}

static void start(struct pythia__grpc_server *s, int socket)
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
    s->handles_open = 2;
    s->listening = true;
    uv_listen(listener, 512, on_connection);
    uv_timer_start(&s->check, on_check, CHECK_MS, CHECK_MS);
}

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
    s->o.retry_s = options->retry_s ? options->retry_s : 1;
    int status = make_callbacks(s);
    if (status == PYTHIA_OK && options->tls_key)
        status = pythia__tls_create(options->tls_key, options->tls_certificate, options->tls_trust,
                                    "h2", &s->tls, e);
    if (status == PYTHIA_OK)
        status = pythia__listen(options->address, &socket, &s->file, e);
    if (status != PYTHIA_OK) {
        nghttp2_session_callbacks_del(s->callbacks);
        pythia__tls_destroy(s->tls);
        pythia_free(s);
        return status;
    }
    s->port = pythia__socket_port(socket);
    start(s, socket);
    *out = s;
    return PYTHIA_OK;
}

void pythia__grpc_quiesce(struct pythia__grpc_server *s)
{
    pythia__socket_file_remove(&s->file);
    if (s->listening)
        uv_close((uv_handle_t *)&s->listener, on_handle_closed);
    s->listening = false;
    for (struct connection *c = s->connections; c; c = c->next)
        if (!c->closing && c->session) {
            nghttp2_submit_goaway(c->session, NGHTTP2_FLAG_NONE,
                                  nghttp2_session_get_last_proc_stream_id(c->session),
                                  NGHTTP2_NO_ERROR, NULL, 0);
            flush(c);
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
    for (struct connection *c = s->connections; c; c = c->next)
        close_connection(c);
    uv_close((uv_handle_t *)&s->check, on_handle_closed);
}

unsigned pythia__grpc_port(const struct pythia__grpc_server *s)
{
    return s->port;
}

struct pythia__grpc_numbers pythia__grpc_numbers(const struct pythia__grpc_server *s)
{
    return s->numbers;
}
