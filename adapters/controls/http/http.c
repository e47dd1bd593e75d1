/* Agents that poll: pythia-control-http(7) says what goes over the wire. A list is told from
 * another by a hash of it, which is its ETag: an agent that has it in force says so by
 * If-None-Match, and is answered in a few bytes. The version of a set never goes over the wire, so
 * that nothing has to be told again when a set changes that is not this service's, or when the
 * daemon begins anew with the set that it had. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pythia/control_http.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "shared/agents.h"
#include "shared/planes.h"

#define MS UINT64_C(1000000)

struct settings {
    const char *off_file, *type_attribute;
    int64_t poll_ms, lost_ms, forget_s, agents_max, points_max, service_points_max;
    uint64_t body_max;
};

static const struct pythia_option options[] = {
    PYTHIA_INTEGER("poll", 0, "MS", "250", 10, 60000, offsetof(struct settings, poll_ms),
                   "how often agents are told to ask"),
    PYTHIA_INTEGER("lost-after", 0, "MS", "4000", 100, 600000, offsetof(struct settings, lost_ms),
                   "an agent that has not asked for so long counts as lost"),
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
    PYTHIA_TEXT_OPTION("off-file", 0, "FILE", offsetof(struct settings, off_file),
                       "while this file is there, agents of this machine close everything"),
    PYTHIA_TEXT_OPTION("type-attribute", 0, "KEY", offsetof(struct settings, type_attribute),
                       "the attribute of spans that names the type of a request"),
    {0},
};

struct http {
    struct pythia_control control;
    struct pythia__agents *agents;
    struct settings settings;
    char *off_file; /* owned; NULL: none */
    char *type_key; /* owned */
    uint64_t polls, unchanged, too_large;
};

static void destroy_http(struct pythia_control *c)
{
    struct http *h = (struct http *)c;
    if (!h)
        return;
    pythia__agents_destroy(h->agents);
    pythia_free(h->off_file);
    pythia_free(h->type_key);
    pythia_free(h);
}

/* The service names a request type where agents ask for one: its key is copied, because options are
 * borrowed for this call only. */
static int create_http(const void *settings, struct pythia_control **out, struct pythia_error *e)
{
    const struct settings *s = settings;
    const char *key = s->type_attribute ? s->type_attribute : "";
    struct pythia__agents_options o = {
        .agents_max = (size_t)s->agents_max,
        .points_max = (size_t)s->points_max,
        .service_points_max = (size_t)s->service_points_max,
        .lost_ns = (uint64_t)s->lost_ms * MS,
        .forget_ns = (uint64_t)s->forget_s * 1000 * MS,
        .poll_ns = (uint64_t)s->poll_ms * MS,
        .own_ids = true,
    };
    struct http *h = pythia_calloc(1, sizeof(*h));
    if (h) {
        h->control.ops = &pythia__control_http;
        h->settings = *s;
        if (s->off_file && *s->off_file)
            h->off_file = pythia_strndup(s->off_file, strlen(s->off_file));
        o.type_key = h->type_key = pythia_strndup(key, strlen(key));
    }
    if (!h || !h->type_key || pythia__agents_create(&o, &h->agents) != PYTHIA_OK ||
        (s->off_file && *s->off_file && !h->off_file)) {
        destroy_http(h ? &h->control : NULL);
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    }
    *out = &h->control;
    return PYTHIA_OK;
}

static void set_http_lease(struct pythia_control *c, uint64_t lease_ns)
{
    pythia__agents_set_lease(((struct http *)c)->agents, lease_ns);
}

static int list_http(struct pythia_control *c,
                     int (*each)(void *context, const struct pythia_control_point *point),
                     void *context)
{
    return pythia__agents_inventory(((struct http *)c)->agents, each, context);
}

static int apply_http(struct pythia_control *c, const struct pythia_control_wish *wishes,
                      size_t count, uint64_t version, uint64_t now_ns, struct pythia_error *e)
{
    int status = pythia__agents_apply(((struct http *)c)->agents, wishes, count, version, now_ns);
    if (status != PYTHIA_OK)
        return pythia_error_set(e, status, "out of memory");
    return PYTHIA_OK;
}

static int observe_http(struct pythia_control *c, uint64_t now_ns,
                        int (*each)(void *context, struct pythia_text id, struct pythia_text target,
                                    enum pythia_control_result result, uint64_t version),
                        void *context)
{
    return pythia__agents_observe(((struct http *)c)->agents, now_ns, each, context);
}

/* Agents on this machine look for the file themselves: it works even if pythiad does not answer. */
static int switch_off_http(struct pythia_control *c, bool off_now, uint64_t now_ns,
                           struct pythia_error *e)
{
    struct http *h = (struct http *)c;
    (void)now_ns;
    pythia__agents_off(h->agents, off_now);
    if (!h->off_file)
        return PYTHIA_OK;
    if (!off_now)
        return unlink(h->off_file) == 0 || errno == ENOENT
                   ? PYTHIA_OK
                   : pythia_error_set(e, PYTHIA_EIO, "cannot remove %s: %s", h->off_file,
                                      strerror(errno));
    int file = open(h->off_file, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0644);
    if (file < 0)
        return pythia_error_set(e, PYTHIA_EIO, "cannot make %s: %s", h->off_file, strerror(errno));
    close(file);
    return PYTHIA_OK;
}

/* An agent asks within its interval, and the request that follows at once confirms that the list is
 * in force: a tenth is for both. */
static uint64_t estimate_http_latency_ns(const struct pythia_control *c)
{
    return (uint64_t)((const struct http *)c)->settings.poll_ms * MS * 11 / 10;
}

static uint64_t count_losses_http(const struct pythia_control *c)
{
    return pythia__agents_losses(((const struct http *)c)->agents);
}

const struct pythia_control_ops pythia__control_http = {
    .name = "http",
    .help = "agents that poll over HTTP: OpenTelemetry programs in Node.js",
    .options = options,
    .settings_size = sizeof(struct settings),
    .by_type = true,
    .by_instance = true,
    .create = create_http,
    .destroy = destroy_http,
    .set_lease = set_http_lease,
    .inventory = list_http,
    .apply = apply_http,
    .observe = observe_http,
    .off = switch_off_http,
    .latency_ns = estimate_http_latency_ns,
    .losses = count_losses_http,
};

/* ---- requests ---- */

/* Without memory there is no text either: the answer has no body. */
static int answer_out_of_memory(struct pythia_buf *body, size_t before)
{
    body->size = before;
    body->failed = 0;
    return 503;
}

static int answer_body(struct pythia_buf *body, size_t before, int http_status)
{
    if (pythia_buf_status(body) != PYTHIA_OK)
        return answer_out_of_memory(body, before);
    return http_status;
}

static int answer_text(struct pythia_buf *body, int http_status, const char *sentence)
{
    size_t before = body->size;
    pythia_buf_printf(body, "%s\n", sentence);
    return answer_body(body, before, http_status);
}

/* Does If-None-Match name this etag? It may hold several, or * for any; W/ makes no difference. */
static bool matches_etag(struct pythia_text match, const char *quoted)
{
    return PYTHIA_TEXT_IS(match, "*") || pythia_text_contains(match, pythia_text_of(quoted));
}

/* Find the list that an agent reports as applied: the text between the first quotes. */
static struct pythia_text find_applied_list(struct pythia_text match)
{
    const char *begin = match.size ? memchr(match.bytes, '"', match.size) : NULL;
    if (!begin)
        return (struct pythia_text){"", 0};
    begin++;
    const char *end = memchr(begin, '"', (size_t)(match.bytes + match.size - begin));
    return (struct pythia_text){begin, end ? (size_t)(end - begin) : 0};
}

/* An agent that already has the list gets 304 without a body; one whose instance is not known is
 * asked for a report. Without a confirmed set for a lease the answer is 503, and the agent returns
 * to its own set. */
int pythia_control_http_get(struct pythia_control *plane, struct pythia_text service,
                            struct pythia_text instance, struct pythia_text match, uint64_t now_ns,
                            struct pythia_buf *body, char etag[PYTHIA_CONTROL_HTTP_ETAG])
{
    struct http *h = (struct http *)plane;
    struct pythia_text list;
    char hash[PYTHIA__ETAG];
    size_t before = body->size;
    etag[0] = '\0';
    if (!pythia__agents_name(service, PYTHIA__SERVICE_BYTES))
        return answer_text(body, 400,
                           "wanted ?service=NAME, 1 to 256 bytes without control characters");
    if (instance.size && !pythia__agents_name(instance, PYTHIA__INSTANCE_BYTES))
        return answer_text(body, 400,
                           "wanted &instance=NAME, 1 to 128 bytes without control characters");
    bool known = !instance.size || pythia__agents_seen(h->agents, service, instance,
                                                       find_applied_list(match), now_ns);
    h->polls += instance.size > 0;
    if (pythia__agents_stale(h->agents, now_ns))
        return answer_text(body, 503,
                           "the engine has not confirmed its set of open points for a lease");
    if (pythia__agents_list(h->agents, service, instance, &list, hash) != PYTHIA_OK)
        return answer_out_of_memory(body, before);
    snprintf(etag, PYTHIA_CONTROL_HTTP_ETAG, "\"%s\"", hash);
    if (known && matches_etag(match, etag)) {
        h->unchanged++;
        return 304;
    }
    pythia_buf_text_add(body, (struct pythia_text){list.bytes, list.size - 1});
    pythia_buf_puts(body, known ? "}\n" : ",\"report\":true}\n");
    return answer_body(body, before, 200);
}

int pythia_control_http_remember(struct pythia_control *plane, struct pythia_text service,
                                 struct pythia_text id, uint64_t hits, uint64_t now_ns)
{
    return pythia__agents_remember(((struct http *)plane)->agents, service, id, hits, now_ns);
}

int pythia_control_http_instances(const struct pythia_control *plane, struct pythia_text service,
                                  int (*each)(void *context, struct pythia_text instance),
                                  void *context)
{
    return pythia__agents_instances(((const struct http *)plane)->agents, service, each, context);
}

size_t pythia_control_http_body_max(const struct pythia_control *plane)
{
    return (size_t)((const struct http *)plane)->settings.body_max;
}

/* A report that is too large is answered before it is parsed. */
int pythia_control_http_post(struct pythia_control *plane, const char *bytes, size_t size,
                             uint64_t now_ns, struct pythia_buf *body)
{
    struct http *h = (struct http *)plane;
    struct pythia_error e = {0};
    size_t before = body->size, taken, refused;
    char why[512];
    if (size > h->settings.body_max) {
        h->too_large++;
        pythia_buf_printf(body, "the report has %zu bytes, and at most %" PRIu64 " are read\n",
                          size, h->settings.body_max);
        return answer_body(body, before, 413);
    }
    int status = pythia__agents_report(h->agents, bytes, size, now_ns, &taken, &refused, &e);
    if (status == PYTHIA_ENOMEM)
        return answer_out_of_memory(body, before);
    if (status != PYTHIA_OK)
        return answer_text(body, status == PYTHIA_ELIMIT ? 429 : 400,
                           pythia_error_text(&e, why, sizeof(why)));
    pythia_buf_printf(body, "{\"taken\":%zu,\"refused\":%zu}\n", taken, refused);
    return answer_body(body, before, 200);
}

struct pythia_control_http_numbers pythia_control_http_numbers(const struct pythia_control *plane,
                                                               uint64_t now_ns)
{
    const struct http *h = (const struct http *)plane;
    struct pythia__agents_numbers n = pythia__agents_numbers(h->agents, now_ns);
    return (struct pythia_control_http_numbers){
        .services = n.services,
        .agents = n.agents,
        .lost_agents = n.lost_agents,
        .points = n.points,
        .polls = h->polls,
        .unchanged = h->unchanged,
        .reports = n.reports,
        .refused_reports = n.refused_reports + h->too_large,
        .refused_points = n.refused_points,
        .forgotten_agents = n.forgotten_agents,
    };
}
