#define _GNU_SOURCE
#include "lttng/lttng_session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lttng/lttng_library.h"
#include "pythia/mem.h"
#include "pythia/process_files.h"
#include "pythia/status.h"

#define PREFIX       "pythia-"
#define CHANNEL      "pythia"
#define LIVE_US      100000                 /* how long an event waits for its reader, at most */
#define BUFFER_BYTES ((uint64_t)256 * 1024) /* of a processor and user, four of them */
#define BUFFERS      4
#define FILE_BYTES   ((uint64_t)32 * 1024 * 1024) /* of a stream at the relay daemon, two of them */
#define FILES        2
#define CONTROL_PORT 5342
#define DATA_PORT    5343
#define LIVE_PORT    5344

static struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID};

static int fail(struct pythia_error *e, int code, const char *what)
{
    return pythia_error_set(e, PYTHIA_EIO, "%s: %s", what,
                            pythia__lttng.strerror(code < 0 ? code : -code));
}

static bool read_port(const char **at, unsigned *out)
{
    char *end;
    unsigned long number = **at == ':' ? strtoul(*at + 1, &end, 10) : 0;
    if (number == 0 || number > 65535)
        return false;
    *at = end;
    *out = (unsigned)number;
    return true;
}

int pythia__lttng_relay_parse(const char *text, struct pythia__lttng_relay *out,
                              struct pythia_error *e)
{
    size_t size = strcspn(text, ":/");
    const char *at = text + size;
    struct pythia__lttng_relay relay = {"", CONTROL_PORT, DATA_PORT, LIVE_PORT};
    bool is_good = size > 0 && size < sizeof(relay.host) &&
                   (*at == '\0' || (read_port(&at, &relay.control) && read_port(&at, &relay.data) &&
                                    read_port(&at, &relay.live) && *at == '\0'));
    if (!is_good)
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "a relay daemon is HOST, or HOST:CONTROL:DATA:LIVE with the "
                                "numbers of its ports");
    memcpy(relay.host, text, size);
    *out = relay;
    return PYTHIA_OK;
}

/* ---- sessions ---- */

void pythia__lttng_session_prefix(char out[PYTHIA__LTTNG_NAME_BYTES])
{
    uint64_t own = (uint64_t)getpid() << 32 | (uint64_t)getpid();
    snprintf(out, PYTHIA__LTTNG_NAME_BYTES, PREFIX "%ld-%" PRIu64 "-", (long)getpid(),
             pythia_thread_start_time(own));
}

/* Is it a session of a pythiad that does not run? */
static bool is_stale(const char *name)
{
    uint64_t numbers[3]; /* process, its start, which of its sessions */
    const char *at = name + strlen(PREFIX);
    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
        return false;
    for (int i = 0; i < 3; i++) {
        char *end;
        if (*at < '0' || *at > '9')
            return false;
        numbers[i] = strtoull(at, &end, 10);
        if (*end != (i < 2 ? '-' : '\0'))
            return false;
        at = end + 1;
    }
    return pythia_thread_start_time(numbers[0] << 32 | numbers[0]) != numbers[1];
}

/* `prefix` NULL: those of pythiads that run no more. */
static int destroy_sessions(const char *prefix, size_t *count, struct pythia_error *e)
{
    struct lttng_session *sessions = NULL;
    int found = pythia__lttng.list_sessions(&sessions);
    *count = 0;
    if (found < 0)
        return fail(e, found,
                    "the sessions of LTTng cannot be listed (does lttng-sessiond run, of "
                    "this user, or of root with this user in the group tracing?)");
    for (int i = 0; i < found; i++)
        if ((prefix ? strncmp(sessions[i].name, prefix, strlen(prefix)) == 0
                    : is_stale(sessions[i].name)) &&
            pythia__lttng.destroy_session_no_wait(sessions[i].name) == 0)
            ++*count;
    free(sessions);
    return PYTHIA_OK;
}

int pythia__lttng_sessions_clean(size_t *count, struct pythia_error *e)
{
    return destroy_sessions(NULL, count, e);
}

int pythia__lttng_sessions_destroy(const char *prefix, struct pythia_error *e)
{
    size_t count;
    return destroy_sessions(prefix, &count, e);
}

static int create_session(const struct pythia__lttng_relay *relay, const char *name,
                          struct pythia_error *e)
{
    struct pythia_buf url[2] = {{0}, {0}};
    pythia_buf_printf(&url[0], "tcp://%s:%u", relay->host, relay->control);
    pythia_buf_printf(&url[1], "tcp://%s:%u", relay->host, relay->data);
    struct lttng_session_descriptor *descriptor =
        url[0].bytes && url[1].bytes ? pythia__lttng.session_descriptor_live_network_create(
                                           name, url[0].bytes, url[1].bytes, LIVE_US)
                                     : NULL;
    int code = descriptor ? (int)pythia__lttng.create_session_ext(descriptor) : 0;
    int status = !descriptor        ? pythia_error_set(e, PYTHIA_EIO,
                                                       "the relay daemon %s is "
                                                              "nothing that LTTng takes",
                                                       relay->host)
                 : code != LTTNG_OK ? fail(e, code, "a session cannot be created")
                                    : PYTHIA_OK;
    if (descriptor)
        pythia__lttng.session_descriptor_destroy(descriptor);
    pythia_buf_free(&url[0]);
    pythia_buf_free(&url[1]);
    return status;
}

static int create_channel(struct lttng_handle *handle, struct pythia_error *e)
{
    static const enum lttng_event_context_type types[] = {LTTNG_EVENT_CONTEXT_VPID,
                                                          LTTNG_EVENT_CONTEXT_VTID};
    struct lttng_channel *channel = pythia__lttng.channel_create(&domain);
    if (!channel)
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    snprintf(channel->name, sizeof(channel->name), "%s", CHANNEL);
    channel->attr.overwrite = 0;
    channel->attr.subbuf_size = BUFFER_BYTES;
    channel->attr.num_subbuf = BUFFERS;
    channel->attr.tracefile_size = FILE_BYTES;
    channel->attr.tracefile_count = FILES;
    int code = pythia__lttng.enable_channel(handle, channel);
    pythia__lttng.channel_destroy(channel);
    for (int i = 0; i < 2 && code >= 0; i++) {
        struct lttng_event_context context = {.ctx = types[i]};
        code = pythia__lttng.add_context(handle, &context, NULL, CHANNEL);
    }
    return code < 0 ? fail(e, code, "a channel cannot be made") : PYTHIA_OK;
}

int pythia__lttng_session_open(const struct pythia__lttng_relay *relay, uint64_t number,
                               struct pythia__lttng_session *out, struct pythia_error *e)
{
    struct pythia__lttng_session s = {.handle = NULL};
    pythia__lttng_session_prefix(s.name);
    size_t size = strlen(s.name);
    snprintf(s.name + size, sizeof(s.name) - size, "%" PRIu64, number);
    int status = create_session(relay, s.name, e);
    if (status != PYTHIA_OK)
        return status;
    s.handle = pythia__lttng.create_handle(s.name, &domain);
    status = s.handle ? create_channel(s.handle, e)
                      : pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    int code = status == PYTHIA_OK ? pythia__lttng.start_tracing(s.name) : 0;
    if (code < 0)
        status = fail(e, code, "a session cannot be started");
    if (status == PYTHIA_OK)
        *out = s;
    else
        pythia__lttng_session_close(&s);
    return status;
}

void pythia__lttng_session_close(struct pythia__lttng_session *s)
{
    if (s->name[0])
        (void)pythia__lttng.destroy_session_no_wait(s->name);
    if (s->handle)
        pythia__lttng.destroy_handle(s->handle);
    *s = (struct pythia__lttng_session){.handle = NULL};
}

void pythia__lttng_session_url(const struct pythia__lttng_session *s,
                               const struct pythia__lttng_relay *relay, struct pythia_buf *to)
{
    char host[256] = "";
    (void)gethostname(host, sizeof(host) - 1);
    pythia_buf_printf(to, "net://%s:%u/host/%s/%s", relay->host, relay->live, host, s->name);
}

/* ---- events ---- */

int pythia__lttng_session_switch(const struct pythia__lttng_session *s, const char *event, bool on,
                                 struct pythia_error *e)
{
    int code;
    if (!on) {
        code = pythia__lttng.disable_event(s->handle, event, CHANNEL);
        return code < 0 ? fail(e, code, "an event cannot be disabled") : PYTHIA_OK;
    }
    struct lttng_event *rule = pythia__lttng.event_create();
    if (!rule)
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    snprintf(rule->name, sizeof(rule->name), "%s", event);
    rule->type = LTTNG_EVENT_TRACEPOINT;
    rule->loglevel_type = LTTNG_EVENT_LOGLEVEL_ALL;
    rule->loglevel = -1;
    code = pythia__lttng.enable_event(s->handle, rule, CHANNEL);
    pythia__lttng.event_destroy(rule);
    return code < 0 ? fail(e, code, "an event cannot be enabled") : PYTHIA_OK;
}

int pythia__lttng_session_events(const struct pythia__lttng_session *s,
                                 void (*each)(void *context, const char *event), void *context,
                                 struct pythia_error *e)
{
    struct lttng_event *events = NULL;
    struct lttng_handle *handle = s ? s->handle : pythia__lttng.create_handle(NULL, &domain);
    if (!handle)
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    int count = s ? pythia__lttng.list_events(handle, CHANNEL, &events)
                  : pythia__lttng.list_tracepoints(handle, &events);
    for (int i = 0; i < count; i++)
        if (!s || events[i].enabled > 0)
            each(context, events[i].name);
    free(events);
    if (!s)
        pythia__lttng.destroy_handle(handle);
    return count < 0 ? fail(e, count,
                            s ? "the events of the session cannot be listed"
                              : "the events of programs cannot be listed")
                     : PYTHIA_OK;
}
