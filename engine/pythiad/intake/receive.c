/* OTLP: github.com/open-telemetry/opentelemetry-proto/blob/main/docs/specification.md */
#include "receive.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "pythia/buf.h"
#include "pythia/json_text.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"

#define EXPORT   "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
#define PROTOBUF "application/x-protobuf"
#define JSON     "application/json"

#define TRACES_PATH "/v1/traces"
#define ZIPKIN_PATH "/api/v2/spans"

struct pythia__receive {
    struct pythia__intake *intake;
    struct pythia__forward *forward; /* NULL: nothing is sent on */
    unsigned retry_s;
    uint64_t unseen; /* bodies that were sent on and not looked at */
    const struct pythia_adapter_ops *otlp_json, *otlp_protobuf, *zipkin;
    struct pythia__http_route otlp_routes[PYTHIA__OTLP_ROUTES], zipkin_route;
    struct pythia__grpc_method methods[PYTHIA__OTLP_ROUTES];
    struct other_signal {
        struct pythia__receive *receive;
        enum pythia__signal signal;
        uint64_t bodies;
    } others[PYTHIA__SIGNALS];
};

/* An exchange whose body is being decoded. */
struct waiting {
    struct pythia__receive *receive;
    struct pythia__http_exchange *exchange;
    bool json; /* that is how OTLP's sender wrote */
};

/* ---- the little of protobuf that is answered ---- */

static void add_varint(struct pythia_buf *to, uint64_t value)
{
    for (; value > 127; value >>= 7)
        pythia_buf_putc(to, (char)(value | 128));
    pythia_buf_putc(to, (char)value);
}

static void add_rejected_number(struct pythia_buf *to, unsigned field, uint64_t value)
{
    add_varint(to, field << 3);
    add_varint(to, value);
}

static void put_text(struct pythia_buf *to, unsigned field, const char *text, size_t size)
{
    add_varint(to, field << 3 | 2);
    add_varint(to, size);
    pythia_buf_add(to, text, size);
}

/* ExportTraceServiceResponse: empty, or with what was rejected and why. */
static void put_export_response(struct pythia_buf *to, const struct pythia__intake_result *result)
{
    struct pythia_buf partial = {0};
    if (result->broken == 0)
        return;
    add_rejected_number(&partial, 1, result->broken);
    put_text(&partial, 2, result->reason, strlen(result->reason));
    if (pythia_buf_status(&partial) == PYTHIA_OK)
        put_text(to, 1, partial.bytes, partial.size);
    pythia_buf_free(&partial);
}

/* Could nothing of it be read at all? */
static bool is_unreadable(const struct pythia__intake_result *result)
{
    return result->spans == 0 && (result->status != PYTHIA_OK || result->broken > 0);
}

/* ---- OTLP over HTTP ---- */

static void answer_intake_json(struct pythia__http_exchange *x, unsigned status, json_t *body)
{
    struct pythia_buf shown = {0};
    if (pythia_json_put_shown(&shown, body, JSON_COMPACT, "") != PYTHIA_OK)
        pythia_buf_free(&shown);
    json_decref(body);
    pythia__http_answer(x, status, JSON, shown.bytes, shown.size);
}

/* google.rpc.Status, in the encoding of the sender. */
static void answer_status(struct pythia__http_exchange *x, bool json, unsigned status,
                          enum pythia__grpc_status code, const char *text)
{
    if (json) {
        answer_intake_json(x, status, json_pack("{s:i, s:s}", "code", (int)code, "message", text));
        return;
    }
    struct pythia_buf body = {0};
    add_rejected_number(&body, 1, code);
    put_text(&body, 2, text, strlen(text));
    pythia__http_answer(x, status, PROTOBUF, body.bytes, body.size);
}

/* Not now, but later: that can help. */
static void answer_later(const struct pythia__receive *r, struct pythia__http_exchange *x,
                         bool json)
{
    char seconds[16];
    snprintf(seconds, sizeof(seconds), "%u", r->retry_s);
    pythia__http_set(x, "Retry-After", seconds);
    answer_status(x, json, 503, PYTHIA__GRPC_UNAVAILABLE, "too much at once: try again later");
}

/* A body of which some records were broken is still a success, as OTLP wants it: senders would
 * repeat it otherwise. */
static void answer_otlp(void *context, const struct pythia__intake_result *result)
{
    struct waiting *w = context;
    struct pythia__http_exchange *x = w->exchange;
    const struct pythia__receive *r = w->receive;
    bool json = w->json;
    pythia_free(w);
    if (result->status == PYTHIA_ELIMIT) {
        answer_status(x, json, 413, PYTHIA__GRPC_RESOURCE_EXHAUSTED, result->reason);
    } else if (result->status == PYTHIA_ENOMEM || result->status == PYTHIA_ESTOPPED) {
        answer_later(r, x, json);
    } else if (is_unreadable(result)) {
        answer_status(x, json, 400, PYTHIA__GRPC_INVALID_ARGUMENT, result->reason);
    } else if (!json) {
        struct pythia_buf body = {0};
        put_export_response(&body, result);
        pythia__http_answer(x, 200, PROTOBUF, body.bytes, body.size);
    } else if (result->broken == 0) {
        answer_intake_json(x, 200, json_object());
    } else {
        char number[24];
        snprintf(number, sizeof(number), "%" PRIu64, result->broken);
        answer_intake_json(x, 200,
                           json_pack("{s:{s:s, s:s}}", "partialSuccess", "rejectedSpans", number,
                                     "errorMessage", result->reason));
    }
}

static void answer_zipkin(void *context, const struct pythia__intake_result *result)
{
    struct waiting *w = context;
    struct pythia__http_exchange *x = w->exchange;
    const struct pythia__receive *r = w->receive;
    pythia_free(w);
    if (result->status == PYTHIA_ELIMIT)
        pythia__http_say(x, 413, result->reason);
    else if (result->status == PYTHIA_ENOMEM || result->status == PYTHIA_ESTOPPED)
        answer_later(r, x, true);
    else if (is_unreadable(result))
        pythia__http_say(x, 400, result->reason);
    else
        pythia__http_answer(x, 202, NULL, NULL, 0);
}

/* ---- sending on ---- */

static const char *body_type(const struct pythia__receive *r,
                             const struct pythia_adapter_ops *format)
{
    return format == r->otlp_protobuf ? PROTOBUF : JSON;
}

/* Its sender has been answered: nobody is told what came of it. */
static void forget_result(void *context, const struct pythia__intake_result *result)
{
    (void)context, (void)result;
}

/* Look at traces that are sent on; takes `bytes`. */
static void submit_forwarded(struct pythia__receive *r, const struct pythia_adapter_ops *format,
                             enum pythia_packing packing, char *bytes, size_t size)
{
    const struct pythia__intake_body body = {
        .format = format, .packing = packing, .bytes = bytes, .size = size};
    if (pythia__intake_submit(r->intake, &body, forget_result, r) == PYTHIA_OK)
        return;
    r->unseen++;
    pythia_free(bytes);
}

/* An empty response, which rejects nothing. */
static void answer_taken(struct pythia__http_exchange *x, bool json)
{
    if (json)
        answer_intake_json(x, 200, json_object());
    else
        pythia__http_answer(x, 200, PROTOBUF, NULL, 0);
}

/* Answer first: an overloaded pythiad must not delay what passes through it. */
static void forward_http(struct pythia__receive *r, struct pythia__http_exchange *x,
                         const char *path, const struct pythia_adapter_ops *format, bool traces)
{
    bool zipkin = format == r->zipkin;
    enum pythia__forward_to to = zipkin ? PYTHIA__FORWARD_ZIPKIN : PYTHIA__FORWARD_OTLP;
    enum pythia_packing packing = pythia_packing_named(pythia__http_header(x, "Content-Encoding"));
    bool json = format != r->otlp_protobuf;
    size_t size;
    char *bytes = pythia__http_take_body(x, &size);
    if (!pythia__forward_add(r->forward, to, path, body_type(r, format), packing, bytes, size)) {
        pythia_free(bytes);
        answer_later(r, x, json);
        return;
    }
    if (zipkin)
        pythia__http_answer(x, 202, NULL, NULL, 0);
    else
        answer_taken(x, json);
    if (traces)
        submit_forwarded(r, format, packing, bytes, size);
    else
        pythia_free(bytes);
}

/* Give the body of an exchange to the intake; `done` answers it. */
static void submit_body(struct pythia__receive *r, struct pythia__http_exchange *x, bool json,
                        const struct pythia_adapter_ops *format, pythia__intake_done done)
{
    enum pythia_packing packing = pythia_packing_named(pythia__http_header(x, "Content-Encoding"));
    size_t size;
    if (packing == PYTHIA_PACKINGS) {
        pythia__http_set(x, "Accept-Encoding", "gzip, zstd");
        answer_status(x, json, 415, PYTHIA__GRPC_INVALID_ARGUMENT,
                      "this Content-Encoding is not known: gzip or zstd");
        return;
    }
    struct waiting *w = pythia_calloc(1, sizeof(*w));
    char *bytes = pythia__http_take_body(x, &size);
    int status = PYTHIA_ENOMEM;
    if (w) {
        *w = (struct waiting){r, x, json};
        const struct pythia__intake_body body = {
            .format = format, .packing = packing, .bytes = bytes, .size = size};
        status = pythia__intake_submit(r->intake, &body, done, w);
    }
    if (status == PYTHIA_OK)
        return;
    pythia_free(bytes);
    pythia_free(w);
    answer_later(r, x, json);
}

static bool has_type(const char *type, const char *wanted)
{
    size_t size = strlen(wanted);
    return type && strncasecmp(type, wanted, size) == 0 &&
           (type[size] == '\0' || type[size] == ';' || type[size] == ' ');
}

/* NULL: it is in no format that is taken. */
static const struct pythia_adapter_ops *otlp_format(const struct pythia__receive *r,
                                                    const struct pythia__http_exchange *x)
{
    const char *type = pythia__http_header(x, "Content-Type");
    return has_type(type, JSON) ? r->otlp_json : has_type(type, PROTOBUF) ? r->otlp_protobuf : NULL;
}

static bool is_packing_known(const struct pythia__http_exchange *x)
{
    return pythia_packing_named(pythia__http_header(x, "Content-Encoding")) != PYTHIA_PACKINGS;
}

/* OTLP: bodies of Zipkin may go on without it. */
static bool is_sent_on(const struct pythia__receive *r)
{
    return pythia__forward_takes(r->forward, PYTHIA__FORWARD_OTLP);
}

static void handle_otlp(void *context, struct pythia__http_exchange *x)
{
    struct pythia__receive *r = context;
    const struct pythia_adapter_ops *format = otlp_format(r, x);
    if (format && is_sent_on(r) && is_packing_known(x))
        forward_http(r, x, TRACES_PATH, format, true);
    else if (format)
        submit_body(r, x, format == r->otlp_json, format, answer_otlp);
    else
        pythia__http_say(x, 415, "Content-Type must be " PROTOBUF " or " JSON "\n");
}

static pythia_span_counter *find_counter(const struct pythia__http_exchange *x,
                                         const struct pythia_adapter_ops *format)
{
    const char *coding = pythia__http_header(x, "Content-Encoding");
    return format && pythia_packing_named(coding) == PYTHIA_PACKING_NONE ? format->count : NULL;
}

static pythia_span_counter *otlp_counter(void *context, const struct pythia__http_exchange *x)
{
    return find_counter(x, otlp_format(context, x));
}

static pythia_span_counter *zipkin_counter(void *context, const struct pythia__http_exchange *x)
{
    const struct pythia__receive *r = context;
    return find_counter(x, r->zipkin);
}

static void handle_zipkin(void *context, struct pythia__http_exchange *x)
{
    struct pythia__receive *r = context;
    bool json = has_type(pythia__http_header(x, "Content-Type"), JSON);
    if (json && is_packing_known(x) && pythia__forward_takes(r->forward, PYTHIA__FORWARD_ZIPKIN))
        forward_http(r, x, ZIPKIN_PATH, r->zipkin, true);
    else if (json)
        submit_body(r, x, true, r->zipkin, answer_zipkin);
    else
        pythia__http_say(x, 415, "Content-Type must be " JSON " (Zipkin v2)\n");
}

/* ---- OTLP over gRPC ---- */

static void answer_grpc(void *context, const struct pythia__intake_result *result)
{
    struct pythia__grpc_call *call = context;
    if (result->status == PYTHIA_ELIMIT) {
        pythia__grpc_answer(call, PYTHIA__GRPC_RESOURCE_EXHAUSTED, result->reason, NULL, 0, 0);
    } else if (result->status == PYTHIA_ENOMEM || result->status == PYTHIA_ESTOPPED) {
        pythia__grpc_answer(call, PYTHIA__GRPC_UNAVAILABLE, "not now", NULL, 0, 1000);
    } else if (is_unreadable(result)) {
        pythia__grpc_answer(call, PYTHIA__GRPC_INVALID_ARGUMENT, result->reason, NULL, 0, 0);
    } else {
        struct pythia_buf body = {0};
        put_export_response(&body, result);
        pythia__grpc_answer(call, PYTHIA__GRPC_OK, "", body.bytes, body.size, 0);
        pythia_buf_free(&body);
    }
}

static void refuse_grpc(const struct pythia__receive *r, struct pythia__grpc_call *call)
{
    pythia__grpc_answer(call, PYTHIA__GRPC_UNAVAILABLE, "too much at once: try again later", NULL,
                        0, r->retry_s * 1000);
}

/* Queue a message, and answer its sender. False: there was no room, and it has been told so. */
static bool forward_grpc(struct pythia__receive *r, struct pythia__grpc_call *call,
                         const char *path, enum pythia_packing packing, const char *message,
                         size_t size)
{
    bool taken = pythia__forward_add(r->forward, PYTHIA__FORWARD_OTLP, path, PROTOBUF, packing,
                                     message, size);
    if (taken)
        pythia__grpc_answer(call, PYTHIA__GRPC_OK, "", NULL, 0, 0);
    else
        refuse_grpc(r, call);
    return taken;
}

static void handle_grpc(void *context, struct pythia__grpc_call *call, char *message, size_t size,
                        enum pythia_packing packing)
{
    struct pythia__receive *r = context;
    if (is_sent_on(r)) {
        if (forward_grpc(r, call, TRACES_PATH, packing, message, size))
            submit_forwarded(r, r->otlp_protobuf, packing, message, size);
        else
            pythia_free(message);
        return;
    }
    const struct pythia__intake_body body = {
        .format = r->otlp_protobuf, .packing = packing, .bytes = message, .size = size};
    int status = pythia__intake_submit(r->intake, &body, answer_grpc, call);
    if (status == PYTHIA_OK)
        return;
    pythia_free(message);
    refuse_grpc(r, call);
}

/* ---- metrics and logs ---- */

static const struct {
    const char *name, *path, *method;
} signals[PYTHIA__SIGNALS] = {
    {"metrics", "/v1/metrics", "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"},
    {"logs", "/v1/logs", "/opentelemetry.proto.collector.logs.v1.LogsService/Export"},
};

const char *pythia__signal_name(enum pythia__signal signal)
{
    return signals[signal].name;
}

uint64_t pythia__receive_dropped(const struct pythia__receive *r, enum pythia__signal signal)
{
    return r->others[signal].bodies;
}

uint64_t pythia__receive_unseen(const struct pythia__receive *r)
{
    return r->unseen;
}

static void drop_body(struct other_signal *s)
{
    if (s->bodies++ == 0)
        pythia_log(PYTHIA_LOG_INFO,
                   "A signal other than traces arrives; it is answered and dropped: signal=%s",
                   signals[s->signal].name);
}

static void drop_http(void *context, struct pythia__http_exchange *x)
{
    struct other_signal *s = context;
    const struct pythia_adapter_ops *format = otlp_format(s->receive, x);
    if (!format) {
        pythia__http_say(x, 415, "Content-Type must be " PROTOBUF " or " JSON "\n");
        return;
    }
    if (is_sent_on(s->receive) && is_packing_known(x)) {
        forward_http(s->receive, x, signals[s->signal].path, format, false);
        return;
    }
    drop_body(s);
    answer_taken(x, format == s->receive->otlp_json);
}

static void drop_grpc(void *context, struct pythia__grpc_call *call, char *message, size_t size,
                      enum pythia_packing packing)
{
    struct other_signal *s = context;
    if (is_sent_on(s->receive)) {
        (void)forward_grpc(s->receive, call, signals[s->signal].path, packing, message, size);
    } else {
        drop_body(s);
        pythia__grpc_answer(call, PYTHIA__GRPC_OK, "", NULL, 0, 0);
    }
    pythia_free(message);
}

static void count_no_spans(struct pythia_span_count *c, const char *bytes, size_t size)
{
    (void)c, (void)bytes, (void)size;
}

static pythia_span_counter *no_counter(void *context, const struct pythia__http_exchange *x)
{
    (void)context, (void)x;
    return count_no_spans;
}

static void add_other_signals(struct pythia__receive *r)
{
    for (int i = 0; i < PYTHIA__SIGNALS; i++) {
        r->others[i] = (struct other_signal){r, (enum pythia__signal)i, 0};
        r->otlp_routes[1 + i] = (struct pythia__http_route){
            .method = "POST",
            .path = signals[i].path,
            .role = pythia__route_role(PYTHIA__AT_OTLP_HTTP, "POST", signals[i].path),
            .handle = drop_http,
            .context = &r->others[i],
            .counter = no_counter};
        r->methods[1 + i] = (struct pythia__grpc_method){signals[i].method, drop_grpc,
                                                         &r->others[i], count_no_spans};
    }
}

/* ---- making one ---- */

/* A pause of 0 s would make senders retry at once, so it is at least 1 s. */
int pythia__receive_create(struct pythia__intake *intake, struct pythia__forward *forward,
                           unsigned retry_s, struct pythia__receive **out)
{
    struct pythia__receive *r = pythia_calloc(1, sizeof(*r));
    if (!r)
        return PYTHIA_ENOMEM;
    *r = (struct pythia__receive){.intake = intake,
                                  .forward = forward,
                                  .retry_s = retry_s ? retry_s : 1,
                                  .otlp_json = pythia_adapter_named("otlp"),
                                  .otlp_protobuf = pythia_adapter_named("otlp-proto"),
                                  .zipkin = pythia_adapter_named("zipkin")};
    r->otlp_routes[0] = (struct pythia__http_route){
        .method = "POST",
        .path = TRACES_PATH,
        .role = pythia__route_role(PYTHIA__AT_OTLP_HTTP, "POST", TRACES_PATH),
        .handle = handle_otlp,
        .context = r,
        .counter = otlp_counter};
    r->zipkin_route = (struct pythia__http_route){
        .method = "POST",
        .path = ZIPKIN_PATH,
        .role = pythia__route_role(PYTHIA__AT_ZIPKIN, "POST", ZIPKIN_PATH),
        .handle = handle_zipkin,
        .context = r,
        .counter = zipkin_counter};
    r->methods[0] = (struct pythia__grpc_method){EXPORT, handle_grpc, r, r->otlp_protobuf->count};
    add_other_signals(r);
    *out = r;
    return PYTHIA_OK;
}

void pythia__receive_destroy(struct pythia__receive *r)
{
    pythia_free(r);
}

const struct pythia__http_route *pythia__receive_otlp_routes(struct pythia__receive *r,
                                                             size_t body_max, size_t *count)
{
    for (size_t i = 0; i < PYTHIA__OTLP_ROUTES; i++)
        r->otlp_routes[i].body_max = body_max;
    *count = PYTHIA__OTLP_ROUTES;
    return r->otlp_routes;
}

const struct pythia__http_route *pythia__receive_zipkin_routes(struct pythia__receive *r,
                                                               size_t body_max, size_t *count)
{
    r->zipkin_route.body_max = body_max;
    *count = 1;
    return &r->zipkin_route;
}

const struct pythia__grpc_method *pythia__receive_grpc_methods(struct pythia__receive *r,
                                                               size_t *count)
{
    *count = PYTHIA__OTLP_ROUTES;
    return r->methods;
}
