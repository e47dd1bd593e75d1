#ifndef PYTHIA_WISHES_H
#define PYTHIA_WISHES_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/control.h"

#define PYTHIA_NO_WISH SIZE_MAX

/* A set of wishes that is kept: copies, in order of id, and of one id those for all instances
 * first; each id once for the same instances. One thread at a time. */
struct pythia_wishes {
    struct pythia_control_wish *wishes; /* owned */
    size_t count;
    void *memory; /* of their texts */
};

/* Is the wish for some instances only? */
bool pythia_wishes_is_placed(const struct pythia_control_wish *wish);

/* A copy of `wishes`, in order; of two for one id and the same instances the union. *out is then
 * owned. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_wishes_copy(const struct pythia_control_wish *wishes, size_t count,
                       struct pythia_wishes *out);
void pythia_wishes_free(struct pythia_wishes *w); /* also makes it empty again */

/* The first wish for an id, or PYTHIA_NO_WISH. O(log n). */
size_t pythia_wishes_find(const struct pythia_wishes *w, struct pythia_text id);

/* One beyond the last wish for the id of wish `first`. */
size_t pythia_wishes_end(const struct pythia_wishes *w, size_t first);

/* The request types that points are wished for, each once and in order: *out is owned, its texts
 * are borrowed of w. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_wishes_types(const struct pythia_wishes *w, struct pythia_text **out, size_t *count);

/* Are the same points wished for, for the same types and instances? */
bool pythia_wishes_equal(const struct pythia_wishes *a, const struct pythia_wishes *b);

#endif
