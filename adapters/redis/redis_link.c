/* Only hiredis' reader of answers and writer of commands are used, not its asynchronous
 * connection: that one ends the process if a server answers more than it was asked. */
#define _GNU_SOURCE
#include "pythia/redis_link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "pythia/buf.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define MS          UINT64_C(1000000)
#define AGAIN_NS    (500 * MS)         /* between attempts to connect */
#define PATIENCE_NS (1000 * MS)        /* for an answer; then the connection counts as lost */
#define ANSWER_MAX  ((size_t)64 << 20) /* bytes of an answer that is not whole yet */
#define WAITING_MAX 100000             /* commands */

/* A command that waits for its answer. */
struct question {
    pythia__redis_answer answer;
    void *context;
};

struct pythia__redis {
    char address[128], path[108], password[128];
    int port, database;
    int file;                          /* -1: there is no connection */
    bool introducing, connected, anew; /* connected: and it has answered */
    bool refused;                      /* our password, or our database */
    redisReader *reader;               /* of this connection; NULL: none */
    struct pythia_buf out;             /* not written yet, from `written` on */
    size_t written;
    struct question *questions; /* owned; those from `first` to `last` wait, in order */
    size_t first, last, capacity;
    uint64_t tried_ns, now_ns, asked_ns; /* asked_ns: since when an answer is due */
    char why[200];
};

/* ---- the address ---- */

static int fail_url(struct pythia_error *e, const char *url, const char *why)
{
    return pythia_error_set(e, PYTHIA_EUSAGE,
                            "'%s' is not the address of a Redis server: %s; expected "
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

/* Only numeric addresses: looking a name up could block the event loop for seconds. A password is
 * not repeated in the message about its own URL. */
static int parse_url(struct pythia__redis *r, const char *url, struct pythia_error *e)
{
    struct in6_addr any;
    if (strncmp(url, "unix:", 5) == 0)
        return copy_part(r->path, sizeof(r->path), url + 5, strlen(url + 5)) && url[5]
                   ? PYTHIA_OK
                   : fail_url(e, url, "the path is empty or too long");
    if (strncmp(url, "redis://", 8) != 0)
        return fail_url(e, url, "it begins with neither redis:// nor unix:");
    const char *at = url + 8, *end = at + strcspn(at, "/?");
    const char *sign = memchr(at, '@', (size_t)(end - at));
    if (sign) {
        if (*at != ':' ||
            !copy_part(r->password, sizeof(r->password), at + 1, (size_t)(sign - at - 1)))
            return fail_url(e, "redis://…", "a user's name, or a password that is too long");
        at = sign + 1;
    }
    if (*end == '/' && end[1] && !parse_number(end + 1, end + strlen(end), 65535, &r->database))
        return fail_url(e, sign ? "redis://…" : url, "the database is not a number");
    const char *colon = *at == '[' ? memchr(at, ']', (size_t)(end - at)) : at;
    colon = colon ? memchr(colon, ':', (size_t)(end - colon)) : NULL;
    r->port = 6379;
    if (colon && !parse_number(colon + 1, end, 65535, &r->port))
        return fail_url(e, sign ? "redis://…" : url, "the port is not a number");
    const char *stop = colon ? colon : end;
    bool brackets = *at == '[' && stop > at + 1 && stop[-1] == ']';
    if (!copy_part(r->address, sizeof(r->address), at + brackets,
                   (size_t)(stop - at) - (brackets ? 2 : 0)))
        return fail_url(e, sign ? "redis://…" : url, "the address is too long");
    if (strcmp(r->address, "localhost") == 0)
        strcpy(r->address, "127.0.0.1");
    if (inet_pton(AF_INET, r->address, &any) != 1 && inet_pton(AF_INET6, r->address, &any) != 1)
        return fail_url(e, sign ? "redis://…" : url, "the address is not a number");
    return PYTHIA_OK;
}

int pythia__redis_create(const char *url, struct pythia__redis **out, struct pythia_error *e)
{
    struct pythia__redis *r = pythia_calloc(1, sizeof(*r));
    if (!r)
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    r->file = -1;
    int status = parse_url(r, url, e);
    if (status != PYTHIA_OK) {
        pythia_free(r);
        return status;
    }
    *out = r;
    return PYTHIA_OK;
}

/* ---- connecting ---- */

static void note_why(struct pythia__redis *r, const char *why)
{
    snprintf(r->why, sizeof(r->why), "%s", why);
}

/* End the connection. Whoever waits for an answer learns that there is none. */
static void drop_connection(struct pythia__redis *r, const char *why)
{
    if (r->file >= 0)
        close(r->file);
    r->file = -1;
    r->connected = r->anew = false;
    if (r->reader)
        redisReaderFree(r->reader);
    r->reader = NULL;
    pythia_buf_free(&r->out);
    r->written = 0;
    note_why(r, why);
    while (r->first < r->last) {
        struct question q = r->questions[r->first++];
        if (q.answer)
            q.answer(q.context, NULL);
    }
    r->first = r->last = 0;
}

static void note_refused_setup(void *redis, const struct redisReply *reply)
{
    struct pythia__redis *r = redis;
    if (!reply || reply->type != REDIS_REPLY_ERROR)
        return;
    r->refused = true;
    snprintf(r->why, sizeof(r->why), "%.*s", (int)sizeof(r->why) - 1, reply->str);
}

static void note_alive(void *redis, const struct redisReply *reply)
{
    struct pythia__redis *r = redis;
    if (!reply || r->refused)
        return;
    note_refused_setup(redis, reply);
    r->connected = r->anew = !r->refused;
    if (r->connected)
        r->why[0] = '\0';
}

/* The first commands of a connection: they are queued before it is there. Only whoever answers
 * counts: a port that is open may belong to anybody. */
static void send_hello(struct pythia__redis *r)
{
    char number[16];
    snprintf(number, sizeof(number), "%d", r->database);
    const struct pythia_text auth[] = {PYTHIA_TEXT("AUTH"), pythia_text_of(r->password)};
    const struct pythia_text select[] = {PYTHIA_TEXT("SELECT"), pythia_text_of(number)};
    const struct pythia_text ping[] = {PYTHIA_TEXT("PING")};
    r->introducing = true;
    if (r->password[0])
        pythia__redis_send(r, note_refused_setup, r, auth, 2);
    if (r->database)
        pythia__redis_send(r, note_refused_setup, r, select, 2);
    pythia__redis_send(r, note_alive, r, ping, 1);
    r->introducing = false;
}

/* Where to, as a socket has it. */
static socklen_t make_address(const struct pythia__redis *r, struct sockaddr_storage *out)
{
    memset(out, 0, sizeof(*out));
    if (r->path[0]) {
        struct sockaddr_un *un = (struct sockaddr_un *)(void *)out;
        un->sun_family = AF_UNIX;
        memcpy(un->sun_path, r->path, strlen(r->path) + 1);
        return sizeof(*un);
    }
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)(void *)out;
    if (inet_pton(AF_INET6, r->address, &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons((uint16_t)r->port);
        return sizeof(*six);
    }
    struct sockaddr_in *four = (struct sockaddr_in *)(void *)out;
    inet_pton(AF_INET, r->address, &four->sin_addr);
    four->sin_family = AF_INET;
    four->sin_port = htons((uint16_t)r->port);
    return sizeof(*four);
}

static void try_to_connect(struct pythia__redis *r)
{
    struct sockaddr_storage address;
    if (r->tried_ns && r->now_ns < r->tried_ns + AGAIN_NS)
        return;
    r->tried_ns = r->now_ns ? r->now_ns : 1;
    r->refused = false;
    socklen_t size = make_address(r, &address);
    r->reader = redisReaderCreate();
    r->file = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (r->file < 0 || !r->reader) {
        drop_connection(r, r->reader ? strerror(errno) : "out of memory");
        return;
    }
    if (connect(r->file, (struct sockaddr *)&address, size) != 0 && errno != EINPROGRESS) {
        drop_connection(r, strerror(errno));
        return;
    }
    r->asked_ns = r->now_ns;
    send_hello(r);
}

void pythia__redis_destroy(struct pythia__redis *r)
{
    if (!r)
        return;
    drop_connection(r, "");
    pythia_free(r->questions);
    pythia_free(r);
}

/* ---- going on ---- */

static void write_commands(struct pythia__redis *r)
{
    ssize_t sent = send(r->file, r->out.bytes + r->written, r->out.size - r->written, MSG_NOSIGNAL);
    if (sent < 0) {
        if (errno != EAGAIN && errno != EINTR)
            drop_connection(r, strerror(errno));
        return;
    }
    r->written += (size_t)sent;
    if (r->written < r->out.size)
        return;
    pythia_buf_clear(&r->out);
    r->written = 0;
}

/* Give each answer that is whole to whoever waits for it. */
static void take_answers(struct pythia__redis *r)
{
    while (r->reader) {
        void *reply = NULL;
        if (redisReaderGetReply(r->reader, &reply) != REDIS_OK) {
            drop_connection(r, "an answer that cannot be read");
            return;
        }
        if (!reply)
            return;
        if (r->first == r->last) {
            freeReplyObject(reply);
            drop_connection(r, "an answer that nobody has asked for");
            return;
        }
        struct question q = r->questions[r->first++];
        r->asked_ns = r->now_ns;
        if (r->first == r->last)
            r->first = r->last = 0;
        if (q.answer)
            q.answer(q.context, reply);
        freeReplyObject(reply);
    }
}

static void read_answers(struct pythia__redis *r)
{
    char bytes[16384];
    ssize_t got = recv(r->file, bytes, sizeof(bytes), 0);
    if (got < 0) {
        if (errno != EAGAIN && errno != EINTR)
            drop_connection(r, strerror(errno));
        return;
    }
    if (got == 0) {
        drop_connection(r, "the connection was closed");
        return;
    }
    if (redisReaderFeed(r->reader, bytes, (size_t)got) != REDIS_OK || r->reader->len > ANSWER_MAX) {
        drop_connection(r, "an answer that is too large");
        return;
    }
    take_answers(r);
}

/* Read and write what can be, once. False: there was nothing to do. */
static bool step_once(struct pythia__redis *r, int wait_ms)
{
    struct pollfd file = {.fd = r->file,
                          .events = (short)(POLLIN | (r->written < r->out.size ? POLLOUT : 0))};
    if (poll(&file, 1, wait_ms) <= 0)
        return false;
    if (r->written < r->out.size && (file.revents & (POLLOUT | POLLERR | POLLHUP)))
        write_commands(r);
    if (r->file >= 0 && (file.revents & (POLLIN | POLLERR | POLLHUP)))
        read_answers(r);
    return true;
}

static uint64_t clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Work is bounded by steps, because a server that answers without end must not hold the event loop.
 * A link that does not answer for a second is dropped and made anew. */
bool pythia__redis_pump(struct pythia__redis *r, uint64_t now_ns, int wait_ms, bool *connected_anew)
{
    uint64_t end_ms = wait_ms > 0 ? clock_ms() + (uint64_t)wait_ms : 0;
    r->now_ns = now_ns;
    if (r->file < 0)
        try_to_connect(r);
    for (int steps = 0; r->file >= 0 && steps < 1000; steps++) {
        uint64_t at_ms = end_ms ? clock_ms() : 0;
        int left = end_ms > at_ms ? (int)(end_ms - at_ms) : 0;
        if (r->connected && r->first == r->last && r->written == r->out.size)
            left = 0;
        if (!step_once(r, left) && left == 0)
            break;
        if (r->refused)
            break;
    }
    if (r->file >= 0 && (r->first < r->last || !r->connected) && now_ns > r->asked_ns + PATIENCE_NS)
        drop_connection(r, "no answer for a second");
    if (r->refused) {
        char why[sizeof(r->why)];
        memcpy(why, r->why, sizeof(why));
        r->refused = false;
        drop_connection(r, why);
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
    if (r->file < 0 || !(r->connected || r->introducing) || count > 16 ||
        r->last - r->first >= WAITING_MAX)
        return false;
    for (int i = 0; i < count; i++) {
        bytes[i] = words[i].bytes;
        sizes[i] = words[i].size;
    }
    char *command = NULL;
    if (r->first > WAITING_MAX / 2) {
        memmove(r->questions, r->questions + r->first,
                (r->last - r->first) * sizeof(*r->questions));
        r->last -= r->first;
        r->first = 0;
    }
    if (pythia_grow(&r->questions, &r->capacity, r->last, sizeof(*r->questions)) != PYTHIA_OK)
        return false;
    int size = redisFormatCommandArgv(&command, count, bytes, sizes);
    if (size < 0)
        return false;
    size_t before = r->out.size;
    pythia_buf_add(&r->out, command, (size_t)size);
    redisFreeCommand(command);
    if (pythia_buf_status(&r->out) != PYTHIA_OK) { /* half a command must not go out */
        r->out.size = before;
        r->out.failed = 0;
        return false;
    }
    if (r->first == r->last)
        r->asked_ns = r->now_ns;
    r->questions[r->last++] = (struct question){answer, context};
    return true;
}

size_t pythia__redis_waiting(const struct pythia__redis *r)
{
    return r->last - r->first;
}

const char *pythia__redis_why(const struct pythia__redis *r)
{
    return r->why;
}
