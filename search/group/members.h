#ifndef PYTHIA_MEMBERS_H
#define PYTHIA_MEMBERS_H

#include <stddef.h>

#include "pythia/text.h"

/* The values of a key that has several of them in one request, which a row joins as "a|b|c": which
 * requests have each value, and how many values a request has. As one level, every combination
 * would be a value of its own, and the key an identifier. */

/* One value as a key of its own. */
struct pythia__member {
    struct pythia_text text; /* borrowed from the values */
    double *numbers; /* [n]: 1 where a request has it, 0 where not; NaN: the key is missing, or its
                        text was cut before the value could come; owned */
};

struct pythia__members {
    size_t present, several; /* requests with the key; with more than one value */
    /* In order of text; empty unless `several` is at least PYTHIA_COLUMN_LEVEL_MIN, and of an
     * identifier: a key with more values than a fifth of the requests that have it. Owned. */
    struct pythia__member *list;
    size_t count;
    size_t beyond; /* values left out because there are more than the caller wants */
    size_t uneven; /* values left out because fewer than PYTHIA_COLUMN_LEVEL_MIN requests have them,
                       or fewer do not */
    double *counts; /* [n]: different values in each request; NaN as above; owned, NULL without
                       members */
};

/* Find the members among the joined values of `n` requests; values[i].bytes is NULL where the
 * key is missing. At most `most` values become members: the most frequent ones, ties by text. A
 * value that itself contains "|" counts as several. On success *out is owned by the caller (free
 * it), on failure untouched. Returns PYTHIA_OK or PYTHIA_ENOMEM. O(values log values + members *
 * n). */
int pythia__members_find(const struct pythia_text *values, size_t n, size_t most,
                         struct pythia__members *out);
void pythia__members_free(struct pythia__members *m); /* a zeroed one is fine */

#endif
