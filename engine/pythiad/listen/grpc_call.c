/* Calls of gRPC. Framing of messages and the few headers of gRPC are written down in "gRPC over
 * HTTP2" (github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "grpc_parts.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define HEADER_LIST_END (4 * PYTHIA__GRPC_HEADER_LIST_BYTES) /* such a list ends its connection */
#define PLAIN_BYTES     ((size_t)64 * 1024) /* of a request that is no call, until it is answered */
#define HEADER_BYTES    32 /* that one counts beyond its name and value (RFC 9113, 6.5.2) */

static struct pythia__grpc_call *begin_grpc_call(struct pythia__grpc_connection *c, int32_t stream)
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

static nghttp2_nv make_header(const char *name, const char *value)
{
    return (nghttp2_nv){pythia_without_const(name), pythia_without_const(value), strlen(name),
                        strlen(value), NGHTTP2_NV_FLAG_NONE};
}

/* The status, as headers; `out` has room for 3. */
static size_t make_trailers(const struct pythia__grpc_call *call, char number[8], nghttp2_nv *out)
{
    size_t count = 0;
    snprintf(number, 8, "%d", (int)call->status);
    out[count++] = make_header("grpc-status", number);
    if (*call->text)
        out[count++] = make_header("grpc-message", call->text);
    if (*call->details)
        out[count++] = make_header("grpc-status-details-bin", call->details);
    return count;
}

static ssize_t read_grpc_answer(nghttp2_session *session, int32_t stream, uint8_t *to, size_t size,
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
    if (call->answer_at == call->answer_size)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (call->answer_at == call->answer_size && !call->http_status) {
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        nghttp2_submit_trailer(session, stream, list, make_trailers(call, number, list));
    }
    return (ssize_t)size;
}

static void submit_answer(struct pythia__grpc_call *call)
{
    nghttp2_session *session = call->connection->session;
    char number[8];
    nghttp2_data_provider provider = {.source = {.ptr = call}, .read_callback = read_grpc_answer};
    nghttp2_nv list[6] = {make_header(":status", "200"),
                          make_header("content-type", "application/grpc"),
                          make_header("grpc-accept-encoding", "identity,gzip,zstd")};
    if (call->http_status) {
        list[0] = make_header(":status", call->http_status);
        list[1] = make_header("content-type", "text/plain; charset=utf-8");
        nghttp2_submit_response(session, call->stream, list, 2, call->answer ? &provider : NULL);
    } else if (call->answer) {
        nghttp2_submit_response(session, call->stream, list, 3, &provider);
    } else {
        nghttp2_submit_response(session, call->stream, list,
                                3 + make_trailers(call, number, list + 3), NULL);
    }
}

/* The connection may have been closed while the body was decoded; then the call is all that is
 * left. */
void pythia__grpc_answer(struct pythia__grpc_call *call, enum pythia__grpc_status status,
                         const char *text, const char *message, size_t size, unsigned retry_ms)
{
    call->handled = call->answered = true;
    call->status = status;
    call->server->numbers.by_status[status]++;
    if (!call->connection) {
        pythia__grpc_free_call(call);
        return;
    }
    call->since_ms = uv_now(call->server->loop);
    call->connection->served = true;
    if (status != PYTHIA__GRPC_OK) {
        pythia__grpc_escape(text, call->text, sizeof(call->text));
        if (retry_ms > 0)
            pythia__grpc_retry(call->details, status, retry_ms);
    } else {
        call->answer = pythia_realloc(NULL, PYTHIA__GRPC_PREFIX + size, 1);
        if (call->answer) {
            const unsigned char prefix[PYTHIA__GRPC_PREFIX] = {
                0, (unsigned char)(size >> 24), (unsigned char)(size >> 16),
                (unsigned char)(size >> 8), (unsigned char)size};
            memcpy(call->answer, prefix, PYTHIA__GRPC_PREFIX);
            if (size)
                memcpy(call->answer + PYTHIA__GRPC_PREFIX, message, size);
            call->answer_size = PYTHIA__GRPC_PREFIX + size;
        } else {
            call->status = PYTHIA__GRPC_UNAVAILABLE;
        }
    }
    submit_answer(call);
    pythia__grpc_flush(call->connection);
}

/* A call that is not even looked at. Once it is answered its stream is reset, so that nothing more
 * of it comes (on_sent). With `retry_s` > 0 it may come again. */
static void refuse_call(struct pythia__grpc_call *call, enum pythia__grpc_status status,
                        const char *text, unsigned retry_s)
{
    pythia__grpc_leave_room(call);
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
    refuse_call(call, PYTHIA__GRPC_UNAVAILABLE, text, call->server->o.retry_s);
}

/* A request that is no call of gRPC is answered like one of HTTP, as "gRPC over HTTP2" wants it:
 * whoever comes with a browser or curl gets a sentence, once the request has ended. */
static void refuse_plain(struct pythia__grpc_call *call, const char *http_status, const char *text)
{
    call->server->numbers.not_allowed++;
    call->http_status = http_status;
    call->answer_size = strlen(text);
    call->answer = pythia_strndup(text, call->answer_size);
    if (!call->answer)
        call->answer_size = 0;
}

/* The headers are there: may it go on? */
static void check_call(struct pythia__grpc_call *call)
{
    struct pythia__grpc_numbers *numbers = &call->server->numbers;
    if (call->has_long_list) {
        refuse_call(call, PYTHIA__GRPC_RESOURCE_EXHAUSTED,
                    "the headers are larger than is taken here", 0);
    } else if (!call->is_post) {
        refuse_plain(call, "405", "This is the port of OTLP over gRPC. It takes POST only.\n");
    } else if (!call->is_grpc) {
        refuse_plain(call, "415",
                     "This is the port of OTLP over gRPC. Content-Type has to be "
                     "application/grpc.\n");
    } else if (!call->method) {
        numbers->not_allowed++;
        refuse_call(call, PYTHIA__GRPC_UNIMPLEMENTED, "there is no such method here", 0);
    } else if (!call->has_token) {
        numbers->not_allowed++;
        refuse_call(call, PYTHIA__GRPC_UNAUTHENTICATED,
                    "a token is needed: authorization: Bearer TOKEN", 0);
    } else if (call->packing == PYTHIA_PACKINGS) {
        refuse_call(call, PYTHIA__GRPC_UNIMPLEMENTED,
                    "this grpc-encoding is not known: gzip or zstd", 0);
    }
}

static size_t message_size(const struct pythia__grpc_call *call)
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
    if (call->http_status) {
        refuse_call(call, PYTHIA__GRPC_UNIMPLEMENTED, "", 0);
        return;
    }
    if (call->no_room.begun) {
        pythia__room_forgotten(call->server->o.room, &call->no_room);
        refuse_for_now(call, "too much at once: try again later");
        return;
    }
    if (call->prefix_size < PYTHIA__GRPC_PREFIX || call->prefix[0] > 1 ||
        message_size(call) != size) {
        call->server->numbers.broken++;
        refuse_call(call, PYTHIA__GRPC_INTERNAL, "the body is not one message with its length", 0);
        return;
    }
    if (packed && call->packing == PYTHIA_PACKING_NONE) {
        call->server->numbers.broken++;
        refuse_call(call, PYTHIA__GRPC_INTERNAL,
                    "the message is packed, and no grpc-encoding says how", 0);
        return;
    }
    if (size == 0 && !pythia_buf_reserve(&call->body, 1)) { /* an empty message has bytes, too */
        refuse_for_now(call, "out of memory");
        return;
    }
    char *message = call->body.bytes;
    call->body = (struct pythia_buf){0};
    pythia__grpc_leave_room(call);
    call->handled = true;
    call->method->handle(call->method->context, call, message, size,
                         packed ? call->packing : PYTHIA_PACKING_NONE);
}

/* ---- what nghttp2 tells ---- */

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    struct pythia__grpc_connection *c = context;
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    struct pythia__grpc_call *call = begin_grpc_call(c, frame->hd.stream_id);
    if (!call)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, call);
    c->greeted = true;
    return 0;
}

static bool text_is(const uint8_t *text, size_t size, const char *what)
{
    return strlen(what) == size && memcmp(text, what, size) == 0;
}

static bool has_call_token(const struct pythia__grpc_call *call, const char *value, size_t size)
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

/* One more header. A list above the limit ends its stream: it is answered once all of it is there,
 * because what comes after it refers to its headers. A connection that sends another such list, or
 * one that is far too long, ends. */
static int count_header(struct pythia__grpc_call *call, size_t size)
{
    struct pythia__grpc_connection *c = call->connection;
    struct pythia__grpc_numbers *numbers = &call->server->numbers;
    call->header_bytes += size + HEADER_BYTES;
    if (call->header_bytes <= PYTHIA__GRPC_HEADER_LIST_BYTES)
        return 0;
    if (!call->has_long_list) {
        call->has_long_list = true;
        numbers->too_long++;
        numbers->too_large++;
        c->long_lists++;
    }
    c->ends = c->long_lists > 1 || call->header_bytes > HEADER_LIST_END;
    numbers->calmed += c->ends;
    return c->ends ? NGHTTP2_ERR_PAUSE : 0;
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
    int result = count_header(call, name_size + size);
    if (call->has_long_list || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return result; /* trailers say nothing of a call */
    if (text_is(name, name_size, ":method")) {
        call->is_post = text_is(value, size, "POST");
    } else if (text_is(name, name_size, ":path")) {
        for (size_t i = 0; i < call->server->o.method_count; i++)
            if (text_is(value, size, call->server->o.methods[i].path))
                call->method = &call->server->o.methods[i];
    } else if (text_is(name, name_size, "content-type")) {
        call->is_grpc = size >= 16 && memcmp(value, "application/grpc", 16) == 0;
    } else if (text_is(name, name_size, "grpc-encoding")) {
        char coding[16];
        snprintf(coding, sizeof(coding), "%.*s", (int)(size < 15 ? size : 15), (const char *)value);
        call->packing = pythia_packing_named(coding);
    } else if (text_is(name, name_size, "authorization")) {
        call->has_token = has_call_token(call, (const char *)value, size);
    }
    return 0;
}

/* There is no room for more of it: what comes is read to its end, so that its spans are counted. */
static void lose_room(struct pythia__grpc_call *call)
{
    struct pythia__room *room = call->server->o.room;
    pythia__room_lose(room, &call->no_room, call->method->count);
    pythia__room_forget(room, &call->no_room, call->body.bytes, call->body.size);
    pythia_buf_free(&call->body);
    pythia__grpc_leave_room(call);
}

/* Bytes of a call: its prefix, and the message. */
static void add_message_bytes(struct pythia__grpc_call *call, const uint8_t *bytes, size_t size)
{
    struct pythia__room *room = call->server->o.room;
    size_t most = call->server->o.message_max;
    for (; call->prefix_size < PYTHIA__GRPC_PREFIX && size > 0; size--)
        call->prefix[call->prefix_size++] = *bytes++;
    if (size == 0)
        return;
    size_t all = message_size(call) < most ? message_size(call) : most;
    if (!call->no_room.begun && !pythia__room_reserve(room, &call->body, &call->room, size, all))
        lose_room(call);
    if (!call->no_room.begun) {
        pythia_buf_add(&call->body, bytes, size);
        return;
    }
    if (call->prefix[0] != 0)
        call->no_room.count = NULL; /* packed */
    pythia__room_forget(room, &call->no_room, (const char *)bytes, size);
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes,
                   size_t size, void *context)
{
    struct pythia__grpc_call *call = nghttp2_session_get_stream_user_data(session, stream);
    (void)flags, (void)context;
    if (!call || call->refused)
        return 0;
    call->received += size;
    if (call->http_status) { /* its body is not looked at, nor waited for if it is long */
        if (call->received > PLAIN_BYTES)
            refuse_call(call, PYTHIA__GRPC_UNIMPLEMENTED, "", 0);
        return 0;
    }
    if (call->received > call->server->o.message_max + PYTHIA__GRPC_PREFIX) {
        call->server->numbers.too_large++;
        refuse_call(call, PYTHIA__GRPC_RESOURCE_EXHAUSTED,
                    "the message is larger than is taken here", 0);
        return 0;
    }
    add_message_bytes(call, bytes, size);
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
    } else if (call->has_long_list && !call->handled) {
        check_call(call); /* its trailers are too long */
    }
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) && !call->ended) {
        call->ended = true;
        handle_call(call);
    }
    return 0;
}

/* A refused call is answered: its sender need not send the rest (RFC 9113, 8.1). */
static int on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    (void)context;
    bool ends = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (!ends || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        return 0;
    const struct pythia__grpc_call *call =
        nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (call && call->refused && !call->ended)
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                  NGHTTP2_NO_ERROR);
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t stream, uint32_t error, void *context)
{
    struct pythia__grpc_call *call = nghttp2_session_get_stream_user_data(session, stream);
    (void)error;
    (void)context;
    if (call)
        pythia__grpc_leave_call(call);
    return 0;
}

void pythia__grpc_call_callbacks(nghttp2_session_callbacks *callbacks)
{
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
}
