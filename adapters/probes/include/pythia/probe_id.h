#ifndef PYTHIA_PROBE_ID_H
#define PYTHIA_PROBE_ID_H

#include <limits.h>

#include "pythia/error.h"
#include "pythia/text.h"

/* Which probe of which program: "PROVIDER:NAME /PATH", as messages to pythia-probe have it. */
struct pythia_probe_id {
    struct pythia_text whole, provider, name; /* borrowed from what was read */
    char path[PATH_MAX];
};

/* Read an id. PYTHIA_OK, or PYTHIA_EFORMAT with the reason in `e` and *out unchanged. */
int pythia_probe_id_read(struct pythia_text text, struct pythia_probe_id *out,
                         struct pythia_error *e);

#endif
