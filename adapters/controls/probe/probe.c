/* Static probes (USDT) of programs that nobody instrumented, through pythia-probe(8). A point of
 * the plane is a point of the rules (probe_rules.h): the probe that begins its span and the one
 * that ends it, in each program of the rules that has both. To open it, both are attached; each has
 * an answer, and is attached once it was answered. Messages and answers go over one connection,
 * which never blocks: pythia-probe takes some tenths of a second to attach a probe. When the
 * connection ends, all probes are gone, and another one is tried.
 *
 * A library is a program of the rules in which no request begins. Its probes are attached in the
 * processes in which requests were seen to begin, so that all others of the machine, which use it
 * too, pay nothing. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "probe/probe_arguments.h"
#include "probe/probe_feed.h"
#include "probe/probe_points.h"
#include "pythia/kernel_points.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/priced_functions.h"
#include "pythia/probe_id.h"
#include "pythia/status.h"
#include "pythia/wishes.h"
#include "shared/planes.h"

#define CONNECT_NS   UINT64_C(1000000000) /* between tries */
#define RENEW_NS     UINT64_C(5000000000) /* between renewals of leases */
#define ONE_PROBE_NS UINT64_C(250000000)  /* to open or close it */
#define ID_BYTES     4608
#define RINGS_MAX    253

/* A hit of a trace point of the kernel outside of a request costs about a sixth of one of a nop: of
 * a system call 145 ns beside 795 on one machine, 50 to 100 beside 540 to 660 on another
 * (./dev bench probes). What cost too much is tried again as late as the controller asks again for
 * a point that was refused. */
#define KERNEL_HITS_OF_A_NOP 6
#define TOPIC_HOLD_NS        UINT64_C(600000000000)

struct settings {
    const char *rules, *socket, *processes;
    double outside_ns;
};

static const struct pythia_option options[] = {
    PYTHIA_TEXT_OPTION("rules", 0, "FILE", offsetof(struct settings, rules),
                       "which probes of which programs become spans"),
    {"socket", 0, PYTHIA_OPTION_TEXT, "PATH", "/run/pythia-probe/socket", NULL, 0, 0,
     offsetof(struct settings, socket), "where pythia-probe listens"},
    PYTHIA_TEXT_OPTION("processes", 0, "PID,PID", offsetof(struct settings, processes),
                       "the only processes in which probes are opened, four at most"),
    {"outside-ns", 0, PYTHIA_OPTION_REAL, "NS", "50000000", NULL, 0, 1e15,
     offsetof(struct settings, outside_ns),
     "what hits of a trace point outside of requests may cost in a second; 0: anything"},
    {0},
};

struct probe {
    struct pythia_control control;
    char *socket_path; /* owned */
    struct pythia_probe_feed *feed;
    const struct pythia_probe_rules *rules; /* the feed's */
    struct pythia__probe_point *points;     /* as the rules have them; owned */
    struct pythia__probe_end
        kernel[PYTHIA_KERNEL_EVENTS]; /* trace points that points need; id NULL: none does */
    uint32_t kernel_wanted;           /* by topics that are not closed: bits */
    uint64_t kernel_outside[PYTHIA_KERNEL_EVENTS];   /* hits of each outside of requests, */
    uint64_t kernel_counted_ns;                      /* when they were last counted; 0: not yet */
    uint64_t topics_closed_ns[PYTHIA_KERNEL_TOPICS]; /* until when, as they cost too much there */
    struct pythia_wishes wishes;
    int socket;       /* -1: not connected */
    bool greeted;     /* the prices are known, and rings were given */
    bool was_greeted; /* at some time */
    bool off, tried, told;
    bool switching; /* the feed was told that probes are being switched */
    bool unsent;    /* a switch has not gone out yet */
    struct pythia_probe_process
        named[PYTHIA__FEW_PROCESSES]; /* by the user; none: those with requests */
    size_t named_count;
    bool everywhere; /* requests were in more than a few processes */
    double prices_ns[PYTHIA_USDT_INSTRUCTIONS];
    double outside_ns; /* limit for a point and second; 0: none */
    uint64_t version, tried_ns, renewed_ns, now_ns;
    uint64_t switched_ns, answered_ns; /* when switching began, and the last answer came to it */
    size_t answers;                    /* that have come since then */
};

/* ---- making ---- */

static void destroy_probe(struct pythia_control *c)
{
    struct probe *p = (struct probe *)c;
    if (!p)
        return;
    if (p->socket >= 0)
        close(p->socket);
    for (size_t i = 0; i < PYTHIA_KERNEL_EVENTS; i++)
        pythia_free(p->kernel[i].id);
    if (p->points)
        pythia__probe_points_free(p->points, p->rules->point_count);
    pythia_wishes_free(&p->wishes);
    pythia_probe_feed_release(p->feed);
    pythia_free(p->socket_path);
    pythia_free(p);
}

/* Name the trace points of the kernel that any point needs; each is in one instance. */
static int name_kernel_events(struct probe *p)
{
    uint32_t needed = 0;
    for (size_t i = 0; i < p->rules->point_count; i++)
        needed |= p->rules->points[i].kernel_events;
    for (unsigned i = 0; i < PYTHIA_KERNEL_EVENTS; i++) {
        struct pythia_buf id = {0};
        if (!(needed >> i & 1))
            continue;
        pythia_buf_printf(&id, PYTHIA_KERNEL_PROVIDER ":%s " PYTHIA_KERNEL_PATH,
                          pythia_kernel_event_name(i));
        p->kernel[i].id = id.bytes;
        p->kernel[i].instance_count = 1;
        if (pythia_buf_status(&id) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    }
    return PYTHIA_OK;
}

/* Read the rules and the notes of their programs. */
static int read_inventory(struct probe *p, const char *path, struct pythia_error *e)
{
    struct pythia_probe_rules rules;
    int status = pythia_probe_rules_read(path, &rules, e);
    if (status != PYTHIA_OK)
        return status;
    pythia__probe_arguments_find(&rules);
    status = pythia__probe_feed_create(&rules, &p->feed);
    if (status != PYTHIA_OK)
        return status;
    p->rules = pythia__probe_feed_rules(p->feed);
    status = pythia__probe_points_read(p->rules, &p->points);
    if (status == PYTHIA_OK)
        status = name_kernel_events(p);
    return status;
}

/* Read "PID,PID". */
static int read_processes(struct probe *p, const char *list, struct pythia_error *e)
{
    for (const char *at = list; at;) {
        char *end;
        unsigned long pid = strtoul(at, &end, 10);
        if (p->named_count == PYTHIA__FEW_PROCESSES || *at < '0' || *at > '9' || pid == 0 ||
            pid > PYTHIA_PROBE_PID_MAX || (*end != ',' && *end != '\0'))
            return pythia_error_set(e, PYTHIA_EUSAGE,
                                    "processes are numbers with commas between them, %d at most",
                                    PYTHIA__FEW_PROCESSES);
        p->named[p->named_count++].pid = (uint32_t)pid;
        at = *end ? end + 1 : NULL;
    }
    return PYTHIA_OK;
}

static int create_probe(const void *settings, struct pythia_control **out, struct pythia_error *e)
{
    const struct settings *s = settings;
    struct probe *p = pythia_calloc(1, sizeof(*p));
    if (!p)
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    p->control.ops = &pythia__control_probe;
    p->socket = -1;
    p->socket_path = pythia_strndup(s->socket, strlen(s->socket));
    p->outside_ns = s->outside_ns;
    int status = !s->rules        ? pythia_error_set(e, PYTHIA_EUSAGE, "a file of rules is needed")
                 : p->socket_path ? read_processes(p, s->processes, e)
                                  : PYTHIA_ENOMEM;
    if (status == PYTHIA_OK)
        status = read_inventory(p, s->rules, e);
    if (status != PYTHIA_OK) {
        destroy_probe(&p->control);
        return pythia_error_set(e, status, "%s", pythia_status_text(status));
    }
    *out = &p->control;
    return PYTHIA_OK;
}

struct pythia_probe_feed *pythia_control_probe_feed(struct pythia_control *c)
{
    return pythia__probe_feed_share(((struct probe *)c)->feed);
}

/* The cost of a hit of a point: both of its probes, at the most expensive site of each. NaN before
 * pythia-probe has said what it measured, and of waits, which it does not measure. */
static double find_price(const struct probe *p, const struct pythia__probe_point *point)
{
    double most[2] = {0, 0};
    if (!p->greeted || p->rules->points[point - p->points].is_wait)
        return NAN;
    for (size_t k = 0; k < point->end_count; k++)
        for (size_t i = 0; i < PYTHIA_USDT_INSTRUCTIONS; i++)
            if (point->ends[k].sites[i])
                most[point->ends[k].done] = fmax(most[point->ends[k].done], p->prices_ns[i]);
    return most[0] + most[1];
}

/* Does a point need the events of this topic of the kernel? */
static bool needs_topic(const struct pythia_probe_point *rule, unsigned topic)
{
    uint32_t sums = rule->is_wait ? UINT32_C(1) << rule->wait : rule->kernel_sums;
    return (sums & pythia_kernel_topics[topic].sums) != 0;
}

static bool is_topic_closed(const struct probe *p, unsigned topic)
{
    return p->now_ns < p->topics_closed_ns[topic];
}

static bool lacks_topic(const struct probe *p, const struct pythia__probe_point *point)
{
    bool lacks = false;
    for (unsigned i = 0; i < PYTHIA_KERNEL_TOPICS; i++)
        lacks |= is_topic_closed(p, i) && needs_topic(&p->rules->points[point - p->points], i);
    return lacks;
}

/* The controller no longer wishes for a point that was refused: the reason stays. */
static const char *find_note(const struct probe *p, const struct pythia__probe_point *point)
{
    bool lacks = lacks_topic(p, point);
    if (point->too_dear || (lacks && p->rules->points[point - p->points].is_wait))
        return "costs too much outside of requests";
    return lacks && point->wanted
               ? "lacks keys of the kernel, which cost too much outside of requests"
               : NULL;
}

/* Nothing is offered whose price is not known: pythia-probe has to be there first. */
static int list_probes(struct pythia_control *c,
                       int (*each)(void *context, const struct pythia_control_point *point),
                       void *context)
{
    struct probe *p = (struct probe *)c;
    int status = PYTHIA_OK;
    for (size_t i = 0; p->greeted && i < p->rules->point_count && status >= 0; i++) {
        const struct pythia__probe_point *point = &p->points[i];
        const struct pythia_control_point out = {.id = pythia_text_of(point->id),
                                                 .target = pythia_text_of(p->rules->service),
                                                 .price_ns = find_price(p, point),
                                                 .layer = p->rules->points[i].layer,
                                                 .note = find_note(p, point)};
        if (point->offered)
            status = each(context, &out);
    }
    return status < 0 ? status : PYTHIA_OK;
}

/* ---- the connection ---- */

/* End the connection: all probes are gone with it. */
static void close_connection(struct probe *p)
{
    if (p->socket < 0)
        return;
    close(p->socket);
    p->socket = -1;
    p->greeted = p->switching = false;
    p->kernel_counted_ns = 0;
    pythia__probe_feed_rings(p->feed, NULL, 0);
    for (size_t i = 0; i < p->rules->point_count; i++) {
        p->points[i].told = false;
        p->points[i].counted_ns = 0;
        for (size_t k = 0; k < p->points[i].end_count; k++)
            p->points[i].ends[k].instance_count = 0;
    }
    for (size_t i = 0; i < PYTHIA_KERNEL_EVENTS; i++)
        p->kernel[i].instances[0].state = PYTHIA__END_CLOSED;
}

static void note_loss(struct probe *p, const char *why)
{
    if (p->greeted || !p->told)
        pythia_log(PYTHIA_LOG_WARNING,
                   "pythia-probe does not answer (is it running? --probe-socket names its socket): "
                   "socket=%s, reason=%s",
                   p->socket_path, why);
    p->told = true;
    close_connection(p);
}

static void connect_probe(struct probe *p, uint64_t now_ns)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (p->socket >= 0 || p->off || (p->tried && now_ns - p->tried_ns < CONNECT_NS))
        return;
    p->tried = true;
    p->tried_ns = now_ns;
    if (strlen(p->socket_path) < sizeof(address.sun_path))
        memcpy(address.sun_path, p->socket_path, strlen(p->socket_path));
    p->socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (p->socket >= 0 &&
        connect(p->socket, (const struct sockaddr *)&address, sizeof(address)) != 0)
        note_loss(p, strerror(errno));
}

/* Read "rings nop5=655 nop=790 …". */
static void take_greeting(struct probe *p, const char *text, const int *rings, size_t count)
{
    pythia_prices_read(text, p->prices_ns);
    pythia__probe_feed_rings(p->feed, rings, count);
    p->greeted = p->was_greeted = true;
    p->told = false;
    pythia_log(PYTHIA_LOG_INFO, "pythia-probe is there: socket=%s, %s", p->socket_path, text);
}

static struct pythia_text write_id(const struct pythia__probe_end *end,
                                   const struct pythia__probe_instance *instance,
                                   char text[ID_BYTES])
{
    int size = instance->process.pid
                   ? snprintf(text, ID_BYTES, "%s %u", end->id, instance->process.pid)
                   : snprintf(text, ID_BYTES, "%s", end->id);
    return (struct pythia_text){text, (size_t)size};
}

/* Find the instance that an id is of: that of its end, with the process after it. */
static struct pythia__probe_instance *find_instance(struct probe *p, struct pythia_text id,
                                                    size_t *point, bool *done)
{
    char text[ID_BYTES];
    for (*point = 0; *point < p->rules->point_count; ++*point)
        for (size_t k = 0; k < p->points[*point].end_count; k++) {
            struct pythia__probe_end *end = &p->points[*point].ends[k];
            if (!pythia_text_starts(id, pythia_text_of(end->id)))
                continue;
            *done = end->done;
            for (size_t i = 0; i < end->instance_count; i++)
                if (pythia_text_equal(write_id(end, &end->instances[i], text), id))
                    return &end->instances[i];
        }
    return NULL;
}

/* The trace point of the kernel that an id is of: PYTHIA_KERNEL_EVENTS if it is none. */
static unsigned find_kernel_event(const struct probe *p, struct pythia_text id)
{
    unsigned i = 0;
    while (i < PYTHIA_KERNEL_EVENTS &&
           !(p->kernel[i].id && pythia_text_equal(pythia_text_of(p->kernel[i].id), id)))
        i++;
    return i;
}

/* "refused ID: a sentence". No id has ": " in it: there is no space behind the colon of one. A
 * process that was found by its requests may have ended since. */
static void take_refusal(struct probe *p, struct pythia_text text)
{
    const char *colon = memmem(text.bytes, text.size, ": ", 2);
    size_t point, size = colon ? (size_t)(colon - text.bytes) : text.size;
    bool done;
    unsigned event = find_kernel_event(p, (struct pythia_text){text.bytes, size});
    struct pythia__probe_instance *instance =
        event < PYTHIA_KERNEL_EVENTS
            ? &p->kernel[event].instances[0]
            : find_instance(p, (struct pythia_text){text.bytes, size}, &point, &done);
    if (instance && instance->process.start_time && colon &&
        pythia_text_starts((struct pythia_text){colon, text.size - size},
                           PYTHIA_TEXT(": there is no process "))) {
        instance->state = PYTHIA__END_GONE;
        return;
    }
    if (instance ? instance->state != PYTHIA__END_REFUSED : !p->told)
        pythia_log(PYTHIA_LOG_WARNING, "pythia-probe refuses: %.*s", (int)text.size, text.bytes);
    if (instance)
        instance->state = PYTHIA__END_REFUSED;
}

/* One was attached with this number, or (0) detached. */
static int take_kernel_answer(struct probe *p, unsigned event, uint32_t number)
{
    p->kernel[event].instances[0].state = number ? PYTHIA__END_OPEN : PYTHIA__END_CLOSED;
    return pythia__probe_feed_define_kernel(p->feed, (enum pythia_kernel_event)event, number);
}

static int take_answer(struct probe *p, struct pythia_text text)
{
    const struct pythia_text attached = PYTHIA_TEXT("attached "),
                             detached = PYTHIA_TEXT("detached "), refused = PYTHIA_TEXT("refused ");
    size_t point;
    bool done;
    if (pythia_text_starts(text, refused)) {
        take_refusal(p, (struct pythia_text){text.bytes + refused.size, text.size - refused.size});
        return PYTHIA_OK;
    }
    char *after = NULL;
    unsigned long number = 0;
    bool is_attached = pythia_text_starts(text, attached);
    if (!is_attached && !pythia_text_starts(text, detached))
        return PYTHIA_OK;
    const char *at = text.bytes + attached.size;
    if (is_attached) {
        number = strtoul(at, &after, 10);
        at = *after == ' ' ? after + 1 : after;
    }
    struct pythia_text id = {at, text.size - (size_t)(at - text.bytes)};
    unsigned event = find_kernel_event(p, id);
    if (event < PYTHIA_KERNEL_EVENTS)
        return take_kernel_answer(p, event, (uint32_t)number);
    struct pythia__probe_instance *instance = find_instance(p, id, &point, &done);
    if (!instance)
        return PYTHIA_OK;
    p->answers += instance->state == PYTHIA__END_OPENING || instance->state == PYTHIA__END_CLOSING;
    p->answered_ns = p->now_ns;
    instance->state = is_attached ? PYTHIA__END_OPEN : PYTHIA__END_CLOSED;
    return is_attached ? pythia__probe_feed_define(p->feed, (uint32_t)number, point, done)
                       : PYTHIA_OK;
}

/* Take one message, with the descriptors that may come with it. 1: there was none. */
static int take_message(struct probe *p)
{
    char text[2 * ID_BYTES];
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int) * RINGS_MAX)];
    } control;
    struct iovec part = {text, sizeof(text) - 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    int rings[RINGS_MAX];
    size_t count = 0;
    ssize_t size = recvmsg(p->socket, &message, MSG_CMSG_CLOEXEC);
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return 1;
    if (size <= 0) {
        note_loss(p, size < 0 ? strerror(errno) : "it has ended");
        return 1;
    }
    text[size] = '\0';
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
        count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(rings, CMSG_DATA(head), count * sizeof(int));
    }
    if (count > 0 && !p->greeted) {
        take_greeting(p, text, rings, count);
        count = 0;
    }
    if (strncmp(text, "prices ", 7) == 0)
        pythia_prices_read(text, p->prices_ns);
    while (count > 0)
        close(rings[--count]);
    return take_answer(p, (struct pythia_text){text, (size_t)size});
}

/* ---- processes ---- */

/* Choose the processes of a probe: `found` are those with requests. Returns how many of *out. */
static size_t choose_processes(const struct probe *p, const struct pythia__probe_end *end,
                               const struct pythia_probe_process *found, size_t count,
                               const struct pythia_probe_process **out)
{
    static const struct pythia_probe_process every = {0};
    *out = p->named_count ? p->named : end->library && !p->everywhere ? found : &every;
    return p->named_count ? p->named_count : end->library && !p->everywhere ? count : 1;
}

static bool is_same_process(const struct pythia_probe_process *a,
                            const struct pythia_probe_process *b)
{
    return a->pid == b->pid && a->start_time == b->start_time;
}

/* Add instances for processes that are new, and mark those of others as leaving. One that has left
 * makes place for another process of its number. */
static void renew_instances(struct pythia__probe_end *end,
                            const struct pythia_probe_process *wanted, size_t count)
{
    for (size_t i = end->instance_count; i-- > 0;) {
        struct pythia__probe_instance *instance = &end->instances[i];
        instance->leaving = true;
        for (size_t k = 0; k < count; k++)
            instance->leaving &= !is_same_process(&instance->process, &wanted[k]);
        if (instance->leaving &&
            (instance->state == PYTHIA__END_CLOSED || instance->state == PYTHIA__END_REFUSED ||
             instance->state == PYTHIA__END_GONE))
            *instance = end->instances[--end->instance_count];
    }
    for (size_t k = 0; k < count; k++) {
        bool there = end->instance_count == PYTHIA__INSTANCES_MAX;
        for (size_t i = 0; i < end->instance_count; i++)
            there |= end->instances[i].process.pid == wanted[k].pid;
        if (!there)
            end->instances[end->instance_count++] =
                (struct pythia__probe_instance){.process = wanted[k]};
    }
}

/* Look in which processes requests were seen. */
static void follow_processes(struct probe *p)
{
    struct pythia_probe_process found[PYTHIA__FEW_PROCESSES] = {{0}};
    const struct pythia_probe_process *wanted;
    size_t count = pythia__probe_feed_processes(p->feed, found, PYTHIA__FEW_PROCESSES);
    if (count > PYTHIA__FEW_PROCESSES && !p->everywhere && !p->named_count) {
        p->everywhere = true;
        pythia_log(PYTHIA_LOG_INFO,
                   "Requests are in many processes: processes=%zu. Probes of libraries are opened "
                   "in every process of the machine; hits outside of requests cost time only",
                   count);
    }
    for (size_t i = 0; i < p->rules->point_count; i++)
        for (size_t k = 0; k < p->points[i].end_count; k++) {
            struct pythia__probe_end *end = &p->points[i].ends[k];
            size_t chosen = choose_processes(
                p, end, found, count < PYTHIA__FEW_PROCESSES ? count : PYTHIA__FEW_PROCESSES,
                &wanted);
            renew_instances(end, wanted, chosen);
        }
}

/* Ask for a probe to be attached, with the role that it has for requests, or to be detached. */
static bool send_message(struct probe *p, size_t point, const struct pythia__probe_end *end,
                         const struct pythia__probe_instance *instance, bool detach)
{
    char id[ID_BYTES], text[ID_BYTES + 16];
    bool request = point < p->rules->point_count && p->rules->points[point].request;
    write_id(end, instance, id);
    int size = detach     ? snprintf(text, sizeof(text), "detach %s", id)
               : !request ? snprintf(text, sizeof(text), "within %s", id)
                          : snprintf(text, sizeof(text), "%s %zu %s", end->done ? "leave" : "enter",
                                     point, id);
    return send(p->socket, text, (size_t)size, MSG_NOSIGNAL) == size;
}

/* Tell the feed that probes are being switched, before the first of them is. */
static void begin_switch(struct probe *p)
{
    if (p->switching)
        return;
    p->switching = pythia__probe_feed_switch(p->feed, true) == PYTHIA_OK;
    p->switched_ns = p->now_ns;
    p->answers = 0;
}

static bool is_to_be_open(const struct pythia__probe_point *point)
{
    return point->wanted && !point->too_dear;
}

/* Ask for what an instance is not yet; what does not go out now is asked for the next time. */
static void send_instance(struct probe *p, size_t point, const struct pythia__probe_end *end,
                          struct pythia__probe_instance *instance, bool wanted, bool renew)
{
    enum pythia__end_state state = instance->state;
    bool is_switch = state == (wanted ? PYTHIA__END_CLOSED : PYTHIA__END_OPEN);
    if (is_switch)
        begin_switch(p);
    if (wanted && state == PYTHIA__END_CLOSED && send_message(p, point, end, instance, false))
        instance->state = PYTHIA__END_OPENING;
    else if (!wanted && state == PYTHIA__END_OPEN && send_message(p, point, end, instance, true))
        instance->state = PYTHIA__END_CLOSING;
    else if (wanted && renew && (state == PYTHIA__END_OPEN || state == PYTHIA__END_REFUSED))
        (void)send_message(p, point, end, instance, false);
    else if (!wanted && state == PYTHIA__END_REFUSED)
        instance->state = PYTHIA__END_CLOSED;
    p->unsent |= is_switch && instance->state == state;
}

/* Is the probe still to be closed in a process? Before it is, it must not be opened in all of them:
 * each hit in that one would be reported twice. */
static bool has_leaving(const struct pythia__probe_end *end)
{
    bool leaving = false;
    for (size_t n = 0; n < end->instance_count; n++)
        leaving |= end->instances[n].leaving;
    return leaving;
}

static bool is_topic_wanted(const struct probe *p, unsigned topic)
{
    bool wanted = false;
    for (size_t i = 0; i < p->rules->point_count && !is_topic_closed(p, topic); i++)
        wanted |= is_to_be_open(&p->points[i]) && p->points[i].offered &&
                  needs_topic(&p->rules->points[i], topic);
    return wanted;
}

static void send_wanted(struct probe *p, bool renew)
{
    p->unsent = false;
    p->kernel_wanted = 0;
    for (unsigned i = 0; i < PYTHIA_KERNEL_TOPICS; i++)
        p->kernel_wanted |= is_topic_wanted(p, i) ? pythia_kernel_topics[i].events : 0;
    for (size_t i = 0; p->greeted && i < p->rules->point_count; i++)
        for (size_t k = 0; k < p->points[i].end_count; k++) {
            struct pythia__probe_end *end = &p->points[i].ends[k];
            bool settled = !has_leaving(end);
            for (size_t n = 0; n < end->instance_count; n++)
                if (settled || end->instances[n].state != PYTHIA__END_CLOSED)
                    send_instance(p, i, end, &end->instances[n],
                                  is_to_be_open(&p->points[i]) && !end->instances[n].leaving,
                                  renew);
        }
    for (unsigned i = 0; p->greeted && i < PYTHIA_KERNEL_EVENTS; i++)
        if (p->kernel[i].id)
            send_instance(p, SIZE_MAX, &p->kernel[i], &p->kernel[i].instances[0],
                          p->kernel_wanted >> i & 1, renew);
}

/* Tell the feed which waits become spans. */
static int tell_waits(struct probe *p)
{
    int status = PYTHIA_OK;
    for (size_t i = 0; p->greeted && i < p->rules->point_count && status == PYTHIA_OK; i++) {
        struct pythia__probe_point *point = &p->points[i];
        if (!p->rules->points[i].is_wait || point->told == point->wanted)
            continue;
        status = pythia__probe_feed_open_wait(p->feed, i, point->wanted);
        if (status == PYTHIA_OK)
            point->told = point->wanted;
    }
    return status;
}

static bool is_being_switched(const struct pythia__probe_end *end)
{
    bool is = false;
    for (size_t n = 0; n < end->instance_count; n++)
        is |= end->instances[n].state == PYTHIA__END_OPENING ||
              end->instances[n].state == PYTHIA__END_CLOSING;
    return is;
}

/* Tell the feed that probes are no longer being switched, once each was answered. */
static void end_switch(struct probe *p)
{
    bool under_way = p->unsent;
    if (!p->switching)
        return;
    for (size_t i = 0; i < p->rules->point_count; i++)
        for (size_t k = 0; k < p->points[i].end_count; k++)
            under_way |= is_being_switched(&p->points[i].ends[k]);
    for (unsigned i = 0; i < PYTHIA_KERNEL_EVENTS; i++)
        under_way |= is_being_switched(&p->kernel[i]);
    if (!under_way)
        p->switching = pythia__probe_feed_switch(p->feed, false) != PYTHIA_OK;
}

/* How many hits there surely were in a second: they are known by a sample, and three standard
 * deviations less are what counts. */
static double count_surely(uint64_t hits, uint64_t during_ns)
{
    double sampled = (double)hits / PYTHIA_PROBE_OUTSIDE_ONE_OF;
    double surely = (sampled - 3 * sqrt(sampled)) * PYTHIA_PROBE_OUTSIDE_ONE_OF;
    return surely / ((double)during_ns / 1e9);
}

/* Spans do not tell what hits outside of requests cost: a lock that every process of the machine
 * takes has millions of them. A point that surely costs too much is refused. */
static void limit_outside(struct probe *p)
{
    for (size_t i = 0; p->greeted && p->outside_ns > 0 && i < p->rules->point_count; i++) {
        struct pythia__probe_point *point = &p->points[i];
        uint64_t now_ns, hits = pythia__probe_feed_outside(p->feed, i, &now_ns);
        if (now_ns == point->counted_ns)
            continue;
        double a_second = count_surely(hits - point->outside, now_ns - point->counted_ns);
        double cost_ns = a_second * find_price(p, point) / 2; /* which is that of two hits */
        if (point->counted_ns && is_to_be_open(point) && cost_ns > p->outside_ns) {
            point->too_dear = true;
            pythia_log(PYTHIA_LOG_WARNING,
                       "A trace point costs too much outside of requests, and is closed: "
                       "trace-point=%s, hits-per-second=%.0f, percent-of-a-processor=%.1f, "
                       "limit=%.1f (--breaker-ns)",
                       point->id, a_second, cost_ns / 1e7, p->outside_ns / 1e7);
        }
        point->outside = hits;
        point->counted_ns = now_ns;
    }
}

/* Every thread of the machine hits the trace points of the kernel. Those of a topic are closed
 * together, as none of them says anything without the others. */
static void limit_kernel(struct probe *p)
{
    uint64_t hits[PYTHIA_KERNEL_EVENTS];
    uint64_t now_ns = pythia__probe_feed_kernel_outside(p->feed, hits);
    if (!p->greeted || p->outside_ns <= 0 || now_ns == p->kernel_counted_ns)
        return;
    for (unsigned t = 0; t < PYTHIA_KERNEL_TOPICS && p->kernel_counted_ns; t++) {
        uint64_t sum = 0;
        for (unsigned i = 0; i < PYTHIA_KERNEL_EVENTS; i++)
            if (pythia_kernel_topics[t].events >> i & 1)
                sum += hits[i] - p->kernel_outside[i];
        double a_second = count_surely(sum, now_ns - p->kernel_counted_ns);
        double cost_ns = a_second * p->prices_ns[PYTHIA_USDT_NOP] / KERNEL_HITS_OF_A_NOP;
        if (cost_ns <= p->outside_ns || !is_topic_wanted(p, t))
            continue;
        p->topics_closed_ns[t] = p->now_ns + TOPIC_HOLD_NS;
        pythia_log(PYTHIA_LOG_WARNING,
                   "Trace points of the kernel cost too much outside of requests, and are closed: "
                   "topic=%s, hits-per-second=%.0f, percent-of-a-processor=%.1f, "
                   "limit=%.1f (--breaker-ns), retry-s=%" PRIu64,
                   pythia_kernel_topics[t].name, a_second, cost_ns / 1e7, p->outside_ns / 1e7,
                   TOPIC_HOLD_NS / 1000000000);
    }
    memcpy(p->kernel_outside, hits, sizeof(hits));
    p->kernel_counted_ns = now_ns;
}

static int exchange_messages(struct probe *p, uint64_t now_ns)
{
    int status = PYTHIA_OK;
    bool renew = now_ns - p->renewed_ns >= RENEW_NS;
    p->now_ns = now_ns;
    connect_probe(p, now_ns);
    while (p->socket >= 0 && status == PYTHIA_OK)
        status = take_message(p);
    if (renew)
        p->renewed_ns = now_ns;
    if (p->greeted)
        follow_processes(p);
    limit_outside(p);
    limit_kernel(p);
    send_wanted(p, renew);
    end_switch(p);
    return status < 0 ? status : tell_waits(p);
}

/* ---- what a plane is asked ---- */

/* Leases are those of pythia-probe (--lease), and renewed often enough for the shortest sensible
 * one. */
static void set_probe_lease(struct pythia_control *c, uint64_t lease_ns)
{
    (void)c;
    (void)lease_ns;
}

static void want_point(const struct probe *p, struct pythia__probe_point *point)
{
    bool before = point->wanted;
    point->wanted =
        !p->off && pythia_wishes_find(&p->wishes, pythia_text_of(point->id)) != PYTHIA_NO_WISH;
    point->too_dear &= before || !point->wanted;
}

static int apply_probes(struct pythia_control *c, const struct pythia_control_wish *wishes,
                        size_t count, uint64_t version, uint64_t now_ns, struct pythia_error *e)
{
    struct probe *p = (struct probe *)c;
    struct pythia_wishes copy;
    if (pythia_wishes_copy(wishes, count, &copy) != PYTHIA_OK)
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    pythia_wishes_free(&p->wishes);
    p->wishes = copy;
    p->version = version;
    for (size_t i = 0; i < p->rules->point_count; i++)
        want_point(p, &p->points[i]);
    return exchange_messages(p, now_ns);
}

/* A library's point is open once it is open in the processes that have requests so far. One that
 * needs an event of the kernel waits until that is attached; if it is refused, or costs too much,
 * its keys are missing, and the point is open nevertheless, unless it is a wait. */
static enum pythia_control_result judge_point(const struct probe *p,
                                              const struct pythia__probe_point *point)
{
    const struct pythia_probe_point *rule = &p->rules->points[point - p->points];
    bool as_wanted = true, refused = point->wanted && lacks_topic(p, point);
    for (unsigned i = 0; point->wanted && i < PYTHIA_KERNEL_EVENTS; i++)
        if ((rule->kernel_events & p->kernel_wanted) >> i & 1) {
            as_wanted &= p->kernel[i].instances[0].state == PYTHIA__END_OPEN ||
                         p->kernel[i].instances[0].state == PYTHIA__END_REFUSED;
            refused |= p->kernel[i].instances[0].state == PYTHIA__END_REFUSED;
        }
    if (!p->greeted && !p->off && (point->wanted || p->was_greeted))
        return PYTHIA_CONTROL_LOST;
    if ((point->wanted && point->too_dear) || (rule->is_wait && refused))
        return PYTHIA_CONTROL_REFUSED;
    for (size_t k = 0; k < point->end_count; k++)
        for (size_t n = 0; n < point->ends[k].instance_count; n++) {
            const struct pythia__probe_instance *instance = &point->ends[k].instances[n];
            bool wanted = point->wanted && !instance->leaving;
            if (wanted && instance->state == PYTHIA__END_REFUSED)
                return PYTHIA_CONTROL_REFUSED;
            as_wanted &= instance->state == PYTHIA__END_GONE ||
                         (wanted ? instance->state == PYTHIA__END_OPEN
                                 : instance->state == PYTHIA__END_CLOSED ||
                                       instance->state == PYTHIA__END_REFUSED);
        }
    return as_wanted ? PYTHIA_CONTROL_APPLIED : PYTHIA_CONTROL_PENDING;
}

static bool is_offered(const struct probe *p, struct pythia_text id)
{
    for (size_t i = 0; i < p->rules->point_count; i++)
        if (p->points[i].offered && pythia_text_equal(pythia_text_of(p->points[i].id), id))
            return true;
    return false;
}

static int observe_probes(struct pythia_control *c, uint64_t now_ns,
                          int (*each)(void *context, struct pythia_text id,
                                      struct pythia_text target, enum pythia_control_result result,
                                      uint64_t version),
                          void *context)
{
    struct probe *p = (struct probe *)c;
    int status = exchange_messages(p, now_ns);
    for (size_t i = 0; i < p->rules->point_count && status >= 0; i++) {
        const struct pythia__probe_point *point = &p->points[i];
        enum pythia_control_result result = judge_point(p, point);
        if (point->offered)
            status = each(context, pythia_text_of(point->id), pythia_text_of(p->rules->service),
                          result, result == PYTHIA_CONTROL_APPLIED ? p->version : 0);
    }
    for (size_t i = 0; i < p->wishes.count && status >= 0; i++)
        if (!is_offered(p, p->wishes.wishes[i].id))
            status =
                each(context, p->wishes.wishes[i].id, PYTHIA_TEXT(""), PYTHIA_CONTROL_REFUSED, 0);
    return status < 0 ? status : PYTHIA_OK;
}

/* Without a connection no probe is open. */
static int switch_off_probes(struct pythia_control *c, bool off, uint64_t now_ns,
                             struct pythia_error *e)
{
    struct probe *p = (struct probe *)c;
    (void)e;
    p->off = off;
    if (off && p->socket >= 0)
        begin_switch(p);
    if (off)
        close_connection(p);
    else
        connect_probe(p, now_ns);
    for (size_t i = 0; i < p->rules->point_count; i++)
        want_point(p, &p->points[i]);
    return PYTHIA_OK;
}

/* pythia-probe attaches one probe after the other, and closing one takes as long as opening. After
 * learning, all are closed: the last of 40 after 7 s (./dev demo postgres, on a busy machine). If
 * the kernel takes longer, each probe has as long as those took that were answered. */
static uint64_t estimate_probe_latency_ns(const struct pythia_control *c)
{
    const struct probe *p = (const struct probe *)c;
    size_t probes = PYTHIA_KERNEL_EVENTS;
    for (size_t i = 0; i < p->rules->point_count; i++)
        probes += p->points[i].end_count;
    uint64_t took_ns = p->answers ? (p->answered_ns - p->switched_ns) / p->answers : 0;
    return UINT64_C(2000000000) + probes * (took_ns > ONE_PROBE_NS ? took_ns : ONE_PROBE_NS);
}

const struct pythia_control_ops pythia__control_probe = {
    .name = "probe",
    .help = "static probes (USDT) of programs that nobody instrumented, through pythia-probe",
    .options = options,
    .settings_size = sizeof(struct settings),
    .refusal_is_final = true,
    .create = create_probe,
    .destroy = destroy_probe,
    .set_lease = set_probe_lease,
    .inventory = list_probes,
    .apply = apply_probes,
    .observe = observe_probes,
    .off = switch_off_probes,
    .latency_ns = estimate_probe_latency_ns,
};
