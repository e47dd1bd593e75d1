/* SPDX-License-Identifier: MIT */
/* The loop of a service: connections, frames in, answers out. Requests are handled by the pool. */
#include <errno.h>
#include <pythia/variable.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"
#include "work.h"

#define CONNECTIONS_MAX 256
#define READ_BYTES      65536
#define RING_BYTES      131072
#define UNSENT_MAX      (4U << 20) /* answers that a peer does not take */

struct server {
    struct service service;
    uv_loop_t loop;
    uv_tcp_t listener;
    uv_async_t done;
    uv_signal_t term, interrupt;
    struct connection *connections;
    unsigned connection_count, jobs; /* jobs: read, and not answered yet */
    int drains;
    unsigned long broken, gone;
    unsigned char reading[READ_BYTES];
};

struct connection {
    uv_tcp_t tcp;
    struct server *server;
    struct connection *next, **link;
    struct bytes in;
    unsigned holds; /* jobs and writes that come back to it */
    int closed;     /* the handle is */
    int ends;       /* as soon as nothing comes back to it any more */
};

struct reply {
    uv_write_t write;
    struct connection *to;
    struct bytes bytes;
};

static void end_if_drained(struct server *s);

/* ---- connections ---- */

static void release(struct connection *c)
{
    if (c->holds > 0 || !c->closed)
        return;
    bytes_free(&c->in);
    free(c);
}

static void on_closed(uv_handle_t *handle)
{
    struct connection *c = handle->data;
    struct server *s = c->server;
    c->closed = 1;
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    s->connection_count--;
    release(c);
    end_if_drained(s);
}

static void hang_up(struct connection *c)
{
    if (!uv_is_closing((uv_handle_t *)&c->tcp))
        uv_close((uv_handle_t *)&c->tcp, on_closed);
}

static void on_written(uv_write_t *write, int status)
{
    struct reply *reply = (struct reply *)write;
    struct connection *c = reply->to;
    bytes_free(&reply->bytes);
    free(reply);
    c->holds--;
    if (status < 0 || (c->ends && c->holds == 0))
        hang_up(c);
    struct server *s = c->server;
    release(c);
    end_if_drained(s);
}

/* Send what is in *bytes, which it takes. */
static void send_bytes(struct connection *c, struct bytes *bytes)
{
    struct reply *reply = NULL;
    if (!uv_is_closing((uv_handle_t *)&c->tcp) && bytes->used > 0 &&
        uv_stream_get_write_queue_size((uv_stream_t *)&c->tcp) < UNSENT_MAX)
        reply = calloc(1, sizeof(*reply));
    if (!reply) {
        hang_up(c);
        bytes_free(bytes);
        return;
    }
    reply->to = c;
    reply->bytes = *bytes;
    *bytes = (struct bytes){0};
    const uv_buf_t buffer = uv_buf_init((char *)reply->bytes.data, (unsigned)reply->bytes.used);
    c->holds++;
    int code = uv_write(&reply->write, (uv_stream_t *)&c->tcp, &buffer, 1, on_written);
    if (code < 0)
        on_written(&reply->write, code);
}

static void answer_now(struct connection *c, const struct frame *asked, enum status status,
                       const char *text)
{
    struct bytes bytes = {0};
    const struct frame answer = {.kind = FRAME_ANSWER,
                                 .method = asked->method,
                                 .status = (uint8_t)status,
                                 .attempt = asked->attempt,
                                 .number = asked->number,
                                 .body = (const unsigned char *)text,
                                 .body_bytes = strlen(text)};
    if (frame_write(&bytes, &answer) != 0)
        bytes.used = 0;
    send_bytes(c, &bytes);
}

/* ---- requests ---- */

static struct pythia_scope *begin_request(unsigned method, struct pythia_context *at,
                                          struct pythia_scope *room)
{
    switch (method) {
    case METHOD_GET: /* NOLINT(bugprone-branch-clone): each has a point of its own */
        return PYTHIA_BEGIN_AT(at, room, PYTHIA_POINT_SERVER, "get");
    case METHOD_PUT:
        return PYTHIA_BEGIN_AT(at, room, PYTHIA_POINT_SERVER, "put");
    default:
        return PYTHIA_BEGIN_AT(at, room, PYTHIA_POINT_SERVER, "list");
    }
}

/* Where the request stands that has come in: below its sender's span, or at its own beginning. */
static void begin_job(struct job *job, const struct frame *frame)
{
    struct pythia_context *at = &job->context;
    const char *name = method_name(frame->method);
    if (pythia_context_unpack(frame->context, frame->context_bytes, at) != 0)
        at->flags = PYTHIA_CONTEXT_SAMPLED | PYTHIA_CONTEXT_REQUEST;
    if (!at->type)
        pythia_context_name(at, name, strlen(name));
    job->request = begin_request(frame->method, at, &job->request_room);
    PYTHIA_SET(job->request, "body_bytes", frame->body_bytes);
    pythia_context_below(at, job->request);
    job->queue = PYTHIA_BEGIN_AT(at, &job->queue_room, PYTHIA_POINT_INTERNAL, "queue");
}

static void free_job(struct job *job)
{
    bytes_free(&job->body);
    bytes_free(&job->answer);
    free(job);
}

static void refuse(struct job *job)
{
    PYTHIA_FAIL(job->request);
    PYTHIA_END(job->queue);
    PYTHIA_END(job->request);
    job->from->server->service.refused++;
    answer_now(job->from, &job->head, STATUS_BUSY, "the queue is full");
    free_job(job);
}

static void take_request(struct connection *c, const struct frame *frame)
{
    struct server *s = c->server;
    struct job *job = calloc(1, sizeof(*job));
    if (!job || bytes_add(&job->body, frame->body, frame->body_bytes) != 0) {
        free(job);
        answer_now(c, frame, STATUS_BUSY, "there is no memory");
        return;
    }
    job->from = c;
    job->head = *frame;
    begin_job(job, frame);
    if (pool_put(s->service.pool, job) != 0) {
        refuse(job);
        return;
    }
    c->holds++;
    s->jobs++;
}

static void on_done(uv_async_t *handle)
{
    struct server *s = handle->data;
    struct job *next;
    for (struct job *job = pool_take_done(s->service.pool); job; job = next) {
        next = job->next;
        PYTHIA_END(job->respond); /* before it is sent: nothing ends after who asked has gone on */
        PYTHIA_END(job->request);
        if (job->from->closed || uv_is_closing((uv_handle_t *)&job->from->tcp))
            s->gone++; /* nobody waits for it any more */
        else
            send_bytes(job->from, &job->answer);
        struct connection *from = job->from;
        if (--from->holds == 0 && from->ends)
            hang_up(from);
        release(from);
        free_job(job);
        s->jobs--;
    }
    end_if_drained(s);
}

/* ---- what is asked of the service itself ---- */

static void plant(struct connection *c, const struct frame *frame)
{
    struct server *s = c->server;
    int problem = problem_of((const char *)frame->body, frame->body_bytes);
    if (problem < 0) {
        answer_now(c, frame, STATUS_BROKEN, "there is no such problem");
        return;
    }
    atomic_store(&s->service.problem, problem);
    pool_wake(s->service.pool);
    answer_now(c, frame, STATUS_OK, problem_name(problem));
}

static void tell_state(struct connection *c, const struct frame *frame)
{
    char text[512];
    uv_rusage_t used;
    const struct server *s = c->server;
    const struct service *service = &s->service;
    uv_getrusage(&used);
    snprintf(text, sizeof(text),
             "{\"service\": \"%s\", \"pid\": %d, \"problem\": \"%s\", \"handled\": %lu, "
             "\"refused\": %lu, \"retries\": %lu, \"broken\": %lu, \"gone\": %lu, "
             "\"connections\": %u, \"cpu_us\": %ld}",
             service->kind->name, (int)uv_os_getpid(),
             problem_name(atomic_load(&s->service.problem)), service->handled, service->refused,
             __atomic_load_n(&service->retries, __ATOMIC_RELAXED), s->broken, s->gone,
             s->connection_count,
             (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 + used.ru_utime.tv_usec +
                 used.ru_stime.tv_usec);
    answer_now(c, frame, STATUS_OK, text);
}

/* ---- frames ---- */

static void take_frame(struct connection *c, const struct frame *frame)
{
    if (frame->method == METHOD_PLANT)
        plant(c, frame);
    else if (frame->method == METHOD_STATE)
        tell_state(c, frame);
    else
        take_request(c, frame);
}

/* Nothing that follows can be trusted: say so, and hang up once that is sent. */
static void refuse_rest(struct connection *c, const char *why)
{
    const struct frame none = {.method = METHOD_GET};
    c->server->broken++;
    fprintf(stderr, "%s: A frame is broken: %s\n", c->server->service.kind->name, why);
    uv_read_stop((uv_stream_t *)&c->tcp);
    answer_now(c, &none, STATUS_BROKEN, why);
    c->ends = 1;
    if (c->holds == 0)
        hang_up(c);
}

static void take_frames(struct connection *c)
{
    size_t at = 0;
    struct frame frame;
    const char *why;
    while (!uv_is_closing((uv_handle_t *)&c->tcp)) { /* else it may be gone at the next turn */
        long used = frame_read(c->in.data + at, c->in.used - at, &frame, &why);
        if (used == 0)
            break;
        if (used > 0 && frame.kind != FRAME_REQUEST) {
            used = -EPROTO;
            why = "it is an answer, and nothing was asked";
        }
        if (used < 0) {
            refuse_rest(c, why);
            return;
        }
        take_frame(c, &frame);
        at += (size_t)used;
    }
    memmove(c->in.data, c->in.data + at, c->in.used - at);
    c->in.used -= at;
}

static void give_room(uv_handle_t *handle, size_t suggested, uv_buf_t *room)
{
    struct connection *c = handle->data;
    (void)suggested;
    *room = uv_buf_init((char *)c->server->reading, READ_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t bytes, const uv_buf_t *buffer)
{
    struct connection *c = stream->data;
    if (bytes == 0)
        return;
    if (bytes < 0 || bytes_add(&c->in, buffer->base, (size_t)bytes) != 0) {
        hang_up(c);
        return;
    }
    take_frames(c);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct server *s = listener->data;
    struct connection *c = status < 0 ? NULL : calloc(1, sizeof(*c));
    if (!c)
        return;
    uv_tcp_init(&s->loop, &c->tcp);
    c->tcp.data = c;
    c->server = s;
    c->next = s->connections;
    c->link = &s->connections;
    if (c->next)
        c->next->link = &c->next;
    s->connections = c;
    s->connection_count++;
    if (uv_accept(listener, (uv_stream_t *)&c->tcp) < 0 || s->connection_count > CONNECTIONS_MAX ||
        uv_read_start((uv_stream_t *)&c->tcp, give_room, on_read) < 0)
        hang_up(c);
    else
        uv_tcp_nodelay(&c->tcp, 1);
}

/* ---- from the beginning to the end ---- */

static int is_unsent(const struct server *s)
{
    for (const struct connection *c = s->connections; c; c = c->next)
        if (c->holds > 0 && !uv_is_closing((const uv_handle_t *)&c->tcp))
            return 1;
    return 0;
}

static void end_if_drained(struct server *s)
{
    if (!s->drains || s->jobs > 0 || is_unsent(s))
        return;
    for (struct connection *c = s->connections; c; c = c->next)
        hang_up(c);
    if (uv_is_closing((uv_handle_t *)&s->done))
        return;
    uv_close((uv_handle_t *)&s->done, NULL);
    uv_close((uv_handle_t *)&s->term, NULL);
    uv_close((uv_handle_t *)&s->interrupt, NULL);
    signal(SIGTERM, SIG_IGN); /* it ends already */
    signal(SIGINT, SIG_IGN);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct server *s = handle->data;
    (void)number;
    if (s->drains)
        return;
    s->drains = 1;
    uv_close((uv_handle_t *)&s->listener, NULL);
    for (struct connection *c = s->connections; c; c = c->next)
        if (!uv_is_closing((uv_handle_t *)&c->tcp))
            uv_read_stop((uv_stream_t *)&c->tcp);
    end_if_drained(s);
}

static void define_variables(struct service *s)
{
    const struct {
        const char *name;
        enum pythia_variable_class of_class;
        struct pythia_variable_source source;
    } all[] = {
        {"queue length", PYTHIA_CLASS_LEVEL, PYTHIA_SOURCE_LONG(&s->queue_length)},
        {"queue most", PYTHIA_CLASS_HIGHWATERMARK, PYTHIA_SOURCE_LONG(&s->queue_most)},
        {"workers busy", PYTHIA_CLASS_LEVEL, PYTHIA_SOURCE_LONG(&s->workers_busy)},
        {"lock waiters", PYTHIA_CLASS_LEVEL, PYTHIA_SOURCE_LONG(&s->lock_waiters)},
        {"retries", PYTHIA_CLASS_COUNTER, PYTHIA_SOURCE_UNSIGNED_LONG(&s->retries)},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (pythia_variable_define(all[i].name, all[i].of_class, PYTHIA_BIND_PROCESS,
                                   &all[i].source) < 0)
            fprintf(stderr, "%s: Has no variable: %s\n", s->kind->name, all[i].name);
    s->tries =
        pythia_variable_define("tried again", PYTHIA_CLASS_COUNTER, PYTHIA_BIND_REQUEST, NULL);
}

static int listen_at(struct server *s, const char *where)
{
    struct sockaddr_in address;
    int size = sizeof(address), code = address_read(where, &address);
    uv_tcp_init(&s->loop, &s->listener);
    s->listener.data = s;
    if (code == 0)
        code = uv_tcp_bind(&s->listener, (const struct sockaddr *)&address, 0);
    if (code == 0)
        code = uv_listen((uv_stream_t *)&s->listener, 128, on_connection);
    if (code == 0)
        code = uv_tcp_getsockname(&s->listener, (struct sockaddr *)&address, &size);
    if (code == 0) {
        printf("%s 127.0.0.1:%d\n", s->service.kind->name, ntohs(address.sin_port));
        fflush(stdout);
    } else {
        fprintf(stderr, "%s: Cannot listen at %s: %s\n", s->service.kind->name, where,
                uv_strerror(code));
    }
    return code;
}

static void watch_signal(struct server *s, uv_signal_t *handle, int number)
{
    uv_signal_init(&s->loop, handle);
    handle->data = s;
    uv_signal_start(handle, on_signal, number);
}

int serve(const struct service_kind *kind, const struct settings *settings)
{
    struct server *s = calloc(1, sizeof(*s));
    /* Small rings stay in the processor's cache; they hold a tenth of a second of all there is. */
    const struct pythia_tracepoints_options options = {.service = kind->name,
                                                       .ring_bytes = RING_BYTES};
    if (!s)
        return 1;
    pythia_tracepoints_setup(&options);
    s->service.kind = kind;
    s->service.settings = *settings;
    s->service.lock_holder = -1;
    atomic_store(&s->service.problem, settings->problem);
    uv_mutex_init(&s->service.index);
    if (settings->variables)
        define_variables(&s->service);
    uv_loop_init(&s->loop);
    uv_async_init(&s->loop, &s->done, on_done);
    s->done.data = s;
    watch_signal(s, &s->term, SIGTERM);
    watch_signal(s, &s->interrupt, SIGINT);
    if (!pool_create(&s->service, &s->done)) {
        fprintf(stderr, "%s: Cannot start its workers\n", kind->name);
        return 1;
    }
    int code = listen_at(s, settings->listen);
    if (code == 0)
        uv_run(&s->loop, UV_RUN_DEFAULT);
    pool_destroy(s->service.pool);
    uv_mutex_destroy(&s->service.index);
    if (code == 0)
        uv_loop_close(&s->loop);
    free(s);
    return code != 0;
}
