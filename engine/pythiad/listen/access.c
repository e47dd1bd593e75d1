#include "access.h"

#include <assert.h>
#include <string.h>

#include "pythia/control_http.h"

static const struct pythia__role_rule roles[PYTHIA__ROLES] = {
    [PYTHIA__ROLE_PUBLIC] = {"public", "health, metrics, and the page without what it shows", NULL,
                             PYTHIA__ROLE_PUBLIC, false, false},
    [PYTHIA__ROLE_READ] = {"read", "read reports, requests, trace points and decisions",
                           "read-token", PYTHIA__ROLE_CONTROL, true, true},
    [PYTHIA__ROLE_INGEST] = {"ingest", "send traces", "ingest-token", PYTHIA__ROLE_PUBLIC, false,
                             false},
    [PYTHIA__ROLE_AGENT] = {"agent", "register trace points, and ask which should be open",
                            "agent-token", PYTHIA__ROLE_INGEST, false, false},
    [PYTHIA__ROLE_CONTROL] = {"control", "open, close and pin trace points; off and on",
                              "control-token", PYTHIA__ROLE_PUBLIC, false, true},
};

static const char *const listeners[PYTHIA__LISTENERS] = {
    [PYTHIA__AT_OTLP_GRPC] = "otlp-grpc",
    [PYTHIA__AT_OTLP_HTTP] = "otlp-http",
    [PYTHIA__AT_ZIPKIN] = "zipkin",
    [PYTHIA__AT_CONTROL] = "control",
};

#define COLLECTOR "/opentelemetry.proto.collector."

static const struct {
    const char *method, *path;
    enum pythia__listener at;
    enum pythia__role role;
} routes[] = {
    {"POST", COLLECTOR "trace.v1.TraceService/Export", PYTHIA__AT_OTLP_GRPC, PYTHIA__ROLE_INGEST},
    {"POST", COLLECTOR "metrics.v1.MetricsService/Export", PYTHIA__AT_OTLP_GRPC,
     PYTHIA__ROLE_INGEST},
    {"POST", COLLECTOR "logs.v1.LogsService/Export", PYTHIA__AT_OTLP_GRPC, PYTHIA__ROLE_INGEST},
    {"POST", "/v1/traces", PYTHIA__AT_OTLP_HTTP, PYTHIA__ROLE_INGEST},
    {"POST", "/v1/metrics", PYTHIA__AT_OTLP_HTTP, PYTHIA__ROLE_INGEST},
    {"POST", "/v1/logs", PYTHIA__AT_OTLP_HTTP, PYTHIA__ROLE_INGEST},
    {"GET", PYTHIA_CONTROL_HTTP_PATH, PYTHIA__AT_OTLP_HTTP, PYTHIA__ROLE_AGENT},
    {"POST", PYTHIA_CONTROL_HTTP_PATH, PYTHIA__AT_OTLP_HTTP, PYTHIA__ROLE_AGENT},
    {"POST", "/api/v2/spans", PYTHIA__AT_ZIPKIN, PYTHIA__ROLE_INGEST},
    {"GET", "/healthz", PYTHIA__AT_CONTROL, PYTHIA__ROLE_PUBLIC},
    {"GET", "/readyz", PYTHIA__AT_CONTROL, PYTHIA__ROLE_PUBLIC},
    {"GET", "/metrics", PYTHIA__AT_CONTROL, PYTHIA__ROLE_PUBLIC},
    {"GET", "/", PYTHIA__AT_CONTROL, PYTHIA__ROLE_PUBLIC},
    {"GET", "/page/", PYTHIA__AT_CONTROL, PYTHIA__ROLE_PUBLIC},
    {"GET", "/report", PYTHIA__AT_CONTROL, PYTHIA__ROLE_READ},
    {"GET", "/openapi.json", PYTHIA__AT_CONTROL, PYTHIA__ROLE_READ},
    {"GET", "/v1/status", PYTHIA__AT_CONTROL, PYTHIA__ROLE_READ},
    {"GET", "/v1/events", PYTHIA__AT_CONTROL, PYTHIA__ROLE_READ},
    {"GET", "/v1/report", PYTHIA__AT_CONTROL, PYTHIA__ROLE_READ},
    {"GET", "/v1/groups", PYTHIA__AT_CONTROL, PYTHIA__ROLE_READ},
    {"GET", "/v1/verdicts", PYTHIA__AT_CONTROL, PYTHIA__ROLE_READ},
    {"GET", "/v1/cycles", PYTHIA__AT_CONTROL, PYTHIA__ROLE_READ},
    {"GET", "/v1/requests", PYTHIA__AT_CONTROL, PYTHIA__ROLE_READ},
    {"GET", "/v1/contexts", PYTHIA__AT_CONTROL, PYTHIA__ROLE_READ},
    {"GET", "/v1/decisions", PYTHIA__AT_CONTROL, PYTHIA__ROLE_READ},
    {"GET", "/v1/points", PYTHIA__AT_CONTROL, PYTHIA__ROLE_READ},
    {"GET", "/v1/variables", PYTHIA__AT_CONTROL, PYTHIA__ROLE_READ},
    {"POST", "/mcp", PYTHIA__AT_CONTROL, PYTHIA__ROLE_READ}, /* tools have the roles of routes */
    {"POST", "/v1/plan", PYTHIA__AT_CONTROL, PYTHIA__ROLE_READ},
    {"POST", "/v1/hash", PYTHIA__AT_CONTROL, PYTHIA__ROLE_CONTROL}, /* tests guesses of values */
    {"POST", "/v1/open", PYTHIA__AT_CONTROL, PYTHIA__ROLE_CONTROL},
    {"POST", "/v1/close", PYTHIA__AT_CONTROL, PYTHIA__ROLE_CONTROL},
    {"POST", "/v1/unpin", PYTHIA__AT_CONTROL, PYTHIA__ROLE_CONTROL},
    {"POST", "/v1/level", PYTHIA__AT_CONTROL, PYTHIA__ROLE_CONTROL},
    {"POST", "/v1/off", PYTHIA__AT_CONTROL, PYTHIA__ROLE_CONTROL},
    {"POST", "/v1/on", PYTHIA__AT_CONTROL, PYTHIA__ROLE_CONTROL},
};
#define ROUTES (sizeof(routes) / sizeof(routes[0]))

enum pythia__role pythia__route_role(enum pythia__listener at, const char *method, const char *path)
{
    for (size_t i = 0; i < ROUTES; i++)
        if (routes[i].at == at && strcmp(routes[i].method, method) == 0 &&
            strcmp(routes[i].path, path) == 0)
            return routes[i].role;
    assert(false && "every route has a row");
    return PYTHIA__ROLE_CONTROL;
}

const char *pythia__role_name(enum pythia__role role)
{
    return roles[role].name;
}

const char *pythia__listener_name(enum pythia__listener at)
{
    return listeners[at];
}

void pythia__role_tokens(enum pythia__role role, const char *const own[PYTHIA__ROLES],
                         const char *out[2])
{
    const struct pythia__role_rule *rule = &roles[role];
    const char *mine = rule->token ? own[role] : NULL;
    const char *other = rule->other != PYTHIA__ROLE_PUBLIC ? own[rule->other] : NULL;
    out[0] = mine;
    out[1] = !mine || rule->other_always ? other : NULL;
}

static void write_role_rule(const struct pythia__role_rule *rule, struct pythia_buf *to)
{
    const char * or = rule->other_always ? " or " : "; without it ";
    pythia_buf_printf(to, "|  %s\n:- %s\n:- ", rule->name, rule->permits);
    if (!rule->token)
        pythia_buf_puts(to, "none");
    else
        pythia_buf_printf(to, "*--%s*", rule->token);
    if (rule->other != PYTHIA__ROLE_PUBLIC)
        pythia_buf_printf(to, "%s*--%s*", or, roles[rule->other].token);
    pythia_buf_putc(to, '\n');
}

void pythia__access_manual(struct pythia_buf *to)
{
    pythia_buf_puts(
        to, "# WHO MAY DO WHAT\n\n"
            "Each route needs a role, and a role needs its token if one is set: a header "
            "_Authorization: Bearer TOKEN_ (gRPC: metadata). With *--tls-trust* every sender "
            "needs a certificate of those authorities as well. Only the user of *pythiad* can use "
            "a unix socket. If *--control* can be reached from other machines, *pythiad* requires "
            "*--control-token* or *--tls-trust*, unless *--insecure* is given. Pages of other "
            "sites, recognised by Origin and Host, have only the role public.\n\n"
            "[[ *Role*\n"
            ":- *Permits to*\n"
            ":- *Token*\n");
    for (size_t i = 0; i < PYTHIA__ROLES; i++)
        write_role_rule(&roles[i], to);
    pythia_buf_puts(to, "\n[[ *Listener*\n:- *Route*\n:- *Role*\n");
    for (size_t i = 0; i < ROUTES; i++)
        pythia_buf_printf(to, "|  %s\n:- %s %s\n:- %s\n", listeners[routes[i].at], routes[i].method,
                          routes[i].path, roles[routes[i].role].name);
    pythia_buf_putc(to, '\n');
}
