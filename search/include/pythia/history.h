#ifndef PYTHIA_HISTORY_H
#define PYTHIA_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/text.h"

/* The results of opening trace points in earlier searches, by the id of the trace point: the
 * same point counts whatever the type of request was. Counts are whole numbers, so they do not
 * depend on the order in which they were added; what would not fit stays at UINT64_MAX. One
 * thread at a time. */
struct pythia_history;

struct pythia_history_record {
    uint64_t opened;        /* times */
    uint64_t explained_ppb; /* parts of variance that it explained, summed over them: each at most
                               1, counted in billionths */
    uint64_t localised;     /* times it was the cause that a search ended with */
};
#define PYTHIA_HISTORY_PPB UINT64_C(1000000000)

/* PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_history_create(struct pythia_history **out);
void pythia_history_destroy(struct pythia_history *h); /* h may be NULL */

/* Add one opening that explained a share of the variance, and was or was not the cause. A share
 * below 0 or NaN counts as 0, one above 1 as 1. PYTHIA_OK or PYTHIA_ENOMEM, then nothing was added.
 */
int pythia_history_add(struct pythia_history *h, struct pythia_text id, double explained,
                       bool localised);

/* Could a record have come from the function above: neither more explained nor more often localised
 * than opened? */
bool pythia_history_is_possible(const struct pythia_history_record *r);

/* Add what another history holds of a trace point, or all of it; the records are possible.
 * PYTHIA_OK or PYTHIA_ENOMEM; then a part of `other` may have been added. */
int pythia_history_add_record(struct pythia_history *h, struct pythia_text id,
                              const struct pythia_history_record *r);
int pythia_history_merge(struct pythia_history *h, const struct pythia_history *other);

/* The history of a trace point; zeros if it was never opened. O(1). */
struct pythia_history_record pythia_history_find(const struct pythia_history *h,
                                                 struct pythia_text id);

/* The ids that are known, in order, as an array owned by the caller (pythia_free) of texts borrowed
 * until _destroy; *count of them. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_history_sorted(const struct pythia_history *h, struct pythia_text **ids, size_t *count);

#endif
