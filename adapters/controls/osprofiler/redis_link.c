#define _GNU_SOURCE
#include "redis_link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define MS          UINT64_C(1000000)
#define AGAIN_NS    (500 * MS)  /* between attempts to connect */
#define PATIENCE_NS (1000 * MS) /* for an answer; then the connection counts as lost */

struct pythia__redis {
    char address[128], path[108], password[128];
    int port, database;
    redisAsyncContext *context;          /* NULL: there is none */
    bool reads, writes;                  /* what hiredis waits for */
    bool connected, anew, refused;       /* refused: our password, or our database */
    uint64_t tried_ns, now_ns, asked_ns; /* asked_ns: since when an answer is due */
    size_t waiting;
    char why[200];
};

/* A command that waits for its answer. */
struct question {
    struct pythia__redis *redis;
    pythia__redis_answer answer;
    void *context;
};

/* ---- the address ---- */

static int bad_url(struct pythia_error *e, const char *url, const char *why)
{
    return pythia_error_set(e, PYTHIA_EUSAGE,
                            "'%s' is no address of a Redis: %s; wanted "
                            "redis://[:PASSWORD@]ADDRESS[:PORT][/DATABASE] or unix:PATH",
                            url, why);
}

static bool copy_part(char *to, size_t room, const char *from, size_t size)
{
    if (size >= room)
        return false;
    memcpy(to, from, size);
    to[size] = '\0';
    return true;
}

static bool parse_number(const char *from, const char *end, long most, int *out)
{
    char *stop;
    errno = 0;
    long number = strtol(from, &stop, 10);
    if (from == end || stop != end || errno || number < 0 || number > most)
        return false;
    *out = (int)number;
    return true;
}

static int parse_url(struct pythia__redis *r, const char *url, struct pythia_error *e)
{
    struct in6_addr any;
    if (strncmp(url, "unix:", 5) == 0)
        return copy_part(r->path, sizeof(r->path), url + 5, strlen(url + 5)) && url[5]
                   ? PYTHIA_OK
                   : bad_url(e, url, "the path is empty or too long");
    if (strncmp(url, "redis://", 8) != 0)
        return bad_url(e, url, "it begins with neither redis:// nor unix:");
    const char *at = url + 8, *end = at + strcspn(at, "/?");
    const char *sign = memchr(at, '@', (size_t)(end - at));
    if (sign) {
        if (*at != ':' ||
            !copy_part(r->password, sizeof(r->password), at + 1, (size_t)(sign - at - 1)))
            return bad_url(e, "redis://…", "a user's name, or a password that is too long");
        at = sign + 1;
    }
    if (*end == '/' && end[1] && !parse_number(end + 1, end + strlen(end), 65535, &r->database))
        return bad_url(e, sign ? "redis://…" : url, "the database is no number");
    const char *colon = *at == '[' ? memchr(at, ']', (size_t)(end - at)) : at;
    colon = colon ? memchr(colon, ':', (size_t)(end - colon)) : NULL;
    r->port = 6379;
    if (colon && !parse_number(colon + 1, end, 65535, &r->port))
        return bad_url(e, sign ? "redis://…" : url, "the port is no number");
    const char *stop = colon ? colon : end;
    bool brackets = *at == '[' && stop > at + 1 && stop[-1] == ']';
    if (!copy_part(r->address, sizeof(r->address), at + brackets,
                   (size_t)(stop - at) - 2U * brackets))
        return bad_url(e, sign ? "redis://…" : url, "the address is too long");
    if (strcmp(r->address, "localhost") == 0)
        strcpy(r->address, "127.0.0.1");
    if (inet_pton(AF_INET, r->address, &any) != 1 && inet_pton(AF_INET6, r->address, &any) != 1)
        return bad_url(e, sign ? "redis://…" : url, "the address is not a number");
    return PYTHIA_OK;
}

int pythia__redis_create(const char *url, struct pythia__redis **out, struct pythia_error *e)
{
    struct pythia__redis *r = pythia_calloc(1, sizeof(*r));
    if (!r)
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    int status = parse_url(r, url, e);
    if (status != PYTHIA_OK) {
        pythia_free(r);
        return status;
    }
    *out = r;
    return PYTHIA_OK;
}

/* ---- what hiredis tells ---- */

static void add_read(void *redis)
{
    ((struct pythia__redis *)redis)->reads = true;
}

static void del_read(void *redis)
{
    ((struct pythia__redis *)redis)->reads = false;
}

static void add_write(void *redis)
{
    ((struct pythia__redis *)redis)->writes = true;
}

static void del_write(void *redis)
{
    ((struct pythia__redis *)redis)->writes = false;
}

static void forget(struct pythia__redis *r, const char *why)
{
    r->context = NULL; /* hiredis frees it */
    r->connected = r->reads = r->writes = false;
    snprintf(r->why, sizeof(r->why), "%s", why);
}

static const char *error_of(const redisAsyncContext *context)
{
    return context->errstr && context->errstr[0] ? context->errstr : "the connection was closed";
}

static void on_connect(const redisAsyncContext *context, int status)
{
    struct pythia__redis *r = context->data;
    if (status != REDIS_OK) {
        forget(r, error_of(context));
        return;
    }
    r->connected = r->anew = true;
    r->why[0] = '\0';
}

static void on_disconnect(const redisAsyncContext *context, int status)
{
    (void)status;
    forget(context->data, error_of(context));
}

static void on_answer(redisAsyncContext *context, void *reply, void *question)
{
    struct question *q = question;
    (void)context;
    q->redis->waiting--;
    q->redis->asked_ns = q->redis->now_ns;
    if (q->answer)
        q->answer(q->context, reply);
    pythia_free(q);
}

/* ---- connecting ---- */

static void drop(struct pythia__redis *r, const char *why)
{
    redisAsyncContext *context = r->context;
    if (!context)
        return;
    forget(r, why);
    redisAsyncSetDisconnectCallback(context, NULL);
    context->onDisconnect = NULL;
    context->onConnect = NULL;
    redisAsyncFree(context); /* answers everything that waits by NULL */
    forget(r, why);
}

static void refused_setup(void *redis, const struct redisReply *reply)
{
    struct pythia__redis *r = redis;
    if (!reply || reply->type != REDIS_REPLY_ERROR)
        return;
    r->refused = true;
    snprintf(r->why, sizeof(r->why), "%.*s", (int)sizeof(r->why) - 1, reply->str);
}

/* The first commands of a connection: they are queued before it is there. */
static void introduce(struct pythia__redis *r)
{
    char number[16];
    snprintf(number, sizeof(number), "%d", r->database);
    const struct pythia_text auth[] = {PYTHIA_TEXT("AUTH"), pythia_text_of(r->password)};
    const struct pythia_text select[] = {PYTHIA_TEXT("SELECT"), pythia_text_of(number)};
    if (r->password[0])
        pythia__redis_send(r, refused_setup, r, auth, 2);
    if (r->database)
        pythia__redis_send(r, refused_setup, r, select, 2);
}

static void try_to_connect(struct pythia__redis *r)
{
    if (r->tried_ns && r->now_ns < r->tried_ns + AGAIN_NS)
        return;
    r->tried_ns = r->now_ns;
    redisAsyncContext *context =
        r->path[0] ? redisAsyncConnectUnix(r->path) : redisAsyncConnect(r->address, r->port);
    if (!context || context->err) {
        snprintf(r->why, sizeof(r->why), "%s", context ? error_of(context) : "out of memory");
        if (context)
            redisAsyncFree(context);
        return;
    }
    context->data = r;
    context->ev.data = r;
    context->ev.addRead = add_read;
    context->ev.delRead = del_read;
    context->ev.addWrite = add_write;
    context->ev.delWrite = del_write;
    r->context = context;
    r->asked_ns = r->now_ns;
    redisAsyncSetConnectCallback(context, on_connect); /* also asks for add_write */
    redisAsyncSetDisconnectCallback(context, on_disconnect);
    introduce(r);
}

void pythia__redis_destroy(struct pythia__redis *r)
{
    if (!r)
        return;
    drop(r, "");
    pythia_free(r);
}

/* ---- going on ---- */

/* Read and write what can be, once. False: there was nothing to do. */
static bool step(struct pythia__redis *r, int wait_ms)
{
    struct pollfd file = {.fd = r->context->c.fd,
                          .events = (short)((r->reads ? POLLIN : 0) | (r->writes ? POLLOUT : 0))};
    if (poll(&file, 1, wait_ms) <= 0)
        return false;
    if (r->context && r->writes && (file.revents & (POLLOUT | POLLERR | POLLHUP)))
        redisAsyncHandleWrite(r->context);
    if (r->context && r->reads && (file.revents & (POLLIN | POLLERR | POLLHUP)))
        redisAsyncHandleRead(r->context);
    return true;
}

static uint64_t clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

bool pythia__redis_pump(struct pythia__redis *r, uint64_t now_ns, int wait_ms, bool *connected_anew)
{
    uint64_t end_ms = wait_ms > 0 ? clock_ms() + (uint64_t)wait_ms : 0;
    r->now_ns = now_ns;
    if (!r->context)
        try_to_connect(r);
    for (int steps = 0; r->context && steps < 1000; steps++) {
        uint64_t at_ms = end_ms ? clock_ms() : 0;
        int left = end_ms > at_ms ? (int)(end_ms - at_ms) : 0;
        if (r->connected && r->waiting == 0 && !r->writes)
            left = 0;
        if (!step(r, left) && left == 0)
            break;
    }
    if (r->context && (r->waiting || !r->connected) && now_ns > r->asked_ns + PATIENCE_NS)
        drop(r, "no answer for a second");
    if (r->refused) {
        char why[sizeof(r->why)];
        memcpy(why, r->why, sizeof(why));
        drop(r, why);
        r->refused = r->anew = false;
    }
    *connected_anew = r->anew;
    r->anew = false;
    return r->connected;
}

bool pythia__redis_send(struct pythia__redis *r, pythia__redis_answer answer, void *context,
                        const struct pythia_text *words, int count)
{
    const char *bytes[16];
    size_t sizes[16];
    if (!r->context || count > 16)
        return false;
    for (int i = 0; i < count; i++) {
        bytes[i] = words[i].bytes;
        sizes[i] = words[i].size;
    }
    struct question *q = pythia_calloc(1, sizeof(*q));
    if (!q)
        return false;
    *q = (struct question){r, answer, context};
    if (r->waiting == 0)
        r->asked_ns = r->now_ns;
    r->waiting++;
    if (redisAsyncCommandArgv(r->context, on_answer, q, count, bytes, sizes) == REDIS_OK)
        return true;
    r->waiting--;
    pythia_free(q);
    return false;
}

size_t pythia__redis_waiting(const struct pythia__redis *r)
{
    return r->waiting;
}

const char *pythia__redis_why(const struct pythia__redis *r)
{
    return r->why;
}
