/* The verdict of each request type, in the report. */
#ifndef PYTHIA_REPORT_REPORT_VERDICT_H
#define PYTHIA_REPORT_REPORT_VERDICT_H

#include "json_finding.h"

/* "verdicts" of a report. Without a search they say what the groups say. */
json_t *pythia__json_verdicts(struct pythia__report_writer *w);

/* "finding" of a group: where and why; and of a search what else its verdict says, if the group
 * shows it. */
json_t *pythia__json_group_finding(struct pythia__report_writer *w, const struct pythia_group *g);

#endif
