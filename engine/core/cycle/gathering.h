/* From request to evidence: what a capture played as if it were live and a live stream do with each
 * request that they have seen whole, in the same way. */
#ifndef PYTHIA_CORE_GATHERING_H
#define PYTHIA_CORE_GATHERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence.h"
#include "pythia/critical_path.h"
#include "pythia/effects.h"
#include "pythia/groups.h"
#include "pythia/hider.h"
#include "pythia/search.h"
#include "rare.h"
#include "unknown_points.h"

/* What they keep from request to request. {0} may be freed. */
struct pythia__gathering {
    struct pythia_vocabulary *vocabulary; /* borrowed */
    struct pythia_groups_options groups;
    struct pythia_hider *hider;       /* owned */
    struct pythia_effects *effects;   /* owned: of points that were opened */
    struct pythia_critical_path path; /* of the request that was seen last */
    struct pythia_critical_path kept_path;
    struct pythia__rare_types rare;
    struct pythia__unknown_points unknown; /* whose owner says what the search space knows */
};

/* `rare_bytes`: what requests of types that are too rare for one cycle may take; 0: 16 MiB.
 * PYTHIA_OK or PYTHIA_ENOMEM; to be freed in any case. */
int pythia__gathering_init(struct pythia__gathering *g, struct pythia_vocabulary *vocabulary,
                           const struct pythia_groups_options *groups,
                           const struct pythia_search_options *search, size_t rare_bytes);
void pythia__gathering_free(struct pythia__gathering *g);

/* Begin the evidence of a cycle, by the lineages of that skeleton (NULL: not known), in which what
 * opened points explain is measured if they are given (`open`, borrowed as effects.h says; NULL: it
 * is not). PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__gathering_begin(struct pythia__gathering *g, struct pythia__evidence *e,
                            struct pythia_open_points *skeleton, struct pythia_open_points *open);

/* Requests that were kept of rare types are evidence of this stage too. *most (may be NULL) becomes
 * at least as many as it has of one of them now. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__gathering_carry(struct pythia__gathering *g, struct pythia__evidence *e, int stage,
                            uint64_t *most);

/* The request as it looks with these points open (NULL: as it is), where `types` (NULL: none is)
 * says which are open for some types only. Returns 0 with *out borrowed until the next call, 1 if
 * nothing of it is left, or PYTHIA_ENOMEM; `counts` gets what was hidden, and what of it is of no
 * trace point of the search space is noted. */
int pythia__gathering_see(struct pythia__gathering *g, struct pythia_open_points *open,
                          const struct pythia_hider_types *types, const struct pythia_trace *whole,
                          struct pythia_counts *counts, const struct pythia_trace **out);

/* Add what was seen of a request, whose critical path is in `path`, as one of that type (number of
 * a string). `searched`: the type is searched, and where it is rare its requests are kept for the
 * next cycle; *all: how many the stage has of it then. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__gathering_add(struct pythia__gathering *g, struct pythia__evidence *e, int stage,
                          uint32_t type, bool searched, const struct pythia_trace *trace,
                          uint64_t *all);

#endif
