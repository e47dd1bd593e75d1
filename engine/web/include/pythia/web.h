#ifndef PYTHIA_WEB_H
#define PYTHIA_WEB_H

#include <stdatomic.h>
#include <stddef.h>

#include "pythia/buf.h"
#include "pythia/error.h"

#define PYTHIA_WEB_HEADERS 8

/* A connection that stays open from one request to the next, so that only the first one has to make
 * it. One thread at a time. */
struct pythia_web_link;

/* NULL when out of memory, or without libcurl, which requests will say. */
struct pythia_web_link *pythia_web_link_create(void);
void pythia_web_link_destroy(struct pythia_web_link *link); /* link may be NULL */

/* A request over HTTP or HTTPS, without proxies and without following redirections. All texts are
 * borrowed. */
struct pythia_web_request {
    const char *url;
    const char *socket; /* path of a unix socket to use; NULL: none */
    const char *trust;  /* PEM file of authorities; NULL: those of the system */
    const char *headers[PYTHIA_WEB_HEADERS]; /* "Name: value"; NULL ends them */
    const char *body;                        /* posted; NULL: GET */
    struct pythia_web_link *link;            /* to use; NULL: a connection for this request alone */
    size_t body_size, answer_max;            /* a longer answer is an error; 0: any */
    double timeout_s;                        /* for all of it */
    const atomic_bool *stop;                 /* once it is true the request fails within a second */
};

struct pythia_web_answer {
    struct pythia_buf body; /* owned by the caller (pythia_buf_free), also after a failure */
    long status;            /* of HTTP; 0: there was none */
};

/* Ask, and wait. PYTHIA_OK when there is an answer, whatever it says; PYTHIA_EIO with the reason in
 * `e`, or PYTHIA_ENOMEM. Any thread; `out` begins zeroed. */
int pythia_web_ask(const struct pythia_web_request *request, struct pythia_web_answer *out,
                   struct pythia_error *e);

#endif
