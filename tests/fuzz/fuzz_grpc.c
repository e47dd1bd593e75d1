/* What is sent to the port of OTLP/gRPC: whatever it is, the connection is answered or ended, a
 * message that is handed on has no more than the limit, and nothing is left of it. An input that
 * begins with a byte above 127 is sent as it is, any other behind what an HTTP/2 client begins
 * with. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fuzz.h"
#include "listen/grpc_server.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define MESSAGE_MAX 4096
#define ROUNDS      200

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";

static struct server {
    uv_loop_t loop;
    struct pythia__grpc_server *grpc;
    struct pythia__room room;
    struct sockaddr_un name;
    struct pythia__grpc_call *late; /* of one that is answered when its connection is gone */
    size_t handled, answered;
} server;

/* By its first byte a message is taken, refused, or answered later. */
static void handle(void *context, struct pythia__grpc_call *call, char *message, size_t size,
                   enum pythia_packing packing)
{
    struct server *s = context;
    MUST(size <= MESSAGE_MAX);
    MUST(packing < PYTHIA_PACKINGS);
    s->handled++;
    if (size > 0 && message[0] == 'l' && !s->late) {
        s->late = call;
    } else if (size > 0 && message[0] == 'r') {
        pythia__grpc_answer(call, PYTHIA__GRPC_UNAVAILABLE, "later \r\n\xff%", NULL, 0, 1500);
        s->answered++;
    } else {
        pythia__grpc_answer(call, PYTHIA__GRPC_OK, "", message, size, 0);
        s->answered++;
    }
    pythia_free(message);
}

static void leave(void)
{
    pythia__grpc_destroy(server.grpc);
    uv_run(&server.loop, UV_RUN_DEFAULT);
    uv_loop_close(&server.loop);
    unlink(server.name.sun_path);
}

static void start(void)
{
    static const struct pythia__grpc_method method = {"/t/E", handle, &server, NULL};
    static char address[sizeof(server.name.sun_path) + 8];
    struct pythia_error e = {0};
    server.name.sun_family = AF_UNIX;
    snprintf(server.name.sun_path, sizeof(server.name.sun_path), "/tmp/pythia-fuzz-grpc-%ld",
             (long)getpid());
    snprintf(address, sizeof(address), "unix:%s", server.name.sun_path);
    server.room.max = (size_t)4 * MESSAGE_MAX;
    MUST(uv_loop_init(&server.loop) == 0);
    const struct pythia__grpc_options o = {.address = address,
                                           .methods = &method,
                                           .method_count = 1,
                                           .message_max = MESSAGE_MAX,
                                           .streams_max = 8,
                                           .room = &server.room};
    MUST(pythia__grpc_create(&server.loop, &o, &server.grpc, &e) == PYTHIA_OK);
    atexit(leave);
}

static int connect_to_it(void)
{
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    MUST(s >= 0);
    MUST(connect(s, (struct sockaddr *)&server.name, sizeof(server.name)) == 0);
    return s;
}

/* Send as much as is taken, and read what comes. False: the other side has ended it. */
static bool turn(int s, const char **at, size_t *left)
{
    char answer[4096];
    if (*left > 0) {
        ssize_t sent = send(s, *at, *left, MSG_NOSIGNAL);
        if (sent > 0) {
            *at += sent;
            *left -= (size_t)sent;
        } else if (sent < 0 && errno != EAGAIN) {
            return false;
        }
        if (*left == 0)
            shutdown(s, SHUT_WR);
    }
    ssize_t got = recv(s, answer, sizeof(answer), 0);
    return got > 0 || (got < 0 && errno == EAGAIN);
}

static void play(const char *bytes, size_t size, bool begun)
{
    int s = connect_to_it();
    if (begun)
        MUST(send(s, preface, sizeof(preface) - 1, MSG_NOSIGNAL) == sizeof(preface) - 1);
    if (size == 0)
        shutdown(s, SHUT_WR);
    int rounds = 0;
    while (turn(s, &bytes, &size) && rounds < ROUNDS) {
        uv_run(&server.loop, UV_RUN_NOWAIT);
        rounds++;
    }
    MUST(rounds < ROUNDS);
    close(s);
    for (int i = 0; i < 4; i++)
        uv_run(&server.loop, UV_RUN_NOWAIT);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (!server.grpc)
        start();
    if (size > 65536)
        return 0;
    server.handled = server.answered = 0;
    play((const char *)bytes, size, size == 0 || bytes[0] < 128);
    if (server.late)
        pythia__grpc_answer(server.late, PYTHIA__GRPC_OK, "", "", 0, 0);
    server.answered += server.late != NULL;
    server.late = NULL;
    MUST(server.handled == server.answered);
    MUST(server.room.used == 0);
    struct pythia__grpc_numbers n = pythia__grpc_numbers(server.grpc);
    MUST(n.refused_connections == 0);
    return 0;
}
