/* Time by the names of spans: all of it, wherever in a request they are. */
#ifndef PYTHIA_CLI_PROFILE_SPANS_H
#define PYTHIA_CLI_PROFILE_SPANS_H

#include "pythia/buf.h"
#include "pythia/trace.h"

enum pythia__span_profile_by {
    PYTHIA__PROFILE_NAME,  /* trace point */
    PYTHIA__PROFILE_LEAF,  /* of spans below which there is nothing */
    PYTHIA__PROFILE_LEVEL, /* trace point and level: 1 for a root */
};

struct pythia__span_profile;

/* PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__span_profile_create(enum pythia__span_profile_by by, struct pythia__span_profile **out);
void pythia__span_profile_destroy(struct pythia__span_profile *p); /* p may be NULL */

/* Add all spans of a request. PYTHIA_OK or PYTHIA_ENOMEM. O(spans). */
int pythia__span_profile_add(struct pythia__span_profile *p, const struct pythia_trace *trace);

/* Append "3200 requests (400 seen)": how many requests there were, and how many of them a sampler
 * kept, if these are fewer. */
void pythia__add_requests_seen(struct pythia_buf *to, uint64_t requests, uint64_t seen);

/* Append a table, most time first, at most `top` rows. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__span_profile_print(struct pythia__span_profile *p,
                               const struct pythia_vocabulary *vocabulary, size_t top,
                               struct pythia_buf *to);

#endif
