#ifndef PYTHIA_CONTROL_HTTP_H
#define PYTHIA_CONTROL_HTTP_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/control.h"

/* The requests of agents, for whoever serves HTTP: the plane "http" has no socket of its own.
 * pythia-control-http(7) says what goes over the wire. Same thread as the plane's other calls. */

#define PYTHIA_CONTROL_HTTP_PATH "/v1/trace-points"
#define PYTHIA_CONTROL_HTTP_TYPE "application/json"
#define PYTHIA_CONTROL_HTTP_ETAG 20 /* bytes, with the quotes and a NUL */

/* GET: what shall be open in a service. `instance` (may be empty) is the process that asks, `match`
 * the header If-None-Match (empty: there is none). Returns the status: 200 with *body (appended)
 * and `etag` (quoted) filled in, 304 with `etag`, or 400, 503 with a sentence in *body; 503 is also
 * what comes of want of memory, with an empty *body. The texts may be hostile. O(points of the
 * service) when the set has changed, else O(log services). */
int pythia_control_http_get(struct pythia_control *plane, struct pythia_text service,
                            struct pythia_text instance, struct pythia_text match, uint64_t now_ns,
                            struct pythia_buf *body, char etag[PYTHIA_CONTROL_HTTP_ETAG]);

/* POST: what an agent says of itself, JSON of `size` bytes. Returns the status: 200, 400, 413 (the
 * body, or what is in it, is too large), 429 (too many agents or points), 503; with JSON, or a
 * sentence, in *body (appended). */
int pythia_control_http_post(struct pythia_control *plane, const char *bytes, size_t size,
                             uint64_t now_ns, struct pythia_buf *body);

/* A service had this point, with so many hits, before the start. Until its agents have said what
 * they have, they get a list of such points. PYTHIA_OK; PYTHIA_EFORMAT or PYTHIA_ELIMIT: it is not
 * taken; PYTHIA_ENOMEM. */
int pythia_control_http_remember(struct pythia_control *plane, struct pythia_text service,
                                 struct pythia_text id, uint64_t hits, uint64_t now_ns);

/* Call `each` with the name of each instance of a service that is not lost, in order, until it
 * returns other than PYTHIA_OK: that is returned. */
int pythia_control_http_instances(const struct pythia_control *plane, struct pythia_text service,
                                  int (*each)(void *context, struct pythia_text instance),
                                  void *context);

/* The largest body that _post takes, in bytes: a server need not read more. */
size_t pythia_control_http_body_max(const struct pythia_control *plane);

struct pythia_control_http_numbers {
    uint64_t services, agents, lost_agents, points; /* now */
    uint64_t polls, unchanged, reports, refused_reports, refused_points, forgotten_agents;
};
struct pythia_control_http_numbers pythia_control_http_numbers(const struct pythia_control *plane,
                                                               uint64_t now_ns);

#endif
