/* SPDX-License-Identifier: MIT */
#include "caller.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pythia/variable.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "work.h"

struct caller {
    struct service *service;
    struct sockaddr_in address;
    int link; /* -1: not connected */
    uint32_t calls;
    struct bytes out, in;
};

struct caller *caller_create(struct service *service, const char *address)
{
    struct caller *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->service = service;
    c->link = -1;
    if (address_read(address, &c->address) != 0) {
        free(c);
        return NULL;
    }
    return c;
}

static void hang_up(struct caller *c)
{
    if (c->link >= 0)
        close(c->link);
    c->link = -1;
    c->in.used = 0;
}

void caller_destroy(struct caller *caller)
{
    if (!caller)
        return;
    hang_up(caller);
    bytes_free(&caller->out);
    bytes_free(&caller->in);
    free(caller);
}

static int reach(struct caller *c)
{
    const struct timeval patience = {CALL_SECONDS, 0};
    const int on = 1;
    if (c->link >= 0)
        return 1;
    PYTHIA_SPAN_AS(span, "connect");
    c->link = socket(AF_INET, SOCK_STREAM, 0);
    if (c->link < 0)
        return 0;
    setsockopt(c->link, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(c->link, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(c->link, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (connect(c->link, (const struct sockaddr *)&c->address, sizeof(c->address)) == 0)
        return 1;
    PYTHIA_FAIL(span);
    hang_up(c);
    return 0;
}

/* Where the thread stands is in the span "attempt": what is done elsewhere lies below it. */
static int pack(struct caller *c, unsigned method, unsigned attempt, const struct request *request)
{
    unsigned char context[PYTHIA_CONTEXT_BYTES];
    struct bytes body = {0};
    struct frame frame = {
        .kind = FRAME_REQUEST,
        .method = (uint8_t)method,
        .attempt = (uint8_t)attempt,
        .number = ++c->calls,
        .context = context,
        .context_bytes = pythia_context_pack(context),
    };
    PYTHIA_SPAN("pack");
    c->out.used = 0;
    int packed = request_write(&body, request) == 0;
    frame.body = body.data;
    frame.body_bytes = body.used;
    packed = packed && frame_write(&c->out, &frame) == 0;
    bytes_free(&body);
    return packed;
}

static int send_all(struct caller *c)
{
    for (size_t sent = 0; sent < c->out.used;) {
        ssize_t n = send(c->link, c->out.data + sent, c->out.used - sent, MSG_NOSIGNAL);
        if (n > 0)
            sent += (size_t)n;
        else if (n == 0 || errno != EINTR)
            return 0;
    }
    return 1;
}

/* The answer to the call that was sent last: its bytes; 0: the connection is of no use any more. */
static long receive(struct caller *c, struct frame *out)
{
    const char *why;
    c->in.used = 0;
    for (;;) {
        unsigned char *room = bytes_room(&c->in, 4096);
        ssize_t n = room ? recv(c->link, room, 4096, 0) : 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        c->in.used += (size_t)n;
        long used = frame_read(c->in.data, c->in.used, out, &why);
        if (used < 0 || (used > 0 && (out->kind != FRAME_ANSWER || out->number != c->calls)))
            break;
        if (used > 0)
            return used;
    }
    return 0;
}

static enum status attempt_once(struct caller *c, unsigned method, unsigned attempt,
                                const struct request *request, struct bytes *answer)
{
    struct frame got;
    PYTHIA_SPAN_AS(span, "attempt");
    PYTHIA_SET(span, "attempt", attempt);
    if (!reach(c) || !pack(c, method, attempt, request) || !send_all(c) || !receive(c, &got)) {
        PYTHIA_FAIL(span);
        hang_up(c);
        return STATUS_FAILED;
    }
    pythia_context_receive(got.lamport);
    PYTHIA_SPAN("unpack");
    if (got.status == STATUS_OK && bytes_add(answer, got.body, got.body_bytes) != 0)
        return STATUS_FAILED;
    return got.status;
}

enum status caller_call(struct caller *caller, unsigned method, const struct request *request,
                        struct bytes *answer)
{
    enum status status = STATUS_FAILED;
    unsigned attempt = 0;
    PYTHIA_SPAN_OF(span, PYTHIA_POINT_CLIENT, "call");
    for (;; attempt++) {
        status = attempt_once(caller, method, attempt, request, answer);
        if (status == STATUS_OK || status == STATUS_BROKEN || attempt + 1 == CALL_ATTEMPTS)
            break;
        __atomic_fetch_add(&caller->service->retries, 1, __ATOMIC_RELAXED);
        PYTHIA_SPAN_AS(pause, "backoff");
        PYTHIA_SET(pause, "status", status_name(status));
        work_wait((unsigned)CALL_PAUSE_US << attempt);
    }
    pythia_variable_add(caller->service->tries, attempt);
    PYTHIA_SET(span, "attempts", attempt + 1);
    if (status != STATUS_OK)
        PYTHIA_FAIL(span);
    return status;
}
