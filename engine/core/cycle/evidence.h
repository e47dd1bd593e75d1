/* From requests to decisions: the evidence of one cycle, and what successive cycles share to make
 * it. A capture that is played as if it were live and a live stream use the same functions, so that
 * they come to the same results. */
#ifndef PYTHIA_CORE_EVIDENCE_H
#define PYTHIA_CORE_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/critical_path.h"
#include "pythia/effects.h"
#include "pythia/groups.h"
#include "pythia/hider.h"
#include "pythia/search.h"
#include "pythia/trace.h"
#include "types/rare.h"
#include "unknown_points.h"

/* Shared by all cycles. {0} may be freed. */
struct pythia__evidence_context {
    struct pythia_vocabulary *vocabulary; /* borrowed */
    struct pythia_groups_options groups;
    struct pythia_hider *hider;       /* owned */
    struct pythia_effects *effects;   /* owned: of points that were opened */
    struct pythia_critical_path path; /* of the request that is being added */
    struct pythia_critical_path carried_path;
    struct pythia__rare_types rare;
    struct pythia__unknown_points unknown; /* its owner sets which points the search space has */
};

/* Requests of one cycle, seen whole with one set of open points. {0} is empty. */
struct pythia__evidence {
    struct pythia_groups *groups;   /* owned; NULL before the first _begin */
    struct pythia_effects *effects; /* borrowed: gets what opened points explain; NULL: these
                                       requests are not measured for that */
    uint64_t *hits;                 /* owned: spans, by trace point */
    size_t hit_capacity;
    uint64_t requests, spans;
    uint64_t begin_ns, end_ns; /* when the first request began, and the last one was completed: by
                                  our own clock, where that of a sender is off */
    uint64_t last_begin_ns;    /* when the last request began */
    uint64_t longest_ns;       /* of all requests, until completion */
};

/* `rare_bytes`: memory for requests of types that are too rare for one cycle; 0: 16 MiB. PYTHIA_OK
 * or PYTHIA_ENOMEM; to be freed in any case. */
int pythia__evidence_context_init(struct pythia__evidence_context *c,
                                  struct pythia_vocabulary *vocabulary,
                                  const struct pythia_groups_options *groups,
                                  const struct pythia_search_options *search, size_t rare_bytes);
void pythia__evidence_context_free(struct pythia__evidence_context *c);

/* Empty the evidence for a cycle, whose lineages follow that skeleton (NULL: not known). `open`:
 * measure what opened points explain, in requests seen with these points open (borrowed as
 * effects.h says); NULL: not yet. PYTHIA_OK, or PYTHIA_ENOMEM; then there are no groups. */
int pythia__evidence_begin(struct pythia__evidence_context *c, struct pythia__evidence *e,
                           struct pythia_open_points *skeleton, struct pythia_open_points *open);
void pythia__evidence_free(struct pythia__evidence *e);

/* Begin to measure what opened points explain, as above. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__evidence_measure(struct pythia__evidence_context *c, struct pythia__evidence *e,
                             struct pythia_open_points *open);

/* Hide of a request what is not open (`open` NULL: hide nothing); `types` (NULL: none) says which
 * points are open for some types only. Returns 0 with *out borrowed until the next call, 1 if
 * nothing of the request is left, or PYTHIA_ENOMEM; `counts` gets the hidden spans, and those whose
 * trace points the search space does not have are noted. */
int pythia__evidence_hide(struct pythia__evidence_context *c, struct pythia_open_points *open,
                          const struct pythia_hider_types *types, const struct pythia_trace *whole,
                          struct pythia_counts *counts, const struct pythia_trace **out);

/* Add what was seen of a request, whose critical path is in c->path, as one of that type (number of
 * a string). `searched`: the type is searched, and while it is rare its requests are retained for
 * the next cycle; then *all becomes the number of its requests in the stage. PYTHIA_OK or
 * PYTHIA_ENOMEM. */
int pythia__evidence_add(struct pythia__evidence_context *c, struct pythia__evidence *e, int stage,
                         uint32_t type, bool searched, const struct pythia_trace *trace,
                         uint64_t *all);

/* Add the retained requests of rare types to the evidence of this stage; they count neither as its
 * requests, nor in what opened points explain. *most (may be NULL) rises to the number of requests
 * that it has of one of these types. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__evidence_carry(struct pythia__evidence_context *c, struct pythia__evidence *e,
                           int stage, uint64_t *most);

/* Close the evidence, which took so many seconds, and let the search decide in the cycle of that
 * number. `search` NULL: nothing is decided, and *out is left as it is. PYTHIA_OK or
 * PYTHIA_ENOMEM. */
int pythia__evidence_decide(struct pythia__evidence *e, struct pythia_search *search,
                            uint64_t number, double seconds, struct pythia_cycle *out);

#endif
