/* OTLP over gRPC, by nghttp2: a body is a stream. */
#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ingest_link.h"
#include "pythia/protobuf.h"

#define EXPORT      "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
#define READ_BYTES  65536
#define WRITE_BYTES ((size_t)256 * 1024)
#define ANSWER_MAX  512
#define UNAVAILABLE 14
#define EXHAUSTED   8

struct call {
    struct call *next; /* that are free */
    struct link *link;
    struct body *body;
    size_t sent;
    uint64_t due_ns;
    int status; /* of gRPC; -1: it was not told */
    bool has_details;
    char message[ANSWER_MAX];
    size_t message_size;
};

struct link {
    int socket;
    const char *host;
    nghttp2_session *session;
    struct answer_taker to;
    struct call *calls, *spare;
    unsigned depth;
    char *out; /* what could not be written yet */
    size_t out_at, out_size;
};

static nghttp2_nv header(const char *name, const char *value)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): nghttp2 only reads them */
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
                        strlen(value),
                        NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

static ssize_t read_body(nghttp2_session *session, int32_t stream, uint8_t *to, size_t size,
                         uint32_t *flags, nghttp2_data_source *source, void *context)
{
    struct call *call = source->ptr;
    size_t left = BODY_PREFIX + call->body->size - call->sent;
    (void)session;
    (void)stream;
    (void)context;
    size = size < left ? size : left;
    memcpy(to, call->body->bytes + call->sent, size);
    call->sent += size;
    if (size == left)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)size;
}

/* Behind its prefix, an ExportTraceServiceResponse 1: partial success 1: spans that were rejected.
 */
static uint64_t rejected(const struct call *call)
{
    struct pythia_protobuf_field f = {0};
    uint64_t count = 0;
    if (call->message_size <= BODY_PREFIX)
        return 0;
    struct pythia_protobuf m = {call->message + BODY_PREFIX, call->message + call->message_size};
    while (pythia_protobuf_next(&m, &f) == 0)
        if (f.number == 1 && f.type == PYTHIA_PROTOBUF_BYTES) {
            struct pythia_protobuf inner = pythia_protobuf_of(f.bytes);
            while (pythia_protobuf_next(&inner, &f) == 0)
                count += f.number == 1 && f.type == PYTHIA_PROTOBUF_VARINT ? f.value : 0;
        }
    return count;
}

static void end_call(struct call *call)
{
    struct link *l = call->link;
    struct answer answer = {.outcome = call->status == 0 ? TAKEN : FAILED};
    if (call->status == UNAVAILABLE || (call->status == EXHAUSTED && call->has_details)) {
        answer.outcome = REFUSED;
        answer.has_delay = call->has_details;
    }
    answer.rejected = answer.outcome == TAKEN ? rejected(call) : 0;
    struct body *body = call->body;
    call->body = NULL;
    call->next = l->spare;
    l->spare = call;
    l->to.take(l->to.context, body, call->due_ns, &answer);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_size, const uint8_t *value, size_t size, uint8_t flags,
                     void *context)
{
    struct call *call = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    (void)flags;
    (void)context;
    if (!call)
        return 0;
    if (name_size == 11 && memcmp(name, "grpc-status", 11) == 0 && size > 0 && size < 3) {
        char digits[3] = {0};
        memcpy(digits, value, size);
        call->status = (int)strtol(digits, NULL, 10);
    }
    call->has_details =
        call->has_details || (name_size == 23 && memcmp(name, "grpc-status-details-bin", 23) == 0);
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes,
                   size_t size, void *context)
{
    struct call *call = nghttp2_session_get_stream_user_data(session, stream);
    (void)flags;
    (void)context;
    if (call && call->message_size + size <= ANSWER_MAX) {
        memcpy(call->message + call->message_size, bytes, size);
        call->message_size += size;
    }
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t stream, uint32_t error, void *context)
{
    struct call *call = nghttp2_session_get_stream_user_data(session, stream);
    (void)error;
    (void)context;
    if (call)
        end_call(call);
    return 0;
}

static struct link *create(int socket, const char *host, unsigned depth, struct answer_taker to)
{
    struct link *l = calloc(1, sizeof(*l));
    nghttp2_session_callbacks *callbacks;
    if (!l || !(l->out = malloc(WRITE_BYTES)) || !(l->calls = calloc(depth, sizeof(*l->calls))) ||
        nghttp2_session_callbacks_new(&callbacks) != 0)
        die("out of memory");
    l->socket = socket;
    l->host = host;
    l->to = to;
    l->depth = depth;
    for (unsigned i = 0; i < depth; i++) {
        l->calls[i].link = l;
        l->calls[i].next = l->spare;
        l->spare = &l->calls[i];
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    if (nghttp2_session_client_new(&l->session, callbacks, l) != 0)
        die("out of memory");
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(l->session, NGHTTP2_FLAG_NONE, NULL, 0);
    return l;
}

static void destroy(struct link *l)
{
    nghttp2_session_del(l->session);
    close(l->socket);
    free(l->calls);
    free(l->out);
    free(l);
}

static bool has_room(const struct link *l)
{
    return l->spare && l->socket >= 0;
}

static void send_body(struct link *l, struct body *body, uint64_t due_ns)
{
    const nghttp2_nv headers[] = {
        header(":method", "POST"),     header(":scheme", "http"),
        header(":authority", l->host), header(":path", EXPORT),
        header("te", "trailers"),      header("content-type", "application/grpc")};
    struct call *call = l->spare;
    l->spare = call->next;
    *call = (struct call){.link = l, .body = body, .due_ns = due_ns, .status = -1};
    nghttp2_data_provider provider = {.source = {.ptr = call}, .read_callback = read_body};
    if (nghttp2_submit_request(l->session, NULL, headers, sizeof(headers) / sizeof(headers[0]),
                               &provider, call) < 0)
        end_call(call);
}

static void lose(struct link *l)
{
    shutdown(l->socket, SHUT_RDWR);
    for (unsigned i = 0; i < l->depth; i++)
        if (l->calls[i].body) {
            l->calls[i].status = -1;
            end_call(&l->calls[i]);
        }
    die("the connection is lost");
}

static bool wants_write(const struct link *l)
{
    return l->out_size > 0 || nghttp2_session_want_write(l->session);
}

static void write_link(struct link *l)
{
    for (;;) {
        while (l->out_size < WRITE_BYTES / 2) {
            const uint8_t *bytes;
            ssize_t size = nghttp2_session_mem_send(l->session, &bytes);
            if (size < 0)
                lose(l);
            if (size == 0)
                break;
            memcpy(l->out + l->out_size, bytes, (size_t)size); /* a frame: at most 16 KiB */
            l->out_size += (size_t)size;
        }
        if (l->out_size == 0)
            return;
        ssize_t written = write(l->socket, l->out + l->out_at, l->out_size - l->out_at);
        if (written < 0 && errno == EAGAIN)
            return;
        if (written < 0)
            lose(l);
        l->out_at += (size_t)written;
        if (l->out_at < l->out_size)
            return;
        l->out_at = l->out_size = 0;
    }
}

static void read_link(struct link *l)
{
    uint8_t bytes[READ_BYTES];
    ssize_t size = read(l->socket, bytes, sizeof(bytes));
    if (size < 0 && errno == EAGAIN)
        return;
    if (size <= 0 || nghttp2_session_mem_recv(l->session, bytes, (size_t)size) < 0)
        lose(l);
}

const struct link_ops ingest_grpc = {create,      destroy,   has_room,  send_body,
                                     wants_write, read_link, write_link};
