/* What is held to be true of each request type, in the report: "verdicts", and the findings of the
 * groups that show them. */
#ifndef PYTHIA_REPORT_REPORT_VERDICT_H
#define PYTHIA_REPORT_REPORT_VERDICT_H

#include <jansson.h>

#include "pythia/closed_loop.h"
#include "pythia/verdict.h"
#include "write/json_writer.h"

/* Put the verdicts into a report that has its groups. `loop`: the search they are of; then the
 * group that shows a verdict says what the verdict says, whatever the last cycle alone would say,
 * and the groups of a type that the search left alone are quiet.
 * NULL: they are of what the groups show. */
void pythia__json_verdicts(struct pythia__json *w, json_t *report,
                           const struct pythia_verdicts *verdicts, const struct pythia_loop *loop);

/* Was it found in an earlier cycle, and does no group that is diagnosed show it? */
bool pythia__is_held(const json_t *report, const json_t *verdict);

#endif
