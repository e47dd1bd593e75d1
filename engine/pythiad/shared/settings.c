#include "settings.h"

#include <stddef.h>
#include <string.h>

#include "listen/listen.h"
#include "machine.h"
#include "notify/notify_target.h"
#include "pin_place.h"
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
    PYTHIA_FLAG("check-config", 0, AT(check_config),
                "Check the settings, print the result, and "
                "exit"),
    TEXT("otlp-grpc", ADDRESS, "127.0.0.1:4317", AT(otlp_grpc),
         "Receive OTLP over gRPC at this address; off: do not"),
    TEXT("otlp-http", ADDRESS, "127.0.0.1:4318", AT(otlp_http),
         "Receive OTLP over HTTP at this address (/v1/traces, protobuf and JSON; metrics and logs "
         "are answered and dropped), and answer agents; off: do not"),
    TEXT("zipkin", ADDRESS, "127.0.0.1:9411", AT(zipkin),
         "Receive Zipkin v2 at this address (/api/v2/spans); off: do not"),
    TEXT("control", ADDRESS, "127.0.0.1:4319", AT(control),
         "Serve the control interface, the page and /metrics at this address; off: do not"),
    TEXT("control-socket", "unix:PATH", NULL, AT(control_socket),
         "Also serve the control interface at a socket (default unix:/run/pythiad/control.sock if "
         "that folder exists)"),
    PYTHIA_FLAG("insecure", 0, AT(insecure),
                "Allow addresses beyond this machine without TLS, and let anyone who can reach "
                "the control interface use it if neither --control-token nor --tls-trust is given"),
    PYTHIA_TEXT_OPTION("tls-key", 0, "FILE", AT(tls_key), "Key for TLS, as PEM"),
    PYTHIA_TEXT_OPTION("tls-certificate", 0, "FILE", AT(tls_certificate),
                       "Certificate for TLS, as PEM"),
    PYTHIA_TEXT_OPTION("tls-trust", 0, "FILE", AT(tls_trust),
                       "Certificate authorities, as PEM; senders need a certificate of one of "
                       "them"),
    PYTHIA_TEXT_OPTION("ingest-token", 0, "FILE", AT(ingest_token),
                       "File with the token that senders of traces need"),
    PYTHIA_TEXT_OPTION("agent-token", 0, "FILE", AT(agent_token),
                       "File with the token that agents need (default: that of --ingest-token)"),
    PYTHIA_TEXT_OPTION("control-token", 0, "FILE", AT(control_token),
                       "File with the token that the control interface needs"),
    PYTHIA_TEXT_OPTION("read-token", 0, "FILE", AT(read_token),
                       "File with a token that allows reading on the control interface, but no "
                       "changes; requires --control-token"),
    BYTES("body-max", "4M", KIB, GIB, AT(body_max),
          "Largest body on the wire, and largest record in a file or in Redis"),
    BYTES("inflated-max", "16M", KIB, 4 * GIB, AT(inflated_max),
          "Largest body after decompression"),
    BYTES("waiting-max", "64M", KIB, 1024 * GIB, AT(waiting_max),
          "Most memory for bodies that are being received or wait to be decoded; above it senders "
          "are asked to retry"),
    PYTHIA_INTEGER(
        "attributes-max", 0, "N", "128", 1, 65536, AT(attributes_max),
        "Most key-values of a span, of all its events together, and of its resource; further ones "
        "are dropped and counted"),
    BYTES("value-max", "160", 32, 4 * KIB, AT(value_max),
          "Longest text of a key-value; of a longer one the beginning and a hash of the whole are "
          "kept, and it is counted"),
    PYTHIA_INTEGER("events-max", 0, "N", "128", 1, 65536, AT(events_max),
                   "Most events of a span; further ones are dropped and counted"),
    PYTHIA_INTEGER("links-max", 0, "N", "128", 1, 65536, AT(links_max),
                   "Most links of a span; further ones are ignored and counted"),
    TEXTS(
        "redact", "KEY-PATTERN:keep|url|hash|drop", AT(redact),
        "What to do with the values of keys that match, before anything else sees them; the first "
        "match counts, and the default rules come last (see REDACTION); off: no default rules "
        "(may be given several times)"),
    PYTHIA_TEXT_OPTION("redact-secret", 0, "FILE", AT(redact_secret),
                       "Secret for hashes, created if it does not exist (default: the state "
                       "file's name with .secret appended; without a state it is new at each "
                       "start)"),
    PYTHIA_INTEGER("report-values", 0, "N", "10", 2, 10, AT(report_values),
                   "Most values of a key to name in a report"),
    PYTHIA_INTEGER("report-types", 0, "N", "50", 0, 1000000, AT(report_types),
                   "Request types that a report analyses closely: those with a cause, then those "
                   "with the most variance; 0: all"),
    PYTHIA_TEXT_OPTION("trace-url", 0, "URL", AT(trace_url),
                       "Link to a trace in another tool, such as http://jaeger/trace/{trace_id}: "
                       "reports link requests by it"),
    {"notify", 0, PYTHIA_OPTION_TEXTS, "URL [" PYTHIA__NOTIFY_FORMATS "]", NULL, "url|format", 0, 0,
     AT(notify),
     "Send a request to this URL when a verdict is new or refuted (see NOTIFICATIONS; may be "
     "given several times; in YAML a list of {url: URL, format: FORMAT})"},
    PYTHIA_TEXT_OPTION("notify-secret", 0, "FILE", AT(notify_secret),
                       "File with the secret that signs these requests"),
    PYTHIA_REAL("notify-pause-seconds", 0, "S", "1", .001, 300, AT(notify_pause_s),
                "Pause before such a request is retried; it doubles with each failure, up to 5 "
                "minutes"),
    BYTES("memory", NULL, KIB, 1024 * GIB, AT(memory),
          "Memory for spans of unfinished requests and for reports of past cycles, above which "
          "senders are asked to retry (default: a quarter of the machine's memory or of the limit "
          "of its cgroup, at most 1G)"),
    BYTES("memory-hard", NULL, KIB, 1024 * GIB, AT(memory_hard),
          "Memory above which whole requests are shed; reports of past cycles take at most a 16th "
          "of it (default: a quarter more than --memory)"),
    PYTHIA_INTEGER("connections", 0, "N", "256", 1, 65536, AT(connections),
                   "Most connections per listener"),
    PYTHIA_INTEGER("streams", 0, "N", "100", 1, 65536, AT(streams),
                   "Most concurrent calls per gRPC connection"),
    PYTHIA_INTEGER("retry-seconds", 0, "S", "1", 1, 3600, AT(retry_s),
                   "Time after which a refused sender is asked to retry"),
    TEXTS("follow", "FILE", AT(follow),
          "Read a file of traces, and everything appended to it from now on (may be given several "
          "times)"),
    PYTHIA_TEXT_OPTION("forward", 0, "URL", AT(forward),
                       "Send what comes by OTLP on to a collector, unchanged, such as "
                       "http://collector:4318: traces, metrics and logs (see FORWARDING)"),
    PYTHIA_TEXT_OPTION("forward-zipkin", 0, "URL", AT(forward_zipkin),
                       "Send what comes by Zipkin on likewise, such as to http://collector:9411"),
    PYTHIA_TEXT_OPTION("forward-headers", 0, "FILE", AT(forward_headers),
                       "File with headers for the collector of --forward, \"Name: value\" on a "
                       "line each, such as a token"),
    PYTHIA_TEXT_OPTION("forward-zipkin-headers", 0, "FILE", AT(forward_zipkin_headers),
                       "Likewise, for the collector of --forward-zipkin"),
    BYTES("forward-max", "64M", KIB, 1024 * GIB, AT(forward_max),
          "Bodies that wait to be sent on, at most; then senders are told to come again"),
    PYTHIA_TEXT_OPTION("records", 0, "unix:PATH", AT(records),
                       "Receive records of libpythia-tracepoints over a socket at this address"),
    PYTHIA_TEXT_OPTION("collect", 0, "DIR", AT(collect),
                       "Read series that collectors of programs write to this folder, and remove "
                       "the files; the last value of each series before a request began becomes "
                       "its key-value series.<label>"),
    PYTHIA_INTEGER("collect-ms", 0, "MS", "5000", 1, 3.6e6, AT(collect_ms),
                   "Time that collectors write to one file (PYTHIA_COLLECT_MS); requests wait "
                   "that long for their measurements"),
    PYTHIA_REAL("series-age", 0, "SECONDS", "60", 0, 1e6, AT(series_age_s),
                "Ignore measurements older than this when a request begins"),
    PYTHIA_TEXT_OPTION(
        "record", 0, "FILE", AT(record),
        "Record the input, for pythia replay: the spans of each body after redaction, or, with "
        "--redact=off alone, the body itself. Input from files, rings, sockets and Redis goes to "
        "files of that name with a number appended, and series to FILE.series.csv; files of an "
        "earlier start are renamed with the time of their last change"),
    PYTHIA_TEXT_OPTION("span-log", 0, "FILE", AT(span_log),
                       "Write a line for each event of spans there as they arrive, after "
                       "redaction: time - [time] [service@host] start, end or point [trace point] "
                       "duration in seconds, and key-values"),
    BYTES("span-log-max", "64M", KIB, 1024 * GIB, AT(span_log_max),
          "Size at which that file becomes FILE.1, in place of an older one, and a new one is "
          "begun"),
    PYTHIA_TEXT_OPTION("state", 0, "FILE", AT(state),
                       "State that survives a restart, an SQLite file (default: kept in memory)"),
    PYTHIA_INTEGER("quiet-ms", 0, "MS", "2000", 1, 3.6e6, AT(quiet_ms),
                   "Shortest time without a span after which a request whose root has ended is "
                   "complete"),
    PYTHIA_INTEGER("wait-max-ms", 0, "MS", "15000", 0, 3.6e6, AT(wait_max_ms),
                   "Longest such time: a request waits as long as the services that its type "
                   "calls have been late, which is learnt; a value not above quiet-ms disables "
                   "that"),
    PYTHIA_INTEGER("rootless-ms", 0, "MS", "10000", 1, 3.6e6, AT(rootless_ms),
                   "Time without a span after which a request whose root was not seen is complete"),
    PYTHIA_INTEGER("request-max-ms", 0, "MS", "120000", 1, 8.64e7, AT(request_max_ms),
                   "Age at which a request is complete in any case"),
    PYTHIA_INTEGER("request-spans-max", 0, "N", "100000", 1, 1e8, AT(request_spans_max),
                   "Most spans of a request; further ones are dropped and counted"),
    PYTHIA_CHOICE("latency", 0, "completion|client", "completion", AT(latency),
                  "Measure a request until all its work has ended, or only until its client has "
                  "the answer"),
    PYTHIA_TEXT_OPTION("request-type-attribute", 0, "KEY", AT(type_attribute),
                       "Key-value that names the request type (default: request_type, if the "
                       "program sets it; else the route of the root span, for HTTP, RPC or "
                       "messaging; else the names of the roots; else the path of the URL, with {} "
                       "for each segment that has more than 64 values)"),
    TEXTS("leave-out-root", "PATTERN", AT(left_out),
          "Root trace points to ignore in the request type, with * and ? (may be given several "
          "times, and '' ignores none; default " PYTHIA_LEFT_OUT_DEFAULT ")"),
    PYTHIA_FLAG("no-fold", 0, AT(no_fold), "Distinguish requests by how often their loops ran"),
    PYTHIA_TEXT_OPTION("space", 0, "FILE", AT(space),
                       "Search space, from pythia space build; if not given, or if the file does "
                       "not exist, it is learnt and then written to the file"),
    PYTHIA_CHOICE(
        "learn", 0, "all|default", "all", AT(learn),
        "Trace points open while the search space is learnt: all, or those that targets open by "
        "default"),
    PYTHIA_INTEGER("learn-requests", 0, "N", "50", 4, 1e9, AT(learn_requests),
                   "Requests of each type to learn the search space from"),
    PYTHIA_INTEGER("learn-hourly", 0, "N", "6", 0, 60, AT(learn_hourly),
                   "Most times per hour that closed trace points are opened to learn new request "
                   "types, and new trace points of known ones; 0: never, types are learnt from the "
                   "points that are open"),
    PYTHIA_INTEGER("cycle-requests", 0, "N", "100", 4, 1e9, AT(cycle_requests),
                   "Requests of one type in a cycle"),
    PYTHIA_REAL("cycle-seconds", 0, "S", "60", .01, 1e6, AT(cycle_seconds), "Longest cycle"),
    PYTHIA_INTEGER(
        "min-requests", 0, "N", "30", 4, 1e9, AT(min_requests),
        "Fewest requests of a type, in one cycle or several consecutive ones, from which anything "
        "is concluded"),
    PYTHIA_INTEGER("problems-per-cycle", 0, "N", "16", 0, 1e6, AT(problems_per_cycle),
                   "Request types to search in a cycle: those that vary most and those that have "
                   "waited longest; 0: all"),
    PYTHIA_INTEGER("points", 0, "N", "3", 0, 1e6, AT(points),
                   "Most trace points to open per cycle; 0: none"),
    PYTHIA_INTEGER("points-open", 0, "N", "0", 0, 1e6, AT(points_open),
                   "Most trace points open at once beyond the skeleton; 0: no limit"),
    PYTHIA_REAL(
        "added-ns", 0, "NS", "0", 0, 1e15, AT(added_ns),
        "Most time that points beyond the skeleton may add to a request, on average over all "
        "instances; 0: no limit"),
    PYTHIA_REAL("price-ns", 0, "NS", "1000", 0, 1e12, AT(price_ns),
                "Cost of one hit of an open trace point whose cost was not measured"),
    PYTHIA_REAL("max-overhead-pct", 0, "PCT", "0", 0, 100, AT(max_overhead_pct),
                "Most time that tracing may take, in percent of the time of requests; above it "
                "trace points are closed, the least informative for their cost first; 0: no limit"),
    PYTHIA_REAL("max-load1", 0, "LOAD", "0", 0, 1e6, AT(max_load1),
                "Load of this machine in the last minute, as uptime has it, above which all trace "
                "points are closed that are neither pinned nor of the skeleton, until it is below "
                "four fifths of that; 0: any"),
    PYTHIA_REAL("max-spans-s", 0, "N", "0", 0, 1e12, AT(max_spans_s),
                "Spans that arrive per second above which they are closed likewise, until it would "
                "be four fifths of that with them open; 0: any"),
    PYTHIA_REAL("breaker-ns", 0, "NS", "50000000", 0, 1e15, AT(breaker_ns),
                "Most time that a trace point may cost one program per second, by its spans and "
                "its measured price; above it the point is closed within a second; 0: no limit"),
    PYTHIA_REAL("breaker-hold-seconds", 0, "S", "600", 0, 1e9, AT(breaker_hold_s),
                "Time for which such a trace point stays closed, unless pythia ctl opens it; 0: "
                "until it does"),
    PYTHIA_REAL("alpha", 0, "P", "0.05", 1e-12, .5, AT(alpha), "Accepted rate of false findings"),
    PYTHIA_REAL("min-cov", 0, "R", "0.05", 0, 1e9, AT(min_cov),
                "Coefficient of variation below which requests of a type do not vary"),
    PYTHIA_INTEGER("patience", 0, "N", "30", 1, 1e9, AT(patience),
                   "Cycles after which a problem is given up"),
    PYTHIA_CHOICE("strategy", 0, PYTHIA_STRATEGY_CHOICES, PYTHIA_STRATEGY_FIRST, AT(strategy),
                  "Strategy that chooses what to open"),
    PYTHIA_TEXT_OPTION("expect", 0, "FILE", AT(expect),
                       "What is expected of requests, as of pythia check: reports have a section "
                       "of it, and a type that violates an expectation is searched first"),
    PYTHIA_FLAG("observe-only", 0, AT(observe_only), "Only report what would be opened and closed"),
    TEXTS("always", "ID|PATTERN|PLACE", AT(always),
          "Keep these trace points open: an id, a pattern with * and ?, or "
          "HOST/SERVICE/PROCESS/FUNCTION (see PINS; may be given several times)"),
    TEXTS("never", "ID|PATTERN|PLACE", AT(never),
          "Never open these trace points, but for entry points of services once the search has "
          "begun; syntax as for --always"),
    PYTHIA_TEXT_OPTION(
        "gate", 0, "FOLDER", AT(gate),
        "Switch the trace points of C programs by their switchboards in this folder, and receive "
        "their records; empty: the folder where programs look for it (libpythia-tracepoints(3))"),
    PYTHIA_TEXT_OPTION("kafka", 0, "URL", AT(kafka),
                       "Take OTLP from a topic, as a member of a consumer group: "
                       "kafka://HOST:PORT/TOPIC?group=NAME (see KAFKA)"),
    PYTHIA_TEXT_OPTION("lttng", 0, "FILE", AT(lttng),
                       "Open events of programs with LTTng-UST by these rules, in a session of "
                       "its own, and follow it (pythia-control-lttng(7))"),
    PYTHIA_TEXT_OPTION("lttng-relay", 0, "HOST[:CONTROL:DATA:LIVE]", AT(lttng_relay),
                       "Where lttng-relayd listens, with the numbers of its ports (default "
                       "localhost:5342:5343:5344)"),
    PYTHIA_TEXT_OPTION("osprofiler", 0, "redis://HOST:PORT/N", AT(osprofiler),
                       "Read OSProfiler's traces from Redis, and switch its trace points there"),
    PYTHIA_TEXT_OPTION("probes", 0, "FILE", AT(probes),
                       "Open static probes of programs by these rules, through pythia-probe(8), "
                       "and read what they report (pythia-control-probe(7))"),
    PYTHIA_TEXT_OPTION("probe-socket", 0, "PATH", AT(probe_socket),
                       "Where pythia-probe listens (default /run/pythia-probe/socket)"),
    PYTHIA_TEXT_OPTION("probe-processes", 0, "PID,PID", AT(probe_processes),
                       "Open probes in these processes alone, four at most (default: in all that "
                       "run the programs, and of libraries in those with requests)"),
    PYTHIA_REAL("lease-seconds", 0, "S", "30", 1, 3600, AT(lease_seconds),
                "Time after which targets return to their own set if pythiad is gone"),
    PYTHIA_INTEGER("seed", 0, "N", "1", 0, 9e15, AT(seed), "Random seed"),
    PYTHIA_FLAG("quiet", 'q', AT(quiet), "Log only warnings and errors"),
    PYTHIA_FLAG("verbose", 'v', AT(verbose), "Log more"),
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

/* Settings that were not given follow from others, or from the machine. At 800 000 spans a
 * second 128M refused 38 to 53 % of them, and 1G none; a daemon that shares a small machine
 * takes less. */
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
        return pythia_error_set(e, PYTHIA_EUSAGE, "%s is not an option; pythiad takes no operands",
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
                                "read-token requires control-token; without it, anyone could make "
                                "changes");
    if (!s->insecure && pythia__control_is_open(s, &address))
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "anyone who can reach %s could control pythiad; set control-token "
                                "or tls-trust, or insecure: true if that is intended",
                                address);
    return PYTHIA_OK;
}

/* Is it the address of a collector, which may get these headers? */
static int check_forward(const struct pythia__settings *s, const char *name, const char *url,
                         const char *headers, struct pythia_error *e)
{
    if (headers && !url)
        return pythia_error_set(e, PYTHIA_EUSAGE, "%s-headers requires %s", name, name);
    if (!url)
        return PYTHIA_OK;
    const char *host = strncmp(url, "http://", 7) == 0    ? url + 7
                       : strncmp(url, "https://", 8) == 0 ? url + 8
                                                          : "";
    size_t size = strcspn(host, "/?#");
    char address[256];
    if (size == 0 || (host[size] != '\0' && strcmp(host + size, "/") != 0))
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "%s: %s is not the address of a collector: give http:// or "
                                "https://, host and port, and no path",
                                name, url);
    snprintf(address, sizeof(address), "%.*s", (int)size, host);
    if (headers && url[4] == ':' && !s->insecure && !pythia__address_is_local(address))
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "%s: the headers of %s-headers could be read on the way to %s; use "
                                "https://, or set insecure: true if that is intended",
                                name, name, url);
    return PYTHIA_OK;
}

/* Everything that can be refused is refused here, before a socket or a file is opened. */
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
                "%s at %s can be reached from other machines; set tls-key and tls-certificate, or "
                "insecure: true if that is intended",
                listeners[i].name, address);
    }
    if (check_control(s, e) != PYTHIA_OK)
        return PYTHIA_EUSAGE;
    if ((s->tls_key == NULL) != (s->tls_certificate == NULL))
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "tls-key and tls-certificate must be given together");
    if (s->tls_trust && !s->tls_key)
        return pythia_error_set(e, PYTHIA_EUSAGE, "tls-trust requires tls-key and tls-certificate");
    for (size_t i = 0; i < s->always.count; i++)
        if (pythia__pin_place_check("always", s->always.texts[i], e) != PYTHIA_OK)
            return PYTHIA_EUSAGE;
    for (size_t i = 0; i < s->never.count; i++)
        if (pythia__pin_place_check("never", s->never.texts[i], e) != PYTHIA_OK)
            return PYTHIA_EUSAGE;
    for (size_t i = 0; i < s->redact.count; i++)
        if (pythia_redaction_check(s->redact.texts[i], e) != PYTHIA_OK)
            return PYTHIA_EUSAGE;
    for (size_t i = 0; i < s->notify.count; i++) {
        struct pythia__notify_target target;
        if (pythia__notify_target_read(s->notify.texts[i], &target, e) != PYTHIA_OK)
            return PYTHIA_EUSAGE;
    }
    if (check_forward(s, "forward", s->forward, s->forward_headers, e) != PYTHIA_OK ||
        check_forward(s, "forward-zipkin", s->forward_zipkin, s->forward_zipkin_headers, e) !=
            PYTHIA_OK)
        return PYTHIA_EUSAGE;
    if (s->forward_max < s->body_max)
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "forward-max is below body-max: raise it, or lower body-max");
    if (s->waiting_max < s->body_max) /* a body of that size would never be taken */
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "waiting-max is below body-max: raise it, or lower body-max");
    if (s->memory_hard < s->memory)
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "memory-hard is below memory: raise it, or lower memory");
    if (s->inflated_max < s->body_max)
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "inflated-max is below body-max: raise it, or lower body-max");
    if (s->quiet && s->verbose)
        return pythia_error_set(e, PYTHIA_EUSAGE, "quiet and verbose exclude each other");
    return PYTHIA_OK;
}

struct pythia_span_limits pythia__settings_span_limits(const struct pythia__settings *s)
{
    return (struct pythia_span_limits){.attributes_max = (size_t)s->attributes_max,
                                       .events_max = (size_t)s->events_max,
                                       .links_max = (size_t)s->links_max,
                                       .value_max = s->value_max};
}
