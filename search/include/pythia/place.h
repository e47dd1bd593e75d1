#ifndef PYTHIA_PLACE_H
#define PYTHIA_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/cct.h"
#include "pythia/layers.h"

/* Either what lies between two events in a context, named by trace points, which stay what they are
 * when others open or close; or the own time of a trace point (own_time.h), which is then the
 * context and both trace points, from its start to its end. */
struct pythia_place {
    uint32_t context; /* the innermost trace point around it, or PYTHIA_NONE */
    uint32_t from_tracepoint, to_tracepoint;
    uint8_t from_event, to_event; /* enum pythia_event_kind */
    bool own;                     /* it is the own time of the context */
    /* The context is below the application, and works for `host`: "kernel.poll" says little without
     * it. It belongs to the evidence that the place was last seen in, and not to the place. */
    bool hosted;
    uint32_t host;
};

/* A place with a smaller share of the variance is neither named as a cause nor searched further:
 * noise that is spread over many edges always leaves some share to each of them. */
#define PYTHIA_FINDING_MIN .15

/* The share of the variance of a type's requests that lies in a place. */
struct pythia_finding {
    struct pythia_place place;
    double share, low, high;
};

/* The place of an edge of a tree, by its number. */
struct pythia_place pythia_place_of(const struct pythia_cct *cct, uint32_t number);

/* The same, with its host if layers are known: the nearest context of a higher layer that is in the
 * tree. O(depth). */
struct pythia_place pythia_place_of_layer(const struct pythia_cct *cct, uint32_t number,
                                          struct pythia_layers *layers);

/* Is an edge of a tree a segment of the own time of a trace point? O(1). */
bool pythia_place_own_has(const struct pythia_cct *cct, uint32_t edge, uint32_t tracepoint);

/* The own time of a trace point. */
struct pythia_place pythia_place_own(uint32_t tracepoint);

/* Is an edge of a tree that place, or a segment of that own time? */
bool pythia_place_has(const struct pythia_place *p, const struct pythia_cct *cct, uint32_t edge);

/* Are two places the same, whatever their hosts? Both must be of the same vocabulary. */
bool pythia_place_equal(const struct pythia_place *a, const struct pythia_place *b);

/* Append "inside A", "between one A and the next", "from the end of A to the start of B", "in the
 * own time of A"; with its host, "inside kernel.poll in lock__wait". */
void pythia_place_add(struct pythia_buf *to, const struct pythia_vocabulary *v,
                      const struct pythia_place *place);

#endif
