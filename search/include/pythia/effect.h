#ifndef PYTHIA_EFFECT_H
#define PYTHIA_EFFECT_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/place.h"
#include "pythia/refinement.h"

/* The share of the variance that an opened trace point explained: the same requests are compared
 * as seen with it and as they would be seen without it (refinement.h). */

enum pythia_effect_verdict {
    PYTHIA_EFFECT_EXPLAINS,
    PYTHIA_EFFECT_DOES_NOT_PAY, /* without it one would know as much */
    PYTHIA_EFFECT_NOT_PASSED,   /* it is on the critical path of none of them */
    PYTHIA_EFFECT_TOO_FEW,      /* requests to say anything */
};

/* Shares are of the variance of the duration, with an interval, as in shares.h. What is not known
 * is NaN; of NOT_PASSED and TOO_FEW nothing is but how many requests there were. */
struct pythia_effect {
    uint32_t tracepoint, type;    /* type: number of a string */
    uint64_t opened;              /* in which cycle */
    uint64_t requests;            /* of the type, looked at */
    uint64_t passed;              /* of them, that have it on their path, in the stretch below */
    uint64_t rerouted;            /* of them, whose path is another one without it (refinement.h) */
    struct pythia_finding coarse; /* the stretch it is in; of several the one of largest share */
    struct pythia_finding fine;   /* of its parts the one of largest share */
    double inside, inside_low, inside_high; /* of what is inside of its spans, in that stretch; NaN
                                               for a point in time */
    /* The share of the variance of the segment's time that lies between requests that hit the
     * point and requests that do not (with loops not folded: that hit it more or less often):
     * eta squared, 0 if all do. And that chance would do as much, by analysis of variance: 1 if
     * all do. */
    double eta_squared, p;
    bool by_inside, by_part, by_split; /* why it explains */
    enum pythia_effect_verdict verdict;
};

/* Static strings: "explains", "does_not_pay", … */
const char *pythia_effect_verdict_name(enum pythia_effect_verdict verdict);

struct pythia_effect_options {
    bool fold;           /* loops count once in structure */
    size_t min_requests; /* below which nothing is concluded */
    double level;        /* of the intervals; 1 less that is what `p` is held against */
};

/* Measure what points explained that the coarser set of a finished refinement lacks, and the finer
 * one has: tracepoint, type and opened of effects[0] to effects[count - 1] are given, the rest is
 * set. Where the stretch has 3 % of the variance, beyond chance, a point explains if a tenth of
 * that lies inside it, beyond chance; if it is at one end of the part with the largest share, and
 * the rest is a tenth of the stretch's time; or if it splits paths, so that eta squared is a tenth,
 * beyond chance. PYTHIA_OK
 * or PYTHIA_ENOMEM. O(rows * parts + parts * (depth + rows)). */
int pythia_effect_measure(const struct pythia_refinement *r,
                          const struct pythia_effect_options *options,
                          struct pythia_effect *effects, size_t count);

/* Append in words what was measured, as part of a sentence about the point: "97 % of the variance
 * (95 to 98 %) lies inside it, of 96 % from the start of A to the start of B", or without `place`
 * "…, of 96 % where it was opened". Nothing for NOT_PASSED and TOO_FEW. */
void pythia_effect_add(struct pythia_buf *to, const struct pythia_vocabulary *v,
                       const struct pythia_effect *effect, bool place);

#endif
