/* The limit on the time that tracing takes: points are closed for it, even if they are pinned by
 * a search or wanted open. All calls are the loop's. */
#ifndef PYTHIA_PYTHIAD_BUDGET_H
#define PYTHIA_PYTHIAD_BUDGET_H

#include <jansson.h>

#include "switches.h"

/* Begin to measure, with the limit of the settings. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__budget_create(struct pythia__switching *w);

/* Drop points, or let them come back, as is due; each is logged, and recorded as a decision. */
int pythia__budget_tick(struct pythia__switching *w, uint64_t now);

/* Tell what is measured by now, and what was dropped and why, to reports that are asked for, if
 * there is a limit. */
void pythia__budget_report(struct pythia__switching *w);

/* And into the metrics. */
void pythia__budget_metrics(const struct pythia__switching *w, struct pythia_buf *to);

#endif
