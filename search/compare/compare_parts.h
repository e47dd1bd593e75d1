/* Declarations shared by the files of compare. Sides are 0 for before and 1 for after. */
#ifndef PYTHIA_SEARCH_COMPARE_PARTS_H
#define PYTHIA_SEARCH_COMPARE_PARTS_H

#include "pythia/compare.h"

#define PYTHIA__TESTED_MIN 5 /* events, and as many that are none, or counts are not tested */

struct pythia__compare {
    const struct pythia_side *sides[2];
    const struct pythia_compare_options *options;
    const struct pythia_vocabulary *vocabulary;
    struct pythia_comparison *out;
    uint32_t *edges[2]; /* by number in the tree of a side: number in the tree of both */
};

static inline struct pythia_change pythia__change(double before, double after)
{
    return (struct pythia_change){before, after, after - before};
}

/* Sort *array, in new memory: `before` is asked about indexes of the old order, in which ties stay.
 * PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__compare_sort(void *array, size_t count, size_t size,
                         bool (*before)(const void *context, uint32_t a, uint32_t b),
                         const void *context);

/* Fisher's test of so many of n on each side; q is left for later. */
struct pythia_count_change pythia__count_change(uint64_t before, uint64_t n_before, uint64_t after,
                                                uint64_t n_after);

/* Mark the edges of a type that slow its requests down (.slows), and set what change of it matters
 * (.effect_min), with the q of all tests at hand. */
void pythia__compare_find_slowing(struct pythia_compared_type *t, double alpha);

/* Ranks edges, of one type or of several: those that slow requests come first, then others that
 * changed and take longer, because the bound of one interval among hundreds is above 0 by chance
 * now and then; then by score, NaN last. Of a rare edge clipping leaves nothing, so its score is 0:
 * edges of one score come by the change of their whole mean. */
bool pythia__edge_outranks(const struct pythia_compared_edge *a,
                           const struct pythia_compared_edge *b, double alpha);

/* The edges of a type that has rows on both sides, not yet ranked, and what of the type is of whole
 * requests. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__compare_edges(struct pythia__compare *c, struct pythia_compared_type *t);

/* The structures of a type, and its trace points; either side may lack the type. */
int pythia__compare_paths(struct pythia__compare *c, struct pythia_compared_type *t);
int pythia__compare_points(struct pythia__compare *c, struct pythia_compared_type *t,
                           const struct pythia_side_type *before,
                           const struct pythia_side_type *after);

/* Attribute each edge to a service; then, with the edges ranked, rank the services. */
int pythia__compare_attribute(struct pythia__compare *c);
int pythia__compare_services(struct pythia__compare *c);

#endif
