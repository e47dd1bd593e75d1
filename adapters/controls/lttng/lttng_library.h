/* liblttng-ctl, which is loaded when a plane "lttng" is made (pythia/late_library.h). It has one
 * connection for the whole process: one thread uses it. */
#ifndef PYTHIA_CONTROLS_LTTNG_LIBRARY_H
#define PYTHIA_CONTROLS_LTTNG_LIBRARY_H

#include <lttng/lttng.h>

#include "pythia/error.h"

/* Each function under its own name, without "lttng_". */
#define PYTHIA__LTTNG_FUNCTIONS(X)                                                                 \
    X(add_context)                                                                                 \
    X(channel_create)                                                                              \
    X(channel_destroy)                                                                             \
    X(create_handle)                                                                               \
    X(create_session_ext)                                                                          \
    X(destroy_handle)                                                                              \
    X(destroy_session_no_wait)                                                                     \
    X(disable_event)                                                                               \
    X(enable_channel)                                                                              \
    X(enable_event)                                                                                \
    X(event_create)                                                                                \
    X(event_destroy)                                                                               \
    X(list_events)                                                                                 \
    X(list_sessions)                                                                               \
    X(list_tracepoints)                                                                            \
    X(session_descriptor_destroy)                                                                  \
    X(session_descriptor_live_network_create)                                                      \
    X(start_tracing)                                                                               \
    X(strerror)

struct pythia__lttng_library {
#define X(name) __typeof__(lttng_##name) *(name);
    PYTHIA__LTTNG_FUNCTIONS(X)
#undef X
};
extern struct pythia__lttng_library pythia__lttng;

/* Load it, once. PYTHIA_OK, or PYTHIA_EIO with what to install. */
int pythia__lttng_library_load(struct pythia_error *e);

#endif
