#include "tls.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define PRIORITIES  "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"
#define PIECE_BYTES ((size_t)16 * 1024)

struct pythia__tls {
    gnutls_certificate_credentials_t credentials;
    gnutls_priority_t priorities;
    const char *protocol;
    bool asks_for_certificate;
};

struct pythia__tls_session {
    gnutls_session_t session;
    const char *in; /* bytes of the socket that were not read yet */
    size_t in_size;
    struct pythia_buf *out;
    bool shaken;
};

static gnutls_datum_t make_datum(const char *text)
{
    return (gnutls_datum_t){pythia_without_const(text), (unsigned)strlen(text)};
}

/* An empty list of authorities is an error, because it would refuse every sender. */
int pythia__tls_create(const char *key, const char *certificate, const char *trust,
                       const char *protocol, struct pythia__tls **out, struct pythia_error *e)
{
    struct pythia__tls *t = pythia_calloc(1, sizeof(*t));
    if (!t)
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory for TLS");
    t->protocol = protocol;
    t->asks_for_certificate = trust != NULL;
    gnutls_datum_t key_text = make_datum(key), certificate_text = make_datum(certificate);
    int result = gnutls_certificate_allocate_credentials(&t->credentials);
    if (result == GNUTLS_E_SUCCESS)
        result = gnutls_certificate_set_x509_key_mem(t->credentials, &certificate_text, &key_text,
                                                     GNUTLS_X509_FMT_PEM);
    if (result >= 0 && trust) {
        gnutls_datum_t trust_text = make_datum(trust);
        result =
            gnutls_certificate_set_x509_trust_mem(t->credentials, &trust_text, GNUTLS_X509_FMT_PEM);
        if (result == 0)
            result = GNUTLS_E_NO_CERTIFICATE_FOUND;
    }
    if (result >= 0)
        result = gnutls_priority_init(&t->priorities, PRIORITIES, NULL);
    if (result < 0) {
        pythia__tls_destroy(t);
        return pythia_error_set(e, PYTHIA_EUSAGE, "the TLS key and certificate cannot be used: %s",
                                gnutls_strerror(result));
    }
    *out = t;
    return PYTHIA_OK;
}

void pythia__tls_destroy(struct pythia__tls *t)
{
    if (!t)
        return;
    if (t->credentials)
        gnutls_certificate_free_credentials(t->credentials);
    if (t->priorities)
        gnutls_priority_deinit(t->priorities);
    pythia_free(t);
}

static ssize_t pull_bytes(gnutls_transport_ptr_t transport, void *to, size_t size)
{
    struct pythia__tls_session *s = transport;
    size = size < s->in_size ? size : s->in_size;
    if (size == 0) {
        gnutls_transport_set_errno(s->session, EAGAIN);
        return -1;
    }
    memcpy(to, s->in, size);
    s->in += size;
    s->in_size -= size;
    return (ssize_t)size;
}

static int can_pull(gnutls_transport_ptr_t transport, unsigned ms)
{
    struct pythia__tls_session *s = transport;
    (void)ms;
    return s->in_size > 0;
}

static ssize_t push_bytes(gnutls_transport_ptr_t transport, const void *bytes, size_t size)
{
    struct pythia__tls_session *s = transport;
    pythia_buf_add(s->out, bytes, size);
    if (pythia_buf_status(s->out) == PYTHIA_OK)
        return (ssize_t)size;
    gnutls_transport_set_errno(s->session, ENOMEM);
    return -1;
}

/* ALPN is mandatory: HTTP/2 over TLS requires it (RFC 9113, 3.2). */
int pythia__tls_session_create(struct pythia__tls *t, struct pythia__tls_session **out)
{
    struct pythia__tls_session *s = pythia_calloc(1, sizeof(*s));
    if (!s)
        return PYTHIA_ENOMEM;
    if (gnutls_init(&s->session, GNUTLS_SERVER | GNUTLS_NONBLOCK) != GNUTLS_E_SUCCESS) {
        pythia_free(s);
        return PYTHIA_ENOMEM;
    }
    gnutls_datum_t protocol = make_datum(t->protocol);
    gnutls_priority_set(s->session, t->priorities);
    gnutls_credentials_set(s->session, GNUTLS_CRD_CERTIFICATE, t->credentials);
    gnutls_alpn_set_protocols(s->session, &protocol, 1, GNUTLS_ALPN_MANDATORY);
    if (t->asks_for_certificate) {
        gnutls_certificate_server_set_request(s->session, GNUTLS_CERT_REQUIRE);
        gnutls_session_set_verify_cert(s->session, NULL, 0);
    }
    gnutls_transport_set_ptr(s->session, s);
    gnutls_transport_set_pull_function(s->session, pull_bytes);
    gnutls_transport_set_pull_timeout_function(s->session, can_pull);
    gnutls_transport_set_push_function(s->session, push_bytes);
    *out = s;
    return PYTHIA_OK;
}

void pythia__tls_session_destroy(struct pythia__tls_session *s)
{
    if (!s)
        return;
    gnutls_deinit(s->session);
    pythia_free(s);
}

bool pythia__tls_is_ready(const struct pythia__tls_session *s)
{
    return s->shaken;
}

/* gnutls pulls bytes from `in` until it is empty; AGAIN then means that the rest has not arrived
 * yet. */
int pythia__tls_receive(struct pythia__tls_session *s, const char *bytes, size_t size,
                        struct pythia_buf *plain, struct pythia_buf *wire)
{
    char piece[PIECE_BYTES];
    s->in = bytes;
    s->in_size = size;
    s->out = wire;
    while (!s->shaken) {
        int result = gnutls_handshake(s->session);
        if (result == GNUTLS_E_SUCCESS)
            s->shaken = true;
        else if (result == GNUTLS_E_AGAIN)
            return PYTHIA_OK;
        else if (gnutls_error_is_fatal(result))
            return PYTHIA_EFORMAT;
    }
    for (;;) {
        ssize_t got = gnutls_record_recv(s->session, piece, sizeof(piece));
        if (got > 0)
            pythia_buf_add(plain, piece, (size_t)got);
        else if (got == 0)
            return 1;
        else if (got == GNUTLS_E_AGAIN)
            return pythia_buf_status(plain);
        else if (gnutls_error_is_fatal((int)got))
            return PYTHIA_EFORMAT;
    }
}

int pythia__tls_send(struct pythia__tls_session *s, const char *bytes, size_t size,
                     struct pythia_buf *wire)
{
    s->out = wire;
    while (size > 0) {
        ssize_t sent = gnutls_record_send(s->session, bytes, size);
        if (sent < 0 && gnutls_error_is_fatal((int)sent))
            return PYTHIA_EIO;
        if (sent < 0)
            continue; /* interrupted: a push never has to wait */
        bytes += sent;
        size -= (size_t)sent;
    }
    return pythia_buf_status(wire);
}
