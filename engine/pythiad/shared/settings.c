#include "settings.h"

#include <stddef.h>
#include <string.h>

#include "listen/listen.h"
#include "machine.h"
#include "notify/notify_target.h"
#include "pythia/mem.h"
#include "pythia/redaction.h"
#include "pythia/request_type.h"
#include "pythia/status.h"
#include "pythia/strategy.h"

#define AT(member) offsetof(struct pythia__settings, member)
#define ADDRESS    "HOST:PORT"

/* A text with a default. */
#define TEXT(name, value, fallback, where, help)                                                   \
    {                                                                                              \
        name, 0, PYTHIA_OPTION_TEXT, value, fallback, NULL, 0, 0, where, help                      \
    }
#define BYTES(name, fallback, low, high, where, help)                                              \
    PYTHIA_BYTES_OPTION(name, 0, fallback, low, high, where, help)
#define KIB 1024.
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)
#define TEXTS(name, value, where, help)                                                            \
    {                                                                                              \
        name, 0, PYTHIA_OPTION_TEXTS, value, NULL, NULL, 0, 0, where, help                         \
    }

const struct pythia_option pythia__settings_table[] = {
    PYTHIA_TEXT_OPTION("config", 'c', "FILE", AT(config), "Settings, as YAML (NAME: VALUE)"),
    PYTHIA_FLAG("check-config", 0, AT(check_config), "Say whether the settings are good, and end"),
    TEXT("otlp-grpc", ADDRESS, "127.0.0.1:4317", AT(otlp_grpc),
         "Take OTLP over gRPC there; off: not at all"),
    TEXT("otlp-http", ADDRESS, "127.0.0.1:4318", AT(otlp_http),
         "Take OTLP over HTTP there (/v1/traces, protobuf and JSON; metrics and logs are answered "
         "and "
         "dropped), and answer agents; off: not "
         "at all"),
    TEXT("zipkin", ADDRESS, "127.0.0.1:9411", AT(zipkin),
         "Take Zipkin v2 there (/api/v2/spans); off: not at all"),
    TEXT("control", ADDRESS, "127.0.0.1:4319", AT(control),
         "Serve the control interface, the page and /metrics there; off: not at all"),
    TEXT("control-socket", "unix:PATH", NULL, AT(control_socket),
         "Serve the control interface at a socket too (default unix:/run/pythiad/control.sock if "
         "that folder is there)"),
    PYTHIA_FLAG("insecure", 0, AT(insecure),
                "Listen at addresses beyond this machine without TLS, and there let whoever "
                "comes control it if neither --control-token nor --tls-trust is given"),
    PYTHIA_TEXT_OPTION("tls-key", 0, "FILE", AT(tls_key), "Key for TLS, as PEM"),
    PYTHIA_TEXT_OPTION("tls-certificate", 0, "FILE", AT(tls_certificate),
                       "Certificate for TLS, as PEM"),
    PYTHIA_TEXT_OPTION("tls-trust", 0, "FILE", AT(tls_trust),
                       "Authorities of which senders need a certificate, as PEM"),
    PYTHIA_TEXT_OPTION("ingest-token", 0, "FILE", AT(ingest_token),
                       "File with the token that senders of traces need"),
    PYTHIA_TEXT_OPTION("agent-token", 0, "FILE", AT(agent_token),
                       "File with the token that agents need (default: that of --ingest-token)"),
    PYTHIA_TEXT_OPTION("control-token", 0, "FILE", AT(control_token),
                       "File with the token that the control interface needs"),
    PYTHIA_TEXT_OPTION("read-token", 0, "FILE", AT(read_token),
                       "File with a token that lets its owner see what there is on the control "
                       "interface, and change nothing; requires --control-token"),
    BYTES("body-max", "4M", KIB, GIB, AT(body_max),
          "Size of a body on the wire, and of one record in a file or in Redis, at most"),
    BYTES("inflated-max", "16M", KIB, 4 * GIB, AT(inflated_max),
          "Size of a body when it is unpacked, at most"),
    BYTES("waiting-max", "64M", KIB, 1024 * GIB, AT(waiting_max),
          "Bodies that are being received or wait to be decoded, at most; then senders are told to "
          "come again"),
    PYTHIA_INTEGER(
        "attributes-max", 0, "N", "128", 1, 65536, AT(attributes_max),
        "Key-values of a span, again of all its events together, and of what reports it; "
        "what is beyond is dropped and counted"),
    BYTES("value-max", "160", 32, 4 * KIB, AT(value_max),
          "Text of a key-value; of a longer one the begin is kept and a hash of the whole, and it "
          "is counted"),
    PYTHIA_INTEGER("events-max", 0, "N", "128", 1, 65536, AT(events_max),
                   "Events of a span; what is beyond is dropped and counted"),
    PYTHIA_INTEGER("links-max", 0, "N", "128", 1, 65536, AT(links_max),
                   "Links of a span to others; what is beyond is passed over and counted"),
    TEXTS(
        "redact", "KEY-PATTERN:keep|url|hash|drop", AT(redact),
        "What is kept of the values of keys that match, before anything else sees them; the first "
        "that fits holds, behind them the default rules (see REDACTION); off: no rules behind it "
        "(may be given several times)"),
    PYTHIA_TEXT_OPTION("redact-secret", 0, "FILE", AT(redact_secret),
                       "Secret of the hashes, made if it is not there (default: the state's file "
                       "with .secret behind it; without a state it is new at each start)"),
    PYTHIA_INTEGER("report-values", 0, "N", "10", 2, 10, AT(report_values),
                   "Values of a key that a report names, at most"),
    PYTHIA_INTEGER("report-types", 0, "N", "50", 0, 1000000, AT(report_types),
                   "Request types that a report looks at closely: those with a cause, then those "
                   "with the most variance; 0: all"),
    PYTHIA_TEXT_OPTION("trace-url", 0, "URL", AT(trace_url),
                       "Address of a trace in another tool, such as "
                       "http://jaeger/trace/{trace_id}: reports name requests by it"),
    {"notify", 0, PYTHIA_OPTION_TEXTS, "URL [" PYTHIA__NOTIFY_FORMATS "]", NULL, "url|format", 0, 0,
     AT(notify),
     "Send a request there when a verdict is new or refuted (see NOTIFICATIONS; may be given "
     "several times; in YAML a list of {url: URL, format: FORMAT})"},
    PYTHIA_TEXT_OPTION("notify-secret", 0, "FILE", AT(notify_secret),
                       "File with the secret that signs these requests"),
    PYTHIA_REAL("notify-pause-seconds", 0, "S", "1", .001, 300, AT(notify_pause_s),
                "Pause before such a request is sent again; it doubles with each failure, up to "
                "5 minutes"),
    BYTES("memory", NULL, KIB, 1024 * GIB, AT(memory),
          "Spans of unfinished requests, and what reports tell of past cycles, above which senders "
          "are told to come again (default: a quarter of the machine's memory or of the limit of "
          "its cgroup, at most 1G)"),
    BYTES("memory-hard", NULL, KIB, 1024 * GIB, AT(memory_hard),
          "The same above which whole requests are shed; what reports tell of past cycles takes a "
          "16th of it at most (default: a quarter more than --memory)"),
    PYTHIA_INTEGER("connections", 0, "N", "256", 1, 65536, AT(connections),
                   "Connections of a listener at once"),
    PYTHIA_INTEGER("streams", 0, "N", "100", 1, 65536, AT(streams),
                   "Calls of a gRPC connection at once"),
    PYTHIA_INTEGER("retry-seconds", 0, "S", "1", 1, 3600, AT(retry_s),
                   "After how long a sender that was refused may come again"),
    TEXTS("follow", "FILE", AT(follow),
          "Read a file of traces, and what is written to it from now on (may be given several "
          "times)"),
    PYTHIA_TEXT_OPTION("records", 0, "unix:PATH", AT(records),
                       "Take records of libpythia-tracepoints over a socket there"),
    PYTHIA_TEXT_OPTION("collect", 0, "DIR", AT(collect),
                       "Read series that collectors of programs write there, and remove what was "
                       "read; the last value of each series before a request began is a key-value "
                       "of it, series.<label>"),
    PYTHIA_INTEGER("collect-ms", 0, "MS", "5000", 1, 3.6e6, AT(collect_ms),
                   "How long collectors write to a file (PYTHIA_COLLECT_MS): requests wait as long "
                   "for what it has of them"),
    PYTHIA_REAL("series-age", 0, "SECONDS", "60", 0, 1e6, AT(series_age_s),
                "A value that is older when a request begins says nothing of it"),
    PYTHIA_TEXT_OPTION(
        "record", 0, "FILE", AT(record),
        "Keep what came in, for pythia replay: the spans of each body, as they are after "
        "redaction, "
        "or, with --redact=off alone, the body itself; what is read from files, rings, sockets and "
        "Redis is kept in files of that name with a number behind it, and series in FILE with "
        ".series.csv behind it; files of an earlier start get the time of their last change behind "
        "their names"),
    PYTHIA_TEXT_OPTION("state", 0, "FILE", AT(state),
                       "What survives a restart, an SQLite file (default: it is kept in memory)"),
    PYTHIA_INTEGER("quiet-ms", 0, "MS", "2000", 1, 3.6e6, AT(quiet_ms),
                   "Time without a span after which a request whose root has ended is finished at "
                   "the earliest"),
    PYTHIA_INTEGER("wait-max-ms", 0, "MS", "15000", 0, 3.6e6, AT(wait_max_ms),
                   "The same at the latest: a request waits as long as the services that requests "
                   "of its type call are late, which is learnt; what is not above quiet-ms ends "
                   "that"),
    PYTHIA_INTEGER("rootless-ms", 0, "MS", "10000", 1, 3.6e6, AT(rootless_ms),
                   "The same for one whose root was not seen"),
    PYTHIA_INTEGER("request-max-ms", 0, "MS", "120000", 1, 8.64e7, AT(request_max_ms),
                   "Age at which a request is finished in any case"),
    PYTHIA_INTEGER("request-spans-max", 0, "N", "100000", 1, 1e8, AT(request_spans_max),
                   "Spans of a request; what is beyond is dropped and counted"),
    PYTHIA_CHOICE("latency", 0, "completion|client", "completion", AT(latency),
                  "How long a request takes: until all its work is done, or until the client has "
                  "its answer"),
    PYTHIA_TEXT_OPTION("request-type-attribute", 0, "KEY", AT(type_attribute),
                       "Key-value that names the request type (default: request_type, where the "
                       "program tells it; else the route that the root says, of HTTP, RPC or "
                       "messaging; else the names of the roots; else the path of the URL, with {} "
                       "for each segment that has more than 64 values)"),
    TEXTS("leave-out-root", "PATTERN", AT(left_out),
          "Root trace points that do not count for the request type, with * and ? (may be given "
          "several times, and '' leaves out none; default " PYTHIA_LEFT_OUT_DEFAULT ")"),
    PYTHIA_FLAG("no-fold", 0, AT(no_fold), "Tell requests apart by how often loops ran"),
    PYTHIA_TEXT_OPTION("space", 0, "FILE", AT(space),
                       "Search space, from pythia space build; without one, or if there is no such "
                       "file, it is learnt, and then written there"),
    PYTHIA_CHOICE(
        "learn", 0, "all|default", "all", AT(learn),
        "What is open while the search space is learnt: every trace point, or what targets "
        "have open by default"),
    PYTHIA_INTEGER("learn-requests", 0, "N", "50", 4, 1e9, AT(learn_requests),
                   "Requests of a type that the search space is learnt from"),
    PYTHIA_INTEGER("learn-hourly", 0, "N", "0", 0, 60, AT(learn_hourly),
                   "Times in an hour that closed trace points may be opened to learn request types "
                   "that turn up later; 0: they are learnt with what is open"),
    PYTHIA_INTEGER("cycle-requests", 0, "N", "100", 4, 1e9, AT(cycle_requests),
                   "Requests of one type that make a cycle"),
    PYTHIA_REAL("cycle-seconds", 0, "S", "60", .01, 1e6, AT(cycle_seconds),
                "Time after which a cycle ends in any case"),
    PYTHIA_INTEGER(
        "min-requests", 0, "N", "30", 4, 1e9, AT(min_requests),
        "Requests of a type, in one cycle or in several in a row, below which nothing is "
        "concluded"),
    PYTHIA_INTEGER("problems-per-cycle", 0, "N", "16", 0, 1e6, AT(problems_per_cycle),
                   "Request types that a cycle looks at, those that vary most and those that "
                   "waited longest; 0: all"),
    PYTHIA_INTEGER("points", 0, "N", "3", 0, 1e6, AT(points),
                   "Trace points that a cycle may open; 0: none"),
    PYTHIA_INTEGER("points-open", 0, "N", "0", 0, 1e6, AT(points_open),
                   "Trace points that may be open at once beyond the skeleton; 0: any number"),
    PYTHIA_REAL("added-ns", 0, "NS", "0", 0, 1e15, AT(added_ns),
                "Time that points beyond the skeleton may add to a request; 0: any"),
    PYTHIA_REAL("price-ns", 0, "NS", "1000", 0, 1e12, AT(price_ns),
                "Cost of one hit of an open trace point, where none was measured"),
    PYTHIA_REAL("max-overhead-pct", 0, "PCT", "0", 0, 100, AT(max_overhead_pct),
                "Share of the time of requests that tracing may take, in percent; above it trace "
                "points are closed, those first that show least for what they cost; 0: any"),
    PYTHIA_REAL("breaker-ns", 0, "NS", "50000000", 0, 1e15, AT(breaker_ns),
                "Time that a trace point may cost one program in a second, by its spans and its "
                "measured price; one above it is closed within a second; 0: any"),
    PYTHIA_REAL("breaker-hold-seconds", 0, "S", "600", 0, 1e9, AT(breaker_hold_s),
                "Time that such a trace point stays closed, unless pythia ctl opens it; 0: until "
                "that"),
    PYTHIA_REAL("alpha", 0, "P", "0.05", 1e-12, .5, AT(alpha),
                "Rate of false findings that is accepted"),
    PYTHIA_REAL("min-cov", 0, "R", "0.05", 0, 1e9, AT(min_cov),
                "Coefficient of variation below which requests of a type do not vary"),
    PYTHIA_INTEGER("patience", 0, "N", "30", 1, 1e9, AT(patience),
                   "Cycles after which a problem is given up"),
    PYTHIA_CHOICE("strategy", 0, PYTHIA_STRATEGY_CHOICES, PYTHIA_STRATEGY_FIRST, AT(strategy),
                  "How to choose what to open"),
    PYTHIA_FLAG("observe-only", 0, AT(observe_only),
                "Say what would be opened and closed, and throw no switch"),
    TEXTS("always", "ID|PATTERN", AT(always),
          "Keep these trace points open: an id, or a pattern with * and ? (may be given several "
          "times)"),
    TEXTS("never", "ID|PATTERN", AT(never), "Never open these trace points; as for --always"),
    PYTHIA_TEXT_OPTION(
        "gate", 0, "FOLDER", AT(gate),
        "Switch the trace points of C programs by their switchboards there, and take "
        "what they record; empty: where programs look for it (libpythia-tracepoints(3))"),
    PYTHIA_TEXT_OPTION("osprofiler", 0, "redis://HOST:PORT/N", AT(osprofiler),
                       "Take OSProfiler's traces from Redis, and switch its trace points there"),
    PYTHIA_TEXT_OPTION("probes", 0, "FILE", AT(probes),
                       "Open static probes of programs by these rules, through pythia-probe(8), "
                       "and take what they report (pythia-control-probe(7))"),
    PYTHIA_TEXT_OPTION("probe-socket", 0, "PATH", AT(probe_socket),
                       "Where pythia-probe listens (default /run/pythia-probe/socket)"),
    PYTHIA_REAL("lease-seconds", 0, "S", "30", 1, 3600, AT(lease_seconds),
                "Time after which targets go back to their own set when pythiad is gone"),
    PYTHIA_INTEGER("seed", 0, "N", "1", 0, 9e15, AT(seed), "Seed of all that is drawn"),
    PYTHIA_FLAG("quiet", 'q', AT(quiet), "Say only what goes wrong"),
    PYTHIA_FLAG("verbose", 'v', AT(verbose), "Say more"),
    {0},
};

const char *const pythia__limits[] = {
    "body-max",          "inflated-max", "attributes-max", "value-max", "events-max", "links-max",
    "request-spans-max", "connections",  "streams",        "memory",    "memory-hard"};
const size_t pythia__limit_count = sizeof(pythia__limits) / sizeof(pythia__limits[0]);

const struct pythia_option *pythia__setting(const char *name)
{
    const struct pythia_option *o = pythia__settings_table;
    while (o->name && strcmp(o->name, name) != 0)
        o++;
    return o->name ? o : NULL;
}

int64_t pythia__limit(const struct pythia__settings *s, size_t index)
{
    const struct pythia_option *o = pythia__setting(pythia__limits[index]);
    const void *member = (const char *)s + o->offset;
    return o->type == PYTHIA_OPTION_BYTES ? (int64_t) * (const uint64_t *)member
                                          : *(const int64_t *)member;
}

/* What was not set follows from what was, or from the machine. At 800 000 spans a second 128M
 * refused 38 to 53 % of them, and 1G none; a daemon that shares a small machine takes less. */
static void fit_memory(struct pythia__settings *s)
{
    if (s->memory == 0 && s->memory_hard == 0) {
        uint64_t quarter = pythia__machine_memory("") / 4;
        s->memory = quarter < (uint64_t)GIB ? quarter : (uint64_t)GIB;
    }
    if (s->memory == 0)
        s->memory = s->memory_hard / 5 * 4;
    if (s->memory_hard == 0)
        s->memory_hard = s->memory + s->memory / 4;
}

static int read_arguments(struct pythia_config *c, int argc, char **argv, char *const *environment,
                          struct pythia__settings *s, struct pythia_error *e)
{
    int rest, status = pythia_config_environment(c, "PYTHIAD", environment, s, e);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_options_parse(pythia__settings_table, s, argc, argv, &rest, e);
    if (status != PYTHIA_OK)
        return status;
    if (rest < argc)
        return pythia_error_set(e, PYTHIA_EUSAGE, "%s is no option, and nothing else is taken",
                                argv[rest]);
    return PYTHIA_OK;
}

/* The name of the file must be known before the file is read, and the command line outranks the
 * file: so the command line is read twice. */
int pythia__settings_read(int argc, char **argv, char *const *environment,
                          struct pythia__settings *out, struct pythia_config **config,
                          struct pythia_error *e)
{
    struct pythia__settings first = {0};
    struct pythia_config *c = NULL;
    int status = pythia_config_create(pythia__settings_table, &c);
    if (status != PYTHIA_OK)
        return pythia_error_set(e, status, "no memory for the settings");
    pythia_options_default(pythia__settings_table, &first);
    status = read_arguments(c, argc, argv, environment, &first, e);
    if (status != PYTHIA_OK)
        goto out;
    struct pythia__settings s = {0};
    pythia_options_default(pythia__settings_table, &s);
    if (first.config && (status = pythia_config_read(c, first.config, &s, e)) != PYTHIA_OK)
        goto out;
    if ((status = read_arguments(c, argc, argv, environment, &s, e)) != PYTHIA_OK)
        goto out;
    fit_memory(&s);
    if ((status = pythia__settings_check(&s, e)) != PYTHIA_OK)
        goto out;
    *out = s;
    *config = c;
    return PYTHIA_OK;
out:
    pythia_config_destroy(c);
    return status;
}

bool pythia__address_is_off(const char *address)
{
    return !address || strcmp(address, "off") == 0;
}

bool pythia__control_is_open(const struct pythia__settings *s, const char **address)
{
    const char *const addresses[] = {s->control, s->control_socket};
    if (s->control_token || s->tls_trust)
        return false;
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
        if (!pythia__address_is_off(addresses[i]) && !pythia__address_is_local(addresses[i])) {
            *address = addresses[i];
            return true;
        }
    return false;
}

static int check_control(const struct pythia__settings *s, struct pythia_error *e)
{
    const char *address;
    if (s->read_token && !s->control_token)
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "read-token requires control-token: without it everybody may do "
                                "more than its owner");
    if (!s->insecure && pythia__control_is_open(s, &address))
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "whoever reaches %s could control pythiad: give control-token or "
                                "tls-trust, or say insecure: true if that is meant",
                                address);
    return PYTHIA_OK;
}

int pythia__settings_check(const struct pythia__settings *s, struct pythia_error *e)
{
    const struct {
        const char *name, *address;
    } listeners[] = {{"otlp-grpc", s->otlp_grpc},
                     {"otlp-http", s->otlp_http},
                     {"zipkin", s->zipkin},
                     {"control", s->control},
                     {"control-socket", s->control_socket},
                     {"records", s->records}};
    for (size_t i = 0; i < sizeof(listeners) / sizeof(listeners[0]); i++) {
        const char *address = listeners[i].address;
        if (pythia__address_is_off(address))
            continue;
        if (!pythia__address_is_one(address, e))
            return PYTHIA_EUSAGE;
        if (!s->tls_key && !s->insecure && !pythia__address_is_local(address))
            return pythia_error_set(
                e, PYTHIA_EUSAGE,
                "%s at %s can be reached from elsewhere: give tls-key and tls-certificate, or say "
                "insecure: true if that is meant",
                listeners[i].name, address);
    }
    if (check_control(s, e) != PYTHIA_OK)
        return PYTHIA_EUSAGE;
    if ((s->tls_key == NULL) != (s->tls_certificate == NULL))
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "tls-key and tls-certificate have to be given together");
    if (s->tls_trust && !s->tls_key)
        return pythia_error_set(e, PYTHIA_EUSAGE, "tls-trust needs tls-key and tls-certificate");
    for (size_t i = 0; i < s->redact.count; i++)
        if (pythia_redaction_check(s->redact.texts[i], e) != PYTHIA_OK)
            return PYTHIA_EUSAGE;
    for (size_t i = 0; i < s->notify.count; i++) {
        struct pythia__notify_target target;
        if (pythia__notify_target_read(s->notify.texts[i], &target, e) != PYTHIA_OK)
            return PYTHIA_EUSAGE;
    }
    if (s->memory_hard < s->memory)
        return pythia_error_set(e, PYTHIA_EUSAGE, "memory-hard is below memory");
    if (s->inflated_max < s->body_max)
        return pythia_error_set(e, PYTHIA_EUSAGE, "inflated-max is below body-max");
    if (s->quiet && s->verbose)
        return pythia_error_set(e, PYTHIA_EUSAGE, "quiet and verbose do not go together");
    return PYTHIA_OK;
}

struct pythia_span_limits pythia__settings_span_limits(const struct pythia__settings *s)
{
    return (struct pythia_span_limits){.attributes_max = (size_t)s->attributes_max,
                                       .events_max = (size_t)s->events_max,
                                       .links_max = (size_t)s->links_max,
                                       .value_max = s->value_max};
}
