/* Receives OTLP over HTTP and gRPC, and Zipkin, and answers them. Bodies go to the intake; a
 * sender is asked to retry only where that can help. */
#ifndef PYTHIA_PYTHIAD_RECEIVE_H
#define PYTHIA_PYTHIAD_RECEIVE_H

#include "forward.h"
#include "intake.h"
#include "listen/grpc_server.h"
#include "listen/http_server.h"

struct pythia__receive;

/* OpenTelemetry's other signals. Agents send them to where traces go, and log an error for each
 * refusal: they are answered with success, counted and dropped. */
enum pythia__signal { PYTHIA__SIGNAL_METRICS, PYTHIA__SIGNAL_LOGS, PYTHIA__SIGNALS };
const char *pythia__signal_name(enum pythia__signal signal); /* "metrics", "logs" */

/* `intake` and `forward` are borrowed. With `forward` (NULL: there is none) bodies of OTLP, of all
 * signals, are sent on, and their senders are answered once that is certain; what the intake does
 * not take of them is counted. `retry_s`: after how long a refused sender may come again.
 * PYTHIA_OK with *out owned, or PYTHIA_ENOMEM. */
int pythia__receive_create(struct pythia__intake *intake, struct pythia__forward *forward,
                           unsigned retry_s, struct pythia__receive **out);
void pythia__receive_destroy(struct pythia__receive *r); /* after the last answer; may be NULL */

/* Bodies of a signal that were dropped so far. */
uint64_t pythia__receive_dropped(const struct pythia__receive *r, enum pythia__signal signal);

/* Bodies of traces that were sent on, and that there was no time or memory to look at. */
uint64_t pythia__receive_unseen(const struct pythia__receive *r);

/* Routes for HTTP (POST /v1/traces, /v1/metrics and /v1/logs, POST /api/v2/spans) and methods for
 * gRPC; *count of them, borrowed. `body_max`: bytes on the wire. */
#define PYTHIA__OTLP_ROUTES (1 + PYTHIA__SIGNALS)
const struct pythia__http_route *pythia__receive_otlp_routes(struct pythia__receive *r,
                                                             size_t body_max, size_t *count);
const struct pythia__http_route *pythia__receive_zipkin_routes(struct pythia__receive *r,
                                                               size_t body_max, size_t *count);
const struct pythia__grpc_method *pythia__receive_grpc_methods(struct pythia__receive *r,
                                                               size_t *count);

#endif
