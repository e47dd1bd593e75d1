/* Declarations shared by the files that inspect one request type in one cycle: search_problem.c,
 * search_place.c for the places that may be its cause, and search_use.c for the use of its open
 * points. */
#ifndef PYTHIA_SEARCH_LOOK_H
#define PYTHIA_SEARCH_LOOK_H

#include "pythia/gate.h"
#include "search_parts.h"
#include "space/descent.h"

/* Measured by the command in search_place.c, on its problems. CAUSE_MIN: with .01 nothing is
 * found more often or sooner; with .1 nine of ten searches of load take 11 cycles and not 8, and 1
 * and not 2 of 40 are wrong of null-noise. LARGE: with .25 null-noise opens 22 % of the points and
 * not 15 %, and null 3.8 % and not 2.0 %; with .75 null opens 1.8 %, and all else is the same. */
#define PYTHIA__CAUSE_MIN .03 /* lower bound of the share of a cause */
#define PYTHIA__LARGE     .5  /* a share whose lower bound is above needs no comparison */

struct pythia__looking {
    struct pythia_search *s;
    size_t number;                 /* of the problem */
    struct pythia__search_type *t; /* whose requests they are */
    struct pythia_problem *p;
    struct pythia__search_keeping *k;
    const struct pythia_space_type *type;
    const struct pythia_type *evidence;
    const struct pythia_row **rows; /* of the evidence */
    size_t n;
    const struct pythia_cct *seen;
    const struct pythia_keys *keys; /* of the rows' values */
    struct pythia_ranking ranking;
    double level; /* of the intervals of shares */
    struct pythia__region_map map;
    struct pythia_open_points *open;
    bool *explained; /* by edge of the ranking */
    size_t budget;   /* points that may still be opened in this cycle */
    struct pythia__descent
        descent;            /* by what is believed now; empty: all points are of one layer */
    enum pythia_layer down; /* points down to this layer may be opened, whatever their hosts
                                       hold */
};

/* A place that may be a cause: a single edge, or the own time of a trace point. */
struct pythia__target {
    struct pythia_finding finding; /* share NaN: there is none */
    double se;                     /* of the share */
    size_t edge;                   /* its place in the ranking; SIZE_MAX of an own time */
};

/* For each open trace point, how much it divides: the mass in it, up to the next open points, or
 * the mass around it. Owned by the caller; NULL when out of memory. O(nodes). */
double *pythia__look_use(const struct pythia__looking *l);

/* Mark edges whose cause is known, and renew what is known of the causes. PYTHIA_OK or
 * PYTHIA_ENOMEM. */
int pythia__look_mark(struct pythia__looking *l);

/* The edge with the largest share that is not explained, and the own time that has a larger one.
 * Sets l->p->rest, the sum of all shares that are not explained. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__look_find(struct pythia__looking *l, struct pythia__target *edge,
                      struct pythia__target *own);

/* Choose between the two for the search: the own time if surely half of the variance lies there.
 * While most trace points are closed some own time has a share, because it holds the noise of
 * all that is closed in it, and the search would go on after that for ever (./dev bench search,
 * "nothing but noise"). */
const struct pythia__target *pythia__look_top(const struct pythia__target *edge,
                                              const struct pythia__target *own);

/* Is an edge of the ranking that target, or a segment of it? */
bool pythia__look_has(const struct pythia__looking *l, const struct pythia__target *target,
                      size_t e);

/* May a closed point be opened as far as its layer goes: is it reached (descent.h)? */
bool pythia__look_reaches(const struct pythia__looking *l, uint32_t point);

/* Would it be worth its cost to open a closed point? It cannot explain more than what its host
 * holds: a layer that is too expensive is not gone down to, and its host is the cause. */
bool pythia__look_is_worth(const struct pythia__looking *l, uint32_t point);

/* The next node after `node` (0: the first) of a trace point that lies behind an edge and could be
 * opened; PYTHIA_NONE: there is none. Where the space has never seen one event of the edge follow
 * the other, anything in the context may lie behind it. The edge was looked up by
 * pythia__region_find. */
uint32_t pythia__look_behind(const struct pythia__looking *l, const struct pythia_edge *edge,
                             uint32_t node);

/* Is a place a cause: does its share matter, does it stand out, and does nothing that could be
 * opened lie behind it? Of an own time that is asked of the segments with most of its share. */
bool pythia__look_is_cause(struct pythia__looking *l, const struct pythia__target *target);

/* Does one key explain most of the variance, and no place a large part of it? Once that was seen
 * (k->spread) it is enough that the key still explains it, because the points that showed the
 * places are closed; all but one that shows the key (k->keyed). PYTHIA_OK or PYTHIA_ENOMEM.
 * O(keys * rows * edges) where no place is large. */
int pythia__look_is_spread(struct pythia__looking *l, bool *spread);

/* Has a cause no share any more? Either nothing passes there, or it takes as long for all. To be
 * asked after pythia__look_mark. */
bool pythia__look_is_past(const struct pythia__looking *l, const struct pythia_finding *cause);

/* Does nothing pass there? */
bool pythia__look_is_deserted(const struct pythia__looking *l, const struct pythia_finding *cause);

#endif
