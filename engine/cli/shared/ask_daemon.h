/* Ask the control interface of a running pythiad. */
#ifndef PYTHIA_CLI_ASK_DAEMON_H
#define PYTHIA_CLI_ASK_DAEMON_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/option.h"
#include "pythia/web.h"

/* The address and credentials of pythiad; a member of the settings of a command. */
struct pythia__daemon_settings {
    const char *address, *token, *tls_trust;
};

#define PYTHIA__DAEMON_OPTIONS(where)                                                              \
    PYTHIA_TEXT_OPTION("address", 'a', "HOST:PORT|unix:PATH",                                      \
                       (where) + offsetof(struct pythia__daemon_settings, address),                \
                       "Address of pythiad's control interface (default "                          \
                       "unix:/run/pythiad/control.sock if it exists, else 127.0.0.1:4319)"),       \
        PYTHIA_TEXT_OPTION("token", 0, "FILE",                                                     \
                           (where) + offsetof(struct pythia__daemon_settings, token),              \
                           "File with the token of the control interface"),                        \
        PYTHIA_TEXT_OPTION("tls-trust", 0, "FILE",                                                 \
                           (where) + offsetof(struct pythia__daemon_settings, tls_trust),          \
                           "Use TLS, and trust the certificate authorities in a file (PEM)")

/* The address of the settings, or the default. */
const char *pythia__daemon_address(const struct pythia__daemon_settings *s);

/* Ask for a path; `body` (may be NULL) is posted. PYTHIA_OK when there is an answer, whatever it
 * is; else PYTHIA_EIO, said (as a warning if `quiet`), or PYTHIA_ENOMEM. */
int pythia__ask_daemon(const struct pythia__daemon_settings *s, const char *path, const char *body,
                       double timeout_s, bool quiet, struct pythia_web_answer *out);

#endif
