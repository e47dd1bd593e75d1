/* A packed body as a source of its content. One that grows as only a bomb does is unpacked to its
 * end first, and thrown away: whether it keeps the limit is known then before millions of things in
 * it were looked at. That costs some milliseconds, for what is rare. */
#ifndef PYTHIA_PYTHIAD_EXPANSION_H
#define PYTHIA_PYTHIAD_EXPANSION_H

#include <stdbool.h>

#include "pythia/unpack.h"

struct pythia__expansion {
    struct pythia_source source; /* first, so that one is the other; to read from */
    struct pythia_memory_source bytes;
    struct pythia_text body; /* borrowed */
    enum pythia_packing packing;
    struct pythia_unpack_limits limits;
    struct pythia_unpack *unpack;
    uint64_t given;
    bool looked;
};

/* PYTHIA_OK, or PYTHIA_ENOMEM with the reason in `e`. To be ended with _free, on failure too. */
int pythia__expansion_init(struct pythia__expansion *x, struct pythia_text body,
                           enum pythia_packing packing, const struct pythia_unpack_limits *limits,
                           struct pythia_error *e);
void pythia__expansion_free(struct pythia__expansion *x);

#endif
