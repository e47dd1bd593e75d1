/* Which verdict is of which request type, and which group shows it: looked up once for a report, as
 * there may be a hundred thousand of each. */
#ifndef PYTHIA_REPORT_INDEX_H
#define PYTHIA_REPORT_INDEX_H

#include "pythia/report_source.h"

struct pythia__index {
    const struct pythia_verdict **of_types;  /* owned: by type of the diagnosis; NULL: none */
    const struct pythia_problem **problems;  /* owned: by verdict; NULL: no search is of its type */
    const struct pythia_group **of_verdicts; /* owned: by verdict, the group of its id; or NULL */
};

/* PYTHIA_OK with *out to be freed, or PYTHIA_ENOMEM. O((types + groups + verdicts) log). */
int pythia__index_make(const struct pythia_report_source *s, struct pythia__index *out);
void pythia__index_free(struct pythia__index *x);

#endif
