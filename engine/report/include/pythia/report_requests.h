#ifndef PYTHIA_REPORT_REQUESTS_H
#define PYTHIA_REPORT_REQUESTS_H

#include "pythia/buf.h"
#include "pythia/diagnosis.h"

#define PYTHIA_REPORT_REQUESTS                                                                     \
    512                          /* of a group that are listed: those that its keys are tested on */
#define PYTHIA_REPORT_COLUMNS 24 /* keys of which they have values */

/* Append the sampled requests of a group as JSON in one line: "keys", those that explain the group
 * first, then others that its requests have, and "requests", the slowest first, each with its
 * "trace_id", "start_unix_ns", "duration_ns" and "values", in the order of the keys: a number, a
 * text, or null. Keys whose names look like those of identifiers are left out. PYTHIA_OK or
 * PYTHIA_ENOMEM. O(requests * keys). */
int pythia_report_requests(const struct pythia_groups *groups, const struct pythia_group *group,
                           struct pythia_buf *out);

#endif
