/* Bytes that come over connections of gRPC, and the budget for them.
 *
 * All of pythiad is on one loop, and a few bytes can cost much: one byte of HPACK may stand for a
 * header of 4 KB, and a ClientHello for a signature. Therefore bytes are taken in small slices. In
 * a turn of the loop each connection may take so many bytes, and all of them together may take so
 * much time. What is left waits in its connection, which is not read meanwhile and gets a place in
 * a queue: the one that has waited for longest goes on first. A connection whose peer does not read
 * what it is sent waits as well, so that answers do not pile up. */
#include "grpc_parts.h"
#include "pythia/status.h"

#define SLICE_BYTES    ((size_t)2 * 1024)
#define OVERHEAD_BYTES ((size_t)64 * 1024) /* 7281 empty frames, which take 1 ms */
#define CALL_OVERHEAD  ((size_t)128)

static bool has_time(const struct pythia__grpc_server *s)
{
    return s->turn_ns < s->o.turn_us * UINT64_C(1000);
}

/* May it take more bytes in this turn of the loop? */
static bool has_turn_budget(struct pythia__grpc_connection *c)
{
    const struct pythia__grpc_server *s = c->server;
    if (c->turn != s->turn)
        c->turn_bytes = 0;
    c->turn = s->turn;
    return c->turn_bytes < s->o.turn_bytes && has_time(s);
}

/* ---- frames that carry nothing ---- */

/* A peer may send empty data, settings, pings, priorities, window updates and unknown frames as
 * often as it likes, and each costs as much time as a frame that is full. Bytes that carry no
 * content are therefore limited. Content pays for as many of them as it has bytes itself, and a
 * header list for CALL_OVERHEAD, which is more than a client sends beside a call: a ping and two
 * window updates are 43 bytes. A message of 8 KiB in frames of one byte is still accepted. The
 * frame heads are read here because nghttp2 does not report the frames that it ignores. */
static void count_frame(struct pythia__grpc_connection *c, size_t length, size_t content)
{
    bool is_list = c->frame_head[3] == NGHTTP2_HEADERS;
    size_t paid = is_list ? CALL_OVERHEAD : content;
    if (!is_list)
        c->overhead_bytes += PYTHIA__GRPC_FRAME_HEAD + length - content;
    c->overhead_bytes -= paid < c->overhead_bytes ? paid : c->overhead_bytes;
    if (c->overhead_bytes > OVERHEAD_BYTES && !c->ends) {
        c->ends = true;
        c->server->numbers.calmed++;
    }
}

/* A head is whole; with padded data the length of the padding belongs to it. */
static void take_frame_head(struct pythia__grpc_connection *c)
{
    const unsigned char *head = c->frame_head;
    size_t length = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
    size_t beyond = c->frame_head_size - PYTHIA__GRPC_FRAME_HEAD, padding = 0;
    bool is_data = head[3] == NGHTTP2_DATA;
    if (is_data && (head[4] & NGHTTP2_FLAG_PADDED) && length > 0) {
        if (beyond == 0)
            return;
        padding = beyond + head[PYTHIA__GRPC_FRAME_HEAD];
        padding = padding < length ? padding : length;
    }
    count_frame(c, length, is_data ? length - padding : 0);
    c->frame_left = length - beyond;
    c->frame_head_size = 0;
}

/* Count the frames that begin in these bytes, which are the next ones of the connection. */
static void count_frames(struct pythia__grpc_connection *c, const char *bytes, size_t size)
{
    const char *end = bytes + size;
    while (bytes < end) {
        size_t left = (size_t)(end - bytes), skip = c->frame_left < left ? c->frame_left : left;
        c->frame_left -= skip;
        bytes += skip;
        if (bytes == end)
            return;
        c->frame_head[c->frame_head_size++] = (unsigned char)*bytes++;
        if (c->frame_head_size >= PYTHIA__GRPC_FRAME_HEAD)
            take_frame_head(c);
    }
}

/* ---- taking bytes ---- */

/* Decrypt the bytes if TLS is on, into *bytes and *size. */
static int take_off_tls(struct pythia__grpc_connection *c, const char **bytes, size_t *size)
{
    struct pythia_buf wire = {0};
    pythia_buf_clear(&c->plain);
    int status = pythia__tls_receive(c->tls, *bytes, *size, &c->plain, &wire);
    if (wire.size > 0) { /* of the handshake: nothing else is being written then */
        uv_buf_t out = uv_buf_init(wire.bytes, (unsigned)wire.size);
        if (uv_try_write(c->stream, &out, 1) != (int)wire.size)
            status = PYTHIA_EIO;
    }
    pythia_buf_free(&wire);
    *bytes = c->plain.bytes;
    *size = c->plain.size;
    return status;
}

static int take_slice(struct pythia__grpc_connection *c, const char *bytes, size_t size)
{
    int status = c->tls ? take_off_tls(c, &bytes, &size) : PYTHIA_OK;
    if (status < 0 || size == 0)
        return status;
    count_frames(c, bytes, size);
    if (c->ends)
        return PYTHIA_OK;
    c->receiving = true;
    if (nghttp2_session_mem_recv(c->session, (const uint8_t *)bytes, size) < 0)
        status = PYTHIA_EFORMAT;
    c->receiving = false;
    c->server->numbers.broken += status == PYTHIA_EFORMAT;
    return status;
}

/* Take as many bytes as there is budget for: how many. The connection may be closing then. */
static size_t take_bytes(struct pythia__grpc_connection *c, const char *bytes, size_t size)
{
    struct pythia__grpc_server *s = c->server;
    size_t at = 0;
    while (at < size && !c->ends && !pythia__grpc_is_blocked(c) && has_turn_budget(c)) {
        size_t slice = size - at < SLICE_BYTES ? size - at : SLICE_BYTES;
        uint64_t begun_ns = uv_hrtime();
        int status = take_slice(c, bytes + at, slice);
        s->turn_ns += uv_hrtime() - begun_ns;
        c->turn_bytes += slice;
        at += slice;
        if (status != PYTHIA_OK) {
            pythia__grpc_close(c);
            break;
        }
    }
    return at;
}

/* Not closed at once: it is told why, and its bytes are no longer read. */
static void end_connection(struct pythia__grpc_connection *c)
{
    uv_read_stop(c->stream);
    pythia_buf_free(&c->waiting);
    c->since_ms = uv_now(c->server->loop);
    nghttp2_session_terminate_session(c->session, NGHTTP2_ENHANCE_YOUR_CALM);
    pythia__grpc_flush(c);
}

static void on_allocate(uv_handle_t *handle, size_t wanted, uv_buf_t *piece)
{
    struct pythia__grpc_connection *c = handle->data;
    (void)wanted;
    *piece = uv_buf_init(c->server->buffer, PYTHIA__GRPC_READ_BYTES);
}

/* Keep what was not taken. libuv would read a connection many times in one turn: it does not while
 * the connection waits. */
static void keep_rest(struct pythia__grpc_connection *c, const char *rest, size_t size)
{
    pythia_buf_add(&c->waiting, rest, size);
    if (pythia_buf_status(&c->waiting) != PYTHIA_OK) {
        pythia__grpc_close(c);
        return;
    }
    uv_read_stop(c->stream);
    c->server->numbers.deferred += size > 0;
    if (!pythia__grpc_is_blocked(c))
        pythia__grpc_queue(c);
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *piece)
{
    struct pythia__grpc_connection *c = stream->data;
    if (size == 0)
        return;
    if (size < 0) {
        pythia__grpc_close(c);
        return;
    }
    size_t taken = take_bytes(c, piece->base, (size_t)size);
    if (c->closing)
        return;
    if (c->ends) {
        end_connection(c);
        return;
    }
    if (taken < (size_t)size || !has_turn_budget(c))
        keep_rest(c, piece->base + taken, (size_t)size - taken);
    pythia__grpc_flush(c);
}

/* It waited: take the bytes that it has, and read it again once they are all taken. */
static void resume_connection(struct pythia__grpc_connection *c)
{
    size_t left = c->waiting.size - c->waiting_at;
    c->waiting_at += take_bytes(c, c->waiting.bytes + c->waiting_at, left);
    if (c->closing)
        return;
    if (c->ends) {
        end_connection(c);
        return;
    }
    if (c->waiting_at == c->waiting.size) {
        pythia_buf_clear(&c->waiting);
        c->waiting_at = 0;
        uv_read_start(c->stream, on_allocate, on_read);
    } else if (!pythia__grpc_is_blocked(c)) {
        pythia__grpc_queue(c);
    }
    pythia__grpc_flush(c);
}

void pythia__grpc_read(struct pythia__grpc_connection *c)
{
    uv_read_start(c->stream, on_allocate, on_read);
}

/* ---- connections that come ---- */

static void accept_connection(struct pythia__grpc_server *s)
{
    uint64_t begun_ns = uv_hrtime();
    s->take_connection(s);
    s->turn_ns += uv_hrtime() - begun_ns;
}

/* libuv takes connections for as long as there are any, in one turn of the loop: but for one that
 * is left alone. */
void pythia__grpc_on_connection(uv_stream_t *listener, int status)
{
    struct pythia__grpc_server *s = listener->data;
    if (status != 0)
        return;
    if (has_time(s)) {
        accept_connection(s);
        return;
    }
    s->has_newcomer = true;
    s->numbers.deferred++;
    uv_idle_start(&s->busy, pythia__grpc_stay_awake);
}

/* ---- turns of the loop ---- */

/* All ready sockets have had their turn: deferred connections begin the next one. */
static void continue_connections(uv_check_t *turns)
{
    struct pythia__grpc_server *s = turns->data;
    s->turn++;
    s->turn_ns = 0;
    if (s->has_newcomer && s->listening)
        accept_connection(s);
    s->has_newcomer = false;
    for (size_t count = s->waiting_count; count > 0 && s->waiting_count > 0; count--) {
        struct pythia__grpc_connection *c = s->first_waiting;
        if (!has_turn_budget(c))
            break;
        pythia__grpc_unqueue(c);
        resume_connection(c);
    }
    if (s->waiting_count == 0)
        uv_idle_stop(&s->busy);
}

void pythia__grpc_start_turns(struct pythia__grpc_server *s)
{
    s->last_waiting = &s->first_waiting;
    uv_check_init(s->loop, &s->turns);
    uv_idle_init(s->loop, &s->busy);
    s->turns.data = s->busy.data = s;
    uv_check_start(&s->turns, continue_connections);
}
