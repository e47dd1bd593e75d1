/* Answers whose bodies are written over time, as server-sent events are. MHD asks for more of a
 * body whenever the socket has taken what there was; while there is nothing its connection is
 * suspended, and costs nothing. */
#include "http_stream.h"

#include <string.h>
#include <sys/socket.h>

#include "http_parts.h"
#include "pythia/mem.h"
#include "pythia/status.h"

/* In the socket, and in a piece. A client that does not read is noticed when these are full, so
 * they are small. */
#define SOCKET_BYTES 16384
#define PIECE_BYTES  4096

/* Give the connection what is pending; where nothing is, it is suspended until something is
 * written, because MHD would ask again and again. */
static ssize_t read_stream(void *context, uint64_t position, char *to, size_t size)
{
    struct pythia__http_stream *stream = context;
    size_t left = stream->pending.size - stream->taken;
    (void)position;
    if (left == 0 && stream->ended)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (left == 0) {
        stream->suspended = true;
        MHD_suspend_connection(stream->mhd);
        return 0;
    }
    size = size < left ? size : left;
    memcpy(to, stream->pending.bytes + stream->taken, size);
    stream->taken += size;
    return (ssize_t)size;
}

static void free_stream(void *context)
{
    struct pythia__http_stream *stream = context;
    if (stream->next)
        stream->next->previous = stream->previous;
    if (stream->previous)
        stream->previous->next = stream->next;
    else
        stream->server->streams = stream->next;
    stream->gone(stream->context);
    pythia_buf_free(&stream->pending);
    pythia_free(stream);
}

static void resume_stream(struct pythia__http_stream *stream)
{
    if (!stream->suspended)
        return;
    stream->suspended = false;
    MHD_resume_connection(stream->mhd);
    pythia__http_run_soon(stream->server);
}

static void shrink_socket(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    int bytes = SOCKET_BYTES;
    if (info)
        (void)setsockopt(info->connect_fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

/* The socket's buffer is shrunk, so that a client that does not read is noticed soon and costs
 * little. */
struct pythia__http_stream *pythia__http_stream_begin(struct pythia__http_exchange *x,
                                                      const char *type, void (*gone)(void *context),
                                                      void *context)
{
    struct pythia__http_server *s = x->server;
    struct pythia__http_stream *stream = pythia_calloc(1, sizeof(*stream));
    struct MHD_Response *response =
        stream ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE_BYTES, read_stream,
                                                   stream, free_stream)
               : NULL;
    if (!response) {
        pythia_free(stream);
        pythia__http_say(x, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory\n");
        return NULL;
    }
    *stream = (struct pythia__http_stream){.next = s->streams,
                                           .server = s,
                                           .mhd = x->mhd,
                                           .connection = x->connection,
                                           .gone = gone,
                                           .context = context};
    if (s->streams)
        s->streams->previous = stream;
    s->streams = stream;
    shrink_socket(x->mhd);
    pythia__http_answer_with(x, MHD_HTTP_OK, type, response);
    return stream;
}

int pythia__http_stream_write(struct pythia__http_stream *stream, const char *bytes, size_t size)
{
    struct pythia_buf *pending = &stream->pending;
    if (stream->taken == pending->size)
        pending->size = stream->taken = 0;
    size_t before = pending->size;
    pythia_buf_add(pending, bytes, size);
    if (pythia_buf_status(pending) != PYTHIA_OK) {
        pending->failed = 0;
        pending->size = before;
        return PYTHIA_ENOMEM;
    }
    resume_stream(stream);
    return PYTHIA_OK;
}

size_t pythia__http_stream_pending(const struct pythia__http_stream *stream)
{
    return stream->pending.size - stream->taken;
}

void pythia__http_stream_end(struct pythia__http_stream *stream)
{
    stream->ended = true;
    resume_stream(stream);
}

void pythia__http_stream_abort(struct pythia__http_stream *stream)
{
    if (stream->connection)
        pythia__http_cut(stream->server, stream->connection);
    pythia__http_stream_end(stream);
}
