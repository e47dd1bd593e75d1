/* What was seen in one cycle, and what is decided from it: the part that a capture played as if it
 * were live and a live stream have in common. */
#ifndef PYTHIA_CORE_EVIDENCE_H
#define PYTHIA_CORE_EVIDENCE_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/critical_path.h"
#include "pythia/effects.h"
#include "pythia/groups.h"
#include "pythia/search.h"
#include "pythia/trace.h"

/* Requests seen whole with one set of open points. {0} is empty. */
struct pythia__evidence {
    struct pythia_groups *groups;   /* owned; NULL before the first _begin */
    struct pythia_effects *effects; /* borrowed: what points that were opened explain; NULL: that is
                                       not measured in these requests */
    uint64_t *hits;                 /* owned: spans, by trace point */
    size_t hit_capacity;
    uint64_t requests, spans;
    uint64_t begin_ns, end_ns; /* when the first request began, and the last one was completed: by
                                  our own clock, where that of a sender is off */
    uint64_t last_begin_ns;    /* when the last one began */
    uint64_t longest_ns;       /* of them, until completion */
};

/* Make it empty, for a cycle. PYTHIA_OK or PYTHIA_ENOMEM; then there are no groups. */
int pythia__evidence_begin(struct pythia__evidence *e, struct pythia_vocabulary *vocabulary,
                           const struct pythia_groups_options *options);
void pythia__evidence_free(struct pythia__evidence *e);

/* Measure in the requests that follow, seen with these points open (borrowed as effects.h says),
 * what points explain. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__evidence_measure(struct pythia__evidence *e, struct pythia_effects *effects,
                             struct pythia_open_points *open);

/* Add a request of that type (the string number of its name) with its critical path. PYTHIA_OK or
 * PYTHIA_ENOMEM. */
int pythia__evidence_add_typed(struct pythia__evidence *e, uint32_t type,
                               const struct pythia_trace *trace,
                               const struct pythia_critical_path *path);

/* The same for a request that was evidence in the last `cycles` cycles too: it counts neither as a
 * request of this one, nor in what points explain. */
int pythia__evidence_carry(struct pythia__evidence *e, uint32_t type,
                           const struct pythia_trace *trace,
                           const struct pythia_critical_path *path, uint64_t cycles);

/* No more will be added, and it took so many seconds: let the search decide (NULL: nobody does, and
 * *out is left as it is) in the cycle of that number. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__evidence_decide(struct pythia__evidence *e, struct pythia_search *search,
                            uint64_t number, double seconds, struct pythia_cycle *out);

#endif
