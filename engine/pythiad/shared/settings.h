/* The settings of pythiad: from a YAML file, the environment (PYTHIAD_…) and the command line, the
 * later ones over the earlier. One table describes it all. */
#ifndef PYTHIA_PYTHIAD_SETTINGS_H
#define PYTHIA_PYTHIAD_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/config.h"
#include "pythia/error.h"
#include "pythia/option.h"

struct pythia__settings {
    const char *config;
    /* where to listen; "off": not at all */
    const char *otlp_grpc, *otlp_http, *zipkin, *control, *control_socket;
    const char *tls_key, *tls_certificate, *tls_trust;                   /* files */
    const char *ingest_token, *agent_token, *read_token, *control_token; /* files */
    struct pythia_option_texts redact; /* rules (redaction.h); "default" stands behind them */
    const char *redact_secret;         /* a file */
    struct pythia_option_texts notify; /* "URL [FORMAT]" (notify_target.h) */
    const char *notify_secret;         /* a file */
    double notify_pause_s;
    const char *trace_url; /* of a trace in another tool */
    uint64_t body_max, inflated_max, waiting_max, memory, memory_hard, value_max;
    int64_t connections, streams, retry_s, attributes_max, events_max, links_max, report_values,
        report_types;
    struct pythia_option_texts follow;
    const char *forward, *forward_zipkin, *forward_headers,
        *forward_zipkin_headers; /* to collectors */
    uint64_t forward_max, span_log_max;
    const char *span_log; /* a file */
    const char *record, *state, *records, *collect;
    int64_t collect_ms;
    double series_age_s;
    /* requests */
    int64_t quiet_ms, wait_max_ms, rootless_ms, request_max_ms, request_spans_max;
    const char *type_attribute;
    struct pythia_option_texts left_out;
    /* the search */
    const char *space;
    int64_t learn_requests, learn_hourly, cycle_requests, min_requests, points, points_open, seed,
        patience, problems_per_cycle;
    double cycle_seconds, added_ns, price_ns, max_overhead_pct, max_load1, max_spans_s, breaker_ns,
        breaker_hold_s, alpha, min_cov;
    struct pythia_option_texts always, never;
    const char *expect; /* a file */
    /* switches */
    const char *gate, *osprofiler, *kafka, *probes, *probe_socket, *probe_processes;
    const char *lttng, *lttng_relay;
    double lease_seconds;
    int latency, strategy, learn;
    bool check_config, insecure, no_fold, observe_only, quiet, verbose;
};

extern const struct pythia_option pythia__settings_table[];

/* The setting of that name; NULL: there is none. */
const struct pythia_option *pythia__setting(const char *name);

/* The settings that limit what senders may do, by name, and what number `index` of them is: bytes,
 * or how many. */
extern const char *const pythia__limits[];
extern const size_t pythia__limit_count;
int64_t pythia__limit(const struct pythia__settings *s, size_t index);

/* Put defaults, file, environment and command line together. On success *config owns the texts.
 * Returns PYTHIA_OK, or negative with place and reason in `e`. `argv` is put in another order. */
int pythia__settings_read(int argc, char **argv, char *const *environment,
                          struct pythia__settings *out, struct pythia_config **config,
                          struct pythia_error *e);

/* Limits of a span. */
struct pythia_span_limits pythia__settings_span_limits(const struct pythia__settings *s);

/* May whoever reaches the control interface from beyond this machine use it, because neither a
 * token nor a certificate is asked for? Then *address is where it listens. */
bool pythia__control_is_open(const struct pythia__settings *s, const char **address);

/* Is nothing to listen there: NULL or "off"? */
bool pythia__address_is_off(const char *address);

/* Refuse settings that contradict each other or are not safe: an address that can be reached
 * from other machines needs TLS, and the control interface there a credential, or `insecure`.
 * PYTHIA_OK, or PYTHIA_EUSAGE with the reason in `e`. */
int pythia__settings_check(const struct pythia__settings *s, struct pythia_error *e);

#endif
