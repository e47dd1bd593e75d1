/* HTTP/1.1 on the loop's thread: one listener, a table of routes. Requests are taken whole, within
 * limits, and answered at once or later. */
#ifndef PYTHIA_PYTHIAD_HTTP_SERVER_H
#define PYTHIA_PYTHIAD_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "access.h"
#include "eviction.h"
#include "pythia/error.h"
#include "room.h"

struct pythia__http_server;
struct pythia__http_exchange;

struct pythia__http_route {
    const char *method,
        *path; /* "POST", "/v1/traces"; a path that ends with / is of all below it */
    enum pythia__role role;
    size_t body_max; /* bytes on the wire; more is answered with 413 */
    /* Answer the exchange, now or later. */
    void (*handle)(void *context, struct pythia__http_exchange *x);
    void *context;
    /* Counts the spans of a body of which only the headers are known; a result of NULL: they
     * cannot be counted. NULL: such a body has none. */
    pythia_span_counter *(*counter)(void *context, const struct pythia__http_exchange *x);
};

struct pythia__http_options {
    const char *address; /* "127.0.0.1:4318", "[::1]:4318", "*:4318", or "unix:/path" (mode 0600) */
    const struct pythia__http_route *routes; /* borrowed */
    size_t route_count;
    const char *tokens[PYTHIA__ROLES]; /* of the roles (access.h); NULL: none; borrowed */
    const char *tls_key, *tls_certificate, *tls_trust; /* PEM texts; NULL: no TLS, no client's
                                                          certificate asked for */
    unsigned connections_max;                          /* 0: 256 */
    struct pythia__room *room; /* for bodies of PYTHIA__ROLE_INGEST; borrowed; NULL: no limit */
    unsigned retry_s;          /* after how long one for which there is none may come again */
    unsigned header_s, body_s, idle_s; /* 0: 10, 30 and 60: a connection that takes longer is closed
                                        */
};

struct pythia__http_numbers {
    uint64_t connections, requests, too_large, not_allowed, timed_out;
    uint64_t deferred; /* times that bytes of a body waited for a later turn of the loop */
    uint64_t refused_connections;    /* beyond the limit, while all others delivered */
    uint64_t evicted[PYTHIA__WAITS]; /* for the sake of a new one, by what they waited for */
    uint64_t by_class[6];            /* answers of 1xx to 5xx */
};

/* Listen. PYTHIA_OK with *out owned, or negative with the reason in `e`. */
int pythia__http_create(uv_loop_t *loop, const struct pythia__http_options *options,
                        struct pythia__http_server **out, struct pythia_error *e);
/* Accept no more connections; open ones are answered. */
void pythia__http_quiesce(struct pythia__http_server *s);
/* Every exchange has to be answered before. Handles are closed by the loop's next round. */
void pythia__http_destroy(struct pythia__http_server *s);
unsigned pythia__http_port(const struct pythia__http_server *s); /* 0: not TCP */
struct pythia__http_numbers pythia__http_numbers(const struct pythia__http_server *s);

/* ---- an exchange: valid until it is answered ---- */

/* The path of the request without its query. Borrowed. */
const char *pythia__http_path(const struct pythia__http_exchange *x);
/* The first header, or query argument, of that name; NULL: there is none. Borrowed. */
const char *pythia__http_header(const struct pythia__http_exchange *x, const char *name);
const char *pythia__http_query(const struct pythia__http_exchange *x, const char *name);

/* The body, NUL behind it; NULL if there is none. _take makes it the caller's (pythia_free), and it
 * leaves the room for bodies. */
const char *pythia__http_body(const struct pythia__http_exchange *x, size_t *size);
char *pythia__http_take_body(struct pythia__http_exchange *x, size_t *size);

/* May the client do what the role permits? */
bool pythia__http_has_role(const struct pythia__http_exchange *x, enum pythia__role role);

/* A header of the answer (copied), before it is given. */
void pythia__http_set(struct pythia__http_exchange *x, const char *name, const char *value);

/* Answer, once: `bytes` (taken, may be NULL) are of that type. The exchange is then gone. */
void pythia__http_answer(struct pythia__http_exchange *x, unsigned status, const char *type,
                         char *bytes, size_t size);
/* As pythia__http_answer, with a text (copied), as text/plain. */
void pythia__http_say(struct pythia__http_exchange *x, unsigned status, const char *text);

/* Turn the answer of another route into that of this one: `bytes` (borrowed) of `size`. Returns
 * the new body, which is JSON, and its size; NULL when out of memory. */
typedef char *(*pythia__http_wrap)(void *context, unsigned status, const char *bytes, size_t *size);

/* Let another route of this server answer in place of the one that was asked, as if the same client
 * had asked it: its role is asked for again. `target` has at most one query argument; `body`
 * (taken) is posted, NULL: GET. `wrap` is called once. */
void pythia__http_forward(struct pythia__http_exchange *x, const char *target, char *body,
                          pythia__http_wrap wrap, void *context);

#endif
