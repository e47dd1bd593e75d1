#ifndef PYTHIA_PROBE_ID_H
#define PYTHIA_PROBE_ID_H

#include <limits.h>
#include <stdint.h>

#include "pythia/error.h"
#include "pythia/probe_program.h"
#include "pythia/text.h"

/* Which probe of which program: "PROVIDER:NAME /PATH", and after that the number of a process if it
 * is opened in that one alone. */
struct pythia_probe_id {
    struct pythia_text whole, provider, name; /* borrowed from what was read */
    uint32_t pid;                             /* 0: in every process that runs the program */
    char path[PATH_MAX];
};

#define PYTHIA_PROBE_PID_MAX 4194304 /* Linux gives none above */

/* A message to pythia-probe: a verb and an id. The verbs that attach a probe say which hits of it
 * are reported (probe_program.h):
 *
 *     attach ID     all
 *     enter MARK ID all; the thread is in a request from then on
 *     leave MARK ID all; a thread that "enter" with the same mark has put into a request is out
 *     within ID     of threads that are in a request
 *     detach ID */
struct pythia_probe_message {
    struct pythia_probe_id id;
    enum pythia_probe_role role;
    uint32_t mark; /* 0 to PYTHIA_PROBE_MARK_MAX */
    bool detach;
};

/* Read a message. PYTHIA_OK, or PYTHIA_EFORMAT with the reason in `e`; out->id.whole is in any case
 * what an answer names, maybe empty. */
int pythia_probe_message_read(struct pythia_text text, struct pythia_probe_message *out,
                              struct pythia_error *e);

#endif
