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
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "probe/probe_arguments.h"
#include "probe/probe_feed.h"
#include "pythia/elf_functions.h"
#include "pythia/kernel_points.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/priced_functions.h"
#include "pythia/probe_id.h"
#include "pythia/status.h"
#include "pythia/usdt_notes.h"
#include "pythia/wishes.h"
#include "shared/planes.h"

#define CONNECT_NS   UINT64_C(1000000000) /* between tries */
#define RENEW_NS     UINT64_C(5000000000) /* between renewals of leases */
#define ONE_PROBE_NS UINT64_C(250000000)  /* to open or close it */
#define ID_BYTES     4608
#define RINGS_MAX    253
#define ENDS_MAX     (2 * PYTHIA_PROBE_PROGRAMS_MAX)

/* In more processes than these a probe of a library is attached everywhere: each of them makes a
 * hit in the others longer, by 22 ns of 505, and takes a tenth of a second to close. */
#define FEW_PROCESSES 4
#define INSTANCES_MAX (2 * FEW_PROCESSES + 1) /* with those that are being closed */

struct settings {
    const char *rules, *socket, *processes;
};

static const struct pythia_option options[] = {
    PYTHIA_TEXT_OPTION("rules", 0, "FILE", offsetof(struct settings, rules),
                       "which probes of which programs become spans"),
    {"socket", 0, PYTHIA_OPTION_TEXT, "PATH", "/run/pythia-probe/socket", NULL, 0, 0,
     offsetof(struct settings, socket), "where pythia-probe listens"},
    PYTHIA_TEXT_OPTION("processes", 0, "PID,PID", offsetof(struct settings, processes),
                       "the only processes in which probes are opened, four at most"),
    {0},
};

/* GONE: pythia-probe did not find the process. */
enum end_state { END_CLOSED, END_OPENING, END_OPEN, END_CLOSING, END_REFUSED, END_GONE };

/* A probe in one process, or (pid 0) in all. */
struct instance {
    struct pythia_probe_process process;
    enum end_state state;
    bool leaving; /* the probe is no longer to be in this process */
};

/* The probe of one program that begins or ends a point. */
struct end {
    char *id; /* owned: "PROVIDER:NAME PATH" */
    bool done, library;
    bool sites[PYTHIA_USDT_INSTRUCTIONS]; /* instructions that its sites have */
    struct instance instances[INSTANCES_MAX];
    size_t instance_count;
};

struct point {
    char *id; /* owned: "SERVICE:NAME" */
    struct end ends[ENDS_MAX];
    size_t end_count;
    bool offered; /* a program has its probes; or it is a wait of threads in requests, which have */
    bool wanted;
    bool told; /* the feed, that it is open: of a wait alone */
};

struct probe {
    struct pythia_control control;
    char *socket_path; /* owned */
    struct pythia_probe_feed *feed;
    const struct pythia_probe_rules *rules;  /* the feed's */
    struct point *points;                    /* as the rules have them; owned */
    struct end kernel[PYTHIA_KERNEL_EVENTS]; /* trace points that points need; id NULL: none does */
    struct pythia_wishes wishes;
    int socket;       /* -1: not connected */
    bool greeted;     /* the prices are known, and rings were given */
    bool was_greeted; /* at some time */
    bool off, tried, told;
    bool switching; /* the feed was told that probes are being switched */
    bool unsent;    /* a switch has not gone out yet */
    struct pythia_probe_process named[FEW_PROCESSES]; /* by the user; none: those with requests */
    size_t named_count;
    bool everywhere; /* requests were in more than a few processes */
    double prices_ns[PYTHIA_USDT_INSTRUCTIONS];
    uint64_t version, tried_ns, renewed_ns, now_ns;
    uint64_t switched_ns, answered_ns; /* when switching began, and the last answer came to it */
    size_t answers;                    /* that have come since then */
};

/* ---- the inventory ---- */

/* Add the two probes of a point, if the program has both. */
static int add_ends(struct probe *p, size_t index, const char *program,
                    const struct pythia_usdt_notes *notes)
{
    const struct pythia_probe_point *rule = &p->rules->points[index];
    struct point *point = &p->points[index];
    const struct pythia_usdt_site *sites[2];
    size_t counts[2];
    for (int i = 0; i < 2; i++) {
        sites[i] = pythia_usdt_notes_find(notes, pythia_text_of(rule->provider),
                                          pythia_text_of(rule->probes[i]), &counts[i]);
        if (!sites[i])
            return PYTHIA_OK;
    }
    for (int i = 0; i < 2; i++) {
        struct pythia_buf id = {0};
        struct end *end = &point->ends[point->end_count];
        pythia_buf_printf(&id, "%s:%s %s", rule->provider, rule->probes[i], program);
        if (pythia_buf_status(&id) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        *end = (struct end){.id = id.bytes, .done = i == 1};
        for (size_t s = 0; s < counts[i]; s++)
            end->sites[sites[i][s].instruction] = true;
        point->end_count++;
    }
    return PYTHIA_OK;
}

/* A wait is offered where requests can begin. */
static void mark_offered(struct probe *p)
{
    bool requests = false;
    for (size_t i = 0; i < p->rules->point_count; i++) {
        p->points[i].offered = p->points[i].end_count > 0;
        requests |= p->points[i].offered && p->rules->points[i].request;
    }
    for (size_t i = 0; i < p->rules->point_count; i++)
        p->points[i].offered |= requests && p->rules->points[i].is_wait;
}

static bool is_wanted_function(const void *rules, const char *name)
{
    const struct pythia_probe_rules *r = rules;
    for (size_t i = 0; i < r->point_count; i++)
        if (strcmp(r->points[i].provider, PYTHIA_FUNCTION_PROVIDER) == 0 &&
            strcmp(r->points[i].probes[0], name) == 0)
            return true;
    return false;
}

/* The functions of a program that are points; those of its debug file, too, if it is there. */
static void read_functions(const struct probe *p, int file, struct pythia_usdt_notes *out,
                           struct pythia_error *e)
{
    char path[PYTHIA_DEBUG_PATH_BYTES];
    int debug = -1;
    if (pythia_elf_debug_path(file, path, e) == PYTHIA_OK && path[0])
        debug = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (!e->status)
        pythia_elf_functions_read(file, debug, is_wanted_function, p->rules, out, e);
    if (debug >= 0)
        close(debug);
}

/* A program in which no request begins is a library: mark its probes. */
static void mark_library(struct probe *p, const char *program)
{
    bool library = true;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < p->rules->point_count; i++)
            for (size_t k = 0; k < p->points[i].end_count; k++) {
                struct end *end = &p->points[i].ends[k];
                if (strcmp(strchr(end->id, ' ') + 1, program) != 0)
                    continue;
                if (pass == 0)
                    library &= !p->rules->points[i].request;
                else
                    end->library = library;
            }
}

/* A program that cannot be read, or is not there, is reported and left out. */
static int add_program(struct probe *p, const char *program)
{
    struct pythia_usdt_notes lists[2] = {0}; /* of its static probes, of its functions */
    struct pythia_error why = {0};
    int file = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), status = PYTHIA_OK;
    if (file < 0)
        pythia_error_set(&why, PYTHIA_EIO, "%s", strerror(errno));
    else if (pythia_usdt_notes_read(file, &lists[0], &why) == PYTHIA_OK)
        read_functions(p, file, &lists[1], &why);
    if (file >= 0)
        close(file);
    if (why.status)
        pythia_log(PYTHIA_LOG_WARNING, "A program cannot be probed: program=%s, reason=%s", program,
                   why.sentence);
    for (size_t i = 0; i < p->rules->point_count && status == PYTHIA_OK && !why.status; i++) {
        if (p->rules->points[i].is_wait)
            continue;
        bool function = strcmp(p->rules->points[i].provider, PYTHIA_FUNCTION_PROVIDER) == 0;
        status = add_ends(p, i, program, &lists[function]);
    }
    mark_library(p, program);
    pythia_usdt_notes_free(&lists[0]);
    pythia_usdt_notes_free(&lists[1]);
    return why.status == PYTHIA_ENOMEM ? PYTHIA_ENOMEM : status;
}

static void destroy_probe(struct pythia_control *c)
{
    struct probe *p = (struct probe *)c;
    if (!p)
        return;
    if (p->socket >= 0)
        close(p->socket);
    for (size_t i = 0; p->points && i < p->rules->point_count; i++) {
        for (size_t k = 0; k < p->points[i].end_count; k++)
            pythia_free(p->points[i].ends[k].id);
        pythia_free(p->points[i].id);
    }
    for (size_t i = 0; i < PYTHIA_KERNEL_EVENTS; i++)
        pythia_free(p->kernel[i].id);
    pythia_free(p->points);
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
    p->points = pythia_calloc(p->rules->point_count, sizeof(*p->points));
    for (size_t i = 0; p->points && i < p->rules->point_count; i++) {
        struct pythia_buf id = {0};
        pythia_buf_printf(&id, "%s:%s", p->rules->service, p->rules->points[i].name);
        p->points[i].id = id.bytes;
        if (pythia_buf_status(&id) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    }
    status = p->points ? name_kernel_events(p) : PYTHIA_ENOMEM;
    for (size_t i = 0; i < p->rules->program_count && status == PYTHIA_OK; i++)
        status = add_program(p, p->rules->programs[i]);
    if (status == PYTHIA_OK)
        mark_offered(p);
    return status;
}

/* Read "PID,PID". */
static int read_processes(struct probe *p, const char *list, struct pythia_error *e)
{
    for (const char *at = list; at;) {
        char *end;
        unsigned long pid = strtoul(at, &end, 10);
        if (p->named_count == FEW_PROCESSES || *at < '0' || *at > '9' || pid == 0 ||
            pid > PYTHIA_PROBE_PID_MAX || (*end != ',' && *end != '\0'))
            return pythia_error_set(e, PYTHIA_EUSAGE,
                                    "processes are numbers with commas between them, %d at most",
                                    FEW_PROCESSES);
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
static double find_price(const struct probe *p, const struct point *point)
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

/* Nothing is offered whose price is not known: pythia-probe has to be there first. */
static int list_probes(struct pythia_control *c,
                       int (*each)(void *context, const struct pythia_control_point *point),
                       void *context)
{
    struct probe *p = (struct probe *)c;
    int status = PYTHIA_OK;
    for (size_t i = 0; p->greeted && i < p->rules->point_count && status >= 0; i++) {
        const struct point *point = &p->points[i];
        const struct pythia_control_point out = {.id = pythia_text_of(point->id),
                                                 .target = pythia_text_of(p->rules->service),
                                                 .price_ns = find_price(p, point),
                                                 .layer = p->rules->points[i].layer};
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
    pythia__probe_feed_rings(p->feed, NULL, 0);
    for (size_t i = 0; i < p->rules->point_count; i++) {
        p->points[i].told = false;
        for (size_t k = 0; k < p->points[i].end_count; k++)
            p->points[i].ends[k].instance_count = 0;
    }
    for (size_t i = 0; i < PYTHIA_KERNEL_EVENTS; i++)
        p->kernel[i].instances[0].state = END_CLOSED;
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

static struct pythia_text write_id(const struct end *end, const struct instance *instance,
                                   char text[ID_BYTES])
{
    int size = instance->process.pid
                   ? snprintf(text, ID_BYTES, "%s %u", end->id, instance->process.pid)
                   : snprintf(text, ID_BYTES, "%s", end->id);
    return (struct pythia_text){text, (size_t)size};
}

/* Find the instance that an id is of: that of its end, with the process after it. */
static struct instance *find_instance(struct probe *p, struct pythia_text id, size_t *point,
                                      bool *done)
{
    char text[ID_BYTES];
    for (*point = 0; *point < p->rules->point_count; ++*point)
        for (size_t k = 0; k < p->points[*point].end_count; k++) {
            struct end *end = &p->points[*point].ends[k];
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
    struct instance *instance =
        event < PYTHIA_KERNEL_EVENTS
            ? &p->kernel[event].instances[0]
            : find_instance(p, (struct pythia_text){text.bytes, size}, &point, &done);
    if (instance && instance->process.start_time && colon &&
        pythia_text_starts((struct pythia_text){colon, text.size - size},
                           PYTHIA_TEXT(": there is no process "))) {
        instance->state = END_GONE;
        return;
    }
    if (instance ? instance->state != END_REFUSED : !p->told)
        pythia_log(PYTHIA_LOG_WARNING, "pythia-probe refuses: %.*s", (int)text.size, text.bytes);
    if (instance)
        instance->state = END_REFUSED;
}

/* One was attached with this number, or (0) detached. */
static int take_kernel_answer(struct probe *p, unsigned event, uint32_t number)
{
    p->kernel[event].instances[0].state = number ? END_OPEN : END_CLOSED;
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
    struct instance *instance = find_instance(p, id, &point, &done);
    if (!instance)
        return PYTHIA_OK;
    p->answers += instance->state == END_OPENING || instance->state == END_CLOSING;
    p->answered_ns = p->now_ns;
    instance->state = is_attached ? END_OPEN : END_CLOSED;
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
static size_t choose_processes(const struct probe *p, const struct end *end,
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
static void renew_instances(struct end *end, const struct pythia_probe_process *wanted,
                            size_t count)
{
    for (size_t i = end->instance_count; i-- > 0;) {
        struct instance *instance = &end->instances[i];
        instance->leaving = true;
        for (size_t k = 0; k < count; k++)
            instance->leaving &= !is_same_process(&instance->process, &wanted[k]);
        if (instance->leaving && (instance->state == END_CLOSED || instance->state == END_REFUSED ||
                                  instance->state == END_GONE))
            *instance = end->instances[--end->instance_count];
    }
    for (size_t k = 0; k < count; k++) {
        bool there = end->instance_count == INSTANCES_MAX;
        for (size_t i = 0; i < end->instance_count; i++)
            there |= end->instances[i].process.pid == wanted[k].pid;
        if (!there)
            end->instances[end->instance_count++] = (struct instance){.process = wanted[k]};
    }
}

/* Look in which processes requests were seen. */
static void follow_processes(struct probe *p)
{
    struct pythia_probe_process found[FEW_PROCESSES] = {{0}};
    const struct pythia_probe_process *wanted;
    size_t count = pythia__probe_feed_processes(p->feed, found, FEW_PROCESSES);
    if (count > FEW_PROCESSES && !p->everywhere && !p->named_count) {
        p->everywhere = true;
        pythia_log(PYTHIA_LOG_INFO,
                   "Requests are in many processes: processes=%zu. Probes of libraries are opened "
                   "in every process of the machine; hits outside of requests cost time only",
                   count);
    }
    for (size_t i = 0; i < p->rules->point_count; i++)
        for (size_t k = 0; k < p->points[i].end_count; k++) {
            struct end *end = &p->points[i].ends[k];
            size_t chosen = choose_processes(
                p, end, found, count < FEW_PROCESSES ? count : FEW_PROCESSES, &wanted);
            renew_instances(end, wanted, chosen);
        }
}

/* Ask for a probe to be attached, with the role that it has for requests, or to be detached. */
static bool send_message(struct probe *p, size_t point, const struct end *end,
                         const struct instance *instance, bool detach)
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

/* Ask for what an instance is not yet; what does not go out now is asked for the next time. */
static void send_instance(struct probe *p, size_t point, const struct end *end,
                          struct instance *instance, bool wanted, bool renew)
{
    enum end_state state = instance->state;
    bool is_switch = state == (wanted ? END_CLOSED : END_OPEN);
    if (is_switch)
        begin_switch(p);
    if (wanted && state == END_CLOSED && send_message(p, point, end, instance, false))
        instance->state = END_OPENING;
    else if (!wanted && state == END_OPEN && send_message(p, point, end, instance, true))
        instance->state = END_CLOSING;
    else if (wanted && renew && (state == END_OPEN || state == END_REFUSED))
        (void)send_message(p, point, end, instance, false);
    else if (!wanted && state == END_REFUSED)
        instance->state = END_CLOSED;
    p->unsent |= is_switch && instance->state == state;
}

/* Is the probe still to be closed in a process? Before it is, it must not be opened in all of them:
 * each hit in that one would be reported twice. */
static bool has_leaving(const struct end *end)
{
    bool leaving = false;
    for (size_t n = 0; n < end->instance_count; n++)
        leaving |= end->instances[n].leaving;
    return leaving;
}

/* Is a point wanted that needs this event of the kernel? */
static bool is_event_wanted(const struct probe *p, unsigned event)
{
    bool wanted = false;
    for (size_t i = 0; i < p->rules->point_count; i++)
        wanted |= p->points[i].wanted && p->points[i].offered &&
                  (p->rules->points[i].kernel_events >> event & 1);
    return wanted;
}

static void send_wanted(struct probe *p, bool renew)
{
    p->unsent = false;
    for (size_t i = 0; p->greeted && i < p->rules->point_count; i++)
        for (size_t k = 0; k < p->points[i].end_count; k++) {
            struct end *end = &p->points[i].ends[k];
            bool settled = !has_leaving(end);
            for (size_t n = 0; n < end->instance_count; n++)
                if (settled || end->instances[n].state != END_CLOSED)
                    send_instance(p, i, end, &end->instances[n],
                                  p->points[i].wanted && !end->instances[n].leaving, renew);
        }
    for (unsigned i = 0; p->greeted && i < PYTHIA_KERNEL_EVENTS; i++)
        if (p->kernel[i].id)
            send_instance(p, SIZE_MAX, &p->kernel[i], &p->kernel[i].instances[0],
                          is_event_wanted(p, i), renew);
}

/* Tell the feed which waits become spans. */
static int tell_waits(struct probe *p)
{
    int status = PYTHIA_OK;
    for (size_t i = 0; p->greeted && i < p->rules->point_count && status == PYTHIA_OK; i++) {
        struct point *point = &p->points[i];
        if (!p->rules->points[i].is_wait || point->told == point->wanted)
            continue;
        status = pythia__probe_feed_open_wait(p->feed, i, point->wanted);
        if (status == PYTHIA_OK)
            point->told = point->wanted;
    }
    return status;
}

static bool is_being_switched(const struct end *end)
{
    bool is = false;
    for (size_t n = 0; n < end->instance_count; n++)
        is |= end->instances[n].state == END_OPENING || end->instances[n].state == END_CLOSING;
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

static void want_point(const struct probe *p, struct point *point)
{
    point->wanted =
        !p->off && pythia_wishes_find(&p->wishes, pythia_text_of(point->id)) != PYTHIA_NO_WISH;
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
 * needs an event of the kernel waits until that is attached; if it is refused, its keys are
 * missing, and the point is open nevertheless, unless it is a wait. */
static enum pythia_control_result judge_point(const struct probe *p, const struct point *point)
{
    const struct pythia_probe_point *rule = &p->rules->points[point - p->points];
    bool as_wanted = true, refused = false;
    for (unsigned i = 0; point->wanted && i < PYTHIA_KERNEL_EVENTS; i++)
        if (rule->kernel_events >> i & 1) {
            as_wanted &= p->kernel[i].instances[0].state == END_OPEN ||
                         p->kernel[i].instances[0].state == END_REFUSED;
            refused |= p->kernel[i].instances[0].state == END_REFUSED;
        }
    if (!p->greeted && !p->off && (point->wanted || p->was_greeted))
        return PYTHIA_CONTROL_LOST;
    if (rule->is_wait && refused)
        return PYTHIA_CONTROL_REFUSED;
    for (size_t k = 0; k < point->end_count; k++)
        for (size_t n = 0; n < point->ends[k].instance_count; n++) {
            const struct instance *instance = &point->ends[k].instances[n];
            bool wanted = point->wanted && !instance->leaving;
            if (wanted && instance->state == END_REFUSED)
                return PYTHIA_CONTROL_REFUSED;
            as_wanted &= instance->state == END_GONE ||
                         (wanted ? instance->state == END_OPEN
                                 : instance->state == END_CLOSED || instance->state == END_REFUSED);
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
        const struct point *point = &p->points[i];
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
