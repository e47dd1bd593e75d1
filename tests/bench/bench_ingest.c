/* Sends recorded traces to pythiad, as fast as it takes them or at a rate:
 *
 *     bench_ingest grpc|http HOST:PORT FILE [--spans N] [--connections N] [--depth N]
 *                  [--rate SPANS_A_SECOND] [--seconds S] [--total SPANS]
 *
 * FILE is OTLP in protobuf, as pythia generate and bench_input write it; it is sent again and
 * again, each time as other requests that end now. A body has --spans of them (default 512, what
 * SDKs send), a connection has --depth bodies under way. Without --rate a body is sent as soon as
 * an answer makes room; with it, bodies are due at even times, and an answer's time counts from
 * when its body was due, so that waiting to be sent counts too. Nothing is sent twice. Prints one
 * JSON object. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ingest_bodies.h"
#include "ingest_link.h"

#define LINKS   1024
#define SLOW_MS 20 /* an answer that takes longer is not what is normal */

struct times {
    float *ms;
    size_t count, capacity;
};

struct load {
    const struct link_ops *ops;
    struct link *links[LINKS];
    struct pollfd polls[LINKS];
    struct bodies bodies;
    uint64_t begin_ns, last_bad_ns; /* an answer that refused, or that was slow */
    uint64_t bodies_by[OUTCOMES], spans_by[OUTCOMES], rejected, without_delay, in_flight;
    struct times times[OUTCOMES];
    /* options */
    uint64_t spans, connections, depth, total;
    double rate, seconds;
};

void die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "bench_ingest: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    exit(1);
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- answers ---- */

static void keep_time(struct times *t, double ms)
{
    if (t->count == t->capacity) {
        t->capacity = t->capacity ? 2 * t->capacity : 4096;
        t->ms = realloc(t->ms, t->capacity * sizeof(*t->ms));
        if (!t->ms)
            die("out of memory");
    }
    t->ms[t->count++] = (float)ms;
}

static void take_answer(void *context, struct body *body, uint64_t due_ns,
                        const struct answer *answer)
{
    struct load *l = context;
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    double ms = (double)(now - due_ns) / 1e6;
    body->in_flight = false;
    l->in_flight--;
    l->bodies_by[answer->outcome]++;
    l->spans_by[answer->outcome] += body->spans;
    l->rejected += answer->rejected;
    l->without_delay += answer->outcome == REFUSED && !answer->has_delay;
    keep_time(&l->times[answer->outcome], ms);
    if (answer->outcome != TAKEN || ms > SLOW_MS)
        l->last_bad_ns = now;
}

/* ---- sending ---- */

static int open_socket(const char *address)
{
    char host[64] = "";
    const char *colon = strrchr(address, ':');
    size_t size = colon ? (size_t)(colon - address) : 0;
    if (size == 0 || size >= sizeof(host))
        die("%s is no HOST:PORT", address);
    memcpy(host, address, size);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10))};
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (inet_pton(AF_INET, host, &to.sin_addr) != 1 || s < 0 ||
        connect(s, (struct sockaddr *)&to, sizeof(to)) != 0)
        die("cannot connect to %s: %s", address, strerror(errno));
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    fcntl(s, F_SETFL, O_NONBLOCK);
    return s;
}

/* Send what is due, on the links in turn; returns when the next body is. */
static uint64_t send_due(struct load *l, uint64_t due_ns, uint64_t *sent_spans)
{
    static size_t turn;
    for (size_t full = 0; full < l->connections;) {
        struct link *link = l->links[turn];
        uint64_t now = clock_ns(CLOCK_MONOTONIC);
        if (l->rate > 0 && due_ns > now)
            break;
        turn = (turn + 1) % l->connections;
        full++;
        if (!l->ops->has_room(link) || (l->total && *sent_spans >= l->total))
            continue;
        struct body *body = bodies_next(&l->bodies, clock_ns(CLOCK_REALTIME));
        if (!body)
            break;
        full = 0;
        body->in_flight = true;
        l->in_flight++;
        *sent_spans += body->spans;
        l->ops->send(link, body, l->rate > 0 ? due_ns : now);
        l->ops->write(link);
        if (l->rate > 0)
            due_ns += (uint64_t)((double)body->spans / l->rate * 1e9);
    }
    return due_ns;
}

static void wait_for_links(struct load *l, uint64_t until_ns)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC), wait_ns = until_ns > now ? until_ns - now : 0;
    struct timespec wait = {(time_t)(wait_ns / 1000000000), (long)(wait_ns % 1000000000)};
    for (size_t i = 0; i < l->connections; i++)
        l->polls[i].events = (short)(POLLIN | (l->ops->wants_write(l->links[i]) ? POLLOUT : 0));
    if (ppoll(l->polls, l->connections, &wait, NULL) <= 0)
        return;
    for (size_t i = 0; i < l->connections; i++) {
        if (l->polls[i].revents & (POLLIN | POLLHUP | POLLERR))
            l->ops->read(l->links[i]);
        if (l->ops->wants_write(l->links[i]))
            l->ops->write(l->links[i]);
    }
}

static double run(struct load *l)
{
    uint64_t sent = 0, due = clock_ns(CLOCK_MONOTONIC), now;
    uint64_t end = due + (uint64_t)(l->seconds * 1e9);
    l->begin_ns = due;
    while ((now = clock_ns(CLOCK_MONOTONIC)) < end && (!l->total || sent < l->total)) {
        due = send_due(l, due, &sent);
        uint64_t until = l->rate > 0 && due > now ? due : end;
        wait_for_links(l, until < end ? until : end);
    }
    while (l->in_flight > 0) {
        if (clock_ns(CLOCK_MONOTONIC) > end + UINT64_C(30000000000))
            die("%" PRIu64 " bodies have no answer after 30 s", l->in_flight);
        wait_for_links(l, clock_ns(CLOCK_MONOTONIC) + 100000000);
    }
    return (double)(clock_ns(CLOCK_MONOTONIC) - l->begin_ns) / 1e9;
}

/* ---- telling ---- */

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* By the nearest rank; 0 of none. */
static double quantile(const struct times *t, double q)
{
    return t->count ? (double)t->ms[(size_t)fmax(ceil(q * (double)t->count) - 1, 0)] : 0;
}

static void print(struct load *l, double seconds)
{
    static const char *const names[OUTCOMES] = {"taken", "refused", "failed"};
    printf("{\"seconds\": %.6f, \"body_spans\": %.1f, \"body_bytes\": %.0f, ", seconds,
           (double)l->bodies.spans / (double)l->bodies.count, (double)l->bodies.list[0].size);
    for (int o = 0; o < OUTCOMES; o++) {
        struct times *t = &l->times[o];
        if (t->count)
            qsort(t->ms, t->count, sizeof(*t->ms), compare);
        printf("\"%s\": {\"bodies\": %" PRIu64 ", \"spans\": %" PRIu64
               ", \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"longest_ms\": %.3f}, ",
               names[o], l->bodies_by[o], l->spans_by[o], quantile(t, .5), quantile(t, .99),
               quantile(t, 1));
        free(t->ms);
    }
    printf("\"rejected\": %" PRIu64 ", \"refused_without_delay\": %" PRIu64
           ", \"last_bad_s\": %.3f, \"cpu_s\": %.3f}\n",
           l->rejected, l->without_delay,
           l->last_bad_ns ? (double)(l->last_bad_ns - l->begin_ns) / 1e9 : 0,
           (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9);
}

static void read_option(struct load *l, const char *name, const char *value)
{
    struct {
        const char *name;
        uint64_t *number;
        double *real;
    } options[] = {
        {"--spans", &l->spans, NULL}, {"--connections", &l->connections, NULL},
        {"--depth", &l->depth, NULL}, {"--total", &l->total, NULL},
        {"--rate", NULL, &l->rate},   {"--seconds", NULL, &l->seconds},
    };
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (strcmp(name, options[i].name) == 0) {
            char *end;
            double number = strtod(value, &end);
            if (*end || !(number > 0) || number > 1e15)
                die("%s: %s is not a number above 0", name, value);
            if (options[i].real)
                *options[i].real = number;
            else
                *options[i].number = (uint64_t)number;
            return;
        }
    die("there is no option %s", name);
}

int main(int argc, char **argv)
{
    static struct load l = {.spans = 512, .connections = 4, .depth = 8, .seconds = 10};
    if (argc < 4 || argc % 2 != 0)
        die("usage: bench_ingest grpc|http HOST:PORT FILE [--OPTION NUMBER...]");
    const struct link_ops *ops = strcmp(argv[1], "http") == 0 ? &ingest_http : &ingest_grpc;
    l.ops = ops;
    for (int i = 4; i < argc; i += 2)
        read_option(&l, argv[i], argv[i + 1]);
    if (l.connections > LINKS)
        die("at most %d connections", LINKS);
    signal(SIGPIPE, SIG_IGN);
    bodies_read(&l.bodies, argv[3], l.spans, clock_ns(CLOCK_REALTIME));
    for (size_t i = 0; i < l.connections; i++) {
        int s = open_socket(argv[2]);
        l.polls[i].fd = s;
        l.links[i] =
            ops->create(s, argv[2], (unsigned)l.depth, (struct answer_taker){take_answer, &l});
    }
    double seconds = run(&l);
    print(&l, seconds);
    for (size_t i = 0; i < l.connections; i++)
        ops->destroy(l.links[i]);
    bodies_free(&l.bodies);
    return 0;
}
