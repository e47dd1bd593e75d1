/* libmicrohttpd with its epoll descriptor in the loop. It has to be run again for as long as it
 * says that something is due at once, and once more after a connection was resumed. */
#include "http_server.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http_framing.h"
#include "http_parts.h"
#include "listen.h"
#include "pythia/buf.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define CONNECTIONS 256
#define SPARE       64 /* connections that MHD takes beyond the limit, to replace others */
#define HEADER_S    10
#define BODY_S      30
#define IDLE_S      60
#define LATE_CHECKS UINT64_C(3)
#define CHECK_MS    1000
#define RUN_NS      UINT64_C(2000000)   /* at once, before others of the loop have their turn */
#define TURN_BYTES  ((size_t)64 * 1024) /* of a body, that a connection takes in one turn */
#define PIECE_BYTES                                                                                \
    64 /* as many as a piece of a body counts beyond its own: a chunk may be a byte */
#define HEAD_BYTES ((size_t)32 * 1024)
#define PASS_BYTES                                                                                 \
    ((size_t)64 * 1024 *                                                                           \
     1024) /* of a body that is refused, and read all the same                 \
                                */

/* ---- in the loop ---- */

static void on_due(uv_timer_t *timer);

static void continue_exchanges(uv_idle_t *idle)
{
    uv_idle_stop(idle);
    on_due(&((struct pythia__http_server *)idle->data)->due);
}

void pythia__http_run_soon(struct pythia__http_server *s)
{
    uv_idle_start(&s->again, continue_exchanges);
}

/* ---- the budget of a connection ---- */

/* May a connection take more bytes in this turn? */
static bool has_exchange_budget(const struct pythia__http_exchange *x)
{
    struct pythia__http_connection *c = x->connection;
    if (!c)
        return true;
    if (c->turn != x->server->turn)
        c->turn_bytes = 0;
    c->turn = x->server->turn;
    return c->turn_bytes < TURN_BYTES;
}

/* The bytes that MHD has of it stay there until the next turn. */
static void pause_exchange(struct pythia__http_exchange *x)
{
    x->paused = true;
    x->next_paused = x->server->paused;
    x->server->paused = x;
    x->server->numbers.deferred++;
    MHD_suspend_connection(x->mhd);
}

static void resume_paused(struct pythia__http_server *s)
{
    struct pythia__http_exchange *x = s->paused;
    s->paused = NULL;
    for (; x; x = x->next_paused) {
        x->paused = false;
        MHD_resume_connection(x->mhd);
    }
}

/* ---- turns ---- */

/* MHD is run for at most RUN_NS at a time, so that a busy listener does not delay the rest of
 * the event loop. */
static void run_server(struct pythia__http_server *s)
{
    MHD_UNSIGNED_LONG_LONG wait_ms = 0;
    if (s->running)
        return;
    s->running = true;
    s->turn++;
    resume_paused(s);
    uint64_t end_ns = uv_hrtime() + RUN_NS;
    do {
        s->left = false;
        MHD_run(s->daemon);
        if (MHD_get_timeout(s->daemon, &wait_ms) != MHD_YES)
            wait_ms = UINT64_MAX;
        wait_ms = s->left ? 0 : wait_ms;
    } while (wait_ms == 0 && uv_hrtime() < end_ns);
    s->running = false;
    if (wait_ms == 0 || s->paused)
        pythia__http_run_soon(s);
    else if (wait_ms != UINT64_MAX)
        uv_timer_start(&s->due, on_due, wait_ms, 0);
    else
        uv_timer_stop(&s->due);
}

static void on_due(uv_timer_t *timer)
{
    run_server(timer->data);
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    run_server(poll->data);
}

/* MHD sees that it has ended, in its next round. */
void pythia__http_cut(struct pythia__http_server *s, struct pythia__http_connection *c)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c->mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (c->closing || !info)
        return;
    shutdown(info->connect_fd, SHUT_RDWR);
    c->closing = true;
    s->connection_count--;
}

/* Close what takes too long: MHD only knows how long nothing came at all. */
static void check_http_times(uv_timer_t *timer)
{
    struct pythia__http_server *s = timer->data;
    const unsigned limit_s[PYTHIA__WAITS] = {[PYTHIA__WAIT_HEADER] = s->o.header_s,
                                             [PYTHIA__WAIT_BODY] = s->o.body_s,
                                             [PYTHIA__WAIT_IDLE] = s->o.idle_s};
    uint64_t now = uv_now(s->loop), checked_ms = s->checked_ms;
    s->checked_ms = now;
    if (now - checked_ms > LATE_CHECKS * CHECK_MS)
        return; /* the loop was held up: what has come meanwhile is read first */
    for (struct pythia__http_connection *c = s->connections; c; c = c->next) {
        enum pythia__wait wait = c->place.wait;
        if (c->closing || wait == PYTHIA__WAIT_NONE ||
            now - c->place.since_ms < limit_s[wait] * UINT64_C(1000))
            continue;
        s->numbers.timed_out += wait != PYTHIA__WAIT_IDLE;
        pythia__http_cut(s, c);
    }
}

/* ---- connections ---- */

/* The reason why a connection waits, unless it has delivered data meanwhile. */
static struct pythia__place find_http_place(const struct pythia__http_connection *c, uint64_t now)
{
    struct pythia__place place = c->place;
    if (c->closing ||
        (place.wait == PYTHIA__WAIT_BODY && pythia__body_comes(c->received, now - place.since_ms)))
        place.wait = PYTHIA__WAIT_NONE;
    return place;
}

/* There is one connection too many: one that waits goes, or, if none does, the new one. */
static void evict_idle(struct pythia__http_server *s, struct pythia__http_connection *new)
{
    uint64_t now = uv_now(s->loop);
    struct pythia__eviction eviction = {.strangers = 0};
    enum pythia__wait wait;
    for (struct pythia__http_connection *c = s->connections; c; c = c->next) {
        struct pythia__place place = find_http_place(c, now);
        if (c != new)
            pythia__eviction_consider(&eviction, &place, c);
    }
    struct pythia__http_connection *goes =
        pythia__eviction_choose(&eviction, s->o.connections_max, &wait);
    if (goes)
        s->numbers.evicted[wait]++;
    else
        s->numbers.refused_connections++;
    pythia__http_cut(s, goes ? goes : new);
}

static void note_connection(void *context, struct MHD_Connection *mhd, void **socket_context,
                            enum MHD_ConnectionNotificationCode code)
{
    struct pythia__http_server *s = context;
    struct pythia__http_connection *c = *socket_context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        c = pythia_calloc(1, sizeof(*c));
        *socket_context = c;
        if (!c)
            return; /* it has no deadline */
        *c = (struct pythia__http_connection){
            .next = s->connections,
            .mhd = mhd,
            .place = {PYTHIA__WAIT_HEADER, false, uv_now(s->loop)}};
        if (s->connections)
            s->connections->previous = c;
        s->connections = c;
        s->numbers.connections++;
        if (++s->connection_count > s->o.connections_max)
            evict_idle(s, c);
    } else if (c) {
        if (c->next)
            c->next->previous = c->previous;
        if (c->previous)
            c->previous->next = c->next;
        else
            s->connections = c->next;
        s->connection_count -= !c->closing;
        pythia_free(c);
        s->left = true;
        *socket_context = NULL;
    }
}

static void enter_wait(struct pythia__http_connection *c, const struct pythia__http_server *s,
                       enum pythia__wait wait)
{
    if (!c)
        return;
    c->place.wait = wait;
    c->place.since_ms = uv_now(s->loop);
    c->received = 0;
}

static struct pythia__http_connection *connection_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* The first line of a request is there: after an earlier one, its header begins now. */
static void *on_line(void *context, const char *line, struct MHD_Connection *mhd)
{
    struct pythia__http_connection *c = connection_of(mhd);
    if (c)
        c->has_bad_target = !pythia__http_target_is_good(line);
    if (c && c->place.wait == PYTHIA__WAIT_IDLE)
        enter_wait(c, context, PYTHIA__WAIT_HEADER);
    return NULL; /* of the exchange, which does not exist yet */
}

/* ---- what may be asked ---- */

static bool path_matches(const char *pattern, const char *path)
{
    size_t size = strlen(pattern);
    return pattern[size - 1] == '/' && size > 1 ? strncmp(pattern, path, size) == 0
                                                : strcmp(pattern, path) == 0;
}

/* In a time that does not tell how much of it is right. */
static bool is_same_secret(const char *given, const char *secret)
{
    size_t given_size = strlen(given), size = strlen(secret);
    unsigned char differ = given_size != size;
    for (size_t i = 0; i < size; i++)
        differ |= (unsigned char)secret[i] ^ (unsigned char)given[given_size ? i % given_size : 0];
    return !differ;
}

static bool has_exchange_token(const struct pythia__http_exchange *x, const char *token)
{
    const char *given = pythia__http_header(x, "Authorization");
    return given && strncasecmp(given, "Bearer ", 7) == 0 && is_same_secret(given + 7, token);
}

/* Does the client have one of the tokens that the role needs, if it needs any? */
bool pythia__http_has_role(const struct pythia__http_exchange *x, enum pythia__role role)
{
    const char *tokens[2];
    pythia__role_tokens(role, x->server->o.tokens, tokens);
    return (!tokens[0] && !tokens[1]) || (tokens[0] && has_exchange_token(x, tokens[0])) ||
           (tokens[1] && has_exchange_token(x, tokens[1]));
}

/* Is a Host that of the loopback, with or without a port? */
static bool is_this_machine(const char *host)
{
    size_t size = strcspn(host, "[") == 0 ? strcspn(host, "]") + 1 : strcspn(host, ":");
    static const char *const names[] = {"localhost", "[::1]"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i]) == size && strncasecmp(host, names[i], size) == 0)
            return true;
    return strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == size;
}

/* A page of another site cannot ask, although its visitor's browser can reach the listener: by
 * Origin, which browsers add, and by Host, which tells a name that was rebound to this address. */
static bool is_from_elsewhere(const struct pythia__http_exchange *x)
{
    const char *origin = pythia__http_header(x, "Origin"), *host = pythia__http_header(x, "Host");
    if (x->server->port == 0)
        return false;
    if (origin) {
        const char *there = strstr(origin, "://");
        if (!there || !host || strcasecmp(there + 3, host) != 0)
            return true;
    }
    if (!host || !pythia__address_is_local(x->server->o.address))
        return false;
    return !is_this_machine(host);
}

/* Check that the sender has a trusted certificate: MHD asks for one, but accepts senders with
 * none, or with any. */
static bool is_trusted(const struct pythia__http_exchange *x)
{
    if (!x->server->o.tls_trust || (x->connection && x->connection->trusted))
        return true;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(x->mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    unsigned faults = 0;
    bool trusted = info && info->tls_session &&
                   gnutls_certificate_verify_peers2(info->tls_session, &faults) == 0 && faults == 0;
    if (x->connection)
        x->connection->trusted = trusted;
    return trusted;
}

const struct pythia__http_route *pythia__http_route_find(const struct pythia__http_server *s,
                                                         const char *method, const char *path,
                                                         bool *known)
{
    const struct pythia__http_route *routes = s->o.routes;
    *known = false;
    for (size_t i = 0; i < s->o.route_count; i++) {
        if (!path_matches(routes[i].path, path))
            continue;
        *known = true;
        if (strcmp(routes[i].method, method) == 0 ||
            (strcmp(method, "HEAD") == 0 && strcmp(routes[i].method, "GET") == 0))
            return &routes[i];
    }
    return NULL;
}

/* 0, or the status of a refusal. */
static unsigned check_request(struct pythia__http_exchange *x, const char *method, const char *path,
                              const char **why)
{
    bool known;
    *why = "a certificate is needed that is trusted here\n";
    if (!is_trusted(x))
        return MHD_HTTP_FORBIDDEN;
    x->route = pythia__http_route_find(x->server, method, path, &known);
    *why = known ? "that path does not take this method\n" : "there is nothing at this path\n";
    if (!x->route)
        return known ? MHD_HTTP_METHOD_NOT_ALLOWED : MHD_HTTP_NOT_FOUND;
    if (x->route->role != PYTHIA__ROLE_PUBLIC && is_from_elsewhere(x)) {
        *why = "a page of another site may not ask this\n";
        return MHD_HTTP_FORBIDDEN;
    }
    if (!pythia__http_has_role(x, x->route->role)) {
        *why = "a token is needed: Authorization: Bearer TOKEN\n";
        pythia__http_set(x, "WWW-Authenticate", "Bearer");
        return MHD_HTTP_UNAUTHORIZED;
    }
    const char *length = pythia__http_header(x, "Content-Length");
    unsigned long long size = length ? strtoull(length, NULL, 10) : 0;
    x->too_large = size > x->route->body_max;
    x->announced = x->too_large ? 0 : (size_t)size;
    x->server->numbers.too_large += x->too_large;
    *why = "the body is larger than is taken here\n";
    return size > PASS_BYTES && x->too_large ? MHD_HTTP_CONTENT_TOO_LARGE : 0;
}

/* Refuse a request that can be read in two ways, and close its connection. 0, or the status. */
static unsigned check_framing(struct pythia__http_exchange *x, const char *version,
                              const char *target, const char **why)
{
    unsigned refused = pythia__http_framing_fault(x->mhd, version, target, why);
    if (!refused && x->connection && x->connection->has_bad_target) {
        refused = MHD_HTTP_BAD_REQUEST;
        *why = "the path has an escape or a character that is not allowed there\n";
    }
    if (refused)
        pythia__http_set(x, "Connection", "close");
    return refused;
}

/* ---- exchanges ---- */

static enum MHD_Result queue_response(struct pythia__http_exchange *x)
{
    enter_wait(x->connection, x->server, PYTHIA__WAIT_NONE);
    enum MHD_Result result = MHD_queue_response(x->mhd, x->status, x->response);
    MHD_destroy_response(x->response);
    x->response = NULL;
    return result;
}

static struct pythia__http_exchange *begin_exchange(struct pythia__http_server *s,
                                                    struct MHD_Connection *mhd, const char *path)
{
    struct pythia__http_exchange *x = pythia_calloc(1, sizeof(*x));
    char *copy = pythia_strndup(path, strlen(path));
    if (!x || !copy) {
        pythia_free(x);
        pythia_free(copy);
        return NULL;
    }
    *x = (struct pythia__http_exchange){
        .server = s, .mhd = mhd, .connection = connection_of(mhd), .path = copy};
    s->numbers.requests++;
    enter_wait(x->connection, s, PYTHIA__WAIT_BODY);
    return x;
}

/* The body is not kept, or not any more. */
static void leave_room(struct pythia__http_exchange *x)
{
    if (x->room > 0)
        pythia__room_give(x->server->o.room, x->room);
    x->room = 0;
}

static void count_none(struct pythia_span_count *c, const char *bytes, size_t size)
{
    (void)c;
    (void)bytes;
    (void)size;
}

/* Read and discard a body that is too large to its end: most senders do not read an answer
 * before, and would send it again. */
static void take_body(struct pythia__http_exchange *x, const char *bytes, size_t size)
{
    struct pythia__room *room = x->route->role == PYTHIA__ROLE_INGEST ? x->server->o.room : NULL;
    if (x->connection)
        x->connection->received += size;
    if (x->connection)
        x->connection->turn_bytes += size + PIECE_BYTES;
    if (room && x->no_room.begun)
        pythia__room_forget(room, &x->no_room, bytes, size);
    if (x->too_large || x->no_room.begun)
        return;
    x->too_large = x->body.size + size > x->route->body_max;
    x->server->numbers.too_large += x->too_large;
    if (!x->too_large && pythia__room_reserve(room, &x->body, &x->room, size, x->announced)) {
        pythia_buf_add(&x->body, bytes, size);
        return;
    }
    if (room && !x->too_large) {
        const struct pythia__http_route *route = x->route;
        pythia__room_lose(room, &x->no_room,
                          route->counter ? route->counter(route->context, x) : count_none);
        pythia__room_forget(room, &x->no_room, x->body.bytes, x->body.size);
        pythia__room_forget(room, &x->no_room, bytes, size);
    }
    pythia_buf_free(&x->body);
    leave_room(x);
}

static void say_no_room(struct pythia__http_exchange *x)
{
    char seconds[16];
    snprintf(seconds, sizeof(seconds), "%u", x->server->o.retry_s);
    pythia__http_set(x, "Retry-After", seconds);
    pythia__http_say(x, MHD_HTTP_SERVICE_UNAVAILABLE, "too much at once: try again later\n");
}

static enum MHD_Result handle_request_part(void *context, struct MHD_Connection *mhd,
                                           const char *path, const char *method,
                                           const char *version, const char *bytes, size_t *size,
                                           void **state)
{
    struct pythia__http_exchange *x = *state;
    const char *why;
    if (!x) {
        *state = x = begin_exchange(context, mhd, pythia__http_target_path(path));
        if (!x)
            return MHD_NO;
        unsigned refused = check_framing(x, version, path, &why);
        if (!refused)
            refused = check_request(x, method, x->path, &why);
        if (refused) {
            x->server->numbers.not_allowed += refused != MHD_HTTP_CONTENT_TOO_LARGE;
            pythia__http_say(x, refused, why);
            return queue_response(x);
        }
        return MHD_YES;
    }
    if (x->response)
        return queue_response(x); /* resumed */
    if (*size > 0) {
        if (!has_exchange_budget(x)) {
            pause_exchange(x);
            return MHD_YES;
        }
        take_body(x, bytes, *size);
        *size = 0;
        return MHD_YES;
    }
    if (x->handled)
        return MHD_YES;
    x->handled = true;
    enter_wait(x->connection, x->server, PYTHIA__WAIT_NONE);
    pythia__room_forgotten(x->server->o.room, &x->no_room);
    if (x->too_large)
        pythia__http_say(x, MHD_HTTP_CONTENT_TOO_LARGE, "the body is larger than is taken here\n");
    else if (x->no_room.begun || pythia_buf_status(&x->body) != PYTHIA_OK)
        say_no_room(x);
    else
        x->route->handle(x->route->context, x);
    if (x->response)
        return queue_response(x);
    x->suspended = true;
    MHD_suspend_connection(mhd);
    return MHD_YES;
}

static void on_completed(void *context, struct MHD_Connection *mhd, void **state,
                         enum MHD_RequestTerminationCode code)
{
    struct pythia__http_exchange *x = *state;
    (void)context;
    (void)mhd;
    if (!x)
        return;
    enter_wait(x->connection, x->server, PYTHIA__WAIT_IDLE);
    if (x->connection && code == MHD_REQUEST_TERMINATED_COMPLETED_OK)
        x->connection->place.served = true;
    if (x->response)
        MHD_destroy_response(x->response);
    pythia__room_forgotten(x->server->o.room, &x->no_room);
    leave_room(x);
    pythia_buf_free(&x->body);
    pythia_free(x->query);
    pythia_free(x->path);
    pythia_free(x);
    *state = NULL;
}

const char *pythia__http_path(const struct pythia__http_exchange *x)
{
    return x->path;
}

const char *pythia__http_header(const struct pythia__http_exchange *x, const char *name)
{
    return MHD_lookup_connection_value(x->mhd, MHD_HEADER_KIND, name);
}

const char *pythia__http_query(const struct pythia__http_exchange *x, const char *name)
{
    size_t size = strlen(name);
    if (x->query)
        return strncmp(x->query, name, size) == 0 && x->query[size] == '=' ? x->query + size + 1
                                                                           : NULL;
    return MHD_lookup_connection_value(x->mhd, MHD_GET_ARGUMENT_KIND, name);
}

const char *pythia__http_body(const struct pythia__http_exchange *x, size_t *size)
{
    *size = x->body.size;
    return x->body.bytes;
}

char *pythia__http_take_body(struct pythia__http_exchange *x, size_t *size)
{
    /* One whose size was not announced has grown ahead of it. */
    char *less = x->body.capacity > x->body.size + 1
                     ? pythia_realloc(x->body.bytes, x->body.size + 1, 1)
                     : NULL;
    char *bytes = less ? less : x->body.bytes;
    *size = x->body.size;
    x->body = (struct pythia_buf){0};
    leave_room(x);
    return bytes;
}

void pythia__http_set(struct pythia__http_exchange *x, const char *name, const char *value)
{
    if (x->header_count == sizeof(x->headers) / sizeof(x->headers[0]))
        return;
    snprintf(x->headers[x->header_count].name, sizeof(x->headers[0].name), "%s", name);
    snprintf(x->headers[x->header_count++].value, sizeof(x->headers[0].value), "%s", value);
}

static void return_body_budget(void *bytes)
{
    pythia_free(bytes);
}

void pythia__http_answer_with(struct pythia__http_exchange *x, unsigned status, const char *type,
                              struct MHD_Response *response)
{
    struct pythia__http_server *s = x->server;
    x->response = response;
    x->status = status;
    if (x->response && type)
        MHD_add_response_header(x->response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    for (size_t i = 0; x->response && i < x->header_count; i++)
        MHD_add_response_header(x->response, x->headers[i].name, x->headers[i].value);
    s->numbers.by_class[status / 100 % 6]++;
    if (!x->suspended)
        return;
    x->suspended = false;
    MHD_resume_connection(x->mhd);
    pythia__http_run_soon(s);
}

void pythia__http_answer(struct pythia__http_exchange *x, unsigned status, const char *type,
                         char *bytes, size_t size)
{
    if (x->wrap) {
        pythia__http_wrap wrap = x->wrap;
        x->wrap = NULL;
        char *wrapped = wrap(x->wrap_context, status, bytes ? bytes : "", &size);
        pythia_free(bytes);
        bytes = wrapped;
        status = wrapped ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
        type = "application/json";
    }
    pythia__http_answer_with(
        x, status, type,
        bytes ? MHD_create_response_from_buffer_with_free_callback(size, bytes, return_body_budget)
              : MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT));
}

void pythia__http_say(struct pythia__http_exchange *x, unsigned status, const char *text)
{
    size_t size = strlen(text);
    char *copy = pythia_strndup(text, size);
    pythia__http_answer(x, status, "text/plain; charset=utf-8", copy, copy ? size : 0);
}

/* ---- the listener ---- */

static void on_log(void *context, const char *format, va_list arguments)
{
    (void)context;
    (void)format;
    (void)arguments; /* what clients do wrong is counted */
}

/* SPARE connections beyond the limit let a new one in before an old one is chosen to go. */
static int start_daemon(struct pythia__http_server *s, struct pythia_error *e)
{
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
                     (s->o.tls_key ? MHD_USE_TLS : 0);
    struct MHD_OptionItem options[13] = {
        {MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)on_log, NULL},
        {MHD_OPTION_LISTEN_SOCKET, s->socket, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, s->o.connections_max + SPARE, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, s->o.idle_s, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)HEAD_BYTES, NULL},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)note_connection, s},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)on_completed, s},
        {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)on_line, s},
    };
    size_t count = 8;
    if (s->o.tls_key) {
        options[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0,
                                                   pythia_without_const(s->o.tls_key)};
        options[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0,
                                                   pythia_without_const(s->o.tls_certificate)};
        options[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0,
                                                   "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"};
        if (s->o.tls_trust)
            options[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_TRUST, 0,
                                                       pythia_without_const(s->o.tls_trust)};
    }
    options[count] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    s->daemon = MHD_start_daemon(flags, 0, NULL, NULL, handle_request_part, s, MHD_OPTION_ARRAY,
                                 options, MHD_OPTION_END);
    if (!s->daemon)
        return pythia_error_set(e, PYTHIA_EIO, "cannot serve HTTP at %s%s", s->o.address,
                                s->o.tls_key ? ": are the TLS key and certificate good?" : "");
    return PYTHIA_OK;
}

static void on_closed(uv_handle_t *handle)
{
    struct pythia__http_server *s = handle->data;
    if (--s->handles_open == 0)
        pythia_free(s);
}

/* The handles of the loop begin only when nothing can fail any more: a handle has to be closed
 * by the loop, which takes another turn. */
int pythia__http_create(uv_loop_t *loop, const struct pythia__http_options *options,
                        struct pythia__http_server **out, struct pythia_error *e)
{
    struct pythia__http_server *s = pythia_calloc(1, sizeof(*s));
    if (!s)
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to listen");
    *s = (struct pythia__http_server){.loop = loop, .o = *options, .socket = -1};
    s->o.connections_max = options->connections_max ? options->connections_max : CONNECTIONS;
    s->o.header_s = options->header_s ? options->header_s : HEADER_S;
    s->o.body_s = options->body_s ? options->body_s : BODY_S;
    s->o.idle_s = options->idle_s ? options->idle_s : IDLE_S;
    s->o.retry_s = options->retry_s ? options->retry_s : 1;
    int status = pythia__listen(options->address, &s->socket, &s->file, e);
    if (status != PYTHIA_OK)
        goto out;
    s->port = pythia__socket_port(s->socket);
    if ((status = start_daemon(s, e)) != PYTHIA_OK)
        goto out;
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    uv_poll_init(loop, &s->poll, info->epoll_fd);
    uv_timer_init(loop, &s->due);
    uv_timer_init(loop, &s->check);
    uv_idle_init(loop, &s->again);
    s->poll.data = s->due.data = s->check.data = s->again.data = s;
    s->handles_open = 4;
    uv_poll_start(&s->poll, UV_READABLE, on_ready);
    s->checked_ms = uv_now(s->loop);
    uv_timer_start(&s->check, check_http_times, CHECK_MS, CHECK_MS);
    *out = s;
    return PYTHIA_OK;
out:
    pythia__socket_file_remove(&s->file);
    if (s->socket >= 0)
        close(s->socket);
    pythia_free(s);
    return status;
}

void pythia__http_quiesce(struct pythia__http_server *s)
{
    pythia__socket_file_remove(&s->file);
    int socket = MHD_quiesce_daemon(s->daemon);
    if (socket >= 0)
        close(socket);
}

void pythia__http_destroy(struct pythia__http_server *s)
{
    if (!s)
        return;
    pythia__socket_file_remove(&s->file);
    uv_poll_stop(&s->poll);
    resume_paused(s); /* MHD does not stop while it has suspended ones */
    for (struct pythia__http_stream *stream = s->streams; stream; stream = stream->next) {
        stream->ended = true;
        if (stream->suspended)
            MHD_resume_connection(stream->mhd);
        stream->suspended = false;
    }
    MHD_stop_daemon(s->daemon);
    uv_close((uv_handle_t *)&s->poll, on_closed);
    uv_close((uv_handle_t *)&s->due, on_closed);
    uv_close((uv_handle_t *)&s->check, on_closed);
    uv_close((uv_handle_t *)&s->again, on_closed);
}

unsigned pythia__http_port(const struct pythia__http_server *s)
{
    return s->port;
}

struct pythia__http_numbers pythia__http_numbers(const struct pythia__http_server *s)
{
    return s->numbers;
}
