#ifndef PYTHIA_CRITICAL_PATH_H
#define PYTHIA_CRITICAL_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/trace.h"

enum pythia_event_kind {
    PYTHIA_EVENT_START,
    PYTHIA_EVENT_END,
    PYTHIA_EVENT_ANNOTATION,
};

/* One step of a critical path. */
struct pythia_path_event {
    uint64_t at_ns;
    uint32_t span;       /* index into the trace */
    uint32_t tracepoint; /* of that span */
    uint8_t kind;        /* enum pythia_event_kind */
    /* START: the span began before; the path enters it here, where what it waited for has ended.
     * END: the root goes on beside the next one, where the path goes on. */
    bool synthetic;
};

/* The definition of a request's duration. */
enum pythia_latency {
    PYTHIA_LATENCY_COMPLETION, /* until all work has ended, also what the client did not wait for */
    PYTHIA_LATENCY_CLIENT,     /* until the last root has ended */
};

/* The chain of events that made a request last as long as it did: well nested, in order of time,
 * and its gaps add up to exactly the duration of the request. Reuses its memory: init it once and
 * give it to many calls. */
struct pythia_critical_path {
    struct pythia_path_event *events; /* owned */
    size_t count, capacity;
    struct pythia__path_frame *frames; /* scratch, owned */
    uint32_t *kids, *scratch;
    uint64_t *entered; /* a bit for each span: forked work that is on the path already */
    size_t frame_capacity, kid_capacity, scratch_capacity, entered_capacity;
};

static inline void pythia_critical_path_init(struct pythia_critical_path *p)
{
    *p = (struct pythia_critical_path){0};
}
/* Free the path and the scratch memory of its search. */
void pythia_critical_path_free(struct pythia_critical_path *p);

/* Walk backwards from the end: within a span the child that ended last, and not after the point
 * reached, comes next, and its start is the next point (if that end is the end of work known to
 * be asynchronous, and too late, the child's own end counts); children that overlap it ran beside
 * it and are passed over. Of roots that overlap, the first is gone through up to where the next one
 * took over, so that the path begins where the request does. A wait for forked work leads to that
 * work if it ended while it was waited for, and is a child like any other if not. The path of a
 * trace has at least one event. (Zhang et al., "CRISP: Critical Path Analysis of Large-Scale
 * Microservice Architectures", USENIX ATC 2022; joins as in Toslali et al., "VAIF", SoCC 2021.)
 * Cost: O(k log k) for the k children of spans on the path. Returns PYTHIA_OK or PYTHIA_ENOMEM;
 * then p->count is 0.
 */
int pythia_critical_path_find(struct pythia_critical_path *p, const struct pythia_trace *trace,
                              enum pythia_latency latency);

#endif
