/* pythiad put together: receivers, engine, switches and state, on one loop. */
#ifndef PYTHIA_PYTHIAD_DAEMON_H
#define PYTHIA_PYTHIAD_DAEMON_H

#include <jansson.h>
#include <uv.h>

#include "events.h"
#include "intake/collecting.h"
#include "intake/feed.h"
#include "intake/intake.h"
#include "intake/receive.h"
#include "intake/span_log.h"
#include "kafka/kafka.h"
#include "listen/grpc_server.h"
#include "listen/http_server.h"
#include "notify/notify.h"
#include "pythia/header_file.h"
#include "shared/engine.h"
#include "shared/heap.h"
#include "switching/switches.h"

#define PYTHIA__AGENT_ROUTES 2

#define PYTHIA__HTTP_SERVERS   4   /* OTLP, Zipkin, control, control's socket */
#define PYTHIA__SEARCH_LOG_MAX 200 /* cycles of which the report tells at most, and what part of */
#define PYTHIA__STORY_PART     16  /* --memory-hard they may take */

struct pythia__sharing; /* sharing.h */

struct pythia__daemon {
    struct pythia__engine engine;
    struct pythia__switching switching;
    struct pythia_config *config;      /* owns the texts of `s`, */
    struct pythia_config *pins_config; /* but for those of pins that were read later; or NULL */
    int argc;
    char **argv, **environment;         /* for SIGHUP */
    struct pythia_redaction *redaction; /* NULL: no value is redacted */
    bool hashes;                        /* one of its rules does */
    const char *left_out[PYTHIA_OPTION_TEXTS_MAX];
    struct pythia_expectations expectations;
    struct pythia__room room; /* for bodies */
    /* With `forward`, for those that are being decoded: where there is no more of it, others are
     * still received and sent on. */
    struct pythia__room decoding;
    struct pythia__forward *forward;                         /* NULL: nothing is sent on */
    struct pythia_headers forward_headers[PYTHIA__FORWARDS]; /* owned */
    struct pythia__span_log *span_log;                       /* NULL: there is none */
    struct pythia__intake *intake;
    struct pythia__receive *receive;
    struct pythia__feeds *feeds;
    struct pythia__kafka *kafka;              /* NULL: none */
    struct pythia__sharing *sharing;          /* owned: what a shared search needs */
    struct pythia__collecting *collecting;    /* what requests get beside their spans */
    struct pythia__records_listener *records; /* NULL: none */
    struct pythia__grpc_server *grpc;
    struct pythia__http_server *http[PYTHIA__HTTP_SERVERS];
    struct pythia__http_route ingest_routes[PYTHIA__OTLP_ROUTES + PYTHIA__AGENT_ROUTES];
    struct pythia__events *events;
    struct pythia__http_route *control_routes; /* owned */
    size_t control_route_count;
    struct pythia__notify *notify;               /* NULL: nobody is to be notified */
    char *notify_secret;                         /* owned */
    char *tls_key, *tls_certificate, *tls_trust; /* owned */
    char *tokens[PYTHIA__ROLES];                 /* owned */
    uv_timer_t tick;
    uv_check_t turn; /* of the loop */
    uint64_t cycles, last_cycle_ns;
    uint64_t cycle;  /* number of the last one that decided: others have none */
    uint64_t learnt; /* types that the search space had when it was written */
    uint64_t reloads, failed_reloads;
    uint64_t orders; /* by hand, since it began */
    struct pythia__heap heap;
    unsigned quiet_ticks; /* since nothing waits any more while it drains */
    bool draining, writes_space;
};

/* Start everything. PYTHIA_OK with *out owned, or negative with the reason in `e`. Takes over
 * `config`. */
int pythia__daemon_create(uv_loop_t *loop, const struct pythia__settings *settings,
                          struct pythia_config *config, struct pythia__daemon **out,
                          struct pythia_error *e);

/* Log the addresses, with the ports that the system chose for port 0. */
void pythia__daemon_tell_addresses(const struct pythia__daemon *d);

/* Append where a listener is, HOST:PORT with the port that it has; nothing if it is off. */
void pythia__daemon_address(const struct pythia__daemon *d, enum pythia__listener at,
                            struct pythia_buf *to);

/* Stop listening, take in what has come, end the cycle, and close the loop's handles: uv_run ends
 * then. What is open at targets stays so until their lease runs out, but what `close` says. */
void pythia__daemon_drain(struct pythia__daemon *d);
void pythia__daemon_destroy(struct pythia__daemon *d); /* after the loop has ended; may be NULL */

/* Read the settings again; what cannot change while it runs is told. A file with an error changes
 * nothing. */
void pythia__daemon_reload(struct pythia__daemon *d);

/* Log as much as the settings say. */
void pythia__log_level(const struct pythia__settings *s);

/* ---- for the control interface: api.c ---- */

/* The routes of the control interface, owned by the caller (pythia_free); *count of them. NULL when
 * out of memory. */
struct pythia__http_route *pythia__api_routes(struct pythia__daemon *d, size_t *count);

/* Append the status as JSON in one line; nothing when out of memory. */
void pythia__api_status_line(void *daemon, struct pythia_buf *to);

/* Add the routes of agents, which ask where traces are sent to; returns how many, at most
 * PYTHIA__AGENT_ROUTES. */
size_t pythia__api_agent_routes(struct pythia__daemon *d, struct pythia__http_route *to);

#endif
