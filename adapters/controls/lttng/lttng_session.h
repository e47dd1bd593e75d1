/* A session of LTTng that is pythiad's own: it records user space, live, to a relay daemon, the
 * events that are enabled one by one. All functions wait for the session daemon, and are called by
 * one thread of the process. */
#ifndef PYTHIA_CONTROLS_LTTNG_SESSION_H
#define PYTHIA_CONTROLS_LTTNG_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/error.h"

/* A relay daemon: "HOST" or "HOST:CONTROL:DATA:LIVE", the numbers of its ports. */
struct pythia__lttng_relay {
    char host[256];
    unsigned control, data, live;
};
int pythia__lttng_relay_parse(const char *text, struct pythia__lttng_relay *out,
                              struct pythia_error *e);

#define PYTHIA__LTTNG_NAME_BYTES 128 /* of a session */

struct lttng_handle;
struct pythia__lttng_session {
    struct lttng_handle *handle;         /* owned; NULL: there is no session */
    char name[PYTHIA__LTTNG_NAME_BYTES]; /* "pythia-PID-START-NUMBER" */
};

/* What the names of all sessions of this process begin with: "pythia-PID-START-". */
void pythia__lttng_session_prefix(char out[PYTHIA__LTTNG_NAME_BYTES]);

/* Destroy the sessions of pythiads that run no more. *count of them. PYTHIA_OK, or PYTHIA_EIO: the
 * session daemon does not answer. */
int pythia__lttng_sessions_clean(size_t *count, struct pythia_error *e);

/* Destroy all sessions whose names begin so. PYTHIA_OK or PYTHIA_EIO, as above. */
int pythia__lttng_sessions_destroy(const char *prefix, struct pythia_error *e);

/* Create a session with a channel, the contexts vpid and vtid, and no event, and start it. `number`
 * tells those of one process apart. */
int pythia__lttng_session_open(const struct pythia__lttng_relay *relay, uint64_t number,
                               struct pythia__lttng_session *out, struct pythia_error *e);
void pythia__lttng_session_close(struct pythia__lttng_session *s);

/* Where a reader finds it: "net://HOST:LIVE/host/THIS-MACHINE/NAME". */
void pythia__lttng_session_url(const struct pythia__lttng_session *s,
                               const struct pythia__lttng_relay *relay, struct pythia_buf *to);

/* Enable or disable an event. LTTng takes any name: it waits for a program that has it. */
int pythia__lttng_session_switch(const struct pythia__lttng_session *s, const char *event, bool on,
                                 struct pythia_error *e);

/* Give `each` the events that are enabled in a session, or (NULL) that programs of this user, or
 * of all if the session daemon is root's, have. Names may come several times. */
int pythia__lttng_session_events(const struct pythia__lttng_session *s,
                                 void (*each)(void *context, const char *event), void *context,
                                 struct pythia_error *e);

#endif
