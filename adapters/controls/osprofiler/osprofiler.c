/* OSProfiler's points, switched through a Redis, the one that its records go to or another.
 * pythia-control-osprofiler(7) says the same in words. Keys, all below a prefix ("pythia:"):
 *
 *     switches:<service>   "<epoch> <etag>\n" and the list of agents.c; runs out with the lease
 *     off                  is there while everything is closed
 *     reports              a list: agents push what they say of themselves (agent_report.c) at its
 *                          left end, and cut it; the daemon takes from its right end
 *     type:<base id>       of a request: the trace point of its root; runs out by itself. Agents
 *                          leave it for each other, and only while a point is open for some types
 *
 * The epoch is the daemon's: agents that see another one report everything again. */
#define _GNU_SOURCE
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "pythia/mem.h"
#include "pythia/redis_link.h"
#include "pythia/status.h"
#include "shared/agents.h"
#include "shared/planes.h"

#define MS          UINT64_C(1000000)
#define LOOK_NS     (50 * MS) /* between looks at the reports */
#define AT_ONCE     200       /* reports are taken */
#define OFF_WAIT_MS 400

struct settings {
    const char *redis, *prefix;
    int64_t poll_ms, lost_ms, forget_s, agents_max, points_max, service_points_max;
    uint64_t body_max;
};

static const struct pythia_option options[] = {
    {"redis", 0, PYTHIA_OPTION_TEXT, "URL", "redis://127.0.0.1:6379/0", NULL, 0, 0,
     offsetof(struct settings, redis),
     "the Redis: redis://[:PASSWORD@]ADDRESS[:PORT][/DATABASE] or unix:PATH"},
    {"prefix", 0, PYTHIA_OPTION_TEXT, "TEXT", "pythia:", NULL, 0, 0,
     offsetof(struct settings, prefix), "what the names of keys begin with"},
    PYTHIA_INTEGER("poll", 0, "MS", "200", 10, 60000, offsetof(struct settings, poll_ms),
                   "how often agents are told to look"),
    PYTHIA_INTEGER("lost-after", 0, "MS", "4000", 100, 600000, offsetof(struct settings, lost_ms),
                   "an agent that has not reported for so long counts as lost"),
    PYTHIA_INTEGER("forget-after", 0, "S", "600", 1, 604800, offsetof(struct settings, forget_s),
                   "and after so long as gone"),
    PYTHIA_INTEGER("agents-max", 0, "N", "1000", 1, 1000000, offsetof(struct settings, agents_max),
                   "agents that are known at once"),
    PYTHIA_INTEGER("points-max", 0, "N", "100000", 1, 10000000,
                   offsetof(struct settings, points_max), "trace points of all services"),
    PYTHIA_INTEGER("service-points-max", 0, "N", "10000", 1, 10000000,
                   offsetof(struct settings, service_points_max), "trace points of one service"),
    {"body-max", 0, PYTHIA_OPTION_BYTES, "BYTES", "1M", NULL, 0, 0,
     offsetof(struct settings, body_max), "the largest report that is read"},
    {0},
};

struct plane {
    struct pythia_control control;
    struct pythia__agents *agents;
    struct pythia__redis *redis;
    struct settings settings;
    struct pythia_buf prefix, key, value;
    uint64_t lease_ns, now_ns, looked_ns;
    bool off, looking, failed;
    char epoch[17];
    char refused[200]; /* why the last key was not written; "": it was */
};

static void destroy_osprofiler(struct pythia_control *c)
{
    struct plane *p = (struct plane *)c;
    if (!p)
        return;
    pythia__redis_destroy(p->redis);
    pythia__agents_destroy(p->agents);
    pythia_buf_free(&p->prefix);
    pythia_buf_free(&p->key);
    pythia_buf_free(&p->value);
    pythia_free(p);
}

static void choose_epoch(char out[17])
{
    uint64_t number;
    struct timespec now;
    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != (ssize_t)sizeof(number)) {
        clock_gettime(CLOCK_REALTIME, &now); /* any number that was not there before will do */
        number = (uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 48;
    }
    snprintf(out, 17, "%016" PRIx64, number);
}

/* The epoch in the keys, which is drawn anew, distinguishes them from those of an earlier
 * pythiad. */
static int create_osprofiler(const void *settings, struct pythia_control **out,
                             struct pythia_error *e)
{
    const struct settings *s = settings;
    struct pythia__agents_options o = {
        .agents_max = (size_t)s->agents_max,
        .points_max = (size_t)s->points_max,
        .service_points_max = (size_t)s->service_points_max,
        .lost_ns = (uint64_t)s->lost_ms * MS,
        .forget_ns = (uint64_t)s->forget_s * 1000 * MS,
        .poll_ns = (uint64_t)s->poll_ms * MS,
        .names_types = true,
    };
    struct plane *p = pythia_calloc(1, sizeof(*p));
    if (!p)
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    p->control.ops = &pythia__control_osprofiler;
    p->settings = *s;
    p->lease_ns = PYTHIA_CONTROL_LEASE_NS;
    pythia_buf_puts(&p->prefix, s->prefix ? s->prefix : "");
    p->settings.redis = p->settings.prefix = NULL; /* borrowed for this call */
    choose_epoch(p->epoch);
    int status = pythia__redis_create(s->redis, &p->redis, e);
    if (status != PYTHIA_OK)
        goto out;
    if (pythia_buf_status(&p->prefix) != PYTHIA_OK ||
        pythia__agents_create(&o, &p->agents) != PYTHIA_OK) {
        status = pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
        goto out;
    }
    *out = &p->control;
    return PYTHIA_OK;
out:
    destroy_osprofiler(&p->control);
    return status;
}

static void set_redis_lease(struct pythia_control *c, uint64_t lease_ns)
{
    struct plane *p = (struct plane *)c;
    p->lease_ns = lease_ns;
    pythia__agents_set_lease(p->agents, lease_ns);
}

/* ---- keys ---- */

/* Memory may be there again. */
static void begin_text(struct pythia_buf *b)
{
    pythia_buf_clear(b);
    b->failed = 0;
}

/* A key below the prefix, in p->key. */
static struct pythia_text make_redis_key(struct plane *p, const char *name, struct pythia_text rest)
{
    begin_text(&p->key);
    pythia_buf_text_add(&p->key, pythia_buf_text(&p->prefix));
    pythia_buf_puts(&p->key, name);
    pythia_buf_text_add(&p->key, rest);
    return pythia_buf_text(&p->key);
}

static const struct pythia_text nothing = {"", 0};

static bool send_redis_command(struct plane *p, pythia__redis_answer answer,
                               const struct pythia_text *words, int count)
{
    return !p->key.failed && !p->value.failed &&
           pythia__redis_send(p->redis, answer, p, words, count);
}

/* A key that could not be written: everything is written again. */
static void note_written(void *plane, const struct redisReply *reply)
{
    struct plane *p = plane;
    p->refused[0] = '\0';
    if (reply && reply->type != REDIS_REPLY_ERROR)
        return;
    p->failed = true;
    if (reply)
        snprintf(p->refused, sizeof(p->refused), "%.*s", (int)sizeof(p->refused) - 1, reply->str);
}

static struct pythia_text format_number(char room[24], uint64_t number)
{
    return (struct pythia_text){room, (size_t)snprintf(room, 24, "%" PRIu64, number)};
}

static int send_list(void *context, struct pythia_text service, struct pythia_text json,
                     const char *etag)
{
    struct plane *p = context;
    char lease[24];
    begin_text(&p->value);
    pythia_buf_printf(&p->value, "%s %s\n", p->epoch, etag);
    pythia_buf_text_add(&p->value, json);
    const struct pythia_text words[] = {PYTHIA_TEXT("SET"), make_redis_key(p, "switches:", service),
                                        pythia_buf_text(&p->value), PYTHIA_TEXT("PX"),
                                        format_number(lease, p->lease_ns / MS)};
    return send_redis_command(p, note_written, words, 5) ? PYTHIA_OK : PYTHIA_EIO;
}

static int publish_off(struct plane *p)
{
    const struct pythia_text set[] = {PYTHIA_TEXT("SET"), make_redis_key(p, "off", nothing),
                                      PYTHIA_TEXT("1")};
    const struct pythia_text del[] = {PYTHIA_TEXT("DEL"), pythia_buf_text(&p->key)};
    return send_redis_command(p, note_written, p->off ? set : del, p->off ? 3 : 2) ? PYTHIA_OK
                                                                                   : PYTHIA_EIO;
}

/* ---- reports ---- */

static void read_redis_report(struct plane *p, const struct redisReply *report)
{
    struct pythia_error e = {0};
    size_t taken, refused;
    if (report->type != REDIS_REPLY_STRING || (uint64_t)report->len > p->settings.body_max)
        return;
    pythia__agents_report(p->agents, report->str, (size_t)report->len, p->now_ns, &taken, &refused,
                          &e); /* what was refused is counted there */
}

/* The answer to MULTI, LRANGE, LTRIM, EXEC: an array of two, the first the oldest reports last. */
static void read_redis_reports(void *plane, const struct redisReply *reply)
{
    struct plane *p = plane;
    p->looking = false;
    if (!reply || reply->type != REDIS_REPLY_ARRAY || reply->elements < 1 ||
        reply->element[0]->type != REDIS_REPLY_ARRAY)
        return;
    const redisReply *reports = reply->element[0];
    for (size_t i = reports->elements; i-- > 0;)
        read_redis_report(p, reports->element[i]);
    if (reports->elements == AT_ONCE) /* there may be more */
        p->looked_ns = 0;
}

static void poll_keys(struct plane *p)
{
    char first[24], last[24];
    if (p->looking || (p->looked_ns && p->now_ns < p->looked_ns + LOOK_NS))
        return;
    snprintf(first, sizeof(first), "-%d", AT_ONCE);
    snprintf(last, sizeof(last), "-%d", AT_ONCE + 1);
    struct pythia_text key = make_redis_key(p, "reports", nothing);
    const struct pythia_text multi[] = {PYTHIA_TEXT("MULTI")};
    const struct pythia_text range[] = {PYTHIA_TEXT("LRANGE"), key, pythia_text_of(first),
                                        PYTHIA_TEXT("-1")};
    const struct pythia_text trim[] = {PYTHIA_TEXT("LTRIM"), key, PYTHIA_TEXT("0"),
                                       pythia_text_of(last)};
    const struct pythia_text exec[] = {PYTHIA_TEXT("EXEC")};
    begin_text(&p->value);
    p->looked_ns = p->now_ns;
    p->looking = send_redis_command(p, NULL, multi, 1) && send_redis_command(p, NULL, range, 4) &&
                 send_redis_command(p, NULL, trim, 4) &&
                 send_redis_command(p, read_redis_reports, exec, 1);
}

/* Whatever can be done now. True: there is a connection. */
static bool pump_plane(struct plane *p, uint64_t now_ns, int wait_ms)
{
    bool anew;
    p->now_ns = now_ns;
    bool connected = pythia__redis_pump(p->redis, now_ns, wait_ms, &anew);
    if (anew || p->failed) {
        p->failed = false;
        p->looking = p->looking && !anew;
        pythia__agents_tell_again(p->agents);
        if (p->off)
            publish_off(p);
    }
    if (connected) {
        poll_keys(p);
        if (!pythia__agents_stale(p->agents, now_ns))
            pythia__agents_untold(p->agents, send_list, p);
        connected = pythia__redis_pump(p->redis, now_ns, 0, &anew);
        p->failed = p->failed || anew;
    }
    return connected;
}

static int fail_unreachable(const struct plane *p, struct pythia_error *e)
{
    const char *why = pythia__redis_why(p->redis);
    return pythia_error_set(e, PYTHIA_EIO, "cannot reach Redis: %s",
                            *why ? why : "not connected yet");
}

/* ---- the plane ---- */

static int list_osprofiler(struct pythia_control *c,
                           int (*each)(void *context, const struct pythia_control_point *point),
                           void *context)
{
    struct plane *p = (struct plane *)c;
    return pythia__agents_inventory(p->agents, each, context);
}

/* Also where nothing has changed, everything is written again: what is in the Redis runs out. */
static int apply_osprofiler(struct pythia_control *c, const struct pythia_control_wish *wishes,
                            size_t count, uint64_t version, uint64_t now_ns, struct pythia_error *e)
{
    struct plane *p = (struct plane *)c;
    if (!pump_plane(p, now_ns, 2)) /* a connection to this machine is made at once */
        return fail_unreachable(p, e);
    if (pythia__agents_apply(p->agents, wishes, count, version, now_ns) != PYTHIA_OK)
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    pythia__agents_tell_again(p->agents);
    pump_plane(p, now_ns, 0);
    return p->refused[0] ? pythia_error_set(e, PYTHIA_EIO, "Redis refused: %s", p->refused)
                         : PYTHIA_OK;
}

static int observe_osprofiler(struct pythia_control *c, uint64_t now_ns,
                              int (*each)(void *context, struct pythia_text id,
                                          struct pythia_text target,
                                          enum pythia_control_result result, uint64_t version),
                              void *context)
{
    struct plane *p = (struct plane *)c;
    pump_plane(p, now_ns, 0);
    return pythia__agents_observe(p->agents, now_ns, each, context);
}

static int switch_off_osprofiler(struct pythia_control *c, bool off_now, uint64_t now_ns,
                                 struct pythia_error *e)
{
    struct plane *p = (struct plane *)c;
    pythia__agents_off(p->agents, off_now);
    p->off = off_now;
    /* Connecting, and being answered, may need some rounds; time that passes is not now_ns's. */
    for (int round = 0; round < OFF_WAIT_MS / 10 && !pump_plane(p, now_ns, 0); round++) {
        bool anew;
        if (!pythia__redis_pump(p->redis, now_ns, 10, &anew) && *pythia__redis_why(p->redis))
            return fail_unreachable(p, e);
        p->failed = p->failed || anew;
    }
    if (publish_off(p) != PYTHIA_OK)
        return fail_unreachable(p, e);
    bool anew;
    bool connected = pythia__redis_pump(p->redis, now_ns, OFF_WAIT_MS, &anew);
    if (!connected || pythia__redis_waiting(p->redis) > 0 || p->failed)
        return fail_unreachable(p, e);
    return PYTHIA_OK;
}

/* An agent looks within a poll, and reports at once; the report is taken within a look. */
static uint64_t estimate_redis_latency_ns(const struct pythia_control *c)
{
    const struct plane *p = (const struct plane *)c;
    return (uint64_t)p->settings.poll_ms * MS + 4 * LOOK_NS;
}

static uint64_t count_losses_osprofiler(const struct pythia_control *c)
{
    return pythia__agents_losses(((const struct plane *)c)->agents);
}

const struct pythia_control_ops pythia__control_osprofiler = {
    .name = "osprofiler",
    .help = "OpenStack services with OSProfiler, through a Redis",
    .options = options,
    .settings_size = sizeof(struct settings),
    .by_type = true,
    .create = create_osprofiler,
    .destroy = destroy_osprofiler,
    .set_lease = set_redis_lease,
    .inventory = list_osprofiler,
    .apply = apply_osprofiler,
    .observe = observe_osprofiler,
    .off = switch_off_osprofiler,
    .latency_ns = estimate_redis_latency_ns,
    .losses = count_losses_osprofiler,
};
