/* TLS by GnuTLS over bytes in memory: whoever owns the socket carries them. */
#ifndef PYTHIA_PYTHIAD_TLS_H
#define PYTHIA_PYTHIAD_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/buf.h"
#include "pythia/error.h"

/* A server's key and certificate, for all its connections. */
struct pythia__tls;

/* PEM texts; `trust` (NULL: none) are the authorities of which a client's certificate must be. TLS
 * 1.2 and 1.3; `protocol` is what is agreed on by ALPN ("h2"). PYTHIA_OK with *out owned, or
 * negative with the reason in `e`. */
int pythia__tls_create(const char *key, const char *certificate, const char *trust,
                       const char *protocol, struct pythia__tls **out, struct pythia_error *e);
void pythia__tls_destroy(struct pythia__tls *t); /* after its sessions; t may be NULL */

struct pythia__tls_session;
/* Begin the server's side of a connection; `t` must outlive it. PYTHIA_OK with *out owned, or
 * PYTHIA_ENOMEM. */
int pythia__tls_session_create(struct pythia__tls *t, struct pythia__tls_session **out);
void pythia__tls_session_destroy(struct pythia__tls_session *s); /* s may be NULL */

/* Is the handshake over? Only then can anything be said. */
bool pythia__tls_is_ready(const struct pythia__tls_session *s);

/* Bytes came from the socket: what they say is appended to `plain`, and what has to go to the
 * socket for it to `wire`. PYTHIA_OK, 1 when the other side has ended it, or negative when the
 * connection has to be closed. */
int pythia__tls_receive(struct pythia__tls_session *s, const char *bytes, size_t size,
                        struct pythia_buf *plain, struct pythia_buf *wire);
/* Say something: what has to go to the socket is appended to `wire`. */
int pythia__tls_send(struct pythia__tls_session *s, const char *bytes, size_t size,
                     struct pythia_buf *wire);

#endif
