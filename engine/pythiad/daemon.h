/* pythiad put together: receivers, engine, switches and state, on one loop. */
#ifndef PYTHIA_PYTHIAD_DAEMON_H
#define PYTHIA_PYTHIAD_DAEMON_H

#include <jansson.h>
#include <uv.h>

#include "collecting.h"
#include "feed.h"
#include "grpc_server.h"
#include "heap.h"
#include "http_server.h"
#include "in_force.h"
#include "intake.h"
#include "pythia/breaker.h"
#include "pythia/closed_loop.h"
#include "pythia/controller.h"
#include "pythia/live.h"
#include "pythia/overhead.h"
#include "pythia/passes.h"
#include "pythia/state.h"
#include "receive.h"
#include "reporting.h"
#include "settings.h"

#define PYTHIA__AGENT_ROUTES 2

#define PYTHIA__HTTP_SERVERS 4   /* OTLP, Zipkin, control, control's socket */
#define PYTHIA__STORY        200 /* cycles of which the report tells at most, and what part of */
#define PYTHIA__STORY_PART   16  /* --memory-hard they may take */

struct pythia__daemon {
    uv_loop_t *loop;
    struct pythia__settings s;
    struct pythia_config *config;      /* owns the texts of `s`, */
    struct pythia_config *pins_config; /* but for those of pins that were read later; or NULL */
    int argc;
    char **argv, **environment; /* for SIGHUP */
    struct pythia_vocabulary *vocabulary;
    struct pythia_redaction *redaction;        /* NULL: no value is redacted */
    bool hashes;                               /* one of its rules does */
    struct pythia_space *space;                /* from a file; NULL: it is learnt */
    struct pythia_open_points *always, *never; /* pins of the settings, and those by hand */
    struct pythia_open_points *limited;        /* what is wanted open for some types only */
    struct pythia_prices *prices;              /* as the planes measured them */
    struct pythia_history *history;            /* of searches before this start */
    const char *left_out[PYTHIA_OPTION_TEXTS_MAX];
    struct pythia_live *live;
    struct pythia_overhead *overhead; /* what tracing costs, and what is dropped for it */
    struct pythia_breaker *breaker;   /* what is closed at once, because it costs too much */
    struct pythia_passes *passes;     /* what came of each trace point */
    struct pythia_open_points *fixed; /* trace points that nothing can switch; NULL: none */
    uint64_t *strays, fixed_ns,
        fixed_looked_ns; /* by trace point: requests with it though it is closed; fixed.c */
    size_t stray_capacity;
    struct pythia_state *state;
    struct pythia_controller *controller;
    struct pythia_control *agents; /* the plane "http", borrowed from the controller */
    struct pythia__room room;      /* for bodies */
    struct pythia__intake *intake;
    struct pythia__receive *receive;
    struct pythia__feeds *feeds;
    struct pythia__collecting *collecting;    /* what requests get beside their spans */
    struct pythia__records_listener *records; /* NULL: none */
    struct pythia__grpc_server *grpc;
    struct pythia__http_server *http[PYTHIA__HTTP_SERVERS];
    struct pythia__http_route ingest_routes[PYTHIA__OTLP_ROUTES + PYTHIA__AGENT_ROUTES];
    struct pythia__http_route *control_routes; /* owned */
    size_t control_route_count;
    char *tls_key, *tls_certificate, *tls_trust; /* owned */
    char *tokens[PYTHIA__ROLES];                 /* owned */
    uv_timer_t tick;
    uv_check_t turn;                     /* of the loop */
    struct pythia_loop story;            /* the last cycles */
    struct pythia__reporting *reporting; /* of it, and of the evidence of the last cycle */
    uint64_t started_ns, cycles, last_cycle_ns;
    uint64_t cycle;         /* number of the last one that decided: others have none */
    uint64_t wish, version; /* of the engine, and of the set that the controller has of it */
    uint64_t tried;         /* the version of which planes were told, as far as they could be */
    struct pythia__in_force in_force;     /* that set */
    uint64_t points_met, met_ns, kept_ns; /* of the inventory */
    uint32_t points_pinned;               /* trace points there were when pins were looked at */
    uint64_t budget_ns;                   /* when the cost of tracing was looked at last */
    uint64_t broken_ns;                   /* when the breaker was looked at last */
    uint64_t mended_ns;                   /* when it was last tried to write a degraded state */
    uint64_t learnt;                      /* types that the search space had when it was written */
    size_t kept_types;                    /* and when the state got it */
    uint64_t lessons_told, cut_told;      /* in the log: openings for types that turned up later */
    uint64_t unknown_told;                /* trace points that the search space does not know */
    bool waiting_told;                    /* and that there are types which wait for one */
    uint64_t reloads, failed_reloads;
    struct pythia__heap heap;
    unsigned quiet_ticks; /* since nothing waits any more while it drains */
    bool draining, writes_space;
};

/* Start everything. PYTHIA_OK with *out owned, or negative with the reason in `e`. Takes over
 * `config`. */
int pythia__daemon_create(uv_loop_t *loop, const struct pythia__settings *settings,
                          struct pythia_config *config, struct pythia__daemon **out,
                          struct pythia_error *e);

/* Say in the log where it listens, with the ports that the system chose for those that were 0. */
void pythia__daemon_tell_addresses(const struct pythia__daemon *d);

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

/* Add the routes of agents, which ask where traces are sent to; returns how many, at most
 * PYTHIA__AGENT_ROUTES. */
size_t pythia__api_agent_routes(struct pythia__daemon *d, struct pythia__http_route *to);

/* What the engine wants open has changed: hand it on. */
int pythia__daemon_want(struct pythia__daemon *d);

/* Write down what earlier searches opened, and what this one did so far. PYTHIA_OK, also if the
 * state cannot be written, or PYTHIA_ENOMEM. */
int pythia__daemon_keep_history(struct pythia__daemon *d);

/* What it takes of a span. */
struct pythia_span_limits pythia__daemon_span_limits(const struct pythia__daemon *d);

/* Request types that others were looked at instead of, in the last cycle. */
size_t pythia__daemon_waiting(const struct pythia__daemon *d);

/* Nanoseconds that never go back, and those of the Unix epoch. */
uint64_t pythia__daemon_now(const struct pythia__daemon *d);
uint64_t pythia__unix_ns(void);

#endif
